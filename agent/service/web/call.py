"""One request as a handler sees it: who asks, for what, and with which fields of a form."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from agent.errors import AgentError, ConfigError
from agent.service.web.callers import Caller

MOST_FIELDS = 500


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that arrived with a form, and went to the disk.

    Attributes:
        path: where it is until the request is answered, in a folder of its own.
        sent_name: its name on the sender's computer, which never becomes a name here.
    """

    path: Path
    sent_name: str


@dataclass(frozen=True, slots=True)
class Call:
    """One request for a page.

    Attributes:
        caller: who asks; None only where nobody need be signed in.
        route: the path that was asked for.
        path: the values in the route's path, by name.
        query: the fields after "?" in the address; of a repeated field, all values.
        form: the fields of the form that was sent; empty for a page that is only read.
        files: the files that were sent with the form, by the name of their field.
        uploads: those files on routes for large ones.
        upload_fault: why such a file was not received, though its form was.
        values: of an operation of the HTTP interface, the checked values of its query.
        cookie: the cookie of the session; empty if there is none.
        cookies: all cookies.
    """

    caller: Caller | None
    route: str
    path: Mapping[str, str]
    query: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    form: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    uploads: Mapping[str, Upload] = field(default_factory=dict)
    upload_fault: AgentError | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    cookie: str = ""
    cookies: Mapping[str, str] = field(default_factory=dict)

    def get(self, name: str, default: str = "") -> str:
        """Return the first value of a field of the form or, without one, of the query."""
        values = self.form.get(name) or self.query.get(name) or (default,)
        return values[0]

    def require(self, name: str, label: str) -> str:
        """Return the value of a field of the form.

        Raises:
            ConfigError: it is empty; the message calls it by its `label`.
        """
        value = self.get(name).strip()
        if not value:
            raise ConfigError(f"{label} is missing", "Fill in the field and send the form again.")
        return value

    @property
    def signed_in(self) -> Caller:
        """Who asks, on a route that needs a sign-in."""
        if self.caller is None:
            raise RuntimeError("a route that needs a sign-in was entered without one")
        return self.caller


def parse_fields(encoded: str) -> dict[str, tuple[str, ...]]:
    """Parse the fields of a query.

    Raises:
        ConfigError: there are more fields than any page here has.
    """
    try:
        pairs = parse_qsl(encoded, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise ConfigError(
            f"the address has more than {MOST_FIELDS} fields", "Use the links of the pages."
        ) from None
    return collect_fields(pairs)


def collect_fields(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return all values of each field, in their order."""
    fields: dict[str, tuple[str, ...]] = {}
    for name, value in pairs:
        fields[name] = (*fields.get(name, ()), value)
    return fields
