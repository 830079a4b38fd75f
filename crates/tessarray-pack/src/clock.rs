//! The clock of a pack: by it files are named, versions are dated, and what is there is old.

use crate::error::Result;
use crate::id::Id;
use crate::time;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A clock: the system's, or one that differs from it by a fixed time, as those of two machines may.
///
/// No promise of a pack rests on clocks: they decide how soon `expire` removes what is not needed, and nothing else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Clock {
    ahead: i64,
}

impl Clock {
    /// A clock that is so many milliseconds ahead of the system's; behind it where the number is negative.
    pub fn ahead(millis: i64) -> Self {
        Self { ahead: millis }
    }

    /// The time since 1970; zero before.
    fn since(self) -> Duration {
        let system = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let by = Duration::from_millis(self.ahead.unsigned_abs());
        if self.ahead < 0 { system.saturating_sub(by) } else { system.saturating_add(by) }
    }

    /// Milliseconds since 1970.
    pub(crate) fn millis(self) -> u64 {
        u64::try_from(self.since().as_millis()).unwrap_or(u64::MAX)
    }

    /// The moment as a text, in UTC, to the microsecond.
    pub(crate) fn text(self) -> String {
        let since = self.since();
        time::text(since.as_secs(), since.subsec_micros())
    }

    /// A name that no other writer picks.
    pub(crate) fn id(self) -> Result<Id> {
        Id::random_at(self.millis())
    }
}

impl Id {
    /// A new one, from the system's clock and its source of randomness.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn random() -> Result<Self> {
        Clock::default().id()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_differ_by_what_they_are_told() {
        const HOUR: i64 = 3_600_000;
        let now = Clock::default().millis();
        for hours in [-30, 0, 30] {
            let clock = Clock::ahead(hours * HOUR);
            let found = clock.millis().cast_signed() - now.cast_signed();
            assert!((0..60_000).contains(&(found - hours * HOUR)), "{hours} h: {found} ms");
            assert!(clock.id().unwrap().millis() >= clock.millis() - 60_000);
        }
        assert!(Clock::ahead(-HOUR).text() < Clock::default().text());
        assert_eq!(Clock::ahead(i64::MIN).millis(), 0);
    }
}
