//! Glob patterns over slugs: `?`, `*` and `[…]` inside one level, `**` across levels.
//!
//! The language is that of the `glob` crate with `require_literal_separator`, and a test compares
//! the two. The matcher is our own because that crate's backtracks without bound: a pattern such as
//! `*a*a*a*a*b/c` from a hostile workspace could hang the host, and one with many stars overflow a
//! small stack. This one never takes more than pattern length times slug length steps.

/// A parsed glob.
#[derive(Debug)]
pub(crate) struct Pattern {
    levels: Vec<Level>,
}

#[derive(Debug, PartialEq)]
enum Level {
    /// `**`: any number of levels, at least one when last.
    Any,
    One(Vec<Token>),
}

#[derive(Debug, PartialEq)]
enum Token {
    Literal(char),
    AnyOne,
    AnyRun,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

/// The text is not a glob.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MalformedPattern;

impl Pattern {
    /// Parses a glob.
    pub(crate) fn parse(text: &str) -> Result<Self, MalformedPattern> {
        let chars: Vec<char> = text.chars().collect();
        let mut rest = chars.as_slice();
        let mut levels = Vec::new();
        let mut level = Vec::new();
        loop {
            match rest {
                [] => break,
                ['*', '*', tail @ ..] => {
                    // `**` must be a whole level: `a**` and `***` have no agreed meaning.
                    if !level.is_empty() || !matches!(tail, [] | ['/', ..]) {
                        return Err(MalformedPattern);
                    }
                    if levels.last() != Some(&Level::Any) {
                        levels.push(Level::Any);
                    }
                    rest = tail.strip_prefix(&['/']).unwrap_or(tail);
                    if rest.is_empty() {
                        return Ok(Self { levels });
                    }
                }
                ['/', tail @ ..] => {
                    levels.push(Level::One(std::mem::take(&mut level)));
                    rest = tail;
                }
                ['[', tail @ ..] => {
                    let (class, tail) = parse_class(tail)?;
                    level.push(class);
                    rest = tail;
                }
                [c, tail @ ..] => {
                    level.push(match c {
                        '?' => Token::AnyOne,
                        '*' => Token::AnyRun,
                        c => Token::Literal(*c),
                    });
                    rest = tail;
                }
            }
        }
        levels.push(Level::One(level));
        Ok(Self { levels })
    }

    /// Returns whether the whole slug matches.
    pub(crate) fn matches(&self, slug: &str) -> bool {
        let names: Vec<&str> = slug.split('/').collect();
        let last_is_any = self.levels.last() == Some(&Level::Any);
        wildcard(
            &self.levels,
            &names,
            |level| matches!(level, Level::Any),
            |level, name| matches!(level, Level::One(tokens) if level_matches(tokens, name)),
            usize::from(last_is_any),
        )
    }
}

fn level_matches(tokens: &[Token], name: &str) -> bool {
    let chars: Vec<char> = name.chars().collect();
    wildcard(
        tokens,
        &chars,
        |token| matches!(token, Token::AnyRun),
        |token, c| match token {
            Token::Literal(literal) => literal == c,
            Token::AnyOne => true,
            Token::AnyRun => false,
            Token::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| low <= c && c <= high) != *negated
            }
        },
        0,
    )
}

/// Matches a sequence with wildcards, going back to the last wildcard only, which suffices because
/// an earlier one could not do better. A wildcard at the very end takes `at_least_last` items.
fn wildcard<P, T>(
    pattern: &[P],
    text: &[T],
    is_wild: impl Fn(&P) -> bool,
    matches_one: impl Fn(&P, &T) -> bool,
    at_least_last: usize,
) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(p), text.get(t)) {
            (Some(wild), _) if is_wild(wild) => {
                if p + 1 == pattern.len() {
                    return text.len() - t >= at_least_last;
                }
                p += 1;
                retry = Some((p, t));
                continue;
            }
            (Some(one), Some(item)) if matches_one(one, item) => {
                p += 1;
                t += 1;
                continue;
            }
            (None, None) => return true,
            _ => {}
        }
        // `retry` holds where the last wildcard stopped taking items; let it take one more.
        match retry {
            Some((after, taken)) if taken < text.len() => {
                retry = Some((after, taken + 1));
                (p, t) = (after, taken + 1);
            }
            _ => return false,
        }
    }
}

/// Parses what follows `[` up to its `]`. A `]` right after the opening is an ordinary character.
fn parse_class(chars: &[char]) -> Result<(Token, &[char]), MalformedPattern> {
    let (negated, body) = match chars {
        ['!', body @ ..] => (true, body),
        body => (false, body),
    };
    let end = body
        .iter()
        .skip(1)
        .position(|c| *c == ']')
        .ok_or(MalformedPattern)?
        + 1;
    let (mut inside, tail) = (
        body.get(..end).ok_or(MalformedPattern)?,
        body.get(end + 1..).ok_or(MalformedPattern)?,
    );
    let mut ranges = Vec::new();
    loop {
        inside = match inside {
            [low, '-', high, more @ ..] => {
                ranges.push((*low, *high));
                more
            }
            [one, more @ ..] => {
                ranges.push((*one, *one));
                more
            }
            [] => break,
        };
    }
    Ok((Token::Class { negated, ranges }, tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: glob::MatchOptions = glob::MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: false,
    };

    fn matches(pattern: &str, slug: &str) -> Option<bool> {
        Pattern::parse(pattern)
            .ok()
            .map(|pattern| pattern.matches(slug))
    }

    #[test]
    fn patterns_mean_what_the_specification_says() {
        for (pattern, slug, expected) in [
            ("*", "a", Some(true)),
            ("*", "a/b", Some(false)),
            ("**", "a", Some(true)),
            ("**", "a/b/c", Some(true)),
            ("m/**", "m/x/j", Some(true)),
            ("m/**", "m", Some(false)),
            ("**/j*", "jean", Some(true)),
            ("m/j*", "m/jean", Some(true)),
            ("[x", "[x", None),
            ("a**", "a**", None),
            ("./a", "a", Some(false)),
            ("é?", "éü", Some(true)),
        ] {
            assert_eq!(matches(pattern, slug), expected, "{pattern} on {slug}");
        }
    }

    #[test]
    fn patterns_agree_with_the_glob_crate() {
        // A small generator with a fixed seed: the same cases every time, and far more than by hand.
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut pick = |letters: &[char], most: u64| -> String {
            let mut next = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state >> 11
            };
            let length = next() % (most + 1);
            (0..length)
                .map(|_| letters[usize::try_from(next() % letters.len() as u64).unwrap()])
                .collect()
        };
        let mut both_match = 0;
        for _ in 0..400_000 {
            let pattern = pick(&['a', 'b', '/', '*', '*', '?', '[', ']', '!', '-'], 9);
            let slug = pick(&['a', 'b', '/', '-', ']'], 7);
            // A slug is never empty and has no empty level.
            if slug.is_empty() || slug.split('/').any(str::is_empty) {
                continue;
            }
            let theirs = glob::Pattern::new(&pattern)
                .ok()
                .map(|p| p.matches_with(&slug, OPTIONS));
            assert_eq!(matches(&pattern, &slug), theirs, "{pattern:?} on {slug:?}");
            both_match += u32::from(theirs == Some(true));
        }
        assert!(
            both_match > 1000,
            "the generator found only {both_match} matches"
        );
    }

    #[test]
    fn patterns_that_make_others_backtrack_for_ever_are_quick() {
        let slug = format!("{}/c", "a".repeat(4000));
        assert_eq!(
            matches(&format!("{}b/c", "*a".repeat(100)), &slug),
            Some(false)
        );
        let deep = "a/".repeat(2000) + "z";
        assert_eq!(
            matches(&format!("{}b", "**/a/".repeat(100)), &deep),
            Some(false)
        );
        assert_eq!(matches(&"?*".repeat(100_000), "aaaa"), Some(false));
    }
}
