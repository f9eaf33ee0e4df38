"""Separate a model's reasoning from its answer, and remove the marks of its chat format. Pure.

Models mark their reasoning differently: the tables below list the marks, with the models that write them. An answer
passes through here once, where it enters: from a server, a file of answers or judgements, or an imported run. Both
Intramural's and HELM's rules then score the answer without its reasoning, as HELM's clients for reasoning models do.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from agent.reading.json_decoding import DecodedObject, EndlessTextError, decode_objects
from agent.vocabulary import Response


@dataclass(frozen=True, slots=True)
class Marks:
    """A pair of marks around a text.

    Attributes:
        begin: the mark before the text.
        end: the mark after it.
        used_by: models and programs that write these marks.
    """

    begin: str
    end: str
    used_by: str


THOUGHT_MARKS = (
    Marks(
        "<think>",
        "</think>",
        "DeepSeek-R1, Qwen3, QwQ, GLM-4.5, MiniMax-M2, Nemotron, OLMo 3, Phi-4-reasoning, Hunyuan, Granite 3.3",
    ),
    Marks("<thinking>", "</thinking>", "Reflection-Llama, and prompts written for Claude"),
    Marks(
        "<thought>", "</thought>", "Open WebUI's list of marks, and Gemini's summaries of thoughts"
    ),
    Marks("<reasoning>", "</reasoning>", "prompts that ask for reasoning and answer in elements"),
    Marks("<reason>", "</reason>", "Open WebUI's list of marks"),
    Marks("<reflection>", "</reflection>", "Reflection-Llama"),
    Marks("<scratchpad>", "</scratchpad>", "prompts written for Claude"),
    Marks("<scratch_pad>", "</scratch_pad>", "Hermes 3"),
    Marks("<seed:think>", "</seed:think>", "Seed-OSS"),
    Marks("<mm:think>", "</mm:think>", "MiniMax-M3"),
    Marks("<longcat_think>", "</longcat_think>", "LongCat-Flash-Thinking"),
    Marks("◁think▷", "◁/think▷", "Kimi-VL, Kimi K2 Thinking"),
    Marks("<|open|>think<|sep|>", "<|close|>think<|sep|>", "Kimi K3"),
    Marks("[THINK]", "[/THINK]", "Magistral, Ministral 3"),
    Marks("<|begin_of_thought|>", "<|end_of_thought|>", "Sky-T1, OpenThinker"),
    Marks("<|START_THINKING|>", "<|END_THINKING|>", "Command A Reasoning, Command R7B"),
    Marks("<unused94>", "<unused95>", "MedGemma"),
    Marks("<|channel>thought", "<channel|>", "Gemma 4"),
    Marks('<details type="reasoning"', "</details>", "chats exported from Open WebUI"),
)
"""Marks around reasoning. An end without a begin ends reasoning that the chat template began."""

PHRASES_OF_THOUGHT = (
    Marks("## Thinking", "## Final Response", "HuatuoGPT-o1"),
    Marks("Here is my thought process:", "Here is my response:", "Granite 3.2"),
    Marks(
        "analysis", "assistantfinal", "gpt-oss, if the special tokens were removed from its text"
    ),
)
"""Words around reasoning. They are marks only if the text starts with the first and contains the second."""

ANSWER_MARKS = (
    Marks("<|begin_of_solution|>", "<|end_of_solution|>", "Sky-T1, OpenThinker"),
    Marks("<|START_RESPONSE|>", "<|END_RESPONSE|>", "Command A Reasoning, Command R7B"),
    Marks("<|START_TEXT|>", "<|END_TEXT|>", "Command A"),
    Marks("<|open|>response<|sep|>", "<|close|>response<|sep|>", "Kimi K3"),
)
"""Special tokens around the answer itself. The first also ends reasoning that has no end of its own."""

ANSWER_ELEMENTS = (
    Marks("<answer>", "</answer>", "DeepSeek-R1-Zero, Hunyuan-A13B"),
    Marks("<final_answer>", "</final_answer>", "prompts that ask for elements"),
    Marks("<output>", "</output>", "Reflection-Llama"),
    Marks("<response>", "</response>", "Granite 3.3"),
)
"""Elements around the answer. One that ends the text is the answer even if the reasoning before it has no end."""

WRAPPERS = (
    Marks("<tool_call>", "</tool_call>", "Hermes, Qwen"),
    Marks("<|tool_call_start|>", "<|tool_call_end|>", "LFM2"),
    Marks("<tools>", "</tools>", "Qwen2.5-Coder"),
    Marks("[TOOL_CALLS]", "", "Mistral"),
    Marks("<|python_tag|>", "", "Llama 3"),
    Marks("<output>", "</output>", "Reflection-Llama"),
    Marks("<response>", "</response>", "Granite 3.3"),
)
"""Marks that are removed around a whole answer. The arguments of a call of a tool are JSON that holds the answer."""

END_TOKENS = (
    "<|im_end|>",  # ChatML: Qwen, Hermes, Yi
    "<|eot_id|>",  # Llama 3
    "<|eom_id|>",  # Llama 3, before the result of a tool
    "<|eot|>",  # Llama 4
    "<|end_of_text|>",  # Llama 3, Granite
    "<|endoftext|>",  # GPT-2, Qwen, Phi, Falcon
    "<end_of_turn>",  # Gemma 1 to 3
    "<turn|>",  # Gemma 4
    "<|end|>",  # Phi-3, gpt-oss
    "<|return|>",  # gpt-oss
    "<|end_of_turn|>",  # OpenChat
    "<|END_OF_TURN_TOKEN|>",  # Command R
    "<|close|>message<|sep|>",  # Kimi K3
    "<｜end▁of▁sentence｜>",  # DeepSeek
)
"""Special tokens that end an answer. They are removed from its end."""

# These may also be elements of HTML or words of a text, so that a text is never cut at the first of them.
_LAST_TOKENS = ("</s>", "<eos>", "<pad>", "[EOS]", "[end of text]")

START_TOKENS = (
    "<|im_start|>assistant",
    "<|start_header_id|>assistant<|end_header_id|>",
    "<|header_start|>assistant<|header_end|>",
    "<|start_of_role|>assistant<|end_of_role|>",
    "<start_of_turn>model",
    "<|turn>model",
    "<|assistant|>",
    "<|CHATBOT_TOKEN|>",
    "<｜Assistant｜>",
    "<|begin_of_text|>",
    "<bos>",
    "<s>",
)
"""Special tokens that begin an answer, in the chat formats of the models above."""

# The harmony format of gpt-oss: <|start|>assistant<|channel|>analysis<|message|>...<|end|>. Its channel `final` holds
# the answer, a message `to=` a function holds the arguments of a call, and every other message is reasoning.
_HARMONY = re.compile(
    r"(?:<\|start\|>assistant[^<\n]{0,200})?<\|channel\|>\s?(\w{1,20})([^<\n]{0,200})"
    r"(?:<\|constrain\|>[^<\n]{0,50})?<\|message\|>"
)
_HARMONY_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_HARMONY_THOUGHT = (
    Marks("<|channel|>analysis<|message|>", "<|end|>", "gpt-oss"),
    Marks("<|start|>assistant<|channel|>analysis<|message|>", "<|end|>", "gpt-oss"),
)
_RECIPIENT = re.compile(r"<\|start\|>assistant[^<]*\bto=|\bto=")

_Kind = Literal["begin", "end", "answer", "answer end"]


def _list_marks() -> dict[str, tuple[_Kind, int]]:
    """Return the kind and the pair of every mark, which is written in lower case."""
    marks: dict[str, tuple[_Kind, int]] = {}
    for number, pair in enumerate(THOUGHT_MARKS):
        marks[pair.begin.lower()] = ("begin", number)
        marks[pair.end.lower()] = ("end", number)
    for number, pair in enumerate(ANSWER_MARKS):
        marks[pair.begin.lower()] = ("answer", number)
        marks[pair.end.lower()] = ("answer end", number)
    return marks


@cache  # compiled for the first text that may contain a mark, because compiling takes milliseconds
def _compile(marks: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(marks, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)


_MARKS = _list_marks()
_ALL_MARKS = tuple(_MARKS)
_END_MARKS = tuple(mark for mark, (kind, _) in _MARKS.items() if kind != "begin")
# </details> may end another element of HTML.
_ENDS_WITHOUT_BEGIN = frozenset(_MARKS) - {"</details>"}
_SPACE = re.compile(r"\s+")
_SPACE_BEFORE = re.compile(r"\s*")
_ALL_LAST = (*END_TOKENS, *_LAST_TOKENS)
_FIRST_PHRASES = tuple(phrases.begin for phrases in PHRASES_OF_THOUGHT)
_FIRST_CHARACTERS = re.compile(r"[<\[◁]")  # of all marks and tokens

_GLUED_CHANNEL = "assistantfinal"

_STRICT = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class SplitAnswer:
    """A model's text, split.

    Attributes:
        reasoning: the reasoning, without its marks.
        answer: the answer, without marks of the chat format.
        is_cut_off: whether the text ends within the reasoning, so that no answer follows; `answer` is then empty.
    """

    reasoning: str
    answer: str
    is_cut_off: bool = False


def split_answer(text: str) -> SplitAnswer:
    """Split a model's text into its reasoning and its answer.

    An end mark without a begin mark ends reasoning that the chat template began. A begin mark without an end mark
    begins reasoning that was cut off; no answer is then taken from the text. Marks inside a JSON object are quoted
    text and are ignored. A text without any mark is returned as it is. The running time is linear in the length of the
    text, even for hostile input.
    """
    phrases = _split_at_phrases(text) or _split_at_glued_channel(text)
    if phrases is not None:
        return phrases
    if not _FIRST_CHARACTERS.search(text):
        return SplitAnswer("", text)
    split = _split_harmony(text) or _split_at_marks(text)
    return SplitAnswer(split.reasoning, remove_chat_marks(split.answer), split.is_cut_off)


def has_thought_marks(text: str) -> bool:
    """Return whether the text contains a mark where reasoning begins or ends."""
    return _find_first(_ALL_MARKS, text) is not None or _HARMONY.search(text) is not None


def has_thought_end(text: str) -> bool:
    """Return whether the text contains a mark where reasoning ends."""
    return _find_first(_END_MARKS, text) is not None or _HARMONY.search(text) is not None


def _find_first(marks: tuple[str, ...], text: str) -> re.Match[str] | None:
    """Return the first of the marks in a text."""
    return _compile(marks).search(text) if _FIRST_CHARACTERS.search(text) else None


def build_response(text: str) -> Response:
    """Return the response that an answer from a file stands for. A cut-off thought ends as at a limit of tokens.

    A file can hold text that a model wrote after the end of its turn. A server ends the answer there.
    """
    split = split_answer(text)
    finish_reason: Literal["stop", "length"] = "length" if split.is_cut_off else "stop"
    answer = split.answer
    end = _find_first(END_TOKENS, answer)
    if end:
        answer = answer[: end.start()].rstrip()
    return Response(answer, split.reasoning, finish_reason, None, None, 0.0)


def build_reply(text: str) -> Response:
    """Return the response that a judge's reply from a file stands for, without the reasoning before it.

    A judge may quote marks that the answer holds, so only reasoning at the start is set apart.
    """
    split = split_leading_thought(text)
    finish_reason: Literal["stop", "length"] = "length" if split.is_cut_off else "stop"
    return Response(split.answer, split.reasoning, finish_reason, None, None, 0.0)


def split_leading_thought(text: str) -> SplitAnswer:
    """Split off the reasoning with which a text begins; marks in the rest of the text are quoted."""
    start = _SPACE_BEFORE.match(text)
    begin = start.end() if start else 0
    for pair in (*THOUGHT_MARKS, *_HARMONY_THOUGHT):
        mark_end = begin + len(pair.begin)
        if text[begin:mark_end].lower() != pair.begin.lower():
            continue
        thought, end, rest = text[mark_end:].partition(pair.end)
        return SplitAnswer(thought.strip(), rest.strip(), not end)
    return SplitAnswer("", text)


def remove_chat_marks(text: str) -> str:
    """Remove the special tokens and wrappers around an answer; a text without any is returned as it is."""
    if not _FIRST_CHARACTERS.search(text):
        return text
    begin = _skip_start_tokens(text)
    end = _skip_last_tokens(text)
    # <s>...</s> in an answer is struck-out text.
    if text.startswith("</s>", end) and "<s>" in text[begin:end]:
        end = len(text)
    answer = text if (begin, end) == (0, len(text)) else text[begin:end].strip()
    bare = answer.strip()
    for wrapper in WRAPPERS:
        is_wrapped = bare.startswith(wrapper.begin) and bare.endswith(wrapper.end)
        inside = bare[len(wrapper.begin) : len(bare) - len(wrapper.end)]
        if is_wrapped and wrapper.begin not in inside:
            return inside.strip()
    return answer


def _skip_start_tokens(text: str) -> int:
    """Return the position after the special tokens at the start of the text."""
    begin = 0
    position = _skip_space(text, 0)
    while found := next((start for start in START_TOKENS if text.startswith(start, position)), ""):
        begin = position + len(found)
        position = _skip_space(text, begin)
    return begin


def _skip_last_tokens(text: str) -> int:
    """Return the position before the special tokens at the end of the text."""
    kept_end = end = len(text)
    while True:
        while end > 0 and text[end - 1].isspace():
            end -= 1
        found = next((last for last in _ALL_LAST if text.endswith(last, 0, end)), "")
        if not found:
            return kept_end
        end -= len(found)
        kept_end = end


def _skip_space(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return position if space is None else space.end()


def _split_at_phrases(text: str) -> SplitAnswer | None:
    """Split a text whose reasoning stands between words; None if it does not."""
    start = _skip_space(text, 0)
    if not text.startswith(_FIRST_PHRASES, start):
        return None
    for phrases in PHRASES_OF_THOUGHT:
        if not text.startswith(phrases.begin, start):
            continue
        begin = start + len(phrases.begin)
        thought, end, answer = text[begin:].partition(phrases.end)
        if end:
            return SplitAnswer(thought.strip(), remove_chat_marks(answer.strip()))
    return None


def _split_at_glued_channel(text: str) -> SplitAnswer | None:
    """Split a text of gpt-oss without its first word and its special tokens: "So D.assistantfinalD"."""
    if _GLUED_CHANNEL not in text:
        return None
    thought, _, answer = text.rpartition(_GLUED_CHANNEL)
    is_glued = thought[-1:].isascii() and not thought[-1:].isspace() and thought.strip()
    if not is_glued or not answer.strip():
        return None
    return SplitAnswer(thought.strip(), remove_chat_marks(answer.strip()))


def _split_harmony(text: str) -> SplitAnswer | None:
    """Split the messages of the harmony format; None if there are none."""
    if "<|message|>" not in text:
        return None
    thoughts: list[str] = []
    answers: list[str] = []
    calls: list[str] = []
    is_cut_off = False
    begin = 0
    for header in _drop_quoted(text, list(_HARMONY.finditer(text))):
        if begin == 0:
            # The chat template can begin the first message.
            thoughts.append(_HARMONY_END.sub("", text[: header.start()]).strip())
        end = _HARMONY_END.search(text, header.end())
        begin = end.start() if end else len(text)
        body = text[header.end() : begin].strip()
        if header[1] == "final":
            answers.append(body)
        elif _RECIPIENT.search(header[0]):
            calls.append(body)
        else:
            thoughts.append(body)
            is_cut_off = end is None
    if not (thoughts or answers or calls):
        return None
    reasoning = "\n".join(filter(None, thoughts))
    if answers:
        return SplitAnswer("\n".join((reasoning, *calls)).strip(), "\n".join(answers))
    return SplitAnswer(reasoning, "" if is_cut_off else "\n".join(calls), is_cut_off)


def _split_at_marks(text: str) -> SplitAnswer:
    """Split a text at the marks of `THOUGHT_MARKS` and `ANSWER_MARKS`."""
    marks = list(_compile(_ALL_MARKS).finditer(text))
    if not marks:
        return SplitAnswer("", text)
    splitter = _Splitter(text)
    for mark in _drop_quoted(text, marks):
        splitter.add(mark)
    return splitter.finish()


class _Splitter:
    """Collects reasoning and answer between the marks of a text, in order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._thoughts: list[str] = []
        self._answer: list[str] = []
        self._begin = 0  # start of the text not yet collected
        self._open: int | None = None  # number of the open pair of marks
        self._nested: list[int] = []  # pairs that began within the open one
        self._last_ends = _find_last_ends(text)

    def add(self, mark: re.Match[str]) -> None:
        """Collect the text before a mark."""
        written = mark[0].lower()
        kind, pair = _MARKS[written]
        if kind == "begin":
            self._begin_thought(mark, pair)
        elif kind == "end" and (self._open is not None or written in _ENDS_WITHOUT_BEGIN):
            self._end_thought(mark, pair)
        elif kind == "answer":
            self._begin_answer(mark)
        elif kind == "answer end" and self._open is None:
            self._answer.append(self._take(mark))

    def finish(self) -> SplitAnswer:
        """Collect the text after the last mark, and return the parts."""
        rest = self._text[self._begin :]
        is_cut_off = self._open is not None
        if is_cut_off:
            thought, answer = _split_at_last_element(rest)
            self._thoughts.append(thought)
            if answer:
                self._answer = [answer]
                is_cut_off = False
            else:
                # The thought might have revised the text before it.
                self._thoughts.insert(0, "".join(self._answer))
                self._answer = []
        else:
            self._answer.append(rest)
        reasoning = "\n".join(thought.strip() for thought in self._thoughts)
        return SplitAnswer(reasoning.strip("\n"), "".join(self._answer).strip(), is_cut_off)

    def _take(self, mark: re.Match[str]) -> str:
        """Return the text before a mark, and continue after it."""
        part = self._text[self._begin : mark.start()]
        self._begin = mark.end()
        return part

    def _begin_thought(self, mark: re.Match[str], pair: int) -> None:
        if self._open is None:
            self._answer.append(self._take(mark))
            self._open = pair
        elif pair != self._open:
            self._nested.append(pair)

    def _end_thought(self, mark: re.Match[str], pair: int) -> None:
        if self._open is None:
            self._answer.append(self._take(mark))
            self._thoughts.append("".join(self._answer))
            self._answer.clear()
            return
        if pair != self._open and self._nested and self._nested[-1] == pair:
            self._nested.pop()
            return
        # Some models begin with one mark and end with another.
        is_own_end_missing = self._last_ends.get(self._open, -1) < mark.start()
        if pair == self._open or is_own_end_missing:
            self._thoughts.append(self._take(mark))
            self._open = None
            self._nested.clear()

    def _begin_answer(self, mark: re.Match[str]) -> None:
        if self._open is not None:
            self._thoughts.append(self._take(mark))
            self._open = None
            self._nested.clear()
        else:
            # Text before the mark of the answer is not part of it.
            self._answer.append(self._take(mark))
            before = "".join(self._answer)
            self._answer.clear()
            if before.strip():
                self._thoughts.append(before)


def _find_last_ends(text: str) -> dict[int, int]:
    """Return the position of the last end mark of each pair in a text."""
    lower = text.lower()
    positions = {}
    for number, pair in enumerate(THOUGHT_MARKS):
        positions[number] = lower.rfind(pair.end.lower())
    return positions


def _split_at_last_element(text: str) -> tuple[str, str]:
    """Split unfinished reasoning before the element of an answer that ends the text, if there is one."""
    bare = remove_chat_marks(text).rstrip()
    for element in ANSWER_ELEMENTS:
        if bare.endswith(element.end):
            begin = bare.rfind(element.begin)
            inside = bare[begin + len(element.begin) : -len(element.end)]
            if begin >= 0 and inside.strip() and element.end not in inside:
                return bare[:begin], inside.strip()
    return text, ""


def _drop_quoted(text: str, marks: list[re.Match[str]]) -> Iterator[re.Match[str]]:
    """Yield the marks, which are in order, without those inside a JSON object."""
    objects = _find_objects(text, marks[-1].start()) if marks else []
    starts = [found.start for found in objects]
    for mark in marks:
        before = bisect_right(starts, mark.start()) - 1
        if before < 0 or objects[before].end <= mark.start():
            yield mark


def _find_objects(text: str, last: int) -> list[DecodedObject]:
    """Return the well-formed JSON objects that begin before the position `last`."""
    objects: list[DecodedObject] = []
    try:
        for decoded in decode_objects(text, _STRICT, end=last):
            if isinstance(decoded, DecodedObject):
                objects.append(decoded)
    except EndlessTextError:
        pass
    return objects
