//! `search_internet`: a question to a search provider.

use super::calls;
use crate::ModuleTool;

/// A question to a search provider.
pub static SEARCH_INTERNET: ModuleTool = ModuleTool {
    name: "search_internet",
    summary: "Searches the internet",
    description: "Searches the internet for something the model does not know or that may have \
                  changed, and returns what was found with its sources.",
    actions: &[calls::SEARCH_INTERNET],
};
