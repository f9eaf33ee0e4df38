-- The latest time that this store has seen, so that a clock that was set back or forward is noticed. See clock.py.
CREATE TABLE clock (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  latest_at INTEGER NOT NULL,          -- seconds since 1970; no row is stamped with an earlier time after this one
  boot TEXT NOT NULL,                  -- id of the machine's start in which the next two were read; '': unknown
  boot_now INTEGER NOT NULL,           -- what the clock said then
  boot_uptime_s INTEGER NOT NULL,      -- seconds since the machine's start at that moment
  leap_from INTEGER                    -- the latest time before a leap that nothing but the clock vouches for; NULL: none
) STRICT;

-- A store of an earlier version has seen the times that its rows name. A new store has seen none.
INSERT INTO clock
  SELECT 1, MAX(at), '', 0, 0, NULL FROM (
    SELECT MAX(last_used_at) AS at FROM records
    UNION ALL SELECT MAX(created_at) FROM answers
    UNION ALL SELECT MAX(created_at) FROM judgements
    UNION ALL SELECT MAX(started_at) FROM runs
    UNION ALL SELECT MAX(ended_at) FROM runs
    UNION ALL SELECT MAX(made_at) FROM reviews
  ) HAVING MAX(at) IS NOT NULL;
