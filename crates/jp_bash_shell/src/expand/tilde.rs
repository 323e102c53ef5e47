//! `~`, `~+`, `~-`, `~user`.

use jp_bash_system::System;

use crate::Shell;
use crate::flow::Flow;
use crate::vars::known;

impl Shell<'_> {
    /// Returns what a tilde stands for; one that stands for nothing stays as written.
    pub(super) fn tilde(&mut self, user: &[u8]) -> Result<Vec<u8>, Flow> {
        let found = match user {
            b"" => match self.var_text(known::HOME)? {
                Some(home) => Some(home.as_slice().to_vec()),
                None => Some(self.home_directory()),
            },
            b"+" => self.vars.text(known::PWD).map(<[u8]>::to_vec),
            b"-" => self.vars.text(known::OLDPWD).map(<[u8]>::to_vec),
            [b'+' | b'-' | b'0'..=b'9', ..] if self.stacked(user).is_some() => self.stacked(user),
            b"root" => Some(b"/root".to_vec()),
            user if user == self.user() => Some(self.home_directory()),
            _ => None,
        };
        Ok(found.unwrap_or_else(|| [b"~", user].concat()))
    }

    /// `~N`, `~+N` and `~-N`: an entry of the directory stack, counted from its top or its bottom.
    fn stacked(&self, text: &[u8]) -> Option<Vec<u8>> {
        let (from_bottom, digits) = match text {
            [b'-', digits @ ..] => (true, digits),
            [b'+', digits @ ..] | digits => (false, digits),
        };
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let n: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
        let below = self.dir_stack.len();
        let n = if from_bottom {
            below.checked_sub(n)?
        } else {
            n
        };
        match n.checked_sub(1) {
            None => Some(self.cwd.logical.to_vec()),
            Some(n) => self.dir_stack.get(n).map(|dir| dir.to_vec()),
        }
    }

    fn home_directory(&self) -> Vec<u8> {
        let user = self.user();
        if user == b"root" {
            b"/root".to_vec()
        } else {
            [&b"/home/"[..], &user].concat()
        }
    }
}
