//! `mktemp`: makes a file or directory with a name nobody has.

use jp_bash_system::{Errno, Follow, OpenHow, Stop, System, failed};

use super::Spec;
use super::file::name::join;
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt};

pub(crate) const SPEC: Spec = Spec {
    name: "mktemp",
    about: "make a temporary file or directory",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('d', Some(b'd'), Some("directory"), Takes::Nothing),
    opt('u', Some(b'u'), Some("dry-run"), Takes::Nothing),
    opt('q', Some(b'q'), Some("quiet"), Takes::Nothing),
    opt('S', None, Some("suffix"), Takes::Required),
    opt('p', Some(b'p'), None, Takes::Required),
    opt('P', None, Some("tmpdir"), Takes::Optional),
    opt('t', Some(b't'), None, Takes::Nothing),
    HELP,
    VERSION,
];

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// How often another name is tried before giving up.
const TRIES: u32 = 10_000;

#[derive(Default)]
struct Settings {
    directory: bool,
    dry: bool,
    quiet: bool,
    suffix: Option<Vec<u8>>,
    /// `-p` or `--tmpdir`, with a directory or without.
    tmpdir: Option<Option<Vec<u8>>>,
    legacy: bool,
}

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... [TEMPLATE]")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut settings = Settings::default();
    for (id, value) in parsed.options {
        match id {
            'd' => settings.directory = true,
            'u' => settings.dry = true,
            'q' => settings.quiet = true,
            'S' => settings.suffix = value,
            'p' | 'P' => settings.tmpdir = Some(value.filter(|dir| !dir.is_empty())),
            _ => settings.legacy = true,
        }
    }
    if parsed.operands.len() > 1 {
        return cmd.usage(&[b"too many templates"]);
    }
    let given = parsed.operands.into_iter().next();
    let template = match template(&mut cmd, given, &mut settings)? {
        Ok(template) => template,
        Err(()) => return cmd.finish(),
    };
    make(&mut cmd, &template, &settings)?;
    cmd.finish()
}

/// A template: what stands before the `X`s, how many there are, what stands behind.
struct Template {
    path: Vec<u8>,
    xs: std::ops::Range<usize>,
}

fn template(
    cmd: &mut Cmd<'_>,
    given: Option<Vec<u8>>,
    settings: &mut Settings,
) -> Result<Result<Template, ()>, Stop> {
    if given.is_none() && settings.tmpdir.is_none() {
        settings.tmpdir = Some(None);
    }
    let mut text = given.unwrap_or_else(|| b"tmp.XXXXXXXXXX".to_vec());
    if let Some(suffix) = &settings.suffix {
        if text.last() != Some(&b'X') {
            let text = cmd.quote(&text);
            cmd.error(&[b"with --suffix, template ", &text, b" must end in X"])?;
            return Ok(Err(()));
        }
        text.extend_from_slice(suffix);
    }
    let end = match &settings.suffix {
        Some(suffix) => text.len() - suffix.len(),
        None => text.iter().rposition(|b| *b == b'X').map_or(0, |at| at + 1),
    };
    let tail = text.get(end..).unwrap_or_default();
    if tail.contains(&b'/') {
        let tail = cmd.quote(tail);
        cmd.error(&[b"invalid suffix ", &tail, b", contains directory separator"])?;
        return Ok(Err(()));
    }
    let head = text.get(..end).unwrap_or_default();
    let count = head.iter().rev().take_while(|b| **b == b'X').count();
    if count < 3 {
        let shown = cmd.quote(&text);
        cmd.error(&[b"too few X's in template ", &shown])?;
        return Ok(Err(()));
    }
    let from_env = cmd.sys.env(b"TMPDIR").filter(|dir| !dir.is_empty());
    let dir = if settings.legacy {
        if text.contains(&b'/') {
            let text = cmd.quote(&text);
            cmd.error(&[
                b"invalid template, ",
                &text,
                b", contains directory separator",
            ])?;
            return Ok(Err(()));
        }
        let given = settings.tmpdir.clone().flatten();
        Some(from_env.or(given).unwrap_or_else(|| b"/tmp".to_vec()))
    } else {
        match &settings.tmpdir {
            Some(_) if text.starts_with(b"/") => {
                let text = cmd.quote(&text);
                cmd.error(&[
                    b"invalid template, ",
                    &text,
                    b"; with --tmpdir, it may not be absolute",
                ])?;
                return Ok(Err(()));
            }
            Some(dir) => Some(dir.clone().or(from_env).unwrap_or_else(|| b"/tmp".to_vec())),
            None => None,
        }
    };
    let path = dir.map_or_else(|| text.clone(), |dir| join(&dir, &text));
    let lead = path.len() - text.len();
    Ok(Ok(Template {
        xs: lead + end - count..lead + end,
        path,
    }))
}

fn make(cmd: &mut Cmd<'_>, template: &Template, settings: &Settings) -> Result<(), Stop> {
    let mut path = template.path.clone();
    let mut errno = Errno::Exist;
    for _ in 0..TRIES {
        cmd.sys.work(1)?;
        let xs = path.get_mut(template.xs.clone()).unwrap_or_default();
        let mut noise = vec![0; xs.len() * 2];
        cmd.sys.random(&mut noise);
        for (x, pair) in xs.iter_mut().zip(noise.chunks_exact(2)) {
            let number = usize::from(pair.first().copied().unwrap_or(0)) * 256
                + usize::from(pair.get(1).copied().unwrap_or(0));
            *x = LETTERS.get(number % LETTERS.len()).copied().unwrap_or(b'x');
        }
        let done = if settings.dry {
            match failed(cmd.sys.stat(&path, Follow::No))? {
                Ok(_) => Err(Errno::Exist),
                Err(_) => Ok(()),
            }
        } else if settings.directory {
            failed(cmd.sys.mkdir(&path, 0o700))?
        } else {
            let how = OpenHow {
                read: true,
                exclusive: true,
                mode: 0o600,
                ..OpenHow::WRITE
            };
            failed(cmd.sys.open(&path, how))?.map(|fd| cmd.sys.close(fd))
        };
        match done {
            Ok(()) => {
                path.push(b'\n');
                return cmd.put(&path);
            }
            Err(found) => errno = found,
        }
        if errno != Errno::Exist {
            break;
        }
    }
    cmd.status = 1;
    if settings.quiet {
        return Ok(());
    }
    let shown = cmd.quote(&template.path);
    let kind: &[u8] = if settings.directory {
        b"directory"
    } else {
        b"file"
    };
    cmd.fail(
        &[b"failed to create ", kind, b" via template ", &shown],
        errno,
    )
}
