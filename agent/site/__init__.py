"""The site's directory, settings and keys."""
