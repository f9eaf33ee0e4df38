-- What an answer cost, in plain numbers: a sum over a run needs no decryption. NULL: kept before this was noted, or
-- the server did not say.
ALTER TABLE answers ADD COLUMN shortened INTEGER;         -- prompt tokens left out to make it fit
ALTER TABLE answers ADD COLUMN attempts INTEGER;          -- how often it was sent until this answer came
ALTER TABLE answers ADD COLUMN prompt_tokens INTEGER;
ALTER TABLE answers ADD COLUMN completion_tokens INTEGER;
ALTER TABLE answers ADD COLUMN seconds REAL;
ALTER TABLE runs ADD COLUMN asked_seconds REAL;           -- wall time spent asking, over all continuations

CREATE TABLE run_scores (              -- metrics that only a whole run has (macro F1), with their interval
  run_id TEXT NOT NULL,
  metric TEXT NOT NULL,
  value REAL,
  low REAL,
  high REAL,
  n INTEGER NOT NULL,                  -- instances that count
  units INTEGER NOT NULL,
  PRIMARY KEY (run_id, metric)
) STRICT, WITHOUT ROWID;

CREATE TABLE labelled (                -- which instances count for such a metric; a reason says why one does not
  run_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  metric TEXT NOT NULL,
  reason TEXT,
  PRIMARY KEY (run_id, position, metric)
) STRICT, WITHOUT ROWID;
