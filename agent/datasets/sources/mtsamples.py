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

from agent.datasets.readers.files import Files
from agent.datasets.readers.lines import LONGEST, LongLineError, whole
from agent.datasets.readers.table import Problems, Row, Table

COLUMNS = ("id", "note", "gold", "section")
_TELLING = 30  # characters: "None." may stand anywhere and tells nothing, and so may the name of a disease
_SECTIONS = ("PLAN", "SUMMARY", "FINDINGS")  # the first that a report has is its gold
# In capitals anywhere, with the words in capitals before it (GROSS OPERATIVE FINDINGS, ASSESSMENT/PLAN); otherwise only
# where a line or a sentence begins, for "the plan: ..." is no heading.
_BEFORE = r"(?:(?<![A-Za-z])(?:[A-Z][A-Z&'-]*(?: *[/,&] *| +)){1,5})?"
_HEADING = {name: re.compile(rf"{_BEFORE}{name}:|(?:^|(?<=[.;\n]))[ \t]*(?i:{name})[ \t]*:") for name in _SECTIONS}
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
    rf"(?<![A-Z])(?:[A-Z][A-Z/-]{{0,20}} ){{0,4}}({_PARTS})(?: [A-Z/-]{{1,20}}){{0,4}} ?:|^Keywords:", re.M
)


def load_mtsamples(files: Files) -> Iterator[tuple[Table, Problems]]:
    """Read reports. The option `hidden` says what the prompt lacks.

    "gold": everything from the gold's heading on. "all": everything from the first of the three headings on.
    """
    for name in files.names:
        problems = files.problems(name)
        with files.text(name) as file:
            try:
                text = whole(file)
            except LongLineError:
                raise problems.stop("the whole file", f"has more than {LONGEST} characters") from None
        yield Table(COLUMNS, list(_rows(name, text, files))), problems


def _rows(name: str, text: str, files: Files) -> Iterator[Row]:
    text = text.replace("\r\n", "\n").strip()
    found = {section: match for section in _SECTIONS if (match := _HEADING[section].search(text))}
    golds = {section: _gold(text, match, section, files) for section, match in found.items()}
    section = next((section for section, gold in golds.items() if gold), None)
    if section is None:
        return
    hidden = found.values() if files.options.get("hidden", "gold") == "all" else [found[section]]
    gold, note = golds[section], text[: min(match.start() for match in hidden)].strip()
    if len(gold) > _TELLING:
        note = note.replace(gold, "").strip()
    note = _DESCRIPTION.sub(lambda line: _without(gold, line[0]), note)
    yield Row("the report", {"id": _id(name), "note": note, "gold": gold, "section": section.lower()})


def _without(gold: str, description: str) -> str:
    """Leave out each sentence that has at least `_TELLING` characters of words in a row that the gold has too."""
    told = f" {_words(gold)} "
    kept = [sentence for sentence in _SENTENCE_ENDS.split(description) if not _repeats(_words(sentence), told)]
    return " ".join(kept)


def _repeats(words: str, told: str) -> bool:
    starts = [0, *(match.end() for match in re.finditer(" ", words))]
    ends = (words.find(" ", start + _TELLING) for start in starts if start + _TELLING <= len(words))
    return any(
        f" {words[start : end if end >= 0 else None]} " in told for start, end in zip(starts, ends, strict=False)
    )


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _gold(text: str, heading: re.Match[str], section: str, files: Files) -> str:
    rest = text[heading.end() :]
    if files.arguments.get("reference") == "first_line":
        return rest.split("\n", 1)[0].strip()
    ends = (part.start() for part in _PART.finditer(rest) if not (part[1] or "").startswith(section))
    return rest[: next(ends, len(rest))].strip()


def _id(name: str) -> str:
    return name.rpartition("/")[2].removesuffix(".txt")
