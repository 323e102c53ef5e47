//! Writes the JSON Schema of a configuration file to `schemas/config.schema.json`.

use std::{error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/config.schema.json");
    let text = serde_json::to_string_pretty(&jp_config::json_schema())?;
    fs::write(path, text + "\n")?;
    Ok(())
}
