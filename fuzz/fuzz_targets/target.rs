//! The one program of all fuzz targets: each binary runs the target of its own name.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::cell::OnceCell;
use tessarray_fuzz::{Target, target};

thread_local! {
    static TARGET: OnceCell<Target> = const { OnceCell::new() };
}

fuzz_target!(|input: &[u8]| {
    TARGET.with(|cell| {
        let target = cell.get_or_init(|| target(env!("CARGO_BIN_NAME")).expect("a binary is named after a target"));
        // Whether the input is accepted or refused is the target's business; a broken promise panics.
        let _ = (target.run)(input);
    });
});
