//! Names of values: validated once, then trusted by every store.
//!
//! A key is one or more segments joined by `/`. Nothing in a key can climb out of a root, name another drive, hide
//! in a terminal or collide with the lock files of the file store, so stores may join it to a path as it is.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// What the names of lock files end in; refused in keys, skipped in listings.
pub const LOCK_SUFFIX: &str = ".__lock";

/// Most bytes in one segment: what every common file system takes.
pub const MAX_SEGMENT: usize = 255;

/// Most bytes in a whole key.
pub const MAX_KEY: usize = 4096;

/// A string that is not a key, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key:?} is not a key: {problem}")]
pub struct KeyError {
    /// The string, cut after 120 characters.
    pub key: String,
    /// The rule it breaks.
    pub problem: KeyProblem,
}

/// The rule that a string breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyProblem {
    /// Nothing there.
    #[error("it is empty")]
    Empty,
    /// Starts with `/`, as an absolute path does.
    #[error("it starts with '/'")]
    Absolute,
    /// Ends in `/`, as a prefix does.
    #[error("it ends in '/'")]
    TrailingSlash,
    /// A prefix that does not end in `/`.
    #[error("a prefix must end in '/'")]
    NoTrailingSlash,
    /// Two slashes in a row.
    #[error("it has an empty segment")]
    EmptySegment,
    /// A segment of dots only: `.`, `..`, `...`
    #[error("it has a segment of dots only")]
    Dots,
    /// NUL or another control character.
    #[error("it has a control character")]
    Control,
    /// A backslash, which is a separator on some systems.
    #[error("it has a backslash")]
    Backslash,
    /// A segment such as `C:`
    #[error("it has a drive name")]
    Drive,
    /// A segment ends in [`LOCK_SUFFIX`].
    #[error("it has a segment that ends in the reserved {LOCK_SUFFIX:?}")]
    Reserved,
    /// A name that this platform's file system would change or take for a device.
    #[error("this platform's file system cannot hold it")]
    Platform,
    /// A segment over [`MAX_SEGMENT`] bytes.
    #[error("it has a segment of {0} bytes, over the limit of {MAX_SEGMENT}")]
    SegmentTooLong(usize),
    /// Over [`MAX_KEY`] bytes.
    #[error("it has {0} bytes, over the limit of {MAX_KEY}")]
    TooLong(usize),
}

impl KeyError {
    pub(crate) fn new(key: &str, problem: KeyProblem) -> Self {
        Self { key: key.chars().take(120).collect(), problem }
    }
}

/// The rules for a path without a slash at either end.
fn check(path: &str) -> Result<(), KeyProblem> {
    if path.is_empty() {
        return Err(KeyProblem::Empty);
    }
    if path.starts_with('/') {
        return Err(KeyProblem::Absolute);
    }
    if path.ends_with('/') {
        return Err(KeyProblem::TrailingSlash);
    }
    if path.len() > MAX_KEY {
        return Err(KeyProblem::TooLong(path.len()));
    }
    path.split('/').try_for_each(check_segment)
}

fn check_segment(segment: &str) -> Result<(), KeyProblem> {
    if segment.is_empty() {
        return Err(KeyProblem::EmptySegment);
    }
    if segment.len() > MAX_SEGMENT {
        return Err(KeyProblem::SegmentTooLong(segment.len()));
    }
    if segment.bytes().all(|byte| byte == b'.') {
        return Err(KeyProblem::Dots);
    }
    if segment.contains('\\') {
        return Err(KeyProblem::Backslash);
    }
    if segment.chars().any(char::is_control) {
        return Err(KeyProblem::Control);
    }
    if matches!(segment.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic()) {
        return Err(KeyProblem::Drive);
    }
    if segment.ends_with(LOCK_SUFFIX) {
        return Err(KeyProblem::Reserved);
    }
    Ok(())
}

/// The name of one value in a store, such as `group/array/c/0/1`. Cheap to clone; ordered by its bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

impl Key {
    /// Checks a string; [`KeyError`] names the rule it breaks.
    ///
    /// ```
    /// use tessarray_store::Key;
    /// assert_eq!(Key::new("a/zarr.json")?.name(), "zarr.json");
    /// assert!(Key::new("../etc/passwd").is_err());
    /// # Ok::<(), tessarray_store::KeyError>(())
    /// ```
    ///
    /// # Errors
    /// The rule that it breaks ([`KeyProblem`]).
    pub fn new(key: &str) -> Result<Self, KeyError> {
        check(key).map_err(|problem| KeyError::new(key, problem))?;
        Ok(Self(key.into()))
    }

    /// The whole key.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last segment.
    pub fn name(&self) -> &str {
        self.split().1
    }

    /// Everything before the last segment.
    pub fn parent(&self) -> Prefix {
        Prefix(self.0.strip_suffix(self.name()).unwrap_or_default().into())
    }

    /// The path of the folder the value lies in, without a slash at its end, and the last segment.
    pub fn split(&self) -> (&str, &str) {
        self.0.rsplit_once('/').unwrap_or(("", &self.0))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Key {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(key: &str) -> Result<Self, KeyError> {
        Self::new(key)
    }
}

/// What a set of keys begins with: empty for the root, otherwise whole segments and a slash at the end.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix(Arc<str>);

impl Prefix {
    /// Checks a string that is empty or ends in `/`.
    ///
    /// # Errors
    /// The rule that it breaks ([`KeyProblem`]).
    pub fn new(prefix: &str) -> Result<Self, KeyError> {
        if prefix.is_empty() {
            return Ok(Self::root());
        }
        let path =
            prefix.strip_suffix('/').ok_or_else(|| KeyError::new(prefix, KeyProblem::NoTrailingSlash))?;
        check(path).map_err(|problem| KeyError::new(prefix, problem))?;
        Ok(Self(prefix.into()))
    }

    /// The prefix of every key.
    pub fn root() -> Self {
        Self("".into())
    }

    /// From the path of a node: `""` is the root, `"a/b"` becomes `a/b/`.
    ///
    /// # Errors
    /// The rule that it breaks ([`KeyProblem`]).
    pub fn from_path(path: &str) -> Result<Self, KeyError> {
        if path.is_empty() {
            return Ok(Self::root());
        }
        check(path).map_err(|problem| KeyError::new(path, problem))?;
        Ok(Self(format!("{path}/").into()))
    }

    /// The prefix, with the slash at its end.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of the node: without the slash at its end.
    pub fn path(&self) -> &str {
        self.0.strip_suffix('/').unwrap_or(&self.0)
    }

    /// Whether this is the prefix of every key.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The key of a value under this prefix; `name` may have several segments, such as `c/0/1`.
    ///
    /// # Errors
    /// The rule that what comes of it breaks ([`KeyProblem`]).
    pub fn key(&self, name: &str) -> Result<Key, KeyError> {
        check(name).map_err(|problem| KeyError::new(name, problem))?;
        let key = [&self.0, name].concat();
        if key.len() > MAX_KEY {
            return Err(KeyError::new(&key, KeyProblem::TooLong(key.len())));
        }
        Ok(Key(key.into()))
    }

    /// The prefix one or more segments deeper.
    ///
    /// # Errors
    /// The rule that what comes of it breaks ([`KeyProblem`]).
    pub fn join(&self, segment: &str) -> Result<Self, KeyError> {
        let key = self.key(segment)?;
        Ok(Self(format!("{key}/").into()))
    }

    /// Whether the key lies under this prefix, however deep.
    pub fn contains(&self, key: &Key) -> bool {
        key.as_str().starts_with(self.as_str())
    }

    /// The prefix one segment up; `None` at the root.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        let end = self.path().rfind('/').map_or(0, |at| at + 1);
        Some(Self(self.0[..end].into()))
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_and_keys_fit_together() {
        let prefix = Prefix::from_path("a/b").unwrap();
        assert_eq!(prefix.as_str(), "a/b/");
        assert_eq!(prefix.path(), "a/b");
        assert_eq!(prefix.parent().unwrap().as_str(), "a/");
        assert_eq!(prefix.parent().unwrap().parent().unwrap(), Prefix::root());
        assert_eq!(Prefix::root().parent(), None);
        let key = prefix.key("c/0/1").unwrap();
        assert_eq!(key.as_str(), "a/b/c/0/1");
        assert_eq!((key.name(), key.parent().as_str()), ("1", "a/b/c/0/"));
        assert_eq!(Key::new("x").unwrap().parent(), Prefix::root());
        assert!(prefix.contains(&key) && !prefix.contains(&Key::new("a/bc").unwrap()));
        assert_eq!(prefix.join("d").unwrap().as_str(), "a/b/d/");
        assert_eq!(Prefix::new("a").unwrap_err().problem, KeyProblem::NoTrailingSlash);
        assert!(prefix.key("../x").is_err() && prefix.join("").is_err() && Prefix::new("/").is_err());
    }

    #[test]
    fn no_string_that_is_accepted_can_leave_a_root() {
        proptest::proptest!(|(text in "[a.:/\\\\ \u{0}\u{7f}C_é-]{0,12}")| {
            if let Ok(key) = Key::new(&text) {
                let path = std::path::Path::new("/root").join(key.as_str());
                for part in path.components().skip(1) {
                    assert!(matches!(part, std::path::Component::Normal(_)), "{text:?}");
                }
            }
        });
    }
}
