"""What an agent does when it is told something: once, under the newest claim, and no longer than its controller vouches."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from batchctl.ports import Finished, Report, Spawned, Trace, Wrote
from batchctl.system.remote.agent import Agent
from tests.leftovers import end_supervisors
from tests.system.remote.agents import Asking, an_agent
from tests.system.watching import Ear, ends, lives

BRIEFLY = 3.0
"""Seconds of a lease that is to run out."""


def test_a_step_runs_and_its_end_is_news(asking: Asking) -> None:
    answer = asking.start(1, "echo hello; exit 3")

    assert "refused" not in answer
    end = asking.end_of(1)
    assert (end.outcome.succeeded, end.outcome.return_code, end.outcome.output) == (False, 3, "hello\n")


def test_the_same_token_again_starts_nothing(asking: Asking, tmp_path: Path) -> None:
    script = f"echo once >> {tmp_path}/ran"
    answers = [asking.start(1, script) for _ in range(3)]
    asking.end_of(1)
    answers.append(asking.start(1, script))

    asking.start(2, "true")
    asking.end_of(2)
    assert [answer.get("known", False) for answer in answers] == [False, True, True, True]
    assert (tmp_path / "ran").read_text() == "once\n"


def test_the_token_is_known_to_the_next_agent_of_the_host(asking: Asking, tmp_path: Path, ear: Ear) -> None:
    asking.start(1, f"echo $$ > {ear.path}; exec sleep 60")
    pid = ear.hear_pid()

    after = an_agent(tmp_path / "state", "boot-2")
    try:
        again = Asking(after, asking.controller)
        assert again.start(1, f"echo twice > {ear.path}").get("known")
        assert lives(pid)
    finally:
        after.close()


def test_a_lower_claim_is_refused(asking: Asking, ear: Ear) -> None:
    asking.start(1, f"echo $$ > {ear.path}; exec sleep 60", claim=5)
    pid = ear.hear_pid()

    assert "ClaimToken 5" in str(asking.ask("stop", token=asking.token(1, 4))["refused"])
    assert "ClaimToken 5" in str(asking.start(1, "true", claim=4)["refused"])
    assert lives(pid)
    assert "refused" not in asking.ask("stop", token=asking.token(1, 5))
    assert asking.end_of(1).outcome.stopped


def test_what_is_told_too_late_is_not_started(asking: Asking, tmp_path: Path) -> None:
    for _ in range(2):
        assert asking.start(1, f"touch {tmp_path}/ran", within=-0.1).get("late")
    asking.start(2, "true")
    asking.end_of(2)
    assert not (tmp_path / "ran").exists()


def test_what_is_told_too_late_may_not_be_started_by_another_carrier(asking: Asking, tmp_path: Path) -> None:
    asking.carrier = "of-another-start"

    assert asking.start(1, f"touch {tmp_path}/ran").get("elsewhere")
    assert not (tmp_path / "ran").exists()


def test_news_are_told_until_they_are_heard(asking: Asking) -> None:
    asking.start(1, "true")
    reports: list[Report] = []
    while not any(isinstance(each, Finished) for each in reports):
        reports, _ = asking.news(asking.heard, 5.0)

    again, last = asking.news(asking.heard)
    assert [type(each) for each in again] == [type(each) for each in reports]
    assert asking.news(last)[0] == []
    assert asking.news(asking.heard)[0] == []


def test_without_a_lease_a_step_that_others_may_repeat_is_stopped(asking: Asking, ear: Ear) -> None:
    asking.start(1, f"echo $$ > {ear.path}; exec sleep 60", within=BRIEFLY, bound=True)
    pid = ear.hear_pid()

    assert ends(pid)
    assert asking.end_of(1).outcome.stopped


def test_without_a_lease_a_step_within_the_agent_is_stopped_too(asking: Asking) -> None:
    asking.start(1, "", within=BRIEFLY, bound=True, kind="waits")

    assert asking.end_of(1).outcome.message == "told to stop"


def test_a_lease_that_is_renewed_keeps_a_step(asking: Asking, ear: Ear) -> None:
    asking.start(1, f"echo $$ > {ear.path}; read line < {ear.path}.go", within=BRIEFLY, bound=True)
    os.mkfifo(f"{ear.path}.go")
    ear.hear_pid()
    until = time.monotonic() + 2 * BRIEFLY
    while time.monotonic() < until:
        asking.news(0, 0.2, until=time.monotonic() + BRIEFLY)

    Path(f"{ear.path}.go").write_text("go\n")
    assert asking.end_of(1).outcome.succeeded


def test_a_renewal_that_comes_late_shortens_nothing(asking: Asking, ear: Ear) -> None:
    asking.start(1, f"echo $$ > {ear.path}; sleep 1", within=60.0, bound=True)
    ear.hear_pid()
    asking.news(asking.heard, until=time.monotonic() + 0.1)

    assert asking.end_of(1).outcome.succeeded


def test_without_a_lease_a_step_to_be_held_ends_by_itself(asking: Asking, ear: Ear) -> None:
    asking.start(1, f"echo $$ > {ear.path}; sleep {BRIEFLY + 1}", within=BRIEFLY, bound=False)
    ear.hear_pid()

    assert asking.end_of(1).outcome.succeeded


def test_what_it_writes_is_shown_while_it_runs(asking: Asking, ear: Ear) -> None:
    asking.start(1, f"echo first; echo $$ > {ear.path}; exec sleep 60")
    ear.hear_pid()
    behind, heard = asking.heard, ""
    while "first" not in heard:
        reports, behind = asking.news(behind, 1.0)
        heard += "".join(each.text for each in reports if isinstance(each, Wrote))

    asking.ask("stop", token=asking.token(1))
    asking.end_of(1)


def test_another_controller_goes_on_with_what_a_dead_one_had(asking: Asking, agent: Agent, ear: Ear) -> None:
    script = f"echo $$ > {ear.path}; read line < {ear.path}.go; echo $line"
    os.mkfifo(f"{ear.path}.go")
    asking.start(1, script, bound=True)
    pid = ear.hear_pid()

    other = Asking(agent, f"{asking.controller}-next")
    left = other.left(1, script, of=asking.controller)
    assert other.ask("examine", **left)["trace"] == Trace.ADOPTABLE
    adopt = {"token": other.token(1, 2), "carrier": other.carrier, "lease_bound": True, "until": time.monotonic() + 60}
    for _ in range(2):
        assert "refused" not in other.ask("adopt", **left, **adopt)
    assert lives(pid)
    assert "ClaimToken 2" in str(asking.ask("stop", token=asking.token(1, 1))["refused"])
    Path(f"{ear.path}.go").write_text("well done\n")
    assert other.end_of(1).outcome.output == "well done\n"
    assert len([each for each in other.reports_of(1) if isinstance(each, Finished)]) == 1


def test_what_an_adopted_step_may_go_on_is_what_its_new_controller_vouches_for(
    asking: Asking, agent: Agent, ear: Ear
) -> None:
    script = f"echo $$ > {ear.path}; exec sleep 60"
    asking.start(1, script, bound=True, within=BRIEFLY)
    pid = ear.hear_pid()

    other = Asking(agent, f"{asking.controller}-next")
    left = other.left(1, script, of=asking.controller)
    other.ask("examine", **left)
    until = time.monotonic() + 2 * BRIEFLY
    other.ask("adopt", **left, token=other.token(1, 2), carrier=other.carrier, lease_bound=True, until=until)
    assert ends(pid)
    assert time.monotonic() >= until
    assert not other.end_of(1).outcome.succeeded


def test_what_a_controller_takes_over_too_late_is_not_gone_on_with(asking: Asking, agent: Agent) -> None:
    asking.start(1, "true")
    asking.end_of(1)
    other = Asking(agent, f"{asking.controller}-next")
    late = {"token": other.token(1, 2), "carrier": other.carrier, "lease_bound": False, "until": time.monotonic() - 0.1}
    answer = other.ask("adopt", **other.left(1, "true", of=asking.controller), **late)

    assert answer["late"]
    assert "refused" not in asking.ask("stop", token=asking.token(1, 1)), "nothing has taken its claim"


def test_what_a_dead_controller_had_within_the_agent_is_stopped_before_it_is_lost(asking: Asking, agent: Agent) -> None:
    asking.start(1, "", kind="waits")
    other = Asking(agent, f"{asking.controller}-next")
    left = other.left(1, "", of=asking.controller, kind="waits")

    assert other.ask("examine", **left)["trace"] == Trace.LEFT_OVER
    assert other.ask("stop_left_over", **left)["stopped"] == []
    assert asking.ask("hello")["busy"] == 0


def test_what_a_controller_that_comes_back_had_is_known_to_be_elsewhere(asking: Asking, agent: Agent, ear: Ear) -> None:
    script = f"echo $$ > {ear.path}; exec sleep 60"
    asking.start(1, script)
    ear.hear_pid()
    Asking(agent, f"{asking.controller}-next").ask("examine", **asking.left(1, script, of=asking.controller))

    assert asking.ask("hello")["carrier"] != asking.carrier


def test_its_secrets_are_its_own_and_told_to_nobody(asking: Asking) -> None:
    asking.start(1, "echo it is $PASSWORD; sleep 1.5; echo $PASSWORD; exit 1")
    end = asking.end_of(1)

    assert end.outcome.output is not None
    assert end.outcome.output.count("***") == 2
    assert any(isinstance(each, Wrote) for each in asking.reports_of(1))
    assert not any("s3same" in each for each in asking.said)


def test_a_handler_that_it_lacks_is_refused_and_may_be_told_again(asking: Asking) -> None:
    assert "nothing_like_it" in str(asking.start(1, "true", kind="nothing_like_it")["refused"])

    asking.start(1, "true")
    assert asking.end_of(1).outcome.succeeded


def test_what_comes_again_after_its_end_was_recorded_starts_nothing(asking: Asking, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    asking.start(1, f"echo ran >> {ran}")
    asking.end_of(1)
    asking.news(asking.heard, recorded=[1])

    assert asking.start(1, f"echo ran >> {ran}")["known"] is True
    asking.start(2, "true")
    asking.end_of(2)
    assert ran.read_text(encoding="utf-8") == "ran\n"


def test_what_agents_have_left_is_removed_once_their_commands_have_ended(
    asking: Asking, tmp_path: Path, ear: Ear
) -> None:
    asking.start(1, f"echo $$ > {ear.path}; exec sleep 60")
    pid = ear.hear_pid()
    asking.agent.close()
    after = an_agent(tmp_path / "state", "boot-2")
    folder = tmp_path / "state" / "agents"
    try:
        again = Asking(after, f"{asking.controller}-next")
        again.ask("tidy", living=[], live=[1])
        assert sorted(each.name for each in folder.iterdir()) == ["boot-1", "boot-2"]

        os.kill(pid, 9)
        end_supervisors(folder / "boot-1")
        assert ends(pid)
        again.ask("tidy", living=[], live=[1])
        while sorted(each.name for each in folder.iterdir()) != ["boot-2"]:
            again.ask("tidy", living=[], live=[1])
    finally:
        after.close()


def test_a_process_is_reported_with_its_number(asking: Asking, ear: Ear) -> None:
    asking.start(1, f"echo $$ > {ear.path}; sleep 1")
    pid = ear.hear_pid()
    asking.end_of(1)

    (spawned,) = [each for each in asking.reports_of(1) if isinstance(each, Spawned)]
    assert spawned.identity.pid == pid


@pytest.mark.parametrize("name", ["../escaped", "..", "a/b", "", "/escaped", "a\n"])
def test_a_name_that_leads_to_another_folder_is_refused(agent: Agent, name: str) -> None:
    for message in (
        {"database": name, "controller": "one", "pool": ""},
        {"database": "one", "controller": name, "pool": ""},
    ):
        answer = agent.answer("hello", message)
        assert "is no name of a database or a controller" in str(answer["refused"])
    assert agent.busy == 0
