//! The virtual files that options name: read whole, written whole.

use jp_bash_system::io::{CHUNK, Input};
use jp_bash_system::{Follow, OpenHow, Stop, SysError, System, failed};

use super::Failure;

/// Reads a file, or standard input for `-`.
pub(super) fn read(sys: &mut dyn System, path: &[u8]) -> Result<Result<Vec<u8>, Failure>, Stop> {
    let shown = String::from_utf8_lossy(path).into_owned();
    let bad = || {
        Failure::new(
            26,
            &format!("Failed to open/read local data from file/application: {shown}"),
        )
    };
    let fd = if path == b"-" {
        0
    } else {
        match failed(sys.open(path, OpenHow::READ))? {
            Ok(fd) => fd,
            Err(_) => return Ok(Err(bad())),
        }
    };
    let mut input = Input::new(fd);
    let mut all = Vec::new();
    loop {
        let piece = match input.fill(sys) {
            Ok(piece) => piece,
            Err(SysError::Stop(stop)) => return Err(stop),
            Err(SysError::Errno(_)) => return Ok(Err(bad())),
        };
        if piece.is_empty() {
            break;
        }
        let len = piece.len();
        all.extend_from_slice(piece);
        input.consume(len);
        sys.reserve(len as u64)?;
    }
    if fd != 0 {
        sys.close(fd);
    }
    Ok(Ok(all))
}

/// Writes a file whole, or standard output for `-`.
pub(super) fn write(
    sys: &mut dyn System,
    path: &[u8],
    bytes: &[u8],
) -> Result<Result<(), Failure>, Stop> {
    let bad = Failure::new(23, "Failure writing output to destination");
    let (fd, opened) = if path == b"-" {
        (1, false)
    } else {
        match failed(sys.open(path, OpenHow::WRITE))? {
            Ok(fd) => (fd, true),
            Err(_) => return Ok(Err(bad)),
        }
    };
    for piece in bytes.chunks(CHUNK) {
        sys.work(u32::try_from(piece.len() / 1024).unwrap_or(1))?;
        if failed(sys.write(fd, piece))?.is_err() {
            return Ok(Err(bad));
        }
    }
    if opened {
        sys.close(fd);
    }
    Ok(Ok(()))
}

/// Makes the directories above a path.
pub(super) fn create_dirs(sys: &mut dyn System, path: &[u8]) -> Result<(), Stop> {
    for (at, _) in path
        .iter()
        .enumerate()
        .filter(|(at, byte)| *at > 0 && **byte == b'/')
    {
        let directory = path.get(..at).unwrap_or_default();
        if failed(sys.stat(directory, Follow::Yes))?.is_err() {
            let _ = failed(sys.mkdir(directory, 0o777))?;
        }
    }
    Ok(())
}
