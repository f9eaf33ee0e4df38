"""The audit log is checked whenever it is shown, compared with kept heads, and paged; results are computed again."""

from pathlib import Path

import pytest

from agent.cli.submission import submission
from agent.site.directory import Site
from tests.agent.delivery.whole_site import SUITE, ok, rows
from tests.agent.service.web.running_service import RunningService
from tests.agent.service.web.test_outbox_pages import read


def test_the_log_is_paged_and_compared_with_a_kept_head(
    running: RunningService,
) -> None:
    with running.site.store() as store:
        for number in range(450):
            store.audit.record("counted", f"number={number}")
        head = store.audit.read_head()
    ada = running.sign_in("ada")
    newest = ada.get("/audit").text
    assert "number=449" in newest
    assert "number=200<" not in newest
    seen, path = 0, "/audit"
    for _ in range(9):
        page = ada.get(path).text
        seen += page.count(">counted<")
        if "Earlier events" not in page:
            break
        path = page.split('href="/audit?before=')[1].split('"')[0]
        path = f"/audit?before={path}"
    assert seen == 450
    kept = f"{head.number}:{head.link}"
    assert "The log still contains that event" in read(ada.get(f"/audit?head={kept}").text)
    other = f"{head.number}:{'0' * 64}"
    assert "alarm" in ada.get(f"/audit?head={other}").text
    for odd in ("x", "0:" + "0" * 64, "²:" + "0" * 64):
        assert "A head is the number" in ada.client.get("/audit", params={"head": odd}).text
    assert ada.get("/audit?before=0").status_code == 200
    assert ada.get("/audit?before=99999999999999999999").status_code == 200


def test_a_changed_log_is_not_shown_as_if_it_were_whole(running: RunningService) -> None:
    with running.site.store() as store:
        store.audit.record("counted", "number=1")
        store.database.connection.execute("DELETE FROM audit_events WHERE number = 2")
    answer = running.sign_in("ada").get("/audit")
    assert answer.status_code >= 400
    assert "The audit log was changed" in read(answer.text)


@pytest.mark.full
def test_results_are_computed_again_and_a_changed_score_is_found(
    member: RunningService, site: Site, tmp_path: Path
) -> None:
    ada = member.sign_in("ada")
    assert "No result was approved yet." in read(ada.submit("/audit/verify").text)
    ok(site, submission, "approve", "--key", tmp_path / "steward.key", answer="y\ny\n")
    page = read(ada.submit("/audit/verify").text)
    assert "Everything matches." in page
    for row in rows(site, "result"):
        assert row["digest"][:12] in page
    with site.store() as store:
        run = next(run for run in store.runs.select(SUITE) if run.benchmark == "pubmed_qa")
        store.database.connection.execute(
            "UPDATE scores SET value = 1 - value WHERE run_id = ? AND position = 0", (run.run_id,)
        )
    page = read(ada.submit("/audit/verify").text)
    assert "1 of 3 checks did not match" in page
