"""Redaction of stored cases and judgements before people see them."""
