-- The audit log under a key of its own: each event proves its number and the event before it. See audit_chain.py.
DROP TABLE audit;

CREATE TABLE audit_events (
  number INTEGER PRIMARY KEY,          -- from 1, without gaps
  record TEXT NOT NULL,                -- JSON: number, at (seconds since 1970), event, detail, link of the one before
  link TEXT NOT NULL                   -- 64 hex digits: keyed hash over the record
) STRICT;

CREATE TABLE audit_head (              -- one row, made with the store: without it nothing is logged
  only INTEGER PRIMARY KEY CHECK (only = 1),
  number INTEGER NOT NULL,             -- of the last event, 0 where there is none
  link TEXT NOT NULL,                  -- of the last event
  seal TEXT NOT NULL,                  -- keyed hash over both
  key_check TEXT NOT NULL              -- keyed hash over a constant: tells another site's key from a changed log
) STRICT;
