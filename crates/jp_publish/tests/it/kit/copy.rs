//! A second shop with the same keys and files, for crashes.

use std::fs;

use jp_publish::SigningKey;

use super::Shop;

impl Shop {
    /// Makes another shop with the same keys and files.
    pub(crate) fn copy(&self) -> Self {
        let again = |key: &SigningKey| {
            let path = self.temp.path().join("key");
            key.write(&path).unwrap();
            let read = SigningKey::read(&path).unwrap();
            fs::remove_file(path).unwrap();
            read
        };
        let copy = Self {
            temp: tempfile::tempdir().unwrap(),
            registry_key: again(&self.registry_key),
            publisher: again(&self.publisher),
        };
        let mut waiting = vec![(self.dir(), copy.dir())];
        while let Some((from, to)) = waiting.pop() {
            fs::create_dir(&to).unwrap();
            for entry in fs::read_dir(from).unwrap().flatten() {
                let to = to.join(entry.file_name());
                match entry.file_type().unwrap().is_dir() {
                    true => waiting.push((entry.path(), to)),
                    false => drop(fs::copy(entry.path(), to).unwrap()),
                }
            }
        }
        copy
    }
}
