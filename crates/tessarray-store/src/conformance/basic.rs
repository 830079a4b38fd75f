//! One thread, one promise a function.

use super::{collect, key, whole};
use crate::error::StoreError;
use crate::key::{Key, Prefix};
use crate::request::{ByteRange, ListEntry, PutMode, ReadRequest, Version};
use crate::store::{Store, Update};

fn request(name: &str, range: ByteRange) -> ReadRequest {
    ReadRequest { key: key(name), range, expect: None }
}

/// A value is its parts in order; ranges are its bytes; past the end is an error, absent is none.
pub fn puts_and_ranges(store: &dyn Store) {
    assert!(whole(store, &key("a/b")).is_none());
    assert!(store.get(&key("a/b")).unwrap().is_none());
    assert!(store.head(&key("a/b")).unwrap().is_none());
    store.put(&key("a/b"), &[b"0123", b"", b"456789"], PutMode::Overwrite).unwrap();
    store.put(&key("empty"), &[], PutMode::Overwrite).unwrap();
    let span = |offset, length| ByteRange::Span { offset, length };
    let good: [(&str, ByteRange, &[u8]); 10] = [
        ("a/b", ByteRange::All, b"0123456789"),
        ("a/b", span(2, 3), b"234"),
        ("a/b", span(0, 10), b"0123456789"),
        ("empty", ByteRange::All, b""),
        ("a/b", span(10, 0), b""),
        ("a/b", ByteRange::Suffix { length: 3 }, b"789"),
        ("a/b", ByteRange::Suffix { length: 99 }, b"0123456789"),
        ("a/b", ByteRange::Suffix { length: 0 }, b""),
        ("empty", span(0, 0), b""),
        ("empty", ByteRange::Suffix { length: u64::MAX }, b""),
    ];
    let requests: Vec<_> = good.iter().map(|(name, range, _)| request(name, *range)).collect();
    for ((name, range, expected), answer) in good.iter().zip(collect(store, &requests)) {
        let (bytes, meta) = answer.unwrap().unwrap();
        assert_eq!(bytes, *expected, "{name} {range:?}");
        assert_eq!(meta.size, if *name == "empty" { 0 } else { 10 });
        assert_eq!(Some(meta), store.head(&key(name)).unwrap());
    }
    let bad = [span(0, 11), span(11, 0), span(u64::MAX, 2), span(2, u64::MAX), span(1 << 62, 1 << 62)];
    for answer in collect(store, &bad.map(|range| request("a/b", range))) {
        match answer {
            Err(StoreError::OutOfRange { key, size: 10, .. }) => assert!(key.ends_with("a/b")),
            other => panic!("expected OutOfRange, got {other:?}"),
        }
    }
    // A failed range and an absent key leave the others of the batch alone.
    let mixed = [request("a/b", span(9, 2)), request("nothing", ByteRange::All), request("a/b", span(9, 1))];
    let answers = collect(store, &mixed);
    assert!(answers[0].is_err() && matches!(answers[1], Ok(None)));
    assert_eq!(answers[2].as_ref().unwrap().as_ref().unwrap().0, b"9");
    assert!(collect(store, &[]).is_empty());
    let (bytes, _) = store.get(&key("a/b")).unwrap().unwrap();
    assert_eq!(&*bytes, b"0123456789");
    let large = vec![7_u8; 3 << 20];
    store.put(&key("large"), &[&large, b"end"], PutMode::Overwrite).unwrap();
    assert_eq!(whole(store, &key("large")).unwrap(), [&large[..], b"end"].concat());
    store.put(&key("large"), &[b"small"], PutMode::Overwrite).unwrap();
    assert_eq!(whole(store, &key("large")).unwrap(), b"small");
}

/// Create and if-match do what they say, and change nothing where they refuse.
pub fn conditional_puts(store: &dyn Store) {
    let name = key("x/y");
    let first = store.put(&name, &[b"one"], PutMode::Create).unwrap();
    match store.put(&name, &[b"two"], PutMode::Create) {
        Err(StoreError::Exists { key }) => assert!(key.ends_with("x/y")),
        other => panic!("expected Exists, got {other:?}"),
    }
    assert_eq!(whole(store, &name).unwrap(), b"one");
    assert_eq!(store.head(&name).unwrap().unwrap().version, first);
    let second = store.put(&name, &[b"two"], PutMode::IfMatch(first.clone())).unwrap();
    assert_ne!(first, second);
    for stale in [first, Version("nonsense".into())] {
        match store.put(&name, &[b"three"], PutMode::IfMatch(stale)) {
            Err(StoreError::Changed { key }) => assert!(key.ends_with("x/y")),
            other => panic!("expected Changed, got {other:?}"),
        }
    }
    assert_eq!(whole(store, &name).unwrap(), b"two");
    let absent = store.put(&key("x/z"), &[b"no"], PutMode::IfMatch(second));
    assert!(matches!(absent, Err(StoreError::Changed { .. })), "{absent:?}");
    assert!(whole(store, &key("x/z")).is_none());
}

/// Each put makes a new version, even of equal bytes; a read that expects another one is refused.
pub fn versions(store: &dyn Store) {
    let name = key("v");
    let mut seen = Vec::new();
    for _ in 0..200 {
        let version = store.put(&name, &[b"same"], PutMode::Overwrite).unwrap();
        assert_eq!(store.head(&name).unwrap().unwrap().version, version);
        assert!(!seen.contains(&version), "{version:?} came back");
        seen.push(version);
    }
    let expect = |version: &Version| ReadRequest {
        key: name.clone(),
        range: ByteRange::Span { offset: 1, length: 2 },
        expect: Some(version.clone()),
    };
    let answers = collect(store, &[expect(&seen[199]), expect(&seen[0]), expect(&seen[199])]);
    assert_eq!(answers[0].as_ref().unwrap().as_ref().unwrap().0, b"am");
    assert!(matches!(&answers[1], Err(StoreError::Changed { .. })));
    assert!(answers[2].is_ok());
    store.delete(&name).unwrap();
    let gone = collect(store, &[expect(&seen[199])]).remove(0);
    assert!(matches!(gone, Err(StoreError::Changed { .. })), "{gone:?}");
}

/// An update sees the value where it asks for it, and puts, deletes, keeps or fails.
pub fn updates(store: &dyn Store) {
    let name = key("u/v");
    let append = |more: &[u8]| {
        store.update(&name, true, &mut |current| {
            let old = current.map(|blob| blob.bytes.to_vec()).unwrap_or_default();
            Ok(Update::PutOwned(vec![old, more.to_vec()]))
        })
    };
    append(b"one").unwrap();
    append(b" two").unwrap();
    assert_eq!(whole(store, &name).unwrap(), b"one two");
    let fixed = b"fixed".to_vec();
    let put_fixed = &mut |current: Option<crate::request::Blob<'_>>| {
        assert!(current.is_none(), "not asked for");
        Ok(Update::Put(vec![&fixed[..2], &fixed[2..]]))
    };
    store.update(&name, false, put_fixed).unwrap();
    assert_eq!(whole(store, &name).unwrap(), b"fixed");
    let before = store.head(&name).unwrap();
    store.update(&name, true, &mut |_| Ok(Update::Keep)).unwrap();
    assert_eq!(store.head(&name).unwrap(), before);
    let failed = store.update(&name, true, &mut |_| Err(StoreError::Decision("no".into())));
    assert!(matches!(failed, Err(StoreError::Decision(reason)) if reason.to_string() == "no"));
    assert_eq!(store.head(&name).unwrap(), before);
    store.update(&name, true, &mut |_| Ok(Update::Delete)).unwrap();
    assert!(whole(store, &name).is_none());
    store
        .update(&name, true, &mut |current| Ok(if current.is_none() { Update::Delete } else { panic!() }))
        .unwrap();
    store.update(&key("new/k"), true, &mut |_| Ok(Update::Keep)).unwrap();
    assert_eq!(store.list(&Prefix::root()).unwrap(), []);
}

/// An update changes other keys too, in the store that it is given.
pub fn updates_with_others(store: &dyn Store) {
    let (name, other) = (key("u/v"), key("u/w"));
    let mut number = 0_u8;
    let mut change = |fails: bool| {
        number += 1;
        store.update_with(&name, &mut |within, current| {
            let within = within.map_or(store, |within| &**within);
            let seen = whole(within, &other);
            assert_eq!(current.map(|blob| blob.bytes.to_vec()), seen, "what was put last, of both");
            if fails {
                return Err(StoreError::Decision("no".into()));
            }
            within.put(&other, &[&[number]], PutMode::Overwrite)?;
            assert_eq!(whole(within, &other).unwrap(), [number], "it sees what it changed");
            Ok(Update::PutOwned(vec![vec![number]]))
        })
    };
    change(false).unwrap();
    change(false).unwrap();
    assert!(matches!(change(true), Err(StoreError::Decision(reason)) if reason.to_string() == "no"));
    assert_eq!((whole(store, &name).unwrap(), whole(store, &other).unwrap()), (vec![2], vec![2]));
    store.update_with(&name, &mut |_, _| Ok(Update::Keep)).unwrap();
    assert_eq!(whole(store, &name).unwrap(), [2]);
    let delete = &mut |within: Option<&std::sync::Arc<dyn Store>>, _: Option<crate::request::Blob<'_>>| {
        within.map_or(store, |within| &**within).delete(&other)?;
        Ok(Update::Delete)
    };
    store.update_with(&name, delete).unwrap();
    assert_eq!(store.list(&Prefix::root()).unwrap(), []);
}

/// Deleting says whether there was a value, and prefixes take what is under them and nothing else.
pub fn deletes(store: &dyn Store) {
    for name in ["a/b/c", "a/b/d/e", "a/bc", "ab", "a/z"] {
        store.put(&key(name), &[b"x"], PutMode::Overwrite).unwrap();
    }
    assert!(store.delete(&key("a/z")).unwrap());
    assert!(!store.delete(&key("a/z")).unwrap());
    assert!(!store.delete(&key("no/such")).unwrap());
    assert!(!store.delete(&key("ab/c")).unwrap());
    assert!(!store.delete(&key("a/b")).unwrap(), "a level is not a value");
    assert!(whole(store, &key("a/b")).is_none() && store.head(&key("a")).unwrap().is_none());
    store.delete_prefix(&Prefix::new("a/b/").unwrap()).unwrap();
    store.delete_prefix(&Prefix::new("no/such/").unwrap()).unwrap();
    let left: Vec<_> = store.list(&Prefix::root()).unwrap().into_iter().map(|(key, _)| key).collect();
    assert_eq!(left, [key("a/bc"), key("ab")]);
    let levels = store.list_dir(&Prefix::new("a/").unwrap()).unwrap();
    assert_eq!(levels, [ListEntry::Key(key("a/bc"), 1)]);
    store.put(&key("a/b/c"), &[b"again"], PutMode::Create).unwrap();
    store.delete_prefix(&Prefix::root()).unwrap();
    assert_eq!(store.list(&Prefix::root()).unwrap(), []);
    store.put(&key("a/b/c"), &[b"once more"], PutMode::Create).unwrap();
}

/// Listings are sorted, complete, and stop at the level asked for.
pub fn listings(store: &dyn Store) {
    assert_eq!(store.list(&Prefix::root()).unwrap(), []);
    assert_eq!(store.list_dir(&Prefix::new("no/such/").unwrap()).unwrap(), []);
    let names =
        ["zarr.json", "g/zarr.json", "g/a/zarr.json", "g/a/c/0/0", "g/a/c/0/10", "g/a-b/x", "g/a.b", "h/é"];
    for (i, name) in names.iter().enumerate() {
        store.put(&key(name), &[&vec![0; i]], PutMode::Overwrite).unwrap();
    }
    let mut all: Vec<(Key, u64)> =
        names.iter().enumerate().map(|(i, name)| (key(name), crate::span::as_u64(i))).collect();
    all.sort();
    assert_eq!(store.list(&Prefix::root()).unwrap(), all);
    let under = Prefix::new("g/a/").unwrap();
    all.retain(|(key, _)| under.contains(key));
    assert_eq!(store.list(&under).unwrap(), all);
    assert_eq!(all.len(), 3);
    let prefix = |path: &str| ListEntry::Prefix(Prefix::new(path).unwrap());
    let value = |name: &str, size| ListEntry::Key(key(name), size);
    let root = [value("zarr.json", 0), prefix("g/"), prefix("h/")];
    assert_eq!(store.list_dir(&Prefix::root()).unwrap(), root);
    let group = [value("g/a.b", 6), value("g/zarr.json", 1), prefix("g/a-b/"), prefix("g/a/")];
    assert_eq!(store.list_dir(&Prefix::new("g/").unwrap()).unwrap(), group);
}

/// No string of the corpus becomes a key, so no store ever sees it.
pub fn bad_keys_are_refused() {
    let long_segment = "x".repeat(256);
    let long_key = vec!["x".repeat(200); 21].join("/");
    let corpus = [
        "",
        "/",
        "//",
        "/a",
        "a/",
        "a//b",
        ".",
        "..",
        "...",
        "./a",
        "a/.",
        "a/./b",
        "../a",
        "a/..",
        "a/../b",
        "a/../../b",
        "/etc/passwd",
        "//server/share",
        "\\\\server\\share",
        "a\\b",
        "..\\a",
        "C:",
        "c:/a",
        "a/C:/b",
        "C:\\a",
        "a\0b",
        "\0",
        "a\nb",
        "a\tb",
        "a\u{7f}",
        "a\u{85}b",
        "\u{1b}[2J",
        "a.__lock",
        "a/b.__lock/c",
        ".__lock",
        &long_segment,
        &long_key,
    ];
    for text in corpus {
        let error = Key::new(text).expect_err(text);
        let shown = error.to_string();
        assert!(!shown.contains('\0') && !shown.contains('\u{1b}') && shown.len() < 1000, "{shown}");
        if !text.is_empty() {
            assert!(Prefix::from_path(text).is_err(), "{text:?}");
            assert!(Prefix::root().key(text).is_err(), "{text:?}");
        }
    }
    for text in
        ["a", "a/b", "zarr.json", ".zgroup", "..a", "a..", "c/0/0", "0.0", "é/ü", "a b", "a:b", "-", "__lock"]
    {
        assert_eq!(Key::new(text).unwrap().as_str(), text);
    }
}
