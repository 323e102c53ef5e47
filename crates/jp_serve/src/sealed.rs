//! What a client keeps for the server while a person answers: sealed, bound to its call, and good once.
//!
//! Nobody but this server can read or make a seal. It names the principal, the tool and the arguments it
//! was made for, and when it ends; whoever brings it back with other arguments, too late, or twice, is
//! refused.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use data_encoding::BASE64URL_NOPAD;
use jp_disk::Sha256;
use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    rand::{SecureRandom, SystemRandom},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ServeError;

/// A call waits for a person this long.
const LIFE: Duration = Duration::from_mins(10);

/// A state is the answers of one call; more than this is none of ours.
const LARGEST: usize = 1024 * 1024;

/// So many spent seals are remembered. They are forgotten when they end, so it takes this many answers
/// in ten minutes to get there; then no more are accepted.
const MOST_SPENT: usize = 100_000;

/// What a call has used and been told so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// What the client answered so far, by the keys of the requests.
    pub(crate) answers: Map<String, Value>,
    /// The time its runs took, in milliseconds.
    pub(crate) time_ms: u64,
    /// The fuel they used.
    pub(crate) fuel: u64,
}

/// What a seal is for.
pub(crate) struct Purpose<'a> {
    /// Who makes the call.
    pub(crate) principal: &'a str,
    /// The id of the tool.
    pub(crate) tool: &'a str,
    /// The arguments.
    pub(crate) arguments: &'a Map<String, Value>,
}

/// Why a seal is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error(
        "invalid requestState: it was not made by this server for this call and these arguments"
    )]
    Foreign,
    #[error("invalid requestState: it was used before; make the call again without it")]
    Spent,
    #[error("invalid requestState: its time is over; make the call again without it")]
    Late,
    #[error("too many calls wait for answers; try again later")]
    Busy,
}

/// Makes and opens seals.
pub(crate) struct Seals {
    key: LessSafeKey,
    random: SystemRandom,
    spent: Mutex<HashMap<[u8; NONCE_LEN], u64>>,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    ends: u64,
    kept: Kept,
}

impl Seals {
    pub(crate) fn new() -> Result<Self, ServeError> {
        let random = SystemRandom::new();
        let mut key = [0; 32];
        random
            .fill(&mut key)
            .map_err(|_| ServeError::NoRandomness)?;
        let key =
            UnboundKey::new(&CHACHA20_POLY1305, &key).map_err(|_| ServeError::NoRandomness)?;
        Ok(Self {
            key: LessSafeKey::new(key),
            random,
            spent: Mutex::default(),
        })
    }

    /// Seals what a call has used and been told.
    pub(crate) fn seal(&self, kept: Kept, purpose: &Purpose<'_>) -> Result<String, ServeError> {
        self.seal_at(now(), kept, purpose)
    }

    fn seal_at(&self, now: u64, kept: Kept, purpose: &Purpose<'_>) -> Result<String, ServeError> {
        let mut nonce = [0; NONCE_LEN];
        self.random
            .fill(&mut nonce)
            .map_err(|_| ServeError::NoRandomness)?;
        let ends = now.saturating_add(millis(LIFE));
        let mut text = serde_json::to_vec(&Sealed { ends, kept }).unwrap_or_default();
        let aad = Aad::from(purpose.digest());
        self.key
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut text)
            .map_err(|_| ServeError::NoRandomness)?;
        let mut all = nonce.to_vec();
        all.append(&mut text);
        Ok(BASE64URL_NOPAD.encode(&all))
    }

    /// Opens a seal; it is spent then.
    pub(crate) fn open(&self, seal: &str, purpose: &Purpose<'_>) -> Result<Kept, Refused> {
        self.open_at(now(), seal, purpose)
    }

    fn open_at(&self, now: u64, seal: &str, purpose: &Purpose<'_>) -> Result<Kept, Refused> {
        if seal.len() > LARGEST {
            return Err(Refused::Foreign);
        }
        let all = BASE64URL_NOPAD.decode(seal.as_bytes());
        let mut all = all.map_err(|_| Refused::Foreign)?;
        let (nonce, text) = all
            .split_first_chunk_mut::<NONCE_LEN>()
            .ok_or(Refused::Foreign)?;
        let aad = Aad::from(purpose.digest());
        let opened = self
            .key
            .open_in_place(Nonce::assume_unique_for_key(*nonce), aad, text)
            .map_err(|_| Refused::Foreign)?;
        let sealed: Sealed = serde_json::from_slice(opened).map_err(|_| Refused::Foreign)?;
        if sealed.ends <= now {
            return Err(Refused::Late);
        }
        self.spend(*nonce, sealed.ends, now)?;
        Ok(sealed.kept)
    }

    fn spend(&self, nonce: [u8; NONCE_LEN], ends: u64, now: u64) -> Result<(), Refused> {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if spent.len() >= MOST_SPENT {
            spent.retain(|_, ends| *ends > now);
        }
        if spent.len() >= MOST_SPENT {
            return Err(Refused::Busy);
        }
        match spent.insert(nonce, ends) {
            None => Ok(()),
            Some(_) => Err(Refused::Spent),
        }
    }
}

impl Purpose<'_> {
    /// Names the call. Arguments are the same whatever the order of their keys.
    fn digest(&self) -> [u8; 32] {
        let all = serde_json::json!([self.principal, self.tool, self.arguments]);
        *Sha256::of(sorted(&all).to_string().as_bytes()).as_bytes()
    }
}

/// Sorts the keys of all objects. The depth is bounded by the reader of the request.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut keys: Vec<_> = object.iter().collect();
            keys.sort_by_key(|(key, _)| key.as_str());
            let keys = keys.into_iter();
            Value::Object(
                keys.map(|(key, value)| (key.clone(), sorted(value)))
                    .collect(),
            )
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    millis(since.unwrap_or_default())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn kept() -> Kept {
        Kept {
            answers: map(json!({"name": "Ada"})),
            time_ms: 5,
            fuel: 7,
        }
    }

    #[test]
    fn a_seal_opens_once_for_its_own_call() {
        let seals = Seals::new().unwrap();
        let arguments = map(json!({"a": 1, "b": {"c": 2, "d": 3}}));
        let purpose = |principal, tool, arguments| Purpose {
            principal,
            tool,
            arguments,
        };
        let seal = seals
            .seal(kept(), &purpose("ada", "t", &arguments))
            .unwrap();
        assert!(!seal.contains("Ada"));
        let other = map(json!({"a": 2}));
        for wrong in [
            purpose("bob", "t", &arguments),
            purpose("ada", "u", &arguments),
            purpose("ada", "t", &other),
        ] {
            assert_eq!(seals.open(&seal, &wrong), Err(Refused::Foreign));
        }
        let turned = map(json!({"b": {"d": 3, "c": 2}, "a": 1}));
        assert_eq!(seals.open(&seal, &purpose("ada", "t", &turned)), Ok(kept()));
        assert_eq!(
            seals.open(&seal, &purpose("ada", "t", &turned)),
            Err(Refused::Spent)
        );
    }

    #[test]
    fn what_was_changed_is_too_late_or_comes_from_elsewhere_is_refused() {
        let (seals, others) = (Seals::new().unwrap(), Seals::new().unwrap());
        let arguments = Map::new();
        let purpose = Purpose {
            principal: "ada",
            tool: "t",
            arguments: &arguments,
        };
        let seal = seals.seal_at(1_000, kept(), &purpose).unwrap();
        let end = 1_000 + millis(LIFE);
        assert_eq!(seals.open_at(end, &seal, &purpose), Err(Refused::Late));
        assert_eq!(
            others.open_at(2_000, &seal, &purpose),
            Err(Refused::Foreign)
        );
        for at in 0..seal.len() {
            let mut changed = seal.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            let opened = seals.open_at(2_000, &changed, &purpose);
            assert_eq!(opened, Err(Refused::Foreign), "{at}");
        }
        for text in ["", "A", "%%", &"A".repeat(LARGEST + 1)] {
            assert_eq!(seals.open_at(2_000, text, &purpose), Err(Refused::Foreign));
        }
        assert_eq!(seals.open_at(end - 1, &seal, &purpose), Ok(kept()));
    }
}
