//! Keys: whose signature it is.
