"""Notes that two real small models wrote from ACI-Bench's dialogues: read whole, scored as the package scores, and
counted as cut off where they repeat themselves without end."""

import json
import zlib
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from rouge_score.rouge_scorer import RougeScorer

from agent.cli.summarize import summarize
from agent.metrics.rouge import compute_f_measure
from agent.results.summarize import Note
from agent.runs.outcomes import RunOutcome
from agent.site.directory import Site, create_site
from agent.vocabulary import Response
from tests.agent.fault_server import Asked, FaultServer, Message
from tests.agent.runs.suites import run

ROOT = Path(__file__).parents[2]
ANSWERS = ROOT / "tests/data/answers/free_text/aci_bench.jsonl"
SAMPLE = ROOT / "benchmarks/aci_bench/sample/clinicalnlp_taskB_test1_full.json"
SMOLLM2, GEMMA = "HuggingFaceTB/SmolLM2-135M-Instruct", "google/gemma-3-270m"
METRICS = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL"}
CUT_OFF = {SMOLLM2: 13, GEMMA: 20}


@dataclass(frozen=True)
class Answer:
    model: str
    encounter: str
    text: str
    finish_reason: str


@dataclass(frozen=True)
class Scored:
    """A run of one model: its outcome, the responses by encounter, and the scores by metric and encounter."""

    model: str
    outcome: RunOutcome
    responses: dict[str, Response]
    scores: dict[str, dict[str, float | None]]


def read_answers() -> list[Answer]:
    rows = map(json.loads, ANSWERS.read_text("utf-8").splitlines())
    return [
        Answer(
            row["model"],
            row["question_id"].removeprefix("aci_bench:"),
            row["answer"],
            row["finish_reason"],
        )
        for row in rows
    ]


ENCOUNTERS = {row["file"]: row for row in json.loads(SAMPLE.read_text("utf-8"))["data"]}
OF_MODEL = {
    model: {answer.encounter: answer for answer in read_answers() if answer.model == model}
    for model in (SMOLLM2, GEMMA)
}


def find_encounter(prompt: str) -> str | None:
    for name, row in ENCOUNTERS.items():
        if row["src"].strip()[:500] in prompt:
            return name
    return None


def reply(asked: Asked) -> Message | None:
    """Reply as the model did."""
    encounter = find_encounter(asked.prompt)
    if encounter is None:
        return None  # a question of the probe
    answer = OF_MODEL[asked.body["model"]][encounter]
    return Message({"role": "assistant", "content": answer.text}, finish=answer.finish_reason)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return create_site(tmp_path_factory.mktemp("notes") / "site", "Test")


@pytest.fixture(scope="module", params=[SMOLLM2, GEMMA])
def scored(request: pytest.FixtureRequest, site: Site) -> Scored:
    model = request.param
    with FaultServer(models=[model], fault=reply) as server:
        (outcome,) = run(site, server.url, f"aci_bench:model={model}", no_judging=True)
    run_id = outcome.summary.run.run_id
    with site.store() as store:
        stored = list(store.answers.read_each_instance(run_id))
        values = {
            metric: [unit.value for unit in store.scores.read_units(run_id, metric)]
            for metric in METRICS
        }
    encounters = [each.instance.id for each in stored]
    return Scored(
        model,
        outcome,
        {each.instance.id: each.response for each in stored},
        {metric: dict(zip(encounters, values[metric], strict=True)) for metric in METRICS},
    )


def test_the_corpus_holds_twenty_notes_of_each_model():
    for model, answers in OF_MODEL.items():
        assert answers.keys() == ENCOUNTERS.keys()
        cut_off = [answer for answer in answers.values() if answer.finish_reason == "length"]
        assert len(cut_off) == CUT_OFF[model]


def test_every_note_is_stored_whole_with_its_end(scored: Scored):
    for encounter, answer in OF_MODEL[scored.model].items():
        response = scored.responses[encounter]
        assert response.text == answer.text
        assert response.finish_reason == answer.finish_reason


def test_rouge_is_the_packages_on_the_whole_note(scored: Scored):
    scorer = RougeScorer(list(METRICS.values()), use_stemmer=False)
    for encounter, answer in OF_MODEL[scored.model].items():
        expected = scorer.score(ENCOUNTERS[encounter]["tgt"], answer.text)
        for metric, name in METRICS.items():
            value = scored.scores[metric][encounter]
            assert value is not None
            assert 0 <= value <= 1
            assert value == pytest.approx(expected[name].fmeasure, abs=1e-12), (encounter, metric)


def test_a_note_that_begins_with_the_dialogue_is_scored_with_it(scored: Scored):
    """A repeated prompt is skipped before labels and numbers; a free text is everything that the model wrote."""
    for encounter, answer in OF_MODEL[scored.model].items():
        if answer.text.startswith("Conversation:\n[doctor]"):
            assert scored.scores["rouge_1"][encounter] > 0


def test_notes_without_an_end_are_counted_and_said(scored: Scored, site: Site):
    cut_off = CUT_OFF[scored.model] / len(ENCOUNTERS)
    assert scored.outcome.summary.cut_off == cut_off
    assert Note.MANY_CUT_OFF in scored.outcome.summary.notes(scored.outcome.summary.shown)
    words = ["--suite", "s", "--format", "json"]
    done = CliRunner().invoke(summarize, words, obj=site)
    rows = [row for row in json.loads(done.stdout) if row["model"] == scored.model]
    assert all(Note.MANY_CUT_OFF in row["notes"] for row in rows)


def test_endless_repetition_always_ends_at_the_limit_and_never_as_an_answer_of_its_own():
    for answer in read_answers():
        text = answer.text.encode()
        if len(text) < 1000:
            continue
        assert len(zlib.compress(text)) < 0.1 * len(text)  # these models repeat themselves
        assert answer.finish_reason == "length"


def test_a_note_of_nothing_but_marks_of_turns_has_almost_no_words_in_common():
    """Gemma was not tuned to instructions: it writes `<|im_end|>user` until its limit, and that is its answer."""
    for answer in OF_MODEL[GEMMA].values():
        reference = ENCOUNTERS[answer.encounter]["tgt"]
        assert compute_f_measure(reference, answer.text, "rouge2", stemmer=False) == 0
        assert compute_f_measure(reference, answer.text, "rougeL", stemmer=False) < 0.02
