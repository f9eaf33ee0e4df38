"""Two models' answers that one jury graded: judges who were away, and judges of a model's own family."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from agent.cli.compare import compare
from agent.io.progress import Progress
from agent.results.paired_seats import SharedScores, score_by_shared_judges
from agent.runs.run import run_entries
from agent.site.directory import Site, create_site
from agent.store import Seat
from tests.agent.fault_server import Asked, FaultServer, Message
from tests.agent.judging.judged_runs import MORE, verdict
from tests.agent.runs.suites import write_benchmark

ONE, OTHER = "meta/llama-one", "hospital/other"
QUESTIONS = 20

Grade = Callable[
    [str, int, str], float | None
]  # (judge, number of the question, whose answer) -> what it gives


def compared(folder: Path, judges: tuple[str, ...], grade: Grade) -> tuple[dict, str]:
    """Return what `compare` says of the two models, as JSON and as a table, after a real run."""
    site = create_site(folder / "site", "Test")
    rows = [
        {"note": f"invented note {n}.", "gold": f"rest for {n} days", "patient": f"p{n}"}
        for n in range(QUESTIONS)
    ]
    write_benchmark(site, "graded", rows, MORE)
    served = {name: f"local/{name.partition('/')[2]}" for name in (ONE, OTHER, *judges)}
    (site.directory / "judges.yaml").write_text(
        "judges:\n"
        + "".join(
            f"  - {{name: {one}, model: {one}, model_deployment: {served[one]}}}\n"
            for one in judges
        )
    )

    def says(asked: Asked) -> Message | None:
        found = re.search(r"invented note (\d+)", asked.prompt)
        if found is None:
            return None
        number, name = int(found[1]), str(asked.body["model"])
        if name not in judges:
            return Message(
                {"role": "assistant", "content": f"Rest for {number} days, says {name}."}
            )
        given = grade(name, number, ONE if f"says {ONE}" in asked.prompt else OTHER)
        reply = "I would rather not." if given is None else verdict(given, given)
        return Message({"role": "assistant", "content": reply})

    with FaultServer(models=list(served), fault=says) as server:
        (site.directory / "model_deployments.yaml").write_text(
            "model_deployments:\n"
            + "".join(
                f"  - name: {deployment}\n    model_name: {name}\n    client_spec:\n      class_name: VLLMChatClient\n"
                f"      args: {{base_url: '{server.url}', vllm_model_name: {name}}}\n"
                for name, deployment in served.items()
            )
        )
        run_both(site)
    table = CliRunner().invoke(compare, [ONE, OTHER, "--suite", "s"], obj=site)
    done = CliRunner().invoke(compare, [ONE, OTHER, "--suite", "s", "--format", "json"], obj=site)
    assert done.exit_code == 0, (done.output, done.exception)
    (row,) = json.loads(done.stdout)
    return row, table.stdout


def run_both(site: Site) -> None:
    from agent.catalog.run_entries import parse_run_entry
    from agent.runs.plan import RunOptions

    entries = [parse_run_entry(f"graded:model={model}") for model in (ONE, OTHER)]
    run_entries(site, entries, RunOptions("s"), Progress(quiet=True))


def quality(number: int) -> float:
    return 3 + (number % 5) / 2


def test_a_harsh_judge_who_was_away_for_one_model_makes_no_difference_between_equal_answers(
    tmp_path: Path,
):
    def grade(judge: str, number: int, whose: str) -> float | None:
        if judge != "maker/harsh":
            return quality(number)
        return None if whose == OTHER and number < 6 else quality(number) - 2

    row, table = compared(tmp_path, ("maker/first", "maker/second", "maker/harsh"), grade)
    assert (row["n"], row["difference"], row["words"]) == (QUESTIONS, 0.0, "all scores equal")
    assert (row["seats_empty_a"], row["seats_empty_b"]) == (0, 6)
    assert "lacking a judge's verdict: 0 answers of A and 6 of B, of 20" in table


def test_a_model_that_its_own_kin_alone_finds_better_is_said_to_be(tmp_path: Path):
    def grade(judge: str, number: int, whose: str) -> float | None:
        return quality(number) - 1 + (judge == "meta/llama-judge" and whose == ONE)

    row, table = compared(tmp_path, ("maker/first", "maker/second", "meta/llama-judge"), grade)
    assert row["difference"] == pytest.approx(1 / 3)
    assert (row["without_family"]["n"], row["without_family"]["difference"]) == (QUESTIONS, 0.0)
    assert row["words"] == "A better; not without judges of a model's own family"
    assert "judges of A's own family: meta/llama-judge" in table
    assert "without judges of either family A - B is 0.000, n 20" in table


def seat(number: int, grade: float | None) -> Seat:
    return Seat(
        number, None if grade is None else {"accuracy": grade, "clarity": grade}, None, False, b"k"
    )


Grades = st.lists(st.one_of(st.none(), st.floats(1, 5)), min_size=5, max_size=5)


@given(Grades, Grades, st.floats(-2, 2))
def test_how_harsh_judges_are_never_shifts_a_difference(
    one: list[float | None], other: list[float | None], harsh: float
):
    def scored(shift: float) -> SharedScores | None:
        moved = [None if grade is None else grade + shift * n for n, grade in enumerate(one)]
        theirs = [None if grade is None else grade + shift * n for n, grade in enumerate(other)]
        sides = ([seat(n, grade) for n, grade in enumerate(grades)] for grades in (moved, theirs))
        return score_by_shared_judges(*sides, range(5))

    plain, shifted = scored(0.0), scored(harsh)
    if plain is None or shifted is None:
        assert not any(a is not None and b is not None for a, b in zip(one, other, strict=True))
    else:
        assert shifted.a - shifted.b == pytest.approx(plain.a - plain.b, abs=1e-9)


def test_too_few_judges_of_both_give_no_scores():
    one, other = (
        [seat(0, 4.0), seat(1, 3.0), seat(2, None)],
        [seat(0, 5.0), seat(1, None), seat(2, 2.0)],
    )
    assert score_by_shared_judges(one, other, range(3)) == SharedScores(4.0, 5.0)
    assert score_by_shared_judges(one, other, range(3), least=2) is None
    assert score_by_shared_judges(one, other, [1, 2]) is None
