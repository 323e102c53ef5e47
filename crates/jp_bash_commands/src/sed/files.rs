//! The files of a run of sed: what is read in order, where output goes, editing in place.

use jp_bash_system::io::{Input, Output, complain};
use jp_bash_system::{Errno, Fd, FileKind, Follow, OpenHow, Stop, SysError, System, failed};

/// Somewhere to write, which knows whether its last line lacks its end.
pub(super) struct Sink {
    pub(super) out: Output,
    pub(super) fd: Fd,
    missing_end: bool,
}

impl Sink {
    /// Makes a sink on a descriptor.
    pub(super) fn new(fd: Fd) -> Self {
        Self {
            out: Output::new(fd),
            fd,
            missing_end: false,
        }
    }

    /// Writes text as it is, after the end that an earlier line lacked.
    pub(super) fn text(&mut self, sys: &mut dyn System, text: &[u8], end: u8) -> Result<(), Stop> {
        if std::mem::take(&mut self.missing_end) {
            self.out.put(sys, &[end])?;
        }
        self.out.put(sys, text)
    }

    /// Writes a line; its end is held back where the input's last line had none.
    #[inline]
    pub(super) fn line(
        &mut self,
        sys: &mut dyn System,
        line: &[u8],
        end: u8,
        has_end: bool,
    ) -> Result<(), Stop> {
        self.text(sys, line, end)?;
        if has_end {
            self.out.put(sys, &[end])
        } else {
            self.missing_end = true;
            Ok(())
        }
    }
}

/// How files are gone through.
#[derive(Debug, Clone, Default)]
pub(super) struct Mode {
    /// `-s`, `-i`: `$` and line numbers are for each file.
    pub(super) separate: bool,
    /// `-i`, with the suffix of the backup.
    pub(super) in_place: Option<Vec<u8>>,
    pub(super) follow: bool,
    pub(super) end: u8,
}

/// The exit status when a file could not be opened.
const UNREADABLE: i32 = 2;

/// The exit status when a file could not be read or replaced.
const PANIC: i32 = 4;

/// The input.
pub(super) struct Files {
    pub(super) mode: Mode,
    names: std::vec::IntoIter<Vec<u8>>,
    current: Option<(Input, Fd)>,
    pub(super) name: Vec<u8>,
    /// What the files did to the exit status.
    pub(super) status: i32,
    /// The file being replaced: its new text, where that is, what it replaces.
    edit: Option<(Sink, Vec<u8>, Vec<u8>)>,
    pub(super) new_file: bool,
}

impl Files {
    /// Makes the input of these names; `-` is standard input.
    pub(super) fn new(names: Vec<Vec<u8>>, mode: Mode) -> Self {
        Self {
            mode,
            names: names.into_iter(),
            current: None,
            name: b"-".to_vec(),
            status: 0,
            edit: None,
            new_file: false,
        }
    }

    /// Returns where in-place output goes, if we edit.
    pub(super) fn sink(&mut self) -> Option<&mut Sink> {
        self.edit.as_mut().map(|(sink, ..)| sink)
    }

    /// Appends the next line to `line` without its end; whether there was one, and it had its end.
    pub(super) fn next_line(
        &mut self,
        sys: &mut dyn System,
        line: &mut Vec<u8>,
    ) -> Result<Option<bool>, Stop> {
        loop {
            if self.current.is_none() && !self.open_next(sys)? {
                return Ok(None);
            }
            let Some((input, _)) = &mut self.current else {
                return Ok(None);
            };
            match input.record(sys, self.mode.end) {
                Ok(Some(record)) => {
                    let (text, has_end) = match record.split_last() {
                        Some((last, text)) if *last == self.mode.end => (text, true),
                        _ => (record, false),
                    };
                    line.extend_from_slice(text);
                    return Ok(Some(has_end));
                }
                Ok(None) => self.close(sys)?,
                Err(SysError::Stop(stop)) => return Err(stop),
                Err(SysError::Errno(errno)) => {
                    let text = [
                        b"read error on ".as_slice(),
                        &self.name,
                        b": ",
                        errno.text().as_bytes(),
                    ];
                    complain(sys, b"sed", &text.concat())?;
                    self.close(sys)?;
                    // The real one gives up here, with the files behind this one unread.
                    self.status = PANIC;
                    self.names = Vec::new().into_iter();
                }
            }
        }
    }

    /// Tells whether the line read last is the last one. May open following files to know.
    pub(super) fn at_end(&mut self, sys: &mut dyn System) -> Result<bool, Stop> {
        loop {
            if let Some((input, _)) = &mut self.current {
                let more = failed(input.fill(sys))?.is_ok_and(|rest| !rest.is_empty());
                if more {
                    return Ok(false);
                }
                if self.mode.separate {
                    return Ok(true);
                }
                self.close(sys)?;
            }
            if self.mode.separate || !self.open_next(sys)? {
                return Ok(true);
            }
        }
    }

    fn open_next(&mut self, sys: &mut dyn System) -> Result<bool, Stop> {
        loop {
            let Some(name) = self.names.next() else {
                return Ok(false);
            };
            self.new_file = true;
            if name == b"-" && self.mode.in_place.is_none() {
                self.name = name;
                self.current = Some((Input::new(0), 0));
                return Ok(true);
            }
            match failed(sys.open(&name, OpenHow::READ))? {
                Ok(fd) => {
                    self.name = name;
                    if self.mode.in_place.is_some() && !self.begin_edit(sys)? {
                        sys.close(fd);
                        continue;
                    }
                    self.current = Some((Input::new(fd), fd));
                    return Ok(true);
                }
                Err(errno) => {
                    self.status = UNREADABLE;
                    let text = if errno == Errno::IsDir && self.mode.in_place.is_some() {
                        [b"couldn't edit ".as_slice(), &name, b": not a regular file"].concat()
                    } else if errno == Errno::IsDir {
                        [b"couldn't read ".as_slice(), &name, b": Is a directory"].concat()
                    } else {
                        [
                            b"can't read ",
                            name.as_slice(),
                            b": ",
                            errno.text().as_bytes(),
                        ]
                        .concat()
                    };
                    complain(sys, b"sed", &text)?;
                }
            }
        }
    }

    /// Opens the file that will replace the one being read.
    fn begin_edit(&mut self, sys: &mut dyn System) -> Result<bool, Stop> {
        let mut target = self.name.clone();
        if self.mode.follow {
            for _ in 0..40 {
                let Ok(link) = failed(sys.readlink(&target))? else {
                    break;
                };
                target = if link.first() == Some(&b'/') {
                    link
                } else {
                    [directory(&target), &link].concat()
                };
            }
        }
        let stat = failed(sys.stat(&target, Follow::Yes))?;
        let mode = match stat {
            Ok(stat) if stat.kind == FileKind::Regular => stat.mode,
            _ => {
                let text = [
                    b"couldn't edit ",
                    self.name.as_slice(),
                    b": not a regular file",
                ];
                complain(sys, b"sed", &text.concat())?;
                self.status = PANIC;
                return Ok(false);
            }
        };
        for _ in 0..16 {
            let mut random = [0_u8; 6];
            sys.random(&mut random);
            let letters = random.map(|byte| b'a' + byte % 26);
            let path = [directory(&target), b"sed", &letters].concat();
            let how = OpenHow {
                exclusive: true,
                mode: 0o600,
                ..OpenHow::WRITE
            };
            match failed(sys.open(&path, how))? {
                Ok(fd) => {
                    failed(sys.chmod(&path, mode))?.ok();
                    self.edit = Some((Sink::new(fd), path, target));
                    return Ok(true);
                }
                Err(Errno::Exist) => {}
                Err(errno) => {
                    let text = [
                        b"couldn't open temporary file ",
                        path.as_slice(),
                        b": ",
                        errno.text().as_bytes(),
                    ];
                    complain(sys, b"sed", &text.concat())?;
                    self.status = PANIC;
                    return Ok(false);
                }
            }
        }
        let text = [
            b"couldn't open temporary file for ",
            self.name.as_slice(),
            b": File exists",
        ];
        complain(sys, b"sed", &text.concat())?;
        self.status = PANIC;
        Ok(false)
    }

    /// Ends the current file; an edited one takes its place.
    pub(super) fn close(&mut self, sys: &mut dyn System) -> Result<(), Stop> {
        if let Some((_, fd)) = self.current.take()
            && fd != 0
        {
            sys.close(fd);
        }
        let Some((sink, path, target)) = self.edit.take() else {
            return Ok(());
        };
        let fd = sink.fd;
        let written = sink.out.finish(sys)?;
        sys.close(fd);
        if let Err(errno) = written {
            failed(sys.unlink(&path))?.ok();
            self.status = PANIC;
            let text = [
                b"couldn't write to ",
                path.as_slice(),
                b": ",
                errno.text().as_bytes(),
            ];
            return complain(sys, b"sed", &text.concat());
        }
        if let Some(suffix) = self.mode.in_place.clone().filter(|s| !s.is_empty()) {
            let backup = backup_name(&target, &suffix);
            failed(sys.rename(&target, &backup))?.ok();
        }
        if let Err(errno) = failed(sys.rename(&path, &target))? {
            self.status = PANIC;
            let text = [
                b"cannot rename ",
                path.as_slice(),
                b": ",
                errno.text().as_bytes(),
            ];
            complain(sys, b"sed", &text.concat())?;
        }
        Ok(())
    }

    /// Leaves the input where it is: `q` and `Q` read no more, and an edited file ends there.
    pub(super) fn leave(&mut self, sys: &mut dyn System) -> Result<(), Stop> {
        if let Some((input, 0)) = &mut self.current {
            input.give_back(sys);
        }
        self.close(sys)
    }
}

fn directory(path: &[u8]) -> &[u8] {
    match memchr::memrchr(b'/', path) {
        Some(at) => path.get(..=at).unwrap_or_default(),
        None => b"",
    }
}

/// `SUFFIX` is appended; with `*` it is a pattern for the name, with `/` in another directory.
fn backup_name(target: &[u8], suffix: &[u8]) -> Vec<u8> {
    let dir = directory(target);
    let base = target.get(dir.len()..).unwrap_or_default();
    if !suffix.contains(&b'*') {
        return [target, suffix].concat();
    }
    let mut made = Vec::new();
    for byte in suffix {
        match byte {
            b'*' => made.extend_from_slice(base),
            other => made.push(*other),
        }
    }
    if made.contains(&b'/') {
        made
    } else {
        [dir, &made].concat()
    }
}
