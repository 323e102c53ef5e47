//! The shared store: artifacts and models by sha256, visible only when verified.
