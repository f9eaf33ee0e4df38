"""Monitoring of a log from another computer, by mirrors and witnesses."""
