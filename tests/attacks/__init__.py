"""Attacks on what leaves: each succeeds without its rule and fails with it."""
