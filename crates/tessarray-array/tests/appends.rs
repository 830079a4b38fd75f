//! An append that does not fit is refused, names what it should be, and changes nothing.
#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::sync::Arc;
use tessarray_array::{Array, ArrayError, ArraySpec, ChunkChoice, Session};
use tessarray_buffer::{Arena, DataType, InputView};
use tessarray_store::{MemoryStore, Prefix, Store};

fn array(store: &Arc<dyn Store>) -> Array {
    let mut spec = ArraySpec::new(&[3, 4], DataType::UInt16);
    spec.chunks = ChunkChoice::Shape(vec![2, 2]);
    let array = Array::create(&Session::new(), store.clone(), "a", &spec, false).unwrap();
    let values: Vec<u8> = (0..12_u16).flat_map(u16::to_ne_bytes).collect();
    array.append(0, &InputView::new(&values[..8], &[1, 4], 2).unwrap(), &Arena::new()).unwrap();
    array
}

#[test]
fn elements_of_another_size_are_refused() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = array(&store);
    let before = store.list(&Prefix::root()).unwrap();
    let bytes = [1_u8; 64];
    for item in [1, 4, 8] {
        let input = InputView::new(&bytes[..4 * item], &[1, 4], item).unwrap();
        let refused = array.append(0, &input, &Arena::new());
        assert!(
            matches!(refused, Err(ArrayError::ItemSize { expected: 2, found }) if found == item),
            "{item} bytes: {refused:?}"
        );
    }
    assert_eq!(array.shape(), vec![4, 4]);
    assert_eq!(store.list(&Prefix::root()).unwrap(), before);
}

#[test]
fn another_length_of_another_axis_or_an_axis_that_is_not_there_is_refused() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = array(&store);
    let bytes = [1_u8; 64];
    for (axis, shape) in [(0, [1, 3]), (0, [1, 5]), (1, [1, 4]), (1, [5, 1]), (2, [1, 4])] {
        let length = shape.iter().product::<u64>() as usize * 2;
        let input = InputView::new(&bytes[..length], &shape, 2).unwrap();
        let refused = array.append(axis, &input, &Arena::new());
        assert!(
            matches!(refused, Err(ArrayError::BufferShape { .. } | ArrayError::Argument { .. })),
            "{shape:?} along {axis}: {refused:?}"
        );
    }
    assert_eq!(array.shape(), vec![4, 4]);
}
