//! What changed between two versions of a tool, as a person must see it before accepting it.
