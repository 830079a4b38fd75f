//! `numcodecs.astype`: the values converted to another number type, as NumPy's `astype` does.

use crate::config::Settings;
use crate::lanes::{Types, cast};
use crate::number_filter::{NumberFilter, codec};
use crate::registry::register_all;
use crate::{AnyCodec, ChunkSpec, NamedConfig, Registry, Result};

const NAME: &str = "astype";

#[derive(Debug)]
struct AsType {
    types: Types,
}

pub(crate) fn register(registry: &mut Registry) {
    register_all(registry, &["astype", "numcodecs.astype"], build);
}

fn build(config: &NamedConfig, spec: &ChunkSpec) -> Result<AnyCodec> {
    let settings = Settings::new(config, &["encode_dtype", "decode_dtype"])?;
    settings.required("encode_dtype", settings.value("encode_dtype"))?;
    let types = Types::read(&settings, spec, NAME, ["decode_dtype", "encode_dtype"])?;
    Ok(codec(AsType { types }))
}

impl NumberFilter for AsType {
    const NAME: &'static str = NAME;

    fn types(&self) -> &Types {
        &self.types
    }

    fn config(&self) -> NamedConfig {
        NamedConfig::new("numcodecs.astype")
            .with("encode_dtype", self.types.encoded_name.clone())
            .with("decode_dtype", self.types.decoded_name.clone())
    }

    fn encode(&self, input: &[u8], out: &mut [u8]) {
        cast(self.types.decoded, input, self.types.encoded, out);
    }

    fn decode(&self, input: &[u8], out: &mut [u8]) {
        cast(self.types.encoded, input, self.types.decoded, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{array, samples, spec};
    use tessarray_buffer::DataType;

    const TYPES: [&str; 13] = [
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
        "bfloat16", "float32", "float64",
    ];

    #[test]
    fn every_pair_of_types_conforms() {
        for from in TYPES {
            let spec = spec(crate::numpy::data_type(from).unwrap(), &[13]);
            for to in TYPES {
                let config = NamedConfig::new(NAME).with("encode_dtype", to);
                array(&config, &spec, &samples(spec.byte_len())[3]);
            }
        }
    }

    #[test]
    fn a_wider_type_gives_the_values_back() {
        let spec = spec(DataType::Int16, &[300]);
        for to in ["<i4", "<i8", "<f4", "<f8"] {
            let input = &samples(spec.byte_len())[3];
            assert_eq!(&array(&NamedConfig::new(NAME).with("encode_dtype", to), &spec, input), input);
        }
    }
}
