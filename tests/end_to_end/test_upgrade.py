"""A suite is half run, the program upgraded, rolled back and upgraded again: the figures are those of one version."""

import io
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agent.site.directory import Site
from agent.store.database import count_versions
from tests.agent.store.old_site import FIXTURE, copy_old_site, dump
from tests.forked import run_command

ROOT = Path(__file__).parents[2]
WHOLE = json.loads((FIXTURE / "figures.json").read_text())
STORED = 10  # answers in the site, of 16
ALL = 16
SHORTEST_QUESTION = 600  # bytes; the probes before a run are shorter
MODELS = ("baseline/first-choice", "baseline/random")
RUN_WORDS = (
    *("run", "--suite", "fixtures", "--max-eval-instances", "8", "--run-entries"),
    *(f"pubmed_qa:model={model}" for model in MODELS),
)


@pytest.fixture
def url() -> Iterator[str]:
    command = [sys.executable, "-m", "agent", "baselines", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


def at(site: Site, *words: object) -> str:
    done = run_command("agent", "--site", site.directory, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def set_server(site: Site, url: str) -> None:
    """Put the server of both models into the site's deployments."""
    text = site.deployments.read_text()
    site.deployments.write_text(re.sub(r"http://127\.0\.0\.1:\d+/v1", url, text))


def finish_suite(site: Site, url: str) -> str:
    """Run the suite again, as somebody does who finds it half done."""
    set_server(site, url)
    return at(site, *RUN_WORDS)


def read_figures(site: Site) -> list[dict[str, object]]:
    return json.loads(at(site, "summarize", "--suite", "fixtures", "--format", "json"))


def strip_times(figures: list[dict[str, object]]) -> list[dict[str, object]]:
    """Leave out what tells of the time that asking took, and the number of the rules by which answers are read."""
    volatile = {"usage", "model_usage", "reading_version"}
    return [{key: row[key] for key in row if key not in volatile} for row in figures]


@pytest.mark.full
def test_an_upgrade_in_the_middle_of_a_suite_changes_no_figure(tmp_path: Path, url: str):
    site = copy_old_site(tmp_path / "site")
    before = dump(site.directory / "store/site.sqlite3")
    said = finish_suite(site, url)
    assert f"asked {16 - STORED}, " in said  # what the earlier version stored is not asked again
    whole = read_figures(site)
    assert strip_times(whole) == strip_times(WHOLE)

    # The earlier version finds its store as it left it.
    kept = site.directory / "store/before-upgrade-14.sqlite3"
    assert dump(kept) == before
    again = copy_old_site(tmp_path / "again")
    (again.directory / "store/site.sqlite3").write_bytes(kept.read_bytes())
    finish_suite(again, url)
    assert strip_times(read_figures(again)) == strip_times(whole)


@dataclass(frozen=True)
class Program:
    """A version of the program, as the folder of its packages."""

    folder: Path

    def start(self, site: Site, *words: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "agent", "--site", site.directory, *words]
        return subprocess.Popen(
            [str(word) for word in command],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": f"{self.folder}:{os.environ['PYTHONPATH']}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, site: Site, *words: object, code: int = 0) -> str:
        """Run a command to its end; return what it printed."""
        process = self.start(site, *words)
        printed, complaint = process.communicate(timeout=240)
        assert process.returncode == code, printed + complaint
        return printed + complaint

    def run_suite(self, site: Site, url: str) -> str:
        set_server(site, url)
        return self.run(site, *RUN_WORDS)

    def read_figures(self, site: Site) -> list[dict[str, object]]:
        printed = self.run(site, "summarize", "--suite", "fixtures", "--format", "json")
        return strip_times(json.loads(printed))


def copy_program(folder: Path) -> Program:
    for name in ("agent", "protocol", "aggregator", "benchmarks", "policies"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return Program(folder)


def make_later_program(folder: Path) -> Program:
    """Copy this version, and let it do what a later one would: it writes other tables."""
    program = copy_program(folder)
    script = folder / f"agent/store/migrations/{count_versions() + 1:04}_of_tomorrow.sql"
    script.write_text("CREATE TABLE of_tomorrow (column_of_tomorrow TEXT);\n")
    package = folder / "agent/__init__.py"
    text = package.read_text()
    assert "__version__ = " in text
    package.write_text(re.sub(r'__version__ = ".*"', '__version__ = "9.9.9"', text))
    return program


def unpack_old_program(folder: Path) -> Program:
    """Return the version that wrote the fixture, from the history of this checkout."""
    names = ("agent", "protocol", "aggregator", "benchmarks", "policies")
    command = ["git", "archive", FIXTURE.name, *names]
    archive = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        pytest.skip(f"the history of this checkout has no commit {FIXTURE.name}")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
        tar.extractall(folder, filter="data")
    return Program(folder)


@contextmanager
def holding(url: str, after: int) -> Iterator[str]:
    """Pass requests on to a server until it has answered so many questions; yield the address."""
    questions: set[bytes] = set()
    is_over = threading.Event()

    class Passing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._pass_on(None)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if len(body) > SHORTEST_QUESTION:
                questions.add(body)
            if len(questions) > after:
                is_over.wait()
                self.close_connection = True
                return
            self._pass_on(body)

        def _pass_on(self, body: bytes | None) -> None:
            address = url.removesuffix("/v1") + self.path
            request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
            try:
                with urllib.request.urlopen(request) as answer:
                    status, content = answer.status, answer.read()
            except urllib.error.HTTPError as error:
                status, content = error.code, error.read()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Passing) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        is_over.set()
        server.shutdown()


def count_answers(site: Site) -> int:
    path = site.directory / "store/site.sqlite3"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        (count,) = connection.execute("SELECT COUNT(*) FROM answers").fetchone()
        return int(count)


def stop_in_the_middle(program: Program, site: Site, url: str, answers: int) -> None:
    """Run the suite until so many more answers are stored, and stop the command as a service manager does."""
    wanted = count_answers(site) + answers
    with holding(url, answers) as held_url:
        set_server(site, held_url)
        process = program.start(site, *RUN_WORDS)
        until = time.monotonic() + 120
        while count_answers(site) < wanted:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        said, complaint = process.communicate(timeout=60)
        assert process.returncode != 0, said + complaint


@pytest.mark.full
@pytest.mark.timeout(600)
def test_a_running_suite_that_is_stopped_upgraded_and_rolled_back_has_the_same_figures(
    tmp_path: Path, url: str
):
    site = copy_old_site(tmp_path / "site")
    current, later = Program(ROOT), make_later_program(tmp_path / "later")
    stop_in_the_middle(current, site, url, answers=2)
    assert dump(site.directory / "store/site.sqlite3")[0] == f"version {count_versions()}"

    said = later.run_suite(site, url)
    assert f"asked {ALL - STORED - 2}, " in said
    assert later.read_figures(site) == strip_times(WHOLE)

    refused = current.run(site, *RUN_WORDS, code=8)
    assert "written by intramural 9.9.9" in refused
    assert "rollback" in refused
    assert "as it was before its upgrade" in current.run(site, "rollback")
    # What the later version stored is set aside, so it is asked again; what this one stored is not.
    said = current.run_suite(site, url)
    assert f"asked {ALL - STORED - 2}, " in said
    assert current.read_figures(site) == strip_times(WHOLE)

    # The next upgrade finds the whole suite.
    assert "asked 0, " in later.run_suite(site, url)
    assert later.read_figures(site) == strip_times(WHOLE)


@pytest.mark.full
@pytest.mark.timeout(600)
def test_the_version_that_wrote_a_suite_finishes_it_after_a_return_by_hand(
    tmp_path: Path, url: str
):
    """It has no `rollback` yet; docs/site-operations.md says what to do in its place."""
    old, current = unpack_old_program(tmp_path / "old"), Program(ROOT)
    site = copy_old_site(tmp_path / "site")
    stop_in_the_middle(old, site, url, answers=1)
    stop_in_the_middle(current, site, url, answers=2)
    old.run(site, *RUN_WORDS, code=8)

    guide = (ROOT / "docs/site-operations.md").read_text()
    (by_hand,) = re.findall(r"```\n(mv site/store/site\.sqlite3 .*?)```", guide, re.DOTALL)
    subprocess.run(["sh", "-e", "-c", by_hand], cwd=tmp_path, check=True)
    said = old.run_suite(site, url)
    assert f"asked {ALL - STORED - 1}, " in said
    assert old.read_figures(site) == strip_times(WHOLE)
    assert "asked 0, " in current.run_suite(site, url)
    assert current.read_figures(site) == strip_times(WHOLE)
