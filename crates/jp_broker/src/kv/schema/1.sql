-- Times are seconds since 1970. `wake_at` is when a row is next to be handed out: when it is due,
-- when a claim on it runs out, or when it is tried again; NULL when it is not waiting for anything.
CREATE TABLE todo_items(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id TEXT NOT NULL,
  title TEXT NOT NULL,
  notes TEXT,
  position INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  completed_at INTEGER,
  t_shirt_size TEXT NOT NULL,
  story_points INTEGER NOT NULL,
  estimate_optimistic_minutes INTEGER NOT NULL,
  estimate_likely_minutes INTEGER NOT NULL,
  estimate_pessimistic_minutes INTEGER NOT NULL,
  dependency_refs TEXT NOT NULL,
  plan_step_ref TEXT
) STRICT;
CREATE INDEX todo_items_position ON todo_items(user_id, position);
CREATE UNIQUE INDEX todo_items_plan_step ON todo_items(user_id, plan_step_ref) WHERE plan_step_ref IS NOT NULL;

CREATE TABLE plans(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id TEXT NOT NULL,
  title TEXT NOT NULL,
  goal TEXT NOT NULL,
  steps_json TEXT,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX plans_created ON plans(user_id, created_at);

CREATE TABLE plan_step_dependencies(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  plan_id INTEGER NOT NULL REFERENCES plans(id) ON DELETE CASCADE,
  user_id TEXT NOT NULL,
  step_ref TEXT NOT NULL,
  depends_on_ref TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE(plan_id, step_ref, depends_on_ref)
) STRICT;

CREATE TABLE reminders(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id TEXT NOT NULL,
  title TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  completed_at INTEGER,
  fired_at INTEGER,
  origin TEXT NOT NULL,
  wake_at INTEGER,
  claimed_by TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  parked_at INTEGER
) STRICT;
CREATE INDEX reminders_due ON reminders(user_id, due_at);
CREATE INDEX reminders_wake ON reminders(wake_at) WHERE wake_at IS NOT NULL;

CREATE TABLE scheduled_tasks(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id TEXT NOT NULL,
  name TEXT NOT NULL,
  prompt TEXT NOT NULL,
  run_at INTEGER NOT NULL,
  interval_minutes INTEGER,
  enabled INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_run_at INTEGER,
  next_run_at INTEGER NOT NULL,
  origin TEXT NOT NULL,
  wake_at INTEGER,
  claimed_by TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  parked_at INTEGER
) STRICT;
CREATE INDEX scheduled_tasks_next ON scheduled_tasks(user_id, next_run_at);
CREATE INDEX scheduled_tasks_wake ON scheduled_tasks(wake_at) WHERE wake_at IS NOT NULL;

CREATE TABLE wakeup_tasks(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id TEXT NOT NULL,
  name TEXT NOT NULL,
  prompt TEXT NOT NULL,
  interval_minutes INTEGER NOT NULL,
  enabled INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_run_at INTEGER,
  next_run_at INTEGER NOT NULL,
  origin TEXT NOT NULL,
  wake_at INTEGER,
  claimed_by TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  parked_at INTEGER
) STRICT;
CREATE INDEX wakeup_tasks_next ON wakeup_tasks(user_id, next_run_at);
CREATE INDEX wakeup_tasks_wake ON wakeup_tasks(wake_at) WHERE wake_at IS NOT NULL;

-- How many rows each user has: counting ten thousand of them before each insert would cost more
-- than the insert.
CREATE TABLE row_counts(
  user_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  rows INTEGER NOT NULL,
  PRIMARY KEY(user_id, kind)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER todo_items_in AFTER INSERT ON todo_items BEGIN
  INSERT INTO row_counts VALUES(NEW.user_id, 'todo_items', 1) ON CONFLICT DO UPDATE SET rows = rows + 1;
END;
CREATE TRIGGER todo_items_out AFTER DELETE ON todo_items BEGIN
  UPDATE row_counts SET rows = rows - 1 WHERE user_id = OLD.user_id AND kind = 'todo_items';
END;
CREATE TRIGGER plans_in AFTER INSERT ON plans BEGIN
  INSERT INTO row_counts VALUES(NEW.user_id, 'plans', 1) ON CONFLICT DO UPDATE SET rows = rows + 1;
END;
CREATE TRIGGER plans_out AFTER DELETE ON plans BEGIN
  UPDATE row_counts SET rows = rows - 1 WHERE user_id = OLD.user_id AND kind = 'plans';
END;
CREATE TRIGGER reminders_in AFTER INSERT ON reminders BEGIN
  INSERT INTO row_counts VALUES(NEW.user_id, 'reminders', 1) ON CONFLICT DO UPDATE SET rows = rows + 1;
END;
CREATE TRIGGER reminders_out AFTER DELETE ON reminders BEGIN
  UPDATE row_counts SET rows = rows - 1 WHERE user_id = OLD.user_id AND kind = 'reminders';
END;
CREATE TRIGGER scheduled_tasks_in AFTER INSERT ON scheduled_tasks BEGIN
  INSERT INTO row_counts VALUES(NEW.user_id, 'scheduled_tasks', 1) ON CONFLICT DO UPDATE SET rows = rows + 1;
END;
CREATE TRIGGER scheduled_tasks_out AFTER DELETE ON scheduled_tasks BEGIN
  UPDATE row_counts SET rows = rows - 1 WHERE user_id = OLD.user_id AND kind = 'scheduled_tasks';
END;
CREATE TRIGGER wakeup_tasks_in AFTER INSERT ON wakeup_tasks BEGIN
  INSERT INTO row_counts VALUES(NEW.user_id, 'wakeup_tasks', 1) ON CONFLICT DO UPDATE SET rows = rows + 1;
END;
CREATE TRIGGER wakeup_tasks_out AFTER DELETE ON wakeup_tasks BEGIN
  UPDATE row_counts SET rows = rows - 1 WHERE user_id = OLD.user_id AND kind = 'wakeup_tasks';
END;
