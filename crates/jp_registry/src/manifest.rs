//! Tool manifests: what a tool is, needs and takes.
