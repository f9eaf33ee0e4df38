"""Local read-only pages."""
