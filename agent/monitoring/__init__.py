"""What hospital IT sees of the agent: the log."""
