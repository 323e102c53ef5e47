//! Addresses that other machines reach: served only where nobody on the way can listen, where somebody was
//! let in on purpose, and under names that were said.

use std::net::SocketAddr;

use jp_config::ServeConfig;
use jp_serve::Tokens;

use crate::error::CliError;

/// Refuses an address that other machines reach, unless everything is there that it takes.
pub(super) fn check(
    addr: SocketAddr,
    is_secure: bool,
    config: &ServeConfig,
    tokens: &Tokens,
) -> Result<(), CliError> {
    if addr.ip().is_loopback() {
        return Ok(());
    }
    let refused = |needs: &str, hint: &str| {
        Err(CliError::Usage {
            message: format!(
                "cannot serve on {addr}: other machines reach it, which needs {needs}"
            ),
            hint: Some(hint.to_owned()),
        })
    };
    if !is_secure {
        return refused(
            "TLS",
            "add `--tls-cert chain.pem --tls-key key.pem`, or serve on 127.0.0.1",
        );
    }
    let has_tokens = || tokens.list().is_ok_and(|holders| !holders.is_empty());
    if config.oauth.is_none() && !has_tokens() {
        return refused(
            "tokens or `serve.oauth`",
            "`jp serve token add NAME --policy read-only` lets somebody in",
        );
    }
    if config.hosts.is_empty() {
        return refused(
            "the names that clients know it by",
            "`jp config set --user 'serve.hosts:=[\"jp.example.com\"]'` says so",
        );
    }
    Ok(())
}
