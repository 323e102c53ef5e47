//! Shell patterns as `fnmatch` reads them, for `find -name` and `ls --ignore`; linear but for one `*` at a time.

/// How a pattern is matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Glob {
    pub(crate) utf8: bool,
    pub(crate) fold_case: bool,
    /// A period at the start is matched only by a period (`FNM_PERIOD`).
    pub(crate) period: bool,
}

impl Glob {
    /// Tells whether the whole text matches.
    pub(crate) fn matches(self, pattern: &[u8], text: &[u8]) -> bool {
        if self.period && text.first() == Some(&b'.') && pattern.first() != Some(&b'.') {
            return false;
        }
        // Where to go on after the last `*`: behind it, and the text it has not yet swallowed.
        let mut star: Option<(usize, usize)> = None;
        let (mut p, mut t) = (0, 0);
        loop {
            let rest = text.get(t..).unwrap_or_default();
            let step = match pattern.get(p) {
                Some(b'*') => {
                    star = Some((p + 1, t));
                    p += 1;
                    continue;
                }
                None if rest.is_empty() => return true,
                None => None,
                Some(_) if rest.is_empty() => None,
                Some(_) => self.one(pattern, p, rest),
            };
            match (step, &mut star) {
                (Some((next, len)), _) => {
                    p = next;
                    t += len;
                }
                (None, Some((behind, from))) if *from < text.len() => {
                    *from += self.char_len(text.get(*from..).unwrap_or_default());
                    (p, t) = (*behind, *from);
                }
                _ => return false,
            }
        }
    }

    /// Matches one character; returns where the pattern goes on and how long the character is.
    fn one(self, pattern: &[u8], at: usize, text: &[u8]) -> Option<(usize, usize)> {
        let len = self.char_len(text);
        let (c, _) = self.char_at(text);
        match pattern.get(at)? {
            b'?' => Some((at + 1, len)),
            b'[' => match self.bracket(pattern, at + 1, c) {
                Some((next, true)) => Some((next, len)),
                Some((_, false)) => None,
                None => (c == u32::from(b'[')).then_some((at + 1, len)),
            },
            b'\\' if pattern.get(at + 1).is_some() => self.same(pattern, at + 1, c, len),
            _ => self.same(pattern, at, c, len),
        }
    }

    fn same(self, pattern: &[u8], at: usize, c: u32, len: usize) -> Option<(usize, usize)> {
        let (want, wide) = self.char_at(pattern.get(at..)?);
        (want == c || (self.fold_case && fold(want) == fold(c))).then_some((at + wide, len))
    }

    /// Reads `[...]`; `None` if it is not closed.
    fn bracket(self, pattern: &[u8], from: usize, c: u32) -> Option<(usize, bool)> {
        let mut at = from;
        let negated = matches!(pattern.get(at), Some(b'!' | b'^'));
        at += usize::from(negated);
        let first = at;
        let mut found = false;
        loop {
            match pattern.get(at)? {
                b']' if at > first => return Some((at + 1, found != negated)),
                b'[' if matches!(pattern.get(at + 1), Some(b':')) => {
                    let tail = pattern.get(at + 2..)?;
                    let end = tail.windows(2).position(|pair| pair == b":]")?;
                    found |= in_class(tail.get(..end)?, c, self.fold_case);
                    at += end + 4;
                }
                _ => {
                    let (low, next) = self.bracket_char(pattern, at)?;
                    at = next;
                    let mut high = low;
                    if pattern.get(at) == Some(&b'-')
                        && pattern.get(at + 1).is_some_and(|b| *b != b']')
                    {
                        (high, at) = self.bracket_char(pattern, at + 1)?;
                    }
                    found |= (low..=high).contains(&c);
                    if self.fold_case {
                        found |= (fold(low)..=fold(high)).contains(&fold(c));
                    }
                }
            }
        }
    }

    fn bracket_char(self, pattern: &[u8], at: usize) -> Option<(u32, usize)> {
        let at = at + usize::from(pattern.get(at) == Some(&b'\\') && pattern.get(at + 1).is_some());
        let rest = pattern.get(at..).filter(|rest| !rest.is_empty())?;
        let (c, len) = self.char_at(rest);
        Some((c, at + len))
    }

    fn char_len(self, text: &[u8]) -> usize {
        self.char_at(text).1
    }

    /// Returns the character at the start; a byte that is no UTF-8 is one of its own kind.
    fn char_at(self, text: &[u8]) -> (u32, usize) {
        let first = text.first().copied().unwrap_or(0);
        if first < 0x80 || !self.utf8 {
            return (u32::from(first), 1);
        }
        let head = text.get(..usize::min(4, text.len())).unwrap_or_default();
        let valid = match std::str::from_utf8(head) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(head.get(..error.valid_up_to()).unwrap_or_default())
                .unwrap_or_default(),
        };
        match valid.chars().next() {
            Some(c) => (u32::from(c), c.len_utf8()),
            None => (0x11_0000 + u32::from(first), 1),
        }
    }
}

fn fold(c: u32) -> u32 {
    char::from_u32(c)
        .and_then(|c| c.to_lowercase().next())
        .map_or(c, u32::from)
}

fn in_class(name: &[u8], c: u32, fold_case: bool) -> bool {
    let Some(c) = char::from_u32(c) else {
        return false;
    };
    match name {
        b"alpha" => c.is_alphabetic(),
        b"digit" => c.is_ascii_digit(),
        b"alnum" => c.is_alphanumeric(),
        b"upper" => c.is_uppercase() || fold_case && c.is_lowercase(),
        b"lower" => c.is_lowercase() || fold_case && c.is_uppercase(),
        b"space" => c.is_whitespace(),
        b"blank" => c == ' ' || c == '\t',
        b"punct" => c.is_ascii_punctuation(),
        b"cntrl" => c.is_control(),
        b"xdigit" => c.is_ascii_hexdigit(),
        b"print" => !c.is_control(),
        b"graph" => !c.is_control() && !c.is_whitespace(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_fnmatch_does() {
        let glob = Glob {
            utf8: true,
            fold_case: false,
            period: false,
        };
        for (pattern, text, matches) in [
            ("*.txt", "a.txt", true),
            ("*.txt", ".txt", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("?", "é", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]]", "]", true),
            ("[[:digit:]]", "5", true),
            ("[a", "[a", true),
            ("\\*", "*", true),
            ("\\*", "x", false),
            ("*", "a/b", true),
            ("", "", true),
            ("**", "", true),
        ] {
            assert_eq!(
                glob.matches(pattern.as_bytes(), text.as_bytes()),
                matches,
                "{pattern} {text}"
            );
        }
        let fold = Glob {
            fold_case: true,
            ..glob
        };
        assert!(fold.matches(b"A[B-C]*", b"abZ"));
        // Many stars must not take exponential time.
        let text = vec![b'a'; 2_000];
        assert!(!glob.matches(b"*a*a*a*a*a*a*a*a*a*a*b", &text));
    }
}
