//! `cksum`: the CRC and size of each file.

use jp_bash_system::io::Input;
use jp_bash_system::{Stop, SysResult, System, failed};

use super::Spec;
use super::file::{Cmd, HELP, VERSION};
use super::options::{Opt, Takes, opt, refused};

/// The command.
pub(crate) const SPEC: Spec = Spec {
    name: "cksum",
    about: "Prints the CRC and the size of each file.",
    run,
    options: OPTIONS,
};

const OPTIONS: &[Opt] = &[
    refused(Some(b'a'), Some("algorithm"), Takes::Required, "CRC only"),
    refused(Some(b'c'), Some("check"), Takes::Nothing, "CRC only"),
    opt('z', Some(b'z'), Some("zero"), Takes::Nothing),
    HELP,
    VERSION,
];

const TABLE: [u32; 256] = table();

#[expect(clippy::cast_possible_truncation, reason = "the index is below 256")]
const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        let mut crc = (at as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000_0000 == 0 {
                crc << 1
            } else {
                (crc << 1) ^ 0x04c1_1db7
            };
            bit += 1;
        }
        table[at] = crc;
        at += 1;
    }
    table
}

fn step(crc: u32, byte: u8) -> u32 {
    let [high, ..] = crc.to_be_bytes();
    (crc << 8) ^ TABLE.get(usize::from(high ^ byte)).copied().unwrap_or(0)
}

/// Runs `cksum`.
pub(crate) fn run(sys: &mut dyn System, args: &[Vec<u8>]) -> Result<i32, Stop> {
    let mut cmd = Cmd::new(sys, args);
    let parsed = match cmd.options(args, OPTIONS, "[OPTION]... [FILE]...")? {
        Ok(parsed) => parsed,
        Err(status) => return Ok(status),
    };
    let end: &[u8] = if parsed.options.is_empty() {
        b"\n"
    } else {
        b"\0"
    };
    let mut files = parsed.operands;
    let unnamed = files.is_empty();
    if unnamed {
        files.push(b"-".to_vec());
    }
    for file in &files {
        let got = match failed(Input::open(cmd.sys, file))? {
            Ok(mut input) => {
                let sum = sum(cmd.sys, &mut input);
                input.close(cmd.sys);
                failed(sum)?
            }
            Err(errno) => Err(errno),
        };
        match got {
            Ok((crc, size)) => {
                cmd.put(format!("{crc} {size}").as_bytes())?;
                if !unnamed {
                    cmd.put(b" ")?;
                    cmd.put(file)?;
                }
                cmd.put(end)?;
            }
            Err(errno) => {
                let name = cmd.qf(file);
                cmd.fail(&[&name], errno)?;
            }
        }
    }
    cmd.finish()
}

fn sum(sys: &mut dyn System, input: &mut Input) -> SysResult<(u32, u64)> {
    let mut crc = 0;
    let mut size = 0u64;
    loop {
        let piece = input.fill(sys)?;
        if piece.is_empty() {
            break;
        }
        for byte in piece {
            crc = step(crc, *byte);
        }
        let length = piece.len();
        size += u64::try_from(length).unwrap_or(0);
        input.consume(length);
        sys.work(u32::try_from(length / 1024).unwrap_or(1))?;
    }
    // The size follows the bytes, lowest byte first, without leading zeros.
    let mut rest = size;
    while rest > 0 {
        let [.., low] = rest.to_be_bytes();
        crc = step(crc, low);
        rest >>= 8;
    }
    Ok((!crc, size))
}
