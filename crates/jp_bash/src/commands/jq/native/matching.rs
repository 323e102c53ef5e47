//! Regular expressions: one builtin, on which the prelude builds `test`, `match`, `capture`, `sub` and the rest.

use fancy_regex::{Regex, RegexBuilder};

use super::{Entry, two};
use crate::commands::jq::fail::{self, Result};
use crate::commands::jq::text::Text;
use crate::commands::jq::value::Value;
use crate::commands::jq::world::World;

pub(super) const TABLE: &[Entry] = &[("_match", 3, matches)];

/// How often the matcher may go back before it gives up: patterns are hostile input.
const BACKTRACKS: usize = 100_000;
/// How large a compiled pattern may get.
const SIZE: usize = 4 << 20;
/// How many compiled patterns are kept.
const KEPT: usize = 32;

/// A pattern that was compiled.
pub(in crate::commands::jq) struct Compiled {
    source: (Text, Text),
    regex: std::rc::Rc<Regex>,
}

/// What the flags say besides how to compile.
struct Flags {
    global: bool,
    skip_empty: bool,
}

/// `_match(re; flags; test)`: whether there is a match, or an array of all of them.
fn matches(world: &mut World<'_>, args: &mut [Value]) -> Result<Value> {
    let test = args.get(3).is_some_and(Value::truthy);
    let flags = args.get(2).cloned().unwrap_or_default();
    let (value, pattern) = two(args);
    for must in [&value, &pattern] {
        if must.text().is_none() {
            let what = "cannot be matched, as it is not a string";
            return Err(fail::about(&mut world.fuel, must, what));
        }
    }
    let flags = match flags {
        Value::Null => Text::from(""),
        Value::String(flags) => flags,
        other => return Err(fail::about(&mut world.fuel, &other, "is not a string")),
    };
    let (Value::String(text), Value::String(pattern)) = (value, pattern) else {
        return Ok(Value::Null);
    };
    let (regex, flags) = compile(world, &pattern, &flags)?;
    world.fuel.steps(text.len() * 4)?;
    let mut search = Search {
        regex: &regex,
        text: text.as_str(),
        counted: (0, 0),
    };
    if test {
        return Ok(Value::Bool(search.find(0, &flags)?.is_some()));
    }
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(captures) = search.find(from, &flags)? {
        world.fuel.steps(256)?;
        let whole = captures
            .get(0)
            .map_or((from, from), |whole| (whole.start(), whole.end()));
        found.push(search.show(&captures, whole));
        if !flags.global {
            break;
        }
        from = whole.1;
        if whole.0 == whole.1 {
            match search.text.get(from..).and_then(|rest| rest.chars().next()) {
                Some(char) => from += char.len_utf8(),
                None => break,
            }
        }
    }
    Ok(Value::array(found))
}

struct Search<'a> {
    regex: &'a Regex,
    text: &'a str,
    /// A place in bytes and the same in characters, so that counting goes on from there.
    counted: (usize, usize),
}

impl<'a> Search<'a> {
    fn find(
        &self,
        mut from: usize,
        flags: &Flags,
    ) -> Result<Option<fancy_regex::Captures<'a, str>>> {
        loop {
            let found = self
                .regex
                .captures_from_pos(self.text, from)
                .map_err(|error| fail::error(format!("Regex failure: {error}")))?;
            match found {
                Some(captures)
                    if flags.skip_empty
                        && captures.get(0).is_some_and(|m| m.start() == m.end()) =>
                {
                    let at = captures.get(0).map_or(from, |m| m.end());
                    match self.text.get(at..).and_then(|rest| rest.chars().next()) {
                        Some(char) => from = at + char.len_utf8(),
                        None => return Ok(None),
                    }
                }
                other => return Ok(other),
            }
        }
    }

    /// Counts the characters before a place.
    fn chars(&mut self, at: usize) -> usize {
        let (bytes, chars) = if self.counted.0 <= at {
            self.counted
        } else {
            (0, 0)
        };
        let more = self
            .text
            .get(bytes..at)
            .map_or(0, |part| part.chars().count());
        self.counted = (at, chars + more);
        chars + more
    }

    fn show(&mut self, captures: &fancy_regex::Captures<'_, str>, whole: (usize, usize)) -> Value {
        let names: Vec<Option<Text>> = self
            .regex
            .capture_names()
            .map(|name| name.map(Text::from))
            .collect();
        let mut groups = Vec::new();
        for (at, name) in names.into_iter().enumerate().skip(1) {
            let place = captures.get(at).map(|group| (group.start(), group.end()));
            let name = name.map(Value::String).unwrap_or_default();
            groups.push(self.group(place, (Text::from("name"), name)));
        }
        self.group(Some(whole), (Text::from("captures"), Value::array(groups)))
    }

    fn group(&mut self, place: Option<(usize, usize)>, last: (Text, Value)) -> Value {
        let (offset, length, string) = match place {
            Some((from, to)) => {
                let part = self.text.get(from..to).unwrap_or_default();
                let offset = Value::count(self.chars(from));
                (
                    offset,
                    Value::count(part.chars().count()),
                    Value::string(part.as_bytes()),
                )
            }
            None => (Value::Number(-1.0), Value::Number(0.0), Value::Null),
        };
        Value::object([
            (Text::from("offset"), offset),
            (Text::from("length"), length),
            (Text::from("string"), string),
            last,
        ])
    }
}

fn compile(
    world: &mut World<'_>,
    pattern: &Text,
    flags: &Text,
) -> Result<(std::rc::Rc<Regex>, Flags)> {
    let has = |flag: u8| flags.contains(&flag);
    if flags.iter().any(|flag| !b"gimnpslx".contains(flag)) {
        let flags = flags.as_str();
        return Err(fail::error(format!(
            "{flags} is not a valid modifier string"
        )));
    }
    let wanted = Flags {
        global: has(b'g'),
        skip_empty: has(b'n'),
    };
    let source = (pattern.clone(), flags.clone());
    if let Some(known) = world.regexes.iter().find(|known| known.source == source) {
        return Ok((std::rc::Rc::clone(&known.regex), wanted));
    }
    world.fuel.steps(pattern.len().saturating_mul(64))?;
    let regex = RegexBuilder::new(&translate(pattern.as_str(), has(b'x')))
        .case_insensitive(has(b'i'))
        .verbose_mode(has(b'x'))
        .dot_matches_new_line(has(b'p') || has(b's') && has(b'm'))
        // A step costs in proportion to the pattern, too.
        .backtrack_limit(BACKTRACKS / (1 + pattern.len() / 64))
        .delegate_size_limit(SIZE)
        .delegate_dfa_size_limit(SIZE)
        .build()
        .map_err(|error| {
            fail::error(format!(
                "{} (at offset 0) is not a valid regex: {error}",
                pattern.as_str()
            ))
        })?;
    let regex = std::rc::Rc::new(regex);
    if world.regexes.len() >= KEPT {
        world.regexes.remove(0);
    }
    world.regexes.push(Compiled {
        source,
        regex: std::rc::Rc::clone(&regex),
    });
    Ok((regex, wanted))
}

/// Writes Oniguruma's dialect in the matcher's: `$` is also before a last newline, `\h` is a hex digit.
fn translate(pattern: &str, verbose: bool) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let multi_line = pattern.contains("(?m") || pattern.contains("(?-");
    let mut chars = pattern.chars();
    let mut class = 0_u32;
    let mut comment = false;
    while let Some(char) = chars.next() {
        match char {
            '\n' => {
                comment = false;
                out.push(char);
            }
            _ if comment => out.push(char),
            '\\' => match chars.next() {
                Some('h') if class > 0 => out.push_str("0-9a-fA-F"),
                Some('h') => out.push_str("[0-9a-fA-F]"),
                Some('H') => out.push_str("[^0-9a-fA-F]"),
                Some(next) => {
                    out.push('\\');
                    out.push(next);
                }
                None => out.push('\\'),
            },
            '[' => {
                class += 1;
                out.push(char);
            }
            ']' => {
                class = class.saturating_sub(1);
                out.push(char);
            }
            '#' if verbose && class == 0 => {
                comment = true;
                out.push(char);
            }
            '$' if class == 0 && !multi_line => out.push_str("(?=\\n?\\z)"),
            _ => out.push(char),
        }
    }
    out
}
