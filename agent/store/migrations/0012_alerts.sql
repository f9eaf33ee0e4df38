-- What the service tells a webhook or people by e-mail: codes and counts, never a text or a name. See alerts.py.
ALTER TABLE jobs ADD COLUMN noticed INTEGER NOT NULL DEFAULT 0;  -- 1: its end has led to an alert, or is to lead to none

CREATE INDEX jobs_to_notice ON jobs (ended_at) WHERE ended_at IS NOT NULL AND noticed = 0;

CREATE TABLE alert_events (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  code TEXT NOT NULL,                  -- see stored_alerts.py
  at REAL NOT NULL,                    -- seconds since 1970
  job_id TEXT,
  exit_code INTEGER,
  done INTEGER,                        -- instances of the job
  failed INTEGER,
  unscored INTEGER,
  waiting INTEGER                      -- drafts or approved statements that wait
) STRICT;

CREATE TABLE alert_messages (
  message_id TEXT PRIMARY KEY,         -- 32 random hex digits; the receiver recognises a repetition by it
  channel TEXT NOT NULL,               -- webhook, mail
  first INTEGER NOT NULL,              -- its events, by number
  last INTEGER NOT NULL,
  made_at REAL NOT NULL,               -- seconds since 1970
  state TEXT NOT NULL,                 -- open, sent, given up
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at REAL NOT NULL,               -- of the next attempt
  outcome TEXT NOT NULL DEFAULT '',    -- code of the last attempt
  ended_at REAL
) STRICT, WITHOUT ROWID;

CREATE INDEX alert_messages_by_channel ON alert_messages (channel, last);

CREATE TABLE alert_channels (          -- channels that are in use
  channel TEXT PRIMARY KEY,
  after INTEGER NOT NULL               -- number of the last event that is in one of its messages, or came before it
) STRICT, WITHOUT ROWID;

CREATE TABLE alert_conditions (        -- what holds now, so that each is told once
  name TEXT PRIMARY KEY,               -- disk, or draft or approved with the digest of a statement
  since REAL NOT NULL,                 -- seconds since 1970
  told INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
