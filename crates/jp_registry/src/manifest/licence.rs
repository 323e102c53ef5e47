//! Licence expressions of SPDX: `Apache-2.0`, `MIT OR (BSD-3-Clause AND LicenseRef-fonts)`,
//! `GPL-2.0-only WITH Classpath-exception-2.0`.
//!
//! The licences are those of the SPDX list; another one is written as `LicenseRef-<name>`. One that the
//! list calls deprecated is refused: what it says is not clear (`GPL-3.0`: this version only, or later
//! ones too?).

use spdx::identifiers::{EXCEPTIONS, LICENSES};

use super::shape::nearest;

/// Longer expressions are refused.
const MAX_TEXT: usize = 256;

/// Deeper parentheses are refused: following them is recursion.
const MAX_DEPTH: usize = 8;

/// Why a text is not a licence expression. Words of it are shortened and escaped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LicenceError {
    #[error("a licence expression has at most {MAX_TEXT} bytes")]
    Long,
    #[error("parentheses are nested more than {MAX_DEPTH} deep")]
    Deep,
    #[error("a licence is missing, such as `Apache-2.0`")]
    Missing,
    #[error("a `)` is missing")]
    Open,
    #[error("expected AND, OR or WITH before `{word}`")]
    Unjoined { word: String },
    #[error("the SPDX licence `{word}` is deprecated; write `{only}` or `{later}`")]
    Deprecated {
        word: String,
        only: String,
        later: String,
    },
    #[error("unknown SPDX {what} `{word}`; {hint}")]
    Unknown {
        what: &'static str,
        word: String,
        hint: String,
    },
}

/// Checks a licence expression, and says what is wrong with it.
pub(crate) fn check(text: &str) -> Result<(), LicenceError> {
    if text.len() > MAX_TEXT {
        return Err(LicenceError::Long);
    }
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split(' ').filter(|word| !word.is_empty()).collect();
    let mut parser = Parser {
        words: words.iter().copied(),
        next: None,
    };
    parser.advance();
    parser.expression(0)?;
    match parser.next {
        None => Ok(()),
        Some(word) => Err(LicenceError::Unjoined { word: shown(word) }),
    }
}

struct Parser<'a, I> {
    words: I,
    next: Option<&'a str>,
}

impl<'a, I: Iterator<Item = &'a str>> Parser<'a, I> {
    fn advance(&mut self) -> Option<&'a str> {
        std::mem::replace(&mut self.next, self.words.next())
    }

    /// Reads licences joined by `AND` and `OR`. Which binds more tightly does not matter here.
    fn expression(&mut self, depth: usize) -> Result<(), LicenceError> {
        if depth > MAX_DEPTH {
            return Err(LicenceError::Deep);
        }
        loop {
            self.part(depth)?;
            if !matches!(self.next, Some("AND" | "OR")) {
                return Ok(());
            }
            self.advance();
        }
    }

    fn part(&mut self, depth: usize) -> Result<(), LicenceError> {
        let word = self.advance().ok_or(LicenceError::Missing)?;
        if word == "(" {
            self.expression(depth.saturating_add(1))?;
            return match self.advance() {
                Some(")") => Ok(()),
                _ => Err(LicenceError::Open),
            };
        }
        is_licence(word)?;
        if self.next == Some("WITH") {
            self.advance();
            let exception = self.advance().unwrap_or_default();
            let known = spdx::exception_id(exception);
            if !known.is_some_and(|known| known.name == exception && !known.is_deprecated()) {
                let names = EXCEPTIONS.iter().map(|exception| exception.name);
                let usable = |name: &&str| {
                    spdx::exception_id(name).is_some_and(|known| !known.is_deprecated())
                };
                let names: Vec<&str> = names.filter(usable).collect();
                return Err(unknown("exception", exception, &names));
            }
        }
        Ok(())
    }
}

fn is_licence(word: &str) -> Result<(), LicenceError> {
    let letters = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b))
    };
    if word.strip_prefix("LicenseRef-").is_some_and(letters) {
        return Ok(());
    }
    let plain = word.strip_suffix('+').unwrap_or(word);
    if is_listed(plain) {
        return Ok(());
    }
    let only = format!("{plain}-only");
    if is_listed(&only) {
        return Err(LicenceError::Deprecated {
            word: shown(word),
            only,
            later: format!("{plain}-or-later"),
        });
    }
    let names = LICENSES.iter().map(|licence| licence.name);
    let names: Vec<&str> = names.filter(|name| is_listed(name)).collect();
    Err(unknown("licence", word, &names))
}

/// Tells whether SPDX lists an id in this spelling, and not as deprecated.
fn is_listed(name: &str) -> bool {
    let known = spdx::license_id(name);
    known.is_some_and(|known| known.name == name && !known.is_deprecated())
}

fn shown(word: &str) -> String {
    jp_text::short_line(word, 40)
}

fn unknown(what: &'static str, word: &str, known: &[&str]) -> LicenceError {
    // SPDX compares without case; one spelling is written.
    let same = known
        .iter()
        .find(|name| name.eq_ignore_ascii_case(word))
        .copied();
    let hint = match same.or_else(|| nearest(word, known)) {
        Some(name) => format!("did you mean `{name}`?"),
        None => "write an SPDX expression such as `MIT OR Apache-2.0`, or `LicenseRef-<name>`"
            .to_owned(),
    };
    LicenceError::Unknown {
        what,
        word: shown(word),
        hint,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_read_as_spdx_writes_them() {
        for good in [
            "Apache-2.0",
            "MIT OR Apache-2.0",
            "(MIT OR Apache-2.0) AND BSD-3-Clause",
            "GPL-2.0-only WITH Classpath-exception-2.0",
            "Apache-2.0 WITH LLVM-exception OR MIT",
            "MPL-1.1+",
            "LicenseRef-my-fonts.1",
            // Rare ones are listed too.
            "MIT-Modern-Variant AND (NASA-1.3 OR Hippocratic-2.1)",
            "GPL-3.0-or-later WITH GPL-3.0-linking-exception",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
    }

    #[test]
    fn what_is_no_expression_is_refused_with_a_hint() {
        for (bad, hint) in [
            ("", "a licence is missing"),
            ("mit", "did you mean `MIT`?"),
            ("Apache 2.0", "unknown SPDX licence `Apache`"),
            ("Apache2.0", "did you mean `Apache-2.0`?"),
            ("MIT or Apache-2.0", "before `or`"),
            ("MIT OR", "a licence is missing"),
            ("(MIT", "`)` is missing"),
            ("MIT)", "before `)`"),
            ("MIT WITH nothing", "unknown SPDX exception"),
            ("LicenseRef-", "unknown SPDX licence"),
            ("proprietary", "SPDX expression"),
            ("\u{1b}[31m", "\\u{1b}"),
            ("GPL-3.0", "write `GPL-3.0-only` or `GPL-3.0-or-later`"),
            ("GPL-3.0+", "write `GPL-3.0-only`"),
        ] {
            let error = check(bad).unwrap_err().to_string();
            assert!(error.contains(hint), "{bad:?}: {error}");
        }
        assert!(check(&"(".repeat(200)).is_err());
        assert!(check(&"MIT OR ".repeat(1000)).is_err());
    }
}
