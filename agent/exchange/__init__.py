"""Runs moved in and out as files: HELM's run folders and leaderboards, and tables for other programs."""
