//! `sum`: the checksums of BSD and System V.

use jp_bash_system::io::Input;
use jp_bash_system::{Stop, SysResult, System, failed};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "sum",
    about: "Prints an old checksum and the blocks of each file.",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    opt('r', Some(b'r'), None, Takes::Nothing),
    opt('s', Some(b's'), Some("sysv"), Takes::Nothing),
    HELP,
    VERSION,
];

/// Runs `sum`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... [FILE]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let sysv = parsed.options.last().is_some_and(|(id, _)| *id == 's');
    let named = !parsed.operands.is_empty();
    let mut files = parsed.operands;
    if !named {
        files.push(b"-".to_vec());
    }
    for file in &files {
        let sum = match failed(Input::open(cmd.sys, file))? {
            Ok(mut input) => {
                let sum = add_up(cmd.sys, &mut input, sysv);
                input.close(cmd.sys);
                failed(sum)?
            }
            Err(errno) => Err(errno),
        };
        match sum {
            Ok((sum, bytes)) => {
                let mut line = if sysv {
                    format!("{sum} {}", bytes.div_ceil(512))
                } else {
                    format!("{sum:05} {:5}", bytes.div_ceil(1024))
                }
                .into_bytes();
                if named {
                    line.push(b' ');
                    line.extend_from_slice(file);
                }
                line.push(b'\n');
                cmd.put(&line)?;
            }
            Err(errno) => {
                let name = cmd.qf(file);
                cmd.fail(&[&name], errno)?;
            }
        }
    }
    cmd.finish()
}

fn add_up(sys: &mut dyn System, input: &mut Input, sysv: bool) -> SysResult<(u32, u64)> {
    let (mut sum, mut bytes) = (0_u32, 0_u64);
    loop {
        let piece = input.fill(sys)?;
        let len = piece.len();
        if len == 0 {
            break;
        }
        for byte in piece {
            sum = if sysv {
                sum.wrapping_add(u32::from(*byte))
            } else {
                ((sum >> 1) + ((sum & 1) << 15) + u32::from(*byte)) & 0xffff
            };
        }
        bytes += u64::try_from(len).unwrap_or(0);
        input.consume(len);
        sys.work(u32::try_from(len / 1024).unwrap_or(1))?;
    }
    if sysv {
        let folded = (sum & 0xffff) + (sum >> 16);
        sum = (folded & 0xffff) + (folded >> 16);
    }
    Ok((sum, bytes))
}
