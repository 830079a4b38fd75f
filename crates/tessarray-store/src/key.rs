//! Placeholder: see the key rules in the crate docs.
