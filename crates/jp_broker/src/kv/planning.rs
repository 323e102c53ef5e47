//! `kv.sqlite.planning.*`: plans of steps. Each step also becomes a to-do that refers to it.

mod dependencies;
mod notes;
mod steps;

use std::sync::Arc;

use rusqlite::{OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::{dependencies::Dependencies, steps::Steps};
use super::{
    Failure, check,
    handler::{Scope, reads, writes},
    page::{self, Zero},
    quotas,
    rows::{self, Id, Table},
    todo_rows::{Place, insert, last_position},
};
use crate::{Capability, Spec};

const PLANNING: Spec = Spec {
    name: "",
    summary: "",
    arguments: "id*",
    result: "{status, plan}",
    owner: Some("planning"),
    scope: None,
};

/// Returns the capabilities of this family.
pub(super) fn all() -> Vec<Arc<dyn Capability>> {
    vec![
        writes(
            Spec {
                name: "kv.sqlite.planning.create",
                summary: "Makes a plan, and a to-do of each step",
                arguments: "title*, goal*, steps (titles, or objects with title, id, description, owner, priority, due_date, due_at, sizes and dependency_refs), status (draft)",
                result: "{status, plan, todo_items_created, unresolved_dependencies?, ignored_fields?}",
                ..PLANNING
            },
            create,
        ),
        reads(
            Spec {
                name: "kv.sqlite.planning.list",
                summary: "Lists plans, the newest first",
                arguments: "limit (20; 1 to 1000)",
                result: "{status, plans[], more?, limit?}",
                ..PLANNING
            },
            list,
        ),
        reads(
            Spec {
                name: "kv.sqlite.planning.get",
                summary: "Returns a plan",
                ..PLANNING
            },
            |scope, Id { id }| Ok(json!({ "status": "ok", "plan": find(scope, *id)? })),
        ),
        writes(
            Spec {
                name: "kv.sqlite.planning.update",
                summary: "Changes what is given of a plan; steps that have no to-do yet get one",
                arguments: "id*, title, goal, steps, status",
                result: "{status, plan, todo_items_created, unresolved_dependencies?, ignored_fields?}",
                ..PLANNING
            },
            update,
        ),
        writes(
            Spec {
                name: "kv.sqlite.planning.delete",
                summary: "Deletes a plan; its to-dos stay",
                result: "{status, deleted}",
                ..PLANNING
            },
            |scope, Id { id }| rows::delete(scope, Table::Plans, *id),
        ),
        writes(
            Spec {
                name: "kv.sqlite.planning.clear",
                summary: "Deletes all plans; their to-dos stay",
                arguments: "",
                result: "{status, deleted}",
                ..PLANNING
            },
            |scope, Nothing {}| rows::clear(scope, Table::Plans, "TRUE"),
        ),
    ]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// One plan.
#[derive(Serialize)]
struct Plan {
    id: i64,
    user_id: String,
    title: String,
    goal: String,
    steps: Value,
    status: String,
    created_at: i64,
    updated_at: i64,
}

const COLUMNS: &str = "id, user_id, title, goal, steps_json, status, created_at, updated_at";

fn read(row: &Row<'_>) -> rusqlite::Result<Plan> {
    let steps: Option<String> = row.get(4)?;
    Ok(Plan {
        id: row.get(0)?,
        user_id: row.get(1)?,
        title: row.get(2)?,
        goal: row.get(3)?,
        steps: steps
            .and_then(|steps| serde_json::from_str(&steps).ok())
            .unwrap_or_default(),
        status: row.get(5)?,
        created_at: row.get(6)?,
        updated_at: row.get(7)?,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Create {
    title: String,
    goal: String,
    steps: Option<Vec<Value>>,
    status: Option<String>,
}

fn create(scope: &Scope<'_>, given: &Create) -> Result<Value, Failure> {
    check::filled("title", &given.title, check::TITLE)?;
    check::filled("goal", &given.goal, check::TEXT)?;
    let status = given.status.as_deref().unwrap_or("draft");
    check::filled("status", status, check::WORD)?;
    let steps = given.steps.as_deref().map(Steps::read).transpose()?;
    quotas::check(scope, Table::Plans, 1)?;
    let sql = format!(
        "INSERT INTO plans(user_id, title, goal, steps_json, status, created_at, updated_at)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?6) RETURNING {COLUMNS}"
    );
    let json = steps.as_ref().map(|steps| steps.to_json().to_string());
    let values = params![scope.user, given.title, given.goal, json, status, scope.now];
    let plan = scope
        .transaction
        .prepare_cached(&sql)?
        .query_row(values, read)?;
    answer(scope, &plan, steps.as_ref())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Update {
    id: i64,
    title: Option<String>,
    goal: Option<String>,
    steps: Option<Vec<Value>>,
    status: Option<String>,
}

fn update(scope: &Scope<'_>, given: &Update) -> Result<Value, Failure> {
    for (field, text, most) in [
        ("title", &given.title, check::TITLE),
        ("goal", &given.goal, check::TEXT),
        ("status", &given.status, check::WORD),
    ] {
        if let Some(text) = text {
            check::filled(field, text, most)?;
        }
    }
    let steps = given.steps.as_deref().map(Steps::read).transpose()?;
    let sql = format!(
        "UPDATE plans SET title = coalesce(?1, title), goal = coalesce(?2, goal),
             steps_json = coalesce(?3, steps_json), status = coalesce(?4, status), updated_at = ?5
         WHERE user_id = ?6 AND id = ?7 RETURNING {COLUMNS}"
    );
    let json = steps.as_ref().map(|steps| steps.to_json().to_string());
    let values = params![
        given.title,
        given.goal,
        json,
        given.status,
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
    answer(scope, &plan, steps.as_ref())
}

/// Does what follows from new steps, and says what came of it.
fn answer(scope: &Scope<'_>, plan: &Plan, steps: Option<&Steps>) -> Result<Value, Failure> {
    let mut answer = json!({ "status": "ok", "plan": page::to_json(plan)? });
    let (mut created, mut more) = (0_usize, Vec::new());
    if let Some(steps) = steps {
        let dependencies = Dependencies::resolve(steps, plan.id)?;
        replace_dependencies(scope, plan.id, &dependencies)?;
        created = create_todos(scope, plan.id, steps, &dependencies)?;
        more = vec![
            ("unresolved_dependencies", json!(dependencies.unresolved)),
            ("ignored_fields", json!(steps.ignored)),
        ];
    }
    if let Some(answer) = answer.as_object_mut() {
        answer.insert("todo_items_created".to_owned(), created.into());
        // What was left aside is said, and nothing is said of nothing.
        more.retain(|(_, list)| list.as_array().is_some_and(|list| !list.is_empty()));
        answer.extend(more.into_iter().map(|(key, list)| (key.to_owned(), list)));
    }
    Ok(answer)
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
    steps: &Steps,
    dependencies: &Dependencies,
) -> Result<usize, Failure> {
    let mut created = 0_usize;
    let mut position = last_position(scope)?;
    for (at, step) in steps.steps.iter().enumerate() {
        let reference = dependencies::reference(plan, at);
        let new = notes::todo_of(step, &reference, dependencies.of(at));
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

fn find(scope: &Scope<'_>, id: i64) -> Result<Value, Failure> {
    let sql = format!("SELECT {COLUMNS} FROM plans WHERE user_id = ? AND id = ?");
    let mut statement = scope.transaction.prepare_cached(&sql)?;
    let plan = statement
        .query_row(params![scope.user, id], read)
        .optional()?;
    let plan = plan.ok_or_else(|| Table::Plans.not_found(id))?;
    Ok(page::to_json(&plan)?)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    limit: Option<i64>,
}

fn list(scope: &Scope<'_>, given: &List) -> Result<Value, Failure> {
    let limit = page::limit(given.limit, 20, Zero::Refused)?;
    let sql = format!(
        "SELECT {COLUMNS} FROM plans WHERE user_id = ? ORDER BY created_at DESC, id DESC LIMIT ?"
    );
    page::list(scope, "plans", &sql, limit, read)
}
