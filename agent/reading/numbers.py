"""Read the number, date or duration that an answer states.

Units and the words around a value are ignored. The rules are tried in the order of `RULES`. The first that applies
decides: if what it points at is not a single clear value, the answer is not read. So an explicit final answer comes
before everything else, the last statement of a result before earlier ones, and working may stand before the answer or
after it. A marked result ("Therefore the score is 4", or "Dose: 5.2 mg" as a paragraph) is not replaced by a plain
statement of another quantity after it, such as a volume or what a second score would be: the marked result is read, or
none where it is not clear which was asked for.

Within a statement, the value is the only one, or stands behind the last equals sign of a calculation, or behind the
verb ("With a weight of 80 kg, the clearance is 25 mL/min."), or is the sum of the others. What follows may explain or
interpret it: "5 (2 for age, 3 for stroke)", where the parts add up to the value, "106.2 (using a weight of 75 kg)",
"4, which is a risk of 4.8 %". In contrast, "5 (or 6)", "5 (6 with albumin)" and "20 (18-22)" contain several values.

Where the question is known, so is the quantity that it asks for, with its names and its type of value. If the text
states a value for that quantity, the value of another quantity is not read in its place: "Anion gap 28" is read
behind a calculation that ends with 95. `agent.reading.asked_value` says which statements count.

An answer is not read if it breaks off before its result, asks for what it lacks, states results that differ without a
word of correction ("The score is 1.5. Final answer: 3"), or ends with values side by side and no total ("Eye: 2,
verbal: 3"). A question that the model invents after its answer is passed over with what follows it.

A bound is not a value ("< 5", "at least 5", "5 or more", "before 09/03/2014"), nor is a denied value ("not 5").
"About 5", "~5" and "\u2248 5" give the value 5: the metric's limits decide whether that is close enough. A hyphen, dash
or minus sign directly before a digit is a minus; between two numbers it is a range, which contains two values.
"""

import datetime
from collections.abc import Callable

from agent.reading.conversions import blank_repetitions, convert
from agent.reading.mentions import Mentions, V, find_dates, find_durations, find_numbers
from agent.reading.plain_answer import simplify, simplify_with_positions
from agent.reading.quantity import find_quantity
from agent.reading.reading import Reading
from agent.reading.stated_value import (
    ASKED,
    BOXED,
    FINAL_ANSWER,
    FIRST_LINE,
    JSON_FIELD,
    LAST_STATEMENT,
    WHOLE_ANSWER,
    Choice,
    choose,
)

RULES: dict[str, tuple[str, str]] = {
    JSON_FIELD: (
        "The text ends with a JSON object; its field answer, or its only field that may be the answer, has the value.",
        '{"step_by_step_thinking": "80 / 1.6^2 = 31.25", "answer": "31.25"}',
    ),
    WHOLE_ANSWER: (
        "The answer is one sentence or line that states a single value.",
        "The estimated clearance is 25.2 mL/min.",
    ),
    BOXED: (
        "The last LaTeX box contains the value.",
        "The weight is 80 kg.\n\n$\\boxed{25.2}$",
    ),
    FINAL_ANSWER: (
        'The value follows the last "answer", "final score" or "result", in its line or the next.',
        "Weight = 80 kg.\n\n**Final answer:** 25.2 mL/min",
    ),
    LAST_STATEMENT: (
        "The last sentence that states a result contains the value; sentences that interpret it are passed over.",
        "BMI = 80 / 1.6^2 = 31.25. The patient's score is 7. This indicates a high risk.",
    ),
    FIRST_LINE: (
        "The first line is the value alone, and the explanation below it ends with no other result.",
        "25.2 mL/min\n\nThe patient weighs 80 kg.",
    ),
    ASKED: (
        "The quantity that the question asks for is named and has a value, where the rules above find none, or find the"
        " value of another quantity.",
        "For this woman I make the CHA2DS2-VASc score 3. Her HAS-BLED score is 2.",
    ),
}
"""Name of each rule -> what it does, and an answer that it reads. In the order in which the rules are tried."""


def find_number(answer: str, question: str = "") -> float | None:
    """Return the number that an answer states, or None."""
    return _find_value(answer, question, find_numbers)


def find_date(answer: str, question: str = "") -> datetime.date | None:
    """Return the date that an answer states, or None. 03/04/2020 is 4 March, the order that the question asks for."""
    return _find_value(answer, question, find_dates)


def find_days(answer: str, question: str = "") -> int | None:
    """Return the duration that an answer states in weeks and days ("14 weeks, 2 days", "14w2d", "14+2"), as days."""
    return _find_value(answer, question, find_durations)


def read_number(answer: str, question: str = "") -> Reading | None:
    """Return the number that an answer states, where it stands and the rule that read it, or None.

    Args:
        answer: the answer.
        question: the question, without the patient's note; "" if it is not known.
    """
    return _read_value(answer, question, find_numbers, _write_number)


def read_date(answer: str, question: str = "") -> Reading | None:
    """Return the date that an answer states as an ISO date, where it stands and the rule that read it, or None."""
    return _read_value(answer, question, find_dates, str)


def read_duration(answer: str, question: str = "") -> Reading | None:
    """Return the duration that an answer states as a number of days, where it stands and the rule, or None."""
    return _read_value(answer, question, find_durations, str)


def _write_number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _find_value(
    answer: str, question: str, find_mentions: Callable[[str], Mentions[V]]
) -> V | None:
    text = blank_repetitions(simplify(answer), question)
    choice: Choice[V] | None = choose(text, find_mentions, find_quantity(question))
    return _get_value(choice, text, question) if choice else None


def _get_value(choice: Choice[V], text: str, question: str) -> V | None:
    """Return the value of a choice, a number in the unit that the question asks for."""
    value = choice.mention.value
    if not isinstance(value, float):
        return value
    return type(value)(convert(value, text, choice.mention.end, question))


def _read_value(
    answer: str,
    question: str,
    find_mentions: Callable[[str], Mentions[V]],
    write: Callable[[V], str],
) -> Reading | None:
    text = blank_repetitions(simplify(answer), question)
    choice: Choice[V] | None = choose(text, find_mentions, find_quantity(question))
    stated = _get_value(choice, text, question) if choice else None
    if choice is None or stated is None:
        return None
    mention = choice.mention
    value = write(stated)
    plain, positions = simplify_with_positions(answer)
    if (
        blank_repetitions(plain, question) != text
    ):  # rare sequences of characters that normalise only together
        return Reading(value, 0, len(answer), choice.rule)
    return Reading(value, positions[mention.start], positions[mention.end - 1] + 1, choice.rule)
