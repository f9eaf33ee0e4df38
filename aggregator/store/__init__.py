"""The aggregator's database: SQLAlchemy tables, transactions and migrations."""
