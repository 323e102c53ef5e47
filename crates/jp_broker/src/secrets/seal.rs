//! Sealing: secrets to bytes that only the key opens, and in which every change is noticed.
//!
//! `jp-secrets 1\n`, a random nonce, then ChaCha20-Poly1305 over JSON, with the first line
//! authenticated too. An older file put back in place is not noticed.

use data_encoding::BASE64;
use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    rand::{SecureRandom, SystemRandom},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use zeroize::Zeroizing;

use super::{KeyId, Secret, SecretError, SecretValue, keyring::ID_LEN};

const MAGIC: &[u8] = b"jp-secrets 1\n";
/// The bytes of a key.
pub(super) const KEY_LEN: usize = 32;
/// Room for what stands around a value, so that no copy is left behind by growing.
const OVERHEAD: usize = 4096;

/// The bytes cannot be opened: changed, or sealed with another key.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unsealable;

/// Returns a new key.
pub(super) fn new_key() -> Result<Zeroizing<Vec<u8>>, SecretError> {
    let mut key = Zeroizing::new(vec![0; KEY_LEN]);
    fill(&mut key)?;
    Ok(key)
}

/// Returns a new id for a key.
pub(super) fn new_id() -> Result<KeyId, SecretError> {
    let mut id = [0; ID_LEN];
    fill(&mut id)?;
    Ok(KeyId::of(id))
}

fn fill(bytes: &mut [u8]) -> Result<(), SecretError> {
    let filled = SystemRandom::new().fill(bytes);
    filled.map_err(|_| SecretError::Random)
}

/// Seals secrets.
pub(super) fn seal(secrets: &[Secret], key: &[u8]) -> Result<Vec<u8>, SecretError> {
    let size: usize = secrets
        .iter()
        .map(|secret| secret.value.expose().len() * 2 + OVERHEAD)
        .sum();
    let mut text = Zeroizing::new(Vec::with_capacity(size));
    let records: Vec<Record> = secrets.iter().map(Record::of).collect();
    let limit = "a secret cannot be written down";
    serde_json::to_writer(&mut *text, &records).map_err(|_| SecretError::Full { limit })?;
    let mut nonce = [0; NONCE_LEN];
    fill(&mut nonce)?;
    let key = open_key(key).map_err(|_| SecretError::Random)?;
    let tag = key.seal_in_place_separate_tag(
        Nonce::assume_unique_for_key(nonce),
        Aad::from(MAGIC),
        &mut text,
    );
    let tag = tag.map_err(|_| SecretError::Full { limit })?;
    Ok([MAGIC, &nonce, &text, tag.as_ref()].concat())
}

/// Opens what [`seal`] made.
pub(super) fn unseal(sealed: &[u8], key: &[u8]) -> Result<Vec<Secret>, Unsealable> {
    let rest = sealed.strip_prefix(MAGIC).ok_or(Unsealable)?;
    let (nonce, rest) = rest.split_at_checked(NONCE_LEN).ok_or(Unsealable)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Unsealable)?;
    let mut text = Zeroizing::new(rest.to_vec());
    let opened = open_key(key)?.open_in_place(nonce, Aad::from(MAGIC), &mut text);
    let opened = opened.map_err(|_| Unsealable)?;
    let records: Vec<Record> = serde_json::from_slice(opened).map_err(|_| Unsealable)?;
    records.into_iter().map(Record::into_secret).collect()
}

fn open_key(key: &[u8]) -> Result<LessSafeKey, Unsealable> {
    let key = UnboundKey::new(&CHACHA20_POLY1305, key).map_err(|_| Unsealable)?;
    Ok(LessSafeKey::new(key))
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    name: String,
    value: Value64,
    audience: Vec<String>,
    reveal: bool,
    created: i64,
}

impl Record {
    fn of(secret: &Secret) -> Self {
        Self {
            name: secret.name.to_string(),
            value: Value64(secret.value.clone()),
            audience: secret.audience.iter().map(ToString::to_string).collect(),
            reveal: secret.reveal,
            created: secret.created,
        }
    }

    fn into_secret(self) -> Result<Secret, Unsealable> {
        let audience = self.audience.iter().map(|text| text.parse());
        Ok(Secret {
            name: self.name.parse().map_err(|_| Unsealable)?,
            value: self.value.0,
            audience: audience.collect::<Result<_, _>>().map_err(|_| Unsealable)?,
            reveal: self.reveal,
            created: self.created,
        })
    }
}

/// A value as base64, with no copy left behind on the way.
struct Value64(SecretValue);

impl Serialize for Value64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&Zeroizing::new(BASE64.encode(self.0.expose())))
    }
}

impl<'de> Deserialize<'de> for Value64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Base64 needs no escapes, so the text is borrowed from the buffer that is wiped.
        let text = <&str>::deserialize(deserializer)?;
        let bytes = BASE64.decode(text.as_bytes()).map_err(de::Error::custom)?;
        SecretValue::new(bytes).map(Self).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Vec<Secret> {
        vec![Secret {
            name: "a".parse().unwrap(),
            value: SecretValue::new(vec![0xff; 20]).unwrap(),
            audience: vec!["https://a.example/x".parse().unwrap()],
            reveal: true,
            created: 7,
        }]
    }

    #[test]
    fn what_is_sealed_comes_back_with_the_same_key_only() {
        let key = new_key().unwrap();
        let sealed = seal(&secrets(), &key).unwrap();
        assert_eq!(unseal(&sealed, &key).unwrap(), secrets());
        assert_eq!(unseal(&sealed, &new_key().unwrap()), Err(Unsealable));
        assert_eq!(unseal(&sealed, b"short"), Err(Unsealable));
        assert_ne!(sealed, seal(&secrets(), &key).unwrap(), "nonces differ");
    }

    #[test]
    fn every_changed_byte_and_every_cut_is_noticed() {
        let key = new_key().unwrap();
        let sealed = seal(&secrets(), &key).unwrap();
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert_eq!(unseal(&changed, &key), Err(Unsealable), "byte {at}");
            assert_eq!(unseal(&sealed[..at], &key), Err(Unsealable), "cut at {at}");
        }
    }
}
