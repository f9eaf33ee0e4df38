"""Locks follow pyproject.toml: whoever changes a dependency and not the locks is told so, without a network."""

import copy
import importlib.metadata
import re
import sys
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from intramural_release.errors import LockError
from intramural_release.lock_files import (
    MACHINES,
    Pin,
    describe_environment,
    find_staleness,
    format_lock,
    list_requirements,
    narrow_to_linux,
    parse_lock,
    select_pins,
)
from intramural_release.lock_hashes import read_hashes
from intramural_release.variants import (
    GROUPS,
    LOCKS,
    PYTHONS,
    RUNTIME_EXTRAS,
    VARIANTS,
    locate_lock,
    read_group,
    read_project,
)

NOT_LOCKED = {"train"}  # extras that only the repository's own scripts need
CASES = [(variant, python) for variant in VARIANTS for python in PYTHONS]
SMALL = """\
alembic==1.14 \\
    --hash=sha256:{0}
    # via hospital (pyproject.toml)
driver==3 ; platform_machine == "x86_64" \\
    --hash=sha256:{0} \\
    --hash=sha256:{1}
    # via
    #   alembic
    #   sqlalchemy
sqlalchemy[asyncio]==2.0 \\
    --hash=sha256:{0}
    # via hospital (pyproject.toml)
""".format("a" * 64, "b" * 64)


def read_lock(variant: str, python: str) -> tuple[Pin, ...]:
    path = locate_lock(variant, python)
    return parse_lock(path.read_text("utf-8"), path.name)


@pytest.mark.parametrize(
    ("variant", "python"), CASES, ids=lambda value: getattr(value, "name", value)
)
def test_every_lock_is_current(variant: Any, python: str):
    requirements = list_requirements(read_project(variant.project), variant.extras, python)
    faults = find_staleness(read_lock(variant.name, python), requirements, variant.project)
    assert faults == [], f"{locate_lock(variant.name, python).name} is stale. Run: make locks"


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("python", PYTHONS)
def test_the_locks_of_the_release_tools_are_current(group: str, python: str):
    requirements = [Requirement(line) for line in read_group(group)]
    faults = find_staleness(read_lock(group, python), requirements, "intramural")
    assert faults == [], f"{locate_lock(group, python).name} is stale. Run: make locks"


def test_every_variant_has_a_lock_for_each_python_and_no_other_file_is_there():
    names = [*(variant.name for variant in VARIANTS), *GROUPS]
    expected = {locate_lock(name, python).name for name in names for python in PYTHONS}
    assert {path.name for path in LOCKS.glob("*.txt")} == expected


def test_the_locked_pythons_are_those_that_pyproject_names():
    classifiers = read_project("intramural")["classifiers"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(classifiers))
    assert tuple(named) == PYTHONS


def test_an_extra_that_no_variant_has_is_noticed():
    extras = set(read_project("intramural")["optional-dependencies"])
    locked: set[str] = set()
    for variant in VARIANTS:
        if variant.project == "intramural":
            locked |= set(variant.extras)
    assert extras - NOT_LOCKED == locked
    assert set(RUNTIME_EXTRAS) == locked - {"vllm", "test"}


def test_locks_name_no_package_index():
    for path in LOCKS.glob("*.txt"):
        text = path.read_text("utf-8")
        assert "://" not in text, path.name
        assert not re.search(r"^\s*-", text.replace("    --hash=", "    "), re.MULTILINE), path.name


@pytest.mark.parametrize("python", PYTHONS)
def test_variants_agree_on_what_they_share(python: str):
    versions = {pin.name: pin.version for pin in read_lock("agent-all-extras", python)}
    for variant in ("agent", "aggregator", "steward", "test"):
        for pin in read_lock(variant, python):
            assert versions.get(pin.name, pin.version) == pin.version, (variant, pin.name)


def change_project(change: str) -> dict[str, Any]:
    project = copy.deepcopy(read_project("intramural"))
    if change == "added":
        project["dependencies"].append("left-pad>=1")
    elif change == "removed":
        project["dependencies"].remove("cronsim>=2.7")
    elif change == "raised":
        index = project["dependencies"].index("click>=8.1")
        project["dependencies"][index] = "click>=999"
    elif change == "extra of a package":
        project["optional-dependencies"]["postgres"] = ["psycopg[binary,pool]>=3.2"]
    elif change == "extra":
        project["optional-dependencies"]["postgres"].append("left-pad>=1")
    return project


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("added", "left-pad is required and not locked"),
        ("removed", "cronsim is locked and no longer required"),
        ("raised", "is locked, and >=999 required"),
        ("extra of a package", "psycopg is locked without its extra pool"),
        ("extra", "left-pad is required and not locked"),
    ],
)
def test_a_changed_dependency_makes_the_lock_stale(change: str, told: str):
    requirements = list_requirements(change_project(change), ("postgres",), "3.12")
    (fault,) = find_staleness(read_lock("aggregator", "3.12"), requirements, "intramural")
    assert told in fault


def test_a_removed_extra_is_no_crash_of_the_check():
    with pytest.raises(LockError, match="no extra 'postgresql'"):
        list_requirements(read_project("intramural"), ("postgresql",), "3.12")


def test_a_lock_reads_back_as_it_was_written():
    for variant in ("agent-vllm", "test"):
        pins = read_lock(variant, "3.12")
        assert parse_lock(format_lock(pins, ["header"]), "copy") == pins
    assert format_lock(parse_lock(SMALL, "small"), []) == SMALL


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("alembic==1.14", "alembic has no hash"),
        ("alembic>=1.14 \\\n    --hash=sha256:" + "a" * 64, "no single version"),
        ("--extra-index-url https://elsewhere.example", "no requirement"),
        ("    --hash=sha256:" + "a" * 64, "without a package"),
        ("alembic==1.14 \\\n    --hash=md5:" + "a" * 32, "neither a hash nor a parent"),
    ],
)
def test_a_damaged_lock_is_refused(line: str, told: str):
    with pytest.raises(LockError, match=told):
        parse_lock(line, "bad.txt")


def test_what_other_systems_need_leaves_the_lock():
    text = SMALL.replace(
        "# via hospital (pyproject.toml)",
        "# via\n    #   -c constraints.txt\n    #   hospital (pyproject.toml)",
        1,
    )
    text = text.replace(
        "sqlalchemy[asyncio]==2.0", "sqlalchemy[asyncio]==2.0 ; python_version > '3'"
    )
    text += f"colorama==0.4.6 ; sys_platform == 'win32' \\\n    --hash=sha256:{'a' * 64}\n    # via alembic\n"
    assert format_lock(narrow_to_linux(parse_lock(text, "wide"), "3.12"), []) == SMALL


def test_the_part_of_a_lock_that_one_package_needs():
    names = [
        pin.name for pin in select_pins(parse_lock(SMALL, "small"), "hospital", ["SQLAlchemy"])
    ]
    assert names == ["driver", "sqlalchemy"]
    with pytest.raises(LockError, match="lacks left-pad"):
        select_pins(parse_lock(SMALL, "small"), "hospital", ["left-pad"])


def test_extras_bring_all_that_they_need_and_nothing_of_other_extras():
    project = read_project("intramural")
    pins = read_lock("agent-all-extras", "3.11")
    wanted = [requirement.name for requirement in list_requirements(project, ("parquet",), "3.11")]
    names = {pin.name for pin in select_pins(pins, "intramural", wanted)}
    assert names == {pin.name for pin in read_lock("agent", "3.11")} | {"pyarrow"}


@pytest.mark.parametrize("variant", ["agent", "aggregator", "test"])
def test_locks_hold_all_that_their_installed_packages_require(variant: str):
    """Of packages that are installed here in the locked version: their own requirements can be read."""
    python = f"3.{sys.version_info.minor}"
    if python not in PYTHONS:
        pytest.skip(f"no locks for Python {python}")
    pins = read_lock(variant, python)
    names = {pin.name for pin in pins}
    environment = describe_environment(python, MACHINES[0])
    compared = 0
    for pin in pins:
        try:
            installed = importlib.metadata.distribution(pin.name)
        except importlib.metadata.PackageNotFoundError:
            continue
        if installed.version != pin.version:
            continue
        compared += 1
        for line in installed.requires or []:
            requirement = Requirement(line)
            extras = ["", *pin.requirement.extras]
            if requirement.marker is None or any(
                requirement.marker.evaluate({**environment, "extra": extra}) for extra in extras
            ):
                assert canonicalize_name(requirement.name) in names, (pin.name, line)
    assert compared > 10


def make_pylock(*files: str, source: bool = True) -> str:
    wheels = ", ".join(
        f'{{ url = "https://files.example/{name}", hashes = {{ sha256 = "{number:064x}" }} }}'
        for number, name in enumerate(files, start=1)
    )
    lines = ["[[packages]]", 'name = "driver"', 'version = "3"', f"wheels = [{wheels}]"]
    if source:
        lines.append(
            f'sdist = {{ url = "https://files.example/d.tar.gz", hashes = {{ sha256 = "{0:064x}" }} }}'
        )
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("files", "kept"),
    [
        (["driver-3-py3-none-any.whl", "driver-3-cp312-cp312-win_amd64.whl"], [1]),
        (["driver-3-py2.py3-none-any.whl"], [1]),
        (["driver-3-py2-none-any.whl"], [0]),
        (
            [
                "driver-3-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
                "driver-3-cp312-cp312-manylinux_2_28_aarch64.whl",
                "driver-3-cp312-cp312-musllinux_1_2_x86_64.whl",
                "driver-3-cp311-cp311-manylinux_2_28_x86_64.whl",
                "driver-3-cp312-cp312-macosx_11_0_arm64.whl",
                "driver-3-cp313-cp313t-manylinux_2_28_x86_64.whl",
            ],
            [1, 2],
        ),
        (["driver-3-cp312-cp312-manylinux_2_28_x86_64.whl"], [0, 1]),
        (
            [
                "driver-3-cp39-abi3-manylinux_2_28_x86_64.whl",
                "driver-3-cp313-abi3-manylinux_2_28_x86_64.whl",
                "driver-3-py3-none-manylinux_2_28_aarch64.whl",
            ],
            [1, 3],
        ),
    ],
)
def test_a_lock_keeps_the_files_that_linux_would_take(files: list[str], kept: list[int]):
    hashes = read_hashes(make_pylock(*files), "3.12")
    assert hashes == {("driver", "3"): tuple(f"sha256:{number:064x}" for number in kept)}


def test_a_package_without_any_file_for_linux_is_refused():
    pylock = make_pylock("driver-3-cp312-cp312-win_amd64.whl", source=False)
    with pytest.raises(LockError, match="driver 3 has no file for Python"):
        read_hashes(pylock, "3.12")
