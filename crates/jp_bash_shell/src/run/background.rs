//! What runs beside the shell: `&` and `coproc`.

use std::sync::Arc;

use jp_bash_syntax::ast::{AndOr, Command, Item, Pipeline};
use jp_bash_syntax::names::Name;
use jp_bash_syntax::print;

use crate::Shell;
use crate::flow::Flow;
use crate::kernel::file::{Mode, Object};
use crate::options::Opt;
use crate::vars::Bytes;

impl Shell<'_> {
    /// Starts a list that ends with `&`.
    pub(super) fn start_background(&mut self, item: &Item) -> Result<i32, Flow> {
        let text = self.item_text(item);
        let first = Arc::clone(&item.first);
        let rest: Vec<(AndOr, Arc<Pipeline>)> = item
            .rest
            .iter()
            .map(|(how, pipeline)| (*how, Arc::clone(pipeline)))
            .collect();
        let mut child = self.fork();
        child.tolerant = 0;
        let grouped = self.options.has(Opt::Monitor);
        if !grouped {
            Arc::make_mut(&mut child.traps).ignore_keys();
        }
        let piped = self
            .fds
            .get(0)
            .is_some_and(|file| matches!(file.object, Object::Pipe(_)));
        if !grouped && !piped {
            // Without job control a background command reads nothing, unless it redirects its input.
            let null = self.kernel.describe(Object::Null, Mode::READ)?;
            child.put_fd(0, null)?;
        }
        let pid = self.start_child(child, move |shell| {
            let item = Item {
                first,
                rest,
                background: false,
            };
            shell.alone = item.rest.is_empty();
            shell.run_item(&item)
        })?;
        if grouped {
            self.kernel.lead_group(pid);
        }
        self.last_background = Some(pid);
        self.jobs.forget_foreign();
        self.jobs.add(vec![pid], text);
        self.leave_status(0)
    }

    /// Returns a list as one line, as `jobs` shows it.
    fn item_text(&self, item: &Item) -> Vec<u8> {
        let mut out = self.pipeline_text(&item.first);
        for (how, pipeline) in &item.rest {
            out.extend_from_slice(match how {
                AndOr::And => b" && ",
                AndOr::Or => b" || ",
            });
            out.extend_from_slice(&self.pipeline_text(pipeline));
        }
        out
    }

    fn pipeline_text(&self, pipeline: &Pipeline) -> Vec<u8> {
        let names = self.kernel.names.borrow();
        let mut out = Vec::new();
        if pipeline.negated {
            out.extend_from_slice(b"! ");
        }
        for (at, command) in pipeline.commands.iter().enumerate() {
            if at > 0 {
                out.extend_from_slice(b" | ");
            }
            out.extend_from_slice(&print::print_command(command, &names));
        }
        out
    }

    /// Starts `coproc NAME command`: two pipes, `NAME` holds our ends, `NAME_PID` the process.
    pub(super) fn run_coproc(&mut self, name: Name, body: &Arc<Command>) -> Result<i32, Flow> {
        let (their_in, our_out) = self.kernel.pipe()?;
        let (our_in, their_out) = self.kernel.pipe()?;
        let mut child = self.fork();
        child.put_fd(0, their_in)?;
        child.put_fd(1, their_out)?;
        let text = print::print_command(body, &self.kernel.names.borrow());
        let body = Arc::clone(body);
        if !self.options.has(Opt::Monitor) {
            Arc::make_mut(&mut child.traps).ignore_keys();
        }
        let pid = self.start_child(child, move |shell| {
            shell.alone = true;
            shell.run_command(&body)
        })?;
        if self.options.has(Opt::Monitor) {
            self.kernel.lead_group(pid);
        }
        let to = self.fds.add(crate::fds::COPROC, our_in);
        let from = self.fds.add(crate::fds::COPROC, our_out);
        let (Ok(read), Ok(write)) = (to, from) else {
            return Ok(1);
        };
        let ends = vec![
            Bytes::from(read.to_string().into_bytes()),
            Bytes::from(write.to_string().into_bytes()),
        ];
        let _refused = self.set_array(name, ends)?;
        let pid_name = [&*self.name_text(name), &b"_PID"[..]].concat();
        let pid_name = self.intern(&pid_name)?;
        let _refused = self.set_var(pid_name, Bytes::from(pid.to_string().into_bytes()))?;
        self.last_background = Some(pid);
        self.jobs.forget_foreign();
        self.jobs.add(vec![pid], text);
        Ok(0)
    }
}
