//! How fast layers are stored, and so how fast rows may come once there is no memory but that of the last layer.
//!
//! Whoever fills the last layer has to wait for the one that is being stored. Instead of once, for all of that time, when
//! the last layer is full, each of its rows waits for its share: a source that cannot stop, such as a camera, needs a
//! buffer for the longest call, not for the mean.

use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub(super) struct Pace {
    /// When the layer that is being stored was begun, and its rows.
    begun: Option<(Instant, u64)>,
    /// What a row of the layer before took.
    row: Option<Duration>,
}

impl Pace {
    pub(super) fn begin(&mut self, rows: u64) {
        self.begun = Some((Instant::now(), rows));
    }

    pub(super) fn end(&mut self, stored: bool) {
        if let Some((begun, rows)) = self.begun.take().filter(|_| stored) {
            self.row = Some(begun.elapsed() / clipped(rows));
        }
    }

    /// How long to wait before the next `rows` of a layer with room for `left`, for it to be full no sooner than the one
    /// that is being stored is likely to be done.
    pub(super) fn share(&self, rows: u64, left: u64) -> Duration {
        let (Some((begun, storing)), Some(row)) = (self.begun, self.row) else { return Duration::ZERO };
        let ahead = row.saturating_mul(clipped(storing)).saturating_sub(begun.elapsed());
        ahead.mul_f64(rows.min(left) as f64 / left.max(1) as f64)
    }
}

fn clipped(rows: u64) -> u32 {
    u32::try_from(rows.max(1)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_the_last_layer_share_the_wait() {
        let now = Instant::now();
        let row = Some(Duration::from_secs(100));
        let pace = Pace { begun: Some((now, 4)), row };
        let (one, all) = (pace.share(1, 4).as_secs_f64(), pace.share(9, 4).as_secs_f64());
        assert!((90.0..=100.0).contains(&one), "a quarter of what is ahead: {one}");
        assert!((390.0..=400.0).contains(&all), "all of it: {all}");
    }

    #[test]
    fn nobody_waits_where_nothing_is_known_or_storing_takes_longer_than_before() {
        let mut pace = Pace::default();
        assert_eq!(pace.share(1, 4), Duration::ZERO);
        pace.begin(4);
        assert_eq!(pace.share(1, 4), Duration::ZERO);
        pace.end(false);
        assert_eq!(pace.row, None, "what failed says nothing");
        pace.begin(4);
        pace.end(true);
        assert!(pace.row.is_some());
        assert_eq!(pace.share(1, 4), Duration::ZERO, "nothing is being stored");
        pace.row = Some(Duration::ZERO);
        pace.begin(4);
        assert_eq!(pace.share(1, 4), Duration::ZERO, "it is late already");
    }
}
