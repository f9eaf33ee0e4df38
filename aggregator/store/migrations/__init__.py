"""Numbered Alembic migrations of the aggregator's database, run by `aggregator.store.database.Database.migrate`."""
