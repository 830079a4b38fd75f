//! Parts as this crate reads them, and as a general reader of Parquet does.

use super::part::{Part, Parts};
use super::row::{Entry, GONE, Row, Value};
use super::write;
use crate::id::Id;
use bytes::Bytes;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, RowAccessor};
use proptest::prelude::*;
use std::sync::Arc;
use tessarray_store::{MemoryStore, PutMode, Store};

/// What a row is made of: name, document or value, its length, numbers of chunks, and marks.
type Seed = (u8, u8, usize, Vec<(u16, u32)>, bool);

fn row(number: usize, (name, kind, length, chunks, gone): Seed) -> Row {
    let mut row = Row::value(format!("float/{:04}/v{}", number / 3, number % 3).into(), "".into());
    row.stamp = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1;
    row.gone = gone;
    if name == 0 {
        let mut at = 0;
        for (step, crc) in chunks {
            at += u64::from(step) + 1;
            let segment = if crc % 7 == 0 { GONE } else { (crc % 3) as i32 };
            let entry = Entry { segment, offset: u64::from(crc) << 20, length: u64::from(step), crc };
            row.entries.push((at, entry));
        }
        row.grid = (kind > 0).then(|| format!("2:{kind};1").into());
        return row;
    }
    row.name = ["zarr.json", "statistics.json", "x"][name as usize % 3].into();
    row.id = (kind % 3 == 0).then_some(row.stamp >> 1);
    let attributes = "é".repeat(length);
    let document = format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":[{},{kind}],"attributes":{{"a":"{attributes}"}}}}"#,
        number % 5
    );
    row.value = match kind {
        0 => None,
        1..=9 => Some(Value::of("zarr.json", document.as_bytes())),
        _ => Some(Value::Bytes(Bytes::from(vec![kind; length]))),
    };
    row
}

fn read(bytes: &[u8], file: &crate::log::PartFile) -> crate::error::Result<Arc<Part>> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    store.put(&file.key()?, &[bytes], PutMode::Overwrite)?;
    Parts::new(store).get(file)
}

fn check(seeds: Vec<Seed>) {
    let rows: Vec<Row> = seeds.into_iter().enumerate().map(|(number, seed)| row(number, seed)).collect();
    let segments: Vec<Id> = (0..3).map(|_| Id::random().unwrap()).collect();
    let (bytes, file) = write(&rows, &segments, 0).unwrap();
    let part = read(&bytes, &file).unwrap();
    assert_eq!(part.rows().unwrap(), rows);
    assert_eq!(part.segments(), segments);

    let general = SerializedFileReader::new(Bytes::from(bytes)).unwrap();
    let mut seen = 0;
    for (ours, theirs) in rows.iter().zip(general.get_row_iter(None).unwrap()) {
        let theirs = theirs.unwrap();
        assert_eq!(theirs.get_string(0).unwrap().as_str(), &*ours.node);
        assert_eq!(theirs.get_string(1).unwrap().as_str(), &*ours.name);
        assert_eq!(theirs.get_long(18).unwrap(), ours.stamp as i64);
        let longs = |column| -> Vec<i64> {
            let list = theirs.get_list(column).unwrap().elements().to_vec();
            list.into_iter()
                .map(|field| match field {
                    Field::Long(number) => number,
                    Field::Int(number) => i64::from(number),
                    other => panic!("{other:?}"),
                })
                .collect()
        };
        let entries: Vec<(u64, Entry)> = (0..longs(10).len())
            .map(|i| {
                let entry = Entry {
                    segment: longs(11)[i] as i32,
                    offset: longs(12)[i] as u64,
                    length: longs(13)[i] as u64,
                    crc: longs(14)[i] as u32,
                };
                (longs(10)[i] as u64, entry)
            })
            .collect();
        assert_eq!(entries, ours.entries);
        if let Some(Value::Bytes(value)) = &ours.value {
            assert_eq!(theirs.get_bytes(8).unwrap().data(), &value[..]);
        }
        seen += 1;
    }
    assert_eq!(seen, rows.len());

    // Values are found one after the other, far apart, and where there is none.
    for (number, row) in rows.iter().enumerate().filter(|(_, row)| !row.name.is_empty()) {
        let (group, at) = part.value(&row.node, &row.name).unwrap().unwrap();
        assert_eq!(part.group(group).unwrap().row(at).unwrap(), *row, "{number}");
        let far = &rows[number * 7919 % rows.len()];
        let found = part.value(&far.node, "zarr.json").unwrap();
        assert_eq!(found.is_some(), &*far.name == "zarr.json");
        assert!(part.value(&row.node, "y").unwrap().is_none());
    }
}

fn seeds(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Seed>> {
    let chunks = prop::collection::vec(any::<(u16, u32)>(), 0..6);
    prop::collection::vec((0u8..4, 0u8..20, 0usize..40, chunks, any::<bool>()), count)
}

proptest! {
    #[test]
    fn a_part_is_what_a_general_reader_says(seeds in seeds(1..100)) {
        check(seeds);
    }
}

#[test]
fn a_part_of_several_groups_is_what_a_general_reader_says() {
    let seed = |i: usize| {
        let chunks = (0..i % 5).map(|c| ((i * c) as u16, (i * 31 + c) as u32)).collect();
        ((i % 4) as u8, (i % 17) as u8, i % 23, chunks, i.is_multiple_of(11))
    };
    check((0..9000).map(seed).collect());
}

#[test]
fn values_that_fill_a_dictionary_are_read_behind_it_too() {
    // A dictionary has a mebibyte; these are four, and all differ.
    let rows: Vec<Row> = (0..300)
        .map(|i| {
            let mut row = row(i, (1, 15, 0, Vec::new(), false));
            row.value = Some(Value::Bytes((0..14_000).map(|at| (at * i / 7) as u8).collect()));
            row
        })
        .collect();
    let (bytes, file) = write(&rows, &[], 0).unwrap();
    assert_eq!(read(&bytes, &file).unwrap().rows().unwrap(), rows);
}
