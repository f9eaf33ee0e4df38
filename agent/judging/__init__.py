"""Asking juries about stored answers."""
