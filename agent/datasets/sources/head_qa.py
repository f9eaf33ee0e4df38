"""HEAD-QA's official file of exams and questions. Questions that need an image are skipped, as in MedHELM."""

from collections.abc import Iterator
from typing import TextIO

from agent.datasets.readers.json_table import format_json_value, load_json
from agent.datasets.readers.table import Problems, Row, Table

_MAX_OPTIONS = 5
_OPTIONS = tuple(f"option_{number}" for number in range(1, _MAX_OPTIONS + 1))
COLUMNS = ("id", "exam", "year", "category", "question", "right", *_OPTIONS)
_TEST_YEARS = ("2016", "2017")  # the dataset's own test split


def read_head_qa(file: TextIO, problems: Problems) -> Table:
    """Read the test split of `HEAD_EN.json`. `right` is the number of the right option, counted from 1.

    The id of an option (`aid`) and of the right option (`ra`) are compared as numbers, because one is a string.
    """
    value = load_json(file, problems)
    exams = value.get("exams") if isinstance(value, dict) else None
    if not isinstance(exams, dict):
        raise problems.stop("the whole file", "expected an object with the key `exams`")
    return Table(COLUMNS, _read_exams(exams, problems))


def _read_exams(exams: dict[str, object], problems: Problems) -> Iterator[Row]:
    for exam_number, (name, exam) in enumerate(exams.items(), 1):
        if not isinstance(exam, dict) or not isinstance(exam.get("data"), list):
            problems.add(f"exam {exam_number}", "expected an object with the list `data`")
            continue
        year = _parse_year(exam.get("year"))
        if year is None:
            problems.add(f"exam {exam_number}", "expected `year` to be a year of four digits")
            continue
        if year not in _TEST_YEARS:
            continue
        exam_cells = {
            "exam": name,
            "year": year,
            "category": format_json_value(exam.get("category")),
        }
        for number, question in enumerate(exam["data"], 1):
            where = f"exam {exam_number} question {number}"
            cells = _read_question(question, where, problems)
            if cells is not None:
                # Question numbers start again in each exam.
                yield Row(where, {**cells, **exam_cells, "id": f"{name}/{cells['id']}"})


def _read_question(question: object, where: str, problems: Problems) -> dict[str, str] | None:
    """Return the cells of a question, or None if it needs an image or has a problem."""
    if not isinstance(question, dict) or not isinstance(question.get("answers"), list):
        problems.add(where, "expected an object with the list `answers`")
        return None
    if question.get("image"):
        return None
    answers = question["answers"]
    right_id = _parse_number(question.get("ra"))
    options = {}
    right = []
    for number, answer in enumerate(answers, 1):
        if not isinstance(answer, dict):
            break
        options[f"option_{number}"] = format_json_value(answer.get("atext"))
        if _parse_number(answer.get("aid")) == right_id:
            right.append(number)
    if len(options) != len(answers) or len(options) > _MAX_OPTIONS or len(right) != 1:
        problems.add(
            where, "expected up to 5 answers, exactly one of them with `aid` equal to `ra`"
        )
        return None
    return {
        "id": format_json_value(question.get("qid")),
        "question": format_json_value(question.get("qtext")),
        "right": str(right[0]),
        **options,
    }


def _parse_year(value: object) -> str | None:
    """Return a year as four digits, or None for any other value; `load_json` keeps numbers as strings."""
    text = value.strip().removesuffix(".0") if isinstance(value, str) else ""
    return text if len(text) == 4 and text.isascii() and text.isdigit() else None


def _parse_number(value: object) -> int | None:
    text = format_json_value(value).strip()
    return int(text) if text.isascii() and text.isdigit() else None
