//! Who is at the keyboard.

use std::{fs, io::Read};

/// The most of `/etc/passwd` that is read for a name.
const MAX_PASSWD: u64 = 1024 * 1024;

/// Returns the name of the process's user, or else the number.
///
/// Not from `USER`, which anybody can set and the audit log would believe.
#[must_use]
pub fn principal() -> String {
    let uid = rustix::process::getuid().as_raw().to_string();
    let mut text = Vec::new();
    if let Ok(file) = fs::File::open("/etc/passwd") {
        // A file that cannot be read leaves the number.
        let _ = file.take(MAX_PASSWD).read_to_end(&mut text);
    }
    let text = String::from_utf8_lossy(&text);
    let named = text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_owned())
    });
    named.unwrap_or_else(|| format!("uid {uid}"))
}
