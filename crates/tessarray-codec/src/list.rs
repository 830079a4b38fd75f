//! The codecs that there are: one line for each.

use crate::Registry;

impl Registry {
    /// All codecs of this crate.
    pub fn new() -> Self {
        let mut registry = Self::empty();
        crate::bytes::register(&mut registry);
        crate::vlen::register(&mut registry);
        crate::pcodec::register(&mut registry);
        crate::transpose::register(&mut registry);
        crate::astype::register(&mut registry);
        crate::bitround::register(&mut registry);
        crate::cast_value::register(&mut registry);
        crate::delta::register(&mut registry);
        crate::fixedscaleoffset::register(&mut registry);
        crate::packbits::register(&mut registry);
        crate::quantize::register(&mut registry);
        crate::scale_offset::register(&mut registry);
        crate::blosc::register(&mut registry);
        crate::bz2::register(&mut registry);
        crate::deflate::register(&mut registry);
        crate::lz4::register(&mut registry);
        crate::lzma::register(&mut registry);
        crate::shuffle::register(&mut registry);
        crate::snappy::register(&mut registry);
        crate::zstd::register(&mut registry);
        crate::checksum::register(&mut registry);
        registry
    }
}

impl Default for Registry {
    /// All codecs of this crate.
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::spec;
    use crate::{CodecError, NamedConfig};

    #[test]
    fn codecs_that_hold_code_or_objects_are_refused_by_name() {
        let registry = Registry::new();
        let spec = spec(tessarray_buffer::DataType::UInt8, &[4]);
        for name in ["pickle", "numcodecs.pickle"] {
            let error = registry.build(&NamedConfig::new(name), &spec).unwrap_err();
            assert_eq!(error, CodecError::Forbidden { name: name.into() });
        }
        for name in ["json2", "msgpack2", "categorize", "vlen-array", "numcodecs.json2"] {
            let error = registry.build(&NamedConfig::new(name), &spec).unwrap_err();
            assert!(matches!(error, CodecError::Unknown { .. }), "{error}");
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest_and_not_with_all() {
        let registry = Registry::new();
        let spec = spec(tessarray_buffer::DataType::UInt8, &[4]);
        let message = |name: &str| registry.build(&NamedConfig::new(name), &spec).unwrap_err().to_string();
        assert!(message("zst").contains("nearest are \"zstd\""), "{}", message("zst"));
        assert!(message("numcodecs.Blosk").contains("\"blosc\""));
        assert!(message("qqqq").contains("none of the"));
        assert!(message("lz").len() < 120);
    }

    #[test]
    fn an_unknown_setting_is_an_error_of_every_codec() {
        let registry = Registry::new();
        let spec = spec(tessarray_buffer::DataType::UInt8, &[4]);
        for name in registry.names() {
            let error =
                registry.build(&NamedConfig::new(name).with("no_such_setting", 1), &spec).unwrap_err();
            assert!(error.to_string().contains("no_such_setting"), "{name}: {error}");
        }
    }
}
