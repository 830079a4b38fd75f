//! What a durable write asks of the system, seen by strace in another process: the file is synced before it is renamed, and
//! its folder after that. Where strace may not trace, it says so and looks at nothing.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::Command;
use tessarray_store::{FileOptions, FileStore, Key, PutMode, Store, Update};

const ROOT: &str = "TESSARRAY_STORE_TEST_ROOT";
const DURABLE: &str = "TESSARRAY_STORE_TEST_DURABLE";

/// The writes that are traced: of a value in a folder that is there, and of one in a new folder.
#[test]
#[ignore = "run by the other tests, as another process"]
fn child() {
    let Some(root) = std::env::var_os(ROOT) else { return };
    let options = FileOptions::new().durable(std::env::var_os(DURABLE).is_some());
    let store = FileStore::with_options(PathBuf::from(root), options).unwrap();
    store.put(&Key::new("old/first").unwrap(), &[b"one"], PutMode::Overwrite).unwrap();
    store.put(&Key::new("new/second").unwrap(), &[b"two"], PutMode::Create).unwrap();
    let third = Key::new("old/third").unwrap();
    store.update(&third, true, &mut |_| Ok(Update::PutOwned(vec![b"three".to_vec()]))).unwrap();
    store.delete(&third).unwrap();
}

#[derive(Debug, Clone, PartialEq)]
enum Call {
    /// A file or a folder, by its path below the root.
    Sync(String),
    /// A file comes to its name: from a temporary one, or by a link.
    Name(String),
    Unlink(String),
}

/// The calls of the child, in order, of what lies below `root`; `None` where nothing can be traced.
fn calls(root: &Path, durable: bool) -> Option<Vec<Call>> {
    let trace = root.with_extension("trace");
    let mut command = Command::new("strace");
    command.args([
        "-f",
        "-y",
        "-s",
        "4096",
        "-e",
        "trace=fsync,fdatasync,rename,renameat,renameat2,linkat,unlinkat",
    ]);
    command.arg("-o").arg(&trace).arg(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture"]).env(ROOT, root);
    if durable {
        command.env(DURABLE, "1");
    }
    match command.output() {
        Ok(done) if done.status.success() => {}
        other => {
            eprintln!("strace may not trace here: {other:?}");
            return None;
        }
    }
    let text = std::fs::read_to_string(trace).unwrap();
    let root = root.canonicalize().unwrap();
    Some(text.lines().filter_map(|line| call(line, root.to_str().unwrap())).collect())
}

/// One line of a trace: `7 fsync(3</root/a>) = 0`, `7 renameat(4</root>, "b", 4</root>, "a") = 0`.
fn call(line: &str, root: &str) -> Option<Call> {
    let (name, rest) = line.split_once(' ')?.1.trim_start().split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    if !result.starts_with('0') {
        return None;
    }
    let below = |path: &str| Some(path.strip_prefix(root)?.trim_start_matches('/').to_string());
    let folders: Vec<&str> =
        arguments.split('<').skip(1).filter_map(|part| Some(part.split_once('>')?.0)).collect();
    let names: Vec<&str> = arguments.split('"').skip(1).step_by(2).collect();
    let named = |at: usize| below(&format!("{}/{}", folders.get(at)?, names.get(at)?));
    match name {
        "fsync" | "fdatasync" => Some(Call::Sync(below(folders.first()?)?)),
        "renameat" | "renameat2" | "linkat" => {
            Some(Call::Name(named(folders.len() - 1).or_else(|| named(1))?))
        }
        "unlinkat" => Some(Call::Unlink(named(0)?)),
        _ => None,
    }
}

fn root() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir_all(root.join("old")).unwrap();
    (folder, root)
}

#[test]
fn a_durable_write_syncs_the_file_before_its_name_and_the_folder_after_it() {
    let (_folder, root) = root();
    let Some(calls) = calls(&root, true) else { return };
    for (name, folder) in [("old/first", "old"), ("new/second", "new"), ("old/third", "old")] {
        let at = calls.iter().position(|call| *call == Call::Name(name.into()));
        let at = at.unwrap_or_else(|| panic!("{name} never came to its name: {calls:?}"));
        let file = calls[..at].iter().rev().find(|call| matches!(call, Call::Sync(_)));
        let own = |path: &String| path.starts_with(folder) && path != folder || path.contains("deleted");
        assert!(
            matches!(file, Some(Call::Sync(path)) if own(path)),
            "{name} was not synced before it had its name: {calls:?}"
        );
        let after = &calls[at + 1..];
        let next = after.iter().position(|call| matches!(call, Call::Name(_))).unwrap_or(after.len());
        let synced = after[..next].contains(&Call::Sync(folder.into()));
        assert!(synced, "the folder of {name} was not synced after it: {calls:?}");
    }
    let made = calls.iter().position(|call| *call == Call::Sync(String::new()));
    let second = calls.iter().position(|call| *call == Call::Name("new/second".into()));
    assert!(made.is_some() && made < second, "the new folder's own name was not synced first: {calls:?}");
    let gone = calls.iter().position(|call| *call == Call::Unlink("old/third".into()));
    let gone = gone.unwrap_or_else(|| panic!("never removed: {calls:?}"));
    assert!(calls[gone..].contains(&Call::Sync("old".into())), "the removal was not synced: {calls:?}");
}

#[test]
fn a_write_that_is_not_durable_syncs_nothing() {
    let (_folder, root) = root();
    let Some(calls) = calls(&root, false) else { return };
    assert!(calls.contains(&Call::Name("old/first".into())), "{calls:?}");
    assert!(!calls.iter().any(|call| matches!(call, Call::Sync(_))), "{calls:?}");
}
