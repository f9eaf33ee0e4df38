"""HEAD-QA's official file: exams, each with its questions; those that need an image are left out, as in MedHELM."""

from collections.abc import Iterator
from typing import TextIO

from agent.datasets.readers.json_table import load_json, text_of
from agent.datasets.readers.table import Problems, Row, Table

COLUMNS = ("id", "exam", "year", "category", "question", "right", *(f"option_{i}" for i in range(1, 6)))
_TEST_YEARS = ("2016", "2017")  # the dataset's own test split


def read_head_qa(file: TextIO, problems: Problems) -> Table:
    """Read `HEAD_EN.json`, whole or cut to the test split. `right` is the 1-based number of the right option.

    An option's own id (`aid`) and the right one's (`ra`) are compared as numbers: the file has one as a string.
    """
    value = load_json(file, problems)
    exams = value.get("exams") if isinstance(value, dict) else None
    if not isinstance(exams, dict):
        raise problems.stop("the whole file", "expected an object with `exams`")
    return Table(COLUMNS, _rows(exams, problems))


def _rows(exams: dict[str, object], problems: Problems) -> Iterator[Row]:
    for exam_number, (name, exam) in enumerate(exams.items(), 1):
        if not isinstance(exam, dict) or not isinstance(exam.get("data"), list):
            problems.add(f"exam {exam_number}", "expected an object with a list `data`")
            continue
        if exam.get("year") not in _TEST_YEARS:
            continue
        for number, question in enumerate(exam["data"], 1):
            where = f"exam {exam_number} question {number}"
            cells = _cells(question, where, problems)
            if cells is not None:
                yield Row(
                    where,
                    cells
                    | {
                        "id": f"{name}/{cells['id']}",
                        "exam": name,
                        "year": text_of(exam.get("year")),
                        "category": text_of(exam.get("category")),
                    },
                )


def _cells(question: object, where: str, problems: Problems) -> dict[str, str] | None:
    if not isinstance(question, dict) or not isinstance(question.get("answers"), list):
        problems.add(where, "expected an object with a list `answers`")
        return None
    if question.get("image"):
        return None
    options = [option for option in question["answers"] if isinstance(option, dict)]
    right = [i for i, o in enumerate(options, 1) if _number(o.get("aid")) == _number(question.get("ra"))]
    if len(options) != len(question["answers"]) or len(options) > 5 or len(right) != 1:
        problems.add(where, "expected up to 5 answers, one of them with the `aid` that `ra` names")
        return None
    texts = {f"option_{i}": text_of(option.get("atext")) for i, option in enumerate(options, 1)}
    return {
        "id": text_of(question.get("qid")),
        "question": text_of(question.get("qtext")),
        "right": str(right[0]),
        **texts,
    }


def _number(value: object) -> int | None:
    text = text_of(value).strip()
    return int(text) if text.isascii() and text.isdigit() else None
