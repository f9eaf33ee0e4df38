"""Split prompts into the cells of the record, which are redacted, and the benchmark's own text, shown as it is.

The benchmark's own text (instructions, separators, role labels, option letters) is the same for every instance. That of
a shipped benchmark is public. That of a site's own benchmark may hold a real case, such as a solved example in the
prompt file: it is searched once, and if anything is found, the prompts of that benchmark are redacted whole. It is
searched again for the identifiers that a record states; if one is found, the prompt of that record is redacted whole.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.redaction.gateway.shipped_text import is_shipped
from agent.redaction.redacted import CuedText, Redacted, Redactor, join_redacted
from agent.redaction.replacements.tags import TAG, WITHHELD_TAG
from agent.redaction.views.labelled import read_label
from agent.vocabulary import Instance, Message, PromptCell

_MAX_CUE = 60  # characters; longer text before a cell is a sentence rather than a label
_CELL_MARK = " ... "  # stands for a cell where the fixed text is searched
_OPTION_LETTER = re.compile(r"[A-Z]\.")
_WORD = re.compile(r"[^\W\d_]{2}")
_OPTIONS = "options"
# After a question and a letter, fewer terms of one word are taken for names, and no more names are missed.
_OPTION_CUES = ("Which is best? a) ",)


@dataclass(frozen=True, slots=True)
class SplitMessage:
    """A message of the prompt, split at its cells.

    Attributes:
        role: the role of the message.
        fixed: the texts before, between and after the cells; one more than there are cells.
        cells: the texts to clear, or the whole message if it needs no clearing.
    """

    role: str
    fixed: tuple[str, ...]
    cells: tuple[CuedText | Redacted, ...]

    def join_cleared(self, texts: Iterator[Redacted]) -> Redacted:
        """Return the message with the next cleared texts in place of its cells."""
        return join_redacted(self.fixed, [take_cleared(cell, texts) for cell in self.cells])


def take_cleared(text: CuedText | Redacted, cleared: Iterator[Redacted]) -> Redacted:
    """Return the next cleared text in place of one that had to be cleared; other texts stay."""
    return text if isinstance(text, Redacted) else next(cleared)


class FixedTexts:
    """Decides whether the text between the cells of a prompt may be shown as it is.

    Args:
        redactor: searches the text of benchmarks that are not shipped.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._is_clean: dict[bytes, bool] = {}

    def may_be_shown(self, instance: Instance) -> bool:
        """Return whether the cells are known, and the text between them is shipped or contains no identifier."""
        if instance.cells is None or not _are_in_order(instance.cells, instance.messages):
            return False
        text = find_unshipped_text(instance)
        if not text:
            return True
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        if digest not in self._is_clean:
            self._is_clean[digest] = self._redactor.redact(text) == text
        return self._is_clean[digest] and not self._states_identifier(text, instance)

    def _states_identifier(self, text: str, instance: Instance) -> bool:
        """Return whether the fixed text holds one of the record's stated identifiers, which rules may not recognise."""
        if not instance.identifiers:
            return False
        return self._redactor.redact_record([text], instance.identifiers)[0] != text


def count_in_fixed_text(instance: Instance, redactor: Redactor) -> Counter[str] | None:
    """Count by kind what redaction finds in the fixed text of a benchmark that is not shipped.

    Return None if the text cannot be searched. A policy that writes invented values instead of tags gives no kinds: its
    findings are counted together as "identifier".
    """
    text = find_unshipped_text(instance)
    redacted = redactor.redact(text)
    if WITHHELD_TAG in redacted:
        return None
    counts = Counter(tag["entity"] for tag in TAG.finditer(redacted))
    if not counts and redacted != text:
        counts["identifier"] += 1
    return counts


def keep_whole(instance: Instance) -> tuple[SplitMessage, ...]:
    """Return the messages, each as one text to clear."""
    split: list[SplitMessage] = []
    for message in instance.messages:
        split.append(SplitMessage(message.role, ("", ""), (CuedText(message.content),)))
    return tuple(split)


def split_messages(instance: Instance) -> tuple[SplitMessage, ...]:
    """Return the messages split at their cells. A cell whose whole text is shipped is part of the fixed text."""
    split: list[SplitMessage] = []
    for number, message in enumerate(instance.messages):
        content = message.content
        fixed: list[str] = []
        cells: list[CuedText] = []
        end = 0
        for cell in _list_cells(instance, number):
            text = content[cell.start : cell.end]
            if is_shipped(text):
                continue
            before = content[end : cell.start]
            fixed.append(before)
            cells.append(CuedText(text, _list_cues(cell.column, before)))
            end = cell.end
        fixed.append(content[end:])
        split.append(SplitMessage(message.role, tuple(fixed), tuple(cells)))
    return tuple(split)


def list_references(instance: Instance) -> list[CuedText]:
    """Return the texts of the references, those of answer options with the same cue as in the prompt."""
    cues = _OPTION_CUES if instance.multiple_choice else ()
    return [CuedText(reference.text, cues) for reference in instance.references]


def find_unshipped_text(instance: Instance) -> str:
    """Return the lines of the fixed text that no shipped benchmark has, with a mark for each cell."""
    lines: list[str] = []
    for number in range(len(instance.messages)):
        for pieces in list_fixed_lines(instance, number):
            if not all(map(_is_known_piece, pieces)):
                lines.append(_CELL_MARK.join(pieces))
    return "\n".join(lines)


def list_fixed_lines(instance: Instance, number: int) -> list[list[str]]:
    """Return the lines of a message's fixed text, each as the pieces around its cells."""
    content = instance.messages[number].content
    lines: list[list[str]] = [[]]
    end = 0
    for start, next_end in [
        *((cell.start, cell.end) for cell in _list_cells(instance, number)),
        (len(content), len(content)),
    ]:
        first, *others = content[end:start].split("\n")
        lines[-1].append(first)
        lines += [[line] for line in others]
        end = next_end
    return lines


def _list_cells(instance: Instance, number: int) -> list[PromptCell]:
    return [cell for cell in instance.cells or () if cell.message == number]


def _is_known_piece(piece: str) -> bool:
    piece = piece.strip()
    if not any(map(str.isalnum, piece)):
        return True
    return _OPTION_LETTER.fullmatch(piece) is not None or is_shipped(piece)


def _list_cues(column: str, before: str) -> tuple[str, ...]:
    """Return the cues of a cell: the words before it, and its column if that names a person's detail."""
    if column == _OPTIONS:
        return _OPTION_CUES
    words_before = _read_words_before(before)
    label = read_label(column)
    if not label or label in words_before.lower():
        return (words_before,)
    return (words_before, f"{label}: ")


def _read_words_before(before: str) -> str:
    """Return the text before a cell in its line or, if the cell begins the line, in the line before it."""
    line_start = before.rfind("\n", 0, len(before.rstrip("\n"))) + 1
    words = before[line_start:]
    return words if len(words) <= _MAX_CUE and _WORD.search(words) else ""


def _are_in_order(cells: Sequence[PromptCell], messages: Sequence[Message]) -> bool:
    """Return whether the cells lie within their messages, in order and without overlaps."""
    message = end = 0
    for cell in cells:
        if cell.message != message:
            end = 0
        if cell.message < message or cell.message >= len(messages):
            return False
        if not end <= cell.start <= cell.end <= len(messages[cell.message].content):
            return False
        message, end = cell.message, cell.end
    return True
