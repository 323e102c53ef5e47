//! How grep writes a line: names, numbers, separators, colours.

use jp_bash_regex::MatchError;
use jp_bash_system::{Stop, SysResult, System};

use super::config::Show;
use super::search::{Place, Search};

/// Colours, as GNU's defaults.
const MATCH: &str = "01;31";
const FILE: &str = "35";
const NUMBER: &str = "32";
const MARK: &str = "36";

fn painted(out: &mut Vec<u8>, on: bool, colour: &str, text: &[u8]) {
    if on {
        out.extend_from_slice(format!("\x1b[{colour}m\x1b[K").as_bytes());
    }
    out.extend_from_slice(text);
    if on {
        out.extend_from_slice(b"\x1b[m\x1b[K");
    }
}

/// Writes the separator of groups.
pub(super) fn separator(search: &mut Search, sys: &mut dyn System) -> Result<(), Stop> {
    let on = search.config.color;
    if let Some(text) = &search.config.separator {
        painted(search.out.buffer(), on, MARK, text);
        search.out.buffer().push(b'\n');
    }
    search.out.settle(sys)
}

fn head(search: &mut Search, place: &Place, at: u64, mark: u8, empty: bool) {
    let config = &search.config;
    let on = config.color;
    let out = search.out.buffer();
    if place.named {
        painted(out, on, FILE, &place.name);
        if config.null_after_name {
            out.push(0);
        } else {
            painted(out, on, MARK, &[mark]);
        }
    }
    let width = place.width;
    let mut number = |n: u64| {
        if on || width > 0 {
            painted(out, on, NUMBER, format!("{n:width$}").as_bytes());
        } else {
            decimal(out, n);
        }
        painted(out, on, MARK, &[mark]);
    };
    if config.line_number {
        number(place.lines + 1);
    }
    if config.byte_offset {
        number(at);
    }
    if config.initial_tab && !empty && (place.named || config.line_number || config.byte_offset) {
        search.out.buffer().push(b'\t');
    }
}

fn decimal(out: &mut Vec<u8>, mut n: u64) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    for place in digits.iter_mut().rev() {
        *place = b'0' + u8::try_from(n % 10).unwrap_or(0);
        n /= 10;
        at -= 1;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(at..).unwrap_or_default());
}

/// Writes a selected or context line, or its matches.
pub(super) fn line(
    search: &mut Search,
    sys: &mut dyn System,
    place: &mut Place,
    (from, to): (usize, usize),
    selected: bool,
) -> SysResult<()> {
    let only = search.config.show == Show::Matches;
    let mark = if selected { b':' } else { b'-' };
    if !only {
        let plain = !(place.named || search.config.line_number || search.config.byte_offset);
        if !plain {
            head(
                search,
                place,
                place.base + from as u64,
                mark,
                to - from <= 1,
            );
        }
        if !search.config.color {
            let line = search.buf.get(from..to).unwrap_or_default();
            search.out.put(sys, line)?;
            return Ok(());
        }
    }
    // With `-v` it is the context lines that hold matches; `-o` prints none of them.
    let matching = selected != search.config.invert;
    if only && !(matching && selected) {
        return Ok(());
    }
    let mut at = from;
    if matching {
        at = matches(search, sys, place, (from, to), mark)?;
    }
    if !only {
        let rest = search.buf.get(at..to).unwrap_or_default();
        search.out.put(sys, rest)?;
    }
    Ok(())
}

/// Writes the matches of a line, and unless `-o` what is between them; where the last one ended.
fn matches(
    search: &mut Search,
    sys: &mut dyn System,
    place: &mut Place,
    (from, to): (usize, usize),
    mark: u8,
) -> SysResult<usize> {
    let only = search.config.show == Show::Matches;
    let on = search.config.color;
    let mut done = from;
    let mut at = from;
    while at < to {
        let Some((start, end)) = find(search, sys, (from, to), at)? else {
            break;
        };
        if end == start {
            at = end
                + step(
                    search.buf.get(end..to).unwrap_or_default(),
                    search.config.utf8,
                );
            continue;
        }
        if only {
            head(search, place, place.base + start as u64, mark, false);
        } else {
            let between = search.buf.get(done..start).unwrap_or_default();
            search.out.put(sys, between)?;
        }
        let text = search.buf.get(start..end).unwrap_or_default();
        painted(search.out.buffer(), on, MATCH, text);
        if only {
            search.out.buffer().push(search.config.eol);
        }
        search.out.settle(sys)?;
        sys.work(1)?;
        done = end;
        at = end;
    }
    Ok(done)
}

fn step(rest: &[u8], utf8: bool) -> usize {
    let mut len = 1;
    while utf8 && rest.get(len).is_some_and(|byte| byte & 0xc0 == 0x80) {
        len += 1;
    }
    len
}

fn find(
    search: &Search,
    sys: &mut dyn System,
    (from, to): (usize, usize),
    at: usize,
) -> Result<Option<(usize, usize)>, Stop> {
    let Some(regex) = &search.config.regex else {
        return Ok(None);
    };
    let found = if search.config.line_by_line {
        let line = search.buf.get(from..to - 1).unwrap_or_default();
        let found = regex.find_at(sys, line, at - from);
        found.map(|found| found.map(|(start, end)| (from + start, from + end)))
    } else {
        let text = search.buf.get(..to).unwrap_or_default();
        regex.find_at(sys, text, at)
    };
    match found {
        Ok(found) => Ok(found.filter(|(start, _)| *start < to)),
        // The search that selected the line did not give up, so this one hardly will.
        Err(MatchError::TooManySteps) => Ok(None),
        Err(MatchError::Stop(stop)) => Err(stop),
    }
}

/// Writes the count of a file (`-c`).
pub(super) fn count(
    search: &mut Search,
    sys: &mut dyn System,
    place: &Place,
    n: u64,
) -> Result<(), Stop> {
    let on = search.config.color;
    let null = search.config.null_after_name;
    let out = search.out.buffer();
    if place.named {
        painted(out, on, FILE, &place.name);
        if null {
            out.push(0);
        } else {
            painted(out, on, MARK, b":");
        }
    }
    decimal(out, n);
    out.push(b'\n');
    search.out.settle(sys)
}

/// Writes the name of a file (`-l`, `-L`).
pub(super) fn name(search: &mut Search, sys: &mut dyn System, place: &Place) -> Result<(), Stop> {
    let on = search.config.color;
    let end = if search.config.null_after_name {
        0
    } else {
        b'\n'
    };
    painted(search.out.buffer(), on, FILE, &place.name);
    search.out.buffer().push(end);
    search.out.settle(sys)
}
