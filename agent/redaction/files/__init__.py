"""Redaction of the rows of files of any length, in one process or several."""
