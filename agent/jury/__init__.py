"""A jury of models: what its judges are asked, how their verdicts are read, when an answer has a score. Pure."""
