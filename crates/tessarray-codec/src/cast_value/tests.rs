use crate::conformance::{array, array_codec, samples, spec};
use crate::{CodecError, NamedConfig, Registry};
use serde_json::{Value, json};
use tessarray_buffer::DataType;

const TYPES: [&str; 12] = [
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
    "float32", "float64",
];

fn config(settings: Value) -> NamedConfig {
    let Value::Object(configuration) = settings else { panic!() };
    NamedConfig { configuration, ..NamedConfig::new("cast_value") }
}

fn encoded(settings: Value, from: DataType, input: &[u8]) -> Result<Vec<u8>, CodecError> {
    let spec = spec(from, &[1]);
    let codec = array_codec(&config(settings), &spec);
    let mut out = vec![0; codec.encoded_spec(&spec)?.byte_len()];
    codec.encode(&spec, input, &mut out).map(|()| out)
}

fn f64_to_i8(x: f64, rounding: &str, out_of_range: Option<&str>) -> Option<i8> {
    let settings = json!({"data_type": "int8", "rounding": rounding, "out_of_range": out_of_range});
    let out = encoded(settings, DataType::Float64, &x.to_ne_bytes()).ok()?;
    Some(i8::from_ne_bytes([out[0]]))
}

#[test]
fn wider_types_conform_and_give_the_values_back() {
    for (from, to) in [
        (DataType::Int16, "int32"),
        (DataType::UInt8, "float16"),
        (DataType::Int32, "float64"),
        (DataType::Float32, "float64"),
        (DataType::UInt32, "int64"),
        (DataType::UInt64, "uint64"),
    ] {
        let spec = spec(from, &[300]);
        let input = samples(spec.byte_len())[1].clone();
        assert_eq!(array(&config(json!({"data_type": to})), &spec, &input), input, "{to}");
    }
}

#[test]
fn every_pair_of_types_casts_or_says_why_not() {
    for from in TYPES {
        for to in TYPES {
            for rule in [Value::Null, json!("clamp"), json!("wrap")] {
                let spec = spec(crate::numpy::data_type(from).unwrap(), &[64]);
                let settings = json!({"data_type": to, "out_of_range": rule});
                let Ok(codec) = Registry::new().build(&config(settings), &spec) else {
                    assert!(rule == "wrap" && to.contains("float"), "{from} {to}");
                    continue;
                };
                let crate::AnyCodec::Array(codec) = codec else { panic!() };
                let mut out = vec![0; codec.encoded_spec(&spec).unwrap().byte_len()];
                let result = codec.encode(&spec, &samples(spec.byte_len())[3], &mut out);
                if let Err(error) = result {
                    assert!(matches!(error, CodecError::Encode { .. }), "{error}");
                }
            }
        }
    }
}

#[test]
fn rounding_to_integers_is_as_the_specification_says() {
    for (rounding, values) in [
        ("nearest-even", [2, 4, -2, 2, -2]),
        ("towards-zero", [2, 3, -2, 1, -1]),
        ("towards-positive", [3, 4, -2, 2, -1]),
        ("towards-negative", [2, 3, -3, 1, -2]),
        ("nearest-away", [3, 4, -3, 2, -2]),
    ] {
        for (x, value) in [2.5, 3.5, -2.5, 1.6, -1.6].into_iter().zip(values) {
            assert_eq!(f64_to_i8(x, rounding, None), Some(value), "{x} {rounding}");
        }
    }
}

#[test]
fn what_is_out_of_range_fails_is_clamped_or_wraps() {
    for (x, clamped, wrapped) in [(128.0, 127, -128), (-129.0, -128, 127), (1e6, 127, 64), (300.0, 127, 44)] {
        assert_eq!(f64_to_i8(x, "nearest-even", None), None);
        assert_eq!(f64_to_i8(x, "nearest-even", Some("clamp")), Some(clamped));
        assert_eq!(f64_to_i8(x, "nearest-even", Some("wrap")), Some(wrapped));
    }
    // Rounding comes first.
    assert_eq!(f64_to_i8(127.4, "nearest-even", None), Some(127));
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for rule in [None, Some("clamp"), Some("wrap")] {
            assert_eq!(f64_to_i8(x, "nearest-even", rule), None, "{x} {rule:?}");
        }
    }
}

#[test]
fn integers_of_64_bits_are_exact() {
    let cast = |x: u64, to: &str, rounding: &str, rule: Value| {
        let settings = json!({"data_type": to, "rounding": rounding, "out_of_range": rule});
        encoded(settings, DataType::UInt64, &x.to_ne_bytes()).ok()
    };
    assert_eq!(cast(u64::MAX, "int64", "nearest-even", Value::Null), None);
    let bytes = |x: i64| Some(x.to_ne_bytes().to_vec());
    assert_eq!(cast(u64::MAX, "int64", "nearest-even", json!("clamp")), bytes(i64::MAX));
    assert_eq!(cast(u64::MAX, "int64", "nearest-even", json!("wrap")), bytes(-1));
    for (rounding, value) in [
        ("nearest-even", 2f64.powi(53)),
        ("towards-zero", 2f64.powi(53)),
        ("towards-positive", 2f64.powi(53) + 2.0),
        ("nearest-away", 2f64.powi(53) + 2.0),
    ] {
        let out = cast((1 << 53) + 1, "float64", rounding, Value::Null);
        assert_eq!(out, Some(value.to_ne_bytes().to_vec()), "{rounding}");
    }
    let wrapped = encoded(
        json!({"data_type": "uint64", "out_of_range": "wrap"}),
        DataType::Float64,
        &(-1.0f64).to_ne_bytes(),
    );
    assert_eq!(wrapped.unwrap(), u64::MAX.to_ne_bytes());
}

#[test]
fn floats_are_narrowed_by_the_rounding_and_overflow_to_infinity_where_clamped() {
    let narrow = |x: f64, rounding: &str, rule: Value| {
        let settings = json!({"data_type": "float32", "rounding": rounding, "out_of_range": rule});
        encoded(settings, DataType::Float64, &x.to_ne_bytes())
            .ok()
            .map(|out| f32::from_ne_bytes(out.try_into().unwrap()))
    };
    let above = 1.0 + 2f64.powi(-24); // half way to the next f32
    let next = 1f32.next_up();
    for (x, rounding, value) in [
        (above, "nearest-even", 1.0),
        (above, "nearest-away", next),
        (above, "towards-positive", next),
        (above, "towards-zero", 1.0),
        (-above, "towards-negative", -next),
        (-above, "towards-positive", -1.0),
        (1e-60, "towards-positive", f32::from_bits(1)),
        (-1e-60, "towards-positive", -0.0),
    ] {
        let found = narrow(x, rounding, Value::Null).unwrap();
        assert_eq!(found.to_bits(), f32::to_bits(value), "{x} {rounding} {found}");
    }
    assert_eq!(narrow(1e300, "nearest-even", Value::Null), None);
    assert_eq!(narrow(-1e300, "nearest-even", json!("clamp")), Some(f32::NEG_INFINITY));
    assert!(narrow(f64::NAN, "nearest-even", Value::Null).unwrap().is_nan());
    assert_eq!(narrow(f64::INFINITY, "towards-zero", Value::Null), Some(f32::INFINITY));
    assert_eq!(narrow(-0.0, "nearest-even", Value::Null).unwrap().to_bits(), (-0.0f32).to_bits());
}

#[test]
fn the_scalar_map_comes_first_in_both_directions() {
    let settings = json!({"data_type": "uint8", "scalar_map": {
        "encode": [["NaN", 255], ["+Infinity", 254], [3.0, 0], [3.0, 1]], "decode": [[255, "NaN"]]}});
    let one = spec(DataType::Float32, &[1]);
    let codec = array_codec(&config(settings), &one);
    let mut out = [0];
    for (x, value) in [(f32::NAN, 255), (f32::INFINITY, 254), (3.0, 0), (4.0, 4)] {
        codec.encode(&one, &x.to_ne_bytes(), &mut out).unwrap();
        assert_eq!(out, [value]);
    }
    let mut back = [0; 4];
    codec.decode(&one, &[255], &mut back).unwrap();
    assert!(f32::from_ne_bytes(back).is_nan());
}

#[test]
fn settings_that_cannot_be_are_named() {
    let float = || spec(DataType::Float32, &[3]);
    for (settings, word) in [
        (json!({}), "missing setting \"data_type\""),
        (json!({"data_type": "bool"}), "integer or float"),
        (json!({"data_type": "<u1"}), "integer or float"),
        (json!({"data_type": "uint8", "rounding": "up"}), "rounding"),
        (json!({"data_type": "uint8", "out_of_range": "ignore"}), "out_of_range"),
        (json!({"data_type": "float16", "out_of_range": "wrap"}), "wrap"),
        (json!({"data_type": "uint8", "scalar_map": {"encode": [["NaN", 256]]}}), "type it becomes"),
        (json!({"data_type": "uint8", "scalar_map": {"encode": [[1]]}}), "pair"),
        (json!({"data_type": "uint8", "scalar_map": {"both": []}}), "both"),
    ] {
        let error = Registry::new().build(&config(settings), &float()).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
    // A fill value that does not come back makes no new array.
    let half = crate::ChunkSpec { fill: 0.5f32.to_ne_bytes().into(), ..float() };
    let crate::AnyCodec::Array(codec) =
        Registry::new().build(&config(json!({"data_type": "uint8"})).for_new(), &half).unwrap()
    else {
        panic!()
    };
    assert!(codec.encoded_spec(&half).unwrap_err().to_string().contains("fill value"));
}
