//! Where registries are: a directory, an HTTP server, an OCI registry.
