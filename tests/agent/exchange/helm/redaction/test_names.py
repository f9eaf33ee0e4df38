"""Names that may stay, labels for the others, and hashes of ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.exchange.helm.redaction.names import Names
from agent.exchange.helm.redaction.walk import FolderRedactors
from tests.agent.exchange.helm.redaction.planted_helm_folder import (
    MRN,
)
from tests.agent.exchange.helm.redaction.redacted_folders import KEY


def test_hashes_of_ids_cannot_be_found_by_trying_without_the_key(redactors: FolderRedactors):
    one, other = (
        Names(redactors.names, key, redacted_before=False).hash_id(MRN) for key in (KEY, b"j" * 32)
    )
    assert one != other


@pytest.mark.parametrize(
    "name",
    [
        "med_qa:model=openai_gpt-4o-2024-05-13,model_deployment=stanfordhealthcare_gpt-4o",
        "clear:condition=alcohol_dependence,model=anthropic_claude-3-5-sonnet-20241022",
        "med_dialog,subset=healthcaremagic:model=meta_llama-3.3-70b-instruct",
        "n2c2_ct_matching:subject=ABDOMINAL,model=google_gemini-2.0-flash-001",
    ],
)
def test_names_that_helms_tools_look_up_stay(name: str, redactors: FolderRedactors):
    assert Names(redactors.names, KEY, redacted_before=False).show_run(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "ward:patient=kowalski,model=x", "ward:subset=John_Smith", "ward:subset=john.smith", "ward:mrn=7",
        "ward:data_path=_home_kowalski", "ward:n=00451234", "Dr. Anna Kowalski", "ward:model=hospital_john-smith",
    ],
)  # fmt: skip
def test_names_of_people_and_places_on_a_disk_become_labels(name: str, redactors: FolderRedactors):
    shown = Names(redactors.names, KEY, redacted_before=False).show_run(name).casefold()
    assert not any(word in shown for word in ("kowalski", "smith", "00451234", "mrn=7"))


@pytest.mark.parametrize(
    "name",
    [
        "wojciech.szczepanski", "szczepanski_baseline", "openai/gpt-4o-szczepanski", "mholloway77", "okonkwo",
        "nguyenvan",
        "szczepanski_holloway", "rose_young", "02114", "w84736", "A84736", "482-9033", "born1961", "claude-1961-0304",
        "claude-1961-0304-84736251", "gpt-617-482-9033", "helm.benchmark.scenarios.szczepanski_holloway.Mrn84736251",
        "helm.mrn_84736251.A", "helm.benchmark.metrics.Szczepanski",
    ],
)  # fmt: skip
def test_a_name_that_nobody_vouches_for_becomes_a_label(name: str, redactors: FolderRedactors):
    names = Names(redactors.names, KEY, redacted_before=False)
    assert names.show(name) == names.label(name)


@pytest.mark.parametrize(
    "name",
    [
        "ward_accuracy", "simple_mcqa", "num_prompt_tokens", "multiple_choice_joint", "icliniq", "local/llama-3-8b",
        "anthropic/claude-3-5-sonnet-20241022", "openai_gpt-5-2025-08-07",
        "meta/llama-4-maverick-17b-128e-instruct-fp8", "my_suite", "exact_match@5",
        "helm.benchmark.scenarios.medhelm_configurable_scenario.MedHELMConfigurableScenario",
    ],
)  # fmt: skip
def test_a_name_of_known_words_stays(name: str, redactors: FolderRedactors):
    assert Names(redactors.names, KEY, redacted_before=False).show(name) == name


@given(st.integers(0, 10**19))
def test_no_number_can_be_passed_off_as_a_label_or_a_hash(number: int):
    names = Names(lambda _: False, KEY, redacted_before=True)
    for raw in (f"name_{number:012}"[:17], f"case-{number:016}"[:21]):
        assert names.hash_id(raw) != raw
        assert names.show(raw) != raw
    assert not any(map(str.isdigit, names.hash_id("7") + names.show("szczepanski")))
