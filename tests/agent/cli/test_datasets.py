"""`intramural datasets register` as people call it, from a hospital's rows to figures that may leave."""

from pathlib import Path

import pytest

from agent.cli.federation import today_day
from agent.cli.submission_context import open_gate
from agent.delivery.membership import Federation, Membership
from agent.delivery.outbox import Outbox, State
from agent.keys import KeyRole, load_signer
from agent.site.directory import Site
from protocol import envelope
from protocol import registry as registered
from tests.agent.disclosure.patients import (
    benchmark_of,
    make_site,
    patient,
    patients,
    registry_with,
    write_patients,
    write_rows,
)
from tests.agent.disclosure.ward import sign
from tests.agent.fault_server import FaultServer
from tests.agent.terminal import Done, intramural
from tests.protocol import world

MODEL = world.MODEL.name


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A site that is enrolled, with 200 patients."""
    site = make_site(tmp_path / "site")
    write_patients(site, patients(200))
    signer = load_signer(site.keys / "agent.key", KeyRole.AGENT)
    keys = (
        registered.SiteKey(signer.public, "agent"),
        registered.SiteKey(world.STEWARD.public, "steward"),
    )
    card = registry_with(benchmark_of(site)).scorecards
    registry = world.registry(
        expires_day=today_day(site) + 100,
        sites={world.SITE: registered.Site("Test Hospital", "named", world.ENROLMENT, keys)},
        scorecards={digest: one for digest, one in card.items() if one.scorecard.name == "own"},
    )
    federation = Federation(site.submissions)
    federation.join(
        Membership(world.ORIGIN, world.SITE, "", (world.ROOT.public.keyid,), 1), signer.public.keyid
    )
    data = envelope.sign(registered.build_registry(registry), (world.ROOT,), envelope.REGISTRY_TYPE)
    federation.take(data, today_day(site))
    return site


def command(site: Site, *words: str) -> Done:
    return intramural("--site", site.directory, *words, cwd=site.directory)


def approve_all(site: Site) -> None:
    gate = open_gate(site)
    for draft in gate.outbox.list_submissions():
        if draft.state is State.PREPARED:
            sign(gate, draft)


def evaluate(site: Site, *words: str) -> Done:
    with FaultServer(models=[MODEL], answer="yes") as server:
        done = command(
            site, "run", "-r", f"ward:model={MODEL}", "--server", server.url, "--quiet", *words
        )
    assert done.returncode == 0, done.stderr
    return done


def test_it_prints_what_was_frozen_and_what_comes_next(site: Site):
    done = command(site, "datasets", "register", "ward")
    assert done.returncode == 0, done.stderr
    assert "ward, version 1: 200 units in 200 rows" in done.stdout
    assert "units never seen before: 200" in done.stdout
    assert "the steward reviews it" in done.stdout
    assert "ward" in command(site, "audit").stdout
    again = command(site, "datasets", "register", "ward")
    assert "was already drafted" in again.stdout
    approve_all(site)
    nothing = command(site, "datasets", "register", "ward")
    assert (nothing.returncode, nothing.stdout) == (6, "")
    assert "nothing new since version 1 of ward" in nothing.stderr


def test_a_dry_run_says_the_same_and_keeps_nothing(site: Site):
    done = command(site, "datasets", "register", "ward", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "200 units in 200 rows" in done.stdout
    assert "nothing was registered" in done.stdout
    assert Outbox(site.submissions).list_submissions() == []
    assert not (site.data / ".frozen").exists()


def test_units_that_are_merged_and_versions_that_share_patients_are_named(site: Site):
    copies = [{**patient(3).row(), "patient": f"MRN90000{i}"} for i in range(5)]
    write_rows(site, [*(one.row() for one in patients(50)), *copies])
    done = command(site, "datasets", "register", "ward")
    assert "50 units in 55 rows" in done.stdout
    assert "units merged because they share identifiers or records: 5" in done.stdout


@pytest.mark.full
def test_figures_of_a_registered_version_are_prepared_and_others_are_not(site: Site):
    evaluate(site)
    refused = command(site, "submission", "prepare", "--suite", "default")
    assert (refused.returncode, "not registered" in refused.stderr) == (6, True)
    assert command(site, "datasets", "register", "ward").returncode == 0
    write_patients(site, patients(201))
    assert "1 newer row" in evaluate(site, "--suite", "second").stderr
    prepared = command(site, "submission", "prepare", "--suite", "second")
    assert prepared.returncode == 0, prepared.stderr
    dataset, result = open_gate(site).outbox.list_submissions()
    assert result.result.data == {"ward": dataset.digest}
    approve_all(site)
    late = command(site, "datasets", "register", "ward")
    assert late.returncode == 6
    assert "from which figures were prepared: 1 units added" in late.stderr
    assert "any model, including new ones, can be evaluated on version 1 of ward" in " ".join(
        late.stderr.split()
    )


def test_a_run_on_the_data_as_it_lies_never_becomes_a_submission(site: Site):
    assert command(site, "datasets", "register", "ward").returncode == 0
    write_patients(site, patients(201))
    evaluate(site, "--unregistered")
    refused = command(site, "submission", "prepare", "--suite", "default")
    assert (refused.returncode, "not registered" in refused.stderr) == (6, True)


def test_refusals_name_no_file_and_quote_no_record(site: Site):
    write_rows(site, [*(one.row() for one in patients(5))])
    done = command(site, "datasets", "register", "ward")
    assert done.returncode == 6
    assert "5 units" in done.stderr
    assert "data.csv" not in done.stderr
    assert "MRN" not in done.stderr
