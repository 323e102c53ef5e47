//! Models that tools depend on.
