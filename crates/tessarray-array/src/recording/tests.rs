use super::{Access, Op};
use crate::{Array, ArraySpec, Session};
use serde_json::{Value, json};
use std::sync::Arc;
use tessarray_buffer::DataType;
use tessarray_grid::{AxisSelection, Selection};
use tessarray_store::MemoryStore;

fn line(selection: &Selection, drops: &[usize]) -> Value {
    let spec = ArraySpec::new(&[10, 20], DataType::Int16);
    let array = Array::create(&Session::new(), Arc::new(MemoryStore::new()), "a", &spec, false).unwrap();
    let shape = array.shape();
    let access = Access {
        op: Op::Read,
        array: &array,
        path: array.path(),
        shape: &shape,
        arrays: 1,
        selection,
        drops,
        time: None,
    };
    serde_json::from_str(&access.line()).unwrap()
}

#[test]
fn a_box_is_recorded_with_its_steps_always_upwards() {
    let down = AxisSelection::Range { start: 9, step: -3, len: 3 };
    let found = line(&Selection::Axes(vec![AxisSelection::run(4, 1), down]), &[0]);
    assert_eq!(found["box"], json!([[4, 5, 1], [3, 10, 3]]));
    assert_eq!(found["drops"], json!([0]));
    assert_eq!((&found["elements"], &found["bytes"]), (&json!(3), &json!(6)));
    assert!(found.get("counts").is_none() && found.get("points").is_none());
}

#[test]
fn lists_and_points_are_recorded_as_boxes_around_them_with_their_numbers() {
    let found =
        line(&Selection::Axes(vec![AxisSelection::List(vec![7, 2, 2]), AxisSelection::run(0, 20)]), &[]);
    assert_eq!(found["box"], json!([[2, 8, 1], [0, 20, 1]]));
    assert_eq!(found["counts"], json!([3, 20]));
    let found = line(&Selection::Points(vec![vec![1, 5], vec![9, 8]]), &[]);
    assert_eq!((&found["box"], &found["points"]), (&json!([[1, 6, 1], [8, 10, 1]]), &json!(2)));
}

#[test]
fn nothing_is_an_empty_box() {
    let found = line(&Selection::Axes(vec![AxisSelection::run(0, 0), AxisSelection::List(vec![])]), &[]);
    assert_eq!((&found["box"], &found["elements"]), (&json!([[0, 0, 1], [0, 0, 1]]), &json!(0)));
}
