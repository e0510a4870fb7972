"""Every place that makes an error for people has a code of its own, and docs/errors.md lists them all."""

from __future__ import annotations

import re

import pytest

from batchctl.cli import main
from batchctl.domain import errors
from batchctl.domain.error_codes import CODES, OTHERS, code_at
from tests.house import error_places
from tests.house.source import ROOT


def test_every_place_has_a_code_and_no_code_is_of_a_place_that_is_gone() -> None:
    places = set(error_places.places())

    assert places - set(CODES) == set(), "give each a new number, behind the last, in batchctl/domain/error_codes.py"
    assert set(CODES) - places == set(), "rename the place in batchctl/domain/error_codes.py, or delete it"


def test_every_error_is_made_where_it_can_be_found() -> None:
    assert error_places.hidden() == [], "call the kind by its name, or say another error in other words with reworded"


def test_what_an_error_says_that_nobody_foresaw_is_told_in_short() -> None:
    """SQLAlchemy says the statement, its values and an address of its own, too."""
    wordy = re.compile(r"\{type\((\w+)\)\.__name__\}: \{\1\}")
    told = [
        *(ROOT / "batchctl" / "control").rglob("*.py"),
        ROOT / "batchctl" / "node.py",
        ROOT / "batchctl" / "cli" / "main.py",
    ]

    assert [path.name for path in told if wordy.search(path.read_text(encoding="utf-8"))] == [], "in_short says it"


def test_no_number_is_given_twice() -> None:
    every = [*OTHERS.values(), *CODES.values()]

    assert len(every) == len(set(every))


def test_the_document_lists_them_all() -> None:
    written = error_places.DOCUMENT.read_text(encoding="utf-8")

    assert written == error_places.document(), "write it anew: python -m tests.house.error_places"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["why", "nonsense"], None),
        (["--config", "/none/batchctl.toml", "status"], "batchctl.config:_find"),
        (["plan", "/none/x.toml"], "batchctl.cli.definitions.file_commands:_parsed"),
        (
            ["demo", "--database", "postgresql://a@127.0.0.1:1/x"],
            "batchctl.store.dialects.postgresql:PostgresqlDialect.database_refused",
        ),
    ],
)
def test_the_code_is_printed_with_the_error(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
    words: list[str],
    code: str | None,
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("empty"))
    main.run(["db", "upgrade"])
    capsys.readouterr()
    main.run(words)
    last = capsys.readouterr().err.splitlines()[-1]

    assert last == f"Code: {code_at(code or 'batchctl.operations.explain:_no_reference')}"
    assert last != "Code: BC1002"


def test_what_is_typed_wrongly_and_what_nobody_foresaw_have_codes_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main.run(["nonsense"])
    assert capsys.readouterr().err.endswith("\nCode: BC1001\n")

    def breaks(config_file: str | None) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("batchctl.app.open_app", breaks)
    main.run(["status"])
    assert capsys.readouterr().err.endswith("\nCode: BC1000\n")


def test_an_error_from_elsewhere_has_the_code_of_such() -> None:
    assert errors.Refused("x").code == "BC1002"
    assert next(errors.StatusChanged("a", "b", "c") for _ in range(1)).code == "BC1002"
