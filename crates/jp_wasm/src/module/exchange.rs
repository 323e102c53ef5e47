//! Text in and out of a module's memory. Every pointer and length here is the guest's, and none is
//! used before it was compared with the memory as it is then: a call may have made it larger.

use std::ops::Range;

use jp_policy::Limit;
use wasmtime::{Instance, Memory, Store, TypedFunc};

use super::{function, max_input, module_signs, shape::MemoryExports};
use crate::{
    call::GuestCall,
    error::{Error, Signs, classify},
    execute::bytes,
    host::State,
};

/// A function that takes where its input lies and returns where its output does.
pub(super) type Entry = TypedFunc<(i32, i32), i64>;

/// A part of a module's memory, as the module sees it.
#[derive(Clone, Copy)]
struct Piece {
    at: i32,
    len: i32,
}

impl Piece {
    /// Takes apart what an entrypoint returned: where in the high half, how much in the low one.
    fn unpack(packed: i64) -> Result<Self, Error> {
        let half = |bits: i64| i32::try_from(bits & 0xffff_ffff).map_err(|_| out_of_bounds());
        Ok(Self {
            at: half(packed >> 32)?,
            len: half(packed)?,
        })
    }

    fn range(self) -> Option<Range<usize>> {
        let at = usize::try_from(self.at).ok()?;
        let end = at.checked_add(usize::try_from(self.len).ok()?)?;
        Some(at..end)
    }
}

/// One conversation with an instance.
pub(super) struct Exchange<'a> {
    store: &'a mut Store<State>,
    memory: Memory,
    alloc: TypedFunc<i32, i32>,
    dealloc: TypedFunc<(i32, i32), ()>,
    max_input: usize,
    max_output: usize,
}

impl<'a> Exchange<'a> {
    pub(super) fn new(
        store: &'a mut Store<State>,
        instance: &Instance,
        exports: &MemoryExports,
        call: &GuestCall<'_>,
    ) -> wasmtime::Result<Self> {
        let memory = instance.get_module_export(&mut *store, &exports.memory);
        let memory = memory.and_then(wasmtime::Extern::into_memory);
        Ok(Self {
            memory: memory.ok_or_else(|| wasmtime::Error::msg("the memory is gone"))?,
            alloc: function(instance, store, exports.alloc)?,
            dealloc: function(instance, store, exports.dealloc)?,
            max_input: max_input(call),
            max_output: bytes(call.limits.output_bytes),
            store,
        })
    }

    /// Hands over text, lets the module work on it and takes what it answers.
    pub(super) async fn ask(&mut self, entry: &Entry, text: &str) -> Result<String, Error> {
        let input = self.give(text.as_bytes()).await?;
        let packed = entry
            .call_async(&mut *self.store, (input.at, input.len))
            .await
            .map_err(|error| self.failed(&error))?;
        let output = Piece::unpack(packed)?;
        let answer = self.take(output)?;
        self.free(input).await?;
        // A module may answer in the buffer it was given; nobody frees that twice.
        if output.at != input.at {
            self.free(output).await?;
        }
        Ok(answer)
    }

    async fn give(&mut self, bytes: &[u8]) -> Result<Piece, Error> {
        let too_large = || Error::Trap {
            reason: format!(
                "WASM tool input too large: {} bytes (max {})",
                bytes.len(),
                self.max_input
            ),
        };
        if bytes.len() > self.max_input {
            return Err(too_large());
        }
        let len = i32::try_from(bytes.len()).map_err(|_| too_large())?;
        let at = self
            .alloc
            .call_async(&mut *self.store, len)
            .await
            .map_err(|error| self.failed(&error))?;
        if at == 0 && len > 0 {
            let reason = format!("WASM alloc failed: it returned 0 for {len} bytes");
            return Err(Error::Trap { reason });
        }
        let piece = Piece { at, len };
        let range = piece.range().ok_or_else(out_of_bounds)?;
        let place = self.memory.data_mut(&mut *self.store).get_mut(range);
        place.ok_or_else(out_of_bounds)?.copy_from_slice(bytes);
        Ok(piece)
    }

    fn take(&self, piece: Piece) -> Result<String, Error> {
        if piece.len == 0 {
            return Ok(String::new());
        }
        let range = piece.range().ok_or_else(out_of_bounds)?;
        let found = self.memory.data(&*self.store).get(range);
        let found = found.ok_or_else(out_of_bounds)?;
        if found.len() > self.max_output {
            return Err(Error::Limit {
                limit: Limit::Output,
            });
        }
        utf8(found.to_vec())
    }

    /// Gives a buffer back. A module that traps at that has answered already, so only what stops
    /// the call as a whole counts.
    async fn free(&mut self, piece: Piece) -> Result<(), Error> {
        if piece.len == 0 {
            return Ok(());
        }
        let freed = self
            .dealloc
            .call_async(&mut *self.store, (piece.at, piece.len));
        let Err(error) = freed.await else {
            return Ok(());
        };
        // Memory that was refused earlier is not the reason of this trap.
        let signs = Signs {
            memory_refused: false,
            could_exceed_output: false,
        };
        match classify(&error, &signs) {
            Error::Trap { .. } => Ok(()),
            stopped => Err(stopped),
        }
    }

    fn failed(&self, error: &wasmtime::Error) -> Error {
        classify(error, &module_signs(self.store))
    }
}

/// Reads bytes as text, which all answers are.
pub(super) fn utf8(bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|error| Error::Trap {
        reason: format!(
            "WASM output must be UTF-8: it is not after {} bytes",
            error.utf8_error().valid_up_to()
        ),
    })
}

fn out_of_bounds() -> Error {
    Error::Trap {
        reason: "WASM memory range out of bounds".to_owned(),
    }
}
