"""The shipped policy, as a file that tests change."""

from pathlib import Path

POLICY = Path(__file__).parents[3] / "policies" / "redaction" / "hipaa_safe_harbor.yaml"
