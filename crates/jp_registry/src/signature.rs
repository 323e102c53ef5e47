//! Detached signatures of manifests, indexes and lists.
