//! `bytes`: the elements one after the other, in a stated byte order (Zarr v3 core).

mod swap;

use crate::config::Settings;
use crate::registry::register_all;
use crate::{AnyCodec, ChunkSpec, EncodedSize, NamedConfig, Registry, Result, Serializer, fail};
use std::sync::Arc;
use swap::Units;
use tessarray_buffer::{Arena, DataType};

const NAME: &str = "bytes";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Endian {
    Little,
    Big,
}

const NATIVE: Endian = if cfg!(target_endian = "little") { Endian::Little } else { Endian::Big };

#[derive(Debug)]
struct Bytes {
    /// Absent only where elements have no byte order.
    endian: Option<Endian>,
    /// What to reverse where the byte order is not the machine's.
    units: Units,
}

pub(crate) fn register(registry: &mut Registry) {
    register_all(registry, &["bytes"], build);
}

fn build(config: &NamedConfig, spec: &ChunkSpec) -> Result<AnyCodec> {
    let settings = Settings::new(config, &["endian"])?;
    let endian = settings.one_of("endian", &["little", "big"])?;
    let endian = endian.map(|name| if name == "big" { Endian::Big } else { Endian::Little });
    if spec.data_type.is_variable() {
        return Err(fail::data_type(
            NAME,
            spec,
            "elements have no fixed length; vlen-utf8 and vlen-bytes hold such",
        ));
    }
    let units = Units::of(&spec.data_type);
    // zarr-python up to 3.1 writes structured arrays, little-endian, without saying so.
    let endian = endian.or_else(|| matches!(spec.data_type, DataType::Struct(_)).then_some(Endian::Little));
    if endian.is_none() && units.matter() {
        return Err(settings.error(format!("missing setting \"endian\", which {} needs", spec.data_type)));
    }
    Ok(AnyCodec::Serializer(Arc::new(Bytes { endian, units })))
}

impl Bytes {
    fn swaps(&self) -> bool {
        self.units.matter() && self.endian.is_some_and(|endian| endian != NATIVE)
    }
}

impl Serializer for Bytes {
    fn config(&self) -> NamedConfig {
        let config = NamedConfig::new(NAME);
        match self.endian {
            Some(Endian::Little) => config.with("endian", "little"),
            Some(Endian::Big) => config.with("endian", "big"),
            None => config,
        }
    }

    fn encoded_size(&self, spec: &ChunkSpec) -> EncodedSize {
        EncodedSize::Exact(spec.byte_len())
    }

    fn is_identity(&self, _: &ChunkSpec) -> bool {
        !self.swaps()
    }

    fn encode(&self, spec: &ChunkSpec, input: &[u8], _: &Arena, out: &mut Vec<u8>) -> Result<()> {
        fail::check_len(NAME, spec.byte_len(), input.len())?;
        let start = out.len();
        crate::room::append(out, input)?;
        if self.swaps() {
            self.units.swap(out.get_mut(start..).unwrap_or(&mut []));
        }
        Ok(())
    }

    fn decode(&self, spec: &ChunkSpec, input: &[u8], out: &mut [u8], _: &Arena) -> Result<()> {
        fail::check_len(NAME, spec.byte_len(), out.len())?;
        if input.len() < out.len() {
            return Err(fail::truncated(NAME, out.len(), input.len()));
        }
        fail::check_len(NAME, out.len(), input.len())?;
        out.copy_from_slice(input);
        if self.swaps() {
            self.units.swap(out);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CodecError;
    use crate::conformance::{samples, serializer, serializer_codec, spec};
    use tessarray_buffer::{DataType, Field};

    fn record() -> DataType {
        let field = |name: &str, data_type| Field { name: name.into(), data_type };
        DataType::Struct(vec![
            field("a", DataType::UInt16),
            field("b", DataType::FixedBytes(3)),
            field("c", DataType::Struct(vec![field("d", DataType::Complex64)])),
        ])
    }

    #[test]
    fn conforms() {
        let types = [
            DataType::Bool,
            DataType::Int16,
            DataType::Float32,
            DataType::Float64,
            DataType::Complex128,
            DataType::FixedUtf32(3),
            DataType::RawBits(3),
            record(),
        ];
        for data_type in types {
            for shape in [&[5u64, 3][..], &[], &[0]] {
                let spec = spec(data_type.clone(), shape);
                for endian in ["little", "big"] {
                    serializer(
                        &NamedConfig::new("bytes").with("endian", endian),
                        &spec,
                        &samples(spec.byte_len())[3],
                    );
                }
            }
        }
    }

    #[test]
    fn big_endian_reverses_each_number_and_each_field() {
        let spec = spec(record(), &[1]);
        let input: Vec<u8> = (0..13).collect();
        let mut out = Vec::new();
        let other = if NATIVE == Endian::Little { "big" } else { "little" };
        let codec = serializer_codec(&NamedConfig::new("bytes").with("endian", other), &spec);
        codec.encode(&spec, &input, &Arena::new(), &mut out).unwrap();
        assert_eq!(out, [1, 0, 2, 3, 4, 8, 7, 6, 5, 12, 11, 10, 9]);
    }

    #[test]
    fn byte_order_is_required_where_it_matters_and_only_there() {
        let registry = Registry::new();
        let bare = NamedConfig::new("bytes");
        let without =
            [DataType::UInt8, DataType::Bool, DataType::RawBits(4), DataType::FixedBytes(9), record()];
        for data_type in without {
            assert!(registry.build(&bare, &spec(data_type, &[2])).is_ok());
        }
        for data_type in [DataType::UInt16, DataType::FixedUtf32(1)] {
            let error = registry.build(&bare, &spec(data_type, &[2])).unwrap_err();
            assert!(error.to_string().contains("endian"), "{error}");
        }
        let error = registry.build(&bare, &spec(DataType::String, &[2])).unwrap_err();
        assert!(matches!(error, CodecError::DataType { .. }), "{error}");
    }
}
