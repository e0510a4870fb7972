"""What the rig promises of messages about incidents is shown to be missed when it is broken."""

from __future__ import annotations

from tests.chaos.scene import staged
from tests.chaos.shop import Place
from tests.control_databases import ControlDatabase


def test_what_became_of_a_message_is_seen(control_database: ControlDatabase) -> None:
    with staged(Place(control_database), control_database.directory) as scene:
        scene.shop.sql("UPDATE ProcessBatch SET RetryCount = 0")
        scene.hand_in("hold_one", "fail.ok.ok")
        worker = scene.worker()
        scene.until(lambda: scene.shop.sql("SELECT 1 FROM AlertDelivery WHERE Status = 'sent'"))
        scene.end(worker)
        told = scene.directory / "alerts.log"
        notification = told.read_text(encoding="utf-8")
        (sent,) = scene.shop.notifications()
        assert "a message" not in scene.constraint_findings()

        told.unlink()
        assert "lost: a message that counts as sent never was" in scene.constraint_findings()
        told.write_text(2 * notification, encoding="utf-8")
        assert "doubled: a message was sent more often than it was claimed" in scene.constraint_findings()
        # Whoever claims it anew, because its first sender died, may send it again.
        scene.shop.sql("UPDATE AlertDelivery SET Attempts = 2 WHERE AlertDelivery_id = ?", sent)
        assert "a message" not in scene.constraint_findings()
