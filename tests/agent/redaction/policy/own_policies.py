"""Policies of a site's own, as changes of the shipped one."""

import yaml

from agent.io.packaged import shipped

SHIPPED = yaml.safe_load(
    (shipped("policies") / "redaction/hipaa_safe_harbor.yaml").read_text("utf-8")
)
