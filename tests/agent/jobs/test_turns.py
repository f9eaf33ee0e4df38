"""Which queued jobs may start: in order, by server, by suite."""

from agent.jobs.turns import TurnLimits, choose_next, explain_waiting
from agent.store import Job, JobState, QueuedCommand

LIMITS = TurnLimits(jobs_at_once=4, runs_per_server=1)


def job(
    name: str,
    *servers: str,
    state: JobState = JobState.QUEUED,
    suite: str = "",
    whole: bool = False,
) -> Job:
    command = QueuedCommand(("run",), name, "ada", servers, suite=suite, whole_suite=whole)
    place = ord(name[0])
    return Job(name, command, state, place, None, 0.0, None, None, None, "", 0, None)


def names(jobs: list[Job]) -> str:
    return "".join(each.job_id for each in jobs)


def test_jobs_on_one_server_take_turns_and_those_on_others_pass():
    jobs = [job("a", "one", state=JobState.RUNNING), job("b", "one"), job("c", "two"), job("d")]
    assert names(choose_next(jobs, LIMITS)) == "cd"
    waits = explain_waiting(jobs[1], jobs, LIMITS)
    assert waits == "waits for job a, which asks the same inference server"
    assert explain_waiting(jobs[2], jobs, LIMITS) == ""


def test_a_job_that_needs_two_servers_is_not_overtaken_forever():
    jobs = [job("a", "one", state=JobState.RUNNING), job("b", "one", "two"), job("c", "two")]
    assert names(choose_next(jobs, LIMITS)) == ""
    waits = explain_waiting(jobs[2], jobs, LIMITS)
    assert waits == "waits for job b, which asks the same inference server"


def test_as_many_share_a_server_as_the_setting_allows():
    jobs = [job(name, "one") for name in "abc"]
    assert names(choose_next(jobs, TurnLimits(4, 2))) == "ab"


def test_no_more_jobs_run_than_the_setting_allows():
    jobs = [job("a", state=JobState.CANCELLING), job("b"), job("c")]
    assert names(choose_next(jobs, TurnLimits(2, 1))) == "b"
    assert (
        explain_waiting(jobs[1], jobs, TurnLimits(1, 1))
        == "waits: 1 job of at most 1 at once running"
    )


def test_a_job_whose_process_starts_is_not_started_twice_and_keeps_its_server():
    jobs = [job("a", "one"), job("b", "one")]
    assert names(choose_next(jobs, LIMITS, starting=["a"])) == ""


def test_judging_a_suite_waits_for_the_runs_that_fill_it_and_later_runs_wait_for_the_judging():
    runs = [job("a", "one", suite="s", state=JobState.RUNNING), job("b", "two", suite="s")]
    judging = job("c", "three", suite="s", whole=True)
    later = job("d", "four", suite="s")
    other = job("e", "five", suite="t", whole=True)
    assert names(choose_next([*runs, judging, later, other], LIMITS)) == "be"
    assert names(choose_next([judging, later, other], LIMITS)) == "ce"
    waits = explain_waiting(later, [judging, later, other], LIMITS)
    assert waits == "waits for job c, which works on the same suite"
