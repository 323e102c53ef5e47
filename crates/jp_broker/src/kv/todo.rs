//! `kv.sqlite.todo.*`: a list of to-dos in an order of the user's own.

use std::{collections::HashMap, sync::Arc};

use rusqlite::{OptionalExtension as _, params};
use serde::{Deserialize, Serialize};

use super::{
    Failure,
    handler::{Scope, reads, writes, writes_once},
    page::{self, Clear, List, Page},
    quotas,
    rows::{self, Completion, Id, Table},
    todo_rows::{COLUMNS, Item, NewTodo, Place, Todo, insert, last_position},
};
use crate::{
    CallError,
    answer::Status,
    arguments::{Entry, kinds::Many},
    capability::{Known, Spec},
};

/// The most items or steps of one call.
pub(super) const MOST_ITEMS: usize = 500;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary).on_data_of("todo")
}

/// Returns the capabilities of this family.
pub(super) fn all() -> Vec<Arc<dyn Known>> {
    vec![
        writes_once(
            spec(
                "kv.sqlite.todo.create",
                "Adds a to-do at the end; size and estimates that are not given are guessed from its words",
            ),
            create,
        ),
        writes(
            spec(
                "kv.sqlite.todo.create_many",
                "Adds up to 500 to-dos at the end, all or none",
            ),
            create_many,
        ),
        reads(
            spec("kv.sqlite.todo.list", "Lists to-dos in their order"),
            list,
        ),
        writes(
            spec(
                "kv.sqlite.todo.clear",
                "Deletes the open to-dos, the completed ones, or all",
            ),
            |scope, Clear::<Completion> { status }| {
                rows::clear(scope, Table::Todos, status.condition())
            },
        ),
        writes(
            spec(
                "kv.sqlite.todo.reorder",
                "Puts the to-dos that are named first, in that order; the others follow in theirs",
            ),
            reorder,
        ),
        writes(
            spec("kv.sqlite.todo.complete", "Marks a to-do as done"),
            |scope, Id { id }| complete(scope, *id, Some(scope.now)),
        ),
        writes(
            spec("kv.sqlite.todo.reopen", "Marks a to-do as not done"),
            |scope, Id { id }| complete(scope, *id, None),
        ),
        writes(
            spec("kv.sqlite.todo.delete", "Deletes a to-do"),
            |scope, Id { id }| rows::delete(scope, Table::Todos, *id),
        ),
    ]
}

/// The answer of a call about one to-do.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OneItem {
    status: Status,
    item: Todo,
}

impl OneItem {
    const fn of(item: Todo) -> Self {
        let status = Status::Ok;
        Self { status, item }
    }
}

fn create(scope: &Scope<'_>, given: &NewTodo) -> Result<OneItem, Failure> {
    let most = scope.quotas.todos;
    match insert(scope, &Item::of(given), Place::End { most })? {
        Some(todo) => Ok(OneItem::of(todo)),
        None => {
            quotas::check(scope, Table::Todos, 1)?;
            // Another call made room since: there is some now.
            Err(Failure::Busy)
        }
    }
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct CreateMany {
    /// The items: titles, or objects with a title and more.
    items: Many<Entry<NewTodo>, MOST_ITEMS>,
}

/// To-dos that were made.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Items {
    status: Status,
    items: Vec<Todo>,
}

fn create_many(scope: &Scope<'_>, given: &CreateMany) -> Result<Items, Failure> {
    quotas::check(scope, Table::Todos, given.items.len())?;
    let mut position = last_position(scope)?;
    let mut items = Vec::with_capacity(given.items.len());
    for Entry(new) in given.items.iter() {
        position = position.saturating_add(1);
        let place = Place::At {
            position,
            plan_step: None,
        };
        items.extend(insert(scope, &Item::of(new), place)?);
    }
    let status = Status::Ok;
    Ok(Items { status, items })
}

fn list(scope: &Scope<'_>, given: &List<Completion, 50, 1>) -> Result<Page<Todo>, Failure> {
    let sql = format!(
        "SELECT {COLUMNS} FROM todo_items WHERE user_id = ? AND {} ORDER BY position, id LIMIT ?",
        given.status.condition()
    );
    page::list(scope, &sql, given.limit.get(), Todo::read)
}

fn complete(scope: &Scope<'_>, id: i64, at: Option<i64>) -> Result<OneItem, Failure> {
    let sql = format!(
        "UPDATE todo_items SET completed_at = ?1, updated_at = ?2
         WHERE user_id = ?3 AND id = ?4 RETURNING {COLUMNS}"
    );
    let changed = scope
        .transaction
        .prepare_cached(&sql)?
        .query_row(params![at, scope.now, scope.user, id], Todo::read)
        .optional()?;
    let changed = changed.ok_or_else(|| Table::Todos.not_found(id))?;
    Ok(OneItem::of(changed))
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Reorder {
    /// Ids in the order wanted.
    ordered_ids: Vec<i64>,
}

/// Nothing but that it was done.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Done {
    status: Status,
}

fn reorder(scope: &Scope<'_>, given: &Reorder) -> Result<Done, Failure> {
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
                true => CallError::invalid("ordered_ids", &format!("it names {id} twice")),
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
    let status = Status::Ok;
    Ok(Done { status })
}
