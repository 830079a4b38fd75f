use crate::conformance::{serializer_codec, spec};
use crate::{ChunkSpec, CodecError, NamedConfig, Registry};
use tessarray_buffer::{Arena, DataType, VarItem};

const WORDS: [&str; 5] = ["", "snow", "ß", "", "a longer piece of text"];

fn case(name: &str) -> (std::sync::Arc<dyn crate::Serializer>, ChunkSpec, Vec<u8>) {
    let data_type = if name == "vlen-utf8" { DataType::String } else { DataType::Bytes };
    let spec = spec(data_type, &[5]);
    let codec = serializer_codec(&NamedConfig::new(name), &spec);
    let arena = Arena::new();
    let items: Vec<u8> = WORDS.iter().flat_map(|word| arena.push_item(word.as_bytes()).to_bytes()).collect();
    let mut encoded = Vec::new();
    codec.encode(&spec, &items, &arena, &mut encoded).unwrap();
    (codec, spec, encoded)
}

fn decode(name: &str, input: &[u8]) -> Result<Vec<Vec<u8>>, CodecError> {
    let (codec, spec, _) = case(name);
    let (mut out, arena) = (vec![0; spec.byte_len()], Arena::new());
    codec.decode(&spec, input, &mut out, &arena)?;
    assert_eq!(arena.buffers().len(), 1);
    let buffers = arena.buffers();
    let items = out.as_chunks::<16>().0;
    Ok(items
        .iter()
        .map(|item| Arena::resolve(&buffers, VarItem::from_bytes(item)).unwrap().to_vec())
        .collect())
}

#[test]
fn elements_come_back_from_one_buffer_a_chunk() {
    for name in ["vlen-utf8", "vlen-bytes"] {
        let (_, _, encoded) = case(name);
        assert_eq!(encoded[..12], [5, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0]);
        assert_eq!(decode(name, &encoded).unwrap(), WORDS.map(|word| word.as_bytes().to_vec()));
    }
}

#[test]
fn every_truncation_and_every_byte_after_the_end_is_an_error() {
    let (_, _, encoded) = case("vlen-bytes");
    for n in 0..encoded.len() {
        assert!(matches!(decode("vlen-bytes", &encoded[..n]), Err(CodecError::Truncated { .. })), "{n}");
    }
    assert!(matches!(decode("vlen-bytes", &[&encoded[..], &[0]].concat()), Err(CodecError::Corrupt { .. })));
}

#[test]
fn lengths_and_counts_that_lie_are_errors_and_nothing_is_allocated_for_them() {
    let (_, _, encoded) = case("vlen-bytes");
    for at in 0..encoded.len() {
        for value in 0..=255 {
            let mut mutated = encoded.clone();
            mutated[at] = value;
            let _ = decode("vlen-bytes", &mutated);
            let _ = decode("vlen-utf8", &mutated);
        }
    }
    for count in [0u32, 4, 6, u32::MAX] {
        let lying = [&count.to_le_bytes()[..], &encoded[4..]].concat();
        assert!(decode("vlen-bytes", &lying).is_err());
    }
    let huge = [&5u32.to_le_bytes()[..], &u32::MAX.to_le_bytes(), b"x"].concat();
    assert!(matches!(decode("vlen-bytes", &huge), Err(CodecError::Truncated { .. })));
}

#[test]
fn text_that_is_not_utf8_is_an_error_that_names_the_element() {
    let (_, _, mut encoded) = case("vlen-utf8");
    encoded[12] = 0xFF;
    let error = decode("vlen-utf8", &encoded).unwrap_err().to_string();
    assert!(error.contains("element 1"), "{error}");
    assert!(decode("vlen-bytes", &encoded).is_ok());
}

#[test]
fn other_data_types_are_refused_by_name() {
    for (name, data_type) in [("vlen-utf8", DataType::Bytes), ("vlen-bytes", DataType::Float32)] {
        let error = Registry::new().build(&NamedConfig::new(name), &spec(data_type, &[1])).unwrap_err();
        assert!(matches!(error, CodecError::DataType { .. }), "{error}");
    }
}
