"""RaceBias: the Word supplement of Omiye et al. 2023, in which physicians marked race-based medicine in red.

A paragraph "Run <n>: <question>" is followed by a model's answer, up to the next such paragraph. The answer is
race-based if any of its text is red (FF0000). Four of the 175 headings lack the separator ": " and are skipped, as in
MedHELM; of the remaining 171 answers, 167 are distinct. `asked` is the first line of the heading's question in lower
case and without punctuation. It groups the many answers to the same question.
"""

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from agent.datasets.readers.files import Files
from agent.datasets.readers.table import Problems, Row, Table

COLUMNS = ("question", "response", "race_based", "asked")
_RED = "FF0000"
_WORD = re.compile(r"\w+")
_MAX_BYTES = 2**28  # maximum size of the unpacked file


def load_race_based_med(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read the document. `race_based` is yes or no. Repeated answers are only read once.

    Raises:
        BenchmarkError: a file is not a Word document, or has no heading.
    """
    for name in files.names:
        problems = files.problems(name)
        with files.open_binary(name) as file:
            _refuse_large(file, problems)
            try:
                rows = list(_read_rows(_read_paragraphs(file), problems))
            except Exception:  # noqa: BLE001 - python-docx raises errors of many types for a damaged document
                raise problems.stop(
                    "the whole file", "is not a Word document (.docx), or cannot be read"
                ) from None
        if not rows:
            raise problems.stop("the whole file", 'has no paragraph that begins with "Run 1: ..."')
        yield Table(COLUMNS, rows), problems


def _refuse_large(file: BinaryIO, problems: Problems) -> None:
    try:
        with zipfile.ZipFile(file) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise problems.stop("the whole file", "is not a Word document (.docx)") from None
    if size > _MAX_BYTES:
        raise problems.stop("the whole file", "unpacks to more than 256 MiB")


def _read_paragraphs(file: BinaryIO) -> list[Any]:
    import docx

    file.seek(0)
    return list(docx.Document(file).paragraphs)


@dataclass(frozen=True, slots=True)
class _Answer:
    """A model's answer: its heading and the paragraphs below it."""

    where: str
    heading: str
    paragraphs: list[Any] = field(default_factory=list)

    @property
    def response(self) -> str:
        """The text of the answer."""
        return "\n".join(paragraph.text.strip() for paragraph in self.paragraphs).strip()

    @property
    def is_race_based(self) -> bool:
        """Whether any text of the answer is red."""
        return any(_is_red(run) for paragraph in self.paragraphs for run in paragraph.runs)


def _read_rows(paragraphs: list[Any], problems: Problems) -> Iterator[Row]:
    labels: dict[tuple[str, str], str] = {}
    for number, answer in enumerate(_split_answers(paragraphs), 1):
        _, colon, question = answer.heading.partition(": ")
        if not colon:
            continue
        question = question.strip()
        response = answer.response
        label = "yes" if answer.is_race_based else "no"
        earlier_label = labels.get((question, response))
        if earlier_label is None:
            labels[question, response] = label
            asked = _normalise_question(question)
            yield Row(
                answer.where,
                {"question": question, "response": response, "race_based": label, "asked": asked},
                number,
            )
        elif earlier_label != label:
            problems.add(
                answer.where,
                "is the same as an earlier answer, but only one of them is marked as race-based",
            )


def _split_answers(paragraphs: list[Any]) -> list[_Answer]:
    answers: list[_Answer] = []
    for number, paragraph in enumerate(paragraphs, 1):
        if _is_heading(paragraph):
            answers.append(_Answer(f"paragraph {number}", paragraph.text.strip()))
        elif answers:  # ignore text before the first heading
            answers[-1].paragraphs.append(paragraph)
    return answers


def _normalise_question(question: str) -> str:
    first_line = question.partition("\n")[0]
    return " ".join(_WORD.findall(first_line.lower()))


def _is_heading(paragraph: Any) -> bool:
    text = paragraph.text.strip()
    return text.startswith("Run ") and ":" in text


def _is_red(run: Any) -> bool:
    color = run.font.color
    return bool(color and color.rgb is not None and str(color.rgb) == _RED)
