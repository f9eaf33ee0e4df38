"""The frame of a page of the service: the way to its other pages, and who is signed in."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Room:
    """A link at the head of every page."""

    name: str
    path: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """What surrounds a page of the service. The read-only pages of `intramural view` have none.

    Attributes:
        account: name of who is signed in; empty on the page for signing in.
        rooms: the rooms that this account may enter.
        csrf: the secret of the session that every form sends back.
        reveal_path: where the form is sent that shows this instance's original text; empty if there is none.
    """

    account: str = ""
    rooms: tuple[Room, ...] = ()
    csrf: str = ""
    reveal_path: str = ""
