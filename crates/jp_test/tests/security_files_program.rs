//! What a hostile guest may try against the files of the host, when it is a program of WASI preview 1.

#[path = "security_files/main.rs"]
mod same;
