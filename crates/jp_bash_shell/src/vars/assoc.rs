//! Associative arrays in bash's own order: scripts print `${!a[@]}`, and bash prints it in the order of its hash table.
//!
//! So this is that table: FNV-1 over the key, 1024 buckets, new keys at the head of their bucket, four times the
//! buckets once there are two keys to each.

use crate::vars::bytes::Bytes;

/// Buckets of a new table.
const BUCKETS: usize = 1024;
/// No entry.
const NIL: u32 = u32::MAX;
/// What one entry costs beside its texts.
pub(crate) const ENTRY: u64 = 80;

#[derive(Debug, Clone)]
struct Entry {
    key: Bytes,
    value: Bytes,
    hash: u32,
    next: u32,
}

/// An associative array.
#[derive(Debug, Clone, Default)]
pub(crate) struct Assoc {
    /// Empty until the first key.
    buckets: Vec<u32>,
    entries: Vec<Option<Entry>>,
    free: Vec<u32>,
    texts: u64,
}

pub(crate) fn hash(key: &[u8]) -> u32 {
    key.iter().fold(2_166_136_261, |hash: u32, byte| {
        hash.wrapping_mul(16_777_619) ^ u32::from(*byte)
    })
}

impl Assoc {
    /// Returns how many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Returns the bytes it holds, as the budget counts them.
    pub(crate) fn cost(&self) -> u64 {
        self.buckets.len() as u64 * 4 + self.entries.capacity() as u64 * ENTRY + self.texts
    }

    fn bucket(&self, hash: u32) -> usize {
        // The number of buckets is a power of two.
        hash as usize & self.buckets.len().wrapping_sub(1)
    }

    fn find(&self, key: &[u8]) -> Option<u32> {
        let hash = hash(key);
        let mut at = *self.buckets.get(self.bucket(hash))?;
        while let Some(Some(entry)) = self.entries.get(at as usize) {
            if entry.hash == hash && entry.key.as_slice() == key {
                return Some(at);
            }
            at = entry.next;
        }
        None
    }

    /// Returns a value.
    pub(crate) fn get(&self, key: &[u8]) -> Option<&Bytes> {
        let at = self.find(key)?;
        self.entries
            .get(at as usize)?
            .as_ref()
            .map(|entry| &entry.value)
    }

    /// Takes a value out to change it; put it back with [`Assoc::set`].
    pub(crate) fn take(&mut self, key: &[u8]) -> Option<Bytes> {
        let at = self.find(key)?;
        let entry = self.entries.get_mut(at as usize)?.as_mut()?;
        let value = std::mem::replace(&mut entry.value, Bytes::EMPTY);
        self.texts = self.texts.saturating_sub(value.cost());
        Some(value)
    }

    /// Returns what setting that key would newly allocate, beside the value itself.
    pub(crate) fn growth(&self, key: &[u8]) -> u64 {
        let mut more = key.len() as u64 + ENTRY + 40;
        if self.entries.len() == self.entries.capacity() {
            more += self.entries.len() as u64 * ENTRY;
        }
        if self.buckets.is_empty() {
            more += BUCKETS as u64 * 4;
        } else if self.len() >= self.buckets.len() * 2 {
            more += self.buckets.len() as u64 * 12;
        }
        more
    }

    /// Sets a value.
    pub(crate) fn set(&mut self, key: &[u8], value: Bytes) {
        self.texts += value.cost();
        if let Some(at) = self.find(key) {
            if let Some(Some(entry)) = self.entries.get_mut(at as usize) {
                self.texts = self.texts.saturating_sub(entry.value.cost());
                entry.value = value;
            }
            return;
        }
        if self.buckets.is_empty() {
            self.buckets = vec![NIL; BUCKETS];
        } else if self.len() >= self.buckets.len() * 2 {
            self.grow();
        }
        let hash = hash(key);
        let bucket = self.bucket(hash);
        let key = Bytes::from(key);
        self.texts += key.cost();
        let next = self.buckets.get(bucket).copied().unwrap_or(NIL);
        let entry = Some(Entry {
            key,
            value,
            hash,
            next,
        });
        let at = match self.free.pop() {
            Some(at) => {
                if let Some(slot) = self.entries.get_mut(at as usize) {
                    *slot = entry;
                }
                at
            }
            None => {
                self.entries.push(entry);
                u32::try_from(self.entries.len() - 1).unwrap_or(NIL)
            }
        };
        if let Some(head) = self.buckets.get_mut(bucket) {
            *head = at;
        }
    }

    /// Makes four times the buckets; walks the old ones in order and puts each entry at the head of its new one.
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.buckets);
        self.buckets = vec![NIL; old.len() * 4];
        for head in old {
            let mut at = head;
            while let Some(Some(Entry { hash, .. })) = self.entries.get(at as usize) {
                let hash = *hash;
                let bucket = self.bucket(hash);
                let head = self.buckets.get(bucket).copied().unwrap_or(NIL);
                let Some(Some(entry)) = self.entries.get_mut(at as usize) else {
                    break;
                };
                let next = std::mem::replace(&mut entry.next, head);
                if let Some(slot) = self.buckets.get_mut(bucket) {
                    *slot = at;
                }
                at = next;
            }
        }
    }

    /// Removes a key.
    pub(crate) fn unset(&mut self, key: &[u8]) {
        let Some(at) = self.find(key) else { return };
        let Some(entry) = self.entries.get_mut(at as usize).and_then(Option::take) else {
            return;
        };
        self.texts = self
            .texts
            .saturating_sub(entry.value.cost() + entry.key.cost());
        self.free.push(at);
        let bucket = self.bucket(entry.hash);
        let Some(head) = self.buckets.get_mut(bucket) else {
            return;
        };
        if *head == at {
            *head = entry.next;
            return;
        }
        let mut before = *head;
        while let Some(Some(other)) = self.entries.get_mut(before as usize) {
            if other.next == at {
                other.next = entry.next;
                return;
            }
            before = other.next;
        }
    }

    /// Walks over keys and values in bash's order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Bytes, &Bytes)> {
        self.buckets.iter().flat_map(move |head| {
            let mut at = *head;
            std::iter::from_fn(move || {
                let entry = self.entries.get(at as usize)?.as_ref()?;
                at = entry.next;
                Some((&entry.key, &entry.value))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(assoc: &Assoc) -> String {
        let keys: Vec<_> = assoc
            .iter()
            .map(|(key, _)| String::from_utf8_lossy(key.as_slice()).into_owned())
            .collect();
        keys.join(" ")
    }

    #[test]
    fn keys_come_in_the_order_bash_prints_them() {
        let mut assoc = Assoc::default();
        for key in ["a", "b", "c", "foo", "bar", "baz", "x1", "x2", "k10"] {
            assoc.set(key.as_bytes(), Bytes::EMPTY);
        }
        assert_eq!(keys(&assoc), "x1 x2 c b a foo bar baz k10");
        assoc.unset(b"foo");
        assert_eq!(keys(&assoc), "x1 x2 c b a bar baz k10");
    }

    #[test]
    fn a_grown_table_keeps_bashs_order() {
        let mut assoc = Assoc::default();
        for i in 0..3000 {
            assoc.set(format!("k{i}").as_bytes(), Bytes::EMPTY);
        }
        assert_eq!(assoc.len(), 3000);
        assert!(
            keys(&assoc).starts_with("k1698 k1699 k1696 k1697 k1694 k1695 k1692 k1693 k1690 k1691")
        );
    }
}
