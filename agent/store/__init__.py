"""Encrypted local store, answer cache, retention."""
