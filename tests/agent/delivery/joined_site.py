"""A site in a federation, made once for a test process and copied for each test: to join takes a second."""

import json
import shutil
from pathlib import Path

from agent.site.directory import Site
from aggregator.home import Home
from tests.agent.delivery.whole_site import CANARY, Wire, join, make_site
from tests.aggregator.conftest import serve_in_thread
from tests.aggregator.federation import new_home

SITE = f"{CANARY}-site"
AGGREGATOR = "aggregator"
STEWARD_KEY = "steward.key"
INVITE = "invite.json"


def build_joined(folder: Path) -> None:
    """Make an aggregator in a folder, and beside it a site that has joined, with its steward's key and its invite."""
    home = new_home(folder / AGGREGATOR)
    with serve_in_thread(home) as served:
        wire = Wire(served.port)
        join(make_site(folder / SITE), served, wire, folder)
        wire.close()
    home.database.close()


def copy_joined(joined: Path, folder: Path) -> None:
    """Copy all that `build_joined` made into an existing folder."""
    shutil.copytree(joined, folder, dirs_exist_ok=True)


def open_aggregator(folder: Path) -> Home:
    """Return the aggregator in a folder; make one if none was copied."""
    directory = folder / AGGREGATOR
    return Home(directory) if directory.exists() else new_home(directory)


def open_site(folder: Path) -> Site:
    """Return the site in a folder; make one if none was copied."""
    directory = folder / SITE
    return Site(directory) if directory.exists() else make_site(directory)


def connect(folder: Path, url: str) -> None:
    """Change the aggregator's address in the copies of the invite and of the site's membership."""
    for path in (folder / INVITE, folder / SITE / "submissions" / "membership.json"):
        content = json.loads(path.read_bytes())
        assert "url" in content
        path.write_text(json.dumps({**content, "url": url}), "utf-8")
