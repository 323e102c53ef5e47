//! A keyring in memory that can be made to misbehave, as no real one can be on demand. The real one is
//! talked to by `cargo xtask interop`.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use jp_broker::{KeyId, Keyring, KeyringError};
use zeroize::Zeroizing;

type Hook = Box<dyn FnOnce() + Send>;

#[derive(Default)]
pub(crate) struct Drawer {
    keys: Mutex<HashMap<KeyId, Vec<u8>>>,
    trouble: Mutex<Trouble>,
    asked: AtomicUsize,
    before_get: Mutex<Option<Hook>>,
    before_put: Mutex<Option<Hook>>,
}

/// What goes wrong.
#[derive(Debug, Clone, Default)]
pub(crate) enum Trouble {
    #[default]
    None,
    /// Everything.
    Always(KeyringError),
    /// It never forgets.
    Removing(KeyringError),
    /// It gives back something else.
    Garbled,
}

impl Drawer {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn with(trouble: Trouble) -> Arc<Self> {
        let drawer = Self::new();
        drawer.trouble(trouble);
        drawer
    }

    pub(crate) fn trouble(&self, trouble: Trouble) {
        *self.trouble.lock().unwrap() = trouble;
    }

    pub(crate) fn before_get(&self, hook: impl FnOnce() + Send + 'static) {
        *self.before_get.lock().unwrap() = Some(Box::new(hook));
    }

    pub(crate) fn before_put(&self, hook: impl FnOnce() + Send + 'static) {
        *self.before_put.lock().unwrap() = Some(Box::new(hook));
    }

    pub(crate) fn keys(&self) -> Vec<Vec<u8>> {
        self.keys.lock().unwrap().values().cloned().collect()
    }

    pub(crate) fn clear(&self) {
        self.keys.lock().unwrap().clear();
    }

    /// Returns how often it was asked for anything.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn ask(&self) -> Result<Trouble, KeyringError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        match self.trouble.lock().unwrap().clone() {
            Trouble::Always(error) => Err(error),
            other => Ok(other),
        }
    }
}

fn run(hook: &Mutex<Option<Hook>>) {
    let hook = hook.lock().unwrap().take();
    if let Some(hook) = hook {
        hook();
    }
}

impl Keyring for Drawer {
    fn get(&self, id: &KeyId) -> Result<Option<Zeroizing<Vec<u8>>>, KeyringError> {
        run(&self.before_get);
        let trouble = self.ask()?;
        let mut key = self.keys.lock().unwrap().get(id).cloned();
        if let (Trouble::Garbled, Some(key)) = (trouble, &mut key) {
            key[0] ^= 1;
        }
        Ok(key.map(Zeroizing::new))
    }

    fn put(&self, id: &KeyId, key: &[u8]) -> Result<(), KeyringError> {
        run(&self.before_put);
        self.ask()?;
        self.keys.lock().unwrap().insert(id.clone(), key.to_vec());
        Ok(())
    }

    fn remove(&self, id: &KeyId) -> Result<(), KeyringError> {
        if let Trouble::Removing(error) = self.ask()? {
            return Err(error);
        }
        self.keys.lock().unwrap().remove(id);
        Ok(())
    }
}

impl fmt::Debug for Drawer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Drawer")
    }
}
