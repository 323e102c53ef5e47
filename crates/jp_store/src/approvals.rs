//! Approvals by meaning: what the user decided and is remembered ([`Grants`]), and calls that wait for a
//! decision ([`Pending`]). Every decision is made once, and a permission for one call is spent once.

use crate::{GrantId, Millis, RequestId, StoreError};

/// A sha256.
pub type Digest = [u8; 32];

/// What the user decided and is remembered.
pub trait Grants: Send + Sync {
    /// Remembers a decision; it is safe on the disk when this returns.
    ///
    /// # Errors
    ///
    /// When a text is too long, there are too many, or it cannot be written.
    fn remember(&self, grant: &NewGrant<'_>, now: Millis) -> Result<GrantId, StoreError>;

    /// Returns all that holds now, as of one moment.
    ///
    /// # Errors
    ///
    /// When the store fails.
    fn snapshot(&self, now: Millis) -> Result<Snapshot, StoreError>;

    /// Takes back a remembered decision, or a permission that no call has used yet. Permissions that came
    /// with a decision go with it. False when there is nothing of that name that holds.
    ///
    /// # Errors
    ///
    /// When it cannot be written: it must be taken to hold then.
    fn revoke(&self, id: &str, now: Millis) -> Result<bool, StoreError>;

    /// Brings the counter beside the store and the one in it together, after a process was killed between
    /// the two. Returns what both say then.
    ///
    /// # Errors
    ///
    /// When the store fails.
    fn settle(&self) -> Result<u64, StoreError>;

    /// Forgets what has expired, and says how much.
    ///
    /// # Errors
    ///
    /// When the store fails.
    fn sweep_grants(&self, now: Millis) -> Result<u64, StoreError>;
}

/// Calls that wait for a person.
pub trait Pending: Send + Sync {
    /// Files a request. One that waits for the same call already is returned instead.
    ///
    /// # Errors
    ///
    /// When a text is too long, the principal has too many, or it cannot be written.
    fn file(&self, request: &NewRequest<'_>, now: Millis) -> Result<RequestId, StoreError>;

    /// Returns a request, whatever became of it.
    ///
    /// # Errors
    ///
    /// When the store fails.
    fn request(&self, id: &RequestId, now: Millis) -> Result<Option<Request>, StoreError>;

    /// Returns all requests that are kept, the oldest first.
    ///
    /// # Errors
    ///
    /// When the store fails.
    fn requests(&self, now: Millis) -> Result<Vec<Request>, StoreError>;

    /// Notes why the model wants what a denial of its principal named. It grants nothing. False when the
    /// principal has no such request that waits.
    ///
    /// # Errors
    ///
    /// When the reason is too long, or it cannot be written.
    fn propose(
        &self,
        principal: &str,
        id: &RequestId,
        reason: &str,
        now: Millis,
    ) -> Result<bool, StoreError>;

    /// Decides about a request that waits, once. Whoever comes later learns what was decided.
    ///
    /// # Errors
    ///
    /// When it cannot be written: nothing is decided then.
    fn decide(
        &self,
        id: &RequestId,
        verdict: &Verdict<'_>,
        author: &str,
        now: Millis,
    ) -> Result<Decided, StoreError>;

    /// Spends a permission for one call; some exactly once per permission, over all servers, also at the
    /// same time and after a crash.
    ///
    /// # Errors
    ///
    /// When it cannot be noted: the call must not be made then.
    fn redeem(&self, call: &SameCall<'_>, now: Millis) -> Result<Option<Spending>, StoreError>;

    /// Forgets requests that are over, and says how many.
    ///
    /// # Errors
    ///
    /// When the store fails.
    fn sweep_requests(&self, now: Millis) -> Result<u64, StoreError>;
}

/// What a remembered decision does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Calls run without asking.
    Allow,
    /// Calls are refused without asking.
    Never,
    /// The tool may be granted more than the user's policy says.
    Access,
}

impl Effect {
    /// Returns its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Never => "never",
            Self::Access => "access",
        }
    }
}

/// Which arguments a remembered decision is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arguments {
    /// Any.
    Any,
    /// Those with this digest.
    Exact(Digest),
    /// Those that fit a pattern, which the store does not read.
    Pattern(String),
}

/// A decision to be remembered. What is `None` holds for all.
#[derive(Debug, Clone)]
pub struct NewGrant<'a> {
    /// What it does.
    pub effect: Effect,
    /// The tool's id.
    pub tool: &'a str,
    /// Whose calls.
    pub principal: Option<&'a str>,
    /// In which workspace, by its path.
    pub workspace: Option<&'a str>,
    /// Under which configuration of that workspace, by its digest.
    pub configuration: Option<&'a str>,
    /// In which run of a server.
    pub run: Option<&'a str>,
    /// With which arguments.
    pub arguments: Arguments,
    /// What the user saw of the tool, as a digest.
    pub shown: Option<Digest>,
    /// What the tool may be granted, where the effect is [`Effect::Access`]; the store does not read it.
    pub access: Option<&'a str>,
    /// What the user saw, in words.
    pub about: &'a str,
    /// Who decided, and how.
    pub author: &'a str,
    /// When it ends.
    pub expires: Option<Millis>,
}

/// A remembered decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Its name.
    pub id: GrantId,
    /// What it does.
    pub effect: Effect,
    /// The tool's id.
    pub tool: String,
    /// Whose calls.
    pub principal: Option<String>,
    /// In which workspace.
    pub workspace: Option<String>,
    /// Under which configuration of that workspace.
    pub configuration: Option<String>,
    /// In which run of a server.
    pub run: Option<String>,
    /// With which arguments.
    pub arguments: Arguments,
    /// What the user saw of the tool.
    pub shown: Option<Digest>,
    /// What the tool may be granted.
    pub access: Option<String>,
    /// What the user saw, in words.
    pub about: String,
    /// Who decided, and how.
    pub author: String,
    /// When it was decided.
    pub created: Millis,
    /// When it ends.
    pub expires: Option<Millis>,
}

/// All that holds, as of one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Which state of the store this is.
    pub generation: u64,
    /// What is remembered.
    pub grants: Vec<Grant>,
    /// Calls that may be made once: principal, tool and digest of the arguments.
    pub tickets: Vec<(String, String, Digest)>,
}

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// That a call runs.
    Approval,
    /// That a tool is granted what the user's policy withholds, and that the call runs.
    Proposal,
}

impl Kind {
    /// Returns its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approval => "approval",
            Self::Proposal => "proposal",
        }
    }
}

/// A call, as a permission for it is bound.
#[derive(Debug, Clone, Copy)]
pub struct SameCall<'a> {
    /// Who makes it.
    pub principal: &'a str,
    /// The tool's id.
    pub tool: &'a str,
    /// In which workspace.
    pub workspace: &'a str,
    /// The digest of its arguments.
    pub arguments: &'a Digest,
    /// The digest of what is shown of the tool.
    pub shown: &'a Digest,
}

/// A request to be filed.
#[derive(Debug, Clone, Copy)]
pub struct NewRequest<'a> {
    /// What it asks for.
    pub kind: Kind,
    /// The call.
    pub call: SameCall<'a>,
    /// The digest of the workspace's configuration.
    pub configuration: Option<&'a str>,
    /// The run of the server that asks.
    pub run: &'a str,
    /// What is missing, of a proposal; the store does not read it.
    pub access: Option<&'a str>,
    /// What a person is shown: a JSON object.
    pub about: &'a str,
    /// When it is over.
    pub expires: Millis,
    /// How many requests of the principal may wait.
    pub most: u64,
}

/// Where a request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nobody has decided.
    Waiting,
    /// Allowed, and not used yet.
    Allowed,
    /// Denied.
    Denied,
    /// Allowed, and used.
    Spent,
    /// Allowed, and taken back before it was used.
    Revoked,
    /// Nobody decided in time, or nobody used it in time.
    Expired,
}

impl Standing {
    /// Returns its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Spent => "spent",
            Self::Revoked => "revoked",
            Self::Expired => "expired",
        }
    }
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Its name.
    pub id: RequestId,
    /// What it asks for.
    pub kind: Kind,
    /// The tool's id.
    pub tool: String,
    /// Whose call it is.
    pub principal: String,
    /// In which workspace.
    pub workspace: String,
    /// The digest of that workspace's configuration.
    pub configuration: Option<String>,
    /// The run of the server that asked.
    pub run: String,
    /// The digest of the arguments.
    pub arguments: Digest,
    /// The digest of what was shown of the tool.
    pub shown: Digest,
    /// What is missing.
    pub access: Option<String>,
    /// What a person is shown.
    pub about: String,
    /// Why the model wants it, in the model's words.
    pub reason: Option<String>,
    /// When it was filed.
    pub created: Millis,
    /// When it is over.
    pub expires: Millis,
    /// Where it stands.
    pub standing: Standing,
    /// Who decided, and how.
    pub author: Option<String>,
    /// When that was.
    pub decided: Option<Millis>,
    /// The remembered decision that came with it.
    pub grant: Option<GrantId>,
}

/// What is decided about a request.
#[derive(Debug, Clone)]
pub enum Verdict<'a> {
    /// The call may be made once, until then.
    Allow {
        /// When the permission ends.
        until: Millis,
        /// What is remembered besides.
        remember: Vec<NewGrant<'a>>,
    },
    /// The call may not be made.
    Deny {
        /// What is remembered besides.
        remember: Vec<NewGrant<'a>>,
    },
}

/// What came of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decided {
    /// It was made.
    Made {
        /// What is remembered of it.
        grants: Vec<GrantId>,
    },
    /// It was not made: somebody else decided before, or the time was over.
    Before {
        /// Where the request stands.
        standing: Standing,
        /// Who decided.
        author: Option<String>,
    },
    /// There is no such request.
    Unknown,
}

/// A permission that was spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spending {
    /// The request that it came from.
    pub id: RequestId,
    /// Who decided, and how.
    pub author: String,
}
