"""What stands in the place of an identifier."""
