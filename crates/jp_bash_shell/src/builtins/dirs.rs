//! `dirs`, `pushd`, `popd`.

use std::sync::Arc;

use super::args::number;
use crate::Shell;
use crate::flow::Flow;
use crate::vars::known;

type Stack = Vec<Arc<[u8]>>;

fn whole(shell: &Shell<'_>) -> Stack {
    let mut stack = vec![Arc::clone(&shell.cwd.logical)];
    stack.extend(shell.dir_stack.iter().cloned());
    stack
}

fn with_tilde(shell: &mut Shell<'_>, path: &[u8]) -> Result<Vec<u8>, Flow> {
    let home = shell.var_text(known::HOME)?;
    let Some(home) = home.filter(|home| home.as_slice().len() > 1) else {
        return Ok(path.to_vec());
    };
    let rest = path.strip_prefix(home.as_slice());
    Ok(match rest {
        Some(rest) if rest.is_empty() || rest.starts_with(b"/") => [b"~", rest].concat(),
        _ => path.to_vec(),
    })
}

/// Reads `+N` and `-N`: the place in the whole stack.
fn place(text: &[u8], len: usize) -> Option<Option<usize>> {
    let (sign, digits) = text.split_first()?;
    if !matches!(sign, b'+' | b'-') || digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let n = usize::try_from(number(digits)?).ok()?;
    let at = if *sign == b'+' {
        Some(n)
    } else {
        len.checked_sub(n + 1)
    };
    Some(at.filter(|at| *at < len))
}

pub(super) fn dirs(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let (mut long, mut lines, mut numbers) = (false, false, false);
    let mut only = None;
    let stack = whole(shell);
    for arg in args.get(1..).unwrap_or_default() {
        match arg.as_slice() {
            b"--" => {}
            other if place(other, stack.len()).is_some() => match place(other, stack.len()) {
                Some(Some(at)) => only = Some(at),
                _ => {
                    let text = if stack.len() < 2 {
                        b"directory stack empty".to_vec()
                    } else {
                        let digits = arg.get(1..).unwrap_or_default();
                        [digits, b": directory stack index out of range"].concat()
                    };
                    shell.complain_as(b"dirs", &text)?;
                    return Ok(1);
                }
            },
            [b'-', letters @ ..] if !letters.is_empty() => {
                for letter in letters {
                    match letter {
                        b'c' => {
                            shell.dir_stack = Arc::default();
                            return Ok(0);
                        }
                        b'l' => long = true,
                        b'p' => lines = true,
                        b'v' => (lines, numbers) = (true, true),
                        _ => {
                            let text = [arg, &b": invalid number"[..]].concat();
                            shell.complain_as(b"dirs", &text)?;
                            return shell.usage(b"dirs", "dirs [-clpv] [+N] [-N]");
                        }
                    }
                }
            }
            other => {
                let text = [other, b": invalid option"].concat();
                shell.complain_as(b"dirs", &text)?;
                return shell.usage(b"dirs", "dirs [-clpv] [+N] [-N]");
            }
        }
    }
    let mut out = Vec::new();
    for (at, path) in stack.iter().enumerate() {
        if only.is_some_and(|only| only != at) {
            continue;
        }
        let shown = if long {
            path.to_vec()
        } else {
            with_tilde(shell, path)?
        };
        if numbers {
            out.extend_from_slice(format!("{at:2}  ").as_bytes());
        } else if !lines && !out.is_empty() {
            out.push(b' ');
        }
        out.extend_from_slice(&shown);
        if lines {
            out.push(b'\n');
        }
    }
    if !lines {
        out.push(b'\n');
    }
    shell.print(b"dirs", &out)
}

fn show(shell: &mut Shell<'_>) -> Result<i32, Flow> {
    dirs(shell, &[b"dirs".to_vec()])
}

/// Goes to the first entry and keeps the others below it.
fn go(shell: &mut Shell<'_>, name: &[u8], stack: &Stack, change: bool) -> Result<bool, Flow> {
    if change {
        let Some(first) = stack.first().cloned() else {
            return Ok(true);
        };
        if let Err(errno) = shell.change_dir(&first, false)? {
            let text = [&first, &b": "[..], errno.text().as_bytes()].concat();
            shell.complain_as(name, &text)?;
            return Ok(false);
        }
    }
    shell.dir_stack = Arc::new(stack.get(1..).unwrap_or_default().to_vec());
    Ok(true)
}

pub(super) fn pushd(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut rest = args.get(1..).unwrap_or_default();
    let mut change = true;
    while let Some(first) = rest.first() {
        match first.as_slice() {
            b"-n" => change = false,
            b"--" => {}
            [b'+' | b'-', _, ..] if place(first, usize::MAX).is_none() => {
                let text = [first, &b": invalid number"[..]].concat();
                shell.complain_as(b"pushd", &text)?;
                return shell.usage(b"pushd", "pushd [-n] [+N | -N | dir]");
            }
            _ => break,
        }
        rest = rest.get(1..).unwrap_or_default();
    }
    let mut stack = whole(shell);
    match rest.first() {
        None => {
            if stack.len() < 2 {
                shell.complain_as(b"pushd", b"no other directory")?;
                return Ok(1);
            }
            stack.swap(0, 1);
        }
        Some(arg) => match place(arg, stack.len()) {
            Some(Some(at)) => stack.rotate_left(at),
            Some(None) => {
                let text = if stack.len() < 2 {
                    b"directory stack empty".to_vec()
                } else {
                    [arg, &b": directory stack index out of range"[..]].concat()
                };
                shell.complain_as(b"pushd", &text)?;
                return Ok(1);
            }
            None if !change => stack.insert(1, Arc::from(arg.as_slice())),
            None if arg == b"-" => {
                let Some(old) = shell.var_text(known::OLDPWD)? else {
                    shell.complain_as(b"pushd", b"OLDPWD not set")?;
                    return Ok(1);
                };
                stack.insert(0, Arc::from(old.as_slice()));
            }
            None => stack.insert(0, Arc::from(arg.as_slice())),
        },
    }
    if !go(shell, b"pushd", &stack, change)? {
        return Ok(1);
    }
    show(shell)
}

pub(super) fn popd(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut change = true;
    let mut at = 0;
    let mut stack = whole(shell);
    for arg in args.get(1..).unwrap_or_default() {
        match (arg.as_slice(), place(arg, stack.len())) {
            (b"-n", _) => change = false,
            (b"--", _) => {}
            (_, Some(Some(found))) => at = found,
            (_, Some(None)) => {
                let text = if stack.len() < 2 {
                    b"directory stack empty".to_vec()
                } else {
                    [arg, &b": directory stack index out of range"[..]].concat()
                };
                shell.complain_as(b"popd", &text)?;
                return Ok(1);
            }
            _ => {
                shell.complain_as(b"popd", &[arg, &b": invalid number"[..]].concat())?;
                return shell.usage(b"popd", "popd [-n] [+N | -N]");
            }
        }
    }
    if stack.len() < 2 {
        shell.complain_as(b"popd", b"directory stack empty")?;
        return Ok(1);
    }
    if !change && at == 0 {
        at = 1;
    }
    stack.remove(at);
    if !go(shell, b"popd", &stack, change && at == 0)? {
        return Ok(1);
    }
    show(shell)
}
