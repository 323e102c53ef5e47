//! Length-prefixed bytes, as names and arguments need not be text. It knows no message.

use std::ffi::OsString;

/// Puts fields together.
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    pub(crate) fn field(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }

    pub(crate) fn list<'a>(&mut self, fields: impl Iterator<Item = &'a [u8]> + Clone) {
        self.number(fields.clone().count() as u64);
        for field in fields {
            self.field(field);
        }
    }
}

/// Takes fields apart; `None` where the message is cut or wrong.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub(crate) fn small(&mut self) -> Option<i32> {
        Some(i32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub(crate) fn string(&mut self) -> Option<OsString> {
        let count = usize::try_from(self.number()?).ok()?;
        os_string(self.take(count)?.to_vec())
    }

    pub(crate) fn list(&mut self) -> Option<Vec<OsString>> {
        // The count only bounds the loop: memory grows with the bytes that are really there.
        (0..self.number()?).map(|_| self.string()).collect()
    }
}

#[cfg(unix)]
fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    Some(std::os::unix::ffi::OsStringExt::from_vec(bytes))
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    String::from_utf8(bytes).ok().map(OsString::from)
}
