"""Scripts of SQL Server Agent become batches and schedules, and every parameter of every call is accounted for."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from batchctl.domain.definitions.agent_jobs import jobs_of
from batchctl.domain.definitions.agent_scripts import ProcedureCall, calls_of
from batchctl.domain.definitions.defined import Columns
from batchctl.domain.definitions.foreign_jobs import ForeignJob, MappedHow

HEAD = """
USE [msdb]
GO
/****** Object:  Job [Load] /* nested */ ******/
BEGIN TRANSACTION
DECLARE @ReturnCode INT
SELECT @ReturnCode = 0
DECLARE @jobId BINARY(16), @database sysname = N'SalesDW'
EXEC @ReturnCode =  msdb.dbo.sp_add_job @job_name=N'Shop''s load', @enabled=1, -- it is on
        @description=N'Loads -- all', @category_name=N'ETL', @owner_login_name=N'sa',
        @notify_email_operator_name=N'DBA', @job_id = @jobId OUTPUT
IF (@@ERROR <> 0 OR @ReturnCode <> 0) GOTO QuitWithRollback
"""
TAIL = """
EXEC @ReturnCode = msdb.dbo.sp_add_jobserver @job_id = @jobId, @server_name = N'(local)'
COMMIT TRANSACTION
"""
BARE = "EXEC @ReturnCode = [msdb].[dbo].[sp_add_jobstep] @job_id=@jobId, @step_name=N'one', @step_id=1"
STEP = f"{BARE}, @on_success_action=1"


def jobs(script: str) -> list[ForeignJob]:
    return jobs_of(calls_of(script), "job.sql", zone=None, taken=[])


def one(*lines: str) -> ForeignJob:
    (found,) = jobs(HEAD + "\n".join(lines) + TAIL)
    return found


def steps(job: ForeignJob) -> Mapping[str | int, Columns]:
    return job.defined[0].parts["ProcessControl"]


def call(script: str) -> ProcedureCall:
    (found,) = calls_of(script)
    return found


@pytest.mark.parametrize(
    "written",
    [
        "EXEC msdb.dbo.sp_x @A=N'it''s', @b = -1",
        'execute [msdb]..[sp_x] @a="it\'s",@B=-1;',
        "exec @r=sp_x @a='it''s'\n,@b=-1",
    ],
)
def test_calls_are_read_in_every_spelling(written: str) -> None:
    found = call(f"/* EXEC no */ {written} -- EXEC no")
    assert (found.procedure, dict(found.arguments)) == ("sp_x", {"a": "it's", "b": -1})


def test_variables_are_what_literals_made_them() -> None:
    found = call("DECLARE @x int = 5; SET @y = N'a'\nEXEC p @i=@x, @t=@y, @n=NULL, @h=0x0f")
    assert found.arguments == {"i": 5, "t": "a", "n": None, "h": "0x0f"}


def test_what_a_server_would_reckon_is_named() -> None:
    job = one(f"{STEP}, @command=N'a' + @database, @subsystem=N'TSQL'")
    assert job.how is MappedHow.NOT
    assert "step 1 command: a server would have to reckon it: read the job from msdb" in job.findings


def test_a_job_is_a_batch_with_its_steps_and_schedule_all_disabled() -> None:
    schedule = "@name=N'daily', @freq_type=4, @freq_interval=1, @active_start_date=20240101, @active_start_time=13000"
    job = one(
        f"{STEP}, @subsystem=N'TSQL', @command=N'EXEC dbo.Load @Shop = ''a'', @Rows=5;', @database_name=@database,"
        " @retry_attempts=3, @retry_interval=5, @on_fail_action=2",
        f"EXEC msdb.dbo.sp_add_jobschedule @job_id=@jobId, {schedule}",
    )
    batch, timed = job.defined

    assert (job.name, job.how) == ("Shop's load", MappedHow.WHOLE)
    assert batch.columns == {"Enabled": 0, "OnFailure": "continue", "Description": "Loads -- all", "Tags": "ETL"}
    assert steps(job)[10] == {
        "ProcessName": "one",
        "ProcessType": "stored_procedure",
        "Data1": "salesdw",
        "Data2": "dbo.Load",
        "Data3": "@shop='a', @rows=5",
        "RetryCount": 3,
        "RetryWaitSecs": 300,
    }
    assert timed.columns == {
        "Entity": "Shop's load",
        "ScheduleType": "daily",
        "RunTimes": "01:30",
        "StartDate": "2024-01-01",
        "Enabled": 0,
    }


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("@command=N'UPDATE t SET a = ''{x}'''", {"ProcessType": "sql", "Data2": "UPDATE t SET a = '{{x}}'"}),
        ("@command=N'EXEC dbo.Load 1'", {"ProcessType": "sql", "Data2": "EXEC dbo.Load 1"}),
        (
            "@subsystem=N'CmdExec', @command=N'robocopy a b', @cmdexec_success_code=1",
            {"Data1": "robocopy a b", "Data3": "1"},
        ),
        ("@subsystem=N'CmdExec', @command=N'dir > a'", {"Data1": "cmd /c 'dir > a'"}),
        ("@subsystem=N'PowerShell', @command=N'Get-Item a'", {"Data1": "pwsh -NoProfile -Command 'Get-Item a'"}),
    ],
)
def test_what_steps_do(text: str, columns: Columns) -> None:
    assert columns.items() <= steps(one(f"{STEP}, {text}"))[10].items()


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("@command=N'SELECT $(ESCAPE_SQUOTE(JOBID))'", "it holds tokens of SQL Server Agent"),
        ("@command=N'SELECT 1\nGO\nSELECT 2'", "take GO out"),
        ("@subsystem=N'CmdExec', @command=N'dir > a'", "it is run by cmd"),
        ("@command=N'x', @proxy_name=N'P'", "it ran as P"),
        ("@command=N'x', @on_fail_action=4, @on_fail_step_id=3", "it went to step 3"),
        ("@command=N'x', @on_success_action=2", "the job did not go on"),
        ("@command=N'x', @output_file_name=N'a.txt'", "in no file"),
        ("@command=N'x', @new_in_2030=1", "it has no column"),
    ],
)
def test_what_a_person_has_to_know(text: str, finding: str) -> None:
    job = one(f"{BARE}, {text}")
    assert finding in " ".join(job.findings)
    assert job.how is MappedHow.WITH_FINDINGS


def test_what_no_step_does_leaves_its_job_unmapped() -> None:
    job = one(f"{STEP}, @subsystem=N'Snapshot', @command=N'x'")
    assert job.how is MappedHow.NOT
    assert "no step of batchctl does what it does" in " ".join(job.findings)


def test_every_parameter_is_accounted_for() -> None:
    begins = "EXEC msdb.dbo.sp_update_job @job_id=@jobId, @start_step_id=2"
    script = f"{HEAD}{STEP}, @command=N'x', @flags=0\n{begins}\n{TAIL}"
    (job,) = jobs(script)
    given = sum(len(each.arguments) for each in calls_of(script))
    # sp_update_job and sp_add_jobserver say whose job it is, and nothing by that.
    assert len(job.mapped) == given - 2
    assert "it begins with step 2" in " ".join(job.findings)


def test_a_job_is_known_by_its_id_and_what_a_script_takes_away_before_is_left_alone() -> None:
    (job,) = jobs("""
SELECT @JobId=job_id FROM msdb.dbo.sysjobs WHERE name=N'Rebuild'; IF @JobId IS NULL BEGIN EXEC msdb.dbo.sp_add_job
 @job_id=N'E272453D-7BD6-4D51-8CED-3B6D135C7C7A', @job_name=N'Rebuild', @enabled=1;
 SET @JobId=N'e272453d-7bd6-4d51-8ced-3b6d135c7c7a'; END
ELSE BEGIN EXEC msdb.dbo.sp_update_job @job_id=@JobId, @new_name=N'Rebuild'; END;
WHILE EXISTS(SELECT 1 FROM msdb.dbo.sysjobsteps) BEGIN EXEC msdb.dbo.sp_delete_jobstep @job_id=@JobId,@step_id=@StepId; END;
EXEC msdb.dbo.sp_add_jobstep @job_id=@JobId,@step_id=1,@step_name=N'a',@command=N'SELECT 1',@on_success_action=1
SET @ScheduleId=NULL
EXEC msdb.dbo.sp_add_schedule @schedule_id=@ScheduleId OUTPUT,@schedule_name=N'nights',@freq_type=4,@freq_interval=1
EXEC msdb.dbo.sp_attach_schedule @job_id=@JobId,@schedule_id=@ScheduleId;
EXEC msdb.dbo.sp_add_jobserver @job_id=@JobId,@server_name=@@servername;
""")
    assert (job.name, job.how) == ("Rebuild", MappedHow.WHOLE), job.findings
    assert [each.kind for each in job.defined] == ["ProcessBatch", "Schedule"]


def test_nothing_is_dropped_in_silence() -> None:
    job, call_, schedule = jobs(f"""{HEAD}{STEP}, @command=N'x'
EXEC msdb.dbo.sp_add_jobschedule @job_id=@jobId, @name=N'a', @freq_type=4, @active_start_time=@at, @freq_interval=1 + 1
EXEC msdb.dbo.sp_add_jobserver @jobId, N'(local)'
EXEC msdb.dbo.sp_add_schedule @schedule_name=N'alone', @freq_type=4
""")
    assert [one.kind for one in job.defined] == ["ProcessBatch"]
    assert {one.partition(":")[0] for one in job.findings} == {"schedule active_start_time", "schedule freq_interval"}
    assert "by place: a server would have to reckon it" in call_.findings[0]
    assert "it belongs to no job of this file" in schedule.findings[0]


def test_what_a_variable_holds_that_no_literal_made_is_named() -> None:
    job = one(f"{STEP}, @command=@sql")
    assert (job.how, job.findings) == (
        MappedHow.NOT,
        ["step 1 command: a server would have to reckon it: read the job from msdb"],
    )


def test_schedules_that_jobs_share_are_attached_and_strangers_are_named() -> None:
    script = f"""{HEAD}{STEP}, @command=N'x'
EXEC msdb.dbo.sp_add_schedule @schedule_name=N'nights', @freq_type=4, @freq_interval=1, @active_start_time=0
EXEC msdb.dbo.sp_attach_schedule @job_id=@jobId, @schedule_name=N'NIGHTS'
EXEC msdb.dbo.sp_attach_schedule @job_id=@jobId, @schedule_name=N'gone'
EXEC msdb.dbo.sp_add_operator @name=N'DBA', @email_address=N'a@b'
EXEC msdb.dbo.sp_add_jobstep @job_name=N'Other', @command=N'x'
"""
    job, operator, stranger = jobs(script)
    assert [each.kind for each in job.defined] == ["ProcessBatch", "Schedule"]
    assert "nothing of this kind is read" in " ".join(job.findings)
    assert (operator.how, stranger.how) == (MappedHow.NOT, MappedHow.NOT)
    assert "it belongs to no job of this file" in stranger.findings[0]
