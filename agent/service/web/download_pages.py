"""Files of a suite: its figures, or its answers with their redacted texts, as tables for other programs."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from starlette.responses import Response, StreamingResponse

from agent.errors import ConfigError
from agent.exchange.shown_names import ShownNames
from agent.exchange.tables.export import count_answers, write_instances, write_runs
from agent.exchange.tables.files import TABLE_FORMS, TableForm, check_writable
from agent.io.wording import format_count
from agent.service.pages import suite_slug
from agent.service.web.call import Call
from agent.service.web.service import Desk

PATH: Final = "/downloads/{suite}"
MOST_ANSWERS: Final = 5_000  # redacting more takes too long for a page
_TABLES: Final = ("figures", "answers")
_CHUNK: Final = 256 * 1024
_HIDDEN_SUITE: Final = "-"  # in place of a name that only its owner knows


def show_downloads(desk: Desk, call: Call) -> Response:
    """Show which files of a suite can be downloaded."""
    suite = _find_suite(desk, call)
    runs = desk.store.runs.select(suite)
    answers = count_answers(desk.store, runs)
    return desk.draw(
        "downloads.html",
        call,
        suite=suite,
        runs=len(runs),
        answers=answers,
        has_too_many=answers > MOST_ANSWERS,
        most=MOST_ANSWERS,
        forms_of_tables=TABLE_FORMS,
    )


def download(desk: Desk, call: Call) -> Response:
    """Hand out a table of a suite as a file."""
    suite = _find_suite(desk, call)
    table, form = call.get("table"), call.get("form")
    if table not in _TABLES or form not in TABLE_FORMS:
        raise ConfigError("no such file", "Choose a table and a format from the page.")
    check_writable(form)
    with desk.service.transfers.open_folder() as folder:
        path = folder / f"{table}.{form}"
        rows = _write_table(desk, suite, table, form, path)
        # The file's name goes with its folder; the open file lasts until it is sent.
        file = path.open("rb")
    shown = _HIDDEN_SUITE if desk.store.runs.is_private_suite(suite) else suite
    detail = f"suite={shown} table={table} format={form} rows={rows}"
    desk.store.audit.record("table downloaded", detail, by=call.signed_in.account.account_id)
    name = f"{suite_slug(suite)}-{table}.{form}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(
        _read_chunks(file), headers=headers, media_type="application/octet-stream"
    )


def _write_table(desk: Desk, suite: str, table: str, form: TableForm, path: Path) -> int:
    """Write a table to a new file, and return the number of its rows or, of figures, of runs."""
    runs = desk.store.runs.select(suite)
    names = ShownNames(desk.store)
    if table == "figures":
        write_runs(desk.store, runs, path, form, names)
        return len(runs)
    answers = count_answers(desk.store, runs)
    if answers > MOST_ANSWERS:
        raise ConfigError(
            f"the suite has {format_count(answers, 'answer')}, and at most {MOST_ANSWERS:,} can be downloaded here",
            "Export them on the site's own machine: `intramural export`.",
        )
    clearer = desk.service.texts.open_clearer()
    return write_instances(desk.store, runs, path, form, names, clearer)


def _find_suite(desk: Desk, call: Call) -> str:
    """Return the suite of a route. Raises ConfigError if there is none that the caller may see."""
    for suite in desk.store.runs.list_suites():
        if suite_slug(suite) == call.path["suite"]:
            return suite
    raise ConfigError("there is no such suite", "Choose one from the results.")


def _read_chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(_CHUNK):
            yield chunk
