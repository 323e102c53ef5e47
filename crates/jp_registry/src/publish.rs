//! Writing a registry: static files that anything can serve.
