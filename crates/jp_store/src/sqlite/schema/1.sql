-- Times are milliseconds since 1970.
CREATE TABLE tasks(
  key INTEGER PRIMARY KEY,
  owner TEXT NOT NULL,
  id TEXT NOT NULL,
  server TEXT NOT NULL,
  tool TEXT NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  ttl INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  poll_interval INTEGER NOT NULL,
  state TEXT NOT NULL,
  message TEXT,
  -- The requests, the result or the error.
  document TEXT,
  -- What was answered and not taken by the worker yet.
  responses TEXT,
  UNIQUE(owner, id)
) STRICT;
CREATE INDEX tasks_expiry ON tasks(expires);
CREATE INDEX tasks_unfinished ON tasks(server) WHERE state IN ('working', 'input_required');

CREATE TABLE spills(
  key INTEGER PRIMARY KEY,
  owner TEXT NOT NULL,
  id TEXT NOT NULL,
  mime_type TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  UNIQUE(owner, id)
) STRICT;
CREATE INDEX spills_expiry ON spills(expires);

-- In parts, so that a range is read without the rest.
CREATE TABLE spill_parts(
  spill INTEGER NOT NULL REFERENCES spills(key) ON DELETE CASCADE,
  part INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY(spill, part)
) STRICT;

-- What the results of each owner count, so that a quota is checked without adding them up.
CREATE TABLE spill_usage(
  owner TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER spill_kept AFTER INSERT ON spills BEGIN
  INSERT INTO spill_usage(owner, bytes) VALUES(new.owner, max(new.bytes, 4096))
    ON CONFLICT(owner) DO UPDATE SET bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER spill_removed AFTER DELETE ON spills BEGIN
  UPDATE spill_usage SET bytes = bytes - max(old.bytes, 4096) WHERE owner = old.owner;
  DELETE FROM spill_usage WHERE owner = old.owner AND bytes <= 0;
END;

CREATE TABLE spent(
  owner TEXT NOT NULL,
  nonce BLOB NOT NULL,
  expires INTEGER NOT NULL,
  PRIMARY KEY(owner, nonce)
) STRICT, WITHOUT ROWID;
CREATE INDEX spent_expiry ON spent(expires);

-- The latest time at which a nonce expired that was forgotten.
CREATE TABLE spent_forgotten(
  key INTEGER PRIMARY KEY CHECK (key = 1),
  expires INTEGER NOT NULL
) STRICT;
INSERT INTO spent_forgotten(key, expires) VALUES(1, 0);
