"""Juries of scripted judges on loopback: what they are asked, what is kept, and what happens when they fail."""

import io
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from agent.catalog.deployments import Deployment
from agent.cli.doctor import Check, examine
from agent.cli.main import intramural
from agent.errors import ConfigError, InferenceError
from agent.io import progress as progress_module
from agent.io.progress import Progress
from agent.judging import judge_suite as judge_suite_module
from agent.judging import judgement_writer as judgement_writer_module
from agent.judging.judge_run import count_answers_at_once
from agent.judging.judge_suite import JudgedRun, JudgeOptions, judge_suite
from agent.judging.jury_selection import SeatedJudge
from agent.metrics import Judge
from agent.site.directory import Site
from agent.vocabulary import Reason, Unscored
from tests.agent.fault_server import Action, Asked, FaultServer, Message, Status
from tests.agent.judging.juries import (
    NOTE,
    acts,
    deploy,
    judge_server,
    judged,
    kept,
    open_benchmark,
    says,
    verdict,
    write_jury,
)
from tests.agent.runs.suites import NOWHERE, run

ENTRY = "open:model=m"


def test_three_judges_grade_every_answer_once_and_are_never_asked_again(site: Site):
    open_benchmark(site)
    scripts = [says(verdict(4, 5)), says(verdict(3, 3)), says(verdict(2.5, 1))]
    with (
        FaultServer(models=["m"], answer="An answer") as model,
        judge_server(scripts[0]) as a,
        judge_server(scripts[1]) as b,
        judge_server(scripts[2]) as c,
    ):
        deploy(site, {"a": a.url, "b": b.url, "c": c.url})
        write_jury(site.judges, "abc")
        (outcome,) = run(site, model.url, ENTRY)
        scores, seats = kept(site)
        assert scores == [pytest.approx((4.5 + 3 + 1.75) / 3)] * 3
        assert [[dict(seat.grades or {}) for seat in of] for of in seats.values()] == [
            [
                {"accuracy": 4, "clarity": 5},
                {"accuracy": 3, "clarity": 3},
                {"accuracy": 2.5, "clarity": 1},
            ]
        ] * 3
        assert (outcome.judged.asked, outcome.judged.answers, outcome.judged.open) == (9, 3, 0)
        (again,) = run(site, model.url, ENTRY)
        assert again.judged.asked == 0
        assert [len(judged(server)) for server in (a, b, c)] == [3, 3, 3]
        assert {asked.body["temperature"] for asked in judged(a)} == {0.0}
        assert {asked.body["max_tokens"] for asked in judged(a)} == {404}  # 2 criteria with words
        assert all(asked.body["response_format"]["type"] == "json_schema" for asked in judged(a))


def test_without_a_jury_answers_are_kept_and_not_judged(site: Site):
    open_benchmark(site)
    with FaultServer(models=["m"], answer="An answer") as model:
        (outcome,) = run(site, model.url, ENTRY)
    assert kept(site)[0] == [Unscored(Reason.NOT_JUDGED)] * 3
    assert outcome.judged.answers == 0


def test_a_reply_that_is_no_verdict_is_repaired_once_and_both_replies_are_kept(site: Site):
    open_benchmark(site, instances=1)
    with (
        FaultServer(models=["m"], answer="An answer") as model,
        judge_server(says("Good!", verdict(1, 2))) as a,
    ):
        deploy(site, {"a": a.url})
        write_jury(site.judges, "a")
        run(site, model.url, ENTRY)
        scores, seats = kept(site)
        assert scores == [1.5]
        assert seats[0][0].repaired
        assert len(judged(a)) == 2
    with site.store() as store:
        (one,) = store.runs.select("s")
        ((_, _, judgement),) = store.juries.read_every_seat(one.run_id, [0])[0]
        assert [reply.text for reply in judgement.replies] == ["Good!", verdict(1, 2)]


def with_setting(site: Site, line: str) -> Site:
    path = site.directory / "site.yaml"
    path.write_text(path.read_text() + line + "\n")
    return Site(site.directory)


def judge(site: Site, **options: object) -> list[JudgedRun]:
    return judge_suite(site, JudgeOptions("s", **options), Progress(quiet=True))[0]  # type: ignore[arg-type]


def test_blank_answers_never_go_to_a_judge(site: Site):
    open_benchmark(site)
    blank = acts(
        Message({"role": "assistant", "content": "  "}),
        Message({"role": "assistant", "content": "Words"}),
    )
    with FaultServer(models=["m"], fault=blank) as model, judge_server(says(verdict())) as a:
        deploy(site, {"a": a.url})
        write_jury(site.judges, "a")
        run(site, model.url, ENTRY, max_in_flight=1)
        assert kept(site)[0] == [Unscored(Reason.EMPTY), 4.5, 4.5]
        assert len(judged(a)) == 2


def test_equal_answers_to_equal_questions_are_judged_once(site: Site):
    open_benchmark(site, instances=8, same=True)
    with FaultServer(models=["m"], answer="The same") as model, judge_server(says(verdict())) as a:
        deploy(site, {"a": a.url})
        write_jury(site.judges, "a")
        (outcome,) = run(site, model.url, ENTRY)
        assert kept(site)[0] == [4.5] * 8
        assert len(judged(a)) == 1
        assert (outcome.judged.asked, outcome.judged.answers) == (1, 8)


def test_two_seats_of_one_deployment_are_two_seats_and_share_a_reply(site: Site):
    open_benchmark(site, instances=2)
    with FaultServer(models=["m"], answer="Words") as model, judge_server(says(verdict())) as a:
        deploy(site, {"a": a.url})
        entry = "  - {name: NAME, model: test/a, model_deployment: local/a}\n"
        site.judges.write_text(
            "judges:\n" + entry.replace("NAME", "one") + entry.replace("NAME", "two")
        )
        run(site, model.url, ENTRY)
        assert [len(seats) for seats in kept(site)[1].values()] == [2, 2]
        assert len(judged(a)) == 2


def test_the_judging_phase_is_shown_while_its_first_verdict_is_awaited(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    open_benchmark(site, instances=1)
    steady = says(verdict(3, 3))
    shown_to_judge: list[str] = []
    stream = io.StringIO()
    monkeypatch.setattr(judgement_writer_module, "TICK_BAR_EVERY_S", 0.05)
    monkeypatch.setattr(progress_module, "TICK_LINE_EVERY_S", 0.1)

    def slow(asked: Asked) -> Action | None:
        action = steady(asked)
        if action is not None:
            time.sleep(0.5)
            shown_to_judge.append(stream.getvalue())
        return action

    with FaultServer(models=["m"], answer="Words") as model, judge_server(slow) as a:
        deploy(site, {"a": a.url})
        write_jury(site.judges, "a")
        run(site, model.url, ENTRY, no_judging=True)
        judge_suite(site, JudgeOptions("s"), Progress(stream))
    lines = shown_to_judge[0].splitlines()
    assert len(lines) > 2
    assert lines[0].startswith("jury: m  0/1  0.")
    assert lines[0].endswith("s, 0/1 seats")
    assert stream.getvalue().splitlines()[-1].startswith("jury: m  1/1  ")


SEEDED = (
    "  - {name: NAME, model: test/a, model_deployment: local/a, seed: SEED, temperature: 0.5}\n"
)


def write_seeds(path: Path, *seeds: int) -> Path:
    """Write a jury of one deployment, with a seat for each seed."""
    seats = [
        SEEDED.replace("NAME", f"seat{number}").replace("SEED", str(seed))
        for number, seed in enumerate(seeds, 1)
    ]
    path.write_text("judges:\n" + "".join(seats))
    return path


def test_seats_of_one_deployment_with_seeds_of_their_own_are_asked_apart(site: Site):
    open_benchmark(site, instances=1)
    replies = says(verdict(1, 1), verdict(3, 3), verdict(5, 5))
    with FaultServer(models=["m"], answer="Words") as model, judge_server(replies) as a:
        deploy(site, {"a": a.url})
        write_seeds(site.judges, 1, 2, 3)
        run(site, model.url, ENTRY, max_in_flight=1)
        bodies = [asked.body for asked in judged(a)]
        assert sorted(body["seed"] for body in bodies) == [1, 2, 3]
        assert {body["temperature"] for body in bodies} == {0.5}
        scores, seats = kept(site)
        assert scores == [3.0]
        assert sorted((seat.grades or {})["accuracy"] for seat in seats[0]) == [1, 3, 5]
        run(site, model.url, ENTRY)
        assert len(judged(a)) == 3
        with site.store() as store:
            (stored,) = store.runs.select("s")
        assert [judge.seed for judge in stored.details.metrics[0].judges] == [1, 2, 3]


def test_a_changed_seed_is_another_seat_whose_judge_is_asked_again(site: Site, tmp_path: Path):
    open_benchmark(site, instances=1)
    replies = says(verdict(1, 1), verdict(5, 5))
    with FaultServer(models=["m"], answer="Words") as model, judge_server(replies) as a:
        deploy(site, {"a": a.url})
        seven, eight = write_seeds(tmp_path / "7.yaml", 7), write_seeds(tmp_path / "8.yaml", 8)
        run(site, model.url, ENTRY, judges=seven)
        with pytest.raises(ConfigError, match="another jury"):
            run(site, model.url, ENTRY, judges=eight)
        judge(site, judges=eight, replace=True)
        assert kept(site)[0] == [5.0]
        judge(site, judges=seven, replace=True)
        assert kept(site)[0] == [1.0]  # the replies of the first seed are still stored
        assert [asked.body["seed"] for asked in judged(a)] == [7, 8]


def test_a_judge_whose_server_ignores_or_refuses_seeds_is_reported(site: Site):
    open_benchmark(site, instances=1)
    with (
        FaultServer(models=["m"], answer="Words") as model,
        judge_server(says(verdict()), ignores=["seed"]) as a,
        judge_server(says(verdict()), refuses=["seed"]) as b,
    ):
        deploy(site, {"a": a.url})
        write_seeds(site.judges, 1, 2)
        run(site, model.url, ENTRY, no_judging=True)
        _, notes = judge_suite(site, JudgeOptions("s"), Progress(quiet=True))
        assert [note for note in notes if "judge local/a: The server ignores seeds" in note]
        deploy(site, {"a": b.url})
        jury = write_seeds(site.directory / "other.yaml", 3)
        with pytest.raises(InferenceError, match="refuses requests with a seed"):
            judge_suite(site, JudgeOptions("s", jury, replace=True), Progress(quiet=True))
        assert judged(b) == []


def test_a_jury_whose_seats_cannot_differ_is_reported_once(site: Site):
    open_benchmark(site, instances=1)
    with FaultServer(models=["m"], answer="Words") as model, judge_server(says(verdict())) as a:
        deploy(site, {"a": a.url})
        write_seeds(site.judges, 1, 2, 3)
        site.judges.write_text(
            site.judges.read_text().replace("temperature: 0.5", "temperature: 0")
        )
        run(site, model.url, ENTRY, no_judging=True)
        _, notes = judge_suite(site, JudgeOptions("s"), Progress(quiet=True))
    warnings = [note for note in notes if "seat1, seat2, seat3 always give the same" in note]
    assert len(warnings) == 1
    assert "local/a at temperature 0" in warnings[0]


@pytest.mark.full
def test_doctor_warns_of_seats_that_cannot_differ(site: Site):
    with judge_server(says(verdict())) as a:
        deploy(site, {"a": a.url})
        write_seeds(site.judges, 1, 2, 2)
        check = found(site, "jury")
        assert check.verdict == "warning"
        assert "seat2, seat3 always give the same verdict" in check.finding
        assert "local/a (seed 1, temperature 0.5)" in check.finding
        write_seeds(site.judges, 1, 2, 3)
        assert found(site, "jury").verdict == "ok"


def test_answers_are_judged_later_when_the_model_is_gone(site: Site, tmp_path: Path):
    open_benchmark(site)
    deploy(site, {"a": "http://127.0.0.1:9/v1"})
    write_jury(site.judges, "a")
    with FaultServer(models=["m"], answer="Words") as model:
        (outcome,) = run(site, model.url, ENTRY, no_judging=True)
        assert outcome.judged.answers == 0
        url = model.url
    with judge_server(says(verdict())) as a:
        deploy(site, {"a": a.url})
        (heard,) = judge(site)
        assert (heard.judged.answers, heard.summary.main.mean.value) == (3, 4.5)
        (again,) = judge(site)
        assert again.judged.asked == 0
        (settled,) = run(site, url, ENTRY)
        assert (settled.kept, settled.summary.main.mean.value) == (3, 4.5)


def test_another_jury_takes_over_only_when_told_to(site: Site, tmp_path: Path):
    open_benchmark(site)
    with (
        FaultServer(models=["m"], answer="Words") as model,
        judge_server(says(verdict(4, 4))) as a,
        judge_server(says(verdict(2, 2))) as b,
    ):
        deploy(site, {"a": a.url, "b": b.url})
        one, two = write_jury(tmp_path / "one.yaml", "a"), write_jury(tmp_path / "two.yaml", "b")
        run(site, model.url, ENTRY, judges=one)
        asked = len(model.asked)
        with pytest.raises(ConfigError, match="another jury"):
            run(site, model.url, ENTRY, judges=two)
        with pytest.raises(ConfigError, match="another jury"):
            judge(site, judges=two)
        assert kept(site)[0] == [4.0] * 3
        judge(site, judges=two, replace=True)
        assert kept(site)[0] == [2.0] * 3
        (settled,) = run(site, model.url, ENTRY, judges=two)
        assert len(model.asked) == asked  # the same plan, and nothing left to do
        assert settled.summary.main.mean.value == 2.0
        run(site, model.url, ENTRY, judges=one, replace=True)
        assert kept(site)[0] == [4.0] * 3
        assert [len(judged(server)) for server in (a, b)] == [
            3,
            3,
        ]  # the first jury's replies are still there
        assert sum(NOTE in asked.prompt for asked in model.asked) == 3


@pytest.mark.parametrize("first", ["same", "other"])
def test_a_jury_that_came_while_another_command_was_about_to_begin_is_not_let_go_unasked(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
):
    open_benchmark(site)
    real, came = judge_suite_module.probe_judges, False

    def meets(*given: Any) -> Any:
        nonlocal came
        if not came:
            came = True
            judge(site, judges=two if first == "same" else one)
        return real(*given)

    with (
        FaultServer(models=["m"], answer="Words") as model,
        judge_server(says(verdict(4, 4))) as a,
        judge_server(says(verdict(2, 2))) as b,
    ):
        deploy(site, {"a": a.url, "b": b.url})
        one, two = write_jury(tmp_path / "one.yaml", "a"), write_jury(tmp_path / "two.yaml", "b")
        run(site, model.url, ENTRY, no_judging=True)
        monkeypatch.setattr(judge_suite_module, "probe_judges", meets)
        if first == "same":
            (heard,) = judge(site, judges=two)
            assert heard.judged.asked == 0
            assert kept(site)[0] == [2.0] * 3
        else:
            with pytest.raises(ConfigError, match="another jury"):
                judge(site, judges=two)
            assert kept(site)[0] == [4.0] * 3
            assert len(judged(b)) == 0


def test_a_jury_can_begin_where_there_was_none(site: Site):
    open_benchmark(site)
    with FaultServer(models=["m"], answer="Words") as model, judge_server(says(verdict())) as a:
        run(site, model.url, ENTRY)
        with pytest.raises(ConfigError, match="no jury"):
            judge(site)
        deploy(site, {"a": a.url})
        write_jury(site.judges, "a")
        (heard,) = judge(site)
        assert heard.judged.answers == 3
        assert kept(site)[0] == [4.5] * 3


def test_a_judge_that_fails_leaves_its_seat_open_and_is_asked_again_alone(site: Site):
    open_benchmark(site, instances=4)
    broken = acts(Status(500))
    site = with_setting(site, "max_attempts: 1")
    with (
        FaultServer(models=["m"], answer="Words") as model,
        judge_server(says(verdict(3, 3))) as a,
        judge_server(says(verdict(3, 3))) as b,
        judge_server(broken) as c,
    ):
        deploy(site, {"a": a.url, "b": b.url, "c": c.url})
        write_jury(site.judges, "abc")
        (outcome,) = run(site, model.url, ENTRY)
        scores, seats = kept(site)
        assert scores == [3.0] * 4
        assert [of[2].reason for of in seats.values()] == ["server_error"] * 4
        assert (outcome.judged.open, outcome.failed) == (4, 0)
        c.fault = says(verdict(5, 4.5))
        (again,) = run(site, model.url, ENTRY)
        assert (again.judged.open, again.judged.asked) == (0, 4)
        assert kept(site)[0] == [pytest.approx((3 + 3 + 4.75) / 3)] * 4
        assert [len(judged(server)) for server in (a, b)] == [4, 4]


def test_a_connection_that_breaks_before_the_repair_leaves_the_first_reply(site: Site):
    open_benchmark(site, instances=1)
    site = with_setting(site, "max_attempts: 1")
    script = acts(Message({"role": "assistant", "content": "Hm."}), Status(503))
    with FaultServer(models=["m"], answer="Words") as model, judge_server(script) as a:
        deploy(site, {"a": a.url})
        write_jury(site.judges, "a")
        (outcome,) = run(site, model.url, ENTRY)
        assert outcome.judged.open == 1
        assert kept(site)[0] == [Unscored(Reason.NOT_JUDGED)]
        a.fault = says(verdict(2, 2))
        run(site, model.url, ENTRY)
        assert kept(site)[0] == [2.0]
        assert [len(asked.body["messages"]) > 2 for asked in judged(a)] == [False, True, True]


def test_judges_of_one_server_share_its_limit_and_leave_no_place_idle(site: Site):
    open_benchmark(site, instances=24)
    at_once: list[int] = []

    def script(asked: Asked) -> Action | None:
        if NOTE in asked.prompt:
            at_once.append(shared.in_flight)
        return says(verdict())(asked)

    with (
        FaultServer(models=["m"], answer="Words") as model,
        judge_server(script, latency_s=0.02) as shared,
    ):
        deploy(
            site, {"a": shared.url, "b": shared.url, "c": shared.url}, more="    max_in_flight: 4\n"
        )
        write_jury(site.judges, "abc")
        run(site, model.url, ENTRY)
        assert kept(site)[0] == [4.5] * 24
    assert len(at_once) == 72
    assert max(at_once) == 4


def test_helms_rule_reads_first_replies_and_stands_beside_ours(site: Site):
    open_benchmark(site, instances=1)
    with (
        FaultServer(models=["m"], answer="Words") as model,
        judge_server(says(verdict(2.9, 9), verdict(3, 3))) as a,
    ):
        deploy(site, {"a": a.url})
        write_jury(site.judges, "a")
        run(site, model.url, ENTRY, scoring="both")
        with site.store() as store:
            (one,) = store.runs.select("s")
            (instance,) = store.answers.read_instances(one.run_id, 0, 1)
        assert instance.scores == {"jury_score": 3.0, "jury_score@helm": (2 + 9) / 2}


def test_a_dry_run_says_what_each_judge_would_take_and_sends_no_case(site: Site):
    open_benchmark(site)
    with FaultServer(models=["m"], answer="Words") as model, judge_server(says(verdict())) as a:
        deploy(site, {"a": a.url, "b": NOWHERE})
        write_jury(site.judges, "ab")
        words = ["--site", str(site.directory), "run", "--server", model.url, "-r", ENTRY]
        done = CliRunner().invoke(intramural, [*words, "--dry-run"])
        assert done.exit_code == 0, done.output
        assert "judge local/a: 3 requests, about " in done.output
        assert " to 1,212 tokens out: answers as short as possible" in done.output
        assert "judge local/b cannot be asked" in done.output
        assert not any(NOTE in asked.prompt for server in (model, a) for asked in server.asked)
        deploy(site, {"a": a.url, "b": a.url})
        done = CliRunner().invoke(intramural, [*words, "--quiet"])
        assert done.exit_code == 0, done.output
        assert "3 answers judged with 6 requests to judges" in done.output
        assert "judge local/a: 3 judgements, 3 requests, " in done.output
        assert "judge local/b: 3 judgements, 3 requests, " in done.output


def test_seats_that_stay_empty_end_with_the_exit_code_that_says_run_again(site: Site):
    open_benchmark(site)
    site = with_setting(site, "max_attempts: 1")
    with FaultServer(models=["m"], answer="Words") as model, judge_server(acts(Status(500))) as a:
        deploy(site, {"a": a.url})
        write_jury(site.judges, "a")
        words = [
            "--site",
            str(site.directory),
            "run",
            "--server",
            model.url,
            "-r",
            ENTRY,
            "--suite",
            "s",
            "--quiet",
        ]
        done = CliRunner().invoke(intramural, words)
        assert done.exit_code == 9
        assert "answers that lack a judge's reply: 3; run the same command again" in done.output
        assert "seats filled: a 0 of 3 (3 server_error)" in done.output
        assert kept(site)[0] == [Unscored(Reason.NOT_JUDGED)] * 3
        done = CliRunner().invoke(
            intramural, ["--site", str(site.directory), "judge", "--suite", "s", "--quiet"]
        )
        assert done.exit_code == 9


@pytest.mark.full
def test_doctor_says_who_sits_on_the_sites_jury(site: Site):
    with judge_server(says(verdict())) as a:
        deploy(site, {"a": a.url, "b": a.url, "c": a.url})
        write_jury(site.judges, "abc", "quorum: 3\n")
        assert (
            "3 seats (local/a, local/b, local/c), of which 3 must give"
            in found(site, "jury").finding
        )
        write_jury(site.judges, "a")
        assert found(site, "jury").verdict == "warning"
        write_jury(site.judges, "ax")
        assert found(site, "jury").verdict == "failed"
        assert found(site, "jury").exit_code == 2


def found(site: Site, subject: str) -> Check:
    return next(check for check in examine(site) if check.subject == subject)


def test_judges_that_share_one_card_are_asked_one_after_the_other(site: Site):
    open_benchmark(site)
    with (
        FaultServer(models=["m"], answer="Words") as model,
        judge_server(says(verdict(4, 4))) as card,
    ):
        deploy(site, {"a": card.url, "b": NOWHERE, "c": NOWHERE})
        write_jury(site.judges, "abc")
        run(site, model.url, ENTRY, no_judging=True)
        judge(site, only=["a"])
        assert kept(site)[0] == [Unscored(Reason.NOT_JUDGED)] * 3
        deploy(site, {"a": NOWHERE, "b": card.url, "c": NOWHERE})
        judge(site, only=["local/b"])
        assert kept(site)[0] == [4.0] * 3  # two of three are a quorum
        card.fault = says(verdict(1, 1))
        deploy(site, {"a": NOWHERE, "b": NOWHERE, "c": card.url})
        (last,) = judge(site, only=["c"])
        assert (last.judged.asked, last.judged.open) == (3, 0)
        assert kept(site)[0] == [3.0] * 3
        assert [len(seats) for seats in kept(site)[1].values()] == [3, 3, 3]
        (nothing,) = judge(site)
        assert nothing.judged.asked == 0
        with pytest.raises(ConfigError, match="no judge 'd'"):
            judge(site, only=["d"])


@pytest.mark.parametrize(
    "how", [{"refuses": ["response_format"]}, {"ignores": ["response_format"]}], ids=str
)
def test_a_server_without_schemas_is_told_the_form_in_words_alone(
    site: Site, how: dict[str, list[str]]
):
    open_benchmark(site, instances=1)
    with (
        FaultServer(models=["m"], answer="Words") as model,
        judge_server(says(verdict()), **how) as a,
    ):
        deploy(site, {"a": a.url})
        write_jury(site.judges, "a")
        run(site, model.url, ENTRY)
        assert kept(site)[0] == [4.5]
        assert ["response_format" in asked.body for asked in judged(a)] == [False]


def test_what_does_not_fit_a_judge_closes_its_seat(site: Site):
    open_benchmark(site, instances=2)
    too_long = Status(400, body=b'{"error": {"message": "maximum context length is 10 tokens"}}')
    with (
        FaultServer(models=["m"], answer="Words") as model,
        judge_server(acts(too_long)) as a,
        judge_server(says(verdict(3, 3))) as b,
    ):
        deploy(site, {"a": a.url, "b": b.url})
        write_jury(site.judges, "ab")
        (outcome,) = run(site, model.url, ENTRY)
        scores, seats = kept(site)
        assert scores == [Unscored(Reason.NO_QUORUM)] * 2
        assert [of[0].reason for of in seats.values()] == ["context_length"] * 2
        assert outcome.judged.open == 0
        run(site, model.url, ENTRY)
        assert len(judged(a)) == 2


def test_grades_outlive_the_texts_that_were_purged(site: Site):
    open_benchmark(site)
    with FaultServer(models=["m"], answer="Words") as model, judge_server(says(verdict(3, 3))) as a:
        deploy(site, {"a": a.url})
        write_jury(site.judges, "a")
        run(site, model.url, ENTRY)
        with site.store() as store:
            assert store.purge(0) > 0
        (heard,) = judge(site)
        assert heard.judged.asked == 0
        (outcome,) = run(site, model.url, ENTRY)
        assert (outcome.kept, outcome.summary.main.mean.value) == (3, 3.0)
        assert len(judged(a)) == 3


def seat(name: str, *urls: str, at_once: int) -> SeatedJudge:
    first, *_ = urls
    replicas = urls if len(urls) > 1 else ()
    deployment = Deployment(name, name, base_url=first, replicas=replicas, served_model=name)
    return SeatedJudge(Judge(name, name), deployment, at_once)


def test_judges_that_share_a_server_work_on_fewer_answers_than_it_has_places():
    a, b = "http://a:1/v1", "http://b:1/v1"
    alone = [seat("one", a, at_once=8), seat("two", b, at_once=4)]
    shared = [seat("one", a, at_once=8), seat("two", a, at_once=4)]
    assert count_answers_at_once(alone) == 8
    assert count_answers_at_once(shared) == 2  # four places, for two judges
    assert count_answers_at_once([*shared, seat("three", a, b, at_once=9)]) == 3
    assert count_answers_at_once([seat("one", a, b, at_once=8)]) == 16
    assert count_answers_at_once([]) == 1
