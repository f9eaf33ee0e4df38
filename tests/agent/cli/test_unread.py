"""Commands say which answers were not read, by kind, with redacted examples and the option to try."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agent.cli.summarize import summarize
from agent.cli.unread import hide_examples
from agent.reading.version import READING_VERSION
from agent.vocabulary import Reason, Unscored
from tests.agent.runs.suites import answers_file
from tests.agent.runs.test_score_file import scored
from tests.agent.service.filled_site import FilledSite, case, failed, filled_site, graded
from tests.agent.service.leaky_texts import CANARIES, LEAKY

DATA = Path(__file__).parents[3] / "benchmarks/med_qa/sample"
UNPARSED = Unscored(Reason.UNPARSED)


@pytest.fixture
def filled(tmp_path: Path) -> FilledSite:
    return filled_site(tmp_path)


def run(filled: FilledSite, *words: str) -> Result:
    done = CliRunner().invoke(summarize, ["--suite", "november", *words], obj=filled.site)
    assert done.exit_code == 0, (done.output, done.exception)
    return done


def unread(number: int, answer: str):
    return case(number, answer=answer, score=UNPARSED)


@pytest.mark.full
def test_examples_are_redacted_and_grouped_by_kind_with_the_option_to_try(filled: FilledSite):
    refusals = [unread(number, f"I'm sorry, I cannot help. {LEAKY}") for number in range(7)]
    fields = [
        unread(number, '{"reasoning": "It may be.", "outcome": "A"}') for number in range(7, 9)
    ]
    filled.add([*refusals, *fields, *graded(10, 20)[9:]])
    for words in ((), ("--unread",)):
        done = run(filled, *words)
        shown = done.stdout + done.stderr
        assert "refusal" in shown
        assert "I'm sorry, I cannot help." in shown
        assert "[MRN-1]" in shown
        assert "JSON without an answer key" in shown
        assert "`parser=json,answer_field=NAME` or" not in shown
        assert "`parser=json,answer_field=NAME` in the run entry" in shown
        assert "keys: reasoning, outcome" in shown
        assert [canary for canary in CANARIES if canary in shown] == []
    notice = run(filled).stderr
    assert "9 of 20 answers unread (exact_match)" in notice
    assert notice.count("I'm sorry") + notice.count("It may be") == 5
    assert run(filled, "--unread").stdout.count("I'm sorry") == 5


def test_a_jobs_log_holds_no_example(filled: FilledSite):
    refusals = [unread(number, "I'm sorry, I cannot help.") for number in range(9)]
    filled.add([*refusals, *graded(10, 20)[9:]])
    with hide_examples():
        notice = run(filled).stderr
    assert "9 of 20 answers unread (exact_match)" in notice
    assert "I'm sorry" not in notice
    assert "No examples are shown: this output is kept in a file" in notice
    assert "I'm sorry" in run(filled).stderr  # only meanwhile


def test_rows_hold_counts_reasons_and_kinds(filled: FilledSite):
    cut_off = case(1, answer="The", score=Unscored(Reason.LENGTH))
    filled.add([unread(0, "A or B"), cut_off, case(2)])
    rows = json.loads(run(filled, "--unread", "--format", "json").stdout)
    assert [(row["reason"], row["kind"], row["count"], row["answers"]) for row in rows] == [
        ("unparsed", "several options named", 1, 3),
        ("length", "cut off", 1, 3),
    ]
    assert rows[0]["examples"] == ["A or B"]
    table = run(filled, "--unread", "--format", "csv").stdout
    assert table.splitlines()[1].endswith("exact_match,unparsed,several options named,1,3")


def test_few_unread_answers_are_shown_only_on_request(filled: FilledSite):
    filled.add([unread(0, "A or B"), *graded(20, 40)[1:]])
    assert "unread" not in run(filled).stderr
    assert "A or B" in run(filled, "--unread").stdout


def test_where_every_answer_was_read_nothing_is_shown(filled: FilledSite):
    filled.add([case(0), case(1)])
    assert "every answer was read" in run(filled, "--unread").stdout
    assert run(filled).stderr == ""


def test_purged_texts_leave_the_counts(filled: FilledSite):
    filled.add([unread(0, "A or B"), case(1)])
    with filled.site.store() as store:
        store.purge(0)
    done = run(filled, "--unread")
    assert "texts purged" in done.stdout
    assert "A or B" not in done.stdout


def test_answers_that_the_server_withheld_were_not_purged(filled: FilledSite):
    filled.add([failed(0, Reason.CONTENT_FILTER), failed(1, Reason.EMPTY), case(2)])
    rows = json.loads(run(filled, "--unread", "--format", "json").stdout)
    assert [(row["reason"], row["kind"], row["count"]) for row in rows] == [
        ("content_filter", "withheld by the server's filter", 1),
        ("empty", "empty", 1),
    ]


def test_a_run_that_was_read_by_other_rules_is_pointed_to_rescore(filled: FilledSite):
    filled.add([case(0)], reading_version=READING_VERSION - 1)
    assert "`intramural rescore --suite november`" in run(filled).stderr


def test_unread_does_not_go_with_subgroups(filled: FilledSite):
    filled.add([case(0)])
    words = ["--suite", "november", "--unread", "--subgroups"]
    done = CliRunner().invoke(summarize, words, obj=filled.site)
    assert "--unread" in str(done.exception)


@pytest.mark.full
def test_score_shows_five_examples_without_a_site(tmp_path: Path):
    answers = {str(number): "A or B, says Dr. Holloway" for number in range(1, 8)}
    answers |= {str(number): "B" for number in range(8, 20)}
    file = answers_file(tmp_path / "answers.jsonl", answers)
    done = scored("med_qa", "--data", DATA, "--answers", file, site=tmp_path)
    assert "7 of 19 answers unread (exact_match), by kind:" in done.stderr
    assert "7  several options named (unparsed)" in done.stderr
    assert done.stderr.count("A or B, says [NAME-") == 5
    assert "Holloway" not in done.output


@pytest.mark.parametrize("answer", ["", "<think>It may be"])
def test_score_gives_no_advice_about_asking_a_server(tmp_path: Path, answer: str):
    answers = {str(number): answer for number in range(1, 8)}
    file = answers_file(tmp_path / "answers.jsonl", answers)
    done = scored("med_qa", "--data", DATA, "--answers", file, site=tmp_path)
    assert "7 of 7 answers unread" in done.stderr
    assert "run entry" not in done.output
    assert "doctor" not in done.output


def test_further_runs_are_pointed_to_with_their_suite(filled: FilledSite):
    for count in range(2, 7):
        entry = f"pubmed_qa:model=demo/clinic-{count}b"
        filled.add([unread(number, "A or B") for number in range(count)], entry=entry)
    notice = (
        CliRunner().invoke(summarize, ["--suite", "november", "--runs"], obj=filled.site).stderr
    )
    assert (
        "2 more runs with unread answers: `intramural summarize --suite november --unread`"
        in notice
    )


@pytest.mark.full
def test_an_overridden_parser_is_the_first_thing_to_drop(filled: FilledSite, tmp_path: Path):
    entry = "pubmed_qa:model=demo/clinic-7b,parser=json,answer_field=pick"
    filled.add([unread(number, "The answer is A.") for number in range(3)], entry=entry)
    tips = [line for line in run(filled).stderr.splitlines() if "To try" in line]
    assert "Remove `parser`, `answer_field` and `answer_pattern` from the run entry" in tips[0]
    assert "parser=json,answer_field=NAME" in tips[1]
    answers = answers_file(tmp_path / "answers.jsonl", {str(n): "B" for n in range(1, 20)})
    words = ("--data", DATA, "--answers", answers, "--parser", "json")
    done = scored("med_qa", *words, site=tmp_path)
    tips = [line for line in done.stderr.splitlines() if "To try" in line]
    assert "Omit `--parser`" in tips[0]
    assert "option_letter" not in done.stderr


@pytest.mark.full
def test_only_common_words_are_shown_as_keys(filled: FilledSite):
    answer = '{"outcome": "unclear", "Maria Holloway": "unclear", "why": "?"}'
    filled.add([unread(number, answer) for number in range(3)])
    for words in ((), ("--unread",)):
        done = run(filled, *words)
        assert "keys: outcome, why" in done.output
        assert "Holloway" not in done.output
