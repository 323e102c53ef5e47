//! `sort -m`: files that are sorted already, read side by side.

use jp_bash_system::io::{Held, Input};
use jp_bash_system::{Stop, SysError, System};

use super::sort_run::Order;

/// Merges files, handing each line with its end to `put`. An error names the file by its number.
pub(super) fn merge(
    sys: &mut dyn System,
    inputs: &mut [Input],
    order: &Order,
    end: u8,
    unique: bool,
    held: &mut Held,
    mut put: impl FnMut(&mut dyn System, &mut Held, &[u8]) -> Result<(), Stop>,
) -> Result<(), (usize, SysError)> {
    let mut heads: Vec<Vec<u8>> = vec![Vec::new(); inputs.len()];
    // Files by the order of their next lines, the last one first.
    let mut queue: Vec<usize> = Vec::with_capacity(inputs.len());
    for at in 0..inputs.len() {
        if advance(sys, inputs, &mut heads, at, end, held)? {
            insert(sys, &mut queue, &heads, order, at).map_err(|stop| (at, stop.into()))?;
        }
    }
    let mut previous: Option<Vec<u8>> = None;
    while let Some(at) = queue.pop() {
        if let Some(line) = heads.get(at) {
            let repeated = unique
                && previous
                    .as_ref()
                    .is_some_and(|old| order.compare(old, line).is_eq());
            if !repeated {
                put(sys, held, line)
                    .and_then(|()| put(sys, held, &[end]))
                    .map_err(|stop| (at, stop.into()))?;
                if unique {
                    let kept = previous.get_or_insert_default();
                    held.copy(sys, kept, line)
                        .map_err(|stop| (at, stop.into()))?;
                }
            }
        }
        if advance(sys, inputs, &mut heads, at, end, held)? {
            insert(sys, &mut queue, &heads, order, at).map_err(|stop| (at, stop.into()))?;
        }
    }
    Ok(())
}

/// Reads the next line of one file; `false` at its end.
fn advance(
    sys: &mut dyn System,
    inputs: &mut [Input],
    heads: &mut [Vec<u8>],
    at: usize,
    end: u8,
    held: &mut Held,
) -> Result<bool, (usize, SysError)> {
    let (Some(input), Some(head)) = (inputs.get_mut(at), heads.get_mut(at)) else {
        return Ok(false);
    };
    let Some(line) = input.record(sys, end).map_err(|error| (at, error))? else {
        return Ok(false);
    };
    let line = line.strip_suffix(&[end]).unwrap_or(line);
    held.copy(sys, head, line)
        .map_err(|stop| (at, stop.into()))?;
    Ok(true)
}

/// Puts a file where its next line belongs; among equal lines the earlier file comes first.
fn insert(
    sys: &mut dyn System,
    queue: &mut Vec<usize>,
    heads: &[Vec<u8>],
    order: &Order,
    at: usize,
) -> Result<(), Stop> {
    let line = |file: usize| heads.get(file).map_or(&b""[..], Vec::as_slice);
    let (mut low, mut high) = (0, queue.len());
    while low < high {
        let middle = low.midpoint(high);
        let other = queue.get(middle).copied().unwrap_or(0);
        order.pay(sys, line(other), line(at))?;
        let later = order
            .compare(line(other), line(at))
            .then_with(|| other.cmp(&at))
            .is_gt();
        match later {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    queue.insert(low, at);
    Ok(())
}
