"""The page of a benchmark over a real service: data is added by upload or not at all, checked, and removed."""

import io
import json
import re
import zipfile
from html import unescape
from pathlib import Path

import pytest
from markupsafe import escape

from agent.catalog.benchmark import survey_benchmarks
from agent.io.packaged import shipped
from agent.service.web.transfers import Transfers, UploadLimits
from agent.store import JobState, QueuedCommand
from tests.agent.service.filled_site import FilledSite
from tests.agent.service.web.running_service import Browser, RunningService

PAGE = "/benchmarks/shc_ptbm_med"
CSV = b"prompt,context,label\nIs it so?,A note.,A\nIs it so?,Another note.,B\n"
GATED = {"agreement": "PhysioNet 1.5.0", "attested_by": "Dana", "attest": "yes"}


@pytest.fixture
def dana(running: RunningService) -> Browser:
    return running.sign_in("dana")


def list_names(folder: Path) -> list[str]:
    """Return the names of all files below a folder, hidden ones too, without locks."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return sorted(path.relative_to(folder).as_posix() for path in files)


def zip_files(files: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return content.getvalue()


def test_the_page_of_each_benchmark_is_drawn_for_each_role(running: RunningService):
    benchmarks, _ = survey_benchmarks()
    for name in ("vera", "dana"):
        browser = running.sign_in(name)
        for benchmark in benchmarks.values():
            page = browser.get(f"/benchmarks/{benchmark.id}")
            assert page.status_code == 200, benchmark.id
            assert escape(benchmark.description) in page.text
            assert (f"/benchmarks/{benchmark.id}/data" in page.text) == (name == "dana")


def test_a_file_is_added_under_a_name_of_the_benchmarks_own(filled: FilledSite, dana: Browser):
    done = dana.upload(f"{PAGE}/data", CSV, sent_name="Jane Doe 1951.csv")
    assert "The data was read and added" in done.text
    assert "2 instances" in done.text
    folder = filled.site.data / "shc_ptbm_med"
    assert list_names(folder) == [".dataset.json", "shc_ptbm_med.csv"]
    assert (folder / "shc_ptbm_med.csv").read_bytes() == CSV
    assert (folder / "shc_ptbm_med.csv").stat().st_mode & 0o077 == 0
    assert list_names(filled.site.transfers) == []
    assert "Jane Doe" not in done.text
    with filled.site.store() as store:
        event = store.audit.read_events()[-1]
    assert event.event == "data added"
    assert "benchmark=shc_ptbm_med version=unknown instances=2 account=" in event.detail


@pytest.mark.parametrize(
    "sent_name",
    [
        "../../keys/agent.key.csv",
        "/etc/cron.d/x.csv",
        "..\\..\\x.csv",
        "a\x00b.csv",
        "\u202evsc.csv",
    ],
)
def test_a_name_that_leads_elsewhere_is_only_an_ending(
    filled: FilledSite, dana: Browser, sent_name: str
):
    before = list_names(filled.site.directory)
    done = dana.upload(f"{PAGE}/data", CSV, sent_name=sent_name)
    assert done.status_code in (200, 400)
    new = [
        name
        for name in list_names(filled.site.directory)
        if name not in before and not name.startswith("store/")
    ]
    assert new in ([], ["data/shc_ptbm_med/.dataset.json", "data/shc_ptbm_med/shc_ptbm_med.csv"])


def test_each_wrong_row_is_named_and_nothing_is_replaced(filled: FilledSite, dana: Browser):
    assert dana.upload(f"{PAGE}/data", CSV, sent_name="first.csv").status_code == 200
    wrong = b"prompt,context,label\nIs it so?,A note.,Z\nIs it so?,,B\n"
    refused = dana.upload(f"{PAGE}/data", wrong, sent_name="second.csv", replace="yes")
    assert refused.status_code == 400
    assert "Nothing was changed" in refused.text
    assert "row 1" in refused.text
    assert "row 2" in refused.text
    assert (filled.site.data / "shc_ptbm_med" / "shc_ptbm_med.csv").read_bytes() == CSV
    assert "second.csv" not in refused.text


def test_wrong_columns_are_named_beside_the_expected_ones_and_the_form_stays_filled_in(
    filled: FilledSite, dana: Browser
):
    """A file with another header was refused with the expected names alone, and ticks had to be set again."""
    dana.upload(f"{PAGE}/data", CSV, sent_name="first.csv")
    long = "n" * 300
    wrong = f"prompt,right answer,<b>answer</b>,{long}\nIs it so?,ZQX-record,A,x\n".encode()
    refused = dana.upload(f"{PAGE}/data", wrong, sent_name="second.csv", replace="yes")
    assert refused.status_code == 400
    words = unescape(refused.text)
    assert (
        "missing 'context', 'label'; expected 'context', 'prompt', 'label'; "
        f"found 'prompt', 'right answer', '{long[:40]}…' and 1 column whose name is not shown"
        in words
    )
    assert "<b>answer" not in refused.text
    assert long not in refused.text
    assert "ZQX-record" not in refused.text
    assert re.search(r'name="replace" value="yes" checked', refused.text)


def test_a_header_with_none_of_the_names_is_shown_and_a_first_patient_is_not(dana: Browser):
    other = dana.upload(f"{PAGE}/data", b"question,answer\nIs it so?,A\n", sent_name="a.csv")
    assert "found 'question', 'answer'" in unescape(other.text)
    headless = b"Is it so?,Jane Doe has a cough.,A\nIs it so?,Another note.,B\n"
    refused = dana.upload(f"{PAGE}/data", headless, sent_name="a.csv")
    assert "missing 'context', 'prompt', 'label'" in unescape(refused.text)
    assert "Jane Doe" not in refused.text
    assert "found 3 columns whose name is not shown" in refused.text


def test_a_file_that_does_not_arrive_leaves_the_form_filled_in(
    filled: FilledSite, running: RunningService, dana: Browser
):
    """A file above the limit led to a page without the form, and the agreement had to be typed again."""
    running.service.transfers = Transfers(filled.site.transfers, UploadLimits(largest=1000))
    page = "/benchmarks/mimic_bhc/data"
    typed = {**GATED, "agreement": "PhysioNet 1.5.0, signed in May"}
    refused = dana.upload(page, b"x" * 2000, sent_name="n.jsonl", **typed)
    assert refused.status_code == 400
    assert "larger than 1.0 kB" in refused.text
    assert 'value="PhysioNet 1.5.0, signed in May"' in refused.text
    assert 'value="Dana"' in refused.text
    assert re.search(r'name="attest" value="yes" checked', refused.text)
    # Without the secret of the form, nothing of it comes back.
    forged = dana.upload(page, b"x" * 2000, sent_name="n.jsonl", csrf="0" * 64, **typed)
    assert forged.status_code == 403
    assert "signed in May" not in forged.text


def test_data_is_replaced_only_if_that_was_asked_for(filled: FilledSite, dana: Browser):
    other = CSV + b"And now?,A third note.,A\n"
    dana.upload(f"{PAGE}/data", CSV, sent_name="a.csv")
    refused = dana.upload(f"{PAGE}/data", other, sent_name="a.csv")
    assert "already has data" in refused.text
    assert (
        "3 instances" in dana.upload(f"{PAGE}/data", other, sent_name="a.csv", replace="yes").text
    )
    assert (filled.site.data / "shc_ptbm_med" / "shc_ptbm_med.csv").read_bytes() == other


def test_gated_data_needs_the_agreement(filled: FilledSite, dana: Browser):
    notes = (shipped("benchmarks") / "mimic_bhc" / "invented_mimic_bhc.jsonl").read_bytes()
    page = "/benchmarks/mimic_bhc/data"
    refused = dana.upload(page, notes, sent_name="mimic-iv-bhc.jsonl", agreement="PhysioNet 1.5.0")
    assert "was not attested" in refused.text
    assert 'value="PhysioNet 1.5.0"' in refused.text  # what was entered stays
    assert not (filled.site.data / "mimic_bhc").exists()
    assert dana.upload(page, notes, sent_name="n.jsonl", **GATED).status_code == 200
    record = json.loads((filled.site.data / "mimic_bhc" / ".dataset.json").read_text())
    assert record["attested_by"] == "Dana"


def test_one_part_is_chosen_from_the_list(filled: FilledSite, dana: Browser):
    folder = shipped("benchmarks") / "clear" / "invented_sample"
    book = (folder / "homelessness.xlsx").read_bytes()
    page = "/benchmarks/clear/data"
    for part in ("", "../../keys/x.xlsx"):
        refused = dana.upload(page, book, sent_name="homelessness.xlsx", part=part)
        assert "not chosen which part" in refused.text
    done = dana.upload(page, book, sent_name="x.xlsx", part="homelessness.xlsx")
    assert done.status_code == 200, done.text
    assert list_names(filled.site.data / "clear") == [".dataset.json", "homelessness.xlsx"]


def test_an_archive_holds_several_files_and_no_way_out(filled: FilledSite, dana: Browser):
    folder = shipped("benchmarks") / "clear" / "invented_sample"
    books = {path.name: path.read_bytes() for path in sorted(folder.glob("*.xlsx"))[:3]}
    refused = dana.upload(
        "/benchmarks/clear/data", zip_files({"../../evil.xlsx": b"x"}), sent_name="a.zip"
    )
    assert "leads out of its folder" in refused.text
    done = dana.upload("/benchmarks/clear/data", zip_files(books), sent_name="a.ZIP")
    assert done.status_code == 200, done.text
    assert list_names(filled.site.data / "clear") == [".dataset.json", *sorted(books)]


def test_several_files_need_an_archive(dana: Browser):
    refused = dana.upload("/benchmarks/mimic_rrs/data", b"x", sent_name="test.txt", **GATED)
    assert "needs several files: test.findings.tok, test.impression.tok" in refused.text


@pytest.mark.parametrize("content", [b"", b"\x00" * 100, b"%PDF-1.7", b"prompt,context\n"])
def test_any_bytes_are_refused_in_words(filled: FilledSite, dana: Browser, content: bytes):
    refused = dana.upload(f"{PAGE}/data", content, sent_name="a.csv")
    assert refused.status_code == 400
    assert "upload.csv" in refused.text or "shc_ptbm_med" in refused.text
    assert list_names(filled.site.data) == []


def test_a_name_without_a_known_ending_and_a_form_without_a_file_are_refused(dana: Browser):
    assert "ends in none of" in dana.upload(f"{PAGE}/data", CSV, sent_name="data.exe").text
    assert "No file was chosen" in dana.upload(f"{PAGE}/data", b"", sent_name="").text
    assert "No file was chosen" in dana.submit(f"{PAGE}/data").text


def test_a_viewers_file_is_not_even_stored(filled: FilledSite, running: RunningService):
    vera = running.sign_in("vera")
    refused = vera.upload(f"{PAGE}/data", CSV, sent_name="a.csv")
    assert refused.status_code == 403
    assert not filled.site.transfers.exists()
    stranger = running.visit()
    refused = stranger.upload(f"{PAGE}/data", CSV, sent_name="a.csv", csrf="0" * 64)
    assert refused.status_code == 303
    assert not filled.site.transfers.exists()


def test_a_form_of_another_session_stores_no_byte(filled: FilledSite, dana: Browser):
    refused = dana.upload(f"{PAGE}/data", CSV, sent_name="a.csv", csrf="0" * 64)
    assert refused.status_code == 403
    assert list_names(filled.site.data) == []
    assert list_names(filled.site.transfers) == []


def test_public_data_is_downloaded_as_a_job(filled: FilledSite, dana: Browser):
    sent = dana.submit("/benchmarks/pubmed_qa/fetch")
    assert sent.status_code == 303
    with filled.site.store() as store:
        (job,) = store.jobs.list_open()
    assert job.arguments == ("datasets", "fetch", "pubmed_qa")
    refused = dana.submit("/benchmarks/mimic_bhc/fetch")
    assert "cannot be downloaded" in refused.text


def test_data_that_was_changed_by_hand_is_noticed_when_checked_again(
    filled: FilledSite, dana: Browser
):
    dana.upload(f"{PAGE}/data", CSV, sent_name="a.csv")
    assert "All data was read again" in dana.submit(f"{PAGE}/check").text
    file = filled.site.data / "shc_ptbm_med" / "shc_ptbm_med.csv"
    file.write_bytes(CSV.replace(b",B", b",Q"))
    checked = dana.submit(f"{PAGE}/check")
    assert checked.status_code == 400
    assert "row 2" in checked.text
    assert "Files were changed after they were added" in checked.text
    assert "ADHD-Behavior: changed" in dana.get("/").text


def test_data_is_removed_after_a_question_and_never_under_a_running_job(
    filled: FilledSite, dana: Browser
):
    dana.upload(f"{PAGE}/data", CSV, sent_name="a.csv")
    assert "2 instances" in dana.get(f"{PAGE}/remove").text
    command = QueuedCommand(("run", "--run-entries", "shc_ptbm_med:model=m"), "run", "somebody")
    with filled.site.store() as store:
        job = store.jobs.add(command, 1_800_000_000)
        assert store.jobs.begin(job.job_id, 1_800_000_000)
    assert "A job is running" in dana.submit(f"{PAGE}/remove").text
    with filled.site.store() as store:
        store.jobs.end(job.job_id, 0, 1_800_000_001)
        found = store.jobs.find(job.job_id)
        assert found is not None
        assert found.state is JobState.DONE
    assert dana.submit(f"{PAGE}/remove").status_code == 303
    assert not (filled.site.data / "shc_ptbm_med").exists()
    assert "no data of it" in dana.submit(f"{PAGE}/remove").text


def test_a_definition_that_cannot_be_used_is_listed_with_its_faults(
    filled: FilledSite, dana: Browser
):
    own = filled.site.own_benchmarks
    assert own is not None
    (own / "mine.yaml").write_text("name: mine\ndescription: x\ncategory: Nonsense\n", "utf-8")
    page = dana.get("/benchmarks").text
    assert "Definitions that cannot be used" in page
    assert "mine.yaml" in page
    assert str(filled.site.directory) not in page
    assert "cannot be used" in dana.get("/").text
