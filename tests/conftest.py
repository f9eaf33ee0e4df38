"""Holds the whole suite to loopback, and chooses what `make test` runs of it.

An attempt to reach beyond loopback fails there and then, and fails the session.
"""

import gc
import os
import runpy
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples every time, so that a red test means a change: 25 in `make test`, 100 in `make test-full`.
# HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("few", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("full", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("explore", deadline=None, max_examples=1_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "few"))

NO_NETWORK = Path(__file__).parent / "no_network"


def pytest_configure(config: pytest.Config) -> None:
    descriptor, path = tempfile.mkstemp(prefix="refused-connections-")
    os.close(descriptor)
    os.environ["REFUSED_CONNECTIONS"] = path
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(NO_NETWORK), os.environ.get("PYTHONPATH", "")]
    ).rstrip(os.pathsep)
    runpy.run_path(str(NO_NETWORK / "sitecustomize.py"))


def pytest_xdist_auto_num_workers() -> int:
    """Two workers per core: half of a worker's time goes into waiting for servers, databases and browsers."""
    return 2 * (os.cpu_count() or 1)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as `full` the cases of a sweep that are not in its sample, before pytest selects by marker."""
    sweeps = defaultdict(list)
    for item in items:
        if marker := item.get_closest_marker("sample"):
            sweeps[item.nodeid.partition("[")[0], marker.args[0]].append(item)
    for (_, count), cases in sweeps.items():
        in_sample = {number * len(cases) // count for number in range(count)}
        for number, case in enumerate(cases):
            if number not in in_sample:
                case.add_marker("full")


def pytest_collection_finish() -> None:
    """The collected tests live to the end: the garbage collector need not go through them again and again."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    attempts = Path(os.environ["REFUSED_CONNECTIONS"])
    found = attempts.read_text("utf-8")
    attempts.unlink()
    if found:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print(f"\nFAILED: connections beyond loopback were attempted:\n{found}")


@pytest.fixture
def without_scipy(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes that a test starts are a user's: scipy is for tests, and nltk takes a second to load it."""
    folder = tmp_path_factory.mktemp("without_scipy")
    (folder / "scipy.py").write_text("raise ImportError('scipy is for tests')\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ["PYTHONPATH"]]))
