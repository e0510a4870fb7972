"""Controllers that are told to end, at sixty points of what they do: every step runs once, and nobody sees a traceback."""

from __future__ import annotations

import signal
import threading

from tests.faults.site import Running, Site

EARLY, LATER = 24, 36
"""Points before anything is said, and points after so many lines."""
MOMENT = 0.04
"""Seconds between two of the early points, which reach from the first import to the first steps."""
LINES = 7
"""What a controller says at least."""
UNHEARD = -signal.SIGTERM
"""How one ends that could not hear yet."""


def tell_to_end(controller: Running, point: int) -> int:
    """Let a controller come to a point, and end it there; return its exit code."""
    if point < EARLY:
        threading.Event().wait(point * MOMENT)
        # Ctrl-C would meet Python itself at first, which has words of its own for it.
        return controller.end(signal.SIGTERM)
    controller.hear("", 1 + point % LINES)
    return controller.end(signal.SIGINT if point % 2 else signal.SIGTERM)


def test_told_to_end_at_sixty_points_each_step_runs_once(sqlite_site: Site) -> None:
    site = sqlite_site
    site.batch("B", site.leaves_a_line(1), site.leaves_a_line(2), MaxConcurrent=2)
    for point in range(EARLY + LATER):
        site.submit("B")
        controller = site.control("--slots", "2")
        code = tell_to_end(controller, point)
        said = "".join(controller.wording)
        assert code in ({0} if "controller.started" in said else {0, UNHEARD}), (point, code, said)
        assert "Traceback" not in said, (point, said)
    assert site.run("run", "--until-idle", "0.2", "--slots", "2").returncode == 0

    number = EARLY + LATER
    assert site.effects() == {f"{instance}/{seq}": 1 for instance in range(1, number + 1) for seq in (1, 2)}
    assert site.hand.sql("SELECT AttemptNo, Status, count(*) FROM BatchProcessHistory GROUP BY AttemptNo, Status") == [
        (1, "success", 2 * number)
    ]
    assert site.hand.sql("SELECT DISTINCT Status FROM BatchControl") == [("complete",)]
    site.check_laws()
