"""The form for a new run: benchmarks, models and size; then what it would take; then into the queue."""

import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from starlette.responses import Response

from agent.access.roles import Action
from agent.errors import AgentError, ConfigError
from agent.io.plain_text import printable
from agent.service.web.call import Call
from agent.service.web.catalog_pages import BenchmarkLine, group_by_category, read_benchmarks
from agent.service.web.job_pages import find_readable_job
from agent.service.web.model_lines import ModelLine, list_file_faults, read_models
from agent.service.web.queueing import queue_for_caller, schedule_for_caller
from agent.service.web.refusals import NotAllowedError
from agent.service.web.run_choices import DEFAULT_SUITE, Wish, read_choices
from agent.service.web.schedule_pages import SCHEDULE_ADDED, SCHEDULES
from agent.service.web.service import Desk
from agent.store import Job

_FORECAST_WITHIN_S = (
    120.0  # servers are asked for it, and a slow one must not keep the page forever
)
_NOTE = "note: "
_MOST_RUNS = 400
_MOST_DIGITS = 9


@dataclass(frozen=True, slots=True)
class ForecastBlock:
    """What one run would take, or all of them together: a heading, and what is expected in words."""

    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownForecast:
    """What a wish would take.

    Attributes:
        summary: all runs together, or the only one; None if a server does not run, so that nothing is expected.
        parts: each run, if there are several.
        notes: what else is to be known before the start.
    """

    summary: ForecastBlock | None
    parts: tuple[ForecastBlock, ...] = ()
    notes: tuple[str, ...] = ()


def show_form(desk: Desk, call: Call) -> Response:
    """Show the form. Fields of the address fill it in, so that a page can link to a prepared form.

    The choices of an earlier job are named by the job's id: names of private suites are no part of an address.
    """
    job_id = call.get("job")
    if not job_id:
        return _draw_form(desk, call, _read_wish(call))
    job = find_readable_job(desk, job_id)
    if not call.signed_in.may(Action.CHANGE_JOBS, job.account):
        raise NotAllowedError("Your account may not see the choices of this job.")
    wish = read_choices(desk, job)
    if wish is None:
        raise ConfigError(
            "this job has choices that the form does not have", "Run it again on its own page."
        )
    return _draw_form(desk, call, wish, earlier=job)


def answer_form(desk: Desk, call: Call) -> Response:
    """Show what the run would take or, when that was seen, queue it."""
    wish = _read_wish(call)
    try:
        arguments = build_command(desk, wish)
        if call.get("step") not in ("queue", "schedule"):
            # A server that does not answer keeps a thread of the service waiting: one for each account, and no more.
            with desk.service.forecasting.begin(call.signed_in.account.account_id):
                forecast = _forecast(desk, wish, arguments)
            return _draw_form(desk, call, wish, forecast=forecast)
        if call.get("step") == "schedule":
            schedule_for_caller(desk, call, call.require("cron", "The time"), arguments)
            return desk.confirm(call, SCHEDULES, SCHEDULE_ADDED)
        job = queue_for_caller(desk, call, arguments)
    except AgentError as error:
        faults = (*list_file_faults(desk, error), error.advice)
        return _draw_form(desk, call, wish, status=400, problem=_join_sentences(faults))
    return desk.confirm(call, f"/jobs/{job.job_id}", "The run is queued.")


def _draw_form(
    desk: Desk,
    call: Call,
    wish: Wish,
    *,
    status: int = 200,
    problem: str = "",
    forecast: ShownForecast | None = None,
    earlier: Job | None = None,
) -> Response:
    """Draw the form.

    Args:
        desk: what the handler works with.
        call: the request.
        wish: what fills the form in.
        status: the status of the answer.
        problem: why what was just asked for cannot be done.
        forecast: what it would take.
        earlier: the job whose choices fill the form in.
    """
    models = read_models(desk)
    benchmarks = read_benchmarks(desk.site)
    missing: tuple[str, ...] = ()
    if earlier is not None:
        usable = [line.deployment for line in models.lines if line.is_usable]
        ready = list_offered([line for line in benchmarks if line.is_ready])
        missing = wish.list_missing(ready, usable)
    return desk.draw(
        "new_run.html",
        call,
        status,
        groups=group_by_category(benchmarks),
        earlier=earlier,
        missing=missing,
        models=models.lines,
        faults=models.faults,
        wish=wish,
        problem=problem,
        forecast=forecast,
    )


def _read_wish(call: Call) -> Wish:
    fields = call.form or call.query
    return Wish(
        benchmarks=fields.get("benchmark", ()),
        deployments=fields.get("deployment", ()),
        suite=call.get("suite", DEFAULT_SUITE).strip() or DEFAULT_SUITE,
        instances=call.get("instances", "" if call.form else "20").strip(),
        judging="judging" in fields or not call.form,
        private="private" in fields,
        cron=call.get("cron").strip(),
    )


def build_command(desk: Desk, wish: Wish) -> tuple[str, ...]:
    """Return the command line of the run that is wished for.

    Raises:
        ConfigError: nothing was chosen, too much, or something that is not in the lists.
    """
    benchmarks, found = read_benchmarks(desk.site), read_models(desk)
    models = found.lines
    if found.faults:
        raise ConfigError("no model can be chosen", "Correct the file of deployments first.")
    if not wish.benchmarks:
        raise ConfigError("no benchmark is chosen", "Choose at least one benchmark.")
    if not wish.deployments:
        raise ConfigError("no model is chosen", "Choose at least one model.")
    if len(wish.benchmarks) * len(wish.deployments) > _MOST_RUNS:
        raise ConfigError(
            f"these are more than {_MOST_RUNS} runs", "Choose fewer, in several jobs."
        )
    model_names = {line.deployment: line.model for line in models}
    _check_offered(wish.benchmarks, list_offered(benchmarks), "benchmark")
    _check_offered(wish.deployments, set(model_names), "model")
    arguments = ["run", "--suite", wish.suite]
    if wish.instances:
        is_number = wish.instances.isascii() and wish.instances.isdigit()
        if not is_number or len(wish.instances) > _MOST_DIGITS or int(wish.instances) < 1:
            raise ConfigError(
                "the number of instances must be a whole number of at least 1",
                "Leave the field empty for all instances.",
            )
        arguments += ["--max-eval-instances", wish.instances]
    if not wish.judging:
        arguments.append("--no-judging")
    for deployment in wish.deployments:
        if deployment in _list_resting(models):
            arguments += ["--serve", deployment]
    if wish.private:
        arguments.append("--private")
    for deployment in wish.deployments:
        for benchmark in wish.benchmarks:
            joint = "," if ":" in benchmark else ":"
            entry = (
                f"{benchmark}{joint}model={model_names[deployment]},model_deployment={deployment}"
            )
            arguments += ["--run-entries", entry]
    return tuple(arguments)


def list_offered(benchmarks: Iterable[BenchmarkLine]) -> set[str]:
    """Return the names under which the form offers benchmarks: those with parts, by part."""
    offered: set[str] = set()
    for line in benchmarks:
        offered |= {f"{line.id}:{subset}" for subset in line.subsets} or {line.id}
    return offered


def _check_offered(chosen: Sequence[str], offered: set[str], kind: str) -> None:
    if not offered.issuperset(chosen):
        raise ConfigError(f"a {kind} that is not in the list was chosen", "Choose from the list.")


def _list_resting(models: Sequence[ModelLine]) -> list[str]:
    """Return the deployments whose server this site starts for a run, because it does not run now."""
    return [line.deployment for line in models if line.is_resting]


def _forecast(desk: Desk, wish: Wish, arguments: Sequence[str]) -> ShownForecast:
    """Return what `run --dry-run` says, from a process of its own.

    Raises:
        ConfigError: it cannot be run as wished; the message is that of the command.
    """
    resting = [name for name in wish.deployments if name in _list_resting(read_models(desk).lines)]
    if resting:
        words = (
            f"The server of {', '.join(resting)} does not run now, so nothing can be timed. It is started when the "
            "run’s turn has come, and stopped afterwards."
        )
        return ShownForecast(None, notes=(words,))
    directory = str(desk.site.directory)
    account = [] if desk.audience.account is None else ["--for-account", desk.audience.account]
    agent = [sys.executable, "-m", "agent", "--site", directory, *account]
    command = [*agent, *arguments, "--dry-run"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=_FORECAST_WITHIN_S,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise ConfigError(
            f"the servers did not answer within {_FORECAST_WITHIN_S:.0f} seconds",
            "Look at the page of models, or queue the run without a forecast.",
        ) from None
    notes = _list_lines(desk, done.stderr)
    if done.returncode:
        faults = _join_sentences(line.strip().removeprefix("error: ") for line in notes)
        raise ConfigError(faults or "there is no forecast", "")
    return read_forecast(_list_lines(desk, done.stdout), notes)


def _join_sentences(lines: Iterable[str]) -> str:
    """Return lines as sentences, each with a full stop."""
    return " ".join(line if line.endswith(".") else f"{line}." for line in lines if line)


def _list_lines(desk: Desk, printed: str) -> list[str]:
    """Return what a command printed, without the folder of the site."""
    directory = str(desk.site.directory)
    words = printed.replace(f" --site {directory}", "").replace(f"{directory}/", "")
    return [printable(line) for line in words.splitlines() if line.strip()]


def read_forecast(lines: Sequence[str], notes: Sequence[str] = ()) -> ShownForecast:
    """Read the output of `run --dry-run`: a heading for each run, and indented lines about it; the sum comes last.

    Notes within the lines of a run go to the notes of all, since the blocks of several runs are folded away.
    """
    blocks: list[ForecastBlock] = []
    shown = [note.strip().removeprefix(_NOTE) for note in notes]
    for line in lines:
        if not line.startswith(" ") or not blocks:
            blocks.append(ForecastBlock(line, ()))
        elif line.strip().startswith(_NOTE):
            shown.append(line.strip().removeprefix(_NOTE))
        else:
            block = blocks.pop()
            blocks.append(replace(block, lines=(*block.lines, line.strip())))
    summary = blocks.pop() if blocks else None
    return ShownForecast(summary, tuple(blocks), tuple(dict.fromkeys(shown)))
