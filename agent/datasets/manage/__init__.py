"""Registering, fetching and checking datasets."""
