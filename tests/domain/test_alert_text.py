"""The words of a message: all that somebody needs at night, and nothing that acts on what shows it."""

from __future__ import annotations

import pytest

from batchctl.domain.alerting.alert_text import Message, message_of
from batchctl.domain.alerting.alerts import Owed, Parcel
from batchctl.domain.alerting.incidents import Incident
from batchctl.domain.rows import IncidentId
from batchctl.domain.status import DeliveryKind, IncidentStatus
from tests.domain.incident_values import NOW, an_incident

K = DeliveryKind
HOSTILE = "a\x1b[31m\r\nBcc: x@y\u202e\x00\t'; DROP TABLE x; --"


def message(kind: DeliveryKind, incident: Incident) -> Message:
    return message_of(Parcel(kind=kind, owed=[Owed(kind, incident)]), NOW, "Europe/Amsterdam")


def test_it_says_what_since_when_why_and_what_to_type() -> None:
    said = message(K.ALERT, an_incident(detail="line 1\nline 2", next_step="batchctl rerun 42 --reason ..."))

    assert said.title == "[ERROR] Load: BatchControl 42 has failed at step 10: it broke"
    assert "Since 2026-11-22 03:00:00 UTC (Sun 04:00 in Europe/Amsterdam)" in said.body
    assert "  line 1\n  line 2\n" in said.body
    assert "What to do:      batchctl rerun 42 --reason ..." in said.body
    assert "(Action, BatchControl_id, Reason) VALUES ('rerun', 42, 'why');" in said.body
    assert (
        """(Action, Arguments, Reason) VALUES ('acknowledge', '{"incident": 7}', 'I am on it');   -- in sqlcmd: -I\n"""
        in said.body + "\n"
    )


def test_a_reminder_says_that_nobody_has_acknowledged_it() -> None:
    said = message(K.REPEAT, an_incident(alerts=3, occurrences=2))

    assert said.title.startswith("[STILL] ")
    assert "2 times" in said.body
    assert "this is message 4 about it" in said.body


def test_that_it_is_over_is_said_without_a_command() -> None:
    said = message(K.RECOVERY, an_incident(resolved_at=NOW, detail="gone", status=IncidentStatus.RESOLVED))

    assert said.title.startswith("[OVER] ")
    assert "was over at 2026-11-22 03:00:00 UTC" in said.body
    assert "rerun" not in said.body
    assert "gone" not in said.body


def test_a_digest_names_the_first_and_counts_the_rest() -> None:
    many = [Owed(K.ALERT, an_incident(incident_id=IncidentId(at))) for at in range(1, 60)]
    many.append(Owed(K.RECOVERY, an_incident(incident_id=IncidentId(60), resolved_at=NOW)))
    said = message_of(Parcel(kind=K.DIGEST, owed=many), NOW, "UTC")

    assert said.title == "[DIGEST] 59 incidents stand, 1 over"
    assert "\n50  [ERROR] Load" in said.body
    assert "... and 10 more." in said.body
    of_one = message_of(Parcel(kind=K.DIGEST, owed=many[-2:]), NOW, "UTC")
    assert of_one.title == "[DIGEST] 1 incident stands, 1 over"


@pytest.mark.parametrize("kind", [*K])
def test_nothing_in_it_acts_on_whatever_shows_it(kind: DeliveryKind) -> None:
    hostile = an_incident(subject=HOSTILE, message=HOSTILE, detail=f"{HOSTILE}\n{HOSTILE}", next_step=HOSTILE)
    said = message(kind, hostile)

    assert said.title.isprintable()
    assert len(said.title) <= 150
    assert all(line.isprintable() for line in said.body.split("\n"))
    assert not any(line.startswith("Bcc") for line in said.body.split("\n"))
