//! The JSON Schema of a tool's arguments, for models.
//!
//! One flat object: several model providers refuse `oneOf` at the top. The descriptions
//! say what an action needs, and the module checks it.

use serde_json::{Map, Value, json};

use crate::tool::USER_ID;
use crate::{Action, Argument, Kind, ModuleTool, Need};

impl ModuleTool {
    /// Returns the JSON Schema of its arguments.
    #[must_use]
    pub fn schema(&self) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        if self.has_actions() {
            let words: Vec<&str> = self.main_words().chain(self.other_words()).collect();
            let main: Vec<&str> = self.main_words().collect();
            let meaning = format!("What to do: {}", main.join(", "));
            properties.insert(
                "action".to_owned(),
                json!({ "type": "string", "enum": words, "description": meaning }),
            );
            required.push("action");
        }
        for argument in self.actions.iter().flat_map(|action| action.arguments) {
            if properties.contains_key(argument.name) {
                continue;
            }
            let meaning = format!("{}{}", argument.meaning, self.users(argument.name));
            properties.insert(argument.name.to_owned(), property(argument, &meaning));
            for alias in argument.aliases {
                let meaning = format!("The same as {}", argument.name);
                properties.insert((*alias).to_owned(), property(argument, &meaning));
            }
            // A required argument with aliases may come under one of them.
            let is_needed = |action: &Action| needs(action, argument.name);
            if argument.aliases.is_empty() && self.actions.iter().all(is_needed) {
                required.push(argument.name);
            }
        }
        properties.insert(USER_ID.name.to_owned(), property(&USER_ID, USER_ID.meaning));
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }

    fn main_words(&self) -> impl Iterator<Item = &'static str> {
        self.actions
            .iter()
            .filter_map(|one| one.words.first().copied())
    }

    fn other_words(&self) -> impl Iterator<Item = &'static str> {
        self.actions
            .iter()
            .flat_map(|one| one.words.iter().skip(1).copied())
    }

    /// Says which actions take an argument, and which need it.
    fn users(&self, name: &str) -> String {
        if !self.has_actions() {
            return String::new();
        }
        let users: Vec<String> = self
            .actions
            .iter()
            .filter(|action| action.arguments.iter().any(|one| one.name == name))
            .filter_map(|action| {
                let word = action.words.first()?;
                let others = action.one_of.iter().filter(|other| **other != name);
                let others: Vec<&str> = others.copied().collect();
                let need = if needs(action, name) {
                    " (required)".to_owned()
                } else if action.one_of.contains(&name) {
                    format!(" (this or {} is required)", others.join(" or "))
                } else {
                    String::new()
                };
                Some(format!("{word}{need}"))
            })
            .collect();
        format!("; for {}", users.join(", "))
    }
}

fn needs(action: &Action, name: &str) -> bool {
    let is_it = |one: &Argument| one.name == name && one.need == Need::Required;
    action.arguments.iter().any(is_it)
}

fn property(argument: &Argument, meaning: &str) -> Value {
    let mut property = of_kind(argument.kind);
    if property.contains_key("items") && argument.need == Need::Required {
        property.insert("minItems".to_owned(), 1.into());
    }
    property.insert("description".to_owned(), meaning.into());
    Value::Object(property)
}

fn of_kind(kind: Kind) -> Map<String, Value> {
    let schema = match kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Word(words) => json!({ "type": "string", "enum": words }),
        Kind::Integer => json!({ "type": "integer" }),
        Kind::Between(smallest, largest) => {
            json!({ "type": "integer", "minimum": smallest, "maximum": largest })
        }
        Kind::Positive => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Kind::Integers => json!({
            "type": "array", "items": { "type": "integer" },
        }),
        Kind::Reference => json!({ "type": ["string", "integer"] }),
        Kind::References => json!({
            "type": "array", "items": { "type": ["string", "integer"] },
        }),
        Kind::Entries(fields) => json!({
            "type": "array",
            "items": { "anyOf": [{ "type": "string" }, entry(fields)] },
        }),
        Kind::Object => json!({ "type": "object" }),
        Kind::Json => json!({ "type": ["object", "array", "string", "number", "boolean"] }),
    };
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

fn entry(fields: &[Argument]) -> Value {
    let properties: Map<String, Value> = fields
        .iter()
        .map(|field| (field.name.to_owned(), property(field, field.meaning)))
        .collect();
    let required: Vec<&str> = fields
        .iter()
        .filter(|field| field.need == Need::Required)
        .map(|field| field.name)
        .collect();
    json!({ "type": "object", "properties": properties, "required": required })
}
