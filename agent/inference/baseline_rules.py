"""The rules of the reference baselines, which answer a prompt from its form and word overlap only. Pure.

Prompts are assumed to have the usual form: instructions in the first line, then the material, and a cue in the last
line. The form shows which of four tasks a prompt sets:

=========  ==============================================  =============================================
task       form                                            possible answers
=========  ==============================================  =============================================
choice     lines "A. ...", "B. ..." in order               the letter of an option
sentence   numbered lines and the word "sentence"          a word in capitals from the instructions, or
                                                           a line with its number
quantity   the last lines ask for a number or quantity     a number in the prompt
text       any other                                       sentences of the material
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
_TEXT_WORDS = 150  # approximate length of a free-text answer
_FROM_ZERO = [str(number) for number in range(1000)]
_FROM_ONE = _FROM_ZERO[1:]

Task = Literal["choice", "sentence", "quantity", "text"]


@dataclass(frozen=True, slots=True)
class PromptParts:
    """The parts of a prompt that can be recognised by form.

    Attributes:
        task: the kind of answer that the prompt asks for.
        instructions: the first line, and the last lines if they ask for something.
        material: the other lines, without options.
        options: the options of a choice, or the numbered lines of a sentence task.
    """

    task: Task
    instructions: str
    material: str
    options: tuple[str, ...] = ()


def read_prompt(text: str) -> PromptParts:
    """Split a prompt into its parts."""
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
    # If the prompt has only one line besides the options, that line is also the material.
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
    """Return the indices of the last series of two or more lines that have the first labels of `labels`, in order.

    `form` matches a labelled line, with the label as its first group.
    """
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
    """Return the first possible answer: option A, a word in capitals, the first number or the first sentence."""
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
    """Return an answer based on shared words.

    This is the option that shares the most words with the material, the numbered sentence that shares the fewest words
    with the others, the number in the sentence closest to the question, or the sentences closest to the instructions.
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
    """Return the sentence with the smallest share of words that occur in the other sentences."""
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
    # The sort is stable, so sentences with the same number of shared words stay in order.
    closest_first = sorted(range(len(sentences)), key=lambda index: -shared[index])
    return _join_sentences(sentences, closest_first)


def take_lead(prompt: PromptParts, rng: random.Random) -> str:
    """Return an answer from the beginning of the material: the earliest option, first line, number or sentences."""
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
    """Return the letter of the option with the earliest word in the material, or A if no word occurs there."""
    positions: dict[str, int] = {}
    for position, word in enumerate(_list_words(prompt.material)):
        positions.setdefault(word, position)
    earliest = []
    for option in prompt.options:
        named_at = [positions[word] for word in _collect_words(option) if word in positions]
        earliest.append(min(named_at, default=math.inf))
    return ascii_uppercase[earliest.index(min(earliest))]


def draw(prompt: PromptParts, rng: random.Random) -> str:
    """Return one of the possible answers at random."""
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
    """Answer a prompt by the rule named `model`.

    `baseline/random` depends only on the prompt, the seed and the index of the answer, so every run gives the same
    answers.
    """
    stamp = sha256(f"{seed}\0{index}\0{text}".encode("utf-8", "surrogatepass")).digest()
    return RULES[model](read_prompt(text), random.Random(stamp))  # noqa: S311 - a baseline, not a secret


def _list_words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _collect_words(text: str) -> set[str]:
    """Return the words of a text except common words, or all words if there are no others."""
    words = set(_list_words(text))
    return (words - _COMMON) or words


def _measure_share(words: set[str], text: set[str]) -> tuple[float, int]:
    """Return the share of `words` that are in a text, and their number, which breaks ties."""
    common = len(words & text)
    share = common / len(words) if words else 0.0
    return share, common


def _split_sentences(text: str) -> list[str]:
    sentences = []
    for piece in _SENTENCE_END.split(text):
        sentence = piece.strip()
        # A line that ends with a colon is taken for the heading of a section.
        if sentence and not sentence.endswith(":"):
            sentences.append(sentence)
    return sentences or [text]


def _find_numbers(text: str) -> list[str]:
    return _NUMBER.findall(text) or ["0"]


def _join_sentences(sentences: Sequence[str], order: Sequence[int]) -> str:
    """Select sentences in the given order until there are enough words, and join them in their original order."""
    chosen: list[int] = []
    words = 0
    for index in order:
        chosen.append(index)
        words += len(sentences[index].split())
        if words >= _TEXT_WORDS:
            break
    return " ".join(sentences[index] for index in sorted(chosen))
