"""Whether everything that batchctl leans on is sound: the control database, every connection, this host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from zoneinfo import available_timezones

from batchctl import config
from batchctl.domain import urls
from batchctl.domain.errors import BatchctlError, ConfigurationError
from batchctl.domain.gates import locks
from batchctl.domain.leader import lease_of
from batchctl.domain.locked_rows import LEAD
from batchctl.domain.maintenance.retention import TO_KEEP_SMALL, overgrown
from batchctl.domain.outcomes import HealthFinding, Result, RowFinding
from batchctl.domain.rows import ControllerRow
from batchctl.domain.text import typed, visible
from batchctl.operations import copies, privacy
from batchctl.operations.alerting import alert_channels
from batchctl.operations.column_lists import ColumnList
from batchctl.operations.maintenance import installation
from batchctl.operations.presence import Presence, last_sign
from batchctl.store import Connection, engine, identity, leading, reports, task_queues
from batchctl.store.maintenance import examination, purging, schema
from batchctl.store.scheduling import schedule_rows
from batchctl.store.transactions import StoreTransactions
from batchctl.system.concurrency.time_limits import all_within
from batchctl.system.files import in_the_way_of_writing
from batchctl.system.host.shares import share_of

LIMIT = timedelta(seconds=20)
"""How long all of it may take; an attempt to connect is given up after 10 seconds."""
SKEW = timedelta(seconds=2)
NAMED_MOST = 3
"""How many of what is missing are named."""
CONTROL, DEFINITIONS, PLUGINS = "database_url", "definitions", "plugin_modules"
NOBODY_LEADS = HealthFinding(
    "leader",
    Result.FAIL,
    "Controllers work on it and none of them leads, so that nothing new becomes an instance.",
    "batchctl run; if one runs, look who keeps row 1 of table Leader locked, or took the right to write it",
)
IN_FILE = "The password stands in the file itself, for everybody to read who may read the file."

LINES = ColumnList[HealthFinding](
    "Findings",
    {
        "Check": lambda line: line.check,
        "Target": lambda line: line.target,
        "Result": lambda line: line.result,
        "Message": lambda line: line.message,
        "Next": lambda line: line.next_step,
    },
    {"": "Result", "target": "Target", "check": "Check", "message": "Message"},
)


@dataclass(frozen=True, slots=True)
class Doctor:
    """Examines the databases, the connections and this host."""

    settings: config.Settings
    now: Callable[[], datetime]
    presence: Presence
    check: Callable[[], Sequence[RowFinding]] | None = None
    """Checks the definitions; None where they are not checked."""
    left_out: Callable[[], Mapping[str, str]] = dict
    """Tries the plugin modules, and returns why some of them cannot be used."""
    modules: Sequence[str] = ()
    """The plugin modules that there are."""
    limit: timedelta = LIMIT

    def examine(self) -> tuple[HealthFinding, ...]:
        """Look at everything at once; what is broken does not keep the rest from being looked at."""
        patients = {CONTROL: self._control}
        patients |= {f"connections.{name}": partial(self._target, name) for name in self.settings.connections}
        found = all_within(
            self.limit,
            {key: partial(self._findings, key, look) for key, look in patients.items()}
            | {PLUGINS: lambda: list(installation.plugins(self.left_out()))},
        )
        # Not beside it: a role may have no more than two connections.
        found |= all_within(self.limit, {DEFINITIONS: self._definitions})
        lines: list[tuple[str, Iterable[HealthFinding]]] = [("settings", [self._settings_file()])]
        for key in patients:
            lines += [(key, self._password(key)), (key, found.get(key, [self._silent()]))]
            if key == CONTROL and key in found:
                lines.append((key, found.get(DEFINITIONS, [installation.unchecked(self.limit)])))
        lines += self._secrets()
        lines += [(target, [finding]) for target, finding in alert_channels.findings(self.settings)]
        lines += [(target, [finding]) for target, finding in privacy.findings(self.settings)]
        lines.append(("this host", [installation.version(), self._time_zones(), self._state_directory()]))
        lines.append(("this host", installation.disks(installation.places_of(self.settings))))
        lines.append((PLUGINS, found.get(PLUGINS, [installation.untried(self.modules, self.limit)])))
        if self.settings.log.file is not None:
            lines.append(("log.file", [installation.log_file(self.settings.directory / self.settings.log.file)]))
        return tuple(replace(finding, target=visible(target)) for target, findings in lines for finding in findings)

    def _findings(self, key: str, look: Callable[[], Iterator[HealthFinding]]) -> list[HealthFinding]:
        """Collect the findings of one database, up to where nothing more can be read."""
        found: list[HealthFinding] = []
        try:
            for finding in look():
                found.append(finding)  # noqa: PERF402 - those before an error count
        except Exception as error:  # noqa: BLE001 - drivers raise anything, and one must not hide what the others say
            found.append(self._failure(error, key))
        return found

    def _failure(self, error: Exception, key: str) -> HealthFinding:
        file = "the environment" if self.settings.file is None else str(self.settings.file)
        next_step = f"see that the server is there, and that {key} in {file} fits"
        if isinstance(error, BatchctlError):
            check = "driver" if isinstance(error, ConfigurationError) else "login"
            return HealthFinding(check, Result.FAIL, error.message, error.next_step or next_step)
        return HealthFinding("login", Result.FAIL, self._wording(error), next_step)

    def _wording(self, error: Exception) -> str:
        first, *others = [line.strip() for line in str(error).splitlines()] or [""]
        reasons = f"{first} {'; '.join(others)}" if first.endswith(":") else first
        said = f"{type(error).__name__}: {reasons}"
        return visible(urls.redacted(said, self._passwords()))

    def _silent(self) -> HealthFinding:
        said = f"It did not answer within {self.limit.total_seconds():g} seconds."
        return HealthFinding(
            "login", Result.FAIL, said, "see that the server is there, and that no firewall stands between"
        )

    def _control(self) -> Iterator[HealthFinding]:
        config.refuse_wrong_folder(self.settings)
        try:
            url = config.database_url(self.settings)
        except ConfigurationError as error:
            yield _no_secret(error)
            return
        opened = engine.open_engine(url, self.settings.directory)
        yield _driver(opened)
        with closing(StoreTransactions(opened)) as transactions:
            with transactions.read():
                yield HealthFinding("login", Result.OK, f"{examination.place_of(opened)} answers.")
            yield from self._schema_and_rights(transactions)
            yield from self._part("clock", transactions, self._clock)
            yield from self._part("durability", transactions, examination.durability)
            yield from self._part("controller", transactions, self._controllers)
            yield from self._part("tasks", transactions, _tasks)
            yield from self._part("history", transactions, _history)
        path = engine.file_of(url, self.settings.directory)
        if path is not None:
            yield _place(share_of(str(path)))

    def _definitions(self) -> list[HealthFinding]:
        """Check the definitions where they can be read: they name plugins, and to try those takes time."""
        try:
            opened = engine.open_engine(config.database_url(self.settings), self.settings.directory)
            with closing(StoreTransactions(opened)) as transactions, transactions.read() as connection:
                schema.verify(connection)
            return [] if self.check is None else [installation.definitions(self.check())]
        except Exception as error:  # noqa: BLE001 - plugins and drivers raise anything
            return [installation.unreadable(self._failure(error, CONTROL))]

    def _target(self, name: str) -> Iterator[HealthFinding]:
        given = self.settings.connections[name]
        try:
            url = urls.with_secrets(given.url, partial(config.secret, self.settings))
        except ConfigurationError as error:
            yield _no_secret(error)
            return
        opened = examination.open_target(url, self.settings.directory)
        yield _driver(opened)
        with examination.looking_at(opened, name) as connection:
            rights = examination.target_rights(connection)
            yield HealthFinding("login", Result.OK, f"{examination.place_of(opened)} answers.")
            yield from rights
            yield from self._clock(connection)
            yield from map(_of_another_owner, examination.durability(connection))
        if given.procedures is not None:
            yield self._procedures(name, given.procedures)

    def _schema_and_rights(self, transactions: StoreTransactions) -> Iterator[HealthFinding]:
        rights = self._part("rights", transactions, _rights)
        try:
            with transactions.read() as connection:
                schema.verify(connection)
        except BatchctlError as error:
            # Which tables there should be, only the version that made them knows.
            lacking = [finding for finding in rights if finding.result is Result.FAIL]
            yield from lacking
            next_step = "give the rights first, then look again" if lacking else error.next_step
            yield HealthFinding("schema", Result.FAIL, error.message, next_step)
        else:
            yield from self._part("schema", transactions, _schema)
            yield from rights
            yield from self._part("name", transactions, _name)

    def _part(
        self, check: str, transactions: StoreTransactions, look: Callable[[Connection], Sequence[HealthFinding]]
    ) -> Sequence[HealthFinding]:
        """Return some of the findings, or why there are none."""
        try:
            with transactions.read() as connection:
                return look(connection)
        except BatchctlError as error:
            return [HealthFinding(check, Result.FAIL, error.message, error.next_step or "batchctl db verify")]
        except Exception as error:  # noqa: BLE001 - drivers raise anything
            return [HealthFinding(check, Result.FAIL, self._wording(error), "batchctl db verify")]

    def _clock(self, connection: Connection) -> list[HealthFinding]:
        before = self.now()
        database = examination.now(connection)
        between = (self.now() - before) / 2
        if database is None:
            return [HealthFinding("clock", Result.OK, "This host's clock is the database's.")]
        skew = database - (before + between)
        seconds = f"{abs(skew.total_seconds()):.1f} s"
        if abs(skew) <= SKEW + between:
            return [HealthFinding("clock", Result.OK, f"{seconds} between this host's clock and the server's.")]
        said = f"This host's clock is {seconds} {'behind' if skew > timedelta(0) else 'ahead of'} the server's."
        return [
            HealthFinding(
                "clock", Result.WARN, said, "let both take their time from one source: timedatectl set-ntp true"
            )
        ]

    def _controllers(self, connection: Connection) -> list[HealthFinding]:
        schema.verify(connection)
        refused = copies.refused_on(connection)
        if refused is not None:
            return [HealthFinding("copy", Result.FAIL, refused.message, refused.next_step)]
        living = self.presence.living(connection, examination.now(connection) or self.now())
        if not living and reports.live_entries(connection, 1):
            since = last_sign(connection)
            said = f"No controller works on it, and none follows what stands as running{f': {since}' if since else ''}."
            next_step = "batchctl run   (it finds out how that ended; a controller that waits says why in its log)"
            return [HealthFinding("controller", Result.WARN, said, next_step)]
        if not living:
            return [HealthFinding("controller", Result.OK, "No controller works on it now; batchctl run starts one.")]
        said = f"Working on it: {', '.join(visible(row.name) for row in living)}."
        due = any(schedule.enabled for schedule in schedule_rows.everything(connection)[0])
        led = [] if self._is_led(connection) else [_nobody_leads(living)]
        return [
            HealthFinding("controller", Result.OK, said),
            *led,
            *_disagreement(living),
            *_firing(living, needed=due),
        ]

    def _is_led(self, connection: Connection) -> bool:
        """Say whether a controller leads, or did until lately."""
        now = examination.now(connection) or self.now()
        return leading.load(connection).until > now - lease_of(self.presence.rhythm.heartbeat_interval)

    def _password(self, key: str) -> Iterator[HealthFinding]:
        if key in config.literal_passwords(self.settings):
            yield HealthFinding("password", Result.WARN, IN_FILE, how_to_hide(key))

    def _secrets(self) -> Iterator[tuple[str, list[HealthFinding]]]:
        """Look at every secret; one that a URL needs and that is not there is reported with that URL."""
        told = {name for url in self._urls() for name in urls.references(url)}
        for name in self.settings.secrets:
            finding = self._secret(name)
            if finding.result is Result.OK or name not in told:
                yield f"secrets.{name}", [finding]

    def _secret(self, name: str) -> HealthFinding:
        try:
            config.secret(self.settings, name)
        except ConfigurationError as error:
            return HealthFinding("secret", Result.WARN, error.message, error.next_step)
        return HealthFinding("secret", Result.OK, "Its value is there.")

    def _procedures(self, name: str, procedures: str) -> HealthFinding:
        folder = self.settings.directory / procedures
        if folder.is_dir():
            return HealthFinding("procedures", Result.OK, f"{visible(str(folder))} is there.")
        said = f"The folder {visible(str(folder))} does not exist."
        return HealthFinding(
            "procedures", Result.WARN, said, f"create it, or correct connections.{visible(name)}.procedures"
        )

    def _settings_file(self) -> HealthFinding:
        """Say where the settings come from; what is wrong in them has ended the program before."""
        variables = config.variables_set()
        besides = f", and from {', '.join(variables)}" if variables else ""
        if self.settings.file is None:
            return HealthFinding(
                "file", Result.OK, f"None; the defaults hold in {visible(str(self.settings.directory))}{besides}."
            )
        return HealthFinding("file", Result.OK, f"{visible(str(self.settings.file))}{besides}.")

    def _time_zones(self) -> HealthFinding:
        if "Europe/Amsterdam" in available_timezones():
            zone = self.settings.business_time_zone
            return HealthFinding("tzdata", Result.OK, f"Time zones are known; business dates are reckoned in {zone}.")
        return HealthFinding("tzdata", Result.WARN, "This host knows hardly any time zone.", "pip install tzdata")

    def _state_directory(self) -> HealthFinding:
        directory = (self.settings.directory / self.settings.state_directory).absolute()
        culprit = in_the_way_of_writing(directory)
        if culprit is None:
            return HealthFinding("state directory", Result.OK, f"This user can write to {visible(str(directory))}.")
        said = f"No controller can start: this user cannot write to {visible(str(directory))}"
        next_step = "let this user write there, or set state_directory in batchctl.toml to another directory"
        return HealthFinding("state directory", Result.FAIL, f"{said}, because of {visible(str(culprit))}.", next_step)

    def _passwords(self) -> list[str]:
        """Return the secrets that no message may hold, not even one of a driver."""
        found: list[str] = []
        for name in self.settings.secrets:
            try:
                found.append(config.secret(self.settings, name))
            except ConfigurationError:
                continue
        return found + [password for url in self._urls() for password in urls.passwords_in(url)]

    def _urls(self) -> list[str]:
        return [self.settings.database_url, *(one.url for one in self.settings.connections.values())]


def _nobody_leads(living: Sequence[ControllerRow]) -> HealthFinding:
    """Return the finding that no controller leads, with who keeps them from it where they say that."""
    locked = locks(living, [LEAD])
    if locked.blocked is None:
        return NOBODY_LEADS
    said = f"{NOBODY_LEADS.message} {visible(locked.blocked)}."
    return replace(NOBODY_LEADS, message=said, next_step=locked.clear)


def _disagreement(living: Sequence[ControllerRow]) -> Iterator[HealthFinding]:
    """Warn when controllers wait differently long for each other."""
    if len({row.orphan_timeout for row in living}) > 1:
        each = ", ".join(f"{visible(row.name)} on {visible(row.host)}: {_seconds(row)}" for row in living)
        said = f"The controllers differ in orphan_timeout ({each}); of two, the longer counts."
        yield HealthFinding(
            "orphan_timeout", Result.WARN, said, "write the same orphan_timeout for all of them, and restart them"
        )


def _firing(living: Sequence[ControllerRow], *, needed: bool) -> Iterator[HealthFinding]:
    """Warn when controllers fire by different clocks, so that each arms the schedules anew, or when none fires what there is."""
    firing = [row for row in living if row.scheduler_zone is not None]
    if len({row.scheduler_zone for row in firing}) > 1:
        each = ", ".join(
            f"{visible(row.name)} on {visible(row.host)}: {visible(str(row.scheduler_zone))}" for row in firing
        )
        said = f"The controllers differ in business_time_zone ({each}): what has no TimeZone may be missed."
        next_step = (
            "write the same business_time_zone for all of them, and restart them; or give the schedules a TimeZone"
        )
        yield HealthFinding("business_time_zone", Result.WARN, said, next_step)
    if needed and not firing:
        said = "No controller that works on it fires schedules, and there are such that are enabled."
        yield HealthFinding(
            "scheduler", Result.WARN, said, "take [scheduler] enabled = false away on one of them, and restart it"
        )


def _seconds(row: ControllerRow) -> str:
    return "unknown" if row.orphan_timeout is None else f"{row.orphan_timeout.total_seconds():g} s"


def how_to_hide(key: str) -> str:
    """Say what to write instead of a password in the file."""
    return f"write {{secret:NAME}} for the password of {visible(key)}, and [secrets.NAME] env = ... or file = ..."


def _rights(connection: Connection) -> list[HealthFinding]:
    """Look at the schema first: without rights on it, no table is seen."""
    blocker = examination.blocker(connection)
    return examination.rights(connection) if blocker is None else [blocker]


def _schema(connection: Connection) -> list[HealthFinding]:
    """Look for what people dropped or renamed in a schema whose version fits."""
    lacking = schema.lacking(connection)
    if lacking:
        # An upgrade cannot make views and triggers of what is not there: to name them would lead astray.
        said = f"The control database lacks the {_first(lacking)}."
        return [HealthFinding("schema", Result.FAIL, said, "batchctl db verify")]
    fitting = HealthFinding("schema", Result.OK, f"{schema.newest_revision()}, as this version needs it.")
    return [fitting, *_dropped(connection)]


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED_MOST} more" if len(names) > NAMED_MOST else ""
    return f"{', '.join(names[:NAMED_MOST])}{more}"


def _dropped(connection: Connection) -> list[HealthFinding]:
    names = schema.dropped(connection)
    if not names:
        return []
    said = f"Views or triggers are not there that this version makes: {_first(names)}."
    return [HealthFinding("views", Result.WARN, said, "batchctl db upgrade, which makes them anew")]


def _name(connection: Connection) -> list[HealthFinding]:
    lost = identity.lost_name(connection)
    if lost is not None:
        return [HealthFinding("name", Result.FAIL, lost.message, lost.next_step)]
    return [HealthFinding("name", Result.OK, "It has a name that no other control database has.")]


def _history(connection: Connection) -> Sequence[HealthFinding]:
    """Say whether the history fills the disk."""
    said = overgrown(purging.settings(connection), purging.attempts(connection))
    if said is not None:
        return [HealthFinding("history", Result.WARN, f"{said}.", TO_KEEP_SMALL)]
    return [HealthFinding("history", Result.OK, "Rules say when attempts go, or there are few.")]


def _tasks(connection: Connection) -> Sequence[HealthFinding]:
    """Say who may run commands by inserting rows."""
    queues, allowed = task_queues.open_queues(connection), ", ".join(task_queues.roles(connection))
    if not queues:
        return [HealthFinding("tasks", Result.OK, "No batch runs whatever a FileProcess row says.")]
    listed = ", ".join(f"{visible(batch)} (entity '{visible(entity)}')" for batch, entity in queues)
    if task_queues.is_guarded(connection):
        who = f"the owner, the controller{f', {visible(allowed)}' if allowed else ''}"
        return [
            HealthFinding(
                "tasks", Result.OK, f"Batch {listed} runs whatever a row says; only these may insert one: {who}."
            )
        ]
    said = (
        f"Batch {listed} runs whatever a row says:"
        " every user who may insert FileProcess rows runs commands as the controller's user."
    )
    next_step = f"do as batchctl db roles says, or: batchctl disable {typed(queues[0][0])} --reason ..."
    return [HealthFinding("tasks", Result.WARN, said, next_step)]


def _no_secret(error: ConfigurationError) -> HealthFinding:
    return HealthFinding("secret", Result.FAIL, error.message, error.next_step)


def _driver(opened: Any) -> HealthFinding:
    return HealthFinding("driver", Result.OK, f"{opened.dialect.driver}, for {opened.dialect.name}.")


def _of_another_owner(finding: HealthFinding) -> HealthFinding:
    """Only warn of how a target database keeps its data; what no step can work with stays a failure."""
    is_lenient = finding.result is Result.FAIL and finding.check != "pooler"
    return replace(finding, result=Result.WARN) if is_lenient else finding


def _place(share: str | None) -> HealthFinding:
    if share is None:
        return HealthFinding("place", Result.OK, "The file lies on no network share that this host knows of.")
    said = f"The file lies on a network share ({share}), whose locks cannot be trusted: two programs may damage it."
    return HealthFinding("place", Result.FAIL, said, "move the file to a disk of this host, or use PostgreSQL")
