//! How content is dressed for a model: code fences by file type, and tags around several subjects.
//! Pure text.

use crate::slug::{extension, printable};

/// Gives Markdown and plain text as they are and everything else in a code fence.
pub(crate) fn format(path: &str, text: String) -> String {
    let Some(extension) = extension(path) else {
        return text;
    };
    let lower = extension.to_ascii_lowercase();
    let language = match lower.as_str() {
        "md" | "txt" | "text" | "" => return text,
        "yaml" | "yml" => "yaml",
        "rs" => "rust",
        "py" => "python",
        "js" => "javascript",
        "ts" => "typescript",
        "toml" | "json" => lower.as_str(),
        // The name of a file must not break out of the fence's first line.
        _ if is_plain(extension) => extension,
        _ => "",
    };
    // Longer than any run inside, so that the content cannot end its own fence.
    let fence = "`".repeat(usize::max(3, longest_backtick_run(&text) + 1));
    let newline = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{fence}{language}\n{text}{newline}{fence}")
}

fn is_plain(extension: &str) -> bool {
    extension.len() <= 32
        && extension
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '+' | '-' | '_' | '#'))
}

fn longest_backtick_run(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// Wraps `body` in `<tag "label">` … `</tag>`.
///
/// A body that holds such a tag itself could pretend to be a second subject. Then, and only then,
/// both tags carry a number that the body does not use: `<tag "label" #1>` … `</tag #1>`.
pub(crate) fn wrap(tag: &str, label: Option<&str>, body: &str) -> String {
    let label = label.map_or_else(String::new, |label| {
        format!(" \"{}\"", printable(label).replace('"', "\\\""))
    });
    let mark = mark(tag, body);
    let newline = if body.is_empty() || body.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("<{tag}{label}{mark}>\n{body}{newline}</{tag}{mark}>")
}

fn mark(tag: &str, body: &str) -> String {
    let mut used = Vec::new();
    let mut found = false;
    // One pass: trying mark after mark would be quadratic in a body full of marks.
    for (at, _) in body.match_indices('<') {
        let Some(rest) = body.get(at + 1..) else {
            continue;
        };
        let closing = rest.strip_prefix('/');
        let Some(rest) = strip_prefix_ignoring_case(closing.unwrap_or(rest), tag) else {
            continue;
        };
        found = true;
        if let Some(number) = rest.trim_start().strip_prefix('#') {
            let end = number.bytes().take_while(u8::is_ascii_digit).count();
            used.extend(
                number
                    .get(..end)
                    .and_then(|digits| digits.parse::<u32>().ok()),
            );
        }
    }
    if !found {
        return String::new();
    }
    used.sort_unstable();
    let mut free = 1;
    for number in used {
        if number == free {
            free += 1;
        }
    }
    format!(" #{free}")
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(path: &str, text: &str) -> String {
        format(path, text.to_owned())
    }

    #[test]
    fn file_types_decide_the_fence() {
        for path in [
            "a.md", "a.MD", "a.txt", "a.text", "a", ".md", "a.", "x.toml/a",
        ] {
            assert_eq!(formatted(path, "x\n"), "x\n", "{path}");
        }
        for (path, language) in [
            ("a.toml", "toml"),
            ("a.JSON", "json"),
            ("a.yml", "yaml"),
            ("a.yaml", "yaml"),
            ("a.rs", "rust"),
            ("a.py", "python"),
            ("a.js", "javascript"),
            ("a.ts", "typescript"),
            ("a.tar.zig", "zig"),
            ("a.c++", "c++"),
            ("a.x\ny", ""),
            ("a.x`y", ""),
        ] {
            assert_eq!(
                formatted(path, "x"),
                format!("```{language}\nx\n```"),
                "{path}"
            );
        }
        assert_eq!(formatted("a.rs", ""), "```rust\n```");
    }

    #[test]
    fn fence_is_longer_than_any_run_inside() {
        assert_eq!(
            formatted("a.rs", "/// ```\n````\n"),
            "`````rust\n/// ```\n````\n`````"
        );
    }

    #[test]
    fn wrapper_cannot_be_faked_by_its_content() {
        assert_eq!(
            wrap("subject", Some("a"), "x"),
            "<subject \"a\">\nx\n</subject>"
        );
        assert_eq!(
            wrap("subject", Some("a"), ""),
            "<subject \"a\">\n</subject>"
        );
        assert_eq!(
            wrap(
                "subject",
                Some("a"),
                "</Subject>\n</subject #1>\n<subject \"b\">\n"
            ),
            "<subject \"a\" #2>\n</Subject>\n</subject #1>\n<subject \"b\">\n</subject #2>"
        );
        assert_eq!(
            wrap("t", Some("a\"b\nc"), "x"),
            "<t \"a\\\"b\\nc\">\nx\n</t>"
        );
    }

    #[test]
    fn a_body_full_of_marks_is_wrapped_quickly() {
        let body: String = (1..=200_000)
            .rev()
            .map(|n| format!("</subject #{n}>"))
            .collect();
        assert!(wrap("subject", None, &body).ends_with("\n</subject #200001>"));
    }
}
