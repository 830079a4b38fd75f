//! Moments as text: `2026-11-21T14:09:11.123456Z`. Such texts sort as the moments do.

/// Seconds and microseconds since 1970 as text.
pub fn text(seconds: u64, micros: u32) -> String {
    let (year, month, day) = date(seconds / 86_400);
    let rest = seconds % 86_400;
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

/// Whether a text is such a moment, of the years 1 to 9999.
pub fn is_moment(moment: &str) -> bool {
    let form = b"0000-00-00T00:00:00.000000Z";
    let fits = |(found, form): (u8, &u8)| {
        if form.is_ascii_digit() { found.is_ascii_digit() } else { found == *form }
    };
    if moment.len() != form.len() || !moment.bytes().zip(form).all(fits) {
        return false;
    }
    let number = |from: usize, to: usize| moment[from..to].parse::<u64>().unwrap_or(u64::MAX);
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 31,
    };
    let date = year >= 1 && (1..=12).contains(&month) && (1..=days).contains(&day);
    date && number(11, 13) < 24 && number(14, 16) < 60 && number(17, 19) < 60
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
        assert!([0, 951_782_400, 4_102_444_799].iter().all(|seconds| is_moment(&text(*seconds, 1))));
        assert!(crate::clock::Clock::default().text().as_str() > "2025");
    }

    #[test]
    fn other_texts_are_no_moments() {
        let right = "2000-02-29T23:59:59.999999Z";
        assert!(is_moment(right));
        for (at, _) in right.char_indices() {
            for other in ["x", " ", "-", "\u{e9}"] {
                let mut text = right.to_string();
                text.replace_range(at..=at, other);
                assert!(!is_moment(&text) || text == right, "{text}");
            }
            assert!(!is_moment(&right[..at]));
        }
        for text in [
            "2001-02-29T00:00:00.000000Z",
            "0000-01-01T00:00:00.000000Z",
            "2001-13-01T00:00:00.000000Z",
            "2001-00-01T00:00:00.000000Z",
            "2001-04-31T00:00:00.000000Z",
            "2001-01-01T24:00:00.000000Z",
            "2001-01-01T00:60:00.000000Z",
            "2001-01-01T00:00:60.000000Z",
            "2001-01-01T00:00:00.000000ZZ",
            "",
        ] {
            assert!(!is_moment(text), "{text}");
        }
    }
}
