"""Manual review of redaction on the hospital's own texts: a gold set and an estimate of recall."""
