"""Runs with a site's own metric: enabled by digest, scored after the answers, marked in tables, kept at the site."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.disclosure.collect import collect, list_own_metrics_left_out
from agent.disclosure.commitment import compute_scores_root, list_records, open_leaves
from agent.disclosure.leaf_rescoring import check_leaves
from agent.errors import BenchmarkError
from agent.runs.rescore import rescore_suite
from agent.site.directory import Site, create_site
from agent.store import Store
from agent.vocabulary import Reason, Unscored
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard
from tests.agent.cli.benchmark_commands import on
from tests.agent.fault_server import Asked, FaultServer, Message
from tests.agent.own_metrics.metrics import approve, write_metric
from tests.agent.runs.suites import answers_file, plan, run, write_benchmark

DOSES = (
    "wanted = [each.text for each in references if each.correct]\n"
    "if wanted == ['none']: return 'no_reference'\n"
    "return sum(text in answer for text in wanted) / len(wanted)"
)
METRICS = "id_column: id\nunit_column: id\nmax_tokens: 8\nmetrics:\n  - name: rouge_l\n  - name: own/dose\n"
GOLD = ("none", "5 mg", "10 mg", "5 mg")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of temporary files, which is empty again after each test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A site with a benchmark that names an own metric, and the metric's file, not yet enabled."""
    site = create_site(tmp_path / "site", "h")
    rows = [
        {"id": f"p{n}", "note": f"note {n}", "correct_answer": gold} for n, gold in enumerate(GOLD)
    ]
    write_benchmark(site, "notes", rows, METRICS)
    write_metric(site.plugins, DOSES, name="dose")
    return site


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer(models=["m"], answer="take 5 mg") as server:
        yield server


def enable(site: Site, *names: str) -> Site:
    """Enable files with their present digests; return the site, to be read anew."""
    lines = ["site_name: h", "plugins:"]
    for name in names:
        source = approve(site.plugins / f"{name}.py")
        lines.append(f"  - {{name: {name}, file: {source.shown}, sha256: {source.sha256}}}")
    (site.directory / "site.yaml").write_text("\n".join(lines) + "\n")
    return Site(site.directory)


def read_scores(site: Site, suite: str = "s", metric: str = "own/dose") -> list[object]:
    with site.store() as store:
        (stored,) = store.runs.select(suite)
        each = store.answers.read_each_instance(stored.run_id)
        return [instance.scores.get(metric) for instance in each]


def test_a_metric_that_nobody_enabled_is_refused_before_anything_is_asked(
    site: Site, server: FaultServer
):
    with pytest.raises(BenchmarkError) as refused:
        run(site, server.url, "notes:model=m")
    digest = approve(site.plugins / "dose.py").sha256
    assert str(refused.value) == (
        f"notes: own/dose is not enabled at this site; plugins/dose.py has sha256 {digest}"
    )
    assert "under `plugins` in site.yaml" in refused.value.advice
    assert server.asked == []


def test_a_file_that_changed_after_it_was_enabled_is_refused_before_anything_is_asked(
    site: Site, server: FaultServer
):
    site = enable(site, "dose")
    with (site.plugins / "dose.py").open("a") as file:
        file.write("# harmless?\n")
    with pytest.raises(BenchmarkError, match=r"plugins/dose\.py is not the code that site\.yaml"):
        run(site, server.url, "notes:model=m")
    assert server.asked == []


@pytest.mark.full
def test_a_run_is_scored_and_the_metric_stands_marked_in_every_local_table(
    site: Site, server: FaultServer, tmp_path: Path
):
    site = enable(site, "dose")
    done = on(site, "run", "--server", server.url, "-r", "notes:model=m", "--suite", "s", "--quiet")
    assert done.returncode == 0, done.stderr
    assert read_scores(site) == [Unscored(Reason.NO_REFERENCE), 1.0, 0.0, 1.0]
    with site.store() as store:
        (stored,) = store.runs.select("s")
    kept = stored.details.find_metric("own/dose")
    digest = approve(site.plugins / "dose.py").sha256
    assert kept is not None
    assert (kept.display_name, kept.options) == ("Test (own)", {"code": f"sha256:{digest}"})
    shown = on(site, "summarize", "--suite", "s", "--all-metrics")
    assert "own/dose  0.667" in shown.stdout
    rows = json.loads(
        on(site, "summarize", "--suite", "s", "--all-metrics", "--format", "json").stdout
    )
    (row,) = [row for row in rows if row["metric"] == "own/dose"]
    assert (row["n"], row["unscored_reasons"]) == (3, {"no_reference": 1})
    assert on(site, "export", "--suite", "s", "--out", tmp_path / "tables").returncode == 0
    lines = (tmp_path / "tables" / "instances.jsonl").read_text().splitlines()
    assert [json.loads(line)["scores"]["own/dose"] for line in lines[1:]] == [1.0, 0.0, 1.0]
    folder = tmp_path / "helm"
    on(site, "export", "--suite", "s", "--format", "helm", "--out", folder)
    (stats,) = folder.rglob("stats.json")
    names = {statistic["name"]["name"] for statistic in json.loads(stats.read_text())}
    assert "own/dose" in names
    assert "dose" not in names


def test_answers_from_a_file_are_scored_too(site: Site, tmp_path: Path):
    site = enable(site, "dose")
    answers = answers_file(tmp_path / "a.jsonl", {"p1": "5 mg", "p2": "5 mg", "p3": "5 mg"})
    shown = on(site, "score", "notes", "--answers", answers)
    assert shown.returncode == 0, shown.stderr
    assert "own/dose" in shown.stdout
    assert "0.667" in shown.stdout


def test_other_code_is_another_metric_and_rescore_computes_it_for_stored_answers(
    site: Site, server: FaultServer
):
    site = enable(site, "dose")
    run(site, server.url, "notes:model=m")
    asked = len(server.asked)
    write_metric(site.plugins, "return 1", name="dose")
    with site.store() as store:
        (refused,) = rescore_suite(store, "s", means=site.means)
    assert "is not the code that site.yaml enables" in refused.left
    assert read_scores(site)[1:] == [1.0, 0.0, 1.0]
    site = enable(site, "dose")
    with site.store() as store:
        (rescored,) = rescore_suite(store, "s", means=site.means)
    (change,) = [change for change in rescored.changes if change.metric == "own/dose"]
    assert (change.before, change.after, change.changed) == (2 / 3, 1.0, 2)
    assert read_scores(site) == [1.0] * 4
    assert len(server.asked) == asked


def test_running_again_with_other_code_asks_nothing_and_scores_anew(
    site: Site, server: FaultServer
):
    site = enable(site, "dose")
    run(site, server.url, "notes:model=m")
    write_metric(site.plugins, "return 0", name="dose")
    site = enable(site, "dose")
    (outcome,) = run(site, server.url, "notes:model=m")
    assert (outcome.asked, read_scores(site)) == (0, [0.0] * 4)


def test_results_of_different_code_are_not_compared(site: Site):
    write_metric(site.plugins, "return 0", name="dose")
    with FaultServer(models=["a", "b"], answer="take 5 mg") as server:
        run(enable(site, "dose"), server.url, "notes:model=a")
        write_metric(site.plugins, "return 1", name="dose")
        site = enable(site, "dose")
        run(site, server.url, "notes:model=b")
    compared = on(site, "compare", "a", "b", "--suite", "s", "--metric", "own/dose")
    assert "other code of the site's own metric" in compared.stdout + compared.stderr


def test_answers_about_which_the_metric_fails_are_unscored_and_the_operator_is_told(
    site: Site, server: FaultServer
):
    write_metric(site.plugins, "return {'5 mg': 1}[references[0].text]", name="dose")
    site = enable(site, "dose")
    done = on(site, "run", "--server", server.url, "-r", "notes:model=m", "--suite", "s", "--quiet")
    assert done.returncode == 0
    assert "own/dose raised KeyError in line 6 (2 unscored)" in done.stderr
    assert read_scores(site) == [
        Unscored(Reason.METRIC_FAILED),
        1.0,
        Unscored(Reason.METRIC_FAILED),
        1.0,
    ]
    again = on(site, "rescore", "--suite", "s")
    assert "own/dose raised KeyError in line 6 (2 unscored)" in again.stderr


def test_helms_rules_do_not_exist_for_an_own_metric(site: Site, server: FaultServer):
    site = enable(site, "dose")
    run(site, server.url, "notes:model=m", scoring="both")
    with site.store() as store:
        (stored,) = store.runs.select("s")
    assert [metric.name for metric in stored.details.metrics] == [
        "rouge_l",
        "rouge_l@helm",
        "own/dose",
    ]


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("{name: own/Dose}", "expected own/ and 1 to 27 lower-case letters"),
        ("{name: own/../dose}", "expected own/ and 1 to 27 lower-case letters"),
        ("{name: own/dose, helm_name: exact_match}", "helm_name"),
        ("{name: dose}", "unknown metric 'dose'"),
    ],
)
def test_a_definition_that_gives_an_own_metric_another_name_is_refused(
    site: Site, metric: str, words: str
):
    rows = [{"note": "n", "correct_answer": "5 mg"}]
    write_benchmark(site, "notes", rows, f"max_tokens: 8\nmetrics:\n  - {metric}\n")
    with pytest.raises(BenchmarkError, match=words):
        plan(enable(site, "dose"), "notes:model=m")


# Leaving the site


def make_card(metric: str, *, binary: bool = False) -> Scorecard:
    digest = "ab" * 32
    return Scorecard(
        "own",
        1,
        (BenchmarkEntry("notes", "Notes", "Own", digest),),
        (Cell("notes", metric, None, "private", binary, 0, 1),),
    )


def find(store: Store, card: Scorecard) -> list[str]:
    findings = collect(store, "s", card, token_limits={})
    return [finding.metric for of_model in findings.values() for finding in of_model]


def test_an_own_metric_leaves_only_under_the_digest_that_a_scorecard_registers(
    site: Site, server: FaultServer
):
    site = enable(site, "dose")
    run(site, server.url, "notes:model=m")
    digest = approve(site.plugins / "dose.py").sha256
    registered = f"own-dose-{digest[:16]}"
    with site.store() as store:
        assert find(store, make_card(registered)) == [registered]
        assert list_own_metrics_left_out(store, "s", make_card(registered)) == []
        for other in (f"own-dose-{'0' * 16}", "dose", "own-dose"):
            assert find(store, make_card(other)) == []
        assert find(store, make_card("rouge_l")) == ["rouge_l"]
        assert list_own_metrics_left_out(store, "s", make_card("rouge_l")) == [
            f"notes: own/dose is left out: scorecard own does not register {registered}"
        ]


def test_a_metric_that_calls_itself_exact_match_is_not_submitted_as_exact_match(
    site: Site, server: FaultServer
):
    rows = [{"id": "p1", "note": "n", "correct_answer": "5 mg"}]
    more = METRICS.replace("own/dose", "own/exact_match")
    write_benchmark(site, "notes", rows, more)
    header = (
        'API = 1\nNAME = "exact_match"\nTITLE = "Exact match"\nLOW, HIGH = 0, 1\nBINARY = True\n'
    )
    write_metric(site.plugins, "return 1", name="exact_match", header=header)
    site = enable(site, "exact_match")
    run(site, server.url, "notes:model=m")
    with site.store() as store:
        (stored,) = store.runs.select("s")
        assert find(store, make_card("exact_match", binary=True)) == []
    assert [metric.display_name for metric in stored.details.metrics][1] == "Exact match (own)"


def test_leaves_of_an_own_metric_are_checked_with_its_code(site: Site, server: FaultServer):
    site = enable(site, "dose")
    run(site, server.url, "notes:model=m")
    digest = approve(site.plugins / "dose.py").sha256
    terms = {"model": "aa" * 32, "scorecard": "bb" * 32, "site_secret": b"s" * 32}
    with site.store() as store:
        runs = store.runs.select("s")
        card = make_card(f"own-dose-{digest[:16]}")
        (findings,) = collect(store, "s", card, token_limits={}).values()
        leaves = open_leaves(list_records(findings, **terms), range(len(GOLD)))
        root = compute_scores_root(findings, **terms)
        checks = check_leaves(store, runs, leaves, root, site.means)
        assert [check.outcome.value for check in checks] == ["match"] * 4
        write_metric(site.plugins, "return 1", name="dose")
        with pytest.raises(BenchmarkError, match="other code of an own metric"):
            check_leaves(store, runs, leaves, root, enable(site, "dose").means)


def test_a_scorecard_is_drafted_with_the_digest_of_the_code(site: Site, tmp_path: Path):
    site = enable(site, "dose")
    digest = approve(site.plugins / "dose.py").sha256
    path = tmp_path / "card.json"
    done = on(site, "benchmarks", "scorecard", "notes", "--name", "wards", "--out", path)
    assert done.returncode == 0, done.stderr
    cells = [cell["metric"] for cell in json.loads(path.read_text())["cells"]]
    assert cells == ["rouge_l", f"own-dose-{digest[:16]}"]


def test_the_check_of_a_benchmark_refuses_a_misspelt_own_metric(site: Site):
    idle = on(site, "benchmarks", "check", "notes")
    assert idle.returncode == 0, idle.stderr
    assert (
        "warning: own/dose is not enabled at this site; plugins/dose.py has sha256" in idle.stderr
    )
    enable(site, "dose")
    assert "own/dose" not in on(site, "benchmarks", "check", "notes").stderr
    path = site.own_benchmarks / "notes" / "benchmark.yaml"
    path.write_text(path.read_text().replace("own/dose", "own/dsoe"))
    misspelt = on(site, "benchmarks", "check", "notes")
    assert misspelt.returncode == 3
    assert "own/dsoe is not enabled at this site (did you mean 'dose'?)" in misspelt.stderr


# Writing one


def test_the_template_works_and_the_lines_it_prints_enable_it(site: Site):
    done = on(site, "benchmarks", "new", "repeated", "--kind", "python-metric")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    entry = lines.index("plugins:")
    with (site.directory / "site.yaml").open("a") as file:
        file.write("\n".join(lines[entry : entry + 2]) + "\n")
    checked = on(site, "doctor")
    assert "own metric repeated: Doses repeated, share (own), 0 to 1; plugins/repeated.py" in (
        checked.stdout
    )
    assert "own metric dose: plugins/dose.py is not enabled" in checked.stdout
    rows = [{"note": "n", "correct_answer": "5 mg, then 2,5 ml"}]
    uses = "max_tokens: 8\n" + "\n".join(lines[entry + 3 : entry + 5]) + "\n"
    write_benchmark(site, "notes", rows, uses)
    with FaultServer(models=["m"], fault=say_half) as server:
        run(Site(site.directory), server.url, "notes:model=m")
    assert read_scores(site, metric="own/repeated") == [0.5]


def say_half(_: Asked) -> Message:
    return Message({"role": "assistant", "content": "Give 2.5 mL."})


@pytest.mark.parametrize("name", ["Doses", "1dose", "../dose", "a" * 28])
def test_a_name_that_no_metric_can_have_is_refused(site: Site, name: str):
    done = on(site, "benchmarks", "new", name, "--kind", "python-metric")
    assert done.returncode == 2
    assert "cannot be a metric's name" in done.stderr


def test_an_existing_metric_is_not_overwritten(site: Site):
    before = (site.plugins / "dose.py").read_bytes()
    done = on(site, "benchmarks", "new", "dose", "--kind", "python-metric")
    assert done.returncode == 2
    assert (site.plugins / "dose.py").read_bytes() == before


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{name: dose, file: plugins/dose.py}", "plugins.0.sha256: is required"),
        ("{name: dose, file: plugins/dose.py, sha256: abc}", "expected 64 hex digits"),
        ("{name: dose, sha256: HEX}", "expected either `file` or `entry_point`"),
        ("{name: dose, file: ../dose.py, sha256: HEX}", "file: expected the path of a Python file"),
        ("{name: dose, file: plugins/a/../../dose.py, sha256: HEX}", "file: expected the path"),
        ("{file: plugins/dose.py, sha256: HEX}", "name: expected 1 to 27 lower-case letters"),
        ("{name: own/dose, file: plugins/dose.py, sha256: HEX}", "name: expected 1 to 27"),
    ],
)
def test_a_wrong_entry_in_the_settings_is_refused_with_what_is_expected(
    site: Site, entry: str, words: str
):
    text = f"site_name: h\nplugins:\n  - {entry}\n".replace("HEX", "0" * 64)
    (site.directory / "site.yaml").write_text(text)
    done = on(site, "summarize")
    assert done.returncode == 2
    assert words in done.stderr
