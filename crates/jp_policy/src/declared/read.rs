//! Reading the values that can be written in more than one way. Each says what may be written: the
//! words of an untagged enum would only be that nothing matched.

use alloc::{string::String, vec::Vec};
use core::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{
        Error, SeqAccess, Unexpected, Visitor,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
};

use super::{DeclaredAccess, DeclaredEnv, DeclaredFs, DeclaredNet, DeclaredStdio};
use crate::Access;

/// Reads a type with a visitor that says what may be written.
macro_rules! read_with {
    ($type:ident, $visitor:ident, $expecting:literal, { $($methods:item)+ }) => {
        struct $visitor;

        impl<'de> Visitor<'de> for $visitor {
            type Value = $type;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($expecting)
            }

            $($methods)+
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any($visitor)
            }
        }
    };
}

/// Reads a list of texts.
fn texts<'de, A: SeqAccess<'de>>(list: A) -> Result<Vec<String>, A::Error> {
    Vec::deserialize(SeqAccessDeserializer::new(list))
}

read_with!(
    DeclaredNet,
    NetVisitor,
    "false, true, a list of hosts, or {\"allowed_hosts\": [...], \"allowed_ports\": [...]}",
    {
        fn visit_bool<E: Error>(self, all: bool) -> Result<DeclaredNet, E> {
            Ok(DeclaredNet::All(all))
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<DeclaredNet, A::Error> {
            texts(list).map(DeclaredNet::Hosts)
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<DeclaredNet, A::Error> {
            Deserialize::deserialize(MapAccessDeserializer::new(map)).map(DeclaredNet::Table)
        }
    }
);

read_with!(
    DeclaredFs,
    FsVisitor,
    "false, or a table with scope, user-selected, app-data or user-paths",
    {
        fn visit_bool<E: Error>(self, all: bool) -> Result<DeclaredFs, E> {
            Ok(DeclaredFs::All(all))
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<DeclaredFs, A::Error> {
            Deserialize::deserialize(MapAccessDeserializer::new(map)).map(DeclaredFs::Table)
        }
    }
);

read_with!(
    DeclaredEnv,
    EnvVisitor,
    "false or a list of names such as [\"LANG\"]",
    {
        fn visit_bool<E: Error>(self, all: bool) -> Result<DeclaredEnv, E> {
            Ok(DeclaredEnv::All(all))
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<DeclaredEnv, A::Error> {
            texts(list).map(DeclaredEnv::Names)
        }
    }
);

read_with!(
    DeclaredAccess,
    AccessVisitor,
    "\"read\", \"read-write\" or false",
    {
        fn visit_bool<E: Error>(self, all: bool) -> Result<DeclaredAccess, E> {
            if all {
                return Err(E::invalid_value(Unexpected::Bool(all), &self));
            }
            Ok(DeclaredAccess(None))
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<DeclaredAccess, E> {
            let access = Access::named(text);
            let access = access.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))?;
            Ok(DeclaredAccess(Some(access)))
        }
    }
);

read_with!(
    DeclaredStdio,
    StdioVisitor,
    "\"read-write\", \"none\", true or false",
    {
        fn visit_bool<E: Error>(self, has: bool) -> Result<DeclaredStdio, E> {
            Ok(DeclaredStdio(has))
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<DeclaredStdio, E> {
            match text {
                "read-write" => Ok(DeclaredStdio(true)),
                "none" => Ok(DeclaredStdio(false)),
                _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
            }
        }
    }
);

impl Serialize for DeclaredAccess {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            None => serializer.serialize_bool(false),
            Some(access) => serializer.collect_str(&access),
        }
    }
}

impl Serialize for DeclaredStdio {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(if self.0 { "read-write" } else { "none" })
    }
}
