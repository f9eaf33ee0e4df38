"""`intramural view` as a person starts it: on a real site with a real store, as files and as a server."""

import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.service.commands import view
from agent.site import Site, create_site


@pytest.fixture
def real_site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Ward Seven")


def test_an_empty_site_exports_a_page_that_says_what_to_do(real_site: Site, tmp_path: Path):
    result = CliRunner().invoke(view, ["--export", str(tmp_path / "out")], obj=real_site)
    assert result.exit_code == 0, result.output
    page = (tmp_path / "out" / "index.html").read_text()
    assert "There are no runs yet" in page
    assert "Ward Seven" in page
    assert "hipaa_safe_harbor 1" in page


def test_the_server_starts_says_where_and_stops(real_site: Site):
    command = [sys.executable, "-m", "agent", "--site", str(real_site.directory), "view", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        address = process.stdout.readline().split()[0]
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address, timeout=20) as response:
            assert b"Ward Seven" in response.read()
    finally:
        process.terminate()
        _, complaints = process.communicate(timeout=20)
    assert complaints == ""


def test_the_module_of_the_command_imports_no_engine_and_no_server():
    probe = (
        "import sys, agent.service.commands; "
        "print(sorted({'jinja2', 'uvicorn', 'starlette', 'presidio_analyzer', 'spacy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
