//! One mutex a key, there only while somebody holds or awaits it.

use crate::key::Key;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Serialises the writers of one key without making those of others wait.
#[derive(Debug, Default)]
pub struct KeyLocks(Mutex<HashMap<Key, Arc<Mutex<()>>>>);

impl KeyLocks {
    /// Runs `act` while no other holder of the key runs. Calling it again for the same key from `act` deadlocks.
    pub fn hold<T>(&self, key: &Key, act: impl FnOnce() -> T) -> T {
        let lock = Arc::clone(self.table().entry(key.clone()).or_default());
        let guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
        let result = act();
        drop(guard);
        let mut table = self.table();
        // Two owners are the table and us: nobody awaits it, and nobody can begin to without the table.
        if Arc::strong_count(&lock) == 2 {
            table.remove(key);
        }
        result
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Key, Arc<Mutex<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
