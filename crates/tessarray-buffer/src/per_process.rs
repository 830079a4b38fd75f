//! A value of which each process has its own: after a fork, the child makes one anew.

use std::sync::atomic::{AtomicPtr, Ordering};

/// One value per process that uses it. A parent's is leaked in the child, never looked at: what it locks may be held for ever
/// by a thread that does not exist there.
#[derive(Debug)]
pub struct PerProcess<T> {
    current: AtomicPtr<Held<T>>,
    make: fn() -> T,
}

#[derive(Debug)]
struct Held<T> {
    process: u32,
    value: T,
}

// SAFETY: threads get references to the value, and one of them may drop it, as with a `Box` behind a lock.
unsafe impl<T: Send + Sync> Send for PerProcess<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for PerProcess<T> {}

impl<T> PerProcess<T> {
    /// With this process's value, made by `make`, which makes a child's as well.
    pub fn new(make: fn() -> T) -> Self {
        Self { current: AtomicPtr::new(Self::held(make)), make }
    }

    fn held(make: fn() -> T) -> *mut Held<T> {
        Box::into_raw(Box::new(Held { process: std::process::id(), value: make() }))
    }

    /// This process's value. Of threads that ask first after a fork, each gets the same.
    pub fn get(&self) -> &T {
        let seen = self.current.load(Ordering::Acquire);
        // SAFETY: the pointer came from `Box::into_raw`, and what it points to is freed when `self` is dropped, not before.
        let held = unsafe { &*seen };
        if held.process == std::process::id() {
            return &held.value;
        }
        let own = Self::held(self.make);
        match self.current.compare_exchange(seen, own, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: as above; the parent's value is leaked on purpose.
            Ok(_) => unsafe { &(*own).value },
            Err(other) => {
                // SAFETY: `own` was never published; `other` was by another thread of this process.
                unsafe {
                    drop(Box::from_raw(own));
                    &(*other).value
                }
            }
        }
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        let pointer = *self.current.get_mut();
        // SAFETY: nobody else has `self` any more. A parent's value is leaked, as its threads do not exist.
        unsafe {
            if (*pointer).process == std::process::id() {
                drop(Box::from_raw(pointer));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn every_thread_of_a_process_has_one_value_and_it_is_dropped_once() {
        static DROPPED: Mutex<u32> = Mutex::new(0);
        struct Counted(Mutex<Vec<u32>>);
        impl Drop for Counted {
            fn drop(&mut self) {
                *DROPPED.lock().unwrap() += 1;
            }
        }
        let value = PerProcess::new(|| Counted(Mutex::default()));
        std::thread::scope(|scope| {
            for i in 0..4 {
                let value = &value;
                scope.spawn(move || value.get().0.lock().unwrap().push(i));
            }
        });
        let mut seen = value.get().0.lock().unwrap().clone();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3]);
        drop(value);
        assert_eq!(*DROPPED.lock().unwrap(), 1);
    }

    #[test]
    fn the_first_threads_after_a_fork_agree_on_a_new_value() {
        let mut value = PerProcess::new(|| Mutex::new(0));
        *value.get().lock().unwrap() = 7;
        // As if the process had been forked: the value is a parent's.
        let parents = *value.current.get_mut();
        // SAFETY: nobody else has it.
        unsafe { (*parents).process ^= 1 };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| *value.get().lock().unwrap() += 1);
            }
        });
        assert_eq!(*value.get().lock().unwrap(), 4);
        drop(value);
        // SAFETY: leaked above, and nobody has it any more.
        assert_eq!(*unsafe { Box::from_raw(parents) }.value.lock().unwrap(), 7);
    }
}
