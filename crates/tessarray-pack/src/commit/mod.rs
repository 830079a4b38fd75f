//! Commits: the points between which nothing of a pack can be seen.
//!
//! # How a transaction is committed
//! 1. Its chunks are put as segments, files that are written once and never changed: `segments/<id>.seg`.
//! 2. What it changed is put as a part of the catalogue, the *delta*: `catalogue/<id>.parquet`.
//! 3. The latest version is looked up. Where it is not the one that the transaction began from, the deltas of all
//!    versions in between are compared with ours. A change that overlaps ours ends the attempt with a conflict. So does
//!    a version of `expire` that took our segments for those of a killed writer; a delta of ours that it took is put
//!    again (see the top of the expire module).
//! 4. The commit file of the next version lists the parts of the catalogue: our delta, then the parts of the latest
//!    version. Where many small parts have gathered, some are merged into one first.
//! 5. The commit file is created, under a name that says its number: `commits/<number>.json`. The store refuses a name
//!    that is taken. This is the moment at which the transaction takes place, with all it did.
//! 6. Where the name is taken, or the answer was lost, the file is read. If it is ours (it names our transaction), the
//!    commit took place. If it is another's, go to 3. If there is none, the put failed and nothing took place.
//! 7. The number can also have been free because its version was expired while the transaction went on: where
//!    `expired.json` says that it was, and later versions do not follow on ours, our file is removed again; go to 3. Where
//!    it was not, and the next version does not follow on ours, the commit file whose number we took is lost: our file
//!    is removed again, and the pack is damaged.
//! 8. A note of the number is put as `latest.json`, so that the next one to open need not list the folder. It is a
//!    hint: a reader goes on from it to the last number that is there, and does without where it is missing or old. It is
//!    never ahead: where the version that it names is not there, nor expired, that version is lost.
//!
//! Numbers are given one after the other, and from that in `expired.json` on none is missing. A gap is damage.
//!
//! Whoever dies before step 5 leaves files that nothing names; `expire` removes them. With `durable`, each file and
//! its folder is synced by its put, so that all of 1, 2 and 4 are on the disk before 5 begins. So is what earlier commits
//! put without a sync (`durable.rs`).

mod attempt;
mod conflict;
mod create;
mod draft;
mod durable;

pub(crate) use draft::outlived;
