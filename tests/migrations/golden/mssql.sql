-- The control database of batchctl on SQL Server 2017 or later, schema 0019.
--
-- In SSMS: choose the database, then execute. With sqlcmd: sqlcmd -S SERVER -d DATABASE -b -i batchctl.sql
-- It makes what is missing in the default schema of who runs it, and looks at no other; running it again changes nothing.
-- It is one transaction: after an error nothing of it stays.

SET IMPLICIT_TRANSACTIONS OFF;
SET XACT_ABORT ON;
SET NOCOUNT ON;
SET ANSI_NULLS ON;
SET QUOTED_IDENTIFIER ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET NUMERIC_ROUNDABORT OFF;
GO

IF DB_NAME() IN (N'master', N'model', N'msdb', N'tempdb')
BEGIN
    RAISERROR(N'batchctl: this is a database of the server itself; choose another one first.', 16, 1);
    SET NOEXEC ON;
END;
GO

IF CAST(PARSENAME(CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)), 4) AS int) < 14
   AND CAST(SERVERPROPERTY('EngineEdition') AS int) NOT IN (5, 8)
BEGIN
    RAISERROR(N'batchctl: SQL Server 2017 or later is needed.', 16, 1);
    SET NOEXEC ON;
END;
GO

IF EXISTS (SELECT 1 FROM sys.tables WHERE schema_id = SCHEMA_ID() AND name IN (
        N'FileProcess', N'ProcessBatch', N'ProcessControl', N'BatchControl', N'BatchProcessHistory', N'AuditLog', N'Setting', N'Controller', N'Resource', N'BatchResource', N'BatchDependency', N'BatchCompletion', N'DataTrigger', N'SchedulerLog', N'FileWatch', N'FileWatchSeen', N'DurationHistory', N'Schedule', N'ScheduleBackfill', N'ScheduleFire', N'Calendar', N'CalendarDay', N'OperatorRequest', N'BatchVersion', N'AppliedDefinition'))
   AND OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.alembic_version', N'U') IS NULL
BEGIN
    RAISERROR(N'batchctl: there are tables here that batchctl did not make; choose another database or schema.', 16, 1);
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.alembic_version', N'U') IS NOT NULL
BEGIN
    -- Inside, because a statement that names a table is refused where there is none, whatever else it asks.
    IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.FileProcess', N'U') IS NULL
       OR NOT EXISTS (SELECT 1 FROM alembic_version)
       OR EXISTS (SELECT 1 FROM alembic_version WHERE version_num NOT IN ('0001', '0002', '0003', '0004', '0005', '0006', '0007', '0008', '0009', '0010', '0011', '0012', '0013', '0014', '0015', '0019'))
    BEGIN
        RAISERROR(N'batchctl: alembic_version is not of this batchctl; choose another schema, or the newer script.', 16, 1);
        SET NOEXEC ON;
    END;
END;
GO

IF @@TRANCOUNT > 0
BEGIN
    RAISERROR(N'batchctl: this session has a transaction open; COMMIT or ROLLBACK it first, then run this again.', 16, 1);
    SET NOEXEC ON;
END;
GO

BEGIN TRANSACTION;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.alembic_version', N'U') IS NULL
CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.FileProcess', N'U') IS NULL
CREATE TABLE FileProcess (
    FileProcess_id BIGINT NOT NULL IDENTITY,
    Entity NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    FileName NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    Status VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_FileProcess_Status] DEFAULT 'ready',
    Data NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    CycleKey NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Source NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Message NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_FileProcess_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_FileProcess_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_FileProcess] PRIMARY KEY (FileProcess_id),
    CONSTRAINT [CK_FileProcess_Status] CHECK (lower(Status) IN ('ready', 'paused', 'complete', 'rejected', 'duplicate')),
    CONSTRAINT [CK_FileProcess_Entity] CHECK (Entity <> '')
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.ProcessBatch', N'U') IS NULL
CREATE TABLE ProcessBatch (
    ProcessBatch_id BIGINT NOT NULL IDENTITY,
    ProcessBatchName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Entity NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Enabled SMALLINT NOT NULL CONSTRAINT [DF_ProcessBatch_Enabled] DEFAULT 1,
    Seq INTEGER NOT NULL CONSTRAINT [DF_ProcessBatch_Seq] DEFAULT 100,
    RetryCount INTEGER NOT NULL CONSTRAINT [DF_ProcessBatch_RetryCount] DEFAULT 0,
    RetryWaitMins INTEGER NOT NULL CONSTRAINT [DF_ProcessBatch_RetryWaitMins] DEFAULT 5,
    Populator NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL CONSTRAINT [DF_ProcessBatch_Populator] DEFAULT 'pattern',
    PopulatorArgs NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    OnFailure VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_ProcessBatch_OnFailure] DEFAULT 'hold_batch',
    DependencyMode VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_ProcessBatch_DependencyMode] DEFAULT 'all',
    MaxConcurrent INTEGER NOT NULL CONSTRAINT [DF_ProcessBatch_MaxConcurrent] DEFAULT 1,
    DuplicateCheck SMALLINT NOT NULL CONSTRAINT [DF_ProcessBatch_DuplicateCheck] DEFAULT 1,
    Description NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_ProcessBatch_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_ProcessBatch_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_ProcessBatch] PRIMARY KEY (ProcessBatch_id),
    CONSTRAINT [UQ_ProcessBatch_ProcessBatchName] UNIQUE (ProcessBatchName),
    CONSTRAINT [CK_ProcessBatch_ProcessBatchName] CHECK (ProcessBatchName <> ''),
    CONSTRAINT [CK_ProcessBatch_Enabled] CHECK (Enabled IN (0, 1)),
    CONSTRAINT [CK_ProcessBatch_DuplicateCheck] CHECK (DuplicateCheck IN (0, 1)),
    CONSTRAINT [CK_ProcessBatch_RetryCount] CHECK (RetryCount BETWEEN 0 AND 1000),
    CONSTRAINT [CK_ProcessBatch_RetryWaitMins] CHECK (RetryWaitMins BETWEEN 0 AND 525600),
    CONSTRAINT [CK_ProcessBatch_MaxConcurrent] CHECK (MaxConcurrent BETWEEN 1 AND 1000),
    CONSTRAINT [CK_ProcessBatch_OnFailure] CHECK (lower(OnFailure) IN ('hold_batch', 'stop_all', 'continue')),
    CONSTRAINT [CK_ProcessBatch_DependencyMode] CHECK (lower(DependencyMode) IN ('all', 'any'))
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.ProcessControl', N'U') IS NULL
CREATE TABLE ProcessControl (
    ProcessControl_id BIGINT NOT NULL IDENTITY,
    ProcessBatch_id BIGINT NOT NULL,
    ProcessControlSeq INTEGER NOT NULL,
    ProcessName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    ProcessType NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NOT NULL,
    ExpectedDuration INTEGER NULL,
    AlarmDuration INTEGER NULL,
    MaxDuration INTEGER NULL,
    OnLost VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_ProcessControl_OnLost] DEFAULT 'hold',
    Data1 NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    Data2 NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    Data3 NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    Data4 NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    Data5 NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    Data6 NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_ProcessControl_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_ProcessControl_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_ProcessControl] PRIMARY KEY (ProcessControl_id),
    CONSTRAINT [UQ_ProcessControl_ProcessBatch_id_ProcessControlSeq] UNIQUE (ProcessBatch_id, ProcessControlSeq),
    CONSTRAINT [CK_ProcessControl_ProcessControlSeq] CHECK (ProcessControlSeq BETWEEN 1 AND 2000000000),
    CONSTRAINT [CK_ProcessControl_ProcessName] CHECK (ProcessName <> ''),
    CONSTRAINT [CK_ProcessControl_ExpectedDuration] CHECK (ExpectedDuration BETWEEN 1 AND 31536000),
    CONSTRAINT [CK_ProcessControl_AlarmDuration] CHECK (AlarmDuration BETWEEN 1 AND 31536000),
    CONSTRAINT [CK_ProcessControl_MaxDuration] CHECK (MaxDuration BETWEEN 1 AND 31536000),
    CONSTRAINT [CK_ProcessControl_OnLost] CHECK (lower(OnLost) IN ('hold', 'rerun', 'verify')),
    CONSTRAINT [FK_ProcessControl_ProcessBatch_id] FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U') IS NULL
CREATE TABLE BatchControl (
    BatchControl_id BIGINT NOT NULL IDENTITY,
    ProcessBatch_id BIGINT NOT NULL,
    FileProcess_id BIGINT NOT NULL,
    PrevProcessControlSeq INTEGER NOT NULL CONSTRAINT [DF_BatchControl_PrevProcessControlSeq] DEFAULT 0,
    Status VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_BatchControl_Status] DEFAULT 'ready',
    RetryCount INTEGER NOT NULL CONSTRAINT [DF_BatchControl_RetryCount] DEFAULT 0,
    NextRunTime DATETIME2(3) NOT NULL CONSTRAINT [DF_BatchControl_NextRunTime] DEFAULT '1900-01-01 00:00:00.000',
    CycleKey NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Data1 NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    Data2 NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    Data3 NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    Data4 NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    Data5 NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    Data6 NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    ClaimToken BIGINT NOT NULL CONSTRAINT [DF_BatchControl_ClaimToken] DEFAULT 0,
    ClaimedBy NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    LostCount INTEGER NOT NULL CONSTRAINT [DF_BatchControl_LostCount] DEFAULT 0,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_BatchControl_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_BatchControl_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_BatchControl] PRIMARY KEY (BatchControl_id),
    CONSTRAINT [UQ_BatchControl_FileProcess_id_ProcessBatch_id] UNIQUE (FileProcess_id, ProcessBatch_id),
    CONSTRAINT [CK_BatchControl_Status] CHECK (lower(Status) IN ('ready', 'running', 'retry', 'failed', 'held', 'pausing', 'paused', 'cancelling', 'cancelled', 'complete')),
    CONSTRAINT [CK_BatchControl_PrevProcessControlSeq] CHECK (PrevProcessControlSeq >= 0),
    CONSTRAINT [CK_BatchControl_RetryCount] CHECK (RetryCount >= 0),
    CONSTRAINT [CK_BatchControl_LostCount] CHECK (LostCount >= 0),
    CONSTRAINT [FK_BatchControl_ProcessBatch_id] FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT [FK_BatchControl_FileProcess_id] FOREIGN KEY(FileProcess_id) REFERENCES FileProcess (FileProcess_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchProcessHistory', N'U') IS NULL
CREATE TABLE BatchProcessHistory (
    BatchProcessHistory_id BIGINT NOT NULL IDENTITY,
    BatchControl_id BIGINT NOT NULL,
    ProcessBatch_id BIGINT NOT NULL,
    ProcessControlSeq INTEGER NOT NULL,
    ProcessName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    ProcessType NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NOT NULL,
    AttemptNo INTEGER NOT NULL CONSTRAINT [DF_BatchProcessHistory_AttemptNo] DEFAULT 1,
    ClaimToken BIGINT NOT NULL CONSTRAINT [DF_BatchProcessHistory_ClaimToken] DEFAULT 0,
    Cause VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_BatchProcessHistory_Cause] DEFAULT 'auto',
    Status VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_BatchProcessHistory_Status] DEFAULT 'running',
    CommandText NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
    CommandSpec NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NOT NULL CONSTRAINT [DF_BatchProcessHistory_CommandSpec] DEFAULT '{}',
    StartTime DATETIME2(3) NOT NULL CONSTRAINT [DF_BatchProcessHistory_StartTime] DEFAULT SYSUTCDATETIME(),
    EndTime DATETIME2(3) NULL,
    ReturnCode BIGINT NULL,
    Message NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    Output NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    RowsAffected BIGINT NULL,
    Host NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Pid BIGINT NULL,
    PidStart NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL,
    BootId NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL,
    DbSession NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Spawned DATETIME2(3) NULL,
    RetryCountAfter INTEGER NULL,
    NextRunTimeAfter DATETIME2(3) NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_BatchProcessHistory_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_BatchProcessHistory_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_BatchProcessHistory] PRIMARY KEY (BatchProcessHistory_id),
    CONSTRAINT [UQ_BatchProcessHistory_BatchControl_id_ProcessControlSeq_AttemptNo] UNIQUE (BatchControl_id, ProcessControlSeq, AttemptNo),
    CONSTRAINT [CK_BatchProcessHistory_Cause] CHECK (lower(Cause) IN ('auto', 'retry', 'manual', 'verify')),
    CONSTRAINT [CK_BatchProcessHistory_Status] CHECK (lower(Status) IN ('running', 'success', 'failed', 'timeout', 'cancelled', 'lost', 'fenced', 'skipped')),
    CONSTRAINT [CK_BatchProcessHistory_EndTime] CHECK ((lower(Status) = 'running' AND EndTime IS NULL) OR (lower(Status) <> 'running' AND EndTime IS NOT NULL)),
    CONSTRAINT [FK_BatchProcessHistory_BatchControl_id] FOREIGN KEY(BatchControl_id) REFERENCES BatchControl (BatchControl_id),
    CONSTRAINT [FK_BatchProcessHistory_ProcessBatch_id] FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.AuditLog', N'U') IS NULL
CREATE TABLE AuditLog (
    AuditLog_id BIGINT NOT NULL IDENTITY,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_AuditLog_z_inserted] DEFAULT SYSUTCDATETIME(),
    Actor NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Host NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Action NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Target NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Reason NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    ValuesBefore NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    ValuesAfter NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    CONSTRAINT [PK_AuditLog] PRIMARY KEY (AuditLog_id),
    CONSTRAINT [CK_AuditLog_Actor] CHECK (Actor <> '')
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_FileProcess_Ready' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.FileProcess', N'U'))
CREATE INDEX [IX_FileProcess_Ready] ON FileProcess (FileProcess_id) WHERE Status = 'ready';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_FileProcess_Duplicate' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.FileProcess', N'U'))
CREATE INDEX [IX_FileProcess_Duplicate] ON FileProcess (Entity) WHERE Data IS NOT NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_Open' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U')) AND NOT EXISTS (SELECT 1 FROM alembic_version WHERE version_num >= '0008')
CREATE INDEX [IX_BatchControl_Open] ON BatchControl (ProcessBatch_id, BatchControl_id) WHERE Status IN ('ready', 'running', 'retry', 'failed', 'held', 'pausing', 'paused', 'cancelling');
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'UX_BatchProcessHistory_Live' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchProcessHistory', N'U'))
CREATE UNIQUE INDEX [UX_BatchProcessHistory_Live] ON BatchProcessHistory (BatchControl_id) WHERE Status = 'running';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM alembic_version)
INSERT INTO alembic_version (version_num) VALUES ('0001');
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Setting', N'U') IS NULL
CREATE TABLE Setting (
    Setting_id BIGINT NOT NULL IDENTITY,
    Name NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Value NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_Setting_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_Setting_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_Setting] PRIMARY KEY (Setting_id),
    CONSTRAINT [UQ_Setting_Name] UNIQUE (Name),
    CONSTRAINT [CK_Setting_Name] CHECK (Name <> '')
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM Setting WHERE Name = 'DatabaseId')
INSERT INTO Setting (Name, Value) SELECT 'DatabaseId', lower(replace(convert(nvarchar(36), newid()), '-', ''));
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0002' WHERE version_num = '0001';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Controller', N'U') IS NULL
CREATE TABLE Controller (
    Controller_id BIGINT NOT NULL IDENTITY,
    ControllerName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Status VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_Controller_Status] DEFAULT 'running',
    Host NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Pid BIGINT NULL,
    PidStart NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL,
    BootId NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL,
    Slots INTEGER NOT NULL CONSTRAINT [DF_Controller_Slots] DEFAULT 1,
    HeartbeatSeq BIGINT NOT NULL CONSTRAINT [DF_Controller_HeartbeatSeq] DEFAULT 0,
    Heartbeat DATETIME2(3) NOT NULL CONSTRAINT [DF_Controller_Heartbeat] DEFAULT SYSUTCDATETIME(),
    AppVersion NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_Controller_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_Controller_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_Controller] PRIMARY KEY (Controller_id),
    CONSTRAINT [UQ_Controller_ControllerName] UNIQUE (ControllerName),
    CONSTRAINT [CK_Controller_ControllerName] CHECK (ControllerName <> ''),
    CONSTRAINT [CK_Controller_Status] CHECK (lower(Status) IN ('running', 'stopped', 'lost'))
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Resource', N'U') IS NULL
CREATE TABLE Resource (
    Resource_id BIGINT NOT NULL IDENTITY,
    ResourceName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Units INTEGER NOT NULL CONSTRAINT [DF_Resource_Units] DEFAULT 1,
    Description NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_Resource_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_Resource_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_Resource] PRIMARY KEY (Resource_id),
    CONSTRAINT [UQ_Resource_ResourceName] UNIQUE (ResourceName),
    CONSTRAINT [CK_Resource_ResourceName] CHECK (ResourceName <> ''),
    CONSTRAINT [CK_Resource_Units] CHECK (Units BETWEEN 0 AND 1000000)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchResource', N'U') IS NULL
CREATE TABLE BatchResource (
    BatchResource_id BIGINT NOT NULL IDENTITY,
    ProcessBatch_id BIGINT NOT NULL,
    Resource_id BIGINT NOT NULL,
    Units INTEGER NOT NULL CONSTRAINT [DF_BatchResource_Units] DEFAULT 1,
    Exclusive SMALLINT NOT NULL CONSTRAINT [DF_BatchResource_Exclusive] DEFAULT 0,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_BatchResource_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_BatchResource_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_BatchResource] PRIMARY KEY (BatchResource_id),
    CONSTRAINT [UQ_BatchResource_ProcessBatch_id_Resource_id] UNIQUE (ProcessBatch_id, Resource_id),
    CONSTRAINT [CK_BatchResource_Units] CHECK (Units BETWEEN 1 AND 1000000),
    CONSTRAINT [CK_BatchResource_Exclusive] CHECK (Exclusive IN (0, 1)),
    CONSTRAINT [FK_BatchResource_ProcessBatch_id] FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT [FK_BatchResource_Resource_id] FOREIGN KEY(Resource_id) REFERENCES Resource (Resource_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.columns WHERE name = N'ClaimedBy' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchProcessHistory', N'U'))
ALTER TABLE BatchProcessHistory ADD ClaimedBy NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_Claimed' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
CREATE INDEX [IX_BatchControl_Claimed] ON BatchControl (ProcessBatch_id) WHERE Status IN ('running', 'pausing', 'cancelling');
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_Standing' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
CREATE INDEX [IX_BatchControl_Standing] ON BatchControl (BatchControl_id) WHERE Status IN ('retry', 'failed', 'held');
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_Due' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
CREATE INDEX [IX_BatchControl_Due] ON BatchControl (NextRunTime) WHERE Status IN ('ready', 'retry') AND NextRunTime > '1900-01-01 00:00:00.000';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0003' WHERE version_num = '0002';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM alembic_version WHERE version_num >= '0004')
INSERT INTO ProcessBatch (ProcessBatchName, Enabled, Seq, OnFailure, MaxConcurrent, DuplicateCheck, Description) SELECT 'Task', CASE WHEN (EXISTS (SELECT *
FROM ProcessBatch AS any_batch)) THEN 0 ELSE 1 END AS anon_1, 1000, 'continue', 1000, 0, 'The task queue: Data is a command, or SQL for the connection that FileName names (batchctl task)'
WHERE NOT (EXISTS (SELECT *
FROM ProcessBatch AS theirs
WHERE theirs.ProcessBatchName = 'Task' OR theirs.Entity = 'Task'));
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM alembic_version WHERE version_num >= '0004')
INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2) SELECT ProcessBatch.ProcessBatch_id, 10, 'run the task', 'task', '{Data2}', '{Data3}'
FROM ProcessBatch
WHERE ProcessBatch.ProcessBatchName = 'Task' AND ProcessBatch.Description = 'The task queue: Data is a command, or SQL for the connection that FileName names (batchctl task)' AND NOT (EXISTS (SELECT *
FROM ProcessControl
WHERE ProcessControl.ProcessBatch_id = ProcessBatch.ProcessBatch_id));
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0004' WHERE version_num = '0003';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.columns WHERE name = N'OrphanTimeoutSecs' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Controller', N'U'))
ALTER TABLE Controller ADD OrphanTimeoutSecs INTEGER NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0005' WHERE version_num = '0004';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0006' WHERE version_num = '0005';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0007' WHERE version_num = '0006';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_Open' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
DROP INDEX [IX_BatchControl_Open] ON BatchControl;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_InLine' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
CREATE INDEX [IX_BatchControl_InLine] ON BatchControl (ProcessBatch_id, BatchControl_id) WHERE Status IN ('ready', 'retry', 'failed', 'held');
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_AtOnce' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
CREATE INDEX [IX_BatchControl_AtOnce] ON BatchControl (ProcessBatch_id, BatchControl_id) WHERE Status IN ('ready', 'retry') AND NextRunTime <= '1900-01-01 00:00:00.000';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_Deferred' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
CREATE INDEX [IX_BatchControl_Deferred] ON BatchControl (ProcessBatch_id, NextRunTime) WHERE Status IN ('ready', 'retry') AND NextRunTime > '1900-01-01 00:00:00.000';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_Paused' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
CREATE INDEX [IX_BatchControl_Paused] ON BatchControl (ProcessBatch_id, BatchControl_id) WHERE Status IN ('paused');
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0008' WHERE version_num = '0007';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0009' WHERE version_num = '0008';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0010' WHERE version_num = '0009';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchDependency', N'U') IS NULL
CREATE TABLE BatchDependency (
    BatchDependency_id BIGINT NOT NULL IDENTITY,
    ProcessBatch_id BIGINT NOT NULL,
    DependsOnBatch_id BIGINT NOT NULL,
    DeadlineMins INTEGER NOT NULL CONSTRAINT [DF_BatchDependency_DeadlineMins] DEFAULT 1440,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_BatchDependency_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_BatchDependency_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_BatchDependency] PRIMARY KEY (BatchDependency_id),
    CONSTRAINT [UQ_BatchDependency_ProcessBatch_id_DependsOnBatch_id] UNIQUE (ProcessBatch_id, DependsOnBatch_id),
    CONSTRAINT [CK_BatchDependency_DeadlineMins] CHECK (DeadlineMins BETWEEN 1 AND 525600),
    CONSTRAINT [FK_BatchDependency_ProcessBatch_id] FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT [FK_BatchDependency_DependsOnBatch_id] FOREIGN KEY(DependsOnBatch_id) REFERENCES ProcessBatch (ProcessBatch_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchCompletion', N'U') IS NULL
CREATE TABLE BatchCompletion (
    BatchCompletion_id BIGINT NOT NULL IDENTITY,
    ProcessBatch_id BIGINT NOT NULL,
    DependsOnBatch_id BIGINT NOT NULL,
    BatchControl_id BIGINT NOT NULL,
    CycleKey NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    FileProcess_id BIGINT NULL,
    Overdue DATETIME2(3) NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_BatchCompletion_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_BatchCompletion_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_BatchCompletion] PRIMARY KEY (BatchCompletion_id),
    CONSTRAINT [UQ_BatchCompletion_ProcessBatch_id_BatchControl_id] UNIQUE (ProcessBatch_id, BatchControl_id),
    CONSTRAINT [FK_BatchCompletion_ProcessBatch_id] FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT [FK_BatchCompletion_DependsOnBatch_id] FOREIGN KEY(DependsOnBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT [FK_BatchCompletion_BatchControl_id] FOREIGN KEY(BatchControl_id) REFERENCES BatchControl (BatchControl_id),
    CONSTRAINT [FK_BatchCompletion_FileProcess_id] FOREIGN KEY(FileProcess_id) REFERENCES FileProcess (FileProcess_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.DataTrigger', N'U') IS NULL
CREATE TABLE DataTrigger (
    DataTrigger_id BIGINT NOT NULL IDENTITY,
    TriggerName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Entity NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    ConnectionName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    TableName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    StatusColumn NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    PendingValue NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    CreatedColumn NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    RowThreshold BIGINT NULL,
    IdleMinutes INTEGER NULL,
    OnNewRows SMALLINT NOT NULL CONSTRAINT [DF_DataTrigger_OnNewRows] DEFAULT 0,
    DebounceSeconds INTEGER NOT NULL CONSTRAINT [DF_DataTrigger_DebounceSeconds] DEFAULT 60,
    Enabled SMALLINT NOT NULL CONSTRAINT [DF_DataTrigger_Enabled] DEFAULT 1,
    LastFired DATETIME2(3) NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_DataTrigger_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_DataTrigger_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_DataTrigger] PRIMARY KEY (DataTrigger_id),
    CONSTRAINT [UQ_DataTrigger_TriggerName] UNIQUE (TriggerName),
    CONSTRAINT [CK_DataTrigger_TriggerName] CHECK (TriggerName <> ''),
    CONSTRAINT [CK_DataTrigger_Entity] CHECK (Entity <> ''),
    CONSTRAINT [CK_DataTrigger_RowThreshold] CHECK (RowThreshold >= 1),
    CONSTRAINT [CK_DataTrigger_IdleMinutes] CHECK (IdleMinutes BETWEEN 1 AND 525600),
    CONSTRAINT [CK_DataTrigger_DebounceSeconds] CHECK (DebounceSeconds BETWEEN 0 AND 31536000),
    CONSTRAINT [CK_DataTrigger_Condition] CHECK (RowThreshold IS NOT NULL OR IdleMinutes IS NOT NULL OR OnNewRows = 1),
    CONSTRAINT [CK_DataTrigger_Age] CHECK (IdleMinutes IS NULL OR CreatedColumn IS NOT NULL),
    CONSTRAINT [CK_DataTrigger_OnNewRows] CHECK (OnNewRows IN (0, 1)),
    CONSTRAINT [CK_DataTrigger_Enabled] CHECK (Enabled IN (0, 1))
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.SchedulerLog', N'U') IS NULL
CREATE TABLE SchedulerLog (
    SchedulerLog_id BIGINT NOT NULL IDENTITY,
    EventTime DATETIME2(3) NOT NULL CONSTRAINT [DF_SchedulerLog_EventTime] DEFAULT SYSUTCDATETIME(),
    EventType VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL,
    Source NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Entity NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    ProcessBatch_id BIGINT NULL,
    FileProcess_id BIGINT NULL,
    BatchControl_id BIGINT NULL,
    Message NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    RowsQueued BIGINT NULL,
    DurationMs BIGINT NULL,
    CONSTRAINT [PK_SchedulerLog] PRIMARY KEY (SchedulerLog_id),
    CONSTRAINT [CK_SchedulerLog_Source] CHECK (Source <> ''),
    CONSTRAINT [CK_SchedulerLog_EventType] CHECK (lower(EventType) IN ('fired', 'skipped', 'completed', 'error', 'rescued'))
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.FileWatch', N'U') IS NULL
CREATE TABLE FileWatch (
    FileWatch_id BIGINT NOT NULL IDENTITY,
    WatchName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Entity NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Folder NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Pattern NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL CONSTRAINT [DF_FileWatch_Pattern] DEFAULT '*',
    Recursive SMALLINT NOT NULL CONSTRAINT [DF_FileWatch_Recursive] DEFAULT 0,
    SettleSeconds INTEGER NOT NULL CONSTRAINT [DF_FileWatch_SettleSeconds] DEFAULT 10,
    MarkerSuffix NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL,
    DuplicateKey VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_FileWatch_DuplicateKey] DEFAULT 'name_size_time',
    Enabled SMALLINT NOT NULL CONSTRAINT [DF_FileWatch_Enabled] DEFAULT 1,
    UnreachableSince DATETIME2(3) NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_FileWatch_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_FileWatch_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_FileWatch] PRIMARY KEY (FileWatch_id),
    CONSTRAINT [UQ_FileWatch_WatchName] UNIQUE (WatchName),
    CONSTRAINT [CK_FileWatch_WatchName] CHECK (WatchName <> ''),
    CONSTRAINT [CK_FileWatch_Entity] CHECK (Entity <> ''),
    CONSTRAINT [CK_FileWatch_Pattern] CHECK (Pattern <> ''),
    CONSTRAINT [CK_FileWatch_MarkerSuffix] CHECK (MarkerSuffix <> ''),
    CONSTRAINT [CK_FileWatch_SettleSeconds] CHECK (SettleSeconds BETWEEN 0 AND 86400),
    CONSTRAINT [CK_FileWatch_Recursive] CHECK (Recursive IN (0, 1)),
    CONSTRAINT [CK_FileWatch_Enabled] CHECK (Enabled IN (0, 1)),
    CONSTRAINT [CK_FileWatch_DuplicateKey] CHECK (lower(DuplicateKey) IN ('name', 'name_size_time', 'content'))
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.FileWatchSeen', N'U') IS NULL
CREATE TABLE FileWatchSeen (
    FileWatchSeen_id BIGINT NOT NULL IDENTITY,
    FileWatch_id BIGINT NOT NULL,
    PathKey NVARCHAR(64) COLLATE Latin1_General_100_BIN2 NOT NULL,
    FilePath NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
    FileSize BIGINT NOT NULL,
    ModifiedNs BIGINT NOT NULL,
    FileNumber NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL,
    FileProcess_id BIGINT NULL,
    MissingSince DATETIME2(3) NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_FileWatchSeen_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_FileWatchSeen_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_FileWatchSeen] PRIMARY KEY (FileWatchSeen_id),
    CONSTRAINT [UQ_FileWatchSeen_FileWatch_id_PathKey] UNIQUE (FileWatch_id, PathKey),
    CONSTRAINT [FK_FileWatchSeen_FileWatch_id] FOREIGN KEY(FileWatch_id) REFERENCES FileWatch (FileWatch_id),
    CONSTRAINT [FK_FileWatchSeen_FileProcess_id] FOREIGN KEY(FileProcess_id) REFERENCES FileProcess (FileProcess_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_Cycle' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
CREATE INDEX [IX_BatchControl_Cycle] ON BatchControl (ProcessBatch_id, CycleKey, BatchControl_id);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchCompletion_Waiting' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchCompletion', N'U'))
CREATE INDEX [IX_BatchCompletion_Waiting] ON BatchCompletion (ProcessBatch_id, CycleKey, DependsOnBatch_id, BatchCompletion_id) WHERE FileProcess_id IS NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_SchedulerLog_Entity' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.SchedulerLog', N'U'))
CREATE INDEX [IX_SchedulerLog_Entity] ON SchedulerLog (Entity, SchedulerLog_id);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_SchedulerLog_Fired' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.SchedulerLog', N'U'))
CREATE INDEX [IX_SchedulerLog_Fired] ON SchedulerLog (FileProcess_id) WHERE EventType = 'fired';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_FileProcess_Inbox' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.FileProcess', N'U'))
CREATE INDEX [IX_FileProcess_Inbox] ON FileProcess (FileProcess_id) WHERE Status IN ('paused', 'rejected', 'duplicate');
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_AuditLog_Target' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.AuditLog', N'U'))
CREATE INDEX [IX_AuditLog_Target] ON AuditLog (Target);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0011' WHERE version_num = '0010';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.DurationHistory', N'U') IS NULL
CREATE TABLE DurationHistory (
    DurationHistory_id BIGINT NOT NULL IDENTITY,
    ProcessBatch_id BIGINT NOT NULL,
    ProcessControlSeq INTEGER NOT NULL,
    Day NVARCHAR(10) COLLATE Latin1_General_100_BIN2 NOT NULL,
    UpToMs BIGINT NOT NULL,
    Runs BIGINT NOT NULL,
    TotalMs BIGINT NOT NULL,
    MinMs BIGINT NOT NULL,
    MaxMs BIGINT NOT NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_DurationHistory_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_DurationHistory_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_DurationHistory] PRIMARY KEY (DurationHistory_id),
    CONSTRAINT [UQ_DurationHistory_ProcessBatch_id_ProcessControlSeq_Day_UpToMs] UNIQUE (ProcessBatch_id, ProcessControlSeq, Day, UpToMs),
    CONSTRAINT [CK_DurationHistory_Runs] CHECK (Runs >= 1),
    CONSTRAINT [CK_DurationHistory_MinMs] CHECK (MinMs BETWEEN 0 AND MaxMs),
    CONSTRAINT [FK_DurationHistory_ProcessBatch_id] FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchCompletion_Instance' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchCompletion', N'U'))
CREATE INDEX [IX_BatchCompletion_Instance] ON BatchCompletion (BatchControl_id);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchCompletion_Started' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchCompletion', N'U'))
CREATE INDEX [IX_BatchCompletion_Started] ON BatchCompletion (FileProcess_id);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_FileWatchSeen_Intake' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.FileWatchSeen', N'U'))
CREATE INDEX [IX_FileWatchSeen_Intake] ON FileWatchSeen (FileProcess_id);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_Over' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
CREATE INDEX [IX_BatchControl_Over] ON BatchControl (ProcessBatch_id, Status, BatchControl_id) WHERE Status IN ('complete', 'cancelled');
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0012' WHERE version_num = '0011';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.columns WHERE name = N'ProcessingMode' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.ProcessBatch', N'U'))
ALTER TABLE ProcessBatch ADD ProcessingMode VARCHAR(20) COLLATE Latin1_General_100_CI_AS NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.columns WHERE name = N'RetryWaitSecs' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.ProcessBatch', N'U'))
ALTER TABLE ProcessBatch ADD RetryWaitSecs INTEGER NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.columns WHERE name = N'Origin' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.ProcessBatch', N'U'))
ALTER TABLE ProcessBatch ADD Origin NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Schedule', N'U') IS NULL
CREATE TABLE Schedule (
    Schedule_id BIGINT NOT NULL IDENTITY,
    ScheduleName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Entity NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    ScheduleType VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL,
    IntervalMinutes INTEGER NULL,
    RunTimes NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    RunDays NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    RunDaysOfMonth NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    WeekOfMonth NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    RunMonths NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    BetweenTimes NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL,
    EveryN INTEGER NOT NULL CONSTRAINT [DF_Schedule_EveryN] DEFAULT 1,
    StartDate NVARCHAR(10) COLLATE Latin1_General_100_BIN2 NULL,
    EndDate NVARCHAR(10) COLLATE Latin1_General_100_BIN2 NULL,
    RunAt NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL,
    Cron NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    TimeZone NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    CalendarName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    CalendarRule VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_Schedule_CalendarRule] DEFAULT 'business_days',
    GapPolicy VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_Schedule_GapPolicy] DEFAULT 'run',
    FoldPolicy VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_Schedule_FoldPolicy] DEFAULT 'once',
    CatchUp VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_Schedule_CatchUp] DEFAULT 'none',
    CatchUpMost INTEGER NULL,
    Overlap VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_Schedule_Overlap] DEFAULT 'queue',
    Jitter INTEGER NOT NULL CONSTRAINT [DF_Schedule_Jitter] DEFAULT 0,
    Enabled SMALLINT NOT NULL CONSTRAINT [DF_Schedule_Enabled] DEFAULT 1,
    NextRunTime DATETIME2(3) NULL,
    DecidedUntil DATETIME2(3) NULL CONSTRAINT [DF_Schedule_DecidedUntil] DEFAULT SYSUTCDATETIME(),
    TimingHash NVARCHAR(64) COLLATE Latin1_General_100_BIN2 NULL,
    Origin NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Description NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_Schedule_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_Schedule_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_Schedule] PRIMARY KEY (Schedule_id),
    CONSTRAINT [UQ_Schedule_ScheduleName] UNIQUE (ScheduleName),
    CONSTRAINT [CK_Schedule_ScheduleName] CHECK (ScheduleName <> ''),
    CONSTRAINT [CK_Schedule_Entity] CHECK (Entity <> ''),
    CONSTRAINT [CK_Schedule_IntervalMinutes] CHECK ((IntervalMinutes IS NOT NULL AND (ScheduleType = 'interval')) OR (IntervalMinutes IS NULL AND ScheduleType <> 'interval')),
    CONSTRAINT [CK_Schedule_IntervalMinutes_Bounds] CHECK (IntervalMinutes BETWEEN 1 AND 1440),
    CONSTRAINT [CK_Schedule_RunTimes] CHECK ((RunTimes IS NOT NULL AND (ScheduleType = 'daily' OR ScheduleType = 'weekly' OR ScheduleType = 'monthly' OR ScheduleType = 'monthly_dow')) OR (RunTimes IS NULL AND ScheduleType <> 'daily' AND ScheduleType <> 'weekly' AND ScheduleType <> 'monthly' AND ScheduleType <> 'monthly_dow')),
    CONSTRAINT [CK_Schedule_RunDays] CHECK (RunDays IS NOT NULL OR (ScheduleType <> 'weekly' AND ScheduleType <> 'monthly_dow')),
    CONSTRAINT [CK_Schedule_RunDaysOfMonth] CHECK (RunDaysOfMonth IS NOT NULL OR (ScheduleType <> 'monthly')),
    CONSTRAINT [CK_Schedule_WeekOfMonth] CHECK (WeekOfMonth IS NOT NULL OR (ScheduleType <> 'monthly_dow')),
    CONSTRAINT [CK_Schedule_RunAt] CHECK ((RunAt IS NOT NULL AND (ScheduleType = 'once')) OR (RunAt IS NULL AND ScheduleType <> 'once')),
    CONSTRAINT [CK_Schedule_Cron] CHECK ((Cron IS NOT NULL AND (ScheduleType = 'cron')) OR (Cron IS NULL AND ScheduleType <> 'cron')),
    CONSTRAINT [CK_Schedule_EveryN] CHECK (EveryN BETWEEN 1 AND 1000),
    CONSTRAINT [CK_Schedule_CatchUpMost] CHECK ((CatchUp = 'up_to' AND CatchUpMost IS NOT NULL) OR (CatchUp <> 'up_to' AND CatchUpMost IS NULL)),
    CONSTRAINT [CK_Schedule_CatchUpMost_Bounds] CHECK (CatchUpMost BETWEEN 1 AND 1000),
    CONSTRAINT [CK_Schedule_Jitter] CHECK (Jitter BETWEEN 0 AND 86400),
    CONSTRAINT [CK_Schedule_Enabled] CHECK (Enabled IN (0, 1)),
    CONSTRAINT [CK_Schedule_ScheduleType] CHECK (lower(ScheduleType) IN ('interval', 'daily', 'weekly', 'monthly', 'monthly_dow', 'once', 'cron')),
    CONSTRAINT [CK_Schedule_CalendarRule] CHECK (lower(CalendarRule) IN ('business_days', 'days_off', 'next', 'previous')),
    CONSTRAINT [CK_Schedule_GapPolicy] CHECK (lower(GapPolicy) IN ('run', 'skip')),
    CONSTRAINT [CK_Schedule_FoldPolicy] CHECK (lower(FoldPolicy) IN ('once', 'twice')),
    CONSTRAINT [CK_Schedule_CatchUp] CHECK (lower(CatchUp) IN ('none', 'latest', 'up_to')),
    CONSTRAINT [CK_Schedule_Overlap] CHECK (lower(Overlap) IN ('queue', 'skip'))
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.ScheduleBackfill', N'U') IS NULL
CREATE TABLE ScheduleBackfill (
    ScheduleBackfill_id BIGINT NOT NULL IDENTITY,
    Schedule_id BIGINT NOT NULL,
    Status VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_ScheduleBackfill_Status] DEFAULT 'running',
    FromTime DATETIME2(3) NOT NULL,
    UntilTime DATETIME2(3) NOT NULL,
    MostOpen INTEGER NOT NULL CONSTRAINT [DF_ScheduleBackfill_MostOpen] DEFAULT 1,
    Missed SMALLINT NOT NULL CONSTRAINT [DF_ScheduleBackfill_Missed] DEFAULT 0,
    DoneUntil DATETIME2(3) NULL,
    Fired BIGINT NOT NULL CONSTRAINT [DF_ScheduleBackfill_Fired] DEFAULT 0,
    Actor NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Reason NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_ScheduleBackfill_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_ScheduleBackfill_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_ScheduleBackfill] PRIMARY KEY (ScheduleBackfill_id),
    CONSTRAINT [CK_ScheduleBackfill_UntilTime] CHECK (FromTime <= UntilTime),
    CONSTRAINT [CK_ScheduleBackfill_MostOpen] CHECK (MostOpen BETWEEN 1 AND 1000),
    CONSTRAINT [CK_ScheduleBackfill_Missed] CHECK (Missed IN (0, 1)),
    CONSTRAINT [CK_ScheduleBackfill_Status] CHECK (lower(Status) IN ('running', 'complete', 'cancelled')),
    CONSTRAINT [FK_ScheduleBackfill_Schedule_id] FOREIGN KEY(Schedule_id) REFERENCES Schedule (Schedule_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.ScheduleFire', N'U') IS NULL
CREATE TABLE ScheduleFire (
    ScheduleFire_id BIGINT NOT NULL IDENTITY,
    Schedule_id BIGINT NOT NULL,
    FireKey NVARCHAR(100) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Outcome VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL,
    DueTime DATETIME2(3) NOT NULL,
    DueUntil DATETIME2(3) NULL,
    Instants INTEGER NOT NULL CONSTRAINT [DF_ScheduleFire_Instants] DEFAULT 1,
    Reason NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    FileProcess_id BIGINT NULL,
    ScheduleBackfill_id BIGINT NULL,
    ZoneRules NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_ScheduleFire_z_inserted] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_ScheduleFire] PRIMARY KEY (ScheduleFire_id),
    CONSTRAINT [UQ_ScheduleFire_Schedule_id_FireKey] UNIQUE (Schedule_id, FireKey),
    CONSTRAINT [CK_ScheduleFire_FireKey] CHECK (FireKey <> ''),
    CONSTRAINT [CK_ScheduleFire_Instants] CHECK (Instants >= 1),
    CONSTRAINT [CK_ScheduleFire_FileProcess_id] CHECK ((Outcome = 'fired' AND FileProcess_id IS NOT NULL) OR (Outcome <> 'fired' AND FileProcess_id IS NULL)),
    CONSTRAINT [CK_ScheduleFire_Outcome] CHECK (lower(Outcome) IN ('fired', 'skipped', 'purged')),
    CONSTRAINT [FK_ScheduleFire_Schedule_id] FOREIGN KEY(Schedule_id) REFERENCES Schedule (Schedule_id),
    CONSTRAINT [FK_ScheduleFire_FileProcess_id] FOREIGN KEY(FileProcess_id) REFERENCES FileProcess (FileProcess_id),
    CONSTRAINT [FK_ScheduleFire_ScheduleBackfill_id] FOREIGN KEY(ScheduleBackfill_id) REFERENCES ScheduleBackfill (ScheduleBackfill_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Calendar', N'U') IS NULL
CREATE TABLE Calendar (
    Calendar_id BIGINT NOT NULL IDENTITY,
    CalendarName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    BusinessDays NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NOT NULL CONSTRAINT [DF_Calendar_BusinessDays] DEFAULT 'Mon,Tue,Wed,Thu,Fri',
    ValidFrom NVARCHAR(10) COLLATE Latin1_General_100_BIN2 NULL,
    ValidUntil NVARCHAR(10) COLLATE Latin1_General_100_BIN2 NULL,
    Description NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_Calendar_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_Calendar_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_Calendar] PRIMARY KEY (Calendar_id),
    CONSTRAINT [UQ_Calendar_CalendarName] UNIQUE (CalendarName),
    CONSTRAINT [CK_Calendar_CalendarName] CHECK (CalendarName <> '')
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CalendarDay', N'U') IS NULL
CREATE TABLE CalendarDay (
    CalendarDay_id BIGINT NOT NULL IDENTITY,
    Calendar_id BIGINT NOT NULL,
    CalendarDate NVARCHAR(10) COLLATE Latin1_General_100_BIN2 NOT NULL,
    IsBusinessDay SMALLINT NOT NULL CONSTRAINT [DF_CalendarDay_IsBusinessDay] DEFAULT 0,
    Description NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_CalendarDay_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_CalendarDay_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_CalendarDay] PRIMARY KEY (CalendarDay_id),
    CONSTRAINT [UQ_CalendarDay_Calendar_id_CalendarDate] UNIQUE (Calendar_id, CalendarDate),
    CONSTRAINT [CK_CalendarDay_CalendarDate] CHECK (CalendarDate LIKE '____-__-__'),
    CONSTRAINT [CK_CalendarDay_IsBusinessDay] CHECK (IsBusinessDay IN (0, 1)),
    CONSTRAINT [FK_CalendarDay_Calendar_id] FOREIGN KEY(Calendar_id) REFERENCES Calendar (Calendar_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_Schedule_Due' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Schedule', N'U'))
CREATE INDEX [IX_Schedule_Due] ON Schedule (NextRunTime) WHERE Enabled = 1;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_ScheduleBackfill_Running' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.ScheduleBackfill', N'U'))
CREATE INDEX [IX_ScheduleBackfill_Running] ON ScheduleBackfill (ScheduleBackfill_id) WHERE Status = 'running';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_ScheduleFire_Due' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.ScheduleFire', N'U'))
CREATE INDEX [IX_ScheduleFire_Due] ON ScheduleFire (Schedule_id, DueTime);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_ScheduleFire_FileProcess' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.ScheduleFire', N'U'))
CREATE INDEX [IX_ScheduleFire_FileProcess] ON ScheduleFire (FileProcess_id);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0013' WHERE version_num = '0012';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.columns WHERE name = N'SchedulerZone' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Controller', N'U'))
ALTER TABLE Controller ADD SchedulerZone NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0014' WHERE version_num = '0013';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.OperatorRequest', N'U') IS NULL
CREATE TABLE OperatorRequest (
    OperatorRequest_id BIGINT NOT NULL IDENTITY,
    Action NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NOT NULL,
    BatchControl_id BIGINT NULL,
    ProcessBatchName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Arguments NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    Reason NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    Actor NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL CONSTRAINT [DF_OperatorRequest_Actor] DEFAULT ORIGINAL_LOGIN(),
    Status VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_OperatorRequest_Status] DEFAULT 'requested',
    Answer NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    AnsweredBy NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    AnsweredTime DATETIME2(3) NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_OperatorRequest_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_OperatorRequest_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_OperatorRequest] PRIMARY KEY (OperatorRequest_id),
    CONSTRAINT [CK_OperatorRequest_Action] CHECK (Action <> ''),
    CONSTRAINT [CK_OperatorRequest_Actor] CHECK (Actor <> ''),
    CONSTRAINT [CK_OperatorRequest_Status] CHECK (lower(Status) IN ('requested', 'done', 'refused'))
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_OperatorRequest_Open' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.OperatorRequest', N'U'))
CREATE INDEX [IX_OperatorRequest_Open] ON OperatorRequest (OperatorRequest_id) WHERE Status = 'requested';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0015' WHERE version_num = '0014';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.columns WHERE name = N'DefVersion' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
ALTER TABLE BatchControl ADD DefVersion INTEGER NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.columns WHERE name = N'DefVersion' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchProcessHistory', N'U'))
ALTER TABLE BatchProcessHistory ADD DefVersion INTEGER NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchVersion', N'U') IS NULL
CREATE TABLE BatchVersion (
    BatchVersion_id BIGINT NOT NULL IDENTITY,
    ProcessBatch_id BIGINT NOT NULL,
    ProcessBatchName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    DefVersion INTEGER NOT NULL,
    Fingerprint NVARCHAR(64) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Content NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_BatchVersion_z_inserted] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_BatchVersion] PRIMARY KEY (BatchVersion_id),
    CONSTRAINT [UQ_BatchVersion_ProcessBatch_id_DefVersion] UNIQUE (ProcessBatch_id, DefVersion),
    CONSTRAINT [CK_BatchVersion_DefVersion] CHECK (DefVersion >= 1)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.AppliedDefinition', N'U') IS NULL
CREATE TABLE AppliedDefinition (
    AppliedDefinition_id BIGINT NOT NULL IDENTITY,
    Kind NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Name NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Owner NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Exported NVARCHAR(64) COLLATE Latin1_General_100_BIN2 NULL,
    Content NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Actor NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_AppliedDefinition_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_AppliedDefinition_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_AppliedDefinition] PRIMARY KEY (AppliedDefinition_id),
    CONSTRAINT [UQ_AppliedDefinition_Kind_Name] UNIQUE (Kind, Name)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0019' WHERE version_num = '0015';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

COMMIT TRANSACTION;
GO

SET NOEXEC OFF;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.alembic_version', N'U') IS NULL OR OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.FileProcess', N'U') IS NULL
    RAISERROR(N'batchctl: nothing was made; see the error above.', 16, 1);
ELSE
    SELECT version_num AS batchctl_schema FROM alembic_version;
GO
