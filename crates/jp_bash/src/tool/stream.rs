//! Bytes of a stream as text, piece by piece: a character split between pieces stays whole.

use std::sync::{Arc, Mutex, PoisonError};

use jp_tool::ToolResponse;

use super::response;
use crate::{Bash, Category, ExecOptions, OutputCallback};

/// A script was cut short: a limit, a cancel, a deadlock. A script that exits with a failure is a result, not an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the script was cut short: {}", .category.name())]
pub struct ExecError {
    /// Why.
    pub category: Category,
    /// What it printed until then.
    pub response: ToolResponse,
}

impl Bash {
    /// Runs a script on the calling thread and hands over new text while it runs; the pieces add up to the
    /// result's. [`Bash::exec_with`] does the same with bytes.
    ///
    /// # Errors
    /// The script was cut short.
    pub async fn exec_streaming(
        &mut self,
        script: &str,
        on_output: OutputCallback,
    ) -> Result<ToolResponse, ExecError> {
        let pieces = Arc::new(Mutex::new((Texts::default(), Texts::default())));
        let callback = Arc::new(Mutex::new(on_output));
        let hand_over = |out: String, err: String, callback: &Mutex<OutputCallback>| {
            if !out.is_empty() || !err.is_empty() {
                (callback.lock().unwrap_or_else(PoisonError::into_inner))(&out, &err);
            }
        };
        let (theirs, to) = (Arc::clone(&pieces), Arc::clone(&callback));
        let on_bytes = Box::new(move |out: &[u8], err: &[u8]| {
            let mut texts = theirs.lock().unwrap_or_else(PoisonError::into_inner);
            let (out, err) = (texts.0.push(out), texts.1.push(err));
            hand_over(out, err, &to);
        });
        let result = self.exec_with(script.as_bytes(), &ExecOptions::default(), Some(on_bytes));
        let mut texts = pieces.lock().unwrap_or_else(PoisonError::into_inner);
        hand_over(texts.0.finish(), texts.1.finish(), &callback);
        let response = response(&result);
        match result.error {
            Some(category) => Err(ExecError { category, response }),
            None => Ok(response),
        }
    }
}

/// Turns pieces of bytes into pieces of text that add up to the lossy text of all the bytes.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// The start of a character whose end has not come yet: at most three bytes.
    held: Vec<u8>,
}

impl Texts {
    /// Takes the next bytes and returns the text that is sure by now.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let sure = all.len() - unfinished(&all);
        self.held = all.split_off(sure);
        lossy(&all)
    }

    /// Returns what is left at the end.
    pub(super) fn finish(&mut self) -> String {
        lossy(&std::mem::take(&mut self.held))
    }
}

/// Returns bytes as text; what is no UTF-8 becomes U+FFFD.
pub(super) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Counts the bytes at the end that may be the start of a character.
fn unfinished(bytes: &[u8]) -> usize {
    for back in 1..=usize::min(3, bytes.len()) {
        let Some(tail) = bytes.get(bytes.len() - back..) else {
            break;
        };
        let Some(first) = tail.first() else { break };
        let wanted = match first {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => continue,
            _ => return 0,
        };
        // Bytes that already cannot become a character are not held back.
        let hopeful = match std::str::from_utf8(tail) {
            Ok(_) => false,
            Err(error) => error.valid_up_to() == 0 && error.error_len().is_none(),
        };
        return if back < wanted && hopeful { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_add_up_to_the_whole(bytes: Vec<u8>, text: String, cuts: Vec<usize>) {
            for bytes in [bytes, text.into_bytes()] {
                let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
                cuts.extend([0, bytes.len()]);
                cuts.sort_unstable();
                let mut texts = Texts::default();
                let mut sum: String = cuts.windows(2).map(|cut| texts.push(&bytes[cut[0]..cut[1]])).collect();
                sum.push_str(&texts.finish());
                prop_assert_eq!(sum, lossy(&bytes));
            }
        }
    }
}
