"""Say on a page what errors and notes say in the words of the command line: with the page or the setting to go to.

Messages and advice are written for the command line, where most of them are read. Here, at the edge, a command that a
page stands for becomes that page, with a link if its reader may open it. Any other command is shown as code, and it is
said who runs it. Pure.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup, escape

from agent.access.roles import ALLOWED, Action
from agent.errors import AgentError
from agent.service.frame import Frame
from agent.store import Role


@dataclass(frozen=True, slots=True)
class PageForCommand:
    """A page that does what a command does.

    Attributes:
        name: its name, as in the navigation or its heading.
        path: its address.
        action: what its reader must be allowed to do.
        step: what to do there, as an imperative that ends with "on" or "from".
        doing: what has the effect of the command, before "the page"; empty for the page itself.
    """

    name: str
    path: str
    action: Action
    step: str
    doing: str = ""


_OUTBOX: Final = PageForCommand(
    "Outbox", "/outbox", Action.VIEW_OUTBOX, "look at the statements on"
)
_FEDERATION: Final = PageForCommand(
    "Federation", "/federation", Action.MANAGE_KEYS, "look at the keys on"
)
_RESET: Final = PageForCommand(
    "Begin a new epoch",
    "/federation/reset",
    Action.MANAGE_KEYS,
    "compare with the log on",
    "a request on",
)
_DATA: Final = PageForCommand(
    "Benchmarks", "/benchmarks", Action.VIEW_DATA, "open the benchmark on"
)
_ACCOUNTS: Final = PageForCommand(
    "Accounts", "/accounts", Action.MANAGE_ACCOUNTS, "change the account on"
)

PLACES: Final[Mapping[str, PageForCommand]] = {
    "accounts add": PageForCommand("Accounts", "/accounts", Action.MANAGE_ACCOUNTS, "add an account on"),
    "accounts list": _ACCOUNTS,
    "accounts reveal": _ACCOUNTS,
    "accounts unlock": _ACCOUNTS,
    "benchmarks list": _DATA,
    "benchmarks show": _DATA,
    "calibrate delete": PageForCommand("Rating", "/rating", Action.QUEUE_JOBS, "delete the calibration on"),
    "calibrate new": PageForCommand("New calibration", "/rating/new", Action.QUEUE_JOBS, "make one on"),
    "datasets add": PageForCommand("Benchmarks", "/benchmarks", Action.ADD_DATA, "add the data on"),
    "datasets fetch": PageForCommand("Benchmarks", "/benchmarks", Action.ADD_DATA, "download the data on"),
    "datasets list": _DATA,
    "datasets register": PageForCommand(
        "Register a dataset", "/outbox/datasets", Action.ADD_DATA, "register the data on"
    ),
    "doctor": PageForCommand("Health", "/health", Action.VIEW_HEALTH, "check everything on"),
    "jobs list": PageForCommand("Jobs", "/jobs", Action.VIEW_JOBS, "look at the jobs on"),
    "jobs show": PageForCommand("Jobs", "/jobs", Action.VIEW_JOBS, "look at the job on"),
    "redact review delete": PageForCommand(
        "Redaction", "/redaction", Action.REVIEW_REDACTION, "delete the review on"
    ),
    "redact review mark": PageForCommand(
        "Redaction", "/redaction", Action.REVIEW_REDACTION, "review the records on"
    ),
    "redact review new": PageForCommand(
        "New review", "/redaction/new", Action.REVIEW_REDACTION, "make a review on"
    ),
    "registry show": _FEDERATION,
    "registry update": PageForCommand(
        "Federation", "/federation", Action.MANAGE_KEYS, "fetch the newest registry on"
    ),
    "reset": _RESET,
    "reset request": _RESET,
    "reset send": PageForCommand(
        "Outbox", "/outbox", Action.APPROVE_SUBMISSIONS, "hand in the signed request on"
    ),
    "reset show": _RESET,
    "rotate cancel": PageForCommand(
        "Federation", "/federation", Action.MANAGE_KEYS, "take the replacement back on"
    ),
    "rotate request": PageForCommand(
        "Replace a key", "/federation/rotate", Action.MANAGE_KEYS, "make the request on"
    ),
    "run": PageForCommand("New run", "/new-run", Action.QUEUE_JOBS, "start the run on"),
    "runs list": PageForCommand("Results", "/results/index.html", Action.VIEW_BOARDS, "choose a run on"),
    "submission abandon": PageForCommand(
        "Outbox", "/outbox", Action.PREPARE_SUBMISSIONS, "give the plan up from"
    ),
    "submission approve": PageForCommand(
        "Outbox", "/outbox", Action.APPROVE_SUBMISSIONS, "hand in the signed drafts on"
    ),
    "submission discard": PageForCommand(
        "Outbox", "/outbox", Action.PREPARE_SUBMISSIONS, "discard it from"
    ),
    "submission plan": PageForCommand(
        "Plan an evaluation", "/outbox/plan", Action.PREPARE_SUBMISSIONS, "draft a plan on"
    ),
    "submission prepare": PageForCommand(
        "Prepare results",
        "/outbox/prepare",
        Action.PREPARE_SUBMISSIONS,
        "prepare the results on",
    ),
    "submission send": PageForCommand(
        "Outbox", "/outbox", Action.SEND_SUBMISSIONS, "send what is approved on", "sending on"
    ),
    "submission show": PageForCommand(
        "Outbox", "/outbox", Action.VIEW_OUTBOX, "open the statement on"
    ),
    "submission status": _OUTBOX,
    "summarize": PageForCommand("Results", "/results/index.html", Action.VIEW_BOARDS, "open the suite on"),
    "tokens list": PageForCommand("Your account", "/account", Action.MANAGE_OWN_ACCOUNT, "look at"),
}  # fmt: skip
"""The pages that stand for commands, by the command without `intramural`, its options and its arguments."""

MACHINE_ONLY: Final = frozenset(
    {
        "accounts password", "alerts test", "audit", "audit verify", "backup", "benchmarks check", "benchmarks new",
        "benchmarks scorecard", "benchmarks template", "clock show", "copies list", "enroll", "export", "import",
        "init", "jobs dispatch", "judge", "models check", "models serve", "models stop", "purge", "redact bench",
        "redact helm", "redact review", "rescore", "rollback", "serve", "steward-key",
    }
)  # fmt: skip
"""Commands for which there is no page: somebody with access to the machine runs them."""

_PLURALS: Final[Mapping[Role, str]] = {
    Role.VIEWER: "viewers",
    Role.DATA_SCIENTIST: "data scientists",
    Role.STEWARD: "stewards",
    Role.ADMINISTRATOR: "administrators",
}

REPLACED: Final[Mapping[str, str]] = {
    "Send all in order: run `intramural submission send` without --digest.": (
        "Send everything with `intramural submission send`: it goes in its order."
    ),
    "(`intramural-aggregator head SITE --out FILE`), and pass it with --head FILE": (
        "(`intramural-aggregator head SITE --out FILE`), and hand it in on the page for a new epoch"
    ),
    "or name the models to submit with --model": "or choose the models to submit",
    ", on the page of the outbox or with `intramural submission send`": (
        " with `intramural submission send`"
    ),
    ", or exchange files with --export and --import-receipt": (
        ", or exchange files on the machine’s command line"
    ),
    "then run the same command again": "then start it again",
    "and run the command again": "and try again",
}
"""Phrases about options of commands, and what a page says in their place."""

_CODE: Final = re.compile(r"`([^`]+)`")
_COMMAND: Final = re.compile(r"(intramural (?:--site \S+ )?)?([a-z].*)")
_LONGEST_COMMAND: Final = 3  # words
_BEFORE_STEP: Final = re.compile(r"\b(run|try|use|repeat(?: the same)?)\s+$", re.IGNORECASE)
_BEFORE_MEANS: Final = re.compile(r"\b(?:with|by)\s+$")
_BETWEEN_STEPS: Final = re.compile(r"\s*(?:,? and|,? or|, then)\s+")
_SENTENCE_END: Final = re.compile(r"(?:^|[.!?])\s*$")
_NO_END: Final = re.compile(r"[\w’'”\"]$")
_PLAIN_WORD: Final = re.compile(r"[a-z]+(?:[’'][a-z]+)?(?=[\s,;]|$)")
_FOR_THE_MACHINE: Final = re.compile(r"\bmachine:\s*$")
_ON_THE_MACHINE: Final = re.compile(r"\bmachine\b")


def explain(text: object, frame: Frame | None) -> Markup:
    """Return one or several sentences for a page, beginning with a capital.

    Args:
        text: the sentences, or an error with its advice.
        frame: the frame of the page; None for the pages of `intramural view`, whose reader has a command line.
    """
    words = str(text)
    if isinstance(text, AgentError):
        words = f"{words}. {text.advice}"
    words = re.sub(r"(?<=[^.])\.\.(?=\s|$)", ".", words.strip())
    if _PLAIN_WORD.match(words):  # not a name, such as that of a file or setting
        words = words[0].upper() + words[1:]
    if _NO_END.search(words) and " " in words:
        words += "."
    return explain_clause(words, frame)


def explain_clause(text: str, frame: Frame | None) -> Markup:
    """Return a part of a sentence for a page: as `explain`, without a capital."""
    if frame is None:
        return _join(
            [_show_code(part) if is_code else escape(part) for is_code, part in _cut(text)]
        )
    for phrase, replacement in REPLACED.items():
        text = text.replace(phrase, replacement)
    pieces: list[Markup] = []
    before, follows_step, unplaced = "", False, 0
    for is_code, part in _cut(text):
        if not is_code:
            before = part
            continue
        place = None if _FOR_THE_MACHINE.search(before) else find_place(part)
        if place is None:
            unplaced += find_command(part) is not None
            pieces += [escape(before), _show_code(part)]
            follows_step = False
        else:
            kept, shown, follows_step = _put_in(place, before, frame, follows_step=follows_step)
            pieces += [escape(kept), shown]
        before = ""
    pieces.append(escape(before))
    if unplaced and text.endswith((".", "!")) and not _ON_THE_MACHINE.search(text):
        what = "this command" if unplaced == 1 else "these commands"
        pieces.append(escape(f" Somebody with access to the site’s machine runs {what} there."))
    return _join(pieces)


def find_command(code: str) -> str | None:
    """Return the command of the agent that a piece of code is, without options and arguments; None if it is none."""
    found = _COMMAND.fullmatch(code)
    if found is None:
        return None
    words = found[2].split()
    for length in range(_LONGEST_COMMAND, 0, -1):
        command = " ".join(words[:length])
        if command in PLACES or command in MACHINE_ONLY:
            return command
    return words[0] if found[1] else None


def find_place(code: str) -> PageForCommand | None:
    """Return the page that stands for a piece of code; None if there is none."""
    command = find_command(code)
    # The form for a run has not all of its options.
    if command is None or (command == "run" and " --" in code):
        return None
    return PLACES.get(command)


def _cut(text: str) -> list[tuple[bool, str]]:
    """Return the pieces of a text in their order, each with whether it is code."""
    return [(number % 2 == 1, part) for number, part in enumerate(_CODE.split(text))]


def _show_code(code: str) -> Markup:
    return Markup("<code>{}</code>").format(code)


def _put_in(
    place: PageForCommand, before: str, frame: Frame, *, follows_step: bool
) -> tuple[str, Markup, bool]:
    """Return what stays of the text before a command, what stands for the command, and whether that is a step."""
    page = _link(place, frame)
    thing = Markup("{} {}").format(place.doing, page) if place.doing else page
    if follows_step and _BETWEEN_STEPS.fullmatch(before):
        return before, Markup("{} {}").format(place.step, page), True
    lead = _BEFORE_STEP.search(before)
    if lead is not None:
        step = place.step[0].upper() + place.step[1:] if lead[1][0].isupper() else place.step
        return before[: lead.start()], Markup("{} {}").format(step, page), True
    means = _BEFORE_MEANS.search(before)
    if means is not None:
        return before[: means.start()], Markup("on {}").format(page), False
    if before.endswith("("):
        return before, Markup("on {}").format(page), False
    if _SENTENCE_END.search(before):
        return before, Markup("{}{}").format(thing[0].upper(), thing[1:]), False
    return before, thing, False


def _link(place: PageForCommand, frame: Frame) -> Markup:
    """Return the name of a page, with a link or with the roles that may open it."""
    name = f"“{place.name}”" if " " in place.name else place.name
    if place.action in frame.actions:
        return Markup('the page <a href="{}">{}</a>').format(place.path, name)
    roles = [_PLURALS[role] for role, actions in ALLOWED.items() if place.action in actions]
    return Markup("the page {} (for {})").format(name, " and ".join(roles))


def _join(pieces: list[Markup]) -> Markup:
    """Return the pieces as one, with their line breaks."""
    return Markup("").join(pieces).replace("\n", Markup("<br>"))
