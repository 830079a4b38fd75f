//! The commit file: JSON, with a checksum of all that stands before it as its last member.

use crate::id::Id;
use crate::names::{CATALOGUE, COMMITS};
use serde::{Deserialize, Serialize};
use tessarray_codec::crc32c;
use tessarray_store::Key;

/// What stands between the document and its checksum.
const CHECKSUM: &str = ",\"crc32c\":\"";

/// One version of a pack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Commit {
    /// The version's number; the first is 0.
    pub number: u64,
    /// The pack it belongs to, as `format.json` names it.
    pub pack: Id,
    /// The version before it; none for the first.
    pub parent: Option<Link>,
    /// The attempt that made it: tells whether a file that is there is ours.
    pub transaction: Id,
    /// What kind of change it is.
    pub kind: CommitKind,
    /// When, in UTC.
    pub time: String,
    /// Who: the user's name, where it is known.
    pub author: String,
    /// Why, in the caller's words.
    pub message: String,
    /// What it changed.
    pub summary: Summary,
    /// The part of the catalogue that holds just its changes, whether it is among `parts` or was merged; none where the
    /// whole catalogue was replaced.
    pub delta: Option<PartFile>,
    /// The catalogue, newest part first.
    pub parts: Vec<PartFile>,
    /// Segments that it added.
    pub segments: Vec<SegmentFile>,
    /// Whether all that it names, and the commits before it, were synced before its file was put.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub durable: bool,
    /// Only where it was made by `expire`: files whose ids are of this moment (milliseconds since 1970) or before, and
    /// that were there and named by no version before this one, are removed. Who wrote some must not name them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swept: Option<u64>,
}

/// A commit named by another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Its number.
    pub number: u64,
    /// Checksum of its file, as in the file's own last member.
    pub crc32c: u32,
}

/// What kind of change a commit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommitKind {
    /// The first version of a pack, empty.
    Create,
    /// A transaction.
    Write,
    /// Back to an earlier version.
    Rollback,
    /// The same content, stored anew.
    Compact,
}

/// What a commit changed, in numbers, with some of the names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Nodes that were not there before.
    pub created: u64,
    /// Nodes with changed metadata or chunks.
    pub changed: u64,
    /// Nodes that are gone.
    pub deleted: u64,
    /// Chunks stored.
    pub chunks: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Paths of changed nodes, the first few.
    pub nodes: Vec<String>,
}

/// One file of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartFile {
    /// Its name: `catalogue/<id>.parquet`.
    pub id: Id,
    /// Rows in it.
    pub rows: u64,
    /// Its size.
    pub bytes: u64,
    /// Bytes of its footer, which ends it.
    pub footer: u32,
    /// Checksum of the footer, which has those of the row groups.
    pub crc32c: u32,
    /// How often its rows were merged.
    pub level: u8,
    /// The first node in it.
    pub first: String,
    /// The last node in it.
    pub last: String,
}

/// One segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentFile {
    /// Its name: `segments/<id>.seg`.
    pub id: Id,
    /// Its size.
    pub bytes: u64,
}

impl PartFile {
    /// Where it is.
    pub(crate) fn key(&self) -> crate::error::Result<Key> {
        Ok(Key::new(&format!("{CATALOGUE}/{}.parquet", self.id))?)
    }
}

impl Commit {
    /// Where the commit of this number is.
    pub(crate) fn key_of(number: u64) -> crate::error::Result<Key> {
        Ok(Key::new(&format!("{COMMITS}/{number:020}.json"))?)
    }

    /// Whether it is the next version after the one of this number and checksum.
    pub(crate) fn follows(&self, number: u64, crc32c: u32) -> bool {
        self.parent.as_ref().is_some_and(|parent| (parent.number, parent.crc32c) == (number, crc32c))
    }

    /// The file, and the checksum in it.
    pub(crate) fn encode(&self) -> Result<(Vec<u8>, u32), serde_json::Error> {
        let mut text = serde_json::to_vec(self)?;
        text.pop();
        let crc = crc32c::crc32c(&text);
        text.extend_from_slice(CHECKSUM.as_bytes());
        text.extend_from_slice(format!("{crc:08x}\"}}\n").as_bytes());
        Ok((text, crc))
    }

    /// From its file, with the checksum; the reason where it is none.
    pub(crate) fn decode(bytes: &[u8]) -> Result<(Self, u32), String> {
        let end = bytes.len().checked_sub(CHECKSUM.len() + 11).ok_or("truncated: too short for a commit")?;
        let (text, ending) = bytes.split_at(end);
        let digits = ending
            .strip_prefix(CHECKSUM.as_bytes())
            .and_then(|rest| rest.strip_suffix(b"\"}\n"))
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .ok_or("truncated: no checksum at the end")?;
        let found = crc32c::crc32c(text);
        if digits != format!("{found:08x}") {
            return Err(format!("checksum: expected {digits}, found {found:08x}"));
        }
        let mut whole = text.to_vec();
        whole.push(b'}');
        let commit: Self =
            serde_json::from_slice(&whole).map_err(|error| format!("not a commit: {error}"))?;
        if !crate::time::is_moment(&commit.time) {
            let found = &commit.time;
            return Err(format!("not a commit: time: expected YYYY-MM-DDTHH:MM:SS.ffffffZ, found {found:?}"));
        }
        Ok((commit, found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit() -> Commit {
        Commit {
            number: 7,
            pack: Id::random().unwrap(),
            parent: Some(Link { number: 6, crc32c: 5 }),
            transaction: Id::random().unwrap(),
            kind: CommitKind::Write,
            time: crate::clock::Clock::default().text(),
            author: "someone".into(),
            message: "quotes \" and \u{1F30A}".into(),
            summary: Summary { nodes: vec!["a/b".into()], ..Summary::default() },
            delta: None,
            parts: Vec::new(),
            segments: Vec::new(),
            durable: true,
            swept: Some(1),
        }
    }

    #[test]
    fn files_and_commits_are_inverse() {
        let commit = commit();
        let (bytes, crc) = commit.encode().unwrap();
        assert_eq!(Commit::decode(&bytes).unwrap(), (commit, crc));
        let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(json["crc32c"], format!("{crc:08x}"));
        assert_eq!(Commit::key_of(42).unwrap().as_str(), "commits/00000000000000000042.json");
    }

    #[test]
    fn a_commit_of_no_moment_is_none() {
        for time in ["", "yesterday", "2026-02-30T00:00:00.000000Z"] {
            let (bytes, _) = Commit { time: time.into(), ..commit() }.encode().unwrap();
            let error = Commit::decode(&bytes).unwrap_err();
            assert!(error.contains("time: expected") && error.contains(time), "{error}");
        }
    }

    #[test]
    fn every_flipped_bit_and_every_truncation_is_seen() {
        let (bytes, _) = commit().encode().unwrap();
        for end in 0..bytes.len() {
            assert!(Commit::decode(&bytes[..end]).is_err(), "{end}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(Commit::decode(&changed).is_err(), "{bit}");
        }
    }
}
