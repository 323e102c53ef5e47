//! Whole files in memory, for commands that need all of it at once; the memory is counted before it is held.

use jp_bash_system::io::{Held, Input};
use jp_bash_system::{Errno, Stop, SysResult, System, failed, meter};

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
            meter::kept(all.len());
            return Ok(all);
        }
        held.room(sys, &mut all, piece.len())?;
        all.extend_from_slice(piece);
        let length = piece.len();
        input.consume(length);
        sys.work_bytes(length)?;
    }
}

/// Splits a text into lines, each with its end; the last may lack it.
pub(crate) fn lines(text: &[u8], end: u8) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split_inclusive(move |byte| *byte == end)
}
