//! Whole files in memory, for commands that need all of it at once; the memory is counted before it is held.

use super::io::{Held, Input};
use crate::errno::Errno;
use crate::stop::Stop;
use crate::system::{SysResult, System, failed};

/// Reads a file to its end; `-` is standard input. `held` counts the bytes until the command gives them back.
pub(crate) fn read_whole(
    sys: &mut dyn System,
    path: &[u8],
    held: &mut Held,
) -> Result<Result<Vec<u8>, Errno>, Stop> {
    let mut input = match failed(Input::open(sys, path))? {
        Ok(input) => input,
        Err(errno) => return Ok(Err(errno)),
    };
    let got = drain(sys, &mut input, held);
    input.close(sys);
    failed(got)
}

fn drain(sys: &mut dyn System, input: &mut Input, held: &mut Held) -> SysResult<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let piece = input.fill(sys)?;
        if piece.is_empty() {
            return Ok(all);
        }
        let piece = piece.to_vec();
        held.more(sys, piece.len())?;
        input.consume(piece.len());
        sys.work(u32::try_from(piece.len() / 1024).unwrap_or(1))?;
        all.extend_from_slice(&piece);
    }
}

/// Splits a text into lines, each with its end; the last may lack it.
pub(crate) fn lines(text: &[u8], end: u8) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split_inclusive(move |byte| *byte == end)
}
