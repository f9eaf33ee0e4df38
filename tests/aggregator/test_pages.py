"""The board's pages from made-up boards: what they show, that every link leads somewhere, and what a filter changes."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from aggregator.board.kept import keep_releases, read_kept
from aggregator.board.page_model import CardView, view_leaderboard
from aggregator.board.pages import BoardPages, PageNotFoundError, Publication, render
from aggregator.board.releases import (
    SUMMARIES_KEPT,
    BoardOrigin,
    Releases,
    add_release,
    parse_releases,
)
from aggregator.board.selection import Selection, UnknownChoiceError, parse_query
from aggregator.board.tables import json_file
from aggregator.errors import BoardMismatchError
from aggregator.merge.board_model import Board
from protocol.registry import Registry
from tests.aggregator.boards import (
    HOSTILE,
    HOSTILE_SITE,
    SMALL_MODELS,
    large_board,
    make_registry,
    publish_made_up,
    small_board,
)

Files = dict[str, bytes]


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    return make_registry(tmp_path_factory.mktemp("registry"))


@pytest.fixture(scope="module")
def publication(registry: Registry) -> Publication:
    before = small_board(models=[*SMALL_MODELS, HOSTILE])
    return publish_made_up(
        small_board(), registry, earlier=[before], helm=["Example Large", "GPT-Public"]
    )


@pytest.fixture(scope="module")
def files(publication: Publication) -> Files:
    return render(small_board(), publication)


def page_of(files: Files, start: str) -> str:
    """Return the one page whose path begins so."""
    (name,) = [name for name in files if name.startswith(start)]
    return files[name].decode()


class Page(HTMLParser):
    """The parts of a page that matter here."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of every element of this name."""
        return [attributes for name, attributes in self.tags if name == tag]

    def ids(self) -> list[str | None]:
        """Return all identifiers."""
        return [attributes["id"] for _, attributes in self.tags if "id" in attributes]


PUBLISHED_WITH_THE_LOG = {"log/checkpoint"}


def resolve(page: str, target: str) -> str:
    """Return the path from the board's root that a relative address on a page leads to."""
    parts = page.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def test_every_link_of_every_page_leads_to_a_page_or_an_anchor_that_is_there(files: Files) -> None:
    pages = {
        name: Page(content.decode()) for name, content in files.items() if name.endswith(".html")
    }
    anchors = {name: set(page.ids()) for name, page in pages.items()}
    links = 0
    for name, page in pages.items():
        for tag, attributes in page.tags:
            target = attributes.get("href")
            if target is None:
                continue
            assert not re.match(r"[a-z]+:|//|/", target), f"{tag} of {name} points elsewhere"
            path, _, anchor = target.partition("#")
            other = resolve(name, path) if path else name
            assert other in files or other in PUBLISHED_WITH_THE_LOG, f"{name} links to {other}"
            assert not anchor or anchor in anchors[other], f"{name} links to {target}"
            links += 1
    assert links > 1000


def test_pages_are_well_formed_for_assistive_programs(files: Files) -> None:
    for name, content in files.items():
        if not name.endswith(".html"):
            continue
        page = Page(content.decode())
        assert page.all("html") == [{"lang": "en"}], name
        assert len(page.all("h1")) == 1, name
        assert len(page.all("table")) == len(page.all("caption")), name
        assert all("scope" in head for head in page.all("th")), name
        identifiers = page.ids()
        assert len(identifiers) == len(set(identifiers)), name
        labels = {
            region.get("aria-labelledby")
            for region in page.all("div")
            if "aria-labelledby" in region
        }
        assert labels <= set(identifiers), name
        assert not page.all("script"), name
        for _, attributes in page.tags:
            assert not any(key.startswith("on") or key == "style" for key in attributes), name


def test_the_same_board_gives_the_same_bytes(files: Files, publication: Publication) -> None:
    assert render(small_board(), publication) == files


def test_names_of_models_and_sites_are_only_text(registry: Registry) -> None:
    files = render(
        small_board(models=[*SMALL_MODELS, HOSTILE]), publish_made_up(small_board(), registry)
    )
    index = files["index.html"].decode()
    assert 'alert("x")' not in index
    assert "&lt;script&gt;alert(" in index
    assert HOSTILE_SITE not in files["sites.html"].decode()
    assert "{{7*7}} &amp; &lt;b&gt;Co&lt;/b&gt;" in files["sites.html"].decode()


def test_the_first_screen_has_rates_with_intervals_ranges_of_ranks_and_words_for_missing_figures(
    files: Files,
) -> None:
    index = files["index.html"].decode()
    text = re.sub(r"<[^>]+>", " ", index)
    for words in (
        "1 to 3",
        "0.940 to 1.000",
        "Macro-average",
        "1 of 5 partial",
        "1 of 5 stale",
        "1 withdrawn",
    ):
        assert words in text, words
    assert "not a language model" in text
    assert "withheld" in text
    assert "Fewer than 3 sites that do not publish under their name contribute to it" in text


def test_a_pooled_figure_says_since_when_it_stands_and_how_many_sites_wait(files: Files) -> None:
    page = page_of(files, "cards/pilot-1/models/example-large")
    assert "pooled part unchanged since log entry 120; 2 sites have unpublished changes" in page


def test_a_coded_figure_has_a_footnote_where_a_reader_follows_its_mark(files: Files) -> None:
    page = Page(page_of(files, "cards/pilot-1/benchmarks/letters"))
    marks = [link["href"] for link in page.all("a") if link.get("class") == "state-note"]
    assert marks
    assert {f"#{mark}" for mark in page.ids()} >= set(marks)


def test_a_forest_plot_says_in_words_what_it_draws(files: Files) -> None:
    page = page_of(files, "cards/pilot-1/benchmarks/med_qa")
    titles = re.findall(r"<title id=\"f-\d+\">([^<]+)</title>", page)
    assert len(titles) == 3
    assert re.search(r"St\. Elsewhere: 0\.\d{3} \(0\.\d{3} to 0\.\d{3}\)", titles[0])
    assert "All sites, 2 pooled: 0.799" in titles[0]


def test_provenance_has_digest_and_log_entry_of_every_named_submission(files: Files) -> None:
    board = small_board()
    page = page_of(files, "cards/pilot-1/provenance/example-large")
    mine = [result for result in board.site_results if result.model.name == "example/large"]
    assert len(mine) == 3
    for result in mine:
        assert result.digest in page
        assert f'<td class="number">{result.log_position}</td>' in page
    assert "4 more sites contribute to the pooled figures" in page


def test_public_results_stand_beside_and_are_ranked_nowhere(
    registry: Registry, files: Files
) -> None:
    plain = render(small_board(), publish_made_up(small_board(), registry, earlier=[small_board()]))
    for name in ("index.html", "board.json", "board.csv", "releases/2.json"):
        if name in plain and name.startswith("board"):
            assert json_or_text(files, name) == json_or_text(plain, name)
    assert "GPT-Public" not in files["index.html"].decode()
    page = files["references/v2.0.0.html"].decode()
    assert "GPT-Public" in page
    assert "This board has not verified them" in page
    assert "not verified by us" in page_of(files, "cards/pilot-1/models/example-large")


def json_or_text(files: Files, name: str) -> object:
    """Return a twin's content without the log that it was made from."""
    if name.endswith(".json"):
        content = json.loads(files[name])
        content.pop("log")
        return content
    return files[name]


# Filters.


def card_of(board: Board, registry: Registry) -> CardView:
    floor = registry.policies[registry.policy_floor]
    return CardView(board.tables[0], board.site_results, floor, is_first=True)


def test_win_rates_under_a_filter_of_columns_are_computed_again_and_say_so(
    registry: Registry,
) -> None:
    card = card_of(small_board(), registry)
    view = view_leaderboard(card, Selection(category="medical-research-assistance"))
    assert [column.benchmark.id for column in view.columns] == ["pubmed_qa"]
    assert view.recomputed
    assert {row.model.row.model.name: row.win_rate for row in view.rows} == {
        "example/large": 1000,
        "other/mini": 500,
        "baseline/first-choice": 0,
    }
    assert all(row.win_rate_low is None for row in view.rows)
    pages = BoardPages(small_board(), publish_made_up(small_board(), registry), live=True)
    text = pages.page("index.html", {"category": "medical-research-assistance"}).decode()
    assert "are recomputed from the 1 benchmark shown, without intervals" in text


def test_a_filter_of_models_hides_rows_and_leaves_rates_as_they_are(registry: Registry) -> None:
    card = card_of(small_board(), registry)
    view = view_leaderboard(card, Selection(family="mini"))
    assert [row.model.row.model.name for row in view.rows] == ["other/mini"]
    assert view.rows[0].win_rate == card.table.rows[1].win_rate
    assert not view.recomputed


def test_a_filter_by_sites_leaves_out_figures_of_fewer(registry: Registry) -> None:
    card = card_of(small_board(), registry)
    view = view_leaderboard(card, Selection(sites=2))
    (baseline,) = [row for row in view.rows if not row.model.row.model.is_language_model]
    assert [cell[3] for cell in baseline.heat if cell[3]].count("too few sites") == 1
    assert [note.word for note in view.notes].count("too few sites") == 1


def test_planned_only_hides_a_model_with_one_unplanned_result(registry: Registry) -> None:
    view = view_leaderboard(card_of(small_board(), registry), Selection(planned=True))
    assert [row.model.row.model.name for row in view.rows] == ["example/large"]


def test_an_order_by_category_puts_its_best_model_first(registry: Registry) -> None:
    card = card_of(large_board(models=30, sites=4), registry)
    for slug in card.category_names:
        view = view_leaderboard(card, Selection(sort=f"category-{slug}"))
        rates = [row.category_rates[slug] or -1 for row in view.rows]
        assert rates == sorted(rates, reverse=True)
    names = [
        row.model.row.model.display_name
        for row in view_leaderboard(card, Selection(sort="name")).rows
    ]
    assert names == sorted(names, key=str.casefold)


@pytest.mark.parametrize(
    "query",
    [
        {"access": "secret"},
        {"sites": "-1"},
        {"sites": "²"},
        {"sites": "99999"},
        {"sort": "best"},
        {"planned": "1"},
        {"evil": "<script>"},
        {"size": "huge"},
    ],
)
def test_a_query_that_means_nothing_is_refused(query: dict[str, str]) -> None:
    with pytest.raises(UnknownChoiceError):
        parse_query(query)


def test_a_query_for_a_category_or_model_that_is_not_there_finds_no_page(
    registry: Registry,
) -> None:
    pages = BoardPages(small_board(), publish_made_up(small_board(), registry), live=True)
    for path, query in (
        ("index.html", {"category": "../../etc"}),
        ("index.html", {"sort": "category-nothing"}),
        ("cards/pilot-1/compare.html", {"a": "nobody", "b": "nobody"}),
        ("cards/pilot-1/compare.html", {"a": "", "b": ""}),
        ("cards/pilot-1/benchmarks/med_qa.html", {"model": "nobody"}),
        ("../aggregator.yaml", {}),
    ):
        with pytest.raises(PageNotFoundError):
            pages.page(path, query)


def test_two_filters_together_are_the_live_boards_alone(registry: Registry) -> None:
    publication = publish_made_up(small_board(), registry)
    selection = Selection(access="public", family="mini")
    assert selection.page() is None
    assert Selection(access="public").page() == "by/access-public.html"
    live = BoardPages(small_board(), publication, live=True)
    text = live.page("index.html", {"access": "public", "family": "mini", "sort": ""}).decode()
    assert "Shown: public benchmarks; models of the family Mini." in text
    assert "access=public&amp;family=mini&amp;sort=name" in text, "an order keeps the filters"


# Releases.


def test_a_release_page_names_models_that_came_and_went(files: Files) -> None:
    page = files["releases/2.html"].decode()
    assert "no longer shown" in page
    assert "&lt;script&gt;" in page
    assert "rank" in page.lower()


def test_a_board_that_did_not_change_is_no_new_release(registry: Registry) -> None:
    board, head = small_board(), BoardOrigin(10, "a" * 64, 1)
    content = json_file(board, registry, head)
    once = add_release(Releases(), board, content, head, day=1)
    assert add_release(once, board, content, head, day=2) is once


def test_summaries_of_old_releases_are_dropped_and_their_entries_stay(
    registry: Registry, tmp_path: Path
) -> None:
    board = small_board()
    releases = Releases()
    for number in range(SUMMARIES_KEPT + 3):
        head = BoardOrigin(number, f"{number:064x}", 1)
        releases = add_release(releases, board, json_file(board, registry, head), head, day=number)
    assert len(releases.entries) == SUMMARIES_KEPT + 3
    assert sorted(releases.summaries)[0] == 4
    assert parse_releases(releases.files()) == releases
    keep_releases(tmp_path, releases.files())
    assert read_kept(tmp_path).releases == releases


def test_a_changed_list_of_releases_or_summary_is_seen(files: Files) -> None:
    kept = {name: files[name] for name in ("releases.json", "releases/1.json", "releases/2.json")}
    assert len(parse_releases(kept).entries) == 2
    changes = {
        "releases.json": (b'"day": 207', b'"day": 107'),
        "releases/1.json": (b'"rank":1', b'"rank":2'),
    }
    for name, (old, new) in changes.items():
        changed = {**kept, name: kept[name].replace(old, new, 1)}
        assert changed != kept
        if name == "releases.json":
            assert parse_releases(changed).entries[0].day == 10_730  # a day is the publisher's word
        else:
            with pytest.raises(BoardMismatchError, match="does not match its release"):
                parse_releases(changed)
    for name in ("releases/1.json", "releases/2.json"):
        with pytest.raises(BoardMismatchError, match="missing"):
            parse_releases({other: content for other, content in kept.items() if other != name})
    reformatted = kept["releases.json"].replace(b"\n", b"", 1)
    with pytest.raises(BoardMismatchError, match="canonical form"):
        parse_releases({**kept, "releases.json": reformatted})


def test_the_feed_is_atom_with_an_entry_for_each_release(files: Files) -> None:
    feed = ElementTree.fromstring(files["feed.atom"])
    atom = "{http://www.w3.org/2005/Atom}"
    assert [entry.findtext(f"{atom}title") for entry in feed.findall(f"{atom}entry")] == [
        "Release 2",
        "Release 1",
    ]
    assert feed.findtext(f"{atom}updated") is not None
    for link in feed.iter(f"{atom}link"):
        assert link.get("href") in files


# Size.


@pytest.mark.full
def test_a_board_of_a_hundred_models_makes_a_bounded_number_of_pages(registry: Registry) -> None:
    board = large_board()
    files = render(board, publish_made_up(board, registry))
    by_filter = [name for name in files if "/by/" in name]
    assert len(by_filter) <= 3 + 5 + 22 + 12 + 4 + 1 + 4 + 3 + 5
    assert len([name for name in files if "/compare/" in name]) < 2 * 100
    assert len(files) < 700
