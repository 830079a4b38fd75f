//! What is in a group.
//!
//! Local stores are looked at directly, so that members are never out of date. Stores where each look is a network
//! round trip use consolidated metadata where the group has it.

use super::{Group, Member};
use crate::documents;
use crate::error::{ArrayError, Result};
use tessarray_meta::Node;
use tessarray_store::{ListEntry, Prefix};

impl Group {
    /// The arrays and groups directly in this one, sorted by name. Costs one listing and one metadata read a member.
    ///
    /// # Errors
    /// One of them cannot be opened; [`look`](Self::look) gives the others.
    pub fn members(&self) -> Result<Vec<(String, Member)>> {
        all(self.look()?)
    }

    /// As [`members`](Self::members), with the error in the place of a member that cannot be opened: one whose metadata
    /// are damaged, or need what this release does not have.
    pub fn look(&self) -> Result<Vec<(String, Result<Member>)>> {
        if let Some(members) = self.consolidated_members() {
            return Ok(members.into_iter().filter(|(path, _)| !path.contains('/')).collect());
        }
        let mut out = Vec::new();
        for entry in self.inner.store.list_dir(&self.inner.prefix)? {
            let ListEntry::Prefix(prefix) = entry else { continue };
            let path = prefix.as_str().trim_end_matches('/');
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            let (session, store) = (&self.inner.session, &self.inner.store);
            match documents::load(store, &prefix, session.limits()) {
                Ok(Some(mut node)) => {
                    self.hand_down(&mut node, &name);
                    out.push((name, Self::member_of(session, store.clone(), path, node)));
                }
                Ok(None) => {}
                Err(error) => out.push((name, Err(error))),
            }
        }
        for name in self.metadata().unread.keys().filter(|path| !path.contains('/')) {
            if let (Some(error), false) = (self.unread(name), out.iter().any(|(known, _)| known == name)) {
                out.push((name.clone(), Err(error)));
            }
        }
        out.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(out)
    }

    /// The member at a path, which may lead through several groups; `None` where there is none.
    pub fn get(&self, path: &str) -> Result<Option<Member>> {
        let full = self.join(path);
        if full == self.inner.path {
            return Ok(Some(Member::Group(self.clone())));
        }
        let (session, store) = (&self.inner.session, &self.inner.store);
        if let (false, Some(nodes)) = (store.is_local(), &self.metadata().consolidated) {
            // One that is not in the copy may have been made since.
            if let Some(node) = nodes.get(&documents::clean(path)) {
                return Self::member_of(session, store.clone(), &full, node.clone()).map(Some);
            }
        }
        match documents::load(store, &Prefix::from_path(&full)?, session.limits())? {
            Some(mut node) => {
                self.hand_down(&mut node, &documents::clean(path));
                Self::member_of(session, store.clone(), &full, node).map(Some)
            }
            None => self.unread(&documents::clean(path)).map_or(Ok(None), Err),
        }
    }

    /// Why a member that has no document of its own is not known from the consolidated copy either.
    fn unread(&self, path: &str) -> Option<ArrayError> {
        let metadata = self.metadata();
        let source = metadata.unread.get(path).filter(|_| !self.inner.store.is_local())?.clone();
        let key = format!("{}{}", self.inner.prefix.as_str(), documents::copy_in(metadata.format));
        Some(ArrayError::Metadata { key, source })
    }

    /// Tells a group below which of its members the consolidated copy lacks.
    fn hand_down(&self, node: &mut Node, path: &str) {
        let Node::Group(group) = node else { return };
        for (name, error) in &self.metadata().unread {
            if let Some(below) = name.strip_prefix(path).and_then(|rest| rest.strip_prefix('/')) {
                group.unread.entry(below.to_owned()).or_insert_with(|| error.clone());
            }
        }
    }

    /// Everything below this group, depth first, by path relative to it.
    ///
    /// # Errors
    /// Something in it cannot be opened; [`look_below`](Self::look_below) gives the rest.
    pub fn tree(&self) -> Result<Vec<(String, Member)>> {
        all(self.look_below()?)
    }

    /// As [`tree`](Self::tree), with the error in the place of what cannot be opened.
    pub fn look_below(&self) -> Result<Vec<(String, Result<Member>)>> {
        if let Some(mut members) = self.consolidated_members() {
            members.sort_by(|a, b| a.0.split('/').cmp(b.0.split('/')));
            return Ok(members);
        }
        let mut out = Vec::new();
        self.walk("", &mut out)?;
        Ok(out)
    }

    pub(super) fn walk(&self, above: &str, out: &mut Vec<(String, Result<Member>)>) -> Result<()> {
        for (name, member) in self.look()? {
            let path = if above.is_empty() { name } else { format!("{above}/{name}") };
            let below = if let Ok(Member::Group(group)) = &member { Some(group.clone()) } else { None };
            out.push((path.clone(), member));
            if let Some(group) = below {
                group.walk(&path, out)?;
            }
        }
        Ok(())
    }

    fn consolidated_members(&self) -> Option<Vec<(String, Result<Member>)>> {
        let metadata = self.metadata();
        let (false, Some(nodes)) = (self.inner.store.is_local(), &metadata.consolidated) else {
            return None;
        };
        let member = |(path, node): (&String, &Node)| {
            let full = self.join(path);
            let (session, store) = (&self.inner.session, self.inner.store.clone());
            (path.clone(), Self::member_of(session, store, &full, node.clone()))
        };
        Some(nodes.iter().map(member).collect())
    }
}

/// The members, or the first error.
fn all(found: Vec<(String, Result<Member>)>) -> Result<Vec<(String, Member)>> {
    found.into_iter().map(|(path, member)| member.map(|member| (path, member))).collect()
}
