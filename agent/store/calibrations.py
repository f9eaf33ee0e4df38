"""Samples for clinicians and the clinicians' grades; both are sealed, and contain no patient text."""

import json
import time
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent.errors import ConfigError
from agent.store.database import Database
from agent.store.identities import Identities


@dataclass(frozen=True, slots=True)
class Calibration:
    """One sample. `plan` maps each item to an instance of a run, and contains the questions to clinicians."""

    name: str
    plan: Mapping[str, Any]
    made_at: int  # seconds since 1970


@dataclass(frozen=True, slots=True)
class Rater:
    """The grades of one clinician in a sample.

    Attributes:
        number: position in the order of import, from 1; shown in place of the clinician's name (R1, R2, ...).
        grades: item -> criterion -> grade, without blank cells.
        imported_at: seconds since 1970 of the import or, on the pages of the service, of the last change.
        account: id of the account that grades on the pages of the service; None if a sheet was imported.
        saved: on the pages of the service, the items that were saved, also those without any grade.
        finished: whether the grades no longer change; true of every imported sheet.
    """

    number: int
    grades: Mapping[str, Mapping[str, float]]
    imported_at: int
    account: str | None = None
    saved: tuple[str, ...] = ()
    finished: bool = True


class Calibrations:
    """The stored samples for clinicians, with each clinician's grades."""

    def __init__(self, database: Database, identities: Identities) -> None:
        self._database = database
        self._connection = database.connection
        self._vault = database.vault
        self._identities = identities

    def keep(self, name: str, plan: Mapping[str, Any]) -> None:
        """Store a new sample."""
        sealed = self._vault.seal(b"calibration\0" + name.encode(), json.dumps(plan).encode())
        with self._database.transaction():
            self._connection.execute(
                "INSERT INTO calibrations VALUES (?, ?, ?)", (name, sealed, int(time.time()))
            )

    def read_all(self) -> list[Calibration]:
        """Return every sample, sorted by name."""
        rows = self._connection.execute(
            "SELECT name, sealed, made_at FROM calibrations ORDER BY name"
        )
        return [
            Calibration(
                name,
                json.loads(self._vault.open(b"calibration\0" + name.encode(), sealed)),
                made_at,
            )
            for name, sealed, made_at in rows.fetchall()
        ]

    def find(self, name: str) -> Calibration | None:
        """Return the sample with this name, or None."""
        return next(
            (calibration for calibration in self.read_all() if calibration.name == name), None
        )

    def delete(self, name: str) -> None:
        """Delete a sample with the clinicians' grades and names."""
        with self._database.transaction():
            self._connection.execute("DELETE FROM ratings WHERE calibration = ?", (name,))
            self._connection.execute("DELETE FROM calibrations WHERE name = ?", (name,))

    def delete_ratings(self, calibration: str, number: int) -> None:
        """Delete the name and grades of one clinician; the others keep their numbers."""
        with self._database.transaction():
            for key, (_, rater) in self._read_raters(calibration).items():
                if rater.number == number:
                    self._connection.execute(
                        "DELETE FROM ratings WHERE calibration = ? AND rater_key = ?",
                        (calibration, key),
                    )

    def keep_ratings(
        self, calibration: str, rater: str, grades: Mapping[str, Mapping[str, float]]
    ) -> int:
        """Store the grades of the clinician named `rater`, replacing any earlier ones.

        Returns:
            The clinician's number, which does not change.
        """
        with self._database.transaction():
            raters = self._read_raters(calibration)
            earlier_key = next(
                (key for key, (name, _) in raters.items() if _fold(name) == _fold(rater)), None
            )
            if earlier_key is None:
                key = self._identities.rater_key(calibration, rater)
                number = 1 + max((earlier.number for _, earlier in raters.values()), default=0)
            else:
                key = earlier_key
                number = raters[earlier_key][1].number
            self._keep_rater(calibration, key, rater, Rater(number, grades, int(time.time())))
        return number

    def join(self, calibration: str, account: str, name: str) -> Rater:
        """Store an account as a clinician who has not graded anything yet, or return it if it is one already.

        Args:
            calibration: the sample.
            account: id of the account.
            name: name of the account.

        Raises:
            ConfigError: a sheet was imported under this name, or the sample does not exist.
        """
        with self._database.transaction():
            raters = self._read_raters(calibration)
            for other_name, other in raters.values():
                if other.account == account:
                    return other
                if _fold(other_name) == _fold(name):
                    raise ConfigError(
                        "a sheet was imported under the name of your account",
                        "Whoever imports sheets can delete it (`intramural calibrate delete --rater`).",
                    )
            number = 1 + max((other.number for _, other in raters.values()), default=0)
            rater = Rater(number, {}, int(time.time()), account, finished=False)
            self._keep_rater(calibration, self._key_account(calibration, account), name, rater)
        return rater

    def save_item(
        self, calibration: str, account: str, item: str, grades: Mapping[str, float]
    ) -> None:
        """Store an account's grades of one item, replacing its earlier ones.

        Raises:
            ConfigError: the account has finished, or has not begun.
        """
        with self._database.transaction():
            key, name, rater = self._require_unfinished(calibration, account)
            all_grades = {code: kept for code, kept in rater.grades.items() if code != item}
            if grades:
                all_grades[item] = grades
            saved = tuple(dict.fromkeys((*rater.saved, item)))
            changed = replace(rater, grades=all_grades, saved=saved, imported_at=int(time.time()))
            self._keep_rater(calibration, key, name, changed)

    def finish(self, calibration: str, account: str) -> None:
        """Lock an account's grades.

        Raises:
            ConfigError: the account has finished already, or has not begun.
        """
        with self._database.transaction():
            key, name, rater = self._require_unfinished(calibration, account)
            self._keep_rater(calibration, key, name, replace(rater, finished=True))

    def find_account(self, calibration: str, account: str) -> Rater | None:
        """Return the grades that an account gave on the pages of the service, or None if it has not begun."""
        raters = (rater for _, rater in self._read_raters(calibration).values())
        return next((rater for rater in raters if rater.account == account), None)

    def find_rater(self, calibration: str, name: str) -> Rater | None:
        """Return the grades of the clinician with this name; case and spaces in the name are ignored."""
        raters = self._read_raters(calibration).values()
        return next(
            (rater for rater_name, rater in raters if _fold(rater_name) == _fold(name)), None
        )

    def read_raters(self, calibration: str) -> list[Rater]:
        """Return the grades of each clinician by number, without names."""
        return sorted(
            (rater for _, rater in self._read_raters(calibration).values()),
            key=lambda rater: rater.number,
        )

    def _key_account(self, calibration: str, account: str) -> bytes:
        return self._identities.rater_key(calibration, f"account\0{account}")

    def _require_unfinished(self, calibration: str, account: str) -> tuple[bytes, str, Rater]:
        """Return the key, the name and the grades of an account that still grades."""
        key = self._key_account(calibration, account)
        name, rater = self._read_raters(calibration).get(key, ("", None))
        if rater is None:
            raise ConfigError(
                "you have not begun to grade this calibration",
                "Open it from the list of calibrations.",
            )
        if rater.finished:
            raise ConfigError(
                "you have finished this calibration, so your grades are locked",
                "Nothing was changed.",
            )
        return key, name, rater

    def _keep_rater(self, calibration: str, key: bytes, name: str, rater: Rater) -> None:
        content: dict[str, Any] = {"name": name, "number": rater.number, "grades": rater.grades}
        if rater.account is not None:
            content |= {
                "account": rater.account,
                "saved": rater.saved,
                "finished": rater.finished,
            }
        sealed = self._vault.seal(_context(calibration, key), json.dumps(content).encode())
        self._connection.execute(
            "INSERT OR REPLACE INTO ratings VALUES (?, ?, ?, ?)",
            (calibration, key, sealed, rater.imported_at),
        )

    def _read_raters(self, calibration: str) -> dict[bytes, tuple[str, Rater]]:
        """Return each clinician's name and grades."""
        rows = self._connection.execute(
            "SELECT rater_key, sealed, imported_at FROM ratings WHERE calibration = ?",
            (calibration,),
        ).fetchall()
        raters = {}
        for key, sealed, imported_at in rows:
            content = json.loads(self._vault.open(_context(calibration, key), sealed))
            rater = Rater(
                number=content["number"],
                grades=content["grades"],
                imported_at=imported_at,
                account=content.get("account"),
                saved=tuple(content.get("saved", ())),
                finished=content.get("finished", True),
            )
            raters[key] = (content["name"], rater)
        return raters


def _context(calibration: str, key: bytes) -> bytes:
    return b"ratings\0" + calibration.encode() + b"\0" + key


def _fold(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).split()).casefold()
