"""Replacements for identifiers: tags, surrogates and moved dates."""
