//! `caller`.

use super::args::{number, operand};
use crate::Shell;
use crate::flow::Flow;

pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let last = shell.frames.len();
    if args.len() < 2 {
        let Some(frame) = shell.frames.last() else {
            return Ok(1);
        };
        let source = last
            .checked_sub(2)
            .and_then(|at| shell.frames.get(at))
            .map_or(&b"NULL"[..], |frame| &frame.source);
        let line = [frame.call_line.to_string().as_bytes(), b" ", source, b"\n"].concat();
        return shell.print(b"caller", &line);
    }
    let text = operand(args, 1);
    let Some(level) = number(text).and_then(|n| usize::try_from(n).ok()) else {
        let text = [text, b": invalid number"].concat();
        shell.complain_as(b"caller", &text)?;
        return shell.usage(b"caller", "caller [expr]");
    };
    let at = last.checked_sub(level + 1);
    let Some(frame) = at.and_then(|at| shell.frames.get(at)) else {
        return Ok(1);
    };
    let above = at
        .and_then(|at| at.checked_sub(1))
        .and_then(|at| shell.frames.get(at));
    let Some(above) = above else {
        return Ok(1);
    };
    let line = [
        frame.call_line.to_string().as_bytes(),
        b" ",
        &above.name,
        b" ",
        &above.source,
        b"\n",
    ]
    .concat();
    shell.print(b"caller", &line)
}
