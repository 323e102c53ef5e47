//! `tee`: copies standard input to standard output and to files.

use jp_bash_system::io::Input;
use jp_bash_system::{Errno, Fd, OpenHow, Stop, SysError, System, failed};

use super::Spec;
use super::file::{Cmd, HELP, VERSION, argmatch};
use super::options::{Opt, Takes, opt};

pub(crate) const SPEC: Spec = Spec {
    name: "tee",
    about: "copy standard input to standard output and files",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('a', Some(b'a'), Some("append"), Takes::Nothing),
    opt('i', Some(b'i'), Some("ignore-interrupts"), Takes::Nothing),
    opt('p', Some(b'p'), None, Takes::Nothing),
    opt('o', None, Some("output-error"), Takes::Optional),
    HELP,
    VERSION,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnError {
    /// A closed pipe ends `tee`, as SIGPIPE does.
    Default,
    Warn,
    WarnNoPipe,
    Exit,
    ExitNoPipe,
}

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... [FILE]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut how = OpenHow::WRITE;
    let mut on_error = OnError::Default;
    for (id, value) in &parsed.options {
        match id {
            'a' => how = OpenHow::APPEND,
            'p' => on_error = OnError::WarnNoPipe,
            'o' => {
                let list = [
                    ("warn", OnError::Warn),
                    ("warn-nopipe", OnError::WarnNoPipe),
                    ("exit", OnError::Exit),
                    ("exit-nopipe", OnError::ExitNoPipe),
                ];
                on_error = match value {
                    None => OnError::WarnNoPipe,
                    Some(value) => match argmatch(&mut cmd, "--output-error", value, &list)? {
                        Some(found) => found,
                        None => return Ok(1),
                    },
                };
            }
            _ => {}
        }
    }
    let mut outs: Vec<(Option<Fd>, Vec<u8>)> = vec![(Some(1), b"standard output".to_vec())];
    for path in &parsed.operands {
        match failed(cmd.sys.open(path, how))? {
            Ok(fd) => outs.push((Some(fd), path.clone())),
            Err(errno) => {
                cmd.fail(&[path], errno)?;
                if matches!(on_error, OnError::Exit | OnError::ExitNoPipe) {
                    return cmd.finish();
                }
            }
        }
    }
    copy(&mut cmd, &mut outs, on_error)?;
    cmd.finish()
}

fn copy(
    cmd: &mut Cmd<'_>,
    outs: &mut [(Option<Fd>, Vec<u8>)],
    on_error: OnError,
) -> Result<(), Stop> {
    let mut input = Input::new(0);
    while outs.iter().any(|(fd, _)| fd.is_some()) {
        let piece = match failed(input.fill(cmd.sys))? {
            Ok(piece) => piece.to_vec(),
            Err(errno) => return cmd.fail(&[b"read error"], errno),
        };
        if piece.is_empty() {
            break;
        }
        cmd.sys
            .work(u32::try_from(piece.len() / 1024).unwrap_or(1))?;
        for (fd, name) in outs.iter_mut() {
            let Some(open) = *fd else { continue };
            let errno = match cmd.sys.write(open, &piece) {
                Ok(()) => continue,
                Err(SysError::Stop(Stop::Signal(13))) if on_error != OnError::Default => {
                    Errno::Pipe
                }
                Err(SysError::Stop(stop)) => return Err(stop),
                Err(SysError::Errno(errno)) => errno,
            };
            *fd = None;
            let quiet = errno == Errno::Pipe
                && matches!(
                    on_error,
                    OnError::Default | OnError::WarnNoPipe | OnError::ExitNoPipe
                );
            if !quiet {
                cmd.fail(&[name], errno)?;
                if matches!(on_error, OnError::Exit | OnError::ExitNoPipe) {
                    return Ok(());
                }
            }
        }
        input.consume(piece.len());
    }
    Ok(())
}
