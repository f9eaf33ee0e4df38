"""Named-entity models."""
