"""No password of a URL survives in a text, whatever it is made of and however it was written."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import parse_qs, quote, quote_plus, unquote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sqlalchemy import make_url

from batchctl.domain import urls

PASSWORDS = st.text(
    st.one_of(st.sampled_from("aZ9'\"%;@/:?&=+{}[]()\\ #*$!~|<>é€ß\u202e漢"), st.characters(exclude_categories=["Cs"])),
    min_size=1,
    max_size=12,
)


def braced(password: str) -> str:
    return "{" + password.replace("}", "}}") + "}"


def lowered(text: str) -> str:
    """Percent-encoded by a program that writes hexadecimal in small letters."""
    first, *others = text.split("%")
    return "%".join([first, *(part[:2].lower() + part[2:] for part in others)])


FORMS: dict[str, Callable[[str], str]] = {
    "behind the user": lambda p: f"postgresql+psycopg://u:{quote(p, safe='')}@h:5432/d",
    "behind the user, unquoted": lambda p: f"postgresql+psycopg://u:{p}@h:5432/d",
    "in small letters": lambda p: f"postgresql+psycopg://u:{lowered(quote(p, safe=''))}@h:5432/d",
    "password=": lambda p: f"postgresql+psycopg://u@h/d?password={quote_plus(p)}&sslmode=require",
    "PASSWORD=": lambda p: f"mssql+pyodbc://h/d?driver=x&PASSWORD={quote(p, safe='')}",
    "odbc PWD=": lambda p: f"mssql+pyodbc:///?odbc_connect={quote_plus(f'DRIVER={{O 18}};UID=u;PWD={braced(p)};A=b')}",
    "odbc Password=": lambda p: f"mssql+pyodbc:///?odbc_connect={quote(f'SERVER=s;Password = {braced(p)}', safe='')}",
    "odbc pwd=, in small letters": lambda p: (
        f"mssql+pyodbc:///?odbc_connect={lowered(quote(f'pwd={braced(p)};x=y', safe=''))}"
    ),
}


@given(password=PASSWORDS, form=st.sampled_from(sorted(FORMS)))
def test_what_is_redacted_does_not_hold_the_password(password: str, form: str) -> None:
    assume(password.strip() == password and password.strip("*"))
    url = FORMS[form](password)
    written = [password, quote(password, safe=""), quote_plus(password), braced(password), json.dumps(password)]
    text = f"cannot connect to {url}: {password} / {'; '.join(written)} is wrong"
    shown = urls.redacted(text, urls.passwords_in(url))

    assert password not in shown
    assert quote(password, safe="") not in shown
    assert quote_plus(password) not in shown
    assert lowered(quote(password, safe="")) not in shown


@given(password=PASSWORDS, times=st.integers(2, 4))
def test_a_connection_string_that_is_quoted_more_than_once_hides_nothing(password: str, times: int) -> None:
    assume(password.strip() == password and password.strip("*"))
    written = f"DRIVER={{O 18}};UID=u;PWD={braced(password)};A=b"
    for _ in range(times):
        written = quote(written, safe="")

    assert braced(password) in urls.passwords_in(f"mssql+pyodbc:///?odbc_connect={written}")


@given(password=PASSWORDS)
def test_a_secret_arrives_behind_the_user_as_it_is(password: str) -> None:
    url = urls.with_secrets("postgresql://u:{secret:s}@h/d", {"s": password}.__getitem__)

    assert unquote(url.removeprefix("postgresql://u:").removesuffix("@h/d")) == password
    assert password in urls.passwords_in(url) or unquote(urls.passwords_in(url)[0]) == password


@given(
    password=PASSWORDS, written=st.sampled_from(["{secret:s}", "{{secret:s}}", "%7Bsecret%3As%7D", "%7B{secret:s}%7D"])
)
def test_a_secret_arrives_in_an_odbc_string_as_it_is(password: str, written: str) -> None:
    text = f"mssql+pyodbc:///?odbc_connect=DRIVER={{ODBC 18}};PWD={written};UID=u"
    url = urls.with_secrets(text, {"s": password}.__getitem__)
    (odbc,) = parse_qs(url.partition("?")[2])["odbc_connect"]
    value = odbc.removeprefix("DRIVER={ODBC 18};PWD=").removesuffix(";UID=u")

    if value.startswith("{"):
        value = value[1:-1].replace("}}", "}")
    assert value == password


@pytest.mark.parametrize(
    ("text", "name"),
    [("{secret:wh}", "wh"), ("%7Bsecret%3Awh%7D", "wh"), ("x{secret:wh}", None), ("wh", None), ("", None)],
)
def test_a_text_refers_to_a_secret_when_it_holds_nothing_else(text: str, name: str | None) -> None:
    assert urls.reference(text) == name


def test_a_reference_is_no_password() -> None:
    url = "mssql+pyodbc://u:{secret:a}@h/d?odbc_connect=PWD={secret:b};Password={{secret:c}}&password=%7Bsecret%3Ad%7D"

    assert [urls.redacted(url, urls.passwords_in(url)), urls.references(url)] == [url, ("a", "b", "c", "d")]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://u:{secret:}@h/d", "as {secret:NAME}"),
        ("postgresql://u:{secret wh}@h/d", "as {secret:NAME}"),
        ("postgresql://{secret:u}:p@h/d", "may stand for the password"),
        ("{secret:whole}", "BATCHCTL_DATABASE_URL"),
        ("postgresql://u:p@{secret:host}/d", "may stand for the password"),
    ],
)
def test_a_reference_that_cannot_be_resolved_there_is_refused(url: str, said: str) -> None:
    assert said in str(urls.misplaced_reference(url))


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///x.db",
        "postgresql://u@h/d",
        "postgresql://u:{secret:a}@h/d",
        "mssql+pyodbc:///?odbc_connect=PWD={secret:a}",
    ],
)
def test_other_urls_are_left_alone(url: str) -> None:
    assert urls.misplaced_reference(url) is None
    assert urls.unquoted_password(url) is None
    assert urls.passwords_in(url) == ()


@given(password=PASSWORDS)
def test_a_password_is_read_whole_or_refused(password: str) -> None:
    url = f"postgresql://u:{password}@h:5432/d"

    assert urls.unquoted_password(f"postgresql://u:{quote(password, safe='')}@h:5432/d") is None
    if urls.unquoted_password(url) is None:
        assert make_url(url).password == unquote(password)


def test_an_odbc_string_is_shown_without_its_passwords() -> None:
    text = "DRIVER={O;18};SERVER=s;pwd={we;i}}rd};UID=u;Password=x;AccessToken=t"

    assert urls.odbc_without_passwords(text) == "DRIVER={O;18};SERVER=s;pwd=***;UID=u;Password=***;AccessToken=***"
