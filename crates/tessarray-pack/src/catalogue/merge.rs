//! Several parts of the catalogue as one.

use super::numbering::Numbering;
use super::part::Part;
use super::row::{Entry, GONE, Row};
use super::rows::{SegmentTable, chunk_rows};
use crate::error::{PackError, Result};
use crate::id::Id;
use crate::log::PartFile;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use std::sync::Arc;

/// So many parts of one level become one of the next.
const FAN: usize = 8;
/// Parts of more rows together are left to `compact`.
const ROWS: u64 = 1 << 16;

/// How many of the newest parts are to be merged now, and the level of the result; none while they are few. A commit
/// rewrites each row as often as there are levels, and a reader looks at [`FAN`] parts a level.
pub(crate) fn due(parts: &[PartFile]) -> Option<(usize, u8)> {
    let mut taken = 0;
    let mut rows = 0;
    let mut result = None;
    for level in 0..u8::MAX {
        let run: Vec<&PartFile> = parts[taken..].iter().take_while(|part| part.level <= level).collect();
        // What was merged so far counts as one of this level.
        let count = run.len() + usize::from(taken > 0);
        rows += run.iter().map(|part| part.rows).sum::<u64>();
        if count < FAN || rows > ROWS {
            break;
        }
        taken += run.len();
        result = Some((taken, level + 1));
    }
    result
}

/// The rows of parts, newest first, as the rows of one; sorted, with the segments that they name by number. With
/// `bottom` there are no older parts, and nothing needs to be hidden. Without it every mark of a removed chunk stays:
/// the chunk may lie in an older part.
///
/// # Errors
/// The chunks of a node cannot be numbered together ([`PackError::TooLarge`]).
pub(crate) fn merge(parts: &[Arc<Part>], bottom: bool) -> Result<(Vec<Row>, Vec<Id>)> {
    let mut values: BTreeMap<(Arc<str>, Arc<str>), Row> = BTreeMap::new();
    let mut nodes: BTreeMap<Arc<str>, NodeChunks> = BTreeMap::new();
    let mut segments = SegmentTable::default();
    for (age, part) in parts.iter().enumerate() {
        let mut number = |entry: Entry| -> Result<Entry> {
            if entry.segment == GONE {
                return Ok(entry);
            }
            Ok(Entry { segment: segments.number(part.segment(entry.segment)?), ..entry })
        };
        for mut row in part.rows()? {
            if row.name.is_empty() {
                for (_, entry) in &mut row.entries {
                    *entry = number(*entry)?;
                }
                nodes.entry(Arc::clone(&row.node)).or_default().add(row, age)?;
                continue;
            }
            if let Slot::Vacant(slot) = values.entry((Arc::clone(&row.node), Arc::clone(&row.name))) {
                for (_, entry) in &mut row.entries {
                    *entry = number(*entry)?;
                }
                slot.insert(row);
            }
        }
    }
    let mut rows: Vec<Row> = values.into_values().filter(|row| !(bottom && row.gone)).collect();
    for (node, chunks) in nodes {
        rows.extend(chunks.rows(&node, bottom)?);
    }
    rows.sort_by(Row::order);
    let ids = in_use(&mut rows, &segments.ids);
    Ok((rows, ids))
}

/// The segments that rows name, and no others: a part names what has to stay.
fn in_use(rows: &mut [Row], ids: &[Id]) -> Vec<Id> {
    let mut numbers: Vec<Option<i32>> = vec![None; ids.len()];
    let mut used = Vec::new();
    for (_, entry) in rows.iter_mut().flat_map(|row| &mut row.entries) {
        let Ok(old) = usize::try_from(entry.segment) else { continue };
        entry.segment = *numbers[old].get_or_insert_with(|| {
            used.push(ids[old]);
            used.len() as i32 - 1
        });
    }
    used
}

/// Chunks that are numbered alike, newest first.
struct SameGrid {
    text: Arc<str>,
    numbering: Numbering,
    entries: Vec<(u64, Entry)>,
}

/// The chunks of one node, newest first.
#[derive(Default)]
struct NodeChunks {
    runs: Vec<SameGrid>,
    /// The part that made the node anew: later ones do not count.
    closed: Option<usize>,
}

impl NodeChunks {
    fn add(&mut self, row: Row, age: usize) -> Result<()> {
        if self.closed.is_some_and(|closed| age > closed) {
            return Ok(());
        }
        let text = row.grid.unwrap_or_default();
        let numbering = Numbering::of_row(&row.node, &text)?;
        if self.runs.first().is_some_and(|newest| !newest.numbering.is_like(&numbering)) {
            // Those of an array that was there before.
            self.closed = age.checked_sub(1);
            return Ok(());
        }
        if row.first == 0 && row.gone {
            self.closed = Some(age);
        }
        match self.runs.last_mut() {
            Some(run) if run.text == text => run.entries.extend(row.entries),
            _ => self.runs.push(SameGrid { text, numbering, entries: row.entries }),
        }
        Ok(())
    }

    /// As rows, numbered as the newest are; further where chunks or marks lie outside that grid.
    fn rows(self, node: &Arc<str>, bottom: bool) -> Result<Vec<Row>> {
        let keep = |entry: &Entry| !(bottom && entry.segment == GONE);
        let reset = self.closed.is_some() && !bottom;
        let Some(newest) = self.runs.first() else { return Ok(Vec::new()) };
        let (mut text, mut numbering) = (Arc::clone(&newest.text), newest.numbering.clone());
        let entries: Vec<(u64, Entry)> = if let [_] = &self.runs[..] {
            let mut chunks = BTreeMap::new();
            for (number, entry) in self.runs.into_iter().flat_map(|run| run.entries) {
                chunks.entry(number).or_insert(entry);
            }
            chunks.into_iter().filter(|(_, entry)| keep(entry)).collect()
        } else {
            let mut chunks = BTreeMap::new();
            for SameGrid { numbering: own, entries, .. } in self.runs {
                for (number, entry) in entries {
                    chunks.entry(own.coordinates(number)).or_insert(entry);
                }
            }
            chunks.retain(|_, entry| keep(entry));
            for (at, _) in chunks.keys() {
                if numbering.object(at).is_none() {
                    numbering = numbering.grown(at);
                }
            }
            text = numbering.to_string().into();
            let place = |((at, inner), entry): ((Vec<u64>, u64), Entry)| {
                Some((numbering.object(&at)? + inner, entry))
            };
            let numbered: Option<Vec<_>> = chunks.into_iter().map(place).collect();
            numbered.ok_or_else(|| PackError::TooLarge {
                path: node.to_string(),
                reason: format!("its chunks in a grid of {text} have numbers of more than 63 bits"),
            })?
        };
        Ok(chunk_rows(node, &text, reset, &entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(level: u8, rows: u64) -> PartFile {
        let (first, last) = (String::new(), String::new());
        PartFile { id: Id::random().unwrap(), rows, bytes: 0, footer: 0, crc32c: 0, level, first, last }
    }

    #[test]
    fn a_row_is_rewritten_once_a_level() {
        let mut parts: Vec<PartFile> = Vec::new();
        let (mut written, mut most) = (0, 0);
        for _ in 0..10_000 {
            parts.insert(0, part(0, 1));
            if let Some((count, level)) = due(&parts) {
                let rows = parts.drain(..count).map(|part| part.rows).sum();
                written += rows;
                parts.insert(0, part(level, rows));
            }
            most = most.max(parts.len());
        }
        assert!(written <= 10_000 * 5, "{written}");
        assert!(most <= FAN * 5, "{most}");
        assert_eq!(parts.iter().map(|part| part.rows).sum::<u64>(), 10_000);
    }

    #[test]
    fn a_part_names_the_segments_that_its_rows_use() {
        let ids = [Id::random().unwrap(), Id::random().unwrap(), Id::random().unwrap()];
        let entry = |segment| Entry { segment, offset: 0, length: 1, crc: 0 };
        let mut row = Row::value("a".into(), "".into());
        row.entries = vec![(0, entry(2)), (1, entry(GONE)), (2, entry(0)), (3, entry(2))];
        let mut rows = [row];
        assert_eq!(in_use(&mut rows, &ids), [ids[2], ids[0]]);
        assert_eq!(
            rows[0].entries.iter().map(|(_, entry)| entry.segment).collect::<Vec<_>>(),
            [0, GONE, 1, 0]
        );
    }

    fn run(grid: &str, entries: &[(u64, i32)]) -> Row {
        let entry = |segment| Entry { segment, offset: 0, length: 1, crc: 0 };
        let mut row = Row::value("a".into(), "".into());
        row.grid = Some(grid.into());
        row.entries = entries.iter().map(|(number, segment)| (*number, entry(*segment))).collect();
        row
    }

    /// Number and segment of each chunk of these rows, newest first, as merged; with how they are numbered.
    fn merged(rows: &[Row], bottom: bool) -> Result<(String, Vec<(u64, i32)>)> {
        let mut node = NodeChunks::default();
        for (age, row) in rows.iter().enumerate() {
            node.add(row.clone(), age)?;
        }
        let rows = node.rows(&"a".into(), bottom)?;
        let entries =
            rows.iter().flat_map(|row| &row.entries).map(|(number, entry)| (*number, entry.segment));
        Ok((rows[0].grid.as_deref().unwrap().to_string(), entries.collect()))
    }

    #[test]
    fn marks_outside_the_newest_grid_stay_while_there_are_older_parts() {
        let rows = [run("2:1;1", &[(1, 7)]), run("2:3;1", &[(2, GONE), (3, 5), (4, 6), (5, GONE)])];
        // Of a grid ? x 3: (0, 2) and (1, 2) are gone, (1, 0) was written twice, (1, 1) lies outside.
        let found = merged(&rows, false).unwrap();
        assert_eq!(found, ("2:3;1".into(), vec![(2, GONE), (3, 7), (4, 6), (5, GONE)]));
        assert_eq!(merged(&rows, true).unwrap(), ("2:2;1".into(), vec![(2, 7), (3, 6)]));
        assert_eq!(merged(&rows[..1], true).unwrap(), ("2:1;1".into(), vec![(1, 7)]));
    }

    #[test]
    fn rows_of_another_array_hide_those_before_them() {
        let rows = [run("2:2;1", &[(1, 7)]), run("3:2,2;1", &[(0, 5)]), run("2:2;1", &[(0, 4)])];
        assert_eq!(merged(&rows, true).unwrap(), ("2:2;1".into(), vec![(1, 7)]));
    }

    #[test]
    fn grids_that_no_number_reaches_together_are_an_error() {
        let (long, wide) = (i64::MAX as u64 / 4, 1 << 40);
        let rows = [run("2:1;1", &[(long, 7)]), run(&format!("2:{wide};1"), &[(wide - 1, GONE)])];
        assert!(matches!(merged(&rows, false), Err(PackError::TooLarge { .. })));
        assert_eq!(merged(&rows, true).unwrap(), ("2:1;1".into(), vec![(long, 7)]));
        assert!(matches!(merged(&[run("2:0;1", &[])], false), Err(PackError::Corrupt { .. })));
    }

    #[test]
    fn large_parts_are_left_alone() {
        let parts: Vec<PartFile> = (0..20).map(|_| part(0, ROWS)).collect();
        assert_eq!(due(&parts), None);
    }
}
