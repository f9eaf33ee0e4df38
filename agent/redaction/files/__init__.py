"""Rows of files of any length, cleared in one process or several."""
