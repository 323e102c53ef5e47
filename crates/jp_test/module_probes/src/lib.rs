//! Probes that are core modules. Each example of this package is one guest that tries one thing a
//! module should not manage.
