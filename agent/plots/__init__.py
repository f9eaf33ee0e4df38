"""Draw leaderboards as SVG, and as text for a terminal. Pure: no files are read or written here."""
