//! Everything that can be read, for one state of the workspace.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use jp_config::{ServedResourceConfig, UriTemplate};
use jp_host::OpenError;
use jp_llm::topics;
use rmcp::model::{Resource, ResourceTemplate};

use super::uri;
use crate::{catalogue::Catalogue, principal::Served};

/// The topics are looked through again when this long has passed. Until then many requests cost as much
/// as one.
const FRESH: Duration = Duration::from_secs(1);

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

/// What can be read.
pub(crate) struct Shelf {
    pub(crate) catalogue: Arc<Catalogue>,
    made: Instant,
    /// The files of each subject of each topic, relative to the topic. Several may share a name.
    subjects: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    resources: Vec<Resource>,
    templates: Vec<ResourceTemplate>,
    has_knowledge: bool,
}

/// The shelves that were made last, one for each list of tools.
#[derive(Default)]
pub(crate) struct Shelves(Mutex<Vec<Arc<Shelf>>>);

impl Shelves {
    /// Returns what can be read now.
    pub(crate) fn now(&self, shared: &Served) -> Result<Arc<Shelf>, OpenError> {
        let catalogue = shared.catalogue()?;
        // Held while it is made: whoever comes meanwhile waits for it instead of making another.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|shelf| shelf.made.elapsed() < FRESH);
        let is_it = |shelf: &&Arc<Shelf>| Arc::ptr_eq(&shelf.catalogue, &catalogue);
        if let Some(shelf) = known.iter().find(is_it) {
            return Ok(Arc::clone(shelf));
        }
        let made = Arc::new(Shelf::of(catalogue));
        known.push(Arc::clone(&made));
        Ok(made)
    }
}

impl Shelf {
    fn of(catalogue: Arc<Catalogue>) -> Self {
        let mut shelf = Self {
            made: Instant::now(),
            subjects: BTreeMap::new(),
            resources: Vec::new(),
            templates: families(),
            has_knowledge: false,
            catalogue,
        };
        shelf.add_subjects();
        shelf.add_tools();
        shelf.add_configured();
        let recent = Resource::new(uri::RECENT, "recent calls").with_mime_type(JSON);
        let text = "Your newest calls, as the audit log has them";
        shelf.resources.push(recent.with_description(text));
        shelf.resources.sort_by(|a, b| a.uri.cmp(&b.uri));
        shelf
            .templates
            .sort_by(|a, b| a.uri_template.cmp(&b.uri_template));
        shelf
    }

    fn add_subjects(&mut self) {
        let catalogue = Arc::clone(&self.catalogue);
        for (id, topic, scan) in topics(catalogue.host()) {
            // What is wrong with a topic `learn` and `jp doctor` say.
            let Ok(scan) = scan else { continue };
            self.has_knowledge |= scan.is_learnable() || scan.learned().next().is_some();
            let subjects = self.subjects.entry(id.to_owned()).or_default();
            let title = topic.title.as_deref().unwrap_or(id);
            for subject in scan.available().chain(scan.learned()).chain(scan.hidden()) {
                let files = subjects.entry(subject.slug.clone()).or_default();
                files.push(subject.path.clone());
                if !subject.hidden && files.len() == 1 {
                    let uri = uri::of_subject(id, &subject.slug);
                    let named =
                        Resource::new(uri, &subject.slug).with_mime_type(mime(&subject.path));
                    let text = format!("Subject of the topic {title}");
                    self.resources.push(named.with_description(text));
                }
            }
        }
    }

    fn add_tools(&mut self) {
        let manuals = self.catalogue.tools().iter().map(|tool| {
            let text = format!("What there is to know about the tool {}", tool.name);
            Resource::new(uri::of_tool(&tool.name), &*tool.name)
                .with_mime_type(MARKDOWN)
                .with_description(text)
        });
        self.resources.extend(manuals);
    }

    fn add_configured(&mut self) {
        let catalogue = Arc::clone(&self.catalogue);
        for (name, config) in &catalogue.workspace().loaded().config.serve.resources {
            if let Some(uri) = &config.uri {
                let mut shown = Resource::new(uri.as_str(), name);
                shown.title.clone_from(&config.title);
                shown.description.clone_from(&config.description);
                shown.mime_type = known_mime(config);
                self.resources.push(shown);
            } else if let Some(template) = &config.uri_template {
                let mut shown = ResourceTemplate::new(template.as_str(), name);
                shown.title.clone_from(&config.title);
                shown.description.clone_from(&config.description);
                shown.mime_type = known_mime(config);
                self.templates.push(shown);
            }
        }
    }

    /// Returns what can be listed, sorted by address.
    pub(crate) fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// Returns the families, sorted by address.
    pub(crate) fn templates(&self) -> &[ResourceTemplate] {
        &self.templates
    }

    /// Tells whether there is anything to say of the knowledge base.
    pub(crate) const fn has_knowledge(&self) -> bool {
        self.has_knowledge
    }

    /// Returns the files of a subject, relative to the directory of the topic.
    pub(crate) fn files(&self, topic: &str, subject: &str) -> Option<&[String]> {
        let files = self.subjects.get(topic)?.get(subject)?;
        Some(files.as_slice())
    }

    /// Returns the names of the subjects that are listed, of one topic or of all.
    pub(crate) fn subjects(&self, topic: Option<&str>) -> Vec<String> {
        let prefix = topic.map(|topic| uri::of_subject(topic, ""));
        let prefix = prefix.unwrap_or_else(|| uri::ALL_SUBJECTS.to_owned());
        let listed = self.resources.iter();
        let mut names: Vec<String> = listed
            .filter(|resource| resource.uri.starts_with(&prefix))
            .map(|resource| resource.name.clone())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the names of the topics.
    pub(crate) fn topics(&self) -> impl Iterator<Item = &str> {
        self.subjects.keys().map(String::as_str)
    }

    /// Returns what is configured for an address: that very resource, or else the first family that it
    /// belongs to, with the values of its variables.
    pub(crate) fn configured(&self, uri: &str) -> Option<Configured<'_>> {
        let config = &self.catalogue.workspace().loaded().config.serve.resources;
        let is_it = |config: &&ServedResourceConfig| {
            config.uri.as_ref().is_some_and(|own| own.as_str() == uri)
        };
        if let Some(config) = config.values().find(is_it) {
            let values = Vec::new();
            return Some(Configured { config, values });
        }
        config.values().find_map(|config| {
            let template: &UriTemplate = config.uri_template.as_ref()?;
            let values = template.values(uri)?;
            Some(Configured { config, values })
        })
    }
}

/// A resource of the configuration.
pub(crate) struct Configured<'a> {
    pub(crate) config: &'a ServedResourceConfig,
    /// What the variables of its family are.
    pub(crate) values: Vec<(&'a str, String)>,
}

/// Returns the families of what jp shows by itself.
fn families() -> Vec<ResourceTemplate> {
    let family = |uri: &str, name: &str, mime: &str, description: &str| {
        ResourceTemplate::new(uri, name)
            .with_mime_type(mime)
            .with_description(description)
    };
    vec![
        family(
            uri::SUBJECTS,
            "knowledge",
            MARKDOWN,
            "A subject of a topic of the knowledge base",
        ),
        family(
            uri::TOOLS,
            "tool",
            MARKDOWN,
            "What there is to know about a tool",
        ),
        family(
            uri::RECORDS,
            "audit record",
            JSON,
            "One of your calls, as the audit log has it",
        ),
    ]
}

/// Returns the type that a resource of the configuration has before it is read.
pub(super) fn known_mime(config: &ServedResourceConfig) -> Option<String> {
    let said = config
        .mime_type
        .as_ref()
        .map(|mime| mime.as_str().to_owned());
    said.or_else(|| config.text.as_ref().map(|_| "text/plain".to_owned()))
}

/// Returns the type of a subject by its name.
pub(super) fn mime(path: &str) -> &'static str {
    match path.rsplit_once('.') {
        Some((_, "md" | "markdown")) => MARKDOWN,
        _ => "text/plain",
    }
}
