//! Paths and names that would lead out of the root.

use super::support::Place;
use super::{document, memory, session};
use serde_json::json;
use tessarray::{Array, ArrayError, Group, Key, MetaError, PutMode, Selection, StoreError, check_store};

const SECRET: &[u8] = b"not for readers of the store";

#[test]
fn paths_that_climb_are_no_keys() {
    let _alone = memory::alone();
    for place in Place::KINDS {
        let place = place();
        for path in [
            "..",
            "../a",
            "a/../../b",
            "a/..",
            ".",
            "a/./b",
            "a\\..\\b",
            "..\\a",
            "C:/a",
            "a/C:/b",
            "a\0b",
            "a\nb",
            "...",
            "a.__lock",
            "a/b.__lock/c",
        ] {
            let opened = Array::open(&session(), place.store.clone(), path).unwrap_err();
            let made = Array::create(
                &session(),
                place.store.clone(),
                path,
                &super::support::Layout::Plain.spec(&[3, 3], &[3, 3]),
                true,
            );
            let group = Group::open(&session(), place.store.clone(), path).unwrap_err();
            let checked = check_store(&session(), &place.store, path, true).unwrap_err();
            for error in [opened, made.unwrap_err(), group, checked] {
                let ArrayError::Key(key) = &error else { panic!("{path:?}: {error:?}") };
                assert!(error.to_string().contains(&format!("{:?}", key.key)), "{error}");
            }
        }
        let long = "x/".repeat(3000);
        assert!(matches!(Array::open(&session(), place.store.clone(), &long), Err(ArrayError::Key(_))));
        assert_eq!(place.store.list(&tessarray::Prefix::root()).unwrap(), vec![]);
    }
}

#[test]
fn an_absolute_path_is_one_below_the_root() {
    let _alone = memory::alone();
    let place = Place::folder();
    let error = Array::open(&session(), place.store.clone(), "/etc/passwd").unwrap_err();
    assert!(matches!(&error, ArrayError::NotFound { path, .. } if path == "etc/passwd"), "{error:?}");
    assert!(Key::new("/etc/passwd").is_err());
}

#[test]
fn consolidated_metadata_cannot_name_a_node_outside() {
    let _alone = memory::alone();
    for name in ["../b", "/etc", "a/../../b", "a\\b", "", "a//b", "a/", "C:", "x.__lock"] {
        let array = document(&json!([{"name": "bytes"}]));
        let group = json!({
            "zarr_format": 3, "node_type": "group", "attributes": {},
            "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": {name: array}}
        });
        let store = super::store(&[("zarr.json", group.to_string().as_bytes())]);
        match Group::open(&session(), store.clone(), "") {
            Err(ArrayError::Metadata { key, source: MetaError::Value { path, .. } }) => {
                assert!(key == "zarr.json" && path.contains("consolidated_metadata.metadata"), "{path}");
            }
            // A name that is no path but leads nowhere else is the store's to refuse.
            Ok(group) => {
                let remote = std::sync::Arc::new(tessarray::adapters::ThrottleStore::new(
                    store,
                    tessarray::adapters::Throttling {
                        first_byte: std::time::Duration::ZERO,
                        bandwidth: u64::MAX,
                        concurrency: 1,
                    },
                ));
                drop(group);
                let error = Group::open(&session(), remote, "").unwrap().tree().unwrap_err();
                assert!(matches!(error, ArrayError::Key(_)), "{name:?}: {error:?}");
            }
            Err(error) => panic!("{name:?}: {error:?}"),
        }
    }
}

#[cfg(unix)]
mod links {
    use super::*;
    use std::os::unix::fs::symlink;

    fn assert_outside(error: &ArrayError, name: &str) {
        let ArrayError::Store(StoreError::OutsideRoot { key, .. }) = error else {
            panic!("{name}: {error:?}")
        };
        assert!(error.to_string().contains(key.as_str()) && key.contains(name), "{error}");
    }

    #[test]
    fn links_out_of_the_root_are_refused_wherever_they_stand() {
        let _alone = memory::alone();
        let outside = tempfile::tempdir().unwrap();
        let good = document(&json!([{"name": "bytes"}])).to_string();
        let outer = outside.path().join("array");
        std::fs::create_dir_all(outer.join("c/0")).unwrap();
        std::fs::write(outer.join("zarr.json"), &good).unwrap();
        std::fs::write(outer.join("c/0/0"), [1; 256]).unwrap();
        std::fs::write(outside.path().join("secret"), SECRET).unwrap();

        let place = Place::folder();
        let root = place.path().to_owned();
        std::fs::create_dir_all(root.join("chunk/c/0")).unwrap();
        std::fs::write(root.join("chunk/zarr.json"), &good).unwrap();
        symlink(outside.path().join("secret"), root.join("chunk/c/0/0")).unwrap();
        std::fs::create_dir_all(root.join("folder")).unwrap();
        std::fs::write(root.join("folder/zarr.json"), &good).unwrap();
        symlink(outer.join("c"), root.join("folder/c")).unwrap();
        std::fs::create_dir_all(root.join("document")).unwrap();
        symlink(outer.join("zarr.json"), root.join("document/zarr.json")).unwrap();
        symlink(&outer, root.join("node")).unwrap();
        symlink("../../..", root.join("climbing")).unwrap();

        let open = |path: &str| Array::open(&session(), place.store.clone(), path);
        let all = Selection::all(&[16, 16]);
        for path in ["chunk", "folder"] {
            let array = open(path).unwrap();
            assert_outside(&array.read_bytes(&all).unwrap_err(), path);
            assert_outside(&array.read_bytes(&Selection::region(&[0, 0], &[1, 1])).unwrap_err(), path);
            let findings = array.check(true);
            assert!(findings.is_err() || !findings.unwrap().is_empty(), "{path}");
        }
        for path in ["document", "node", "climbing"] {
            assert_outside(&open(path).unwrap_err(), path);
        }
        let folder = open("folder").unwrap();
        assert_outside(&folder.write_bytes(&all, &[9; 256]).unwrap_err(), "folder");
        assert_outside(
            &folder.write_bytes(&Selection::region(&[1, 1], &[1, 1]), &[9]).unwrap_err(),
            "folder",
        );
        let error = place.store.put(&Key::new("node/x").unwrap(), &[b"x"], PutMode::Overwrite).unwrap_err();
        assert!(matches!(error, StoreError::OutsideRoot { .. }), "{error:?}");
        // Removing a link removes the link.
        place.store.delete_prefix(&tessarray::Prefix::from_path("node").unwrap()).unwrap_or(());
        assert_eq!(std::fs::read(outer.join("c/0/0")).unwrap(), [1; 256]);
        assert_eq!(std::fs::read(outside.path().join("secret")).unwrap(), SECRET);
        assert!(!outer.join("x").exists());
    }

    #[test]
    fn a_link_inside_the_root_may_be_followed() {
        let _alone = memory::alone();
        let place = Place::folder();
        let root = place.path().to_owned();
        std::fs::create_dir_all(root.join("a/c/0")).unwrap();
        std::fs::write(root.join("a/zarr.json"), document(&json!([{"name": "bytes"}])).to_string()).unwrap();
        std::fs::write(root.join("a/c/0/0"), [5; 256]).unwrap();
        symlink("a", root.join("b")).unwrap();
        let array = Array::open(&session(), place.store.clone(), "b").unwrap();
        assert_eq!(array.read_bytes(&Selection::all(&[16, 16])).unwrap(), [5; 256]);
    }
}
