"""MTSamples: transcribed reports, one per text file, of which a model must write the plan, summary or findings.

A report's gold is its plan, or else its summary, or else its findings. Reports without any of these are skipped. The
prompt contains nothing after the gold's heading. The source has lost most line breaks, so that headings are often in
the middle of a line. A section therefore ends at the next heading of another part of the report, not at the line end.

The one-line descriptions in the source repeat the gold completely or in part. Sentences of a description that share a
long run of words with the gold are removed.

MedHELM uses the rest of the heading's line (including other sections), leaves the gold in the prompt if it is a
summary or findings, and drops reports whose heading is not in capitals. `reference=first_line` reproduces its gold.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent.datasets.readers.files import Files
from agent.datasets.readers.lines import MAX_LENGTH, LongLineError, read_whole
from agent.datasets.readers.table import Problems, Row, Table

COLUMNS = ("id", "note", "gold", "section")
# Minimum characters shared with the gold to count as a copy: "None." or the name of a disease may occur anywhere.
_TELLING = 30
_SECTIONS = ("PLAN", "SUMMARY", "FINDINGS")  # the first one in a report is its gold
# A heading in capitals may be anywhere and includes preceding words in capitals (GROSS OPERATIVE FINDINGS,
# ASSESSMENT/PLAN). Other headings must begin a line or sentence, because "the plan: ..." is not a heading.
_BEFORE = r"(?:(?<![A-Za-z])(?:[A-Z][A-Z&'-]*(?: *[/,&] *| +)){1,5})?"
_HEADING = {
    name: re.compile(rf"{_BEFORE}{name}:|(?:^|(?<=[.;\n]))[ \t]*(?i:{name})[ \t]*:")
    for name in _SECTIONS
}
_DESCRIPTION = re.compile(r"(?<=^Description:).*", re.M)
_SENTENCE_ENDS = re.compile(r"(?<=[.;!?])\s+")
_WORD = re.compile(r"\w+")
# Headings of other parts. Medications, follow-up and similar headings are not included, since they belong to a plan.
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
    """A section that may be the gold: its name, the start of its heading, and the text after the heading."""

    name: str
    start: int
    text: str


def load_mtsamples(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read the reports. The option `hidden` determines where the prompt ends.

    With "gold", it ends before the gold's heading. With "all", it ends before the first of the three headings.
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
    """Split a report into note and gold; return None if it has none of the three sections."""
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
    """Return the report's sections that may be the gold, in order of preference."""
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
    """Return the start of the next heading of another part. A heading with the section's own name continues it."""
    for part in _PART.finditer(text):
        heading = part[1] or ""
        if not heading.startswith(name):
            return part.start()
    return len(text)


def _omit_repeating_sentences(description: str, gold: str) -> str:
    """Remove each sentence that shares a run of whole words, at least `_TELLING` characters long, with the gold."""
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
