"""Everything a plugin may import.

A plugin is one class in one file, found through an entry point of the group `batchctl.step_handlers` or
`batchctl.populators` (the entry point's name is the ProcessType or the Populator), or listed by name in a module named
in the setting `plugin_modules`. A job is a function decorated with `job`, or with a cadence such as `daily`, found through
the group `batchctl.jobs`, in such a module, or in one named in `[jobs] modules`.

The control tables belong to the controller: a plugin gets frozen values, returns a frozen value and never sees a
table, a session or another step.
"""

from __future__ import annotations

from batchctl.domain.commands import Command, CommandEnd
from batchctl.domain.configuring import how_to_add_connection, how_to_name_secret, how_to_set_secret
from batchctl.domain.definitions.declared import Cadence, Filters, Retry, UnfitDeclaration, Words
from batchctl.domain.errors import CannotBegin, StepRefused
from batchctl.domain.operators.confirmations import (
    LONGEST_QUESTION,
    AnswerTime,
    UnfitTimeout,
    answer_time,
    unfit_names,
)
from batchctl.domain.outcomes import (
    Asks,
    Connection,
    Finding,
    JobSignature,
    Rendered,
    StepContext,
    StepOutcome,
    StepRequest,
)
from batchctl.domain.parameters import Parameter, SecretValue, parameters_for, parse_parameters
from batchctl.domain.placeholders import (
    Literal,
    MalformedTemplate,
    Placeholder,
    SecretReference,
    Template,
    correct_value,
    fill,
    findings,
    fit_value,
    parse,
    parse_for,
    values_of,
)
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import NO_DATA, BatchDefinition, BatchInstance, DataValues, IntakeRow, Populated, Step
from batchctl.domain.sqlstates import sqlstate_behind
from batchctl.domain.status import OnTimeout
from batchctl.domain.step_mending import correct_step
from batchctl.domain.text import did_you_mean, unfit, visible
from batchctl.domain.urls import is_password, passwords_in, redacted, reference, references
from batchctl.plugin_api.contracts import (
    AsksDatabase,
    CannotPopulate,
    Delegates,
    Execution,
    FatalError,
    JobEnd,
    Populator,
    Provable,
    RunsOneCommand,
    StepHandler,
    Stopped,
    Verifiable,
)
from batchctl.plugin_api.jobs import (
    Job,
    daily,
    every,
    job,
    monthly,
    monthly_dow,
    once,
    retry,
    stopping,
    weekly,
)

__all__ = [
    "LONGEST_QUESTION",
    "NO_DATA",
    "AnswerTime",
    "Asks",
    "AsksDatabase",
    "BatchDefinition",
    "BatchInstance",
    "Cadence",
    "CannotBegin",
    "CannotPopulate",
    "Command",
    "CommandEnd",
    "Connection",
    "DataValues",
    "Delegates",
    "Execution",
    "FatalError",
    "Filters",
    "Finding",
    "IntakeRow",
    "Job",
    "JobEnd",
    "JobSignature",
    "JsonValue",
    "Literal",
    "MalformedTemplate",
    "OnTimeout",
    "Parameter",
    "Placeholder",
    "Populated",
    "Populator",
    "Provable",
    "Rendered",
    "Retry",
    "RunsOneCommand",
    "SecretReference",
    "SecretValue",
    "Step",
    "StepContext",
    "StepHandler",
    "StepOutcome",
    "StepRefused",
    "StepRequest",
    "Stopped",
    "Template",
    "UnfitDeclaration",
    "UnfitTimeout",
    "Verifiable",
    "Words",
    "answer_time",
    "correct_step",
    "correct_value",
    "daily",
    "did_you_mean",
    "every",
    "fill",
    "findings",
    "fit_value",
    "how_to_add_connection",
    "how_to_name_secret",
    "how_to_set_secret",
    "is_password",
    "job",
    "monthly",
    "monthly_dow",
    "once",
    "parameters_for",
    "parse",
    "parse_for",
    "parse_parameters",
    "passwords_in",
    "redacted",
    "reference",
    "references",
    "retry",
    "sqlstate_behind",
    "stopping",
    "unfit",
    "unfit_names",
    "values_of",
    "visible",
    "weekly",
]
