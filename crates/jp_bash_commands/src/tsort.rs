//! `tsort`: an order in which every pair's first comes before its second.

use std::collections::VecDeque;

use jp_bash_system::io::Held;
use jp_bash_system::{PIECE, Stop, System};
use rustc_hash::FxHashMap;

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::options::Opt;
use super::pace;
use super::whole::read_whole;

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "tsort",
    about: "Sorts words so that all pairs are in order.",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[HELP, VERSION];

/// A word, how many must come before it, and which come behind it, the newest last.
struct Item<'t> {
    word: &'t [u8],
    before: usize,
    behind: Vec<usize>,
    done: bool,
}

/// Runs `tsort`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION] [FILE]")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    if let Some(extra) = parsed.operands.get(1) {
        let shown = cmd.quote(extra);
        return cmd.usage(&[b"extra operand ", &shown]);
    }
    let file = parsed.operands.first().map_or(&b"-"[..], Vec::as_slice);
    let mut held = Held::default();
    let text = match read_whole(cmd.sys, file, &mut held)? {
        Ok(text) => text,
        Err(errno) => {
            let name = cmd.qf(file);
            cmd.fail(&[&name], errno)?;
            return cmd.finish();
        }
    };
    // Each word costs an item and a place in two tables.
    held.more(cmd.sys, text.len().saturating_mul(32))?;
    let mut items = read(cmd.sys, &mut held, &text)?;
    match &mut items {
        Some(items) => order(&mut cmd, file, items)?,
        None => {
            let name = cmd.qf(file);
            cmd.error(&[&name, b": input contains an odd number of tokens"])?;
        }
    }
    held.end(cmd.sys);
    cmd.finish()
}

/// Reads pairs; nothing if the last lacks its second word. The items are in the order of their words.
fn read<'t>(
    sys: &mut dyn System,
    held: &mut Held,
    text: &'t [u8],
) -> Result<Option<Vec<Item<'t>>>, Stop> {
    let mut words: Vec<&[u8]> = Vec::new();
    let mut rest = text;
    loop {
        let length = pace::span(sys, rest, |byte| !is_blank(byte))?;
        let (word, later) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        if !word.is_empty() {
            words.push(word);
            sys.work(1)?;
        }
        let Some((_, later)) = later.split_first() else {
            break;
        };
        rest = later;
        if rest.len().is_multiple_of(PIECE) {
            sys.work_bytes(PIECE)?;
        }
    }
    let mut names = words.clone();
    pace::sort(sys, held, &mut names)?;
    names.dedup();
    let mut places: FxHashMap<&[u8], usize> = FxHashMap::default();
    let mut items: Vec<Item<'_>> = Vec::with_capacity(names.len());
    for (place, word) in names.into_iter().enumerate() {
        sys.work(1)?;
        places.insert(word, place);
        items.push(Item {
            word,
            before: 0,
            behind: Vec::new(),
            done: false,
        });
    }
    for pair in words.chunks(2) {
        sys.work(1)?;
        let place = |word: Option<&&[u8]>| word.and_then(|word| places.get(word).copied());
        let (Some(first), Some(second)) = (place(pair.first()), place(pair.get(1))) else {
            return Ok(None);
        };
        if first != second {
            if let Some(item) = items.get_mut(second) {
                item.before += 1;
            }
            if let Some(item) = items.get_mut(first) {
                item.behind.push(second);
            }
        }
    }
    Ok(Some(items))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

fn order(cmd: &mut Cmd<'_>, file: &[u8], items: &mut [Item<'_>]) -> Result<(), Stop> {
    let mut left = items.len();
    let mut ready: VecDeque<usize> = VecDeque::new();
    loop {
        let free = items.iter().enumerate();
        ready.extend(
            free.filter(|(_, item)| item.before == 0 && !item.done)
                .map(|(at, _)| at),
        );
        while let Some(at) = ready.pop_front() {
            cmd.sys.turns(1)?;
            let Some(item) = items.get_mut(at) else {
                continue;
            };
            item.done = true;
            left -= 1;
            cmd.put(&[item.word, b"\n"].concat())?;
            // The real one keeps what comes behind in a list that grows at its front.
            for next in std::mem::take(&mut item.behind).into_iter().rev() {
                if let Some(next_item) = items.get_mut(next) {
                    next_item.before = next_item.before.saturating_sub(1);
                    if next_item.before == 0 {
                        ready.push_back(next);
                    }
                }
            }
        }
        if left == 0 {
            return Ok(());
        }
        break_loop(cmd, file, items)?;
    }
}

/// Reports a loop and removes one of its pairs.
fn break_loop(cmd: &mut Cmd<'_>, file: &[u8], items: &mut [Item<'_>]) -> Result<(), Stop> {
    let name = cmd.qf(file);
    cmd.out.flush(cmd.sys)?;
    cmd.error(&[&name, b": input contains a loop:"])?;
    // Whatever is left has something before it, so walking against the pairs must come round.
    let mut before: Vec<Option<usize>> = vec![None; items.len()];
    for (at, item) in items.iter().enumerate().filter(|(_, item)| !item.done) {
        for next in &item.behind {
            if let Some(known @ None) = before.get_mut(*next) {
                *known = Some(at);
            }
        }
    }
    let mut path: Vec<usize> = Vec::new();
    let mut seen = vec![false; items.len()];
    let mut at = items.iter().position(|item| !item.done && item.before > 0);
    while let Some(here) = at {
        cmd.sys.turns(1)?;
        match seen.get_mut(here) {
            Some(seen @ false) => *seen = true,
            _ => break,
        }
        path.push(here);
        at = before.get(here).copied().flatten();
    }
    let start = path
        .iter()
        .position(|place| Some(*place) == at)
        .unwrap_or(0);
    let mut cycle: Vec<usize> = path.split_off(start);
    cycle.reverse();
    // Shown from the smallest word on.
    let smallest = cycle
        .iter()
        .enumerate()
        .min_by_key(|(_, place)| **place)
        .map_or(0, |(i, _)| i);
    cycle.rotate_left(smallest);
    for place in &cycle {
        if let Some(item) = items.get(*place) {
            let word = item.word.to_vec();
            cmd.note(&[&word])?;
        }
    }
    let (Some(&last), Some(&first)) = (cycle.last(), cycle.first()) else {
        return Ok(());
    };
    if let Some(item) = items.get_mut(last)
        && let Some(edge) = item.behind.iter().position(|next| *next == first)
    {
        item.behind.remove(edge);
    }
    if let Some(item) = items.get_mut(first) {
        item.before = item.before.saturating_sub(1);
    }
    Ok(())
}
