-- What judges replied, sealed; what each seat of a jury gave, in plain numbers.
CREATE TABLE judgements (
  judgement_key BLOB PRIMARY KEY,      -- keyed hash of the judge's deployment and the exact first request
  sealed BLOB NOT NULL,                -- its replies: the first, and the one to a repair request
  created_at INTEGER NOT NULL,         -- seconds since 1970
  attempts INTEGER NOT NULL,           -- how often requests were sent until these replies came
  prompt_tokens INTEGER,               -- NULL where the server did not say
  completion_tokens INTEGER,
  seconds REAL NOT NULL                -- from sending to reading, summed over the replies
) STRICT, WITHOUT ROWID;

CREATE TABLE seats (
  run_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  metric TEXT NOT NULL,
  seat INTEGER NOT NULL,               -- from 0, in the order of the jury
  judgement_key BLOB,                  -- NULL: the judge could not be asked, or brought no reply
  grades TEXT,                         -- JSON: criterion -> number, on the jury's own scale
  reason TEXT,                         -- why there is no valid verdict
  repaired INTEGER NOT NULL,           -- 1: the first reply was no verdict, and it was asked to mend it
  PRIMARY KEY (run_id, position, metric, seat),
  CHECK ((grades IS NULL) <> (reason IS NULL))
) STRICT, WITHOUT ROWID;

ALTER TABLE answers ADD COLUMN finish_reason TEXT;       -- NULL: kept before this was noted
ALTER TABLE run_instances ADD COLUMN finish_reason TEXT; -- of the answer that was scored, which may be purged; NULL: unknown

CREATE TABLE calibrations (            -- samples for clinicians
  name TEXT PRIMARY KEY,
  sealed BLOB NOT NULL,                -- JSON: which item of the sample is which instance of which run
  made_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE ratings (                 -- what one clinician gave a sample; who that is is sealed too
  calibration TEXT NOT NULL REFERENCES calibrations (name),
  rater_key BLOB NOT NULL,             -- keyed hash of the rater's name
  sealed BLOB NOT NULL,                -- JSON: name, and item -> criterion -> number
  imported_at INTEGER NOT NULL,
  PRIMARY KEY (calibration, rater_key)
) STRICT, WITHOUT ROWID;
