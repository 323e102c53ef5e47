//! The other side of a registry: making keys, signing, writing a registry's files and serving them.
//!
//! What a registry is (documents, places, what exactly is signed) is `jp_registry`'s to say, which
//! reads and verifies it and never knows this crate. Secret keys are only ever here.

mod key;
mod registry;
mod serve;
mod sign;

pub use key::{KeyError, SigningKey};
pub use registry::{PublishError, Published, Registry, Submission};
pub use serve::{Limits, Server};
pub use sign::{countersign, sign, sign_manifest, sign_rotation};
