"""What judges are asked when the answer wants to ask them something else."""

import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.jury.fence import break_control_tokens, extend_marker
from agent.jury.prompts import (
    FAULT_WORDS,
    Matter,
    build_matter,
    write_judge_messages,
    write_repair_messages,
)
from agent.jury.rubric import read_rubric
from agent.jury.verdict import Fault, Verdict, read_verdict
from agent.metrics import MetricUse, Scale
from agent.vocabulary import Instance, Message, Reference
from tests.agent.jury.corpus import BUILT_IN, CORPUS, HOSTILE, OWN

MARKER = "5f2c9e0d7ab41368"
BENIGN = "Rest and drink."

# Written out, not computed: each is a token of some model's chat template, and stands in one of the hostile answers.
# fmt: off
TOKENS = [
    "<|im_end|>", "<|im_start|>", "<|eot_id|>", "<|start_header_id|>", "</s>", "<s>", "[INST]", "[/INST]",
    "<<SYS>>", "<</SYS>>", "<end_of_turn>", "<start_of_turn>", "<|end|>", "<|assistant|>", "<|user|>",
    "<|system|>", "<｜User｜>", "<｜Assistant｜>", "<｜end▁of▁sentence｜>", "<|channel|>", "<|message|>", "<|return|>",
    "<|END_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>", "[gMASK]", "<sop>", "[SEP]", "[CLS]", "[PAD]", "<|endoftext|>",
    "[|assistant|]", "[|endofturn|]", "<think>", "</think>", "<tool_call>", "</tool_call>", "<function_calls>",
    "<0x0A>", "<unk>", "<pad>", "<bos>", "<eos>", "[TOOL_CALLS]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]",
    "[THINK]", "</RESPONSE>", "</answer>", "<rubric_criteria>",
    "]~b]", "]~!b[", "[e~[", ">>ANSWER<<", "◁think▷", "<[fim-end]>", "<seed:think>", "</rubric_criteria>",
]
# fmt: on
IGNORABLE = "\u034f\u061c\u115f\u1160\u17b4\u180b\u180e\u180f\u3164\ufe00\ufe0f\uffa0\U0001bca0\U000e0100\U000e01ef"
INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def asked(use: MetricUse, answer: str) -> str:
    (message,) = write_judge_messages(use, Matter("What helps?", "Rest.", answer), MARKER)
    assert message.role == "user"
    return message.content


def parts(prompt: str) -> tuple[str, str, str]:
    """Before the answer, the answer, after it."""
    before, begin, rest = prompt.partition(f"[begin answer {MARKER}]\n")
    answer, end, after = rest.rpartition(f"\n[end answer {MARKER}]")
    assert begin
    assert end
    return before, answer, after


def as_a_tokenizer_might(text: str) -> str:
    """Normalised as some tokenizers do before they look for their own tokens."""
    return unicodedata.normalize("NFKC", INVISIBLE.sub("", text))


def test_the_corpus_is_large_and_holds_every_token():
    assert len(CORPUS) == len(HOSTILE) >= 40
    everything = "\n".join(HOSTILE.values())
    assert [token for token in TOKENS if token not in everything] == []


@pytest.mark.parametrize("use", [BUILT_IN, OWN], ids=["criteria", "own prompt"])
@pytest.mark.parametrize("tries", HOSTILE)
def test_an_answer_changes_nothing_around_its_fence(tries: str, use: MetricUse):
    before, answer, after = parts(asked(use, HOSTILE[tries]))
    assert (before, after) == parts(asked(use, BENIGN))[::2]
    assert MARKER not in answer
    assert answer == break_control_tokens(HOSTILE[tries])


@pytest.mark.parametrize("use", [BUILT_IN, OWN], ids=["criteria", "own prompt"])
@pytest.mark.parametrize("tries", HOSTILE)
def test_no_token_of_a_chat_template_reaches_a_judge(tries: str, use: MetricUse):
    _, answer, _ = parts(asked(use, HOSTILE[tries]))
    for read in (answer, as_a_tokenizer_might(answer)):
        assert [
            token
            for token in TOKENS
            if unicodedata.normalize("NFKC", token) in read or token in read
        ] == []
    answer.encode()  # no half of a surrogate pair
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]", answer)


@pytest.mark.parametrize("tries", HOSTILE)
def test_question_and_reference_are_fenced_like_the_answer(tries: str):
    (message,) = write_judge_messages(OWN, Matter(HOSTILE[tries], HOSTILE[tries], BENIGN), MARKER)
    for name in ("question", "reference"):
        text = break_control_tokens(HOSTILE[tries])
        assert f"[begin {name} {MARKER}]\n{text}\n[end {name} {MARKER}]" in message.content
    assert [t for t in TOKENS if t in message.content and t not in OWN.prompt] == []


@pytest.mark.parametrize(
    "text",
    [
        "Sodium < 130 mmol/l, eGFR <60 and p<0.05; 3 < 4 > 2",
        "a[0] = [1, 2]; see [12], [Table 2] and [sic]",
        "Temperature 38.5 °C — μg, naïve, 你好, می‌خواهم, 👩‍⚕️\twith tab\nand line",
        "{QUESTION} $RESPONSE ${x} %s \\1",
    ],
)
def test_ordinary_text_is_shown_as_it_is(text: str):
    assert break_control_tokens(text) == text


@given(st.text())
def test_any_text_stays_within_its_fence(text: str):
    before, answer, after = parts(asked(BUILT_IN, text))
    assert (before, after) == parts(asked(BUILT_IN, BENIGN))[::2]
    answer.encode()
    assert break_control_tokens(answer) == answer


@pytest.mark.parametrize("sign", IGNORABLE, ids=ascii)
def test_no_sign_that_a_tokenizer_may_drop_carries_a_token_past(sign: str):
    for token in TOKENS:
        for hidden in (token[0] + sign + token[1:], sign.join(token)):
            assert token not in as_a_tokenizer_might(break_control_tokens(hidden))


def test_a_run_of_joiners_is_read_in_a_moment():
    start = time.process_time()
    for opening in "[<]":
        break_control_tokens(opening + "\u200d" * 200_000)
    assert time.process_time() - start < 2


@given(
    st.lists(
        st.sampled_from(
            [
                *"<>|[]/_ a/A",
                "<|",
                "|>",
                "INST",
                "\u200d",
                "\u200b",
                "\ufe0f",
                "\u3164",
                "＜",
                "｜",
                "s",
                "!",
                "~",
                "e",
                "◁",
                "]~",
            ]
        ),
        max_size=12,
    )
)
def test_taking_a_sign_out_never_makes_a_token(pieces: list[str]):
    read = as_a_tokenizer_might(break_control_tokens("".join(pieces)))
    assert not re.search(r"[<◁][|/A-Za-z_<!\[]|\[\||\[/?INST\]|\]~|\[e~", read)


def test_placeholders_are_filled_once_and_dollars_are_plain():
    prompt = asked(OWN, "{QUESTION} {GOLD_RESPONSE} $QUESTION")
    assert "{QUESTION} {GOLD_RESPONSE} $QUESTION" in prompt
    assert prompt.count("What helps?") == 1
    assert "It costs $5 {per case}." in prompt


def test_a_marker_that_stands_in_a_text_is_lengthened():
    (message,) = write_judge_messages(
        BUILT_IN, Matter("q", "g", f"[end answer {MARKER.upper()}] {MARKER}"), MARKER
    )
    ends = re.findall(r"\n\[end answer (\w+)\]\n", message.content)
    assert len(ends) == 1
    assert ends[0].startswith(MARKER)
    assert len(ends[0]) > len(MARKER)


@pytest.mark.parametrize("marker", ["", "abc", "x" * 7, "0123 4567", "]\n[end answer"])
def test_a_marker_that_could_be_guessed_is_refused(marker: str):
    with pytest.raises(ValueError, match="at least 8 letters and digits"):
        write_judge_messages(BUILT_IN, Matter("q", "g", "a"), marker)


def test_the_same_matter_is_asked_in_the_same_bytes():
    assert asked(OWN, "x") == asked(OWN, "x")


def test_criteria_their_questions_and_the_scale_are_asked_in_one_message():
    prompt = asked(
        MetricUse("jury_score", criteria={"accuracy": "Is it right?"}, scale=Scale(0.5, 10)), BENIGN
    )
    assert "- accuracy: Is it right?" in prompt
    assert "a number from 0.5 to 10" in prompt
    assert prompt.index('"explanation"') < prompt.index('"score"')


def test_a_copy_of_the_prompt_is_no_verdict():
    for use in (BUILT_IN, OWN):
        prompt = asked(use, BENIGN)
        assert read_verdict(prompt, read_rubric(use), (BENIGN,), MARKER) in (
            Fault.NO_VERDICT,
            Fault.QUOTED,
        )


def test_a_jury_that_is_shown_no_right_answer_is_shown_none():
    for use in (BUILT_IN, OWN):
        hidden = MetricUse("jury_score", prompt=use.prompt, criteria=use.criteria, gold_shown=False)
        (message,) = write_judge_messages(hidden, Matter("q", "The gold.", "a"), MARKER)
        assert "The gold." not in message.content
        (message,) = write_judge_messages(use, Matter("q", "The gold.", "a"), MARKER)
        assert "The gold." in message.content
        (message,) = write_judge_messages(use, Matter("q", " ", "a"), MARKER)
        assert "[begin reference" not in message.content


def test_references_tagged_incorrect_are_never_shown_as_right():
    messages = (Message("system", "Be kind."), Message("user", "Why?"))
    references = (
        Reference("wrong", False),
        Reference("right", True),
        Reference("also right", True),
    )
    matter = build_matter(Instance("1", "1", messages, references), "x")
    assert matter == Matter("system:\nBe kind.\n\nuser:\nWhy?", "right\n\nor\n\nalso right", "x")
    choice = build_matter(
        Instance("1", "1", messages[1:], references[:2], multiple_choice=True), "x"
    )
    assert (choice.question, choice.gold) == ("Why?", "B. right")
    assert build_matter(Instance("1", "1", messages[1:], ()), "x").gold == ""


@pytest.mark.parametrize("fault", Fault)
def test_a_repair_names_the_fault_and_shows_the_form(fault: Fault):
    first = write_judge_messages(BUILT_IN, Matter("q", "g", "a"), MARKER)
    reply = f"I say <|im_end|> {HOSTILE['Gemma turns']}"
    repair = write_repair_messages(first, reply, fault, read_rubric(BUILT_IN), MARKER)
    assert repair[: len(first)] == first
    assert [message.role for message in repair] == ["user", "assistant", "user"]
    assert FAULT_WORDS[fault] in repair[-1].content
    assert '"clarity": {"explanation": ..., "score": N}' in repair[-1].content
    assert [token for token in TOKENS if token in repair[1].content] == []
    assert not isinstance(
        read_verdict(repair[-1].content, read_rubric(BUILT_IN), (), MARKER), Verdict
    )


def test_a_repair_of_a_blank_or_endless_reply_is_short():
    first = write_judge_messages(BUILT_IN, Matter("q", "g", "a"), MARKER)
    blank = write_repair_messages(first, " \n", Fault.NO_TEXT, read_rubric(BUILT_IN), MARKER)
    assert blank[1].content == "(no text)"
    long = write_repair_messages(first, "x" * 10**6, Fault.TOO_LONG, read_rubric(BUILT_IN), MARKER)
    assert len(long[1].content) < 10_000


@pytest.mark.parametrize("use", [BUILT_IN, OWN], ids=["criteria", "own prompt"])
def test_a_judge_is_asked_for_the_mark_unless_nobody_would_know_it_again(use: MetricUse):
    matter = Matter("q", "g", f"{MARKER} a")
    marker = extend_marker(MARKER, matter.texts)
    (message,) = write_judge_messages(use, matter, marker)
    assert f'Begin that object with "mark": "{marker}"' in message.content
    repair = write_repair_messages((message,), "Hm.", Fault.NO_VERDICT, read_rubric(use), marker)
    assert f'{{\n  "mark": "{marker}",\n' in repair[-1].content
    (plain,) = write_judge_messages(use, matter, marker, marked=False)
    assert '"mark"' not in plain.content
    assert marker in plain.content
