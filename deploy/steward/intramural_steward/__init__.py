"""The steward's tool, which shows and signs the exact bytes that a site asks to publish, and keeps
its own list of decisions.
"""
