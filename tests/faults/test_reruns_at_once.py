"""Two people who run the same instance again at the same moment: one of them does, and the other is told."""

from __future__ import annotations

from tests.control_databases import ACTS
from tests.faults.site import PATIENCE, Site

PAIRS = 12
REFUSED, BUSY = 4, 5


def rerun_twice(site: Site, instance: int) -> list[int]:
    """Type the same command in two places; return both exit codes."""
    both = [site.start("rerun", str(instance), "--reason", f"person {number}") for number in range(2)]
    for one in both:
        one.communicate(timeout=PATIENCE)
    return [one.wait() for one in both]


def test_of_two_reruns_at_once_one_is_done_and_written_down(site: Site) -> None:
    site.batch("B", "false", OnFailure="continue")
    site.submit_many("B", [str(number) for number in range(PAIRS)])
    assert site.run("run", "--once").returncode == 1

    for instance in range(1, PAIRS + 1):
        one, other = sorted(rerun_twice(site, instance))
        assert one == 0
        assert other in {REFUSED, BUSY}
    assert site.hand.sql(
        f"SELECT Action, count(*), count(DISTINCT Target) FROM AuditLog WHERE {ACTS} GROUP BY Action"
    ) == [("rerun", PAIRS, PAIRS)]
    assert site.hand.sql("SELECT DISTINCT Status FROM BatchControl") == [("ready",)]
    assert site.run("run", "--once").returncode == 1
    assert site.hand.sql("SELECT AttemptNo, count(*) FROM BatchProcessHistory GROUP BY AttemptNo ORDER BY 1") == [
        (1, PAIRS),
        (2, PAIRS),
    ]
    site.check_laws()
