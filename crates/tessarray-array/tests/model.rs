//! Any sequence of writes, appends and resizes, read back by any selection, equals a plain in-memory model.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a failure here is a failed test

use proptest::prelude::*;
use std::sync::Arc;
use tessarray_array::{Array, ArraySpec, ChunkChoice, CodecChoice, Session, ShardChoice};
use tessarray_buffer::{Arena, DataType, InputView};
use tessarray_codec::NamedConfig;
use tessarray_codec::sharding::ShardingConfig;
use tessarray_grid::{AxisSelection, Edges, Odometer, Selection, ravel};
use tessarray_store::{FileStore, MemoryStore, Store};

const FILL: u16 = 7;

#[derive(Debug, Clone)]
struct Model {
    shape: Vec<u64>,
    data: Vec<u16>,
}

impl Model {
    fn resize(&mut self, shape: &[u64]) {
        let mut data = vec![FILL; shape.iter().product::<u64>() as usize];
        let mut at = Odometer::new(shape);
        while let Some(i) = at.current() {
            if i.iter().zip(&self.shape).all(|(i, n)| i < n) {
                data[ravel(i, shape) as usize] = self.data[ravel(i, &self.shape) as usize];
            }
            at.advance();
        }
        *self = Self { shape: shape.to_vec(), data };
    }

    fn places(&self, selection: &Selection) -> Vec<usize> {
        let shape = selection.shape();
        let mut out = Vec::new();
        let mut at = Odometer::new(&shape);
        while let Some(i) = at.current() {
            let index: Vec<u64> = match selection {
                Selection::Axes(axes) => axes
                    .iter()
                    .zip(i)
                    .map(|(axis, &i)| match axis {
                        AxisSelection::Range { start, step, .. } => (*start as i64 + i as i64 * step) as u64,
                        AxisSelection::List(list) => list[i as usize],
                    })
                    .collect(),
                Selection::Points(lists) => lists.iter().map(|list| list[i[0] as usize]).collect(),
            };
            out.push(ravel(&index, &self.shape) as usize);
            at.advance();
        }
        out
    }
}

#[derive(Debug, Clone)]
enum Step {
    Write(Vec<(u64, i64, u64)>, Vec<u64>, u8),
    Append(usize, u64),
    Resize(Vec<u64>),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (prop::collection::vec((0u64..1000, -3i64..4, 0u64..1000), 3), prop::collection::vec(0u64..1000, 12), 0u8..4)
            .prop_map(|(ranges, list, kind)| Step::Write(ranges, list, kind)),
        1 => (0usize..3, 0u64..6).prop_map(|(axis, n)| Step::Append(axis, n)),
        1 => prop::collection::vec(0u64..14, 3).prop_map(Step::Resize),
    ]
}

/// A selection that fits the shape, from arbitrary numbers.
fn selection(shape: &[u64], ranges: &[(u64, i64, u64)], list: &[u64], kind: u8) -> Option<Selection> {
    if shape.contains(&0) {
        return None;
    }
    if kind == 3 {
        let lists =
            (0..shape.len()).map(|a| list.iter().map(|v| v.rotate_left(a as u32) % shape[a]).collect());
        return Some(Selection::Points(lists.collect()));
    }
    let axes = shape.iter().zip(ranges).enumerate().map(|(axis, (&n, &(start, step, len)))| {
        if kind == 2 && axis == 1 {
            return AxisSelection::List(list[..5].iter().map(|v| v % n).collect());
        }
        let start = start % n;
        let step = if step == 0 || kind == 1 { 1 } else { step };
        let most = if step > 0 { (n - 1 - start) / step as u64 + 1 } else { start / step.unsigned_abs() + 1 };
        AxisSelection::Range { start, step, len: len % (most + 1) }
    });
    Some(Selection::Axes(axes.collect()))
}

fn bytes(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

fn run(store: Arc<dyn Store>, layout: u8, chunks: &[u64], factors: &[u64], fortran: bool, steps: &[Step]) {
    let shape = vec![5, 6, 7];
    let mut spec = ArraySpec::new(&shape, DataType::UInt16);
    spec.chunks = ChunkChoice::Shape(chunks.to_vec());
    spec.fortran_order = fortran;
    let shard: Vec<u64> = chunks.iter().zip(factors).map(|(c, f)| c * f).collect();
    if layout > 0 {
        spec.shards = ShardChoice::Shape(shard);
    }
    if layout == 2 {
        spec.compressors = CodecChoice::List(vec![NamedConfig::new("gzip").with("level", 1)]);
    }
    walk(store, spec, steps);
}

/// Chunk lengths along three axes, in multiples of `unit`: one for all, or a list, with a run of one chunk or more each.
fn grid() -> impl Strategy<Value = Vec<(bool, Vec<(u64, u64)>)>> {
    prop::collection::vec((prop::bool::weighted(0.8), prop::collection::vec((1u64..4, 1u64..3), 1..4)), 3)
}

/// The lengths along an axis, and the axis' own.
fn edges((listed, runs): &(bool, Vec<(u64, u64)>), unit: u64) -> (Edges, u64) {
    match listed {
        true => {
            let runs: Vec<(u64, u64)> = runs.iter().map(|(n, count)| (n * unit, *count)).collect();
            let sum = runs.iter().map(|(n, count)| n * count).sum();
            (Edges::listed(runs).unwrap(), sum)
        }
        false => (Edges::Each(runs[0].0 * unit), 6),
    }
}

/// Chunks of listed lengths; in shards of such lengths, and in shards of those, where `levels` says so.
fn run_listed(
    store: Arc<dyn Store>,
    levels: usize,
    grid: &[(bool, Vec<(u64, u64)>)],
    inner: &[u64],
    fortran: bool,
    steps: &[Step],
) {
    let units: Vec<u64> = inner.iter().map(|n| [1, *n, 2 * n][levels]).collect();
    let (axes, shape): (Vec<Edges>, Vec<u64>) =
        grid.iter().zip(&units).map(|(axis, &unit)| edges(axis, unit)).unzip();
    let mut spec = ArraySpec::new(&shape, DataType::UInt16);
    spec.fortran_order = fortran;
    match levels {
        0 => spec.chunks = ChunkChoice::Edges(axes),
        _ => {
            spec.chunks = ChunkChoice::Shape(units);
            spec.shards = ShardChoice::Edges(axes);
        }
    }
    if levels == 2 {
        let mut inner = inner.to_vec();
        if fortran {
            inner.reverse();
        }
        let codecs = vec![NamedConfig::new("bytes").with("endian", "little")];
        spec.serializer = CodecChoice::List(vec![ShardingConfig::new(&inner, codecs).to_config()]);
        spec.compressors = CodecChoice::List(Vec::new());
    }
    walk(store, spec, steps);
}

/// Walks the steps beside a model.
fn walk(store: Arc<dyn Store>, mut spec: ArraySpec, steps: &[Step]) {
    let session = Session::builder().threads(2).build();
    let shape = spec.shape.clone();
    let mut model = Model { data: vec![FILL; shape.iter().product::<u64>() as usize], shape };
    spec.fill_value = Some(FILL.into());
    let array = Array::create(&session, store.clone(), "a/b", &spec, false).unwrap();
    let mut counter = 0u16;
    let mut next = |n: usize| -> Vec<u16> {
        (0..n)
            .map(|_| {
                counter = counter.wrapping_add(1);
                if counter.is_multiple_of(5) { FILL } else { counter }
            })
            .collect()
    };
    for step in steps {
        match step {
            Step::Write(ranges, list, kind) => {
                let Some(selection) = selection(&model.shape, ranges, list, *kind) else { continue };
                let places = model.places(&selection);
                let values = next(places.len());
                array.write_bytes(&selection, &bytes(&values)).unwrap();
                for (&place, &value) in places.iter().zip(&values) {
                    model.data[place] = value;
                }
                let read = array.read_bytes(&selection).unwrap();
                let expected: Vec<u16> = places.iter().map(|&p| model.data[p]).collect();
                assert_eq!(read, bytes(&expected), "{selection:?}");
            }
            Step::Append(axis, n) => {
                let mut shape = model.shape.clone();
                let start = shape[*axis];
                shape[*axis] = *n;
                let values = next(shape.iter().product::<u64>() as usize);
                let raw = bytes(&values);
                let input = InputView::new(&raw, &shape, 2).unwrap();
                assert_eq!(array.append(*axis, &input, &Arena::new()).unwrap(), start);
                let mut grown = model.shape.clone();
                grown[*axis] += n;
                model.resize(&grown);
                let mut origin = vec![0; 3];
                origin[*axis] = start;
                for (place, value) in
                    model.places(&Selection::region(&origin, &shape)).into_iter().zip(values)
                {
                    model.data[place] = value;
                }
            }
            Step::Resize(shape) => {
                array.resize(shape).unwrap();
                model.resize(shape);
            }
        }
        let again = Array::open(&session, store.clone(), "a/b").unwrap();
        assert_eq!(again.shape(), model.shape);
        assert_eq!(
            again.read_bytes(&Selection::all(&model.shape)).unwrap(),
            bytes(&model.data),
            "after {step:?}"
        );
    }
    assert_eq!(array.check(true).unwrap(), vec![]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_sequence_of_changes_equals_the_model(
        layout in 0u8..3,
        chunks in prop::collection::vec(1u64..5, 3),
        factors in prop::collection::vec(1u64..4, 3),
        fortran in any::<bool>(),
        on_disk in any::<bool>(),
        steps in prop::collection::vec(step(), 1..12),
    ) {
        if on_disk {
            let folder = tempfile::tempdir().unwrap();
            run(Arc::new(FileStore::new(folder.path()).unwrap()), layout, &chunks, &factors, fortran, &steps);
        } else {
            run(Arc::new(MemoryStore::new()), layout, &chunks, &factors, fortran, &steps);
        }
    }
    #[test]
    fn every_sequence_of_changes_of_chunks_of_listed_lengths_equals_the_model(
        levels in 0usize..3,
        grid in grid(),
        inner in prop::collection::vec(1u64..3, 3),
        fortran in any::<bool>(),
        on_disk in any::<bool>(),
        steps in prop::collection::vec(step(), 1..12),
    ) {
        if on_disk {
            let folder = tempfile::tempdir().unwrap();
            run_listed(Arc::new(FileStore::new(folder.path()).unwrap()), levels, &grid, &inner, fortran, &steps);
        } else {
            run_listed(Arc::new(MemoryStore::new()), levels, &grid, &inner, fortran, &steps);
        }
    }
}
