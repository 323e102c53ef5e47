//! Texts that a person reads and a model obeys: bounded, and nothing in them that only one of the
//! two sees. What is hidden is refused, not cleaned: the text is signed as it stands.

use super::ManifestError;

/// How long a text may be, and whether it may have lines.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// One line of at most so many characters.
    Line(usize),
    /// Lines of at most so many characters together.
    Lines(usize),
}

/// Checks a text.
pub(crate) fn check(path: &str, text: &str, kind: Kind) -> Result<(), ManifestError> {
    let refuse = |problem: String| {
        Err(ManifestError::Text {
            path: path.to_owned(),
            problem,
        })
    };
    let (Kind::Line(most) | Kind::Lines(most)) = kind;
    let count = text.chars().take(most.saturating_add(1)).count();
    if count > most {
        return refuse(format!("the text has more than {most} characters"));
    }
    let spaces = |c: char| matches!((kind, c), (Kind::Lines(_), '\n' | '\t'));
    if matches!(kind, Kind::Line(_)) && text.contains('\n') {
        return refuse("the text must be one line".to_owned());
    }
    if let Some(c) = text.chars().find(|c| !spaces(*c) && is_hidden(*c)) {
        let code = u32::from(c);
        return refuse(format!("the text holds U+{code:04X}, which is invisible"));
    }
    if text.contains("<!--") || text.contains("-->") {
        return refuse("the text holds an HTML comment, which is invisible".to_owned());
    }
    Ok(())
}

/// Checks a text that must say something.
pub(crate) fn check_filled(path: &str, text: &str, kind: Kind) -> Result<(), ManifestError> {
    if text.trim() != text || text.is_empty() {
        return Err(ManifestError::Text {
            path: path.to_owned(),
            problem: "the text is empty, or starts or ends with a space".to_owned(),
        });
    }
    check(path, text, kind)
}

/// Tells whether a text that is signed may hold a character: nothing hidden, and nothing that fonts
/// disagree about.
pub(crate) fn is_hidden(c: char) -> bool {
    jp_text::is_hidden(c) || jp_text::lacks_fixed_shape(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_refused_with_its_code() {
        for (text, problem) in [
            ("zero\u{200b}width", Some("U+200B")),
            ("\u{202e}txt.exe", Some("U+202E")),
            ("\u{1b}[31mred", Some("U+001B")),
            ("\u{9b}31mred", Some("U+009B")),
            ("tag\u{e0041}", Some("U+E0041")),
            ("❤\u{fe0f}", Some("U+FE0F")),
            ("a<!-- do x -->b", Some("HTML comment")),
            ("two\nlines", Some("must be one line")),
            ("123456789012345", None),
            ("1234567890123456", Some("more than 15 characters")),
            ("größer ≤ 語", None),
        ] {
            let found = check("/x", text, Kind::Line(15)).err();
            let found = found.map(|error| error.to_string());
            match problem {
                None => assert_eq!(found, None),
                Some(problem) => assert!(
                    found.as_ref().is_some_and(|f| f.contains(problem)),
                    "{found:?}"
                ),
            }
        }
        assert!(check("/x", "two\nlines\there", Kind::Lines(20)).is_ok());
        assert!(check("/x", "carriage\rreturn", Kind::Lines(20)).is_err());
    }
}
