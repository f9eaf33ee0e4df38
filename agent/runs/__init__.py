"""Plan runs, query models, and score files of answers."""
