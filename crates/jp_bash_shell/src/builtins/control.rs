//! `:`, `true`, `false`, `break`, `continue`, `return`, `exit`, `logout`, `eval`.

use super::args::{Getopt, number, operand};
use crate::Shell;
use crate::flow::Flow;
use crate::frames::FrameKind;

type Args<'a> = &'a [Vec<u8>];

pub(super) fn colon(_: &mut Shell<'_>, _: Args<'_>) -> Result<i32, Flow> {
    Ok(0)
}

pub(super) fn false_(_: &mut Shell<'_>, _: Args<'_>) -> Result<i32, Flow> {
    Ok(1)
}

/// Reads how many loops to leave; `Err` holds the status of a bad count.
fn levels(shell: &mut Shell<'_>, args: Args<'_>) -> Result<Result<u32, i32>, Flow> {
    let name = operand(args, 0).to_vec();
    if shell.loops == 0 {
        let text = b"only meaningful in a `for', `while', or `until' loop";
        shell.complain_as(&name, text)?;
        return Ok(Err(0));
    }
    let mut rest = args.get(1..).unwrap_or_default();
    if operand(rest, 0) == b"--" {
        rest = rest.get(1..).unwrap_or_default();
    }
    let Some(text) = rest.first() else {
        return Ok(Ok(1));
    };
    let Some(count) = number(text) else {
        shell.complain_as(&name, &[text, &b": numeric argument required"[..]].concat())?;
        return Err(Flow::Exit(128));
    };
    if rest.len() > 1 {
        shell.complain_as(&name, b"too many arguments")?;
        return Err(Flow::Abandon(1));
    }
    if count <= 0 {
        shell.complain_as(&name, &[text, &b": loop count out of range"[..]].concat())?;
        shell.status = 1;
        return Err(Flow::Break(u32::MAX));
    }
    Ok(Ok(u32::try_from(count).unwrap_or(u32::MAX)))
}

pub(super) fn break_loop(shell: &mut Shell<'_>, args: Args<'_>) -> Result<i32, Flow> {
    match levels(shell, args)? {
        Ok(levels) => {
            shell.status = 0;
            Err(Flow::Break(levels))
        }
        Err(status) => Ok(status),
    }
}

pub(super) fn continue_loop(shell: &mut Shell<'_>, args: Args<'_>) -> Result<i32, Flow> {
    match levels(shell, args)? {
        Ok(levels) => {
            shell.status = 0;
            Err(Flow::Continue(levels))
        }
        Err(status) => Ok(status),
    }
}

/// Reads the status of `return` and `exit`.
fn status_of(shell: &mut Shell<'_>, args: Args<'_>) -> Result<i32, Flow> {
    let name = operand(args, 0).to_vec();
    let mut rest = args.get(1..).unwrap_or_default();
    if operand(rest, 0) == b"--" {
        rest = rest.get(1..).unwrap_or_default();
    }
    let Some(text) = rest.first() else {
        return Ok(shell.status);
    };
    let Some(status) = number(text) else {
        shell.complain_as(&name, &[text, &b": numeric argument required"[..]].concat())?;
        return Ok(2);
    };
    if rest.len() > 1 {
        shell.complain_as(&name, b"too many arguments")?;
        return Err(Flow::Abandon(1));
    }
    Ok(i32::try_from(status & 255).unwrap_or(0))
}

pub(super) fn return_(shell: &mut Shell<'_>, args: Args<'_>) -> Result<i32, Flow> {
    let inside = shell
        .frames
        .iter()
        .any(|frame| frame.kind != FrameKind::Main);
    if !inside {
        let text = b"can only `return' from a function or sourced script";
        shell.complain_as(b"return", text)?;
        return Ok(2);
    }
    let status = status_of(shell, args)?;
    Err(Flow::Return(status))
}

pub(super) fn exit(shell: &mut Shell<'_>, args: Args<'_>) -> Result<i32, Flow> {
    let status = match status_of(shell, args) {
        Err(Flow::Abandon(status)) => return Err(Flow::Abandon(status)),
        other => other?,
    };
    // The trap still sees the function that this stands in: its variables, its redirections.
    let status = shell.run_exit_trap(status)?;
    Err(Flow::Exit(status))
}

pub(super) fn logout(shell: &mut Shell<'_>, _: Args<'_>) -> Result<i32, Flow> {
    shell.complain_as(b"logout", b"not login shell: use `exit'")?;
    Ok(1)
}

pub(super) fn eval(shell: &mut Shell<'_>, args: Args<'_>) -> Result<i32, Flow> {
    let mut options = Getopt::new(args, "");
    if let Err(bad) = options.next() {
        return shell.bad_option(b"eval", &bad, "eval [arg ...]");
    }
    let text = options.rest().join(&b' ');
    if text.is_empty() {
        return Ok(0);
    }
    shell.eval_text(&text)
}
