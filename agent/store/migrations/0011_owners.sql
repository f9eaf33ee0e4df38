-- Whose run it is, and whether the owner keeps it from others on the service's pages.
ALTER TABLE runs ADD COLUMN owner TEXT;                          -- id of an account; NULL: made on the command line
ALTER TABLE runs ADD COLUMN private INTEGER NOT NULL DEFAULT 0;  -- 1: shown to its owner and on the command line only
