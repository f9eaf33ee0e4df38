"""Redaction of stored instances and judgements before people see them."""
