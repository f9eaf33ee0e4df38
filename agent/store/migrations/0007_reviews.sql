-- Samples of texts in which a person checks what redaction found.
CREATE TABLE reviews (
  name TEXT PRIMARY KEY,
  sealed BLOB NOT NULL,                -- JSON: policy, digest of the rules, seed, where the texts are from
  made_at INTEGER NOT NULL             -- seconds since 1970
) STRICT, WITHOUT ROWID;

CREATE TABLE reviewed_texts (
  review TEXT NOT NULL REFERENCES reviews (name),
  item INTEGER NOT NULL,               -- from 1, in the order in which they are shown
  record INTEGER NOT NULL,             -- texts of one record have one number
  sealed BLOB,                         -- JSON: the text and the places marked in it; NULL: purged
  figures TEXT,                        -- JSON: kind of identifier -> [rightly found, missed, wrongly found]; NULL: to be reviewed
  PRIMARY KEY (review, item)
) STRICT, WITHOUT ROWID;
