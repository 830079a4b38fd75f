//! Two codecs of one name. `packbits` is registered with zarr-extensions and serialises ([`serializer`]).
//! `numcodecs.packbits` is array to array: bools as bits, the first in the highest bit, after a byte with the number of
//! unused bits. Where `bytes` comes next in a chain, a bare `packbits` is that of numcodecs
//! ([`is_array_codec`]).

mod serializer;

use crate::config::Settings;
use crate::{AnyCodec, ArrayCodec, ChunkSpec, NamedConfig, Registry, Result, fail};
use std::sync::Arc;
use tessarray_buffer::{DataType, Dims};

const NAME: &str = "numcodecs.packbits";

#[derive(Debug)]
struct PackBits;

pub(crate) fn register(registry: &mut Registry) {
    serializer::register(registry);
    registry.register(NAME, build);
}

/// Whether the codec at the head of what is left of a chain is `packbits` of numcodecs, which its place says.
pub(crate) fn is_array_codec(rest: &[NamedConfig]) -> bool {
    match rest {
        [codec, next, ..] => {
            let bare = codec.configuration.keys().all(|key| key == "id");
            codec.name == "packbits" && bare && next.name == "bytes"
        }
        _ => false,
    }
}

fn build(config: &NamedConfig, spec: &ChunkSpec) -> Result<AnyCodec> {
    Settings::new(config, &[])?;
    check_type(spec)?;
    Ok(AnyCodec::Array(Arc::new(PackBits)))
}

fn check_type(spec: &ChunkSpec) -> Result<()> {
    match spec.data_type {
        DataType::Bool => Ok(()),
        _ => Err(fail::data_type(NAME, spec, "it packs bools only")),
    }
}

/// Bytes of the encoding of `n` bools.
fn packed(n: usize) -> usize {
    n.div_ceil(8).saturating_add(1)
}

impl ArrayCodec for PackBits {
    fn config(&self) -> NamedConfig {
        NamedConfig::new(NAME)
    }

    fn encoded_spec(&self, decoded: &ChunkSpec) -> Result<ChunkSpec> {
        check_type(decoded)?;
        let shape = Dims::from_slice(&[fail::count(packed(decoded.elements()))]);
        Ok(ChunkSpec { shape, data_type: DataType::UInt8, fill: [0].into() })
    }

    fn encode(&self, decoded: &ChunkSpec, input: &[u8], out: &mut [u8]) -> Result<()> {
        fail::check_len(NAME, decoded.elements(), input.len())?;
        fail::check_len(NAME, packed(input.len()), out.len())?;
        let Some((unused, bits)) = out.split_first_mut() else { return Ok(()) };
        *unused = u8::try_from(input.len().wrapping_neg() % 8).unwrap_or(0);
        for (byte, bools) in bits.iter_mut().zip(input.chunks(8)) {
            *byte = bools.iter().enumerate().fold(0, |byte, (i, &on)| byte | (u8::from(on != 0) << (7 - i)));
        }
        Ok(())
    }

    fn decode(&self, decoded: &ChunkSpec, input: &[u8], out: &mut [u8]) -> Result<()> {
        fail::check_len(NAME, decoded.elements(), out.len())?;
        fail::check_len(NAME, packed(out.len()), input.len())?;
        let Some((&unused, bits)) = input.split_first() else { return Ok(()) };
        if usize::from(unused) != out.len().wrapping_neg() % 8 {
            let reason = format!("{unused} unused bits do not go with {} bools", out.len());
            return Err(fail::corrupt(NAME, reason));
        }
        for (byte, bools) in bits.iter().zip(out.chunks_mut(8)) {
            bools.iter_mut().enumerate().for_each(|(i, on)| *on = (byte >> (7 - i)) & 1);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{array, array_codec, samples, spec};
    use crate::{Chain, Scratch};
    use tessarray_buffer::Arena;

    #[test]
    fn conforms() {
        for n in [0, 1, 7, 8, 9, 100] {
            let input: Vec<u8> = samples(n)[3].iter().map(|byte| byte & 1).collect();
            assert_eq!(array(&NamedConfig::new(NAME), &spec(DataType::Bool, &[n as u64]), &input), input);
        }
        assert!(Registry::new().build(&NamedConfig::new(NAME), &spec(DataType::UInt8, &[1])).is_err());
    }

    #[test]
    fn the_place_in_the_chain_tells_the_two_codecs_apart() {
        let build = |names: &[&str]| {
            let configs: Vec<NamedConfig> = names.iter().map(|name| NamedConfig::new(*name)).collect();
            Chain::build(&Registry::new(), &configs, spec(DataType::Bool, &[10]))
        };
        let encode = |names: &[&str]| {
            let mut out = Vec::new();
            let input = [1, 0, 1, 1, 0, 0, 0, 0, 0, 1];
            build(names).unwrap().encode(&input, &Arena::new(), &mut Scratch::new(), &mut out).unwrap();
            out
        };
        assert_eq!(encode(&["packbits"]), [0b0000_1101, 0b10]);
        assert_eq!(encode(&["packbits", "crc32c"])[..2], [0b0000_1101, 0b10]);
        assert_eq!(encode(&["packbits", "bytes"]), [6, 0b1011_0000, 0b0100_0000]);
        assert_eq!(encode(&["numcodecs.packbits", "bytes"]), [6, 0b1011_0000, 0b0100_0000]);
        assert!(build(&["packbits", "packbits"]).is_err());
        assert!(build(&["numcodecs.packbits"]).is_err());
    }

    #[test]
    fn a_wrong_number_of_unused_bits_is_an_error() {
        let spec = spec(DataType::Bool, &[4]);
        let codec = array_codec(&NamedConfig::new(NAME), &spec);
        let mut out = [0; 4];
        codec.decode(&spec, &[4, 0b1001_0000], &mut out).unwrap();
        assert_eq!(out, [1, 0, 0, 1]);
        assert!(codec.decode(&spec, &[3, 0b1001_0000], &mut out).is_err());
    }
}
