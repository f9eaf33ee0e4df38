"""Which licences a package may have, and which package has which.

Permissive licences alone are accepted. Every exception names the package and the reason.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from email.message import Message
from typing import Final

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.utils import canonicalize_name

from intramural_release.errors import LicenceError

PERMISSIVE: Final = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "Apache-2.0 WITH LLVM-exception",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "BSL-1.0",
        "CC0-1.0",
        "CNRI-Python",
        "HPND",
        "ISC",
        "MIT",
        "MIT-0",
        "MIT-CMU",
        "NCSA",
        "PSF-2.0",
        "Python-2.0",
        "Unlicense",
        "Zlib",
    }
)
_MPL_REASON: Final = "MPL-2.0 covers its own files alone; they are passed on unchanged"
_NVIDIA_REASON: Final = (
    "NVIDIA's licence allows the unchanged libraries to be passed on; they come only with an extra that brings torch, "
    "and never with the agent alone"
)
_BY_PREFIX: Final = {"nvidia-": _NVIDIA_REASON, "cuda-": _NVIDIA_REASON}
EXCEPTIONS: Final = {
    "certifi": _MPL_REASON,
    "fqdn": f"{_MPL_REASON}; used by tests alone",
    "hypothesis": f"{_MPL_REASON}; used by tests alone",
    "orjson": _MPL_REASON,
    "pathspec": f"{_MPL_REASON}; used to build wheels alone",
    "psycopg": "LGPL-3.0: an unchanged library, loaded at run time, which anyone may replace; only with `postgres`",
    "psycopg-binary": "LGPL-3.0: the compiled part of psycopg, on the same terms",
    "tqdm": _MPL_REASON,
}
"""Packages whose licence is not permissive, and the reason for which they may be passed on."""
_UNSTATED: Final = {
    "axe-playwright-python": "MIT",  # its metadata state none; its repository does
}
_CLASSIFIERS: Final = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "GNU Lesser General Public License v3 (LGPLv3)": "LGPL-3.0-only",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "MIT No Attribution License (MIT-0)": "MIT-0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
}
_FREE_TEXTS: Final = {
    "3-clause bsd license": "BSD-3-Clause",
    "apache": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache 2.0 license": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache-2": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "bsd 3-clause": "BSD-3-Clause",
    "mit license": "MIT",
    "new bsd": "BSD-3-Clause",
    "psf": "PSF-2.0",
}
_OR: Final = re.compile(r"\s+OR\s+")
_AND: Final = re.compile(r"\s+AND\s+")


@dataclass(frozen=True, order=True)
class LicensedPackage:
    """One package with its licence."""

    name: str
    version: str
    licence: str  # an SPDX expression, or the package's own words if they are none
    exception: str  # the reason of an exception; empty if the licence is permissive


def read_licence(metadata: Message) -> str:
    """Return the licence that a package's metadata state, as an SPDX expression if there is one for it."""
    name = canonicalize_name(str(metadata["Name"]))
    if expression := metadata.get("License-Expression"):
        return str(expression)
    classifiers = [
        str(line).rsplit(" :: ", 1)[1]
        for line in metadata.get_all("Classifier") or []
        if str(line).startswith("License :: OSI Approved :: ")
    ]
    if classifiers:
        return " AND ".join(sorted(_CLASSIFIERS.get(line, line) for line in classifiers))
    text = " ".join(str(metadata.get("License") or "").split())
    return _FREE_TEXTS.get(text.lower()) or text[:100] or _UNSTATED.get(name, "")


def is_permissive(licence: str) -> bool:
    """Return whether an SPDX expression can be met with permissive licences alone."""
    try:
        expression = str(canonicalize_license_expression(licence))
    except InvalidLicenseExpression:
        return False
    return _is_met(expression)


def _is_met(expression: str) -> bool:
    """Evaluate an expression: OR is met by one side, AND by both; AND binds more closely."""
    while match := re.search(r"\(([^()]*)\)", expression):
        value = "MIT" if _is_met(match[1]) else "NOASSERTION"
        expression = expression[: match.start()] + value + expression[match.end() :]
    return any(
        all(licence in PERMISSIVE for licence in _AND.split(side.strip()))
        for side in _OR.split(expression)
    )


def judge_package(metadata: Message) -> LicensedPackage:
    """Return a package with its licence.

    Raises:
        LicenceError: the licence is not permissive, and there is no exception for the package.
    """
    name, version = canonicalize_name(str(metadata["Name"])), str(metadata["Version"])
    licence = read_licence(metadata)
    if is_permissive(licence):
        return LicensedPackage(name, version, licence, "")
    reason = EXCEPTIONS.get(name)
    for prefix, text in _BY_PREFIX.items():
        if name.startswith(prefix):
            reason = text
    if reason is None:
        raise LicenceError(
            f"{name} {version}: its licence is not permitted: {licence or 'none stated'}"
        )
    return LicensedPackage(name, version, licence, reason)


def format_licences(packages: Iterable[LicensedPackage], title: str) -> str:
    """Return the list of licences as a page of Markdown."""
    lines = [f"# {title}", "", "| package | version | licence | why it may be passed on |"]
    lines.append("|---|---|---|---|")
    for package in sorted(packages):
        reason = package.exception or "permissive"
        lines.append(f"| {package.name} | {package.version} | {package.licence} | {reason} |")
    return "\n".join(lines) + "\n"
