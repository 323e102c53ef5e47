//! A small server for a registry of static files.
