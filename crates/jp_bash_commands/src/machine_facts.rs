//! `arch`, `groups`, `logname`, `sync`, `tty`: small facts about a machine that is not there.

use jp_bash_system::{Follow, Stop, System, failed};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt};

const PLAIN: &[Opt] = &[HELP, VERSION];

const TTY: &[Opt] = &[
    opt('s', Some(b's'), Some("silent"), Takes::Nothing),
    opt('s', None, Some("quiet"), Takes::Nothing),
    HELP,
    VERSION,
];

const SYNC: &[Opt] = &[
    opt('d', Some(b'd'), Some("data"), Takes::Nothing),
    opt('f', Some(b'f'), Some("file-system"), Takes::Nothing),
    HELP,
    VERSION,
];

/// The commands.
pub(crate) const SPECS: &[Spec] = &[
    Spec {
        name: "arch",
        about: "print the machine's architecture",
        run: |sys, args| fact(sys, args, b"x86_64"),
        options: PLAIN,
    },
    Spec {
        name: "groups",
        about: "print the groups of a user",
        run: groups,
        options: PLAIN,
    },
    Spec {
        name: "logname",
        about: "print the user's name",
        run: |sys, args| {
            let user = sys.user();
            fact(sys, args, &user)
        },
        options: PLAIN,
    },
    Spec {
        name: "sync",
        about: "do nothing: files are always up to date",
        run: sync,
        options: SYNC,
    },
    Spec {
        name: "tty",
        about: "tell that standard input is no terminal",
        run: tty,
        options: TTY,
    },
];

fn fact(sys: &mut dyn System, args: &[Vec<u8>], text: &[u8]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, PLAIN, "[OPTION]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    if let Some(extra) = parsed.operands.first() {
        let shown = cmd.quote(extra);
        return cmd.usage(&[b"extra operand ", &shown]);
    }
    cmd.put(&[text, b"\n"].concat())?;
    cmd.finish()
}

fn groups(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, PLAIN, "[OPTION]... [USERNAME]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let user = cmd.sys.user();
    if parsed.operands.is_empty() {
        cmd.put(&[&user, &b"\n"[..]].concat())?;
    }
    for name in &parsed.operands {
        if *name == user {
            cmd.put(&[name, &b" : "[..], &user, b"\n"].concat())?;
        } else {
            let shown = cmd.quote(name);
            cmd.error(&[&shown, b": no such user"])?;
        }
    }
    cmd.finish()
}

fn sync(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, SYNC, "[OPTION] [FILE]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    for file in &parsed.operands {
        if let Err(errno) = failed(cmd.sys.stat(file, Follow::Yes))? {
            let name = cmd.q(file);
            cmd.fail(&[b"error opening ", &name], errno)?;
        }
    }
    cmd.finish()
}

fn tty(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    cmd.failure = 2;
    let parsed = match cmd.options(args, TTY, "[OPTION]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    if parsed.options.is_empty() {
        cmd.put(b"not a tty\n")?;
    }
    cmd.status = 1;
    cmd.finish()
}
