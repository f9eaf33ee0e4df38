"""The rules behind the reference baselines: from a prompt to an answer, by form and word overlap alone. Pure.

A prompt is read as most benchmarks write it: instructions in the first line, material below, a cue in the last.
What it asks for is one of four tasks, told apart by form:

=========  ==============================================  =============================================
task       told by                                         an answer is
=========  ==============================================  =============================================
choice     lines "A. ...", "B. ..." in order               an option's letter
sentence   numbered lines, and the word "sentence"         a word the instructions offer in capitals, or
                                                           a line with its number
quantity   the last lines ask for a number or quantity     a number of the prompt
text       anything else                                   sentences of the material
=========  ==============================================  =============================================
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

_OPTION = re.compile(r"[ \t]*\(?([A-Z])[.):][ \t]+(\S.*)")
_NUMBERED = re.compile(r"[ \t]*(\d{1,3})[.):]?[ \t]+(\S.*)")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w])")
_QUANTITY = re.compile(r"\b(?:number|numeric|quantity|integer|calculated|how many|how much)\b", re.IGNORECASE)
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

Task = Literal["choice", "sentence", "quantity", "text"]


@dataclass(frozen=True, slots=True)
class PromptParts:
    """A prompt's parts as far as its form shows them.

    Attributes:
        task: what kind of answer it asks for.
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
    options = _run(lines, _OPTION, [chr(ord("A") + i) for i in range(26)])
    if len(options) >= 2:
        rest = [line for i, line in enumerate(lines) if i not in options]
        chosen = tuple(_match(_OPTION, lines[i])[1] for i in options)
        return PromptParts("choice", rest[0] if rest else "", "\n".join(rest[1:] or rest), chosen)
    lines = [_LABEL.sub("", line) or line for line in lines]
    numbered = _run(lines, _NUMBERED, [str(i) for i in range(1000)]) or _run(
        lines, _NUMBERED, [str(i) for i in range(1, 1000)]
    )
    if len(numbered) >= 2:
        rest = [line for i, line in enumerate(lines) if i not in numbered]
        if any("sentence" in line.lower() for line in rest):
            return PromptParts("sentence", "\n".join(rest), "", tuple(lines[i] for i in numbered))
    instructions = [*lines[:1], *(line for line in lines[1:][-2:] if line.endswith((":", "?")))]
    material = "\n".join(line for line in lines[1:] if line not in instructions) or text
    asks = "\n".join(lines[-2:])
    return PromptParts("quantity" if _QUANTITY.search(asks) else "text", "\n".join(instructions), material)


def _run(lines: Sequence[str], form: re.Pattern[str], labels: Sequence[str]) -> tuple[int, ...]:
    """Return the indices of the last run of lines that `form` numbers by `labels` from the first one on."""
    best: tuple[int, ...] = ()
    run: list[int] = []
    for i, line in enumerate(lines):
        found = form.fullmatch(line)
        if found is None:
            continue
        if found[1] == labels[0]:
            run = [i]
        elif run and len(run) < len(labels) and found[1] == labels[len(run)]:
            run.append(i)
        if len(run) >= 2:
            best = tuple(run)
    return best


def _match(form: re.Pattern[str], line: str) -> tuple[str, str]:
    found = form.fullmatch(line)
    return (found[1], found[2]) if found else ("", line)


def first_choice(prompt: PromptParts, rng: random.Random) -> str:  # noqa: ARG001 - every rule takes both
    """Take the first thing offered: option A, a word in capitals, the first number, the first sentence."""
    match prompt.task:
        case "choice":
            return "A"
        case "sentence":
            offered = _CAPITALS.search(prompt.instructions)
            return offered[0] if offered else prompt.options[0]
        case "quantity":
            return _numbers(prompt.material)[0]
        case "text":
            return _sentences(prompt.material)[0]


def retrieval(prompt: PromptParts, rng: random.Random) -> str:  # noqa: ARG001
    """Go by shared words.

    The option whose words occur most in the rest; the numbered sentence that shares least with the others; the
    number in the sentence closest to the question; the sentences closest to the instructions, in their order.
    """
    match prompt.task:
        case "choice":
            known = _words(prompt.material)
            shares = [_share(_words(option), known) for option in prompt.options]
            return chr(ord("A") + shares.index(max(shares)))
        case "sentence":
            bags = [_words(option) for option in prompt.options]
            shares = [_share(bag, set().union(*bags[:i], *bags[i + 1 :])) for i, bag in enumerate(bags)]
            return prompt.options[shares.index(min(shares))]
        case "quantity":
            question = _words(prompt.instructions)
            held = [one for one in _sentences(prompt.material) if _NUMBER.search(one)]
            best = max(held, key=lambda one: len(_words(one) & question), default=prompt.material)
            return _numbers(best)[0]
        case "text":
            question = _words(prompt.instructions)
            sentences = _sentences(prompt.material)
            ranked = sorted(range(len(sentences)), key=lambda i: (-len(_words(sentences[i]) & question), i))
            return _joined(sentences, ranked)


def lead(prompt: PromptParts, rng: random.Random) -> str:
    """Take what comes first in the material: the option named earliest, the first line, number or sentences."""
    match prompt.task:
        case "choice":
            order = {word: place for place, word in reversed(list(enumerate(_spoken(prompt.material))))}
            last = len(order) + 1_000_000
            places = [
                min((order.get(word, last) for word in _words(option)), default=last) for option in prompt.options
            ]
            return chr(ord("A") + places.index(min(places)))
        case "sentence":
            return prompt.options[0]
        case "quantity":
            return first_choice(prompt, rng)
        case "text":
            sentences = _sentences(prompt.material)
            return _joined(sentences, range(len(sentences)))


def at_random(prompt: PromptParts, rng: random.Random) -> str:
    """Draw one of the possible answers."""
    match prompt.task:
        case "choice":
            return chr(ord("A") + rng.randrange(len(prompt.options)))
        case "sentence":
            offered = _CAPITALS.search(prompt.instructions)
            return rng.choice([*([offered[0]] if offered else []), *prompt.options])
        case "quantity":
            return rng.choice(_numbers(prompt.material))
        case "text":
            sentences = _sentences(prompt.material)
            order = list(range(len(sentences)))
            rng.shuffle(order)
            return _joined(sentences, order)


RULES: Mapping[str, Callable[[PromptParts, random.Random], str]] = {
    "baseline/first-choice": first_choice,
    "baseline/retrieval": retrieval,
    "baseline/lead": lead,
    "baseline/random": at_random,
}


def answer(model: str, text: str, *, seed: int | None = None, index: int = 0) -> str:
    """Answer a prompt by the rule of that name.

    The draw of `baseline/random` hangs on the prompt, the seed and the index of the answer alone, so every run
    repeats it.
    """
    stamp = sha256(f"{seed}\0{index}\0{text}".encode("utf-8", "surrogatepass")).digest()
    return RULES[model](read_prompt(text), random.Random(stamp))  # noqa: S311 - a baseline, not a secret


def _spoken(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _words(text: str) -> set[str]:
    """Return the words that carry meaning; all of them where none does."""
    words = set(_spoken(text))
    return (words - _COMMON) or words


def _share(words: set[str], known: set[str]) -> tuple[float, int]:
    common = len(words & known)
    return (common / len(words) if words else 0.0, common)


def _sentences(text: str) -> list[str]:
    pieces = (piece.strip() for piece in _SENTENCE_END.split(text))
    return [piece for piece in pieces if piece and not piece.endswith(":")] or [text]


def _numbers(text: str) -> list[str]:
    return _NUMBER.findall(text) or ["0"]


def _joined(sentences: Sequence[str], order: Sequence[int]) -> str:
    """Join sentences in their own order: the first of `order`, until there are enough words."""
    taken: list[int] = []
    words = 0
    for i in order:
        taken.append(i)
        words += len(sentences[i].split())
        if words >= _TEXT_WORDS:
            break
    return " ".join(sentences[i] for i in sorted(taken))
