"""Says at the end of a run which real servers were met, and which were skipped and why."""

from collections.abc import Iterator

import pytest

from tests.servers.real_servers import SERVERS, NotInstalledError, RealServer, servers_environment

_LINES: dict[str, str] = {}


@pytest.fixture(scope="session", params=sorted(SERVERS))
def real_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealServer]:
    """A running server with the tiny model, or a skip that is shown at the end."""
    environment = servers_environment()
    if environment is None:
        pytest.skip("real servers are met by `make test-servers`")
    try:
        with SERVERS[request.param](environment, tmp_path_factory.mktemp(request.param)) as server:
            _LINES[request.param] = f"met, {server.version()}"
            yield server
    except NotInstalledError as error:
        _LINES[request.param] = f"SKIPPED: {error}"
        pytest.skip(f"{request.param}: {error}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _LINES:
        terminalreporter.section("real language-model servers")
        for name, line in sorted(_LINES.items()):
            terminalreporter.write_line(f"{name:18} {line}")
