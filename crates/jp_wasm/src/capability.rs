//! How a guest reaches what the host does on its behalf. Does not know what that is: names and JSON
//! go out, JSON comes back.

use async_trait::async_trait;

/// Answers the capability calls of one guest call.
#[async_trait]
pub trait CapabilityCalls: Send + Sync {
    /// Answers one call. `arguments` is JSON as the guest wrote it, checked for nothing but its size;
    /// the answer is JSON too: a result or an error, both in the broker's shape.
    async fn call(&self, name: &str, arguments: &str) -> String;
}
