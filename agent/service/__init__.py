"""The site's local pages: read-only, on loopback, redacted, and the same as files."""
