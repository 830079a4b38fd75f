//! Arrays and groups on a store: plans, their executor, shards, appends.
//!
//! Planners are pure: from metadata and a selection they say which byte ranges of which keys are needed, and into
//! which part of the output each decodes. One executor runs every plan.
#![forbid(unsafe_code)]
#![deny(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(test, allow(clippy::cast_possible_truncation))]

mod appender;
mod array;
mod cache;
mod crew;
mod documents;
mod error;
mod execute;
mod gate;
mod group;
mod layout;
mod options;
mod plan;
pub mod recording;
mod session;
mod spec;
mod stream;
mod target;
mod verified;

pub use appender::Appender;
pub use array::{Array, Finding, FindingKind};
pub use error::{ArrayError, Result};
pub use group::{Group, Member, check_store, repair_store};
pub use options::Options;
pub use session::{Session, SessionBuilder, THREADS_VARIABLE};
pub use spec::{ArraySpec, ChecksumChoice, ChunkChoice, CodecChoice, ShardChoice, codec_from_text};
pub use stream::{ChunkStream, StreamOptions, Streamed, StreamedChunk};
