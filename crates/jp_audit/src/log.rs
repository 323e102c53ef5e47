//! The open log and the path of an append. Does not know how a damaged log is repaired: that is
//! `repair`.

use std::{
    fs::File,
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    ArgumentsHash, AuditError, Options, Record, Waiting, files, founding, frame,
    head::{self, Head},
    key::Keys,
    lease::{Keeper, Lease},
    repair, rotate,
};

/// Appends records to the log of a directory. Any number of these, in any number of processes, may
/// append to the same log at once; within a process, one is best shared in an `Arc`.
///
/// An append takes the file's lock, looks whether the file still ends where this log left it, and
/// writes one line and the head; under a [lease](Options::lease) it only writes the line. It does not
/// wait for the disk: see [`Log::sync`].
#[derive(Debug)]
pub struct Log {
    core: Arc<Core>,
    /// Lets go of the lock when the lease is over; there is none without a lease.
    keeper: Option<Keeper>,
}

/// Records that may be written under a lease before the head is told of them. The verifier takes a
/// head that is further behind for an older copy.
pub(crate) const HEAD_EVERY: u64 = 64;

/// The log without the thread that looks after its lease.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) dir: PathBuf,
    pub(crate) options: Options,
    pub(crate) keys: Keys,
    state: Mutex<State>,
}

/// What changes with each append.
#[derive(Debug)]
pub(crate) struct State {
    /// The file being written; its lock is held during an append.
    pub(crate) file: File,
    /// Its number.
    pub(crate) number: u64,
    pub(crate) head_file: File,
    /// The end of the log as this process last saw it.
    pub(crate) head: Head,
    /// The newest record that the head file tells of.
    pub(crate) told: u64,
    /// Whether there was no usable head when the log was opened; the next append says so in the log.
    pub(crate) lost: bool,
    /// The time of the record for which the file's name was last checked.
    checked_at: u64,
    pub(crate) lease: Lease,
    buffer: Vec<u8>,
}

impl Log {
    /// Opens the log in a directory, creating both when they are not there. What a crash left
    /// half-written is repaired by the next append.
    pub fn open(dir: &Path, options: Options) -> Result<Self, AuditError> {
        files::create_dir(dir)?;
        let keys = match Keys::load(dir)? {
            Some(keys) => keys,
            None => founding::found(dir)?,
        };
        let stored = Head::read(dir, &keys)?.valid();
        let head = match stored {
            Some(head) => head,
            None => repair::recover(dir, &keys)?,
        };
        let state = State {
            file: files::open_log(&files::log_path(dir, head.file))?,
            number: head.file,
            head_file: Head::open(dir)?,
            head,
            told: head.seq,
            lost: stored.is_none(),
            checked_at: 0,
            lease: Lease::default(),
            buffer: Vec::with_capacity(1024),
        };
        let core = Arc::new(Core {
            dir: dir.to_owned(),
            options,
            keys,
            state: Mutex::new(state),
        });
        let keeper = match core.options.lease {
            Some(time) => Some(
                Keeper::start(&core, time)
                    .map_err(|error| AuditError::io("look after", dir, error))?,
            ),
            None => None,
        };
        Ok(Self { core, keeper })
    }

    /// Hashes the arguments of a call with the log's key.
    pub fn hash_arguments(&self, arguments: &[u8]) -> ArgumentsHash {
        self.core.keys.arguments(arguments)
    }

    /// Appends a record, and returns its number. When this returns, the record survives the death of the
    /// process.
    pub fn append(&self, record: &Record<'_>) -> Result<u64, AuditError> {
        self.append_after(None, record)
    }

    /// Appends a record, and before it one that waited for it, which costs little more than one. Returns
    /// the number of the record. When it fails, the log has neither.
    pub fn append_after(
        &self,
        waiting: Option<&Waiting>,
        record: &Record<'_>,
    ) -> Result<u64, AuditError> {
        let mut state = self.core.state();
        let result = self.core.append(&mut state, waiting, record);
        let number = state.head.seq;
        let settled = match &self.keeper {
            Some(keeper) if result.is_ok() && state.lease.may_start() => {
                if state.lease.start() {
                    keeper.wake();
                }
                state.tell_head_in_time(&self.core)
            }
            _ => {
                let told = state.let_go(&self.core);
                result.and(told)
            }
        };
        settled.map(|()| number)
    }

    /// Waits until all records so far are on the disk, where a power failure cannot take them.
    pub fn sync(&self) -> Result<(), AuditError> {
        self.core.sync()
    }
}

impl Core {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere cannot leave the log wrong: each append looks at the file again.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append(
        &self,
        state: &mut State,
        waiting: Option<&Waiting>,
        record: &Record<'_>,
    ) -> Result<(), AuditError> {
        // Under the lease the lock was never let go of, so nobody can have appended.
        if !state.lease.is_held() {
            self.catch_up(state, record.time)?;
        }
        if state.head.len > 0 && state.head.len >= self.options.max_bytes_per_file {
            rotate::rotate(self, state, record.time)?;
            self.catch_up(state, record.time)?;
        }
        state.push_after(self, waiting, |out| record.write_body(out))
    }

    /// Locks the file and makes sure that it is the current one and ends where `state` says.
    fn catch_up(&self, state: &mut State, time: u64) -> Result<(), AuditError> {
        let number = state.number;
        let path = || files::log_path(&self.dir, number);
        loop {
            match state.file.lock() {
                Ok(()) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(AuditError::io("lock", &path(), error)),
            }
        }
        let len = (&state.file)
            .seek(SeekFrom::End(0))
            .map_err(|error| AuditError::io("look at", &path(), error))?;
        let alone = len == state.head.len;
        if !alone {
            state.lease.share();
        }
        let known = alone || state.follow(self, len)?;
        let mut current = known && !state.lost;
        // Whether somebody moved the file away costs two more system calls to see, a third of an
        // append; once per millisecond is often enough, since the head shows such a loss too.
        if current && time != state.checked_at {
            current = files::is_named(&state.file, &path())
                .map_err(|error| AuditError::io("look at", &path(), error))?;
            state.checked_at = time;
        }
        if current {
            return Ok(());
        }
        repair::catch_up(self, state, time)?;
        // What others died before telling is told first: crash after crash must not add up.
        state.tell_head(self)
    }

    fn sync(&self) -> Result<(), AuditError> {
        let mut state = self.state();
        state.tell_head(self)?;
        let path = files::log_path(&self.dir, state.number);
        state
            .file
            .sync_data()
            .map_err(|error| AuditError::io("sync", &path, error))?;
        let path = head::path(&self.dir);
        state
            .head_file
            .sync_data()
            .map_err(|error| AuditError::io("sync", &path, error))?;
        // Directories cannot be opened everywhere; where they can, this keeps the files' names.
        #[cfg(unix)]
        File::open(&self.dir)
            .and_then(|dir| dir.sync_all())
            .map_err(|error| AuditError::io("sync", &self.dir, error))?;
        Ok(())
    }
}

impl State {
    /// Lets go of the lock, when the head knows of all that was appended under it.
    pub(crate) fn let_go(&mut self, log: &Core) -> Result<(), AuditError> {
        self.lease.end();
        let told = self.tell_head(log);
        // Failing to unlock leaves nothing to do: closing the file unlocks it too.
        let _ = self.file.unlock();
        told
    }

    /// Tells the head file how far the log reaches, unless it knows.
    fn tell_head(&mut self, log: &Core) -> Result<(), AuditError> {
        match self.told == self.head.seq {
            true => Ok(()),
            false => self.write_head(log),
        }
    }

    /// Tells the head file, before it is too far behind for the verifier.
    fn tell_head_in_time(&mut self, log: &Core) -> Result<(), AuditError> {
        match self.head.seq.saturating_sub(self.told) < HEAD_EVERY {
            true => Ok(()),
            false => self.write_head(log),
        }
    }

    /// Writes one line at the end of the log, without telling the head file.
    pub(crate) fn push(
        &mut self,
        log: &Core,
        body: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), AuditError> {
        self.push_after(log, None, body)
    }

    /// Writes a line that waited, if there is one, and the line after it.
    fn push_after(
        &mut self,
        log: &Core,
        waiting: Option<&Waiting>,
        body: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), AuditError> {
        self.buffer.clear();
        let (mut seq, mut mac) = (self.head.seq.saturating_add(1), self.head.mac);
        if let Some(Waiting(first)) = waiting {
            mac = frame::write(&mut self.buffer, &log.keys, seq, &mac, |out| {
                out.extend_from_slice(first);
            });
            seq = seq.saturating_add(1);
        }
        let mac = frame::write(&mut self.buffer, &log.keys, seq, &mac, body);
        if let Err(error) = self.file.write_all(&self.buffer) {
            let path = files::log_path(&log.dir, self.number);
            // A full disk may have taken half of the line. If taking it back fails as well, the
            // next append finds it and sets it aside.
            let _ = self.file.set_len(self.head.len);
            return Err(AuditError::io("append to", &path, error));
        }
        self.head.seq = seq;
        self.head.mac = mac;
        self.head.len += self.buffer.len() as u64;
        Ok(())
    }

    /// Writes to the head file how far the log reaches.
    pub(crate) fn write_head(&mut self, log: &Core) -> Result<(), AuditError> {
        self.head.write(&self.head_file, &log.dir, &log.keys)?;
        self.told = self.head.seq;
        Ok(())
    }

    /// Takes over what another process appended to this file, if the head vouches for all of it.
    fn follow(&mut self, log: &Core, len: u64) -> Result<bool, AuditError> {
        let stored = Head::read_from(&self.head_file, &log.dir, &log.keys)?.valid();
        self.told = stored.map_or(0, |head| head.seq);
        let newer = stored
            .filter(|head| head.file == self.number && head.len == len && head.seq > self.head.seq);
        self.head = newer.unwrap_or(self.head);
        Ok(newer.is_some())
    }

    /// Opens and locks the file that the head names, and lets go of the one before.
    pub(crate) fn reopen(&mut self, log: &Core) -> Result<(), AuditError> {
        let path = files::log_path(&log.dir, self.head.file);
        // Assigning closes the old file, and with it its lock, before the new lock is waited for.
        self.file = files::open_log(&path)?;
        self.number = self.head.file;
        files::lock(&self.file, &path)
    }
}
