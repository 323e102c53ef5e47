//! `timeout`: runs a program, and signals it when its time is over.

use std::time::Duration;

use jp_bash_system::io::complain;
use jp_bash_system::{Ended, Pid, Spawn, Stop, System, failed};

use super::Spec;
use super::options::{Order, Takes, opt, parse};
use super::say::{self, HELP, VERSION};

/// `timeout`
pub(crate) const SPEC: Spec = Spec {
    name: "timeout",
    about: "run a command with a time limit",
    run,
    options: &[
        opt('p', None, Some("preserve-status"), Takes::Nothing),
        opt('f', None, Some("foreground"), Takes::Nothing),
        opt('k', Some(b'k'), Some("kill-after"), Takes::Required),
        opt('s', Some(b's'), Some("signal"), Takes::Required),
        opt('v', Some(b'v'), Some("verbose"), Takes::Nothing),
        HELP,
        VERSION,
    ],
};

/// Names of signals, by number from 1.
const SIGNALS: &str = "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP \
                       TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH POLL PWR SYS";
const KILL: u8 = 9;
const TERM: u8 = 15;
const CONT: u8 = 18;

fn signal_number(text: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(text).ok()?.to_ascii_uppercase();
    if let Ok(number) = text.parse::<u8>() {
        return (number <= 64).then_some(number);
    }
    let name = text.strip_prefix("SIG").unwrap_or(&text);
    let name = if name == "IO" { "POLL" } else { name };
    let at = SIGNALS.split_whitespace().position(|known| known == name)?;
    u8::try_from(at + 1).ok()
}

fn signal_name(number: u8) -> String {
    SIGNALS
        .split_whitespace()
        .nth(usize::from(number).wrapping_sub(1))
        .map_or_else(|| number.to_string(), str::to_owned)
}

struct Call {
    limit: f64,
    kill_after: f64,
    signal: u8,
    preserve: bool,
    verbose: bool,
}

fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let Ok(parsed) = parse(sys, args, SPEC.options, Order::Stop)? else {
        return Ok(125);
    };
    if let Some(status) = say::answered(
        sys,
        &parsed.options,
        "timeout",
        "timeout [OPTION] DURATION COMMAND [ARG]...",
    )? {
        return Ok(status);
    }
    let mut call = Call {
        limit: 0.0,
        kill_after: 0.0,
        signal: TERM,
        preserve: false,
        verbose: false,
    };
    for (id, value) in &parsed.options {
        let value = value.as_deref().unwrap_or_default();
        match id {
            'p' => call.preserve = true,
            'v' => call.verbose = true,
            'k' => match say::seconds(value) {
                Some(seconds) => call.kill_after = seconds,
                None => return bad_interval(sys, value),
            },
            's' => match signal_number(value) {
                Some(signal) => call.signal = signal,
                None => {
                    let shown = say::quoted(sys, value);
                    return say::misused(
                        sys,
                        b"timeout",
                        &[shown.as_slice(), b": invalid signal"].concat(),
                        125,
                    );
                }
            },
            _ => {}
        }
    }
    let Some((limit, argv)) = parsed
        .operands
        .split_first()
        .filter(|(_, argv)| !argv.is_empty())
    else {
        return say::misused(sys, b"timeout", b"", 125);
    };
    match say::seconds(limit) {
        Some(seconds) => call.limit = seconds,
        None => return bad_interval(sys, limit),
    }
    let spawned = sys.spawn(Spawn {
        argv: argv.to_vec(),
        leads: !parsed.options.iter().any(|(id, _)| *id == 'f'),
        ..Spawn::default()
    });
    match failed(spawned)? {
        Ok(child) => watch(
            sys,
            child,
            &call,
            argv.first().map_or(&b""[..], Vec::as_slice),
        ),
        Err(errno) => {
            let shown = say::quoted(sys, argv.first().map_or(&b""[..], Vec::as_slice));
            let message = [
                b"failed to run command ",
                shown.as_slice(),
                b": ",
                errno.text().as_bytes(),
            ]
            .concat();
            complain(sys, b"timeout", &message)?;
            Ok(say::not_run(errno))
        }
    }
}

fn bad_interval(sys: &mut dyn System, text: &[u8]) -> Result<i32, Stop> {
    let shown = say::quoted(sys, text);
    say::misused(
        sys,
        b"timeout",
        &[b"invalid time interval ", shown.as_slice()].concat(),
        125,
    )
}

fn status_of(ended: Ended) -> i32 {
    match ended {
        Ended::Exit(status) => status,
        Ended::Signal(signal) => 128 + i32::from(signal),
    }
}

/// Waits up to some seconds; 0 waits for ever.
fn wait(sys: &mut dyn System, child: Pid, seconds: f64) -> Result<Option<Ended>, Stop> {
    if seconds <= 0.0 {
        return Ok(failed(sys.wait(child))?.ok().or(Some(Ended::Exit(125))));
    }
    let time = Duration::from_secs_f64(f64::min(seconds, 1e9));
    Ok(failed(sys.wait_for(child, time))?.unwrap_or(Some(Ended::Exit(125))))
}

fn send(
    sys: &mut dyn System,
    child: Pid,
    signal: u8,
    call: &Call,
    command: &[u8],
) -> Result<(), Stop> {
    if call.verbose {
        let shown = say::quoted(sys, command);
        let name = signal_name(signal);
        let message = [b"sending signal ", name.as_bytes(), b" to command ", &shown].concat();
        complain(sys, b"timeout", &message)?;
    }
    failed(sys.kill(child, signal))?.ok();
    if signal != KILL && signal != CONT {
        // A stopped program must run to see the signal.
        failed(sys.kill(child, CONT))?.ok();
    }
    Ok(())
}

fn watch(sys: &mut dyn System, child: Pid, call: &Call, command: &[u8]) -> Result<i32, Stop> {
    if let Some(ended) = wait(sys, child, call.limit)? {
        return Ok(status_of(ended));
    }
    send(sys, child, call.signal, call, command)?;
    let mut killed = call.signal == KILL;
    let ended = match wait(sys, child, call.kill_after)? {
        Some(ended) => ended,
        None => {
            send(sys, child, KILL, call, command)?;
            killed = true;
            wait(sys, child, 0.0)?.unwrap_or(Ended::Signal(KILL))
        }
    };
    Ok(if killed && ended == Ended::Signal(KILL) {
        137
    } else if call.preserve {
        status_of(ended)
    } else {
        124
    })
}

#[cfg(test)]
mod tests {
    use super::signal_number;

    #[test]
    fn signals_have_names_and_numbers() {
        for (text, number) in [
            ("TERM", Some(15)),
            ("sigkill", Some(9)),
            ("9", Some(9)),
            ("BAD", None),
            ("SYS", Some(31)),
        ] {
            assert_eq!(signal_number(text.as_bytes()), number, "{text}");
        }
    }
}
