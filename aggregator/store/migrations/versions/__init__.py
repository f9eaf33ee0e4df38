"""Migrations, one module per schema version, named by number. A released migration never changes."""
