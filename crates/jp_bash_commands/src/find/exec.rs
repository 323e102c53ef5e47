//! `-exec` and `-execdir` of `find`.

use jp_bash_system::{Ended, Spawn, Stop, failed};

use super::Item;
use super::eval::Evaluator;
use super::expr::Exec;
use crate::file::name::dir_name;

/// How many bytes of names are given to one command at most.
const MAX_BYTES: usize = 128 * 1024;

/// Files that wait for their command.
#[derive(Debug, Default)]
pub(super) struct Batch {
    words: Vec<Vec<u8>>,
    files: Vec<Vec<u8>>,
    bytes: usize,
    dir: Option<Vec<u8>>,
}

impl Evaluator<'_, '_> {
    pub(super) fn exec(&mut self, exec: &Exec, item: &Item) -> Result<bool, Stop> {
        let (file, dir) = if exec.in_dir {
            let name = item.name();
            let file = if name == b"/" {
                name.to_vec()
            } else {
                [b"./", name].concat()
            };
            (file, Some(dir_name(&item.path).to_vec()))
        } else {
            (item.path.clone(), None)
        };
        if let Some(at) = exec.batch {
            return self.collect(at, exec, file, dir);
        }
        let argv = exec.words.iter().map(|word| fill(word, &file)).collect();
        let well = self.spawn(argv, dir)?;
        Ok(well)
    }

    fn collect(
        &mut self,
        at: usize,
        exec: &Exec,
        file: Vec<u8>,
        dir: Option<Vec<u8>>,
    ) -> Result<bool, Stop> {
        let full = self.batches.get(at).is_some_and(|batch| {
            !batch.files.is_empty() && (batch.bytes + file.len() > MAX_BYTES || batch.dir != dir)
        });
        if full {
            self.run_batch(at)?;
        }
        if let Some(batch) = self.batches.get_mut(at) {
            batch.words.clone_from(&exec.words);
            batch.bytes += file.len() + 8;
            batch.files.push(file);
            batch.dir = dir;
        }
        Ok(true)
    }

    /// Runs a command for all files that were collected.
    pub(super) fn run_batch(&mut self, at: usize) -> Result<(), Stop> {
        let Some(batch) = self.batches.get_mut(at).map(std::mem::take) else {
            return Ok(());
        };
        if batch.files.is_empty() {
            return Ok(());
        }
        let mut argv = batch.words;
        argv.extend(batch.files);
        if !self.spawn(argv, batch.dir)? {
            self.cmd.status = 1;
        }
        Ok(())
    }

    /// Runs a command and tells whether it succeeded.
    fn spawn(&mut self, argv: Vec<Vec<u8>>, dir: Option<Vec<u8>>) -> Result<bool, Stop> {
        // What was printed so far comes before what the command prints.
        self.cmd.out.flush(self.cmd.sys)?;
        let name = argv.first().cloned().unwrap_or_default();
        let spawn = Spawn {
            argv,
            cwd: dir,
            ..Spawn::default()
        };
        let child = match failed(self.cmd.sys.spawn(spawn))? {
            Ok(child) => child,
            Err(errno) => {
                let before = self.cmd.status;
                let name = self.cmd.quote(&name);
                self.cmd.fail(&[&name], errno)?;
                self.cmd.status = before;
                return Ok(false);
            }
        };
        match failed(self.cmd.sys.wait(child))? {
            Ok(Ended::Exit(status)) => Ok(status == 0),
            Ok(Ended::Signal(signal)) => {
                let name = self.cmd.quote(&name);
                let number = signal.to_string();
                self.cmd
                    .error(&[&name, b" terminated by signal ", number.as_bytes()])?;
                Ok(false)
            }
            Err(_) => Ok(false),
        }
    }
}

/// Puts a file in the place of every `{}`.
fn fill(word: &[u8], file: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some(at) = memchr::memmem::find(rest, b"{}") {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        out.extend_from_slice(file);
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}
