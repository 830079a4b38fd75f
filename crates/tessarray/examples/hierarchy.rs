//! Groups, attributes, and consolidated metadata: a hierarchy that a far reader opens with one request.
//!
//! ```text
//! cargo run -p tessarray --example hierarchy
//! ```

use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use tessarray::adapters::{Kind, RecordStore, ThrottleStore, Throttling};
use tessarray::{ArraySpec, DataType, Format, Group, Member, MemoryStore, Result, Selection, Session};

fn main() -> Result<()> {
    let session = Session::new();
    let store = Arc::new(MemoryStore::new());

    let root =
        Group::create(&session, store.clone(), "", Format::V3, members(json!({"title": "a survey"})), false)?;
    for (path, unit) in [("sky/flux", "Jy"), ("sky/error", "Jy"), ("weather/wind", "m s-1")] {
        let mut spec = ArraySpec::new(&[100, 100], DataType::Float64);
        spec.attributes = members(json!({"units": unit}));
        spec.dimension_names = Some(vec![Some("y".into()), Some("x".into())]);
        root.create_array(path, &spec, false)?;
    }
    let wind = root.get("weather/wind")?;
    if let Some(Member::Array(wind)) = &wind {
        wind.write_bytes(&Selection::region(&[3, 4], &[1, 1]), &7.5f64.to_ne_bytes())?;
    }
    print_tree(&root)?;

    // One document for all of them, written after the last change.
    root.consolidate()?;

    // A reader for whom each look is a round trip.
    let how = Throttling { first_byte: Duration::from_millis(1), ..Throttling::default() };
    let far = Arc::new(RecordStore::new(Arc::new(ThrottleStore::new(store, how))));
    let seen = Group::open(&session, far.clone(), "")?;
    let members = seen.tree()?;
    let requests = far.snapshot().of(Kind::Read).calls;
    println!("from afar: {} members with {requests} request", members.len());

    root.delete("sky/error")?;
    root.consolidate()?;
    seen.refresh()?;
    println!("after a deletion: {} members", seen.tree()?.len());
    Ok(())
}

fn print_tree(root: &Group) -> Result<()> {
    println!("/ {}", Value::Object(root.metadata().attributes.clone()));
    for (path, member) in root.tree()? {
        let name = path.rsplit('/').next().unwrap_or(&path);
        let indent = "  ".repeat(path.split('/').count());
        match member {
            Member::Group(_) => println!("{indent}{name}/"),
            Member::Array(array) => {
                let units = array.metadata().attributes["units"].clone();
                println!("{indent}{name}: {:?} of {} in {units}", array.shape(), array.data_type());
            }
        }
    }
    Ok(())
}

/// The members of a JSON object.
fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
