//! How large a to-do looks: what was said about it, else a guess from its words.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::arguments::{
    kinds::{LONGEST_MINUTES, MOST_POINTS},
    misfit,
};

/// What a caller said about the size of a to-do.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    /// The size.
    pub(super) size: Option<Size>,
    /// Story points.
    pub(super) points: Option<i64>,
    /// Minutes if all goes well.
    pub(super) optimistic: Option<i64>,
    /// Minutes to expect.
    pub(super) likely: Option<i64>,
    /// Minutes if it goes badly.
    pub(super) pessimistic: Option<i64>,
}

/// A size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) enum Size {
    #[cfg_attr(test, schemars(rename = "XS"))]
    ExtraSmall,
    #[cfg_attr(test, schemars(rename = "S"))]
    Small,
    #[cfg_attr(test, schemars(rename = "M"))]
    Medium,
    #[cfg_attr(test, schemars(rename = "L"))]
    Large,
    #[cfg_attr(test, schemars(rename = "XL"))]
    ExtraLarge,
}

impl<'de> Deserialize<'de> for Size {
    /// Reads a size in any case.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let word = String::deserialize(from)?;
        Self::parse(&word).ok_or_else(|| misfit("one of XS, S, M, L, XL"))
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.word())
    }
}

/// The size and the estimates of a to-do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizing {
    pub(super) size: Size,
    pub(super) points: i64,
    pub(super) optimistic: i64,
    pub(super) likely: i64,
    pub(super) pessimistic: i64,
}

impl Size {
    const ALL: [(Self, &str, i64); 5] = [
        (Self::ExtraSmall, "XS", 1),
        (Self::Small, "S", 2),
        (Self::Medium, "M", 3),
        (Self::Large, "L", 5),
        (Self::ExtraLarge, "XL", 8),
    ];

    /// Reads a size.
    pub(super) fn parse(word: &str) -> Option<Self> {
        let known = Self::ALL
            .iter()
            .find(|(_, known, _)| known.eq_ignore_ascii_case(word.trim()));
        known.map(|(size, ..)| *size)
    }

    /// Returns its word.
    pub(super) const fn word(self) -> &'static str {
        self.row().1
    }

    const fn points(self) -> i64 {
        self.row().2
    }

    const fn row(self) -> (Self, &'static str, i64) {
        match self {
            Self::ExtraSmall => Self::ALL[0],
            Self::Small => Self::ALL[1],
            Self::Medium => Self::ALL[2],
            Self::Large => Self::ALL[3],
            Self::ExtraLarge => Self::ALL[4],
        }
    }

    /// Returns the largest size of no more than these points.
    fn of_points(points: i64) -> Self {
        let fits = Self::ALL.iter().rev().find(|(.., least)| *least <= points);
        fits.map_or(Self::ExtraSmall, |(size, ..)| *size)
    }

    fn of_score(score: usize) -> Self {
        match score {
            0 => Self::ExtraSmall,
            1..=2 => Self::Small,
            3..=4 => Self::Medium,
            5..=6 => Self::Large,
            _ => Self::ExtraLarge,
        }
    }
}

/// Words that make a to-do look larger, and by how much.
const WORDS: [(&str, usize); 9] = [
    ("refactor", 2),
    ("migration", 3),
    ("security", 3),
    ("integration", 2),
    ("test", 1),
    ("ui", 1),
    ("api", 1),
    ("fix", 1),
    ("urgent", 1),
];

/// Returns the size and estimates: what was said, else what the text says in so many words
/// (`T-Shirt Size: M`, `Story Points: 3`, `Time Estimate: 2 hours`), else a guess.
pub(super) fn size_up(title: &str, notes: &str, said: &Said) -> Sizing {
    let text = format!("{title}\n{notes}").to_ascii_lowercase();
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let size = said
        .size
        .or_else(|| after(&text, "t-shirt size:").and_then(|rest| Size::parse(word_of(rest))));
    let points = said.points.or_else(|| {
        let found = word_of(after(&text, "story points:")?).parse().ok()?;
        (1..=MOST_POINTS).contains(&found).then_some(found)
    });
    let size = size.or_else(|| points.map(Size::of_points));
    let size = size.unwrap_or_else(|| guess(&text, &words));
    let points = points.unwrap_or(size.points());
    let likely = said
        .likely
        .or_else(|| after(&text, "time estimate:").and_then(minutes))
        .unwrap_or_else(|| (points * 75 * percent(&words) / 100).max(30));
    Sizing {
        size,
        points,
        likely,
        optimistic: said.optimistic.unwrap_or((likely * 55 / 100).max(15)),
        pessimistic: said.pessimistic.unwrap_or((likely * 185 / 100).max(45)),
    }
}

fn guess(text: &str, words: &[&str]) -> Size {
    let named: usize = WORDS
        .iter()
        .filter(|(word, _)| mentions(words, word))
        .map(|(_, score)| score)
        .sum();
    Size::of_score(named + (text.len() / 90).min(3))
}

/// Returns how much longer such work takes than its points say.
fn percent(words: &[&str]) -> i64 {
    let any = |wanted: &[&str]| wanted.iter().any(|word| mentions(words, word));
    if any(&["migration", "security", "incident"]) {
        150
    } else if any(&["integration"]) {
        130
    } else if any(&["cleanup", "typo"]) {
        80
    } else {
        100
    }
}

/// Tells whether a word is among others; a longer one also with an ending, as in `tests`.
fn mentions(words: &[&str], wanted: &str) -> bool {
    let is = |word: &&str| *word == wanted || (wanted.len() > 3 && word.starts_with(wanted));
    words.iter().any(is)
}

/// Returns what stands after a marker, all of which end in a colon.
fn after<'a>(text: &'a str, marker: &str) -> Option<&'a str> {
    // Most texts have none, which is seen sooner than that a marker is not there.
    if !text.as_bytes().contains(&b':') {
        return None;
    }
    let at = text.find(marker)?.checked_add(marker.len())?;
    text.get(at..).map(str::trim_start)
}

fn word_of(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default()
}

/// Reads `90 minutes`, `1.5 hours` or `2 days` (of eight hours).
fn minutes(text: &str) -> Option<i64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at_checked(end)?;
    let unit = match word_of(unit.trim_start()) {
        "m" | "min" | "mins" | "minute" | "minutes" => 1,
        "h" | "hr" | "hrs" | "hour" | "hours" => 60,
        "d" | "day" | "days" => 8 * 60,
        _ => return None,
    };
    let (whole, tenths) = number.split_once('.').unwrap_or((number, "0"));
    let whole: i64 = whole.parse().ok()?;
    let tenths: i64 = tenths.get(..1)?.parse().ok()?;
    let found = whole.checked_mul(unit)?.checked_add(tenths * unit / 10)?;
    (1..=LONGEST_MINUTES).contains(&found).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized(title: &str, notes: &str) -> (&'static str, i64, i64, i64, i64) {
        let found = size_up(title, notes, &Said::default());
        let (low, high) = (found.optimistic, found.pessimistic);
        (found.size.word(), found.points, low, found.likely, high)
    }

    #[test]
    fn words_and_markers_decide_the_size() {
        for (title, notes, expected) in [
            ("buy milk", "", ("XS", 1, 41, 75, 138)),
            ("build the fruit bowl", "", ("XS", 1, 41, 75, 138)),
            ("fix the API tests", "", ("M", 3, 123, 225, 416)),
            ("security migration", "", ("L", 5, 309, 562, 1039)),
            ("typo", "", ("XS", 1, 33, 60, 111)),
            ("a", "T-Shirt Size: xl", ("XL", 8, 330, 600, 1110)),
            ("a", "Story Points: 4 | more", ("M", 4, 165, 300, 555)),
            ("a", "time estimate: 1.5 hours", ("XS", 1, 49, 90, 166)),
            ("a", "Time Estimate: 10 min", ("XS", 1, 15, 10, 45)),
            (
                "a",
                "Story Points: 99999999999999999999",
                ("XS", 1, 41, 75, 138),
            ),
            (
                "a",
                "Time Estimate: 9223372036854775807 days",
                ("XS", 1, 41, 75, 138),
            ),
            ("a", "Time Estimate: .é", ("XS", 1, 41, 75, 138)),
            ("a", "T-Shirt Size:", ("XS", 1, 41, 75, 138)),
        ] {
            assert_eq!(sized(title, notes), expected, "{title} / {notes}");
        }
    }

    #[test]
    fn what_was_said_wins() {
        let said = Said {
            size: Size::parse(" l "),
            points: Some(7),
            likely: Some(20),
            ..Said::default()
        };
        let found = size_up(
            "a",
            "Story Points: 1 T-Shirt Size: S Time Estimate: 2 days",
            &said,
        );
        let expected = Sizing {
            size: Size::Large,
            points: 7,
            optimistic: 15,
            likely: 20,
            pessimistic: 45,
        };
        assert_eq!(found, expected);
    }
}
