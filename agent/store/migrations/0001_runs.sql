-- Texts (prompts, gold, answers) are sealed with AES-256-GCM; identities are keyed hashes. Scores are plain numbers.
CREATE TABLE runs (
  run_id TEXT PRIMARY KEY,
  suite TEXT NOT NULL,
  name TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  model TEXT NOT NULL,
  deployment TEXT NOT NULL,
  details TEXT NOT NULL,               -- JSON: settings, digests, metrics, capabilities; never text of a case
  plan_digest BLOB NOT NULL,           -- decides whether a repeated run is the same run
  state TEXT NOT NULL CHECK (state IN ('asking', 'ended')),
  started_at INTEGER NOT NULL,         -- seconds since 1970
  ended_at INTEGER,
  UNIQUE (suite, name)
) STRICT;

CREATE TABLE records (                 -- one instance as asked and scored: prompt, references, extra columns
  record_key BLOB PRIMARY KEY,
  sealed BLOB NOT NULL,
  last_used_at INTEGER NOT NULL        -- seconds since 1970
) STRICT, WITHOUT ROWID;

CREATE TABLE answers (
  request_key BLOB PRIMARY KEY,        -- keyed hash of the exact request and its deployment
  sealed BLOB NOT NULL,
  created_at INTEGER NOT NULL          -- seconds since 1970
) STRICT, WITHOUT ROWID;

CREATE TABLE run_instances (
  run_id TEXT NOT NULL REFERENCES runs (run_id),
  position INTEGER NOT NULL,
  instance_key BLOB NOT NULL,
  unit_key BLOB NOT NULL,
  record_key BLOB NOT NULL,
  request_key BLOB NOT NULL,
  PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE scores (
  run_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  metric TEXT NOT NULL,
  value REAL,
  reason TEXT,
  PRIMARY KEY (run_id, position, metric),
  CHECK ((value IS NULL) <> (reason IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE seals (                   -- single sealed values: the key check, and the head of the audit log
  name TEXT PRIMARY KEY,
  sealed BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,                 -- seconds since 1970
  event TEXT NOT NULL,
  detail TEXT NOT NULL,
  chain BLOB NOT NULL                  -- keyed hash over the previous link and this row
) STRICT;
