//! What a look at a pack finds wrong.

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub file: String,
    /// Where in it, where that is known.
    pub offset: Option<u64>,
    /// The array, group or key that it concerns, where it concerns one.
    pub path: Option<String>,
    /// The versions that it concerns, as far as they can be told.
    pub versions: Vec<u64>,
    /// What is wrong.
    pub problem: String,
}

impl Damage {
    /// Of a file as a whole.
    pub(super) fn file(file: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { file: file.into(), offset: None, path: None, versions: Vec::new(), problem: problem.into() }
    }
}
