"""Prompts longer than the model's window never lose their question: a real server counts words as tokens."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import ConfigError
from agent.inference.capabilities import Capabilities, Needs, check_needs
from agent.inference.probe import probe
from agent.inference.shorten import MOST_COUNTS, Fitted, Messages, shorten
from agent.vocabulary import ChatRequest, Failure, Message, Reason, Response, Shortenable
from tests.agent.fault_server import HTML, FaultServer, Hang, Huge, Slow, Status
from tests.agent.inference.asking import QUICK, ask, ask_one, deployment
from tests.agent.inference.counting_server import TEMPLATE_WORDS, CountingServer, failing_from, words

PATIENT = replace(QUICK, first_attempt_timeout_s=8)


def probed(server: FaultServer, **keys: object) -> Capabilities:
    return asyncio.run(probe(replace(deployment(server.url), **keys), PATIENT))


def note(length: int, number: int = 0) -> str:
    return " ".join(f"w{number}x{i}" for i in range(length))


def over_long(material: str, keep: str = "start", max_tokens: int = 20, **fields: object) -> ChatRequest:
    before, after = "Instructions: read it all.\n\nNote: ", "\n\nQuestion: is it so?\nAnswer:"
    content = before + material + after
    part = Shortenable(0, len(before), len(before) + len(material), keep)
    return ChatRequest("test-model", (Message("user", content),), max_tokens, shortenable=part, **fields)


def sent_note(server: FaultServer) -> str:
    """The note as the server got it; fails if anything around it was touched."""
    (prompt,) = {asked.prompt for asked in server.asked if "Instructions" in asked.prompt}
    before, after = "Instructions: read it all.\n\nNote: ", "\n\nQuestion: is it so?\nAnswer:"
    assert prompt.startswith(before)
    assert prompt.endswith(after)
    return prompt.removeprefix(before).removesuffix(after)


@pytest.mark.parametrize("kind", ["vllm", "llama.cpp"])
@pytest.mark.parametrize("keep", ["start", "end"])
def test_a_note_that_is_too_long_loses_its_far_end_and_nothing_else(kind, keep):
    material = note(5000)
    with CountingServer(window=1000, kind=kind) as server:
        found = probed(server)
        probing = len(server.counted)
        result = ask_one(server.url, over_long(material, keep), capabilities=found)
        kept = sent_note(server)
    assert isinstance(result, Response)
    assert kept
    assert material.startswith(kept + " ") if keep == "start" else material.endswith(" " + kept)
    whole = words([{"content": over_long(material).messages[0].content}])
    assert result.prompt_tokens is not None
    assert result.prompt_tokens + 20 <= 1000
    assert result.prompt_tokens + 20 >= 985  # no more is cut than the window asks for
    assert result.shortened == whole - result.prompt_tokens
    assert len(server.counted) - probing <= MOST_COUNTS


def test_a_prompt_that_fits_is_asked_whole_and_one_that_surely_fits_is_not_even_counted():
    with CountingServer(window=1000) as server:
        found = probed(server)
        probing = len(server.counted)
        fits = ask_one(server.url, over_long(note(960)), capabilities=found)
        counts = len(server.counted) - probing
        short = ask_one(server.url, over_long(note(50)), capabilities=found)
    assert isinstance(fits, Response)
    assert isinstance(short, Response)
    assert (fits.shortened, short.shortened, counts, len(server.counted) - probing) == (0, 0, 1, 1)


@pytest.mark.parametrize(
    "request_",
    [
        replace(over_long(note(2000)), shortenable=None),
        over_long("few words", max_tokens=1000),
        replace(
            over_long(note(2000)),
            shortenable=Shortenable(0, 0, 10, "start"),  # all but the part is too long already
        ),
        replace(over_long(note(2000)), shortenable=Shortenable(0, 34, 34, "start")),
    ],
)
def test_what_cannot_be_made_to_fit_is_not_asked(request_):
    with CountingServer(window=1000) as server:
        found = probed(server)
        before, probing = len(server.asked), len(server.counted)
        assert ask_one(server.url, request_, capabilities=found) == Failure(Reason.CONTEXT_LENGTH)
        assert len(server.asked) == before
        assert len(server.counted) == probing + (request_.max_tokens < 1000)  # the hopeless are not even counted


def test_a_limit_of_prompt_tokens_bounds_even_where_the_window_is_wide():
    material = note(2000)
    with CountingServer(window=100_000) as server:
        found = probed(server)
        result = ask_one(server.url, over_long(material), capabilities=found, prompt_limit=300)
    assert isinstance(result, Response)
    assert result.prompt_tokens is not None
    assert 290 <= result.prompt_tokens <= 300
    assert result.shortened > 1600


def test_where_nobody_counts_the_server_refuses_and_no_prompt_above_a_limit_is_asked():
    with CountingServer(window=1000, kind="neither") as server:
        found = probed(server)
        assert (found.counting, found.window) == (None, None)
        assert ask_one(server.url, over_long(note(2000)), capabilities=found) == Failure(Reason.CONTEXT_LENGTH, 400)
        before = len(server.asked)
        limited = ask_one(server.url, over_long(note(100)), capabilities=found, prompt_limit=200)
        assert limited == Failure(Reason.CONTEXT_LENGTH)
        assert len(server.asked) == before
        assert isinstance(ask_one(server.url, over_long(note(100)), capabilities=found, prompt_limit=2000), Response)


def test_what_the_deployment_says_of_its_window_binds_below_what_the_server_takes():
    with CountingServer(window=4000) as server:
        found = probed(server)
        where = replace(deployment(server.url), max_sequence_length=500)
        result = ask_one(where, over_long(note(2000)), capabilities=found)
        wide = replace(deployment(server.url), max_sequence_length=500_000)
        honest = ask_one(wide, over_long(note(6000)), capabilities=found)
    assert isinstance(result, Response)
    assert result.prompt_tokens is not None
    assert result.prompt_tokens <= 480
    assert isinstance(honest, Response)
    assert honest.prompt_tokens is not None
    assert 3900 <= honest.prompt_tokens <= 3980


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (Status(500), Reason.SERVER_ERROR),
        (Status(404), Reason.SERVER_ERROR),
        (HTML, Reason.BAD_REPLY),
        (Hang(), Reason.TIMEOUT),
        (Huge(9_000_000), Reason.BAD_REPLY),
        (-1, Reason.BAD_REPLY),
        (0, Reason.BAD_REPLY),
        (10**12, Reason.BAD_REPLY),
    ],
)
def test_a_server_that_stops_counting_midway_fails_only_the_prompts_that_need_it(trouble, reason):
    quick = replace(QUICK, max_attempts=2)
    with CountingServer(window=1000) as server:
        found = probed(server)
        server.on_count = failing_from(len(server.counted) + 2, trouble)
        outcome = ask(
            server.url,
            [over_long(note(2000)), over_long("a short one")],
            capabilities=found,
            limits=quick,
            max_in_flight=1,
        )
        asked = [prompt for prompt in server.prompts if "w0x1" in prompt]
    (failed,) = outcome.reasons().values()
    assert failed is reason
    assert len(outcome.texts()) == 1
    assert asked == []  # it was known to be too long, and was not sent all the same


def test_a_passing_trouble_with_counting_is_asked_again():
    with CountingServer(window=1000) as server:
        found = probed(server)
        first = len(server.counted)
        server.on_count = lambda counted: Status(503) if counted.number in (first, first + 2) else None
        result = ask_one(server.url, over_long(note(2000)), capabilities=found)
    assert isinstance(result, Response)
    assert result.shortened > 0
    assert result.attempts == 1  # of the question itself


@pytest.mark.parametrize(
    "lie",
    [
        lambda counted: 10**6,  # everything is far too long
        lambda counted: 5000 + counted.number,  # the less is kept, the more it counts
        lambda counted: 981 if counted.number % 2 else 979,
        lambda counted: 1,
    ],
)
def test_a_server_that_lies_about_tokens_costs_few_requests_and_never_the_question(lie):
    with CountingServer(window=1000) as server:
        found = probed(server)
        probing = len(server.counted)
        server.on_count = lie
        result = ask_one(server.url, over_long(note(2000)), capabilities=found)
        assert len(server.counted) - probing <= MOST_COUNTS
    assert isinstance(result, Failure)
    assert result.reason in (Reason.CONTEXT_LENGTH, Reason.BAD_REPLY)


def test_counting_takes_the_place_in_flight_of_its_request():
    with CountingServer(window=1000, on_count=lambda counted: Slow(0.02)) as server:
        found = probed(server)
        server.peak_in_flight = 0
        outcome = ask(
            server.url,
            [over_long(note(2000, number)) for number in range(12)],
            capabilities=found,
            max_in_flight=3,
        )
        assert server.peak_in_flight <= 3
    assert {result.shortened > 0 for result in outcome.results.values() if isinstance(result, Response)} == {True}


def search(messages: tuple[Message, ...], part: Shortenable, budget: int, count: Callable[[Messages], int]):
    """Shorten a prompt; return the result, and the count of each candidate."""
    counts: dict[tuple[Message, ...], int] = {}

    async def count_candidate(candidate: Messages) -> int:
        counts[tuple(candidate)] = count(candidate)
        return counts[tuple(candidate)]

    request = ChatRequest("m", messages, max_tokens=1)
    return asyncio.run(shorten(request, part, count(messages), budget, count_candidate)), counts


def count_characters(messages: Messages) -> int:
    return len(messages[0].content)


def test_characters_of_several_parts_are_never_split():
    family, accent = "\U0001f468\u200d\U0001f469\u200d\U0001f467", "e\u0301"
    text = (family + accent) * 400
    for keep in ("start", "end"):
        part = Shortenable(0, 0, len(text), keep)
        fitted, _ = search((Message("user", text),), part, 500, count_characters)
        assert isinstance(fitted, Fitted)
        shortened = fitted.request.messages[0].content
        assert 400 < len(shortened) <= 500
        assert shortened.replace(family, "").replace(accent, "") == ""


def test_a_value_is_never_cut_within():
    text = "Potassium 13.55 mmol " * 200
    part = Shortenable(0, 0, len(text), "start")
    _, counts = search((Message("user", text),), part, 1000, count_characters)
    assert counts
    words_of_text = set(text.split())
    assert all(set(candidate[0].content.split()) <= words_of_text for candidate in counts)


@given(
    st.lists(st.text(max_size=30), min_size=1, max_size=40),
    st.sampled_from(["start", "end"]),
    st.integers(1, 400),
    st.integers(1, 40),
    st.text(max_size=50),
    st.text(max_size=50),
)
def test_whatever_the_text_what_is_returned_was_counted_fits_and_is_a_piece_of_it(
    pieces, keep, budget, per_token, before, after
):
    material = " ".join(pieces)
    messages = (Message("system", "s"), Message("user", before + material + after))
    part = Shortenable(1, len(before), len(before) + len(material), keep)

    def count(candidate: Messages) -> int:
        return 3 + sum(len(message.content.encode("utf-8", "replace")) for message in candidate) // per_token

    if count(messages) <= budget:
        return
    result, counted = search(messages, part, budget, count)
    assert len(counted) < MOST_COUNTS
    for candidate in counted:
        content = candidate[1].content
        assert content.startswith(before)
        assert content.endswith(after)
        kept = content[len(before) : len(content) - len(after)]
        assert kept
        assert material.startswith(kept) if keep == "start" else material.endswith(kept)
    if isinstance(result, Fitted):
        tokens = counted[result.request.messages]
        assert tokens <= budget
        assert result.left_out == count(messages) - tokens
    else:
        assert result == Failure(Reason.CONTEXT_LENGTH)


def test_a_run_that_may_have_to_count_says_when_nobody_can():
    with CountingServer(window=1000, kind="neither") as server:
        (note_,) = check_needs(probed(server), Needs.of(over_long("note")))
    assert "Nobody can count" in note_
    with CountingServer(window=1000) as server:
        found = probed(server)
    assert check_needs(found, Needs.of(over_long("note"))) == ()


# What the probe learns.


def test_the_probe_learns_the_window_and_who_counts():
    with CountingServer(window=2048) as server:
        found = probed(server)
    assert (found.window, found.counting) == (2048, "vllm")
    assert Capabilities.from_json(json.loads(json.dumps(found.to_json()))) == found
    with CountingServer(window=4096, kind="llama.cpp") as server:
        found = probed(server)
    assert (found.window, found.counting, found.template_tokens) == (4096, "llama.cpp", TEMPLATE_WORDS)


def test_capabilities_of_an_older_version_are_told_apart():
    with CountingServer(window=2048) as server:
        kept = probed(server).to_json()
    del kept["window"]
    with pytest.raises(ValueError, match="missing"):
        Capabilities.from_json(kept)


@pytest.mark.parametrize("listed", [-1, 0, True, 1.5, "4096", 10**30, [], {"n": 1}])
def test_a_window_that_is_no_number_of_tokens_is_not_believed(listed):
    with CountingServer(window=2048, listed=listed) as server:
        assert probed(server).window is None
    with CountingServer(window=2048, kind="llama.cpp", props={"default_generation_settings": {"n_ctx": listed}}) as s:
        assert probed(s).window is None
    with CountingServer(window=2048, kind="llama.cpp", props=[1]) as s:
        assert probed(s).window is None


def test_llama_cpps_training_context_counts_where_nothing_better_is_known():
    with FaultServer(extra_model_keys={"meta": {"n_ctx_train": 8192}}) as server:
        assert probed(server).window == 8192


@pytest.mark.parametrize(
    "on_count",
    [
        lambda counted: 7,  # not what it reports for the same prompt
        lambda counted: Status(500),
        lambda counted: HTML,
        lambda counted: Huge(9_000_000),
    ],
)
def test_a_server_whose_counts_cannot_be_believed_is_not_asked_to_count(on_count):
    with CountingServer(window=2048, on_count=on_count) as server:
        assert probed(server).counting is None


# The tokenizer file.


@pytest.fixture(scope="module")
def tokenizer_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer that makes a token of every word, and says that texts are to be truncated to 16."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.enable_truncation(16)
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def test_a_tokenizer_file_counts_where_the_server_does_not(tokenizer_file):
    with CountingServer(window=1000, kind="neither") as server:
        where = replace(deployment(server.url), tokenizer_file=tokenizer_file, max_sequence_length=1000)
        found = asyncio.run(probe(where, PATIENT))
        assert (found.counting, found.template_tokens) == ("tokenizer_file", TEMPLATE_WORDS)
        result = ask_one(where, over_long(note(5000)), capabilities=found)
        assert sent_note(server)
    assert isinstance(result, Response)
    assert result.prompt_tokens is not None
    assert 965 <= result.prompt_tokens <= 980
    assert result.shortened > 4000


def test_a_tokenizer_of_another_model_is_refused_before_anything_of_a_dataset_is_asked(tmp_path):
    from tokenizers import Tokenizer, models, pre_tokenizers

    letters = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    letters.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    letters.save(str(tmp_path / "tokenizer.json"))
    with CountingServer(window=1000, kind="neither") as server, pytest.raises(ConfigError, match="not that of the"):
        probed(server, tokenizer_file=tmp_path / "tokenizer.json")


@pytest.mark.parametrize("content", [None, b"", b"{}", b"\xff\xfe", b'{"model": {"type": "Nothing"}}'])
def test_a_tokenizer_file_that_is_none_is_said_before_the_run(tmp_path, content):
    path = tmp_path / "tokenizer.json"
    if content is not None:
        path.write_bytes(content)
    with FaultServer() as server:
        with pytest.raises(ConfigError, match="deployment local/test: tokenizer_file"):
            probed(server, tokenizer_file=path)
        assert server.asked == []


def test_a_missing_package_is_named_before_the_run(tokenizer_file):
    code = (
        "import sys; sys.modules['tokenizers'] = None\n"
        "from pathlib import Path\nfrom agent.catalog.deployments import Deployment\n"
        "from agent.inference.tokens import open_tokenizer\nfrom agent.errors import ConfigError\n"
        "try:\n"
        "    open_tokenizer(Deployment('d', 'm', '', 's', tokenizer_file=Path(sys.argv[1])))\n"
        "except ConfigError as error:\n    print(error, error.advice)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tokenizer_file)], capture_output=True, text=True, check=True)
    assert "not installed" in done.stdout
    assert "pip install 'intramural[tokenizer]'" in done.stdout


# How often it was sent.


def test_a_response_says_how_often_its_question_was_sent():
    with FaultServer(fault=lambda asked: Status(503) if asked.number < 2 else None) as server:
        result = ask_one(server.url)
    assert isinstance(result, Response)
    assert result.attempts == 3
    with FaultServer() as server:
        once = ask_one(server.url)
    assert isinstance(once, Response)
    assert once.attempts == 1
