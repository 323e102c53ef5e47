//! What a client keeps for the server while a person answers: sealed, bound to its call, and good once.
//!
//! Nobody but this server can read or make a seal. It names the principal, the tool and the arguments it
//! was made for, and when it ends; whoever brings it back with other arguments, too late, or twice, is
//! refused.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use data_encoding::BASE64URL_NOPAD;
use jp_disk::Sha256;
use jp_store::{Millis, Spent};
use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    rand::{SecureRandom, SystemRandom},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    ServeError,
    approving::Approved,
    keep::{Keep, millis, now},
};

/// A call waits for a person this long.
const LIFE: Duration = Duration::from_mins(10);

/// A state is the answers of one call; more than this is none of ours.
const LARGEST: usize = 1024 * 1024;

/// So many spent seals are remembered by a server that keeps nothing on disk. They are forgotten when they
/// end, so it takes this many answers in ten minutes to get there; then no more are accepted.
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
    /// The request for an approval that the client was asked about.
    #[serde(default)]
    pub(crate) asked: Option<String>,
    /// The approval of the call, once it was given.
    #[serde(default)]
    pub(crate) approved: Option<Approved>,
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
    #[error("the server cannot note that the requestState was used; try again later")]
    Busy,
}

/// Makes and opens seals.
pub(crate) struct Seals {
    key: LessSafeKey,
    random: SystemRandom,
    spent: Arc<dyn Spent>,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    ends: Millis,
    kept: Kept,
}

impl Seals {
    /// Seals with the key of what is kept on disk, or with one that ends with this server.
    pub(crate) fn new(keep: Option<&Keep>) -> Result<Self, ServeError> {
        let random = SystemRandom::new();
        let mut key = [0; 32];
        random
            .fill(&mut key)
            .map_err(|_| ServeError::NoRandomness)?;
        let (key, spent): (_, Arc<dyn Spent>) = match keep {
            Some(keep) => (*keep.key(), keep.store().clone()),
            None => (key, Arc::new(Remembered::default())),
        };
        let key =
            UnboundKey::new(&CHACHA20_POLY1305, &key).map_err(|_| ServeError::NoRandomness)?;
        Ok(Self {
            key: LessSafeKey::new(key),
            random,
            spent,
        })
    }

    /// Seals what a call has used and been told.
    pub(crate) fn seal(&self, kept: Kept, purpose: &Purpose<'_>) -> Result<String, ServeError> {
        self.seal_at(now(), kept, purpose)
    }

    fn seal_at(
        &self,
        now: Millis,
        kept: Kept,
        purpose: &Purpose<'_>,
    ) -> Result<String, ServeError> {
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

    /// Opens a seal; it is spent then. May wait for the disk.
    pub(crate) fn open(&self, seal: &str, purpose: &Purpose<'_>) -> Result<Kept, Refused> {
        self.open_at(now(), seal, purpose)
    }

    fn open_at(&self, now: Millis, seal: &str, purpose: &Purpose<'_>) -> Result<Kept, Refused> {
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
        let mut name = [0; 16];
        name[..NONCE_LEN].copy_from_slice(nonce);
        match self.spent.spend(purpose.principal, &name, sealed.ends, now) {
            Ok(true) => Ok(sealed.kept),
            Ok(false) => Err(Refused::Spent),
            Err(_) => Err(Refused::Busy),
        }
    }
}

/// What a server without a store remembers of spent seals. Its key ends with it, so that is enough.
#[derive(Default)]
struct Remembered(Mutex<HashMap<[u8; 16], Millis>>);

impl Spent for Remembered {
    fn spend(
        &self,
        _: &str,
        nonce: &[u8; 16],
        expires: Millis,
        now: Millis,
    ) -> Result<bool, jp_store::StoreError> {
        let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spent.len() >= MOST_SPENT {
            spent.retain(|_, ends| *ends > now);
        }
        Ok(spent.len() < MOST_SPENT && spent.insert(*nonce, expires).is_none())
    }

    fn sweep_spent(&self, now: Millis) -> Result<u64, jp_store::StoreError> {
        let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = spent.len();
        spent.retain(|_, ends| *ends > now);
        Ok((before - spent.len()) as u64)
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
            asked: None,
            approved: None,
        }
    }

    #[test]
    fn e54_a_seal_opens_once_for_its_own_call_and_principal() {
        let seals = Seals::new(None).unwrap();
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
    fn e54_what_was_changed_has_expired_or_comes_from_elsewhere_is_refused() {
        let (seals, others) = (Seals::new(None).unwrap(), Seals::new(None).unwrap());
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
