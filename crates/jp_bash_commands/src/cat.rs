//! `cat`: copies files to standard output, numbering or showing what cannot be seen.

use jp_bash_system::io::Input;
use jp_bash_system::{Errno, Fd, FileKind, OpenHow, PIECE, Stop, System, failed};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt};

pub(crate) const SPEC: Spec = Spec {
    name: "cat",
    about: "copy files to standard output",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('A', Some(b'A'), Some("show-all"), Takes::Nothing),
    opt('b', Some(b'b'), Some("number-nonblank"), Takes::Nothing),
    opt('e', Some(b'e'), None, Takes::Nothing),
    opt('E', Some(b'E'), Some("show-ends"), Takes::Nothing),
    opt('n', Some(b'n'), Some("number"), Takes::Nothing),
    opt('s', Some(b's'), Some("squeeze-blank"), Takes::Nothing),
    opt('t', Some(b't'), None, Takes::Nothing),
    opt('T', Some(b'T'), Some("show-tabs"), Takes::Nothing),
    opt('u', Some(b'u'), None, Takes::Nothing),
    opt('v', Some(b'v'), Some("show-nonprinting"), Takes::Nothing),
    HELP,
    VERSION,
];

#[derive(Debug, Default)]
struct Look {
    number: bool,
    number_nonblank: bool,
    ends: bool,
    tabs: bool,
    nonprinting: bool,
    squeeze: bool,
    // What goes on over the files.
    line: u64,
    blank_lines: u32,
    /// Within a line: the next byte does not begin one.
    inside: bool,
    /// A carriage return that may stand before a newline (`^M$`).
    pending_cr: bool,
}

impl Look {
    fn is_plain(&self) -> bool {
        !(self.number
            || self.number_nonblank
            || self.ends
            || self.tabs
            || self.nonprinting
            || self.squeeze)
    }
}

pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... [FILE]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let mut look = Look::default();
    for (id, _) in &parsed.options {
        match id {
            'A' => (look.nonprinting, look.ends, look.tabs) = (true, true, true),
            'b' => look.number_nonblank = true,
            'e' => (look.nonprinting, look.ends) = (true, true),
            'E' => look.ends = true,
            'n' => look.number = true,
            's' => look.squeeze = true,
            't' => (look.nonprinting, look.tabs) = (true, true),
            'T' => look.tabs = true,
            'v' => look.nonprinting = true,
            _ => {}
        }
    }
    let dash = [b"-".to_vec()];
    let files = match parsed.operands.as_slice() {
        [] => &dash[..],
        files => files,
    };
    for path in files {
        let fd = if path == b"-" {
            0
        } else {
            match failed(cmd.sys.open(path, OpenHow::READ))? {
                Ok(fd) => fd,
                Err(errno) => {
                    complain_of(&mut cmd, path, errno)?;
                    continue;
                }
            }
        };
        copy(&mut cmd, path, fd, &mut look)?;
        if fd != 0 {
            cmd.sys.close(fd);
        }
        if cmd.out.failed() {
            break;
        }
    }
    if look.pending_cr {
        cmd.put(b"\r")?;
    }
    cmd.finish()
}

fn complain_of(cmd: &mut Cmd<'_>, path: &[u8], errno: Errno) -> Result<(), Stop> {
    let name = cmd.qf(path);
    cmd.fail(&[&name], errno)
}

fn copy(cmd: &mut Cmd<'_>, path: &[u8], fd: Fd, look: &mut Look) -> Result<(), Stop> {
    if let Ok(stat) = failed(cmd.sys.fstat(fd))?
        && stat.kind == FileKind::Regular
        && let Ok(out) = failed(cmd.sys.fstat(1))?
        && (out.dev, out.ino, out.kind) == (stat.dev, stat.ino, stat.kind)
        && stat.size > 0
    {
        // Copying a file into itself would never end.
        let name = cmd.qf(path);
        return cmd.error(&[&name, b": input file is output file"]);
    }
    let mut input = Input::new(fd);
    loop {
        let piece = match failed(input.fill(cmd.sys))? {
            Ok(piece) => piece,
            Err(errno) => return complain_of(cmd, path, errno),
        };
        if piece.is_empty() {
            return Ok(());
        }
        let len = piece.len();
        cmd.sys.work(u32::try_from(len / 1024).unwrap_or(1))?;
        if look.is_plain() {
            cmd.out.put(cmd.sys, piece)?;
            // A pipe's reader may wait for what is here while we wait for more.
            cmd.out.flush(cmd.sys)?;
        } else {
            // One byte may become many.
            for part in piece.chunks(PIECE / 8) {
                show(cmd.out.buffer(), part, look);
                cmd.out.settle(cmd.sys)?;
            }
        }
        input.consume(len);
        if cmd.out.failed() {
            return Ok(());
        }
    }
}

/// Appends bytes as the options want them shown.
fn show(out: &mut Vec<u8>, piece: &[u8], look: &mut Look) {
    for &b in piece {
        if look.pending_cr {
            look.pending_cr = false;
            out.extend_from_slice(if b == b'\n' { b"^M" } else { b"\r" });
        }
        if !look.inside {
            if b == b'\n' {
                look.blank_lines += 1;
                if look.squeeze && look.blank_lines > 1 {
                    continue;
                }
            } else {
                look.blank_lines = 0;
            }
            if look.number_nonblank && b != b'\n' || look.number && !look.number_nonblank {
                look.line += 1;
                out.extend_from_slice(format!("{:6}\t", look.line).as_bytes());
            }
        }
        look.inside = b != b'\n';
        match b {
            b'\n' => {
                if look.ends {
                    out.push(b'$');
                }
                out.push(b'\n');
            }
            b'\t' if look.tabs => out.extend_from_slice(b"^I"),
            b'\r' if look.ends && !look.nonprinting => look.pending_cr = true,
            _ if look.nonprinting => visible(out, b),
            _ => out.push(b),
        }
    }
}

fn visible(out: &mut Vec<u8>, b: u8) {
    let low = if b >= 0x80 {
        out.extend_from_slice(b"M-");
        b - 0x80
    } else {
        b
    };
    match low {
        b'\t' if b < 0x80 => out.push(b'\t'),
        0..0x20 => out.extend_from_slice(&[b'^', low + 64]),
        0x7f => out.extend_from_slice(b"^?"),
        _ => out.push(low),
    }
}
