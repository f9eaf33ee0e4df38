"""A node looks at itself before it reads a row. Ray's answers are played here; `make test-cluster` has real ones."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from agent.cluster.actor import Actor, check_node
from agent.errors import ConfigError


def play_ray(address: str, session: Path) -> SimpleNamespace:
    node = SimpleNamespace(get_session_dir_path=lambda: str(session))
    return SimpleNamespace(
        util=SimpleNamespace(get_node_ip_address=lambda: address),
        _private=SimpleNamespace(worker=SimpleNamespace(_global_node=node)),
    )


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.delenv("RAY_USE_TLS", raising=False)
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o700)
    return folder


def test_a_node_in_the_open_does_no_work(session: Path, monkeypatch: pytest.MonkeyPatch):
    check_node(play_ray("127.0.0.1", session))
    with pytest.raises(
        ConfigError, match=r"10\.0\.0\.6 is another machine, and RAY_USE_TLS is not 1"
    ):
        check_node(play_ray("10.0.0.6", session))
    with pytest.raises(ConfigError, match="can be entered by other accounts"):
        check_node(play_ray("127.0.0.1", Path("/usr/lib")))
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with pytest.raises(ConfigError, match="without RAY_AUTH_MODE=token"):
        check_node(play_ray("127.0.0.1", session))


class Quoting:
    """Fails with an error that quotes a text."""

    def run(self) -> dict[str, str]:
        raise ValueError("Mr. Holloway")


def test_an_error_that_quotes_a_text_stays_on_its_node():
    actor = Actor("unused", "unused")
    actor._worker = Quoting()
    assert actor.run() == {"error": ["the work failed there (ValueError)", None]}
