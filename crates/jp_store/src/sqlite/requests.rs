//! Calls that wait for a person, as rows. Each is decided once, and spent once.

use rusqlite::{OptionalExtension as _, Row, Transaction, params};

use super::{
    Failure, Store,
    grants::{check_grant, damaged, digest, insert},
    number, stored,
};
use crate::{
    Decided, Digest, GrantId, Kind, MAX_ABOUT, MAX_OWNER, MAX_REASON, MAX_TOOL, Millis, NewGrant,
    NewRequest, Pending, Request, RequestId, SameCall, Spending, Standing, StoreError, Verdict,
    limits::{MAX_ACCESS, check, check_owner, members},
};

/// How many rows one transaction of a sweep deletes.
const BATCH: i64 = 256;

/// What was decided is kept this long after its time is over, so that people can look at it.
const LOOKED_AT: Millis = 24 * 60 * 60 * 1000;

const COLUMNS: &str = "id, kind, tool, principal, workspace, configuration, run, arguments, shown,
     access, about, reason, created, expires, state, author, decided, grant_id";

impl Pending for Store {
    fn file(&self, request: &NewRequest<'_>, now: Millis) -> Result<RequestId, StoreError> {
        check_request(request)?;
        let id = RequestId::random()?;
        self.write(|rows| {
            if let Some(same) = same(rows, request, now)? {
                return Ok(same);
            }
            make_room(rows, request, now)?;
            add(rows, &id, request, now)?;
            Ok(id)
        })
    }

    fn request(&self, id: &RequestId, now: Millis) -> Result<Option<Request>, StoreError> {
        self.look(|rows| find(rows, id, now))
    }

    fn requests(&self, now: Millis) -> Result<Vec<Request>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM requests ORDER BY key");
        self.look(|rows| {
            let mut found = rows.prepare_cached(&sql)?;
            let mut found = found.query([])?;
            let mut all = Vec::new();
            while let Some(row) = found.next()? {
                all.push(read(row, now)?);
            }
            Ok(all)
        })
    }

    fn propose(
        &self,
        principal: &str,
        id: &RequestId,
        reason: &str,
        now: Millis,
    ) -> Result<bool, StoreError> {
        check("reason", reason.len(), MAX_REASON)?;
        let sql = "UPDATE requests SET reason = ?3 WHERE principal = ?1 AND id = ?2
             AND kind = 'proposal' AND state = 'waiting' AND expires > ?4";
        self.write(|rows| {
            let values = params![principal, id.as_str(), reason, stored(now)];
            Ok(rows.prepare_cached(sql)?.execute(values)? == 1)
        })
    }

    fn decide(
        &self,
        id: &RequestId,
        verdict: &Verdict<'_>,
        author: &str,
        now: Millis,
    ) -> Result<Decided, StoreError> {
        check("author", author.len(), MAX_OWNER)?;
        let (Verdict::Allow { remember, .. } | Verdict::Deny { remember }) = verdict;
        remember.iter().try_for_each(check_grant)?;
        self.change(|rows| {
            let Some(found) = find(rows, id, now)? else {
                return Ok((Decided::Unknown, false));
            };
            if found.standing != Standing::Waiting {
                let (standing, author) = (found.standing, found.author);
                return Ok((Decided::Before { standing, author }, false));
            }
            let grants = remember_all(rows, remember, now)?;
            settle(rows, id, verdict, grants.first(), author, now)?;
            Ok((Decided::Made { grants }, true))
        })
    }

    fn redeem(&self, call: &SameCall<'_>, now: Millis) -> Result<Option<Spending>, StoreError> {
        let sql = "UPDATE requests SET state = 'spent' WHERE key = (
                 SELECT key FROM requests WHERE principal = ?1 AND tool = ?2 AND workspace = ?3
                 AND arguments = ?4 AND shown = ?5 AND state = 'allowed' AND expires > ?6
                 ORDER BY key LIMIT 1)
             RETURNING id, author";
        self.write(|rows| {
            let values = params![
                call.principal,
                call.tool,
                call.workspace,
                call.arguments.as_slice(),
                call.shown.as_slice(),
                stored(now)
            ];
            let mut spend = rows.prepare_cached(sql)?;
            let spent = spend.query_row(values, |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?))
            });
            let Some((id, author)) = spent.optional()? else {
                return Ok(None);
            };
            Ok(Some(Spending {
                id: id.parse().map_err(|_| damaged())?,
                author: author.unwrap_or_default(),
            }))
        })
    }

    fn sweep_requests(&self, now: Millis) -> Result<u64, StoreError> {
        let sql = "DELETE FROM requests WHERE key IN
             (SELECT key FROM requests WHERE expires <= ?1 ORDER BY expires LIMIT ?2)";
        let before = now.saturating_sub(LOOKED_AT);
        self.sweep(|rows| {
            let values = params![stored(before), BATCH];
            Ok(rows.prepare_cached(sql)?.execute(values)?)
        })
    }
}

fn check_request(request: &NewRequest<'_>) -> Result<(), StoreError> {
    let call = &request.call;
    check_owner(call.principal)?;
    check("tool", call.tool.len(), MAX_TOOL)?;
    check("workspace", call.workspace.len(), MAX_ACCESS)?;
    check("about", request.about.len(), MAX_ABOUT)?;
    members("about", request.about)?;
    check("access", request.access.map_or(0, str::len), MAX_ACCESS)
}

/// Returns the request that waits for the same call already.
fn same(
    rows: &Transaction<'_>,
    request: &NewRequest<'_>,
    now: Millis,
) -> Result<Option<RequestId>, Failure> {
    let sql = "SELECT id FROM requests WHERE principal = ?1 AND tool = ?2 AND arguments = ?3
         AND shown = ?4 AND workspace = ?5 AND kind = ?6 AND access IS ?7 AND state = 'waiting'
         AND expires > ?8 LIMIT 1";
    let call = &request.call;
    let values = params![
        call.principal,
        call.tool,
        call.arguments.as_slice(),
        call.shown.as_slice(),
        call.workspace,
        request.kind.as_str(),
        request.access,
        stored(now)
    ];
    let mut found = rows.prepare_cached(sql)?;
    let found: Option<String> = found.query_row(values, |row| row.get(0)).optional()?;
    found
        .map(|id| id.parse().map_err(|_| damaged()))
        .transpose()
}

/// Refuses a request too many: a model can make as many calls as it likes.
fn make_room(rows: &Transaction<'_>, request: &NewRequest<'_>, now: Millis) -> Result<(), Failure> {
    let sql = "SELECT count(*) FROM requests WHERE principal = ?1 AND state = 'waiting'
         AND expires > ?2";
    let mut count = rows.prepare_cached(sql)?;
    let values = params![request.call.principal, stored(now)];
    let found = count.query_row(values, |row| number(row, 0))?;
    let most = request.most;
    match found < most {
        true => Ok(()),
        false => Err(StoreError::TooManyRequests { most, found }.into()),
    }
}

fn add(
    rows: &Transaction<'_>,
    id: &RequestId,
    request: &NewRequest<'_>,
    now: Millis,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO requests(id, kind, tool, principal, workspace, configuration, run,
             arguments, shown, access, about, created, expires, state)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 'waiting')";
    let call = &request.call;
    let values = params![
        id.as_str(),
        request.kind.as_str(),
        call.tool,
        call.principal,
        call.workspace,
        request.configuration,
        request.run,
        call.arguments.as_slice(),
        call.shown.as_slice(),
        request.access,
        request.about,
        stored(now),
        stored(request.expires),
    ];
    rows.prepare_cached(sql)?.execute(values).map(drop)
}

fn remember_all(
    rows: &Transaction<'_>,
    remember: &[NewGrant<'_>],
    now: Millis,
) -> Result<Vec<GrantId>, Failure> {
    let mut made = Vec::new();
    for grant in remember {
        let id = GrantId::random()?;
        insert(rows, &id, grant, now)?;
        made.push(id);
    }
    Ok(made)
}

/// Writes a decision down.
fn settle(
    rows: &Transaction<'_>,
    id: &RequestId,
    verdict: &Verdict<'_>,
    grant: Option<&GrantId>,
    author: &str,
    now: Millis,
) -> rusqlite::Result<()> {
    let (state, until) = match verdict {
        Verdict::Allow { until, .. } => ("allowed", Some(stored(*until))),
        Verdict::Deny { .. } => ("denied", None),
    };
    let sql = "UPDATE requests SET state = ?2, author = ?3, decided = ?4, grant_id = ?5,
         expires = coalesce(?6, expires) WHERE id = ?1 AND state = 'waiting'";
    let grant = grant.map(GrantId::as_str);
    let values = params![id.as_str(), state, author, stored(now), grant, until];
    rows.prepare_cached(sql)?.execute(values).map(drop)
}

/// Takes back the permission of that name, or those that came with the grant of that name.
pub(super) fn revoke(rows: &Transaction<'_>, id: &str, now: Millis) -> rusqlite::Result<usize> {
    let sql = "UPDATE requests SET state = 'revoked'
         WHERE (id = ?1 OR grant_id = ?1) AND state = 'allowed' AND expires > ?2";
    rows.prepare_cached(sql)?.execute(params![id, stored(now)])
}

/// Returns the calls that may be made once.
pub(super) fn tickets(
    rows: &Transaction<'_>,
    now: Millis,
) -> Result<Vec<(String, String, Digest)>, Failure> {
    let sql = "SELECT principal, tool, arguments FROM requests
         WHERE state = 'allowed' AND expires > ?1";
    let mut found = rows.prepare_cached(sql)?;
    let mut found = found.query([stored(now)])?;
    let mut all = Vec::new();
    while let Some(row) = found.next()? {
        let arguments = digest(row, 2)?.ok_or_else(damaged)?;
        all.push((row.get(0)?, row.get(1)?, arguments));
    }
    Ok(all)
}

fn find(rows: &Transaction<'_>, id: &RequestId, now: Millis) -> Result<Option<Request>, Failure> {
    let sql = format!("SELECT {COLUMNS} FROM requests WHERE id = ?1");
    let mut found = rows.prepare_cached(&sql)?;
    let mut found = found.query([id.as_str()])?;
    match found.next()? {
        Some(row) => Ok(Some(read(row, now)?)),
        None => Ok(None),
    }
}

fn read(row: &Row<'_>, now: Millis) -> Result<Request, Failure> {
    let text = |column| -> Result<String, Failure> { Ok(row.get(column)?) };
    let (kind, state) = (text(1)?, text(14)?);
    let kinds = [Kind::Approval, Kind::Proposal];
    let kind = kinds.into_iter().find(|known| known.as_str() == kind);
    let expires = number(row, 13)?;
    let standing = match state.as_str() {
        "waiting" | "allowed" if expires <= now => Standing::Expired,
        "waiting" => Standing::Waiting,
        "allowed" => Standing::Allowed,
        "denied" => Standing::Denied,
        "spent" => Standing::Spent,
        "revoked" => Standing::Revoked,
        _ => return Err(damaged()),
    };
    let grant: Option<String> = row.get(17)?;
    let grant = grant.map(|id| id.parse().map_err(|_| damaged()));
    Ok(Request {
        id: text(0)?.parse().map_err(|_| damaged())?,
        kind: kind.ok_or_else(damaged)?,
        tool: text(2)?,
        principal: text(3)?,
        workspace: text(4)?,
        configuration: row.get(5)?,
        run: text(6)?,
        arguments: digest(row, 7)?.ok_or_else(damaged)?,
        shown: digest(row, 8)?.ok_or_else(damaged)?,
        access: row.get(9)?,
        about: text(10)?,
        reason: row.get(11)?,
        created: number(row, 12)?,
        expires,
        standing,
        author: row.get(15)?,
        decided: (row.get::<_, Option<i64>>(16)?)
            .map(|found| u64::try_from(found).unwrap_or_default()),
        grant: grant.transpose()?,
    })
}
