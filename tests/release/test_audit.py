"""An audit that could ask nothing is no audit that found nothing."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from intramural_release import audit
from intramural_release.audit import AuditResult, read_report
from intramural_release.cli import cli
from intramural_release.variants import VARIANTS


def make_report(*packages: dict[str, object]) -> str:
    return json.dumps({"dependencies": list(packages), "fixes": []})


SAFE: dict[str, object] = {"name": "click", "version": "8.1", "vulns": []}
UNSAFE: dict[str, object] = {
    "name": "jinja2",
    "version": "2.10",
    "vulns": [{"id": "PYSEC-2019-217", "fix_versions": ["2.10.1"]}],
}
SKIPPED: dict[str, object] = {
    "name": "numpy",
    "skip_reason": "Dependency not found and not audited",
}


def test_vulnerable_and_unknown_packages_are_kept_apart():
    result = read_report(make_report(SAFE, UNSAFE, SKIPPED))
    assert result == AuditResult(("jinja2 2.10: PYSEC-2019-217",), ("numpy",))


@pytest.mark.parametrize("text", ["", "No known vulnerabilities found", "{}", "[]", make_report()])
def test_a_report_without_packages_is_none(text: str):
    with pytest.raises(ValueError):  # noqa: PT011
        read_report(text)


@pytest.mark.parametrize(
    ("report", "code", "told"),
    [
        (make_report(SAFE), 0, "no known vulnerability"),
        (make_report(SAFE, UNSAFE), 1, "jinja2 2.10: PYSEC-2019-217"),
        (make_report(SAFE, SKIPPED), 1, "not audited: numpy"),
    ],
)
def test_the_command_fails_unless_every_package_is_known_to_be_free_of_faults(
    report: str, code: int, told: str, monkeypatch: pytest.MonkeyPatch
):
    asked: list[Path] = []

    def answer(path: Path) -> AuditResult:
        asked.append(path)
        return read_report(report)

    monkeypatch.setattr(audit, "audit_lock", answer)
    done = CliRunner().invoke(cli, ["audit"])
    assert done.exit_code == code
    assert told in done.output
    assert len(asked) == len(VARIANTS) - 1  # tests are passed on to nobody
