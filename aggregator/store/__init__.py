"""SQLAlchemy tables and migrations."""
