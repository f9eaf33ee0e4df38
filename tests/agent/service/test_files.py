"""Pages as files: no identifier in them or in their names, and never among other files."""

from pathlib import Path

import pytest

from agent.errors import ConfigError
from agent.io.progress import Progress
from agent.service.files import write_pages
from agent.service.pages import SitePages
from tests.agent.service.conftest import OpenPages
from tests.agent.service.filled_site import FilledSite
from tests.agent.service.leaky_texts import CANARIES, LEAKY, leak


def test_planted_identifiers_are_in_no_exported_file_or_file_name(
    filled: FilledSite, open_pages: OpenPages, tmp_path: Path
):
    leak(filled, LEAKY)
    assert write_pages(open_pages(filled.site), tmp_path / "out", Progress(quiet=True)) == 23
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    content = b"".join(path.read_bytes() + str(path).encode() for path in files)
    assert len(files) == 23
    assert [canary for canary in CANARIES if canary.encode() in content] == []
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_an_export_never_mixes_with_other_files(pages: SitePages, tmp_path: Path):
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(ConfigError, match="not empty"):
        write_pages(pages, tmp_path, Progress(quiet=True))
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]
