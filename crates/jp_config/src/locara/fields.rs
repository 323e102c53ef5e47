//! The fields of a manifest that describe the app. They have no effect here, and are checked all
//! the same: a manifest that is wrong in one place may be wrong in another.

use semver::Version;
use serde_json::{Map, Value};

use crate::{diagnose::Finding, error::Problem, front::At, inside::InsidePath, providers::host_of};

/// Their keys.
pub(super) const KEYS: [&str; 14] = [
    "name",
    "publisher",
    "version",
    "displayName",
    "description",
    "longDescription",
    "license",
    "homepage",
    "repository",
    "author",
    "icon",
    "screenshots",
    "category",
    "tags",
];

/// The longest text of a field that has no limit of its own.
const MAX_TEXT: usize = 64 << 10;
/// The longest name of an app, a publisher, a category or a tag.
const MAX_NAME: usize = 64;

/// What a text must be.
type Rule = (&'static str, fn(&str) -> bool, &'static str);

const TEXTS: [Rule; 10] = [
    (
        "name",
        is_name,
        "expected words of a-z and 0-9 joined by `-`, at most 64 characters",
    ),
    (
        "publisher",
        is_short,
        "expected 1 to 64 characters on one line",
    ),
    (
        "version",
        |text| text.parse::<Version>().is_ok(),
        "expected a version such as `1.2.0`",
    ),
    (
        "displayName",
        |text| is_line(text, 40),
        "expected 1 to 40 characters on one line",
    ),
    (
        "description",
        |text| is_line(text, 140),
        "expected 1 to 140 characters on one line",
    ),
    (
        "longDescription",
        |text| text.len() <= MAX_TEXT,
        "expected at most 64 KiB",
    ),
    (
        "license",
        is_licence,
        "expected an SPDX expression such as `MIT OR Apache-2.0`",
    ),
    ("homepage", is_url, URL),
    ("repository", is_url, URL),
    (
        "category",
        is_short,
        "expected 1 to 64 characters on one line",
    ),
];
const URL: &str = "expected `https://HOST/…` with the host in lower case and without a user";

/// Checks all of them.
pub(super) fn check(at: &mut At, root: &Map<String, Value>) -> Result<(), Finding> {
    for rule in TEXTS {
        text(at, root, rule)?;
    }
    at.child(root, "author", |at, author| {
        let author = at.table(author, &["name", "email", "url"])?;
        if let Some(field) = ["name", "email"]
            .into_iter()
            .find(|key| !author.contains_key(*key))
        {
            let field = field.to_owned();
            return Err((at.path().to_vec(), Problem::Missing { field }));
        }
        let name = "expected 1 to 140 characters on one line";
        text(at, author, ("name", |text| is_line(text, 140), name))?;
        text(at, author, ("email", is_email, "expected an address"))?;
        text(at, author, ("url", is_url, URL))
    })?;
    at.child(root, "icon", |at, icon| inside(at, icon).map(drop))?;
    at.child(root, "screenshots", |at, shots| {
        count(at, shots, 1, 5)?;
        at.each(shots, |at, shot| inside(at, shot).map(drop))
    })?;
    at.child(root, "tags", |at, tags| {
        count(at, tags, 0, 10)?;
        at.each(tags, |at, tag| match is_short(at.str(tag)?) {
            true => Ok(()),
            false => Err(at.invalid("expected 1 to 64 characters on one line")),
        })
    })
}

/// Reads a path that stays in the workspace.
pub(super) fn inside(at: &At, value: &Value) -> Result<InsidePath, Finding> {
    let text = at.str(value)?;
    let text = text.strip_prefix("./").unwrap_or(text).to_owned();
    InsidePath::try_from(text).map_err(|error| at.invalid(error.to_string()))
}

fn text(
    at: &mut At,
    table: &Map<String, Value>,
    (key, fits, message): Rule,
) -> Result<(), Finding> {
    at.child(table, key, |at, value| {
        if fits(at.str(value)?) {
            Ok(())
        } else {
            Err(at.invalid(message))
        }
    })
}

fn count(at: &At, list: &Value, least: usize, most: usize) -> Result<(), Finding> {
    match list.as_array().map(Vec::len) {
        Some(length) if (least..=most).contains(&length) => Ok(()),
        Some(length) => Err(at.invalid(format!(
            "expected {least} to {most} of them, found {length}"
        ))),
        None => Err(at.invalid("expected a list")),
    }
}

fn is_line(text: &str, most: usize) -> bool {
    let length = text.chars().take(most + 1).count();
    (1..=most).contains(&length) && !text.chars().any(char::is_control)
}

fn is_short(text: &str) -> bool {
    is_line(text, MAX_NAME)
}

fn is_name(text: &str) -> bool {
    let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let word = |word: &str| !word.is_empty() && word.bytes().all(letter);
    text.len() <= MAX_NAME && text.split('-').all(word)
}

fn is_url(text: &str) -> bool {
    text.len() <= 2_048 && host_of(text).is_some()
}

fn is_email(text: &str) -> bool {
    let plain = |part: &str| !part.is_empty() && !part.contains(char::is_whitespace);
    let parts = text.split_once('@');
    is_line(text, 254) && parts.is_some_and(|(name, host)| plain(name) && plain(host))
}

/// Returns whether a text is an SPDX expression: ids of the list, or `LicenseRef-<name>`, joined by
/// words, and parentheses that close. Deprecated ids are let pass: apps that have them are published.
fn is_licence(text: &str) -> bool {
    if !is_line(text, 256) {
        return false;
    }
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let (mut open, mut wants_id, mut before) = (0_usize, true, "");
    for word in spaced.split_whitespace() {
        match (word, wants_id) {
            ("(", true) if before != "WITH" => open += 1,
            (")", false) if open > 0 => open -= 1,
            ("AND" | "OR" | "WITH", false) => wants_id = true,
            ("AND" | "OR" | "WITH", true) => return false,
            (word, true) if is_listed(word, before) => wants_id = false,
            _ => return false,
        }
        before = word;
    }
    open == 0 && !wants_id
}

/// Returns whether SPDX lists a word as a licence, or after `WITH` as an exception, or allows authors to
/// choose it.
fn is_listed(word: &str, before: &str) -> bool {
    let own = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b".-:".contains(&b))
    };
    if before == "WITH" {
        let known = spdx::exception_id(word);
        return known.is_some_and(|known| known.name == word)
            || word.strip_prefix("AdditionRef-").is_some_and(own);
    }
    let plain = word.strip_suffix('+').unwrap_or(word);
    let refs = ["LicenseRef-", "DocumentRef-"];
    let mut refs = refs.iter().filter_map(|prefix| word.strip_prefix(*prefix));
    spdx::license_id(plain).is_some_and(|known| known.name == plain) || refs.any(own)
}
