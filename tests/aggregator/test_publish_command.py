"""What `publish` tells the central team about auditors' signatures that a board needs, has or loses."""

import json
from pathlib import Path

import pytest

from aggregator.home import Home
from tests.aggregator.audited import draw_auditor, name_auditors
from tests.aggregator.federation import ready, registry_of, scores, submit
from tests.aggregator.test_cli import done


@pytest.fixture
def pooled(home: Home) -> Home:
    """Three pooled sites with results."""
    for number in range(3):
        site = ready(home, f"Hospital {number}", "pooled")
        submit(home, site, site.result(registry_of(home), scores(number)))
    return home


def publish(home: Home, board: Path, *words: str) -> str:
    return done("--dir", home.directory, "publish", "--out", board, *words)


def test_a_board_without_auditors_says_that_nobody_vouches(pooled: Home, tmp_path: Path) -> None:
    said = publish(pooled, tmp_path / "board")
    assert "the registry names none: these cells are not checked independently" in said
    assert "registry propose" in said


@pytest.mark.full
def test_signatures_that_a_new_board_loses_are_counted_and_the_next_step_is_named(
    pooled: Home, tmp_path: Path
) -> None:
    board, sealed = tmp_path / "board", tmp_path / "log.archive"
    key, auditor = draw_auditor(tmp_path, "one")
    name_auditors(pooled, [auditor])
    assert "0 of 1 signatures are present. Run `archive`" in publish(pooled, board)
    done("--dir", pooled.directory, "archive", "--out", sealed)
    root = registry_of(pooled).roots[0].keyid
    done("audit", "--board", board, "--archive", sealed, "--key", key, "--root-key", root)
    same = publish(pooled, board)
    assert "auditor" not in same, "nothing has changed, and the signature holds"
    site = ready(pooled, "Late", "pooled")
    submit(pooled, site, site.result(registry_of(pooled), scores(9)))
    other = publish(pooled, board)
    assert "The previous board had 1 auditor's signature, which does not cover this one" in other
    assert "Run `archive`, send the auditors" in other
    assert json.loads(publish(pooled, board, "--format", "json"))["lapsed_audits"] == 0
