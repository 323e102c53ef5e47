//! Brings a log that moved on, or was damaged, to a state where appending can go on. Never removes
//! a record that verifies. Does not judge: what was tampered with stays visible to `verify`.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use crate::{
    AuditError, files,
    frame::{self, Frame},
    head::{self, Head},
    json,
    key::Keys,
    lines::{Line, Lines},
    log::{Core, State},
};

/// How often the current file may change before we give up: far more than rotation can cause.
const MAX_TURNS: u32 = 1000;

/// Where reading on from the known end led.
enum Reached {
    /// The end of the log.
    End,
    /// A line saying that the next file goes on.
    NextFile,
}

/// Follows the log to its end. The caller holds the lock of `state.file`; afterwards it holds the
/// lock of the current file, which ends where `state.head` says.
pub(crate) fn catch_up(log: &Core, state: &mut State, time: u64) -> Result<(), AuditError> {
    let io_error = |error| AuditError::io("look at", &log.dir, error);
    for _ in 0..MAX_TURNS {
        if !files::is_named(&state.head_file, &head::path(&log.dir)).map_err(io_error)? {
            state.head_file = Head::open(&log.dir)?;
        }
        let stored = Head::read_from(&state.head_file, &log.dir, &log.keys)?.valid();
        state.told = stored.map_or(0, |head| head.seq);
        if let Some(head) = stored {
            let known = (state.head.file, state.head.seq);
            // What we wrote ourselves outranks an older head that somebody put back.
            if state.lost || (head.file, head.seq) >= known {
                state.head = head;
            }
            state.lost = false;
        }
        let path = files::log_path(&log.dir, state.number);
        if state.number != state.head.file
            || !files::is_named(&state.file, &path).map_err(io_error)?
        {
            state.reopen(log)?;
            continue;
        }
        match read_on(log, state, time)? {
            Reached::NextFile => {
                state.head.file += 1;
                state.head.len = 0;
                state.reopen(log)?;
            }
            Reached::End => {
                return if state.lost {
                    tell_of_lost_head(log, state, time)
                } else {
                    Ok(())
                };
            }
        }
    }
    Err(AuditError::Unsettled {
        dir: log.dir.clone(),
    })
}

/// Reads records that others appended after the known end, and repairs what is not a record.
fn read_on(log: &Core, state: &mut State, time: u64) -> Result<Reached, AuditError> {
    let path = files::log_path(&log.dir, state.number);
    let io_error = |error| AuditError::io("read", &path, error);
    let len = (&state.file).seek(SeekFrom::End(0)).map_err(io_error)?;
    if len == state.head.len {
        return Ok(Reached::End);
    }
    if len < state.head.len || !ends_at_head(state).map_err(io_error)? {
        // Somebody cut or moved what was written. Going on from the head leaves a gap in the
        // numbers for good; touching what is left would only destroy evidence.
        state.head.len = finish_line(state, len).map_err(io_error)?;
        return Ok(Reached::End);
    }
    let base = state.head.len;
    (&state.file)
        .seek(SeekFrom::Start(base))
        .map_err(io_error)?;
    let mut lines = Lines::new(&state.file);
    let mut line = Vec::new();
    while let Some(Line::Whole) = lines.next_into(&mut line).map_err(io_error)? {
        let next = Frame::parse(&line).filter(|frame| {
            frame.seq == state.head.seq.saturating_add(1)
                && frame.prev == state.head.mac
                && frame.is_authentic(&log.keys)
        });
        let Some(frame) = next else { break };
        state.head.seq = frame.seq;
        state.head.mac = frame.mac;
        state.head.len = base + lines.offset;
        if frame.is_event(frame::ROTATED) {
            return Ok(Reached::NextFile);
        }
    }
    if state.head.len < len {
        set_aside(log, state, len - state.head.len, time)?;
    }
    Ok(Reached::End)
}

/// Checks that the newest known record is still where it was. If bytes were slipped in before it,
/// what follows the known length is not a torn line but the end of a good one.
fn ends_at_head(state: &State) -> io::Result<bool> {
    if state.head.len == 0 || state.head.seq == 0 {
        return Ok(true);
    }
    let mut expected = Vec::new();
    frame::write_trailer(&mut expected, &state.head.mac);
    let Some(start) = state.head.len.checked_sub(expected.len() as u64) else {
        return Ok(false);
    };
    (&state.file).seek(SeekFrom::Start(start))?;
    let mut found = vec![0; expected.len()];
    (&state.file).read_exact(&mut found)?;
    Ok(found == expected)
}

/// Ends an unfinished last line, so that the next record starts a line of its own.
fn finish_line(state: &State, len: u64) -> io::Result<u64> {
    let Some(last) = len.checked_sub(1) else {
        return Ok(len);
    };
    (&state.file).seek(SeekFrom::Start(last))?;
    let mut byte = [0];
    (&state.file).read_exact(&mut byte)?;
    if byte == *b"\n" {
        return Ok(len);
    }
    (&state.file).write_all(b"\n")?;
    Ok(len + 1)
}

/// Moves what follows the last record into a file of its own, and says so in the log.
fn set_aside(log: &Core, state: &mut State, bytes: u64, time: u64) -> Result<(), AuditError> {
    let path = files::log_path(&log.dir, state.number);
    let io_error = |error| AuditError::io("repair", &path, error);
    (&state.file)
        .seek(SeekFrom::Start(state.head.len))
        .map_err(io_error)?;
    let (name, mut torn) = create_torn(&log.dir, state.head.seq.saturating_add(1))?;
    let copied = io::copy(&mut (&state.file).take(bytes), &mut torn).map_err(io_error)?;
    files::truncate(&path, state.head.len).map_err(io_error)?;
    state.push(log, |out| {
        event(out, frame::REPAIRED, time);
        json::name(out, "torn_file");
        json::string(out, &name, name.len());
        json::name(out, "torn_bytes");
        json::number(out, copied);
    })?;
    state.write_head(log)
}

/// Creates a file for half a record under a name that is free.
fn create_torn(dir: &Path, seq: u64) -> Result<(String, File), AuditError> {
    let mut name = format!("torn-{seq:08}.txt");
    for copy in 2..MAX_TURNS {
        match files::private()
            .write(true)
            .create_new(true)
            .open(dir.join(&name))
        {
            Ok(file) => return Ok((name, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                name = format!("torn-{seq:08}-{copy}.txt");
            }
            Err(error) => return Err(AuditError::io("create", &dir.join(name), error)),
        }
    }
    Err(AuditError::Unsettled {
        dir: dir.to_owned(),
    })
}

/// Leaves a lasting mark that for a while nothing would have shown a cut-off end.
fn tell_of_lost_head(log: &Core, state: &mut State, time: u64) -> Result<(), AuditError> {
    state.push(log, |out| event(out, frame::HEAD_LOST, time))?;
    state.lost = false;
    state.write_head(log)
}

/// Writes the start of a body in which the log itself speaks.
pub(crate) fn event(out: &mut Vec<u8>, event: &str, time: u64) {
    out.extend_from_slice(frame::EVENT);
    json::string(out, event, event.len());
    json::name(out, "time");
    json::number(out, time);
}

/// Finds the end of a log that has no usable head.
pub(crate) fn recover(dir: &Path, keys: &Keys) -> Result<Head, AuditError> {
    let numbers = files::list(dir)?;
    let mut head = Head::EMPTY;
    if let Some(first) = numbers.first() {
        let (first_record, _) = survey(dir, *first, keys)?;
        head.first_file = *first;
        head.file = *first;
        head.first_seq = first_record.unwrap_or(1);
    }
    for number in numbers.iter().rev() {
        let (_, last) = survey(dir, *number, keys)?;
        if let Some(found) = last {
            return Ok(Head {
                first_file: head.first_file,
                first_seq: head.first_seq,
                ..found
            });
        }
    }
    Ok(head)
}

/// Finds the first and the last authentic record of a file.
fn survey(dir: &Path, number: u64, keys: &Keys) -> Result<(Option<u64>, Option<Head>), AuditError> {
    let path = files::log_path(dir, number);
    let Some(file) = files::open_existing(&path)? else {
        return Ok((None, None));
    };
    let (mut first, mut last) = (None, None);
    let mut lines = Lines::new(file);
    let mut line = Vec::new();
    while let Some(kind) = lines
        .next_into(&mut line)
        .map_err(|error| AuditError::io("read", &path, error))?
    {
        let parsed = (kind == Line::Whole).then(|| Frame::parse(&line)).flatten();
        let Some(frame) = parsed.filter(|frame| frame.is_authentic(keys)) else {
            continue;
        };
        first.get_or_insert(frame.seq);
        let closed = frame.is_event(frame::ROTATED);
        let (file, len) = if closed {
            (number + 1, 0)
        } else {
            (number, lines.offset)
        };
        last = Some(Head {
            seq: frame.seq,
            mac: frame.mac,
            file,
            len,
            ..Head::EMPTY
        });
    }
    Ok((first, last))
}
