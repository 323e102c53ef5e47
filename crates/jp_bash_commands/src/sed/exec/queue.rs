//! What comes out at the end of a cycle (`a`, `r`, `R`), and what the shell prints for `e`.

use jp_bash_system::io::Input;
use jp_bash_system::{Fd, OpenHow, Spawn, Stop, SysError, System, failed};

use super::{Fault, Queued, Run};

impl Run<'_> {
    /// Writes what `a`, `r` and `R` left for the end of the cycle.
    pub(super) fn dump_queue(&mut self, sys: &mut dyn System) -> Result<(), Fault> {
        if self.queue.is_empty() {
            return Ok(());
        }
        let end = self.settings.end;
        for queued in std::mem::take(&mut self.queue) {
            match queued {
                Queued::Text(text) => {
                    self.sink().text(sys, &text, end)?;
                    sys.release(text.len() as u64);
                    self.held -= text.len() as u64;
                }
                Queued::File(name) => {
                    // Even a file that is not there ends the line before it.
                    self.sink().text(sys, b"", end)?;
                    self.copy_file(sys, &name)?;
                }
                Queued::Line(index) => self.copy_line(sys, index)?,
            }
        }
        Ok(())
    }

    pub(super) fn open_quietly(sys: &mut dyn System, name: &[u8]) -> Result<Option<Fd>, Stop> {
        if name == b"/dev/stdin" {
            return Ok(Some(0));
        }
        Ok(failed(sys.open(name, OpenHow::READ))?.ok())
    }

    pub(super) fn copy_file(&mut self, sys: &mut dyn System, name: &[u8]) -> Result<(), Fault> {
        let Some(fd) = Self::open_quietly(sys, name)? else {
            return Ok(());
        };
        let mut input = Input::new(fd);
        let end = self.settings.end;
        while let Ok(piece) = failed(input.fill(sys))? {
            if piece.is_empty() {
                break;
            }
            let len = piece.len();
            let piece = piece.to_vec();
            sys.work(u32::try_from(len / 1024 + 1).unwrap_or(1))?;
            self.sink().text(sys, &piece, end)?;
            input.consume(len);
        }
        if fd != 0 {
            sys.close(fd);
        }
        Ok(())
    }

    pub(super) fn copy_line(&mut self, sys: &mut dyn System, index: usize) -> Result<(), Fault> {
        let Some(place) = self.inputs.get_mut(index) else {
            return Ok(());
        };
        if place.is_none() {
            let name = self.script.inputs.get(index).cloned().unwrap_or_default();
            match Self::open_quietly(sys, &name)? {
                Some(fd) => *place = Some(Input::new(fd)),
                None => return Ok(()),
            }
        }
        let Some(mut input) = place.take() else {
            return Ok(());
        };
        let end = self.settings.end;
        if let Ok(Some(record)) = failed(input.record(sys, end))? {
            let line = record.to_vec();
            self.sink().text(sys, &line, end)?;
        }
        if let Some(place) = self.inputs.get_mut(index) {
            *place = Some(input);
        }
        Ok(())
    }

    /// Runs a command line; its output.
    pub(super) fn shell(&mut self, sys: &mut dyn System, command: &[u8]) -> Result<Vec<u8>, Fault> {
        self.out.out.flush(sys)?;
        let started = sys.pipe().and_then(|(read, write)| {
            let child = sys.spawn(Spawn {
                argv: vec![b"sh".to_vec(), b"-c".to_vec(), command.to_vec()],
                fds: vec![(1, write)],
                ..Spawn::default()
            });
            sys.close(write);
            match child {
                Ok(child) => Ok((read, child)),
                Err(error) => {
                    sys.close(read);
                    Err(error)
                }
            }
        });
        let (read, child) = match started {
            Ok(started) => started,
            Err(SysError::Stop(stop)) => return Err(stop.into()),
            Err(SysError::Errno(errno)) => {
                return Err(Fault::Fatal(
                    format!("error subprocess: {}", errno.text()),
                    4,
                ));
            }
        };
        let mut input = Input::new(read);
        let mut all = Vec::new();
        while let Ok(piece) = failed(input.fill(sys))? {
            if piece.is_empty() {
                break;
            }
            let len = piece.len();
            all.extend_from_slice(piece);
            sys.reserve(len as u64)?;
            self.held += len as u64;
            input.consume(len);
        }
        sys.close(read);
        failed(sys.wait(child))?.ok();
        Ok(all)
    }
}
