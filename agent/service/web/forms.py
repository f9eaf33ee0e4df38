"""Read the forms that pages send: fields, and at most one file."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from agent.errors import AgentError, ConfigError
from agent.service.web.call import MOST_FIELDS, Upload, collect_fields

_KINDS = ("application/x-www-form-urlencoded", "multipart/form-data")


@dataclass(frozen=True, slots=True)
class ReceivedForm:
    """A form.

    Attributes:
        fields: its fields with all their values.
        files: the contents of its files.
        uploads: large files, which went to the disk.
        fault: why a large file was not received, though the fields were.
    """

    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    uploads: Mapping[str, Upload] = field(default_factory=dict)
    fault: AgentError | None = None


NO_FORM = ReceivedForm()


def is_multipart(content_type: str) -> bool:
    """Return whether a request's content type is that of a form with a file."""
    return content_type.partition(";")[0].strip().lower() == "multipart/form-data"


async def read_form(request: Request) -> ReceivedForm:
    """Return the form that a request carries.

    Raises:
        ConfigError: it carries something else, or more fields or files than any form here has.
    """
    if not await request.body():
        return NO_FORM
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _KINDS:
        raise ConfigError("this address accepts forms only", "Send the form of the page.")
    try:
        async with request.form(max_files=1, max_fields=MOST_FIELDS) as content:
            return await _read_content(content)
    except (HTTPException, UnicodeDecodeError):
        raise ConfigError("the form cannot be read", "Send the form of the page.") from None


async def _read_content(content: FormData) -> ReceivedForm:
    pairs: list[tuple[str, str]] = []
    files: dict[str, bytes] = {}
    for name, value in content.multi_items():
        if isinstance(value, UploadFile):
            files[name] = await value.read()
        else:
            pairs.append((name, value))
    if len(pairs) > MOST_FIELDS:
        raise ConfigError(
            f"the form has more than {MOST_FIELDS} fields", "Send the form of the page."
        )
    return ReceivedForm(collect_fields(pairs), files)
