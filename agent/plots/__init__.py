"""Leaderboards drawn: as SVG, and in plain letters for a terminal. Pure; nothing is read or written here."""
