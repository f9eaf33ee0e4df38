"""What pages show, what they must never show, and that every link leads somewhere."""

import json
import posixpath
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from agent.errors import ConfigError
from agent.service.clearing import Redacting, Revealing
from agent.service.files import write_pages
from agent.service.pages import SitePages, suite_slug
from agent.vocabulary import Reason, Reference
from tests.agent.service.memory_site import MemorySite, case_record, run_detail

CANARIES = ("Holloway", "00451234", "03/14/2022", "617-555-0143", "holloway@ward7.example", "Willow Creek")
LEAKY = (
    "Margaret Holloway, MRN: 00451234, was seen on 03/14/2022 at Willow Creek Medical Center; "
    "call 617-555-0143 or margaret.holloway@ward7.example."
)
SCRIPTS = (
    "<script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "</div></details><svg onload=alert(1)>",
    "{{ 7*7 }} {% raw %} javascript:alert(1)",
    "'\"><a href=javascript:alert(1)>x</a>",
)


class Markup(HTMLParser):
    """Element names, attribute names and link targets of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.targets: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.targets += [value or "" for name, value in attrs if name in ("href", "src")]


def html(pages: SitePages, path: str) -> str:
    page = pages.page(path)
    assert page is not None
    return page.content.decode()


def leaky_site(text: str) -> MemorySite:
    site = MemorySite()
    record = case_record(
        0, prompt=text, answer=f"I agree: {text}", reasoning=f"Think. {text}", references=(Reference(text, True),)
    )
    site.add(run_detail(instances=1), [record])
    return site


def everything(pages: SitePages) -> bytes:
    return b"".join(path.encode() + page.content for path, page in pages.everything())


def test_planted_identifiers_are_on_no_page_and_in_no_twin(redacting: Redacting):
    pages = SitePages(leaky_site(LEAKY), redacting)
    shown = everything(pages)
    assert b"[MRN-1]" in shown
    assert [canary for canary in (*CANARIES, "patient-0", "unit-0") if canary.encode() in shown] == []


def test_planted_identifiers_are_in_no_exported_file_or_file_name(redacting: Redacting, tmp_path: Path):
    write_pages(SitePages(leaky_site(LEAKY), redacting), tmp_path / "out")
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    content = b"".join(path.read_bytes() + str(path).encode() for path in files)
    assert len(files) == 9
    assert [canary for canary in CANARIES if canary.encode() in content] == []
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_script_in_any_text_of_a_case_is_inert(redacting: Redacting, script: str):
    page = html(SitePages(leaky_site(script), redacting), "runs/run-1/instances-1.html")
    markup = Markup(page)
    assert not markup.elements & {"script", "img", "iframe", "object", "form", "style"}
    assert not [name for name in markup.attributes if name.startswith("on") or name == "style"]
    assert not [target for target in markup.targets if ":" in target]
    assert "49" not in re.sub(r"[0-9a-f]{16}", "", page)


def test_script_in_names_and_settings_is_inert(redacting: Redacting):
    site = MemorySite(name=SCRIPTS[0])
    site.add(
        run_detail(suite=SCRIPTS[1], model=SCRIPTS[2], benchmark_name=SCRIPTS[3], category=SCRIPTS[4]), [case_record()]
    )
    pages = SitePages(site, redacting)
    for path, page in pages.everything():
        if path.endswith(".html"):
            markup = Markup(page.content.decode())
            assert not markup.elements & {"script", "img"}
            assert not [target for target in markup.targets if ":" in target]


def test_every_link_leads_to_a_page_of_the_same_folder(pages: SitePages):
    known = dict(pages.everything())
    for path, page in known.items():
        if path.endswith(".html"):
            for target in Markup(page.content.decode()).targets:
                if not target.startswith("#"):
                    assert posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(target))) in known


def test_no_page_asks_another_host_or_runs_anything(pages: SitePages):
    for _, page in pages.everything():
        content = page.content.decode()
        assert not re.search(r"(?:src|href|url\()\s*=?\s*[\"']?(?:[a-z]+:)?//", content)
        assert "<script" not in content
        assert "style=" not in content


def test_the_leaderboard_shows_means_with_intervals_counts_and_labelled_baselines(pages: SitePages):
    page = html(pages, "suites/november/index.html")
    assert "0.742" in page
    assert "0.690 to 0.789" in page
    assert page.index("qwen/qwen2.5-7b-instruct") < page.index("baseline/first-choice")
    row = page[page.index("baseline/first-choice") :]
    assert "baseline, not a language model" in row[: row.index("</tr>")]
    assert "not a language model" not in page[: page.index("baseline/first-choice")].split("<tbody>")[-1]


def test_a_run_without_a_mean_comes_last_and_says_none_not_zero(redacting: Redacting):
    site = MemorySite()
    site.add(run_detail("run-a", mean=None, interval=None, unscored={Reason.SERVER_ERROR: 45}, model="a/dead"), [])
    site.add(run_detail("run-b", mean=0.0, interval=(0.0, 0.1), model="b/poor"), [])
    page = html(SitePages(site, redacting), "suites/november/index.html")
    assert page.index("b/poor") < page.index("a/dead")
    row = page[page.index("a/dead") :]
    assert "none" in row[: row.index("</tr>")]


def test_a_run_page_counts_unscored_by_reason(redacting: Redacting):
    site = MemorySite()
    site.add(run_detail(unscored={Reason.UNPARSED: 3, Reason.CONTEXT_LENGTH: 2}), [])
    page = html(SitePages(site, redacting), "runs/run-1/index.html")
    assert re.search(r"unparsed</th><td class=\"number\">3<", page)
    assert re.search(r"context length</th><td class=\"number\">2<", page)
    assert "logprobs" in page


def test_pages_of_instances_are_complete_and_end(pages: SitePages):
    seen = []
    for number in (1, 2, 3):
        page = pages.page(f"runs/run-1/instances-{number}.json")
        assert page is not None
        seen += [case["position"] for case in json.loads(page.content)["cases"]]
    assert seen == list(range(1, 46))
    assert pages.page("runs/run-1/instances-4.html") is None


def test_failures_and_purged_texts_are_told_in_words(pages: SitePages):
    page = html(pages, "runs/run-1/instances-1.html")
    assert "No answer: timeout." in page
    assert "The texts were purged; scores are kept." in page


@pytest.mark.parametrize(
    "path",
    [
        "", "index", "index.htm", "index.html/", "../index.html", "runs/run-1/../run-2/index.html",
        "runs/none/index.html",
        "runs/run-1/instances-0.html", "runs/run-1/instances--1.html", "runs/run-1/instances-99999999999.html",
        "suites/none/index.html", "templates/style.css", "style.css.html", "runs/run-1/instances-1.html.json",
    ],
)  # fmt: skip
def test_there_is_no_page_at_other_paths(pages: SitePages, path: str):
    assert pages.page(path) is None


def test_suite_names_of_any_kind_have_paths_of_their_own():
    names = ["a", "a b", "a-b", "a/b", "../..", "..", "\u00e9", "e", "A" * 200, "A" * 201, "con", ""]
    slugs = [suite_slug(name) for name in names]
    assert len(set(slugs)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,90}", slug) for slug in slugs)


def test_text_that_skipped_redaction_stops_the_page(site: MemorySite):
    class Forgetful(Redacting):
        def clear(self, records, event):  # type: ignore[no-untyped-def]
            cleared = super().clear(records, event)
            return type(cleared)([[str(text) for text in record] for record in cleared.records], 0)

    from agent.redaction import open_redactor

    with pytest.raises(TypeError, match="without redaction"):
        SitePages(site, Forgetful(open_redactor())).page("runs/run-1/instances-1.html")


def test_revealing_shows_the_original_after_an_entry_in_the_audit_log():
    site = leaky_site(LEAKY)
    pages = SitePages(site, Revealing(site.audit))
    pages.page("runs/run-1/index.html")
    assert site.audited == []
    page = html(pages, "runs/run-1/instances-1.html")
    assert site.audited == ["view run=run-1 instances=0-0"]
    assert "Holloway" in page
    assert "Original text." in page


def test_nothing_is_revealed_when_the_audit_log_fails():
    site = leaky_site(LEAKY)

    def full(event: str) -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        SitePages(site, Revealing(full)).page("runs/run-1/instances-1.html")


def test_an_export_never_mixes_with_other_files(pages: SitePages, tmp_path: Path):
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(ConfigError, match="not empty"):
        write_pages(pages, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]


def test_a_failed_export_leaves_nothing_behind(site: MemorySite, redacting: Redacting, tmp_path: Path):
    site.records["run-2"] = None  # type: ignore[assignment]
    with pytest.raises(TypeError):
        write_pages(SitePages(site, redacting), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_withheld_text_is_counted_on_its_page(redacting: Redacting):
    page = html(SitePages(leaky_site("caf\ufffd"), redacting), "runs/run-1/instances-1.html")
    assert "4 texts on this page are withheld" in page
    assert "[WITHHELD: undecodable]" in page


def test_tags_are_marked_and_only_tags(redacting: Redacting):
    page = html(SitePages(leaky_site("Mr. Holloway <i>"), redacting), "runs/run-1/instances-1.html")
    assert 'Mr. <span class="tag">[NAME-1]</span> &lt;i&gt;' in page


def test_the_twin_holds_what_the_page_shows(pages: SitePages):
    twin = pages.page("suites/november/index.json")
    assert twin is not None
    board = json.loads(twin.content)["boards"][0]
    assert board["rows"][0]["main"] == {
        "metric": "exact_match", "n": 45, "unscored": 0, "mean": 0.742, "interval": [0.69, 0.789],
        "scale_low": 0.0, "scale_high": 1.0,
    }  # fmt: skip


def test_the_export_and_the_server_draw_the_same(pages: SitePages):
    for path, page in pages.everything():
        assert pages.page(path) == page
