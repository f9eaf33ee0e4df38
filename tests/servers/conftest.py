"""Says at the end of a run which real servers were met, and which were skipped and why.

The tests of a server stay in one process. Two processes share the cores: servers and engines have a thread each.
"""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from tests.servers.real_servers import (
    SERVERS,
    NotInstalledError,
    RealServer,
    list_server_names,
    must_be_installed,
    servers_environment,
)

_LINES: dict[str, str] = {}
"""What was found out about each server; each report carries it to the process that prints the end."""
_PROPERTY = "real server"


@pytest.fixture(scope="session")
def environment() -> Path:
    """The environment of the real servers."""
    found = servers_environment()
    if found is None:
        pytest.skip("real servers are met by `make test-servers` and `make test-vllm`")
    return found


@pytest.fixture(scope="session", params=list_server_names())
def real_server(
    request: pytest.FixtureRequest, environment: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealServer]:
    """A running server, or a skip that is shown at the end."""
    try:
        with SERVERS[request.param](environment, tmp_path_factory.mktemp(request.param)) as server:
            _LINES[request.param] = f"met, {server.find_version()}"
            yield server
    except NotInstalledError as error:
        skip_or_fail(request.param, error)


def skip_or_fail(name: str, error: NotInstalledError) -> NoReturn:
    """Skip a test for want of an installation, or fail it where every server must be installed."""
    _LINES[name] = f"SKIPPED: {error}"
    if must_be_installed():
        pytest.fail(f"{name}: {error}")
    pytest.skip(f"{name}: {error}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of one server in one process; the tests of other folders are passed here too."""
    for item in items:
        if not item.path.is_relative_to(Path(__file__).parent):
            continue
        for name, value in getattr(getattr(item, "callspec", None), "params", {}).items():
            if name in ("real_server", "engine"):
                item.add_marker(pytest.mark.xdist_group(f"{name}-{value}"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    report.user_properties += [(_PROPERTY, line) for line in _LINES.items()]
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    for name, content in report.user_properties:
        if name == _PROPERTY:
            server, line = content
            _LINES[server] = line


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _LINES:
        terminalreporter.section("real language-model servers")
        for name, line in sorted(_LINES.items()):
            terminalreporter.write_line(f"{name:18} {line}")
