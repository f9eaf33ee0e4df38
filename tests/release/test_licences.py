"""Only permissive licences, with the exceptions that are named and explained."""

import importlib.metadata
from email.message import Message

import pytest
from packaging.utils import canonicalize_name

from intramural_release.errors import LicenceError
from intramural_release.licences import (
    EXCEPTIONS,
    format_licences,
    is_permissive,
    judge_package,
    read_licence,
)


def make_metadata(**fields: str) -> Message:
    metadata = Message()
    metadata["Name"], metadata["Version"] = "left-pad", "1.0"
    for name, value in fields.items():
        metadata[name.replace("_", "-")] = value
    return metadata


def test_every_installed_package_may_be_passed_on():
    faults = []
    for distribution in importlib.metadata.distributions():
        try:
            judge_package(distribution.metadata)  # type: ignore[arg-type]
        except LicenceError as error:
            faults.append(str(error))
    assert faults == []


def test_an_exception_is_removed_when_its_package_became_permissive():
    stale = []
    for distribution in importlib.metadata.distributions():
        name = canonicalize_name(distribution.name)
        if name in EXCEPTIONS and is_permissive(read_licence(distribution.metadata)):  # type: ignore[arg-type]
            stale.append(name)
    assert stale == []


@pytest.mark.parametrize(
    "licence",
    [
        "MIT",
        "apache-2.0",
        "MIT AND BSD-3-Clause",
        "GPL-3.0-only OR MIT",
        "MIT AND (GPL-2.0-only OR ISC)",
    ],
)
def test_a_permissive_licence_is_accepted(licence: str):
    assert is_permissive(licence)


@pytest.mark.parametrize(
    "licence",
    [
        "GPL-3.0-only",
        "AGPL-3.0-or-later",
        "MIT AND GPL-2.0-only",
        "(MIT OR ISC) AND SSPL-1.0",
        "",
        "Free to use",
        "LicenseRef-Proprietary",
    ],
)
def test_another_licence_is_refused(licence: str):
    with pytest.raises(LicenceError, match="left-pad"):
        judge_package(make_metadata(License_Expression=licence))


def test_two_classifiers_are_both_to_be_met():
    metadata = make_metadata(Classifier="License :: OSI Approved :: MIT License")
    assert judge_package(metadata).licence == "MIT"
    metadata["Classifier"] = "License :: OSI Approved :: GNU General Public License v3 (GPLv3)"
    with pytest.raises(LicenceError):
        judge_package(metadata)


def test_a_long_licence_text_in_place_of_a_name_is_refused_and_not_quoted_whole():
    with pytest.raises(LicenceError) as refused:
        judge_package(make_metadata(License="All rights reserved. " * 1000))
    assert len(str(refused.value)) < 200


def test_the_list_states_why_each_package_may_be_passed_on():
    metadata = make_metadata(License_Expression="MPL-2.0")
    metadata.replace_header("Name", "certifi")
    page = format_licences(
        [judge_package(metadata), judge_package(make_metadata(License="MIT"))], "Licences"
    )
    assert "| certifi | 1.0 | MPL-2.0 | MPL-2.0 covers its own files alone" in page
    assert "| left-pad | 1.0 | MIT | permissive |" in page
