//! Revocations: signed, numbered, kept, and never forgotten.
