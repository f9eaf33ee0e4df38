"""Holds the whole suite to loopback, chooses what `make test` runs, and begins with the files that take longest.

An attempt to reach beyond loopback fails there and then, and fails the session.
"""

import gc
import os
import runpy
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
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
# Seconds and file, a line each, of the files that take longest; `--write-slow-files` of a whole run writes it anew.
SLOW_FILES = Path(__file__).parent / "slow_files.txt"
_SECONDS_PER_TEST = 0.03  # of the files that are not listed there
_SLOW_S = 5.0

_seconds_by_file: dict[str, float] = defaultdict(float)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-slow-files",
        action="store_true",
        help=f"write the seconds of the slowest files into {SLOW_FILES.name}",
    )


def pytest_configure(config: pytest.Config) -> None:
    # xdist would begin with the files that have most tests; `begin_with_slow_files` knows better.
    config.option.loadscopereorder = False
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


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    mark_cases_beyond_samples(items)  # before pytest selects by marker
    yield
    if hasattr(
        config, "workerinput"
    ):  # a process of xdist, unlike a pytest that a test starts there
        begin_with_slow_files(items)


def mark_cases_beyond_samples(items: list[pytest.Item]) -> None:
    """Mark as `full` the cases of a sweep that are not in its sample."""
    sweeps = defaultdict(list)
    for item in items:
        if marker := item.get_closest_marker("sample"):
            sweeps[item.nodeid.partition("[")[0], marker.args[0]].append(item)
    for (_, count), cases in sweeps.items():
        in_sample = {number * len(cases) // count for number in range(count)}
        for number, case in enumerate(cases):
            if number not in in_sample:
                case.add_marker("full")


def begin_with_slow_files(items: list[pytest.Item]) -> None:
    """Sort the tests: a slow file that begins last keeps one process at work when the others have ended."""
    counts = Counter(get_file(item.nodeid) for item in items)
    seconds = {file: count * _SECONDS_PER_TEST for file, count in counts.items()}
    for line in SLOW_FILES.read_text("utf-8").splitlines():
        known, file = line.split()
        if file in seconds:
            seconds[file] = float(known)
    items.sort(key=lambda item: -seconds[get_file(item.nodeid)])


def get_file(test: str) -> str:
    return test.partition("::")[0]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds_by_file[get_file(report.nodeid)] += report.duration


def write_slow_files() -> None:
    slowest_first = sorted(_seconds_by_file.items(), key=lambda pair: -pair[1])
    lines = [f"{seconds:.0f} {file}\n" for file, seconds in slowest_first if seconds > _SLOW_S]
    SLOW_FILES.write_text("".join(lines), "utf-8")


def pytest_collection_finish() -> None:
    """The collected tests live to the end: the garbage collector need not go through them again and again."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.option.write_slow_files and "PYTEST_XDIST_WORKER" not in os.environ:
        write_slow_files()
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
