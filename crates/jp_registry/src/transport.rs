//! Connections, as this crate is handed them.
