//! The exports of a core module (ABI 1), for any function from bytes to bytes.
//!
//! The only file of this crate that says `unsafe`: a symbol that keeps its name could clash with
//! another of that name, which the attribute must vouch for. Nothing here follows a pointer.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::buffers::Buffers;

static BUFFERS: Mutex<Buffers> = Mutex::new(Buffers::new());

/// The answer when the host names a buffer that it was never given.
const NO_BUFFER: &[u8] =
    br#"{"status":"error","code":"internal","error":"the input lies in no buffer of this module"}"#;

/// Makes a core module of a `fn(&[u8]) -> Vec<u8>`: exports `alloc`, `dealloc` and `execute`. The
/// linker exports `memory`. Of several functions with names each is an entrypoint by that name.
#[macro_export]
macro_rules! module {
    ($answer:expr) => {
        $crate::module!(execute: $answer);
    };
    ($($entrypoint:ident: $answer:expr),+ $(,)?) => {
        #[unsafe(no_mangle)]
        extern "C" fn alloc(len: i32) -> i32 {
            $crate::abi::alloc(len)
        }

        #[unsafe(no_mangle)]
        extern "C" fn dealloc(address: i32, _len: i32) {
            $crate::abi::dealloc(address);
        }

        $(
            #[unsafe(no_mangle)]
            extern "C" fn $entrypoint(address: i32, len: i32) -> i64 {
                $crate::abi::execute($answer, address, len)
            }
        )+
    };
}

/// Returns the address of a new buffer of `len` bytes, or 0 if there can be none.
#[must_use]
pub fn alloc(len: i32) -> i32 {
    usize::try_from(len)
        .ok()
        .and_then(|len| buffers().lend(len))
        .map_or(0, |address| word(address).cast_signed())
}

/// Frees the buffer at an address.
pub fn dealloc(address: i32) {
    buffers().free(place(address));
}

/// Answers the input at `address` and returns where the answer lies: its address in the upper half,
/// its length in the lower.
#[must_use]
pub fn execute(answer: fn(&[u8]) -> Vec<u8>, address: i32, len: i32) -> i64 {
    let mut buffers = buffers();
    let input = usize::try_from(len)
        .ok()
        .and_then(|len| buffers.read(place(address), len));
    let output = input.map_or_else(|| NO_BUFFER.to_vec(), answer);
    let len = word(output.len());
    let address = word(buffers.keep(output));
    (u64::from(address) << 32 | u64::from(len)).cast_signed()
}

fn buffers() -> MutexGuard<'static, Buffers> {
    BUFFERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Narrows an address or length of the module to what the ABI carries; on the module's own machine
/// all of them fit.
fn word(number: usize) -> u32 {
    u32::try_from(number).unwrap_or_default()
}

/// Widens an address that the host sent.
fn place(address: i32) -> usize {
    usize::try_from(address.cast_unsigned()).unwrap_or_default()
}
