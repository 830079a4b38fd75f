//! Consolidated metadata: one document that holds every node's, and checking a whole hierarchy.

use super::{Group, Member};
use crate::array::{Array, Finding, FindingKind, classify, finding};
use crate::documents;
use crate::error::Result;
use crate::session::Session;
use std::collections::BTreeMap;
use std::sync::Arc;
use tessarray_meta::{Format, GroupMetadata, Node};
use tessarray_store::{ListEntry, Prefix, Store, StoreError};

impl Group {
    /// Writes the metadata of everything below into this group's own document (Zarr v3 inline; v2 `.zmetadata`), so
    /// that readers of remote stores need one request. Do it again after the hierarchy, a shape or an attribute
    /// changes: readers that use it see the state of the last time.
    pub fn consolidate(&self) -> Result<()> {
        self.refresh()?;
        let mut nodes = BTreeMap::new();
        let mut found = Vec::new();
        self.walk_fresh(&mut found)?;
        for (path, member) in found {
            nodes.insert(
                path,
                match member? {
                    Member::Array(array) => Node::Array((*array.metadata()).clone()),
                    Member::Group(group) => Node::Group(bare(&group.metadata())),
                },
            );
        }
        self.replace(GroupMetadata { consolidated: Some(nodes), ..bare(&self.metadata()) })
    }

    /// Everything below, looked up node by node, never from consolidated metadata.
    fn walk_fresh(&self, out: &mut Vec<(String, Result<Member>)>) -> Result<()> {
        let (session, store) = (&self.inner.session, self.inner.store.clone());
        Self::from_metadata(session, store, &self.inner.path, bare(&self.metadata()))?.walk("", out)
    }
}

/// What a group says of itself, without the copy of what is below.
pub(super) fn bare(metadata: &GroupMetadata) -> GroupMetadata {
    GroupMetadata { consolidated: None, unread: BTreeMap::new(), ..metadata.clone() }
}

/// Checks every array at and below `path`: metadata, shard indexes, checksums and, with `deep`, every chunk. A node
/// whose metadata is not acceptable is a finding, and the rest is checked all the same.
pub fn check_store(
    session: &Session,
    store: &Arc<dyn Store>,
    path: &str,
    deep: bool,
) -> Result<Vec<Finding>> {
    check_from(session, store, path, |array| array.check(deep))
}

/// Checks as [`check_store`] does, and removes the harmless findings: objects outside an array's grid, by
/// [`Array::remove_strays`], which is safe beside writers. Damaged objects stay. Returns the damage that is there, and
/// what was removed.
pub fn repair_store(
    session: &Session,
    store: &Arc<dyn Store>,
    path: &str,
    deep: bool,
) -> Result<Vec<Finding>> {
    check_from(session, store, path, |array| {
        let mut found = array.check(deep)?;
        if found.iter().any(|finding| finding.kind == FindingKind::OutOfBounds) {
            let removed = array.remove_strays()?;
            let was_removed = |finding: &Finding| removed.iter().any(|key| key.as_str() == finding.key);
            found.retain(|finding| finding.kind != FindingKind::OutOfBounds || was_removed(finding));
        }
        Ok(found)
    })
}

type CheckArray<'a> = dyn Fn(&Array) -> Result<Vec<Finding>> + 'a;

fn check_from(
    session: &Session,
    store: &Arc<dyn Store>,
    path: &str,
    check: impl Fn(&Array) -> Result<Vec<Finding>>,
) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let prefix = Prefix::from_path(&documents::clean(path))?;
    let there = match check_below(session, store, &prefix, &check, &mut findings) {
        // What holds the values is damaged (a zip file), so that its names cannot be known.
        Err(crate::ArrayError::Store(StoreError::Corrupt { store, reason })) => {
            findings.push(finding(FindingKind::Corrupt, &store, None, None, reason));
            true
        }
        there => there?,
    };
    if !there && findings.is_empty() {
        let path = path.to_owned();
        return Err(crate::ArrayError::NotFound { store: store.describe(), path });
    }
    Ok(findings)
}

/// `false` where there is no node.
fn check_below(
    session: &Session,
    store: &Arc<dyn Store>,
    prefix: &Prefix,
    check: &CheckArray<'_>,
    out: &mut Vec<Finding>,
) -> Result<bool> {
    let path = prefix.as_str().trim_end_matches('/');
    let node = match documents::load(store, prefix, session.limits()) {
        Ok(Some(node)) => node,
        Ok(None) => return Ok(false),
        Err(error) => {
            out.push(finding(classify(&error), prefix.as_str(), None, None, error.to_string()));
            return Ok(true);
        }
    };
    match Group::member_of(session, store.clone(), path, node) {
        Ok(Member::Array(array)) => out.extend(check(&array)?),
        Ok(Member::Group(group)) => {
            out.extend(check_copy(&group)?);
            for entry in store.list_dir(prefix)? {
                if let ListEntry::Prefix(below) = entry {
                    check_below(session, store, &below, check, out)?;
                }
            }
        }
        Err(error) => {
            out.push(finding(FindingKind::Metadata, prefix.as_str(), None, None, error.to_string()))
        }
    }
    Ok(true)
}

/// Nodes of a group's consolidated copy that are damaged. A reader looks at their own documents; one that needs a newer
/// release is right, and found there.
fn check_copy(group: &Group) -> Result<Vec<Finding>> {
    let (metadata, store) = (group.metadata(), &group.inner.store);
    let key = group.inner.prefix.key(documents::copy_in(metadata.format))?;
    let damage = |message: String| finding(FindingKind::Metadata, key.as_str(), None, None, message);
    let mut unread = metadata.unread.clone();
    if metadata.format == Format::V2 {
        let Some((document, _)) = store.get(&key)? else { return Ok(Vec::new()) };
        match GroupMetadata::from_zmetadata(&document, group.inner.session.limits()) {
            Ok(copy) => unread = copy.unread,
            Err(error) if error.is_beyond_reader() => {}
            Err(error) => return Ok(vec![damage(format!("the consolidated copy cannot be used: {error}"))]),
        }
    }
    let damaged = unread.iter().filter(|(_, error)| !error.is_beyond_reader());
    Ok(damaged
        .map(|(path, error)| damage(format!("the consolidated copy of {path:?} cannot be used: {error}")))
        .collect())
}
