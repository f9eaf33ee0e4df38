"""What the head of a run says of its data."""

from tests.agent.service.conftest import OpenPages
from tests.agent.service.filled_site import FilledSite, case
from tests.agent.service.pages_read import SUITE, draw_html, find_row


def test_invented_data_is_labelled_on_every_page_of_its_run(
    filled: FilledSite, open_pages: OpenPages
):
    data = {
        "known": "invented",
        "own": False,
        "named": False,
        "digest": "ab" * 32,
        "instances": 1,
        "problems": [],
    }
    run_id = filled.add([case(0)], data=data)
    pages = open_pages(filled.site)
    assert ">invented data</span>" in find_row(draw_html(pages, SUITE), "qwen/qwen2.5-7b-instruct")
    for path in (f"runs/{run_id}/index.html", f"runs/{run_id}/instances-1.html"):
        assert "Invented data." in draw_html(pages, path)
