//! A secret to try things with.

use data_encoding::{BASE64, HEXLOWER};
use serde_json::{Value, json};

use crate::desk::{Desk, Site};

pub(crate) const VALUE: &str = "ghp_0123456789/+abc";

pub(crate) fn with_pat(site: &Site, calls: &[&str]) -> Desk {
    let audience = format!("http://{}", site.grant());
    Desk::new(calls, &[&site.grant()]).with_secret("pat", VALUE, &[&audience])
}

pub(crate) fn authorized(url: String) -> Value {
    json!({"method": "GET", "url": url, "headers": {"Authorization": "Bearer {{secret:pat}}"}})
}

/// Tells whether a text holds the value in any spelling.
pub(crate) fn leaks(text: &str) -> bool {
    let spellings = [
        VALUE.to_owned(),
        BASE64.encode(VALUE.as_bytes()),
        HEXLOWER.encode(VALUE.as_bytes()),
        VALUE.replace('/', "%2F").replace('+', "%2B"),
        "0123456789".to_owned(),
    ];
    spellings.iter().any(|spelling| text.contains(spelling))
}
