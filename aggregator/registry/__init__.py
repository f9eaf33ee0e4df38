"""The registry, signed by root keys: sites, their keys, scorecards and models."""
