//! Writes the JSON Schema of a tool manifest to `schemas/tool-manifest.json`.

use std::{error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/tool-manifest.json");
    let text = serde_json::to_string_pretty(&jp_registry::json_schema())?;
    fs::write(path, text + "\n")?;
    Ok(())
}
