//! Looking for damage.

use super::chunks::ids_of;
use super::damage::Damage;
use super::history::Seen;
use crate::catalogue::merge::merge;
use crate::catalogue::{Entry, GONE, Numbering, Part, Row};
use crate::error::{PackError, Result};
use crate::id::Id;
use crate::log::{Commit, Link, PartFile};
use crate::names::{TAGS, join};
use crate::pack::Pack;
use crate::version::fetch;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Chunks read at once.
const BATCH: usize = 256;

/// What a look at all of a pack gives, for a repair to go on from.
pub(super) struct Examined {
    pub damage: Vec<Damage>,
    /// The latest commit that can be read, and its checksum.
    pub latest: Option<(Commit, u32)>,
    /// The number of the latest commit, which may be one that cannot be read.
    pub last: u64,
    /// Its rows and segments, and which rows' entries are not right; looked at where the look is deep.
    pub rows: Vec<Row>,
    pub ids: Vec<Id>,
    pub bad: Vec<(usize, usize)>,
}

impl Pack {
    /// Looks at every commit, the chain they make, every part of the catalogue, and whether the segments that the
    /// versions name are there and long enough, and every tag; with `deep` reads and checks every chunk that any version
    /// shows, each once. An empty list is good news.
    ///
    /// # Errors
    /// The store failed, or there is no memory. Damage is no error but what it returns.
    pub fn check(&self, deep: bool, progress: &mut dyn FnMut(u64, u64)) -> Result<Vec<Damage>> {
        Ok(self.examine(deep, progress)?.damage)
    }

    /// All that a look finds; see [`Pack::check`].
    pub(super) fn examine(&self, deep: bool, progress: &mut dyn FnMut(u64, u64)) -> Result<Examined> {
        let mut damage = Vec::new();
        let (commits, last) = self.check_commits(&mut damage)?;
        let sizes: BTreeMap<Id, u64> = self.files()?.into_iter().map(|(_, size, id)| (id, size)).collect();
        self.check_tags(&commits, &mut damage)?;
        let mut parts: BTreeMap<Id, (&PartFile, BTreeSet<u64>)> = BTreeMap::new();
        for (commit, _) in &commits {
            for file in commit.parts.iter().chain(&commit.delta) {
                parts.entry(file.id).or_insert_with(|| (file, BTreeSet::new())).1.insert(commit.number);
            }
        }
        for (file, versions) in parts.into_values().rev() {
            let found = damage.len();
            self.check_part(file, &sizes, &mut damage);
            let versions = Vec::from_iter(versions);
            damage[found..].iter_mut().for_each(|damage| damage.versions.clone_from(&versions));
        }
        let (mut rows, mut ids, mut bad) = (Vec::new(), Vec::new(), Vec::new());
        if deep && let Some((latest, _)) = commits.last() {
            (rows, ids) = self.readable(&commits, latest)?;
            let mut seen = Seen::new();
            bad = self.check_chunks(latest.number, &rows, &ids, &mut seen, &mut damage, progress)?;
            self.check_history(&commits, &mut seen, &mut damage, progress)?;
        }
        // Of versions that were expired meanwhile there is nothing to say.
        let log = self.log();
        let mut told = Vec::with_capacity(damage.len());
        for one in damage {
            if one.versions.is_empty()
                || one.versions.iter().try_fold(false, |any, &n| Ok::<_, PackError>(any || log.has(n)?))?
            {
                told.push(one);
            }
        }
        let damage = told;
        Ok(Examined { damage, latest: commits.into_iter().last(), last, rows, ids, bad })
    }

    /// The commits that can be read, oldest first, with their checksums; and the number of the last one.
    fn check_commits(&self, damage: &mut Vec<Damage>) -> Result<(Vec<(Commit, u32)>, u64)> {
        let mut commits: Vec<(Commit, u32)> = Vec::new();
        let mut before: Option<Link> = None;
        let numbers = self.log().numbers()?;
        let last = numbers.last().copied().unwrap_or(0);
        for number in numbers {
            let file = Commit::key_of(number)?.to_string();
            match self.log().get(number) {
                Ok(Some((commit, crc32c))) => {
                    if let (Some(parent), Some(before)) = (&commit.parent, &before)
                        && parent.number == before.number
                        && parent.crc32c != before.crc32c
                    {
                        let problem = format!(
                            "it follows another version {} than the one that is there: expected checksum {:08x}, found {:08x}",
                            before.number, parent.crc32c, before.crc32c
                        );
                        let versions = vec![before.number, number];
                        damage.push(Damage { versions, ..Damage::file(file, problem) });
                    }
                    before = Some(Link { number, crc32c });
                    commits.push((commit, crc32c));
                }
                Ok(None) => {}
                Err(error @ PackError::Store(_)) => return Err(error),
                Err(error) => {
                    damage.push(Damage { versions: vec![number], ..Damage::file(file, error.to_string()) });
                }
            }
        }
        for lost in self.log().lost()? {
            if let PackError::Corrupt { file, reason, .. } = lost {
                damage.push(Damage::file(file, reason));
            }
        }
        Ok((commits, last))
    }

    /// Whether every tag can be read, and names a version that is there.
    fn check_tags(&self, commits: &[(Commit, u32)], damage: &mut Vec<Damage>) -> Result<()> {
        for name in self.tag_names()? {
            let file = format!("{TAGS}/{name}.json");
            match self.tagged(&name) {
                // One whose file cannot be read was told of before; another may have been made meanwhile.
                Ok(Some(version)) if commits.iter().all(|(commit, _)| commit.number != version) => {
                    if self.log().has(version)? {
                        continue;
                    }
                    let problem = format!("version {version}, which it names, is not there");
                    damage.push(Damage::file(file, problem));
                }
                Ok(_) => {}
                Err(error @ PackError::Store(_)) => return Err(error),
                Err(error) => damage.push(Damage::file(file, error.to_string())),
            }
        }
        Ok(())
    }

    fn check_part(&self, file: &PartFile, sizes: &BTreeMap<Id, u64>, damage: &mut Vec<Damage>) {
        let name = format!("catalogue/{}.parquet", file.id);
        let part = match Part::open(self.store(), file) {
            Ok(part) => part,
            Err(error) => return damage.push(Damage::file(name, error.to_string())),
        };
        let mut reported = BTreeSet::new();
        for number in 0..part.groups() {
            let group = match part.group(number) {
                Ok(group) => group,
                Err(error) => {
                    let offset = Some(part.offset(number));
                    damage.push(Damage { offset, ..Damage::file(&name, error.to_string()) });
                    continue;
                }
            };
            for row in 0..group.len() {
                let (node, ..) = group.key(row);
                let path = || Some(String::from_utf8_lossy(node).into_owned());
                for (_, entry) in group.entries(row).filter(|(_, entry)| entry.segment != GONE) {
                    let problem = match part.segment(entry.segment) {
                        Err(error) => Some((name.clone(), error.to_string())),
                        Ok(id) => wrong_span(id, &entry, sizes),
                    };
                    if let Some((file, problem)) = problem
                        && reported.insert((file.clone(), problem.clone()))
                    {
                        let (offset, path) = (Some(entry.offset), path());
                        damage.push(Damage { offset, path, ..Damage::file(file, problem) });
                    }
                }
            }
        }
    }

    /// The rows of the latest version, as far as they can be read: where a part cannot, from the deltas it came from.
    fn readable(&self, commits: &[(Commit, u32)], latest: &Commit) -> Result<(Vec<Row>, Vec<Id>)> {
        let whole = |part: &PartFile| -> Option<Arc<Part>> {
            let part = self.parts_cache().get(part).ok()?;
            (0..part.groups()).all(|number| part.group(number).is_ok()).then_some(part)
        };
        let parts: Option<Vec<Arc<Part>>> = latest.parts.iter().map(whole).collect();
        if let Some(parts) = parts {
            return merge(&parts, true);
        }
        let mut parts = Vec::new();
        for (i, (commit, _)) in commits.iter().enumerate().rev() {
            match &commit.delta {
                Some(delta) if i > 0 => parts.extend(whole(delta)),
                _ => {
                    parts.extend(commit.parts.iter().filter_map(whole));
                    break;
                }
            }
        }
        merge(&parts, true)
    }

    /// Reads every chunk; the rows and entries that are not right.
    fn check_chunks(
        &self,
        version: u64,
        rows: &[Row],
        ids: &[Id],
        seen: &mut Seen,
        damage: &mut Vec<Damage>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<(usize, usize)>> {
        let all = rows.iter().map(|row| row.entries.len() as u64).sum();
        let nodes = ids_of(rows);
        let mut done = 0;
        let mut bad = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            let node = nodes.get(&row.node).copied().unwrap_or(0);
            let numbering = row.grid.as_deref().and_then(Numbering::parse);
            for (batch, entries) in row.entries.chunks(BATCH).enumerate() {
                let begin = batch * BATCH;
                let range = begin..begin + entries.len();
                let pieces = self.pieces(row, range, node, numbering.as_ref(), ids)?;
                for (at, answer) in fetch::fetch_each(self.store(), &pieces)?.into_iter().enumerate() {
                    let (piece, entry) = (&pieces[at].0, entries[at].1);
                    let spot = (piece.segment(), entry.offset);
                    let Err(problem) = answer else {
                        seen.insert(spot, None);
                        continue;
                    };
                    seen.insert(spot, Some(damage.len()));
                    bad.push((i, begin + at));
                    damage.push(Damage {
                        file: format!("segments/{}.seg", piece.segment()),
                        offset: Some(entry.offset),
                        path: Some(if row.name.is_empty() {
                            row.node.to_string()
                        } else {
                            join(&row.node, &row.name)
                        }),
                        versions: vec![version],
                        problem,
                    });
                }
                done += entries.len() as u64;
                progress(done, all);
            }
        }
        Ok(bad)
    }
}

fn wrong_span(id: Id, entry: &Entry, sizes: &BTreeMap<Id, u64>) -> Option<(String, String)> {
    let file = format!("segments/{id}.seg");
    let end = entry.offset.saturating_add(entry.length);
    match sizes.get(&id) {
        None => Some((file, "it is missing".into())),
        Some(&size) if end > size => {
            Some((file, format!("truncated: expected at least {end} bytes, found {size}")))
        }
        Some(_) => None,
    }
}
