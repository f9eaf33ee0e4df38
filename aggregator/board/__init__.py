"""The public leaderboard as static, accessible HTML."""
