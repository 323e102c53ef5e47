//! Families of addresses: RFC 6570, level 1 and nothing above it.
//!
//! A variable stands for one or more characters that need no escape in an address, or are escaped; so
//! never for `/`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{MAX_URI, is_address};
use crate::scalar::scalar;

/// The most variables of a template.
const MAX_VARIABLES: usize = 8;

/// A family of addresses, such as `docs://page/{id}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct UriTemplate {
    text: String,
    /// What stands before the first variable.
    start: String,
    /// Each variable, with what stands behind it.
    rest: Vec<(String, String)>,
}

scalar! {
    UriTemplate: "an address such as `docs://page/{id}`: a scheme other than `jp`, and 1 to 8 variables of letters, digits and `_`, each once, with something between them",
    schema { "type": "string", "pattern": "^[a-z][a-z0-9+.-]*:[^{]*\\{[A-Za-z0-9_]+\\}" },
    read |value| value.as_str().and_then(Self::parse),
    write |this| Value::String(this.text),
}

impl UriTemplate {
    /// Reads a template; `None` for one of a higher level, or one that no address has one reading of.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (start, mut left) = text.split_once('{')?;
        let mut rest: Vec<(String, String)> = Vec::new();
        loop {
            let (name, behind) = left.split_once('}')?;
            let (literal, next) = match behind.split_once('{') {
                Some((literal, next)) => (literal, Some(next)),
                None => (behind, None),
            };
            let named = !name.is_empty() && name.len() <= 64 && name.bytes().all(is_name);
            let known = rest.iter().any(|(other, _)| other == name);
            // Nothing would say where one of two neighbours ends.
            if !named || known || !is_literal(literal) || (next.is_some() && literal.is_empty()) {
                return None;
            }
            rest.push((name.to_owned(), literal.to_owned()));
            match next {
                Some(next) => left = next,
                None => break,
            }
        }
        let fits = rest.len() <= MAX_VARIABLES && text.len() <= MAX_URI;
        (fits && is_address(start) && is_literal(start)).then(|| Self {
            text: text.to_owned(),
            start: start.to_owned(),
            rest,
        })
    }

    /// Returns the template as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the names of the variables, in their order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.rest.iter().map(|(name, _)| name.as_str())
    }

    /// Returns what the variables are in an address of the family; `None` for another address.
    #[must_use]
    pub fn values(&self, uri: &str) -> Option<Vec<(&str, String)>> {
        if uri.len() > MAX_URI {
            return None;
        }
        let mut left = uri.strip_prefix(self.start.as_str())?;
        let mut found = Vec::new();
        for (at, (name, literal)) in self.rest.iter().enumerate() {
            let value = if at + 1 == self.rest.len() {
                left.strip_suffix(literal.as_str())?
            } else {
                let (value, behind) = left.split_once(literal.as_str())?;
                left = behind;
                value
            };
            found.push((name.as_str(), decode(value)?));
        }
        Some(found)
    }
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_literal(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_graphic() && !b"{}<>\"`\\^|%".contains(&b);
    text.bytes().all(plain)
}

/// Reads the value of a variable: what no expansion of one could be is `None`.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut left = text.bytes();
    while let Some(byte) = left.next() {
        match byte {
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (high, low) = (digit(left.next()?)?, digit(left.next()?)?);
                bytes.push(u8::try_from(high * 16 + low).ok()?);
            }
            byte if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => bytes.push(byte),
            _ => return None,
        }
    }
    String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_level_is_a_template() {
        for text in [
            "test://template/{id}/data",
            "docs:{a}/{b_2}",
            "a+b.c-d://x/{Name}?q={v}",
        ] {
            assert!(UriTemplate::parse(text).is_some(), "{text}");
        }
        for text in [
            "",
            "test://plain",
            "{id}",
            "{scheme}://x",
            "test:{}",
            "test:{id",
            "test:id}",
            "test:{id}}",
            "test:{{id}}",
            "test:{+path}",
            "test:{#part}",
            "test:{/a}",
            "test:{?a}",
            "test:{a,b}",
            "test:{a*}",
            "test:{a:3}",
            "test:{a}{b}",
            "test:{a}/{a}",
            "test:{a}/%2F",
            "test:{a}/ x",
            "test:{a b}",
            "test:{ä}",
            "Test:{a}",
            "jp://audit/{a}",
            "jp:{a}",
            &format!("test:x{}", "/{a}".repeat(9)),
            &format!("test:{}/{{a}}", "x".repeat(MAX_URI)),
        ] {
            assert!(UriTemplate::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_variable_is_one_part_of_an_address() {
        let template = UriTemplate::parse("test://t/{id}/data").unwrap();
        let value = |uri: &str| {
            let values = template.values(uri)?;
            Some(values.into_iter().next()?.1)
        };
        assert_eq!(value("test://t/7/data").as_deref(), Some("7"));
        assert_eq!(value("test://t/a%2Fb%20c/data").as_deref(), Some("a/b c"));
        assert_eq!(value("test://t/%C3%A4/data").as_deref(), Some("ä"));
        for uri in [
            "test://t//data",
            "test://t/a/b/data",
            "test://t/data",
            "test://t/7/data/",
            "test://t/7/data?x",
            "test://t/%/data",
            "test://t/%2/data",
            "test://t/%zz/data",
            "test://t/%FF/data",
            "test://t/+7/data",
            "test://t/ä/data",
            "test://T/7/data",
            "",
        ] {
            assert_eq!(value(uri), None, "{uri}");
        }
    }

    #[test]
    fn several_variables_have_one_reading() {
        let template = UriTemplate::parse("x:{a}-{b}.txt").unwrap();
        let values = template.values("x:1-2-3.txt.txt").unwrap();
        let expected = [("a", "1".to_owned()), ("b", "2-3.txt".to_owned())];
        assert_eq!(values, expected);
    }
}
