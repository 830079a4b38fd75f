//! Moments as text: `2026-11-21T14:09:11.123456Z`. Such texts sort as the moments do.

/// Seconds and microseconds since 1970 as text.
pub fn text(seconds: u64, micros: u32) -> String {
    let (year, month, day) = date(seconds / 86_400);
    let rest = seconds % 86_400;
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

/// Year, month and day of a number of days since 1970 (the proleptic Gregorian calendar, counted from March, in eras
/// of 400 years).
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        assert_eq!(text(0, 0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(text(951_782_400, 5), "2000-02-29T00:00:00.000005Z");
        assert_eq!(text(1_795_270_151, 999_999), "2026-11-21T14:09:11.999999Z");
        assert_eq!(text(4_102_444_799, 0), "2099-12-31T23:59:59.000000Z");
        assert!(crate::clock::Clock::default().text().as_str() > "2025");
    }
}
