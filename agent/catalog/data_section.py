"""Read the `data` map of a definition: the official dataset files, and the sample that is shipped with the agent."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agent.io.yaml_map import YamlMap

LOADERS = (
    "csv",
    "tsv",
    "json",
    "json_lines",
    "parquet",
    "feather",
    "xlsx",
    "notes",
    "clear",
    "ehrshot",
    "medalign",
    "dischargeme",
    "mimic_rrs",
    "n2c2",
    "billing_codes",
    "pubmed_qa",
    "head_qa",
    "medec",
    "ehr_sql",
    "med_mcqa",
    "medhallu",
    "medi_qa",
    "medication_qa",
    "mtsamples",
    "race_based_med",
)
"""The names of the file formats in `agent.datasets.formats`."""

BY_ENDING = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "json_lines",
    ".parquet": "parquet",
    ".feather": "feather",
    ".xlsx": "xlsx",
}
"""The loader of a site's own dataset by file extension. Other extensions are read as CSV, as in MedHELM."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


def loader_by_ending(path: Path) -> str:
    """Return the loader of a site's own dataset by its file extension, ignoring a final .gz."""
    return BY_ENDING.get(Path(path.name.lower().removesuffix(".gz")).suffix, "csv")


@dataclass(frozen=True, slots=True)
class Version:
    """One known version of a file.

    Attributes:
        sha256: the SHA-256 of the file; for a pattern, see `agent.datasets.folder.join_digests`.
        rows: the number of instances; None if unknown, 0 if the file has no instances of its own.
        url: the pinned address; empty if there is none.
        label: the publisher's name for the version (such as v1.2); empty if there is none.
        name: the file name, if it differs from that of the entry.
        note: a note shown with the version's results; may be empty.
    """

    sha256: str
    rows: int | None = None
    url: str = ""
    label: str = ""
    name: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A dataset file in its official format, or several files that match a pattern.

    Attributes:
        name: the path at the source and in the site's `data/<benchmark id>/`. It may contain `{argument}`, and `*` to
            match several files, which are sorted by name. For a sample, the path in the benchmark's folder.
        sha256: the SHA-256 of the version that the definition was written for; None for a site's own dataset.
        rows: the number of instances; None if unknown, 0 if the file has no instances of its own.
        url: the pinned address of that version; empty if there is none.
        version: the publisher's name for that version; empty if there is none.
        note: a note shown with that version's results; may be empty.
        optional: whether the file may be missing.
        versions: other known versions.
    """

    name: str
    sha256: str | None = None
    rows: int | None = None
    url: str = ""
    version: str = ""
    note: str = ""
    optional: bool = False
    versions: tuple[Version, ...] = ()

    @property
    def known(self) -> tuple[Version, ...]:
        """All known versions, starting with the one that the definition was written for."""
        if not self.sha256:
            return self.versions
        first = Version(
            self.sha256, rows=self.rows, url=self.url, label=self.version, note=self.note
        )
        return (first, *self.versions)


@dataclass(frozen=True, slots=True)
class DataSection:
    """The values in the `data` map; `Benchmark` explains them."""

    loader: str = "csv"
    files: tuple[DataFile, ...] = ()
    sample: DataFile | None = None
    sample_is_folder: bool = False
    sample_is_invented: bool = False
    sample_arguments: Mapping[str, str] = field(default_factory=dict)
    source_url: str = ""
    source_commit: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    agreement: str = ""
    agreement_url: str = ""


@dataclass(frozen=True, slots=True)
class _Sample:
    """The sample that is shipped with the agent, if any."""

    file: DataFile | None = None
    is_folder: bool = False
    is_invented: bool = False
    arguments: Mapping[str, str] = field(default_factory=dict)


def read_data_section(section: YamlMap) -> DataSection:
    """Read the map and record its problems."""
    loader = section.choice("loader", LOADERS)
    file_sections = section.maps("files")
    sample_section = section.map("sample")
    files = tuple(_read_data_file(file_section) for file_section in file_sections)
    sample = _read_sample(sample_section) if sample_section else _Sample()
    data = DataSection(
        loader=loader,
        files=files,
        sample=sample.file,
        sample_is_folder=sample.is_folder,
        sample_is_invented=sample.is_invented,
        sample_arguments=sample.arguments,
        source_url=section.name("source_url", ""),
        source_commit=section.name("source_commit", ""),
        options=section.pairs("options"),
        agreement=section.name("agreement", ""),
        agreement_url=section.name("agreement_url", ""),
    )
    for file_section in file_sections:
        file_section.finish()
    if sample_section:
        sample_section.finish()
    if not files and sample.file is None:
        section.note("files", "expected `files` or a `sample`")
    section.finish()
    return data


def _read_sample(section: YamlMap) -> _Sample:
    is_folder = section.has("folder")
    name_key = "folder" if is_folder else "file"
    file = DataFile(
        name=_read_inner_path(section, name_key),
        sha256=_read_sha256(section) or None,
        rows=section.integer("rows", None, low=0),
        url=section.name("url", ""),
        version=section.name("version", ""),
    )
    is_invented = section.flag("invented", False)
    return _Sample(file, is_folder, is_invented, section.pairs("arguments"))


def _read_data_file(section: YamlMap) -> DataFile:
    file = DataFile(
        name=_read_inner_path(section, "name"),
        sha256=_read_sha256(section) or None,
        rows=section.integer("rows", None, low=0),
        url=section.name("url", ""),
        version=section.name("version", ""),
        note=section.name("note", ""),
        optional=section.flag("optional", False),
        versions=tuple(_read_version(version) for version in section.maps("versions")),
    )
    digests = [version.sha256 for version in file.known if version.sha256]
    if len(set(digests)) < len(digests):
        section.note("versions", "two versions have the same sha256")
    return file


def _read_version(section: YamlMap) -> Version:
    sha256 = _read_sha256(section)
    if not sha256:
        section.note("sha256", "is required, but is missing or empty")
    name = _read_inner_path(section, "name", "")
    version = Version(
        sha256=sha256,
        rows=section.integer("rows", None, low=0),
        url=section.name("url", ""),
        label=section.name("version", ""),
        name=name,
        note=section.name("note", ""),
    )
    section.finish()
    return version


def _read_sha256(section: YamlMap) -> str:
    sha256 = section.text("sha256", "")
    if sha256 and not _SHA256.fullmatch(sha256):
        section.note("sha256", "expected 64 lower-case hexadecimal digits")
    return sha256


def _read_inner_path(section: YamlMap, key: str, default: str | None = None) -> str:
    name = section.name(key, default)
    if Path(name).is_absolute() or ".." in Path(name).parts or "\\" in name:
        section.note(key, "expected a path that stays in its folder")
    if "**" in name:
        section.note(key, "`**` is not allowed in a pattern; `*` matches any part of one name")
    return name
