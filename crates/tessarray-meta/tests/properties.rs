//! Round trips over all data types and fill values, and documents changed at random.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tessarray_buffer::{DataType, Field, SmallType, TimeUnit};
use tessarray_codec::NamedConfig;
use tessarray_meta::{
    ArrayMetadata, ChunkGrid, Endian, Format, GroupMetadata, KeyEncoding, Limits, Node, Path,
    data_type_to_json, data_type_to_v2, fill_value_from_json, fill_value_from_json_v2, fill_value_to_json,
    fill_value_to_json_v2, parse_data_type, parse_v2_data_type,
};

fn simple_type() -> impl Strategy<Value = DataType> {
    use TimeUnit::{Day, Generic, Nanosecond};
    let time = (prop_oneof![Just(Day), Just(Nanosecond)], 1..1000u32);
    prop_oneof![
        proptest::sample::select(vec![
            DataType::Bool,
            DataType::Int8,
            DataType::Int16,
            DataType::Int32,
            DataType::Int64,
            DataType::UInt8,
            DataType::UInt16,
            DataType::UInt32,
            DataType::UInt64,
            DataType::Float16,
            DataType::BFloat16,
            DataType::Float32,
            DataType::Float64,
            DataType::Complex64,
            DataType::Complex128,
            DataType::DateTime64 { unit: Generic, scale: 1 },
        ]),
        proptest::sample::select(SmallType::all().map(DataType::Small).collect::<Vec<_>>()),
        time.clone().prop_map(|(unit, scale)| DataType::DateTime64 { unit, scale }),
        time.prop_map(|(unit, scale)| DataType::TimeDelta64 { unit, scale }),
        (1..9u32).prop_map(DataType::FixedBytes),
        (1..9u32).prop_map(DataType::RawBits),
    ]
}

fn fixed_type() -> impl Strategy<Value = DataType> {
    simple_type().prop_recursive(2, 8, 3, |inner| {
        proptest::collection::vec(inner, 1..4).prop_map(|types| {
            let field = |(i, data_type)| Field { name: format!("f{i}"), data_type };
            DataType::Struct(types.into_iter().enumerate().map(field).collect())
        })
    })
}

/// Any bits, made an element: booleans are 0 or 1.
fn element(data_type: &DataType, bits: &[u8]) -> Vec<u8> {
    match data_type {
        DataType::Bool => vec![bits[0] & 1],
        DataType::Small(small) => vec![bits[0] & small.mask()],
        DataType::Struct(fields) => {
            let part = |field: &Field| element(&field.data_type, bits);
            fields.iter().flat_map(part).collect()
        }
        other => bits.iter().cycle().take(other.size()).copied().collect(),
    }
}

fn array(data_type: DataType, fill: Vec<u8>, codecs: Vec<NamedConfig>) -> ArrayMetadata {
    ArrayMetadata {
        format: Format::V3,
        shape: vec![10, 0, 1 << 40],
        data_type,
        chunk_grid: ChunkGrid::Regular(vec![5, 1, 100]),
        key_encoding: KeyEncoding::Default { separator: '/' },
        fill_value: fill.into(),
        codecs,
        attributes: Map::from_iter([("units".into(), json!("m"))]),
        dimension_names: Some(vec![Some("t".into()), None, Some("x".into())]),
        v2: None,
        extra: Map::new(),
    }
}

proptest! {
    #[test]
    fn every_fill_value_survives_v3(data_type in fixed_type(), bits in any::<[u8; 16]>()) {
        let fill = element(&data_type, &bits);
        let path = Path::root("test");
        prop_assert_eq!(&parse_data_type(&data_type_to_json(&data_type), &path).unwrap(), &data_type);
        let json = fill_value_to_json(&data_type, &fill);
        // As text, so that the digits of floats are put to the test too.
        let json: Value = serde_json::from_str(&json.to_string()).unwrap();
        prop_assert_eq!(&fill_value_from_json(&data_type, &json, &path).unwrap()[..], &fill[..]);
        let metadata = array(data_type, fill, vec![NamedConfig::new("bytes").with("endian", "little")]);
        prop_assert_eq!(&ArrayMetadata::from_v3(&metadata.to_v3(), &Limits::default()).unwrap(), &metadata);
        metadata.validate(&Limits::default()).unwrap();
    }

    #[test]
    fn every_fill_value_survives_v2(data_type in fixed_type(), bits in any::<[u8; 16]>(), big in any::<bool>()) {
        let endian = if big { Endian::Big } else { Endian::Little };
        let path = Path::root("test");
        let dtype = data_type_to_v2(&data_type, endian);
        // NumPy has no type string for it, and the name says no byte order.
        if !dtype.to_string().contains("bfloat16") {
            let parsed = parse_v2_data_type(&dtype, None, &path).unwrap();
            prop_assert_eq!(&parsed.data_type, &data_type);
            let fill = element(&data_type, &bits);
            let json = fill_value_to_json_v2(&data_type, parsed.endian, &fill);
            let json: Value = serde_json::from_str(&json.to_string()).unwrap();
            let back = fill_value_from_json_v2(&data_type, parsed.endian, &json, &path).unwrap();
            // v2 has one NaN; everything else comes back.
            if json.to_string().contains("NaN") {
                prop_assert_eq!(fill_value_to_json_v2(&data_type, parsed.endian, &back), json);
            } else {
                prop_assert_eq!(&back[..], &fill[..]);
            }
        }
    }

    #[test]
    fn text_and_bytes_survive(text in "\\PC{0,8}", bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
        let path = Path::root("test");
        let fill = text.as_bytes();
        let json = fill_value_to_json(&DataType::String, fill);
        prop_assert_eq!(&fill_value_from_json(&DataType::String, &json, &path).unwrap()[..], fill);
        let json = fill_value_to_json(&DataType::Bytes, &bytes);
        prop_assert_eq!(&fill_value_from_json(&DataType::Bytes, &json, &path).unwrap()[..], &bytes[..]);
        let fixed = DataType::FixedUtf32(8);
        let fill = fill_value_from_json(&fixed, &text.as_str().into(), &path).unwrap();
        prop_assert_eq!(fill_value_to_json(&fixed, &fill), Value::from(text.trim_end_matches('\0')));
    }

    #[test]
    fn documents_changed_at_random_never_panic(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>(), 0..3u8), 1..8),
        which in any::<proptest::sample::Index>(),
    ) {
        let lines: Vec<&str> =
            include_str!("golden/v3.jsonl").lines().chain(include_str!("golden/v2.jsonl").lines()).collect();
        let row: Value = serde_json::from_str(lines[which.index(lines.len())]).unwrap();
        let documents = row["documents"].as_object().unwrap();
        let mut document = documents.values().next().unwrap().as_str().unwrap().as_bytes().to_vec();
        for (place, byte, kind) in changes {
            let place = place.index(document.len());
            match kind {
                0 => document[place] = byte,
                1 => document.insert(place, byte),
                _ => drop(document.drain(place..(place + usize::from(byte) / 8 + 1).min(document.len()))),
            }
            if document.is_empty() {
                break;
            }
        }
        let limits = Limits::default();
        if let Ok(node) = Node::from_v3(&document, &limits) {
            prop_assert_eq!(Node::from_v3(&node.to_v3(), &limits).unwrap(), node);
        }
        if let Ok(array) = ArrayMetadata::from_v2(&document, None, &limits) {
            let (zarray, _) = array.to_v2().unwrap();
            prop_assert_eq!(ArrayMetadata::from_v2(&zarray, None, &limits).unwrap(), array);
        }
        let _ = GroupMetadata::from_zmetadata(&document, &limits);
    }

    #[test]
    fn members_replaced_at_random_never_panic(
        place in any::<proptest::sample::Index>(),
        which in any::<proptest::sample::Index>(),
        value in proptest::sample::select(vec![
            json!(null), json!(true), json!(-1), json!(0), json!(1e300), json!(u64::MAX), json!(i64::MAX), json!(""),
            json!("bytes"), json!([]), json!({}), json!([[[]]]), json!({"name": "x"}), json!({"must_understand": false}),
        ]),
    ) {
        let lines: Vec<&str> =
            include_str!("golden/v3.jsonl").lines().chain(include_str!("golden/v2.jsonl").lines()).collect();
        let row: Value = serde_json::from_str(lines[which.index(lines.len())]).unwrap();
        let text = row["documents"].as_object().unwrap().values().next().unwrap().as_str().unwrap();
        let mut document: Value = serde_json::from_str(text).unwrap();
        let mut pointers = Vec::new();
        collect(&document, String::new(), &mut pointers);
        *document.pointer_mut(&pointers[place.index(pointers.len())]).unwrap() = value;
        let document = document.to_string().into_bytes();
        let limits = Limits::default();
        if let Ok(node) = Node::from_v3(&document, &limits) {
            prop_assert_eq!(Node::from_v3(&node.to_v3(), &limits).unwrap(), node);
        }
        if let Ok(array) = ArrayMetadata::from_v2(&document, None, &limits) {
            let (zarray, _) = array.to_v2().unwrap();
            prop_assert_eq!(ArrayMetadata::from_v2(&zarray, None, &limits).unwrap(), array);
        }
    }
}

fn collect(value: &Value, at: String, out: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(key, v)| collect(v, format!("{at}/{key}"), out)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, v)| collect(v, format!("{at}/{i}"), out))
        }
        _ => {}
    }
    out.push(at);
}

#[test]
fn metadata_built_in_code_is_validated_like_metadata_that_was_read() {
    let good = array(DataType::Float32, vec![0; 4], vec![NamedConfig::new("bytes")]);
    let refused = |change: &dyn Fn(&mut ArrayMetadata), expected: &str| {
        let mut metadata = good.clone();
        change(&mut metadata);
        let error = metadata.validate(&Limits::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused(&|m| m.shape[2] = u64::MAX, "metadata: shape[2]");
    refused(
        &|m| m.chunk_grid = ChunkGrid::Regular(vec![0, 1, 100]),
        "metadata: chunk_grid.configuration.chunk_shape[0]",
    );
    refused(&|m| m.chunk_grid = ChunkGrid::Regular(vec![1]), "chunk_shape: expected 3 lengths");
    refused(&|m| m.chunk_grid = ChunkGrid::Regular(vec![u64::MAX >> 1; 3]), "bytes of a chunk 2^64 or more");
    refused(&|m| m.fill_value = [0; 3].into(), "metadata: fill_value: expected 4 bytes");
    refused(&|m| m.dimension_names = Some(vec![]), "metadata: dimension_names");
    refused(&|m| m.codecs.clear(), "metadata: codecs: expected at least one");
    refused(&|m| m.data_type = DataType::RawBits(0), "metadata: data_type");
    refused(&|m| m.key_encoding = KeyEncoding::V2 { separator: 'x' }, "metadata: chunk_key_encoding");
    refused(&|m| m.codecs = vec![NamedConfig::new("pickle")], "is refused");
    refused(&|m| m.format = Format::V2, "not supported: the default chunk keys");
}

#[test]
fn v3_arrays_that_v2_cannot_say_are_refused() {
    let mut metadata =
        array(DataType::Float32, vec![0; 4], vec![NamedConfig::new("bytes").with("endian", "big")]);
    assert!(metadata.to_v2().is_err(), "default keys");
    metadata.key_encoding = KeyEncoding::V2 { separator: '/' };
    assert!(metadata.to_v2().is_err(), "one dimension without a name");
    metadata.dimension_names = None;
    let (zarray, _) = metadata.to_v2().unwrap();
    let zarray: Value = serde_json::from_slice(&zarray).unwrap();
    assert_eq!(zarray["dtype"], ">f4");
    assert_eq!(zarray["dimension_separator"], "/");
    for codec in
        [NamedConfig::new("sharding_indexed"), NamedConfig::new("transpose").with("order", vec![0, 2, 1])]
    {
        metadata.codecs = vec![codec];
        assert!(metadata.to_v2().is_err());
    }
}

#[test]
fn legal_spellings_are_all_read() {
    let path = Path::root("test");
    let fill =
        |data_type: DataType, value: Value| fill_value_from_json(&data_type, &value, &path).unwrap().to_vec();
    assert_eq!(fill(DataType::Float32, json!("0x7fc00001")), 0x7fc0_0001u32.to_ne_bytes());
    assert_eq!(fill(DataType::Float16, json!("0x7e01")), 0x7e01u16.to_ne_bytes());
    assert_eq!(fill(DataType::BFloat16, json!("NaN")), 0x7fc0u16.to_ne_bytes());
    assert_eq!(fill(DataType::Small(SmallType::Int4), json!(-8.0)), [8]);
    assert_eq!(fill(DataType::Small(SmallType::Float8E4M3Fn), json!("NaN")), [0x7f]);
    assert_eq!(fill(DataType::Small(SmallType::Float8E5M2), json!("0xfd")), [0xfd]);
    assert_eq!(fill(DataType::Small(SmallType::Float8E5M2), json!(1.1)), [0x3c]);
    let refused = |small, value: Value| fill_value_from_json(&DataType::Small(small), &value, &path).is_err();
    assert!(refused(SmallType::Int4, json!(8)) && refused(SmallType::UInt2, json!(-1)));
    assert!(refused(SmallType::Int2, json!("0x01")) && refused(SmallType::Float4E2M1Fn, json!("0x10")));
    assert!(
        refused(SmallType::Float8E4M3Fn, json!("Infinity")) && refused(SmallType::Float8E5M2, json!(1e9))
    );
    assert_eq!(fill(DataType::Float64, json!(3)), 3f64.to_ne_bytes());
    assert_eq!(fill(DataType::UInt8, json!(3.0)), [3]);
    assert_eq!(fill(DataType::Bytes, json!([1, 2])), [1, 2]);
    assert_eq!(fill(DataType::RawBits(2), json!([1, 2])), [1, 2]);
    let unit = TimeUnit::Nanosecond;
    assert_eq!(fill(DataType::DateTime64 { unit, scale: 1 }, json!("NaT")), i64::MIN.to_ne_bytes());
    let re_im = [1f32.to_ne_bytes(), f32::NEG_INFINITY.to_ne_bytes()].concat();
    assert_eq!(fill(DataType::Complex64, json!([1, "-Infinity"])), re_im);
    let pair = DataType::Struct(vec![
        Field { name: "a".into(), data_type: DataType::UInt16 },
        Field { name: "b".into(), data_type: DataType::UInt8 },
    ]);
    assert_eq!(fill(pair.clone(), json!({"a": 258})), [&258u16.to_ne_bytes()[..], &[0]].concat());
    assert_eq!(fill(pair, json!("AgED")), [&258u16.to_ne_bytes()[..], &[3]].concat());

    let parse = |value: Value| parse_data_type(&value, &path).unwrap();
    assert_eq!(parse(json!("r24")), DataType::RawBits(3));
    assert_eq!(parse(json!({"name": "bytes"})), DataType::Bytes);
    assert_eq!(parse(json!("complex_float32")), DataType::Complex64);
    let legacy = json!({"name": "structured", "configuration": {"fields": [["a", "int8"]]}});
    assert_eq!(parse(legacy).size(), 1);
}
