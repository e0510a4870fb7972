"""`batchctl forecast` on past nights that are in the tables: when, with which chance, what decides, and what if."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest

from batchctl.system.clock import SystemClock
from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import Night
from tests.control_databases import ControlDatabase

NIGHTS = 30
CAME = time(2, 0)
LENGTHS = {"Orders": (60, 120), "Report": (30,)}
"""Seconds of each step, night after night."""
DAY = timedelta(days=1)
WHOLE = timedelta(seconds=210)


class PastShop(Night):
    """Orders comes at two each night, and Report waits for it."""

    def register(self) -> None:
        self.batch("Orders", "true", "true")
        self.batch("Report", "true")
        self.batch("Alone", "true", Entity="Nothing")
        (report,), (orders,) = (
            self.sql("SELECT ProcessBatch_id FROM ProcessBatch WHERE ProcessBatchName = ?", name)[0]
            for name in ("Report", "Orders")
        )
        self.ids = {"Orders": orders, "Report": report}
        self.sql("INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (?, ?)", report, orders)

    def pass_nights(self, *, failing: int = 0) -> None:
        """Let nights pass until yesterday; the first of them failed at the second step of Orders."""
        today = now().date()
        for back in range(NIGHTS, 0, -1):
            came = datetime.combine(today - back * DAY, CAME, UTC)
            at = self.ran("Orders", came, came, is_failed=back > NIGHTS - failing)
            if back <= NIGHTS - failing:
                self.ran("Report", at, at)

    def ran(self, batch: str, came: datetime, at: datetime, *, is_failed: bool = False) -> datetime:
        key, batch_id = f"{came:%Y-%m-%d}", self.ids[batch]
        over = at + timedelta(seconds=sum(LENGTHS[batch]))
        self.sql(
            "INSERT INTO FileProcess (Entity, FileName, Status, CycleKey) VALUES (?, 'f', 'complete', ?)", batch, key
        )
        ((intake,),) = self.sql("SELECT max(FileProcess_id) FROM FileProcess")
        self.sql(
            "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status, CycleKey, PrevProcessControlSeq, z_inserted,"
            " z_updated) VALUES (?, ?, ?, ?, 99, ?, ?)",
            *(batch_id, intake, "cancelled" if is_failed else "complete", key, written(came), written(over)),
        )
        ((instance,),) = self.sql("SELECT max(BatchControl_id) FROM BatchControl")
        for number, seconds in enumerate(LENGTHS[batch], start=1):
            end, last = at + timedelta(seconds=seconds), is_failed and number == len(LENGTHS[batch])
            self.sql(
                "INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, AttemptNo,"
                " ProcessName, ProcessType, CommandText, Status, StartTime, EndTime)"
                " VALUES (?, ?, ?, 1, 'step', 'os_command', 'true', ?, ?, ?)",
                *(instance, batch_id, 10 * number, "failed" if last else "success", written(at), written(end)),
            )
            at = end
        return at

    def forecast(self, *args: str) -> dict[str, Any]:
        (found,) = self.json("forecast", *args)
        return dict(found)


def written(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}.000"


def shown(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def now() -> datetime:
    return SystemClock().now()


def next_two() -> datetime:
    """Return when Orders comes next: at two, or at any moment where it is late today."""
    two = datetime.combine(now().date(), CAME, UTC)
    return two if two > now() else two + DAY


@pytest.fixture
def shop(control_database: ControlDatabase, run_batchctl: RunBatchctl) -> PastShop:
    """Thirty nights have passed, and tonight's orders are here already where it is past two."""
    made = PastShop(control_database, run_batchctl)
    made.register()
    made.pass_nights()
    if next_two() > (two := datetime.combine(now().date(), CAME, UTC)):
        made.ran("Report", two, made.ran("Orders", two, two))
    return made


def test_it_says_when_with_which_chance_and_what_decides(shop: PastShop) -> None:
    ready = next_two() + WHOLE
    found = shop.forecast("Report", "--by", "02:04")

    assert (found["P50"], found["P90"]) == (shown(ready), shown(ready))
    assert found["CycleKey"] == f"{ready:%Y-%m-%d}"
    assert (found["Chance"], found["NeedsPerson"], found["NotKnown"]) == (1.0, 0.0, [])
    assert found["Nights"] >= NIGHTS
    assert {"What": "Orders", "ProcessControlSeq": 20, "Share": 1.0} in found["Decides"]
    assert shop.forecast("Report", "--by", "02:03")["Chance"] == 0.0
    said = shop("forecast", "Report", "--by", "02:04").stdout
    assert f"Report for {ready:%Y-%m-%d}: ready by {ready:%Y-%m-%d %H:%M:%S} UTC (p50)" in said
    assert "UTC: 100%" in said
    assert "Orders (step 20 takes longest): 100%" in said


def test_it_supposes_what_is_asked(shop: PastShop) -> None:
    ready = next_two() + WHOLE
    assert shop.forecast("Report", "--what-if", "Orders.20 *2")["P50"] == shown(ready + timedelta(seconds=120))
    both = ("--what-if", "Orders *2", "--what-if", "Report.10 *0.5")
    assert shop.forecast("Report", *both)["P50"] == shown(ready + timedelta(seconds=165))
    late = shop.forecast("Report", "--what-if", "arrive Orders=03:30")["P50"]
    assert late[11:] == "03:33:30.000Z"
    assert shop.forecast("Report", "--what-if", "slots=1")["P50"] == shown(ready)


def test_all_of_the_night_stands_in_one_table(shop: PastShop) -> None:
    found = {one["ProcessBatchName"]: one for one in shop.json("forecast")}
    assert [*found] == ["Orders", "Report"]
    assert found["Orders"]["P50"] == shown(next_two() + timedelta(seconds=180))
    assert shop("forecast", "--csv").stdout.startswith("ProcessBatchName,CycleKey,P50,P90,By,Chance,")
    assert "batchctl forecast Orders" in shop("forecast").stdout


def test_what_is_open_goes_on_from_where_it_is(shop: PastShop) -> None:
    before = now()
    shop.arrive("Orders", CycleKey="by hand")
    assert shop("create").returncode == 0
    found = shop.forecast("Report", "--cycle-key", "by hand")
    assert shown(before + WHOLE) <= found["P50"] <= shown(now() + WHOLE + timedelta(seconds=1))


def test_nights_that_needed_a_person_are_no_success(
    control_database: ControlDatabase, run_batchctl: RunBatchctl
) -> None:
    shop = PastShop(control_database, run_batchctl)
    shop.register()
    shop.pass_nights(failing=6)
    found = shop.forecast("Orders")
    assert (found["P50"] is not None, found["P90"]) == (True, None)
    assert 0.15 <= found["NeedsPerson"] <= 0.25
    assert "% of the nights" in shop("forecast", "Orders").stdout


def test_too_few_nights_make_no_p90(control_database: ControlDatabase, run_batchctl: RunBatchctl) -> None:
    shop = PastShop(control_database, run_batchctl)
    shop.register()
    shop.arrive("Orders", CycleKey="first")
    assert shop("create").returncode == 0
    found = shop.forecast("Report")
    assert found["P90"] is None
    assert found["NotKnown"][0] == "p90: 0 nights are known of the step with the fewest, and 20 are needed"
    assert "Orders, step 10 step 1 has never run: 0 s was used" in found["NotKnown"]


def test_the_leader_keeps_forecasts_and_tells_what_will_probably_be_late(shop: PastShop) -> None:
    # What is past was past before anything was registered.
    shop.sql("UPDATE BatchDependency SET z_inserted = '2026-01-01 00:00:00.000'")
    shop.sql("UPDATE BatchControl SET z_updated = z_inserted")
    shop.sql("UPDATE ProcessBatch SET FinishBy = '02:03' WHERE ProcessBatchName = 'Report'")
    assert shop("run", "--once").returncode == 0
    ((ready, by, chance, nights),) = shop.sql(
        "SELECT P50, FinishBy, Chance, Nights FROM vForecast WHERE ProcessBatchName = 'Report'"
    )
    whole = next_two() + WHOLE
    assert str(ready).startswith(f"{whole:%Y-%m-%d %H:%M:%S}")
    assert str(by).startswith(f"{whole:%Y-%m-%d} 02:03:00")
    assert (chance, nights >= NIGHTS) == (0, True)
    (told,) = shop.json("incidents")
    assert (told["Kind"], told["NextStep"]) == ("at_risk", "batchctl forecast Report --by 02:03")
    assert f"Batch Report for {whole:%Y-%m-%d} will probably not be ready by 02:03 UTC" in told["Message"]
    assert 'what would help: --what-if "Orders.20 *0.5" (100%)' in told["Message"]

    shop.sql("UPDATE ProcessBatch SET FinishBy = '02:30' WHERE ProcessBatchName = 'Report'")
    shop.sql("UPDATE KeptForecast SET MadeOn = '2026-01-01 00:00:00.000'")
    assert shop("run", "--once").returncode == 0
    assert shop.json("incidents") == []


def test_it_shows_what_came_of_the_forecasts_that_were_kept(shop: PastShop) -> None:
    assert shop.json("forecast", "--check") == []
    assert "Nothing has come yet" in shop("forecast", "--check").stdout
    for day in range(1, 7):
        shop.sql(
            "INSERT INTO KeptForecast (ProcessBatch_id, MadeOn, KeptFor, P50, P90, ReadyOn, NeedsPerson, Nights)"
            " VALUES (?, ?, ?, ?, ?, ?, 0, 30)",
            *(shop.ids["Report"], *(f"2026-11-0{day} {at}:00.000" for at in ("00:00", "00:00", "00:20", "00:30"))),
            f"2026-11-0{day} 00:{20 if day < 6 else 50}:00.000",
        )
    (found,) = shop.json("forecast", "--check")
    assert found == {
        "ProcessBatchName": "Report",
        "Came": 6,
        "P50Covers": 0.833,
        "P90Covers": 0.833,
        "P50LossMinutes": 2.5,
        "P90LossMinutes": 3.83,
        "MedianLossMinutes": 15.0,
        "MeanSigmaLossMinutes": 27.0,
    }
    assert shop("forecast", "Report", "--check", "--csv").stdout.startswith("ProcessBatchName,Came,P50Covers,")
    assert "83%" in shop("forecast", "Report", "--check").stdout
    assert shop.json("forecast", "Orders", "--check")[0]["Came"] == 0


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("--check", "--by", "06:00"), 2, "--check goes with no other option"),
        (("Reprot", "--check"), 3, "There is no batch 'Reprot'. Did you mean 'Report'?"),
        (("Reprot",), 3, "There is no batch 'Reprot'. Did you mean 'Report'?"),
        (("Alone",), 4, "Nothing of batch Alone is open, and nothing starts it within 24 hours."),
        (("Report", "--cycle-key", "never"), 4, "Nothing of batch Report is open for the CycleKey never"),
        (("Report", "--by", "25:00"), 2, "--by: '25:00' is no time of day"),
        (("Report", "--what-if", "faster"), 2, "'faster' is nothing that can be supposed."),
        (("Report", "--what-if", "Order.20 *2"), 2, "There is no batch 'Order'. Did you mean 'Orders'?"),
        (("Report", "--what-if", "resource ftp=2"), 2, "There is no resource that a batch needs 'ftp'"),
        (("--cycle-key", "x"), 2, "--cycle-key is of one batch: name it."),
    ],
)
def test_what_cannot_be_is_refused(shop: PastShop, args: tuple[str, ...], code: int, said: str) -> None:
    done = shop("forecast", *args)
    assert (done.returncode, said in done.stderr) == (code, True), (done.returncode, done.stderr)


def test_what_waits_for_a_failed_batch_is_told_what_keeps_it_and_what_to_do(shop: PastShop) -> None:
    shop.sql("UPDATE ProcessControl SET Data1 = 'false' WHERE ProcessControlSeq = 10")
    shop.arrive("Orders", CycleKey="tonight")
    assert shop("run", "--once").returncode == 1
    ((number,),) = shop.sql("SELECT BatchControl_id FROM BatchControl WHERE CycleKey = 'tonight'")
    found = shop.forecast("Report", "--by", "06:00", "--cycle-key", "tonight")

    assert (found["P50"], found["Chance"], found["NeedsPerson"]) == (None, 0.0, 1.0)
    assert found["Standing"] == [{"BatchControl_id": number, "Status": "failed"}]
    told = shop("forecast", "Report", "--by", "06:00", "--cycle-key", "tonight").stdout
    assert "needs a person in 100% of the nights" in told
    assert f"BatchControl {number} is failed, and keeps it from being ready." in told
    assert f"Next: batchctl show {number}   (it is failed)" in told


def test_what_is_ready_for_a_day_has_to_be_ready_again_on_the_next_one(
    control_database: ControlDatabase, run_batchctl: RunBatchctl
) -> None:
    shop = PastShop(control_database, run_batchctl)
    shop.register()
    shop.pass_nights()
    shop.sql("UPDATE BatchControl SET z_updated = z_inserted")
    by = (now() + timedelta(minutes=10)).replace(second=0, microsecond=0)
    asked = ("Report", "--by", f"{by:%H:%M}")
    assert shop.forecast(*asked)["By"] == shown(by)

    midnight = datetime.combine(by.date(), time(), UTC)
    shop.ran("Report", midnight, shop.ran("Orders", midnight, midnight))
    shop.sql("UPDATE BatchControl SET z_updated = ? WHERE CycleKey = ?", written(midnight), f"{midnight:%Y-%m-%d}")
    assert shop.forecast(*asked)["By"] == shown(by + DAY)


def test_without_a_controller_it_says_so(shop: PastShop) -> None:
    assert "No controller works now, and it is supposed that one begins at once" in shop("forecast", "Report").stdout


def test_a_graph_names_what_is_paused(shop: PastShop) -> None:
    shop.arrive("Orders", CycleKey="tonight")
    assert shop("create").returncode == 0
    ((number,),) = shop.sql("SELECT max(BatchControl_id) FROM BatchControl")
    assert shop("pause", str(number), "--reason", "not yet").returncode == 0

    assert f"Orders: BatchControl {number} is paused" in shop("graph", "Orders").stdout
