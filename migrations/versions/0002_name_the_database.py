"""Create Setting, and give the database a name of its own that no other control database has."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from batchctl.store.columns import UtcTime, identity, name, sqlite_types, text_column, unquoted, utc_now

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

CONVENTION = {
    "pk": "PK_%(table_name)s",
    "uq": "UQ_%(table_name)s_%(column_0_N_name)s",
    "ck": "CK_%(table_name)s_%(constraint_name)s",
}

AT_RANDOM = {
    "sqlite": "lower(hex(randomblob(16)))",
    "postgresql": "md5(random()::text || clock_timestamp()::text || txid_current()::text)",
    "mssql": "lower(replace(convert(nvarchar(36), newid()), '-', ''))",
}


def upgrade() -> None:
    """Create the table and its first row."""
    columns = [
        sa.Column(unquoted("Name"), name(), nullable=False),
        sa.Column(unquoted("Value"), text_column(), nullable=False),
        sa.Column(unquoted("z_inserted"), UtcTime(), nullable=False, server_default=utc_now()),
        sa.Column(unquoted("z_updated"), UtcTime(), nullable=False, server_default=utc_now()),
    ]
    table = sa.Table(
        unquoted("Setting"),
        sa.MetaData(naming_convention=CONVENTION),
        sa.Column(unquoted("Setting_id"), identity(), primary_key=True, autoincrement=True),
        *columns,
        sa.UniqueConstraint("Name"),
        sa.CheckConstraint("Name <> ''", name="Name"),
        *sqlite_types(columns),
        sqlite_autoincrement=True,
    )
    op.get_context().impl.create_table(table)
    at_random = sa.literal_column(AT_RANDOM[op.get_context().dialect.name])
    row = sa.select(sa.literal_column("'DatabaseId'"), at_random)
    # Built of the table, so that it follows where the whole schema is made elsewhere to compare it.
    op.execute(sa.insert(table).from_select(["Name", "Value"], row))


def downgrade() -> None:
    """Drop the table."""
    op.drop_table(unquoted("Setting"))
