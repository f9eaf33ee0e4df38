"""Rules that detect identifiers, by language."""
