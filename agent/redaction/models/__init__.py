"""Named-entity models: the shipped models, their training, and models from elsewhere."""
