"""A server that answers questions as it should and counts tokens as it likes, in a real run with an over-long note.

Nothing is cut or sent upon a count that cannot be: no count below one, none above what the text has bytes for, none
that is no whole number. Upon a lie that could be true the server may get a prompt that it refuses itself; never one
without its question, nor a note that is cut within a word.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from agent.runs.outcomes import RunOutcome
from agent.site.directory import Site, create_site
from agent.vocabulary import Reason, Unscored
from tests.agent.fault_server import HTML, Action, Body, Hang, Slow, Status
from tests.agent.inference.counting_server import Counted, CountingServer, OnCount
from tests.agent.runs.suites import run, write_benchmark

WINDOW, ANSWER = 300, 20
LONG = " ".join(f"w{number}x" for number in range(2000))
SHORT = "a short invented note"
BENCHMARK = (
    f"max_tokens: {ANSWER}\nshorten: {{column: note, keep: start}}\n"
    "gold: {column: gold}\nmetrics:\n  - name: exact_match\n"
)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = create_site(tmp_path / "site", "Test")
    write_benchmark(
        site, "own", [{"note": LONG, "gold": "yes"}, {"note": SHORT, "gold": "yes"}], BENCHMARK
    )
    with (site.directory / "site.yaml").open("a") as file:
        file.write(
            "attempt_timeout_s: 1\nfirst_attempt_timeout_s: 8\ntotal_timeout_s: 4\nmax_attempts: 2\n"
        )
    return Site(site.directory)  # reads its settings again


def lying(lie: OnCount) -> OnCount:
    """Count honestly whatever is no note of the run, so that the probe finds who counts."""
    first: list[int] = []

    def count(counted: Counted) -> Action | int | None:
        if "w0x" not in json.dumps(counted.body):
            return None
        first.append(counted.number)
        return lie(Counted(counted.number - first[0], counted.body))

    return count


def says(count: object) -> Body:
    return Body(json.dumps({"count": count, "max_model_len": WINDOW, "tokens": []}).encode())


def ask(site: Site, lie: OnCount) -> tuple[RunOutcome, CountingServer, Any]:
    """Run it; return the outcome, the server as it was left, and what became of the long note."""
    with CountingServer(window=WINDOW, models=["a/b"], answer="yes", on_count=lying(lie)) as server:
        (outcome,) = run(site, server.url, "own:model=a/b")
    with site.store() as store:
        (stored,) = store.runs.select("s")
        long, short = store.answers.read_instances(stored.run_id, 0, 9)
    assert short.scores == {"exact_match": 1.0}  # whatever is said of another
    assert len(server.counted) < 40
    return outcome, server, long


def sent(server: CountingServer) -> list[str]:
    """The notes that were sent; fails where anything around one is missing, or a word of it was cut."""
    prompts = [prompt for prompt in server.prompts if "w0x" in prompt]
    for prompt in prompts:
        assert prompt.startswith("Note: w0x ")
        assert prompt.endswith("\nAnswer:")
    notes = [prompt.removeprefix("Note: ").removesuffix("\nAnswer:") for prompt in prompts]
    for note in notes:
        assert note == LONG or LONG.startswith(note + " ")
    return notes


def test_an_honest_count_cuts_the_note_to_what_fits(site: Site):
    _, server, long = ask(site, lambda counted: None)
    (note,) = sent(server)
    assert WINDOW - ANSWER - 20 <= len(note.split()) <= WINDOW - ANSWER
    assert long.scores == {"exact_match": 1.0}


IMPOSSIBLE = {
    "negative": says(-5),
    "zero": says(0),
    "huge": says(10**15),
    "endless": Body(b'{"count": ' + b"9" * 6000 + b"}"),
    "float": says(120.0),
    "not a number": Body(b'{"count": NaN}'),
    "text": says("120"),
    "yes": says(True),
    "nothing": says(None),
    "list": says([120]),
    "no count": Body(b'{"tokens": []}'),
    "page": HTML,
    "empty": Body(b""),
    "deep": Body(b"[" * 100_000),
    "gone": Status(404),
    "hangs": Hang(),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "later", [False, True], ids=["from the first count", "from the second count"]
)
@pytest.mark.parametrize("reply", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_upon_a_count_that_cannot_be_nothing_is_sent(site: Site, reply: Action, later: bool):
    outcome, server, long = ask(site, lambda counted: reply if counted.number >= later else None)
    assert sent(server) == []
    assert outcome.failed == 1
    assert long.scores["exact_match"] in [
        Unscored(reason) for reason in (Reason.BAD_REPLY, Reason.SERVER_ERROR, Reason.TIMEOUT)
    ]


@pytest.mark.parametrize(
    "lie",
    [
        lambda counted: 1000 * (counted.number + 1),  # the less is kept the more it counts
        lambda counted: 4000,
        lambda counted: 281 + counted.number % 2,  # always one too many
    ],
    ids=["grows", "stays", "one too many"],
)
def test_what_never_counts_as_fitting_is_not_sent(site: Site, lie: OnCount):
    _, server, long = ask(site, lie)
    assert sent(server) == []
    assert long.scores == {"exact_match": Unscored(Reason.CONTEXT_LENGTH)}


@pytest.mark.parametrize(
    "lie",
    [
        lambda counted: 2,
        lambda counted: max(2, 4000 >> counted.number),  # shrinks whatever is asked
        lambda counted: (4000, 100)[counted.number % 2],
        lambda counted: (4000, 279, 281)[min(counted.number, 2)],
    ],
    ids=["tiny", "shrinks", "to and fro", "fits once"],
)
def test_a_lie_that_could_be_true_is_found_out_by_the_server_and_never_costs_the_question(
    site: Site, lie: OnCount
):
    _, server, long = ask(site, lie)
    notes = sent(server)
    assert len(notes) <= 1
    # Two words around the note, and five of the template.
    fits = [note for note in notes if len(note.split()) + 7 + ANSWER <= WINDOW]
    assert long.scores == {"exact_match": 1.0 if fits else Unscored(Reason.CONTEXT_LENGTH)}


def test_a_slow_count_is_waited_for_as_an_answer_is(site: Site):
    _, server, long = ask(site, lambda counted: Slow(0.3) if counted.number < 2 else None)
    assert len(sent(server)) == 1
    assert long.scores == {"exact_match": 1.0}
