//! `transpose`: another order of axes (Zarr v3 core). Folded into copies where the chain can; these functions are for
//! the places where it cannot.

use crate::config::Settings;
use crate::registry::register_all;
use crate::{AnyCodec, ArrayCodec, ChunkSpec, NamedConfig, Registry, Result, fail};
use serde_json::Value;
use std::sync::Arc;
use tessarray_buffer::{Lie, Strides, c_strides, copy_between};

const NAME: &str = "transpose";

#[derive(Debug)]
struct Transpose {
    /// Axis `i` of the encoded chunk is axis `order[i]` of the decoded one.
    order: Vec<usize>,
}

pub(crate) fn register(registry: &mut Registry) {
    register_all(registry, &[NAME], build);
}

fn build(config: &NamedConfig, spec: &ChunkSpec) -> Result<AnyCodec> {
    let settings = Settings::new(config, &["order"])?;
    let value = settings.required("order", settings.value("order"))?;
    let rank = spec.shape.len();
    let order = match value {
        Value::String(name) if name == "C" => Some((0..rank).collect()),
        Value::String(name) if name == "F" => Some((0..rank).rev().collect()),
        Value::Array(axes) if axes.len() == rank => permutation(axes),
        _ => None,
    };
    let order =
        order.ok_or_else(|| settings.wrong("order", &format!("a permutation of {rank} axes"), value))?;
    Ok(AnyCodec::Array(Arc::new(Transpose { order })))
}

/// The axes, if each occurs once.
fn permutation(axes: &[Value]) -> Option<Vec<usize>> {
    let mut seen = vec![false; axes.len()];
    axes.iter()
        .map(|axis| {
            let axis = usize::try_from(axis.as_u64()?).ok()?;
            let seen = seen.get_mut(axis)?;
            (!std::mem::replace(seen, true)).then_some(axis)
        })
        .collect()
}

impl Transpose {
    /// Strides of the encoded chunk's axes in the decoded chunk's memory.
    fn strides(&self, decoded: &ChunkSpec) -> Strides {
        let strides = c_strides(&decoded.shape, decoded.data_type.size());
        self.order.iter().map(|&axis| strides.get(axis).copied().unwrap_or(0)).collect()
    }

    fn check(&self, decoded: &ChunkSpec, input: usize, out: usize) -> Result<ChunkSpec> {
        let encoded = self.encoded_spec(decoded)?;
        fail::check_len(NAME, decoded.byte_len(), input)?;
        fail::check_len(NAME, decoded.byte_len(), out)?;
        Ok(encoded)
    }
}

impl ArrayCodec for Transpose {
    fn config(&self) -> NamedConfig {
        NamedConfig::new(NAME).with("order", self.order.clone())
    }

    fn encoded_spec(&self, decoded: &ChunkSpec) -> Result<ChunkSpec> {
        if decoded.shape.len() != self.order.len() {
            let reason =
                format!("{} axes in \"order\", {} in the chunk", self.order.len(), decoded.shape.len());
            return Err(crate::CodecError::Config { codec: NAME.into(), reason });
        }
        let shape = self.order.iter().map(|&axis| decoded.shape.get(axis).copied().unwrap_or(0)).collect();
        Ok(ChunkSpec { shape, ..decoded.clone() })
    }

    fn permutation(&self) -> Option<&[usize]> {
        Some(&self.order)
    }

    fn encode(&self, decoded: &ChunkSpec, input: &[u8], out: &mut [u8]) -> Result<()> {
        let encoded = self.check(decoded, input.len(), out.len())?;
        let item = decoded.data_type.size();
        let (from, to) = (self.strides(decoded), c_strides(&encoded.shape, item));
        let (from, to) = (Lie { start: 0, strides: &from }, Lie { start: 0, strides: &to });
        copy_between(input, from, out, to, &encoded.shape, item);
        Ok(())
    }

    fn decode(&self, decoded: &ChunkSpec, input: &[u8], out: &mut [u8]) -> Result<()> {
        let encoded = self.check(decoded, input.len(), out.len())?;
        let item = decoded.data_type.size();
        let (from, to) = (c_strides(&encoded.shape, item), self.strides(decoded));
        let (from, to) = (Lie { start: 0, strides: &from }, Lie { start: 0, strides: &to });
        copy_between(input, from, out, to, &encoded.shape, item);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{array, array_codec, samples, spec};
    use serde_json::json;
    use tessarray_buffer::DataType;

    #[test]
    fn conforms() {
        for data_type in [DataType::UInt8, DataType::Float32, DataType::RawBits(3), DataType::Complex128] {
            for (shape, order) in
                [(vec![4, 3, 5], json!([2, 0, 1])), (vec![], json!([])), (vec![0, 2], json!([1, 0]))]
            {
                let spec = spec(data_type.clone(), &shape);
                let input = &samples(spec.byte_len())[3];
                assert_eq!(&array(&NamedConfig::new(NAME).with("order", order), &spec, input), input);
            }
        }
    }

    #[test]
    fn encoded_axis_i_is_decoded_axis_order_i() {
        let spec = spec(DataType::UInt8, &[2, 3]);
        for order in [json!([1, 0]), json!("F")] {
            let codec = array_codec(&NamedConfig::new(NAME).with("order", order), &spec);
            assert_eq!(codec.encoded_spec(&spec).unwrap().shape.as_slice(), [3, 2]);
            let mut out = [0; 6];
            codec.encode(&spec, &[0, 1, 2, 3, 4, 5], &mut out).unwrap();
            assert_eq!(out, [0, 3, 1, 4, 2, 5]);
        }
    }

    #[test]
    fn what_is_not_a_permutation_is_refused() {
        let spec = spec(DataType::UInt8, &[2, 3]);
        for order in
            [json!([0, 0]), json!([0, 2]), json!([0]), json!([0, 1, 2]), json!([-1, 0]), json!("K"), json!(1)]
        {
            let error =
                Registry::new().build(&NamedConfig::new(NAME).with("order", order), &spec).unwrap_err();
            assert!(error.to_string().contains("a permutation of 2 axes"), "{error}");
        }
    }
}
