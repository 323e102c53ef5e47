//! `touch`: sets times, making files that do not exist.

use jp_bash_system::{Errno, Follow, OpenHow, SetTime, Stop, System, failed};

use super::Spec;
use super::date_text;
use super::date_zone::Zone;
use super::file::time::{parse_stamp, zone};
use super::file::{Cmd, HELP, VERSION, argmatch};
use super::options::{Opt, Parsed, Takes, opt};

pub(crate) const SPEC: Spec = Spec {
    name: "touch",
    about: "set the times of files, making them if need be",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('a', Some(b'a'), None, Takes::Nothing),
    opt('c', Some(b'c'), Some("no-create"), Takes::Nothing),
    opt('d', Some(b'd'), Some("date"), Takes::Required),
    opt('f', Some(b'f'), None, Takes::Nothing),
    opt('h', Some(b'h'), Some("no-dereference"), Takes::Nothing),
    opt('m', Some(b'm'), None, Takes::Nothing),
    opt('r', Some(b'r'), Some("reference"), Takes::Required),
    opt('t', Some(b't'), None, Takes::Required),
    opt('T', None, Some("time"), Takes::Required),
    HELP,
    VERSION,
];

struct Settings {
    access: SetTime,
    modify: SetTime,
    create: bool,
    follow: Follow,
}

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... FILE...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let settings = match settings(&mut cmd, &parsed)? {
        Ok(settings) => settings,
        Err(status) => return Ok(status),
    };
    if parsed.operands.is_empty() {
        return cmd.usage(&[b"missing file operand"]);
    }
    for path in &parsed.operands {
        touch(&mut cmd, path, &settings)?;
    }
    cmd.finish()
}

fn settings(cmd: &mut Cmd<'_>, parsed: &Parsed) -> Result<Result<Settings, i32>, Stop> {
    let mut create = true;
    let mut follow = Follow::Yes;
    let (mut access, mut modify) = (false, false);
    let (mut date, mut stamp, mut reference) = (None, None, None);
    for (id, value) in &parsed.options {
        match id {
            'a' => access = true,
            'm' => modify = true,
            'c' => create = false,
            'h' => follow = Follow::No,
            'd' => date = value.clone(),
            't' => stamp = value.clone(),
            'r' => reference = value.clone(),
            'T' => {
                let list = [
                    ("atime", true),
                    ("access", true),
                    ("use", true),
                    ("mtime", false),
                    ("modify", false),
                ];
                match argmatch(cmd, "--time", value.as_deref().unwrap_or_default(), &list)? {
                    Some(true) => access = true,
                    Some(false) => modify = true,
                    None => return Ok(Err(1)),
                }
            }
            _ => {}
        }
    }
    if stamp.is_some() && (date.is_some() || reference.is_some()) {
        let status = cmd.usage(&[b"cannot specify times from more than one source"])?;
        return Ok(Err(status));
    }
    let zone = zone(cmd.sys);
    let mut now = cmd.sys.now();
    let mut times = (SetTime::Now, SetTime::Now);
    if let Some(path) = reference {
        match failed(cmd.sys.stat(&path, follow))? {
            Ok(stat) => {
                times = (SetTime::At(stat.atime), SetTime::At(stat.mtime));
                now = stat.mtime;
            }
            Err(errno) => {
                let name = cmd.q(&path);
                cmd.fail(&[b"failed to get attributes of ", &name], errno)?;
                return Ok(Err(1));
            }
        }
    }
    if let Some(text) = date.as_ref().or(stamp.as_ref()) {
        let time = match date {
            Some(_) => {
                let tz = cmd.sys.env(b"TZ");
                date_text::parse(text, now, &Zone::from_variable(tz.as_deref()))
            }
            None => parse_stamp(text, now, &zone),
        };
        let Some(time) = time else {
            let text = cmd.quote(text);
            cmd.error(&[b"invalid date format ", &text])?;
            return Ok(Err(1));
        };
        times = (SetTime::At(time), SetTime::At(time));
    }
    let both = access == modify;
    Ok(Ok(Settings {
        access: if access || both {
            times.0
        } else {
            SetTime::Keep
        },
        modify: if modify || both {
            times.1
        } else {
            SetTime::Keep
        },
        create,
        follow,
    }))
}

fn touch(cmd: &mut Cmd<'_>, path: &[u8], settings: &Settings) -> Result<(), Stop> {
    if path == b"-" {
        // GNU touches what standard output is; here that is seldom a file with a name.
        return Ok(());
    }
    let mut opening = None;
    if settings.create && settings.follow == Follow::Yes {
        let how = OpenHow {
            truncate: false,
            ..OpenHow::WRITE
        };
        match failed(cmd.sys.open(path, how))? {
            Ok(fd) => cmd.sys.close(fd),
            Err(errno) => opening = Some(errno),
        }
    }
    let set = failed(
        cmd.sys
            .set_times(path, settings.access, settings.modify, settings.follow),
    )?;
    match set {
        Ok(()) => Ok(()),
        Err(Errno::NoEnt) if !settings.create => Ok(()),
        Err(errno) => {
            let name = cmd.q(path);
            match opening {
                Some(open) if open != Errno::IsDir && !(open == Errno::Access && errno != open) => {
                    cmd.fail(&[b"cannot touch ", &name], open)
                }
                _ if errno == Errno::NoEnt => cmd.fail(&[b"cannot touch ", &name], errno),
                _ => cmd.fail(&[b"setting times of ", &name], errno),
            }
        }
    }
}
