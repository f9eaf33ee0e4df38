"""The aggregator's word about this site: believed only where it verifies, and had without the agent's key."""

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent.cli.reset import reset
from agent.delivery import site_heads
from agent.errors import ConfigError, DeliveryError
from agent.site.directory import Site
from tests.agent.cli.rekeyings import carry_head, shown
from tests.agent.delivery.whole_site import (
    ok,
)
from tests.aggregator.conftest import Served


@pytest.mark.parametrize("change", ["another site", "a stranger's key", "cut", "a larger ledger"])
def test_a_forged_word_about_the_site_is_not_believed(
    site: Site, served: Served, key: Path, tmp_path: Path, change: str
) -> None:
    lines = carry_head(site, served).read_text().split("\n")
    match change:
        case "another site":
            lines[1] = "s-aaaaaaa9"
        case "a stranger's key":
            lines[-2] = lines[-2][:-8] + "AAAAAAA="
        case "cut":
            lines = lines[:5]
        case "a larger ledger":
            lines[5] = str(int(lines[5]) + 5)
    (tmp_path / "head").write_text("\n".join(lines))
    with pytest.raises(DeliveryError, match="does not verify"):
        ok(site, reset, "show", "--head", tmp_path / "head")


@pytest.mark.full
def test_a_machine_whose_clock_is_wrong_is_told_so(
    site: Site, key: Path, monkeypatch: pytest.MonkeyPatch, served: Served
) -> None:
    # The agent's clock alone: the server runs in this process too.
    now = time.time()
    with monkeypatch.context() as patch:
        patch.setattr(site_heads, "time", SimpleNamespace(time=lambda: now - 3600))
        with pytest.raises(DeliveryError, match="clock here is wrong by more than 10 minutes"):
            ok(site, reset, "show")
    assert shown(site)[0] == 0


@pytest.mark.full
@pytest.mark.parametrize("fault", ["damaged", "open to others"])
def test_a_machine_whose_agents_key_cannot_be_used_is_shown_another_way(
    site: Site, served: Served, key: Path, fault: str
) -> None:
    path = site.keys / "agent.key"
    if fault == "damaged":
        path.write_bytes(b"nothing")
    else:
        path.chmod(0o644)
    with pytest.raises(ConfigError, match=r"without the agent's key: the agent key") as refused:
        ok(site, reset, "show")
    assert "--head FILE" in refused.value.advice
    assert shown(site, "--head", carry_head(site, served))[0] == 0
