"""Alembic's entry point, which runs the migrations on the connection provided by `migrate`."""

from alembic import context

from aggregator.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite cannot alter a column in place
)
with context.begin_transaction():
    context.run_migrations()
