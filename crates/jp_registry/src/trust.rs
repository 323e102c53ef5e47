//! Trust roots: which keys may sign which names.
