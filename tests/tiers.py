"""Which tests are quick, and which only the full suite has. A module that is not named here is quick, on SQLite.

`dev.py test` runs the quick ones, `dev.py test --full` all. Nothing is tested less for it: what is left out of the quick
ones is more of the same (another database, more examples, more mutants, more kills) or takes long by its nature.
"""

from __future__ import annotations

import pytest
from hypothesis import settings

FULL = {
    "acceptance/test_agents_by_console.py": "real controllers, agents and consoles, which are killed and waited for in real time",
    "acceptance/test_bad_servers.py": "servers that fail in all the ways that they have",
    "acceptance/test_cli_demo.py": "the demo, in real time, twice, and what keeps it from beginning",
    "acceptance/test_cli_dependencies.py": "rounds of several real controllers",
    "acceptance/test_cli_doctor.py": "the installed doctor, which starts processes of its own",
    "acceptance/test_cli_freezing.py": "freezes that a real controller meets, waited for in real time",
    "acceptance/test_cli_graph.py": "interpreters of their own, and graphs of many batches",
    "acceptance/test_cli_incidents.py": "real controllers, one of them frozen, and a web server that takes messages",
    "acceptance/test_cli_jobs.py": "modules of jobs, which every command tries in a child",
    "acceptance/test_cli_report.py": "the installed reports on what real controllers have done",
    "acceptance/test_cli_report_night.py": "nights that real controllers have worked through",
    "acceptance/test_cli_schedules.py": "due times that are waited for",
    "acceptance/test_cli_tasks.py": "tasks that real controllers carry out",
    "acceptance/test_controller.py": "servers, locks, interrupts and steps of real controllers that are waited for in real time",
    "acceptance/test_crashes.py": "an engine that dies at each of its commits in turn",
    "acceptance/test_dask.py": "clusters of several processes, whose workers are killed and stopped",
    "acceptance/test_decorated_jobs.py": "the example's README, line by line, in real time",
    "acceptance/test_firing.py": "due times that a real controller waits for",
    "acceptance/test_frozen.py": "a controller that is frozen for longer than its lease, in real time",
    "acceptance/test_hanging_plugins.py": "plugins that hang until they are given up, in real time",
    "acceptance/test_hostile_columns.py": "every reading command on every column, on a terminal",
    "acceptance/test_many_workers.py": "a server that waits for its disk, and several real controllers, for seconds each",
    "acceptance/test_night_recipe.py": "a night with several real controllers, three ways",
    "acceptance/test_parallel_tasks.py": "several real controllers and commands that take their time",
    "acceptance/test_pool_trial.py": "clusters of Dask, and the flights of a whole year",
    "acceptance/test_populating_procedure.py": "real controllers, and a procedure that hangs until it is given up",
    "acceptance/test_roles.py": "logins of a server of their own, and all that each of them may not do",
    "acceptance/test_service.py": "controllers that managers of services start and end",
    "acceptance/test_sql_jobs.py": "jobs that are due, in real time",
    "acceptance/test_staging_trigger.py": "the example's README, line by line, with real controllers",
    "acceptance/test_views.py": "batches that are run again from SQL clients",
    "acceptance/test_watched_folders.py": "controllers that are killed, thousands of files, and a writer that takes its time",
    "acceptance/test_web_openapi.py": "three hundred requests by chance",
    "browser/test_by_issuer.py": "a real browser",
    "browser/test_everyone_can_use_it.py": "a real browser, before every page, four times",
    "browser/test_forecast_pages.py": "a real browser",
    "browser/test_night_page.py": "a real browser",
    "browser/test_pictures.py": "a real browser",
    "browser/test_scripts.py": "a real browser",
    "browser/test_the_night.py": "a real browser",
    "chaos/test_chaos.py": "two hundred kills",
    "chaos/test_known_accidents.py": "kills",
    "chaos/test_verdict_of_backfills.py": "controllers that are left to do all that there is",
    "chaos/test_verdict_of_messages.py": "controllers that are left to send all that there is",
    "cli/test_completion.py": "real shells that complete what is typed",
    "cli/test_corrected_files.py": "files that are corrected and loaded, by commands and controllers in turn",
    "cli/test_example_plugins.py": "packages that are built and installed",
    "cli/test_renamed_files.py": "files that are renamed and loaded, by commands and controllers in turn",
    "cli/test_what_is_loaded.py": "twenty interpreters, and what each of them imports",
    "control/test_concurrent_completions.py": "ten thousand rounds of two processes",
    "control/test_endless_times.py": "times that only PostgreSQL has, in every column",
    "control/test_few_rows_read.py": "a night beside a hundred thousand rows",
    "control/test_locked_rows.py": "hundreds of locked rows, pauses that grow, and signs of life that are waited for",
    "control/test_lost_connections.py": "servers that are away or take seconds to commit",
    "control/test_random_nights.py": "whole nights by chance",
    "domain/test_forecast_accuracy.py": "three thousand nights of flights, each forecast from the sixty before it",
    "faults/test_copied_while_running.py": "copies that are taken beside a controller at work",
    "faults/test_full_disk.py": "controllers that wait for room on a disk, in real time",
    "faults/test_killed_upgrades.py": "upgrades that are killed and begun again",
    "faults/test_many_rows.py": "ten thousand rows at once, ten thousand steps in one controller",
    "faults/test_many_signals.py": "sixty controllers that are told to end",
    "faults/test_other_processes.py": "controllers and steps that are killed, and processes that bear their numbers",
    "faults/test_reruns_at_once.py": "twelve pairs of commands",
    "faults/test_restored_database.py": "a database that is restored beneath a controller",
    "faults/test_two_hosts.py": "a host that is waited for until it is given up, in real time",
    "operations/test_changed_servers.py": "a server that is changed beneath programs, and two upgrades at once",
    "operations/test_doctor_strict.py": "a server of its own that asks for passwords",
    "operations/test_night_of_many.py": "a night beside a hundred thousand rows",
    "sim/test_due_times.py": "walks through years of changed clocks, for every mutant",
    "sqlserver/test_mutants.py": "what the audit of SQL Server found, put back",
    "sqlserver/test_real_drivers.py": "both drivers against a stand-in on loopback, hundreds of broken connections",
    "sqlserver/test_script.py": "every batch of the script for SQL Server, read by its own parser",
    "sqlserver/test_source_texts.py": "every text of the source that looks like T-SQL, read by SQL Server's parser",
    "sqlserver/test_statements.py": "every statement that the store keeps, read by SQL Server's parser for both drivers",
    "sqlserver/test_texts.py": "scripts, jobs, documentation and examples, read by SQL Server's parser",
    "sqlserver/test_walk.py": "the tests, started in the tests",
    "step_handlers/test_postgres_paste.py": "commands that are pasted into psql",
    "system/remote/test_agent_pools.py": "leases and wires that are waited for in real time",
    "system/test_environment.py": "steps of real controllers, each with an interpreter of its own",
    "system/test_jobs.py": "jobs in processes of their own that crash, hang and are killed",
    "system/test_populating.py": "populators in processes of their own that hang until they are given up",
    "system/test_supervisor.py": "a thousand commands, and supervisors that are killed and frozen",
    "system/test_warden.py": "supervisors that are killed with their workers, and leases that run out",
}
"""Modules of the full suite alone, and why."""

PARTLY_FULL = {
    "acceptance/test_cli_errors.py": "controllers that are interrupted",
    "acceptance/test_cli_reading.py": "terminals and readers of the installed command, each with an interpreter of its own",
    "acceptance/test_seed_003.py": "jobs and nodes of real controllers, in real time",
    "acceptance/test_worked_example.py": "the flights of a whole year",
    "cli/test_drawings.py": "hundreds of batches",
    "cli/test_hints_of_states.py": "what is hinted at in each state",
    "control/test_dependencies.py": "a thousand instances",
    "control/test_expected_work.py": "hundreds of incidents",
    "control/test_file_watching.py": "a hundred thousand files",
    "control/test_firing.py": "a thousand due times",
    "control/test_firing_together.py": "ten thousand due times",
    "control/test_purged_instances.py": "a hundred thousand attempts",
    "control/test_virtual_night.py": "two hundred nights by chance",
    "control/test_workers.py": "thousands of instances",
    "domain/test_agent_schedules.py": "more random schedules",
    "migrations/test_migrations.py": "a script in another shell, a dump, and whatever a hand has changed",
    "operations/test_acting_together.py": "a row that stays locked until it is given up",
    "operations/test_doctor.py": "plugins that hang until they are given up",
    "operations/test_fsck.py": "every foreign key, pointed nowhere",
    "operations/test_timetable.py": "four hundred days of five minutes",
    "sim/test_risks.py": "forty nights of four installations",
    "sim/test_mutants.py": "one mutant of most kinds is quick",
    "sim/test_simulation.py": "the first schedules of each kind are quick",
    "step_handlers/test_hostile_rows.py": "a megabyte in every column",
    "step_handlers/test_hostile_server_rows.py": "a long text in every column",
    "step_handlers/test_sql_postgres.py": "a million rows",
    "step_handlers/test_statements.py": "megabytes",
    "store/mssql/test_definitions.py": "upgrades against a stand-in of the server",
    "store/mssql/test_transactions.py": "a deadlock that does not end",
    "store/test_foreign_logs.py": "whatever befalls a log, by chance",
    "store/test_opening.py": "locks that are waited for in real time",
    "store/test_servers.py": "a server that follows another one",
    "store/test_transactions.py": "a database that stays busy until it is given up",
    "system/test_commands.py": "hundreds of processes, gigabytes of output",
    "system/test_zone_rules.py": "an interpreter of its own",
}
"""Modules that mark single tests, or single values of a parameter, as full."""

ON_BOTH = (
    "control/test_claims.py",
    "control/test_creation_beside_others.py",
    "control/test_one_round_trip.py",
    "operations/test_acting_together.py",
    "operations/test_inbox_beside_controllers.py",
    "store/test_conditions.py",
    "store/test_dropped.py",
    "store/test_noticing.py",
    "store/test_pointing.py",
    "store/test_servers.py",
    "store/test_staging.py",
    "store/test_tables.py",
    "store/test_transactions.py",
    "store/test_trips.py",
)
"""Modules whose subject is what databases do differently: quick on each of them. Elsewhere the second one is full."""


def examples(most: int) -> int:
    """Return how many examples a property is tried with that wants another number than the others."""
    return max(most * settings().max_examples // settings.get_profile("full").max_examples, 5)


LONGEST = (
    "sim/test_simulation.py",
    "control/test_concurrent_completions.py",
    "control/test_firing_together.py",
    "chaos/test_chaos.py",
    "faults/test_many_rows.py",
    "sim/test_due_times.py",
    "acceptance/test_decorated_jobs.py",
)
"""Modules whose tests take up to minutes: they begin first, so that what is left at the end can be divided."""


def takes_longest(item: pytest.Item, module: str) -> bool:
    """Say whether a test belongs before all that take seconds."""
    return module in LONGEST and item.get_closest_marker("full") is not None


def assign(item: pytest.Item, module: str) -> None:
    """Mark a test with its tier; the module is named by its path below tests/."""
    if module in FULL or (is_on_the_second_database(item) and not module.startswith(ON_BOTH)):
        item.add_marker(pytest.mark.full)
    if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
        item.add_marker(pytest.mark.properties)


def is_on_the_second_database(item: pytest.Item) -> bool:
    """Say whether a test that runs on several databases runs on another than SQLite."""
    parameters = getattr(item, "callspec", None)
    return parameters is not None and "postgresql" in [
        value for value in parameters.params.values() if isinstance(value, str)
    ]
