"""Why someone is not let in, in words that do not tell an attacker more than they know."""

from agent.errors import AgentError


class SignInRefusedError(AgentError):
    """Someone could not be signed in. The words never tell whether an account exists."""

    advice = "Check name and password, or ask an administrator of this service."


class TooManyAttemptsError(SignInRefusedError):
    """Too many attempts failed; further ones are refused for some minutes, whatever the password."""

    advice = "Wait some minutes, or ask an administrator of this service."


class UnknownPersonError(SignInRefusedError):
    """A provider or a trusted proxy vouches for the person, but they have no account or no role here."""

    advice = "Ask an administrator of this service for access."


class ProviderError(AgentError):
    """The OpenID provider cannot be reached, or its answer is not one that can be trusted."""

    advice = "Try again. If it happens again, tell an administrator of this service."
