//! `kill`.

use jp_bash_system::Pid;

use super::args::{number, operand};
use crate::Shell;
use crate::flow::Flow;
use crate::signals;

const USAGE: &str =
    "kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]";

pub(super) fn run(shell: &mut Shell<'_>, args: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut signal = signals::TERM;
    let mut rest = args.get(1..).unwrap_or_default();
    if rest.is_empty() {
        return shell.usage(b"kill", USAGE);
    }
    loop {
        let first = operand(rest, 0);
        match first {
            b"-l" | b"-L" => return list(shell, rest.get(1..).unwrap_or_default()),
            b"--" => {
                rest = rest.get(1..).unwrap_or_default();
                break;
            }
            b"-s" | b"-n" => {
                let Some(name) = rest.get(1) else {
                    let text = [first, b": option requires an argument"].concat();
                    shell.complain_as(b"kill", &text)?;
                    return Ok(1);
                };
                signal = match signal_of(shell, name)? {
                    Some(signal) => signal,
                    None => return Ok(1),
                };
                rest = rest.get(2..).unwrap_or_default();
            }
            [b'-', b's' | b'n', name @ ..]
                if !name.is_empty()
                    && signals::parse(first.get(1..).unwrap_or_default()).is_none() =>
            {
                signal = match signal_of(shell, name)? {
                    Some(signal) => signal,
                    None => return Ok(1),
                };
                rest = rest.get(1..).unwrap_or_default();
            }
            [b'-', name @ ..] if !name.is_empty() => {
                signal = match signal_of(shell, name)? {
                    Some(signal) => signal,
                    None => return Ok(1),
                };
                rest = rest.get(1..).unwrap_or_default();
                if operand(rest, 0) == b"--" {
                    rest = rest.get(1..).unwrap_or_default();
                }
                break;
            }
            _ => break,
        }
    }
    if rest.is_empty() {
        return shell.usage(b"kill", USAGE);
    }
    send_all(shell, signal, rest)
}

fn signal_of(shell: &mut Shell<'_>, name: &[u8]) -> Result<Option<u8>, Flow> {
    let signal = signals::parse(name).filter(|signal| *signal < signals::DEBUG);
    if signal.is_none() {
        let text = [name, b": invalid signal specification"].concat();
        shell.complain_as(b"kill", &text)?;
    }
    Ok(signal)
}

fn send_all(shell: &mut Shell<'_>, signal: u8, targets: &[Vec<u8>]) -> Result<i32, Flow> {
    let mut failed = false;
    for target in targets {
        let pids: Vec<Pid> = if let Some(spec) = target.strip_prefix(b"%") {
            match shell.jobs.find(spec) {
                Ok(number) => shell
                    .jobs
                    .get(number)
                    .map(|job| job.pids.clone())
                    .unwrap_or_default(),
                Err(why) => {
                    let text = [target, &b": "[..], why.as_bytes()].concat();
                    shell.complain_as(b"kill", &text)?;
                    failed = true;
                    continue;
                }
            }
        } else {
            match number(target) {
                Some(n @ ..=0) => {
                    let group = match n {
                        0 => shell.kernel.group(shell.pid),
                        n => Pid::try_from(n.unsigned_abs()).unwrap_or(Pid::MAX),
                    };
                    if !shell.kernel.signal_group(group, signal) {
                        let text = format!("({n}) - No such process");
                        shell.complain_as(b"kill", text.as_bytes())?;
                        failed = true;
                    }
                    continue;
                }
                Some(n) => vec![Pid::try_from(n).unwrap_or(Pid::MAX)],
                None if target.is_empty() => {
                    shell.complain_as(b"kill", b"`': not a pid or valid job spec")?;
                    failed = true;
                    continue;
                }
                None => {
                    let text = [target, &b": arguments must be process or job IDs"[..]].concat();
                    shell.complain_as(b"kill", &text)?;
                    failed = true;
                    continue;
                }
            }
        };
        let job = target.starts_with(b"%");
        for pid in pids {
            // Under `set -m` a job is a group of its own.
            let sent = match job {
                true => shell.signal_child(pid, signal),
                false => shell.kernel.signal(pid, signal),
            };
            if !sent {
                let text = format!("({pid}) - No such process");
                shell.complain_as(b"kill", text.as_bytes())?;
                failed = true;
            }
        }
    }
    if shell.kernel.signals.get() > 0 {
        // Their traps see the status of `kill`.
        shell.status = 0;
        shell.handle_signals()?;
    }
    Ok(i32::from(failed))
}

fn list(shell: &mut Shell<'_>, names: &[Vec<u8>]) -> Result<i32, Flow> {
    if names.is_empty() {
        let text = table();
        return shell.print(b"kill", &text);
    }
    let mut status = 0;
    let mut out = Vec::new();
    for name in names {
        let found = match number(name) {
            // A status of a killed process names its signal too.
            Some(n) => u8::try_from(if n > 128 { n - 128 } else { n })
                .ok()
                .filter(|n| *n < signals::DEBUG)
                .and_then(signals::name),
            None => signals::parse(name)
                .filter(|signal| *signal < signals::DEBUG)
                .map(|signal| signal.to_string()),
        };
        match found {
            Some(text) => {
                out.extend_from_slice(text.as_bytes());
                out.push(b'\n');
            }
            None => {
                let text = [name, &b": invalid signal specification"[..]].concat();
                shell.complain_as(b"kill", &text)?;
                status = 1;
            }
        }
    }
    shell.print(b"kill", &out)?;
    Ok(status)
}

/// The table of `kill -l`.
pub(super) fn table() -> Vec<u8> {
    let mut out = String::new();
    let mut column = 0;
    for signal in 1..signals::DEBUG {
        let Some(name) = signals::name(signal) else {
            continue;
        };
        out.push_str(&format!("{signal:2}) SIG{name}"));
        column += 1;
        out.push(if column % 5 == 0 { '\n' } else { '\t' });
    }
    if column % 5 != 0 {
        out.push('\n');
    }
    out.into_bytes()
}
