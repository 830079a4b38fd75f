//! Do the changes of two transactions overlap?
//!
//! They do where both changed the same key (but for a group that both made) or the same chunk, where one removed a node at or
//! under which the other wrote, and where one changed an array's layout whose chunks the other wrote. Growing along
//! the first axis, and attributes, do not concern chunks.

use crate::catalogue::{Group, Numbering, Part, Row, Value};
use crate::error::{PackError, Result};
use crate::names::{STATISTICS, V2_ARRAY, V2_GROUP, V3, is_document, is_under};
use crate::version::Snapshot;
use std::sync::Arc;

/// Compares our rows with the delta of `version`, which was committed meanwhile on the same base.
pub(crate) fn check(base: &Snapshot, ours: &[Row], theirs: &Part, version: u64) -> Result<()> {
    Comparison { base, theirs, version }.all(ours)
}

struct Comparison<'a> {
    base: &'a Snapshot,
    theirs: &'a Part,
    version: u64,
}

impl Comparison<'_> {
    fn conflict(&self, path: &str, region: impl Into<String>) -> PackError {
        PackError::Conflict { path: path.into(), region: region.into(), version: self.version }
    }

    fn all(&self, ours: &[Row]) -> Result<()> {
        let mut last: Option<&Arc<str>> = None;
        for row in ours {
            if last != Some(&row.node) {
                self.ancestors(&row.node)?;
                last = Some(&row.node);
            }
            if row.name.is_empty() {
                self.chunks(row)?;
            } else {
                self.value(row)?;
            }
        }
        Ok(())
    }

    /// Their row of a value.
    fn find(&self, node: &str, name: &str) -> Result<Option<(&Arc<Group>, usize)>> {
        self.theirs.row(node, name, u64::MAX)
    }

    /// Did they remove a node at which, or under which, we wrote?
    fn ancestors(&self, node: &str) -> Result<()> {
        let mut path = Some(node);
        while let Some(at) = path {
            for name in [V3, V2_GROUP, V2_ARRAY] {
                if let Some((group, row)) = self.find(at, name)?
                    && group.gone(row)
                {
                    return Err(self.conflict(node, format!("the node {at:?}")));
                }
            }
            path = match at.rfind('/') {
                Some(slash) => Some(&at[..slash]),
                None if at.is_empty() => None,
                None => Some(""),
            };
        }
        Ok(())
    }

    fn value(&self, ours: &Row) -> Result<()> {
        // They go where both changed an array; that is no reason to fail.
        if *ours.name == *STATISTICS {
            return Ok(());
        }
        if let Some((group, row)) = self.find(&ours.node, &ours.name)? {
            // The same group made twice is one group. A change made twice is not one change: two appends of as many rows
            // give the same document.
            let of_array = ours.id.is_some() && self.is_array(ours);
            let made = !of_array && self.base.value_row(&ours.node, &ours.name)?.is_none();
            let same = (made || ours.gone)
                && ours.gone == group.gone(row)
                && ours.entries.is_empty()
                && ours.value.as_ref().map(Value::bytes) == group.value(row)?;
            if !same {
                return Err(self.conflict(&ours.node, format!("its {}", ours.name)));
            }
        }
        if !is_document(&ours.name) {
            return Ok(());
        }
        if ours.gone {
            return self.nothing_under(&ours.node);
        }
        // Did they write chunks of an array whose layout we changed?
        if self.has_chunks(&ours.node)?
            && let Some(Value::Text(text)) = &ours.value
            && !self.only_grown(&ours.node, &ours.name, &text.template, &text.join())?
        {
            return Err(self.conflict(&ours.node, "its chunks, whose layout this transaction changed,"));
        }
        Ok(())
    }

    fn is_array(&self, ours: &Row) -> bool {
        let bytes = ours.value.as_ref().map(Value::bytes).unwrap_or_default();
        self.base.layouts().parse(&ours.name, &bytes, 0).is_some()
    }

    fn has_chunks(&self, node: &str) -> Result<bool> {
        Ok(self.find(node, "")?.is_some())
    }

    /// We removed a node: did they write at it or under it?
    fn nothing_under(&self, path: &str) -> Result<()> {
        let end = format!("{path}0");
        let mut found = None;
        self.theirs.walk((path.as_bytes(), b"", 0), &mut |group, row| {
            let (node, name, _) = group.key(row);
            if !path.is_empty() && node > end.as_bytes() {
                return Ok(false);
            }
            let node = String::from_utf8_lossy(node);
            let wrote = !group.gone(row) || (name.is_empty() && group.entries(row).len() > 0);
            if is_under(&node, path) && wrote {
                found = Some(node.into_owned());
                return Ok(false);
            }
            Ok(true)
        })?;
        match found {
            Some(node) => Err(self.conflict(&node, format!("what is under {path:?}, which was removed,"))),
            None => Ok(()),
        }
    }

    /// Whether an array's new document leaves its chunks where they are.
    fn only_grown(&self, node: &str, name: &str, template: &str, document: &[u8]) -> Result<bool> {
        let Some(before) = self.base.value_row(node, name)? else { return Ok(false) };
        if before.group.template(before.row).is_none_or(|before| **before != *template) {
            return Ok(false);
        }
        let layouts = self.base.layouts();
        let old = before.group.value(before.row)?.unwrap_or_default();
        let (old, new) = (layouts.parse(name, &old, 0), layouts.parse(name, document, 0));
        Ok(match (old, new) {
            (Some(old), Some(new)) => {
                old.text() == new.text() && old.shape().iter().zip(new.shape()).all(|(old, new)| new >= old)
            }
            _ => false,
        })
    }

    fn chunks(&self, ours: &Row) -> Result<()> {
        for name in [V3, V2_ARRAY] {
            if let Some((group, row)) = self.find(&ours.node, name)?
                && let Some(document) = group.value(row)?
                && let Some(template) = group.template(row)
                && !self.only_grown(&ours.node, name, template, &document)?
            {
                return Err(self.conflict(&ours.node, format!("its {name}")));
            }
        }
        let own = ours.grid.as_deref().and_then(Numbering::parse);
        let mut conflict = None;
        self.theirs.walk((ours.node.as_bytes(), b"", 0), &mut |group, row| {
            let (node, name, first) = group.key(row);
            if node != ours.node.as_bytes() || !name.is_empty() {
                return Ok(false);
            }
            let reset = (first == 0 && group.gone(row)) || ours.gone;
            let same_grid = group.grid(row).map(|text| &**text) == ours.grid.as_deref();
            if reset || !same_grid {
                conflict = Some("all of it".to_string());
                return Ok(false);
            }
            for (number, _) in group.entries(row) {
                if ours.entries.binary_search_by_key(&number, |(own, _)| *own).is_ok() {
                    conflict = Some(region(own.as_ref(), number));
                    return Ok(false);
                }
            }
            Ok(true)
        })?;
        match conflict {
            Some(region) => Err(self.conflict(&ours.node, region)),
            None => Ok(()),
        }
    }
}

fn region(numbering: Option<&Numbering>, number: u64) -> String {
    match numbering.map(|numbering| (numbering.inner(), numbering.coordinates(number))) {
        Some((1, (at, _))) => format!("chunk {at:?}"),
        Some((_, (at, inner))) => format!("inner chunk {inner} of shard {at:?}"),
        None => format!("chunk number {number}"),
    }
}
