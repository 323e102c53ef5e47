//! Where a signed tool comes from, as `jp tool show` says it.

use jp_llm::registry::Origin;
use serde_json::{Value, json};

use crate::{clock, page::Page, session::Session};

/// The word of a tool that `jp.lock` pins and this machine has verified.
pub(super) const LOCKED: &str = "locked";
/// The word of a tool that cannot work as it is.
pub(super) const BROKEN: &str = "broken";

/// Finds out where a tool comes from; `None` for one that is not signed.
pub(super) fn find(name: &str, session: &Session) -> Option<Origin> {
    let registry = session.host().registry()?;
    registry.origin(name, session.loaded(), &session.location().root)
}

/// Says it to a person, field by field.
pub(super) fn show(origin: &Origin, page: &mut Page) {
    page.field("version", &origin.version.to_string());
    let registry = origin.registry.as_deref();
    page.field(
        "registry",
        registry.unwrap_or("none: it comes with the workspace"),
    );
    page.field("signed by", &format!("the key {}", origin.key));
    page.field("sha256", &origin.sha256.to_string());
    page.field("status", &status(origin));
    if let Some(reason) = &origin.deprecated {
        page.field("deprecated", reason);
    }
}

fn status(origin: &Origin) -> String {
    match (&origin.problem, origin.verified_at) {
        // The differences follow, line by line.
        (Some(problem), _) => {
            let problem = problem.to_string();
            let first = problem.lines().next().unwrap_or_default();
            format!("{BROKEN}: {}", first.trim_end().trim_end_matches(':'))
        }
        (None, Some(at)) => format!(
            "{LOCKED}: jp.lock pins it, and this machine verified it on {} UTC",
            clock::utc(at.saturating_mul(1000))
        ),
        (None, None) => format!(
            "{LOCKED}: jp.lock pins it, and every call verifies it, since it comes with the workspace"
        ),
    }
}

/// Returns it as JSON.
pub(super) fn json(origin: &Origin) -> Value {
    json!({
        "id": origin.id.as_str(),
        "version": origin.version.to_string(),
        "registry": origin.registry,
        "key": origin.key.to_string(),
        "sha256": origin.sha256.to_string(),
        "locked": origin.is_locked,
        "verified_at": origin.verified_at,
        "deprecated": origin.deprecated,
        "problem": origin.problem.as_ref().map(ToString::to_string),
    })
}
