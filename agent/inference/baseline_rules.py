"""The rules behind the reference baselines: from a prompt to an answer, by form and word overlap alone. Pure.

A prompt is read as most benchmarks write it: instructions in the first line, material below, a cue in the last.
It asks for one of four tasks, which differ in form:

=========  ==============================================  =============================================
task       form                                            an answer is
=========  ==============================================  =============================================
choice     lines "A. ...", "B. ..." in order               an option's letter
sentence   numbered lines, and the word "sentence"         a word the instructions offer in capitals, or
                                                           a line with its number
quantity   the last lines ask for a number or quantity     a number of the prompt
text       anything else                                   sentences of the material
=========  ==============================================  =============================================
"""

import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from string import ascii_uppercase
from typing import Literal

_OPTION = re.compile(r"[ \t]*\(?([A-Z])[.):][ \t]+(\S.*)")
_NUMBERED = re.compile(r"[ \t]*(\d{1,3})[.):]?[ \t]+(\S.*)")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w])")
_QUANTITY = re.compile(
    r"\b(?:number|numeric|quantity|integer|calculated|how many|how much)\b", re.IGNORECASE
)
_CAPITALS = re.compile(r"\b[A-Z]{5,}\b(?!:)")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_LABEL = re.compile(r"^[A-Z][\w /-]{0,40}:\s*")
_COMMON_WORDS = """
a an and are as at be been but by can did do does for from had has have he her his how i if in into is it its may more
most must of on one only or other our out she should so some such than that the their them then there these they this
to up was we were what when which who why will with would you your
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_TEXT_WORDS = 150  # words of an answer in free text
_FROM_ZERO = [str(number) for number in range(1000)]
_FROM_ONE = _FROM_ZERO[1:]

Task = Literal["choice", "sentence", "quantity", "text"]


@dataclass(frozen=True, slots=True)
class PromptParts:
    """A prompt's parts as far as its form shows them.

    Attributes:
        task: the kind of answer it asks for.
        instructions: its first line, and its last ones where they ask for something.
        material: the lines between, without options.
        options: of a choice, in order; of a sentence task, the numbered lines as written.
    """

    task: Task
    instructions: str
    material: str
    options: tuple[str, ...] = ()


def read_prompt(text: str) -> PromptParts:
    """Take a prompt apart."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    choice = _read_choice(lines)
    if choice is not None:
        return choice
    lines = [_LABEL.sub("", line) or line for line in lines]
    sentence_task = _read_sentence_task(lines)
    if sentence_task is not None:
        return sentence_task
    return _read_question(lines, text)


def _read_choice(lines: Sequence[str]) -> PromptParts | None:
    """Read a prompt with lettered options, or return None."""
    indices = _find_last_series(lines, _OPTION, ascii_uppercase)
    if not indices:
        return None
    options = [_OPTION.sub(r"\2", lines[index]) for index in indices]
    lines_around = _drop(lines, indices)
    instructions = lines_around[0] if lines_around else ""
    # A prompt of a single line and options has no other material than that line.
    material = lines_around[1:] or lines_around
    return PromptParts("choice", instructions, "\n".join(material), tuple(options))


def _read_sentence_task(lines: Sequence[str]) -> PromptParts | None:
    """Read a prompt that asks for one of its numbered sentences, or return None."""
    indices = _find_last_series(lines, _NUMBERED, _FROM_ZERO) or _find_last_series(
        lines, _NUMBERED, _FROM_ONE
    )
    instructions = "\n".join(_drop(lines, indices))
    if not indices or "sentence" not in instructions.lower():
        return None
    sentences = tuple(lines[index] for index in indices)
    return PromptParts("sentence", instructions, material="", options=sentences)


def _read_question(lines: Sequence[str], text: str) -> PromptParts:
    """Read a prompt that asks for a quantity or for free text."""
    instructions = list(lines[:1])
    for line in lines[1:][-2:]:
        if line.endswith((":", "?")):
            instructions.append(line)
    material = [line for line in lines[1:] if line not in instructions]
    task: Task = "quantity" if _QUANTITY.search("\n".join(lines[-2:])) else "text"
    return PromptParts(task, "\n".join(instructions), "\n".join(material) or text)


def _find_last_series(
    lines: Sequence[str], form: re.Pattern[str], labels: Sequence[str]
) -> tuple[int, ...]:
    """Return the indices of the last lines, two at least, that `form` labels with `labels` from the first one on."""
    last_series: tuple[int, ...] = ()
    series: list[int] = []
    for index, line in enumerate(lines):
        labelled = form.fullmatch(line)
        if labelled is None:
            continue
        label = labelled[1]
        if label == labels[0]:
            series = [index]
        elif series and len(series) < len(labels) and label == labels[len(series)]:
            series.append(index)
        if len(series) >= 2:
            last_series = tuple(series)
    return last_series


def _drop(lines: Sequence[str], indices: Sequence[int]) -> list[str]:
    dropped = frozenset(indices)
    return [line for index, line in enumerate(lines) if index not in dropped]


def choose_first(prompt: PromptParts, rng: random.Random) -> str:  # noqa: ARG001 - every rule takes both
    """Take the first possible answer: option A, a word in capitals, the first number, the first sentence."""
    match prompt.task:
        case "choice":
            return "A"
        case "sentence":
            offered = _CAPITALS.search(prompt.instructions)
            return offered[0] if offered else prompt.options[0]
        case "quantity":
            return _find_numbers(prompt.material)[0]
        case "text":
            return _split_sentences(prompt.material)[0]


def retrieve(prompt: PromptParts, rng: random.Random) -> str:  # noqa: ARG001
    """Go by shared words.

    The option whose words occur most in the rest; the numbered sentence that shares least with the others; the
    number in the sentence closest to the question; the sentences closest to the instructions, in their order.
    """
    match prompt.task:
        case "choice":
            return _retrieve_option(prompt)
        case "sentence":
            return _find_odd_sentence(prompt.options)
        case "quantity":
            return _retrieve_number(prompt)
        case "text":
            return _retrieve_sentences(prompt)


def _retrieve_option(prompt: PromptParts) -> str:
    material = _collect_words(prompt.material)
    shares = [_measure_share(_collect_words(option), material) for option in prompt.options]
    return ascii_uppercase[shares.index(max(shares))]


def _find_odd_sentence(sentences: Sequence[str]) -> str:
    """Return the sentence that shares fewest of its words with all the others."""
    words = [_collect_words(sentence) for sentence in sentences]
    shares = []
    for index in range(len(words)):
        words_of_others = set().union(*words[:index], *words[index + 1 :])
        shares.append(_measure_share(words[index], words_of_others))
    return sentences[shares.index(min(shares))]


def _retrieve_number(prompt: PromptParts) -> str:
    question = _collect_words(prompt.instructions)
    closest, most_shared = prompt.material, -1
    for sentence in _split_sentences(prompt.material):
        shared = len(_collect_words(sentence) & question)
        if _NUMBER.search(sentence) and shared > most_shared:
            closest, most_shared = sentence, shared
    return _find_numbers(closest)[0]


def _retrieve_sentences(prompt: PromptParts) -> str:
    question = _collect_words(prompt.instructions)
    sentences = _split_sentences(prompt.material)
    shared = [len(_collect_words(sentence) & question) for sentence in sentences]
    # The sort keeps the order of sentences that share as many words.
    closest_first = sorted(range(len(sentences)), key=lambda index: -shared[index])
    return _join_sentences(sentences, closest_first)


def take_lead(prompt: PromptParts, rng: random.Random) -> str:
    """Take the beginning of the material: the option named earliest, the first line, number or sentences."""
    match prompt.task:
        case "choice":
            return _find_earliest_option(prompt)
        case "sentence":
            return prompt.options[0]
        case "quantity":
            return choose_first(prompt, rng)
        case "text":
            sentences = _split_sentences(prompt.material)
            return _join_sentences(sentences, range(len(sentences)))


def _find_earliest_option(prompt: PromptParts) -> str:
    """Return the letter of the option of which a word comes first in the material; A if none has one there."""
    positions: dict[str, int] = {}
    for position, word in enumerate(_list_words(prompt.material)):
        positions.setdefault(word, position)
    earliest = []
    for option in prompt.options:
        named_at = [positions[word] for word in _collect_words(option) if word in positions]
        earliest.append(min(named_at, default=math.inf))
    return ascii_uppercase[earliest.index(min(earliest))]


def draw(prompt: PromptParts, rng: random.Random) -> str:
    """Draw one of the possible answers."""
    match prompt.task:
        case "choice":
            return ascii_uppercase[rng.randrange(len(prompt.options))]
        case "sentence":
            answers = list(prompt.options)
            offered = _CAPITALS.search(prompt.instructions)
            if offered is not None:
                answers.insert(0, offered[0])
            return rng.choice(answers)
        case "quantity":
            return rng.choice(_find_numbers(prompt.material))
        case "text":
            sentences = _split_sentences(prompt.material)
            order = list(range(len(sentences)))
            rng.shuffle(order)
            return _join_sentences(sentences, order)


RULES: Mapping[str, Callable[[PromptParts, random.Random], str]] = {
    "baseline/first-choice": choose_first,
    "baseline/retrieval": retrieve,
    "baseline/lead": take_lead,
    "baseline/random": draw,
}


def answer(model: str, text: str, *, seed: int | None = None, index: int = 0) -> str:
    """Answer a prompt by the rule of that name.

    The draw of `baseline/random` depends on the prompt, the seed and the index of the answer alone, so every run
    repeats it.
    """
    stamp = sha256(f"{seed}\0{index}\0{text}".encode("utf-8", "surrogatepass")).digest()
    return RULES[model](read_prompt(text), random.Random(stamp))  # noqa: S311 - a baseline, not a secret


def _list_words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _collect_words(text: str) -> set[str]:
    """Return the words that carry meaning, or all words where none does."""
    words = set(_list_words(text))
    return (words - _COMMON) or words


def _measure_share(words: set[str], text: set[str]) -> tuple[float, int]:
    """Return the share of `words` that are in a text, and their number, which decides between equal shares."""
    common = len(words & text)
    share = common / len(words) if words else 0.0
    return share, common


def _split_sentences(text: str) -> list[str]:
    sentences = []
    for piece in _SENTENCE_END.split(text):
        sentence = piece.strip()
        # A line that ends with a colon is the heading of a section.
        if sentence and not sentence.endswith(":"):
            sentences.append(sentence)
    return sentences or [text]


def _find_numbers(text: str) -> list[str]:
    return _NUMBER.findall(text) or ["0"]


def _join_sentences(sentences: Sequence[str], order: Sequence[int]) -> str:
    """Join sentences in their own order: the first of `order`, until there are enough words."""
    chosen: list[int] = []
    words = 0
    for index in order:
        chosen.append(index)
        words += len(sentences[index].split())
        if words >= _TEXT_WORDS:
            break
    return " ".join(sentences[index] for index in sorted(chosen))
