//! What a login is to allow.

/// What lets a login be renewed, where the authorization server knows it.
const OFFLINE: &str = "offline_access";

/// What a login is to allow.
pub(super) struct Scopes<'a> {
    /// What the one before allowed.
    pub(super) had: Vec<String>,
    /// What the server asks for.
    pub(super) wanted: Vec<String>,
    /// What the person asks for.
    pub(super) more: Vec<String>,
    /// What the issuer knows.
    pub(super) offered: &'a [String],
}

impl Scopes<'_> {
    pub(super) fn are_had(&self) -> bool {
        let mut all = self.wanted.iter().chain(&self.more);
        all.all(|scope| self.had.contains(scope))
    }

    pub(super) fn all(self) -> Vec<String> {
        let all = [self.had, self.wanted, self.more].concat();
        let mut all = jp_mcp::scopes(&all.join(" "));
        let offline = self.offered.iter().any(|scope| scope == OFFLINE);
        if !all.is_empty() && offline && !all.iter().any(|scope| scope == OFFLINE) {
            all.push(OFFLINE.to_owned());
        }
        all
    }
}
