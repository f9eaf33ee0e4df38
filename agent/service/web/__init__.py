"""The agent as a service: pages and an HTTP interface for the people of a site, behind a sign-in."""
