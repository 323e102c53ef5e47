//! From fetched to verified: the only way in.
