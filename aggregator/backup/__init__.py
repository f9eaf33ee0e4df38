"""Backups: writing them while the service runs, and restoring them without forking the log."""
