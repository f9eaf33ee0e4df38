"""Pages of texts: the next page of a list is prepared while nobody waits, and never for original text."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.redaction.gateway.cases import Revealing
from agent.service.frame import Frame
from agent.service.render import Renderer
from agent.service.web.texts import TextReader, find_next_page
from agent.store import PUBLIC
from tests.agent.service.filled_site import case, filled_site

FRAME = Frame()


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The thread and the path of each page that was drawn, in order."""
    pages: list[tuple[str, str]] = []
    draw = TextReader._draw

    def note(reader: TextReader, path: str, *arguments: object) -> object:
        page = draw(reader, path, *arguments)  # type: ignore[arg-type]
        pages.append((threading.current_thread().name, path))
        return page

    monkeypatch.setattr(TextReader, "_draw", note)
    return pages


def test_the_next_page_is_prepared_once_while_nobody_waits(
    tmp_path: Path, drawn: list[tuple[str, str]]
):
    filled = filled_site(tmp_path)
    run_id = filled.add([case(number) for number in range(45)], limit=45)
    renderer = Renderer("Test", "", reveals=False, slug=str)
    reader = TextReader(filled.site)
    first, second = (f"runs/{run_id}/instances-{number}.html" for number in (1, 2))
    for path in (first, first):
        assert reader.draw(path, FRAME, renderer, PUBLIC) is not None
    assert [path for _, path in drawn] == [first, first]  # readers come first
    wait_for(lambda: len(drawn) == 3)
    assert reader.draw(first, FRAME, renderer, PUBLIC) is not None
    time.sleep(0.8)
    reader.close()
    assert [path for _, path in drawn] == [first, first, second, first]
    assert {name for name, _ in drawn} == {"texts_0"}


def wait_for(is_done: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not is_done():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_nothing_is_prepared_once_the_service_stops(tmp_path: Path, drawn: list[tuple[str, str]]):
    filled = filled_site(tmp_path)
    run_id = filled.add([case(number) for number in range(45)], limit=45)
    renderer = Renderer("Test", "", reveals=False, slug=str)
    reader = TextReader(filled.site)
    assert reader.draw(f"runs/{run_id}/instances-1.html", FRAME, renderer, PUBLIC) is not None
    reader.close()
    time.sleep(0.8)
    assert len(drawn) == 1


def test_nothing_is_prepared_after_original_text(tmp_path: Path, drawn: list[tuple[str, str]]):
    filled = filled_site(tmp_path)
    run_id = filled.add([case(number) for number in range(45)], limit=45)
    renderer = Renderer("Test", Revealing.note, reveals=True, slug=str)
    reader = TextReader(filled.site)
    path = f"runs/{run_id}/instances-1.html"
    assert reader.draw(path, FRAME, renderer, PUBLIC, "account=1 reason=score") is not None
    time.sleep(0.8)
    reader.close()
    assert [path for _, path in drawn] == [path]


@pytest.mark.parametrize(
    ("path", "following"),
    [
        ("runs/ab12/instances-1.html", "runs/ab12/instances-2.html"),
        ("runs/ab12/instances-wrong-9.html", "runs/ab12/instances-wrong-10.html"),
        (
            "runs/ab12/instances-unscored-not_asked-1.html",
            "runs/ab12/instances-unscored-not_asked-2.html",
        ),
        ("runs/ab12/instance-1.html", None),
        ("runs/ab12/index.html", None),
        ("runs/ab12/instances-99999999.html", None),
    ],
)
def test_only_pages_of_lists_have_a_next_one(path: str, following: str | None):
    assert find_next_page(path) == following
