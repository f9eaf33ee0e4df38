"""From a stored answer to its scores."""
