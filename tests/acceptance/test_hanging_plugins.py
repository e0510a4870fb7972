"""Whatever a plugin does, at import or later, the work of others goes on, and what is the matter is said."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.installation import PATIENCE, RunBatchctl, StartBatchctl, Started
from tests.acceptance.test_controller import Shop
from tests.control_databases import ControlDatabase

SLOW = """
import os
from batchctl.plugin_api import Populated
class Slow:
    name = "slow"
    def check(self, batch): return ()
    def populate(self, row, batch):
        folder = os.path.dirname(__file__)
        open(os.path.join(folder, "hangs"), "w").close()
        open(os.path.join(folder, "go")).close()
        return Populated(data=(row.file_name, None, None, None, None, None))
POPULATORS = (Slow,)
"""

GOOD = """
from batchctl.plugin_api import Populated
class Plain:
    name = "plain"
    def check(self, batch): return ()
    def populate(self, row, batch): return Populated(data=("x", None, None, None, None, None))
POPULATORS = (Plain,)
"""


@pytest.fixture
def shop(control_database: ControlDatabase, start_batchctl: StartBatchctl, run_batchctl: RunBatchctl) -> Iterator[Shop]:
    made = Shop(control_database, start_batchctl, run_batchctl)
    yield made
    made.close()


def test_steps_of_others_run_while_the_populator_of_a_disabled_batch_hangs(shop: Shop) -> None:
    os.mkfifo(shop.directory / "hangs")
    os.mkfifo(shop.directory / "go")
    (shop.directory / "slow_ones.py").write_text(SLOW, encoding="utf-8")
    shop.configure('plugin_modules = ["slow_ones"]\npopulate_timeout = 3600\n')
    shop.batch("S", "true", Populator="slow", Enabled=0)
    shop.batch("B", "true", shop.says("exit 0"))
    for _ in range(3):
        shop.submit("S")
    controller = shop.start("run")
    (shop.directory / "hangs").read_text(encoding="utf-8")
    shop.submit("B")
    shop.hear()
    shown = shop.run("why", "file:1")
    controller.send_signal(signal.SIGTERM)

    assert controller.wait(PATIENCE) == 0
    assert "batch S has no instance of it yet" in shown.stdout
    assert (
        shop.hand.sql("SELECT Entity, Status, PopulatorTries FROM FileProcess ORDER BY FileProcess_id")[:3]
        == [("S", "ready", None)] * 3
    )


def test_a_file_name_that_its_expression_never_ends_with_waits_after_three_times_and_says_so(shop: Shop) -> None:
    shop.batch("S", "true", PopulatorArgs="^(a+)+$")
    for name in ("a" * 60 + "!", "aaa"):
        shop.hand.sql("INSERT INTO FileProcess (Entity, FileName) VALUES ('S', ?)", name)
    done = shop.run("run", "--once")
    why = shop.run("why", "file:1")
    shop.hand.sql("UPDATE ProcessBatch SET PopulatorArgs = '^a+!?$' WHERE ProcessBatchName = 'S'")
    accepted = shop.run("accept", "1", "--reason", "mended")

    assert (done.returncode, why.returncode) == (0, 0)
    assert "took longer than 2 seconds" in " ".join(why.stdout.split())
    assert "batchctl accept 1 --reason" in why.stdout
    assert accepted.returncode == 0, accepted.stderr
    assert shop.value("SELECT count(*) FROM BatchControl") == 2
    assert shop.value("SELECT PopulatorTries FROM FileProcess WHERE FileProcess_id = 1") is None


ENTRY_POINTS = """
[batchctl.populators]
bad = acme_bad:Bad
[batchctl.step_handlers]
bad = acme_bad:Bad
[batchctl.jobs]
bad = acme_bad:bad
"""
BAD_CODE = [
    ("import os; os._exit(3)", "importing it ends the program with exit code 3"),
    ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "importing it crashes the program (SIGSEGV)"),
    ("import signal; signal.pause()", "it was not imported within 2 seconds"),
    ("raise KeyboardInterrupt", "it raises KeyboardInterrupt when it is imported"),
]


def time_for(said: str) -> int:
    """Return how many seconds a plugin has: enough on the busiest machine where none hangs."""
    return 2 if "not imported within" in said else 120


@pytest.mark.parametrize(("code", "said"), BAD_CODE)
def test_a_module_that_ends_crashes_or_hangs_whatever_imports_it_is_left_out_and_named(
    shop: Shop, code: str, said: str
) -> None:
    (shop.directory / "bad_one.py").write_text(f"{code}\n", encoding="utf-8")
    (shop.directory / "good_one.py").write_text(GOOD, encoding="utf-8")
    shop.configure(f'plugin_modules = ["bad_one", "good_one"]\npopulate_timeout = {time_for(said)}\n')
    shop.batch("B", shop.says("read go < fifo"), Populator="plain")
    shop.submit("B")
    controller = shop.start("run", "--until-idle", "0")
    shop.hear()
    status, check, doctor = (shop.run(*words) for words in (("status",), ("check",), ("doctor",)))
    shop.fifo.write_text("go\n", encoding="utf-8")

    assert controller.wait(PATIENCE) == 0
    assert shop.value("SELECT Status FROM FileProcess") == "complete"
    for shown in (status, check, doctor):
        seen = " ".join((shown.stdout + shown.stderr).split())
        assert "bad_one" in seen
        assert "did not answer" not in seen
    assert said in " ".join(check.stdout.split())
    assert (status.returncode, check.returncode) == (0, 6)


@pytest.mark.parametrize(("code", "said"), BAD_CODE)
def test_an_installed_package_that_ends_crashes_or_hangs_whatever_imports_it_is_left_out_and_named(
    shop: Shop, run_batchctl: RunBatchctl, tmp_path: Path, code: str, said: str
) -> None:
    site = tmp_path / "site"
    described = site / "acme_bad-1.2.dist-info"
    described.mkdir(parents=True)
    (site / "acme_bad.py").write_text(f"{code}\n", encoding="utf-8")
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-bad\nVersion: 1.2\n", encoding="utf-8")
    (described / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    (shop.directory / "good_one.py").write_text(GOOD, encoding="utf-8")
    shop.configure(f'plugin_modules = ["good_one"]\npopulate_timeout = {time_for(said)}\n')
    shop.batch("X", "true", Populator="bad")
    shop.batch("B", shop.says("read go < fifo"), Populator="plain")
    for entity in ("X", "B"):
        shop.submit(entity)
    extra = {"PYTHONPATH": str(site)}
    controller = shop.start("run", "--until-idle", "0", env=extra)
    shop.hear()
    status, check, doctor = (
        run_batchctl(*words, cwd=shop.directory, env=extra) for words in (("status",), ("check",), ("doctor",))
    )
    shop.fifo.write_text("go\n", encoding="utf-8")

    assert controller.wait(PATIENCE) == 0
    rows = shop.hand.sql("SELECT Entity, Status, Message FROM FileProcess ORDER BY FileProcess_id")
    assert [row[:2] for row in rows] == [("X", "rejected"), ("B", "complete")]
    assert said in rows[0][2]
    for shown in (status, check, doctor):
        seen = " ".join((shown.stdout + shown.stderr).split())
        assert "acme_bad" in seen
        assert "acme-bad 1.2" in seen
    assert said in " ".join(check.stdout.split())
    assert (status.returncode, check.returncode) == (0, 6)


DEAF = """
import os, time
from batchctl.plugin_api import Rendered, StepOutcome
class Deaf:
    process_type = "deaf"
    def check(self, step, surroundings): return ()
    def render(self, request): return Rendered("deaf", {})
    def execute(self, rendered, execution):
        open(os.path.join(os.path.dirname(__file__), "hangs"), "w").close()
        while True:
            time.sleep(60)
STEP_HANDLERS = (Deaf,)
"""


def test_a_step_that_takes_no_notice_of_its_end_is_lost_and_frees_its_slot(shop: Shop) -> None:
    os.mkfifo(shop.directory / "hangs")
    (shop.directory / "deaf_ones.py").write_text(DEAF, encoding="utf-8")
    shop.configure('plugin_modules = ["deaf_ones"]\nslots = 1\n')
    shop.batch("D", "true")
    shop.hand.sql("UPDATE ProcessControl SET ProcessType = 'deaf', MaxDuration = 1")
    shop.batch("B", "true", shop.says("exit 0"))
    shop.submit("D")
    controller = shop.start("run")
    (shop.directory / "hangs").read_text(encoding="utf-8")
    shop.submit("B")
    shop.hear()  # of the other batch, in the only slot
    said = shop.hand.sql("SELECT Status, Message FROM BatchProcessHistory ORDER BY BatchProcessHistory_id")[0]
    controller.send_signal(signal.SIGTERM)

    assert controller.wait(PATIENCE) == 0
    assert said[0] == "lost"
    assert "was told to stop and did not end; whether it was done is not known" in str(said[1])
    assert shop.hand.sql("SELECT Status FROM BatchControl WHERE BatchControl_id = 1") == [("held",)]


HANGING = """
import re, sys, time
from batchctl.plugin_api import Rendered, StepOutcome
def loop():
    while True:
        pass
HANGS = {
    "loop": loop,
    "sleep": lambda: time.sleep(10**6),
    "expression": lambda: re.match("^(a+)+$", "a" * 60 + "!"),
}
class Hanging:
    process_type = "hanging"
    def check(self, step, surroundings): return ()
    def render(self, request):
        print("it is asked", file=sys.stderr, flush=True)
        HANGS[request.step.data[0]]()
        return Rendered("it renders", {})
    def execute(self, rendered, execution): return StepOutcome(succeeded=True)
STEP_HANDLERS = (Hanging,)
"""


def heard(controller: Started, said: str) -> str:
    """Wait until a controller says something; return that line."""
    assert controller.stderr is not None
    return next(line for line in controller.stderr if said in line)


@pytest.mark.parametrize("how", ["loop", "sleep", "expression"])
def test_a_step_whose_rendering_hangs_fails_alone_and_its_handler_is_an_incident(shop: Shop, how: str) -> None:
    (shop.directory / "hanging_ones.py").write_text(HANGING, encoding="utf-8")
    shop.configure('plugin_modules = ["hanging_ones"]\npopulate_timeout = 1\nheartbeat_interval = 0.2\n')
    shop.batch("A", how, Seq=1)
    shop.hand.sql("UPDATE ProcessControl SET ProcessType = 'hanging'")
    shop.batch("B", shop.says("exit 0"), Seq=2)
    for entity in ("A", "B"):
        shop.submit(entity)
    controller = shop.start("run")
    shop.hear()
    heard(controller, "controller_trouble")
    told = str(shop.value("SELECT Message FROM Incident WHERE Kind = 'controller_trouble'"))
    why = shop.run("why", "1")
    controller.send_signal(signal.SIGTERM)

    assert controller.wait(PATIENCE) == 0
    asked = (
        "The handler of 'hanging' did not answer within 1 seconds, asked about BatchControl 1 of batch A, step 1 step"
    )
    assert asked in told
    assert asked in " ".join(why.stdout.split())
    assert shop.hand.sql("SELECT Status FROM BatchControl ORDER BY BatchControl_id") == [("failed",), ("complete",)]


@pytest.mark.parametrize("how", ["loop", "sleep", "expression"])
def test_a_controller_with_a_step_whose_rendering_hangs_can_be_told_to_end(shop: Shop, how: str) -> None:
    (shop.directory / "hanging_ones.py").write_text(HANGING, encoding="utf-8")
    shop.configure('plugin_modules = ["hanging_ones"]\npopulate_timeout = 1\n')
    shop.batch("A", how)
    shop.hand.sql("UPDATE ProcessControl SET ProcessType = 'hanging'")
    shop.submit("A")
    controller = shop.start("run")
    heard(controller, "it is asked")
    controller.send_signal(signal.SIGTERM)

    assert controller.wait(PATIENCE) == 0


ENDING = """
import asyncio
from batchctl.plugin_api import Rendered, StepOutcome
ERRORS = {"cancelled": asyncio.CancelledError, "generator": GeneratorExit, "interrupt": KeyboardInterrupt}
class Ending:
    process_type = "ending"
    def check(self, step, surroundings): return ()
    def render(self, request):
        error, asked = request.step.data[:2]
        if asked == "render": raise ERRORS[error]
        return Rendered("it renders", {"error": error})
    def is_one_command(self, rendered): raise ERRORS[rendered.spec["error"]]
    def command(self, rendered, execution): ...
    def outcome(self, rendered, end): ...
    def execute(self, rendered, execution): return StepOutcome(succeeded=True)
STEP_HANDLERS = (Ending,)
"""


@pytest.mark.parametrize("asked", ["render", "is_one_command"])
@pytest.mark.parametrize(
    ("how", "error"),
    [("cancelled", "CancelledError"), ("generator", "GeneratorExit"), ("interrupt", "KeyboardInterrupt")],
)
def test_a_handler_that_raises_what_ends_programs_fails_its_step_alone(
    shop: Shop, how: str, error: str, asked: str
) -> None:
    (shop.directory / "ending_ones.py").write_text(ENDING, encoding="utf-8")
    shop.configure('plugin_modules = ["ending_ones"]\n')
    shop.batch("A", how, Seq=1)
    shop.hand.sql("UPDATE ProcessControl SET ProcessType = 'ending', Data2 = ?", asked)
    shop.batch("B", shop.says("exit 0"), Seq=2)
    for entity in ("A", "B"):
        shop.submit(entity)
    controller = shop.start("run")
    shop.hear()
    controller.send_signal(signal.SIGTERM)

    assert controller.wait(PATIENCE) == 0
    said = str(shop.value("SELECT Message FROM BatchProcessHistory WHERE ProcessType = 'ending'"))
    assert f"The handler of 'ending' raised {error}, asked about" in said
    assert shop.hand.sql("SELECT Status FROM BatchControl ORDER BY BatchControl_id") == [("failed",), ("complete",)]


DEADLY = """
from batchctl.plugin_api import Rendered, StepOutcome
class Deadly:
    process_type = "deadly"
    def check(self, step, surroundings): return ()
    def render(self, request): return Rendered(str(sum(range(10**12))), {})
    def execute(self, rendered, execution): return StepOutcome(succeeded=True)
STEP_HANDLERS = (Deadly,)
"""


def test_a_handler_that_cannot_be_interrupted_ends_its_controller_and_the_next_one_refuses_it(shop: Shop) -> None:
    (shop.directory / "deadly_ones.py").write_text(DEADLY, encoding="utf-8")
    shop.configure('plugin_modules = ["deadly_ones"]\npopulate_timeout = 1\nheartbeat_interval = 0.2\n')
    shop.batch("A", "true", Seq=1)
    shop.hand.sql("UPDATE ProcessControl SET ProcessType = 'deadly'")
    shop.batch("B", shop.says("exit 0"), Seq=2)
    for entity in ("A", "B"):
        shop.submit(entity)
    shop.run("create")
    ended = shop.start("run").wait(PATIENCE)
    controller = shop.start("run")
    shop.hear()
    heard(controller, "controller_trouble")
    told = str(shop.value("SELECT Message FROM Incident WHERE Kind = 'controller_trouble'"))
    controller.send_signal(signal.SIGTERM)

    assert (ended, controller.wait(PATIENCE)) == (1, 0)
    assert "could not be interrupted, asked about BatchControl 1 of batch A, step 1 step" in told
    assert shop.hand.sql("SELECT Status FROM BatchControl ORDER BY BatchControl_id") == [("failed",), ("complete",)]
