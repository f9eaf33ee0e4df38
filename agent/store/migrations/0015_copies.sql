-- Known copies of this site, and when texts were deleted that older copies still hold. See copies.py.
CREATE TABLE copies (
  copy_id TEXT PRIMARY KEY,            -- 16 random hex digits, as in the copy's first line
  made_at INTEGER NOT NULL,            -- seconds since 1970
  after_purge INTEGER NOT NULL,        -- number of the last deletion before
  label TEXT NOT NULL,                 -- what people call it; '': nothing
  path_key BLOB NOT NULL,              -- keyed hash of where it was written
  has_keys INTEGER NOT NULL,           -- 1: the site's keys are in it, sealed with a passphrase
  finished INTEGER NOT NULL            -- 0: begun, and not known to be complete
) STRICT;

CREATE TABLE purges (                  -- deletions of texts
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,                 -- seconds since 1970
  texts INTEGER NOT NULL
) STRICT;

CREATE TABLE restorations (            -- from which copies this site was restored
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  copy_id TEXT NOT NULL,
  made_at INTEGER NOT NULL,            -- when the copy was made, in seconds since 1970
  restored_at INTEGER NOT NULL,
  earlier_reset TEXT NOT NULL,         -- digest of the last request for a new epoch that was in the copy; '': none
  ended_at INTEGER                     -- when the site could submit again; NULL: it cannot yet
) STRICT;

CREATE TABLE programs (                -- which version of the program wrote each version of these tables first
  store_version INTEGER PRIMARY KEY,
  program TEXT NOT NULL,
  at INTEGER NOT NULL                  -- seconds since 1970
) STRICT;
