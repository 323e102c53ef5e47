//! `nice`, `nohup`, `setsid`, `stdbuf`: commands that run another one. What they change about it (priority,
//! hanging up, sessions, buffers) means nothing here, so the other one just runs.

use jp_bash_system::io::complain;
use jp_bash_system::{Ended, Spawn, Stop, System, failed};

use super::Spec;
use super::numbers::{signed, size};
use super::options::{Opt, Order, Takes, opt, parse};
use super::quote::quote;
use super::say::{self, HELP, VERSION};

const NICE: &[Opt] = &[
    opt('n', Some(b'n'), Some("adjustment"), Takes::Required),
    HELP,
    VERSION,
];

const SETSID: &[Opt] = &[
    opt('c', Some(b'c'), Some("ctty"), Takes::Nothing),
    opt('f', Some(b'f'), Some("fork"), Takes::Nothing),
    opt('w', Some(b'w'), Some("wait"), Takes::Nothing),
    HELP,
    VERSION,
];

const STDBUF: &[Opt] = &[
    opt('i', Some(b'i'), Some("input"), Takes::Required),
    opt('o', Some(b'o'), Some("output"), Takes::Required),
    opt('e', Some(b'e'), Some("error"), Takes::Required),
    HELP,
    VERSION,
];

/// The commands.
pub(crate) const SPECS: &[Spec] = &[
    Spec {
        name: "nice",
        about: "run a command; all have the same priority",
        run: |sys, args| run(sys, args, "nice", NICE),
        options: NICE,
    },
    Spec {
        name: "nohup",
        about: "run a command; nothing hangs up",
        run: |sys, args| run(sys, args, "nohup", &[HELP, VERSION]),
        options: &[HELP, VERSION],
    },
    Spec {
        name: "setsid",
        about: "run a command; there are no sessions",
        run: |sys, args| run(sys, args, "setsid", SETSID),
        options: SETSID,
    },
    Spec {
        name: "stdbuf",
        about: "run a command; buffers are its own business",
        run: |sys, args| run(sys, args, "stdbuf", STDBUF),
        options: STDBUF,
    },
];

/// Returns the message about a value that GNU would refuse, even where it changes nothing here.
fn bad_value(sys: &dyn System, name: &str, options: &[(char, Option<Vec<u8>>)]) -> Option<Vec<u8>> {
    options.iter().find_map(|(id, value)| {
        let text = value.as_deref()?;
        let shown = quote(sys.utf8(), text);
        match name {
            "nice" => signed(text, i64::MIN, i64::MAX)
                .is_err_and(<[u8]>::is_empty)
                .then(|| [&b"invalid adjustment "[..], &shown].concat()),
            _ if text == b"L" && *id == 'i' => {
                Some(b"line buffering stdin is meaningless".to_vec())
            }
            _ if text == b"L" || size(text, b"EGkKMPTYZ0").is_ok() => None,
            _ => Some([&b"invalid mode "[..], &shown].concat()),
        }
    })
}

fn run(
    sys: &mut dyn System,
    args: &[Vec<u8>],
    name: &'static str,
    options: &[Opt],
) -> Result<i32, Stop> {
    let Ok(parsed) = parse(sys, args, options, Order::Stop)? else {
        return Ok(125);
    };
    let usage = format!("{name} [OPTION]... COMMAND [ARG]...");
    if let Some(status) = say::answered(sys, &parsed.options, name, &usage)? {
        return Ok(status);
    }
    if name == "stdbuf" && parsed.options.is_empty() {
        return say::misused(
            sys,
            b"stdbuf",
            b"you must specify a buffering mode option",
            125,
        );
    }
    if let Some(message) = bad_value(sys, name, &parsed.options) {
        complain(sys, name.as_bytes(), &message)?;
        return Ok(125);
    }
    let Some(program) = parsed.operands.first().cloned() else {
        // Alone, `nice` tells the priority.
        return match name {
            "nice" if parsed.options.is_empty() => say::print(sys, b"nice", b"0\n"),
            _ => say::misused(sys, name.as_bytes(), b"missing operand", 125),
        };
    };
    let has = |id| parsed.options.iter().any(|(found, _)| *found == id);
    let spawned = sys.spawn(Spawn {
        argv: parsed.operands,
        ..Spawn::default()
    });
    match failed(spawned)? {
        // `setsid -f` leaves it alone, unless `-w` wants its status.
        Ok(_) if name == "setsid" && has('f') && !has('w') => Ok(0),
        Ok(child) => Ok(match failed(sys.wait(child))? {
            Ok(Ended::Exit(status)) => status,
            Ok(Ended::Signal(signal)) => 128 + i32::from(signal),
            Err(_) => 125,
        }),
        Err(errno) => {
            let shown = say::quoted(sys, &program);
            let lead: &[u8] = match name {
                "nice" => b"",
                "setsid" => b"failed to execute ",
                _ => b"failed to run command ",
            };
            let text = [lead, &shown, b": ", errno.text().as_bytes()].concat();
            complain(sys, name.as_bytes(), &text)?;
            Ok(say::not_run(errno))
        }
    }
}
