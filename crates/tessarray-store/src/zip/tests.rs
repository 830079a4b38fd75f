//! What holds for zip files beyond what holds for every store.

use super::*;
use crate::conformance::{self, collect, whole};
use crate::request::ByteRange;
use std::io::Write;
use std::sync::Arc;

fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

/// A zip file with one entry of the given fields, to be damaged.
struct Raw {
    name: Vec<u8>,
    flags: u16,
    method: u16,
    crc: u32,
    size: u32,
    data: Vec<u8>,
    header: Option<u32>,
}

impl Raw {
    fn stored(name: &str, data: &[u8]) -> Self {
        let mut sum = flate2::Crc::new();
        sum.update(data);
        let size = u32::try_from(data.len()).unwrap();
        Self { name: name.into(), flags: 0, method: 0, crc: sum.sum(), size, data: data.into(), header: None }
    }

    fn deflated(name: &str, data: &[u8]) -> Self {
        let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        deflate.write_all(data).unwrap();
        Self { method: 8, data: deflate.finish().unwrap(), ..Self::stored(name, data) }
    }
}

fn build(entries: &[Raw]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for raw in entries {
        let header = raw.header.unwrap_or(u32::try_from(file.len()).unwrap());
        let packed = u32::try_from(raw.data.len()).unwrap();
        let mut common = Vec::new();
        for field in [20, raw.flags, raw.method, 0, 33] {
            common.extend(u16::to_le_bytes(field));
        }
        for field in [raw.crc, packed, raw.size] {
            common.extend(field.to_le_bytes());
        }
        common.extend(u16::try_from(raw.name.len()).unwrap().to_le_bytes());
        common.extend([0; 2]);
        file.extend(parse::LOCAL.to_le_bytes());
        file.extend(&common);
        file.extend(&raw.name);
        file.extend(&raw.data);
        directory.extend(parse::CENTRAL.to_le_bytes());
        directory.extend([20, 0]);
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(header.to_le_bytes());
        directory.extend(&raw.name);
    }
    let start = u32::try_from(file.len()).unwrap();
    let length = u32::try_from(directory.len()).unwrap();
    file.extend(directory);
    file.extend(parse::END.to_le_bytes());
    file.extend([0; 4]);
    let count = u16::try_from(entries.len()).unwrap();
    file.extend(count.to_le_bytes());
    file.extend(count.to_le_bytes());
    file.extend(length.to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend([0; 2]);
    file
}

fn open(bytes: &[u8]) -> (tempfile::TempDir, Result<ZipStore>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    std::fs::write(&path, bytes).unwrap();
    let store = ZipStore::open(path);
    (folder, store)
}

#[test]
fn zip_files_conform_while_they_are_written() {
    conformance::run(|| {
        let folder = tempfile::tempdir().unwrap();
        let store = ZipStore::create(folder.path().join("x.zip")).unwrap();
        (folder, Arc::new(store) as Arc<dyn Store>)
    });
}

#[test]
fn a_closed_zip_reads_back_and_other_programs_agree() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    let store = ZipStore::create(&path).unwrap();
    store.put(&key("a/é"), &[b"one"], PutMode::Overwrite).unwrap();
    store.put(&key("b"), &[b"dead"], PutMode::Overwrite).unwrap();
    store.put(&key("b"), &[b"li", b"ve"], PutMode::Overwrite).unwrap();
    store.put(&key("c"), &[], PutMode::Overwrite).unwrap();
    store.put(&key("d"), &[b"gone"], PutMode::Overwrite).unwrap();
    store.delete(&key("d")).unwrap();
    assert!(!path.exists(), "nothing is there before the close");
    assert!(matches!(ZipStore::create(&path), Err(StoreError::Other { .. })), "one writer at a time");
    store.close().unwrap();
    store.close().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let refused = store.put(&key("e"), &[], PutMode::Overwrite);
    assert!(store.is_read_only() && matches!(refused, Err(StoreError::ReadOnly { .. })));
    for store in [store, ZipStore::open(&path).unwrap()] {
        let listed = [(key("a/é"), 3), (key("b"), 4), (key("c"), 0)];
        assert_eq!(store.list(&Prefix::root()).unwrap(), listed);
        assert_eq!(whole(&store, &key("b")).unwrap(), b"live");
        assert_eq!(whole(&store, &key("c")).unwrap(), b"");
    }
    let script = "import sys,zipfile; z=zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; \
                  assert z.read('a/é')==b'one' and z.read('b')==b'live' and len(z.namelist())==3";
    if let Ok(output) = std::process::Command::new("python3").args(["-c", script]).arg(&path).output() {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let edited = ZipStore::edit(&path).unwrap();
    edited.put(&key("b"), &[b"edited"], PutMode::Overwrite).unwrap();
    assert_eq!(whole(&ZipStore::open(&path).unwrap(), &key("b")).unwrap(), b"live");
    drop(edited);
    let reopened = ZipStore::open(&path).unwrap();
    assert_eq!(whole(&reopened, &key("b")).unwrap(), b"edited");
    assert_eq!(whole(&reopened, &key("a/é")).unwrap(), b"one");
    let given_up = ZipStore::edit(&path).unwrap();
    given_up.delete(&key("b")).unwrap();
    given_up.discard();
    assert_eq!(whole(&ZipStore::open(&path).unwrap(), &key("b")).unwrap(), b"edited");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn seventy_thousand_entries_need_zip64_and_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    let store = ZipStore::create(&path).unwrap();
    for i in 0..70_000 {
        store.put(&key(&format!("c/{i}")), &[b"x"], PutMode::Overwrite).unwrap();
    }
    store.close().unwrap();
    let store = ZipStore::open(&path).unwrap();
    assert_eq!(store.list(&Prefix::root()).unwrap().len(), 70_000);
    assert_eq!(whole(&store, &key("c/69999")).unwrap(), b"x");
}

#[test]
fn deflated_entries_read_by_range_and_are_checked() {
    let text: Vec<u8> = (0..200_000_u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
    let (_folder, store) = open(&build(&[Raw::deflated("a", &text), Raw::stored("b", b"plain")]));
    let store = store.unwrap();
    assert_eq!(whole(&store, &key("a")).unwrap(), text);
    let range = ByteRange::Span { offset: 123_456, length: 70_001 };
    let request = ReadRequest { key: key("a"), range, expect: None };
    let (bytes, meta) = collect(&store, &[request.clone(), request]).pop().unwrap().unwrap().unwrap();
    assert_eq!((bytes.as_slice(), meta.size), (&text[123_456..193_457], 800_000));
    // The way of entries too large to keep gives the same.
    let entry = store.find(&key("a")).unwrap().unwrap();
    let name = key("a");
    let source = read::Source { file: &store.file, store: &store.path, key: &name, entry: &entry };
    assert_eq!(source.inflate(31, 123_456, 70_001).unwrap(), bytes);
    let mut wrong = Raw::deflated("a", &text);
    wrong.crc ^= 1;
    let (_folder, store) = open(&build(&[wrong]));
    let request =
        ReadRequest { key: key("a"), range: ByteRange::Span { offset: 0, length: 1 }, expect: None };
    assert!(matches!(collect(&store.unwrap(), &[request])[0], Err(StoreError::Corrupt { .. })));
}

#[test]
fn of_two_entries_of_one_name_the_last_counts_as_zarr_python_writes_them() {
    let bytes = build(&[Raw::stored("a", b"old"), Raw::stored("b", b"other"), Raw::stored("a", b"newer")]);
    let (_guard, store) = open(&bytes);
    let store = store.unwrap();
    assert_eq!(&store.get(&Key::new("a").unwrap()).unwrap().unwrap().0[..], b"newer");
    assert_eq!(store.list(&Prefix::root()).unwrap().len(), 2);
    assert_eq!(store.duplicates(), ["a"]);
}

/// What somebody who knows the keys gets to see: an error, or for each key its value.
fn shown(bytes: &[u8], keys: &[&str]) -> Option<Vec<Option<Vec<u8>>>> {
    let (_folder, store) = open(bytes);
    let store = store.ok()?;
    let get = |name: &&str| Some(store.get(&key(name)).ok()?.map(|(bytes, _)| bytes.to_vec()));
    keys.iter().map(get).collect()
}

#[test]
fn no_flipped_bit_makes_a_value_absent_or_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    let own = ZipStore::create(&path).unwrap();
    let keys = ["zarr.json", "c/0", "c/1", "c/10", "foo", "absent"];
    for name in &keys[..5] {
        own.put(&key(name), &[b"value of ", name.as_bytes()], PutMode::Overwrite).unwrap();
    }
    own.close().unwrap();
    let others: Vec<Raw> = keys[..5]
        .iter()
        .map(|name| {
            let value = format!("value of {name}");
            if *name == "c/1" {
                Raw::deflated(name, value.as_bytes())
            } else {
                Raw::stored(name, value.as_bytes())
            }
        })
        .collect();
    for good in [std::fs::read(&path).unwrap(), build(&others)] {
        let expected = shown(&good, &keys).unwrap();
        assert!(expected[..5].iter().all(Option::is_some) && expected[5].is_none());
        let mut seen = 0;
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            match shown(&bad, &keys) {
                None => seen += 1,
                Some(found) => assert_eq!(found, expected, "bit {bit} of {}", good.len() * 8),
            }
        }
        assert!(seen > good.len() * 4, "most damage is seen: {seen}");
    }
}

#[test]
fn a_directory_that_another_program_wrote_anew_is_believed_when_the_values_agree() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    let own = ZipStore::create(&path).unwrap();
    own.put(&key("a"), &[b"one"], PutMode::Overwrite).unwrap();
    own.close().unwrap();
    let script = "import sys,zipfile; z=zipfile.ZipFile(sys.argv[1],'a'); z.writestr('b','two'); z.close()";
    if std::process::Command::new("python3")
        .args(["-c", script])
        .arg(&path)
        .status()
        .is_ok_and(|s| s.success())
    {
        let store = ZipStore::open(&path).unwrap();
        assert_eq!(whole(&store, &key("b")).unwrap(), b"two");
        assert!(store.get(&key("c")).unwrap().is_none());
        assert_eq!(store.list(&Prefix::root()).unwrap().len(), 2);
    }
}

#[test]
fn a_damaged_name_is_not_made_right_by_an_edit() {
    let mut bytes = build(&[Raw::stored("c/0", b"x"), Raw::stored("c/1", b"y")]);
    let at = bytes.windows(3).rposition(|name| name == b"c/0").unwrap();
    bytes[at + 2] = b'2';
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    std::fs::write(&path, bytes).unwrap();
    assert!(matches!(ZipStore::edit(&path), Err(StoreError::Corrupt { .. })));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let store = ZipStore::open(&path).unwrap();
    assert!(matches!(store.get(&key("c/0")), Err(StoreError::Corrupt { .. })));
    assert!(matches!(store.list(&Prefix::root()), Err(StoreError::Corrupt { .. })));
    assert_eq!(whole(&store, &key("c/1")).unwrap(), b"y");
}

#[test]
fn hostile_zip_files_are_refused_by_name_of_what_is_wrong() {
    let stored = |name: &str| Raw::stored(name, b"data");
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (Vec::new(), "no zip file"),
        (b"PK\x05\x06".to_vec(), "no zip file"),
        (vec![0; 100_000], "no zip file"),
        (build(&[stored("../x")]), "dots only"),
        (build(&[stored("/x")]), "starts with '/'"),
        (build(&[stored("a//x")]), "empty segment"),
        (build(&[stored("a\\x")]), "backslash"),
        (build(&[stored("../")]), "dots only"),
        (build(&[Raw { name: vec![0xff], ..stored("a") }]), "UTF-8"),
        (build(&[Raw { flags: 1, ..stored("a") }]), "encrypted"),
        (build(&[Raw { method: 12, ..stored("a") }]), "method 12"),
        (build(&[Raw { size: 5, ..stored("a") }]), "is stored, but"),
        (build(&[Raw { method: 8, size: 1 << 20, ..stored("a") }]), "over 1024 times"),
        (build(&[stored("a"), Raw { header: Some(0), ..stored("b") }]), "overlap"),
        (build(&[stored("a"), Raw { header: Some(3), ..stored("b") }]), "overlap"),
        (build(&[Raw { header: Some(1 << 30), ..stored("a") }]), "outside the file"),
        (build(&[Raw { header: Some(5), ..stored("a") }]), "reaches into the directory"),
    ];
    for (bytes, expected) in cases {
        match open(&bytes).1 {
            Err(StoreError::Corrupt { reason, .. }) => assert!(reason.contains(expected), "{reason}"),
            other => panic!("{expected}: {other:?}"),
        }
    }
    // An entry whose local header disagrees, or whose stream says another size than the directory.
    let mut renamed = build(&[stored("a")]);
    renamed[30] = b'b';
    let lying = Raw { size: 100, ..Raw::deflated("a", &[7; 5000]) };
    let short = Raw { size: 6000, ..Raw::deflated("a", &[7; 5000]) };
    let cut = Raw { data: vec![0x4b], ..Raw::deflated("a", b"xxxxxxxxxxx") };
    for bytes in [renamed, build(&[lying]), build(&[short]), build(&[cut])] {
        let (_folder, store) = open(&bytes);
        let request = ReadRequest { key: key("a"), range: ByteRange::All, expect: None };
        let answer = collect(&store.unwrap(), &[request]).remove(0);
        assert!(matches!(answer, Err(StoreError::Corrupt { .. })), "{answer:?}");
    }
}

#[test]
fn cut_and_flipped_zip_files_give_errors_and_never_panic() {
    let good = build(&[Raw::stored("a/b", b"some bytes"), Raw::deflated("c", &[9; 3000])]);
    let read = |bytes: &[u8]| {
        let (_folder, store) = open(bytes);
        let Ok(store) = store else { return };
        let listed = store.list(&Prefix::root()).unwrap_or_default().into_iter().map(|(name, _)| name);
        for name in listed.chain([key("a/b"), key("c")]) {
            let request = ReadRequest { key: name, range: ByteRange::All, expect: None };
            let _ = collect(&store, &[request]);
        }
    };
    for length in 0..good.len() {
        let (_folder, store) = open(&good[..length]);
        assert!(store.is_err(), "cut to {length}");
    }
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut bad = good.clone();
            bad[at] ^= 1 << bit;
            read(&bad);
        }
    }
}
