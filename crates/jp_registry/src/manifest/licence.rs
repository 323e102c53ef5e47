//! Licence expressions of SPDX: `Apache-2.0`, `MIT OR (BSD-3-Clause AND LicenseRef-fonts)`,
//! `GPL-2.0-only WITH Classpath-exception-2.0`.
//!
//! The table holds the licences that software and models are published under today, not all of SPDX;
//! another one is written as `LicenseRef-<name>`.

use super::{shape::nearest, text::shown};

/// Longer expressions are refused.
const MAX_TEXT: usize = 256;

/// Deeper parentheses are refused: following them is recursion.
const MAX_DEPTH: usize = 8;

const LICENCES: [&str; 82] = [
    "0BSD",
    "AFL-3.0",
    "AGPL-3.0-only",
    "AGPL-3.0-or-later",
    "Apache-1.1",
    "Apache-2.0",
    "APSL-2.0",
    "Artistic-1.0",
    "Artistic-2.0",
    "BlueOak-1.0.0",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-2-Clause-Patent",
    "BSD-3-Clause",
    "BSD-3-Clause-Clear",
    "BSD-4-Clause",
    "BSL-1.0",
    "BUSL-1.1",
    "bzip2-1.0.6",
    "CC-BY-3.0",
    "CC-BY-4.0",
    "CC-BY-NC-4.0",
    "CC-BY-NC-SA-4.0",
    "CC-BY-ND-4.0",
    "CC-BY-SA-3.0",
    "CC-BY-SA-4.0",
    "CC0-1.0",
    "CDDL-1.0",
    "CDDL-1.1",
    "CDLA-Permissive-1.0",
    "CDLA-Permissive-2.0",
    "CECILL-2.1",
    "curl",
    "ECL-2.0",
    "EPL-1.0",
    "EPL-2.0",
    "EUPL-1.1",
    "EUPL-1.2",
    "FTL",
    "GFDL-1.3-only",
    "GFDL-1.3-or-later",
    "GPL-2.0-only",
    "GPL-2.0-or-later",
    "GPL-3.0-only",
    "GPL-3.0-or-later",
    "HPND",
    "ICU",
    "IJG",
    "ISC",
    "LGPL-2.0-only",
    "LGPL-2.0-or-later",
    "LGPL-2.1-only",
    "LGPL-2.1-or-later",
    "LGPL-3.0-only",
    "LGPL-3.0-or-later",
    "libpng-2.0",
    "Libpng",
    "MIT",
    "MIT-0",
    "MPL-1.1",
    "MPL-2.0",
    "MPL-2.0-no-copyleft-exception",
    "MS-PL",
    "MS-RL",
    "MulanPSL-2.0",
    "NCSA",
    "ODbL-1.0",
    "OFL-1.1",
    "OpenSSL",
    "OSL-3.0",
    "PHP-3.01",
    "PostgreSQL",
    "PSF-2.0",
    "Python-2.0",
    "Ruby",
    "SSPL-1.0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "UPL-1.0",
    "WTFPL",
    "Zlib",
];

const EXCEPTIONS: [&str; 18] = [
    "Autoconf-exception-2.0",
    "Autoconf-exception-3.0",
    "Bison-exception-2.2",
    "Bootloader-exception",
    "Classpath-exception-2.0",
    "Font-exception-2.0",
    "GCC-exception-2.0",
    "GCC-exception-3.1",
    "LGPL-3.0-linking-exception",
    "Libtool-exception",
    "Linux-syscall-note",
    "LLVM-exception",
    "OCaml-LGPL-linking-exception",
    "openvpn-openssl-exception",
    "Qt-GPL-exception-1.0",
    "Qt-LGPL-exception-1.1",
    "Swift-exception",
    "Universal-FOSS-exception-1.0",
];

/// Checks a licence expression, and says what is wrong with it.
pub(crate) fn check(text: &str) -> Result<(), String> {
    if text.len() > MAX_TEXT {
        return Err(format!("a licence expression has at most {MAX_TEXT} bytes"));
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
        Some(word) => Err(format!(
            "expected AND, OR or WITH before `{}`",
            shown(word, 40)
        )),
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
    fn expression(&mut self, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("parentheses are nested more than {MAX_DEPTH} deep"));
        }
        loop {
            self.part(depth)?;
            if !matches!(self.next, Some("AND" | "OR")) {
                return Ok(());
            }
            self.advance();
        }
    }

    fn part(&mut self, depth: usize) -> Result<(), String> {
        let word = self
            .advance()
            .ok_or("a licence is missing, such as `Apache-2.0`")?;
        if word == "(" {
            self.expression(depth.saturating_add(1))?;
            return match self.advance() {
                Some(")") => Ok(()),
                _ => Err("a `)` is missing".to_owned()),
            };
        }
        is_licence(word)?;
        if self.next == Some("WITH") {
            self.advance();
            let exception = self.advance().unwrap_or_default();
            if !EXCEPTIONS.contains(&exception) {
                return Err(unknown("exception", exception, &EXCEPTIONS));
            }
        }
        Ok(())
    }
}

fn is_licence(word: &str) -> Result<(), String> {
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
    if LICENCES.contains(&plain) {
        return Ok(());
    }
    Err(unknown("licence", word, &LICENCES))
}

fn unknown(what: &str, word: &str, known: &[&str]) -> String {
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
    format!(
        "`{}` is no {what} of SPDX that is known here; {hint}",
        shown(word, 40)
    )
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
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
    }

    #[test]
    fn what_is_no_expression_is_refused_with_a_hint() {
        for (bad, hint) in [
            ("", "a licence is missing"),
            ("mit", "did you mean `MIT`?"),
            ("Apache 2.0", "`Apache` is no licence"),
            ("Apache2.0", "did you mean `Apache-2.0`?"),
            ("MIT or Apache-2.0", "before `or`"),
            ("MIT OR", "a licence is missing"),
            ("(MIT", "`)` is missing"),
            ("MIT)", "before `)`"),
            ("MIT WITH nothing", "no exception"),
            ("LicenseRef-", "no licence"),
            ("proprietary", "SPDX expression"),
            ("\u{1b}[31m", "\\u{1b}"),
            ("GPL-3.0", "did you mean"),
        ] {
            let error = check(bad).unwrap_err();
            assert!(error.contains(hint), "{bad:?}: {error}");
        }
        assert!(check(&"(".repeat(200)).is_err());
        assert!(check(&"MIT OR ".repeat(1000)).is_err());
    }
}
