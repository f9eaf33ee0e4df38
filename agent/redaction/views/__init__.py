"""Normalised views of a text, with offsets into the original text."""
