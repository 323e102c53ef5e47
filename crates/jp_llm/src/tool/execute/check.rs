//! Steps 1, 2 and 7 of the pipeline: what goes into a tool is made to fit and checked, and what comes
//! out of it is checked.

use serde_json::{Map, Value};

use super::{Early, MOST, Pass};
use crate::{
    ToolError,
    tool::{
        Stop,
        arguments::Rejected,
        depth::{self, MAX_DEPTH},
        files,
        result::{self, Unfit},
    },
};

impl Pass<'_> {
    /// Steps 1 and 2: put in chosen files, coerce, fill in defaults, validate. What is wrong is a
    /// result for the model.
    pub(super) fn check_arguments(&mut self, arguments: Map<String, Value>) -> Result<(), Early> {
        let arguments = match depth::bounded(arguments) {
            Ok(arguments) => arguments,
            Err(depth::TooDeep) => {
                let text = format!("Invalid arguments: nested more than {MAX_DEPTH} levels deep");
                return Err(Ok(self.completed(Err(text))));
            }
        };
        let arguments = self.place_files(arguments)?;
        let mut arguments = self.fit(arguments)?;
        // What a model had put into a string may be a file, once it is read.
        if files::names_any(&arguments) {
            arguments = self.place_files(arguments)?;
            arguments = self.fit(arguments)?;
        }
        // Last, so that nothing is read out of a string afterwards.
        self.arguments = self.refuse_typed(arguments)?;
        Ok(())
    }

    fn place_files(
        &mut self,
        mut arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, Early> {
        match files::place(&mut arguments, &self.call.files, &mut self.files) {
            Ok(()) => Ok(arguments),
            Err(problem) => Err(self.invalid(&arguments, &problem.to_string())),
        }
    }

    /// Refuses paths that pose as chosen files.
    fn refuse_typed(&mut self, arguments: Map<String, Value>) -> Result<Map<String, Value>, Early> {
        let checker = self.tool.checker().map_err(Err)?;
        match checker.refuse_typed(&arguments, &self.files) {
            Ok(()) => Ok(arguments),
            Err(problem) => Err(self.invalid(&arguments, &problem.to_string())),
        }
    }

    fn invalid(&mut self, arguments: &Map<String, Value>, problem: &str) -> Early {
        // What is refused is hashed too, so that its record can be told from others.
        self.arguments_json = to_json(arguments);
        let text = format!("Invalid arguments:\n{problem}");
        Ok(self.completed(Err(text)))
    }

    fn fit(&mut self, arguments: Map<String, Value>) -> Result<Map<String, Value>, Early> {
        let checker = self.tool.checker().map_err(Err)?;
        match checker.check(arguments) {
            Ok(arguments) => {
                self.arguments_json = to_json(&arguments);
                Ok(arguments)
            }
            Err(Rejected {
                arguments,
                problems,
            }) => {
                let schema =
                    jp_text::shorten_and_count(&self.tool.known_schema().to_string(), MOST)
                        .into_owned();
                let problem = format!("{problems}\n\nThe schema of the arguments: {schema}");
                Err(self.invalid(&arguments, &problem))
            }
        }
    }

    /// Step 7: a tool that said what its results look like keeps its word. A result that is data is
    /// kept as data.
    pub(super) fn check_result(&mut self, content: &str) -> Result<(), ToolError> {
        let Some(checker) = self.tool.result_checker()? else {
            return Ok(());
        };
        let unfit = |unfit: Unfit| {
            let Unfit { path, reason } = unfit;
            ToolError::new(&*self.tool.name, Stop::ResultUnfit { path, reason })
        };
        let structured = &mut self.details.beside.content.structured;
        let value = match structured.take() {
            Some(value) => value,
            None => result::read(content).map_err(unfit)?,
        };
        result::check(checker, &value).map_err(unfit)?;
        *structured = Some(value);
        Ok(())
    }
}

fn to_json(arguments: &Map<String, Value>) -> String {
    serde_json::to_string(arguments).unwrap_or_default()
}
