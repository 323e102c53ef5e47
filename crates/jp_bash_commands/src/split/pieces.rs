//! The files that `split` writes: their names, one after the other, and the one that is open.

use jp_bash_system::io::Output;
use jp_bash_system::{Fd, OpenHow, Stop, failed};

use crate::file::Cmd;

/// What suffixes are made of.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Alphabet {
    #[default]
    Letters,
    Digits,
    Hex,
}

impl Alphabet {
    fn symbols(self) -> &'static [u8] {
        match self {
            Self::Letters => b"abcdefghijklmnopqrstuvwxyz",
            Self::Digits => b"0123456789",
            Self::Hex => b"0123456789abcdef",
        }
    }
}

/// The pieces written so far.
#[derive(Default)]
pub(super) struct Pieces {
    pub(super) prefix: Vec<u8>,
    pub(super) additional: Vec<u8>,
    pub(super) alphabet: Alphabet,
    /// The length of suffixes, if it was given; otherwise they grow.
    pub(super) length: Option<usize>,
    pub(super) elide: bool,
    pub(super) verbose: bool,
    start: Option<u64>,
    /// Places of the suffix's symbols in the alphabet.
    suffix: Option<Vec<usize>>,
    open: Option<(Fd, Output, Vec<u8>)>,
}

impl Pieces {
    /// Counts from here; such suffixes do not grow.
    pub(super) fn start_at(&mut self, from: u64) {
        self.start = Some(from);
    }

    /// Ends a piece and starts the next.
    pub(super) fn next(&mut self, cmd: &mut Cmd<'_>) -> Result<(), Stop> {
        self.close(cmd)?;
        if cmd.status != 0 {
            return Ok(());
        }
        let Some(suffix) = self.advance() else {
            return cmd.error(&[b"output file suffixes exhausted"]);
        };
        let symbols = self.alphabet.symbols();
        let shown: Vec<u8> = suffix
            .iter()
            .filter_map(|at| symbols.get(*at).copied())
            .collect();
        self.suffix = Some(suffix);
        let name = [self.prefix.as_slice(), &shown, &self.additional].concat();
        if self.verbose {
            let quoted = cmd.q(&name);
            cmd.put(&[&b"creating file "[..], &quoted, b"\n"].concat())?;
        }
        match failed(cmd.sys.open(&name, OpenHow::WRITE))? {
            Ok(fd) => self.open = Some((fd, Output::new(fd), name)),
            Err(errno) => {
                let quoted = cmd.qf(&name);
                cmd.fail(&[&quoted], errno)?;
            }
        }
        Ok(())
    }

    /// Makes the next suffix; nothing if there is none of this length.
    fn advance(&self) -> Option<Vec<usize>> {
        let base = self.alphabet.symbols().len();
        let Some(mut suffix) = self.suffix.clone() else {
            let mut suffix = vec![0; self.length.unwrap_or(2)];
            let mut left = usize::try_from(self.start.unwrap_or(0)).ok()?;
            for digit in suffix.iter_mut().rev() {
                *digit = left % base;
                left /= base;
            }
            return (left == 0).then_some(suffix);
        };
        let grows = self.length.is_none() && self.start.is_none();
        let front = suffix
            .iter()
            .take_while(|digit| **digit == base - 1)
            .count();
        for at in (0..suffix.len()).rev() {
            let digit = suffix.get_mut(at)?;
            *digit += 1;
            // The last symbol in front means that longer ones follow: `yz`, then `zaaa`.
            if at == front && grows && *digit == base - 1 {
                let mut longer = vec![base - 1; front + 1];
                longer.resize(suffix.len() + 2, 0);
                return Some(longer);
            }
            if *digit < base {
                return Some(suffix);
            }
            *digit = 0;
        }
        None
    }

    /// Adds bytes to the open piece.
    pub(super) fn put(&mut self, cmd: &mut Cmd<'_>, bytes: &[u8]) -> Result<(), Stop> {
        match &mut self.open {
            Some((_, out, _)) => out.put(cmd.sys, bytes),
            None => Ok(()),
        }
    }

    /// Ends the open piece.
    pub(super) fn close(&mut self, cmd: &mut Cmd<'_>) -> Result<(), Stop> {
        let Some((fd, out, name)) = self.open.take() else {
            return Ok(());
        };
        let done = out.finish(cmd.sys)?;
        cmd.sys.close(fd);
        match done {
            Ok(()) => Ok(()),
            Err(errno) => {
                let quoted = cmd.qf(&name);
                cmd.fail(&[&quoted], errno)
            }
        }
    }
}
