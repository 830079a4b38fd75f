//! The main job: create an array on disk, write it, slice it, append to it.
//!
//! ```text
//! cargo run -p tessarray --example slice [-- FOLDER]
//! ```

use std::path::PathBuf;
use std::sync::Arc;
use tessarray::{
    Arena, Array, ArraySpec, AxisSelection, ChunkChoice, DataType, FileStore, InputView, Result, Selection,
    Session, ShardChoice,
};

/// Hours, latitudes, longitudes.
const SHAPE: [u64; 3] = [48, 90, 180];

fn main() -> Result<()> {
    let given = std::env::args().nth(1).map(PathBuf::from);
    let folder = given
        .clone()
        .unwrap_or_else(|| std::env::temp_dir().join(format!("tessarray-slice-{}.zarr", std::process::id())));
    let result = run(&folder);
    if given.is_none() {
        let _ = std::fs::remove_dir_all(&folder);
    }
    result
}

fn run(folder: &std::path::Path) -> Result<()> {
    let session = Session::new();
    let store = Arc::new(FileStore::new(folder)?);

    // Inner chunks are what is read on its own, shards what is stored as one file.
    let mut spec = ArraySpec::new(&SHAPE, DataType::Float32);
    spec.chunks = ChunkChoice::Shape(vec![12, 30, 30]);
    spec.shards = ShardChoice::Shape(vec![24, 90, 180]);
    spec.fill_value = Some("NaN".into());
    spec.dimension_names = Some(["time", "lat", "lon"].map(|name| Some(name.to_owned())).into());
    let array = Array::create(&session, store, "temperature", &spec, true)?;

    let values = temperatures(0, SHAPE[0]);
    array.write_bytes(&Selection::all(&SHAPE), &bytes(&values))?;
    println!("wrote {} values to {}", values.len(), folder.display());
    println!(
        "stored: {} objects, {} of {} bytes",
        array.stored_objects()?,
        array.stored_bytes()?,
        values.len() * 4
    );

    // A map at one hour, a series at one place, a box with a step: each reads only the inner chunks it touches.
    let map = floats(&array.read_bytes(&Selection::region(&[5, 0, 0], &[1, 90, 180]))?);
    println!("map at hour 5: mean {:.2}", mean(&map));
    let series = floats(&array.read_bytes(&Selection::region(&[0, 45, 90], &[48, 1, 1]))?);
    println!("series at (45, 90): {:.2} ... {:.2}", series[0], series[47]);
    let coarse = Selection::Axes(vec![
        AxisSelection::run(0, 24),
        AxisSelection::Range { start: 89, step: -10, len: 9 },
        AxisSelection::List(vec![3, 1, 4, 1, 5]),
    ]);
    let coarse = floats(&array.read_bytes(&coarse)?);
    println!("every tenth latitude from the south, five longitudes: {} values", coarse.len());

    // An append is atomic: readers see all of the new hours, or none.
    let more = bytes(&temperatures(SHAPE[0], 12));
    let start = array.append(0, &InputView::new(&more, &[12, 90, 180], 4)?, &Arena::new())?;
    println!("appended 12 hours from {start}; the shape is {:?}", array.shape());
    let last = floats(&array.read_bytes(&Selection::region(&[59, 45, 90], &[1, 1, 1]))?);
    println!("last hour at (45, 90): {:.2}", last[0]);
    Ok(())
}

/// A warm belt that wanders with the hours.
fn temperatures(first: u64, hours: u64) -> Vec<f32> {
    let mut out = Vec::new();
    for hour in first..first + hours {
        for lat in 0..SHAPE[1] {
            for lon in 0..SHAPE[2] {
                let belt = 1.0 - (lat as f32 - 45.0).abs() / 45.0;
                let day = (std::f32::consts::TAU * (hour as f32 / 24.0 + lon as f32 / 180.0)).sin();
                out.push(((250.0 + 50.0 * belt + 5.0 * day) * 10.0).round() / 10.0);
            }
        }
    }
    out
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|value| f32::from_ne_bytes(*value)).collect()
}

fn mean(values: &[f32]) -> f32 {
    values.iter().sum::<f32>() / values.len() as f32
}
