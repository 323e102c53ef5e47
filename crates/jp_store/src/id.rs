//! Names that nobody can guess: 128 random bits, written as 32 digits.

use std::{fmt, str::FromStr};

use crate::StoreError;

/// How many digits a name has.
const DIGITS: usize = 32;

/// Why a text is not the name of anything here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid id: expected {DIGITS} digits of 0-9 and a-f")]
pub struct IdError;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// Returns the name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                is_id(text).then(|| Self(text.to_owned())).ok_or(IdError)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }
    };
}

id! {
    /// Names a task.
    TaskId
}
id! {
    /// Names a result that is kept for later reading.
    SpillId
}
id! {
    /// Names a server: one opening of a store.
    ServerId
}

id! {
    /// Names a remembered decision of the user.
    GrantId
}
id! {
    /// Names a request that waits for a person.
    RequestId
}
id! {
    /// Names a run of a program that makes calls: what was allowed for it ends with it.
    RunId
}

impl GrantId {
    pub(crate) fn random() -> Result<Self, StoreError> {
        random().map(Self)
    }
}

impl RequestId {
    pub(crate) fn random() -> Result<Self, StoreError> {
        random().map(Self)
    }
}

impl RunId {
    /// Makes the name of a new run.
    ///
    /// # Errors
    ///
    /// When the system gives no randomness.
    pub fn random() -> Result<Self, StoreError> {
        random().map(Self)
    }
}

impl TaskId {
    pub(crate) fn random() -> Result<Self, StoreError> {
        random().map(Self)
    }
}

impl SpillId {
    pub(crate) fn random() -> Result<Self, StoreError> {
        random().map(Self)
    }
}

fn is_id(text: &str) -> bool {
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.len() == DIGITS && text.bytes().all(is_digit)
}

fn random() -> Result<String, StoreError> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(|error| StoreError::NoRandomness {
        source: error.into(),
    })?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bits)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_made_here_is_an_id() {
        let id = TaskId::random().unwrap();
        assert_eq!(id.as_str().parse(), Ok(id.clone()));
        assert_ne!(id, TaskId::random().unwrap());
        let upper = "A".repeat(32);
        for text in [
            "",
            "../../../../../../etc/passwd-1234",
            &upper,
            &id.as_str()[1..],
        ] {
            assert_eq!(text.parse::<TaskId>(), Err(IdError), "{text}");
        }
    }
}
