//! Addresses of what jp shows by itself. They are names, never paths: `..` in one is a name too.

/// What all of them start with.
const SCHEME: &str = "jp://";

/// The families, as clients fill them in.
pub(crate) const SUBJECTS: &str = "jp://knowledge/{topic}/{subject}";
/// What the addresses of all subjects start with.
pub(crate) const ALL_SUBJECTS: &str = "jp://knowledge/";
pub(crate) const TOOLS: &str = "jp://tool/{name}";
pub(crate) const RECORDS: &str = "jp://audit/{number}";

/// The newest records of the caller.
pub(crate) const RECENT: &str = "jp://audit/recent";

/// Something that jp shows by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ours {
    /// A subject of a topic.
    Subject { topic: String, subject: String },
    /// What there is to know about a tool, by the name clients know it by.
    Tool(String),
    /// The newest audit records.
    Recent,
    /// One audit record.
    Record(u64),
}

impl Ours {
    /// Reads an address; nothing if it is none of ours.
    pub(crate) fn parse(uri: &str) -> Option<Self> {
        let (family, rest) = uri.strip_prefix(SCHEME)?.split_once('/')?;
        match family {
            "knowledge" => {
                let (topic, subject) = rest.split_once('/')?;
                let (topic, subject) = (decode(topic)?, decode(subject)?);
                Some(Self::Subject { topic, subject })
            }
            "tool" => decode(rest).map(Self::Tool),
            "audit" if rest == "recent" => Some(Self::Recent),
            "audit" => {
                let number: u64 = rest.parse().ok()?;
                (number.to_string() == rest).then_some(Self::Record(number))
            }
            _ => None,
        }
    }
}

/// Writes the address of a subject.
pub(crate) fn of_subject(topic: &str, subject: &str) -> String {
    format!("{SCHEME}knowledge/{}/{}", encode(topic), encode(subject))
}

/// Writes the address of a tool.
pub(crate) fn of_tool(name: &str) -> String {
    format!("{SCHEME}tool/{}", encode(name))
}

/// Writes the address of a record.
pub(crate) fn of_record(number: u64) -> String {
    format!("{SCHEME}audit/{number}")
}

/// Escapes everything that could mean something in an address.
fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut left = text.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let (high, low) = (digit(left.next()?)?, digit(left.next()?)?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_was_written() {
        for (topic, subject) in [
            ("rust", "errors/io"),
            ("a b", "%2F"),
            ("ä", ".."),
            ("t", "x?y#z"),
        ] {
            let uri = of_subject(topic, subject);
            assert!(uri.is_ascii() && !uri.contains(['?', '#', ' ']), "{uri}");
            let (topic, subject) = (topic.to_owned(), subject.to_owned());
            assert_eq!(Ours::parse(&uri), Some(Ours::Subject { topic, subject }));
        }
        assert_eq!(Ours::parse(&of_record(7)), Some(Ours::Record(7)));
        assert_eq!(Ours::parse(RECENT), Some(Ours::Recent));
        let name = || "todo__create".to_owned();
        assert_eq!(Ours::parse(&of_tool(&name())), Some(Ours::Tool(name())));
    }

    #[test]
    fn other_addresses_are_not_ours() {
        for uri in [
            "",
            "jp:",
            "jp://",
            "jp://audit",
            "jp://audit/",
            "jp://audit/-1",
            "jp://audit/+1",
            "jp://audit/01",
            "jp://audit/1/",
            "jp://audit/1 ",
            "jp://audit/99999999999999999999",
            "jp://knowledge/t",
            "jp://knowledge/t/",
            "jp://knowledge//s",
            "jp://knowledge/t/%",
            "jp://knowledge/t/%FF",
            "jp://tool/",
            "JP://tool/bash",
            "file:///etc/passwd",
        ] {
            assert_eq!(Ours::parse(uri), None, "{uri}");
        }
    }
}
