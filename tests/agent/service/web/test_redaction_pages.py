"""A steward checks redaction on the pages: original texts, each recorded, and nothing of them anywhere else."""

import json
import re

import pytest

from agent.errors import StoreError
from agent.store import Account, ReviewedText
from agent.store.audit import AuditLog
from tests.agent.service.filled_site import FilledSite, case
from tests.agent.service.web.running_service import Browser, RunningService

NAME = "first"
REVIEW = f"/redaction/of/{NAME}"
WARD = "blue pavilion"
"""Words that redaction does not find, although people of the hospital know the place."""


def note(number: int) -> str:
    return (
        f"Seen on 03/1{number}/2022 by Dr. Anna Kowalski of the {WARD} for fever number {number}."
    )


@pytest.fixture
def review(filled: FilledSite, running: RunningService, people: dict[str, Account]) -> Browser:
    """A steward who has just made a review of three records."""
    del people
    filled.add([case(number, prompt=note(number)) for number in range(3)], access="gated")
    stella = running.sign_in("stella")
    made = stella.submit("/redaction/new", name=NAME, suite="november", records="3", seed="1")
    assert made.status_code == 303, made.text
    assert made.headers["location"] == REVIEW
    return stella


def read_texts(filled: FilledSite, record: int | None = None) -> list[ReviewedText]:
    with filled.site.store() as store:
        return store.reviews.read_texts(NAME, record)


def list_events(filled: FilledSite, event: str) -> list[str]:
    with filled.site.store() as store:
        return [entry.detail for entry in store.audit.read_events() if entry.event == event]


def test_an_empty_site_says_what_to_do_first(running: RunningService):
    stella = running.sign_in("stella")
    assert "There is no review yet." in stella.get("/redaction").text
    assert "no text to review" in stella.get("/redaction/new").text


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("name", "", "The name is missing"),
        ("name", "../etc", "1 to 64 letters"),
        ("name", NAME, "already exists"),
        ("suite", "nowhere", "There is no suite nowhere"),
        ("records", "0", "from 1 to 200"),
        ("records", "1e9", "from 1 to 200"),
        ("seed", "-1", "The seed must be"),
    ],
)
def test_a_form_that_is_filled_in_wrongly_keeps_what_was_entered(
    review: Browser, field: str, value: str, message: str
):
    fields = {"name": "second", "suite": "november", "records": "2", "seed": "7", field: value}
    page = review.submit("/redaction/new", **fields)
    assert page.status_code == 400
    assert message in page.text
    assert 'role="alert"' in page.text
    kept = "records" if field != "records" else "name"
    assert f'value="{fields[kept]}"' in page.text


def test_each_original_text_that_is_opened_is_in_the_audit_log(
    filled: FilledSite, review: Browser, people: dict[str, Account]
):
    assert "Kowalski" not in review.get(REVIEW).text
    assert list_events(filled, "reveal") == []
    page = review.get(f"{REVIEW}/records/2")
    assert "Kowalski" in page.text
    (detail,) = list_events(filled, "reveal")
    assert f"name={NAME} record=2" in detail
    assert f"account={people['stella'].account_id}" in detail
    assert "Kowalski" not in detail


def test_pages_with_original_text_are_stored_nowhere(review: Browser):
    for path in (f"{REVIEW}/records/1", REVIEW):
        headers = review.get(path).headers
        assert "no-store" in headers["cache-control"]
        assert "script-src 'self'" in headers["content-security-policy"]
    script = review.get("/redaction.js")
    assert script.status_code == 200
    assert script.headers["content-type"].startswith("text/javascript")


def test_an_audit_log_that_cannot_be_written_shows_no_text(
    review: Browser, monkeypatch: pytest.MonkeyPatch
):
    def fail(*given: object) -> None:
        raise StoreError("the store cannot be written (SQLITE_FULL)", "Make room.")

    monkeypatch.setattr(AuditLog, "record", fail)
    page = review.get(f"{REVIEW}/records/1")
    assert page.status_code >= 400
    assert "Kowalski" not in page.text
    assert "SQLITE_FULL" in page.text


def test_a_miss_and_a_false_alarm_are_marked_and_counted(filled: FilledSite, review: Browser):
    page = review.get(f"{REVIEW}/records/1").text
    (wrong, *_) = re.findall(r'name="wrong" value="([\d.]+)"', page)
    sent = review.submit(
        f"{REVIEW}/records/1",
        words=[WARD, ""],
        entity=["LOCATION", "NAME"],
        wrong=wrong,
        step="save",
    )
    assert sent.status_code == 303, sent.text
    assert sent.headers["location"] == f"{REVIEW}/records/2#main"
    marked = [text.content for text in read_texts(filled, 1) if text.content]
    missed = [text["text"][start:end] for text in marked for start, end, _ in text["missed"]]
    assert missed == [WARD]
    assert sum(len(text["wrong"]) for text in marked) == 1
    assert "1 of 3 reviewed" in review.get(REVIEW).text
    assert "missed=1" in list_events(filled, "review marks")[0]
    again = review.get(f"{REVIEW}/records/1").text
    assert f'value="{wrong}" checked' in again
    drop = re.findall(r'name="drop" value="([\d.]+)"', again)
    review.submit(f"{REVIEW}/records/1", drop=drop, step="save")
    assert [text.content["missed"] for text in read_texts(filled, 1) if text.content] == [[]]


def test_words_that_are_not_in_the_record_stay_in_the_field(filled: FilledSite, review: Browser):
    page = review.submit(
        f"{REVIEW}/records/1",
        words=["blue pavilions", WARD],
        entity=["NAME", "LOCATION"],
        step="save",
    )
    assert page.status_code == 400
    assert "are not in these texts" in page.text
    assert 'value="blue pavilions"' in page.text
    assert 'aria-invalid="true"' in page.text
    (text,) = read_texts(filled, 1)
    assert text.figures is None  # it is not reviewed yet
    assert text.content is not None
    assert len(text.content["missed"]) == 1  # but what was found is saved


def test_marks_are_added_without_leaving_the_record(filled: FilledSite, review: Browser):
    sent = review.submit(f"{REVIEW}/records/1", words=WARD, entity="LOCATION", step="add")
    assert sent.headers["location"] == f"{REVIEW}/records/1#missed"
    assert read_texts(filled, 1)[0].figures is None
    assert f"<strong><bdi>{WARD}</bdi></strong>" in review.get(f"{REVIEW}/records/1").text


def test_after_the_last_record_comes_the_estimate(review: Browser):
    for record in (1, 3, 2):
        sent = review.submit(
            f"{REVIEW}/records/{record}", words=WARD, entity="LOCATION", step="save"
        )
    assert sent.headers["location"] == REVIEW
    page = review.get(REVIEW).text
    assert "Every record is reviewed." in page
    assert "too few for a reliable estimate" in page
    assert ">place<" in page


def test_the_marks_are_downloaded_after_a_confirmation_and_recorded(
    filled: FilledSite, review: Browser
):
    review.submit(f"{REVIEW}/records/1", words=WARD, entity="LOCATION", step="save")
    assert review.submit(f"{REVIEW}/marks").status_code == 400
    handed = review.submit(f"{REVIEW}/marks", confirmed="yes")
    (row,) = [json.loads(line) for line in handed.text.splitlines()]
    assert WARD in [row["text"][start:end] for start, end, _ in row["spans"]]
    assert handed.headers["content-disposition"] == 'attachment; filename="gold.jsonl"'
    assert "no-store" in handed.headers["cache-control"]
    assert "gold=1" in list_events(filled, "reveal")[-1]


def test_a_deleted_review_leaves_nothing(filled: FilledSite, review: Browser):
    assert review.submit(f"{REVIEW}/delete").status_code == 400
    assert review.submit(f"{REVIEW}/delete", confirmed="yes").status_code == 303
    assert review.get(REVIEW).status_code == 400
    assert read_texts(filled) == []
    assert list_events(filled, "review deleted") != []


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"words": "x" * 3_000, "entity": "NAME"}, 400),
        ({"words": WARD, "entity": "NO_SUCH_KIND"}, 400),
        ({"wrong": ["0.0", "1.99999", "999999999.1", "a.b", "1.-1"]}, 303),
        ({"drop": ["1.0.99999", "1.2", "x"]}, 303),
        ({"words": "<script>alert(1)</script>", "entity": "NAME"}, 400),
        ({"words": "(a+)+$", "entity": "NAME"}, 400),
    ],
)
def test_a_forged_form_changes_no_mark_and_runs_nothing(
    filled: FilledSite, review: Browser, fields: dict[str, str | list[str]], status: int
):
    sent = review.submit(f"{REVIEW}/records/1", **fields, step="save")
    assert sent.status_code == status, sent.text
    assert "<script>alert" not in sent.text
    marked = [text.content for text in read_texts(filled, 1) if text.content]
    assert [(text["missed"], text["wrong"]) for text in marked] == [([], [])]


@pytest.mark.parametrize("record", ["0", "4", "-1", "x", "1.5", "9" * 30, "%00"])
def test_a_record_that_is_not_there_shows_nothing(filled: FilledSite, review: Browser, record: str):
    page = review.get(f"{REVIEW}/records/{record}")
    assert page.status_code in (400, 404)
    assert "Kowalski" not in page.text
    assert list_events(filled, "reveal") == []


def test_markup_in_a_text_runs_nothing(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    del people
    hostile = "Fever <img src=x onerror=alert(1)> was seen again </div><script>alert(2)</script> yesterday."
    filled.add([case(0, prompt=hostile)], access="gated")
    stella = running.sign_in("stella")
    stella.submit("/redaction/new", name=NAME, suite="november", records="1")
    page = stella.get(f"{REVIEW}/records/1").text
    assert "&lt;script&gt;" in page
    for part in ("<img", "<script>alert"):
        assert part not in page
    # A text that terminals or readers could be tricked with is withheld from review as well.
    filled.add([case(1, prompt=f"{hostile} \x1b[31m \u202e")], suite="may", access="gated")
    assert (
        "all texts were withheld"
        in stella.submit("/redaction/new", name="b", suite="may", records="1").text
    )


@pytest.mark.parametrize("name", ["vera", "dana", "ada"])
def test_nobody_but_a_steward_sees_a_review(running: RunningService, review: Browser, name: str):
    del review
    browser = running.sign_in(name)
    assert "/redaction" not in browser.get("/").text
    for path in ("/redaction", "/redaction/new", REVIEW, f"{REVIEW}/records/1", f"{REVIEW}/delete"):
        page = browser.get(path)
        assert page.status_code == 403, path
        assert "Kowalski" not in page.text
    assert browser.submit(f"{REVIEW}/marks", confirmed="yes").status_code == 403
