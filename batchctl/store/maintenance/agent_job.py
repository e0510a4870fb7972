"""The script that makes a job of SQL Server Agent in msdb."""

from __future__ import annotations

from collections.abc import Sequence

_SCRIPT = """\
-- A job of SQL Server Agent that keeps a controller of batchctl running: it is started every minute, and does not start
-- while it runs. Execute in SSMS or sqlcmd as a member of sysadmin, or of SQLAgentUserRole with a right to the proxy. Running it
-- again makes the job anew. The command runs on the host of SQL Server Agent, where batchctl has to be installed.
(variables)USE msdb;
GO
SET XACT_ABORT ON;
SET NOCOUNT ON;
BEGIN TRY
    BEGIN TRANSACTION;

    IF EXISTS (SELECT 1 FROM dbo.sysjobs WHERE name = (name))
    BEGIN
        EXEC dbo.sp_delete_job @job_name = (name), @delete_unused_schedule = 1;
    END;

    EXEC dbo.sp_add_job
        @job_name = (name),
        @description = N'Keeps the controller of batchctl running.',
        @enabled = 1;

    EXEC dbo.sp_add_jobstep
        @job_name = (name),
        @step_name = N'run',
        @subsystem = N'CmdExec',
        @command = (command),
        @cmdexec_success_code = 0,
        @on_success_action = 1,
        @on_fail_action = 2(proxy);

    EXEC dbo.sp_add_jobschedule
        @job_name = (name),
        @name = (schedule),
        @enabled = 1,
        @freq_type = 4,
        @freq_interval = 1,
        @freq_subday_type = 4,
        @freq_subday_interval = 1;

    EXEC dbo.sp_add_jobserver @job_name = (name), @server_name = N'(local)';

    COMMIT TRANSACTION;
END TRY
BEGIN CATCH
    -- The procedures of Agent refuse by RAISERROR, after which XACT_ABORT would go on.
    IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO"""


def agent_job(name: str, command: str, proxy: str | None, variables: Sequence[str]) -> str:
    """Return the script of a job of one step, which SQL Server Agent starts whenever it does not run."""
    needed = "" if not variables else f"-- It needs the system's environment variables {', '.join(variables)}.\n"
    filled = {
        "(variables)": needed,
        "(name)": _literal(name),
        "(schedule)": _literal(f"{name}: every minute"),
        "(proxy)": "" if proxy is None else f",\n        @proxy_name = {_literal(proxy)}",
        # Last, so that nothing in it is taken for a place to fill.
        "(command)": _literal(command),
    }
    script = _SCRIPT
    for place, text in filled.items():
        script = script.replace(place, text)
    return script


def _literal(text: str) -> str:
    return "N'" + text.replace("'", "''") + "'"
