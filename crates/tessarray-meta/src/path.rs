//! The place in a document that an error is about.

use std::fmt;

/// A place in a document, as `zarr.json: codecs[0].configuration.level`. A chain of borrowed segments, so that
/// following the structure costs nothing unless an error is made.
#[derive(Debug, Clone, Copy)]
pub struct Path<'a>(Segment<'a>);

#[derive(Debug, Clone, Copy)]
enum Segment<'a> {
    Root(&'a str),
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl<'a> Path<'a> {
    /// The top of a document of this name.
    pub fn root(document: &'a str) -> Self {
        Self(Segment::Root(document))
    }

    /// The member `key` of this object.
    pub fn key(&'a self, key: &'a str) -> Path<'a> {
        Path(Segment::Key(self, key))
    }

    /// Item `index` of this array.
    pub fn index(&'a self, index: usize) -> Path<'a> {
        Path(Segment::Index(self, index))
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Segment::Root(document) => f.write_str(document),
            Segment::Index(parent, index) => write!(f, "{parent}[{index}]"),
            Segment::Key(parent, key) => {
                let join = if matches!(parent.0, Segment::Root(_)) { ": " } else { "." };
                // Keys come from the document: shown escaped and cut, so that an error stays one short line.
                write!(f, "{parent}{join}")?;
                key.chars().take(80).try_for_each(|c| write!(f, "{}", c.escape_debug()))
            }
        }
    }
}
