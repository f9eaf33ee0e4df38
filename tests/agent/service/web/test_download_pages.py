"""Downloads over a real service: each format can be read again, holds redacted text only, and is in the audit log."""

import csv
import io
import json

import openpyxl
import pytest

from agent.service.web import download_pages
from agent.store import Account
from tests.agent.service.filled_site import FilledSite, case, failed
from tests.agent.service.web.running_service import RunningService

NAME = "Margarethe Oberhuber-Quill"
PAGE = "/downloads/november"


@pytest.fixture
def run_id(filled: FilledSite) -> str:
    prompt = f"Patient name: {NAME}. Fever?"
    cases = [case(0, prompt=prompt, answer='=HYPERLINK("x")'), failed(1), case(2)]
    return filled.add(cases, entry="shc_ptbm_med:model=qwen/qwen2.5-7b-instruct", access="private")


def read_rows(content: bytes, form: str) -> list[dict[str, object]]:
    """Return the rows of a downloaded table."""
    if form == "csv":
        return list(csv.DictReader(io.StringIO(content.decode())))
    if form == "jsonl":
        return [json.loads(line) for line in content.decode().splitlines()]
    if form == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        return parquet.read_table(io.BytesIO(content)).to_pylist()
    sheet = openpyxl.load_workbook(io.BytesIO(content)).active
    assert sheet is not None
    head, *rows = sheet.iter_rows(values_only=True)
    return [dict(zip(map(str, head), row, strict=True)) for row in rows]


@pytest.mark.parametrize("form", ["csv", "xlsx", "parquet", "jsonl"])
@pytest.mark.parametrize("table", ["figures", "answers"])
def test_each_table_can_be_read_in_each_format(
    filled: FilledSite, running: RunningService, run_id: str, table: str, form: str
):
    del run_id
    dana = running.sign_in("dana")
    sent = dana.submit(PAGE, table=table, form=form)
    assert sent.status_code == 200, sent.text
    assert sent.headers["content-disposition"] == f'attachment; filename="november-{table}.{form}"'
    rows = read_rows(sent.content, form)
    if table == "answers":
        assert len(rows) == 3
        assert rows[0]["answer"] is not None
    else:
        assert {row["model"] for row in rows} == {"qwen/qwen2.5-7b-instruct"}
    assert "Oberhuber" not in str(rows)
    assert list(filled.site.transfers.rglob("*")) == []
    with filled.site.store() as store:
        details = [each.detail for each in store.audit.read_events() if "download" in each.event]
    count = 3 if table == "answers" else 1
    assert details[0].startswith(
        f"suite=november table={table} format={form} rows={count} account="
    )


def test_no_cell_is_a_formula(running: RunningService, run_id: str):
    del run_id
    dana = running.sign_in("dana")
    rows = read_rows(dana.submit(PAGE, table="answers", form="csv").content, "csv")
    assert str(rows[0]["answer"]).startswith("'=")


def test_the_suites_page_leads_to_its_downloads_for_data_scientists_only(
    running: RunningService, run_id: str
):
    del run_id
    suite = "/results/suites/november/index.html"
    assert PAGE in running.sign_in("dana").get(suite).text
    for name in ("vera", "stella", "ada"):
        browser = running.sign_in(name)
        assert PAGE not in browser.get(suite).text
        assert browser.get(PAGE).status_code == 403
        assert browser.submit(PAGE, table="figures", form="csv").status_code == 403


def test_too_many_answers_are_left_to_the_command(
    running: RunningService, run_id: str, monkeypatch: pytest.MonkeyPatch
):
    del run_id
    monkeypatch.setattr(download_pages, "MOST_ANSWERS", 2)
    dana = running.sign_in("dana")
    assert "intramural export --suite november" in dana.get(PAGE).text
    refused = dana.submit(PAGE, table="answers", form="csv")
    assert refused.status_code == 400
    assert "at most 2" in refused.text


@pytest.mark.parametrize(
    "fields", [{}, {"table": "keys", "form": "csv"}, {"table": "figures", "form": "../x"}]
)
def test_other_files_do_not_exist(running: RunningService, run_id: str, fields: dict[str, str]):
    del run_id
    dana = running.sign_in("dana")
    assert "No such file" in dana.submit(PAGE, **fields).text
    assert "no such suite" in dana.submit("/downloads/spring", table="figures", form="csv").text


def test_private_runs_are_in_the_files_of_their_owner_only(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    filled.add([case(0)], suite="mine", owner=people["dana"].account_id, private=True)
    fields = {"table": "figures", "form": "csv"}
    assert running.sign_in("dana").submit("/downloads/mine", **fields).status_code == 200
    assert "no such suite" in running.sign_in("dan").submit("/downloads/mine", **fields).text
    with filled.site.store() as store:
        details = [each.detail for each in store.audit.read_events() if "download" in each.event]
    assert details[0].startswith("suite=- ")
