"""How well an engine works: measures, models admitted in place of the package's own, fine-tuning."""
