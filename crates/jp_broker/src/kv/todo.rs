//! `kv.sqlite.todo.*`: a list of to-dos in an order of the user's own.

use std::{collections::HashMap, sync::Arc};

use rusqlite::{OptionalExtension as _, params};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Failure, check,
    handler::{Scope, reads, writes, writes_once},
    page::{self, Zero},
    quotas,
    rows::{self, Completion, Id, Table},
    todo_rows::{COLUMNS, NewTodo, Place, Todo, insert, last_position},
};
use crate::{Answer, CallError, Capability, Spec};

const TODO: Spec = Spec {
    name: "",
    summary: "",
    arguments: "id*",
    result: "{status, item}",
    owner: Some("todo"),
    scope: None,
};

/// Returns the capabilities of this family.
pub(super) fn all() -> Vec<Arc<dyn Capability>> {
    let changing_one = [
        writes(
            Spec {
                name: "kv.sqlite.todo.complete",
                summary: "Marks a to-do as done",
                ..TODO
            },
            |scope, Id { id }| complete(scope, *id, Some(scope.now)),
        ),
        writes(
            Spec {
                name: "kv.sqlite.todo.reopen",
                summary: "Marks a to-do as not done",
                ..TODO
            },
            |scope, Id { id }| complete(scope, *id, None),
        ),
        writes(
            Spec {
                name: "kv.sqlite.todo.delete",
                summary: "Deletes a to-do",
                result: "{status, deleted}",
                ..TODO
            },
            |scope, Id { id }| rows::delete(scope, Table::Todos, *id),
        ),
    ];
    let mut all = about_many();
    all.extend(changing_one);
    all
}

fn about_many() -> Vec<Arc<dyn Capability>> {
    vec![
        writes_once(
            Spec {
                name: "kv.sqlite.todo.create",
                summary: "Adds a to-do at the end; size and estimates that are not given are guessed from its words",
                arguments: "title*, notes, t_shirt_size, story_points, estimate_optimistic_minutes, estimate_likely_minutes, estimate_pessimistic_minutes, dependency_refs",
                ..TODO
            },
            create,
        ),
        writes(
            Spec {
                name: "kv.sqlite.todo.create_many",
                summary: "Adds up to 500 to-dos at the end, all or none",
                arguments: "items* (titles, or objects as for create)",
                result: "{status, items[]}",
                ..TODO
            },
            create_many,
        ),
        reads(
            Spec {
                name: "kv.sqlite.todo.list",
                summary: "Lists to-dos in their order",
                arguments: "status (open, completed, all), limit (50; 1 to 1000)",
                result: "{status, items[], more?, limit?}",
                ..TODO
            },
            list,
        ),
        writes(
            Spec {
                name: "kv.sqlite.todo.clear",
                summary: "Deletes the open to-dos, the completed ones, or all",
                arguments: "status (open, completed, all)",
                result: "{status, deleted}",
                ..TODO
            },
            clear,
        ),
        writes(
            Spec {
                name: "kv.sqlite.todo.reorder",
                summary: "Puts the to-dos that are named first, in that order; the others follow in theirs",
                arguments: "ordered_ids*",
                result: "{status}",
                ..TODO
            },
            reorder,
        ),
    ]
}

fn create(scope: &Scope<'_>, given: &NewTodo) -> Result<Answer, Failure> {
    given.check("")?;
    let most = scope.quotas.todos;
    match insert(scope, given, Place::End { most })? {
        Some(todo) => todo.answer(),
        None => {
            quotas::check(scope, Table::Todos, 1)?;
            // Somebody made room since: there is some now.
            Err(Failure::Busy)
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateMany {
    items: Vec<Value>,
}

fn create_many(scope: &Scope<'_>, given: &CreateMany) -> Result<Value, Failure> {
    check::count("items", given.items.len(), check::ITEMS)?;
    quotas::check(scope, Table::Todos, given.items.len())?;
    let mut position = last_position(scope)?;
    let mut items = Vec::with_capacity(given.items.len());
    for (at, item) in given.items.iter().enumerate() {
        let path = format!("items[{at}]");
        let new = match item {
            Value::String(title) => NewTodo {
                title: title.clone(),
                ..NewTodo::default()
            },
            item => check::entry(&path, item)?,
        };
        new.check(&format!("{path}."))?;
        position = position.saturating_add(1);
        let place = Place::At {
            position,
            plan_step: None,
        };
        if let Some(todo) = insert(scope, &new, place)? {
            items.push(page::to_json(&todo)?);
        }
    }
    Ok(json!({ "status": "ok", "items": items }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    status: Option<Completion>,
    limit: Option<i64>,
}

fn list(scope: &Scope<'_>, given: &List) -> Result<Value, Failure> {
    let limit = page::limit(given.limit, 50, Zero::Refused)?;
    let which = given.status.unwrap_or(Completion::Open);
    let sql = format!(
        "SELECT {COLUMNS} FROM todo_items WHERE user_id = ? AND {} ORDER BY position, id LIMIT ?",
        which.condition()
    );
    page::list(scope, "items", &sql, limit, Todo::read)
}

fn complete(scope: &Scope<'_>, id: i64, at: Option<i64>) -> Result<Answer, Failure> {
    let sql = format!(
        "UPDATE todo_items SET completed_at = ?1, updated_at = ?2
         WHERE user_id = ?3 AND id = ?4 RETURNING {COLUMNS}"
    );
    let changed = scope
        .transaction
        .prepare_cached(&sql)?
        .query_row(params![at, scope.now, scope.user, id], Todo::read)
        .optional()?;
    changed.ok_or_else(|| Table::Todos.not_found(id))?.answer()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Clear {
    status: Option<Completion>,
}

fn clear(scope: &Scope<'_>, given: &Clear) -> Result<Value, Failure> {
    let which = given.status.unwrap_or(Completion::Open);
    rows::clear(scope, Table::Todos, which.condition())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reorder {
    ordered_ids: Vec<i64>,
}

fn reorder(scope: &Scope<'_>, given: &Reorder) -> Result<Value, Failure> {
    let mut statement = scope.transaction.prepare_cached(
        "SELECT id, position FROM todo_items WHERE user_id = ? ORDER BY position, id",
    )?;
    let there: Vec<(i64, i64)> = statement
        .query_map([scope.user], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut rest: HashMap<i64, i64> = there.iter().copied().collect();
    let mut order = Vec::with_capacity(there.len());
    for id in &given.ordered_ids {
        let Some(position) = rest.remove(id) else {
            let twice = order.iter().any(|(seen, _)| seen == id);
            return Err(match twice {
                true => CallError::invalid("ordered_ids", &format!("names {id} twice")),
                false => Table::Todos.not_found(*id),
            }
            .into());
        };
        order.push((*id, position));
    }
    order.extend(there.into_iter().filter(|(id, _)| rest.contains_key(id)));
    let mut statement = scope.transaction.prepare_cached(
        "UPDATE todo_items SET position = ?1, updated_at = ?2 WHERE user_id = ?3 AND id = ?4",
    )?;
    for ((id, position), wanted) in order.into_iter().zip(1_i64..) {
        if position != wanted {
            statement.execute(params![wanted, scope.now, scope.user, id])?;
        }
    }
    Ok(json!({ "status": "ok" }))
}
