-- Where identifying words stand in a text, so that the same text is not searched for each export anew.
-- The key is a keyed hash of the text and of the rules; sealed are places and kinds, no text.
CREATE TABLE findings (
    text_key BLOB PRIMARY KEY,
    sealed BLOB NOT NULL
) WITHOUT ROWID;
