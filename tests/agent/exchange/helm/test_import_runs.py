"""HELM's run folders into the store: whole or not at all, marked, and never in the way of the site's own runs."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from agent.cli.main import intramural
from agent.errors import AgentError, BenchmarkError, ConfigError, StoreError
from agent.exchange.helm.export import export_helm
from agent.exchange.helm.folder import HelmRun, read_run
from agent.exchange.helm.import_runs import import_helm
from agent.exchange.helm.own_record import RECORD
from agent.exchange.json_path import MAX_BYTES, MAX_VALUES
from agent.results.summarize import (
    Note,
    compare_summaries,
    summarise_benchmarks,
    summarise_run,
)
from agent.store import Store
from agent.store.runs import Runs
from agent.vocabulary import Reason, Unscored
from tests.agent.exchange.conftest import DATA
from tests.agent.service.filled_site import (
    MODEL,
    FilledSite,
    case,
    failed,
    filled_site,
    graded,
    unscored,
)

HELM_OUTPUT = DATA / "helm_output"


def the_run(store: Store, suite: str, part: str) -> Any:
    return next(run for run in store.runs.select(suite) if part in run.name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of one real run folder, to be spoilt."""
    return shutil.copytree(
        HELM_OUTPUT / "runs" / "real" / "simple_mcqa", tmp_path / "runs" / "real" / "mcqa"
    )


def edit(folder: Path, name: str, change: Callable[[Any], None]) -> None:
    value = json.loads((folder / name).read_text("utf-8"))
    change(value)
    (folder / name).write_text(json.dumps(value), "utf-8")


def test_what_helm_run_wrote_is_read_with_its_prompts_answers_and_scores(filled: FilledSite):
    runs = import_helm(filled.site, HELM_OUTPUT)
    assert {(run.suite, run.benchmark, run.known, run.instances) for run in runs} == {
        ("real", "airways", False, 4), ("real", "simple_mcqa", False, 4), ("real", "simple_classification", False, 4),
    }  # fmt: skip
    state = json.loads(
        (HELM_OUTPUT / "runs/real/simple_mcqa/scenario_state.json").read_text("utf-8")
    )
    with filled.site.store() as store:
        run = the_run(store, "real", "simple_mcqa")
        stored = store.answers.read_instances(run.run_id, 0, 10)
        assert [s.instance.id for s in stored] == [
            r["instance"]["id"] for r in state["request_states"]
        ]  # type: ignore[union-attr]
        assert (
            stored[0].instance.messages[0].content
            == state["request_states"][0]["request"]["prompt"]
        )  # type: ignore[union-attr]
        assert stored[0].instance.multiple_choice  # type: ignore[union-attr]
        assert [reference.correct for reference in stored[0].instance.references].count(True) == 1  # type: ignore[union-attr]
        assert (
            stored[0].response.text
            == state["request_states"][0]["result"]["completions"][0]["text"]
        )  # type: ignore[union-attr]
        assert stored[0].response.prompt_tokens is not None  # type: ignore[union-attr]
        assert set(stored[0].scores) >= {"exact_match", "quasi_exact_match"}
        assert not any(
            name.startswith(("num_", "inference_", "finish_")) for name in stored[0].scores
        )
        summary = summarise_run(store, run)
        assert Note.IMPORTED in summary.notes(summary.main)
        assert run.details.origin.kind == "helm"
        assert run.details.scoring == "helm"


def test_a_figure_of_the_whole_run_is_kept_as_one(filled: FilledSite):
    import_helm(filled.site, HELM_OUTPUT / "runs" / "real" / "simple_classification", "real")
    stats = json.loads(
        (HELM_OUTPUT / "runs/real/simple_classification/stats.json").read_text("utf-8")
    )
    (macro,) = [
        stat["mean"]
        for stat in stats
        if stat["name"]["name"] == "classification_macro_f1" and "perturbation" not in stat["name"]
    ]
    with filled.site.store() as store:
        summary = summarise_run(store, the_run(store, "real", "simple_classification"))
    (metric,) = [metric for metric in summary.metrics if metric.metric == "classification_macro_f1"]
    assert (metric.whole_run, metric.mean.value, metric.mean.low) == (True, macro, None)


def test_what_was_exported_comes_back_with_the_same_scores_and_texts(
    filled: FilledSite, tmp_path: Path
):
    cases = [
        case(0, answer="yes\n\n\u00e9\U0001f600", reasoning="Because."),
        failed(1),
        unscored(2),
        case(3, score=0.0, prompt='Zwei Zeilen\nund "Anf\u00fchrung"'),
    ]
    filled.add(cases)
    export_helm(filled.site, "november", tmp_path / "out", reveal=True)
    (imported,) = import_helm(filled.site, tmp_path / "out", "back")
    assert (imported.benchmark, imported.known) == ("pubmed_qa", True)
    with filled.site.store() as store:
        (before,), (after,) = store.runs.select("november"), store.runs.select("back")
        for old, new in zip(
            store.answers.read_instances(before.run_id, 0, 9),
            store.answers.read_instances(after.run_id, 0, 9),
            strict=True,
        ):
            assert old.instance is not None
            assert new.instance is not None
            assert (new.instance.id, new.instance.messages) == (
                old.instance.id,
                old.instance.messages,
            )
            assert (new.instance.references, new.instance.multiple_choice) == (
                old.instance.references,
                True,
            )
            assert (old.response is None) == (new.response is None)
            if old.response is not None and new.response is not None:
                same = ("text", "reasoning", "finish_reason", "prompt_tokens", "completion_tokens")
                assert [getattr(new.response, key) for key in same] == [
                    getattr(old.response, key) for key in same
                ]
            assert new.scores == old.scores
        means = [summarise_run(store, run).main.mean for run in (before, after)]
        assert means[0].value == means[1].value
        assert (means[0].n, means[1].n) == (2, 2)


def standings(filled: FilledSite, suite: str) -> list[Any]:
    """What a suite's leaderboard says, but for the deployment's name and that the runs were imported."""
    words = [
        "--site",
        str(filled.site.directory),
        "summarize",
        "--suite",
        suite,
        "--all-metrics",
        "--format",
        "json",
    ]
    done = CliRunner().invoke(intramural, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    # HELM's files do not state how answers were read, and an export leaves out their durations.
    left_out = {"run", "runs", "deployment", "notes", "parser", "reading_version"}
    left_out |= {"usage", "model_usage"}
    rows = [
        {
            **{key: value for key, value in row.items() if key not in left_out},
            "notes": [note for note in row["notes"] if note != Note.IMPORTED],
            "parts": len(row["runs"]),
        }
        for row in json.loads(done.stdout)
    ]
    return sorted(rows, key=lambda row: (row["benchmark"], row["model"], row["metric"]))


@pytest.mark.full
@pytest.mark.parametrize("reveal", [False, True])
def test_an_export_that_comes_back_has_the_same_standings(
    filled: FilledSite, tmp_path: Path, reveal: bool
):
    for model, right in ((MODEL, 30), ("baseline/first-choice", 12)):
        mute = {"language_model": not model.startswith("baseline/")}
        for at, subset in enumerate(("icliniq", "healthcaremagic")):
            cases = [case(100 * at + n, score=float(n < right)) for n in range(40)]
            lost = [
                unscored(100 * at + 50, Reason.NO_REFERENCE),
                unscored(100 * at + 51),
                failed(100 * at + 52),
            ]
            filled.add([*cases, *lost], entry=f"med_dialog:subset={subset},model={model}", **mute)
        filled.add(
            [case(n, unit="same") for n in range(3)], entry=f"pubmed_qa:model={model}", **mute
        )
    before = standings(filled, "november")
    assert {row["parts"] for row in before if row["benchmark"] == "med_dialog"} == {2}
    assert {row["data"] for row in before} == {"invented", "sample"}
    export_helm(filled.site, "november", tmp_path / "out", reveal=reveal)
    other = filled_site(tmp_path / "elsewhere")
    import_helm(other.site, tmp_path / "out")
    assert standings(other, "november") == before
    with other.site.store() as store:
        assert all(
            Note.IMPORTED in summarise_run(store, run).notes(summarise_run(store, run).main)
            for run in store.runs.select()
        )


@pytest.mark.full
@pytest.mark.parametrize("named", ["answer_mode=constrained", "parser=json,answer_field=choice"])
def test_exported_runs_that_were_asked_or_read_in_another_way_stay_apart_when_they_come_back(
    filled: FilledSite, tmp_path: Path, named: str
):
    for model, right in (("a/b", 1), ("c/d", 4)):
        filled.add(graded(right, 5), entry=f"pubmed_qa:model={model}")
        filled.add(graded(5 - right, 5), entry=f"pubmed_qa:model={model},{named}")
    export_helm(filled.site, "november", tmp_path / "out", reveal=False)
    other = filled_site(tmp_path / "elsewhere")
    import_helm(other.site, tmp_path / "out")
    with other.site.store() as store:
        summaries = summarise_benchmarks(store, "november")
    compared = compare_summaries(summaries)
    assert (compared.columns, compared.rates) == (2, {"a/b": 0.5, "c/d": 0.5})
    modes = sorted(summary.run.details.answer_mode for summary in summaries)
    if named.startswith("answer_mode"):
        assert modes == ["constrained", "constrained", "generate", "generate"]


def test_parts_that_helm_itself_ran_are_one_row_and_the_same_part_twice_is_two(
    filled: FilledSite, tmp_path: Path
):
    filled.add([case(0)], entry="med_dialog:subset=icliniq,model=a/b")
    filled.add([case(1), case(2)], entry="med_dialog:subset=healthcaremagic,model=a/b")
    export_helm(filled.site, "november", tmp_path / "out", reveal=False)
    folders = list((tmp_path / "out" / "runs" / "november").iterdir())
    for folder in folders:
        (folder / RECORD).unlink()
    import_helm(filled.site, tmp_path / "out", "parts")
    with filled.site.store() as store:
        (pooled,) = summarise_benchmarks(store, "parts")
    assert (len(pooled.runs), pooled.main.mean.n) == (2, 3)
    again = shutil.copytree(folders[0], tmp_path / "again")
    edit(
        again,
        "run_spec.json",
        lambda spec: spec.update(name=spec["name"] + ",max_train_instances=5"),
    )
    import_helm(filled.site, again, "parts")
    with filled.site.store() as store:
        assert len(summarise_benchmarks(store, "parts")) == 3


def test_answers_of_another_place_never_answer_a_local_run(filled: FilledSite, tmp_path: Path):
    run_id = filled.add([case(0)])
    export_helm(filled.site, "november", tmp_path / "out", reveal=True)
    import_helm(filled.site, tmp_path / "out", "back")
    with filled.site.store() as store:
        (own,) = store.answers.read_request_keys(run_id)
        (back,) = store.runs.select("back")
        (other,) = store.answers.read_request_keys(back.run_id)
    assert own != other


def test_the_same_folder_again_is_the_same_as_once_and_another_needs_to_be_told(
    filled: FilledSite, folder: Path
):
    import_helm(filled.site, folder)
    import_helm(filled.site, folder)
    edit(folder, "per_instance_stats.json", lambda value: value[0].update(stats=[]))
    with pytest.raises(ConfigError, match="a different imported run"):
        import_helm(filled.site, folder)
    import_helm(filled.site, folder, replace=True)
    with filled.site.store() as store:
        (run,) = store.runs.select("real")
        assert (
            Unscored(Reason.NOT_IMPORTED)
            in store.answers.read_instances(run.run_id, 0, 1)[0].scores.values()
        )


@pytest.mark.parametrize("reveal", [False, True])
def test_an_export_is_not_imported_into_the_suite_that_it_comes_from(
    filled: FilledSite, tmp_path: Path, reveal: bool
):
    filled.add([case(0)])
    export_helm(filled.site, "november", tmp_path / "out", reveal=reveal)
    with pytest.raises(ConfigError, match="made at this site") as caught:
        import_helm(filled.site, tmp_path / "out")
    assert "--suite" in caught.value.advice
    (imported,) = import_helm(filled.site, tmp_path / "out", "back")
    assert imported.instances == 1


def test_an_export_that_was_redacted_again_is_still_scored_by_our_rules(
    filled: FilledSite, tmp_path: Path
):
    filled.add([case(0), case(1)])
    output = tmp_path / "out"
    export_helm(filled.site, "november", output, reveal=False)
    words = ("--site", filled.site.directory, "redact", "helm", "-o", output)
    words += ("--suite", "november", "--copy-to", tmp_path / "copy")
    done = CliRunner().invoke(intramural, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    import_helm(filled.site, tmp_path / "copy", "back")
    with filled.site.store() as store:
        (summary,) = summarise_benchmarks(store, "back")
    notes = summary.notes(summary.main)
    assert Note.HELM not in notes
    assert Note.IMPORTED in notes


def test_a_run_of_the_sites_own_is_never_replaced(filled: FilledSite, folder: Path):
    filled.add([case(0)], suite="real", entry="pubmed_qa:model=m")
    with filled.site.store() as store:
        (own,) = store.runs.select("real")
    edit(folder, "run_spec.json", lambda spec: spec.update(name=own.name))
    with pytest.raises(ConfigError, match="was made at this site"):
        import_helm(filled.site, folder, "real", replace=True)


def nan(folder: Path) -> None:
    path = folder / "per_instance_stats.json"
    path.write_text(path.read_text("utf-8").replace('"mean":0.0', '"mean":NaN', 1), "utf-8")


def infinite(folder: Path) -> None:
    path = folder / "per_instance_stats.json"
    text = path.read_text("utf-8")
    at = text.index('"name":"exact_match"')
    path.write_text(text[:at] + text[at:].replace('"mean":0.0', '"mean":1e999', 1), "utf-8")


def truncated(folder: Path) -> None:
    path = folder / "scenario_state.json"
    path.write_bytes(path.read_bytes()[:1000])


def twice(folder: Path) -> None:
    edit(
        folder,
        "scenario_state.json",
        lambda state: state["request_states"].append(state["request_states"][0]),
    )


def unknown_instance(folder: Path) -> None:
    edit(folder, "scenario_state.json", lambda state: state["request_states"].pop())


def missing(folder: Path) -> None:
    (folder / "stats.json").unlink()


def link_out(folder: Path) -> None:
    (folder / "stats.json").unlink()
    (folder / "stats.json").symlink_to("/etc/passwd")


def huge(folder: Path) -> None:
    os.truncate(folder / "stats.json", MAX_BYTES + 1)  # sparse: takes no room


def deep(folder: Path) -> None:
    (folder / "stats.json").write_text("[" * 100_000, "utf-8")


def many(folder: Path) -> None:
    (folder / "stats.json").write_text("[" + "0," * MAX_VALUES + "0]", "utf-8")


def key_twice(folder: Path) -> None:
    (folder / "stats.json").write_text('[{"count": 1, "count": 2}]', "utf-8")


def _set_mean(folder: Path, of: str, mean: object) -> None:
    def change(rows: Any) -> None:
        next(stat for row in rows for stat in row["stats"] if stat["name"]["name"] == of)[
            "mean"
        ] = mean

    edit(folder, "per_instance_stats.json", change)


def number_as_text(folder: Path) -> None:
    _set_mean(folder, "exact_match", "SECRETWORD")


def giant(folder: Path) -> None:
    _set_mean(folder, "num_prompt_tokens", 10**200)


def bidi_model(folder: Path) -> None:
    edit(folder, "run_spec.json", lambda spec: spec["adapter_spec"].update(model="a/\u202eb"))


def escape_in_key(folder: Path) -> None:
    def change(state: Any) -> None:
        state["request_states"][0]["output_mapping"] = {"\x1b]0;owned\x07": 1}

    edit(folder, "scenario_state.json", change)


def wrong_reason(folder: Path) -> None:
    metric = {
        "name": "exact_match", "helm_name": "exact_match", "display_name": "EM", "low": 0, "high": 1, "binary": True,
        "scoring": "intramural", "whole_run": False,
    }  # fmt: skip
    instances = [{"id": "x", "unscored": {"exact_match": "SECRETWORD"}}]
    record = {"format": "intramural run 1", "metrics": [metric], "instances": instances}
    (folder / RECORD).write_text(json.dumps(record), "utf-8")


def not_text(folder: Path) -> None:
    (folder / "stats.json").write_bytes(b'[{"name": "\xff\xfe"}]')


def long_number(folder: Path) -> None:
    (folder / "stats.json").write_text("[" + "9" * 10_000 + "]", "utf-8")


def path_trick(folder: Path) -> None:
    edit(folder, "run_spec.json", lambda spec: spec.update(name="../../../etc/cron.d/x"))


def control(folder: Path) -> None:
    edit(folder, "run_spec.json", lambda spec: spec.update(name="x\x1b]0;owned\x07"))


def control_id(folder: Path) -> None:
    edit(
        folder,
        "scenario_state.json",
        lambda s: s["request_states"][0]["instance"].update(id="a\nb"),
    )


def surrogate_id(folder: Path) -> None:
    edit(
        folder,
        "scenario_state.json",
        lambda s: s["request_states"][0]["instance"].update(id="\ud800"),
    )


def wrong_kind(folder: Path) -> None:
    edit(
        folder,
        "scenario_state.json",
        lambda s: s["request_states"][0]["request"].update(prompt=["SECRETWORD"]),
    )


def odd_role(folder: Path) -> None:
    def change(state: Any) -> None:
        state["request_states"][0]["request"]["messages"] = [
            {"role": "tool SECRETWORD", "content": "x"}
        ]

    edit(folder, "scenario_state.json", change)


def no_model(folder: Path) -> None:
    edit(folder, "run_spec.json", lambda spec: spec["adapter_spec"].pop("model"))


def asked_per_reference(folder: Path) -> None:
    edit(
        folder,
        "run_spec.json",
        lambda s: s["adapter_spec"].update(method="multiple_choice_separate_original"),
    )


def no_scores(folder: Path) -> None:
    edit(folder, "per_instance_stats.json", lambda rows: [row.update(stats=[]) for row in rows])
    (folder / "stats.json").write_text("[]")


@pytest.mark.parametrize(
    ("spoil", "where"),
    [
        (nan, "per_instance_stats.json"),
        (infinite, r"per_instance_stats.json \[\d\].stats\[\d+\].mean: expected a finite number"),
        (truncated, "scenario_state.json: invalid JSON at line 1, column"),
        (
            twice,
            r"scenario_state.json request_states\[4\].instance.id: expected an id that is unique among the instances",
        ),
        (unknown_instance, "1 instances of per_instance_stats.json are not among"),
        (missing, "stats.json: the file is missing"),
        (link_out, "stats.json: expected a plain file, not a link"),
        (huge, "stats.json: expected at most 256 MiB"),
        (many, "stats.json: expected at most 16 million values"),
        (key_twice, "stats.json: a key is repeated in a map"),
        (number_as_text, r"stats\[\d+\].mean: expected a number"),
        (giant, r"stats\[\d+\].mean: expected a count"),
        (bidi_model, "run_spec.json adapter_spec.model: expected a name"),
        (escape_in_key, r"output_mapping.\S*: expected a text"),
        (wrong_reason, r"intramural.json instances\[0\].unscored.exact_match: expected"),
        (deep, "stats.json: lists and maps are nested too deeply"),
        (not_text, "stats.json: invalid UTF-8 at byte"),
        (long_number, "stats.json: a number is not valid"),
        (path_trick, "run_spec.json name: expected a name without /"),
        (control, "run_spec.json name: expected a name of 1 to"),
        (control_id, r"request_states\[0\].instance.id: expected a name"),
        (surrogate_id, r"request_states\[0\].instance.id: expected a name"),
        (wrong_kind, r"request_states\[0\].request.prompt: expected a text"),
        (
            odd_role,
            r"request_states\[0\].request.messages\[0\].role: expected system or user or assistant",
        ),
        (no_model, "run_spec.json adapter_spec: expected a key model"),
        (
            asked_per_reference,
            "adapter_spec.method: expected a method that sends one request per instance",
        ),
        (no_scores, "contains no score of an answer"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_spoilt_folder_is_refused_by_place_and_nothing_is_kept(
    filled: FilledSite, folder: Path, spoil: Callable[[Path], None], where: str
):
    spoil(folder)
    with pytest.raises(BenchmarkError, match=where) as refused:
        import_helm(filled.site, folder)
    assert "SECRETWORD" not in str(refused.value) + refused.value.advice
    assert str(refused.value).isprintable()
    with filled.site.store() as store:
        assert store.runs.select() == []


def test_a_kill_in_the_middle_of_writing_leaves_no_run(
    filled: FilledSite, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Runs, "end", killed)
    with pytest.raises(KeyboardInterrupt):
        import_helm(filled.site, folder)
    monkeypatch.undo()
    with filled.site.store() as store:
        assert store.runs.select() == []
    import_helm(filled.site, folder)


def test_a_full_disk_leaves_no_run(
    filled: FilledSite, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    begin = Runs.begin

    def on_a_full_disk(runs: Runs, **words: Any) -> str:
        connection = runs._database.connection
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={pages}")
        return begin(runs, **words)

    edit(
        folder,
        "scenario_state.json",
        lambda s: s["request_states"][0]["instance"]["references"][0]["output"].update(
            text="x" * 99_999
        ),
    )
    monkeypatch.setattr(Runs, "begin", on_a_full_disk)
    with pytest.raises(StoreError, match="SQLITE_FULL"):
        import_helm(filled.site, folder)
    monkeypatch.undo()
    with filled.site.store() as store:
        assert store.runs.select() == []


def test_a_folder_that_changes_while_it_is_read_never_takes_another_runs_name(
    filled: FilledSite, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    def changed(folder: Path) -> HelmRun:
        edit(folder, "run_spec.json", lambda spec: spec.update(name="another"))
        return read_run(folder)

    monkeypatch.setattr("agent.exchange.helm.import_runs.read_run", changed)
    with pytest.raises(BenchmarkError, match="changed while it was read"):
        import_helm(filled.site, folder)
    with filled.site.store() as store:
        assert store.runs.select() == []


def test_runs_before_a_spoilt_one_are_whole_and_the_next_attempt_continues(
    filled: FilledSite, tmp_path: Path
):
    output = shutil.copytree(HELM_OUTPUT, tmp_path / "output")
    last = output / "runs" / "real" / "simple_mcqa"
    right = (last / "stats.json").read_bytes()
    (last / "stats.json").write_bytes(right[:50])
    with pytest.raises(BenchmarkError):
        import_helm(filled.site, output)
    with filled.site.store() as store:
        assert {run.state for run in store.runs.select("real")} == {"ended"}
        assert len(store.runs.select("real")) == 2
    (last / "stats.json").write_bytes(right)
    assert len(import_helm(filled.site, output)) == 3


@pytest.mark.parametrize("place", ["suite", "run"])
def test_a_link_to_another_folder_is_not_followed(filled: FilledSite, tmp_path: Path, place: str):
    output = tmp_path / "output"
    (output / "runs").mkdir(parents=True)
    if place == "suite":
        (output / "runs" / "real").symlink_to(HELM_OUTPUT / "runs" / "real")
    else:
        (output / "runs" / "real").mkdir()
        (output / "runs" / "real" / "x").symlink_to(HELM_OUTPUT / "runs" / "real" / "simple_mcqa")
    with pytest.raises(BenchmarkError, match="expected a run's folder, not a link"):
        import_helm(filled.site, output)


def test_two_folders_of_one_run_and_a_folder_of_none_are_told(
    filled: FilledSite, folder: Path, tmp_path: Path
):
    shutil.copytree(folder, folder.with_name("again"))
    with pytest.raises(
        ConfigError, match="the runs in the folders again and mcqa have the same name"
    ):
        import_helm(filled.site, folder.parent)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="contains no HELM run"):
        import_helm(filled.site, tmp_path / "empty")
    (tmp_path / "not a suite").mkdir()
    shutil.move(folder, tmp_path / "not a suite" / "run")
    with pytest.raises(ConfigError, match="not a valid suite name"):
        import_helm(filled.site, tmp_path / "not a suite")


def test_every_error_of_an_import_tells_who_must_act(filled: FilledSite, folder: Path):
    truncated(folder)
    with pytest.raises(AgentError) as refused:
        import_helm(filled.site, folder)
    assert refused.value.exit_code == 3
    assert "Nothing of this run was imported" in refused.value.advice
