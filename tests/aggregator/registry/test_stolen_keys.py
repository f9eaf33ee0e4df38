"""Drills: a thief has the key of an agent, a steward, the log, the receipts or a root; docs/keys.md is followed.

Each runs the very commands of the page, in processes of their own, and then tries what the thief would.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from aggregator.home import Home, today_day
from aggregator.intake import accept
from aggregator.log import journal
from aggregator.log.history import read_site_head
from aggregator.registry.proposals import Changes, change_now
from aggregator.registry.versions import newest_envelope
from protocol.checkpoint import Checkpoint, sign_checkpoint, verify_checkpoint
from protocol.envelope import decode
from protocol.errors import Code, ProtocolError
from protocol.receipt import verify_receipt
from protocol.refusal import Refusal, sign_refusal, verify_refusal
from protocol.registry import Registry, step_registry
from tests.aggregator.federation import TestSite, new_key, ready, registry_of, scores, submit
from tests.aggregator.registry.drills import BLOCKS, aggregator, run_block


@pytest.fixture
def folder(home: Home) -> Path:
    """A folder to work in, with the root key's file as everybody on the host would name it."""
    made = home.directory.parent / "desk"
    made.mkdir()
    return made


def root_file(home: Home) -> Path:
    return home.directory / "keys" / "root.key"


def log_size(home: Home) -> int:
    with home.database.reading() as connection:
        return journal.size(connection)


def refused(home: Home, envelope: bytes) -> Code:
    with pytest.raises(ProtocolError) as error:
        accept(home, envelope, today_day=today_day())
    return error.value.code


def catch_up(home: Home, site: TestSite) -> None:
    """Tell the site how far the log says that its chain has come."""
    with home.database.reading() as connection:
        head = read_site_head(connection, site.id, registry_of(home), journal.size(connection))
    assert head is not None
    site.epoch, site.seq, site.prev, site.ledger = head.epoch, head.seq, head.digest, head.ledger


def published(home: Home, folder: Path) -> dict[str, object]:
    done = aggregator(home.directory, "publish", "--out", folder / "public", folder=folder)
    assert done.returncode == 0, done.stderr
    checked = aggregator(None, "verify", "--board", folder / "public", folder=folder)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    board: dict[str, object] = json.loads((folder / "public" / "board.json").read_bytes())
    return board


def states(home: Home, folder: Path, what: str) -> dict[str, str]:
    done = aggregator(home.directory, "list", what, "--format", "json", folder=folder)
    lines = json.loads(done.stdout)
    return {line.get("key", line.get("site")): line["state"] for line in lines}


def test_the_page_has_a_drill_for_every_office() -> None:
    wanted = {
        "agent, revoke",
        "agent, reset",
        "steward, revoke",
        "steward, reset",
        "log",
        "receipt",
        "root",
    }
    assert wanted <= BLOCKS.keys()


@pytest.mark.full
def test_the_thief_of_both_keys_of_a_machine_counts_for_nothing_and_the_site_goes_on(
    home: Home, folder: Path
) -> None:
    """The thief had the agent's key, and tricked the steward into signing once."""
    site = ready(home)
    submit(home, site, site.result(registry_of(home), scores(1)))
    stolen_from = log_size(home)
    thief = replace(site, datasets=dict(site.datasets))
    submit(home, thief, thief.result(registry_of(home), scores(2, right=0.99)))
    assert published(home, folder)["revoked_log_positions"] == []
    keyid = site.agent.public.keyid
    words = {"KEY": keyid[:16], "INDEX": stolen_from, "ROOT": root_file(home)}
    run_block("agent, revoke", home.directory, folder, words)
    assert states(home, folder, "keys")[keyid] == f"revoked from entry {stolen_from}"
    assert states(home, folder, "sites")[site.id] == "revoked"
    assert refused(home, thief.sign(thief.result(registry_of(home), scores(3)))) is Code.UNKNOWN_KEY
    assert published(home, folder)["revoked_log_positions"] == [stolen_from]
    catch_up(home, site)
    agent = new_key()
    request = site.reset(registry_of(home), agent=agent, reason="stolen_key")
    (folder / "reset.dsse.json").write_bytes(request)
    run_block("agent, reset", home.directory, folder)
    site.accepted(request)
    site.agent = agent
    submit(home, site, site.result(registry_of(home), scores(4)))
    assert states(home, folder, "sites")[site.id] == "active"
    thief.epoch, thief.seq, thief.prev, thief.ledger = site.epoch, site.seq, site.prev, site.ledger
    assert refused(home, thief.sign(thief.result(registry_of(home), scores(5)))) is Code.UNKNOWN_KEY
    assert published(home, folder)["revoked_log_positions"] == [stolen_from]


@pytest.mark.full
def test_the_thief_of_a_stewards_key_signs_nothing_more_and_the_site_goes_on(
    home: Home, folder: Path
) -> None:
    site = ready(home)
    submit(home, site, site.result(registry_of(home), scores(1)))
    thief = replace(site, agent=new_key(), datasets=dict(site.datasets))
    assert refused(home, thief.sign(thief.result(registry_of(home), scores(2)))) is Code.UNKNOWN_KEY
    keyid = site.steward.public.keyid
    words = {"KEY": keyid[:16], "INDEX": log_size(home), "ROOT": root_file(home)}
    run_block("steward, revoke", home.directory, folder, words)
    assert refused(home, site.sign(site.result(registry_of(home), scores(3)))) is Code.UNKNOWN_KEY
    steward = new_key()
    request = site.reset(registry_of(home), steward=steward, reason="stolen_key")
    (folder / "reset.dsse.json").write_bytes(request)
    run_block("steward, reset", home.directory, folder)
    site.accepted(request)
    stolen, site.steward = site.steward, steward
    submit(home, site, site.result(registry_of(home), scores(4)))
    again = replace(site, steward=stolen, datasets=dict(site.datasets))
    assert refused(home, again.sign(again.result(registry_of(home), scores(5)))) is Code.UNKNOWN_KEY
    assert published(home, folder)["revoked_log_positions"] == []


@pytest.mark.full
def test_the_thief_of_the_logs_key_signs_no_larger_log_and_old_receipts_stay(
    home: Home, folder: Path
) -> None:
    site = ready(home)
    before = registry_of(home)
    stolen = home.log_signer(before)
    first = site.sign(site.result(before, scores(1)))
    receipt = accept(home, first, today_day=today_day()).receipt
    site.accepted(first)
    size = log_size(home)
    submit(home, site, site.result(before, scores(2)))  # while nobody had noticed
    run_block("log", home.directory, folder, {"SIZE": size + 1, "ROOT": root_file(home)})
    after = registry_of(home)
    assert [(entry.from_size, entry.until_size) for entry in after.log_keys] == [
        (0, size + 1),
        (size + 1, None),
    ]
    verify_receipt(receipt, decode(first).pae, after.log_keys, after.log_name)
    forged = sign_checkpoint(Checkpoint(after.log_name, size + 5, b"\x07" * 32), stolen)
    verify_checkpoint(forged, before.log_keys, before.log_name)
    with pytest.raises(ProtocolError) as error:
        verify_checkpoint(forged, after.log_keys, after.log_name)
    assert error.value.code is Code.UNSIGNED_CHECKPOINT
    with home.database.reading() as connection:
        head = journal.checkpoint(connection, origin=after.log_name, log_key=home.log_signer(after))
    for registry in (
        before,
        after,
    ):  # signed by both keys: who knows the old registry sees the same log
        assert verify_checkpoint(head, registry.log_keys, registry.log_name).size == size + 1
    submit(home, site, site.result(registry_of(home), scores(3)))
    (home.directory / "keys" / "log.key").unlink()
    fresh = Home(home.directory)
    submit(fresh, site, site.result(registry_of(home), scores(4)))
    published(home, folder)


def test_the_thief_of_the_receipt_key_refuses_nothing_any_more(home: Home, folder: Path) -> None:
    site = ready(home)
    before = registry_of(home)
    stolen = home.receipt_signer(before)
    bad = site.sign(replace(site.result(before, scores(1)), approval="exception"))
    assert refused(home, bad) is Code.NO_EXCEPTIONS
    run_block("receipt", home.directory, folder, {"ROOT": root_file(home)})
    after = registry_of(home)
    digest = decode(bad).digest
    forged = sign_refusal(Refusal(digest, Code.FORK, 3), after.log_name, stolen)
    with pytest.raises(ProtocolError):
        verify_refusal(forged, digest, after.receipt_key, after.log_name)
    with pytest.raises(ProtocolError) as again:
        accept(home, bad, today_day=today_day())
    note = again.value.note  # type: ignore[attr-defined]
    assert (
        verify_refusal(note, digest, after.receipt_key, after.log_name).code is Code.NO_EXCEPTIONS
    )
    submit(home, site, site.result(registry_of(home), scores(2)))


def make_roots(home: Home, folder: Path) -> dict[str, Path]:
    """Replace the one root on the host by two of three on machines of their own, as the page says."""
    machines = {}
    for name in ("ANNA", "BORIS", "CLARA", "DORA"):
        machine = folder.parent / name
        machine.mkdir(mode=0o700)
        run_block(
            "roots, on each root's machine", None, folder, {"ROOT_FOLDER": machine, "NAME": name}
        )
        machines[name] = machine / f"{name}.key"
        (folder / f"{name}.pub").write_bytes((machine / f"{name}.key.pub").read_bytes())
    files = {f"{name}.key": path for name, path in machines.items()}
    words = {
        "BOARD": home.directory,
        "OLD_ROOT": registry_of(home).roots[0].keyid[:16],
        **escape(files),
    }
    run_block("roots, propose", home.directory, folder, words)
    shown = run_block("roots, sign", None, folder, words)
    assert "2 of 3 root keys must sign from then on" in shown
    run_block("roots, commit", home.directory, folder, words)
    root_file(home).unlink()
    return machines


def escape(files: dict[str, Path]) -> dict[str, object]:
    return {name.replace(".", r"\."): path for name, path in files.items()}


@pytest.mark.full
def test_two_of_three_roots_on_other_machines_change_the_registry_and_one_alone_does_not(
    home: Home, folder: Path
) -> None:
    site = ready(home)
    machines = make_roots(home, folder)
    registry = registry_of(home)
    assert (registry.threshold, len(registry.roots)) == (2, 3)
    submit(home, site, site.result(registry, scores(1)))
    for words in (["register", "--agent-version", "9.9"], ["registry", "commit", "one.draft"]):
        if words[0] == "registry":
            done = aggregator(
                home.directory,
                "registry",
                "propose",
                "--agent-version",
                "9.9",
                "--out",
                "one.draft",
                folder=folder,
            )
            assert done.returncode == 0, done.stderr
            aggregator(
                None,
                "registry",
                "sign",
                "one.draft",
                "--key",
                machines["ANNA"],
                "--yes",
                folder=folder,
            )
        done = aggregator(home.directory, *words, folder=folder)
        assert done.returncode == 4, done.stdout
        assert "registry sign" in done.stderr
    assert registry_of(home) == registry
    aggregator(
        None, "registry", "sign", "one.draft", "--key", machines["CLARA"], "--yes", folder=folder
    )
    done = aggregator(home.directory, "registry", "commit", "one.draft", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "9.9" in registry_of(home).agents.values()
    submit(home, site, site.result(registry_of(home), scores(2)))
    published(home, folder)


@pytest.mark.full
def test_the_thief_of_one_root_of_three_is_taken_out_by_the_others(
    home: Home, folder: Path
) -> None:
    site = ready(home)
    machines = make_roots(home, folder)
    before = registry_of(home)
    stolen = next(key for key in before.roots if key.keyid == keyid_of(machines["ANNA"]))
    files = escape({f"{name}.key": path for name, path in machines.items()})
    run_block("root", home.directory, folder, {"STOLEN": stolen.keyid[:16], **files})
    after = registry_of(home)
    assert stolen.keyid not in {key.keyid for key in after.roots}
    with home.database.reading() as connection:
        envelope = newest_envelope(connection)
    assert step_registry(envelope, before) == after  # a site that slept takes it
    done = aggregator(
        home.directory, "registry", "propose", "--renew", "--out", "thief.draft", folder=folder
    )
    assert done.returncode == 0, done.stderr
    thief = aggregator(
        None, "registry", "sign", "thief.draft", "--key", machines["ANNA"], "--yes", folder=folder
    )
    assert thief.returncode == 4
    assert "not a root key of the registry in force or of the new one" in thief.stderr
    aggregator(
        None, "registry", "sign", "thief.draft", "--key", machines["BORIS"], "--yes", folder=folder
    )
    assert (
        aggregator(home.directory, "registry", "commit", "thief.draft", folder=folder).returncode
        == 4
    )
    submit(home, site, site.result(after, scores(1)))


def keyid_of(path: Path) -> str:
    from aggregator.key_files import load_key

    return load_key(path).public.keyid


def test_a_draft_from_before_another_change_is_refused_and_says_what_to_do(
    home: Home, folder: Path
) -> None:
    aggregator(
        home.directory,
        "registry",
        "propose",
        "--agent-version",
        "9.9",
        "--out",
        "a.draft",
        folder=folder,
    )
    aggregator(
        None, "registry", "sign", "a.draft", "--key", root_file(home), "--yes", folder=folder
    )
    with home.database.writing() as connection:
        change_now(connection, home, Changes(), today_day=today_day())
    done = aggregator(home.directory, "registry", "commit", "a.draft", folder=folder)
    assert done.returncode == 4
    assert "Propose it again" in done.stderr
    assert registry_of(home).version == 2


def test_a_site_that_moved_on_since_its_request_was_proposed_is_not_rekeyed(
    home: Home, folder: Path
) -> None:
    site = ready(home)
    (folder / "rotate.json").write_bytes(site.rotate(registry_of(home), "agent", new_key()))
    words = [
        "registry",
        "propose",
        "--rekey",
        "rotate.json",
        "--fingerprint-checked",
        "--out",
        "a.draft",
    ]
    assert aggregator(home.directory, *words, folder=folder).returncode == 0
    aggregator(
        None, "registry", "sign", "a.draft", "--key", root_file(home), "--yes", folder=folder
    )
    submit(home, site, site.result(registry_of(home), scores(1)))
    version, size = registry_of(home).version, log_size(home)
    done = aggregator(home.directory, "registry", "commit", "a.draft", folder=folder)
    assert done.returncode == 5
    assert (
        "Propose the change again without it" in done.stderr
        or "must make a new request" in done.stderr
    )
    assert (registry_of(home).version, log_size(home)) == (version, size)


def test_many_changes_come_into_force_as_one_version_while_the_log_grows(
    home: Home, folder: Path
) -> None:
    first, second, third = ready(home, "First"), ready(home, "Second"), ready(home, "Third")
    new_agent, new_steward = new_key(), new_key()
    (folder / "one.json").write_bytes(first.rotate(registry_of(home), "agent", new_agent))
    (folder / "two.json").write_bytes(
        second.reset(registry_of(home), steward=new_steward, reason="stolen_key")
    )
    words = [
        "registry",
        "propose",
        "--rekey",
        "one.json",
        "--rekey",
        "two.json",
        "--fingerprint-checked",
    ]
    words += [
        "--publication",
        f"{third.id}=pooled",
        "--agent-version",
        "9.9",
        "--out",
        "many.draft",
    ]
    done = aggregator(home.directory, *words, folder=folder)
    assert done.returncode == 0, done.stderr
    assert "only a hash of each of its datasets" in done.stdout
    aggregator(
        None, "registry", "sign", "many.draft", "--key", root_file(home), "--yes", folder=folder
    )
    submit(home, third, third.result(registry_of(home), scores(1)))  # the log goes on meanwhile
    before = registry_of(home)
    done = aggregator(home.directory, "registry", "commit", "many.draft", folder=folder)
    assert done.returncode == 0, done.stderr
    after = registry_of(home)
    assert after.version == before.version + 1
    assert after.sites[third.id].publication == "pooled"
    first.accepted((folder / "one.json").read_bytes())
    second.accepted((folder / "two.json").read_bytes())
    first.agent, second.steward = new_agent, new_steward
    submit(home, first, first.result(after, scores(2)))
    submit(home, second, second.result(after, scores(3)))
    again = aggregator(home.directory, "registry", "commit", "many.draft", folder=folder)
    assert again.returncode == 0  # it is in force already
    published_folder = aggregator(
        home.directory, "publish", "--out", folder / "public", folder=folder
    )
    assert published_folder.returncode == 0, published_folder.stderr


def test_a_draft_that_slips_a_key_in_is_refused_by_the_one_who_signs(
    home: Home, folder: Path
) -> None:
    from aggregator.registry.draft_file import read_draft, start_draft, write_draft
    from aggregator.registry.proposals import Proposal

    site = ready(home)
    aggregator(home.directory, "registry", "propose", "--renew", "--out", "a.draft", folder=folder)
    honest = read_draft(folder / "a.draft")
    write_draft(
        folder / "b.draft", start_draft(replace(honest.proposal, registry=slip(honest.after, site)))
    )
    done = aggregator(
        None, "registry", "sign", "b.draft", "--key", root_file(home), "--yes", folder=folder
    )
    assert done.returncode == 4
    assert "that no request asks for" in done.stderr
    assert isinstance(honest.proposal, Proposal)


def slip(registry: Registry, site: TestSite) -> Registry:
    from protocol.registry import SiteKey

    entry = registry.sites[site.id]
    keys = (*entry.keys, SiteKey(new_key().public, "agent"))
    return replace(registry, sites={**registry.sites, site.id: replace(entry, keys=keys)})


@pytest.mark.full
def test_a_site_leaves_and_its_results_stay(home: Home, folder: Path) -> None:
    site = ready(home)
    submit(home, site, site.result(registry_of(home), scores(1)))
    aggregator(
        home.directory, "registry", "propose", "--leave", site.id, "--out", "a.draft", folder=folder
    )
    aggregator(
        None, "registry", "sign", "a.draft", "--key", root_file(home), "--yes", folder=folder
    )
    done = aggregator(home.directory, "registry", "commit", "a.draft", folder=folder)
    assert done.returncode == 0, done.stderr
    assert states(home, folder, "sites")[site.id] == "left"
    assert refused(home, site.sign(site.result(registry_of(home), scores(2)))) is Code.UNKNOWN_KEY
    assert published(home, folder)["revoked_log_positions"] == []


def test_the_commands_about_publication_and_leaving_are_as_the_page_says(
    home: Home, folder: Path
) -> None:
    site = ready(home)
    shown = run_block("leaving", home.directory, folder, {"SITE": site.id})
    assert "Everything that was public before stays public" in shown
    assert "may not sign" in shown
