//! Option arguments that are one of a few words, as GNU's `argmatch` reads them.

use jp_bash_system::io::{called, complain, say};
use jp_bash_system::{Stop, System};

use super::quote::quote;

/// The words of one option; words that stand together mean the same.
pub(crate) type Words = [&'static [&'static str]];

/// Finds a word by its unambiguous beginning and returns the number of its group. `Err` was reported:
/// the caller adds the hint and ends.
pub(crate) fn choose(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    option: &str,
    value: &[u8],
    words: &Words,
) -> Result<Result<usize, ()>, Stop> {
    let all = || {
        words
            .iter()
            .enumerate()
            .flat_map(|(group, names)| names.iter().map(move |name| (group, *name)))
    };
    if let Some((group, _)) = all().find(|(_, name)| name.as_bytes() == value) {
        return Ok(Ok(group));
    }
    let mut found = all()
        .filter(|(_, name)| name.as_bytes().starts_with(value))
        .map(|(group, _)| group);
    let first = found.next();
    let problem: &[u8] = match first {
        None => b"invalid",
        Some(first) if found.all(|other| other == first) => return Ok(Ok(first)),
        Some(_) => b"ambiguous",
    };
    let utf8 = sys.utf8();
    let message = [
        problem,
        b" argument ",
        &quote(utf8, value),
        b" for ",
        &quote(utf8, option.as_bytes()),
    ]
    .concat();
    complain(sys, called(args), &message)?;
    say(sys, &[b"Valid arguments are:\n"])?;
    for names in words {
        let shown: Vec<Vec<u8>> = names
            .iter()
            .map(|name| quote(utf8, name.as_bytes()))
            .collect();
        say(sys, &[b"  - ", &shown.join(&b", "[..]), b"\n"])?;
    }
    Ok(Err(()))
}
