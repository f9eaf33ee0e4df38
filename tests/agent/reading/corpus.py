"""Measure reading on answers that people read: precision and recall by family and form, beside three public readers.

    python -m tests.agent.reading.corpus [--part unseen|development] [--show FAMILY]
    python -m tests.agent.reading.corpus --write

The second command writes the tables of docs/scoring.md anew.

Two people who knew neither the rules nor each other read every answer of `tests/data/answers`; where they disagree, the
gold is "-", as for answers about which a careful person would ask back. Precision: of the answers that the reader
reads, the share read as the gold. Recall: of the answers that people read, the share read as the gold.
"""

import argparse
import html
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.catalog.benchmark import load_benchmark
from agent.catalog.parser_choice import choose_parser
from agent.metrics import extract, read_answer
from agent.reading.thoughts import build_response
from agent.vocabulary import Instance, Message, Reference, Unscored
from protocol.figures import wilson

ROOT = Path(__file__).parents[3]
CORPUS = ROOT / "tests/data/answers"
PAGE = ROOT / "docs/scoring.md"
BEGIN = "<!-- Written by `python -m tests.agent.reading.corpus --write` -->"
END = "<!-- End of the written figures -->"
UNREAD = "-"
LETTERS = "ABCDEFGHIJ"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of the corpus.

    Attributes:
        family: "choice", "yesno", "digit", "numbers", "medec" or "sql".
        source: "written" by somebody who had not seen the rules, "typical" if in the mixture of real deployments, or
            "real": a model's whole output.
        part: "development" if the rules were improved on it, otherwise "unseen".
        gold: the value that two readers read; "-" if the answer states none or they disagree.
        options: the options of a choice.
        context: what else the reader is given: MedCalc's category, MEDEC's numbered sentences, or the beginning of the
            prompt.
        question: MedCalc's question, without the patient's note.
        number: the answer's number in the corpus.
        model: the small model that gave the answer; "" for all others.
        benchmark: the benchmark of the question.
    """

    family: str
    source: str
    part: str
    answer: str
    gold: str
    options: tuple[str, ...] = ()
    context: str = ""
    question: str = ""
    number: int = 0
    model: str = ""
    benchmark: str = ""

    @property
    def form(self) -> str:
        """The form of the answer, by its length and its syntax."""
        words = len(self.answer.split())
        if re.search(r"\{\s*[\"']", self.answer):
            return "JSON"
        if words <= 8:
            return "a few words"
        return "one to three sentences" if words <= 60 else "longer"


@dataclass
class Tally:
    """Counts of answers: `read` by the reader, read `right`, `clear` to people, and all."""

    read: int = 0
    right: int = 0
    clear: int = 0
    answers: int = 0
    misread: list[tuple[Answer, str]] = field(default_factory=list)

    def add(self, answer: Answer, value: str) -> None:
        """Count an answer and the value that the reader gives it."""
        is_right = value != UNREAD and value == answer.gold
        self.answers += 1
        self.clear += answer.gold != UNREAD
        self.read += value != UNREAD
        self.right += is_right
        if value != answer.gold:
            self.misread.append((answer, value))

    @property
    def precision(self) -> float:
        """The share of the answers read that are read as the gold."""
        return self.right / self.read if self.read else 1.0

    @property
    def recall(self) -> float:
        """The share of the answers clear to people that are read as the gold."""
        return self.right / self.clear if self.clear else 1.0


def load_corpus() -> list[Answer]:
    """Return all answers of the corpus."""
    answers: list[Answer] = []
    for path in sorted(CORPUS.glob("*.jsonl")):
        answers += read_file(path, path.stem)
    return answers


def read_file(path: Path, family: str) -> list[Answer]:
    """Return the answers of a file, all of one family."""
    answers: list[Answer] = []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        answers.append(
            Answer(
                family=family,
                source=row["source"],
                part=row["part"],
                answer=row["answer"],
                gold=_find_gold(family, row),
                options=tuple(row.get("options", ())),
                context=row.get("category") or row.get("sentences") or row.get("prompt") or "",
                question=row.get("question", ""),
                number=row["id"],
                model=row.get("model", ""),
                benchmark=row.get("question_id", "").partition(":")[0],
            )
        )
    return answers


def _find_gold(family: str, row: Mapping[str, Any]) -> str:
    """Return the gold of a row; two readers whose queries differ in a comment or parentheses agree."""
    if family == "sql" and row["gold"] == UNREAD:
        readings = {write_gold(family, reading) for reading in row["readers"]}
        return readings.pop() if len(readings) == 1 else UNREAD
    return write_gold(family, row["gold"])


def write_gold(family: str, gold: str) -> str:
    """Return a gold in the form in which `read` writes values."""
    if gold == UNREAD:
        return gold
    if family == "sql":
        return _plain_query(gold)
    if family == "numbers" and re.fullmatch(r"[-+]?[\d.,]+", gold):
        return repr(float(gold.replace(",", "")))
    duration = re.fullmatch(r"\((\d+) weeks?, (\d+) days?\)", gold) if family == "numbers" else None
    if duration:
        return f"{duration[1]}w{duration[2]}d"
    return gold


def read(answer: Answer) -> str:
    """Return the value that the agent reads from an answer, in the notation of the golds."""
    text = build_response(answer.answer).text
    if not text.strip():
        return UNREAD
    return READERS[answer.family](answer, text)


def _read_option(answer: Answer, text: str) -> str:
    reading = read_answer("exact_match", text, _make_instance(answer))
    return UNREAD if isinstance(reading, Unscored) else reading.value


def _read_digit(answer: Answer, text: str) -> str:
    value = extract(_MEDHALLU, text)
    return UNREAD if isinstance(value, Unscored) else value


def _read_number(answer: Answer, text: str) -> str:
    gold = _GOLDS.get(answer.context, "1")
    reading = read_answer("medcalc_bench_accuracy", text, _make_instance(answer, gold))
    if isinstance(reading, Unscored):
        return UNREAD
    if answer.context == "duration":
        weeks, days = re.findall(r"\d+", reading.value)
        return f"{weeks}w{days}d"
    if answer.context == "date":
        year, month, day = reading.value.split("-")
        return f"{month}/{day}/{year}"
    return repr(float(reading.value))


# MedCalc's golds show whether a row asks for a date or for weeks and days.
_GOLDS = {"date": "01/02/2020", "duration": "('1 weeks', '2 days')"}


def _read_verdict(answer: Answer, text: str) -> str:
    reading = read_answer("medec_error_flag_accuracy", text, _make_instance(answer))
    if isinstance(reading, Unscored):
        return UNREAD
    if reading.value == "INCORRECT":
        return "error ?"
    return reading.value.lower().replace("sentence", "error")


def _read_query(answer: Answer, text: str) -> str:
    reading = read_answer("ehr_sql_execution_accuracy", text, _make_instance(answer))
    if isinstance(reading, Unscored):
        return UNREAD
    return _plain_query(reading.value) or "null"


# A text in quotation marks, which is kept, or a comment.
_TEXT_OR_COMMENT = re.compile(r"('(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`)|--[^\n]*|/\*.*?\*/", re.DOTALL)


def _plain_query(query: str) -> str:
    """Return a query without what a database ignores or refuses around it, so that equal queries are equal texts.

    These are comments, white space, semicolons at the end, parentheses around the whole query (SQLite refuses them) and
    the entities of a web page.
    """
    text = _TEXT_OR_COMMENT.sub(lambda match: match[1] or " ", html.unescape(query))
    plain = " ".join(text.split()).rstrip("; ")
    if plain.lower() == "select null":
        return "null"  # it asks the tables for nothing
    while _is_enclosed(plain):
        plain = plain[1:-1].strip("; ")
    return plain


def _is_enclosed(query: str) -> bool:
    """Return whether the first parenthesis of a query closes at its end."""
    if not (query.startswith("(") and query.endswith(")")):
        return False
    depth = 0
    for position, mark in enumerate(_TEXT_OR_COMMENT.sub(lambda match: "x" * len(match[0]), query)):
        depth += (mark == "(") - (mark == ")")
        if depth == 0:
            return position == len(query) - 1
    return False


def _make_instance(answer: Answer, gold: str = "") -> Instance:
    if answer.options:
        references = tuple(Reference(option, correct=False) for option in answer.options)
    else:
        references = (Reference(gold, correct=True),)
    category = "date" if answer.context == "duration" else answer.context
    return Instance(
        id="1",
        unit="1",
        messages=(Message("user", answer.context),),
        references=references,
        multiple_choice=bool(answer.options),
        extra={
            "category": category,
            "lower_limit": "0",
            "upper_limit": "0",
            "question": answer.question,
        },
    )


_MEDHALLU = choose_parser(load_benchmark(ROOT / "benchmarks/medhallu/benchmark.yaml"))
READERS: Mapping[str, Callable[[Answer, str], str]] = {
    "choice": _read_option,
    "yesno": _read_option,
    "digit": _read_digit,
    "numbers": _read_number,
    "medec": _read_verdict,
    "sql": _read_query,
}


def read_like_inspect(answer: Answer) -> str:
    """Read "ANSWER: C", the line that Inspect's `multiple_choice` asks for."""
    found = re.findall(r"(?im)^\s*ANSWER\s*:\s*([A-Z])\s*[.]?\s*$", answer.answer)
    return found[-1].upper() if found else UNREAD


def read_like_simple_evals(answer: Answer) -> str:
    """Read "Answer: C" anywhere, as simple-evals does for its multiple-choice evaluations."""
    found = re.search(r"(?i)Answer[ \t]*:[ \t]*\$?([A-D])\$?", answer.answer)
    return found[1].upper() if found else UNREAD


def read_like_mmlu_pro(answer: Answer) -> str:
    """Read in MMLU-Pro's three steps: "answer is (C)", then "Answer: C", then the last letter that stands alone."""
    steps = (r"answer is \(?([A-J])\)?", r"[aA]nswer:\s*([A-J])", r"\b([A-J])\b(?!.*\b[A-J]\b)")
    for step in steps:
        found = re.search(step, answer.answer, re.DOTALL)
        if found:
            return found[1]
    return UNREAD


PUBLIC_READERS: Mapping[str, Callable[[Answer], str]] = {
    "Inspect, multiple_choice": read_like_inspect,
    "simple-evals": read_like_simple_evals,
    "MMLU-Pro, three steps": read_like_mmlu_pro,
}


def measure(
    answers: Iterable[Answer],
    group: Callable[[Answer], str] = lambda answer: answer.family,
    reader: Callable[[Answer], str] = read,
) -> dict[str, Tally]:
    """Return the counts of each group of answers."""
    tallies: dict[str, Tally] = {}
    for answer in answers:
        tallies.setdefault(group(answer), Tally()).add(answer, reader(answer))
    return dict(sorted(tallies.items()))


def write_table(tallies: Mapping[str, Tally], heading: str) -> str:
    """Return the counts as a Markdown table, with Wilson's 95 % intervals."""
    lines = [
        f"| {heading} | answers | precision | recall |",
        "| --- | --- | --- | --- |",
    ]
    for name, tally in tallies.items():
        precision = _write_share(tally.right, tally.read)
        recall = _write_share(tally.right, tally.clear)
        lines.append(f"| {name} | {tally.answers} | {precision} | {recall} |")
    return "\n".join(lines)


def _write_share(count: int, total: int) -> str:
    if not total:
        return "none"
    low, high = wilson(count, total)
    return f"{count / total:.3f} ({low:.3f} to {high:.3f}; {count} of {total})"


def write_tables(answers: Sequence[Answer]) -> str:
    """Return the tables by family, by family and form, and of the readers of choices."""
    by_family = measure(answers)
    by_form = measure(answers, lambda answer: f"{answer.family}, {answer.source}: {answer.form}")
    lettered = [answer for answer in answers if answer.family == "choice"]
    by_reader = measure(lettered, lambda _: "Intramural")
    for name, reader in PUBLIC_READERS.items():
        by_reader[name] = measure(lettered, reader=reader)["choice"]
    tables = (
        write_table(by_family, "family"),
        write_table(by_form, "family and form"),
        write_table(by_reader, "reader of choices"),
    )
    return "\n\n".join(tables)


def write_page(page: str) -> str:
    """Return the page with the figures of the last answers and those of all answers.

    Once the answers have been opened, and until others take their place, the page keeps the figures that were measured
    before.
    """
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    answers = load_corpus()
    unseen = [answer for answer in answers if answer.part == "unseen"]
    if not unseen:
        return page
    whole = write_table(measure(answers), "family, all answers")
    return f"{before}{BEGIN}\n\n{write_tables(unseen)}\n\n{whole}\n\n{END}{after}"


def main() -> None:
    """Print the tables, or write them to the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=["unseen", "development"], default="unseen")
    parser.add_argument("--show", metavar="FAMILY", help="print what is not read as people do")
    parser.add_argument("--write", action="store_true", help="write the tables to the page")
    arguments = parser.parse_args()
    if arguments.write:
        PAGE.write_text(write_page(PAGE.read_text("utf-8")), "utf-8")
        return
    answers = [answer for answer in load_corpus() if answer.part == arguments.part]
    print(write_tables(answers))
    shown = [answer for answer in answers if answer.family == arguments.show]
    for tally in measure(shown).values():
        for answer, value in tally.misread:
            print(json.dumps({"gold": answer.gold, "read": value, "answer": answer.answer}))


if __name__ == "__main__":
    main()
