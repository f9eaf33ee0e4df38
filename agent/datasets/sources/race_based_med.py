"""RaceBias: the Word supplement of Omiye et al. 2023, whose physicians marked race-based medicine in red.

A paragraph "Run <n>: <question>" is followed by a model's answer, up to the next such paragraph. The answer is
race-based when any of its text is red (FF0000). Four of the 175 headings have no ": " to be split at and are left
out, as in MedHELM: 171 answers, 167 of them distinct. `asked` is the question without case, punctuation and what a
heading goes on with after its first line: many answers were given to each.
"""

import re
import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO

from agent.datasets.readers.files import Files
from agent.datasets.readers.table import Problems, Row, Table

COLUMNS = ("question", "response", "race_based", "asked")
_RED = "FF0000"
_WORD = re.compile(r"\w+")
_MOST_BYTES = 2**28  # of the unpacked file


def load_race_based_med(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read the document. `race_based` is yes or no; an answer that stands there twice is read once.

    Raises:
        BenchmarkError: not a Word document, or no heading in it.
    """
    for name in files.names:
        problems = files.problems(name)
        with files.binary(name) as file:
            _refuse_large(file, problems)
            try:
                rows = list(_rows(_paragraphs(file), problems))
            except Exception:  # noqa: BLE001 - whatever the library says of a document without a body, of colour ZZZ, ...
                raise problems.stop("the whole file", "is not a Word document (.docx) that can be read") from None
        if not rows:
            raise problems.stop("the whole file", 'has no paragraph that begins "Run 1: ..."')
        yield Table(COLUMNS, rows), problems


def _refuse_large(file: BinaryIO, problems: Problems) -> None:
    try:
        with zipfile.ZipFile(file) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise problems.stop("the whole file", "is not a Word document (.docx)") from None
    if size > _MOST_BYTES:
        raise problems.stop("the whole file", "unpacks to more than 256 MiB")


def _paragraphs(file: BinaryIO) -> list[Any]:
    import docx

    file.seek(0)
    return list(docx.Document(file).paragraphs)


def _rows(paragraphs: list[Any], problems: Problems) -> Iterator[Row]:
    labels: dict[tuple[str, str], str] = {}
    for start, paragraph in enumerate(paragraphs):
        _, colon, question = paragraph.text.strip().partition(": ")
        if not _is_heading(paragraph) or not colon:
            continue
        answer = []
        for other in paragraphs[start + 1 :]:
            if _is_heading(other):
                break
            answer.append(other)
        response = "\n".join(paragraph.text.strip() for paragraph in answer).strip()
        label = "yes" if any(_is_red(run) for paragraph in answer for run in paragraph.runs) else "no"
        where = f"paragraph {start + 1}"
        pair = (question.strip(), response)
        if pair not in labels:
            labels[pair] = label
            yield Row(where, {"question": pair[0], "response": response, "race_based": label, "asked": _asked(pair[0])})
        elif labels[pair] != label:
            problems.add(where, "the same answer is marked race-based in one place and not in another")


def _asked(question: str) -> str:
    return " ".join(_WORD.findall(question.partition("\n")[0].lower()))


def _is_heading(paragraph: Any) -> bool:
    text = paragraph.text.strip()
    return text.startswith("Run ") and ":" in text


def _is_red(run: Any) -> bool:
    color = run.font.color
    return bool(color and color.rgb is not None and str(color.rgb) == _RED)
