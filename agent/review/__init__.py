"""A person checks what redaction found in the hospital's own texts: a gold set, and an estimate of recall."""
