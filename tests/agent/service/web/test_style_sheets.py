"""What a browser loads beside a page: style sheets and icons."""

import struct

import pytest

from tests.agent.service.web.running_service import RunningService


@pytest.mark.parametrize(
    ("path", "kind"), [("/favicon.ico", "image/x-icon"), ("/icon.svg", "image/svg+xml")]
)
def test_a_browser_gets_an_icon_before_anybody_signs_in(
    running: RunningService, path: str, kind: str
):
    answer = running.visit().get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == kind
    assert "max-age" in answer.headers["cache-control"]
    assert len(answer.content) < 2000


def test_the_icon_has_the_sizes_that_its_head_states(running: RunningService):
    icon = running.visit().get("/favicon.ico").content
    _, kind, images = struct.unpack_from("<HHH", icon)
    assert (kind, images) == (1, 2)
    for number in range(images):
        width, _, _, _, _, _, size, start = struct.unpack_from("<BBBBHHII", icon, 6 + 16 * number)
        drawn = icon[start : start + size]
        assert drawn.startswith(b"\x89PNG")
        assert struct.unpack_from(">I", drawn, 16)[0] == width


def test_pages_name_the_icon(running: RunningService):
    assert 'rel="icon" href="/icon.svg"' in running.visit().get("/sign-in").text
