//! Blanks comments and literals out of Rust source, so that a rule about code does not trip over
//! a rule's own text. Lines stay where they were.

/// Returns `source` with every comment, string and character literal replaced by spaces.
pub(super) fn blank(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    while at < chars.len() {
        let end = match skip_from(&chars, at) {
            Some(end) => end.min(chars.len()),
            None => {
                out.push(chars[at]);
                at += 1;
                continue;
            }
        };
        out.extend(
            chars[at..end]
                .iter()
                .map(|&c| if c == '\n' { '\n' } else { ' ' }),
        );
        at = end;
    }
    out
}

/// If a comment or literal starts at `at`, returns where it ends.
fn skip_from(chars: &[char], at: usize) -> Option<usize> {
    let next = chars.get(at + 1).copied();
    match chars[at] {
        '/' if next == Some('/') => Some(find(chars, at, |c| c == '\n')),
        '/' if next == Some('*') => Some(block_comment(chars, at)),
        '"' => Some(string(chars, at)),
        '\'' => character(chars, at),
        'r' if !follows_word(chars, at) || follows_prefix(chars, at) => raw_string(chars, at),
        _ => None,
    }
}

fn find(chars: &[char], from: usize, is_end: impl Fn(char) -> bool) -> usize {
    (from..chars.len())
        .find(|&index| is_end(chars[index]))
        .unwrap_or(chars.len())
}

fn block_comment(chars: &[char], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn string(chars: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// Tells `'x'` and `'\n'` from a lifetime.
fn character(chars: &[char], start: usize) -> Option<usize> {
    match (chars.get(start + 1)?, chars.get(start + 2)) {
        ('\\', _) => Some(find(chars, start + 3, |c| c == '\'') + 1),
        (_, Some('\'')) => Some(start + 3),
        _ => None,
    }
}

fn raw_string(chars: &[char], start: usize) -> Option<usize> {
    let quote = find(chars, start + 1, |c| c != '#');
    if chars.get(quote) != Some(&'"') {
        return None;
    }
    let hashes = quote - start - 1;
    let mut at = quote + 1;
    while at < chars.len() {
        let closes = chars[at] == '"'
            && chars
                .get(at + 1..at + 1 + hashes)
                .is_some_and(|tail| tail.iter().all(|&c| c == '#'));
        if closes {
            return Some(at + 1 + hashes);
        }
        at += 1;
    }
    Some(at)
}

fn follows_word(chars: &[char], at: usize) -> bool {
    at.checked_sub(1)
        .is_some_and(|before| is_word(chars[before]))
}

/// Returns whether this is the `r` of `br"…"` or `cr"…"`.
fn follows_prefix(chars: &[char], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else {
        return false;
    };
    matches!(chars[before], 'b' | 'c') && !follows_word(chars, before)
}

/// Returns whether a character may be part of a name.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns whether `word` stands alone somewhere in `code`.
pub(super) fn has_word(code: &str, word: &str) -> bool {
    count_word(code, word) > 0
}

/// Counts how often `word` stands alone in `code`.
pub(super) fn count_word(code: &str, word: &str) -> usize {
    let stands_alone = |start: usize| {
        let before = code[..start].chars().next_back();
        let after = code[start + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    };
    code.match_indices(word)
        .filter(|(start, _)| stands_alone(*start))
        .count()
}

/// Returns the part of `code` before its unit tests.
pub(super) fn before_tests(code: &str) -> &str {
    code.split("#[cfg(test)]\nmod ").next().unwrap_or(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_vanish_and_code_stays() {
        let cases = [
            ("a // x\nb", "a     \nb"),
            ("a /* x /* y */ z */ b", "a                   b"),
            (r#"f("x\"y", b)"#, "f(      , b)"),
            (r##"f(r#"x"y"#, b)"##, "f(        , b)"),
            (r#"f(br"x")"#, "f(b    )"),
            ("f('x', '\\'', 'a)", "f(   ,     , 'a)"),
            ("for x in y<'a>", "for x in y<'a>"),
            ("\"open", "     "),
            ("r#type", "r#type"),
        ];
        for (source, expected) in cases {
            assert_eq!(blank(source), expected, "{source}");
        }
    }

    #[test]
    fn a_word_is_not_part_of_another() {
        assert!(has_word("unsafe { }", "unsafe"));
        assert!(has_word("#[unsafe(no_mangle)]", "unsafe"));
        assert!(!has_word("deny(unsafe_code)", "unsafe"));
    }
}
