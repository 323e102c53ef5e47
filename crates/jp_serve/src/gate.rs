//! The tokens that let clients in, and the header that they come in.

use data_encoding::BASE64URL_NOPAD;
use jp_disk::Sha256;
use ring::rand::{SecureRandom, SystemRandom};

use crate::ServeError;

/// Shorter tokens are refused.
pub(crate) const MIN_TOKEN: usize = 32;

/// What lets a client in. It is kept as its hash.
#[derive(Clone)]
pub struct Token(Sha256);

impl Token {
    /// Makes a new token, and returns its text too, which nobody can get again.
    ///
    /// # Errors
    ///
    /// When the system gives no random bytes.
    pub fn random() -> Result<(Self, String), ServeError> {
        let mut bytes = [0; 32];
        let filled = SystemRandom::new().fill(&mut bytes);
        filled.map_err(|_| ServeError::NoRandomness)?;
        let text = BASE64URL_NOPAD.encode(&bytes);
        Ok((Self::hash(&text), text))
    }

    /// Takes a token that was made elsewhere.
    ///
    /// # Errors
    ///
    /// When it is shorter than 32 characters, or no header could carry it.
    pub fn from_text(text: &str) -> Result<Self, ServeError> {
        let printable = text.bytes().all(|byte| byte.is_ascii_graphic());
        if text.len() < MIN_TOKEN || !printable {
            return Err(ServeError::ShortToken { found: text.len() });
        }
        Ok(Self::hash(text))
    }

    fn hash(text: &str) -> Self {
        Self(Sha256::of(text.as_bytes()))
    }

    /// Takes what a client has sent, whatever it is.
    pub(crate) fn given(text: &str) -> Self {
        Self::hash(text)
    }

    pub(crate) const fn digest(&self) -> &Sha256 {
        &self.0
    }

    /// Tells whether both are the same. How long that takes says nothing about the token, since hashes
    /// are compared.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// Returns the token that the value of an `Authorization` header has.
pub(crate) fn bearer(header: Option<&str>) -> Option<&str> {
    let (scheme, given) = header?.split_once(' ')?;
    let given = given.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !given.is_empty()).then_some(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_lets_in() {
        let (token, text) = Token::random().unwrap();
        let is_in = |header: Option<&str>| {
            bearer(header).is_some_and(|given| Token::given(given).is(&token))
        };
        assert!(is_in(Some(&format!("Bearer {text}"))));
        assert!(is_in(Some(&format!("bearer  {text} "))));
        let other = Token::random().unwrap().1;
        for header in [
            None,
            Some(String::new()),
            Some("Bearer".to_owned()),
            Some("Bearer ".to_owned()),
            Some(text.clone()),
            Some(format!("Basic {text}")),
            Some(format!("Bearer {text}x")),
            Some(format!("Bearer {other}")),
        ] {
            assert!(!is_in(header.as_deref()), "{header:?}");
        }
    }

    #[test]
    fn a_token_that_can_be_guessed_is_refused() {
        assert!(Token::from_text(&"x".repeat(MIN_TOKEN)).is_ok());
        for text in [
            "",
            "secret",
            &"x".repeat(MIN_TOKEN - 1),
            &" ".repeat(MIN_TOKEN),
        ] {
            assert!(Token::from_text(text).is_err(), "{text}");
        }
    }
}
