//! Perl patterns (`grep -P`), through fancy-regex: look-around, lazy repeats, atomic groups, `\K`.

use fancy_regex::{BytesMode, RegexBuilder};

use super::Flags;
use super::error::{MatchError, RegexError};

/// The most backtracking of one search.
const MAX_STEPS: usize = 200_000;
/// The largest pattern; what fancy-regex makes of one is a multiple of it.
const MAX_PATTERN: usize = 64 << 10;

/// Makes fancy-regex take every step of a pattern itself instead of handing it on.
const BY_STEPS: &str = "(?=)";

/// A compiled Perl pattern.
pub(super) struct Perl {
    regex: fancy_regex::Regex,
    /// The same for text that is no ASCII, where bytes are letters. What fancy-regex hands a pattern on
    /// to is told there that text is UTF-8, and panics where an empty match would split a letter.
    bytes: Option<fancy_regex::Regex>,
}

impl Perl {
    /// Compiles a pattern.
    pub(super) fn new(pattern: &[u8], flags: Flags) -> Result<Self, RegexError> {
        if pattern.len() > MAX_PATTERN {
            return Err(RegexError::TooBig);
        }
        let pattern = std::str::from_utf8(pattern)
            .map_err(|_| RegexError::Perl("the pattern is not valid UTF-8".to_owned()))?;
        let regex = build(pattern, flags)?;
        let bytes = match flags.utf8 {
            true => None,
            false => Some(build(&format!("{BY_STEPS}{pattern}"), flags)?),
        };
        Ok(Self { regex, bytes })
    }

    fn regex(&self, text: &[u8]) -> &fancy_regex::Regex {
        let bytes = self.bytes.as_ref().filter(|_| !text.is_ascii());
        bytes.unwrap_or(&self.regex)
    }

    /// Returns how many groups there are.
    pub(super) fn groups(&self) -> usize {
        self.regex.captures_len().saturating_sub(1)
    }

    /// Finds the leftmost match by preference.
    pub(super) fn find(
        &self,
        text: &[u8],
        start: usize,
    ) -> Result<Option<(usize, usize)>, MatchError> {
        match self.regex(text).find_from_pos(text, start) {
            Ok(found) => Ok(found.map(|found| (found.start(), found.end()))),
            Err(_) => Err(MatchError),
        }
    }

    /// Finds a match and its groups.
    pub(super) fn captures(
        &self,
        text: &[u8],
        start: usize,
        groups: &mut Vec<Option<(usize, usize)>>,
    ) -> Result<bool, MatchError> {
        groups.clear();
        let Some(found) = self
            .regex(text)
            .captures_from_pos(text, start)
            .map_err(|_| MatchError)?
        else {
            return Ok(false);
        };
        groups.extend(
            (0..self.regex.captures_len())
                .map(|i| found.get(i).map(|group| (group.start(), group.end()))),
        );
        Ok(true)
    }
}

fn build(pattern: &str, flags: Flags) -> Result<fancy_regex::Regex, RegexError> {
    let mode = match flags.utf8 {
        true => BytesMode::Unicode,
        false => BytesMode::Ascii,
    };
    RegexBuilder::new(pattern)
        .case_insensitive(flags.ignore_case)
        .multi_line(flags.newline)
        .bytes_mode(mode)
        // A step costs in proportion to the pattern, too.
        .backtrack_limit(MAX_STEPS / (1 + pattern.len() / 64))
        .delegate_size_limit(4 << 20)
        .build()
        .map_err(|error| RegexError::Perl(message(&error.to_string())))
}

/// Says what is wrong in PCRE's words, where the cause is a common one.
fn message(text: &str) -> String {
    let known = [
        ("Opening parenthesis without", "missing closing parenthesis"),
        (
            "Target of repeat",
            "quantifier does not follow a repeatable item",
        ),
        ("Backslash without", "\\ at end of pattern"),
        (
            "Invalid character class",
            "missing terminating ] for character class",
        ),
        (
            "Invalid back reference",
            "reference to non-existent subpattern",
        ),
        (
            "not constant size",
            "lookbehind assertion is not fixed length",
        ),
    ];
    let found = known.iter().find(|(part, _)| text.contains(part));
    found.map_or_else(|| text.to_owned(), |(_, pcre)| (*pcre).to_owned())
}
