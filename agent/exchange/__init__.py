"""Import and export of runs as files: HELM's run folders and leaderboards, and tables for other programs."""
