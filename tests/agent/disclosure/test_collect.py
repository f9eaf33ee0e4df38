"""What the store's runs may contribute to a submission, and what somebody tries to pass off as the registered thing."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent import __version__
from agent.disclosure.collect import collect
from agent.disclosure.findings import Finding
from agent.disclosure.gate import GatedRelease
from agent.disclosure.ledger import Ledger
from agent.disclosure.verdicts import GateRule
from agent.errors import ConfigError, DisclosureError
from agent.store import RunDetails, Store, Vault
from agent.vocabulary import Instance, Message, Reference
from protocol.cell_codes import SUPPRESSED
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard
from tests.agent.disclosure.ward import MODEL, after, as_registered, gate_says

ALL, BUT_ONE, EXAM = "all_wards", "all_but_one", "exam"
DEFINITION = "ab" * 32
LIMITS = {DEFINITION: 1024}


def card(*benchmarks: str) -> Scorecard:
    return Scorecard(
        "wards",
        1,
        tuple(BenchmarkEntry(name, name, "Wards", DEFINITION) for name in benchmarks),
        tuple(
            Cell(name, "exact_match", None, "public" if name == EXAM else "private", True, 0, 1)
            for name in benchmarks
        ),
    )


WARDS = card(ALL, BUT_ONE, EXAM)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "site.sqlite3", Vault(b"k" * 32), b"a" * 32)
    yield store
    store.close()


def fill(
    store: Store,
    benchmark: str,
    units: Sequence[str],
    *,
    right: int = 30,
    suite: str = "s",
    lacking: str = "",
    part: str = "",
    text: str = "",
    deployment: str = "local/x",
    **details: Any,
) -> None:
    """A finished run with one instance a unit, of which the last `right` are right."""
    access = "public" if benchmark == EXAM else "private"
    kept: dict[str, Any] = {
        "access": access,
        "benchmark_digest": DEFINITION,
        "data": {
            "known": "sample",
            "digest": "00" * 32,
            "instances": len(units),
            "problems": [],
            "attested": True,
        },
        "metrics": [{"name": "exact_match", "low": 0, "high": 1, "binary": True}],
        "scoring": "intramural",
        "agent_version": __version__,
        "language_model": True,
        "lineage": benchmark if access == "public" else "site",
        "max_tokens": 1024,
        "overrides": [],
        "sample_seed": 0,
        "sampled": None,
        "stop": [],
        "temperature": 0.0,
        "unit_named": True,
    }
    kept |= details
    lineage = kept["lineage"]
    kept.pop(lacking, None)
    planned = [
        (
            Instance(
                f"i{n}",
                unit,
                (Message("user", f"{text or part}?"),),
                (Reference("a", correct=True),),
            ),
            f"{benchmark}{text or part}{n}".encode(),
        )
        for n, unit in enumerate(units)
    ]
    run_id = store.runs.begin(
        suite=suite,
        name=f"{benchmark}:{part and f'ward={part},'}model={MODEL}",
        benchmark=benchmark,
        lineage=lineage,
        model=MODEL,
        deployment=deployment,
        details=RunDetails.from_json(kept),
        planned=planned,
        scored_by=["exact_match"],
    )
    store.answers.settle(
        run_id, [], [(n, "exact_match", float(n >= len(units) - right)) for n in range(len(units))]
    )
    store.runs.end(run_id)


def patients(count: int, first: int = 0) -> list[str]:
    return [f"patient {n}" for n in range(first, count)]


def found(
    store: Store, scorecard: Scorecard = WARDS, limits: Mapping[str, int] = LIMITS
) -> list[Finding]:
    return collect(store, "s", scorecard, token_limits=limits)[MODEL]


def test_a_run_as_the_benchmark_says_gives_its_findings(store: Store) -> None:
    fill(store, ALL, patients(60), sampled=50)
    data = {"known": "sample", "digest": "00" * 32, "instances": 1000, "problems": []}
    fill(store, EXAM, [str(n) for n in range(40)], unit_named=False, data=data)
    ward, exam = sorted(found(store), key=lambda finding: finding.benchmark)
    assert (ward.benchmark, ward.dataset, ward.access) == (ALL, "", "private")
    assert (exam.benchmark, exam.access) == (EXAM, "public")
    assert str(exam.extent) == "40 of 1000 instances, of a sample"
    assert len({score.unit_key for score in ward.scores}) == 60


def test_sixty_rows_of_one_patient_are_not_sixty_patients(store: Store) -> None:
    """Without `unit_column` a row is its own unit, and the threshold would count rows."""
    fill(store, ALL, [str(n) for n in range(60)], unit_named=False)
    with pytest.raises(DisclosureError, match="all_wards: its units are row numbers") as caught:
        found(store)
    assert "unit_column" in caught.value.advice
    fill(store, ALL, ["one patient"] * 60)
    assert (
        gate_says(as_registered(found(store)), card=WARDS).cells[f"{ALL}/exact_match"] == SUPPRESSED
    )


@pytest.mark.parametrize("access", ["gated", "private"])
def test_row_numbers_are_refused_for_whatever_is_protected_by_anyone(
    store: Store, access: str
) -> None:
    rows = [str(n) for n in range(60)]
    fill(store, EXAM, rows, unit_named=False, access=access)
    with pytest.raises(DisclosureError, match="row numbers"):
        found(store)
    fill(store, EXAM, rows, unit_named=False)
    assert found(store)
    only_the_card = Scorecard(
        "x", 1, WARDS.benchmarks[2:], (Cell(EXAM, "exact_match", None, "gated", True, 0, 1),)
    )
    with pytest.raises(DisclosureError, match="row numbers"):
        found(store, only_the_card)


@pytest.mark.parametrize("access", ["public", "gated"])
def test_data_of_the_hospitals_own_goes_out_under_no_other_name(store: Store, access: str) -> None:
    """Not even where the scorecard calls it private: its patients would be of another lineage than all others."""
    own = {"known": "unknown", "instances": 60}
    secret = Scorecard(
        "x", 1, WARDS.benchmarks[2:], (Cell(EXAM, "exact_match", None, "private", True, 0, 1),)
    )
    for scorecard in (WARDS, secret):
        fill(store, EXAM, patients(60), access=access, data=own)
        with pytest.raises(DisclosureError, match="exam: its data is the site's own"):
            found(store, scorecard)
    fill(store, ALL, patients(60), data=own)
    assert {finding.benchmark for finding in found(store, card(ALL))} == {ALL}


def test_gated_data_without_a_published_digest_goes_out_as_carefully_as_the_sites_own(
    store: Store,
) -> None:
    """Whether it is the publisher's or the hospital's patients nobody can tell: they share the site's lineage."""
    own = {"known": "unknown", "instances": 60, "attested": True}
    gated = Scorecard(
        "x", 1, WARDS.benchmarks[2:], (Cell(EXAM, "exact_match", None, "gated", True, 0, 1),)
    )
    fill(store, EXAM, patients(60), access="gated", data=own, lineage="site")
    (finding,) = found(store, gated)
    assert (finding.access, finding.known) == ("gated", "unknown")
    assert gate_says(as_registered([finding]), card=gated).cells
    fill(store, EXAM, patients(60), access="public", data=own, lineage="site")
    with pytest.raises(DisclosureError, match="exam: its data is the site's own"):
        found(store, gated)


@pytest.mark.parametrize("said", [{"attested": False}, {}])
def test_gated_data_that_nobody_attested_leads_to_no_submission(
    store: Store, said: dict[str, bool]
) -> None:
    gated = Scorecard(
        "x", 1, WARDS.benchmarks[2:], (Cell(EXAM, "exact_match", None, "gated", True, 0, 1),)
    )
    for known in ("official", "unknown"):
        fill(
            store,
            EXAM,
            patients(60),
            access="gated",
            lineage="site",
            data={"known": known, "instances": 60, **said},
        )
        with pytest.raises(DisclosureError, match="no one has attested"):
            found(store, gated)


def test_a_row_put_in_front_does_not_renumber_everybody(store: Store) -> None:
    """Numbered by rows, one new patient at the top changed every unit and the re-release rule saw another ward."""
    rows = [str(n) for n in range(61)]
    fill(store, ALL, rows[:60], unit_named=False)
    with pytest.raises(DisclosureError, match="row numbers"):
        found(store)
    fill(store, ALL, patients(60))
    before = gate_says(as_registered(found(store)), card=WARDS)
    fill(store, ALL, ["newcomer", *patients(60)], right=31)
    now = gate_says(as_registered(found(store)), card=WARDS, ledger=after(Ledger(), before))
    assert before.cells[f"{ALL}/exact_match"] >= 0
    assert now.verdicts[f"{ALL}/exact_match"] is GateRule.NEAR_VERSION


def printed(release: GatedRelease) -> list[str]:
    return [key for key, value in release.cells.items() if value >= 0]


@pytest.mark.parametrize("order", [(ALL, BUT_ONE), (BUT_ONE, ALL)])
def test_a_ward_and_the_ward_without_one_patient_are_not_both_published(
    store: Store, order: tuple[str, str]
) -> None:
    """Their difference is that patient's outcome; both are of the one lineage of the site's own data."""
    fill(store, ALL, patients(60))
    fill(store, BUT_ONE, patients(60, first=1))
    both = card(*order)
    assert printed(gate_says(as_registered(found(store, both)), card=both)) == [
        f"{order[0]}/exact_match"
    ]


@pytest.mark.parametrize("order", [(ALL, BUT_ONE), (BUT_ONE, ALL)])
def test_nor_one_after_the_other_in_two_submissions(store: Store, order: tuple[str, str]) -> None:
    fill(store, order[0], patients(60, first=int(order[0] == BUT_ONE)))
    first = gate_says(as_registered(found(store)), card=WARDS)
    assert printed(first) == [f"{order[0]}/exact_match"]
    fill(store, order[1], patients(60, first=int(order[1] == BUT_ONE)))
    second = gate_says(as_registered(found(store)), card=WARDS, ledger=after(Ledger(), first))
    assert printed(second) == [f"{order[0]}/exact_match"]  # once more, from the ledger
    assert second.cells[f"{order[1]}/exact_match"] == SUPPRESSED


@pytest.mark.parametrize(
    ("details", "named"),
    [
        ({"overrides": ["instructions"]}, "instructions"),
        ({"overrides": ["temperature"], "temperature": 1.5}, "temperature=1.5"),
        ({"temperature": 0.2}, "temperature=0.2"),
        ({"overrides": ["stop"], "stop": ["###"]}, "stop"),
        (
            {"overrides": ["num_output_tokens"], "max_tokens": 1},
            "num_output_tokens (1 instead of 1024 in the benchmark)",
        ),
        (
            {"overrides": ["num_output_tokens", "increase_max_tokens"], "max_tokens": 6},
            "num_output_tokens (6 instead",
        ),
        (
            {"overrides": ["num_output_tokens"], "benchmark_digest": "cd" * 32},
            "its definition is not available here",
        ),
        ({"sample_seed": 7}, "--sample-seed 7"),
        ({"overrides": ["something new"]}, "something new"),
    ],
)
def test_a_run_asked_otherwise_is_not_passed_off_as_the_registered_benchmark(
    store: Store, details: dict[str, Any], named: str
) -> None:
    for benchmark in (ALL, EXAM):
        fill(store, benchmark, patients(60), **details)
        with pytest.raises(DisclosureError, match=f"{benchmark}: .*{re.escape(named)}") as caught:
            found(store, card(benchmark))
        assert "suite" in caught.value.advice


@pytest.mark.parametrize(
    "details",
    [
        {"overrides": ["num_output_tokens"], "max_tokens": 4000},
        {"overrides": ["increase_max_tokens"], "max_tokens": 3024},
        {"overrides": ["num_output_tokens"], "max_tokens": 1024},
        {"overrides": ["temperature"], "temperature": 0.0},
        {"overrides": ["stop"], "stop": []},
    ],
)
def test_a_longer_limit_or_the_benchmarks_own_value_is_no_change(
    store: Store, details: dict[str, Any]
) -> None:
    fill(store, ALL, patients(60), **details)
    assert len(found(store)) == 1


def test_a_suite_that_is_not_there_is_answered_with_those_that_are(store: Store) -> None:
    with pytest.raises(ConfigError, match=r"no suite nope \(suites here: none yet\)"):
        collect(store, "nope", WARDS, token_limits=LIMITS)
    fill(store, ALL, patients(60))
    with pytest.raises(ConfigError, match=r"no suite nope \(suites here: s\)"):
        collect(store, "nope", WARDS, token_limits=LIMITS)
    with pytest.raises(ConfigError, match="suite s has no runs of example/none"):
        collect(store, "s", WARDS, ["example/none"], token_limits=LIMITS)


def test_a_model_that_its_server_calls_none_is_found_as_none(store: Store) -> None:
    fill(store, ALL, patients(60), language_model=False)
    assert [finding.language_model for finding in found(store)] == [False]


def test_scores_of_another_version_are_not_signed_as_this_ones(store: Store) -> None:
    fill(store, ALL, patients(60), agent_version="0.0.9")
    with pytest.raises(
        DisclosureError, match=r"scored by version 0\.0\.9 of the agent, but this is"
    ) as caught:
        found(store)
    assert "answers are reused" in caught.value.advice


@pytest.mark.parametrize(
    "lacking",
    [
        "unit_named",
        "language_model",
        "lineage",
        "overrides",
        "sample_seed",
        "sampled",
        "agent_version",
        "temperature",
    ],
)
def test_a_run_that_does_not_say_how_it_was_run_is_run_again(store: Store, lacking: str) -> None:
    fill(store, ALL, patients(60), lacking=lacking)
    with pytest.raises(DisclosureError, match="which did not record units and settings") as caught:
        found(store)
    assert "Repeat the same `intramural run`" in caught.value.advice


@pytest.mark.parametrize("mode", ["constrained", "logprob"])
@pytest.mark.parametrize("overrides", [["answer_mode"], []])
def test_answers_that_were_not_generated_freely_are_not_submitted_for_a_cell_of_those_that_were(
    store: Store, mode: str, overrides: list[str]
) -> None:
    fill(store, ALL, patients(60), answer_mode=mode, overrides=overrides)
    with pytest.raises(DisclosureError, match=f"its settings differ .*: answer_mode={mode}"):
        found(store)


def test_runs_that_no_cell_asks_for_are_nobodys_business(store: Store) -> None:
    fill(store, ALL, patients(60))
    fill(store, EXAM, patients(60), overrides=["instructions"], agent_version="0.0.9")
    (only,) = found(store, card(ALL))
    assert only.benchmark == ALL


def test_an_imported_run_is_not_passed_off_as_one_of_this_site(store: Store) -> None:
    fill(store, EXAM, patients(60), origin={"kind": "helm"})
    with pytest.raises(DisclosureError, match="exam: it was imported") as caught:
        found(store, card(EXAM))
    assert "Run it here" in caught.value.advice


METRIC = {"name": "exact_match", "low": 0, "high": 1, "binary": True}


def test_helms_scores_beside_ours_stay_here(store: Store) -> None:
    both = [
        {**METRIC, "scoring": "intramural"},
        {**METRIC, "name": "exact_match@helm", "scoring": "helm"},
    ]
    fill(store, ALL, patients(60), scoring="both", metrics=both)
    assert [finding.metric for finding in found(store, card(ALL))] == ["exact_match"]
    twin = (Cell(ALL, "exact_match@helm", None, "private", True, 0, 1),)
    assert collect(
        store, "s", Scorecard("x", 1, card(ALL).benchmarks, twin), token_limits=LIMITS
    ) == {MODEL: []}
    fill(store, ALL, patients(60), scoring="both", metrics=[{**METRIC, "scoring": "helm"}])
    assert found(store, card(ALL)) == []
    fill(store, ALL, patients(60), scoring="helm", metrics=[{**METRIC, "scoring": "intramural"}])
    with pytest.raises(DisclosureError, match="scored by helm's rules") as caught:
        found(store, card(ALL))
    assert "`intramural rescore --suite s --scoring both`" in caught.value.advice


@pytest.mark.parametrize(
    "facts", [{"whole_run": True}, {"name": "jury_score", "low": 1, "high": 5, "binary": False}]
)
def test_a_figure_that_no_unit_has_is_not_submitted(store: Store, facts: dict[str, Any]) -> None:
    name = facts.get("name", "exact_match")
    fill(
        store, ALL, patients(60), metrics=[METRIC | {"name": name, "scoring": "intramural"} | facts]
    )
    cells = (Cell(ALL, name, None, "private", False, 0, 1),)
    assert collect(
        store, "s", Scorecard("x", 1, card(ALL).benchmarks, cells), token_limits=LIMITS
    ) == {MODEL: []}


def part_of(store: Store, ward: str, units: Sequence[str], **changes: Any) -> None:
    """A run of one of the two wards that the benchmark is made of."""
    details = {
        "arguments": {"ward": ward},
        "parts": {"ward": ["north", "south"]},
        "overrides": ["ward"],
        "prompt_limit": None,
        **changes,
    }
    fill(store, ALL, units, part=ward, **details)


def test_parts_that_are_all_there_are_one_finding(store: Store) -> None:
    part_of(store, "north", patients(40), right=20, data={"known": "unknown", "instances": 40})
    part_of(
        store, "south", patients(60, first=20), right=20, data={"known": "unknown", "instances": 40}
    )
    (whole,) = found(store, card(ALL))
    assert (len(whole.scores), whole.available) == (80, 80)
    assert len({score.unit_key for score in whole.scores}) == 60
    assert whole.whole
    assert (
        len({score.instance_key for score in whole.scores}) == 80
    )  # both parts call their first row i0
    assert gate_says(as_registered([whole]), card=card(ALL)).cells[f"{ALL}/exact_match"] >= 0


def test_one_ward_is_not_passed_off_as_the_hospital(store: Store) -> None:
    part_of(store, "north", patients(60))
    with pytest.raises(DisclosureError, match=r"1 of its parts were not run \(ward: south\)"):
        found(store, card(ALL))


def test_nor_is_a_sample_that_chooses_its_ward_by_itself(store: Store) -> None:
    """The entry said nothing: the argument came from the definition's sample."""
    part_of(store, "north", patients(60), overrides=[])
    with pytest.raises(DisclosureError, match="1 of its parts were not run"):
        found(store, card(ALL))


def test_a_ward_counts_once_however_often_it_was_run(store: Store) -> None:
    part_of(store, "north", patients(60))
    part_of(store, "south", patients(60), text="north")  # south's file is north's
    with pytest.raises(DisclosureError, match="contain the same instance"):
        found(store, card(ALL))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"data": {"known": "unknown", "instances": 60}}, "different kinds of data"),
        ({"deployment": "local/y"}, "run with different settings"),
        ({"max_tokens": 2048}, "run with different settings"),
        ({"prompt_limit": 100}, "run with different settings"),
        ({"overrides": ["ward", "instructions"]}, "instructions"),
        ({"overrides": ["ward", "max_length"]}, "max_length"),
        ({"arguments": {"ward": "north"}}, "more than once"),
        ({"arguments": {"ward": "attic"}}, "1 of its parts were not run"),
    ],
)
def test_parts_that_were_not_run_alike_are_no_whole(
    store: Store, changes: dict[str, Any], named: str
) -> None:
    part_of(store, "north", patients(60))
    part_of(store, "south", patients(60), **changes)
    with pytest.raises(DisclosureError, match=named):
        found(store, card(ALL))


def test_a_choice_of_rows_is_not_the_benchmark(store: Store) -> None:
    """`med_dialog:subset=icliniq` under the name of the whole, which takes all rows without the argument."""
    fill(store, EXAM, patients(60), arguments={"subset": "icliniq"}, parts={}, overrides=["subset"])
    with pytest.raises(DisclosureError, match=r"exam: its settings differ .*: subset"):
        found(store, card(EXAM))
