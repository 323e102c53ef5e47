//! `paste`: lines of several files side by side, or the lines of one file in a row.

use jp_bash_system::io::Input;
use jp_bash_system::{Stop, System, failed};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "paste",
    about: "Joins lines of files side by side.",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('d', Some(b'd'), Some("delimiters"), Takes::Required),
    opt('s', Some(b's'), Some("serial"), Takes::Nothing),
    opt('z', Some(b'z'), Some("zero-terminated"), Takes::Nothing),
    HELP,
    VERSION,
];

/// Runs `paste`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... [FILE]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut delimiters = vec![Some(b'\t')];
    let (mut serial, mut end) = (false, b'\n');
    for (id, value) in &parsed.options {
        match id {
            'd' => {
                let text = value.as_deref().unwrap_or_default();
                let Some(list) = read_delimiters(text) else {
                    cmd.error(&[b"delimiter list ends with an unescaped backslash: ", text])?;
                    return cmd.finish();
                };
                delimiters = list;
            }
            's' => serial = true,
            'z' => end = 0,
            _ => {}
        }
    }
    let mut files = parsed.operands;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    if serial {
        for file in &files {
            row(&mut cmd, file, &delimiters, end)?;
        }
    } else {
        columns(&mut cmd, &files, &delimiters, end)?;
    }
    cmd.finish()
}

/// Reads a list of delimiters; `None` in it is the empty one (`\0`). An unfinished backslash gives nothing.
fn read_delimiters(text: &[u8]) -> Option<Vec<Option<u8>>> {
    let mut list = Vec::new();
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        list.push(match byte {
            b'\\' => match *bytes.next()? {
                b'0' => None,
                b'n' => Some(b'\n'),
                b't' => Some(b'\t'),
                b'r' => Some(b'\r'),
                b'b' => Some(8),
                b'f' => Some(12),
                b'v' => Some(11),
                other => Some(other),
            },
            other => Some(other),
        });
    }
    if list.is_empty() {
        list.push(None);
    }
    Some(list)
}

fn row(cmd: &mut Cmd<'_>, file: &[u8], delimiters: &[Option<u8>], end: u8) -> Result<(), Stop> {
    let mut input = match failed(Input::open(cmd.sys, file))? {
        Ok(input) => input,
        Err(errno) => {
            let name = cmd.qf(file);
            return cmd.fail(&[&name], errno);
        }
    };
    let mut next = delimiters.iter().cycle();
    let mut first = true;
    let done = loop {
        match failed(input.record(cmd.sys, end))? {
            Ok(Some(line)) => {
                if !first && let Some(Some(byte)) = next.next() {
                    cmd.out.buffer().push(*byte);
                }
                first = false;
                cmd.put(line.strip_suffix(&[end]).unwrap_or(line))?;
            }
            Ok(None) => break Ok(()),
            Err(errno) => break Err(errno),
        }
    };
    input.close(cmd.sys);
    cmd.put(&[end])?;
    match done {
        Ok(()) => Ok(()),
        Err(errno) => {
            let name = cmd.qf(file);
            cmd.fail(&[&name], errno)
        }
    }
}

fn columns(
    cmd: &mut Cmd<'_>,
    files: &[Vec<u8>],
    delimiters: &[Option<u8>],
    end: u8,
) -> Result<(), Stop> {
    // `-` several times takes turns on one stream, so all of them share one reader.
    let mut inputs: Vec<Option<Input>> = Vec::new();
    let mut standard: Option<usize> = None;
    let mut which = Vec::new();
    for file in files {
        if file == b"-"
            && let Some(at) = standard
        {
            which.push(at);
            continue;
        }
        match failed(Input::open(cmd.sys, file))? {
            Ok(input) => {
                if file == b"-" {
                    standard = Some(inputs.len());
                }
                which.push(inputs.len());
                inputs.push(Some(input));
            }
            Err(errno) => {
                let name = cmd.qf(file);
                return cmd.fail(&[&name], errno);
            }
        }
    }
    loop {
        let mut any = false;
        // Delimiters of files that ended are written only once a later file still has a line.
        let mut waiting = Vec::new();
        let mut next = delimiters.iter().cycle();
        let last = which.len().saturating_sub(1);
        for (place, at) in which.iter().enumerate() {
            let slot = inputs.get_mut(*at);
            let got = match slot.and_then(Option::as_mut) {
                Some(input) => failed(input.record(cmd.sys, end))?.unwrap_or(None),
                None => None,
            };
            if let Some(line) = got {
                any = true;
                cmd.out.buffer().append(&mut waiting);
                cmd.put(line.strip_suffix(&[end]).unwrap_or(line))?;
            }
            if place < last
                && let Some(Some(byte)) = next.next()
            {
                waiting.push(*byte);
            }
        }
        if !any {
            break;
        }
        cmd.out.buffer().append(&mut waiting);
        cmd.put(&[end])?;
        cmd.out.settle(cmd.sys)?;
        cmd.sys.work(1)?;
    }
    for input in inputs.into_iter().flatten() {
        input.close(cmd.sys);
    }
    Ok(())
}
