"""Plugins are found by name; a broken one is a problem of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from batchctl.domain.errors import PluginError
from batchctl.plugin_api import Job
from batchctl.registry import Registry, installed_modules
from tests.system.conftest import PLUGINS

HANDLER = """
class {name}:
    process_type = "{process_type}"
    def check(self, step, surroundings): return ()
    def render(self, request): raise NotImplementedError
    def execute(self, rendered, execution): raise NotImplementedError
"""


JOBS = """
from batchctl.plugin_api import job
def plain(): return 1
@job("decorated", in_process=True)
def decorated(): return 2
@job("other name")
def misnamed(): return 3
"""


class Site:
    """A folder of installed distributions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, distribution: str, code: str, entry_points: str) -> None:
        module = distribution.replace("-", "_")
        (self.folder / f"{module}.py").write_text(code, encoding="utf-8")
        described = self.folder / f"{module}-1.2.dist-info"
        described.mkdir()
        (described / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n", encoding="utf-8"
        )
        (described / "entry_points.txt").write_text(entry_points, encoding="utf-8")

    def install_handler(self, distribution: str, process_type: str, announced: str | None = None) -> None:
        module = distribution.replace("-", "_")
        code = HANDLER.format(name="Handler", process_type=process_type)
        self.install(distribution, code, f"[batchctl.step_handlers]\n{announced or process_type} = {module}:Handler\n")

    def module(self, name: str, code: str) -> None:
        (self.folder / f"{name}.py").write_text(code, encoding="utf-8")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    known = set(sys.modules)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield Site(tmp_path)
    for name in set(sys.modules) - known:
        del sys.modules[name]


def refused(registry: Registry, process_type: str) -> str:
    with pytest.raises(PluginError) as refused:
        registry.handler(process_type)
    return refused.value.message


def test_the_built_in_populator_is_found_by_its_entry_point() -> None:
    registry = Registry()

    assert "pattern" in registry.populator_names
    assert registry.populator("pattern").name == "pattern"
    assert {"os_command", "sql", "python", "stored_procedure"} <= set(registry.handler_names)


def test_an_installed_handler_is_found_and_made_once(site: Site) -> None:
    site.install_handler("acme-batches", "acme")
    registry = Registry()

    assert "acme" in registry.handler_names
    assert registry.handler("acme").process_type == "acme"
    assert registry.handler("acme") is registry.handler("acme")


def test_a_handler_is_found_in_whatever_letter_case_it_is_announced(site: Site) -> None:
    site.install_handler("acme-batches", "Acme_Copy")
    registry = Registry()

    # Steps are read so: a ProcessType with a capital letter would match none.
    assert "acme_copy" in registry.handler_names
    assert registry.handler("acme_copy").process_type == "Acme_Copy"


def test_an_unknown_name_is_refused_with_a_suggestion(site: Site) -> None:
    site.install_handler("acme-batches", "acme_copy")

    assert refused(Registry(), "acme_cpy") == "ProcessType 'acme_cpy' is not installed. Did you mean 'acme_copy'?"


def test_hostile_names_are_shown_escaped() -> None:
    assert "'\\u202e\\n'" in refused(Registry(), "‮\n")


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("raise RuntimeError('no licence')", "RuntimeError: no licence"),
        ("import no_such_module_anywhere", "ModuleNotFoundError: No module named 'no_such_module_anywhere'"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("def broken(:", "SyntaxError: invalid syntax (acme_batches.py, line 1)"),
        ("x = 1", "AttributeError: module 'acme_batches' has no attribute 'Handler'"),
        ("Handler = 3", "TypeError: it has no check, render, execute"),
        ("class Handler:\n def __init__(self): raise ValueError('unset')", "ValueError: unset"),
        ("class Handler:\n def check(self): ...\n def render(self): ...", "TypeError: it has no execute"),
        (
            HANDLER.format(name="Handler", process_type="other"),
            "ValueError: it is announced as 'acme', but its process_type is 'other'",
        ),
    ],
)
def test_a_broken_plugin_is_named_and_takes_nothing_else_down(site: Site, code: str, cause: str) -> None:  # J01
    site.install("acme-batches", code, "[batchctl.step_handlers]\nacme = acme_batches:Handler\n")
    site.install_handler("good-batches", "good")
    registry = Registry()

    said = f"ProcessType 'acme' of acme-batches 1.2 (acme_batches:Handler) cannot be loaded: {cause}."
    assert refused(registry, "acme") == said
    assert registry.handler("good").process_type == "good"
    assert said in registry.findings()


def test_a_handler_that_interrupts_whatever_makes_it_is_named(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the program hears of Ctrl-C itself, as a controller does."""
    monkeypatch.setattr("batchctl.registry.is_typed", lambda error: False)
    code = "class Handler:\n def __init__(self): raise KeyboardInterrupt"
    site.install("acme-batches", code, "[batchctl.step_handlers]\nacme = acme_batches:Handler\n")

    assert "cannot be loaded: KeyboardInterrupt." in refused(Registry(), "acme")


def test_what_a_plugin_prints_on_import_stays_out_of_standard_output(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:  # J01
    site.install(
        "acme-batches",
        "print('hello')" + HANDLER.format(name="Handler", process_type="acme"),
        "[batchctl.step_handlers]\nacme = acme_batches:Handler\n",
    )

    Registry().handler("acme")

    assert capsys.readouterr() == ("", "hello\n")


def test_two_plugins_of_one_name_are_both_named_and_neither_is_used(site: Site) -> None:  # J03
    site.install_handler("first-batches", "acme")
    site.install_handler("second-batches", "acme")
    registry = Registry()

    said = refused(registry, "acme")

    assert "first-batches 1.2 (first_batches:Handler)" in said
    assert "second-batches 1.2 (second_batches:Handler)" in said
    assert said in registry.findings()


def test_a_built_in_name_cannot_be_shadowed_silently(site: Site) -> None:  # J03
    site.install_handler("evil-batches", "os_command")

    assert "evil-batches 1.2" in refused(Registry(), "os_command")


def test_a_listed_module_offers_handlers_populators_and_jobs(site: Site) -> None:
    site.module("listed", HANDLER.format(name="Handler", process_type="acme") + "STEP_HANDLERS = (Handler,)\n")
    registry = Registry(["acme_jobs", "acme_populators", "listed"], [PLUGINS])

    assert registry.handler("acme").process_type == "acme"
    assert registry.populator("echo").name == "echo"
    assert registry.job("add")(1, 2) == 3
    assert registry.findings() == []


def test_the_jobs_are_a_mapping(site: Site) -> None:
    jobs = Registry(["acme_jobs"], [PLUGINS]).jobs

    assert isinstance(jobs["add"], Job)
    assert jobs["add_here"].in_process
    assert "add" in jobs
    assert set(jobs) >= {"add", "add_here"}
    assert len(jobs) == len(list(jobs))
    assert jobs.get("nothing") is None
    with pytest.raises(KeyError):
        jobs["nothing"]


def test_a_plain_function_behind_an_entry_point_is_a_job(site: Site) -> None:
    site.install(
        "more-jobs",
        JOBS,
        "[batchctl.jobs]\n"
        + "".join(f"{name} = more_jobs:{name}\n" for name in ("plain", "decorated", "misnamed", "__name__")),
    )
    registry = Registry()
    misnamed = "it is announced as 'misnamed', but its name is 'other name'"

    assert registry.job("plain") == Job("plain", registry.job("plain").function)
    assert registry.job("decorated").in_process
    assert registry.findings() == [
        "job '__name__' of more-jobs 1.2 (more_jobs:__name__) cannot be loaded: TypeError: str is not a function.",
        f"job 'misnamed' of more-jobs 1.2 (more_jobs:misnamed) cannot be loaded: ValueError: {misnamed}.",
    ]


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("broken_import", "RuntimeError: the licence has expired (broken_import.py, line 5)"),
        ("exits_on_import", "SystemExit: 2 (exits_on_import.py, line 8)"),
        ("not_there", "ModuleNotFoundError: No module named 'not_there'"),
        ("not a name", "ModuleNotFoundError: No module named 'not a name'"),
    ],
)
def test_a_listed_module_that_cannot_be_imported_is_a_problem_of_its_own(site: Site, name: str, cause: str) -> None:
    registry = Registry([name, "acme_jobs"], [PLUGINS])

    assert registry.job("add").name == "add"
    finding = f"plugin module '{name}' cannot be loaded: {cause}."
    assert registry.findings() == [finding]
    with pytest.raises(PluginError, match="is not installed") as refused:
        registry.job("missing")
    assert finding in refused.value.message


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("STEP_HANDLERS = 3", "STEP_HANDLERS must be a tuple of classes"),
        ("STEP_HANDLERS = (3,)", "3 in STEP_HANDLERS has no process_type"),
        ("POPULATORS = (object,)", "<class 'object'> in POPULATORS has no name"),
    ],
)
def test_a_listed_module_with_a_wrong_list_is_a_problem(site: Site, code: str, said: str) -> None:
    site.module("listed", code)

    assert Registry(["listed"]).findings() == [f"plugin module 'listed': {said}."]


ODD = """
class Odd:
    @property
    def __class__(self): raise RuntimeError("not configured")
odd = Odd()
from batchctl.plugin_api import job
@job("sound")
def sound(): return 1
"""
ODDER = """
def __getattr__(name): raise RuntimeError("no " + name)
"""


def test_an_odd_object_in_a_listed_module_takes_nothing_down(site: Site) -> None:
    site.module("odd", ODD)
    registry = Registry(["odd"])

    assert registry.job("sound")() == 1
    assert registry.findings() == []


def test_a_listed_module_that_raises_when_asked_is_a_problem_of_its_own(site: Site) -> None:
    site.module("odder", ODDER)
    registry = Registry(["odder"])

    assert registry.handler("os_command").process_type == "os_command"
    assert any("plugin module 'odder'" in said and "no STEP_HANDLERS" in said for said in registry.findings())


def test_nothing_is_imported_before_it_is_needed() -> None:
    script = (
        "import sys\n"
        "from batchctl.registry import Registry\n"
        f"registry = Registry(['broken_import'], [{PLUGINS!r}])\n"
        "print([name for name in ('sqlalchemy', 'importlib.metadata', 'broken_import') if name in sys.modules])\n"
        "registry.handler('os_command')\n"
        "print('sqlalchemy' in sys.modules)\n"
    )

    seen = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert seen.stdout == "[]\nFalse\n"


def test_what_announces_a_job_is_its_module_or_its_package(site: Site) -> None:
    site.install("acme-jobs", JOBS, "[batchctl.jobs]\ndecorated = acme_jobs:decorated\n")
    site.module("listed_jobs", JOBS.replace('"decorated"', '"listed"'))
    registry = Registry(["listed_jobs", "missing_jobs"])

    assert registry.owner_of_job("decorated") == "package acme-jobs"
    assert registry.owner_of_job("listed") == "listed_jobs"
    owners = ["package acme-jobs", "listed_jobs", "missing_jobs", "package other-jobs", "acme_jobs", "package ", ""]
    assert [owner for owner in owners if registry.knows_owner(owner)] == ["package acme-jobs", "listed_jobs"]
    (finding,) = registry.failed_modules().values()
    assert "'missing_jobs' cannot be loaded" in finding.message
    assert finding.next_step == (
        "put missing_jobs.py where modules are looked for,"
        " or correct its name in modules of [jobs], or plugin_modules, in batchctl.toml"
    )


LATER = """
from batchctl.plugin_api import daily

@daily("03:15")
def sound(): pass

@daily(
    "27:00")
def night(): pass
"""
BROKEN_MODULES = [
    (LATER, r"UnfitDeclaration: @daily: RunTimes.* \(shop\.py, line \d+, above night\)\.", "correct shop.py"),
    ("def night(:\n", r"SyntaxError: .*\(shop\.py, line 1\)\.", "correct shop.py"),
    ("x = 1\nimport no_such", r"No module named 'no_such' \(shop\.py, line 2\)\.", "correct shop.py"),
]


@pytest.mark.parametrize(("code", "said", "remedy"), BROKEN_MODULES)
def test_what_is_wrong_in_a_module_is_said_with_its_line_and_function(
    site: Site, code: str, said: str, remedy: str
) -> None:
    site.module("shop", code)
    (finding,) = Registry(["shop"]).failed_modules().values()

    assert re.search(said, finding.message), finding.message
    assert finding.next_step == remedy


def test_a_job_that_may_be_of_a_broken_module_is_told_with_it(site: Site) -> None:
    site.module("shop", "import no_such")

    with pytest.raises(PluginError, match="No module named 'no_such'"):
        Registry(["shop"]).jobs["night"]


def test_what_is_installed_and_left_out_is_not_imported_and_told_once(site: Site) -> None:
    site.install(
        "acme-bad",
        "raise AssertionError('it is imported')\n",
        "[batchctl.jobs]\none = acme_bad:one\ntwo = acme_bad:two\n[batchctl.populators]\nbad = acme_bad:Bad\n",
    )
    site.install_handler("acme-good", "good")
    site.install("acme-odd", "", "[batchctl.jobs]\nodd = not a module:odd\n")
    registry = Registry(left_out=lambda: {"acme_bad": "it is left out."})

    found = {name: package for name, package in installed_modules().items() if package.startswith("acme")}
    assert found == {"acme_bad": "acme-bad 1.2", "acme_good": "acme-good 1.2", "not a module": "acme-odd 1.2"}
    assert not {"step_handlers.os_command", "batchctl.populators.pattern"} & installed_modules().keys()
    assert registry.handler("good").process_type == "good"
    assert registry.findings()[0] == "it is left out."
    assert registry.findings().count("it is left out.") == 1
    assert "acme_bad" not in sys.modules
    with pytest.raises(PluginError) as refused:
        registry.populator("bad")
    assert refused.value.next_step == "correct acme-bad 1.2, or uninstall it"
