"""What a run will take."""
