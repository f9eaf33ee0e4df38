"""Bills of materials: valid CycloneDX, the same bytes each time, every package of the lock with its hash."""

import importlib.metadata
import json

import pytest
from cyclonedx.schema import SchemaVersion

from intramural_release.licences import read_licence
from intramural_release.lock_files import parse_lock
from intramural_release.sbom import write_bill
from intramural_release.variants import locate_lock

EPOCH = 1_790_000_000


def find_fault(bill: str) -> object:
    """Return what is against the schema of CycloneDX, or None."""
    from cyclonedx.validation.json import JsonStrictValidator  # takes seconds to load

    return JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill)


@pytest.mark.parametrize("variant", ["agent", "agent-vllm", "steward"])
def test_the_bill_of_a_variant_is_valid_and_complete(variant: str):
    path = locate_lock(variant, "3.12")
    pins = parse_lock(path.read_text("utf-8"), path.name)
    licences = {
        "numpy": "BSD-3-Clause AND 0BSD AND MIT AND Zlib AND CC0-1.0",
        "click": "their own words",
        "cffi": "MIT",
    }
    text = write_bill("intramural", "0.1.0", pins, licences, EPOCH)
    assert text == write_bill("intramural", "0.1.0", reversed(pins), licences, EPOCH)
    assert find_fault(text) is None
    bill = json.loads(text)
    components = {component["name"]: component for component in bill["components"]}
    assert set(components) == {pin.name for pin in pins}
    for pin in pins:
        component = components[pin.name]
        assert component["purl"] == f"pkg:pypi/{pin.name}@{pin.version}"
        others = [entry["value"] for entry in component.get("properties", ())]
        assert {component["hashes"][0]["content"], *others} == {
            digest.removeprefix("sha256:") for digest in pin.hashes
        }
    assert components["click"]["licenses"] == [{"license": {"name": "their own words"}}]
    below = {entry["ref"]: entry.get("dependsOn", []) for entry in bill["dependencies"]}
    assert any(ref.startswith("click==") for ref in below["root"])


def test_licences_of_installed_packages_fit_into_a_bill():
    path = locate_lock("test", "3.12")
    pins = parse_lock(path.read_text("utf-8"), path.name)
    licences = {
        pin.name: read_licence(importlib.metadata.metadata(pin.name))  # type: ignore[arg-type]
        for pin in pins
        if any(True for _ in importlib.metadata.distributions(name=pin.name))
    }
    assert len(licences) > 20
    text = write_bill("intramural", "0.1.0", pins, licences, EPOCH)
    assert find_fault(text) is None
