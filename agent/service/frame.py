"""The frame of a page of the service: the way to its other pages, and who is signed in."""

from dataclasses import dataclass

from agent.access.roles import Action


@dataclass(frozen=True, slots=True)
class Room:
    """A link at the head of every page."""

    name: str
    path: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class RoomGroup:
    """Rooms that belong together, with a name that is shown if there are several."""

    name: str
    rooms: tuple[Room, ...]


@dataclass(frozen=True, slots=True)
class RunForms:
    """The forms on the page of a run that its reader may use.

    Attributes:
        run_id: the run's id.
        is_private: whether only its owner sees it.
        can_share: whether the reader may show it to others, or keep it from them.
        can_delete: whether the reader may delete it.
    """

    run_id: str
    is_private: bool
    can_share: bool
    can_delete: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """What surrounds a page of the service. The read-only pages of `intramural view` have none.

    Attributes:
        account: name of who is signed in; empty on the page for signing in.
        groups: the rooms that this account may enter, in groups.
        actions: what this account may do at all, be it only with what is its own.
        csrf: the secret of the session that every form sends back.
        reveal_path: where the form is sent that shows this instance's original text; empty if there is none.
        run_forms: the forms on the page of a run; None if there are none.
        search_path: where the form is sent that searches the texts of a run; empty if there is none.
        scores_path: where the form is sent that lists a run's instances by score; empty if there is none.
        download_path: the page with the files of a suite; empty if there is none.
        notice: what the form before this page did, in words; empty if there is nothing to confirm.
    """

    account: str = ""
    groups: tuple[RoomGroup, ...] = ()
    actions: frozenset[Action] = frozenset()
    csrf: str = ""
    reveal_path: str = ""
    run_forms: RunForms | None = None
    search_path: str = ""
    scores_path: str = ""
    download_path: str = ""
    notice: str = ""

    def can(self, action: str) -> bool:
        """Return whether a page may offer what needs this action, named as in `Action`."""
        return Action(action) in self.actions
