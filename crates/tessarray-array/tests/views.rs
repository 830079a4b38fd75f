//! Reads into windows, and writes from windows, whose elements lie anyhow in the caller's memory: each element goes where
//! its coordinates say, and no byte beside them is touched.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a failure here is a failed test

use proptest::prelude::*;
use std::sync::Arc;
use tessarray_array::{Array, ArraySpec, ChunkChoice, CodecChoice, Session, ShardChoice};
use tessarray_buffer::{Arena, DataType, InputView, OutputView};
use tessarray_codec::NamedConfig;
use tessarray_grid::{AxisSelection, Odometer, Selection, ravel};
use tessarray_store::MemoryStore;

const SHAPE: [u64; 3] = [9, 10, 11];
const ITEM: usize = 4;
const UNTOUCHED: u8 = 0xEE;

/// Where the elements of a window lie.
#[derive(Debug)]
struct Window {
    shape: Vec<u64>,
    start: usize,
    strides: Vec<isize>,
    bytes: usize,
}

impl Window {
    /// Axes from the last to the first, or from the first to the last; each in either direction, with a gap.
    fn new(shape: &[u64], fortran: bool, ways: &[(bool, usize)]) -> Self {
        let rank = shape.len();
        let (mut start, mut strides, mut extent) = (0, vec![0; rank], ITEM);
        for i in 0..rank {
            let axis = if fortran { i } else { rank - 1 - i };
            let (backwards, gap) = ways[axis];
            let reach = extent * gap * (shape[axis] as usize).saturating_sub(1);
            strides[axis] = (extent * gap) as isize * if backwards { -1 } else { 1 };
            start += if backwards { reach } else { 0 };
            extent += reach;
        }
        Self { shape: shape.to_vec(), start, strides, bytes: extent }
    }

    fn offset(&self, at: &[u64]) -> usize {
        let steps = at.iter().zip(&self.strides).map(|(&i, &stride)| i as isize * stride);
        (self.start as isize + steps.sum::<isize>()) as usize
    }

    /// The window's memory where it holds these elements in C order.
    fn filled(&self, elements: &[u8]) -> Vec<u8> {
        let mut memory = vec![UNTOUCHED; self.bytes];
        let mut at = Odometer::new(&self.shape);
        for element in elements.chunks(ITEM) {
            let offset = self.offset(at.current().unwrap());
            memory[offset..offset + ITEM].copy_from_slice(element);
            at.advance();
        }
        memory
    }
}

/// Each selected element's place in the array, in the selection's order.
fn places(selection: &Selection) -> Vec<u64> {
    let mut out = Vec::new();
    let shape = selection.shape();
    let mut at = Odometer::new(&shape);
    while let Some(i) = at.current() {
        let index: Vec<u64> = match selection {
            Selection::Axes(axes) => axes.iter().zip(i).map(|(axis, &i)| pick(axis, i)).collect(),
            Selection::Points(lists) => lists.iter().map(|list| list[i[0] as usize]).collect(),
        };
        out.push(ravel(&index, &SHAPE));
        at.advance();
    }
    out
}

fn pick(axis: &AxisSelection, i: u64) -> u64 {
    match axis {
        AxisSelection::Range { start, step, .. } => (*start as i64 + i as i64 * step) as u64,
        AxisSelection::List(list) => list[i as usize],
    }
}

/// A range, with a step in either direction, or a list, of an axis of `n`.
fn axis(n: u64) -> impl Strategy<Value = AxisSelection> {
    let range = (0..n, 1..4i64, any::<bool>(), 0..=n).prop_map(move |(start, step, back, len)| {
        let room = if back { start } else { n - 1 - start };
        let len = len.min(room / step as u64 + 1);
        AxisSelection::Range { start, step: if back { -step } else { step }, len }
    });
    prop_oneof![
        1 => Just(AxisSelection::Range { start: 0, step: 1, len: n }),
        3 => range,
        1 => prop::collection::vec(0..n, 0..6).prop_map(AxisSelection::List),
    ]
}

fn selection() -> impl Strategy<Value = Selection> {
    let axes = (axis(SHAPE[0]), axis(SHAPE[1]), axis(SHAPE[2]));
    let points = prop::collection::vec((0..SHAPE[0], 0..SHAPE[1], 0..SHAPE[2]), 0..40);
    prop_oneof![
        4 => axes.prop_map(|(a, b, c)| Selection::Axes([a, b, c].into_iter().collect())),
        1 => points.prop_map(|points| Selection::Points(vec![
            points.iter().map(|p| p.0).collect(),
            points.iter().map(|p| p.1).collect(),
            points.iter().map(|p| p.2).collect(),
        ])),
    ]
}

proptest! {
    #[test]
    fn elements_go_where_their_coordinates_say_and_nothing_else_is_touched(
        chunks in prop::collection::vec(1u64..6, 3),
        sharded: bool,
        compressed: bool,
        fortran_chunks: bool,
        fortran_window: bool,
        selection in selection(),
        ways in prop::collection::vec((any::<bool>(), 1usize..4), 3),
    ) {
        let mut spec = ArraySpec::new(&SHAPE, DataType::UInt32);
        spec.chunks = ChunkChoice::Shape(chunks.clone());
        spec.fortran_order = fortran_chunks;
        if sharded {
            spec.shards = ShardChoice::Shape(chunks.iter().map(|n| n * 2).collect());
        }
        if !compressed {
            spec.compressors = CodecChoice::List(Vec::new());
        }
        let session = Session::builder().threads(2).build();
        let array = Array::create(&session, Arc::new(MemoryStore::new()), "a", &spec, false).unwrap();
        let mut model: Vec<u8> = (1..=SHAPE.iter().product::<u64>() as u32).flat_map(u32::to_ne_bytes).collect();
        array.write_bytes(&Selection::all(&SHAPE), &model).unwrap();
        let window = Window::new(&selection.shape(), fortran_window, &ways);
        let places = places(&selection);
        let place = |&place: &u64| place as usize * ITEM..(place as usize + 1) * ITEM;

        let read: Vec<u8> = places.iter().flat_map(|at| model[place(at)].to_vec()).collect();
        let mut memory = vec![UNTOUCHED; window.bytes];
        // SAFETY: the memory ends with the last element that the strides reach, and is borrowed by nobody else.
        let mut out = unsafe {
            let first = memory.as_mut_ptr().add(window.start);
            OutputView::from_raw(first, &window.shape, &window.strides, ITEM)
        };
        array.read_into(&selection, &mut out, &Arena::new()).unwrap();
        prop_assert!(memory == window.filled(&read), "read: {window:?}");

        // Of an element that is selected more than once, the last value stays.
        let written: Vec<u8> = (0..places.len() as u32).flat_map(|i| (5000 + i).to_ne_bytes()).collect();
        for (at, value) in places.iter().zip(written.chunks(ITEM)) {
            model[place(at)].copy_from_slice(value);
        }
        let memory = window.filled(&written);
        // SAFETY: as above; nobody writes to it.
        let input = unsafe {
            let first = memory.as_ptr().add(window.start);
            InputView::from_raw(first, &window.shape, &window.strides, ITEM)
        };
        array.write_from(&selection, &input, &Arena::new()).unwrap();
        prop_assert!(array.read_bytes(&Selection::all(&SHAPE)).unwrap() == model, "written: {window:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Chunks that are large enough to be taken and put a block at a time, or to be stored from where they lie.
    #[test]
    fn large_chunks_are_taken_from_and_put_into_any_window(
        codec in prop::sample::select(vec!["blosc", "not shuffled", "none"]),
        random: bool,
        begins_with_fill: bool,
        fortran_chunks: bool,
        fortran_window: bool,
        ways in prop::collection::vec((any::<bool>(), 1usize..3), 3),
    ) {
        let shape = [9u64, 140, 70];
        let mut spec = ArraySpec::new(&shape, DataType::UInt32);
        spec.chunks = ChunkChoice::Shape(vec![8, 130, 67]);
        spec.fortran_order = fortran_chunks;
        spec.compressors = match codec {
            "blosc" => spec.compressors,
            "none" => CodecChoice::List(Vec::new()),
            _ => CodecChoice::List(vec![
                NamedConfig::new("blosc").with("cname", "lz4").with("clevel", 5).with("shuffle", "noshuffle")
                    .with("typesize", 1).with("blocksize", 0),
                NamedConfig::new("crc32c"),
            ]),
        };
        let elements = shape.iter().product::<u64>() as u32;
        let number = |i: u32| if random { i.wrapping_mul(0x9E37_79B9).rotate_left(i % 29) } else { i / 50 };
        let mut model: Vec<u8> = (0..elements).flat_map(|i| number(i).to_ne_bytes()).collect();
        if begins_with_fill {
            model[..100_000].fill(0);
        }
        let window = Window::new(&shape, fortran_window, &ways);
        let memory = window.filled(&model);
        let session = Session::builder().threads(2).build();
        let array = Array::create(&session, Arc::new(MemoryStore::new()), "a", &spec, false).unwrap();
        // SAFETY: the memory ends with the last element that the strides reach, and nobody writes to it.
        let input = unsafe {
            let first = memory.as_ptr().add(window.start);
            InputView::from_raw(first, &window.shape, &window.strides, ITEM)
        };
        array.write_from(&Selection::all(&shape), &input, &Arena::new()).unwrap();
        prop_assert!(array.read_bytes(&Selection::all(&shape)).unwrap() == model, "written: {window:?}");
        let mut found = vec![UNTOUCHED; window.bytes];
        // SAFETY: as above; the memory is borrowed by nobody else.
        let mut out = unsafe {
            let first = found.as_mut_ptr().add(window.start);
            OutputView::from_raw(first, &window.shape, &window.strides, ITEM)
        };
        array.read_into(&Selection::all(&shape), &mut out, &Arena::new()).unwrap();
        prop_assert!(found == memory, "read: {window:?}");
    }
}
