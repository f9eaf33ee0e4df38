"""Asking a database of known vulnerabilities about the packages of a lock, with pip-audit.

pip-audit ends well when it could not ask about a package. Here that is an error: unknown is not safe.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from intramural_release.errors import ReleaseError

_TIMEOUT: Final = 900  # seconds


@dataclass(frozen=True)
class AuditResult:
    """What is known of a lock's packages."""

    vulnerable: tuple[str, ...]  # "NAME VERSION: IDENTIFIER, IDENTIFIER"
    unknown: tuple[str, ...]  # packages that the database could not be asked about


def audit_lock(path: Path) -> AuditResult:
    """Ask about every package of a lock. Needs a network."""
    command = [sys.executable, "-P", "-m", "pip_audit", "--progress-spinner", "off"]
    command += ["--disable-pip", "--require-hashes", "--format", "json", "--requirement", str(path)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_TIMEOUT
        )
    except subprocess.TimeoutExpired:
        raise ReleaseError("pip-audit gave no answer", "Try again.") from None
    try:
        return read_report(done.stdout)
    except ValueError:
        last_line = done.stderr.strip().rpartition("\n")[2]
        raise ReleaseError(
            f"{path.name} could not be audited: {last_line[:300]}",
            "Run the audit where the database of vulnerabilities can be reached.",
        ) from None


def read_report(text: str) -> AuditResult:
    """Read pip-audit's JSON. Raises ValueError if it is none."""
    report = json.loads(text)
    if not isinstance(report, dict) or not report.get("dependencies"):
        raise ValueError
    vulnerable, unknown = [], []
    for package in report["dependencies"]:
        if "skip_reason" in package:
            unknown.append(str(package["name"]))
        elif package.get("vulns"):
            identifiers = ", ".join(str(entry["id"]) for entry in package["vulns"])
            vulnerable.append(f"{package['name']} {package['version']}: {identifiers}")
    return AuditResult(tuple(sorted(vulnerable)), tuple(sorted(unknown)))
