"""Watching a log from another computer: mirrors and witnesses."""
