-- People and programs that may use the service. Names, roles and password hashes are sealed; secrets of sessions and of
-- API tokens are stored as keyed hashes only.
CREATE TABLE accounts (
  account_id TEXT PRIMARY KEY,         -- 16 random hex digits
  name_key BLOB NOT NULL UNIQUE,       -- keyed hash of the name, without regard to case
  subject_key BLOB UNIQUE,             -- keyed hash of who the person is at a provider; NULL: a local account
  sealed BLOB NOT NULL                 -- JSON: everything else; see accounts.py
) STRICT, WITHOUT ROWID;

CREATE TABLE account_keys (            -- with which keys an account signed approvals
  fingerprint TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (account_id),
  PRIMARY KEY (fingerprint, account_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  session_key BLOB PRIMARY KEY,        -- keyed hash of the cookie's secret
  session_id TEXT NOT NULL UNIQUE,     -- 16 random hex digits, shown in lists
  account_id TEXT NOT NULL REFERENCES accounts (account_id),
  opened_at INTEGER NOT NULL,          -- seconds since 1970
  seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_account ON sessions (account_id);

CREATE TABLE api_tokens (
  token_id TEXT PRIMARY KEY,           -- 16 random hex digits, shown in lists
  token_key BLOB NOT NULL UNIQUE,      -- keyed hash of the secret
  account_id TEXT NOT NULL REFERENCES accounts (account_id),
  sealed BLOB NOT NULL,                -- JSON: label, scopes
  created_at INTEGER NOT NULL,         -- seconds since 1970
  expires_at INTEGER NOT NULL,
  used_at INTEGER,
  ended_at INTEGER                     -- NULL: neither revoked nor seen to have expired
) STRICT, WITHOUT ROWID;

CREATE TABLE sign_in_attempts (        -- attempts that failed or have not ended yet
  attempt INTEGER PRIMARY KEY,
  name_key BLOB NOT NULL,              -- keyed hash of the name given, whether or not it has an account
  at INTEGER NOT NULL                  -- seconds since 1970
) STRICT;

CREATE TABLE pending_sign_ins (        -- people who are at the OpenID provider; each row is used once
  pending_key BLOB PRIMARY KEY,        -- keyed hash of the cookie's secret
  sealed BLOB NOT NULL,                -- JSON: state, nonce, code verifier, address to return to
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE access_clock (            -- the latest time at which a session was checked
  only INTEGER PRIMARY KEY CHECK (only = 1),
  latest_at INTEGER NOT NULL
) STRICT;
