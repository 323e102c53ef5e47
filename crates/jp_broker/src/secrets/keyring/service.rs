//! The freedesktop Secret Service, as far as one key needs it: search, get, create, delete.
//!
//! Nothing here prompts: what would need a prompt is locked. The key crosses the session bus as it is
//! (the `plain` algorithm): a program that can listen there can ask the service for it as well. Buffers of
//! libdbus are not wiped.

use std::{collections::HashMap, time::Duration};

use data_encoding::BASE64;
use dbus::{
    Path,
    arg::{AppendAll, Arg, Get, PropMap, ReadAll, RefArg, Variant},
    blocking::{Connection, Proxy},
};
use zeroize::Zeroizing;

use super::{KeyId, KeyringError};

const NAME: &str = "org.freedesktop.secrets";
const ROOT: &str = "/org/freedesktop/secrets";
const SERVICE: &str = "org.freedesktop.Secret.Service";
const COLLECTION: &str = "org.freedesktop.Secret.Collection";
const ITEM: &str = "org.freedesktop.Secret.Item";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
const PROMPT: &str = "org.freedesktop.Secret.Prompt";
/// What the service says instead of an object.
const NOTHING: &str = "/";
/// The longest value that may be a key of ours.
const MAX_VALUE: usize = 128;
/// The most collections that are searched; people have two or three.
const MAX_COLLECTIONS: usize = 64;
/// What people see in the list of their passwords.
const LABEL: &str = "jp: the key of its secrets";

type Object = Path<'static>;
/// A session, parameters, the value and its type.
type Value = (Object, Vec<u8>, Vec<u8>, String);

/// A connection to the service.
pub(super) struct Service {
    bus: Connection,
    session: Object,
    wait: Duration,
}

impl Service {
    /// Connects to the service on the bus at `address`, which starts it if the bus knows how.
    pub(super) fn open(address: &str, wait: Duration) -> Result<Self, KeyringError> {
        let bus = Connection::new_address(address)
            .map_err(|error| KeyringError::no_service(error.message().unwrap_or("no bus")))?;
        let mut service = Self {
            bus,
            session: Object::default(),
            wait,
        };
        let (_, session): (Variant<Box<dyn RefArg>>, Object) =
            service.call(ROOT, SERVICE, "OpenSession", ("plain", Variant("")))?;
        service.session = session;
        Ok(service)
    }

    pub(super) fn get(&self, id: &KeyId) -> Result<Option<Zeroizing<Vec<u8>>>, KeyringError> {
        let (open, locked) = self.search(id)?;
        let item = match (open.into_iter().next(), locked.into_iter().next()) {
            (Some(item), _) => item,
            (None, Some(item)) => {
                self.unlock(&item)?;
                item
            }
            (None, None) => return self.is_nowhere().map(|()| None),
        };
        let (value,): (Value,) = self.call(&item, ITEM, "GetSecret", (self.session.clone(),))?;
        let text = Zeroizing::new(value.2);
        if text.len() > MAX_VALUE {
            return Err(KeyringError::failed("what it keeps for jp is not a key"));
        }
        let key = BASE64.decode(&text);
        let key = key.map_err(|_| KeyringError::failed("what it keeps for jp is not a key"))?;
        Ok(Some(Zeroizing::new(key)))
    }

    pub(super) fn put(&self, id: &KeyId, key: &[u8]) -> Result<(), KeyringError> {
        let collection = self.collection()?;
        self.unlock(&collection)?;
        let attributes: HashMap<String, String> = attributes(id)
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let mut properties = PropMap::new();
        let mut set = |name: &str, value: Box<dyn RefArg>| {
            properties.insert(format!("{ITEM}.{name}"), Variant(value));
        };
        set("Label", Box::new(LABEL.to_owned()));
        set("Attributes", Box::new(attributes));
        // As text: some keepers show, export or keep nothing else.
        let text = Zeroizing::new(BASE64.encode(key));
        let value = (
            self.session.clone(),
            Vec::<u8>::new(),
            text.as_bytes(),
            "text/plain",
        );
        let (_, prompt): (Object, Object) = self.call(
            &collection,
            COLLECTION,
            "CreateItem",
            (properties, value, true),
        )?;
        self.without_prompt(&prompt)
    }

    pub(super) fn remove(&self, id: &KeyId) -> Result<(), KeyringError> {
        let (open, locked) = self.search(id)?;
        for item in &locked {
            self.unlock(item)?;
        }
        for item in open.iter().chain(&locked) {
            let (prompt,): (Object,) = self.call(item, ITEM, "Delete", ())?;
            self.without_prompt(&prompt)?;
        }
        Ok(())
    }

    fn search(&self, id: &KeyId) -> Result<(Vec<Object>, Vec<Object>), KeyringError> {
        self.call(ROOT, SERVICE, "SearchItems", (attributes(id),))
    }

    /// Makes sure that what was not found is not there: some keepers show nothing of what is locked.
    fn is_nowhere(&self) -> Result<(), KeyringError> {
        let collections: Vec<Object> = self.property(ROOT, SERVICE, "Collections")?;
        for collection in collections.iter().take(MAX_COLLECTIONS) {
            if self.property(collection, COLLECTION, "Locked")? {
                return Err(KeyringError::Locked);
            }
        }
        Ok(())
    }

    /// Returns the collection that new items go to.
    fn collection(&self) -> Result<Object, KeyringError> {
        let alias = |name: &str| -> Result<Object, KeyringError> {
            let (path,): (Object,) = self.call(ROOT, SERVICE, "ReadAlias", (name,))?;
            Ok(path)
        };
        let default = alias("default")?;
        // What lies in the collection of the session is gone when the user logs out.
        if &*default == NOTHING || default == alias("session")? {
            return Err(KeyringError::NoCollection);
        }
        Ok(default)
    }

    /// Unlocks an object that needs no password to unlock.
    fn unlock(&self, object: &Object) -> Result<(), KeyringError> {
        let (_, prompt): (Vec<Object>, Object) =
            self.call(ROOT, SERVICE, "Unlock", (vec![object.clone()],))?;
        self.without_prompt(&prompt)
    }

    /// Puts away the question that stands in for what was asked, if there is one.
    fn without_prompt(&self, prompt: &Object) -> Result<(), KeyringError> {
        if &**prompt == NOTHING {
            return Ok(());
        }
        // It was never shown; a service may keep it until then.
        let _: Result<(), _> = self.call(prompt, PROMPT, "Dismiss", ());
        Err(KeyringError::Locked)
    }

    fn property<T: for<'a> Get<'a> + Arg>(
        &self,
        object: &str,
        interface: &str,
        name: &str,
    ) -> Result<T, KeyringError> {
        let (value,): (Variant<T>,) = self.call(object, PROPERTIES, "Get", (interface, name))?;
        Ok(value.0)
    }

    fn call<R: ReadAll, A: AppendAll>(
        &self,
        object: &str,
        interface: &str,
        method: &str,
        arguments: A,
    ) -> Result<R, KeyringError> {
        let object = Path::new(object).map_err(|reason| KeyringError::failed(&reason))?;
        Proxy::new(NAME, object, self.wait, &self.bus)
            .method_call(interface, method, arguments)
            .map_err(|error| self.explain(&error))
    }

    fn explain(&self, error: &dbus::Error) -> KeyringError {
        let name = error.name().unwrap_or_default();
        let message = error.message().unwrap_or(name);
        let of_bus = name.strip_prefix("org.freedesktop.DBus.Error.");
        match of_bus.unwrap_or(name) {
            "org.freedesktop.Secret.Error.IsLocked" => KeyringError::Locked,
            "NoReply" | "Timeout" | "TimedOut" => KeyringError::TimedOut { waited: self.wait },
            "ServiceUnknown" | "NameHasNoOwner" => KeyringError::no_service(message),
            start if start.starts_with("Spawn.") => KeyringError::no_service(message),
            _ => KeyringError::failed(message),
        }
    }
}

fn attributes(id: &KeyId) -> HashMap<&'static str, &str> {
    HashMap::from([("application", "jp"), ("jp-key", id.as_str())])
}
