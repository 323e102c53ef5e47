//! `~`, `~+`, `~-`, `~user`.

use crate::shell::Shell;
use crate::shell::flow::Flow;
use crate::shell::vars::known;
use crate::system::System;

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
            b"root" => Some(b"/root".to_vec()),
            user if user == self.user() => Some(self.home_directory()),
            _ => None,
        };
        Ok(found.unwrap_or_else(|| [b"~", user].concat()))
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
