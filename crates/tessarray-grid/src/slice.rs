//! One axis of a selection before the length of the axis is known, as Python writes it.

use crate::error::GridError;
use crate::selection::AxisSelection;

/// `start:stop:step` of an axis; negative positions count from its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxisSlice {
    /// The first element; without it the first in the direction of the step.
    pub start: Option<i64>,
    /// The element at which it stops; without it all that are left.
    pub stop: Option<i64>,
    /// The distance between elements, not 0.
    pub step: i64,
}

impl AxisSlice {
    /// The whole axis.
    pub const ALL: Self = Self { start: None, stop: None, step: 1 };

    /// The elements from `start` up to, and without, `stop`.
    pub fn run(start: i64, stop: i64) -> Self {
        Self { start: Some(start), stop: Some(stop), step: 1 }
    }

    /// Refuses a slice that reaches beyond an axis. Python clips it, and so gives fewer elements: across arrays of several
    /// lengths that is fewer here than there, silently.
    ///
    /// # Errors
    /// [`GridError::Beyond`] names the end of the slice; [`GridError::Range`] a step of 0.
    pub fn check(&self, axis: usize, extent: u64) -> Result<(), GridError> {
        if self.step == 0 {
            return Err(GridError::Range { axis, start: 0, step: 0, len: extent, extent });
        }
        for (end, bound) in [("start", self.start), ("stop", self.stop)] {
            if let Some(bound) = bound.filter(|bound| bound.unsigned_abs() > extent) {
                return Err(GridError::Beyond { axis, end, bound, extent });
            }
        }
        Ok(())
    }

    /// The elements of an axis of this length.
    ///
    /// # Errors
    /// Those of [`check`](Self::check).
    pub fn of_axis(&self, axis: usize, extent: u64) -> Result<AxisSelection, GridError> {
        self.check(axis, extent)?;
        // After the check, every position lies from 0 to the length, which is one past the last element.
        let place = |bound: i64| {
            if bound < 0 { extent - bound.unsigned_abs() } else { bound.unsigned_abs() }
        };
        let step = self.step.unsigned_abs();
        let (start, reach) = if self.step > 0 {
            let (start, stop) = (self.start.map_or(0, place), self.stop.map_or(extent, place));
            (start, stop.saturating_sub(start))
        } else {
            // Walking down, positions count one more than their element, so that "before the first" is 0.
            let above = |bound: i64| (place(bound) + 1).min(extent);
            let (start, stop) =
                (self.start.map_or(extent, above), self.stop.map_or(0, |stop| place(stop) + 1));
            (start.saturating_sub(1), start.saturating_sub(stop))
        };
        match reach.div_ceil(step) {
            0 => Ok(AxisSelection::run(0, 0)),
            len => Ok(AxisSelection::Range { start, step: self.step, len }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements by the rules of Python's `slice.indices`, one after the other.
    fn python(slice: &AxisSlice, n: i64) -> Vec<u64> {
        let wrap = |bound: i64| if bound < 0 { bound + n } else { bound };
        let (low, high) = if slice.step > 0 { (0, n) } else { (-1, n - 1) };
        let (first, last) = if slice.step > 0 { (0, n) } else { (n - 1, -1) };
        let mut at = slice.start.map_or(first, |start| wrap(start).clamp(low, high));
        let stop = slice.stop.map_or(last, |stop| wrap(stop).clamp(low, high));
        let mut found = Vec::new();
        while if slice.step > 0 { at < stop } else { at > stop } {
            found.push(at as u64);
            at += slice.step;
        }
        found
    }

    #[test]
    fn slices_inside_an_axis_select_what_python_does_and_others_are_refused() {
        for n in 0..6i64 {
            let bounds: Vec<Option<i64>> = std::iter::once(None).chain((-n - 2..n + 3).map(Some)).collect();
            for &start in &bounds {
                for &stop in &bounds {
                    for step in [1, 2, 3, 7, -1, -2, -7] {
                        let slice = AxisSlice { start, stop, step };
                        let inside = [start, stop].into_iter().flatten().all(|bound| bound.abs() <= n);
                        match slice.of_axis(0, n as u64) {
                            Err(GridError::Beyond { .. }) => assert!(!inside, "{slice:?} of {n}"),
                            Err(error) => panic!("{slice:?} of {n}: {error}"),
                            Ok(selection) => {
                                assert!(inside, "{slice:?} of {n}");
                                selection.check(0, n as u64).unwrap();
                                let AxisSelection::Range { start, step, len } = selection else {
                                    unreachable!()
                                };
                                let found: Vec<u64> =
                                    (0..len as i64).map(|i| (start as i64 + i * step) as u64).collect();
                                assert_eq!(found, python(&slice, n), "{slice:?} of {n}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_refusal_names_the_end_the_axis_and_its_length() {
        let slice = AxisSlice { stop: Some(9), ..AxisSlice::ALL };
        let error = slice.check(2, 5).unwrap_err();
        assert_eq!(error.to_string(), "stop 9 reaches beyond axis 2 with size 5");
        assert!(AxisSlice { step: 0, ..AxisSlice::ALL }.of_axis(0, 5).is_err());
        assert!(AxisSlice { start: Some(i64::MIN), ..AxisSlice::ALL }.of_axis(0, 5).is_err());
    }
}
