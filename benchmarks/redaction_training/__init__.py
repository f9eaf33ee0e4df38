"""Making the named-entity models: notes made up by rule, and the trainer."""
