"""The commands of `registry` in the hands of people who are in a hurry: wrong files, wrong numbers, wrong order."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aggregator.cli import cli
from aggregator.errors import AggregatorError, KeyFileError, RegistryError
from aggregator.home import Home, today_day
from aggregator.registry import rekeyings
from aggregator.registry.draft_file import read_draft, start_draft, write_draft
from aggregator.registry.invites import keep_request, open_request
from aggregator.registry.proposals import Changes, Proposal, change_now
from tests.aggregator.federation import TestSite, new_key, ready, registry_of
from tests.aggregator.test_cli import read_invite


def run(home: Home | None, *words: object, answer: str = "") -> Result:
    here = ["--dir", str(home.directory)] if home else []
    return CliRunner().invoke(cli, [*here, *map(str, words)], input=answer)


def done(home: Home | None, *words: object) -> str:
    result = run(home, *words)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.output


def failed(home: Home | None, *words: object) -> AggregatorError:
    result = run(home, *words)
    assert isinstance(result.exception, AggregatorError), result.output
    return result.exception


def wrong(home: Home | None, *words: object) -> str:
    """The words of a usage error."""
    result = run(home, *words)
    assert result.exit_code == 2, result.output
    return " ".join(result.output.split())


def files_in(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*")}


def root_file(home: Home) -> Path:
    return home.directory / "keys" / "root.key"


def make_public(tmp_path: Path, name: str) -> Path:
    done(None, "registry", "new-key", tmp_path / "machine" / f"{name}.key")
    return tmp_path / "machine" / f"{name}.key.pub"


def test_a_new_key_is_made_where_later_commands_take_it(tmp_path: Path) -> None:
    from aggregator.key_files import load_key

    done(None, "registry", "new-key", tmp_path / "machine" / "anna.key")
    load_key(tmp_path / "machine" / "anna.key")
    (tmp_path / "open").mkdir(mode=0o755)
    error = failed(None, "registry", "new-key", tmp_path / "open" / "boris.key")
    assert "open to others" in str(error)
    assert "in a new folder" in error.advice
    assert files_in(tmp_path / "open") == set()


def test_a_pair_of_keys_is_made_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "machine"
    folder.mkdir(mode=0o700)
    (folder / "anna.key.pub").write_text("of another key")
    assert "already exists" in str(failed(None, "registry", "new-key", folder / "anna.key"))
    assert files_in(folder) == {"anna.key.pub"}


def test_a_public_key_in_the_place_of_the_private_one_is_no_alarm(
    home: Home, tmp_path: Path
) -> None:
    done(home, "registry", "propose", "--renew", "--out", tmp_path / "a.draft")
    error = failed(
        None, "registry", "sign", tmp_path / "a.draft", "--key", make_public(tmp_path, "anna")
    )
    assert isinstance(error, KeyFileError)
    assert "anna.key.pub is a public key" in str(error)
    assert "Nothing has leaked" in error.advice
    private = tmp_path / "machine" / "anna.key"
    error = failed(
        home, "registry", "propose", "--add-root", private, "--out", tmp_path / "b.draft"
    )
    assert "anna.key is a private key" in str(error)


@pytest.mark.parametrize(
    "words", [["--rotate-log-key", "--log-key-from", 99], ["--rotate-receipt-key", "--leave", "s"]]
)
def test_a_proposal_that_fails_leaves_no_key_behind(
    home: Home, tmp_path: Path, words: list[object]
) -> None:
    before = files_in(home.directory / "keys")
    failed(home, "registry", "propose", *words, "--out", tmp_path / "a.draft")
    failed(
        home, "registry", "propose", "--rotate-log-key", "--out", tmp_path / "no" / "folder.draft"
    )
    assert files_in(home.directory / "keys") == before
    said = done(home, "registry", "propose", "--rotate-log-key", "--out", tmp_path / "a.draft")
    (made,) = files_in(home.directory / "keys") - before
    assert f"{made}, which is not used before `commit`" in said
    assert "--log-key-from requires" in wrong(
        home, "registry", "propose", "--log-key-from", 1, "--out", tmp_path / "a.draft"
    )


def test_a_key_is_revoked_within_the_log_alone(home: Home, tmp_path: Path) -> None:
    site = ready(home)
    keyid = site.agent.public.keyid
    size = log_size(home)
    out = tmp_path / "a.draft"
    error = failed(home, "registry", "propose", "--revoke", f"{keyid}@{size + 1}", "--out", out)
    assert f"the log has {size} entries" in str(error)
    assert "specified twice" in wrong(
        home,
        "registry",
        "propose",
        "--revoke",
        f"{keyid}@1",
        "--revoke",
        f"{keyid}@2",
        "--out",
        out,
    )
    done(home, "registry", "propose", "--revoke", f"{keyid}@{size}", "--out", out)


def test_a_rotation_that_a_stolen_key_signed_is_not_granted_as_the_key_is_revoked(
    home: Home, tmp_path: Path
) -> None:
    site = ready(home)
    (tmp_path / "rotate.json").write_bytes(site.rotate(registry_of(home), "agent", new_key()))
    words = [
        "--revoke",
        f"{site.agent.public.keyid}@1",
        "--rekey",
        tmp_path / "rotate.json",
        "--fingerprint-checked",
    ]
    error = failed(home, "registry", "propose", *words, "--out", tmp_path / "a.draft")
    assert "which this change revokes" in str(error)
    assert "must start a new epoch" in error.advice


def log_size(home: Home) -> int:
    from aggregator.log import journal

    with home.database.reading() as connection:
        return journal.size(connection)


def test_a_draft_of_a_longer_log_than_there_is_does_not_come_into_force(
    home: Home, tmp_path: Path
) -> None:
    done(home, "registry", "propose", "--renew", "--out", tmp_path / "a.draft")
    honest = read_draft(tmp_path / "a.draft").proposal
    longer = Proposal(honest.base, honest.log_size + 7, honest.registry, honest.requests)
    write_draft(tmp_path / "b.draft", start_draft(longer))
    done(None, "registry", "sign", tmp_path / "b.draft", "--key", root_file(home), "--yes")
    error = failed(home, "registry", "commit", tmp_path / "b.draft")
    assert f"but it has {honest.log_size}" in str(error)
    assert registry_of(home).version == honest.registry.version - 1


def test_a_draft_that_is_out_of_date_is_told_so_before_its_missing_signatures(
    home: Home, tmp_path: Path
) -> None:
    done(home, "registry", "propose", "--agent-version", "9.9", "--out", tmp_path / "a.draft")
    assert "has 0 of 1 signatures; 1 more needed" in str(
        failed(home, "registry", "commit", tmp_path / "a.draft")
    )
    with home.database.writing() as connection:
        change_now(connection, home, Changes(), today_day=today_day())
    assert "has changed to version 2" in str(
        failed(home, "registry", "commit", tmp_path / "a.draft")
    )


def test_a_key_signs_a_draft_once(home: Home, tmp_path: Path) -> None:
    done(home, "registry", "propose", "--renew", "--out", tmp_path / "a.draft")
    words = ("registry", "sign", tmp_path / "a.draft", "--key", root_file(home), "--yes")
    assert "Signed. It has enough signatures." in done(None, *words)
    assert "has already signed" in done(None, *words)


def test_names_and_keys_that_no_registry_takes_are_refused_in_words(
    home: Home, tmp_path: Path
) -> None:
    public = make_public(tmp_path, "anna")
    out = ("--out", tmp_path / "a.draft")
    said = wrong(home, "registry", "propose", "--add-auditor", f"Ärzte Bund={public}", *out)
    assert "--add-auditor Ärzte Bund" in said
    assert "such as board.example" in said
    assert "[a-z0-9]" not in said
    done(home, "registry", "propose", "--add-auditor", f"audit.example={public}", *out)
    done(None, "registry", "sign", tmp_path / "a.draft", "--key", root_file(home), "--yes")
    done(home, "registry", "commit", tmp_path / "a.draft")
    out = ("--out", tmp_path / "b.draft")
    assert "already in the registry" in str(
        failed(home, "registry", "propose", "--add-root", public, *out)
    )
    other = make_public(tmp_path, "boris")
    error = failed(home, "registry", "propose", "--add-auditor", f"audit.example={other}", *out)
    assert "--remove-auditor audit.example" in error.advice
    done(
        home,
        "registry",
        "propose",
        "--remove-auditor",
        "audit.example",
        "--add-auditor",
        f"audit.example={other}",
        *out,
    )
    out = ("--out", tmp_path / "c.draft")
    error = failed(home, "registry", "propose", "--threshold", 2, *out)
    assert "2 root keys would have to sign, but there would be only 1" in str(error)
    error = failed(home, "registry", "propose", "--witness-threshold", 1, *out)
    assert "1 of the witnesses would have to sign, but there would be only 0" in str(error)
    error = failed(home, "registry", "propose", "--add-witness", "w.example=nothing.pub", *out)
    assert "there is no file nothing.pub" in str(error)


def test_a_file_that_is_no_draft_is_told_so_without_the_words_of_a_parser(
    home: Home, tmp_path: Path
) -> None:
    public = make_public(tmp_path, "anna")
    error = failed(None, "registry", "sign", public, "--key", root_file(home))
    assert str(error) == "anna.key.pub is not a registry draft: invalid JSON at character 0"


def test_a_renamed_site_is_listed_under_its_new_name_and_a_pooled_one_has_none(
    home: Home, tmp_path: Path
) -> None:
    site = ready(home)
    for number, words in enumerate(
        (["--rename", f"{site.id}=New Name"], ["--publication", f"{site.id}=pooled"])
    ):
        draft = tmp_path / f"{number}.draft"
        done(home, "registry", "propose", *words, "--out", draft)
        done(None, "registry", "sign", draft, "--key", root_file(home), "--yes")
        done(home, "registry", "commit", draft)
        (listed,) = json.loads(done(home, "list", "sites", "--format", "json"))
        assert listed["name"] == "New Name"
    assert registry_of(home).sites[site.id].display_name == site.id
    error = failed(
        home, "registry", "propose", "--rename", f"{site.id}=Other", "--out", tmp_path / "x.draft"
    )
    assert "is pooled" in str(error)
    assert "specified twice" in wrong(
        home,
        *(
            "registry",
            "propose",
            "--publication",
            f"{site.id}=named",
            "--publication",
            f"{site.id}=pooled",
        ),
        *("--out", tmp_path / "x.draft"),
    )


def ask(home: Home, tmp_path: Path) -> str:
    """Invite a site whose request then waits; return its id."""
    done(home, "invite", "--site-name", "St. Example", "--out", tmp_path / "invite.json")
    invite = read_invite(tmp_path / "invite.json")
    with home.database.writing() as connection:
        request = open_request(
            connection, TestSite(invite.site).ask_to_enrol(invite), today_day=today_day()
        )
        keep_request(connection, request)
    return invite.site


def test_nobody_compares_fingerprints_for_a_change_that_one_root_cannot_make(
    home: Home, tmp_path: Path
) -> None:
    ask(home, tmp_path)
    words = ["--add-root", make_public(tmp_path, "anna"), "--threshold", 2]
    done(home, "registry", "propose", *words, "--out", tmp_path / "a.draft")
    for key in (root_file(home), tmp_path / "machine" / "anna.key"):
        done(None, "registry", "sign", tmp_path / "a.draft", "--key", key, "--yes")
    done(home, "registry", "commit", tmp_path / "a.draft")
    result = run(home, "enroll", "--pending", answer="y\n")
    assert isinstance(result.exception, RegistryError)
    assert "fingerprint" not in result.output
    assert "Do both match?" not in result.output


def test_invites_are_listed_and_a_cancelled_one_enrols_nobody(home: Home, tmp_path: Path) -> None:
    site = ask(home, tmp_path)
    done(home, "invite", "--site-name", "Other", "--out", tmp_path / "other.json")
    listed = {line["name"]: line for line in json.loads(done(home, "invites", "--format", "json"))}
    assert {name: line["state"] for name, line in listed.items()} == {
        "St. Example": "waiting",
        "Other": "open",
    }
    assert "and the request made with it" in done(home, "invites", "--cancel", site)
    assert done(home, "requests") == "No request is waiting.\n"
    assert [line["name"] for line in json.loads(done(home, "invites", "--format", "json"))] == [
        "Other"
    ]
    invite = read_invite(tmp_path / "invite.json")
    (tmp_path / "late.json").write_bytes(TestSite(invite.site).ask_to_enrol(invite))
    assert "wrong_token" in str(failed(home, "enroll", tmp_path / "late.json"))
    assert "no invite" in str(failed(home, "invites", "--cancel", site))


def test_the_invite_of_an_enrolled_site_is_used_and_stays(home: Home, tmp_path: Path) -> None:
    site = ask(home, tmp_path)
    done(home, "enroll", "--pending", "--fingerprint-checked")
    (line,) = json.loads(done(home, "invites", "--format", "json"))
    assert (line["site"], line["state"]) == (site, "used")
    assert "already enrolled" in str(failed(home, "invites", "--cancel", site))


def test_an_invite_given_for_a_request_says_what_to_give(home: Home, tmp_path: Path) -> None:
    ask(home, tmp_path)
    error = failed(home, "enroll", tmp_path / "invite.json")
    assert "invite.json is refused" in str(error)
    assert "not the invite" in error.advice


def test_a_request_is_listed_with_the_keys_before_it_and_after(home: Home, tmp_path: Path) -> None:
    waiting = ask(home, tmp_path)
    assert "none: the site is new" in done(home, "requests")
    done(home, "invites", "--cancel", waiting)
    site = ready(home)
    revoked = Changes(revoked={site.agent.public.keyid: log_size(home)})
    with home.database.writing() as connection:
        change_now(connection, home, revoked, today_day=today_day())
        request = site.reset(registry_of(home), agent=new_key(), reason="stolen_key")
        rekeyings.keep_request(connection, rekeyings.open_request(connection, request))
    said = done(home, "requests")
    assert f"none: {site.agent.public.fingerprint} is revoked from log entry" in said
    assert "steward key now" in said


@pytest.mark.parametrize("content", [None, b""])
def test_a_directory_without_a_database_is_refused_and_gets_none(
    tmp_path: Path, content: bytes | None
) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "aggregator.yaml").write_text("# with a database of its own\n")
    if content is not None:
        (copy / "aggregator.sqlite3").write_bytes(content)
    files = files_in(copy)
    for words in (
        ["list", "sites"],
        ["invites"],
        ["requests"],
        ["registry", "propose", "--renew", "--out", "x"],
    ):
        error = failed(None, "--dir", copy, *words)
        assert "is missing" in str(error) if content is None else "is empty" in str(error)
    assert files_in(copy) - {"aggregator.sqlite3-wal", "aggregator.sqlite3-shm"} == files


@pytest.mark.parametrize(
    "url",
    [
        "board.example",
        "ftp://board.example",
        "http://board.example",
        "https://a@board.example",
        "https://",
        "https://x y",
    ],
)
def test_an_address_that_no_site_would_take_is_refused(tmp_path: Path, url: str) -> None:
    error = failed(
        None, "--dir", tmp_path / "board", "init", "--origin", "board.example", "--url", url
    )
    assert "public_url: expected https" in str(error)
    assert not (tmp_path / "board").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("St.\u3000Example", "U+3000 IDEOGRAPHIC SPACE"),
        ("St. Ex\u200bample", "U+200B"),
        (" St. Example", "space before"),
    ],
)
def test_a_name_with_a_character_that_nobody_sees_says_which(
    home: Home, tmp_path: Path, name: str, said: str
) -> None:
    assert said in str(
        failed(home, "invite", "--site-name", name, "--out", tmp_path / "invite.json")
    )
