//! What the workspace says to a capability, and how far the user trusts it.

use std::borrow::Cow;

use jp_config::{CapabilitiesConfig, Layer, Loaded, Place};
use jp_policy::{Capabilities, Capability};

use super::{Said, app};
use crate::{Trust, tool::execute::Pass};

const SECTION: &str = "capabilities";

/// Says what the workspace says. `allows` is whether it allows the capability, trusted as far as it is.
pub(super) fn said(
    pass: &Pass<'_>,
    capability: &Capability,
    allows: bool,
    loaded: &Loaded,
) -> Said {
    let stated = pass.tool.app.as_ref();
    let by_its_word = stated.is_some_and(|app| app::lacks(app, capability));
    if stated.is_some() && (allows || by_its_word) {
        let place = statement(capability, allows, loaded);
        let words = match (&place, allows) {
            (None, true) => "every signed tool has it",
            (None, false) => "signed tools have it only where the workspace says so",
            (Some(_), true) => "the workspace allows its signed tools that",
            (Some(_), false) => "the workspace does not allow its signed tools that",
        };
        return Said {
            allows,
            key: Some(SECTION.to_owned()),
            place,
            words: words.into(),
        };
    }
    Said {
        allows,
        key: None,
        place: None,
        words: trust(pass),
    }
}

/// Says how far the user trusts what defined the tool.
fn trust(pass: &Pass<'_>) -> Cow<'static, str> {
    if pass.tool.defined_by == Layer::User {
        return "the tool is jp's or your own, so only your policy counts".into();
    }
    match (pass.host.trust(), pass.pin()) {
        (Trust::Trusted { .. }, Ok(_)) => "you trusted this workspace".into(),
        (Trust::Trusted { .. }, Err(path)) => {
            format!("`{path}` came after you trusted this workspace").into()
        }
        (Trust::Stale, _) => "this workspace changed after you trusted it".into(),
        (Trust::Untrusted, _) => "you have not trusted this workspace".into(),
    }
}

/// Finds the statement that withholds a capability, or the last one that allows it. Layers do not replace
/// one another here.
fn statement(capability: &Capability, allows: bool, loaded: &Loaded) -> Option<Place> {
    let said = loaded.config.capabilities.as_ref()?;
    let wanted = Capabilities::only(capability);
    let mut places = loaded.places_of(&[SECTION]);
    let those = said.statements().iter().zip(&places);
    let withholds = those.into_iter().position(|(statement, _)| {
        let alone = CapabilitiesConfig::try_from(statement.clone());
        alone.is_ok_and(|alone| alone.allowed().missing(&wanted).is_some())
    });
    let at = match withholds.filter(|_| !allows) {
        Some(at) => at,
        None => places.len().checked_sub(1)?,
    };
    Some(places.swap_remove(at).1)
}
