//! Prints `{"stdout": n, "stderr": m}` bytes, then answers.

use std::io::Write;

use jp_probes::{Call, probe};
use jp_tool::Outcome;

const LINE: [u8; 1000] = [b'x'; 1000];

fn run(call: &Call) -> Outcome {
    let printed = print(std::io::stdout(), call.number("stdout"))
        .and_then(|()| print(std::io::stderr(), call.number("stderr")));
    match printed {
        Ok(()) => "printed".into(),
        Err(error) => Outcome::failed(format!("cannot print: {error}")),
    }
}

fn print(mut to: impl Write, bytes: usize) -> std::io::Result<()> {
    let mut left = bytes;
    while left > 0 {
        let piece = left.min(LINE.len());
        to.write_all(&LINE[..piece])?;
        left -= piece;
    }
    to.flush()
}

probe!(run);
