"""Bills of materials in CycloneDX: which packages, in which version, with which hashes and licences."""

import json
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import DisjunctiveLicense, LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.utils import canonicalize_name

from intramural_release.lock_files import Pin

_NAMESPACE: Final = uuid.UUID("6f1a1c56-0d5c-5d0a-9a6e-3f2f1d7a5c11")


def write_bill(
    name: str, version: str, pins: Iterable[Pin], licences: Mapping[str, str], made_at: int
) -> str:
    """Return the bill of one installation as JSON.

    Args:
        name: the distribution that is installed.
        version: its version.
        pins: its packages.
        licences: the licence of each package whose licence is known.
        made_at: seconds since 1970. The same arguments give the same bytes.
    """
    pins = sorted(pins, key=lambda pin: pin.name)
    root = Component(name=name, version=version, type=ComponentType.APPLICATION, bom_ref="root")
    own = [pin for pin in pins if pin.name == name]
    for pin in own:
        root.hashes = _list_hashes(pin)
        pins.remove(pin)
    bom = Bom()
    bom.metadata.component = root
    bom.metadata.timestamp = datetime.fromtimestamp(made_at, UTC)
    components = {}
    for pin in pins:
        components[pin.name] = _describe_component(pin, licences.get(pin.name, ""))
        bom.components.add(components[pin.name])
    for pin in pins:
        for parent in pin.parents or (name,):
            above = components.get(canonicalize_name(parent), root)
            bom.register_dependency(above, [components[pin.name]])
    identity = "\n".join([name, version, *(f"{pin.name}=={pin.version}" for pin in pins)])
    bom.serial_number = uuid.uuid5(_NAMESPACE, identity)
    # Sorted, since the library's own order of sets may change with each process.
    bill = json.loads(JsonV1Dot6(bom).output_as_string())
    return json.dumps(bill, indent=1, sort_keys=True) + "\n"


def _describe_component(pin: Pin, licence: str) -> Component:
    return Component(
        name=pin.name,
        version=pin.version,
        type=ComponentType.LIBRARY,
        bom_ref=f"{pin.name}=={pin.version}",
        purl=PackageURL("pypi", name=pin.name, version=pin.version),
        hashes=_list_hashes(pin),
        licenses=_describe_licence(licence),
        properties=[
            Property(name="intramural:sha256", value=digest.removeprefix("sha256:"))
            for digest in pin.hashes[1:]
        ],
    )


def _list_hashes(pin: Pin) -> list[HashType]:
    """Return the first hash: a component has one of each kind. The other files' hashes become properties."""
    first = pin.hashes[:1]
    return [
        HashType(alg=HashAlgorithm.SHA_256, content=digest.removeprefix("sha256:"))
        for digest in first
    ]


def _describe_licence(licence: str) -> list[LicenseExpression | DisjunctiveLicense]:
    if not licence:
        return []
    try:
        return [LicenseExpression(str(canonicalize_license_expression(licence)))]
    except InvalidLicenseExpression:
        return [DisjunctiveLicense(name=licence)]
