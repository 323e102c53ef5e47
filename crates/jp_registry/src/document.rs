//! JSON documents of strangers: read strictly, and written in the one form that is signed.
