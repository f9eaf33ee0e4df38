"""Redacting stored cases and judgements before they leave."""
