"""What pages show, what they must never show, and that every link leads somewhere."""

import json
import posixpath
import re
import sqlite3
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from agent.catalog.deployments import Prices
from agent.cli.main import intramural
from agent.errors import ConfigError, StoreError
from agent.exchange.helm.import_runs import import_helm
from agent.exchange.helm.leaderboard import import_leaderboard
from agent.exchange.releases import make_release
from agent.io.progress import Progress
from agent.redaction import Redactor
from agent.redaction.gateway.cases import Redacting
from agent.service.files import write_pages
from agent.service.pages import SitePages, suite_slug
from agent.vocabulary import Reason, Reference
from tests.agent.exchange.conftest import DATA
from tests.agent.service.conftest import OpenPages
from tests.agent.service.filled_site import FilledSite, case, failed, graded, unscored
from tests.agent.service.pages_read import SUITE, draw_html, find_row

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


def leak(filled: FilledSite, text: str, **details: str) -> str:
    """Add a run with the text in every place of a case that holds text; return its id."""
    leaky = case(
        prompt=text,
        answer=f"I agree: {text}",
        reasoning=f"Think. {text}",
        references=(Reference(text, True),),
        identity=text,
        unit=text,
    )
    return filled.add([leaky], **details)


def test_planted_identifiers_are_on_no_page_and_in_no_twin(filled: FilledSite, open_pages: OpenPages):
    leak(filled, LEAKY)
    shown = b"".join(path.encode() + page.content for path, page in open_pages(filled.site).draw_all())
    assert b"[MRN-1]" in shown
    assert [canary for canary in CANARIES if canary.encode() in shown] == []


def test_planted_identifiers_are_in_no_exported_file_or_file_name(
    filled: FilledSite, open_pages: OpenPages, tmp_path: Path
):
    leak(filled, LEAKY)
    assert write_pages(open_pages(filled.site), tmp_path / "out", Progress(quiet=True)) == 9
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    content = b"".join(path.read_bytes() + str(path).encode() for path in files)
    assert len(files) == 9
    assert [canary for canary in CANARIES if canary.encode() in content] == []
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


@pytest.mark.parametrize("script", SCRIPTS)
def test_script_in_any_text_of_a_case_is_inert(filled: FilledSite, open_pages: OpenPages, script: str):
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


def test_every_link_leads_to_a_page_of_the_same_folder(pages: SitePages):
    known = dict(pages.draw_all())
    for path, page in known.items():
        if path.endswith(".html"):
            for target in Markup(page.content.decode()).targets:
                if not target.startswith("#"):
                    assert posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(target))) in known


def test_no_page_asks_another_host_or_runs_anything(pages: SitePages):
    for _, page in pages.draw_all():
        content = page.content.decode()
        assert not re.search(r"(?:src|href|url\()\s*=?\s*[\"']?(?:[a-z]+:)?//", content)
        assert "<script" not in content
        assert "style=" not in content


def test_a_run_page_shows_what_was_changed_and_chosen(filled: FilledSite, open_pages: OpenPages):
    entry = "pubmed_qa:model=a/b,temperature=0.5,instructions=expert"
    changed = filled.add([*graded(2, 4), unscored(4), unscored(5, Reason.CONTEXT_LENGTH)], entry=entry, limit=12)
    plain = filled.add(graded(2, 4), entry="pubmed_qa:model=a/c")
    pages = open_pages(filled.site)
    page = draw_html(pages, f"runs/{changed}/index.html")
    assert "temperature, instructions" in page
    assert "12 of 100 of the data, chosen with seed 7" in page
    assert "1 context length, 1 unparsed" in page
    assert "asked for and not sent" in page
    page = draw_html(pages, f"runs/{plain}/index.html")
    assert "Changed by the run entry</th><td>nothing<" in page
    assert "all 100 of the data" in page


def test_pages_of_instances_are_complete_and_end(pages: SitePages, run_id: str):
    seen = []
    for number in (1, 2, 3):
        page = pages.draw_page(f"runs/{run_id}/instances-{number}.json")
        assert page is not None
        seen += [shown["case"]["position"] for shown in json.loads(page.content)["cases"]]
    assert seen == list(range(45))
    assert pages.draw_page(f"runs/{run_id}/instances-4.html") is None


def test_failures_and_purged_texts_are_told_in_words(filled: FilledSite, open_pages: OpenPages):
    run_id = filled.add([case(0), failed(1), unscored(2)])
    pages = open_pages(filled.site)
    assert "No answer: timeout." in draw_html(pages, f"runs/{run_id}/instances-1.html")
    with filled.site.store() as store:
        assert store.purge(0) == 5
    page = draw_html(pages, f"runs/{run_id}/instances-1.html")
    assert page.count("The texts were purged; scores are kept.") == 2
    assert "unscored: unparsed" in page
    assert "aspirin" not in page


@pytest.mark.parametrize(
    "path",
    [
        "", "index", "index.htm", "index.html/", "../index.html", "runs/RUN/../RUN/index.html", "runs/none/index.html",
        "runs/RUN/instances-0.html", "runs/RUN/instances--1.html", "runs/RUN/instances-99999999999.html",
        "suites/none/index.html", "templates/style.css", "style.css.html", "runs/RUN/instances-1.html.json",
    ],
)  # fmt: skip
def test_there_is_no_page_at_other_paths(pages: SitePages, run_id: str, path: str):
    assert pages.draw_page(path.replace("RUN", run_id)) is None


def test_suite_names_of_any_kind_have_paths_of_their_own():
    names = ["a", "a b", "a-b", "a/b", "../..", "..", "\u00e9", "e", "A" * 200, "A" * 201, "con", ""]
    slugs = [suite_slug(name) for name in names]
    assert len(set(slugs)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,90}", slug) for slug in slugs)


def test_text_that_skipped_redaction_stops_the_page(
    november: FilledSite, open_pages: OpenPages, redactor: Redactor, run_id: str
):
    class Forgetful(Redacting):
        def clear_records(self, records, which, subjects=()):  # type: ignore[no-untyped-def]
            return [list(record) for record in records]

    with pytest.raises(TypeError, match="without redaction"):
        open_pages(november.site, Forgetful(redactor)).draw_page(f"runs/{run_id}/instances-1.html")


def test_revealing_shows_text_and_ids_after_an_entry_in_the_audit_log_of_the_store(
    filled: FilledSite, open_pages: OpenPages
):
    run_id = leak(filled, LEAKY)
    pages = open_pages(filled.site, reveal=True)
    pages.draw_page(f"runs/{run_id}/index.html")
    pages.draw_page("suites/november/index.html")
    assert filled.audited() == []
    page = draw_html(pages, f"runs/{run_id}/instances-1.html")
    assert filled.audited() == [f"view run={run_id} instances=0-0"]
    assert f"{LEAKY}-0</span>" in page  # the dataset's own id
    assert "Original text." in page


def test_a_redacted_page_has_no_id_and_leaves_no_entry(pages: SitePages, november: FilledSite, run_id: str):
    page = draw_html(pages, f"runs/{run_id}/instances-1.html")
    assert "patient-" not in page
    assert "unit-" not in page
    assert november.audited() == []


def test_nothing_is_revealed_when_the_audit_log_cannot_be_written(filled: FilledSite, open_pages: OpenPages):
    run_id = leak(filled, LEAKY)
    pages = open_pages(filled.site, reveal=True)
    with sqlite3.connect(filled.site.directory / "store" / "site.sqlite3") as other:
        other.execute("DROP TABLE audit_events")
    with pytest.raises(StoreError):
        pages.draw_page(f"runs/{run_id}/instances-1.html")


def test_an_export_never_mixes_with_other_files(pages: SitePages, tmp_path: Path):
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(ConfigError, match="not empty"):
        write_pages(pages, tmp_path, Progress(quiet=True))
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]


def test_a_withheld_text_is_counted_on_its_page(filled: FilledSite, open_pages: OpenPages):
    run_id = leak(filled, "caf\ufffd")
    pages = open_pages(filled.site)
    for _ in range(2):  # the count is the page's own, not that of all pages so far
        page = draw_html(pages, f"runs/{run_id}/instances-1.html")
        assert "4 texts on this page are withheld" in page
    assert "[WITHHELD: undecodable]" in page


def test_tags_are_marked_and_only_tags(filled: FilledSite, open_pages: OpenPages):
    run_id = leak(filled, "Mr. Holloway <i>")
    page = draw_html(open_pages(filled.site), f"runs/{run_id}/instances-1.html")
    assert '<span class="tag">[NAME-1]</span> &lt;i&gt;' in page


def test_the_twin_holds_what_the_page_shows(pages: SitePages):
    twin = pages.draw_page("suites/november/index.json")
    assert twin is not None
    first = json.loads(twin.content)["leaderboard"]["boards"][0]["rows"][0]["main"]
    assert first["metric"]["metric"] == "exact_match"
    assert first["metric"]["mean"]["n"] == 44
    assert first["metric"]["mean"]["value"] == 1.0
    assert first["metric"]["unscored"] == {"timeout": 1}
    assert first["unscored"] == 1


def test_the_export_and_the_server_draw_the_same(pages: SitePages):
    drawn = dict(pages.draw_all())
    assert len(drawn) == 1 + 2 * pages.count_pages()
    for path, page in drawn.items():
        assert pages.draw_page(path) == page


def test_a_release_page_joins_suites_and_marks_what_was_imported(filled: FilledSite, open_pages: OpenPages):
    filled.add(graded(10, 40))
    filled.add(graded(30, 40), suite="december")
    import_leaderboard(filled.site, DATA / "helm_release", "medhelm")
    make_release(filled.site, ["november", "december", "medhelm"], "winter.1")
    pages = open_pages(filled.site)
    path = f"releases/{suite_slug('winter.1')}/index.html"
    page = draw_html(pages, path)
    assert f'href="{path}"' in draw_html(pages, "index.html")
    assert "0.750" in find_row(page, "qwen/qwen2.5-7b-instruct")
    assert "0.250" not in find_row(page, "qwen/qwen2.5-7b-instruct")
    imported = find_row(page, "baseline/first-choice")
    assert ">imported</span>" in imported
    assert "href=" not in imported
    assert "not said" in imported
    assert "rows were made elsewhere with HELM" in re.sub(r"\s+", " ", page)
    assert "the one of december" in page
    assert "Mean win rates" in page
    twin = pages.draw_page(path.replace(".html", ".json"))
    assert twin is not None
    shown = json.loads(twin.content)
    assert shown["suites"] == ["november", "december"]
    assert shown["leaderboards"] == [["medhelm", "v9"]]


def test_every_link_of_a_release_leads_to_a_page(filled: FilledSite, open_pages: OpenPages):
    filled.add(graded(10, 40))
    import_leaderboard(filled.site, DATA / "helm_release", "medhelm")
    make_release(filled.site, ["november", "medhelm"], "winter")
    pages = open_pages(filled.site)
    everything = dict(pages.draw_all())
    assert pages.count_pages() == sum(path.endswith(".html") for path in everything)
    for target in Markup(everything["releases/winter/index.html"].content.decode()).targets:
        if not target.startswith("#"):
            assert posixpath.normpath(posixpath.join("releases/winter", target)) in everything


def test_an_imported_run_says_so_on_each_of_its_pages(filled: FilledSite, open_pages: OpenPages):
    import_helm(filled.site, DATA / "helm_output")
    pages = open_pages(filled.site)
    with filled.site.store() as store:
        run_id = store.runs.select("real")[0].run_id
    for path in (f"runs/{run_id}/index.html", f"runs/{run_id}/instances-1.html"):
        assert "Imported from HELM." in draw_html(pages, path)
    assert ">imported</span>" in draw_html(pages, "suites/real/index.html")
    assert "What it took" not in draw_html(pages, f"runs/{run_id}/index.html")


def test_a_run_page_says_what_the_run_took_and_cost(filled: FilledSite, redacting: Redacting):
    run_id = filled.add([case(0), case(1)])
    with filled.site.store() as store:
        deployment = store.runs.select()[0].deployment
        page = draw_html(SitePages("s", store, redacting), f"runs/{run_id}/index.html")
        assert "2 answers, 2 requests (0 retries), 20 tokens in, 4 tokens out" in page
        assert "cost" not in page
        priced = SitePages("s", store, redacting, prices={deployment: Prices("EUR", 1_000_000.0, 0.0)})
        assert "cost: 20.00 EUR by tokens" in draw_html(priced, f"runs/{run_id}/index.html")


def test_invented_data_is_labelled_on_every_page_of_its_run(filled: FilledSite, open_pages: OpenPages):
    data = {"known": "invented", "own": False, "named": False, "digest": "ab" * 32, "instances": 1, "problems": []}
    run_id = filled.add([case(0)], data=data)
    pages = open_pages(filled.site)
    assert ">invented data</span>" in find_row(draw_html(pages, SUITE), "qwen/qwen2.5-7b-instruct")
    for path in (f"runs/{run_id}/index.html", f"runs/{run_id}/instances-1.html"):
        assert "Invented data." in draw_html(pages, path)


def test_a_run_shows_its_main_metric_by_subgroup(filled: FilledSite, open_pages: OpenPages):
    cases = [case(n, score=float(n < 2)) for n in range(4)]
    of = [replace(c, instance=replace(c.instance, subgroups={"sex": "<f>" if n else "m"})) for n, c in enumerate(cases)]
    run_id = filled.add(of)
    page = open_pages(filled.site).draw_page(f"runs/{run_id}/index.html")
    assert page is not None
    text = page.content.decode()
    assert "<h2>Subgroups</h2>" in text
    rows = re.findall(
        r'<td data-heading="Value">(.*?)</td>\s*<td class="number mean" data-heading="Mean">(.*?)</td>', text
    )
    assert rows == [("&lt;f&gt;", "0.333"), ("m", "1.000")]


def test_files_of_a_release_hold_that_release_and_nothing_else(filled: FilledSite, tmp_path: Path):
    shown, hidden = filled.add([case(0)]), filled.add([case(1)], suite="secret")
    make_release(filled.site, ["november"], "R1")
    make_release(filled.site, ["secret"], "R2")
    words = ["--site", str(filled.site.directory), "view", "--release", "R1", "--export", str(tmp_path / "out")]
    done = CliRunner().invoke(intramural, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    paths = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.html")}
    assert f"runs/{shown}/index.html" in paths
    assert "releases/R1/index.html" in paths
    assert [path for path in paths if hidden in path or "secret" in path or "R2" in path] == []
    assert "secret" not in (tmp_path / "out" / "index.html").read_text("utf-8")
