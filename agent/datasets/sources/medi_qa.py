"""MEDIQA 2019, task 3: consumer health questions with retrieved answers that experts ranked."""

from collections.abc import Iterator

from agent.datasets.readers.files import Files
from agent.datasets.readers.safe_xml import Element, XmlError, read_elements
from agent.datasets.readers.table import Problems, Row, Table

COLUMNS = ("id", "question", "answer", "reference_score")


def load_medi_qa(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read the official XML. `answer` is the answer with reference rank 1, or empty if there is none."""
    for name in files.names:
        problems = files.problems(name)
        with files.open_binary(name) as file:
            try:
                elements = read_elements(file)
            except XmlError as why:
                raise problems.stop(why.where, why.problem) from None
        rows = list(_read_questions(elements, problems))
        if not rows:
            raise problems.stop(
                "the whole file", "expected <Question QID=...> elements with <QuestionText>"
            )
        yield Table(COLUMNS, rows), problems


def _read_questions(elements: list[Element], problems: Problems) -> Iterator[Row]:
    questions: list[dict[str, str]] = []
    first_ranked = False  # whether the current answer has rank 1
    for element in elements:
        name, attributes = element.path[-1], element.attributes
        if name == "Question":
            questions.append(
                {
                    "id": attributes.get("QID", ""),
                    "question": "",
                    "answer": "",
                    "reference_score": "",
                }
            )
        elif not questions:
            continue
        elif name == "QuestionText":
            questions[-1]["question"] = element.text.strip()
        elif name == "Answer":
            first_ranked = (
                attributes.get("ReferenceRank", "").strip() == "1" and not questions[-1]["answer"]
            )
            if first_ranked:
                questions[-1]["reference_score"] = attributes.get("ReferenceScore", "")
        elif name == "AnswerText" and first_ranked:
            questions[-1]["answer"] = element.text.strip()
    for number, cells in enumerate(questions, 1):
        where = f"question {number}"
        if not cells["id"]:
            problems.add(where, "has no QID")
        yield Row(where, cells)
