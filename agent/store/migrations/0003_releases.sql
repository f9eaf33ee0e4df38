-- Named local releases, and downloaded HELM leaderboards that may be parts of one. No text of a case, nothing keyed.
CREATE TABLE releases (
  name TEXT PRIMARY KEY,
  made_at INTEGER NOT NULL             -- seconds since 1970
) STRICT;

CREATE TABLE release_parts (
  release TEXT NOT NULL REFERENCES releases (name),
  position INTEGER NOT NULL,           -- a later part wins where two hold a run of the same name
  part TEXT NOT NULL,                  -- a suite's name or a leaderboard's
  PRIMARY KEY (release, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE leaderboards (
  name TEXT PRIMARY KEY,
  details TEXT NOT NULL,               -- JSON: what it was called where it came from, its date and digest
  imported_at INTEGER NOT NULL         -- seconds since 1970
) STRICT;

CREATE TABLE leaderboard_cells (
  leaderboard TEXT NOT NULL REFERENCES leaderboards (name),
  position INTEGER NOT NULL,
  benchmark TEXT NOT NULL,
  benchmark_name TEXT NOT NULL,        -- for people
  model TEXT NOT NULL,
  metric TEXT NOT NULL,
  metric_name TEXT NOT NULL,           -- for people
  value REAL NOT NULL,
  instances INTEGER,                   -- NULL where the leaderboard does not say
  PRIMARY KEY (leaderboard, position)
) STRICT, WITHOUT ROWID;
