//! `kv.sqlite.planning.*`: plans of steps. Each step also becomes a to-do that refers to it.

mod dependencies;
mod notes;
mod plan;
mod steps;
mod words;

use std::sync::Arc;

use rusqlite::{OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use self::{
    dependencies::Dependencies,
    plan::{COLUMNS, Plan, read},
    steps::Step,
};
use super::{
    Failure,
    handler::{Scope, reads, writes},
    page::{self, Page},
    quotas,
    rows::{self, Id, Table},
    todo::MOST_ITEMS,
    todo_rows::{Item, Place, insert, last_position},
};
use crate::{
    CallError,
    answer::Status,
    arguments::{
        Entry, Nothing,
        kinds::{Many, Prose, Rows, Title, Word},
    },
    capability::{Known, Spec},
};

/// The steps of a call.
type Steps = Many<Entry<Step>, MOST_ITEMS>;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary).on_data_of("planning")
}

/// Returns the capabilities of this family.
pub(super) fn all() -> Vec<Arc<dyn Known>> {
    vec![
        writes(
            spec(
                "kv.sqlite.planning.create",
                "Makes a plan, and a to-do of each step",
            ),
            create,
        ),
        reads(
            spec("kv.sqlite.planning.list", "Lists plans, the newest first"),
            list,
        ),
        reads(
            spec("kv.sqlite.planning.get", "Returns a plan"),
            |scope, Id { id }| find(scope, *id),
        ),
        writes(
            spec(
                "kv.sqlite.planning.update",
                "Changes what is given of a plan; steps that have no to-do yet get one",
            ),
            update,
        ),
        writes(
            spec(
                "kv.sqlite.planning.delete",
                "Deletes a plan; its to-dos stay",
            ),
            |scope, Id { id }| rows::delete(scope, Table::Plans, *id),
        ),
        writes(
            spec(
                "kv.sqlite.planning.clear",
                "Deletes all plans; their to-dos stay",
            ),
            |scope, Nothing {}| rows::clear(scope, Table::Plans, "TRUE"),
        ),
    ]
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Create {
    /// The plan's name.
    title: Title,
    /// What is to be reached.
    goal: Prose,
    /// The steps: titles, or objects with a title and more; each becomes a to-do.
    steps: Option<Steps>,
    /// Where the plan stands; a new one is a draft.
    status: Option<Word>,
}

/// A plan that was made or changed, and what came of its steps.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Kept {
    status: Status,
    plan: Plan,
    todo_items_created: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unresolved_dependencies: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored_fields: Vec<String>,
}

fn create(scope: &Scope<'_>, given: &Create) -> Result<Kept, Failure> {
    let status = given.status.as_deref().unwrap_or("draft");
    quotas::check(scope, Table::Plans, 1)?;
    let sql = format!(
        "INSERT INTO plans(user_id, title, goal, steps_json, status, created_at, updated_at)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?6) RETURNING {COLUMNS}"
    );
    let json = to_json(given.steps.as_deref())?;
    let values = params![
        scope.user,
        &*given.title,
        &*given.goal,
        json,
        status,
        scope.now
    ];
    let plan = scope
        .transaction
        .prepare_cached(&sql)?
        .query_row(values, read)?;
    keep(scope, plan, given.steps.as_deref())
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Update {
    /// The id, as list shows it.
    id: i64,
    /// The plan's name.
    title: Option<Title>,
    /// What is to be reached.
    goal: Option<Prose>,
    /// The steps: titles, or objects with a title and more; each becomes a to-do.
    steps: Option<Steps>,
    /// Where the plan stands; a new one is a draft.
    status: Option<Word>,
}

fn update(scope: &Scope<'_>, given: &Update) -> Result<Kept, Failure> {
    let sql = format!(
        "UPDATE plans SET title = coalesce(?1, title), goal = coalesce(?2, goal),
             steps_json = coalesce(?3, steps_json), status = coalesce(?4, status), updated_at = ?5
         WHERE user_id = ?6 AND id = ?7 RETURNING {COLUMNS}"
    );
    let json = to_json(given.steps.as_deref())?;
    let values = params![
        given.title.as_deref(),
        given.goal.as_deref(),
        json,
        given.status.as_deref(),
        scope.now,
        scope.user,
        given.id
    ];
    let plan = scope
        .transaction
        .prepare_cached(&sql)?
        .query_row(values, read)
        .optional()?
        .ok_or_else(|| Table::Plans.not_found(given.id))?;
    keep(scope, plan, given.steps.as_deref())
}

/// Writes steps as they are kept.
fn to_json(steps: Option<&[Entry<Step>]>) -> Result<Option<String>, CallError> {
    let steps = steps.map(|steps| steps.iter().map(|Entry(step)| step).collect::<Vec<_>>());
    let json = steps.map(|steps| serde_json::to_string(&steps)).transpose();
    json.map_err(|error| CallError::internal(error.to_string()))
}

/// Does what follows from new steps, and reports what was left aside.
fn keep(scope: &Scope<'_>, plan: Plan, steps: Option<&[Entry<Step>]>) -> Result<Kept, Failure> {
    let mut kept = Kept {
        status: Status::Ok,
        plan,
        todo_items_created: 0,
        unresolved_dependencies: Vec::new(),
        ignored_fields: Vec::new(),
    };
    if let Some(steps) = steps {
        let id = kept.plan.id;
        let dependencies = Dependencies::resolve(steps, id)?;
        replace_dependencies(scope, id, &dependencies)?;
        kept.todo_items_created = create_todos(scope, id, steps, &dependencies)?;
        kept.unresolved_dependencies = dependencies.unresolved;
        kept.ignored_fields = steps::ignored(steps);
    }
    Ok(kept)
}

fn replace_dependencies(
    scope: &Scope<'_>,
    plan: i64,
    dependencies: &Dependencies,
) -> Result<(), Failure> {
    scope
        .transaction
        .prepare_cached("DELETE FROM plan_step_dependencies WHERE user_id = ? AND plan_id = ?")?
        .execute(params![scope.user, plan])?;
    let mut statement = scope.transaction.prepare_cached(
        "INSERT INTO plan_step_dependencies(plan_id, user_id, step_ref, depends_on_ref, created_at,
             updated_at) VALUES(?1, ?2, ?3, ?4, ?5, ?5) ON CONFLICT DO NOTHING",
    )?;
    for (step, on) in dependencies.edges() {
        let step = dependencies::reference(plan, step);
        statement.execute(params![plan, scope.user, step, on, scope.now])?;
    }
    Ok(())
}

fn create_todos(
    scope: &Scope<'_>,
    plan: i64,
    steps: &[Entry<Step>],
    dependencies: &Dependencies,
) -> Result<usize, Failure> {
    let mut created = 0_usize;
    let mut position = last_position(scope)?;
    for (at, Entry(step)) in steps.iter().enumerate() {
        let reference = dependencies::reference(plan, at);
        let waits_for = dependencies.of(at);
        let new = Item {
            title: &step.title,
            notes: Some(&notes::notes(step, &reference, waits_for)),
            said: notes::size_of(step),
            references: waits_for.iter().map(String::as_str).collect(),
        };
        position = position.saturating_add(1);
        let place = Place::At {
            position,
            plan_step: Some(&reference),
        };
        if insert(scope, &new, place)?.is_some() {
            created = created.saturating_add(1);
        }
    }
    // Which steps have their to-do already is known only now; too many undo the call.
    quotas::check(scope, Table::Todos, 0)?;
    Ok(created)
}

/// A plan that was found.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Found {
    status: Status,
    plan: Plan,
}

fn find(scope: &Scope<'_>, id: i64) -> Result<Found, Failure> {
    let sql = format!("SELECT {COLUMNS} FROM plans WHERE user_id = ? AND id = ?");
    let mut statement = scope.transaction.prepare_cached(&sql)?;
    let plan = statement
        .query_row(params![scope.user, id], read)
        .optional()?;
    let plan = plan.ok_or_else(|| Table::Plans.not_found(id))?;
    let status = Status::Ok;
    Ok(Found { status, plan })
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct List {
    /// How many at most.
    #[serde(default)]
    limit: Rows<20, 1>,
}

fn list(scope: &Scope<'_>, given: &List) -> Result<Page<Plan>, Failure> {
    let sql = format!(
        "SELECT {COLUMNS} FROM plans WHERE user_id = ? ORDER BY created_at DESC, id DESC LIMIT ?"
    );
    page::list(scope, &sql, given.limit.get(), read)
}
