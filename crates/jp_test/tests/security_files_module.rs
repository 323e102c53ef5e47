//! What a hostile guest may try against the files of the host, when it is a module with WASI preview 1.

#[path = "security_files/main.rs"]
mod same;
