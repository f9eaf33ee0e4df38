"""MTSamples: transcribed reports, one a text file; the plan (or summary, or findings) is what a model must write.

A report's gold is its plan, else its summary, else its findings; reports with none of them are left out. Nothing from
the gold's heading on is shown. The source lost most line ends, so that a heading often stands in mid-line: a section
ends at the next heading that begins another part of a report, not at the end of its line.

The source's one-line descriptions repeat golds, in whole or in part: a description's sentence that shares a long run of
words with the gold is left out.

Upstream takes the rest of the heading's line (other sections with it), leaves the gold in the prompt when it is a
summary or findings, and drops a report whose heading is not in capitals. `reference=first_line` gives its gold.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent.datasets.readers.files import Files
from agent.datasets.readers.lines import MAX_LENGTH, LongLineError, read_whole
from agent.datasets.readers.table import Problems, Row, Table

COLUMNS = ("id", "note", "gold", "section")
# Characters that a text must share with the gold to give it away: "None." or the name of a disease may stand anywhere.
_TELLING = 30
_SECTIONS = ("PLAN", "SUMMARY", "FINDINGS")  # the first that a report has is its gold
# In capitals anywhere, with the words in capitals before it (GROSS OPERATIVE FINDINGS, ASSESSMENT/PLAN); otherwise only
# where a line or a sentence begins, for "the plan: ..." is no heading.
_BEFORE = r"(?:(?<![A-Za-z])(?:[A-Z][A-Z&'-]*(?: *[/,&] *| +)){1,5})?"
_HEADING = {
    name: re.compile(rf"{_BEFORE}{name}:|(?:^|(?<=[.;\n]))[ \t]*(?i:{name})[ \t]*:")
    for name in _SECTIONS
}
_DESCRIPTION = re.compile(r"(?<=^Description:).*", re.M)
_SENTENCE_ENDS = re.compile(r"(?<=[.;!?])\s+")
_WORD = re.compile(r"\w+")
# What begins another part. Medications, follow-up and the like do not: they belong to a plan.
_PARTS = (
    "ANESTHESIA|ASSESSMENT|COMPLICATIONS?|CONCLUSIONS?|CONDITION|DESCRIPTION|DETAILS?|DRAINS?|ESTIMATED BLOOD LOSS|"
    "FINDINGS|FLUIDS|HISTORY|HOSPITAL COURSE|IMPLANTS?|IMPRESSIONS?|INDICATIONS?|LABORATORY|NOTE|OPERATION|PLANS?|"
    "PROCEDURES?|RECOMMENDATIONS?|SPECIMENS?|SUMMARY|SURGERY|TECHNIQUE"
)
_PART = re.compile(
    rf"(?<![A-Z])(?:[A-Z][A-Z/-]{{0,20}} ){{0,4}}({_PARTS})(?: [A-Z/-]{{1,20}}){{0,4}} ?:|^Keywords:",
    re.M,
)


@dataclass(frozen=True, slots=True)
class _Section:
    """A section that may be the gold: its name, where its heading begins, and the text after the heading."""

    name: str
    start: int
    text: str


def load_mtsamples(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read reports. The option `hidden` says what the prompt lacks.

    "gold": everything from the gold's heading on. "all": everything from the first of the three headings on.
    """
    for name in files.names:
        problems = files.problems(name)
        with files.open_text(name) as file:
            try:
                text = read_whole(file)
            except LongLineError:
                raise problems.stop(
                    "the whole file", f"has more than {MAX_LENGTH} characters"
                ) from None
        row = _read_report(name, text, files)
        rows = [] if row is None else [row]
        yield Table(COLUMNS, rows), problems


def _read_report(name: str, text: str, files: Files) -> Row | None:
    """Split a report into note and gold; None if it has none of the three sections."""
    text = text.replace("\r\n", "\n").strip()
    sections = _find_sections(
        text, first_line_only=files.arguments.get("reference") == "first_line"
    )
    gold = next((section for section in sections if section.text), None)
    if gold is None:
        return None
    hidden_from = gold.start
    if files.options.get("hidden", "gold") == "all":
        hidden_from = min(section.start for section in sections)
    note = text[:hidden_from].strip()
    if len(gold.text) > _TELLING:
        note = note.replace(gold.text, "").strip()
    note = _DESCRIPTION.sub(lambda line: _omit_repeating_sentences(line[0], gold.text), note)
    cells = {
        "id": name.rpartition("/")[2].removesuffix(".txt"),
        "note": note,
        "gold": gold.text,
        "section": gold.name.lower(),
    }
    return Row("the report", cells)


def _find_sections(text: str, *, first_line_only: bool) -> list[_Section]:
    """Return the sections that a report has, in the order in which they are taken as gold."""
    sections = []
    for name in _SECTIONS:
        heading = _HEADING[name].search(text)
        if heading is None:
            continue
        following = text[heading.end() :]
        if first_line_only:
            section_text = following.split("\n", 1)[0]
        else:
            section_text = following[: _find_section_end(following, name)]
        sections.append(_Section(name, heading.start(), section_text.strip()))
    return sections


def _find_section_end(text: str, name: str) -> int:
    """Return where the next heading begins another part; a heading of the section's own name continues it."""
    for part in _PART.finditer(text):
        heading = part[1] or ""
        if not heading.startswith(name):
            return part.start()
    return len(text)


def _omit_repeating_sentences(description: str, gold: str) -> str:
    """Leave out each sentence that has at least `_TELLING` characters of words in a row that the gold has too."""
    gold_words = f" {_join_words(gold)} "
    sentences = _SENTENCE_ENDS.split(description)
    return " ".join(
        sentence for sentence in sentences if not _repeats(_join_words(sentence), gold_words)
    )


def _repeats(words: str, gold_words: str) -> bool:
    starts = [0, *(space.end() for space in re.finditer(" ", words))]
    for start in starts:
        if start + _TELLING > len(words):
            return False
        end = words.find(" ", start + _TELLING)
        run = words[start:] if end < 0 else words[start:end]
        if f" {run} " in gold_words:
            return True
    return False


def _join_words(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))
