"""All limits for requests to a model server."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """Limits for requests to a model server. Times are in seconds.

    Attributes:
        connect_timeout_s: maximum time to open a connection.
        attempt_timeout_s: maximum time for one attempt, from sending to the last byte of the reply.
        first_attempt_timeout_s: the same limit until the server's first reply, for which the server may have to load
            and compile a model.
        total_timeout_s: maximum time for one request, including all attempts and waits.
        max_attempts: maximum attempts for one request. Refused connections do not count, because nothing was sent.
        outage_grace_s: time without any reply (only refused connections and timeouts) after which the remaining
            requests are not sent.
        retry_wait_max_s: maximum wait between two attempts, regardless of `Retry-After`.
        max_reply_bytes: maximum size of a reply; a longer reply is a bad reply.
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
        """Check that all limits are positive.

        Raises:
            ValueError: a limit is not positive.
        """
        for name in self.__slots__:
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive")
