"""The paste law: what is pasted into bash or dash is byte for byte what the controller did."""

from __future__ import annotations

import os
import pty
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batchctl.config import resolve_secret
from batchctl.plugin_api import Rendered, StepRequest, visible
from batchctl.testing import a_request, a_step, context
from step_handlers.os_command import OsCommand
from tests.step_handlers.hostile import ATOMS, HOSTILE
from tests.step_handlers.terminal import paste
from tests.tiers import examples

HANDLER = OsCommand()
SHELLS = ("bash", "dash")

VALUES = st.tuples(HOSTILE, HOSTILE, HOSTILE)


def request(values: tuple[str, str, str], directory: str = "/") -> StepRequest:
    """A step that prints its arguments and a variable, each ended by NUL."""
    one, two, three = values
    step = a_step(
        name=f"step {two}",
        Data1="printf -- '%s\\0' {Data1} x{Data2} --file={Data3} '{Data1}{{{Data2}' {Data3}",
        Data4="LC_ALL='C'",
    )
    asked = a_request(step, context(directory), Data1=one, Data2=two, Data3=three)
    return replace(asked, note=f"as {one}, on {two}")


def carried_out(rendered: Rendered) -> bytes:
    argv = rendered.spec["argv"]
    assert isinstance(argv, list)
    done = subprocess.run(
        [str(word) for word in argv], check=True, capture_output=True, cwd=str(rendered.spec["directory"])
    )
    return done.stdout


def pasted(shell: str, text: str) -> bytes:
    done = subprocess.run([shell], input=text.encode(), capture_output=True, check=True)
    assert done.stderr == b""
    return done.stdout


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(VALUES, min_size=1, max_size=16))
def test_arguments_arrive_in_both_shells_as_the_controller_passes_them(examples: list[tuple[str, str, str]]) -> None:
    rendered = [HANDLER.render(request(values)) for values in examples]
    by_controller = [carried_out(one) for one in rendered]
    asked = [one.spec["argv"] for one in rendered]
    meant = [
        b"".join(str(word).encode() + b"\0" for word in argv[argv.index("%s\\0") + 1 :])
        for argv in asked
        if isinstance(argv, list)
    ]

    assert by_controller == meant
    text = "\n".join(one.command_text for one in rendered)
    assert [pasted(shell, text) for shell in SHELLS] == [b"".join(by_controller)] * 2


@given(VALUES)
def test_a_command_text_is_one_comment_and_one_visible_line(values: tuple[str, str, str]) -> None:
    text = HANDLER.render(request(values)).command_text

    comment, line = text.split("\n")
    assert comment.startswith("# ")
    assert line.startswith("(")
    assert visible(comment + line) == comment + line


@pytest.mark.parametrize("atom", ATOMS)
def test_directory_and_environment_arrive_too(tmp_path: Path, atom: str) -> None:
    folder = atom.replace("/", "_") + "_"
    (tmp_path / folder).mkdir()
    program = "import os, sys; sys.stdout.buffer.write(os.getcwdb() + b'|' + os.environb[b'X'])"
    step = a_step(
        Data1=f'{shlex.quote(sys.executable)} -c "{program}"', Data2="{Data1}_", Data4="X={Data2}, Y='{Data2}'"
    )
    rendered = HANDLER.render(a_request(step, context(str(tmp_path)), Data1=folder[:-1], Data2=atom))

    shell = SHELLS[len(atom) % 2]

    assert pasted(shell, rendered.command_text) == os.fsencode(tmp_path / folder) + b"|" + atom.encode()


@pytest.mark.parametrize("shell", SHELLS)
def test_a_hundred_kilobytes_arrive(shell: str) -> None:
    value = "".join(ATOMS) * 420
    assert 100_000 < len(value.encode()) < 131_000
    step = a_step(Data1="printf -- '%s\\0' {Data1}")
    rendered = HANDLER.render(a_request(step, context("/"), Data1=value))

    assert pasted(shell, rendered.command_text) == value.encode() + b"\0"


@pytest.mark.parametrize("shell", SHELLS)
def test_secrets_come_from_where_the_configuration_says(
    tmp_path: Path, shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a token").write_text("to'k en\n", encoding="utf-8")
    monkeypatch.setenv("WAREHOUSE", "$(x) y")
    context_at = context(str(tmp_path), secrets={"w": "env:WAREHOUSE", "t": "file:a token"})
    step = a_step(Data1="printenv A B", Data4="A={secret:w}, B={secret:t}")

    text = HANDLER.render(a_request(step, context_at)).command_text

    assert pasted(shell, text) == b"$(x) y\nto'k en\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_a_missing_secret_stops_the_pasted_command(tmp_path: Path, shell: str) -> None:
    context_at = context(str(tmp_path), secrets={"w": "env:SURELY_NOT_SET"})
    text = HANDLER.render(a_request(a_step(Data1="echo ran", Data4="A={secret:w}"), context_at)).command_text

    done = subprocess.run([shell], input=text.encode(), capture_output=True, check=False)

    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"environment variable SURELY_NOT_SET is not set\n"


def test_a_step_that_fails_fails_when_pasted_with_the_same_code(tmp_path: Path) -> None:
    rendered = HANDLER.render(a_request(a_step(Data1="sh -c 'exit 7'"), context(str(tmp_path))))

    codes = [subprocess.run([shell, "-c", rendered.command_text], check=False).returncode for shell in SHELLS]

    assert codes == [7, 7]


@pytest.mark.parametrize("shell", [["bash", "--norc", "--noprofile", "-i"], ["dash", "-i"]])
def test_an_interactive_shell_takes_it_too(tmp_path: Path, shell: list[str]) -> None:
    values = {"Data1": "a\n\x1b[A!x\t\t\u202e%\\'!!\x03\x04", "Data2": 'é!q "!x" $(id) `id`'}
    program = "import os, sys; open('seen', 'wb').write(b'|'.join(map(os.fsencode, sys.argv[1:])))"
    step = a_step(Data1=f'{shlex.quote(sys.executable)} -c "{program}" {{Data1}} {{Data2}}')
    rendered = HANDLER.render(
        replace(a_request(step, context(str(tmp_path)), **values), note='it\'s !bang and !! "!" (open `')
    )
    keyboard, terminal = pty.openpty()
    assert shutil.which(shell[0])

    typed = f"echo before\n{rendered.command_text}\nexit\n"
    process = subprocess.Popen(shell, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True)
    os.close(terminal)
    os.write(keyboard, typed.encode())
    shown = screen(keyboard)
    process.wait(timeout=30)

    assert (tmp_path / "seen").read_bytes() == "|".join(values.values()).encode(), shown


def screen(keyboard: int) -> bytes:
    """Everything the terminal shows until the shell has closed it."""
    shown = b""
    try:
        while piece := os.read(keyboard, 65536):
            shown += piece
    except OSError:
        pass
    finally:
        os.close(keyboard)
    return shown


def test_a_terminals_paste_into_bash_does_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAREHOUSE", "$(x) `y`")
    values = {"Data1": "a\n\x1b[201~!x\t\t\u202e%\\'!!\x03\x04\r\n", "Data2": 'é!q "!x" $(id) `id` !!'}
    program = "import os, sys; open('seen', 'ab').write(b'|'.join(map(os.fsencode, [*sys.argv[1:], os.environ['W']])))"
    step = a_step(
        Data1=f'{shlex.quote(sys.executable)} -c "{program}" {{Data1}} {{Data2}}',
        Data4="W={secret:w}, PATH='/usr/bin:/bin'",
    )
    context_at = context(str(tmp_path), secrets={"w": "env:WAREHOUSE"})
    text = HANDLER.render(replace(a_request(step, context_at, **values), note='it\'s !bang and !! "!" (`')).command_text

    shown = paste(
        ["bash", "--norc", "--noprofile", "-i"], text, prompt=b"ready> ", goodbye="exit", environment={"PS1": "ready> "}
    )

    assert (tmp_path / "seen").read_bytes() == "|".join([*values.values(), "$(x) `y`"]).encode(), shown


@pytest.mark.parametrize("shell", SHELLS)
def test_variables_of_the_step_and_of_the_text_do_not_meet(tmp_path: Path, shell: str) -> None:
    context_at = context(str(tmp_path), secrets={"w": "env:WAREHOUSE"})
    step = a_step(
        Data1="printf -- '%s\\0' {Data1}",
        Data4="a1={Data2}, batchctl={Data2}, PATH='/usr/bin:/bin', UID='5', X={Data1}",
    )

    text = HANDLER.render(a_request(step, context_at, Data1="x\ty", Data2="p\tq")).command_text

    assert pasted(shell, text) == b"x\ty\0"


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("value", ["plain", "two\n\n", "windows\r\n", " blanks ", "\n"])
def test_a_secret_is_pasted_as_the_controller_reads_it(
    tmp_path: Path, shell: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_bytes(value.encode())
    sources = {"t": "file:token", "e": "env:A_TOKEN"}
    monkeypatch.setenv("A_TOKEN", value)
    step = a_step(Data1="printenv T E", Data4="T={secret:t}, E={secret:e}, PATH='/usr/bin:/bin'")
    text = HANDLER.render(a_request(step, context(str(tmp_path), secrets=sources))).command_text
    read = [resolve_secret(sources, name, tmp_path) for name in ("t", "e")]

    assert pasted(shell, text) == "".join(f"{secret}\n" for secret in read).encode()
