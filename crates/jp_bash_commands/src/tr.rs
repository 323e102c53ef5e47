//! `tr`: translates, squeezes or deletes bytes.

use jp_bash_system::io::{Input, Output, called, fail, say};
use jp_bash_system::{Stop, SysError, System, failed};

use super::Spec;
use super::options::{Front, HELP, Opt, Order, Takes, VERSION, begin, hint, opt};
use super::quote::quote;
use super::tr_set::{Case, Part, read};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "tr",
    about: "Translates, squeezes or deletes characters of standard input.",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('c', Some(b'c'), Some("complement"), Takes::Nothing),
    opt('c', Some(b'C'), None, Takes::Nothing),
    opt('d', Some(b'd'), Some("delete"), Takes::Nothing),
    opt('s', Some(b's'), Some("squeeze-repeats"), Takes::Nothing),
    opt('t', Some(b't'), Some("truncate-set1"), Takes::Nothing),
    HELP,
    VERSION,
];

const FRONT: Front = Front {
    spec: &SPEC,
    usage: "[OPTION]... STRING1 [STRING2]",
    usage_status: 1,
    order: Order::Stop,
};

/// What happens to each byte, in this order.
struct Plan {
    delete: [bool; 256],
    map: [u8; 256],
    squeeze: [bool; 256],
}

/// Runs `tr`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let parsed = match begin(sys, args, &FRONT)? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let has = |letter: char| parsed.options.iter().any(|(id, _)| *id == letter);
    let how = How {
        complement: has('c'),
        delete: has('d'),
        squeeze: has('s'),
        truncate: has('t'),
    };
    if let Some((what, operand, more)) = wrong_operands(&how, &parsed.operands) {
        let shown = operand
            .map(|operand| quote(sys.utf8(), operand))
            .unwrap_or_default();
        fail(sys, args, 1, &[what.as_bytes(), &shown])?;
        if let Some(more) = more {
            say(sys, &[more.as_bytes(), b"\n"])?;
        }
        hint(sys, called(args))?;
        return Ok(1);
    }
    let plan = match plan(sys, args, &how, &parsed.operands)? {
        Ok(plan) => plan,
        Err(status) => return Ok(status),
    };
    let mut input = Input::new(0);
    let mut out = Output::new(1);
    let done = stream(sys, &plan, &mut input, &mut out);
    input.close(sys);
    if let Err(errno) = failed(done)? {
        out.flush(sys)?;
        return fail(sys, args, 1, &[b"read error: ", errno.text().as_bytes()]);
    }
    match out.finish(sys)? {
        Ok(()) => Ok(0),
        Err(errno) => fail(sys, args, 1, &[b"write error: ", errno.text().as_bytes()]),
    }
}

struct How {
    complement: bool,
    delete: bool,
    squeeze: bool,
    truncate: bool,
}

impl How {
    /// Tells whether the second array says what the first becomes.
    fn translates(&self, operands: usize) -> bool {
        operands == 2 && !self.delete
    }
}

type Wrong<'o> = (&'static str, Option<&'o Vec<u8>>, Option<&'static str>);

/// Finds what is wrong with the number of operands.
fn wrong_operands<'o>(how: &How, operands: &'o [Vec<u8>]) -> Option<Wrong<'o>> {
    let least = if how.delete == how.squeeze { 2 } else { 1 };
    let most = if how.delete && !how.squeeze { 1 } else { 2 };
    if operands.len() < least {
        return Some(match operands.first() {
            None => ("missing operand", None, None),
            first => (
                "missing operand after ",
                first,
                Some(if how.squeeze {
                    "Two strings must be given when both deleting and squeezing repeats."
                } else {
                    "Two strings must be given when translating."
                }),
            ),
        });
    }
    let extra = operands.get(most)?;
    let more = (operands.len() == 2)
        .then_some("Only one string may be given when deleting without squeezing repeats.");
    Some(("extra operand ", Some(extra), more))
}

/// Reads both arrays and works out what happens to each byte.
fn plan(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    how: &How,
    operands: &[Vec<u8>],
) -> Result<Result<Box<Plan>, i32>, Stop> {
    let mut arrays = Vec::new();
    for operand in operands {
        let (warnings, parts) = match read(operand, sys.utf8()) {
            Ok(array) => (array.warnings, Some(array.parts)),
            Err(messages) => (messages, None),
        };
        for warning in &warnings {
            fail(sys, args, 1, &[warning])?;
        }
        match parts {
            Some(parts) => arrays.push(parts),
            None => return Ok(Err(1)),
        }
    }
    let mut arrays = arrays.into_iter();
    let first = arrays.next().unwrap_or_default();
    match work_out(how, &first, arrays.next()) {
        Ok(plan) => Ok(Ok(plan)),
        Err(message) => Ok(Err(fail(sys, args, 1, &[message.as_bytes()])?)),
    }
}

fn work_out(
    how: &How,
    first: &[Part],
    second: Option<Vec<Part>>,
) -> Result<Box<Plan>, &'static str> {
    let mut plan = Box::new(Plan {
        delete: [false; 256],
        map: std::array::from_fn(|at| u8::try_from(at).unwrap_or(0)),
        squeeze: [false; 256],
    });
    let translates = how.translates(if second.is_some() { 2 } else { 1 });
    if first.iter().any(|part| matches!(part, Part::Repeat(_, 0))) {
        return Err("the [c*] repeat construct may not appear in string1");
    }
    let set1 = expand(first, how.complement);
    let Some(mut second) = second else {
        let marks = if how.delete {
            &mut plan.delete
        } else {
            &mut plan.squeeze
        };
        mark(marks, &set1);
        return Ok(plan);
    };
    let endless = second
        .iter()
        .filter(|part| matches!(part, Part::Repeat(_, 0)))
        .count();
    if endless > 1 {
        return Err("only one [c*] repeat construct may appear in string2");
    }
    if !translates {
        if endless > 0 {
            return Err("the [c*] construct may appear in string2 only when translating");
        }
        if how.delete {
            mark(&mut plan.delete, &set1);
        }
        mark(&mut plan.squeeze, &expand(&second, false));
        return Ok(plan);
    }
    check_second(&second)?;
    let (from, to) = pair(how, first, set1, &mut second)?;
    for (from, to) in from.iter().zip(&to) {
        if let Some(slot) = plan.map.get_mut(usize::from(*from)) {
            *slot = *to;
        }
    }
    if how.squeeze {
        mark(&mut plan.squeeze, &to);
    }
    Ok(plan)
}

fn check_second(second: &[Part]) -> Result<(), &'static str> {
    if second
        .iter()
        .any(|part| matches!(part, Part::Equivalence(_)))
    {
        return Err("[=c=] expressions may not appear in string2 when translating");
    }
    if second
        .iter()
        .any(|part| matches!(part, Part::Class(_, None)))
    {
        return Err(
            "when translating, the only character classes that may appear in\nstring2 are 'upper' and 'lower'",
        );
    }
    Ok(())
}

/// Pairs the two arrays, byte for byte; the second may go on beyond the first.
fn pair(
    how: &How,
    first: &[Part],
    mut set1: Vec<u8>,
    second: &mut [Part],
) -> Result<(Vec<u8>, Vec<u8>), &'static str> {
    let length1 = set1.len() as u64;
    let length2: u64 = second
        .iter()
        .fold(0u64, |sum, part| sum.saturating_add(part.len()));
    for part in second.iter_mut() {
        if let Part::Repeat(_, count @ 0) = part {
            *count = length1.saturating_sub(length2);
        }
    }
    let length2: u64 = second
        .iter()
        .fold(0u64, |sum, part| sum.saturating_add(part.len()));
    if !how.complement
        && second
            .iter()
            .any(|part| matches!(part, Part::Class(_, Some(_))))
    {
        return pair_cases(how, first, second);
    }
    if length2 < length1 && !how.truncate {
        if length2 == 0 {
            return Err("when not truncating set1, string2 must be non-empty");
        }
        if matches!(second.last(), Some(Part::Class(..))) {
            return Err(
                "when translating with string1 longer than string2,\nthe latter string must not end with a character class",
            );
        }
    }
    let mut set2 = Vec::new();
    let most = usize::max(set1.len(), 256);
    for part in second.iter() {
        part.expand(&mut set2, most);
    }
    let has_class = first.iter().any(|part| matches!(part, Part::Class(..)));
    if how.complement && has_class {
        let one = set2.first().copied();
        let all_one = set2.iter().all(|byte| Some(*byte) == one);
        if !(all_one && (set2.len() >= set1.len() || !how.truncate)) {
            return Err(
                "when translating with complemented character classes,\nstring2 must map all characters in the domain to one",
            );
        }
    }
    if how.truncate {
        set1.truncate(set2.len());
    } else if let Some(last) = set2.last().copied()
        && set2.len() < set1.len()
    {
        set2.resize(set1.len(), last);
    }
    Ok((set1, set2))
}

/// Pairs arrays where `[:upper:]` and `[:lower:]` of the second stand opposite such a class of the first.
fn pair_cases(
    how: &How,
    first: &[Part],
    second: &[Part],
) -> Result<(Vec<u8>, Vec<u8>), &'static str> {
    const MISALIGNED: &str = "misaligned [:upper:] and/or [:lower:] construct";
    let mut from: Vec<u8> = Vec::new();
    let mut to: Vec<u8> = Vec::new();
    // Where a case class begins in the expanded first array.
    let mut starts = Vec::new();
    for part in first {
        if let Part::Class(_, Some(case)) = part {
            starts.push((from.len(), *case));
        }
        part.expand(&mut from, 65_536);
    }
    for part in second {
        match part {
            Part::Class(_, Some(wanted)) => {
                // What lies beyond the first array only says what is squeezed.
                if to.len() > from.len() {
                    part.expand(&mut to, usize::MAX);
                    continue;
                }
                let here = starts
                    .iter()
                    .find(|(at, _)| *at == to.len())
                    .map(|(_, case)| *case);
                let Some(given) = here else {
                    return Err(MISALIGNED);
                };
                for byte in from.get(to.len()..).unwrap_or_default().iter().take(26) {
                    to.push(match (given, wanted) {
                        (Case::Lower, Case::Upper) => byte.to_ascii_uppercase(),
                        (Case::Upper, Case::Lower) => byte.to_ascii_lowercase(),
                        _ => *byte,
                    });
                }
            }
            part => part.expand(&mut to, usize::max(from.len(), 256)),
        }
    }
    if to.len() < from.len() && !how.truncate {
        if matches!(second.last(), Some(Part::Class(..))) {
            return Err(
                "when translating with string1 longer than string2,\nthe latter string must not end with a character class",
            );
        }
        let last = to.last().copied().unwrap_or(0);
        to.resize(from.len(), last);
    }
    from.truncate(to.len());
    Ok((from, to))
}

fn expand(parts: &[Part], complement: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts {
        part.expand(&mut bytes, 65_536);
    }
    if complement {
        let mut there = [false; 256];
        mark(&mut there, &bytes);
        return (0..=255u8)
            .zip(there)
            .filter(|(_, there)| !there)
            .map(|(byte, _)| byte)
            .collect();
    }
    bytes
}

fn mark(marks: &mut [bool; 256], bytes: &[u8]) {
    for byte in bytes {
        if let Some(slot) = marks.get_mut(usize::from(*byte)) {
            *slot = true;
        }
    }
}

fn at<T: Copy>(table: &[T; 256], byte: u8) -> T {
    table[usize::from(byte)]
}

fn stream(
    sys: &mut dyn System,
    plan: &Plan,
    input: &mut Input,
    out: &mut Output,
) -> Result<(), SysError> {
    let deletes = plan.delete.contains(&true);
    let squeezes = plan.squeeze.contains(&true);
    let mut last: Option<u8> = None;
    while !out.failed() {
        let bytes = input.fill(sys)?;
        if bytes.is_empty() {
            break;
        }
        let len = bytes.len();
        let buffer = out.buffer();
        if !deletes && !squeezes {
            buffer.extend(bytes.iter().map(|byte| at(&plan.map, *byte)));
        } else {
            for &byte in bytes {
                if deletes && at(&plan.delete, byte) {
                    continue;
                }
                let byte = at(&plan.map, byte);
                if squeezes && last == Some(byte) && at(&plan.squeeze, byte) {
                    continue;
                }
                last = Some(byte);
                buffer.push(byte);
            }
        }
        input.consume(len);
        out.settle(sys)?;
        sys.work(32)?;
    }
    Ok(())
}
