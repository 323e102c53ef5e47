//! Sessions of clients that speak an older revision: bounded in number, and ended when nobody uses them.

use std::{sync::Arc, time::Duration};

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

/// As many sessions are open at once. A client needs one.
pub(crate) const MOST: usize = 1_000;

/// A session that is not used for this long is ended.
const IDLE: Duration = Duration::from_mins(30);

/// Makes the keeper of all sessions.
pub(crate) fn keeper() -> Arc<LocalSessionManager> {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(IDLE);
    Arc::new(sessions)
}

/// Tells whether there is room for another one.
pub(crate) async fn has_room(sessions: &LocalSessionManager) -> bool {
    count(sessions).await < MOST
}

/// Returns how many are open.
pub(crate) async fn count(sessions: &LocalSessionManager) -> usize {
    sessions.sessions.read().await.len()
}
