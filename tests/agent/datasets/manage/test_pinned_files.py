"""`datasets fetch` is offered only where every file is public and its address and digest are pinned."""

from pathlib import Path

import pytest

from agent.datasets.manage.register import check_data, is_fetchable
from tests.agent.datasets.own import own

DIGEST = "ab" * 32
PINNED = f"url: https://example.org/a.csv, sha256: {DIGEST}"


def files(*each: str) -> str:
    lines = "".join(f"    - {{name: {name}}}\n" for name in each)
    return f"data:\n  loader: csv\n  files:\n{lines}"


@pytest.mark.parametrize(
    ("access", "data", "can"),
    [
        ("public", files(f"a.csv, {PINNED}"), True),
        ("public", files("a.csv, url: https://example.org/a.csv"), False),
        ("public", files(f"a.csv, sha256: {DIGEST}"), False),
        ("public", files(f"a.csv, {PINNED}", "b.csv, url: https://example.org/b.csv"), False),
        ("public", files(f"a.csv, {PINNED}", "b.csv, optional: true"), True),
        ("gated", files(f"a.csv, {PINNED}"), False),
    ],
)
def test_what_has_no_digest_or_address_is_not_fetched(
    tmp_path: Path, access: str, data: str, can: bool
):
    benchmark = own(tmp_path, f"access: {access}\n", data=data)
    assert is_fetchable(benchmark) is can
    state = check_data(benchmark, tmp_path / "data")
    assert state.state == "missing"
    assert ("datasets fetch" in state.detail) is can
