"""A data scientist reads a site's results and answers as tables of pandas."""

import json
import traceback
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from agent import Site
from agent.cli.main import intramural
from agent.errors import ConfigError
from agent.notebook.columns import TABLES
from tests.agent.notebook.conftest import OTHER
from tests.agent.service.filled_site import MODEL, FilledSite, case, filled_site, graded
from tests.agent.service.judged import add_judged, verdict
from tests.agent.service.leaky_texts import CANARIES, LEAKY, SCRIPTS, Markup, leak

SUITE = "november"
FRAMES: dict[str, Callable[[Site], pd.DataFrame]] = {
    "suites": lambda site: site.suites(),
    "runs": lambda site: site.runs(),
    "summary": lambda site: site.summary(SUITE),
    "instances": lambda site: site.instances(site.runs().run_id[0]),
    "scores": lambda site: site.scores(site.runs().run_id[0]),
    "judgements": lambda site: site.judgements(site.runs().run_id[0]),
    "compare": lambda site: site.compare(MODEL, OTHER, SUITE),
    "agreement": lambda site: site.agreement(SUITE),
    "biases": lambda site: site.biases(SUITE),
    "benchmarks": lambda site: site.benchmarks(),
    "models": lambda site: site.models(),
}


def read_dtypes(frame: pd.DataFrame) -> dict[str, str]:
    return {str(name): str(dtype) for name, dtype in frame.dtypes.items()}


def read_command(filled: FilledSite, *words: str) -> list[dict[str, object]]:
    command = ["--site", str(filled.site.directory), *words, "--format", "json"]
    result = CliRunner().invoke(intramural, command, catch_exceptions=False)
    rows: list[dict[str, object]] = json.loads(result.stdout)
    return rows


@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_the_documented_columns_and_types(site: Site, name: str):
    frame = FRAMES[name](site)
    assert len(frame) > 0
    assert read_dtypes(frame) == {column.name: column.dtype for column in TABLES[name]}


@pytest.mark.parametrize("name", ["suites", "runs", "benchmarks", "models"])
def test_a_new_site_gives_tables_with_the_same_types(tmp_path: Path, name: str):
    site = Site(filled_site(tmp_path).site.directory)
    assert read_dtypes(FRAMES[name](site)) == {column.name: column.dtype for column in TABLES[name]}


@pytest.mark.parametrize("name", ["agreement", "biases", "judgements"])
def test_a_suite_without_a_jury_gives_tables_without_rows(tmp_path: Path, name: str):
    filled = filled_site(tmp_path)
    filled.add(graded(1, 2))
    frame = FRAMES[name](Site(filled.site.directory))
    assert frame.empty
    assert read_dtypes(frame) == {column.name: column.dtype for column in TABLES[name]}


def test_tables_of_several_runs_can_be_joined(site: Site):
    frames = [site.instances(run) for run in site.runs().run_id]
    joined = pd.concat(frames)
    assert read_dtypes(joined) == read_dtypes(frames[0])


def test_the_summary_has_the_values_of_the_command_line(filled: FilledSite, site: Site):
    rows = read_command(filled, "summarize", "--suite", SUITE)
    frame = site.summary(SUITE)
    for number, row in enumerate(rows):
        for name in ("benchmark", "model", "metric", "n", "units", "mean", "floor", "low", "high"):
            value = frame.loc[number, name]
            assert (None if pd.isna(value) else value) == row[name], name
        assert [frame.rank_low[number], frame.rank_high[number]] == (row["rank"] or [pd.NA, pd.NA])


def test_the_comparison_has_the_values_of_the_command_line(filled: FilledSite, site: Site):
    (row,) = read_command(filled, "compare", MODEL, OTHER, "--suite", SUITE)
    (compared,) = site.compare(MODEL, OTHER, SUITE).to_dict("records")
    for name in ("n", "difference", "low", "high", "p", "holm_p", "mean_a", "mean_b", "words"):
        assert compared[name] == row[name], name


def test_the_agreement_has_the_values_of_the_command_line(filled: FilledSite, site: Site):
    rows = read_command(filled, "agreement", "--suite", SUITE)
    alphas = [row["alpha_interval"] for row in rows if row["kind"] == "agreement"]
    assert site.agreement(SUITE).alpha_interval.tolist() == [
        pd.NA if alpha is None else alpha for alpha in alphas
    ]


def test_instances_have_the_answer_the_reference_and_the_score(site: Site):
    runs = site.runs(SUITE)
    run = runs[(runs.model == MODEL) & (runs.benchmark == "pubmed_qa")].iloc[0]
    frame = site.instances(run)
    assert frame.answer.tolist() == ["yes"] * 5 + ["hm"]
    assert frame.score.tolist() == [1.0, 1.0, 1.0, 0.0, 0.0, pd.NA]
    assert frame.unscored.tolist()[5] == "unparsed"
    assert frame.reference.tolist() == ["yes"] * 6
    assert frame.wrong_options.tolist() == ["no"] * 6
    assert frame.id.isna().all()


def test_a_run_is_found_by_its_row_its_id_and_its_name(site: Site):
    run = site.runs(SUITE).iloc[1]
    frame = site.instances(run)
    pd.testing.assert_frame_equal(frame, site.instances(run.run_id))
    pd.testing.assert_frame_equal(frame, site.instances(run.run))


def test_a_part_of_a_run_is_read(site: Site):
    run_id = site.runs(SUITE).run_id[1]
    whole, part = site.instances(run_id), site.instances(run_id, first=1, limit=2)
    pd.testing.assert_frame_equal(part, whole.iloc[1:3].reset_index(drop=True))
    assert site.instances(run_id, limit=0).empty


def test_a_name_in_two_suites_must_be_told_apart(filled: FilledSite, site: Site):
    filled.add(graded(1, 2), suite="december")
    name = site.runs("december").run[0]
    with pytest.raises(ConfigError, match=r"several suites contain .*: december, november"):
        site.instances(name)


def test_judgements_have_a_row_for_each_grade_and_each_empty_seat(site: Site):
    runs = site.runs(SUITE)
    frame = site.judgements(runs[runs.benchmark == "medication_qa"].iloc[0])
    graded_rows = frame[frame.position.eq(0) & frame.seat.eq(0)]
    assert graded_rows.grade.tolist() == [4.5, 4.5, 4.5]
    assert graded_rows.explanation.tolist() == ["Right."] * 3
    empty = frame[frame.position.eq(0) & frame.seat.eq(2)]
    assert empty.grade.isna().all()
    assert empty.reason.notna().all()


def test_no_table_contains_an_identifier_of_a_record(filled: FilledSite):
    leak(filled, LEAKY)
    add_judged(
        filled,
        [case(0, prompt=LEAKY, answer=LEAKY)],
        {0: [[verdict(4, LEAKY)], [verdict(3, LEAKY)], [LEAKY, LEAKY]]},
        suite="judged",
    )
    site = Site(filled.site.directory)
    frames = [site.suites(), site.runs(), site.models(), site.benchmarks()]
    frames += [site.summary(suite) for suite in (SUITE, "judged")]
    frames += [site.agreement("judged"), site.biases("judged")]
    for run in site.runs().run_id:
        frames += [site.instances(run), site.scores(run), site.judgements(run)]
    text = "".join(frame.to_csv() + frame.to_html() for frame in frames) + site._repr_html_()
    assert [canary for canary in CANARIES if canary.lower() in text.lower()] == []
    assert filled.audited() == []


def test_free_text_in_a_run_entry_is_shown_as_a_label(filled: FilledSite):
    entry = "answer_pattern=Holloway ([a-d])"
    for model in (MODEL, OTHER):
        filled.add(graded(1, 3), suite="free", entry=f"pubmed_qa:{entry},model={model}")
    site = Site(filled.site.directory)
    frames = [site.runs("free"), site.summary("free"), site.compare(MODEL, OTHER, "free")]
    assert "Holloway" not in "".join(frame.to_csv() for frame in frames)


def test_revealed_texts_are_in_the_audit_log(filled: FilledSite):
    run_id = leak(filled, LEAKY, suite="leaky")
    site = Site(filled.site.directory)
    frame = site.instances(run_id, reveal=True)
    assert "Holloway" in frame.answer[0]
    assert "Holloway" in frame.id[0]
    assert filled.audited() == [f"notebook run={run_id} instances=0-0"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_markup_in_answers_is_shown_as_text(filled: FilledSite, script: str):
    run_id = leak(filled, script, suite="hostile")
    site = Site(filled.site.directory)
    frame = site.instances(run_id, reveal=True)
    shown = Markup(frame._repr_html_())
    assert shown.elements <= {"div", "style", "table", "thead", "tbody", "tr", "th", "td"}
    assert shown.attributes <= {"scoped", "border", "class", "style"}


def test_a_folder_named_in_markup_is_shown_as_text(tmp_path: Path):
    folder = tmp_path / "<img src=x onerror=alert(1)>"
    filled_site(folder).add(graded(1, 2))
    shown = Markup(Site(folder / "site")._repr_html_())
    assert "img" not in shown.elements


def test_figures_are_shown_inline_and_saved(site: Site, tmp_path: Path):
    dots, heatmap = site.plot_dots(SUITE), site.plot_heatmap(SUITE)
    assert "<svg" in dots._repr_html_()
    ids = [f'id="{part}' for part in dots._repr_html_().split('id="')[1:]]
    assert not set(ids) & {f'id="{part}' for part in heatmap._repr_html_().split('id="')[1:]}
    differences = site.plot_differences(MODEL, OTHER, SUITE)
    path = differences.save(tmp_path / "differences.svg")
    assert path.read_text("utf-8") == differences.svg
    with pytest.raises(ConfigError, match="saved as SVG"):
        dots.save(tmp_path / "dots.png")


def test_errors_carry_the_agents_advice(site: Site, tmp_path: Path):
    with pytest.raises(ConfigError, match="there is no suite spring") as raised:
        site.summary("spring")
    assert "Name a suite with suite=." in "".join(traceback.format_exception(raised.value))
    with pytest.raises(ConfigError):
        Site(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="there is no run x"):
        site.instances("x")
    with pytest.raises(ConfigError, match="answer_mode is 'loud'"):
        site.run("pubmed_qa:model=a/b", answer_mode="loud")  # type: ignore[arg-type]


def test_other_processes_can_write_while_a_notebook_is_open(filled: FilledSite, site: Site):
    frame = site.runs(SUITE)
    filled.add(graded(1, 2), suite="later")
    assert len(site.runs()) == len(frame) + 1


def test_models_of_the_sites_file_are_listed_with_their_prices(filled: FilledSite, site: Site):
    (filled.site.directory / "model_deployments.yaml").write_text(
        "model_deployments:\n"
        "  - name: local/qwen\n"
        "    model_name: qwen/qwen3-8b\n"
        "    currency: EUR\n"
        "    price_per_million_prompt_tokens: 1\n"
        "    price_per_million_completion_tokens: 2\n"
        "    client_spec:\n"
        "      class_name: helm.clients.vllm_client.VLLMChatClient\n"
        "      args: {base_url: 'http://127.0.0.1:9/v1'}\n"
    )
    frame = site.models()
    listed = frame[frame.listed].iloc[0]
    assert (listed.deployment, listed.model, listed.runs) == ("local/qwen", "qwen/qwen3-8b", 0)
    assert (listed.currency, listed.per_million_completion_tokens) == ("EUR", 2.0)
    assert frame[~frame.listed].runs.sum() == 3


def test_a_benchmark_that_cannot_be_read_is_listed(filled: FilledSite, site: Site):
    folder = filled.site.directory / "benchmarks/broken"
    folder.mkdir()
    (folder / "benchmark.yaml").write_text("id: [")
    frame = site.benchmarks()
    assert "broken" in set(frame.data)


def test_revealed_words_of_judges_are_in_the_audit_log(filled: FilledSite):
    run_id = add_judged(
        filled,
        [case(0)],
        {0: [[verdict(4, LEAKY)], [verdict(3, "b")], [verdict(3, "c")]]},
        suite="judged",
    )
    frame = Site(filled.site.directory).judgements(run_id, reveal=True)
    assert "Holloway" in frame.explanation[0]
    assert filled.audited() == [f"notebook run={run_id} instances=0-0"]
