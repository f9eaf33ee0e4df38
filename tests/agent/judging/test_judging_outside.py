"""A judge outside the hospital: refused unless policy and settings both allow it, and then sent redacted text only."""

import json
import socket
from pathlib import Path

import pytest

from agent.errors import ConfigError
from agent.io.packaged import shipped
from agent.site.directory import Site, create_site
from agent.vocabulary import Reason, Unscored
from tests.agent.fault_server import FaultServer
from tests.agent.inference.counting_server import CountingServer
from tests.agent.judging.juries import deploy, judge_server, kept, says, verdict, write_jury
from tests.agent.runs.forecast.commands import told
from tests.agent.runs.suites import run, write_benchmark

NAME, NUMBER, MAIL, DATE = "Dr. Anna Kowalski", "617-555-0143", "a.k@ward.example", "03/14/2022"
ENTRY = "letters:model=m"
HOST = "localhost"  # another name than the one that is inside


def knows_host() -> bool:
    try:
        socket.getaddrinfo(HOST, None)
    except OSError:
        return False
    return True


pytestmark = pytest.mark.skipif(not knows_host(), reason=f"no name service here knows {HOST}")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    made = create_site(tmp_path / "site", "Test")
    rows = [
        {
            "note": f"An invented note of person {i}. {NAME} called {NUMBER}.",
            "correct_answer": f"Write to {MAIL}.",
        }
        for i in range(2)
    ]
    write_benchmark(
        made,
        "letters",
        rows,
        "max_tokens: 64\ngold: {column: correct_answer}\nmetrics:\n  - name: jury_score\n    criteria:\n"
        "      accuracy: Is it right?\n      clarity: Is it plain?\n",
    )
    (made.directory / "site.yaml").write_text("site_name: Test\nallowed_hosts: [127.0.0.1]\n")
    return Site(made.directory)


def allow(site: Site, *, policy: bool = True, host: bool = True) -> Site:
    text = (shipped("policies") / "redaction" / "hipaa_safe_harbor.yaml").read_text()
    text = text.replace("name: hipaa_safe_harbor", "name: ours") + (
        "outside_judges: true\n" if policy else ""
    )
    (site.directory / "ours.yaml").write_text(text)
    with (site.directory / "site.yaml").open("a") as file:
        file.write(
            "redaction_policy: ours.yaml\n" + (f"outside_judge_hosts: [{HOST}]\n" if host else "")
        )
    return Site(site.directory)


@pytest.mark.parametrize(("policy", "host"), [(False, False), (True, False), (False, True)])
def test_a_judge_outside_is_refused_unless_policy_and_settings_allow_it(
    site: Site, policy: bool, host: bool
):
    site = allow(site, policy=policy, host=host)
    with FaultServer(models=["m"], answer="Words") as model, judge_server(says(verdict())) as a:
        deploy(site, {"a": a.url.replace("127.0.0.1", HOST)})
        write_jury(site.judges, "a")
        with pytest.raises(ConfigError, match="answers may not be sent to the host") as raised:
            run(site, model.url, ENTRY)
        assert ("outside_judges: true" in raised.value.advice) is not policy
        assert ("outside_judge_hosts" in raised.value.advice) is not host
        assert (model.asked, a.asked, a.seen_paths) == ([], [], [])


def test_a_dry_run_shows_a_judge_outside_no_text_of_an_instance(site: Site):
    site = allow(site)
    with (
        FaultServer(models=["m"], answer=f"Ask {NAME}.") as model,
        CountingServer(window=8000, models=["judge"]) as outside,
        CountingServer(window=8000, models=["judge"]) as inside,
    ):
        deploy(site, {"a": outside.url.replace("127.0.0.1", HOST), "b": inside.url})
        write_jury(site.judges, "ab")
        words = ("run", "--server", model.url, "-r", ENTRY, "--suite", "s", "--quiet")
        told(site, *words, "--dry-run")
        told(site, *words, "--no-judging")
        told(site, "judge", "--suite", "s", "--judges", str(site.judges), "--dry-run")
    seen_outside = json.dumps([asked.body for asked in (*outside.asked, *outside.counted)])
    assert "Is it plain?" in seen_outside  # it counted the prompt without the texts
    for text in ("invented note", NAME, NUMBER, MAIL, "Write to"):
        assert text not in seen_outside
    assert "invented note" in json.dumps([counted.body for counted in inside.counted])


def test_what_a_judge_outside_receives_is_redacted_and_the_audit_log_says_so(site: Site):
    site = allow(site)
    answer = f"{NAME} was told on {DATE}."
    with (
        FaultServer(models=["m"], answer=answer) as model,
        judge_server(says(verdict(4, 4))) as outside,
        judge_server(says(verdict(2, 2))) as inside,
    ):
        deploy(site, {"a": outside.url.replace("127.0.0.1", HOST), "b": inside.url})
        write_jury(site.judges, "ab")
        run(site, model.url, ENTRY)
        sent = "".join(
            json.dumps(asked.body) + json.dumps(dict(asked.headers)) for asked in outside.asked
        )
        shown = "".join(json.dumps(asked.body) for asked in inside.asked)
    canaries = ["Kowalski", NUMBER, MAIL, DATE]
    assert [one for one in canaries if one in sent] == []
    assert [one for one in canaries if one in shown] == canaries
    assert "[NAME-1]" in sent
    assert kept(site)[0] == [3.0, 3.0]
    with site.store() as store:
        entries = [
            event.detail for event in store.audit.read_events() if event.event == "outside judges"
        ]
    assert len(entries) == 1
    assert "answers=2" in entries[0]
    assert "judges=local/a " in entries[0]
    assert "ours 1" in entries[0]


def test_a_right_answer_that_no_judge_sees_goes_no_way_at_all_and_holds_nothing_up(site: Site):
    definition = site.directory / "benchmarks" / "letters" / "benchmark.yaml"
    definition.write_text(
        definition.read_text().replace(
            "- name: jury_score\n", "- name: jury_score\n    gold_shown: false\n"
        )
    )
    data = definition.with_name("data.csv")
    data.write_text(
        data.read_text().replace(MAIL, f"{MAIL} \ufffd\ufffd\ufffd")
    )  # which no redaction clears
    site = allow(site)
    with FaultServer(models=["m"], answer="Words") as model, judge_server(says(verdict(4, 4))) as a:
        deploy(site, {"a": a.url.replace("127.0.0.1", HOST)})
        write_jury(site.judges, "a")
        run(site, model.url, ENTRY)
        sent = "".join(json.dumps(asked.body) for asked in a.asked)
    assert kept(site)[0] == [4.0, 4.0]
    assert "[NAME-1]" in sent
    assert [word for word in (MAIL, "[EMAIL", "Write to", "\\ufffd") if word in sent] == []


def test_an_answer_that_cannot_be_cleared_is_withheld_from_the_judge(site: Site):
    site = allow(site)
    undecodable = "Words \ufffd\ufffd\ufffd of no known letters"
    with FaultServer(models=["m"], answer=undecodable) as model, judge_server(says(verdict())) as a:
        deploy(site, {"a": a.url.replace("127.0.0.1", HOST)})
        write_jury(site.judges, "a")
        (outcome,) = run(site, model.url, ENTRY)
        assert not any("invented note" in asked.prompt for asked in a.asked)
    scores, seats = kept(site)
    assert [of[0].reason for of in seats.values()] == ["withheld", "withheld"]
    assert scores == [Unscored(Reason.NOT_JUDGED)] * 2
    assert (outcome.judged.asked, outcome.judged.open) == (0, 0)


def test_a_judge_with_one_replica_outside_is_outside_and_refused_without_leave(site: Site):
    site = allow(site, host=False)
    with FaultServer(models=["m"], answer="Words") as model, judge_server(says(verdict())) as a:
        deploy(site, {"a": a.url})
        text = site.deployments.read_text()
        outside = a.url.replace("127.0.0.1", HOST)
        text = text.replace(f"base_url: {a.url}", f"base_urls: [{a.url}, {outside}]")
        assert outside in text
        site.deployments.write_text(text)
        write_jury(site.judges, "a")
        with pytest.raises(ConfigError, match="answers may not be sent to the host"):
            run(site, model.url, ENTRY)
        assert (model.asked, a.asked) == ([], [])
