"""What is said of commands that there are not."""

from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner

from batchctl.cli.main import CALLED_ELSEWHERE, COMMANDS, GROUPS, cli
from batchctl.domain.errors import ConfigurationError


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("restart", "rerun"), ("kill", "cancel"), ("unfreeze", "thaw"), ("Help", "--help"), ("incident", "incidents")],
)
def test_what_other_programs_call_it_leads_to_the_command_that_does_it(typed: str, meant: str) -> None:
    told = CliRunner().invoke(cli, [typed, "42"])

    assert told.exit_code == 2
    assert f"There is no command '{typed}'. Did you mean '{meant}'?" in told.output


def test_all_words_of_others_lead_to_something_and_none_is_ours() -> None:
    assert not CALLED_ELSEWHERE.keys() & COMMANDS.keys()
    assert {meant for meant in CALLED_ELSEWHERE.values() if not meant.startswith("-")} <= COMMANDS.keys()


def test_help_names_every_command_once_on_one_screen() -> None:
    named = [name for group in GROUPS.values() for names in group for name in names.split(", ")]
    shown = CliRunner().invoke(cli, ["--help"], terminal_width=80).output.splitlines()

    assert sorted(named) == sorted(COMMANDS)
    assert len(shown) <= 45
    assert [line for line in shown if len(line) > 80] == []


def test_the_console_without_its_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "batchctl.web.server", None)
    monkeypatch.delattr("batchctl.web.server", raising=False)  # it is there where another test has imported it
    with pytest.raises(ConfigurationError) as missing:
        CliRunner().invoke(cli, ["web"], catch_exceptions=False)

    assert "pip install 'batchctl[web]'" in (missing.value.next_step or "")
