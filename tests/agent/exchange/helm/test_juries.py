"""Judgements in files: tables and HELM's annotations, redacted, and back again."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent.errors import BenchmarkError
from agent.exchange.helm.export import export_helm
from agent.exchange.helm.import_runs import import_helm
from agent.exchange.helm.juries import name_judges
from agent.exchange.tables.export import export_tables
from agent.metrics import Judge
from agent.redaction.gateway.judgements import read_seat_judgements
from agent.store import KeptJury, KeptMetric, Run, Store
from agent.vocabulary import Reason, Response, Unscored
from tests.agent.exchange.helm.exported_runs import CANARY, WORDS, planted, read_every_byte
from tests.agent.exchange.judged_suite import add_judged_suite, read_json
from tests.agent.service.filled_site import FilledSite, case, failed
from tests.agent.service.judged import CRITERIA, JUDGES, add_judged, verdict

SEEN = f"Mr. {CANARY}; MRN 8842331; born 03/14/1951"


NAMED = (Judge("http://ward-seven/v1", "m/m", "Judge of ward-seven"), *JUDGES[1:])


@pytest.mark.full
@pytest.mark.sample(2)
@pytest.mark.parametrize("form", ["helm", "jsonl", "csv", "parquet"])
def test_no_byte_of_a_redacted_export_holds_what_a_judge_wrote_of_a_patient_or_where_it_is(
    filled: FilledSite, tmp_path: Path, form: Any
):
    if form == "parquet":
        pytest.importorskip("pyarrow.parquet")
    replies = [
        [verdict(4, SEEN)],
        [Response(SEEN, SEEN, "stop", 1, 1, 0.1), verdict(2, SEEN)],
        [SEEN, SEEN],
    ]
    add_judged(filled, [planted(0), planted(1)], {0: replies, 1: replies}, judges=NAMED)
    for reveal in (False, True):
        target = tmp_path / str(reveal)
        target.mkdir()
        if form == "helm":
            export_helm(filled.site, "november", target, reveal=reveal)
        else:
            export_tables(filled.site, "november", target, form, reveal=reveal)
    found = read_every_byte(tmp_path / "False")
    assert [word for word in WORDS if word.encode() in found] == []
    if form != "parquet":  # compressed
        assert b"qwen/qwen3-32b" in found
        revealed = read_every_byte(tmp_path / "True")
        assert b"Judge of ward-seven" in revealed
        assert b"http://ward-seven" not in revealed
        if form == "jsonl":
            assert revealed.count(CANARY.encode()) == found.count(b"[NAME-1]") == 40


def test_annotations_are_written_as_helms_annotators_write_them(filled: FilledSite, tmp_path: Path):
    add_judged_suite(filled)
    export_helm(filled.site, "november", tmp_path, reveal=False)
    (folder,) = (tmp_path / "runs" / "november").iterdir()
    first, second, third = read_json(folder / "scenario_state.json")["request_states"]
    assert first["annotations"] == {
        "medication_qa": {
            "llama": {name: {"score": 4.5, "explanation": "Right."} for name in CRITERIA},
            "qwen/qwen3-32b": {name: {"score": 3.0, "explanation": "Nearly."} for name in CRITERIA},
        }
    }
    assert list(second["annotations"]["medication_qa"]) == ["y"]
    assert "annotations" not in third
    (jury,) = [
        spec
        for spec in read_json(folder / "run_spec.json")["metric_specs"]
        if "Jury" in spec["class_name"]
    ]
    assert jury["args"]["metric_name"] == "medication_qa_accuracy"
    assert jury["args"]["scenario_name"] == "medication_qa"
    assert jury["args"]["annotator_models"]["llama"] == {
        "model_name": "meta/llama-3.3-70b",
        "model_deployment": "meta/llama-3.3-70b",
    }
    (stat,) = [
        stat
        for stat in read_json(folder / "stats.json")
        if stat["name"]["name"] == "medication_qa_accuracy"
    ]
    assert (stat["count"], stat["mean"]) == (1, 3.75)


def test_helms_own_reading_of_an_exported_annotation_gives_its_cut_score(
    filled: FilledSite, tmp_path: Path
):
    """HELM's rule, written out: whole numbers, mean over all criteria of the judges that its metric names."""
    add_judged_suite(filled)
    export_helm(filled.site, "november", tmp_path, reveal=False)
    (folder,) = (tmp_path / "runs" / "november").iterdir()
    (jury,) = [
        spec
        for spec in read_json(folder / "run_spec.json")["metric_specs"]
        if "Jury" in spec["class_name"]
    ]
    first = read_json(folder / "scenario_state.json")["request_states"][0]["annotations"][
        jury["args"]["scenario_name"]
    ]
    scores = [
        int(of["score"])
        for judge, verdicts in first.items()
        if judge in jury["args"]["annotator_models"]
        for of in verdicts.values()
    ]
    assert sum(scores) / len(scores) == 3.5


def seats(store: Store, run: Run) -> list[list[tuple[Any, ...]]]:
    found = store.juries.read_every_seat(run.run_id, range(10))
    return [
        [
            (metric, seat.seat, seat.grades, seat.reason, seat.repaired)
            for metric, seat, _ in found[position]
        ]
        for position in sorted(found)
    ]


def words(store: Store, run: Run) -> list[Any]:
    found = read_seat_judgements(store, run, store.answers.read_instances(run.run_id, 0, 10))
    return [(one.judge, dict(one.words)) for position in sorted(found) for one in found[position]]


@pytest.mark.parametrize(
    "judges", [JUDGES, (JUDGES[0], JUDGES[0], JUDGES[0])], ids=["three", "one thrice"]
)
def test_what_was_exported_comes_back_with_the_same_seats_grades_and_words(
    filled: FilledSite, tmp_path: Path, judges: tuple[Judge, ...]
):
    add_judged(
        filled,
        [case(0), case(1), failed(2)],
        {
            0: [[verdict(4.5, "Right.")], ["Hm.", verdict(3, "Nearly.")], ["no", "no"]],
            1: [[verdict(9), verdict(9)], Reason.TIMEOUT, [verdict(1, "Wrong.")]],
        },
        judges=judges,
    )
    export_helm(filled.site, "november", tmp_path / "out", reveal=True)
    import_helm(filled.site, tmp_path / "out", "back")
    with filled.site.store() as store:
        (before,), (after,) = store.runs.select("november"), store.runs.select("back")
        assert seats(store, after) == seats(store, before)
        assert words(store, after) == words(store, before)
        assert [one.scores for one in store.answers.read_instances(after.run_id, 0, 9)] == [
            one.scores for one in store.answers.read_instances(before.run_id, 0, 9)
        ]
        audit = [event.detail for event in store.audit.read_events() if event.event == "imported"]
        assert audit[0].endswith("judgements=3")
    raw = b"".join(path.read_bytes() for path in filled.site.directory.rglob("*.sqlite3*"))
    assert b"Nearly." not in raw


def helm_run(
    folder: Path, annotations: list[Any], scores: list[float], *, name: str = "medication_qa"
) -> Path:
    """A run folder as helm-run writes it, with a jury of two."""
    run = folder / "runs" / "theirs" / f"{name}:model=a_b"
    run.mkdir(parents=True)
    models = {
        judge: {"model_name": f"m/{judge}", "model_deployment": f"stanford/{judge}"}
        for judge in ("gpt", "llama")
    }
    jury = {
        "metric_name": "medication_qa_accuracy",
        "scenario_name": "medication_qa",
        "annotator_models": models,
    }
    files = {
        "run_spec.json": {
            "name": f"{name}:model=a_b",
            "scenario_spec": {
                "class_name": "helm.benchmark.scenarios.medication_qa_scenario.MedicationQAScenario"
            },
            "adapter_spec": {"method": "generation", "model": "a/b", "model_deployment": "a/b"},
            "metric_specs": [
                {
                    "class_name": "helm.benchmark.metrics.llm_jury_metrics.LLMJuryMetric",
                    "args": jury | {"default_score": 1},
                }
            ],
            "groups": [name],
        },
        "scenario_state.json": {
            "request_states": [
                {
                    "instance": {
                        "id": f"id{at}",
                        "input": {"text": "q"},
                        "references": [],
                        "split": "test",
                    },
                    "request": {"prompt": f"Question {at}?"},
                    "result": {"success": True, "completions": [{"text": "Take it."}]},
                    **({} if note is None else {"annotations": note}),
                }
                for at, note in enumerate(annotations)
            ]
        },
        "stats.json": [],
        "per_instance_stats.json": [
            {
                "instance_id": f"id{at}",
                "train_trial_index": 0,
                "stats": [
                    {
                        "name": {"name": "medication_qa_accuracy", "split": "test"},
                        "count": 1,
                        "mean": score,
                    }
                ],
            }
            for at, score in enumerate(scores)
        ],
    }
    for file, content in files.items():
        (run / file).write_text(json.dumps(content), "utf-8")
    return folder


def grades_of(grade: Any, explanation: str = "So it is.") -> dict[str, Any]:
    return {name: {"score": grade, "explanation": explanation} for name in CRITERIA}


def test_what_helms_judges_gave_is_kept_as_seats_with_their_words_sealed(
    filled: FilledSite, tmp_path: Path
):
    ours = {"prompt_text": "Judge this.", "gpt": grades_of(5, "Marzipan."), "llama": grades_of(4)}
    alone = {
        "prompt_text": "Judge this.",
        "llama": grades_of("4") | {"overall": 3, "note": {"score": None}},
    }
    down = {"prompt_text": "Judge this."}
    blank = {"prompt_text": None, "empty_output_equivalence_judgement": False}
    notes = [{"medication_qa": note} for note in (ours, alone, down, blank)] + [None]
    (imported,) = import_helm(filled.site, helm_run(tmp_path, notes, [4.5, 4.0, 1.0, 1.0, 1.0]))
    assert imported.benchmark == "medication_qa"
    with filled.site.store() as store:
        (run,) = store.runs.select("theirs")
        (metric,) = run.details.metrics
        assert (metric.name, metric.low, metric.high) == ("jury_score", 1, 5)
        assert metric.judges == (
            Judge("stanford/gpt", "m/gpt", "gpt"),
            Judge("stanford/llama", "m/llama", "llama"),
        )
        found = seats(store, run)
        assert [
            [(seat, grades and grades["clarity"], reason) for _, seat, grades, reason, _ in of]
            for of in found
        ] == [
            [(0, 5.0, None), (1, 4.0, None)],
            [(0, None, "not_imported"), (1, 4.0, None)],
            [(0, None, "not_imported"), (1, None, "not_imported")],
        ]
        assert set(found[1][1][2]) == set(CRITERIA)
        assert words(store, run)[0] == (
            "gpt",
            {name: {"explanation": "Marzipan."} for name in CRITERIA},
        )
        # The score is HELM's, with its default where no judge came out: it was not made here.
        assert [
            one.scores["jury_score"] for one in store.answers.read_instances(run.run_id, 0, 9)
        ] == [
            4.5,
            4.0,
            1.0,
            1.0,
            1.0,
        ]
    raw = b"".join(path.read_bytes() for path in filled.site.directory.rglob("*.sqlite3*"))
    assert b"Marzipan" not in raw


def test_a_key_that_one_judge_made_up_of_a_patients_name_is_no_criterion(
    filled: FilledSite, tmp_path: Path
):
    both = {"gpt": grades_of(5), "llama": grades_of(4)}
    named = {
        "gpt": grades_of(5) | {"Quellmalz": {"score": 2, "explanation": "So."}},
        "llama": {"Quellmalz": {"score": 1}},
    }
    notes = [{"medication_qa": note} for note in (both, named, both)]
    import_helm(filled.site, helm_run(tmp_path, notes, [4.5, 4.5, 4.5]))
    with filled.site.store() as store:
        (run,) = store.runs.select("theirs")
        found = seats(store, run)
        assert set(run.details.metrics[0].jury.criteria) == set(CRITERIA)
        assert found[1][0][2] == dict.fromkeys(CRITERIA, 5.0)
        assert found[1][1][2:4] == (None, "not_imported")
    raw = b"".join(path.read_bytes() for path in filled.site.directory.rglob("*.sqlite3*"))
    assert b"Quellmalz" not in raw


@pytest.mark.parametrize(
    "hostile",
    [
        {"gpt": [1, 2], "llama": "four"},
        {"gpt": {"clarity": 5}, "llama": {"clarity": {"score": True}}},
        {"gpt": {"clarity": {"score": "NaN"}}, "llama": {"clarity": {"score": "1e999"}}},
        {"gpt": {"a sentence about Mrs. Holloway": {"score": 3}}, "llama": {"": {"score": 3}}},
        {"gpt": {"clarity": {"score": 10**400}}, "llama": {"clarity": {"score": {}}}},
    ],
)
def test_a_verdict_of_any_other_form_is_an_empty_seat(
    filled: FilledSite, tmp_path: Path, hostile: Any
):
    import_helm(filled.site, helm_run(tmp_path, [{"medication_qa": hostile}], [3.0]))
    with filled.site.store() as store:
        (run,) = store.runs.select("theirs")
        assert [(grades, reason) for (_, _, grades, reason, _) in seats(store, run)[0]] == [
            (None, "not_imported")
        ] * 2


@pytest.mark.parametrize(
    "hostile", [{"medication_qa": ["Mrs. Holloway"]}, ["Mrs. Holloway"], "Mrs. Holloway"]
)
def test_annotations_that_are_no_map_are_refused_by_their_place(
    filled: FilledSite, tmp_path: Path, hostile: Any
):
    with pytest.raises(BenchmarkError, match=r"request_states\[0\]\.annotations") as caught:
        import_helm(filled.site, helm_run(tmp_path, [hostile], [3.0]))
    assert "Holloway" not in str(caught.value)
    with filled.site.store() as store:
        assert store.runs.select() == []


def test_a_score_without_a_jury_that_is_named_stays_a_score(filled: FilledSite, tmp_path: Path):
    folder = helm_run(tmp_path, [{"medication_qa": {"gpt": grades_of(5)}}], [5.0])
    (path,) = folder.rglob("run_spec.json")
    spec = read_json(path)
    spec["metric_specs"] = [
        {"class_name": "helm.benchmark.metrics.medication_qa_metrics.Old", "args": {}}
    ]
    path.write_text(json.dumps(spec), "utf-8")
    import_helm(filled.site, folder)
    with filled.site.store() as store:
        (run,) = store.runs.select("theirs")
        assert seats(store, run) == []
        assert store.answers.read_instances(run.run_id, 0, 1)[0].scores["jury_score"] == 5.0
        assert not isinstance(
            store.answers.read_instances(run.run_id, 0, 1)[0].scores["jury_score"], Unscored
        )


def test_judges_of_one_name_and_one_named_like_helms_prompt_are_told_apart():
    names = ["a", "a", "a (1)", "prompt_text", ""]
    judges = tuple(Judge(f"local/{n}", "maker/m", name) for n, name in enumerate(names))
    keys = name_judges(KeptMetric(name="jury_score", jury=KeptJury(judges=judges)))
    assert keys == ["a (2)", "a (3)", "a (1)", "judge prompt_text", "maker/m"]
