"""Say in a sentence why an instance has no score."""

from collections.abc import Mapping

from agent.vocabulary import Reason

REASONS: Mapping[Reason, str] = {
    Reason.EMPTY: "The server returned no text.",
    Reason.UNPARSED: "The answer contains nothing that the benchmark's parser accepts.",
    Reason.LENGTH: "The answer was cut off by its length limit before its value could be read.",
    Reason.CONTENT_FILTER: "The server's filter withheld the answer.",
    Reason.CONTEXT_LENGTH: "The prompt does not fit the model.",
    Reason.SERVER_ERROR: "The server reported an error after all retries.",
    Reason.BAD_REPLY: "The server's reply was not a valid answer of the model that was probed.",
    Reason.TIMEOUT: "No reply came within the time limit.",
    Reason.UNREACHABLE: "The connection to the server was refused or broke.",
    Reason.NO_REFERENCE: "The data has no usable reference for this instance.",
    Reason.NOT_APPLICABLE: "The metric does not apply to this instance or answer.",
    Reason.NOT_ASKED: "The question has not been asked yet.",
    Reason.NOT_JUDGED: "The answer is stored, but the jury has not graded it yet.",
    Reason.NO_QUORUM: "Too few judges gave a valid verdict.",
    Reason.NOT_MEASURED: "The answer is stored, but this metric has not been computed yet.",
    Reason.METRIC_FAILED: "The site's own metric gave no valid result for this answer.",
    Reason.NOT_IMPORTED: "The imported run has no such score for this instance.",
}
