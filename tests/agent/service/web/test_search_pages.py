"""Search in redacted texts over a real service: what was redacted is not found, and a search ends in time."""

import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent.access.roles import Action
from agent.service.web import search_pages
from agent.store import Account
from tests.agent.service.filled_site import FilledSite, case, failed
from tests.agent.service.web.running_service import RunningService

NAME = "Margarethe Oberhuber-Quill"


def find_numbers(text: str) -> list[int]:
    """Return the numbers of the instances on a page."""
    return [int(number) for number in re.findall(r"<h2>Instance (\d+)</h2>", text)]


def test_words_are_found_in_prompts_and_answers_in_any_case(
    filled: FilledSite, running: RunningService
):
    cases = [case(0), case(1, answer="No PENICILLIN at all"), case(2, prompt="Give penicillin?")]
    run_id = filled.add([*cases, case(3, score=0.0, answer="penicillin")])
    vera = running.sign_in("vera")
    page = vera.get(f"/results/runs/{run_id}/instances-1.html").text
    assert f'action="/search/{run_id}"' in page
    found = vera.submit(f"/search/{run_id}", words="Penicillin", list="instances")
    assert find_numbers(found.text) == [2, 3, 4]
    assert "Searched 1 to 4 of 4 instances" in found.text
    only_wrong = vera.submit(f"/search/{run_id}", words="penicillin", list="instances-wrong")
    assert find_numbers(only_wrong.text) == [4]
    assert find_numbers(vera.submit(f"/search/{run_id}", words="aspirin & <b>").text) == []


GRADED = {"metrics": [{"name": "overlap", "metric": "rouge_l", "low": 0, "high": 1}]}


def add_graded(filled: FilledSite, owner: str | None = None, *, private: bool = False) -> str:
    """Store a run of 30 instances with scores from 0 to 0.29, the last without one."""
    cases = [case(number, score=number / 100) for number in range(30)]
    return filled.add([*cases, failed(30)], owner=owner, private=private, **GRADED)


def test_instances_are_listed_by_a_range_of_scores(filled: FilledSite, running: RunningService):
    """There were lists of right, wrong and unscored ones only."""
    run_id = add_graded(filled)
    vera = running.sign_in("vera")
    folder = f"/results/runs/{run_id}"
    page = vera.get(f"{folder}/instances-1.html").text
    assert f'action="/scores/{run_id}"' in page
    done = vera.get(f"/scores/{run_id}?min=0,1&max=0.13")
    assert done.headers["location"] == f"{folder}/instances-from-0.1-to-0.13-1.html"
    listed = vera.get(done.headers["location"]).text
    assert find_numbers(listed) == [11, 12, 13, 14]
    assert "Score from 0.1 to 0.13:" in listed
    assert 'name="min"' in listed
    assert 'value="0.13"' in listed
    # Either bound may be left out; pages go on; and a search stays within the range.
    assert find_numbers(vera.get(f"{folder}/instances-to-0.01-1.html").text) == [1, 2]
    second = vera.get(f"{folder}/instances-from-0.05-2.html").text
    assert find_numbers(second) == [26, 27, 28, 29, 30]
    found = vera.submit(f"/search/{run_id}", words="question 7", list="instances-to-0.1")
    assert find_numbers(found.text) == [8]
    none = vera.get(f"{folder}/instances-from-0.9-1.html").text
    assert "No instance has such a score" in none
    assert vera.get(f"/scores/{run_id}").headers["location"] == f"{folder}/instances-1.html"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("min=a", "The lowest score must be a number"),
        ("max=1e9", "The highest score must be a number"),
        ("min=0.5&max=0.4", "above the highest"),
        ("min=nan", "must be a number"),
        ("min=%D9%A3", "must be a number"),
    ],
)
def test_a_range_that_is_none_is_refused(
    filled: FilledSite, running: RunningService, query: str, words: str
):
    refused = running.sign_in("vera").get(f"/scores/{add_graded(filled)}?{query}")
    assert refused.status_code == 400
    assert words in refused.text


def test_a_program_lists_instances_by_score(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    run_id = add_graded(filled)
    token = running.make_token(people["vera"], Action.VIEW_INSTANCES)
    client = running.visit().client
    client.headers["Authorization"] = f"Bearer {token}"
    address = f"/api/v1/runs/{run_id}/instances"
    answer = client.get(address, params={"min_score": 0.1, "max_score": 0.13}).json()
    assert answer["count"] == 4
    assert [line["number"] for line in answer["instances"]] == [11, 12, 13, 14]
    assert answer["instances"][0]["score"] == 0.1
    assert answer["instances"][0]["answer"] == "yes"
    everything = client.get(address, params={"page": 2}).json()
    assert (everything["count"], everything["pages"]) == (31, 2)
    unscored = client.get(address, params={"outcome": "unscored"}).json()
    assert [line["reason"] for line in unscored["instances"]] == ["timeout"]
    assert client.get(address, params={"page": 9}).status_code == 404
    for wrong in ({"min_score": "nan"}, {"min_score": "x"}, {"page": 0}, {"outcome": "odd"}):
        assert client.get(address, params=wrong).status_code == 422, wrong
    both = client.get(address, params={"outcome": "lowest", "min_score": 0.1})
    assert both.status_code == 400
    assert client.get(f"{address}?page=x&page=1").status_code in (200, 422)


def test_scores_of_somebody_elses_private_run_are_not_listed(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    run_id = add_graded(filled, people["dana"].account_id, private=True)
    assert running.sign_in("dana").get(f"/scores/{run_id}").status_code == 303
    assert running.sign_in("vera").get(f"/scores/{run_id}").status_code == 400
    token = running.make_token(people["vera"], Action.VIEW_INSTANCES)
    headers = {"Authorization": f"Bearer {token}"}
    listed = running.visit().get(f"/api/v1/runs/{run_id}/instances", **headers)
    assert listed.status_code == 404


def test_hits_are_marked_where_they_stand(filled: FilledSite, running: RunningService):
    cases = [case(0, answer="No PENICILLIN at all <b>"), case(1, prompt="Give penicillin & wait?")]
    run_id = filled.add(cases)
    found = running.sign_in("vera").submit(f"/search/{run_id}", words="penicillin").text
    assert 'No <mark class="hit">PENICILLIN</mark> at all &lt;b&gt;' in found
    assert 'Give <mark class="hit">penicillin</mark> &amp; wait?' in found
    summaries = re.findall(r'<span class="start".*?</span></summary>|<span class="start".*', found)
    assert ["answer:" in line or "prompt:" in line for line in summaries] == [True, True]
    plain = running.sign_in("vera").get(f"/results/runs/{run_id}/instances-1.html").text
    assert "hit" not in re.findall(r'<mark class="(\w+)"', plain)


def test_a_search_without_hits_says_what_was_searched_and_what_to_try(
    filled: FilledSite, running: RunningService
):
    run_id = filled.add([case(0), case(1), case(2, score=0.0)])
    vera = running.sign_in("vera")
    found = vera.submit(f"/search/{run_id}", words="aspirn <x>", list="instances-wrong").text
    assert "Searched 1 to 1 of 1 instance (list: Wrong): none contains “aspirn &lt;x&gt;”." in found
    assert "Prompts, references, reasoning and answers" in found
    assert "Search all instances" in found
    assert "Search all instances" not in vera.submit(f"/search/{run_id}", words="aspirn").text


def test_what_was_redacted_is_not_found(filled: FilledSite, running: RunningService):
    text = f"Patient name: {NAME}, phone 555-867-5309. Does she have a fever?"
    run_id = filled.add(
        [case(0, prompt=text)],
        entry="shc_ptbm_med:model=qwen/qwen2.5-7b-instruct",
        access="private",
    )
    vera = running.sign_in("vera")
    for words in ("Oberhuber", "555-867-5309", "margarethe"):
        found = vera.submit(f"/search/{run_id}", words=words)
        assert found.status_code == 200
        assert find_numbers(found.text) == [], words
    assert find_numbers(vera.submit(f"/search/{run_id}", words="fever").text) == [1]


def test_a_search_says_how_far_it_came_and_goes_on_from_there(
    filled: FilledSite, running: RunningService, monkeypatch: pytest.MonkeyPatch
):
    run_id = filled.add([case(number, answer=f"dose {number} mg") for number in range(65)])
    monkeypatch.setattr(search_pages, "_WITHIN_S", -1.0)
    vera = running.sign_in("vera")
    found = vera.submit(f"/search/{run_id}", words="dose 19 mg")
    assert find_numbers(found.text) == [20]
    assert "Searched 1 to 20 of 65 instances" in found.text
    assert "Search on from instance 21" in found.text
    found = vera.submit(f"/search/{run_id}", words="dose 64 mg", start="60")
    assert find_numbers(found.text) == [65]
    assert "Search on" not in found.text
    assert "nothing left" in vera.submit(f"/search/{run_id}", words="x", start="999").text


@pytest.mark.parametrize(
    "fields",
    [
        {"words": ""},
        {"words": "x" * 201},
        {"words": "x", "start": "-1"},
        {"words": "x", "list": "instances-nonsense"},
        {"words": "x", "list": "../../keys"},
    ],
)
def test_a_wrong_search_is_refused_in_words(
    filled: FilledSite, running: RunningService, fields: dict[str, str]
):
    run_id = filled.add([case(0)])
    refused = running.sign_in("vera").submit(f"/search/{run_id}", **fields)
    assert refused.status_code == 400
    assert "Traceback" not in refused.text


def test_the_words_are_in_no_address_and_no_log(filled: FilledSite, running: RunningService):
    run_id = filled.add([case(0)])
    found = running.sign_in("vera").submit(f"/search/{run_id}", words="zebedee")
    for address in re.findall(r'(?:href|action|src)="([^"]*)"', found.text):
        assert "zebedee" not in address
    with filled.site.store() as store:
        assert "zebedee" not in str(store.audit.read_events())


def test_others_read_texts_while_a_long_search_goes_on(filled: FilledSite, running: RunningService):
    run_id = filled.add([case(number, answer=f"dose {number} mg " * 40) for number in range(400)])
    vera, dana = running.sign_in("vera"), running.sign_in("dana")
    page = f"/results/runs/{run_id}/instances-1.html"
    dana.get(page)  # the redactor is loaded
    with ThreadPoolExecutor(1) as pool:
        began = time.monotonic()
        search = pool.submit(vera.submit, f"/search/{run_id}", words="nowhere")
        waits = []
        while not search.done():
            asked = time.monotonic()
            assert dana.get(page).status_code == 200
            waits.append(time.monotonic() - asked)
        assert "Search on from instance" in search.result().text or "of 400" in search.result().text
    assert time.monotonic() - began < search_pages._WITHIN_S + 6
    assert sorted(waits)[len(waits) // 2] < 2


def test_neither_others_nor_administrators_search_a_private_run(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    run_id = filled.add([case(0)], owner=people["dana"].account_id, private=True)
    assert running.sign_in("dana").submit(f"/search/{run_id}", words="x").status_code == 200
    assert running.sign_in("dan").submit(f"/search/{run_id}", words="x").status_code == 400
    assert running.sign_in("ada").submit(f"/search/{run_id}", words="x").status_code == 403
    assert running.sign_in("vera").submit("/search/nonsense", words="x").status_code == 400
