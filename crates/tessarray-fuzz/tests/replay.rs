//! Every fuzz target under the seeded mutator, for `TESSARRAY_FUZZ_SECONDS` seconds each: else for one, and
//! `TESSARRAY_TEST_SCALE` times as long in a nightly run.
//!
//! `TESSARRAY_FUZZ_TARGET=codec_zstd` picks one; `TESSARRAY_FUZZ_SEED=7` another sequence. A find is printed with its
//! bytes: put them into the target's unit tests before mending it.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tessarray_fuzz::{Mutator, Target, target, targets};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The words of a message, without quoted parts and numbers of any base: one for each way to refuse an input.
fn shape(outcome: &Result<(), String>) -> String {
    let Err(text) = outcome else { return "accepted".into() };
    let plain = text.split('"').step_by(2).collect::<Vec<_>>().join(" ");
    let words = plain.split_whitespace().filter(|word| word.chars().all(|c| c.is_ascii_alphabetic()));
    words.collect::<Vec<_>>().join(" ")
}

fn run(target: &Target, input: &[u8]) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| (target.run)(input))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map_or("", |text| text);
        panic!("{}: {text}\ninput of {} bytes: {}", target.name, input.len(), hex(input))
    })
}

/// Runs a target for a while; how many inputs, and how many kinds of outcome.
fn replay(target: &Target, seed: u64, seconds: u64) -> (u64, usize) {
    for (number, input) in target.seeds.iter().enumerate() {
        let outcome = run(target, input);
        if !target.name.starts_with("key") {
            assert_eq!(outcome, Ok(()), "{}: seed {number} is refused", target.name);
        }
    }
    let mut mutator = Mutator::new(seed, target.seeds.clone());
    let mut seen = HashSet::new();
    let (start, mut inputs) = (Instant::now(), 0);
    while inputs == 0 || start.elapsed() < Duration::from_secs(seconds) {
        for _ in 0..64 {
            inputs += 1;
            let input = mutator.next_input();
            let begun = Instant::now();
            let outcome = run(target, &input);
            assert!(begun.elapsed() < Duration::from_secs(10), "{}: hangs on {}", target.name, hex(&input));
            if seen.len() < 1000 && seen.insert(shape(&outcome)) {
                mutator.keep(input);
            }
        }
    }
    (inputs, seen.len())
}

#[test]
fn no_target_breaks_its_promise_under_the_seeded_mutator() {
    let chosen = std::env::var("TESSARRAY_FUZZ_TARGET").ok();
    let names: Vec<String> = targets()
        .into_iter()
        .map(|target| target.name)
        .filter(|name| chosen.as_ref().is_none_or(|chosen| chosen == name))
        .collect();
    assert!(!names.is_empty(), "no such target");
    let seed = setting("TESSARRAY_FUZZ_SEED", 1);
    let seconds = setting("TESSARRAY_FUZZ_SECONDS", setting("TESSARRAY_TEST_SCALE", 1));
    let queue = Mutex::new(names.into_iter());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some(name) = queue.lock().unwrap().next() else { break };
                    let target = target(&name).unwrap();
                    let (inputs, outcomes) = replay(&target, seed, seconds);
                    println!("{name}: {inputs} inputs, {outcomes} kinds of outcome");
                }
            });
        }
    });
}

#[test]
fn every_codec_that_decodes_bytes_has_a_target() {
    let names: Vec<String> = targets().into_iter().map(|target| target.name).collect();
    for name in tessarray_codec::Registry::new().names() {
        let plain =
            name.trim_start_matches("numcodecs.").trim_start_matches("imagecodecs_").replace('-', "_");
        let alias = ["crc32", "pcodec_bytes", "transpose"].contains(&plain.as_str());
        assert!(alias || names.contains(&format!("codec_{plain}")), "{name} has no target");
    }
}

#[test]
fn cargo_fuzz_has_a_binary_for_each_target() {
    let manifest =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/Cargo.toml")).unwrap();
    for target in targets() {
        assert!(
            manifest.contains(&format!("name = \"{}\"", target.name)),
            "fuzz/Cargo.toml lacks {}",
            target.name
        );
    }
}
