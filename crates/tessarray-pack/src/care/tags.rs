//! Names for versions: `tags/<name>.json`. A tagged version is not expired.

use crate::error::{PackError, Result};
use crate::names::TAGS;
use crate::pack::Pack;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use tessarray_codec::crc32c;
use tessarray_store::{Key, ListEntry, Prefix, PutMode, StoreError};

#[derive(Serialize, Deserialize)]
struct Tag {
    version: u64,
    time: String,
    /// Of name, version and time. Earlier releases put none.
    #[serde(default)]
    crc32c: Option<String>,
}

/// The checksum of a tag's file: without it a flipped bit would be another version.
fn checksum(name: &str, version: u64, time: &str) -> String {
    format!("{:08x}", crc32c::crc32c(format!("{name}\n{version}\n{time}").as_bytes()))
}

impl Pack {
    /// Names a version. A name is one part of a path, and is given once.
    ///
    /// # Errors
    /// The name is taken ([`StoreError::Exists`]), or no name; there is no such version.
    pub fn tag(&self, name: &str, version: u64) -> Result<()> {
        self.version(version)?;
        let time = self.clock().text();
        let tag = Tag { version, crc32c: Some(checksum(name, version, &time)), time };
        let text = serde_json::to_vec(&tag).map_err(|error| self.damaged(TAGS, error.to_string()))?;
        self.store().put(&key(name)?, &[&text], PutMode::Create)?;
        // One who expires versions may not have seen the tag. If it is still there, they will, and put it back.
        self.version(version).map(|_| ()).or_else(|gone| {
            self.untag(name)?;
            Err(gone)
        })
    }

    /// The versions that have names.
    pub(crate) fn tagged_versions(&self) -> Result<BTreeSet<u64>> {
        Ok(self.tags()?.into_iter().map(|(_, version)| version).collect())
    }

    /// Takes a name away; `false` where it is none.
    ///
    /// # Errors
    /// It is no name, or the store failed.
    pub fn untag(&self, name: &str) -> Result<bool> {
        Ok(self.store().delete(&key(name)?)?)
    }

    /// All names and the versions they stand for, by name.
    ///
    /// # Errors
    /// A tag is damaged ([`PackError::Corrupt`]), or the store failed.
    pub fn tags(&self) -> Result<Vec<(String, u64)>> {
        let mut tags = Vec::new();
        for name in self.tag_names()? {
            if let Some(version) = self.tagged(&name)? {
                tags.push((name, version));
            }
        }
        Ok(tags)
    }

    /// All names.
    pub(crate) fn tag_names(&self) -> Result<Vec<String>> {
        let name = |entry: &ListEntry| match entry {
            ListEntry::Key(key, _) => key.name().strip_suffix(".json").map(String::from),
            ListEntry::Prefix(_) => None,
        };
        Ok(self.store().list_dir(&Prefix::from_path(TAGS)?)?.iter().filter_map(name).collect())
    }

    /// The version that a name stands for.
    ///
    /// # Errors
    /// It is no name, the tag is damaged ([`PackError::Corrupt`]), or the store failed.
    pub fn tagged(&self, name: &str) -> Result<Option<u64>> {
        let key = key(name)?;
        let Some((bytes, _)) = self.store().get(&key)? else { return Ok(None) };
        let tag: Tag =
            serde_json::from_slice(&bytes).map_err(|error| self.damaged(key.as_str(), error.to_string()))?;
        let found = checksum(name, tag.version, &tag.time);
        match tag.crc32c {
            Some(expected) if expected != found => {
                let reason = format!("checksum: expected {expected}, found {found}");
                Err(self.damaged(key.as_str(), reason))
            }
            _ => Ok(Some(tag.version)),
        }
    }

    /// The latest version that was committed at or before a moment, a text as in [`Commit::time`](crate::Commit);
    /// a beginning of one stands for its first moment.
    ///
    /// # Errors
    /// There is none that old ([`PackError::NoVersion`]), or a commit file is damaged.
    pub fn version_at(&self, time: &str) -> Result<u64> {
        let found = self.versions()?.into_iter().rev().find(|commit| commit.time.as_str() <= time);
        found.map(|commit| commit.number).ok_or_else(|| PackError::NoVersion {
            store: self.store().describe(),
            wanted: format!("at {time}"),
            reason: "all that are there are younger".into(),
        })
    }
}

fn key(name: &str) -> Result<Key> {
    if name.contains('/') {
        let message = "a tag's name is one part of a path: it has a slash".into();
        return Err(StoreError::Other { key: name.into(), message }.into());
    }
    Ok(Key::new(&format!("{TAGS}/{name}.json"))?)
}
