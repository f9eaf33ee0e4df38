"""Making a sample for clinicians: from a suite's stored answers to one blinded, shuffled file for each."""

import random
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.calibration.sample import SampleCandidate, choose, codes
from agent.calibration.sheet import ANSWER, ITEM, LONGEST_CELL, QUESTION, REFERENCE, heading, sheet
from agent.errors import ConfigError
from agent.io.new_folder import new_folder
from agent.jury.prompts import Matter, build_matter
from agent.jury.rubric import Rubric, read_rubric
from agent.redaction.gateway.subject import Whose
from agent.results.comparability import build_unit_prefix
from agent.scoring.jury_scores import read_judged_answer
from agent.scoring.measures import HELM_TWIN, Measure, Rules
from agent.vocabulary import Reason

if TYPE_CHECKING:
    from agent.site.directory import Site
    from agent.store import Run, Store

INSTRUCTIONS = "instructions.txt"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_GRADABLE = frozenset({Reason.NOT_JUDGED.value, Reason.NO_QUORUM.value})


@dataclass(frozen=True, slots=True)
class CalibrationSampling:
    """What a sample is to be.

    Attributes:
        name: what it is called here.
        suite: whose answers.
        benchmark: of which benchmark.
        items: how many answers.
        raters: how many clinicians; each sees every item.
        seed: decides choice and order; None: any.
        with_reference: whether they see the right answer.
        reveal: original instead of redacted texts.
    """

    name: str
    suite: str
    benchmark: str
    items: int = 60
    raters: int = 2
    seed: int | None = None
    with_reference: bool = False
    reveal: bool = False


@dataclass(frozen=True, slots=True)
class Made:
    """What a sample became.

    Attributes:
        items, models, units: how many it holds.
        files: names of the clinicians' files.
        withheld: texts that could not be cleared and are not shown.
        too_long: items with a text that a spreadsheet's cell does not hold.
        purged: gradable answers of which the texts were purged, so that they could not be chosen.
        note: what was done to texts.
    """

    items: int
    models: int
    units: int
    files: tuple[str, ...]
    withheld: int
    too_long: int
    purged: int
    note: str


@dataclass(frozen=True, slots=True)
class _Item:
    candidate: SampleCandidate
    request: bytes
    mark: str
    matter: Matter
    whose: Whose


def jury_measure(rules: Rules) -> Measure | None:
    """Return the metric that a jury gives by our rules, if there is one."""
    return next((one for one in rules.measures if one.of_jury and not one.name.endswith(HELM_TWIN)), None)


def make_calibration(site: "Site", wanted: CalibrationSampling, out: Path) -> Made:
    """Choose answers, write a file for each clinician and the instructions into the new folder `out`, keep the plan.

    Texts pass redaction, question, right answer and answer together, as those of one record; or are shown as they are
    after an entry in the audit log.

    Raises:
        ConfigError: the name is taken or none, there is no such suite or benchmark in it, no jury grades it, its runs
            have different juries' criteria or prompts, there are no answers, or the folder is in use.
        RedactionError: the redaction policy is wrong.
    """
    with site.store() as store:
        _check_name(store, wanted.name)
        runs = _runs(store, wanted.suite, wanted.benchmark)
        measure, rubric = _one_rubric(runs)
        candidates = _candidates(store, runs, measure.name)
        seed = secrets.randbits(32) if wanted.seed is None else wanted.seed
        items, purged = _choose(store, runs, candidates, wanted, seed)
        rows, withheld, note = _cleared(site, store, items, wanted)
        names = codes(len(items), random.SystemRandom())
        for row, name in zip(rows, names, strict=True):
            row[ITEM] = name
        plan = {
            "suite": wanted.suite,
            "benchmark": wanted.benchmark,
            "metric": measure.name,
            "criteria": list(rubric.criteria),
            "scale": [rubric.scale.low, rubric.scale.high],
            "seed": seed,
            "raters": wanted.raters,
            "with_reference": wanted.with_reference,
            "revealed": wanted.reveal,
            "items": {
                name: {
                    "run": item.candidate.run_id,
                    "position": item.candidate.position,
                    "request": item.request.hex(),
                    "answer": item.mark,
                }
                for name, item in zip(names, items, strict=True)
            },
        }
        files = tuple(f"rater-{number}.csv" for number in range(1, wanted.raters + 1))
        written = {INSTRUCTIONS: _instructions(measure, rubric, len(items), note).encode("utf-8", "replace")}
        for file in files:
            order = random.Random(f"{seed} {file}").sample(rows, len(rows))  # noqa: S311 (an order, no secret)
            written[file] = sheet(order, rubric.criteria, rubric.scale, with_reference=wanted.with_reference)
        _hand_out(store, wanted, plan, out, written)
    models = {run.run_id: run.model for run in runs}
    return Made(
        items=len(items),
        models=len({models[item.candidate.run_id] for item in items}),
        units=len({item.candidate.unit for item in items}),
        files=files,
        withheld=withheld,
        too_long=sum(any(len(text) > LONGEST_CELL for text in row.values()) for row in rows),
        purged=purged,
        note=note,
    )


def _hand_out(
    store: "Store", wanted: CalibrationSampling, plan: Mapping[str, Any], out: Path, written: Mapping[str, bytes]
) -> None:
    """Keep the plan, then let the folder appear: sheets whose sample nobody knows would be of no use."""
    kept = False
    try:
        with new_folder(out) as folder:
            for file, content in written.items():
                _write(folder / file, content)
            with store.transaction():
                store.calibrations.keep(wanted.name, plan)
                store.audit.record(
                    "calibration made", f"name={wanted.name} items={len(plan['items'])} raters={wanted.raters}"
                )
            kept = True
    except ConfigError:  # the folder could not take its name
        if kept:
            delete_calibration(store, wanted.name)
        raise


def delete_calibration(store: "Store", name: str) -> None:
    """Delete a sample with clinicians' names and grades, and write so to the audit log."""
    with store.transaction():
        raters = len(store.calibrations.read_raters(name))
        store.calibrations.delete(name)
        store.audit.record("calibration deleted", f"name={name} raters={raters}")


def delete_rater(store: "Store", name: str, number: int) -> None:
    """Delete one clinician's name and grades, and write so to the audit log."""
    with store.transaction():
        store.calibrations.delete_ratings(name, number)
        store.audit.record("calibration ratings deleted", f"name={name} rater=R{number}")


def _check_name(store: "Store", name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ConfigError(
            "the name of a calibration is 1 to 64 letters, digits, dots, dashes and underscores", "Choose another name."
        )
    if store.calibrations.find(name) is not None:
        raise ConfigError(
            f"there is a calibration {name} already",
            f"Choose another name, or let go of it with `intramural calibrate delete {name}`.",
        )


def _runs(store: "Store", suite: str, benchmark: str) -> "list[Run]":
    store.runs.require_suite(suite)
    every = store.runs.select(suite)
    runs = [run for run in every if run.benchmark == benchmark]
    if not runs:
        known = ", ".join(dict.fromkeys(run.benchmark for run in every))
        raise ConfigError(
            f"suite {suite} has no run of benchmark {benchmark} (it has {known})", "Name a benchmark with --benchmark."
        )
    judged = [run for run in runs if _rubric(run) is not None]
    if not judged:
        raise ConfigError(
            f"no run of benchmark {benchmark} says what a jury is to grade: there is nothing to set beside clinicians",
            "Name a benchmark with a jury_score, and run it with this version.",
        )
    # Answers of reference baselines would take clinicians' time, where a language model's are there.
    return [run for run in judged if run.details.language_model] or judged


def _rubric(run: "Run") -> tuple[Measure, Rubric] | None:
    """Return the run's jury metric and what its verdicts hold; None where no jury grades it, or nobody knows by what.

    Imported runs, and those of earlier versions, may have a jury's scores and not its criteria.
    """
    measure = jury_measure(Rules.of_run(run.details))
    try:
        return None if measure is None else (measure, read_rubric(measure.use))
    except ValueError:
        return None


def _one_rubric(runs: "Sequence[Run]") -> tuple[Measure, Rubric]:
    """Return the runs' jury metric, which must ask the same of all answers."""
    found = [rubric for run in runs if (rubric := _rubric(run)) is not None]
    asked = {
        (measure.name, rubric.criteria, rubric.scale, repr(dict(measure.use.criteria)), measure.use.prompt)
        for measure, rubric in found
    }
    if len(asked) > 1:
        raise ConfigError(
            f"the runs of benchmark {runs[0].benchmark} have juries of different criteria or scales or prompts",
            "Run them again with one definition, or put those that belong together into a suite of their own.",
        )
    return found[0]


def _candidates(store: "Store", runs: "Sequence[Run]", metric: str) -> dict[str, list[SampleCandidate]]:
    """Return each model's answers that a jury graded, or could grade."""
    found: dict[str, list[SampleCandidate]] = {}
    for run in runs:
        for position, score in enumerate(store.scores.read_units(run.run_id, metric)):
            if score.value is not None or score.reason in _GRADABLE:
                one = SampleCandidate(run.run_id, position, build_unit_prefix(run) + score.unit_key, score.instance_key)
                found.setdefault(run.model, []).append(one)
    if not found:
        raise ConfigError(
            "there are no answers to show: none was given that a jury could grade", "Run the suite first."
        )
    return found


def _choose(
    store: "Store",
    runs: "Sequence[Run]",
    candidates: Mapping[str, Sequence[SampleCandidate]],
    wanted: CalibrationSampling,
    seed: int,
) -> tuple[list[_Item], int]:
    """Return the chosen items with their texts, and how many answers could not be chosen for want of texts."""
    rules = {run.run_id: Rules.of_run(run.details) for run in runs}
    chosen = choose(candidates, wanted.items, random.Random(seed))  # noqa: S311 (a sample, no secret)
    items = {item.candidate: item for item in _load(store, rules, chosen)}
    missing = 0
    if len(items) < len(chosen):  # texts were purged: choose among those that are left
        left: dict[str, list[SampleCandidate]] = {}
        for model, each in candidates.items():
            for item in _load(store, rules, each):
                left.setdefault(model, []).append(item.candidate)
        missing = sum(map(len, candidates.values())) - sum(map(len, left.values()))
        chosen = choose(left, wanted.items, random.Random(seed))  # noqa: S311 (a sample, no secret)
        items = {item.candidate: item for item in _load(store, rules, chosen)}
    if not chosen:
        raise ConfigError(
            "there are no texts to show: those of all gradable answers were purged",
            "Run the suite again; clinicians must read what they grade.",
        )
    return [items[one] for one in chosen], missing


def _load(store: "Store", rules: Mapping[str, Rules], candidates: Sequence[SampleCandidate]) -> Iterator[_Item]:
    """Yield those of which texts are there, few in memory at a time."""
    by_run: dict[str, dict[int, SampleCandidate]] = {}
    for one in candidates:
        by_run.setdefault(one.run_id, {})[one.position] = one
    for run_id, by_position in by_run.items():
        for stored in store.answers.read_each_instance(run_id, sorted(by_position)):
            if stored.instance is None or stored.response is None:
                continue
            answer = read_judged_answer(rules[run_id], stored.response)
            if isinstance(answer, str) and answer.strip():
                mark = store.identities.answer_mark(stored.response.text)
                matter = build_matter(stored.instance, answer)
                whose = Whose.of(stored.instance)
                yield _Item(by_position[stored.position], stored.request_key, mark, matter, whose)


def _cleared(
    site: "Site", store: "Store", items: Sequence[_Item], wanted: CalibrationSampling
) -> tuple[list[dict[str, str]], int, str]:
    """Return the rows fit to be seen, how many texts were withheld, and what was done to texts."""
    from agent.redaction.gateway.cases import open_clearer

    records = [[item.matter.question, item.matter.gold, item.matter.answer] for item in items]
    clearer = open_clearer(site, store, reveal=wanted.reveal, purpose="calibration")
    shown = clearer.clear_records(records, f"name={wanted.name} items={len(items)}", [item.whose for item in items])
    note = "Texts are shown as they are."
    if not wanted.reveal:
        note = f"{clearer.note.removesuffix('.')}: marks in brackets stand for what was taken out."
    rows: list[dict[str, str]] = []
    for question, gold, answer in shown:
        reference = {REFERENCE: gold} if wanted.with_reference else {}
        rows.append({QUESTION: question, **reference, ANSWER: answer})
    return rows, clearer.withheld, note


def _instructions(measure: Measure, rubric: Rubric, count: int, note: str) -> str:
    """Return what a clinician should know, in plain text."""
    low, high = rubric.scale.low, rubric.scale.high
    lines = [
        f"Please grade {count} answers. Every row of your file is one: a question and the answer that was given.",
        "Who or what gave it is not said, and rows are in no order. Grade each by itself, without talking it over.",
        "",
        f"A grade is a number from {low:g} (worst) to {high:g} (best); decimals are fine. Leave a cell blank where you",
        "cannot say. Change nothing in the column `item`. Only grades are read in: what you write elsewhere is",
        "lost. Save as CSV. You may stop at any time and hand in what you have.",
        "",
        note,
        "",
        "Columns to fill in:",
    ]
    for criterion in rubric.criteria:
        question = measure.use.criteria.get(criterion, "")
        lines.append(f"  {heading(criterion, rubric.scale)}{f': {question}' if question else ''}")
    if measure.use.prompt:
        lines += ["", "What a grade means stands in the words that model judges are given for the same task:", ""]
        lines += [measure.use.prompt]
    return "\n".join(lines) + "\n"


def _write(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)
