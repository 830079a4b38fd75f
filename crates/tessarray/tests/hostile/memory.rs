//! Counts what this process allocates, in Rust and, where the system tells, in C.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static ALONE: Mutex<()> = Mutex::new(());

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is passed on to the system's allocator with the caller's own arguments; only counters are added.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those of this function.
        counted(unsafe { System.alloc(layout) }, layout.size(), 0)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        counted(unsafe { System.alloc_zeroed(layout) }, layout.size(), 0)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        counted(unsafe { System.realloc(pointer, layout, size) }, size, layout.size())
    }
}

/// Counts a block of `size` bytes that takes the place of one of `old`. Where both were there at once (the system
/// moves large ones without a copy), what is resident tells.
fn counted(pointer: *mut u8, size: usize, old: usize) -> *mut u8 {
    if !pointer.is_null() {
        let now = NOW.fetch_add(size, Ordering::Relaxed) + size;
        PEAK.fetch_max(now.saturating_sub(old), Ordering::Relaxed);
        NOW.fetch_sub(old, Ordering::Relaxed);
    }
    pointer
}

/// Held by every test of this binary, so that none counts what another allocates.
pub fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a job, and gives the most bytes it had allocated at once beyond those there before: what Rust asked for, or
/// what became resident, C libraries included, whichever is more.
pub fn peak<R>(_alone: &MutexGuard<'_, ()>, job: impl FnOnce() -> R) -> (R, usize) {
    // Best effort: without the reset, what is resident cannot be told and only Rust's allocations count. Of AddressSanitizer,
    // what is resident is mostly its own.
    let sanitized = std::env::var_os("ASAN_OPTIONS").is_some();
    let reset = !sanitized && std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let resident_before = resident("VmRSS:");
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let result = job();
    let asked = PEAK.load(Ordering::Relaxed).saturating_sub(before);
    let touched = if reset { resident("VmHWM:").saturating_sub(resident_before) } else { 0 };
    (result, asked.max(touched))
}

fn resident(field: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    line.split_whitespace().next().and_then(|n| n.parse::<usize>().ok()).unwrap_or(0) * 1024
}

#[test]
fn allocations_are_counted() {
    let alone = alone();
    let (_, peak) = peak(&alone, || std::hint::black_box(vec![1u8; 50 << 20]));
    assert!((50 << 20..60 << 20).contains(&peak), "{peak}");
}
