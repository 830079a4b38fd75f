//! Making a pack.
//!
//! 1. Version 0 is created: `commits/00000000000000000000.json`. It names the id that the pack is to have.
//! 2. `format.json` is created, with that id. This is the moment from which there is a pack: `open` looks for this file.
//!
//! Whoever dies between 1 and 2 leaves a version 0, and no pack. The next one to create takes it over, and gives the pack
//! its id. So of any number that create at once one makes `format.json`, and the others are told that there is a pack;
//! there is never a pack without a version. The store refuses a name that is taken, in both steps.
//!
//! Earlier releases made `format.json` first. A pack that has it and nothing else is finished, too.

use crate::error::{PackError, Result};
use crate::id::Id;
use crate::log::{Added, Commit, CommitKind};
use crate::names::{FORMAT_FILE, FORMAT_NAME, TAGS};
use crate::pack::{FORMAT_VERSION, Format, Pack, PackOptions};
use std::sync::Arc;
use tessarray_store::{Key, Prefix, PutMode, Store, StoreError};

/// How often a version 0 that others change at the same time is looked at.
const ATTEMPTS: usize = 100;

impl Pack {
    /// Makes a pack, with one version that is empty. Killed at any moment it leaves a pack, or what the next call makes
    /// one of. Of several at once one succeeds.
    ///
    /// # Errors
    /// There is a pack already ([`PackError::Exists`]), or versions of one without `format.json`
    /// ([`PackError::Corrupt`]): nothing is changed.
    pub fn create(store: Arc<dyn Store>, options: PackOptions) -> Result<Self> {
        let key = Key::new(FORMAT_FILE)?;
        let exists = || PackError::Exists { store: store.describe() };
        if store.get(&key)?.is_some() {
            let pack = Self::open(Arc::clone(&store), options).map_err(|error| match error {
                PackError::Store(error) => error.into(),
                _ => exists(),
            })?;
            return if pack.finish_empty()? { Ok(pack) } else { Err(exists()) };
        }
        // 1.
        let id = options.clock.id()?;
        let created = options.clock.text();
        let made = Self::new(Arc::clone(&store), id, options.clone());
        let first = made.draft(0, None, CommitKind::Create, "create")?;
        let id = made.put_first(&first)?;
        // 2.
        let format = Format { format: FORMAT_NAME.into(), version: FORMAT_VERSION, id, created };
        let text =
            serde_json::to_vec(&format).map_err(|error| made.damaged(FORMAT_FILE, error.to_string()))?;
        let done = store.put(&key, &[&text], PutMode::Create);
        if let Err(failure) = done {
            match store.get(&key)? {
                // It is there, but where a sync failed it may not stay.
                Some((found, _)) if found == text => {
                    if let StoreError::Poisoned { .. } = failure {
                        return Err(PackError::Unknown { version: 0, reason: failure.to_string() });
                    }
                }
                Some((found, _)) => {
                    // Others have made a pack, and maybe expired its version 0, whose place ours then took.
                    let theirs = serde_json::from_slice::<Format>(&found).is_ok_and(|theirs| theirs.id != id);
                    if theirs && first.pack == id {
                        store.delete(&Commit::key_of(0)?)?;
                    }
                    return Err(exists());
                }
                None => return Err(failure.into()),
            }
        }
        let pack = Self::new(store, id, options);
        pack.log().hint(0);
        Ok(pack)
    }

    /// Step 1: the id in version 0, which is ours, or was left by one who died or is as far as we are.
    fn put_first(&self, first: &Commit) -> Result<Id> {
        let key = Commit::key_of(0)?;
        let (bytes, _) = first.encode().map_err(|error| self.damaged(key.as_str(), error.to_string()))?;
        let mut failure = match self.store().put(&key, &[&bytes], PutMode::Create) {
            Ok(_) => return Ok(first.pack),
            Err(failure) => failure,
        };
        for _ in 0..ATTEMPTS {
            let Some((found, meta)) = self.store().get(&key)? else { return Err(failure.into()) };
            let others = self.log().numbers()?.iter().any(|number| *number > 0);
            match Commit::decode(&found) {
                Ok((found, _)) if found.transaction == first.transaction => {
                    if let StoreError::Poisoned { .. } = failure {
                        return Err(PackError::Unknown { version: 0, reason: failure.to_string() });
                    }
                    return Ok(first.pack);
                }
                Ok((found, _)) if found.kind == CommitKind::Create && !others => return Ok(found.pack),
                // Torn by a loss of power.
                Err(_) if !others => {
                    match self.store().put(&key, &[&bytes], PutMode::IfMatch(meta.version)) {
                        Ok(_) => return Ok(first.pack),
                        Err(error) => failure = error,
                    }
                }
                _ if self.store().head(&Key::new(FORMAT_FILE)?)?.is_some() => {
                    return Err(PackError::Exists { store: self.store().describe() });
                }
                _ => return Err(Self::formless(&**self.store())),
            }
        }
        Err(failure.into())
    }

    /// Gives a pack that has nothing but `format.json` its version 0; `false` where it has more.
    fn finish_empty(&self) -> Result<bool> {
        let log = self.log();
        if !log.numbers()?.is_empty() || log.closed()? > 0 {
            return Ok(false);
        }
        for folder in [TAGS, "segments", "catalogue"] {
            if !self.store().list_dir(&Prefix::from_path(folder)?)?.is_empty() {
                return Ok(false);
            }
        }
        Ok(matches!(log.add(&self.draft(0, None, CommitKind::Create, "create")?)?, Added::Yes))
    }
}
