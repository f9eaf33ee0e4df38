"""Clinicians grade a blinded sample: what they are shown, what they may hand in, what comes of it."""

import json
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.calibration.ratings import OVERALL
from agent.calibration.sheet import ANSWER, ITEM, QUESTION, REFERENCE
from agent.cli.calibrate import calibrate as commands
from agent.metrics import Judge, MetricUse, Scale
from agent.site.directory import Site
from agent.store import Seat
from agent.vocabulary import Reason, Unscored
from tests.agent.calibration.graded_site import (
    BENCHMARK,
    CANARY,
    MODELS,
    add_graded,
    add_run,
    answer,
    cases,
    fill_in,
    quality,
    read,
)
from tests.agent.service.filled_site import FilledSite, filled_site
from tests.agent.service.judged import CRITERIA, JUDGES
from tests.agent.terminal import Done, intramural

Rows = dict[tuple[str, str], dict[str, float]]  # of a report, by criterion and who


@pytest.fixture
def filled(tmp_path: Path) -> FilledSite:
    return filled_site(tmp_path)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = filled_site(tmp_path_factory.mktemp("built"))
    add_graded(made)
    return made.site.directory


@pytest.fixture
def graded(tmp_path: Path, built: Path) -> FilledSite:
    return FilledSite(Site(shutil.copytree(built, tmp_path / "site")))


@dataclass(frozen=True)
class HandedIn:
    """A sample of 60 that two of three clinicians have handed in, and what the report says of it."""

    filled: FilledSite
    sheets: Path
    rows: Rows


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory, built: Path) -> HandedIn:
    """Not to be changed: a report takes a second."""
    filled = FilledSite(Site(shutil.copytree(built, tmp_path_factory.mktemp("reported") / "site")))
    _, sheets = make(filled, "--items", "60", "--raters", "3")
    hand_in(filled, sheets)
    return HandedIn(filled, sheets, report(filled))


@pytest.fixture
def handed_in(tmp_path: Path, reported: HandedIn) -> HandedIn:
    """A copy of it, to be changed."""
    place = shutil.copytree(reported.sheets.parent, tmp_path / "copy")
    return HandedIn(FilledSite(Site(place / "site")), place / "sheets", reported.rows)


def calibrate(filled: FilledSite, *words: str | Path) -> Done:
    return intramural(
        "--site", filled.site.directory, "calibrate", *words, cwd=filled.site.directory.parent
    )


def make(
    filled: FilledSite, *words: str, name: str = "may", out: str = "sheets", redacted: bool = False
) -> tuple[Done, Path]:
    """Make a sample, the same each time; without redaction, which takes a second, where it is not the matter."""
    shown = () if redacted else ("--reveal",)
    seed = () if "--seed" in words else ("--seed", "7")
    given = ("--suite", "spring", "--benchmark", BENCHMARK, "--out", out, *words, *shown, *seed)
    return calibrate(filled, "new", name, *given), filled.site.directory.parent / out


def true_quality(row: dict[str, str]) -> int:
    found = re.search(r"Take (\d) tablets", row[ANSWER])
    assert found is not None
    return int(found[1])


def near(seed: int, row: dict[str, str], criterion: str) -> str:
    """A clinician who sees the quality with an error of her own, the same each time."""
    error = random.Random(f"{seed} {row[ANSWER]} {criterion}").choice([-1, 0, 0, 0, 1])
    return str(min(5, max(1, true_quality(row) + error)))


def hand_in(filled: FilledSite, sheets: Path, *words: str) -> None:
    for number in (1, 2):
        path = fill_in(
            sheets / f"rater-{number}.csv",
            lambda row, criterion, number=number: near(number, row, criterion),
        )  # type: ignore[misc]
        done = calibrate(filled, "import", "may", path, "--rater", f"Dr Number {number}", *words)
        assert done.returncode == 0, done.stderr


def report(filled: FilledSite, *words: str) -> Rows:
    return report_and_notes(filled, *words)[0]


def report_and_notes(filled: FilledSite, *words: str) -> tuple[Rows, str]:
    done = calibrate(filled, "report", "may", "--format", "json", *words)
    assert done.returncode == 0, done.stderr
    return {(row["criterion"], row["who"]): row for row in json.loads(done.stdout)}, done.stderr


def said(filled: FilledSite) -> str:
    """What people read of the report, without the blanks that end its lines."""
    return "".join(
        f"{line.rstrip()}\n" for line in calibrate(filled, "report", "may").stdout.splitlines()
    )


# what clinicians are shown


def test_a_sheet_says_nothing_of_model_judge_or_score(graded: FilledSite):
    done, sheets = make(graded, "--items", "30")
    assert done.returncode == 0, done.stderr
    assert "30 answers of 3 models, of 30 patients or documents" in done.stdout
    assert sorted(path.name for path in sheets.iterdir()) == [
        "instructions.txt",
        "rater-1.csv",
        "rater-2.csv",
    ]
    everything = "".join(path.read_text("utf-8-sig") for path in sheets.iterdir())
    with graded.site.store() as store:
        runs = [run.run_id for run in store.runs.select()]
    names = [
        name
        for judge in JUDGES
        for name in (judge.model_deployment, judge.model_name, judge.name)
        if len(name) > 1
    ]
    told = [
        word for word in (*MODELS, *names, "llama", "qwen", "spring", *runs) if word in everything
    ]
    assert told == []
    rows = read(sheets / "rater-1.csv")
    assert list(rows[0]) == [
        "item",
        "question",
        "answer",
        *(f"{name} (1 to 5)" for name in CRITERIA),
    ]
    assert all(row[f"{name} (1 to 5)"] == "" for row in rows for name in CRITERIA)


def test_an_even_share_of_every_model_and_each_patient_once(graded: FilledSite):
    _, sheets = make(graded, "--items", "29")
    rows = read(sheets / "rater-1.csv")
    by_model = Counter(re.findall(r"of (\d) says", row[ANSWER])[0] for row in rows)
    assert sorted(by_model.values()) == [9, 10, 10]
    assert len({re.findall(r"question (\d+)", row[QUESTION])[0] for row in rows}) == 29


def test_each_clinician_has_the_same_items_in_another_order_under_codes_that_say_nothing(
    graded: FilledSite,
):
    _, sheets = make(graded, "--items", "30", "--raters", "3", "--seed", "4")
    orders = [[row[ITEM] for row in read(sheets / f"rater-{number}.csv")] for number in (1, 2, 3)]
    assert len({frozenset(order) for order in orders}) == 1
    assert len({tuple(order) for order in orders}) == 3
    assert all(re.fullmatch("[B-DF-HJ-NP-TV-XZ]{6}", code) for code in orders[0])
    _, again = make(
        graded, "--items", "30", "--raters", "3", "--seed", "4", name="june", out="again"
    )
    first, second = (
        {(row[QUESTION], row[ANSWER]): row[ITEM] for row in read(path / "rater-1.csv")}
        for path in (sheets, again)
    )
    assert first.keys() == second.keys()  # the same seed, the same answers
    assert not set(first.values()) & set(
        second.values()
    )  # and no code that could be looked up in the other


@pytest.mark.full
def test_texts_are_redacted_and_the_reference_is_shown_only_when_asked(graded: FilledSite):
    done, sheets = make(graded, "--items", "4", "--with-reference", redacted=True)
    rows = read(sheets / "rater-2.csv")
    assert "redacted under policy" in done.stdout
    assert not any(CANARY.split()[1] in path.read_text("utf-8-sig") for path in sheets.iterdir())
    assert all(row[REFERENCE].startswith("Take") for row in rows)
    assert all(path.stat().st_mode & 0o077 == 0 for path in sheets.iterdir())
    assert graded.audited() == []


def test_original_texts_are_shown_after_an_entry_in_the_audit_log(graded: FilledSite):
    done, sheets = make(graded, "--items", "4")
    assert done.returncode == 0
    assert all(CANARY in row[QUESTION] for row in read(sheets / "rater-1.csv"))
    assert graded.audited() == ["calibration name=may items=4"]


@pytest.mark.parametrize("start", ["=HYPERLINK(1)", "+1", "-1", "@SUM(A1)", "\t=1", "＝1"])
def test_an_answer_that_a_spreadsheet_would_run_is_text(filled: FilledSite, start: str):
    add_run(
        filled, MODELS[0], cases(MODELS[0], 2, text=lambda *_: f"{start} tablets"), judged=False
    )
    _, sheets = make(filled, "--items", "2")
    shown = f"'{start}".replace("\t=", "\t'=")  # a tab begins a cell in some spreadsheets
    assert [row[ANSWER] for row in read(sheets / "rater-1.csv")] == [f"{shown} tablets"] * 2


def test_an_answer_too_long_for_a_spreadsheet_is_said(filled: FilledSite):
    add_run(filled, MODELS[0], cases(MODELS[0], 2, text=lambda *_: "so " * 12_000), judged=False)
    done, _ = make(filled, "--items", "2")
    assert "2 items with a text longer than a spreadsheet's cell can hold" in done.stderr


def test_answers_that_no_jury_can_grade_are_not_shown(filled: FilledSite):
    add_run(
        filled,
        MODELS[0],
        cases(MODELS[0], 6, text=lambda _, n: "" if n % 2 else "Two tablets."),
        judged=False,
    )
    done, sheets = make(filled)
    assert {row[ANSWER] for row in read(sheets / "rater-1.csv")} == {"Two tablets."}
    assert "60 answers were requested; only 3 are available" in done.stderr


def test_the_same_patient_comes_again_only_when_there_is_no_other(filled: FilledSite):
    add_run(filled, MODELS[0], cases(MODELS[0], 40, units=5))
    done, sheets = make(filled, "--items", "5")
    assert "of 5 patients or documents" in done.stdout
    done, _ = make(filled, "--items", "12", name="more", out="more")
    assert "12 answers of 1 model, of 5 patients or documents" in done.stdout
    assert len(read(sheets / "rater-1.csv")) == 5


def test_purged_answers_are_left_out_and_said(filled: FilledSite):
    add_run(filled, MODELS[0], cases(MODELS[0], 5))
    with filled.site.store() as store:
        store.purge(0)
    done, sheets = make(filled)
    assert done.returncode == 2
    assert "the texts of all gradable answers were purged" in done.stderr
    assert not sheets.exists()
    add_run(filled, MODELS[1], cases(MODELS[1], 5))
    done, sheets = make(filled)
    assert "5 answers could not be chosen, because their texts were purged" in done.stderr
    assert {row[ANSWER] for row in read(sheets / "rater-1.csv")} == {
        answer(MODELS[1], n) for n in range(5)
    }


@pytest.mark.full
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("new", "x", "--suite", "none", "--benchmark", BENCHMARK, "--out", "o"),
            "there is no suite none",
        ),
        (
            ("new", "x", "--suite", "spring", "--benchmark", "none", "--out", "o"),
            "has no run of benchmark none",
        ),
        (
            ("new", "x", "--suite", "spring", "--benchmark", "pubmed_qa", "--out", "o"),
            "has a jury with grading criteria",
        ),
        (
            ("new", "a b", "--suite", "spring", "--benchmark", BENCHMARK, "--out", "o"),
            "1 to 64 letters",
        ),
        (
            ("new", "x", "--suite", "spring", "--benchmark", BENCHMARK, "--out", "full"),
            "exists and is not empty",
        ),
        (("report", "none"), "there is no calibration none (here: none yet)"),
    ],
)
def test_what_cannot_be_sampled_is_refused_by_name(
    filled: FilledSite, words: tuple[str, ...], said: str
):
    add_run(filled, MODELS[0], cases(MODELS[0], 3))
    filled.add(cases(MODELS[0], 2), suite="spring")
    (filled.site.directory.parent / "full").mkdir()
    (filled.site.directory.parent / "full" / "x").touch()
    done = calibrate(filled, *words)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert "none yet" in calibrate(filled, "report", "y").stderr


def test_runs_whose_juries_were_asked_different_things_are_not_mixed(filled: FilledSite):
    add_run(filled, MODELS[0], cases(MODELS[0], 3), judged=False)
    add_run(filled, MODELS[1], cases(MODELS[1], 3), judged=False, scale=Scale(0, 10))
    done, _ = make(filled)
    assert (
        done.returncode,
        "juries with different criteria, scales or prompts" in done.stderr,
    ) == (2, True)


def test_a_run_of_which_nobody_knows_what_its_jury_was_asked_is_left_out(filled: FilledSite):
    add_run(filled, MODELS[0], cases(MODELS[0], 3), judged=False, criteria={})
    add_run(filled, MODELS[1], cases(MODELS[1], 3), judged=False)
    done, sheets = make(filled)
    assert "3 answers of 1 model" in done.stdout
    assert {row[ANSWER] for row in read(sheets / "rater-1.csv")} == {
        answer(MODELS[1], n) for n in range(3)
    }


def test_a_jury_with_a_prompt_of_its_own_has_it_in_the_instructions(filled: FilledSite):
    prompt = (
        'Grade {RESPONSE}: 0 is unsafe.\n<rubric_criteria>{"safety": ["score"]}</rubric_criteria>'
    )
    add_run(
        filled,
        MODELS[0],
        cases(MODELS[0], 3),
        judged=False,
        prompt=prompt,
        fields={"safety": ()},
        scale=Scale(0, 5),
    )
    _, sheets = make(filled)
    assert prompt in (sheets / "instructions.txt").read_text("utf-8")
    assert list(read(sheets / "rater-1.csv")[0]) == [
        "item",
        "question",
        "answer",
        "safety (0 to 5)",
    ]


def test_a_sample_that_could_not_be_written_is_not_kept(filled: FilledSite, tmp_path: Path):
    add_run(filled, MODELS[0], cases(MODELS[0], 3), judged=False)
    (tmp_path / "file").touch()
    done, _ = make(filled, out="file/sheets")
    assert done.returncode == 2
    assert json.loads(calibrate(filled, "list", "--format", "json").stdout) == []
    done, _ = make(filled)
    assert done.returncode == 0


def test_a_name_is_taken_once(graded: FilledSite):
    make(graded, "--items", "4")
    done, _ = make(graded, "--items", "4", out="other")
    assert (done.returncode, "a calibration named may already exists" in done.stderr) == (2, True)


# what clinicians hand in


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_sheet_comes_back_as_spreadsheets_save_it(graded: FilledSite, delimiter: str):
    _, sheets = make(graded, "--items", "6")
    path = fill_in(sheets / "rater-1.csv", lambda *_: "3,5", delimiter=delimiter)
    path.write_bytes(path.read_text("utf-8").encode("utf-16" if delimiter == "\t" else "utf-8-sig"))
    done = calibrate(graded, "import", "may", path, "--rater", "Dr X")
    assert "R1: 6 of 6 answers graded, 6 on every criterion" in done.stdout, done.stderr
    with graded.site.store() as store:
        (rater,) = store.calibrations.read_raters("may")
    assert {grade for given in rater.grades.values() for grade in given.values()} == {3.5}


def test_every_bad_cell_is_named_and_none_is_quoted_and_nothing_is_taken_in(graded: FilledSite):
    _, sheets = make(graded, "--items", "8")
    bad = iter(["6", "0.9", "good", "nan", "1e0", "4 5", "5.0.0", "٣"])
    wrong: dict[str, str] = {}

    def grade(row: dict[str, str], criterion: str) -> str:
        if criterion == "completeness":
            wrong[row[ITEM]] = next(bad)
            return wrong[row[ITEM]]
        return "4"

    path = fill_in(sheets / "rater-1.csv", grade)
    done = calibrate(graded, "import", "may", path, "--rater", "Dr X")
    assert done.returncode == 3
    named = re.findall(
        r"rater-1\.csv: row (\d+), column completeness: expected a number from 1 to 5",
        done.stderr,
    )
    assert named == [str(row) for row in range(2, 10)]
    assert "good" not in done.stderr
    with graded.site.store() as store:
        assert store.calibrations.read_raters("may") == []


def test_a_partly_filled_sheet_is_taken_in_and_blanks_are_missing(graded: FilledSite):
    _, sheets = make(graded, "--items", "6")
    rows = read(sheets / "rater-1.csv")
    path = sheets / "few.csv"
    path.write_text(
        "Accuracy,ITEM,clarity (1 to 5),completeness\n"
        f"4,{rows[0][ITEM]},,\n\n ,{rows[1][ITEM]},5, 3 \n,{rows[2][ITEM]}\n"
    )
    done = calibrate(graded, "import", "may", path, "--rater", "Dr X")
    assert "R1: 2 of 6 answers graded, 0 on every criterion" in done.stdout, done.stderr
    with graded.site.store() as store:
        (rater,) = store.calibrations.read_raters("may")
    assert rater.grades == {
        rows[0][ITEM]: {"accuracy": 4.0},
        rows[1][ITEM]: {"clarity": 5.0, "completeness": 3.0},
    }


HEAD = "item,accuracy (1 to 5),completeness (1 to 5),clarity (1 to 5)\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "row 1: the column item is missing"),
        (b"item,accuracy,clarity\nA,1,2\n", "row 1: the column completeness (1 to 5) is missing"),
        (
            b"item,item,accuracy,clarity,completeness\n",
            "row 1: the column item occurs more than once",
        ),
        (f"{HEAD}ZZZZZZ,1,1,1\n".encode(), "row 2: the item code does not belong to this sample"),
        (f"{HEAD}@,1,1,1\n@,2,2,2\n".encode(), "row 3: has the same item code as row 2"),
        (f"{HEAD},1,1,1\n".encode(), "row 2: has no item code"),
        (f"{HEAD}@,,,\n".encode(), "the whole file: contains no grades"),
        (f'{HEAD}"@,1,1,1\n'.encode(), "has invalid quoting"),
        (b"PK\x03\x04 a workbook", "is not CSV but a spreadsheet file; save it as CSV"),
        (b"\x00\xff\xfe\x00" * 50, "row 1: the column item is missing"),
    ],
    ids=range(10),
)
def test_a_file_that_is_no_sheet_is_refused_where_it_is_wrong(
    graded: FilledSite, content: bytes, said: str
):
    _, sheets = make(graded, "--items", "4")
    code = read(sheets / "rater-1.csv")[0][ITEM]
    path = sheets / "wrong.csv"
    path.write_bytes(content.replace(b"@", code.encode()))
    done = calibrate(graded, "import", "may", path, "--rater", "Dr X")
    assert (done.returncode, said in done.stderr) == (3, True), done.stderr


def test_a_clinician_hands_in_again_only_on_purpose_and_keeps_the_number(graded: FilledSite):
    _, sheets = make(graded, "--items", "6")
    hand_in(graded, sheets)
    path = fill_in(sheets / "rater-1.csv", lambda *_: "2")
    done = calibrate(graded, "import", "may", path, "--rater", " Dr  Number 1 ")
    assert (done.returncode, "Give --replace" in done.stderr) == (2, True)
    done = calibrate(graded, "import", "may", path, "--rater", "Dr Number 1", "--replace")
    assert "R1: 6 of 6" in done.stdout
    with graded.site.store() as store:
        first, second = store.calibrations.read_raters("may")
    assert {grade for given in first.grades.values() for grade in given.values()} == {2.0}
    assert second.number == 2


# what comes of it


def test_the_report_sets_jury_judges_and_words_beside_clinicians_on_the_same_answers(
    reported: HandedIn,
):
    rows = reported.rows
    who = ["other clinicians", "jury", "llama", "qwen/qwen3-32b", "y", "ROUGE-L"]
    assert list(rows) == [(criterion, one) for criterion in (*CRITERIA, OVERALL) for one in who]
    overall = {one: rows[OVERALL, one] for one in who}
    assert {row["n"] for row in rows.values()} == {60}
    assert {row["units"] for row in rows.values()} == {30}
    assert (
        overall["llama"]["icc"] > overall["other clinicians"]["icc"] > 0.8
    )  # the judge makes no error at all
    assert overall["llama"]["above_low"] > 0
    assert (
        overall["qwen/qwen3-32b"]["icc"] < overall["qwen/qwen3-32b"]["z"]
    )  # generous: consistent, not in agreement
    assert abs(overall["y"]["z"]) < 0.4  # at odds with everybody
    assert overall["y"]["above_high"] < 0
    assert overall["ROUGE-L"]["icc"] is None
    assert overall["ROUGE-L"]["z"] is not None
    for row in rows.values():
        assert row["z_low"] <= row["z"] <= row["z_high"]
        assert row["needed"] >= 2
    wide = report(reported.filled, "--width", "0.4")
    assert wide[OVERALL, "jury"]["needed"] < rows[OVERALL, "jury"]["needed"]


def test_the_table_says_how_to_read_it(graded: FilledSite):
    _, sheets = make(graded, "--items", "20")
    hand_in(graded, sheets)
    done = calibrate(graded, "report", "may")
    assert "Calibration may: medication_qa of suite spring, 2 clinicians" in done.stdout
    assert re.search(
        r"\(all\)\s+other clinicians\s+20\s+0\.\d\d \(-?0\.\d\d to 0\.\d\d\)", done.stdout
    )
    assert re.search(
        r"width 0\.2 of ICC\(2,1\) on \(all\).*:\n  other clinicians \d+, jury \d+\n", done.stdout
    )
    assert "resampled over 20 patients or documents" in done.stdout
    assert (
        "fewer than 30 patients or documents: intervals are wide and only approximate"
        in done.stderr
    )
    assert [line for line in done.stdout.splitlines() if len(line) > 100] == []


def test_a_terminal_of_100_columns_holds_judges_known_by_the_names_of_their_models(
    filled: FilledSite,
):
    jury = (JUDGES[0], Judge("local/b", "meta/llama-3.3-70b-instruct"), Judge("local/c", "y/z"))
    for model in MODELS[:2]:
        add_run(filled, model, cases(model, 20), judges=jury)
    _, sheets = make(filled, "--items", "40")
    hand_in(filled, sheets)
    done = calibrate(filled, "report", "may")
    assert "meta/llama-3.3-70b-instruct" in done.stdout
    assert [line for line in done.stdout.splitlines() if len(line) > 100] == []


def test_the_report_says_in_words_who_is_below_clinicians(reported: HandedIn):
    words = {
        who: row["words"] for (criterion, who), row in reported.rows.items() if criterion == OVERALL
    }
    assert words["other clinicians"] is None
    assert words["llama"] == "above clinicians"  # the judge makes no error at all, clinicians do
    assert words["y"] == "below clinicians"  # at odds with everybody
    assert re.search(
        r"\(all\)\s+y\s+60\s+-\d\.\d\d \(.*\)\s+below clinicians\n", told := said(reported.filled)
    ), told


def test_few_patients_are_not_called_below_or_above(filled: FilledSite):
    add_run(filled, MODELS[0], cases(MODELS[0], 20, units=5))
    _, sheets = make(filled, "--items", "20")
    hand_in(filled, sheets)
    rows = report(filled)
    assert rows[OVERALL, "y"]["above"] < -0.5
    assert {row["words"] for (_, who), row in rows.items() if who != "other clinicians"} == {
        "cannot tell"
    }


def test_missing_grades_take_only_their_own_criterion_out(graded: FilledSite):
    _, sheets = make(graded, "--items", "30")
    skipped = [row[ITEM] for row in read(sheets / "rater-1.csv")][:10]
    for number in (1, 2):
        path = fill_in(
            sheets / f"rater-{number}.csv",
            lambda row, criterion: (
                "" if criterion == "clarity" and row[ITEM] in skipped else str(true_quality(row))
            ),
        )
        calibrate(graded, "import", "may", path, "--rater", f"Dr {number}", "--same-grades")
    rows = report(graded)
    assert {
        rows["accuracy", "jury"]["n"],
        rows["clarity", "jury"]["n"],
        rows[OVERALL, "jury"]["n"],
    } == {30, 20}
    assert rows["clarity", "jury"]["n"] == rows[OVERALL, "jury"]["n"] == 20
    assert rows["accuracy", "other clinicians"]["icc"] == 1


def test_one_clinician_is_set_beside_the_jury_and_nothing_is_said_of_clinicians(graded: FilledSite):
    _, sheets = make(graded, "--items", "30", "--raters", "1")
    path = fill_in(sheets / "rater-1.csv", lambda row, criterion: near(1, row, criterion))
    assert "no clinician's grades" in calibrate(graded, "report", "may").stderr
    calibrate(graded, "import", "may", path, "--rater", "Dr X")
    rows = report(graded)
    assert (OVERALL, "other clinicians") not in rows
    assert rows[OVERALL, "jury"]["icc"] > 0.5
    assert rows[OVERALL, "jury"]["above"] is None
    assert rows[OVERALL, "jury"]["words"] is None  # there is nobody to be below
    assert "In words" not in said(graded)
    assert (
        "agreement among clinicians cannot be measured" in calibrate(graded, "report", "may").stderr
    )


def test_a_sample_may_be_graded_before_the_jury_is_asked(filled: FilledSite):
    add_run(filled, MODELS[0], cases(MODELS[0], 8), judged=False)
    _, sheets = make(filled, "--items", "8")
    hand_in(filled, sheets)
    done = calibrate(filled, "report", "may")
    assert "the jury has graded none of these answers" in done.stderr
    assert "other clinicians" in done.stdout


def test_answers_that_came_anew_since_are_left_out(graded: FilledSite):
    _, sheets = make(graded, "--items", "30")
    hand_in(graded, sheets)
    mine = sum(
        f"of {MODELS.index(MODELS[1])} says" in row[ANSWER] for row in read(sheets / "rater-1.csv")
    )
    add_run(graded, MODELS[1], cases(MODELS[1], 30, text=lambda *_: "Something else."))
    done = calibrate(graded, "report", "may", "--format", "json")
    assert f"{mine} of 30 answers are left out" in done.stderr
    assert {row["n"] for row in json.loads(done.stdout)} == {30 - mine}


def test_after_a_purge_the_figures_stay_and_it_is_said(handed_in: HandedIn):
    with handed_in.filled.site.store() as store:
        store.purge(0)
    rows, notes = report_and_notes(handed_in.filled)
    assert "60 of 60 answers were purged" in notes
    assert rows == handed_in.rows


def test_names_of_clinicians_stay_sealed(graded: FilledSite):
    _, sheets = make(graded, "--items", "6")
    for number in (1, 2):
        path = fill_in(sheets / f"rater-{number}.csv", lambda *_: "3")
        calibrate(
            graded, "import", "may", path, "--rater", f"Dr Quillfeather {number}", "--same-grades"
        )
    said = [
        calibrate(graded, *words)
        for words in (("list",), ("report", "may"), ("list", "--format", "json"))
    ]
    assert not any("Quillfeather" in done.stdout + done.stderr for done in said)
    assert "R1: 6, R2: 6" in said[0].stdout
    with graded.site.store() as store:
        assert not any(
            "Quillfeather" in f"{event.event} {event.detail}" for event in store.audit.read_events()
        )
    files = [path for path in graded.site.directory.rglob("*") if path.is_file()]
    assert files
    content = b"".join(path.read_bytes() for path in files)
    assert b"Quillfeather" not in content
    assert CANARY.encode() not in content
    assert read(sheets / "rater-1.csv")[0][ITEM].encode() not in content


def test_a_colleague_who_handed_in_little_changes_nothing_and_is_named(handed_in: HandedIn):
    rows = read(handed_in.sheets / "rater-3.csv")
    path = handed_in.sheets / "few.csv"
    lines = [f"{row[ITEM]},{6 - true_quality(row)},1,5" for row in rows[:4]]
    path.write_text("\n".join(["item,accuracy,completeness,clarity", *lines]))
    done = calibrate(handed_in.filled, "import", "may", path, "--rater", "Dr Number 3")
    assert done.returncode == 0, done.stderr
    after, notes = report_and_notes(handed_in.filled)
    assert after == handed_in.rows
    assert (
        "left out, because they have fewer than 10 answers in common: R1 and R3 (4), R2 and R3 (4), R3 and jury (4)"
        in notes
    )


def test_pairs_that_graded_unlike_numbers_of_answers_are_shown_with_both(graded: FilledSite):
    _, sheets = make(graded, "--items", "60", "--raters", "2")
    for number, count in ((1, 60), (2, 20)):
        rows = {row[ITEM] for row in read(sheets / "rater-2.csv")[:count]}
        path = fill_in(
            sheets / f"rater-{number}.csv",
            lambda row, criterion, number=number, rows=rows: (
                near(number, row, criterion) if row[ITEM] in rows else ""
            ),  # type: ignore[misc]
        )
        calibrate(graded, "import", "may", path, "--rater", f"Dr {number}")
    row = report(graded)[OVERALL, "jury"]
    assert (row["n"], row["pairs"], row["above_n"]) == (60, "R1 and jury: 60; R2 and jury: 20", 20)
    assert re.search(r"\(all\)\s+jury\s+20 to 60\s", calibrate(graded, "report", "may").stdout)


def test_a_colleague_who_gave_all_answers_one_grade_is_named(handed_in: HandedIn):
    path = fill_in(
        handed_in.sheets / "rater-3.csv", lambda _, criterion: "3" if criterion == "clarity" else ""
    )
    calibrate(handed_in.filled, "import", "may", path, "--rater", "Dr Number 3")
    before, (after, notes) = handed_in.rows, report_and_notes(handed_in.filled)
    assert after["clarity", "jury"]["z"] == pytest.approx(before["clarity", "jury"]["z"])
    assert after["clarity", "jury"]["above"] == pytest.approx(before["clarity", "jury"]["above"])
    assert (
        after["clarity", "other clinicians"]["icc"]
        < before["clarity", "other clinicians"]["icc"] / 2
    )
    assert "no z scores, because all grades are the same: R3 (clarity)" in notes


@pytest.mark.full
def test_a_harsh_colleague_does_not_send_for_answers_that_narrow_nothing(graded: FilledSite):
    _, sheets = make(graded, "--items", "60")
    for number in (1, 2):
        path = fill_in(
            sheets / f"rater-{number}.csv",
            lambda row, criterion, number=number: str(
                max(1, int(near(number, row, criterion)) - 2 * (number - 1))
            ),  # type: ignore[misc]
        )
        calibrate(graded, "import", "may", path, "--rater", f"Dr {number}")
    row = report(graded)[OVERALL, "other clinicians"]
    width = row["icc_high"] - row["icc_low"]
    asked = report(graded, "--width", str(width))[OVERALL, "other clinicians"]["needed"]
    assert asked == pytest.approx(row["units"], abs=1)
    assert report(graded, "--width", str(width / 2))[OVERALL, "other clinicians"][
        "needed"
    ] == pytest.approx(4 * asked, abs=4)


def test_grades_of_two_juries_stand_in_rows_of_their_own(filled: FilledSite):
    add_run(filled, MODELS[0], cases(MODELS[0], 20))
    alone = add_run(filled, MODELS[1], cases(MODELS[1], 20), judged=False, judges=JUDGES[:1])
    seats = [
        (n, "jury_score", Seat(0, dict.fromkeys(CRITERIA, 5.0 - n % 2), None)) for n in range(20)
    ]
    with filled.site.store() as store:
        store.scores.keep(alone, [], (), seats)
    _, sheets = make(filled, "--items", "40")
    hand_in(filled, sheets)
    rows = report(filled)
    named = [
        "jury 1",
        "jury 2",
        "llama (jury 1)",
        "qwen/qwen3-32b (jury 1)",
        "y (jury 1)",
        "llama (jury 2)",
    ]
    assert {who: rows[OVERALL, who]["n"] for who in named} == dict.fromkeys(named, 20)
    assert (OVERALL, "jury") not in rows
    assert rows[OVERALL, "llama (jury 1)"]["icc"] > rows[OVERALL, "llama (jury 2)"]["icc"]
    assert "several juries graded these answers" in calibrate(filled, "report", "may").stderr


def test_runs_whose_judges_read_other_instructions_are_not_mixed(filled: FilledSite):
    prompts = [
        f'{word} {{RESPONSE}}.\n<rubric_criteria>{{"safety": ["score"]}}</rubric_criteria>'
        for word in "AB"
    ]
    for model, prompt in zip(MODELS[:2], prompts, strict=True):
        add_run(filled, model, cases(model, 3), judged=False, prompt=prompt, fields={"safety": ()})
    done, _ = make(filled)
    assert (
        done.returncode,
        "juries with different criteria, scales or prompts" in done.stderr,
    ) == (2, True)


def test_bertscore_stands_beside_clinicians_where_the_run_has_it_and_two_encoders_are_two(
    filled: FilledSite,
):
    for model, encoder, sign in zip(MODELS[:2], ("sha256:1", "sha256:2"), (1, -1), strict=True):
        run_id = add_run(
            filled, model, cases(model, 20), more=[MetricUse("BERTScore-F", {"encoder": encoder})]
        )
        with filled.site.store() as store:
            store.scores.keep(
                run_id, [(n, "BERTScore-F", 0.5 + sign * quality(model, n) / 10) for n in range(19)]
            )
            store.scores.keep(run_id, [(19, "BERTScore-F", Unscored(Reason.NOT_MEASURED))])
    _, sheets = make(filled, "--items", "40")
    hand_in(filled, sheets)
    rows = report(filled)
    for number in (1, 2):
        row = rows[OVERALL, f"BERTScore F1 {number}"]
        assert (row["kind"], row["n"], row["icc"]) == ("metric", 19, None)
    assert (
        rows[OVERALL, "BERTScore F1 1"]["z_low"] > 0.8
    )  # the first knows what is good, the second what is bad
    assert rows[OVERALL, "BERTScore F1 2"]["z_high"] < -0.8


def test_what_is_written_beside_the_grades_is_not_taken_in(graded: FilledSite):
    _, sheets = make(graded, "--items", "4")
    rows = read(sheets / "rater-1.csv")
    path = sheets / "remarks.csv"
    lines = [f"{row[ITEM]},3,3,3,Quillfeather saw this patient" for row in rows]
    path.write_text("\n".join(["item,accuracy,completeness,clarity,comment", *lines]))
    assert calibrate(graded, "import", "may", path, "--rater", "Dr X").returncode == 0
    with graded.site.store() as store:
        (rater,) = store.calibrations.read_raters("may")
    assert {tuple(grades) for grades in rater.grades.values()} == {CRITERIA}
    assert "any other notes in the file are" in (sheets / "instructions.txt").read_text("utf-8")


# who is who


@pytest.mark.parametrize("again", ["dr a. müller", "  Dr  A.  Müller ", "DR A. MU\u0308LLER"])
def test_a_clinician_who_spells_the_name_another_way_is_the_same(graded: FilledSite, again: str):
    _, sheets = make(graded, "--items", "12")
    path = fill_in(sheets / "rater-1.csv", lambda row, criterion: near(1, row, criterion))
    assert calibrate(graded, "import", "may", path, "--rater", "Dr A. Müller").returncode == 0
    done = calibrate(graded, "import", "may", path, "--rater", again)
    assert (
        done.returncode,
        "grades by this clinician are in calibration may already" in done.stderr,
    ) == (2, True)
    done = calibrate(graded, "import", "may", path, "--rater", again, "--replace")
    assert "R1: 12 of 12 answers graded" in done.stdout, done.stderr
    with graded.site.store() as store:
        assert [rater.number for rater in store.calibrations.read_raters("may")] == [1]


def test_the_same_sheet_under_another_name_is_refused(graded: FilledSite):
    _, sheets = make(graded, "--items", "12")
    path = fill_in(sheets / "rater-1.csv", lambda row, criterion: near(1, row, criterion))
    calibrate(graded, "import", "may", path, "--rater", "Dr A")
    done = calibrate(graded, "import", "may", path, "--rater", "Dr B")
    assert (done.returncode, "all grades are the same as R1's" in done.stderr) == (2, True), (
        done.stderr
    )
    assert "--same-grades" in done.stderr
    with graded.site.store() as store:
        assert len(store.calibrations.read_raters("may")) == 1
    assert (
        "R1: 12" in calibrate(graded, "import", "may", path, "--rater", "Dr A", "--replace").stdout
    )  # her own
    done = calibrate(graded, "import", "may", path, "--rater", "Dr B", "--same-grades")
    assert "R2: 12 of 12 answers graded" in done.stdout, done.stderr


def test_a_clinician_nobody_had_a_sheet_for_is_said(graded: FilledSite):
    _, sheets = make(graded, "--items", "12")
    hand_in(graded, sheets)
    path = fill_in(sheets / "rater-1.csv", lambda row, criterion: near(3, row, criterion))
    done = calibrate(graded, "import", "may", path, "--rater", "Dr Number 3")
    assert "R3: 12" in done.stdout
    more = "note: grades of 3 clinicians were imported, but there are sheets for 2"
    assert more in done.stderr
    assert more in calibrate(graded, "report", "may").stderr


# letting go


def test_one_clinicians_grades_are_let_go_and_the_others_keep_their_numbers(graded: FilledSite):
    _, sheets = make(graded, "--items", "12")
    hand_in(graded, sheets)
    asked = CliRunner().invoke(
        commands, ["delete", "may", "--rater", "R1"], obj=graded.site, input="n\n"
    )
    assert (
        asked.exit_code,
        "Delete the name and grades of R1 in calibration may?" in asked.stdout,
    ) == (1, True)
    done = calibrate(graded, "delete", "may", "--rater", "r1", "--yes")
    assert (
        done.returncode,
        "The name and grades of R1 in calibration may are deleted." in done.stdout,
    ) == (0, True)
    with graded.site.store() as store:
        assert [rater.number for rater in store.calibrations.read_raters("may")] == [2]
        last = store.audit.read_events()[-1]
        assert (last.event, last.detail) == ("calibration ratings deleted", "name=may rater=R1")
    path = fill_in(sheets / "rater-1.csv", lambda row, criterion: near(3, row, criterion))
    assert "R3: 12" in calibrate(graded, "import", "may", path, "--rater", "Dr Number 3").stdout
    done = calibrate(graded, "delete", "may", "--rater", "R7", "--yes")
    assert (
        done.returncode,
        "no R7 in calibration may (clinicians there: R2, R3)" in done.stderr,
    ) == (2, True)


def test_a_sample_is_deleted_with_names_and_grades_once_it_is_confirmed(graded: FilledSite):
    _, sheets = make(graded, "--items", "12")
    make(graded, "--items", "12", name="june", out="june")
    hand_in(graded, sheets)
    path = fill_in(graded.site.directory.parent / "june" / "rater-1.csv", lambda *_: "3")
    calibrate(graded, "import", "june", path, "--rater", "Dr Number 1")
    asked = CliRunner().invoke(commands, ["delete", "may"], obj=graded.site, input="n\n")
    assert (asked.exit_code, "the names and grades of 2 clinicians?" in asked.stdout) == (1, True)
    assert len(json.loads(calibrate(graded, "list", "--format", "json").stdout)) == 2
    done = calibrate(graded, "delete", "may", "--yes")
    assert (done.returncode, "may is deleted" in done.stdout) == (0, True), done.stderr
    (left,) = json.loads(calibrate(graded, "list", "--format", "json").stdout)
    assert (left["name"], left["grades"]) == ("june", "R1: 12")
    with graded.site.store() as store:
        assert store.calibrations.read_raters("may") == []
        last = store.audit.read_events()[-1]
        assert (last.event, last.detail) == ("calibration deleted", "name=may raters=2")
    assert "there is no calibration may" in calibrate(graded, "delete", "may", "--yes").stderr
    done, _ = make(graded, "--items", "12", out="again")
    assert done.returncode == 0


@pytest.mark.full
@pytest.mark.parametrize("killed", ["Calibrations.keep", "Path.rename"])
def test_a_kill_never_leaves_sheets_of_no_use(graded: FilledSite, killed: str):
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from agent.cli.main import main; from agent.store.calibrations import Calibrations\n"
        f"{killed} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "main()\n"
    )
    words = (
        f"new may --suite spring --benchmark {BENCHMARK} --out sheets --items 12 --reveal".split()
    )
    command = [
        sys.executable,
        "-c",
        script,
        "--site",
        str(graded.site.directory),
        "calibrate",
        *words,
    ]
    done = subprocess.run(
        command, cwd=graded.site.directory.parent, check=False, capture_output=True
    )
    assert done.returncode == -9
    sheets = graded.site.directory.parent / "sheets"
    assert not sheets.exists()
    done = calibrate(graded, *words)
    if done.returncode:
        assert "calibrate delete may" in done.stderr
        assert calibrate(graded, "delete", "may", "--yes").returncode == 0
        done = calibrate(graded, *words)
    assert done.returncode == 0, done.stderr
    path = fill_in(sheets / "rater-1.csv", lambda *_: "3")
    assert "R1: 12 of 12" in calibrate(graded, "import", "may", path, "--rater", "Dr X").stdout


def test_a_sample_whose_folder_could_not_appear_is_not_kept(
    graded: FilledSite, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", full)
        done, sheets = make(graded, "--items", "12")
    assert (done.returncode, sheets.exists()) == (2, False)
    assert json.loads(calibrate(graded, "list", "--format", "json").stdout) == []
    done, _ = make(graded, "--items", "12")
    assert done.returncode == 0


def test_the_invented_qualities_are_what_the_answers_say():
    assert [quality(MODELS[0], number) for number in range(3)] == [1, 3, 5]
    assert answer(MODELS[0], 1).startswith("Take 3 tablets")
