"""Texts on a page are text: script is inert, and only tags are marked."""

import re

import pytest

from tests.agent.service.conftest import OpenPages
from tests.agent.service.filled_site import FilledSite
from tests.agent.service.leaky_texts import SCRIPTS, Markup, leak
from tests.agent.service.pages_read import draw_html


@pytest.mark.full
@pytest.mark.parametrize("script", SCRIPTS)
def test_script_in_any_text_of_a_case_is_inert(
    filled: FilledSite, open_pages: OpenPages, script: str
):
    run_id = leak(filled, script)
    for reveal in (False, True):
        page = draw_html(open_pages(filled.site, reveal=reveal), f"runs/{run_id}/instances-1.html")
        markup = Markup(page)
        assert not markup.elements & {"script", "img", "iframe", "object", "form", "style"}
        assert not [name for name in markup.attributes if name.startswith("on") or name == "style"]
        assert not [target for target in markup.targets if ":" in target]
        assert "49" not in re.sub(r"[0-9a-f]{16}", "", page)


def test_script_in_names_and_settings_is_inert(filled: FilledSite, open_pages: OpenPages):
    found = {"features": {SCRIPTS[0]: {"state": "ignored", "finding": SCRIPTS[1]}}}
    leak(
        filled,
        "x",
        display_name=SCRIPTS[2],
        category=SCRIPTS[3],
        unit=SCRIPTS[4],
        capabilities=found,  # type: ignore[arg-type]
    )
    for path, page in open_pages(filled.site).draw_all():
        if path.endswith(".html"):
            markup = Markup(page.content.decode())
            assert not markup.elements & {"script", "img"}
            assert not [target for target in markup.targets if ":" in target]


def test_tags_are_marked_and_only_tags(filled: FilledSite, open_pages: OpenPages):
    run_id = leak(filled, "Mr. Holloway <i>")
    page = draw_html(open_pages(filled.site), f"runs/{run_id}/instances-1.html")
    assert '<span class="tag">[NAME-1]</span> &lt;i&gt;' in page
