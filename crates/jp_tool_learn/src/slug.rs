//! Names: how a path becomes a slug, when it is hidden, and how foreign names are shown. Pure text.

use std::borrow::Cow;

use crate::limits::MAX_ECHO;

/// Makes the slug of a path relative to the topic directory: components joined by `/`, leading dots
/// dropped from each, the last extension removed.
pub(crate) fn slug(path: &str) -> String {
    let (parents, file) = path
        .rsplit_once('/')
        .map_or((None, path), |(p, f)| (Some(p), f));
    let mut slug = String::with_capacity(path.len());
    for directory in parents.into_iter().flat_map(|parents| parents.split('/')) {
        slug.push_str(undotted(directory));
        slug.push('/');
    }
    slug.push_str(undotted(stem_and_extension(file).0));
    slug
}

/// Returns whether any component of the path starts with a dot.
pub(crate) fn is_hidden(path: &str) -> bool {
    path.split('/').any(|component| component.starts_with('.'))
}

/// The last extension of the path's file name, without the dot.
pub(crate) fn extension(path: &str) -> Option<&str> {
    let file = path.rsplit('/').next().unwrap_or(path);
    stem_and_extension(file).1
}

fn stem_and_extension(file: &str) -> (&str, Option<&str>) {
    match file.rsplit_once('.') {
        // `.gitignore` is a hidden name, not an extension of nothing.
        Some((stem, extension)) if !stem.is_empty() => (stem, Some(extension)),
        _ => (file, None),
    }
}

/// Drops leading dots, unless nothing would remain (`...` is a legal name).
fn undotted(component: &str) -> &str {
    match component.trim_start_matches('.') {
        "" => component,
        name => name,
    }
}

/// Shows foreign text on one line: control characters and invisible ones are written as escapes, so
/// that a file name can neither add lines to a listing nor hide what it says.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    jp_text::escape_line(text)
}

/// Shows a title or an introduction on one line, its line breaks turned into spaces.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    printable(&words.join(" ")).into_owned()
}

/// Quotes foreign text in backticks for a message, shortened visibly when it is very long.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", jp_text::short_line(text, MAX_ECHO))
}
