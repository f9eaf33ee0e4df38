"""Who may use the service, and what they may do: roles, sign-in, sessions, API tokens."""
