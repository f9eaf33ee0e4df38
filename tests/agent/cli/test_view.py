"""`intramural view` as a person starts it: on a real site with a real store, as files and as a server."""

import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agent.cli.main import intramural
from agent.cli.view import view
from agent.exchange.releases import make_release
from agent.site.directory import Site
from tests.agent.service.filled_site import FilledSite, case
from tests.agent.service.leaky_texts import CANARIES, LEAKY, leak


def exported(filled: FilledSite, folder: Path, *words: str) -> Result:
    return CliRunner().invoke(
        view, ["--export", str(folder), *words], obj=Site(filled.site.directory)
    )


def test_an_empty_site_exports_a_page_that_says_what_to_do(filled: FilledSite, tmp_path: Path):
    result = exported(filled, tmp_path / "out")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "out" / "index.html").read_text()
    assert "There are no runs yet" in page
    assert "St. Example Hospital" in page
    assert "hipaa_safe_harbor 1" in page


def test_revealed_files_write_each_page_of_instances_to_the_audit_log_once(
    filled: FilledSite, tmp_path: Path
):
    run_id = filled.add([case(number) for number in range(45)])
    other = leak(filled, LEAKY, suite="other")
    result = exported(filled, tmp_path / "out", "--reveal")
    assert result.exit_code == 0, result.output
    assert filled.audited() == [
        f"export run={run_id} instances=0-19",
        f"export run={run_id} instances=20-39",
        f"export run={run_id} instances=40-44",
        f"export run={other} instances=0-0",
    ]
    page = (tmp_path / "out" / "runs" / other / "instances-1.html").read_text()
    assert LEAKY in page
    assert "patient-44" in (tmp_path / "out" / "runs" / run_id / "instances-3.html").read_text()


@pytest.mark.full
def test_redacted_files_hold_no_identifier_and_neither_does_what_the_command_prints(
    filled: FilledSite, tmp_path: Path
):
    leak(filled, LEAKY)
    result = exported(filled, tmp_path / "out")
    written = b"".join(
        path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()
    )
    assert [
        canary for canary in CANARIES if canary in result.output or canary.encode() in written
    ] == []
    assert filled.audited() == []
    assert "pages  11/11" in result.stderr  # a person sees that it moves


def test_the_sites_own_policy_is_read_from_the_site_wherever_the_command_is_given(
    filled: FilledSite, tmp_path: Path, monkeypatch
):
    shipped = Path(__file__).parents[3] / "policies" / "redaction" / "hipaa_safe_harbor.yaml"
    own = shipped.read_text().replace("name: hipaa_safe_harbor", "name: ours")
    (filled.site.directory / "ours.yaml").write_text(own)
    with (filled.site.directory / "site.yaml").open("a") as settings:
        settings.write("redaction_policy: ours.yaml\n")
    monkeypatch.chdir(tmp_path)
    result = exported(filled, tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "policy ours 1" in (tmp_path / "out" / "index.html").read_text()


@pytest.mark.full
def test_the_server_starts_says_where_and_stops(filled: FilledSite):
    command = [
        sys.executable,
        "-m",
        "agent",
        "--site",
        str(filled.site.directory),
        "view",
        "--port",
        "0",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        address = process.stdout.readline().split()[0]
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address, timeout=20) as response:
            assert b"St. Example Hospital" in response.read()
    finally:
        process.terminate()
        _, complaints = process.communicate(timeout=20)
    assert complaints == ""


@pytest.mark.full
def test_a_revealing_server_writes_what_is_opened_to_the_audit_log(filled: FilledSite):
    run_id = leak(filled, LEAKY)
    command = [
        sys.executable,
        "-m",
        "agent",
        "--site",
        str(filled.site.directory),
        "view",
        "--port",
        "0",
        "--reveal",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        address = process.stdout.readline().split()[0]
        for path in ("index.html", f"runs/{run_id}/index.html"):
            urllib.request.urlopen(address + path, timeout=20).close()
        assert filled.audited() == []
        with urllib.request.urlopen(
            f"{address}runs/{run_id}/instances-1.html", timeout=20
        ) as response:
            assert LEAKY.encode() in response.read()
        assert filled.audited() == [f"view run={run_id} instances=0-0"]
    finally:
        process.terminate()
        process.communicate(timeout=20)


def test_the_module_of_the_command_imports_no_engine_and_no_server():
    probe = (
        "import sys, agent.cli.view; "
        "print(sorted({'jinja2', 'uvicorn', 'starlette', 'presidio_analyzer', 'spacy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_files_of_a_release_hold_that_release_and_nothing_else(filled: FilledSite, tmp_path: Path):
    shown, hidden = filled.add([case(0)]), filled.add([case(1)], suite="secret")
    make_release(filled.site, ["november"], "R1")
    make_release(filled.site, ["secret"], "R2")
    words = [
        "--site",
        str(filled.site.directory),
        "view",
        "--release",
        "R1",
        "--export",
        str(tmp_path / "out"),
    ]
    done = CliRunner().invoke(intramural, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    paths = {
        path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.html")
    }
    assert f"runs/{shown}/index.html" in paths
    assert "releases/R1/index.html" in paths
    assert [path for path in paths if hidden in path or "secret" in path or "R2" in path] == []
    assert "secret" not in (tmp_path / "out" / "index.html").read_text("utf-8")
