-- Command lines that the service runs one after another, and those that it queues again and again. See jobs.py.
CREATE TABLE jobs (
  job_id TEXT PRIMARY KEY,             -- 16 random hex digits
  place INTEGER NOT NULL,              -- the order in which queued jobs start
  state TEXT NOT NULL,                 -- queued, running, cancelling, done, failed, cancelled
  sealed BLOB NOT NULL,                -- JSON: arguments, title, account, servers, folder, suite
  schedule_id TEXT,                    -- the schedule that queued it; NULL: a person did
  queued_at REAL NOT NULL,             -- seconds since 1970
  started_at REAL,                     -- of the last attempt
  ended_at REAL,
  exit_code INTEGER,                   -- NULL: the command line was never run to its end
  problem TEXT NOT NULL DEFAULT '',    -- a sentence about a failed job, without text of a record
  attempts INTEGER NOT NULL DEFAULT 0, -- starts, except those that a clean stop undid
  progress TEXT,                       -- JSON: counts, seconds and words, without text of a record; NULL: none yet
  CHECK ((state IN ('done', 'failed', 'cancelled')) = (ended_at IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX jobs_by_state ON jobs (state, place);

CREATE TABLE schedules (
  schedule_id TEXT PRIMARY KEY,        -- 16 random hex digits
  sealed BLOB NOT NULL,                -- JSON: cron expression, and what a job has
  made_at REAL NOT NULL,               -- seconds since 1970
  considered_until REAL NOT NULL       -- times of the expression up to here have had their job, or were passed over
) STRICT, WITHOUT ROWID;
