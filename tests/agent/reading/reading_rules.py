"""The tables of docs/scoring.md that say by which rules answers are read, and why an answer is not.

`python -m tests.agent.reading.reading_rules` writes the tables anew.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from agent.metrics import read_answer
from agent.metrics.billing import NAMED_CODES, NAMED_CODES_RULE
from agent.metrics.readers import WHOLE_TEXT, WHOLE_TEXT_RULE
from agent.reading import labels, note_verdicts, numbers, queries, unread
from agent.reading.choice import RULES as CHOICE_RULES
from agent.reading.choice import read_option
from agent.reading.reading import Reading
from agent.reading.stated_value import ASKED
from agent.scoring.readings import PARSER_RULES
from agent.vocabulary import Instance, Message, Reference

PAGE = Path(__file__).parents[3] / "docs/scoring.md"
BEGIN = "<!-- Written by `python -m tests.agent.reading.reading_rules` -->"
END = "<!-- End of the written tables -->"
OPTIONS = ("Aspirin", "Vitamin B12 injection", "Amoxicillin", "Vitamin K")
LABELS = (
    ("0", "true", "there is no (sign|evidence) of hallucination"),
    ("1", "hallucinated"),
)
NOTE = "\n".join(
    [*(f"{number} Sign {number} is normal." for number in range(10)), "10 The dose is 50 mg."]
)
_TEXT = Instance("1", "1", (Message("user", NOTE),), (Reference("I10", True),))


@dataclass(frozen=True)
class ShownRule:
    """A rule with an example, and the reader that reads it."""

    family: str
    name: str
    meaning: str
    example: str
    read: Callable[[str], Reading | None]


def list_rules() -> list[ShownRule]:
    """Return every rule of every reader, in the order of the page."""
    rules = [
        ShownRule("option", rule.name, rule.description, rule.example, _read_option)
        for rule in CHOICE_RULES
    ]
    rules += [
        ShownRule("label", rule.name, rule.description, rule.example, _read_label)
        for rule in labels.RULES
    ]
    rules += _list_pairs("number, date", numbers.RULES, _read_number)
    verdict = _make_reader("medec_error_flag_accuracy")
    rules += _list_pairs("MEDEC verdict", note_verdicts.RULES, verdict)
    rules += _list_pairs("query", queries.RULES, queries.read_query)
    for family, name, rule, metric in (
        ("codes", NAMED_CODES, NAMED_CODES_RULE, "mimiciv_billing_code_f1"),
        ("text", WHOLE_TEXT, WHOLE_TEXT_RULE, "rouge_l"),
    ):
        rules.append(ShownRule(family, name, *rule, read=_make_reader(metric)))
    return rules


def _list_pairs(
    family: str,
    rules: dict[str, tuple[str, str]],
    read: Callable[[str], Reading | None],
) -> list[ShownRule]:
    return [ShownRule(family, name, *rule, read=read) for name, rule in rules.items()]


def _read_option(answer: str) -> Reading | None:
    return read_option(answer, OPTIONS)


def _read_label(answer: str) -> Reading | None:
    return labels.read_label(answer, LABELS)


def _read_number(answer: str) -> Reading | None:
    # The example of one rule needs a question; the others are read without.
    is_asked = answer == numbers.RULES[ASKED][1]
    question = "What is the patient's CHA2DS2-VASc Score?" if is_asked else ""
    return numbers.read_number(answer, question)


def _make_reader(metric: str) -> Callable[[str], Reading | None]:
    def read(answer: str) -> Reading | None:
        reading = read_answer(metric, answer, _TEXT)
        return reading if isinstance(reading, Reading) else None

    return read


def render_tables() -> str:
    """Return the tables, between the lines that mark them."""
    return "\n".join([BEGIN, *_render_rules(), "", *_render_kinds(), END])


def _render_rules() -> Iterator[str]:
    yield "| value | rule | meaning | example | read as |"
    yield "|---|---|---|---|---|"
    for rule in list_rules():
        reading = rule.read(rule.example)
        value = reading.value if reading else ""
        read_as = "the same text" if rule.name == WHOLE_TEXT else _write(value or "null")
        yield f"| {rule.family} | {rule.name} | {rule.meaning} | {_write(rule.example)} | {read_as} |"
    for name, meaning in PARSER_RULES.values():
        yield f"| any | {name} | {meaning} The part is then read by the rules above. | | |"


def _render_kinds() -> Iterator[str]:
    shown: dict[str, str] = {"": ""}
    yield "| kind of unread answer | meaning | example | to try |"
    yield "|---|---|---|---|"
    for kind in unread.KINDS:
        example = kind.example[:60].rstrip() + (" ..." if len(kind.example) > 60 else "")
        advice = kind.advice.replace("|", "\\|")
        if advice in shown:
            advice = f"as for *{shown[advice]}*" if advice else ""
        shown.setdefault(advice, kind.name)
        yield f"| {kind.name} | {kind.description} | {_write(example) if example.strip() else ''} | {advice} |"


def _write(text: str) -> str:
    """Return a text as code in a cell; a line break is shown as ⏎."""
    cell = text.replace("\n", " ⏎ ").replace("|", "\\|")
    return f"`` {cell} ``" if "`" in cell else f"`{cell}`"


def update(page: str) -> str:
    """Return the page with its tables written anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + render_tables() + after


if __name__ == "__main__":
    PAGE.write_text(update(PAGE.read_text("utf-8")), "utf-8")
