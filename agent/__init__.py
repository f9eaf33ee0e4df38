"""The agent: runs inside the hospital network and lets only signed aggregates out."""

__version__ = "0.1.0"
