"""Create a calibration sample from a suite's stored answers, for the service's pages or as one file per clinician."""

import random
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agent.calibration.sample import SampleCandidate, choose_answers, make_codes
from agent.calibration.sheet import (
    ANSWER,
    ITEM,
    MAX_CELL_LENGTH,
    QUESTION,
    REFERENCE,
    write_heading,
    write_sheet,
)
from agent.errors import ConfigError
from agent.io.new_folder import new_folder
from agent.jury.prompts import build_matter
from agent.jury.rubric import Rubric, read_rubric
from agent.results.comparability import build_unit_prefix
from agent.scoring.jury_scores import read_judged_answer
from agent.scoring.measures import HELM_TWIN, Measure, Rules
from agent.vocabulary import Instance, Reason

if TYPE_CHECKING:
    from agent.site.directory import Site
    from agent.store import Calibration, Run, Store

INSTRUCTIONS = "instructions.txt"
Shuffled = TypeVar("Shuffled")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_GRADABLE = frozenset({Reason.NOT_JUDGED.value, Reason.NO_QUORUM.value})


@dataclass(frozen=True, slots=True)
class CalibrationSampling:
    """The request for a sample.

    Attributes:
        name: name of the calibration.
        suite: the suite to sample from.
        benchmark: the benchmark whose answers are sampled.
        items: number of answers.
        raters: number of clinicians; each sees every item.
        seed: random seed for the choice and order of answers, or None to draw one.
        with_reference: whether clinicians see the reference answer.
        reveal: whether clinicians see the original texts instead of redacted ones.
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
class CalibrationSummary:
    """A description of a new sample.

    Attributes:
        items: number of answers.
        models: number of models that gave these answers.
        units: number of patients or documents to which the answers belong.
        files: names of the clinicians' files, if files were written.
        withheld: number of texts that redaction withheld from the files.
        too_long: number of items with a text too long for a spreadsheet cell.
        purged: number of gradable answers that could not be chosen because their texts were purged.
        note: a sentence that says whether and how the texts in the files were changed.
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
    instance: Instance
    answer: str


def find_jury_measure(rules: Rules) -> Measure | None:
    """Return the run's jury metric that follows our own scoring rules (not HELM's), or None."""
    for measure in rules.measures:
        if measure.of_jury and not measure.name.endswith(HELM_TWIN):
            return measure
    return None


def make_calibration(
    site: "Site", wanted: CalibrationSampling, out: Path | None, by: str = ""
) -> CalibrationSummary:
    """Choose answers, write instructions and one file per clinician into the new folder `out`, and store the plan.

    Texts are redacted, with the question, reference answer and answer of an item as one record, or revealed after an
    entry in the audit log.

    Args:
        site: the site.
        wanted: the request.
        out: the new folder; None if clinicians grade on the pages of the service only, so that no file is written.
        by: id of the account that asks, for the audit log; empty on the command line.

    Raises:
        ConfigError: the name is invalid or in use, the suite or its benchmark does not exist, no jury grades the
            benchmark, its runs have juries with different criteria or prompts, there are no answers, or the folder
            already exists.
        RedactionError: the redaction policy is invalid.
    """
    with site.store() as store:
        _check_name(store, wanted.name)
        runs = _select_runs(store, wanted.suite, wanted.benchmark)
        measure, rubric = read_common_rubric(runs)
        candidates = _list_candidates(store, runs, measure.name)
        seed = secrets.randbits(32) if wanted.seed is None else wanted.seed
        items, purged = _choose_items(store, runs, candidates, wanted, seed)
        # The codes do not depend on the seed, because otherwise the seed would reveal which item a code stands for.
        codes = make_codes(len(items), random.SystemRandom())
        plan = _build_plan(wanted, measure, rubric, dict(zip(codes, items, strict=True)), seed)
        rows: list[dict[str, str]] = []
        sheets: dict[str, bytes] = {}
        withheld, note = 0, ""
        if out is None:
            _keep_plan(store, wanted, plan, by)
        else:
            rows, withheld, note = _clear_rows(site, store, items, wanted)
            for row, code in zip(rows, codes, strict=True):
                row[ITEM] = code
            sheets = _write_sheets(rows, rubric, wanted, seed)
            instructions = _write_instructions(measure, rubric, len(items), note).encode(
                "utf-8", "replace"
            )
            _hand_out(store, wanted, plan, out, {INSTRUCTIONS: instructions, **sheets}, by)
    models = {run.run_id: run.model for run in runs}
    return CalibrationSummary(
        items=len(items),
        models=len({models[item.candidate.run_id] for item in items}),
        units=len({item.candidate.unit for item in items}),
        files=tuple(sheets),
        withheld=withheld,
        too_long=sum(_is_too_long(row) for row in rows),
        purged=purged,
        note=note,
    )


def _build_plan(
    wanted: CalibrationSampling,
    measure: Measure,
    rubric: Rubric,
    items: Mapping[str, _Item],
    seed: int,
) -> dict[str, Any]:
    """Return the plan of a sample in its stored form; `items` is keyed by item code."""
    planned_items = {}
    for code, item in items.items():
        planned_items[code] = {
            "run": item.candidate.run_id,
            "position": item.candidate.position,
            "request": item.request.hex(),
            "answer": item.mark,
        }
    return {
        "suite": wanted.suite,
        "benchmark": wanted.benchmark,
        "metric": measure.name,
        "criteria": list(rubric.criteria),
        "scale": [rubric.scale.low, rubric.scale.high],
        "seed": seed,
        "raters": wanted.raters,
        "with_reference": wanted.with_reference,
        "revealed": wanted.reveal,
        "items": planned_items,
    }


def _write_sheets(
    rows: Sequence[Mapping[str, str]], rubric: Rubric, wanted: CalibrationSampling, seed: int
) -> dict[str, bytes]:
    """Return the clinicians' files by name; each has the rows in a different order."""
    sheets: dict[str, bytes] = {}
    for number in range(1, wanted.raters + 1):
        shuffled = shuffle_items(rows, seed, number)
        sheets[_name_sheet(number)] = write_sheet(
            shuffled, rubric.criteria, rubric.scale, with_reference=wanted.with_reference
        )
    return sheets


def shuffle_items(items: Sequence[Shuffled], seed: int, number: int) -> list[Shuffled]:
    """Return the items of a sample in the order in which clinician `number` sees them."""
    order = random.Random(f"{seed} {_name_sheet(number)}")  # noqa: S311 (an order, not a secret)
    return order.sample(items, len(items))


def _name_sheet(number: int) -> str:
    return f"rater-{number}.csv"


def _is_too_long(row: Mapping[str, str]) -> bool:
    return any(len(text) > MAX_CELL_LENGTH for text in row.values())


def _hand_out(
    store: "Store",
    wanted: CalibrationSampling,
    plan: Mapping[str, Any],
    out: Path,
    files: Mapping[str, bytes],
    by: str,
) -> None:
    """Store the plan before `out` is created, because sheets cannot be imported without a plan."""
    is_plan_stored = False
    try:
        with new_folder(out) as folder:
            for file, content in files.items():
                _write_file(folder / file, content)
            _keep_plan(store, wanted, plan, by)
            is_plan_stored = True
    except ConfigError:
        # The folder `out` could not be created, so the plan is deleted too.
        if is_plan_stored:
            delete_calibration(store, wanted.name)
        raise


def _keep_plan(
    store: "Store", wanted: CalibrationSampling, plan: Mapping[str, Any], by: str
) -> None:
    with store.transaction():
        # Someone else may have taken the name while answers were chosen.
        _check_name(store, wanted.name)
        store.calibrations.keep(wanted.name, plan)
        detail = f"name={wanted.name} items={len(plan['items'])} raters={wanted.raters}"
        store.audit.record("calibration made", detail, by)


def require_calibration(store: "Store", name: str) -> "Calibration":
    """Return the sample with this name. Raises ConfigError if there is none."""
    found = store.calibrations.find(name)
    if found is None:
        known = ", ".join(one.name for one in store.calibrations.read_all()) or "none yet"
        raise ConfigError(
            f"there is no calibration {name} (here: {known})",
            "Create one with `intramural calibrate new`.",
        )
    return found


def delete_calibration(store: "Store", name: str, by: str = "") -> None:
    """Delete a sample, including clinicians' names and grades, and record the deletion in the audit log.

    Args:
        store: the store.
        name: the sample.
        by: id of the account that asks; empty on the command line.
    """
    with store.transaction():
        raters = len(store.calibrations.read_raters(name))
        store.calibrations.delete(name)
        store.audit.record("calibration deleted", f"name={name} raters={raters}", by)


def delete_rater(store: "Store", name: str, number: int) -> None:
    """Delete one clinician's name and grades, and record the deletion in the audit log."""
    with store.transaction():
        store.calibrations.delete_ratings(name, number)
        store.audit.record("calibration ratings deleted", f"name={name} rater=R{number}")


def _check_name(store: "Store", name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ConfigError(
            "the name of a calibration must be 1 to 64 letters, digits, dots, dashes and underscores",
            "Choose another name.",
        )
    if store.calibrations.find(name) is not None:
        raise ConfigError(
            f"a calibration named {name} already exists",
            f"Choose another name, or delete it with `intramural calibrate delete {name}`.",
        )


def list_gradable(store: "Store") -> list[tuple[str, str]]:
    """Return each suite and benchmark of which a jury with grading criteria grades a run, sorted."""
    found: set[tuple[str, str]] = set()
    for run in store.runs.select():
        if not run.is_private and _read_run_rubric(run) is not None:
            found.add((run.suite, run.benchmark))
    return sorted(found)


def _select_runs(store: "Store", suite: str, benchmark: str) -> "list[Run]":
    store.runs.require_suite(suite)
    # Every clinician sees the answers, and so none is taken from a run that its owner keeps from others.
    runs_of_suite = [run for run in store.runs.select(suite) if not run.is_private]
    runs = [run for run in runs_of_suite if run.benchmark == benchmark]
    if not runs:
        benchmarks = ", ".join(dict.fromkeys(run.benchmark for run in runs_of_suite))
        raise ConfigError(
            f"suite {suite} has no run of benchmark {benchmark} that everyone may see (it has {benchmarks or 'none'})",
            "Name a benchmark with --benchmark.",
        )
    judged = [run for run in runs if _read_run_rubric(run) is not None]
    if not judged:
        raise ConfigError(
            f"no run of benchmark {benchmark} has a jury with grading criteria, so there is nothing to compare with "
            "clinicians",
            "With --benchmark, name a benchmark that has the metric jury_score, and run it with this version.",
        )
    # Reference baselines would waste clinicians' time if there are answers of a language model.
    return [run for run in judged if run.details.language_model] or judged


def _read_run_rubric(run: "Run") -> tuple[Measure, Rubric] | None:
    """Return the run's jury metric and its rubric, or None if no jury grades the run or the rubric is unknown.

    Imported runs, and runs by earlier versions, may have a jury's scores but not its criteria.
    """
    measure = find_jury_measure(Rules.of_run(run.details))
    if measure is None:
        return None
    try:
        return measure, read_rubric(measure.use)
    except ValueError:
        return None


def read_common_rubric(runs: "Sequence[Run]") -> tuple[Measure, Rubric]:
    """Return the jury metric and rubric that all runs share. Raises ConfigError if they differ."""
    rubrics: list[tuple[Measure, Rubric]] = []
    variants: set[tuple[object, ...]] = set()
    for run in runs:
        run_rubric = _read_run_rubric(run)
        if run_rubric is None:
            continue
        rubrics.append(run_rubric)
        measure, rubric = run_rubric
        questions = repr(dict(measure.use.criteria))
        variants.add((measure.name, rubric.criteria, rubric.scale, questions, measure.use.prompt))
    if len(variants) > 1:
        raise ConfigError(
            f"the runs of benchmark {runs[0].benchmark} have juries with different criteria, scales or prompts",
            "Run them again with one definition, or run comparable entries in a separate suite.",
        )
    return rubrics[0]


def _list_candidates(
    store: "Store", runs: "Sequence[Run]", metric: str
) -> dict[str, list[SampleCandidate]]:
    """Return the answers that a jury has graded or could grade, by model."""
    candidates: dict[str, list[SampleCandidate]] = {}
    for run in runs:
        unit_prefix = build_unit_prefix(run)
        for position, score in enumerate(store.scores.read_units(run.run_id, metric)):
            if score.value is None and score.reason not in _GRADABLE:
                continue
            unit = unit_prefix + score.unit_key
            candidate = SampleCandidate(run.run_id, position, unit, score.instance_key)
            candidates.setdefault(run.model, []).append(candidate)
    if not candidates:
        raise ConfigError(
            f"the runs of benchmark {runs[0].benchmark} have no answers that a jury could grade",
            "Run the suite first.",
        )
    return candidates


def _choose_items(
    store: "Store",
    runs: "Sequence[Run]",
    candidates: Mapping[str, Sequence[SampleCandidate]],
    wanted: CalibrationSampling,
    seed: int,
) -> tuple[list[_Item], int]:
    """Return the chosen items with their texts, and the number of answers whose texts were purged."""
    rules = {run.run_id: Rules.of_run(run.details) for run in runs}
    chosen = choose_answers(candidates, wanted.items, random.Random(seed))  # noqa: S311 (a sample, not a secret)
    items = {item.candidate: item for item in _load_items(store, rules, chosen)}
    purged = 0
    if len(items) < len(chosen):
        # Some texts were purged. Reading every text is slow, so it is done only in this case.
        with_texts: dict[str, list[SampleCandidate]] = {}
        for model, answers in candidates.items():
            for item in _load_items(store, rules, answers):
                with_texts.setdefault(model, []).append(item.candidate)
        purged = _count_answers(candidates) - _count_answers(with_texts)
        chosen = choose_answers(with_texts, wanted.items, random.Random(seed))  # noqa: S311 (a sample, not a secret)
        items = {item.candidate: item for item in _load_items(store, rules, chosen)}
    if not chosen:
        raise ConfigError(
            "the texts of all gradable answers were purged",
            "Run the suite again: clinicians have to read the answers that they grade.",
        )
    return [items[candidate] for candidate in chosen], purged


def _count_answers(candidates: Mapping[str, Sequence[SampleCandidate]]) -> int:
    return sum(map(len, candidates.values()))


def _load_items(
    store: "Store", rules: Mapping[str, Rules], candidates: Sequence[SampleCandidate]
) -> Iterator[_Item]:
    """Yield the candidates whose texts are stored, with only a few in memory at a time."""
    candidates_by_run: dict[str, dict[int, SampleCandidate]] = {}
    for candidate in candidates:
        candidates_by_run.setdefault(candidate.run_id, {})[candidate.position] = candidate
    for run_id, candidates_of_run in candidates_by_run.items():
        for stored in store.answers.read_each_instance(run_id, sorted(candidates_of_run)):
            if stored.instance is None or stored.response is None:
                continue
            answer = read_judged_answer(rules[run_id], stored.response)
            if not isinstance(answer, str) or not answer.strip():
                continue
            yield _Item(
                candidate=candidates_of_run[stored.position],
                request=stored.request_key,
                mark=store.identities.answer_mark(stored.response.text),
                instance=stored.instance,
                answer=answer,
            )


def _clear_rows(
    site: "Site", store: "Store", items: Sequence[_Item], wanted: CalibrationSampling
) -> tuple[list[dict[str, str]], int, str]:
    """Return the redacted (or revealed) rows, the number of withheld texts, and a note on how texts were changed."""
    from agent.redaction.gateway.cases import open_clearer

    clearer = open_clearer(site, store, reveal=wanted.reveal, purpose="calibration")
    shown = clearer.clear_answered(
        [(item.instance, item.answer) for item in items], f"name={wanted.name} items={len(items)}"
    )
    note = "Texts are shown unchanged."
    if not wanted.reveal:
        note = f"{clearer.note.removesuffix('.')}: tags in brackets replace identifiers."
    rows: list[dict[str, str]] = []
    for instance, answer in shown:
        matter = build_matter(instance, answer)
        reference = {REFERENCE: matter.gold} if wanted.with_reference else {}
        rows.append({QUESTION: matter.question, **reference, ANSWER: matter.answer})
    return rows, clearer.withheld, note


def _write_instructions(measure: Measure, rubric: Rubric, count: int, note: str) -> str:
    """Return the instructions for clinicians as plain text."""
    low, high = rubric.scale.low, rubric.scale.high
    lines = [
        f"Please grade {count} answers. Each row of your file shows a question and an answer to it.",
        "The file does not say who or what gave an answer, and the rows are in random order. Grade each answer on its",
        "own merits, without discussing it with others.",
        "",
        f"A grade is a number from {low:g} (worst) to {high:g} (best); decimals are allowed. Leave a cell blank if you",
        "cannot decide. Do not change the column `item`. Only grades are read back; any other notes in the file are",
        "lost. Save the file as CSV. You may stop at any time and hand in a partly completed file.",
        "",
        note,
        "",
        "Columns to fill in:",
    ]
    for criterion in rubric.criteria:
        question = measure.use.criteria.get(criterion, "")
        heading = write_heading(criterion, rubric.scale)
        lines.append(f"  {heading}: {question}" if question else f"  {heading}")
    if measure.use.prompt:
        lines += [
            "",
            "For the same task, the judge models receive the following instructions, which explain the grades:",
            "",
        ]
        lines += [measure.use.prompt]
    return "\n".join(lines) + "\n"


def _write_file(path: Path, content: bytes) -> None:
    # Set the mode before writing the content, so that no other account can ever read it.
    path.touch(mode=0o600)
    path.write_bytes(content)
