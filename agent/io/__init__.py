"""Helpers for files, folders, YAML, TLS, progress and worker processes."""
