"""The door for people's eyes on site: text in, `Redacted` out."""
