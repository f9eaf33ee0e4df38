-- What a whole-run metric would be if answers that hold nothing to score counted as wrong. NULL: computed before this
-- was noted.
ALTER TABLE run_scores ADD COLUMN floor REAL;

CREATE TABLE subgroups (               -- sex, age group and the like of a run's instances, which patients have
  run_id TEXT PRIMARY KEY,
  sealed BLOB NOT NULL                 -- one value a position and attribute; see subgroups.py
) STRICT, WITHOUT ROWID;
