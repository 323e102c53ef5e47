//! Starts a new file when one is full, and removes the oldest. Does not know when: `log` decides.

use std::{
    fs,
    io::{self, Read, Seek, SeekFrom},
};

use crate::{
    AuditError, files,
    frame::{self, Frame},
    json,
    log::{Core, State},
    repair,
};

/// Closes the current file and goes on in the next. The caller holds the current file's lock;
/// afterwards it holds the new one's.
///
/// Others that wait for the old file's lock find it longer than they left it, read the closing
/// line or the head, and follow.
pub(crate) fn rotate(log: &Core, state: &mut State, time: u64) -> Result<(), AuditError> {
    let next = state.number + 1;
    let path = files::log_path(&log.dir, next);
    // The new file comes first: if it cannot be made, nothing has been closed yet.
    let file = files::open_log(&path)?;
    files::lock(&file, &path)?;
    state.push(log, |out| {
        repair::event(out, frame::ROTATED, time);
        json::name(out, "next");
        json::number(out, next);
    })?;
    state.head.file = next;
    state.head.len = 0;
    state.write_head(log)?;
    state.file = file;
    state.number = next;
    prune(log, state)
}

/// Removes closed files beyond those that are kept.
///
/// The head is updated before they go, and only for files whose closing line verifies: a file that was
/// changed or is missing goes as well, but `verify` will miss it for good.
fn prune(log: &Core, state: &mut State) -> Result<(), AuditError> {
    let Some(keep) = log.options.keep else {
        return Ok(());
    };
    let oldest = state.number.saturating_sub(keep);
    let mut first = (state.head.first_file, state.head.first_seq);
    while first.0 < oldest {
        let Some(seq) = closing_seq(log, first.0)? else {
            break;
        };
        first = (first.0 + 1, seq.saturating_add(1));
    }
    (state.head.first_file, state.head.first_seq) = first;
    state.write_head(log)?;
    for number in files::list(&log.dir)?
        .into_iter()
        .take_while(|number| *number < oldest)
    {
        let path = files::log_path(&log.dir, number);
        fs::remove_file(&path).map_err(|error| AuditError::io("remove", &path, error))?;
    }
    Ok(())
}

/// Reads the number of the record that closes a file; `None` when no authentic one does.
fn closing_seq(log: &Core, number: u64) -> Result<Option<u64>, AuditError> {
    // A closing line has under 300 bytes; anything longer is not one.
    const ENOUGH: u64 = 1024;
    let path = files::log_path(&log.dir, number);
    let Some(mut file) = files::open_existing(&path)? else {
        return Ok(None);
    };
    let mut read = || -> io::Result<Vec<u8>> {
        let len = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(len.saturating_sub(ENOUGH)))?;
        let mut bytes = Vec::new();
        (&mut file).take(ENOUGH).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error| AuditError::io("read", &path, error))?;
    let Some(bytes) = bytes.strip_suffix(b"\n") else {
        return Ok(None);
    };
    let line = bytes
        .rsplit(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let closing = Frame::parse(line)
        .filter(|frame| frame.is_event(frame::ROTATED) && frame.is_authentic(&log.keys));
    Ok(closing.map(|frame| frame.seq))
}
