"""The rows of alerts: events, the messages made of them for each channel, and conditions that were told already.

A message takes all events since the last message on its channel. It is OPEN until it was delivered or given up, and a
channel has one open message at most:

    OPEN ── keep_trying ──> OPEN ── end ──> SENT or GIVEN_UP
"""

import secrets
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from agent.store.database import Database
from agent.store.stored_alerts import (
    AlertCode,
    AlertEvent,
    AlertMessage,
    Channel,
    Condition,
    MessageState,
)

_EVENT = "code, at, job_id, exit_code, done, failed, unscored, waiting"
_MESSAGE = "message_id, channel, first, last, made_at, state, attempts, next_at, outcome, ended_at"


class Alerts:
    """The store's alerts."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = database.connection

    def watch(self, channels: Collection[Channel]) -> None:
        """Note which channels are in use from now on.

        A new channel is told of no earlier events, and jobs that ended while no channel was in use lead to none. What
        was not delivered on a channel that is no longer in use is dropped.
        """
        watched = self._list_channels()
        if watched == set(channels):
            return
        with self._database.transaction():
            if not watched:
                self._connection.execute("UPDATE jobs SET noticed = 1 WHERE ended_at IS NOT NULL")
            for channel in set(channels) - watched:
                self._connection.execute(
                    "INSERT INTO alert_channels (channel, after) "
                    "VALUES (?, (SELECT COALESCE(MAX(number), 0) FROM alert_events))",
                    (channel,),
                )
            for channel in watched - set(channels):
                self._connection.execute("DELETE FROM alert_channels WHERE channel = ?", (channel,))
                self._connection.execute(
                    "DELETE FROM alert_messages WHERE channel = ? AND state = 'open'", (channel,)
                )
            if not channels:
                self._connection.execute("DELETE FROM alert_conditions")

    def _list_channels(self) -> set[Channel]:
        rows = self._connection.execute("SELECT channel FROM alert_channels").fetchall()
        return {Channel(channel) for (channel,) in rows}

    def add_event(self, event: AlertEvent) -> None:
        """Append an event."""
        with self._database.transaction():
            self._connection.execute(
                f"INSERT INTO alert_events ({_EVENT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
                (
                    event.code,
                    event.at,
                    event.job_id,
                    event.exit_code,
                    event.done,
                    event.failed,
                    event.unscored,
                    event.waiting,
                ),
            )

    def find_last_time(self, code: AlertCode) -> float | None:
        """Return the time of the latest event of a kind, or None."""
        row = self._connection.execute(
            "SELECT at FROM alert_events WHERE code = ? ORDER BY number DESC LIMIT 1", (code,)
        ).fetchone()
        return None if row is None else float(row[0])

    def count_events(self, message: AlertMessage) -> dict[AlertCode, int]:
        """Count the events of a message by kind."""
        rows = self._connection.execute(
            "SELECT code, count(*) FROM alert_events WHERE number BETWEEN ? AND ? GROUP BY code ORDER BY code",
            (message.first, message.last),
        ).fetchall()
        return {AlertCode(code): int(count) for code, count in rows}

    def read_events(self, message: AlertMessage, most: int) -> list[AlertEvent]:
        """Return the first events of a message, at most `most`."""
        rows = self._connection.execute(
            f"SELECT {_EVENT} FROM alert_events WHERE number BETWEEN ? AND ? ORDER BY number LIMIT ?",  # noqa: S608
            (message.first, message.last, most),
        ).fetchall()
        return [AlertEvent(AlertCode(code), *values) for code, *values in rows]

    def open_message(self, channel: Channel, now: float) -> AlertMessage | None:
        """Make a message of all events that the channel was not told of; return None if there are none.

        Args:
            channel: a channel in use, which has no open message.
            now: the time, in seconds since 1970.
        """
        with self._database.transaction():
            first, last = self._connection.execute(
                "SELECT MIN(number), MAX(number) FROM alert_events "
                "WHERE number > (SELECT after FROM alert_channels WHERE channel = ?)",
                (channel,),
            ).fetchone()
            if first is None:
                return None
            message_id = secrets.token_hex(16)
            self._connection.execute(
                "INSERT INTO alert_messages (message_id, channel, first, last, made_at, state, next_at) "
                "VALUES (?, ?, ?, ?, ?, 'open', ?)",
                (message_id, channel, first, last, now, now),
            )
            self._connection.execute(
                "UPDATE alert_channels SET after = ? WHERE channel = ?", (last, channel)
            )
        return self.find_message(message_id)

    def add_test(
        self, message_id: str, channel: Channel, state: MessageState, outcome: str, now: float
    ) -> None:
        """Store that somebody tried whether alerts arrive, and what came back."""
        with self._database.transaction():
            self._connection.execute(
                f"INSERT INTO alert_messages ({_MESSAGE}) VALUES (?, ?, 1, 0, ?, ?, 1, ?, ?, ?)",  # noqa: S608
                (message_id, channel, now, state, now, outcome, now),
            )

    def find_message(self, message_id: str) -> AlertMessage | None:
        """Return a message, or None."""
        return next(iter(self._select("message_id = ?", message_id)), None)

    def find_open(self, channel: Channel) -> AlertMessage | None:
        """Return the message that is still to be delivered on a channel, or None."""
        return next(iter(self._select("channel = ? AND state = 'open' LIMIT 1", channel)), None)

    def find_last(self, channel: Channel) -> AlertMessage | None:
        """Return the latest message about events on a channel, or None."""
        condition = "channel = ? AND first <= last ORDER BY last DESC LIMIT 1"
        return next(iter(self._select(condition, channel)), None)

    def list_recent(self, count: int) -> list[AlertMessage]:
        """Return the latest messages, at most `count`, newest first."""
        return self._select("TRUE ORDER BY made_at DESC, message_id LIMIT ?", count)

    def keep_trying(self, message_id: str, outcome: str, next_at: float) -> None:
        """Store a failed attempt and the time of the next one."""
        with self._database.transaction():
            self._connection.execute(
                "UPDATE alert_messages SET attempts = attempts + 1, outcome = ?, next_at = ? "
                "WHERE message_id = ? AND state = 'open'",
                (outcome, next_at, message_id),
            )

    def end(self, message_id: str, state: MessageState, outcome: str, now: float) -> None:
        """Store that a message was delivered or given up, at the last attempt."""
        with self._database.transaction():
            self._connection.execute(
                "UPDATE alert_messages SET state = ?, attempts = attempts + 1, outcome = ?, ended_at = ? "
                "WHERE message_id = ? AND state = 'open'",
                (state, outcome, now, message_id),
            )

    def delete_older(self, before: float) -> None:
        """Delete ended messages and told events of an earlier time."""
        with self._database.transaction():
            self._connection.execute("DELETE FROM alert_messages WHERE ended_at < ?", (before,))
            self._connection.execute(
                "DELETE FROM alert_events WHERE at < ? "
                "AND number <= (SELECT COALESCE(MIN(after), 0) FROM alert_channels) "
                "AND NOT EXISTS (SELECT 1 FROM alert_messages WHERE state = 'open' AND number BETWEEN first AND last)",
                (before,),
            )

    def list_conditions(self, prefix: str) -> list[Condition]:
        """Return the conditions whose names begin with `prefix`."""
        rows = self._connection.execute(
            "SELECT name, since, told FROM alert_conditions WHERE substr(name, 1, ?) = ?",
            (len(prefix), prefix),
        ).fetchall()
        return [Condition(name, since, bool(told)) for name, since, told in rows]

    def find_condition(self, name: str) -> Condition | None:
        """Return a condition, or None if it does not hold."""
        named = (each for each in self.list_conditions(name) if each.name == name)
        return next(named, None)

    def set_condition(self, name: str, since: float, *, told: bool) -> None:
        """Note that a condition holds, and whether it has led to an event."""
        with self._database.transaction():
            self._connection.execute(
                "INSERT INTO alert_conditions (name, since, told) VALUES (?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET told = excluded.told",
                (name, since, int(told)),
            )

    def clear_conditions(self, names: Iterable[str]) -> None:
        """Note that conditions hold no longer."""
        rows: Sequence[tuple[str]] = [(name,) for name in names]
        if rows:
            with self._database.transaction():
                self._connection.executemany("DELETE FROM alert_conditions WHERE name = ?", rows)

    def _select(self, condition: str, *values: object) -> list[AlertMessage]:
        rows = self._connection.execute(
            f"SELECT {_MESSAGE} FROM alert_messages WHERE {condition}",  # noqa: S608 (conditions of this file)
            values,
        ).fetchall()
        return [_read_message(row) for row in rows]


def _read_message(row: tuple[Any, ...]) -> AlertMessage:
    message_id, channel, first, last, made_at, state, *rest = row
    return AlertMessage(
        message_id, Channel(channel), first, last, made_at, MessageState(state), *rest
    )
