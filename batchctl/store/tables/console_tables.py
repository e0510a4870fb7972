"""Who may come into the console, who is in, and what was asked of it."""

from __future__ import annotations

from sqlalchemy import Index, Integer, SmallInteger, UniqueConstraint

from batchctl.domain.operators.logins import Role, TokenRole
from batchctl.store.columns import UtcTime, name, reference, text_column, word
from batchctl.store.tables.making import check, column, flag, key, required, stamp, table, words

web_user = table(
    "WebUser",
    key("WebUser_id"),
    required("UserName", name()),
    required("Role", word()),
    # Without a tag it acts on all batches.
    column("Tag", name()),
    column("PasswordHash", name()),
    column("CodeHash", name()),
    column("CodeUntil", UtcTime()),
    required("Enabled", SmallInteger(), "1"),
    stamp("z_inserted"),
    stamp("z_updated"),
    UniqueConstraint("UserName"),
    check("UserName", "UserName <> ''"),
    words("Role", Role),
    flag("Enabled"),
)

web_session = table(
    "WebSession",
    key("WebSession_id"),
    # No foreign key: the console alone sees both, so that no law of fsck can look; a session of no user lets no one in.
    required("WebUser_id", reference()),
    required("TokenHash", name()),
    column("Address", name()),
    required("ByIssuer", SmallInteger(), "0"),
    required("LastUsed", UtcTime()),
    required("ExpiresTime", UtcTime()),
    column("EndedTime", UtcTime()),
    stamp("z_inserted"),
    UniqueConstraint("TokenHash"),
    flag("ByIssuer"),
    Index("IX_WebSession_User", "WebUser_id"),
)

api_token = table(
    "ApiToken",
    key("ApiToken_id"),
    required("TokenName", name()),
    required("TokenHash", name()),
    required("Role", word()),
    column("Tag", name()),
    # Names with commas between them.
    column("Pools", name()),
    column("ExpiresTime", UtcTime()),
    column("LastUsed", UtcTime()),
    column("RevokedTime", UtcTime()),
    stamp("z_inserted"),
    UniqueConstraint("TokenName"),
    UniqueConstraint("TokenHash"),
    check("TokenName", "TokenName <> ''"),
    words("Role", TokenRole),
)

login_back_off = table(
    "LoginBackOff",
    key("LoginBackOff_id"),
    required("Subject", name()),
    required("Failures", Integer()),
    required("ShutUntil", UtcTime()),
    UniqueConstraint("Subject"),
)

web_request = table(
    "WebRequest",
    key("WebRequest_id"),
    required("Actor", name()),
    required("RequestKey", name()),
    required("BodyHash", name()),
    # Without one it is under way, or the console died in the middle of it.
    column("HttpStatus", Integer()),
    column("Answer", text_column()),
    stamp("z_inserted"),
    UniqueConstraint("Actor", "RequestKey"),
)
