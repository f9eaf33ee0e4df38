"""A site's redaction policy."""
