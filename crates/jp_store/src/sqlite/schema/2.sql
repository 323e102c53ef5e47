-- What the user decided and is to be remembered.
CREATE TABLE grants(
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  effect TEXT NOT NULL CHECK (effect IN ('allow', 'never', 'access')),
  tool TEXT NOT NULL,
  principal TEXT,
  workspace TEXT,
  configuration TEXT,
  run TEXT,
  -- At most one of them; with neither, any arguments.
  arguments BLOB,
  pattern TEXT,
  shown BLOB,
  access TEXT,
  about TEXT NOT NULL,
  author TEXT NOT NULL,
  created INTEGER NOT NULL,
  expires INTEGER
) STRICT;
CREATE INDEX grants_tool ON grants(tool, principal);

-- Calls that wait for a person, and what became of them.
CREATE TABLE requests(
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('approval', 'proposal')),
  tool TEXT NOT NULL,
  principal TEXT NOT NULL,
  workspace TEXT NOT NULL,
  configuration TEXT,
  run TEXT NOT NULL,
  arguments BLOB NOT NULL,
  shown BLOB NOT NULL,
  access TEXT,
  about TEXT NOT NULL,
  reason TEXT,
  created INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'allowed', 'denied', 'spent', 'revoked')),
  author TEXT,
  decided INTEGER,
  -- The grant that was made with the decision.
  grant_id TEXT
) STRICT;
CREATE INDEX requests_call ON requests(principal, tool, arguments);
CREATE INDEX requests_expiry ON requests(expires);

-- Counts the changes of grants and decisions; servers compare it with the file beside the store.
CREATE TABLE generation(
  key INTEGER PRIMARY KEY CHECK (key = 1),
  value INTEGER NOT NULL
) STRICT;
INSERT INTO generation(key, value) VALUES(1, 0);
