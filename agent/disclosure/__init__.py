"""Disclosure control for the numbers that leave the site: policy checks, preview, approval and signing."""
