//! The signed index of a registry, which only ever grows in number.
