"""Every limit of talking to a model server, on one page."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """Limits of one conversation with a model server.

    Attributes:
        connect_timeout_s: seconds for opening one connection.
        attempt_timeout_s: seconds for one attempt, from sending to the last byte of the reply.
        first_attempt_timeout_s: the same until the server has answered once; servers compile and load at first.
        total_timeout_s: seconds for one request with all its attempts and waits.
        max_attempts: attempts for one request. A refused connection is not an attempt: the request never left.
        outage_grace_s: seconds of silence (refused connections, time-outs) until the rest is not asked any more.
        retry_wait_max_s: seconds, the longest wait between two attempts, whatever `Retry-After` says.
        max_reply_bytes: bytes of one reply; a longer one is a bad reply.
    """

    connect_timeout_s: float = 10.0
    attempt_timeout_s: float = 120.0
    first_attempt_timeout_s: float = 300.0
    total_timeout_s: float = 600.0
    max_attempts: int = 5
    outage_grace_s: float = 60.0
    retry_wait_max_s: float = 30.0
    max_reply_bytes: int = 8 * 1024 * 1024

    def __post_init__(self) -> None:
        """Refuse limits under which nothing could be asked.

        Raises:
            ValueError: a limit is not positive.
        """
        for name in self.__slots__:
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive")
