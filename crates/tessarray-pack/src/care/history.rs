//! Looking for damage in chunks that older and tagged versions use.
//!
//! Versions share parts of the catalogue, and chunks. Newest first, each part is gone through once for every version that
//! names it, until all of its chunks are known to be right; each stored chunk is read once, for the newest version that shows
//! it. What is not right is looked for in the older versions, too, so that all that show it are named.

use super::damage::Damage;
use crate::catalogue::{Entry, GONE, Group, Numbering, Part};
use crate::error::{PackError, Result};
use crate::id::Id;
use crate::log::Commit;
use crate::names::join;
use crate::pack::Pack;
use crate::version::fetch::Check;
use crate::version::{Content, Piece, Snapshot, fetch};
use std::collections::{BTreeSet, HashMap};

/// Chunks read at once.
const BATCH: usize = 256;

/// A stored chunk: its segment, and where in that it begins.
pub(crate) type SegmentOffset = (Id, u64);

/// The chunks that were read: `None` where one is right, else the number of its damage.
pub(crate) type Seen = HashMap<SegmentOffset, Option<usize>>;

/// A chunk to read: where, what it is checked against, and whose it is.
type Pending = (SegmentOffset, Piece, Check, String);

impl Pack {
    /// Reads the chunks that versions before the latest show and that were not read yet.
    pub(crate) fn check_history(
        &self,
        commits: &[(Commit, u32)],
        seen: &mut Seen,
        damage: &mut Vec<Damage>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<()> {
        let mut right: BTreeSet<Id> = BTreeSet::new();
        for (commit, crc) in commits.iter().rev().skip(1) {
            let version = self.snapshot(commit.clone(), *crc);
            for file in commit.parts.iter().filter(|file| !right.contains(&file.id)).collect::<Vec<_>>() {
                // One that cannot be read was told of before.
                let Some(part) = readable(self.parts_cache().get(file))? else { continue };
                if self.check_rows(&version, &part, seen, damage, progress)? {
                    right.insert(file.id);
                }
            }
        }
        Ok(())
    }

    /// Reads the chunks of one part that a version shows. Whether all of its chunks are known to be right.
    fn check_rows(
        &self,
        version: &Snapshot,
        part: &Part,
        seen: &mut Seen,
        damage: &mut Vec<Damage>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<bool> {
        let number = version.commit().number;
        let mut pending: Vec<Pending> = Vec::new();
        let mut right = true;
        for at in 0..part.groups() {
            let Some(group) = readable(part.group(at))? else {
                right = false;
                continue;
            };
            for row in 0..group.len() {
                for (chunk, entry) in group.entries(row).filter(|(_, entry)| entry.segment != GONE) {
                    let Some(id) = readable(part.segment(entry.segment))? else { continue };
                    let spot = (id, entry.offset);
                    let known = seen.get(&spot).copied();
                    if known == Some(None) {
                        continue;
                    }
                    let shown = readable(shown(version, group, row, (chunk, entry), id))?.flatten();
                    match (known.flatten(), shown) {
                        (Some(told), Some(_)) => damage[told].versions.push(number),
                        (None, Some((piece, check, path))) => pending.push((spot, piece, check, path)),
                        (_, None) => {}
                    }
                    right &= known.is_none() && pending.last().is_some_and(|(last, ..)| *last == spot);
                    if pending.len() >= BATCH {
                        right &= self.read_chunks(number, &mut pending, seen, damage, progress)?;
                    }
                }
            }
        }
        Ok(self.read_chunks(number, &mut pending, seen, damage, progress)? && right)
    }

    /// Whether all are right.
    fn read_chunks(
        &self,
        version: u64,
        pending: &mut Vec<Pending>,
        seen: &mut Seen,
        damage: &mut Vec<Damage>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<bool> {
        let pieces: Vec<(Piece, Check)> =
            pending.iter().map(|(_, piece, check, _)| (piece.clone(), check.clone())).collect();
        let mut right = true;
        for (answer, (spot, .., path)) in
            fetch::fetch_each(self.store(), &pieces)?.into_iter().zip(pending.drain(..))
        {
            let told = answer.err().map(|problem| {
                let (file, offset) = (format!("segments/{}.seg", spot.0), Some(spot.1));
                damage.push(Damage { file, offset, path: Some(path), versions: vec![version], problem });
                damage.len() - 1
            });
            right &= told.is_none();
            seen.insert(spot, told);
        }
        progress(seen.len() as u64, seen.len() as u64);
        Ok(right)
    }
}

/// Damage of the catalogue is told of elsewhere; other failures are failures.
fn readable<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(PackError::Corrupt { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A chunk, or the value of a key, as a version shows it; `None` where it shows another there, or none.
fn shown(
    version: &Snapshot,
    group: &Group,
    row: usize,
    (chunk, entry): (u64, Entry),
    id: Id,
) -> Result<Option<(Piece, Check, String)>> {
    let (node, name, _) = group.key(row);
    let (node, name) = (String::from_utf8_lossy(node), String::from_utf8_lossy(name));
    let piece = Piece::stored(id, entry);
    if !name.is_empty() {
        let here = version.value(&node, &name)?;
        let same = matches!(here, Some(crate::version::Held::There(found)) if found.stamp == piece.stamp);
        let key = join(&node, &name);
        return Ok(same.then(|| (piece, Check::Value(key.clone()), key)));
    }
    let Some(array) = version.array(&node)? else { return Ok(None) };
    let numbering = Numbering::of_row(&node, group.grid(row).map_or("", |text| text))?;
    let (at, inner) = numbering.coordinates(chunk);
    let found = version.entry(&node, &array, &at, inner)?;
    if found.is_none_or(|(found, there)| (found, there.offset) != (id, entry.offset)) {
        return Ok(None);
    }
    let check = Check::chunk(&node.as_ref().into(), array.id, &numbering, chunk);
    Ok(Some((piece, check, node.into_owned())))
}
