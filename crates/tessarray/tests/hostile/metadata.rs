//! Metadata that asks for the absurd, or is not what it should be.

use super::{MIB, assert_names, document, memory, open, session, store};
use serde_json::{Value, json};
use tessarray::{Array, ArrayError, CodecError, Group, MetaError, Result, Selection};

const KEY: &str = "a/zarr.json";
/// What a document, or one element of its array, may cost.
const SMALL: usize = 16 * MIB;

fn bytes() -> Value {
    json!([{"name": "bytes"}])
}

fn sharded(chunk: &[u64]) -> Value {
    json!([{"name": "sharding_indexed", "configuration": {
        "chunk_shape": chunk, "codecs": [{"name": "bytes"}], "index_location": "end",
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
    }}])
}

/// The document with these members in place of its own.
fn with(members: &[(&str, Value)]) -> String {
    let mut document = document(&bytes());
    for (name, value) in members {
        match *name {
            "chunks" => document["chunk_grid"]["configuration"]["chunk_shape"] = value.clone(),
            other => document[other] = value.clone(),
        }
    }
    document.to_string()
}

fn sizes(shape: &[u64], chunks: &[u64], codecs: &Value) -> String {
    with(&[("shape", json!(shape)), ("chunks", json!(chunks)), ("codecs", codecs.clone())])
}

fn refusal(document: &[u8]) -> (ArrayError, usize) {
    let alone = memory::alone();
    let store = store(&[(KEY, document)]);
    let (result, peak) = memory::peak(&alone, || open(&store));
    let case = String::from_utf8_lossy(&document[..document.len().min(300)]).into_owned();
    (result.expect_err(&case), peak)
}

#[test]
fn absurd_sizes_are_refused_when_opened() {
    let most = (1u64 << 63) - 1;
    let table = [
        ("a chunk of 2^40 bytes", sizes(&[1 << 41], &[1 << 40], &bytes())),
        ("a chunk of 2^63 - 1", sizes(&[most], &[most], &bytes())),
        ("a product beyond 2^64", sizes(&[1, 1, 1], &[1 << 40, 1 << 40, 1 << 40], &bytes())),
        ("a product that wraps to zero", sizes(&[1, 1], &[1 << 32, 1 << 32], &bytes())),
        ("an index of 2^31 entries", sizes(&[1 << 31], &[1 << 31], &sharded(&[1]))),
        ("an index of 2^62 entries", sizes(&[1, 1], &[1 << 31, 1 << 31], &sharded(&[1, 1]))),
        ("rank 65", sizes(&[1; 65], &[1; 65], &bytes())),
        ("rank 1000", sizes(&[1; 1000], &[1; 1000], &bytes())),
        ("a length of 2^63", sizes(&[1 << 63], &[1], &bytes())),
        ("a chunk of 0", sizes(&[10], &[0], &bytes())),
        ("an inner chunk of 0", sizes(&[10], &[10], &sharded(&[0]))),
        ("an inner chunk that does not divide", sizes(&[10], &[10], &sharded(&[3]))),
        ("an inner chunk of another rank", sizes(&[10], &[10], &sharded(&[5, 2]))),
        (
            "elements of 2^62 bytes",
            with(&[("data_type", json!("r9223372036854775800")), ("fill_value", json!([0]))]),
        ),
    ];
    for (case, document) in table {
        let (error, peak) = refusal(document.as_bytes());
        assert!(matches!(error, ArrayError::Metadata { .. } | ArrayError::Codec { .. }), "{case}: {error:?}");
        assert!(error.to_string().contains(KEY), "{case}: {error}");
        assert!(peak <= SMALL, "{case}: {peak} bytes");
    }
}

#[test]
fn absurd_but_legal_shapes_open_and_read_as_fill_in_little_memory() {
    let alone = memory::alone();
    let most = (1u64 << 63) - 1;
    let table = [
        (vec![most], sizes(&[most], &[1], &bytes())),
        (vec![most, most], sizes(&[most, most], &[1000, 1000], &bytes())),
        (vec![most; 64], sizes(&[most; 64], &[1; 64], &bytes())),
        (vec![0, most], sizes(&[0, most], &[1, 1], &bytes())),
        (vec![], sizes(&[], &[], &bytes())),
        (vec![most], sizes(&[most], &[1 << 28], &sharded(&[1]))),
        (vec![1 << 40], sizes(&[1 << 40], &[1 << 33], &bytes())),
    ];
    for (shape, document) in table {
        let store = store(&[(KEY, document.as_bytes())]);
        let ((), peak) = memory::peak(&alone, || {
            let array = open(&store).unwrap();
            assert!(array.object_count() >= u64::from(!shape.contains(&0)));
            if !shape.contains(&0) {
                let last: Vec<u64> = shape.iter().map(|n| n - 1).collect();
                let ones = vec![1; shape.len()];
                assert_eq!(array.read_bytes(&Selection::region(&last, &ones)).unwrap(), [0], "{shape:?}");
                let beyond = array.read_bytes(&Selection::region(&shape, &ones));
                assert!(shape.is_empty() || matches!(beyond, Err(ArrayError::Selection(_))), "{shape:?}");
            }
            assert_eq!((array.stored_objects().unwrap(), array.check(true).unwrap()), (0, vec![]));
            // More than any address space holds.
            if shape.contains(&most) && !shape.contains(&0) {
                let all = array.read_bytes(&Selection::all(&shape));
                assert!(matches!(all, Err(ArrayError::Argument { .. })), "{shape:?}");
            }
        });
        assert!(peak <= SMALL, "{shape:?}: {peak} bytes");
    }
}

#[test]
fn growing_an_absurd_shape_further_is_an_error() {
    let _alone = memory::alone();
    let most = (1u64 << 63) - 1;
    let store = store(&[(KEY, sizes(&[most - 1], &[1000], &bytes()).as_bytes())]);
    let array = open(&store).unwrap();
    let append = |n: usize| {
        let data = vec![7; n];
        let input = tessarray::InputView::new(&data, &[n as u64], 1).unwrap();
        array.append(0, &input, &tessarray::Arena::new())
    };
    assert!(matches!(append(2), Err(ArrayError::Argument { .. })), "past 2^63");
    assert_eq!(append(1).unwrap(), most - 1);
    assert_eq!(array.read_bytes(&Selection::region(&[most - 2], &[2])).unwrap(), [0, 7]);
    assert!(matches!(array.resize(&[1 << 63]), Err(ArrayError::Metadata { .. })));
    array.resize(&[10]).unwrap();
    assert_eq!(array.stored_objects().unwrap(), 0);
}

fn nested_shardings(depth: usize) -> Value {
    (0..depth).fold(bytes(), |codecs, _| {
        let mut outer = sharded(&[16, 16]);
        outer[0]["configuration"]["codecs"] = codecs;
        outer
    })
}

#[test]
fn documents_that_are_not_what_they_should_be_are_refused() {
    type Expected = fn(&MetaError) -> bool;
    let json: Expected = |error| matches!(error, MetaError::Json { .. });
    let value: Expected = |error| matches!(error, MetaError::Value { .. });
    let depth: Expected = |error| matches!(error, MetaError::Depth { .. } | MetaError::TooLarge { .. });
    let unknown: Expected = |error| matches!(error, MetaError::UnknownExtension { .. });
    let good = document(&bytes()).to_string();
    let table: Vec<(&str, String, Expected)> = vec![
        ("empty", String::new(), json),
        ("no JSON", "zarr".into(), json),
        ("cut", good[..good.len() - 1].into(), json),
        ("two documents", good.clone() + &good, json),
        ("NaN", good.replace("\"fill_value\":0", "\"fill_value\":NaN"), json),
        ("Infinity", good.replace("\"fill_value\":0", "\"fill_value\":-Infinity"), json),
        ("1e400", good.replace("\"fill_value\":0", "\"fill_value\":1e400"), json),
        ("NaN in a shape", good.replace("[16,16]", "[NaN,16]"), json),
        ("a shape that is twice there", good.replacen('{', "{\"shape\":[1,1],", 1), |error| {
            matches!(error, MetaError::Duplicate { .. })
        }),
        (
            "duplicate attributes",
            with(&[]).replace("\"attributes\":{}", "\"attributes\":{\"x\":1,\"x\":2}"),
            |error| matches!(error, MetaError::Duplicate { .. }),
        ),
        ("a negative length", with(&[("shape", json!([-1, 16]))]), value),
        ("a fraction of a length", with(&[("shape", json!([1.5, 16]))]), value),
        ("a text for a length", with(&[("shape", json!(["16", 16]))]), value),
        ("a number for the shape", with(&[("shape", json!(16))]), value),
        ("chunks of another rank", with(&[("chunks", json!([16]))]), value),
        ("a list for the codecs' list", with(&[("codecs", json!({"name": "bytes"}))]), value),
        ("an unknown type", with(&[("data_type", json!("float1"))]), unknown),
        ("a number for the type", with(&[("data_type", json!(8))]), value),
        ("a fill value out of range", with(&[("fill_value", json!(256))]), value),
        ("a fill value of another type", with(&[("fill_value", json!("NaN"))]), value),
        ("an unknown member", with(&[("encryption", json!({"name": "x"}))]), unknown),
        ("an unknown grid", with(&[("chunk_grid", json!({"name": "hexagonal"}))]), unknown),
        ("a storage transformer", with(&[("storage_transformers", json!([{"name": "x"}]))]), unknown),
        (
            "deep arrays",
            with(&[("attributes", json!({"x": 0}))]).replace("\"x\":0", &deep(50_000, '[', ']')),
            depth,
        ),
        ("deep objects", with(&[]).replace("\"attributes\":{}", &deep_objects(10_000)), depth),
        ("200 shardings", with(&[("codecs", nested_shardings(200))]), depth),
        ("5 shardings", with(&[("codecs", nested_shardings(5))]), depth),
        ("1000 codecs", with(&[("codecs", json!(vec![json!({"name": "crc32c"}); 1000]))]), depth),
    ];
    for (case, document, expected) in table {
        let (error, peak) = refusal(document.as_bytes());
        assert_names(&error, KEY, case);
        let ArrayError::Metadata { source, .. } = &error else { panic!("{case}: {error:?}") };
        assert!(expected(source), "{case}: {error:?}");
        assert!(peak <= SMALL, "{case}: {peak} bytes");
    }
}

fn deep(levels: usize, open: char, close: char) -> String {
    let repeat = |c: char| std::iter::repeat_n(c, levels).collect::<String>();
    format!("\"x\":{}{}", repeat(open), repeat(close))
}

fn deep_objects(levels: usize) -> String {
    format!("\"attributes\":{}1{}", "{\"x\":".repeat(levels), "}".repeat(levels))
}

#[test]
fn codecs_that_hold_code_or_are_unknown_are_refused_by_name() {
    for name in [
        "pickle",
        "numcodecs.pickle",
        "json2",
        "msgpack2",
        "numcodecs.msgpack2",
        "vlen-array",
        "categorize",
        "no-such",
    ] {
        let lists = [
            json!([{"name": name}]),
            json!([{"name": "bytes"}, {"name": name}]),
            json!([{"name": name, "configuration": {}}, {"name": "bytes"}]),
            json!([{"name": "bytes"}, name]),
        ];
        let mut inside = sharded(&[16, 16]);
        inside[0]["configuration"]["codecs"] = json!([{"name": "bytes"}, {"name": name}]);
        let mut index = sharded(&[16, 16]);
        index[0]["configuration"]["index_codecs"][1] = json!({"name": name});
        for codecs in lists.into_iter().chain([inside, index]) {
            let (error, _) = refusal(with(&[("codecs", codecs.clone())]).as_bytes());
            assert!(error.to_string().contains(KEY) && error.to_string().contains(name), "{codecs}: {error}");
            let typed = match &error {
                ArrayError::Codec { source, .. } => {
                    matches!(source, CodecError::Unknown { .. } | CodecError::Forbidden { .. })
                }
                ArrayError::Metadata { source, .. } => {
                    matches!(source, MetaError::Forbidden { .. } | MetaError::UnknownExtension { .. })
                }
                _ => false,
            };
            assert!(typed, "{codecs}: {error:?}");
        }
    }
}

#[test]
fn python_objects_in_v2_are_refused() {
    let _alone = memory::alone();
    let v2 = |changes: Value| {
        let mut document = json!({
            "zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "|O", "fill_value": null, "order": "C",
            "filters": [{"id": "pickle"}], "compressor": null
        });
        for (name, value) in changes.as_object().unwrap() {
            document[name] = value.clone();
        }
        document.to_string()
    };
    for changes in [
        json!({}),
        json!({"filters": [{"id": "vlen-utf8"}, {"id": "pickle"}]}),
        json!({"filters": [{"id": "pickle"}, {"id": "vlen-utf8"}]}),
        json!({"filters": null, "compressor": {"id": "pickle"}}),
        json!({"dtype": "<f8", "filters": null, "compressor": {"id": "pickle"}}),
        json!({"filters": null}),
    ] {
        let store = store(&[("a/.zarray", v2(changes.clone()).as_bytes())]);
        let error = open(&store).unwrap_err();
        assert!(
            error.to_string().contains("a/.zarray") || error.to_string().contains("a/zarr.json"),
            "{error}"
        );
        assert!(
            matches!(error, ArrayError::Metadata { .. } | ArrayError::Codec { .. }),
            "{changes}: {error:?}"
        );
    }
}

#[test]
fn a_group_with_a_bad_member_says_which() -> Result<()> {
    let _alone = memory::alone();
    let group = br#"{"zarr_format": 3, "node_type": "group", "attributes": {}}"#;
    let store = store(&[("zarr.json", group), ("a/zarr.json", b"{}"), ("b/zarr.json", group)]);
    let group = Group::open(&session(), store.clone(), "")?;
    for error in [group.members().unwrap_err(), group.tree().unwrap_err(), group.get("a").unwrap_err()] {
        assert_names(&error, KEY, "a member");
    }
    assert!(group.get("b")?.is_some());
    assert!(matches!(Array::open(&session(), store, "b"), Err(ArrayError::WrongNode { .. })));
    Ok(())
}

#[test]
fn a_read_of_millions_of_tiny_chunks_costs_little_beyond_its_output() {
    let alone = memory::alone();
    let n = 1 << 22;
    let store = store(&[(KEY, sizes(&[n], &[1], &bytes()).as_bytes())]);
    let array = open(&store).unwrap();
    let (found, peak) = memory::peak(&alone, || array.read_bytes(&Selection::all(&[n])).unwrap().len());
    assert!(found as u64 == n && peak <= n as usize + super::MARGIN, "{} MiB", peak >> 20);
}

#[test]
fn a_write_of_one_element_costs_its_shard_and_its_index() {
    let alone = memory::alone();
    let n = 1 << 20;
    let store = store(&[(KEY, sizes(&[n], &[n], &sharded(&[1])).as_bytes())]);
    let array = open(&store).unwrap();
    let (result, peak) = memory::peak(&alone, || array.write_bytes(&Selection::region(&[5], &[1]), &[1]));
    result.unwrap();
    // The index twice: as numbers and as bytes.
    assert!(peak <= n as usize + 2 * 24 * n as usize + super::MARGIN, "{} MiB", peak >> 20);
}
