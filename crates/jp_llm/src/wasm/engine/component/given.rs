//! What a component of `jp:tool@0.2.0` is given beside its arguments: bytes, which a model writes as base64.
//! The component gets a name in their place, by which it takes them; nothing else of the arguments changes.

use std::sync::{Arc, OnceLock};

use jp_policy::Limit;
use jp_tool::{Blob, GivenBlobs, Outcome};
use jp_wasm::ToolKind;
use serde_json::Value;

use super::bytes;
use crate::{
    runtime::{Invocation, Run},
    tool::Printed,
};

/// The longest place that a message repeats.
const MAX_PLACE: usize = 200;

/// The bytes, and the arguments where names stand in them.
#[derive(Default)]
pub(super) struct Given {
    pub(super) blobs: Option<Arc<GivenBlobs>>,
    pub(super) arguments: Option<String>,
}

/// Puts names in the place of bytes, for a component that can take them.
pub(super) fn of(
    invocation: &Invocation<'_>,
    kind: ToolKind,
    takes_bytes: &OnceLock<bool>,
) -> Result<Given, Box<Run>> {
    let ToolKind::Component {
        describes: true, ..
    } = kind
    else {
        return Ok(Given::default());
    };
    let room = usize::try_from(invocation.left.memory_bytes).unwrap_or(usize::MAX);
    let blobs = Arc::new(GivenBlobs::new(room));
    let schema = invocation.tool.known_schema();
    let arguments = match takes_bytes.get_or_init(|| bytes::are_in(schema)) {
        true => Some(named(invocation, schema, &blobs)?),
        false => None,
    };
    Ok(Given {
        blobs: Some(blobs),
        arguments,
    })
}

fn named(
    invocation: &Invocation<'_>,
    schema: &Value,
    blobs: &GivenBlobs,
) -> Result<String, Box<Run>> {
    let mut arguments = Value::Object(invocation.arguments.clone());
    bytes::each(&mut arguments, schema, |place, text| {
        let Ok(blob) = Blob::from_base64(text) else {
            let place = jp_text::shorten(place, MAX_PLACE);
            let message = format!("Invalid arguments:\n- at `{place}`: expected base64");
            return Err(Box::new(Run::said(Ok(Outcome::failed(message)))));
        };
        *text = blobs.keep(blob.into_bytes()).map_err(|_| {
            let error = invocation.limit_reached(Limit::Memory, Printed::default());
            Box::new(Run::failed(error))
        })?;
        Ok(())
    })?;
    Ok(arguments.to_string())
}
