//! `jp tool check`.

use std::path::PathBuf;

use clap::Args;
use jp_llm::{CheckedFile, FileKind};
use jp_policy::Form;
use serde_json::json;

use crate::{
    commands::JSON_VERSION,
    error::CliError,
    exit::Exit,
    page::Page,
    progress::Progress,
    session::{Session, block_on},
    ui::Ui,
    words,
};

/// Arguments of `jp tool check`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  jp tool check target/wasm32-wasip2/release/my_tool.wasm")]
pub(crate) struct CheckArgs {
    /// The file
    #[arg(value_name = "FILE.wasm")]
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Says what a file is.
pub(crate) fn run(args: &CheckArgs, ui: &Ui) -> Result<Exit, CliError> {
    let session = Session::open(ui)?;
    let path = match &ui.global.dir {
        Some(dir) => dir.join(&args.file),
        None => args.file.clone(),
    };
    let progress = Progress::default();
    progress.set(Some(format!("checking {}", path.display())));
    let checked = block_on(progress.show(ui, jp_llm::check_file(&path, session.host())))??;
    let exit = if checked.problem.is_none() {
        Exit::Done
    } else {
        Exit::SaidNo
    };
    if args.json {
        ui.json(&json!({
            "version": JSON_VERSION,
            "file": args.file,
            "kind": kind(checked.kind),
            "size": checked.size,
            "sha256": checked.sha256,
            "speaks": checked.speaks,
            "sees_files": checked.sees_files,
            "never": checked.form.map(Form::never),
            "imports": checked.imports,
            "outside_wasi": outside(&checked),
            "refused": refused(&checked),
            "exports": checked.exports,
            "problem": checked.problem,
        }))?;
    } else {
        ui.bytes(page(&args.file, &checked).as_bytes())?;
    }
    Ok(exit)
}

const fn kind(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Component => "component",
        FileKind::Module => "module",
        FileKind::NotWasm => "not wasm",
    }
}

/// Returns the imports that no host of ours provides.
fn outside(checked: &CheckedFile) -> Vec<&str> {
    let known = |name: &&str| {
        let ours = ["wasi:", "wasi_snapshot_preview1/", "jp:tool/"];
        ours.iter().any(|start| name.starts_with(start))
    };
    let names = checked.imports.iter().map(String::as_str);
    names.filter(|name| !known(name)).collect()
}

/// Returns the imports that are there and refuse every call: some languages import the network
/// whether they use it or not.
fn refused(checked: &CheckedFile) -> Vec<&str> {
    let spoken = ["wasi:http/types@0.2.", "wasi:http/outgoing-handler@0.2."];
    let network = |name: &&str| match name.starts_with("wasi:http/") {
        true => !spoken.iter().any(|start| name.starts_with(start)),
        false => name.starts_with("wasi:sockets/"),
    };
    let names = checked.imports.iter().map(String::as_str);
    names.filter(network).collect()
}

const fn makes_requests(form: Form) -> bool {
    matches!(
        form,
        Form::Component { requests: true } | Form::Caller { requests: true }
    )
}

/// Says what the file would get as a tool of a workspace.
fn gets(checked: &CheckedFile) -> &'static str {
    let opens = |name: &String| name.starts_with("wasi:filesystem/");
    let imports_files = checked.imports.iter().any(opens) || checked.cut;
    match checked.kind {
        FileKind::Component if !imports_files => {
            "as a `local` tool: no files, since it imports none; no network, no commands, no \
             environment"
        }
        _ if checked.sees_files => {
            "as a `local` tool: read and change its workspace, after asking you, unless its `grant` \
             says less; no network, no commands, no environment"
        }
        _ => {
            "as a `local` tool: no files, no network, no commands, no environment; what it asks jp \
             for, its `grant` must allow"
        }
    }
}

fn page(file: &std::path::Path, checked: &CheckedFile) -> Page {
    let mut page = Page::new(9);
    let mut field = |name: &str, value: &str| page.field(name, value);
    field("file", &file.display().to_string());
    field(
        "is",
        match checked.kind {
            FileKind::Component => "a Wasm component",
            FileKind::Module => "a core Wasm module",
            FileKind::NotWasm => "not a Wasm file",
        },
    );
    field("size", &words::bytes(checked.size));
    field("sha256", &checked.sha256);
    if checked.kind != FileKind::NotWasm {
        let more = if checked.cut { ", …" } else { "" };
        field("exports", &format!("{}{more}", checked.exports.join(", ")));
        match outside(checked).as_slice() {
            [] if checked.imports.is_empty() => field("imports", "nothing"),
            [] => field("imports", "nothing outside of WASI"),
            outside => field(
                "imports",
                &format!("outside of WASI: {}{more}", outside.join(", ")),
            ),
        }
        if !refused(checked).is_empty() {
            let names = refused(checked).join(", ");
            field("refused", &format!("when called, the network: {names}"));
        }
    }
    match &checked.problem {
        None => {
            field("speaks", checked.speaks.unwrap_or_default());
            field("gets", gets(checked));
            if checked.form.is_some_and(makes_requests) {
                field("http", "to the hosts of its `grant.net`, and to no others");
            }
            let never = checked.form.map(Form::never).unwrap_or_default();
            field("never", &never.join(", "));
        }
        Some(problem) => field("problem", problem),
    }
    page
}
