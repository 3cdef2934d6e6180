"""The entry point of Alembic; the connection comes from the caller, never from a file."""

from alembic import context

from photosvc.models import Base
from photosvc.models.schema import VERSION_TABLE, is_ours

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    version_table=VERSION_TABLE,
    include_object=is_ours,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
