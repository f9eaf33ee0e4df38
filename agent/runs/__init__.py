"""Planning runs, asking models, scoring files of answers."""
