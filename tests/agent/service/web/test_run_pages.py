"""The forms on the page of a run: its owner shows it, keeps it from others, and deletes it with its texts."""

from agent.service.frame import Frame
from agent.service.pages import PageFile
from agent.service.web.page_cache import PageCache
from agent.store import PUBLIC, Account, QueuedCommand
from tests.agent.service.filled_site import FilledSite, case
from tests.agent.service.web.running_service import RunningService

DELETE = "Delete this run"


def page_of(run_id: str) -> str:
    return f"/results/runs/{run_id}/index.html"


def test_each_person_sees_the_forms_that_they_may_use(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    run_id = filled.add([case(0)], owner=people["dana"].account_id)
    forms = {}
    for name in people:
        text = running.sign_in(name).get(page_of(run_id)).text
        forms[name] = ("Keep from others" in text, DELETE in text)
    assert forms == {
        "vera": (False, False),
        "dana": (True, True),
        "dan": (False, False),
        "stella": (False, False),
        "ada": (False, True),
    }


def test_the_owner_hides_and_shows_a_run_at_once(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    """Without the two seconds for which a page of figures is kept."""
    run_id = filled.add([case(0)], owner=people["dana"].account_id)
    dana, vera = running.sign_in("dana"), running.sign_in("vera")
    assert vera.get(page_of(run_id)).status_code == 200
    sent = dana.submit(f"/runs/{run_id}/privacy", private="yes")
    assert sent.status_code == 303
    assert sent.headers["location"] == page_of(run_id)
    assert vera.get(page_of(run_id)).status_code == 404
    assert "<strong>Private.</strong>" in dana.get(page_of(run_id)).text
    assert dana.submit(f"/runs/{run_id}/privacy", private="no").status_code == 303
    assert "Private." not in vera.get(page_of(run_id)).text
    assert vera.get(page_of(run_id)).status_code == 200


def test_a_run_of_the_command_line_is_nobodys_to_hide(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    run_id = filled.add([case(0)])
    for name in people:
        browser = running.sign_in(name)
        assert browser.submit(f"/runs/{run_id}/privacy", private="yes").status_code == 403
    assert running.sign_in("ada").get(f"/runs/{run_id}/delete").status_code == 200


def test_the_question_before_the_deletion_says_what_goes_and_what_stays(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    run_id = filled.add([case(0), case(1), case(2)], owner=people["dana"].account_id)
    filled.add([case(1)], suite="december")
    text = running.sign_in("dana").get(f"/runs/{run_id}/delete").text
    assert "3, of which 3 have scores" in text
    assert "<dt>Answers</dt><dd>2</dd>" in text
    assert "2 texts that other runs use too" in text
    assert "A deleted run cannot be restored" in text
    with filled.site.store() as store:
        assert store.runs.find(run_id) is not None  # asking deletes nothing


def test_a_deleted_run_is_gone_from_every_page(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    run_id = filled.add([case(0, answer="a memorable answer")], owner=people["dana"].account_id)
    other = filled.add([case(0)], entry="pubmed_qa:model=other/model")
    dana = running.sign_in("dana")
    assert dana.get(page_of(run_id)).status_code == 200
    sent = dana.submit(f"/runs/{run_id}/delete")
    assert sent.headers["location"] == "/results/suites/november/index.html"
    for path in (page_of(run_id), f"/results/runs/{run_id}/instance-1.html"):
        assert dana.get(path).status_code == 404, path
    assert run_id not in dana.get("/results/suites/november/index.html").text
    assert dana.submit(f"/runs/{run_id}/delete").status_code == 403  # nobody owns what is not there
    last = running.sign_in("ada").submit(f"/runs/{other}/delete")
    assert last.headers["location"] == "/results/index.html"
    assert "november" not in dana.get("/results/index.html").text


def test_a_run_that_a_job_works_on_is_not_deleted(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    run_id = filled.add([case(0)], owner=people["dana"].account_id)
    command = QueuedCommand(("rescore",), "t", "command line", suite="november", whole_suite=True)
    with filled.site.store() as store:
        job = store.jobs.add(command, 1.0)
        store.jobs.begin(job.job_id, 2.0)
    dana = running.sign_in("dana")
    asked = dana.get(f"/runs/{run_id}/delete")
    assert asked.status_code == 200
    assert "Delete this run" not in asked.text
    sent = dana.submit(f"/runs/{run_id}/delete")
    assert sent.status_code == 400
    for answer in (asked, sent):
        assert f"job {job.job_id} works on the suite" in answer.text.replace("Job ", "job ")
        assert "Wait until it has ended" in answer.text


def test_a_page_that_is_being_drawn_while_its_run_is_hidden_is_not_kept():
    """The drawing began before, and ends afterwards; whoever asks then must not get it."""
    cache = PageCache()
    drawn: list[str] = []

    def draw_while_it_is_hidden(frame: Frame) -> PageFile:
        del frame
        cache.forget()
        drawn.append("old")
        return PageFile(b"old", "text/html")

    def draw_now(frame: Frame) -> PageFile:
        del frame
        return PageFile(b"new", "text/html")

    cache.draw("p", PUBLIC, Frame(), draw_while_it_is_hidden)
    page = cache.draw("p", PUBLIC, Frame(), draw_now)
    assert page is not None
    assert page.content == b"new"
