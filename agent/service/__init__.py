"""The site's local pages: redacted and read-only, served on loopback or written as files."""
