"""Attacks 2, 3 and 8: figures that differ by one patient, or that are of the same patients, are subtracted.

Noise is off in these tests, so that the rule in question stands alone, except where a test says otherwise. The attacker
knows every outcome but one, and the code: what would come out if the target had scored, and what if not? She has
recovered the outcome where only one of these is what was published. A single figure without noise has edges of its own,
so only what a *second* figure adds is counted: the first is about everybody but the target.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.disclosure import cell_scores, persons
from agent.disclosure import gate as gate_module
from agent.disclosure.findings import Finding
from agent.disclosure.gate import GatedRelease
from agent.disclosure.ledger import Ledger, ReleaseEntry, append_entry, derive_ledger_key
from agent.disclosure.precedents import Precedents
from agent.disclosure.prepare import Gate, prepare
from agent.disclosure.verdicts import GateRule
from agent.errors import DisclosureError
from protocol import disclosure, verification
from protocol.cell_codes import HIGH_CODED, LOW_CODED, SUPPRESSED
from protocol.disclosure import CellSums
from protocol.errors import Code, ProtocolError
from protocol.policy import DisclosurePolicy, bucket_of
from protocol.predicates import DatasetPredicate
from protocol.scorecard import Scorecard
from protocol.verification import History, authenticate, verify_link
from tests.agent.disclosure.patients import open_ward, patients, with_new_pseudonyms, write_patients
from tests.agent.disclosure.ward import (
    CARD,
    DATA_KEY,
    DATASETS,
    MODEL,
    OTHER_MODEL,
    REGISTRY,
    SEAL_KEY,
    after,
    finding,
    gate_says,
    register,
    right,
    sign,
    site_gate,
    whole_ward,
)
from tests.protocol import world

WARD, ROUGE, NO_ICU = "ward/exact_match", "ward/rouge_l", "ward_no_icu/exact_match"
WARD_CARD = replace(
    CARD,
    cells=tuple(cell for cell in CARD.cells if cell.key == WARD),
    benchmarks=CARD.benchmarks[1:2],
)
ROUGE_CARD = replace(WARD_CARD, cells=tuple(cell for cell in CARD.cells if cell.key == ROUGE))
BOTH_CARD = replace(
    WARD_CARD, cells=tuple(cell for cell in CARD.cells if cell.key in {WARD, ROUGE})
)

Publish = Callable[[int, float], GatedRelease]
"""What is published in the end if so many others were right, and the target scored so much."""


def count_recovered(publish: Publish, counts: Sequence[int]) -> int:
    """Return for how many counts of the others the published figures fit one outcome of the target only."""
    recovered = 0
    for count in counts:
        if_right, if_wrong = publish(count, 1.0), publish(count, 0.0)
        seen = [(dict(r.groups), dict(r.cells), dict(r.spreads)) for r in (if_right, if_wrong)]
        recovered += seen[0] != seen[1]
    return recovered


COUNTS = range(90, 120)


def new_patient(count: int, target: float, *, second_model: str) -> GatedRelease:
    """200 patients, then the same and one who came: what the second release shows."""
    others = right(count, 200)
    before = gate_says([finding("ward", "exact_match", others)], card=WARD_CARD)
    assert before.cells[WARD] >= 0
    everybody = finding("ward", "exact_match", [*others, target])
    return gate_says(
        [everybody], card=WARD_CARD, ledger=after(Ledger(), before), model=second_model
    )


@pytest.mark.parametrize(
    "model", [MODEL, OTHER_MODEL], ids=["same-model", "second-name-of-the-same-weights"]
)
def test_a_patient_who_came_between_two_releases(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def publish(count: int, target: float) -> GatedRelease:
        return new_patient(count, target, second_model=model)

    assert count_recovered(publish, COUNTS) == 0
    assert publish(100, 1.0).verdicts[WARD] is GateRule.NEAR_VERSION
    monkeypatch.setattr(Precedents, "_is_near_released_version", lambda self, dataset: False)
    assert count_recovered(publish, COUNTS) > 3


def test_a_group_size_that_moves_by_one_patient_between_two_models(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """How many patients a bucket holds is known; so that it moves says who came, and when."""
    size = next(low for low in range(100, 300) if bucket_of(low) != bucket_of(low - 1)) - 1

    def buckets() -> list[int]:
        first = gate_says([finding("ward", "exact_match", right(50, size))], card=WARD_CARD)
        ledger = after(Ledger(), first)
        one_more = finding("ward", "exact_match", right(50, size + 1))
        second = gate_says([one_more], card=WARD_CARD, ledger=ledger, model=OTHER_MODEL)
        return [first.groups["ward"], second.groups["ward"]]

    assert buckets() == [bucket_of(size), 0]
    monkeypatch.setattr(Precedents, "_is_near_released_version", lambda self, dataset: False)
    assert buckets() == [bucket_of(size), bucket_of(size) + 1]


@pytest.mark.full
def test_two_cohorts_in_one_submission(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody, and everybody but one: two benchmarks with the same questions."""
    card = Scorecard(
        "twins",
        1,
        tuple(replace(CARD.benchmarks[1], id=name) for name in ("ward", "ward_no_icu")),
        tuple(replace(WARD_CARD.cells[0], benchmark=name) for name in ("ward", "ward_no_icu")),
    )

    def publish(count: int, target: float) -> GatedRelease:
        others = right(count, 200)
        return gate_says(
            [
                finding("ward", "exact_match", others),
                finding("ward", "exact_match", [*others, target], named="ward_no_icu"),
            ],
            card=card,
        )

    assert count_recovered(publish, COUNTS) == 0
    assert publish(100, 1.0).verdicts[NO_ICU] is GateRule.NEAR_VERSION
    monkeypatch.setattr(Precedents, "_is_near_released_version", lambda self, dataset: False)
    assert count_recovered(publish, COUNTS) > 3


def test_two_metrics_of_one_submission_give_an_exact_numerator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Few of 60 right: `exact_match` is low-coded, but a second metric and its spread say how many."""

    def publish(count: int, target: float) -> GatedRelease:
        graded = [1.0] * count + [0.4] * (59 - count) + [target]
        exact = [*right(count, 59), target]
        return gate_says(
            [finding("ward", "exact_match", exact), finding("ward", "rouge_l", graded)],
            card=BOTH_CARD,
        )

    assert publish(3, 1.0).cells[WARD] == LOW_CODED
    assert count_recovered(publish, range(8)) == 0
    monkeypatch.setattr(disclosure, "surplus_cells", lambda scorecard, policy: [])
    monkeypatch.setattr(Precedents, "_has_too_many_metrics", lambda self, cell, figures: False)
    monkeypatch.setattr(disclosure, "_is_narrow", lambda values, bucket, policy: False)
    assert count_recovered(publish, range(8)) >= 4


@pytest.mark.full
def test_eleven_scores_moved_a_little_beside_one_new_patient(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Enough scores changed for a new figure, so it said; but who was added is what is subtracted."""

    def publish(count: int, target: float) -> GatedRelease:
        others = [0.9] * count + [0.3] * (200 - count)
        ledger = after(Ledger(), gate_says([finding("ward", "rouge_l", others)], card=ROUGE_CARD))
        moved = [score + 0.05 for score in others[:11]] + others[11:]
        return gate_says(
            [finding("ward", "rouge_l", [*moved, target])], card=ROUGE_CARD, ledger=ledger
        )

    assert count_recovered(publish, COUNTS) == 0
    monkeypatch.setattr(Precedents, "_is_near_released_version", lambda self, dataset: False)
    assert count_recovered(publish, COUNTS) > 3


@pytest.mark.full
def test_the_same_patients_asked_again_until_an_edge_is_crossed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ten known answers are moved to where rounding turns: the second figure would say what the target scored."""

    def publish(count: int, target: float) -> GatedRelease:
        first = [*right(count, 199), 0.0]
        ledger = after(Ledger(), gate_says([finding("ward", "exact_match", first)], card=WARD_CARD))
        again = finding("ward", "exact_match", [*right(count + 9, 199), target])
        return gate_says([again], card=WARD_CARD, ledger=ledger)

    assert count_recovered(publish, COUNTS) == 0
    monkeypatch.setattr(Precedents, "_find_nearest_release", lambda self, cell: None)
    assert count_recovered(publish, COUNTS) > 3


def test_the_best_of_many_parts_of_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--max-eval-instances` chooses; what is not published is no figure, whatever was tried."""
    whole = finding("ward", "exact_match", right(100, 200))

    def best() -> int:
        parts = [replace(finding("ward", "exact_match", right(100, n)), dataset=whole.dataset, available=200)
                 for n in range(140, 200, 10)]  # fmt: skip
        return max(gate_says([part], card=WARD_CARD).cells[WARD] for part in parts)

    assert best() == SUPPRESSED
    monkeypatch.setattr(cell_scores, "_is_part", lambda finding, asked, dataset: False)
    assert best() >= 700  # of all 200 it is 500


def test_199_synthetic_rows_and_one_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data that no steward has seen: one real patient among rows whose scores are known."""

    def publish(count: int, target: float) -> GatedRelease:
        return gate_says([replace(finding("ward", "exact_match", [*right(count, 199), target]), dataset="")],
                         card=WARD_CARD)  # fmt: skip

    with pytest.raises(DisclosureError, match="not registered"):
        publish(100, 1.0)

    def believe(scorecard: Any, by_cell: dict[str, Finding], ledger: Any) -> dict[str, Any]:
        finding(
            "ward", "exact_match", right(100, 200)
        )  # makes the entry that a registration would have made
        return {
            "ward": next(
                d for d in DATASETS.values() if d.benchmark == "ward" and len(d.units) == 200
            )
        }

    monkeypatch.setattr(gate_module, "find_datasets", believe)
    monkeypatch.setattr(Precedents, "_find_dataset", lambda self, figures: None)
    monkeypatch.setattr(Ledger, "lost_entries_after", lambda self, dataset: False)
    assert count_recovered(publish, COUNTS) > 3


@pytest.mark.full
def test_13_of_26_is_not_said_to_have_few_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    half = finding("ward", "exact_match", right(13, 26))
    assert gate_says([half], card=WARD_CARD).cells[WARD] not in {HIGH_CODED, LOW_CODED}
    for n in range(22, 60):
        for count in range(11, n - 10):
            figure = gate_says(
                [finding("ward", "exact_match", right(count, n))], card=WARD_CARD
            ).cells[WARD]
            assert figure not in {HIGH_CODED, LOW_CODED}

    def code_if_few(sums: CellSums, policy: DisclosurePolicy) -> int | None:
        """Commit 56f8cdc coded whatever the grid made unsafe."""
        return HIGH_CODED if sums.total >= sums.n / 2 else LOW_CODED

    monkeypatch.setattr(disclosure, "_code_for", code_if_few)
    assert gate_says([half], card=WARD_CARD).cells[WARD] == HIGH_CODED


# --- Who is the same person ------------------------------------------------------------------------------------


def test_one_more_patient_under_new_pseudonyms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ward = open_ward(tmp_path / "site")
    ward.released(patients(60))
    write_patients(ward.site, with_new_pseudonyms(patients(61)))
    with pytest.raises(DisclosureError, match="differs too little"):
        ward.register()
    monkeypatch.setattr(persons, "_recognise_units", lambda *everything: {})
    assert ward.register().is_new


def test_one_patient_under_60_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ward = open_ward(tmp_path / "site")
    (one,) = patients(1)
    write_patients(ward.site, [replace(one, identifier=f"MRN{number}") for number in range(60)])
    with pytest.raises(DisclosureError, match="1 units"):
        ward.register()
    monkeypatch.setattr(
        persons, "_group_copies", lambda units, contents, sketcher: list(range(len(units)))
    )
    assert len(ward.register().candidate.entry.list_persons()) == 60


# --- The ledger ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stolen", [DATA_KEY, SEAL_KEY], ids=["keys-apart", "one-key-for-both"])
def test_the_ledger_sealed_again_with_the_key_that_opens_the_store(
    tmp_path: Path, stolen: bytes
) -> None:
    """Whoever has it empties the last debit, seals it again and removes the draft: the next figure is new."""
    gate = site_gate(tmp_path)
    register(gate, {MODEL: whole_ward()})
    prepare(gate, CARD, {MODEL: whole_ward(100)})
    for path in gate.outbox.directory.glob("*.draft.dsse.json"):
        path.unlink()
    assert how_decided(gate, 105) == "repeated"
    for path in gate.outbox.directory.glob("*.draft.dsse.json"):
        path.unlink()
    entries = gate.ledger().entries
    first_debit = next(
        place for place, entry in enumerate(entries) if isinstance(entry.content, ReleaseEntry)
    )
    for path in sorted(gate.outbox.ledger.iterdir())[first_debit:]:
        path.unlink()
    debit = entries[first_debit].content
    assert isinstance(debit, ReleaseEntry)
    forged = replace(debit, cells={})
    shorter = Ledger(entries[:first_debit]).followed_by(forged, world.TODAY)
    append_entry(gate.outbox.ledger, shorter, derive_ledger_key(stolen))
    if stolen == DATA_KEY:
        with pytest.raises(DisclosureError, match="another seal key"):
            how_decided(gate, 105)
    else:  # at commit 56f8cdc there was one key
        assert how_decided(gate, 105) == "rounded"


def how_decided(gate: Gate, count: int) -> str:
    (submission,) = prepare(gate, CARD, {MODEL: whole_ward(count)}).submissions
    return str(gate.outbox.read_verdicts(submission.digest)["cells"][WARD])


def test_the_folder_submissions_restored_after_approval_and_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The site cannot know what it has forgotten; the log does. Two signed files of nearly the same scores exist."""
    gate = site_gate(tmp_path / "site")
    register(gate, {MODEL: whole_ward()})
    back_up = tmp_path / "backup"
    shutil.copytree(gate.outbox.directory, back_up)
    signed = [submission.data for submission in gate.outbox.list_submissions()]
    for count in (100, 109):
        (draft,) = prepare(gate, CARD, {MODEL: whole_ward(count)}).submissions
        signed.append(sign(gate, draft).data)
        shutil.rmtree(gate.outbox.directory)
        shutil.copytree(back_up, gate.outbox.directory)

    assert log_takes(signed) == [None, None, Code.FORK]
    monkeypatch.setattr(verification, "check_chain", lambda header, registry, history: None)
    assert log_takes(signed) == [None, None, None]


def log_takes(links: Sequence[bytes]) -> list[Code | None]:
    """Return, for each link, the aggregator's objection."""
    history = History(head=None)
    objections: list[Code | None] = []
    for data in links:
        try:
            link = verify_link(
                authenticate(data, REGISTRY, log_index=5), REGISTRY, history, today_day=world.TODAY
            )
        except ProtocolError as error:
            objections.append(error.code)
            continue
        objections.append(None)
        datasets = dict(history.datasets)
        if isinstance(link.statement, DatasetPredicate):
            datasets[link.digest] = link.statement
        history = History(head=link.head, ledger=link.statement.header.ledger, datasets=datasets)
    return objections


_CHILD = """
import sys, time
from contextlib import nullcontext
from pathlib import Path
from agent.delivery.outbox import Outbox
from agent.disclosure import prepare as preparing
from tests.agent.disclosure.ward import CARD, MODEL, site_gate, whole_ward

directory, count, rule = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
if rule == "removed":
    Outbox.held = lambda self: nullcontext()
decide = preparing.decide

def decide_late(*args, **named):
    release = decide(*args, **named)
    (directory / f"decided-{count}").touch()
    deadline = time.monotonic() + 3
    while len(list(directory.glob("decided-*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    return release

preparing.decide = decide_late
gate = site_gate(directory)
(submission,) = preparing.prepare(gate, CARD, {MODEL: whole_ward(count)}).submissions
print(submission.result.cells["ward/exact_match"])
"""


def prepare_twice_at_once(directory: Path, rule: str) -> list[tuple[int, str]]:
    """Let two processes prepare about scores that differ by nine persons; each decides before the other debits."""
    register(site_gate(directory), {MODEL: whole_ward()})
    children = [
        subprocess.Popen(
            [sys.executable, "-c", _CHILD, str(directory), str(count), rule],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        for count in (100, 109)
    ]
    done = []
    for child in children:
        out, error = child.communicate(timeout=120)
        done.append((child.returncode, (out or error).strip().splitlines()[-1]))
    return done


@pytest.mark.full
def test_two_prepare_at_once_do_not_both_pass_the_ledger(tmp_path: Path) -> None:
    results = prepare_twice_at_once(tmp_path / "kept", "kept")
    assert sorted(code for code, _ in results) == [0, 1]
    assert "another command" in next(text for code, text in results if code)
    both = prepare_twice_at_once(tmp_path / "removed", "removed")
    assert [code for code, _ in both] == [0, 0]
    assert both[0][1] != both[1][1]  # two figures, both new, of nearly the same scores
