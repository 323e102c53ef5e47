//! Regular expressions: one builtin, on which the prelude builds `test`, `match`, `capture`, `sub` and the rest.

use std::rc::Rc;

use jp_bash_regex::{Flavor, MatchError, Regex, RegexError};

use super::{Entry, two};
use crate::jq::fail::{self, Fail, Result};
use crate::jq::text::Text;
use crate::jq::value::Value;
use crate::jq::world::World;

pub(super) const TABLE: &[Entry] = &[("_match", 3, matches)];

/// How many compiled patterns are kept.
const KEPT: usize = 32;
/// The most bytes that they hold before they are forgotten.
const MOST_BYTES: u64 = 8 << 20;
/// The largest pattern.
const MAX_PATTERN: usize = 60 << 10;

/// A pattern that was compiled.
pub(in crate::jq) struct Compiled {
    source: (Text, Text),
    regex: Rc<Regex>,
}

/// What the flags say besides how to compile.
struct Flags {
    global: bool,
    skip_empty: bool,
}

/// Where a match and its groups are.
type Places = Vec<Option<(usize, usize)>>;

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
    let mut search = Search {
        regex: &regex,
        text: text.as_str(),
        places: Vec::new(),
        counted: (0, 0),
    };
    if test {
        return Ok(Value::Bool(search.find(world, 0, &flags)?.is_some()));
    }
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(whole) = search.find(world, from, &flags)? {
        world.fuel.steps(256)?;
        let shown = search.show(world, whole)?;
        if found.len() == found.capacity() {
            let more = usize::max(found.len(), 16);
            world.fuel.room(more * size_of::<Value>())?;
            found.reserve_exact(more);
        }
        found.push(shown);
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
    places: Places,
    /// A place in bytes and the same in characters, so that counting goes on from there.
    counted: (usize, usize),
}

impl Search<'_> {
    /// Finds the next match; its groups are in `places`.
    fn find(
        &mut self,
        world: &mut World<'_>,
        mut from: usize,
        flags: &Flags,
    ) -> Result<Option<(usize, usize)>> {
        loop {
            let bytes = self.text.as_bytes();
            self.regex
                .captures_at(world.fuel.sys, bytes, from, &mut self.places)
                .map_err(|error| match error {
                    MatchError::Stop(stop) => Fail::Stop(stop),
                    error => fail::error(format!("Regex failure: {error}")),
                })?;
            match self.places.first().copied().flatten() {
                Some((start, end)) if flags.skip_empty && start == end => {
                    match self.text.get(end..).and_then(|rest| rest.chars().next()) {
                        Some(char) => from = end + char.len_utf8(),
                        None => return Ok(None),
                    }
                }
                other => return Ok(other),
            }
        }
    }

    /// Counts the characters before a place, from the last one counted if that is before it.
    fn chars(&self, world: &mut World<'_>, at: usize) -> Result<usize> {
        let (bytes, chars) = if self.counted.0 <= at {
            self.counted
        } else {
            (0, 0)
        };
        Ok(chars + count(world, self.text.get(bytes..at).unwrap_or_default())?)
    }

    fn show(&mut self, world: &mut World<'_>, whole: (usize, usize)) -> Result<Value> {
        self.counted = (whole.0, self.chars(world, whole.0)?);
        let mut groups = Vec::new();
        for at in 1..=self.regex.group_count() {
            let place = self.places.get(at).copied().flatten();
            let name = self.regex.group_names().get(at - 1);
            let name = name.and_then(Option::as_deref);
            let name = name.map_or(Value::Null, |name| Value::String(Text::from(name)));
            groups.push(self.group(world, place, (Text::from("name"), name))?);
        }
        self.group(
            world,
            Some(whole),
            (Text::from("captures"), Value::array(groups)),
        )
    }

    fn group(
        &self,
        world: &mut World<'_>,
        place: Option<(usize, usize)>,
        last: (Text, Value),
    ) -> Result<Value> {
        let (offset, length, string) = match place {
            Some((from, to)) => {
                let part = self.text.get(from..to).unwrap_or_default();
                world.fuel.room(part.len())?;
                let offset = Value::count(self.chars(world, from)?);
                (
                    offset,
                    Value::count(count(world, part)?),
                    Value::string(part.as_bytes()),
                )
            }
            None => (Value::Number(-1.0), Value::Number(0.0), Value::Null),
        };
        Ok(Value::object([
            (Text::from("offset"), offset),
            (Text::from("length"), length),
            (Text::from("string"), string),
            last,
        ]))
    }
}

/// Counts characters, in pieces.
fn count(world: &mut World<'_>, text: &str) -> Result<usize> {
    let mut chars = 0;
    for piece in text.as_bytes().chunks(1 << 15) {
        world
            .fuel
            .sys
            .work(u32::try_from(piece.len() >> 10).unwrap_or(0))?;
        chars += piece.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
    }
    Ok(chars)
}

fn compile(world: &mut World<'_>, pattern: &Text, flags: &Text) -> Result<(Rc<Regex>, Flags)> {
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
    if pattern.len() > MAX_PATTERN {
        return Err(fail::error("the regular expression is too big"));
    }
    let source = (pattern.clone(), flags.clone());
    if let Some(known) = world.regexes.iter().find(|known| known.source == source) {
        return Ok((Rc::clone(&known.regex), wanted));
    }
    world.fuel.steps(pattern.len().saturating_mul(64))?;
    let mut modes = String::new();
    if has(b'x') {
        modes.push_str("(?x)");
    }
    if has(b'p') || has(b's') && has(b'm') {
        modes.push_str("(?s)");
    }
    let text = modes + &translate(pattern.as_str(), has(b'x'));
    let how = jp_bash_regex::Flags {
        ignore_case: has(b'i'),
        utf8: true,
        ..jp_bash_regex::Flags::default()
    };
    let regex = match Regex::new(world.fuel.sys, text.as_bytes(), Flavor::Perl, how)? {
        Ok(regex) => Rc::new(regex),
        Err(RegexError::TooBig) => return Err(fail::error("the regular expression is too big")),
        Err(error) => {
            let pattern = pattern.as_str();
            return Err(fail::error(format!(
                "{pattern} (at offset 0) is not a valid regex: {error}"
            )));
        }
    };
    let kept: u64 = world.regexes.iter().map(|known| known.regex.size()).sum();
    if kept > MOST_BYTES {
        for known in world.regexes.drain(..) {
            known.regex.settle(world.fuel.sys);
        }
    }
    if world.regexes.len() >= KEPT {
        world.regexes.remove(0).regex.settle(world.fuel.sys);
    }
    world.regexes.push(Compiled {
        source,
        regex: Rc::clone(&regex),
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
