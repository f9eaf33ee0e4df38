"""Own metrics that fail, misbehave or spy get no score for the answer, and never more than their limits."""

import os
import signal
import time
from pathlib import Path

import pytest

from agent.own_metrics import process, scorer
from agent.own_metrics.scorer import OwnMetricScorer
from agent.vocabulary import Reason, Unscored
from tests.agent.own_metrics.metrics import HEADER, approve, instance, write_metric

FAILED = Unscored(Reason.METRIC_FAILED)
CANARY = "/srv/site/keys/canary-4417.key"


def score_all(
    folder: Path, body: str, *answers: str, header: str = HEADER
) -> tuple[list[float | Unscored], list[str]]:
    """Return the scores of some answers by a metric with this body, and what is said about its faults."""
    source = approve(write_metric(folder, body, header=header))
    with OwnMetricScorer([source]) as own:
        scores = [own.score("test", answer, instance("5 mg")) for answer in answers]
    return scores, own.describe_faults()


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until_dead(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(pid)


def test_a_metric_sees_answer_references_prompt_and_extra_columns(tmp_path: Path):
    body = (
        "assert context['messages'][0]['content'] == 'How much?'\n"
        "assert context['extra'] == {'unit': 'mg'}\n"
        "assert context['multiple_choice'] is False\n"
        "return sum(each.correct and each.text in answer for each in references) / len(references)"
    )
    source = approve(write_metric(tmp_path, body))
    question = instance("5 mg", "10 mg", extra={"unit": "mg"})
    with OwnMetricScorer([source]) as own:
        assert own.score("test", "take 5 mg", question) == 0.5
        assert own.score("test", "take 5 mg, then 10 mg", question) == 1
    assert own.describe_faults() == []


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return 'no_reference'", Reason.NO_REFERENCE),
        ("return 'unparsed'", Reason.UNPARSED),
        ("return 'not_applicable'", Reason.NOT_APPLICABLE),
    ],
)
def test_a_reason_in_place_of_a_score_is_kept(tmp_path: Path, body: str, reason: Reason):
    assert score_all(tmp_path, body, "x") == ([Unscored(reason)], [])


def test_a_blank_answer_is_empty_without_asking_the_metric(tmp_path: Path):
    assert score_all(tmp_path, "return 1", " \n") == ([Unscored(Reason.EMPTY)], [])


@pytest.mark.full
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("pass", "returned None"),
        ("return 'Mrs Oberhuber'", "returned a text that is none of"),
        ("return [1]", "returned a value that is neither a number nor a reason"),
        ("return float('nan')", "returned a number outside its range of 0 to 1"),
        ("return float('inf')", "returned a number outside its range of 0 to 1"),
        ("return 1.01", "returned a number outside its range of 0 to 1"),
        ("return 10 ** 400", "raised OverflowError"),
        ("return {}[answer]", "raised KeyError in line 6"),
        ("raise SystemExit(answer)", "raised SystemExit in line 6"),
        ("raise type(answer, (Exception,), {})", "raised an exception of its own type in line 6"),
        ("import os; os._exit(0)", "ended its own process"),
        ("import os; os.kill(os.getpid(), 11)", "ended its own process"),
    ],
)
def test_what_is_no_score_is_unscored_and_said_without_the_text(
    tmp_path: Path, body: str, words: str
):
    answer = "Oberhuber"
    scores, faults = score_all(tmp_path, body, answer, answer)
    assert scores == [FAILED, FAILED]
    (fault,) = faults
    assert words in fault
    assert fault.startswith("own/test ")
    assert fault.endswith(" (2 unscored)")
    assert "Oberhuber" not in fault


def test_a_binary_metric_that_returns_a_share_is_unscored(tmp_path: Path):
    scores, (fault,) = score_all(tmp_path, "return 0.5", "x", header=f"{HEADER}BINARY = True\n")
    assert scores == [FAILED]
    assert "declares BINARY" in fault


def test_a_failure_about_one_answer_leaves_the_others_their_scores(tmp_path: Path):
    scores, _ = score_all(tmp_path, "return 1 / len(answer.strip('0'))", "1", "0", "11")
    assert scores == [1, FAILED, 0.5]


def test_a_metric_that_never_returns_is_ended_at_its_limit_and_given_up_after_three_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(process, "SECONDS", 0.3)
    body = "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass"
    began = time.monotonic()
    scores, faults = score_all(tmp_path, body, *"abcdefgh")
    assert time.monotonic() - began < 8
    assert scores == [FAILED] * 8
    assert faults == [
        "own/test was ended at its limit of 0.3 s (3 unscored)",
        f"own/test was not tried again after {scorer.MAX_LIMITS} answers in a row (5 unscored)",
    ]


def test_a_metric_that_stops_its_process_is_ended_at_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(process, "SECONDS", 0.3)
    body = "import os, signal\nif answer == 'stop': os.kill(os.getpid(), signal.SIGSTOP)\nreturn 1"
    assert score_all(tmp_path, body, "stop", "go")[0] == [FAILED, 1]


def test_a_metric_that_eats_memory_is_stopped_and_the_next_answer_is_scored(tmp_path: Path):
    body = "text = b'x' * (len(answer) * 2 ** 30)\nreturn len(text) % 2"
    scores, (fault,) = score_all(tmp_path, body, "1234567", "")
    assert scores == [FAILED, Unscored(Reason.EMPTY)]
    assert "needed more than its limit of 2048 MiB of memory" in fault


def test_a_metric_that_prints_and_reads_does_not_disturb_the_exchange(tmp_path: Path):
    body = (
        "import os, sys\n"
        'print(\'{"value": 0.0, "number": 1}\', flush=True)\n'
        "print('noise', file=sys.stderr)\n"
        "os.write(1, b'{}')\n"
        "assert sys.stdin.read() == '' and os.read(0, 10) == b''\n"
        "return 1"
    )
    assert score_all(tmp_path, body, "a", "b") == ([1, 1], [])


def test_a_line_that_a_metric_writes_to_the_pipe_is_not_taken_for_a_later_reply(tmp_path: Path):
    body = (
        "import os\n"
        "for descriptor in range(3, 20):\n"
        '    try: os.write(descriptor, b\'{"value": 1.0, "number": 2}\')\n'
        "    except OSError: pass\n"
        "return 0"
    )
    scores, (fault,) = score_all(tmp_path, body, "a", "b")
    assert scores == [FAILED, FAILED]
    assert "disturbed the exchange" in fault


def test_what_a_metric_forks_is_ended_with_it(tmp_path: Path):
    note = tmp_path / "pid"
    os.mkfifo(note)  # the limits let a metric write no file, but a pipe that somebody reads
    reader = os.open(note, os.O_RDONLY | os.O_NONBLOCK)
    body = (
        "import os, time\n"
        "try: pid = os.fork()\n"
        "except OSError: return 0\n"
        "if pid: return 1\n"
        f"with open({str(note)!r}, 'w') as file: file.write(str(os.getpid()))\n"
        "time.sleep(600)"
    )
    source = approve(write_metric(tmp_path, body))
    with OwnMetricScorer([source]) as own:
        forked = own.score("test", "a", instance()) == 1
        pid = _read_number(reader) if forked else 0
        assert not forked or is_alive(pid)
    assert not forked or wait_until_dead(pid)
    assert forked == (os.geteuid() == 0)  # only root may exceed the limit of processes
    os.close(reader)


def _read_number(reader: int) -> int:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if text := os.read(reader, 100):
            return int(text)
        time.sleep(0.02)
    raise AssertionError


def test_a_metric_finds_no_key_no_open_file_and_no_module_of_the_agent_at_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("INTRAMURAL_SITE", CANARY)
    monkeypatch.setenv("INTRAMURAL_TOKEN", CANARY)
    secret = tmp_path / "secret"
    secret.write_text(CANARY)
    descriptor = os.open(secret, os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    body = (
        "import os, sys\n"
        f"if {CANARY!r} in ' '.join([*os.environ.values(), *sys.argv, os.getcwd(), *sys.path]): return 0\n"
        "if {'HOME', 'PATH', 'INTRAMURAL_SITE', 'PYTHONPATH'} & set(os.environ): return 0.1\n"
        f"if os.path.exists('/proc/self/fd') and any({str(secret)!r} == os.path.realpath(f'/proc/self/fd/{{n}}')\n"
        "    for n in os.listdir('/proc/self/fd')): return 0.2\n"
        "if os.listdir('.'): return 0.3\n"
        "if any(name.split('.')[0] == 'agent' for name in sys.modules): return 0.4\n"
        "if os.getpgid(0) != os.getpid(): return 0.5\n"
        "try: os.write(os.open('left', os.O_CREAT | os.O_WRONLY), b'x')\n"
        "except OSError: return 1\n"
        "return 0.6"
    )
    assert score_all(tmp_path, body, "a") == ([1], [])
    os.close(descriptor)


def test_sets_have_the_same_order_in_every_process(tmp_path: Path):
    body = "return int(''.join(sorted(set(answer), key=hash)) == answer)"
    orders = "".join(sorted("abcdefgh", key=hash))
    first, _ = score_all(tmp_path, body, "abcdefgh", orders)
    second, _ = score_all(tmp_path, body, "abcdefgh", orders)
    assert first == second


def test_an_interruption_does_not_leave_a_reply_for_the_next_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    source = approve(
        write_metric(tmp_path, "import time\ntime.sleep(answer == 'slow')\nreturn len(answer) / 10")
    )
    with OwnMetricScorer([source]) as own:
        assert own.score("test", "ab", instance()) == 0.2

        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            own.score("test", "slow", instance())
        signal.signal(signal.SIGALRM, before)
        assert own.score("test", "abc", instance()) == 0.3


def test_a_long_answer_is_sent_whole(tmp_path: Path):
    answer = "é" * 1_000_000
    assert score_all(tmp_path, "return int(len(answer) == 1_000_000)", answer) == ([1], [])


def test_a_reply_that_is_nested_too_deeply_is_no_score(tmp_path: Path):
    body = (
        "import os\n"
        "for descriptor in range(3, 20):\n"
        "    try: os.write(descriptor, b'[' * 60_000 + b'\\n')\n"
        "    except OSError: pass\n"
        "while True: pass"
    )
    scores, (fault,) = score_all(tmp_path, body, "a")
    assert scores == [FAILED]
    assert "disturbed the exchange" in fault


def test_numpy_can_be_used_within_the_limits(tmp_path: Path):
    body = "import numpy\nreturn numpy.float32(numpy.linalg.norm(numpy.ones((300, 300))) / 300)"
    assert score_all(tmp_path, body, "a") == ([1], [])
