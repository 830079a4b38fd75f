//! Several parts of the catalogue as one.

use crate::Result;
use crate::catalogue::{Entry, GONE, Part, Row};
use crate::commit::PartFile;
use crate::id::Id;
use crate::numbering::Numbering;
use crate::overlay::{Table, chunk_rows};
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
/// `bottom` there are no older parts, and nothing needs to be hidden.
pub(crate) fn merge(parts: &[Arc<Part>], bottom: bool) -> Result<(Vec<Row>, Vec<Id>)> {
    let mut values: BTreeMap<(Arc<str>, Arc<str>), Row> = BTreeMap::new();
    let mut nodes: BTreeMap<Arc<str>, Node> = BTreeMap::new();
    let mut segments = Table::default();
    for (age, part) in parts.iter().enumerate() {
        let mut number = |entry: Entry| -> Result<Entry> {
            if entry.segment == GONE {
                return Ok(entry);
            }
            Ok(Entry { segment: segments.number(part.segment(entry.segment)?), ..entry })
        };
        for mut row in part.rows()? {
            if row.name.is_empty() {
                let node = nodes.entry(Arc::clone(&row.node)).or_default();
                for (_, entry) in &mut row.entries {
                    *entry = number(*entry)?;
                }
                node.add(row, age);
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
        let keep = |(_, entry): &(u64, Entry)| !(bottom && entry.segment == GONE);
        let entries: Vec<(u64, Entry)> = chunks.entries.into_iter().filter(keep).collect();
        if let Some((text, _)) = chunks.numbering {
            rows.extend(chunk_rows(&node, &text, chunks.closed.is_some() && !bottom, &entries));
        }
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

/// The chunks of one node.
#[derive(Default)]
struct Node {
    /// The newest, by which all are numbered.
    numbering: Option<(Arc<str>, Option<Numbering>)>,
    entries: BTreeMap<u64, Entry>,
    /// The part that made the node anew: later ones do not count.
    closed: Option<usize>,
}

impl Node {
    fn add(&mut self, row: Row, age: usize) {
        if self.closed.is_some_and(|closed| age > closed) {
            return;
        }
        if row.first == 0 && row.gone {
            self.closed = Some(age);
        }
        let Some(text) = row.grid else { return };
        let (own, numbering) =
            self.numbering.get_or_insert_with(|| (Arc::clone(&text), Numbering::parse(&text)));
        let other = if *own == text { None } else { Numbering::parse(&text) };
        for (number, entry) in row.entries {
            let number = match (&other, &*numbering) {
                (Some(other), Some(own)) => {
                    let (at, inner) = other.place(number);
                    own.object(&at).map(|object| object + inner)
                }
                _ => Some(number),
            };
            if let Some(number) = number {
                self.entries.entry(number).or_insert(entry);
            }
        }
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

    #[test]
    fn large_parts_are_left_alone() {
        let parts: Vec<PartFile> = (0..20).map(|_| part(0, ROWS)).collect();
        assert_eq!(due(&parts), None);
    }
}
