"""`intramural agreement`: a jury that agrees, one that does not, and judges with habits, all asked for real."""

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agent.catalog.run_entries import parse_run_entry
from agent.cli.agreement import agreement
from agent.io.progress import Progress
from agent.metrics import Judge
from agent.results.judge_agreement import OVERALL
from agent.runs.plan import RunOptions
from agent.runs.run import run_entries
from agent.site.directory import Site
from agent.statistics.agreement import compute_krippendorff_alpha, icc
from agent.store import Seat
from tests.agent.calibration.graded_site import MODELS as KNOWN
from tests.agent.calibration.graded_site import add_run, cases
from tests.agent.fault_server import FaultServer
from tests.agent.judging.judged_runs import JUDGES, ROWS, judged_site, judges, serve, verdict
from tests.agent.service.filled_site import FilledSite, filled_site

# What each judge gives the answers, in order: the first is mild, the second severe.
ACCURACY = [(4, 2, 5), (3, 1, 3), (4, 3, 4), (2, 1, 3), (5, 1, 3), (3, 2, 4)]
MODELS = ("hospital/b", "judge/a", *(f"maker/{judge}" for judge in JUDGES))


def graded(number: int, judge: str) -> str | None:
    grade = ACCURACY[number][JUDGES.index(judge)]
    return "No." if (number, judge) == (5, "judge-three") else verdict(grade, 3)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = judged_site(tmp_path_factory.mktemp("judged") / "site")
    with FaultServer(models=MODELS, fault=judges(graded, lambda n: "rest " * (n + 1))) as server:
        serve(site, server)
        entries = [parse_run_entry(f"graded:model={model}") for model in MODELS[:2]]
        run_entries(site, entries, RunOptions("s"), Progress(quiet=True))
        yield site


def said(site: Site, *words: str) -> Result:
    return CliRunner().invoke(agreement, ["--suite", "s", *words], obj=site)


def rows_of(site: Site, *words: str) -> list[dict[str, object]]:
    done = said(site, "--format", "json", *words)
    assert done.exit_code == 0, (done.output, done.exception)
    found: list[dict[str, object]] = json.loads(done.stdout)
    return found


def test_agreement_is_that_of_the_grades_by_criterion_and_over_all(site: Site):
    found = {row["criterion"]: row for row in rows_of(site) if row["kind"] == "agreement"}
    assert list(found) == ["accuracy", "clarity", OVERALL]
    ratings: list[list[float | None]] = [[*row] for row in ACCURACY]
    ratings[5][2] = None
    row, twice = found["accuracy"], ratings * 2  # two models gave the same answers
    assert (row["answers"], row["complete"], row["units"], row["seats"]) == (12, 10, 3, 3)
    assert row["judges"] == list(JUDGES)
    assert row["alpha_interval"] == pytest.approx(compute_krippendorff_alpha(twice, "interval"))
    assert row["alpha_ordinal"] == pytest.approx(compute_krippendorff_alpha(twice, "ordinal"))
    for form, expected in icc(twice).items():
        assert row[form.lower()] == pytest.approx(expected.value)
    assert row["icc_limits"] == "percentile"  # six answers of three patients are not six patients
    overall = found[OVERALL]
    assert overall["icc3"] == pytest.approx(row["icc3"])  # half of the same differences


def test_a_criterion_on_which_all_say_the_same_has_no_agreement_to_measure(site: Site):
    (row,) = (row for row in rows_of(site) if row.get("criterion") == "clarity")
    assert (row["alpha_interval"], row["icc1"], row["icc3k_low"]) == (None, None, None)
    assert row["answers"] == 12


def test_habits_of_judges_stand_beside_it(site: Site):
    rows = rows_of(site)
    severity = {row["judge"]: row for row in rows if row["kind"] == "judge"}
    rated = [(a - (b + c) / 2) / 2 for a, b, c in ACCURACY[:5]] + [(3 - 2) / 2]
    assert severity["judge-one"]["value"] == pytest.approx(sum(rated) / 6)
    assert severity["judge-one"]["n"] == 12
    assert float(str(severity["judge-two"]["high"])) < 0  # it is the severe one, beyond chance
    lengths = {row["judge"]: row for row in rows if row["kind"] == "length"}
    assert list(lengths) == ["", *JUDGES]
    assert -1 <= float(str(lengths["judge-three"]["value"])) <= 1
    assert "family" not in {row["kind"] for row in rows}


def test_a_judge_that_favours_its_own_family_is_found(site: Site, tmp_path: Path):
    own = judged_site(tmp_path / "site")
    (own.directory / "judges.yaml").write_text(
        "judges:\n"
        "  - {name: kin, model: meta/llama-3.3-70b-instruct, model_deployment: local/llama-3.3-70b-instruct}\n"
        "  - {name: other, model: maker/judge-two, model_deployment: local/judge-two}\n"
    )
    models = ("meta/llama-3-8b", "hospital/b", "meta/llama-3.3-70b-instruct", "maker/judge-two")

    def says(asked: object) -> object:
        from tests.agent.fault_server import Asked, Message

        assert isinstance(asked, Asked)
        model, prompt = asked.body["model"], asked.prompt
        if model == "meta/llama-3-8b":
            text = "I, the llama, say rest."
        elif model == "hospital/b":
            text = "Rest."
        else:
            favours = model.startswith("meta") and "I, the llama" in prompt
            number = next((n for n in range(6) if f"invented note {n}" in prompt), None)
            if number is None:
                return None
            text = verdict(2 + number % 2 + 2 * favours, 2 + number % 2 + 2 * favours)
        return Message({"role": "assistant", "content": text})

    with FaultServer(models=models, fault=says) as server:  # type: ignore[arg-type]
        serve(own, server)
        entries = [parse_run_entry(f"graded:model={model}") for model in models[:2]]
        run_entries(own, entries, RunOptions("s"), Progress(quiet=True))
    rows = rows_of(own)
    (family,) = (row for row in rows if row["kind"] == "family")
    (favour,) = (row for row in rows if row["kind"] == "favour")
    assert (family["model"], family["value"], family["n"]) == ("meta/llama-3-8b", 2.0, 6)
    assert (favour["judge"], favour["value"], favour["n"]) == ("kin", 2.0, 12)
    shown = said(own)
    assert "Judges of the model's family" in shown.stdout


Grades = tuple[float | None, ...]
FAMILY = (
    Judge("local/a", "meta/llama-3.3-70b-instruct"),
    Judge("local/b", "qwen/qwen2.5-72b-instruct"),
)


def seated(filled: FilledSite, model: str, grades: Sequence[Grades], units: int) -> None:
    """Store a run of which the three judges gave these grades."""
    run_id = add_run(filled, model, cases(model, len(grades), units=units), suite="s", judged=False)
    seats = [
        (
            n,
            "jury_score",
            Seat(seat, None, "timeout") if grade is None else Seat(seat, {"accuracy": grade}, None),
        )
        for n, row in enumerate(grades)
        for seat, grade in enumerate(row)
    ]
    with filled.site.store() as store:
        store.scores.keep(run_id, [], (), seats)


def test_a_judge_that_was_down_for_most_leaves_no_interval_of_two_patients(tmp_path: Path):
    filled, chance = filled_site(tmp_path), random.Random(1)
    for model in KNOWN[:2]:
        qualities = [chance.gauss(3, 1) for _ in range(20)]
        rows = [tuple(quality + chance.gauss(0, 0.5) for _ in range(3)) for quality in qualities]
        seated(
            filled, model, [(a, b, c if n < 2 else None) for n, (a, b, c) in enumerate(rows)], 20
        )
    (row,) = (row for row in rows_of(filled.site) if row.get("criterion") == "accuracy")
    assert (row["answers"], row["units"], row["complete"], row["complete_units"]) == (40, 20, 4, 2)
    assert row["icc2"] is not None
    assert (row["icc1_low"], row["icc2_low"], row["icc2k_high"]) == (None, None, None)
    assert row["alpha_interval_low"] is not None


def test_a_judge_who_uses_half_of_the_scale_is_not_said_to_favour_weak_kin(tmp_path: Path):
    filled, chance = filled_site(tmp_path), random.Random(2)
    for model, mean in ((KNOWN[0], 2.0), (KNOWN[2], 4.0)):
        qualities = [min(5.0, max(1.0, chance.gauss(mean, 0.5))) for _ in range(60)]
        seated(
            filled,
            model,
            [(3 + 0.5 * (quality - 3), quality, quality) for quality in qualities],
            60,
        )
    (favour,) = (row for row in rows_of(filled.site) if row["kind"] == "favour")
    assert (favour["judge"], favour["n"], favour["value"], favour["low"]) == (
        "llama",
        120,
        None,
        None,
    )
    assert "are not comparable" in said(filled.site).stdout


def test_favour_of_the_models_own_judge_is_not_counted_against_another(tmp_path: Path):
    # Llama's judge gives 1 more to llama's answers, and qwen's to qwen's.
    filled = filled_site(tmp_path)
    for model, favours in ((KNOWN[0], (1, 0, 0)), (KNOWN[1], (0, 1, 0)), (KNOWN[2], (0, 0, 0))):
        seated(
            filled, model, [tuple(1.0 + n % 4 + more for more in favours) for n in range(20)], 20
        )
    favour = {row["judge"]: row["value"] for row in rows_of(filled.site) if row["kind"] == "favour"}
    assert favour == {"llama": 1.0, "qwen/qwen3-32b": 1.0}


def test_limits_say_whether_they_are_for_these_judges_or_for_judges_like_them(tmp_path: Path):
    filled, chance = filled_site(tmp_path), random.Random(3)
    rows = [tuple(float(chance.randint(1, 5)) for _ in range(3)) for _ in range(20)]
    seated(filled, KNOWN[0], rows, 20)
    assert "generalise to similar judges" in said(filled.site).stdout
    assert "limits hold for these judges only" not in said(filled.site).stdout
    seated(filled, KNOWN[1], rows, 20)
    assert "limits hold for these judges only" in said(filled.site).stdout


def test_no_difference_of_grades_lies_outside_the_scale(tmp_path: Path):
    filled = filled_site(tmp_path)
    seated(filled, KNOWN[0], [(5.0, 1.0, 1.0), (4.0, 1.0, 1.0)], 2)
    ends = [
        float(str(row[end]))
        for row in rows_of(filled.site)
        if row["kind"] == "judge"
        for end in ("low", "high")
    ]
    assert len(ends) == 6
    assert (min(ends), max(ends)) == (-4, 4)  # from 1 to 5; two answers would allow for more


def test_longer_answers_that_get_better_grades_are_noticed(site: Site):
    better = [
        (n, "jury_score", Seat(seat, {"accuracy": min(5, 1 + n), "clarity": 1 + n / 8}, None))
        for n in range(len(ROWS))
        for seat in range(3)
    ]
    with site.store() as store:
        ids = [run.run_id for run in store.runs.select("s")]
        before = {one: store.juries.read_seats(one, "jury_score") for one in ids}
        for one in ids:
            store.scores.keep(one, [], (), better)
        found = [row for row in rows_of(site) if row["kind"] == "length"]
        for one in ids:
            store.scores.keep(
                one,
                [],
                (),
                [(n, "jury_score", seat) for n, seats in before[one].items() for seat in seats],
            )
    assert found[0]["judge"] == ""
    assert found[0]["value"] == pytest.approx(1)


def test_tables_are_read_at_100_columns(site: Site):
    done = said(site)
    assert done.exit_code == 0, (done.output, done.exception)
    assert max(len(line) for line in done.stdout.splitlines()) <= 100
    assert "ICC(2,1)" in done.stdout
    assert "judge-two" in done.stdout


def test_a_spreadsheet_has_every_figure_in_a_column_of_its_own(site: Site):
    done = said(site, "--format", "csv")
    assert done.exit_code == 0
    head, *lines = done.stdout.splitlines()
    assert {"kind", "icc2k_low", "alpha_ordinal", "value"} <= set(head.split(","))
    assert len(lines) == 3 + 4 + 3


def test_runs_of_two_juries_are_not_taken_together(tmp_path: Path):
    site = judged_site(tmp_path / "site")
    (site.directory / "two.yaml").write_text(
        (site.directory / "judges.yaml").read_text().rpartition("  - ")[0]
    )
    with FaultServer(models=MODELS, fault=judges(graded)) as server:
        serve(site, server)
        for model, file in zip(MODELS[:2], ("judges.yaml", "two.yaml"), strict=True):
            run_entries(
                site,
                [parse_run_entry(f"graded:model={model}")],
                RunOptions("s", judges=site.directory / file),
                Progress(quiet=True),
            )
    found = [
        (row["jury"], row["seats"], row["answers"])
        for row in rows_of(site)
        if row.get("criterion") == "accuracy"
    ]
    assert found == [(1, 3, 6), (2, 2, 6)]
    assert "Judges of graded, jury 2: judge-one, judge-two\n" in said(site).stdout


def test_where_no_jury_graded_it_says_what_to_do(tmp_path: Path):
    site = judged_site(tmp_path / "site")
    with FaultServer(models=["hospital/b"]) as server:
        serve(site, server)
        run_entries(
            site,
            [parse_run_entry("graded:model=hospital/b")],
            RunOptions("s", no_judging=True),
            Progress(quiet=True),
        )
    done = said(site)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "no jury has graded" in done.stderr
    unknown = said(site, "--benchmark", "nothing")
    assert "has no run of nothing" in str(unknown.exception)
    assert "there is no suite" in str(
        CliRunner().invoke(agreement, ["--suite", "x"], obj=site).exception
    )


def test_seats_of_one_judge_are_told_apart():
    from agent.jury.seats import name_seats

    twice = [
        Judge("local/a", "maker/a"),
        Judge("local/b", "maker/a"),
        Judge("local/c", "maker/c", "c"),
    ]
    assert name_seats(twice) == ("maker/a (1)", "maker/a (2)", "c")


def rows_by_judge(*grades: bool) -> list[Grades]:
    """Twenty answers graded by those judges alone that have a True."""
    chance = random.Random(4)
    return [
        tuple(float(chance.randint(1, 5)) if there else None for there in grades) for _ in range(20)
    ]


def test_a_judge_that_never_answered_is_named_beside_the_dashes(tmp_path: Path):
    filled = filled_site(tmp_path)
    seated(filled, KNOWN[0], rows_by_judge(True, True, False), 20)
    done = said(filled.site)
    said_of_y = "no answer of medication_qa was graded by every judge (y graded none), so ICC cannot be computed"
    assert f"note: {said_of_y}\n" in done.stderr
    (row,) = (row for row in rows_of(filled.site) if row.get("criterion") == "accuracy")
    assert (row["silent"], row["complete"]) == (["y"], 0)
    assert "One judge" not in done.stdout  # a table of dashes says nothing
    assert "agreement among judges" in done.stdout


def test_where_one_judge_alone_graded_there_is_nobody_to_agree_with(tmp_path: Path):
    filled = filled_site(tmp_path)
    seated(filled, KNOWN[0], rows_by_judge(True, False, False), 20)
    done = said(filled.site)
    assert (
        "note: only llama graded answers of medication_qa, so agreement cannot be measured"
        in done.stderr
    )
    assert "agreement among judges" not in done.stdout
    assert "Grades and the length of the answer" in done.stdout


def test_a_suite_that_no_jury_can_grade_is_not_sent_to_the_judges(tmp_path: Path):
    filled = filled_site(tmp_path)
    filled.add(cases(KNOWN[0], 3), suite="s")
    done = said(filled.site)
    assert done.exit_code == 0
    assert "no benchmark in suite s has a jury-graded metric" in done.stderr
    assert "intramural judge" not in done.stderr


def test_a_terminal_of_100_columns_breaks_no_line(tmp_path: Path):
    filled = filled_site(tmp_path)
    for model in KNOWN:
        seated(filled, model, rows_by_judge(True, True, True), 10)
    run_id = add_run(filled, KNOWN[0], cases(KNOWN[0], 20), suite="s", judged=False, judges=FAMILY)
    seats = [
        (n, "jury_score", Seat(seat, {"accuracy": 5.0 - n % (2 + seat)}, None))
        for n in range(20)
        for seat in (0, 1)
    ]
    with filled.site.store() as store:
        store.scores.keep(run_id, [], (), seats)
    done = said(filled.site)
    assert "jury 2" in done.stdout
    assert [line for line in done.stdout.splitlines() if len(line) > 100] == []
    for title in (
        "Grades and the length of the answer",
        "Each judge compared with the others",
        "Judges of the model's family compared with the others",
        "Self-preference",
    ):
        assert title in done.stdout
