//! What a server that wants a login says about it: the `Bearer` challenge of `WWW-Authenticate`
//! (RFC 6750, RFC 9728). A stranger's text, read once and here alone.

/// The longest value that is looked at.
const MAX: usize = 8 * 1024;

/// Scopes that are kept, and the longest of them.
const MAX_SCOPES: usize = 100;
const MAX_SCOPE: usize = 200;

/// What a server says about the login it wants.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Challenge {
    /// Where it says who its logins are made by.
    pub resource_metadata: Option<String>,
    /// What a login must allow.
    pub scopes: Vec<String>,
    /// Why the login that was sent does not do, such as `insufficient_scope`.
    pub error: Option<String>,
}

impl Challenge {
    /// Finds the challenge in the headers of a response.
    #[must_use]
    pub fn find(headers: &[(String, Vec<u8>)]) -> Option<Self> {
        let named = headers
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case("WWW-Authenticate"));
        named
            .filter_map(|(_, value)| std::str::from_utf8(value).ok())
            .find_map(Self::read)
    }

    fn read(text: &str) -> Option<Self> {
        let mut found = None::<Self>;
        let mut rest = text.get(..MAX).unwrap_or(text);
        while let Some((word, after)) = token(rest) {
            if let Some(value) = after.trim_start().strip_prefix('=') {
                let (value, after) = value_of(value.trim_start());
                if let Some(challenge) = &mut found {
                    challenge.take(word, value);
                }
                rest = after;
                continue;
            }
            // A word without a value begins another challenge.
            if found.is_some() {
                break;
            }
            found = word.eq_ignore_ascii_case("bearer").then(Self::default);
            rest = after;
        }
        found
    }

    fn take(&mut self, name: &str, value: String) {
        match name.to_ascii_lowercase().as_str() {
            "resource_metadata" => self.resource_metadata = Some(value),
            "error" => self.error = Some(value),
            "scope" => self.scopes = scopes(&value),
            _ => {}
        }
    }

    /// Returns the scopes as they can be typed into a shell; nothing when one of them could do more there.
    #[must_use]
    pub fn typed_scopes(&self) -> Option<String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._:/-".contains(c);
        let all = self.scopes.iter().all(|scope| scope.chars().all(plain));
        (all && !self.scopes.is_empty()).then(|| self.scopes.join(" "))
    }
}

/// Reads scopes, each once; what is not a scope is left out.
#[must_use]
pub fn scopes(text: &str) -> Vec<String> {
    let fits = |scope: &&str| {
        let plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
        scope.len() <= MAX_SCOPE && scope.bytes().all(plain)
    };
    let mut scopes: Vec<String> = Vec::new();
    for scope in text.split_ascii_whitespace().filter(fits) {
        if scopes.len() < MAX_SCOPES && !scopes.iter().any(|known| known == scope) {
            scopes.push(scope.to_owned());
        }
    }
    scopes
}

/// Returns the next word, and what follows it.
fn token(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches([' ', '\t', ',']);
    let end = text.find([' ', '\t', ',', '=', '"']).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (!word.is_empty()).then_some((word, rest))
}

/// Returns a value without its quotes, and what follows it.
fn value_of(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        let (value, rest) = text.split_at(end);
        return (value.to_owned(), rest);
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, quoted.get(at + 1..).unwrap_or_default()),
            '\\' => value.extend(chars.next().map(|(_, c)| c)),
            c => value.push(c),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Option<Challenge> {
        Challenge::find(&[("www-authenticate".to_owned(), text.as_bytes().to_vec())])
    }

    #[test]
    fn the_bearer_challenge_is_found_among_others() {
        let all = read(
            "Basic realm=\"a, Bearer scope=x\", Bearer error=\"insufficient_scope\", scope=\"a b a\", \
             resource_metadata=\"https://x.example/\\\"m\", Digest realm=z, scope=no",
        );
        let all = all.unwrap_or_default();
        assert_eq!(all.scopes, ["a", "b"]);
        assert_eq!(all.error.as_deref(), Some("insufficient_scope"));
        assert_eq!(
            all.resource_metadata.as_deref(),
            Some("https://x.example/\"m")
        );
        assert_eq!(read("bearer"), Some(Challenge::default()));
        assert_eq!(read("Basic scope=a"), None);
        assert_eq!(read("scope=a Bearer"), Some(Challenge::default()));
        let bare = read("Bearer scope=a,error=invalid_token").unwrap_or_default();
        assert_eq!(
            (bare.scopes.len(), bare.error.as_deref()),
            (1, Some("invalid_token"))
        );
    }

    #[test]
    fn what_a_shell_would_obey_is_not_offered_for_typing() {
        for (text, typed) in [
            (
                "Bearer scope=\"mcp:write files/read\"",
                Some("mcp:write files/read"),
            ),
            ("Bearer scope=\"$(rm)\"", None),
            ("Bearer scope=\"a;b\"", None),
            ("Bearer", None),
        ] {
            let challenge = read(text).unwrap_or_default();
            assert_eq!(challenge.typed_scopes().as_deref(), typed, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(text in "[ -~]{0,200}|(Bearer|=|,|\"|\\\\| |a){0,30}") {
            let _ = read(&text);
        }
    }
}
