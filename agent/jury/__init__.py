"""Juries of models: the requests to judges, the reading of verdicts, and the scoring of answers. Pure."""
