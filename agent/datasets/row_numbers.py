"""Row numbers as ids: those of the file, and those of earlier versions, which numbered only the rows that they read.

Empty rows, and rows that a benchmark leaves out, count as rows of the file. Earlier versions did not count them, so the
same number could mean another row. Results and files of answers from that time must not be taken for results and
answers of today's rows.
"""


class RowNumbers:
    """Notes the ids of instances that have another id than in earlier versions.

    Attributes:
        changed: whether any instance has another id.
    """

    def __init__(self) -> None:
        self.changed = False

    def note(self, identity: str, earlier_id: str) -> None:
        """Note an instance's id, and the id that earlier versions gave it."""
        if identity != earlier_id:
            self.changed = True


class EarlierIds(RowNumbers):
    """Also collects the ids that earlier versions gave to all instances.

    Attributes:
        ids: these ids.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()

    def note(self, identity: str, earlier_id: str) -> None:
        """Note an instance's id, and the id that earlier versions gave it."""
        super().note(identity, earlier_id)
        self.ids.add(earlier_id)
