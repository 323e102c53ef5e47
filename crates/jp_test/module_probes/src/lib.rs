//! Probes that are core modules. Each example of this package is one guest that tries one thing a
//! module should not manage, or one thing it should; some of them with WASI preview 1.
