-- The control database of batchctl on SQL Server 2017 or later, schema 0051.
--
-- In SSMS: choose the database, then execute. With sqlcmd: sqlcmd -S SERVER -d DATABASE -I -b -i batchctl.sql
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
        N'ProcessBatch', N'Pool', N'Variable', N'Resource', N'Schedule', N'Calendar', N'DataTrigger', N'FileWatch', N'Setting', N'BatchVersion', N'AppliedDefinition', N'OperatorRequest', N'BatchFreeze', N'Drain', N'Incident', N'AuditLog', N'AuditSeal', N'ZoneOffset', N'SchedulerLog', N'FileProcess', N'Controller', N'Leader', N'NamedLock', N'ProcessControl', N'BatchResource', N'BatchDependency', N'CalendarDay', N'AlertDelivery', N'FileWatchSeen', N'ScheduleBackfill', N'BatchControl', N'DurationHistory', N'KeptForecast', N'ControllerPool', N'Confirmation', N'Note', N'WebUser', N'WebSession', N'ApiToken', N'LoginBackOff', N'WebRequest', N'ScheduleFire', N'BatchProcessHistory', N'BatchCompletion', N'StepOutput'))
   AND OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.alembic_version', N'U') IS NULL
BEGIN
    RAISERROR(N'batchctl: there are tables here that batchctl did not make; choose another database or schema.', 16, 1);
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.alembic_version', N'U') IS NOT NULL
BEGIN
    -- Inside, because a statement that names a table is refused where there is none, whatever else it asks.
    IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.ProcessBatch', N'U') IS NULL
       OR NOT EXISTS (SELECT 1 FROM alembic_version)
       OR EXISTS (SELECT 1 FROM alembic_version WHERE version_num NOT IN ('0045', '0046', '0047', '0048', '0049', '0050', '0051'))
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

-- A batch: which entity it takes, how its instances are made, in what order and how often they are tried.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.ProcessBatch', N'U') IS NULL
CREATE TABLE ProcessBatch (
    ProcessBatch_id BIGINT NOT NULL IDENTITY,
    ProcessBatchName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Entity NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Enabled SMALLINT NOT NULL CONSTRAINT [DF_ProcessBatch_Enabled] DEFAULT 1,
    Seq INTEGER NOT NULL CONSTRAINT [DF_ProcessBatch_Seq] DEFAULT 100,
    Priority INTEGER NULL,
    ProcessingMode VARCHAR(20) COLLATE Latin1_General_100_CI_AS NULL,
    Populator NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL CONSTRAINT [DF_ProcessBatch_Populator] DEFAULT 'pattern',
    PopulatorArgs NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    PopulatorOn VARCHAR(20) COLLATE Latin1_General_100_CI_AS NULL,
    DependencyMode VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL
        CONSTRAINT [DF_ProcessBatch_DependencyMode] DEFAULT 'all',
    OnFailure VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_ProcessBatch_OnFailure] DEFAULT 'hold_batch',
    RetryCount INTEGER NOT NULL CONSTRAINT [DF_ProcessBatch_RetryCount] DEFAULT 0,
    RetryWaitMins INTEGER NOT NULL CONSTRAINT [DF_ProcessBatch_RetryWaitMins] DEFAULT 5,
    RetryWaitSecs INTEGER NULL,
    MaxConcurrent INTEGER NOT NULL CONSTRAINT [DF_ProcessBatch_MaxConcurrent] DEFAULT 1,
    MaxPerMinute INTEGER NULL,
    Pool NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL,
    DuplicateCheck SMALLINT NOT NULL CONSTRAINT [DF_ProcessBatch_DuplicateCheck] DEFAULT 1,
    ArriveBy NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL,
    StartBy NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL,
    FinishBy NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL,
    ExpectedOn NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL,
    ExpectedCalendar NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Tags NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Origin NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
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
    CONSTRAINT [CK_ProcessBatch_Priority] CHECK (Priority BETWEEN 0 AND 1000),
    CONSTRAINT [CK_ProcessBatch_MaxPerMinute] CHECK (MaxPerMinute BETWEEN 1 AND 100000),
    CONSTRAINT [CK_ProcessBatch_Pool] CHECK (Pool <> ''),
    CONSTRAINT [CK_ProcessBatch_OnFailure] CHECK (lower(OnFailure) IN ('hold_batch', 'stop_all', 'continue')),
    CONSTRAINT [CK_ProcessBatch_DependencyMode] CHECK (lower(DependencyMode) IN ('all', 'any')),
    CONSTRAINT [CK_ProcessBatch_Entity] CHECK (Entity <> ''),
    CONSTRAINT [CK_ProcessBatch_Populator] CHECK (Populator <> ''),
    CONSTRAINT [CK_ProcessBatch_ProcessingMode] CHECK (lower(ProcessingMode) IN ('manual', 'scheduled', 'triggered')),
    CONSTRAINT [CK_ProcessBatch_RetryWaitSecs] CHECK (RetryWaitSecs BETWEEN 0 AND 31536000),
    CONSTRAINT [CK_ProcessBatch_ArriveBy] CHECK (lower(trim(ArriveBy)) = 'none' OR (trim(ArriveBy) LIKE '[0-2][0-9]:[0-5][0-9]'
        AND trim(ArriveBy) NOT LIKE '2[4-9]%')),
    CONSTRAINT [CK_ProcessBatch_StartBy] CHECK (lower(trim(StartBy)) = 'none' OR (trim(StartBy) LIKE '[0-2][0-9]:[0-5][0-9]'
        AND trim(StartBy) NOT LIKE '2[4-9]%')),
    CONSTRAINT [CK_ProcessBatch_FinishBy] CHECK (lower(trim(FinishBy)) = 'none' OR (trim(FinishBy) LIKE '[0-2][0-9]:[0-5][0-9]'
        AND trim(FinishBy) NOT LIKE '2[4-9]%')),
    CONSTRAINT [CK_ProcessBatch_ExpectedOn]
        CHECK (LEN(replace(',' + replace(replace(lower(replace(ExpectedOn, ' ', '')), '-', ','), ',', ',,') + ',', ',mon,', '')) + LEN(replace(',' + replace(replace(lower(replace(ExpectedOn, ' ', '')), '-', ','), ',', ',,') + ',', ',tue,', '')) + LEN(replace(',' + replace(replace(lower(replace(ExpectedOn, ' ', '')), '-', ','), ',', ',,') + ',', ',wed,', '')) + LEN(replace(',' + replace(replace(lower(replace(ExpectedOn, ' ', '')), '-', ','), ',', ',,') + ',', ',thu,', '')) + LEN(replace(',' + replace(replace(lower(replace(ExpectedOn, ' ', '')), '-', ','), ',', ',,') + ',', ',fri,', '')) + LEN(replace(',' + replace(replace(lower(replace(ExpectedOn, ' ', '')), '-', ','), ',', ',,') + ',', ',sat,', '')) + LEN(replace(',' + replace(replace(lower(replace(ExpectedOn, ' ', '')), '-', ','), ',', ',,') + ',', ',sun,', '')) = 6 * LEN(',' + replace(replace(lower(replace(ExpectedOn, ' ', '')), '-', ','), ',', ',,') + ',') AND replace(replace(ExpectedOn, ' ', '<>'), '><', '') NOT LIKE '%[^-,]<>[^-,]%' AND lower(replace(ExpectedOn, ' ', '')) NOT LIKE '%-[^-,]-%' AND lower(replace(ExpectedOn, ' ', '')) NOT LIKE '%-[^-,][^-,]-%' AND lower(replace(ExpectedOn, ' ', '')) NOT LIKE '%-[^-,][^-,][^-,]-%'),
    CONSTRAINT [CK_ProcessBatch_PopulatorOn] CHECK (lower(PopulatorOn) IN ('filename', 'data', 'entity'))
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- Where steps may run: the controllers that serve a pool begin its steps, and no others.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Pool', N'U') IS NULL
CREATE TABLE Pool (
    Pool_id BIGINT NOT NULL IDENTITY,
    PoolName NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Kind VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_Pool_Kind] DEFAULT 'controllers',
    MaxConcurrent INTEGER NULL,
    Enabled SMALLINT NOT NULL CONSTRAINT [DF_Pool_Enabled] DEFAULT 1,
    Description NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_Pool_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_Pool_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_Pool] PRIMARY KEY (Pool_id),
    CONSTRAINT [UQ_Pool_PoolName] UNIQUE (PoolName),
    CONSTRAINT [CK_Pool_PoolName] CHECK (PoolName <> '' AND PoolName = lower(PoolName)),
    CONSTRAINT [CK_Pool_Kind] CHECK (lower(Kind) IN ('controllers', 'dask', 'agents')),
    CONSTRAINT [CK_Pool_MaxConcurrent] CHECK (MaxConcurrent BETWEEN 1 AND 1000),
    CONSTRAINT [CK_Pool_Enabled] CHECK (Enabled IN (0, 1))
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- What {var:Name} stands for in definitions, so that the same ones serve test and production.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Variable', N'U') IS NULL
CREATE TABLE Variable (
    Variable_id BIGINT NOT NULL IDENTITY,
    VariableName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Value NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Description NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_Variable_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_Variable_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_Variable] PRIMARY KEY (Variable_id),
    CONSTRAINT [UQ_Variable_VariableName] UNIQUE (VariableName),
    CONSTRAINT [CK_Variable_VariableName] CHECK (VariableName <> '')
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- What steps share, such as an FTP server, and how many units of it there are.
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

-- When rows of an entity are put into FileProcess by themselves.
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
    CalendarRule VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL
        CONSTRAINT [DF_Schedule_CalendarRule] DEFAULT 'business_days',
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
    CONSTRAINT [CK_Schedule_IntervalMinutes] CHECK ((IntervalMinutes IS NOT NULL AND (ScheduleType = 'interval'))
        OR (IntervalMinutes IS NULL AND ScheduleType <> 'interval')),
    CONSTRAINT [CK_Schedule_IntervalMinutes_Bounds] CHECK (IntervalMinutes BETWEEN 1 AND 1440),
    CONSTRAINT [CK_Schedule_RunTimes] CHECK ((RunTimes IS NOT NULL AND (ScheduleType = 'daily' OR ScheduleType = 'weekly'
        OR ScheduleType = 'monthly' OR ScheduleType = 'monthly_dow')) OR (RunTimes IS NULL AND ScheduleType <> 'daily'
        AND ScheduleType <> 'weekly' AND ScheduleType <> 'monthly' AND ScheduleType <> 'monthly_dow')),
    CONSTRAINT [CK_Schedule_RunDays] CHECK (RunDays IS NOT NULL OR (ScheduleType <> 'weekly'
        AND ScheduleType <> 'monthly_dow')),
    CONSTRAINT [CK_Schedule_RunDaysOfMonth] CHECK (RunDaysOfMonth IS NOT NULL OR (ScheduleType <> 'monthly')),
    CONSTRAINT [CK_Schedule_WeekOfMonth] CHECK (WeekOfMonth IS NOT NULL OR (ScheduleType <> 'monthly_dow')),
    CONSTRAINT [CK_Schedule_RunAt] CHECK ((RunAt IS NOT NULL AND (ScheduleType = 'once')) OR (RunAt IS NULL
        AND ScheduleType <> 'once')),
    CONSTRAINT [CK_Schedule_Cron] CHECK ((Cron IS NOT NULL AND (ScheduleType = 'cron')) OR (Cron IS NULL
        AND ScheduleType <> 'cron')),
    CONSTRAINT [CK_Schedule_EveryN] CHECK (EveryN BETWEEN 1 AND 1000),
    CONSTRAINT [CK_Schedule_CatchUpMost] CHECK ((CatchUp = 'up_to' AND CatchUpMost IS NOT NULL) OR (CatchUp <> 'up_to'
        AND CatchUpMost IS NULL)),
    CONSTRAINT [CK_Schedule_CatchUpMost_Bounds] CHECK (CatchUpMost BETWEEN 1 AND 1000),
    CONSTRAINT [CK_Schedule_Jitter] CHECK (Jitter BETWEEN 0 AND 86400),
    CONSTRAINT [CK_Schedule_Enabled] CHECK (Enabled IN (0, 1)),
    CONSTRAINT [CK_Schedule_ScheduleType]
        CHECK (lower(ScheduleType) IN ('interval', 'daily', 'weekly', 'monthly', 'monthly_dow', 'once', 'cron')),
    CONSTRAINT [CK_Schedule_CalendarRule] CHECK (lower(CalendarRule) IN ('business_days', 'days_off', 'next', 'previous')),
    CONSTRAINT [CK_Schedule_GapPolicy] CHECK (lower(GapPolicy) IN ('run', 'skip')),
    CONSTRAINT [CK_Schedule_FoldPolicy] CHECK (lower(FoldPolicy) IN ('once', 'twice')),
    CONSTRAINT [CK_Schedule_CatchUp] CHECK (lower(CatchUp) IN ('none', 'latest', 'up_to')),
    CONSTRAINT [CK_Schedule_Overlap] CHECK (lower(Overlap) IN ('queue', 'skip')),
    CONSTRAINT [CK_Schedule_RunTimes_Form] CHECK (',' + replace(RunTimes, ' ', '') + ',' NOT LIKE '%,[^0-2]%'
        AND ',' + replace(RunTimes, ' ', '') + ',' NOT LIKE '%,2[^0-3]%'
        AND ',' + replace(RunTimes, ' ', '') + ',' NOT LIKE '%,[01][^0-9]%'
        AND ',' + replace(RunTimes, ' ', '') + ',' NOT LIKE '%,__[^:]%'
        AND ',' + replace(RunTimes, ' ', '') + ',' NOT LIKE '%,___[^0-5]%'
        AND ',' + replace(RunTimes, ' ', '') + ',' NOT LIKE '%,____[^0-9]%'
        AND ',' + replace(RunTimes, ' ', '') + ',' NOT LIKE '%,_____[^,]%'),
    CONSTRAINT [CK_Schedule_BetweenTimes]
        CHECK (replace(BetweenTimes, ' ', '') LIKE '[0-2][0-9]:[0-5][0-9]-[0-2][0-9]:[0-5][0-9]'
        AND replace(BetweenTimes, ' ', '') NOT LIKE '2[4-9]%' AND replace(BetweenTimes, ' ', '') NOT LIKE '%-2[4-9]%'),
    CONSTRAINT [CK_Schedule_RunDays_Form]
        CHECK (LEN(replace(',' + replace(replace(lower(replace(RunDays, ' ', '')), '-', ','), ',', ',,') + ',', ',mon,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunDays, ' ', '')), '-', ','), ',', ',,') + ',', ',tue,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunDays, ' ', '')), '-', ','), ',', ',,') + ',', ',wed,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunDays, ' ', '')), '-', ','), ',', ',,') + ',', ',thu,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunDays, ' ', '')), '-', ','), ',', ',,') + ',', ',fri,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunDays, ' ', '')), '-', ','), ',', ',,') + ',', ',sat,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunDays, ' ', '')), '-', ','), ',', ',,') + ',', ',sun,', '')) = 6 * LEN(',' + replace(replace(lower(replace(RunDays, ' ', '')), '-', ','), ',', ',,') + ',') AND replace(replace(RunDays, ' ', '<>'), '><', '') NOT LIKE '%[^-,]<>[^-,]%' AND lower(replace(RunDays, ' ', '')) NOT LIKE '%-[^-,]-%' AND lower(replace(RunDays, ' ', '')) NOT LIKE '%-[^-,][^-,]-%' AND lower(replace(RunDays, ' ', '')) NOT LIKE '%-[^-,][^-,][^-,]-%'),
    CONSTRAINT [CK_Schedule_WeekOfMonth_Form]
        CHECK (LEN(replace(',' + replace(lower(replace(WeekOfMonth, ' ', '')), ',', ',,') + ',', ',first,', '')) + LEN(replace(',' + replace(lower(replace(WeekOfMonth, ' ', '')), ',', ',,') + ',', ',second,', '')) + LEN(replace(',' + replace(lower(replace(WeekOfMonth, ' ', '')), ',', ',,') + ',', ',third,', '')) + LEN(replace(',' + replace(lower(replace(WeekOfMonth, ' ', '')), ',', ',,') + ',', ',fourth,', '')) + LEN(replace(',' + replace(lower(replace(WeekOfMonth, ' ', '')), ',', ',,') + ',', ',fifth,', '')) + LEN(replace(',' + replace(lower(replace(WeekOfMonth, ' ', '')), ',', ',,') + ',', ',last,', '')) = 5 * LEN(',' + replace(lower(replace(WeekOfMonth, ' ', '')), ',', ',,') + ',') AND replace(replace(WeekOfMonth, ' ', '<>'), '><', '') NOT LIKE '%[^-,]<>[^-,]%'),
    CONSTRAINT [CK_Schedule_RunAt_Form]
        CHECK ((trim(RunAt) LIKE '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9][ T][0-2][0-9]:[0-5][0-9]'
        OR trim(RunAt) LIKE '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9][ T][0-2][0-9]:[0-5][0-9]:[0-5][0-9]')
        AND trim(RunAt) NOT LIKE '_____00%' AND trim(RunAt) NOT LIKE '_____1[3-9]%' AND trim(RunAt) NOT LIKE '________00%'
        AND trim(RunAt) NOT LIKE '________3[2-9]%' AND trim(RunAt) NOT LIKE '%[ T]2[4-9]%'),
    CONSTRAINT [CK_Schedule_StartDate] CHECK (trim(StartDate) LIKE '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'
        AND trim(StartDate) NOT LIKE '_____00%' AND trim(StartDate) NOT LIKE '_____1[3-9]%'
        AND trim(StartDate) NOT LIKE '________00%' AND trim(StartDate) NOT LIKE '________3[2-9]%'),
    CONSTRAINT [CK_Schedule_EndDate] CHECK (trim(EndDate) LIKE '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'
        AND trim(EndDate) NOT LIKE '_____00%' AND trim(EndDate) NOT LIKE '_____1[3-9]%'
        AND trim(EndDate) NOT LIKE '________00%' AND trim(EndDate) NOT LIKE '________3[2-9]%'),
    CONSTRAINT [CK_Schedule_RunMonths]
        CHECK (LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',jan,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',feb,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',mar,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',apr,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',may,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',jun,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',jul,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',aug,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',sep,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',oct,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',nov,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',dec,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',1,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',2,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',3,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',4,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',5,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',6,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',7,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',8,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',9,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',10,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',11,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',12,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',01,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',02,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',03,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',04,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',05,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',06,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',07,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',08,', '')) + LEN(replace(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',', ',09,', '')) = 32 * LEN(',' + replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') + ',') AND replace(replace(RunMonths, ' ', '<>'), '><', '') NOT LIKE '%[^-,]<>[^-,]%' AND lower(replace(RunMonths, ' ', '')) NOT LIKE '%-[^-,]-%' AND lower(replace(RunMonths, ' ', '')) NOT LIKE '%-[^-,][^-,]-%' AND lower(replace(RunMonths, ' ', '')) NOT LIKE '%-[^-,][^-,][^-,]-%'),
    CONSTRAINT [CK_Schedule_RunDaysOfMonth_Form]
        CHECK (LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',1,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',2,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',3,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',4,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',5,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',6,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',7,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',8,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',9,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',10,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',11,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',12,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',13,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',14,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',15,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',16,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',17,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',18,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',19,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',20,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',21,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',22,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',23,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',24,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',25,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',26,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',27,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',28,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',29,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',30,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',31,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',01,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',02,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',03,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',04,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',05,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',06,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',07,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',08,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',09,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',last,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_1,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_2,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_3,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_4,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_5,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_6,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_7,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_8,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_9,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_10,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_11,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_12,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_13,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_14,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_15,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_16,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_17,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_18,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_19,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_20,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_21,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_22,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_23,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_01,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_02,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_03,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_04,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_05,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_06,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_07,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_08,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_09,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',business_last,', '')) = 73 * LEN(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',') AND replace(replace(RunDaysOfMonth, ' ', '<>'), '><', '') NOT LIKE '%[^-,]<>[^-,]%'),
    CONSTRAINT [CK_Schedule_RunMonths_Days]
        CHECK (NOT ((LEN(replace(',' + replace(lower(replace(RunMonths, ' ', '')), ',', ',,') + ',', ',feb,', '')) + LEN(replace(',' + replace(lower(replace(RunMonths, ' ', '')), ',', ',,') + ',', ',2,', '')) + LEN(replace(',' + replace(lower(replace(RunMonths, ' ', '')), ',', ',,') + ',', ',02,', '')) = 2 * LEN(',' + replace(lower(replace(RunMonths, ' ', '')), ',', ',,') + ',') AND replace(replace(RunMonths, ' ', '<>'), '><', '') NOT LIKE '%[^-,]<>[^-,]%') AND (LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',30,', '')) + LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',31,', '')) = 1 * LEN(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',') AND replace(replace(RunDaysOfMonth, ' ', '<>'), '><', '') NOT LIKE '%[^-,]<>[^-,]%')) AND NOT ((LEN(replace(',' + replace(lower(replace(RunMonths, ' ', '')), ',', ',,') + ',', ',feb,', '')) + LEN(replace(',' + replace(lower(replace(RunMonths, ' ', '')), ',', ',,') + ',', ',apr,', '')) + LEN(replace(',' + replace(lower(replace(RunMonths, ' ', '')), ',', ',,') + ',', ',jun,', '')) + LEN(replace(',' + replace(lower(replace(RunMonths, ' ', '')), ',', ',,') + ',', ',sep,', '')) + LEN(replace(',' + replace(lower(replace(RunMonths, ' ', '')), ',', ',,') + ',', ',nov,', '')) + LEN(replace(',' + replace(lower(replace(RunMonths, ' ', '')), ',', ',,') + ',', ',2,', '')) + LEN(replace(',' + replace(lower(replace(RunMonths, ' ', '')), ',', ',,') + ',', ',4,', '')) + LEN(replace(',' + replace(lower(replace(RunMonths, ' ', '')), ',', ',,') + ',', ',6,', '')) + LEN(replace(',' + replace(lower(replace(RunMonths, ' ', '')), ',', ',,') + ',', ',9,', '')) + LEN(replace(',' + replace(lower(replace(RunMonths, ' ', '')), ',', ',,') + ',', ',11,', '')) + LEN(replace(',' + replace(lower(replace(RunMonths, ' ', '')), ',', ',,') + ',', ',02,', '')) + LEN(replace(',' + replace(lower(replace(RunMonths, ' ', '')), ',', ',,') + ',', ',04,', '')) + LEN(replace(',' + replace(lower(replace(RunMonths, ' ', '')), ',', ',,') + ',', ',06,', '')) + LEN(replace(',' + replace(lower(replace(RunMonths, ' ', '')), ',', ',,') + ',', ',09,', '')) = 13 * LEN(',' + replace(lower(replace(RunMonths, ' ', '')), ',', ',,') + ',') AND replace(replace(RunMonths, ' ', '<>'), '><', '') NOT LIKE '%[^-,]<>[^-,]%') AND (LEN(replace(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',', ',31,', '')) = 0 * LEN(',' + replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') + ',') AND replace(replace(RunDaysOfMonth, ' ', '<>'), '><', '') NOT LIKE '%[^-,]<>[^-,]%'))),
    CONSTRAINT [CK_Schedule_RunTimes_Blanks] CHECK (replace(replace(RunTimes, ' ', '<>'), '><', '') NOT LIKE '%[^-,]<>[^-,]%'),
    CONSTRAINT [CK_Schedule_BetweenTimes_Blanks]
        CHECK (replace(replace(BetweenTimes, ' ', '<>'), '><', '') NOT LIKE '%[^-,]<>[^-,]%')
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

-- A named set of business days.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Calendar', N'U') IS NULL
CREATE TABLE Calendar (
    Calendar_id BIGINT NOT NULL IDENTITY,
    CalendarName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    BusinessDays NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NOT NULL
        CONSTRAINT [DF_Calendar_BusinessDays] DEFAULT 'Mon,Tue,Wed,Thu,Fri',
    ValidFrom NVARCHAR(10) COLLATE Latin1_General_100_BIN2 NULL,
    ValidUntil NVARCHAR(10) COLLATE Latin1_General_100_BIN2 NULL,
    Description NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_Calendar_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_Calendar_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_Calendar] PRIMARY KEY (Calendar_id),
    CONSTRAINT [UQ_Calendar_CalendarName] UNIQUE (CalendarName),
    CONSTRAINT [CK_Calendar_CalendarName] CHECK (CalendarName <> ''),
    CONSTRAINT [CK_Calendar_BusinessDays] CHECK (trim(BusinessDays) = ''
        OR (LEN(replace(',' + replace(replace(lower(replace(BusinessDays, ' ', '')), '-', ','), ',', ',,') + ',', ',mon,', '')) + LEN(replace(',' + replace(replace(lower(replace(BusinessDays, ' ', '')), '-', ','), ',', ',,') + ',', ',tue,', '')) + LEN(replace(',' + replace(replace(lower(replace(BusinessDays, ' ', '')), '-', ','), ',', ',,') + ',', ',wed,', '')) + LEN(replace(',' + replace(replace(lower(replace(BusinessDays, ' ', '')), '-', ','), ',', ',,') + ',', ',thu,', '')) + LEN(replace(',' + replace(replace(lower(replace(BusinessDays, ' ', '')), '-', ','), ',', ',,') + ',', ',fri,', '')) + LEN(replace(',' + replace(replace(lower(replace(BusinessDays, ' ', '')), '-', ','), ',', ',,') + ',', ',sat,', '')) + LEN(replace(',' + replace(replace(lower(replace(BusinessDays, ' ', '')), '-', ','), ',', ',,') + ',', ',sun,', '')) = 6 * LEN(',' + replace(replace(lower(replace(BusinessDays, ' ', '')), '-', ','), ',', ',,') + ',') AND replace(replace(BusinessDays, ' ', '<>'), '><', '') NOT LIKE '%[^-,]<>[^-,]%' AND lower(replace(BusinessDays, ' ', '')) NOT LIKE '%-[^-,]-%' AND lower(replace(BusinessDays, ' ', '')) NOT LIKE '%-[^-,][^-,]-%' AND lower(replace(BusinessDays, ' ', '')) NOT LIKE '%-[^-,][^-,][^-,]-%')),
    CONSTRAINT [CK_Calendar_ValidFrom] CHECK (trim(ValidFrom) LIKE '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'
        AND trim(ValidFrom) NOT LIKE '_____00%' AND trim(ValidFrom) NOT LIKE '_____1[3-9]%'
        AND trim(ValidFrom) NOT LIKE '________00%' AND trim(ValidFrom) NOT LIKE '________3[2-9]%'),
    CONSTRAINT [CK_Calendar_ValidUntil] CHECK (trim(ValidUntil) LIKE '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'
        AND trim(ValidUntil) NOT LIKE '_____00%' AND trim(ValidUntil) NOT LIKE '_____1[3-9]%'
        AND trim(ValidUntil) NOT LIKE '________00%' AND trim(ValidUntil) NOT LIKE '________3[2-9]%')
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- A table of another database whose new rows start an entity.
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
    CONSTRAINT [CK_DataTrigger_Enabled] CHECK (Enabled IN (0, 1)),
    CONSTRAINT [CK_DataTrigger_ConnectionName] CHECK (ConnectionName <> ''),
    CONSTRAINT [CK_DataTrigger_TableName] CHECK (TableName <> ''),
    CONSTRAINT [CK_DataTrigger_StatusColumn] CHECK (StatusColumn <> '')
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- A folder whose files become rows of FileProcess.
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
    DuplicateKey VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL
        CONSTRAINT [DF_FileWatch_DuplicateKey] DEFAULT 'name_size_time',
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
    CONSTRAINT [CK_FileWatch_DuplicateKey] CHECK (lower(DuplicateKey) IN ('name', 'name_size_time', 'content')),
    CONSTRAINT [CK_FileWatch_Folder] CHECK (Folder <> '')
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- What can be set while controllers run.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Setting', N'U') IS NULL
CREATE TABLE Setting (
    Setting_id BIGINT NOT NULL IDENTITY,
    Name NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Value NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_Setting_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_Setting_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_Setting] PRIMARY KEY (Setting_id),
    CONSTRAINT [UQ_Setting_Name] UNIQUE (Name),
    CONSTRAINT [CK_Setting_Name] CHECK (Name <> ''),
    CONSTRAINT [CK_Setting_MaxConcurrent] CHECK (Name <> 'MaxConcurrent'
        OR (TRIM(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)) FROM Value) NOT LIKE '%[^0-9]%' AND LEN(TRIM(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)) FROM Value)) BETWEEN 1 AND 18))
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- What a batch and its steps were at each version.
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

-- Which definitions came from which file or module.
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

-- What people ask for by a row, and what was answered.
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
    CONSTRAINT [CK_OperatorRequest_Status] CHECK (lower(Status) IN ('requested', 'done', 'refused')),
    CONSTRAINT [CK_OperatorRequest_Action_Word]
        CHECK (lower(TRIM(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)) FROM Action)) IN ('rerun', 'skip', 'pause', 'resume', 'cancel', 'enable', 'disable', 'freeze', 'thaw', 'acknowledge', 'snooze', 'retry', 'reject', 'resend', 'drain', 'undrain', 'note', 'confirm', 'refuse', 'run', 'backfill', 'accept') OR NOT (Status = 'requested'))
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

-- What may not start for now, and who said so.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchFreeze', N'U') IS NULL
CREATE TABLE BatchFreeze (
    BatchFreeze_id BIGINT NOT NULL IDENTITY,
    ProcessBatchName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Tag NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Reason NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Actor NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL CONSTRAINT [DF_BatchFreeze_Actor] DEFAULT ORIGINAL_LOGIN(),
    UntilTime DATETIME2(3) NULL,
    ThawedTime DATETIME2(3) NULL,
    ThawedBy NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_BatchFreeze_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_BatchFreeze_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_BatchFreeze] PRIMARY KEY (BatchFreeze_id),
    CONSTRAINT [CK_BatchFreeze_Reason] CHECK (Reason <> ''),
    CONSTRAINT [CK_BatchFreeze_Actor] CHECK (Actor <> ''),
    CONSTRAINT [CK_BatchFreeze_Tag] CHECK (ProcessBatchName IS NULL OR Tag IS NULL)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchFreeze_Standing' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchFreeze', N'U'))
CREATE INDEX [IX_BatchFreeze_Standing] ON BatchFreeze (BatchFreeze_id) WHERE ThawedTime IS NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- A host or a pool on which nothing new begins, until somebody ends that.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Drain', N'U') IS NULL
CREATE TABLE Drain (
    Drain_id BIGINT NOT NULL IDENTITY,
    Host NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    PoolName NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL,
    Reason NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Actor NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL CONSTRAINT [DF_Drain_Actor] DEFAULT ORIGINAL_LOGIN(),
    UndrainedTime DATETIME2(3) NULL,
    UndrainedBy NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_Drain_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_Drain_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_Drain] PRIMARY KEY (Drain_id),
    CONSTRAINT [CK_Drain_Reason] CHECK (Reason <> ''),
    CONSTRAINT [CK_Drain_Actor] CHECK (Actor <> ''),
    CONSTRAINT [CK_Drain_Host] CHECK ((Host IS NULL AND PoolName IS NOT NULL) OR (Host IS NOT NULL AND PoolName IS NULL))
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_Drain_Standing' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Drain', N'U'))
CREATE INDEX [IX_Drain_Standing] ON Drain (Drain_id) WHERE UndrainedTime IS NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- What people have to know of, until it is over.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Incident', N'U') IS NULL
CREATE TABLE Incident (
    Incident_id BIGINT NOT NULL IDENTITY,
    Kind VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL,
    IncidentKey NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Severity VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL,
    Status VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_Incident_Status] DEFAULT 'open',
    Subject NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Message NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Detail NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    NextStep NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    ProcessBatch_id BIGINT NULL,
    ProcessControlSeq INTEGER NULL,
    BatchControl_id BIGINT NULL,
    Evidence BIGINT NOT NULL CONSTRAINT [DF_Incident_Evidence] DEFAULT 0,
    Occurrences INTEGER NOT NULL CONSTRAINT [DF_Incident_Occurrences] DEFAULT 1,
    OpenedTime DATETIME2(3) NOT NULL CONSTRAINT [DF_Incident_OpenedTime] DEFAULT SYSUTCDATETIME(),
    LastSeen DATETIME2(3) NOT NULL CONSTRAINT [DF_Incident_LastSeen] DEFAULT SYSUTCDATETIME(),
    AcknowledgedTime DATETIME2(3) NULL,
    AcknowledgedBy NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    SnoozedUntil DATETIME2(3) NULL,
    AlertsMade INTEGER NOT NULL CONSTRAINT [DF_Incident_AlertsMade] DEFAULT 0,
    NextAlertTime DATETIME2(3) NULL,
    EscalatedTime DATETIME2(3) NULL,
    ResolvedTime DATETIME2(3) NULL,
    RecoveryTime DATETIME2(3) NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_Incident_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_Incident_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_Incident] PRIMARY KEY (Incident_id),
    CONSTRAINT [CK_Incident_IncidentKey] CHECK (IncidentKey <> ''),
    CONSTRAINT [CK_Incident_Occurrences] CHECK (Occurrences >= 1),
    CONSTRAINT [CK_Incident_AlertsMade] CHECK (AlertsMade >= 0),
    CONSTRAINT [CK_Incident_Kind]
        CHECK (lower(Kind) IN ('failed', 'lost', 'held', 'fails_often', 'step_failed', 'unusual_rows', 'unanswered', 'too_long', 'too_short', 'not_arrived', 'not_started', 'not_finished', 'at_risk', 'forecast_misses', 'dependency_deadline', 'calendar_ends', 'no_worker', 'channel_failed', 'unreadable', 'rejected', 'untaken', 'not_starting', 'no_steps', 'history_grows', 'pool_unserved', 'nobody_leads', 'populator_hangs', 'controller_trouble')),
    CONSTRAINT [CK_Incident_Severity] CHECK (lower(Severity) IN ('warning', 'error')),
    CONSTRAINT [CK_Incident_Status] CHECK (lower(Status) IN ('open', 'acknowledged', 'resolved'))
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_Incident_Recovery' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Incident', N'U'))
CREATE INDEX [IX_Incident_Recovery] ON Incident (Incident_id) WHERE ResolvedTime IS NOT NULL AND RecoveryTime IS NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'UX_Incident_Standing' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Incident', N'U'))
CREATE UNIQUE INDEX [UX_Incident_Standing] ON Incident (IncidentKey) WHERE ResolvedTime IS NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- Who has changed what, when and why. Nothing is ever changed here.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.AuditLog', N'U') IS NULL
CREATE TABLE AuditLog (
    AuditLog_id BIGINT NOT NULL IDENTITY,
    Actor NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Host NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Action NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Target NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Reason NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    ValuesBefore NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    ValuesAfter NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_AuditLog_z_inserted] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_AuditLog] PRIMARY KEY (AuditLog_id),
    CONSTRAINT [CK_AuditLog_Actor] CHECK (Actor <> '')
);
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

-- Hashes that chain the rows of AuditLog.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.AuditSeal', N'U') IS NULL
CREATE TABLE AuditSeal (
    AuditSeal_id BIGINT NOT NULL IDENTITY,
    SealNo BIGINT NOT NULL,
    AuditLog_id BIGINT NOT NULL,
    PrevHash NVARCHAR(64) COLLATE Latin1_General_100_BIN2 NOT NULL,
    RecordHash NVARCHAR(64) COLLATE Latin1_General_100_BIN2 NOT NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_AuditSeal_z_inserted] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_AuditSeal] PRIMARY KEY (AuditSeal_id),
    CONSTRAINT [UQ_AuditSeal_SealNo] UNIQUE (SealNo),
    CONSTRAINT [UQ_AuditSeal_AuditLog_id] UNIQUE (AuditLog_id),
    CONSTRAINT [CK_AuditSeal_SealNo] CHECK (SealNo >= 1)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- The offsets of the business time zone, for views that show local times.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.ZoneOffset', N'U') IS NULL
CREATE TABLE ZoneOffset (
    ZoneOffset_id BIGINT NOT NULL IDENTITY,
    ZoneName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    FromTime DATETIME2(3) NOT NULL,
    UntilTime DATETIME2(3) NOT NULL,
    OffsetSeconds INTEGER NOT NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_ZoneOffset_z_inserted] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_ZoneOffset] PRIMARY KEY (ZoneOffset_id),
    CONSTRAINT [UQ_ZoneOffset_FromTime] UNIQUE (FromTime),
    CONSTRAINT [CK_ZoneOffset_ZoneName] CHECK (ZoneName <> ''),
    CONSTRAINT [CK_ZoneOffset_UntilTime] CHECK (FromTime < UntilTime),
    CONSTRAINT [CK_ZoneOffset_OffsetSeconds] CHECK (OffsetSeconds BETWEEN -86400 AND 86400)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_ZoneOffset_Until' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.ZoneOffset', N'U'))
CREATE INDEX [IX_ZoneOffset_Until] ON ZoneOffset (UntilTime, FromTime);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- What the engine has done, event by event.
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

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_SchedulerLog_Fired' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.SchedulerLog', N'U'))
CREATE INDEX [IX_SchedulerLog_Fired] ON SchedulerLog (FileProcess_id) WHERE EventType = 'fired';
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

-- What has arrived: a row here is work for every batch that takes its entity.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.FileProcess', N'U') IS NULL
CREATE TABLE FileProcess (
    FileProcess_id BIGINT NOT NULL IDENTITY,
    Entity NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    FileName NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    Status VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_FileProcess_Status] DEFAULT 'ready',
    Data NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    CycleKey NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Source NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    PopulatorTries INTEGER NULL,
    Message NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_FileProcess_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_FileProcess_z_updated] DEFAULT SYSUTCDATETIME(),
    DataHash AS CAST(HASHBYTES('SHA2_256', Data) AS binary(32)),
    CONSTRAINT [PK_FileProcess] PRIMARY KEY (FileProcess_id),
    CONSTRAINT [CK_FileProcess_Status]
        CHECK (lower(Status) IN ('ready', 'paused', 'complete', 'rejected', 'duplicate', 'success')),
    CONSTRAINT [CK_FileProcess_Entity] CHECK (Entity <> '')
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_FileProcess_Awaiting' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.FileProcess', N'U'))
CREATE INDEX [IX_FileProcess_Awaiting] ON FileProcess (FileProcess_id) WHERE PopulatorTries IS NOT NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_FileProcess_Unreadable' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.FileProcess', N'U'))
CREATE INDEX [IX_FileProcess_Unreadable] ON FileProcess (FileProcess_id) WHERE Status <> 'ready' AND Status <> 'paused'
    AND Status <> 'complete' AND Status <> 'rejected' AND Status <> 'duplicate';
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

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_FileProcess_Ready' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.FileProcess', N'U'))
CREATE INDEX [IX_FileProcess_Ready] ON FileProcess (FileProcess_id) WHERE Status = 'ready';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- The controllers that run, or have run.
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
    OrphanTimeoutSecs INTEGER NULL,
    SchedulerZone NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    LeftOut NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    ProcessTypes NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    Populators NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    Jobs NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    Trouble NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_Controller_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_Controller_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_Controller] PRIMARY KEY (Controller_id),
    CONSTRAINT [UQ_Controller_ControllerName] UNIQUE (ControllerName),
    CONSTRAINT [CK_Controller_ControllerName] CHECK (ControllerName <> ''),
    CONSTRAINT [CK_Controller_Status] CHECK (lower(Status) IN ('running', 'stopped', 'lost')),
    CONSTRAINT [CK_Controller_Slots] CHECK (Slots >= 0)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- Which controller makes instances and fires schedules: one row.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Leader', N'U') IS NULL
CREATE TABLE Leader (
    Leader_id BIGINT NOT NULL IDENTITY,
    ControllerName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Fence BIGINT NOT NULL CONSTRAINT [DF_Leader_Fence] DEFAULT 0,
    LeaseUntil DATETIME2(3) NOT NULL CONSTRAINT [DF_Leader_LeaseUntil] DEFAULT '1900-01-01 00:00:00.000',
    Place NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_Leader_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_Leader_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_Leader] PRIMARY KEY (Leader_id),
    CONSTRAINT [CK_Leader_Leader_id] CHECK (Leader_id = 1),
    CONSTRAINT [CK_Leader_Fence] CHECK (Fence BETWEEN 0 AND 2000000000)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- Rows that controllers lock to do one thing at a time.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.NamedLock', N'U') IS NULL
CREATE TABLE NamedLock (
    NamedLock_id BIGINT NOT NULL IDENTITY,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_NamedLock_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_NamedLock_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_NamedLock] PRIMARY KEY (NamedLock_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- The steps of a batch, carried out in the order of ProcessControlSeq.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.ProcessControl', N'U') IS NULL
CREATE TABLE ProcessControl (
    ProcessControl_id BIGINT NOT NULL IDENTITY,
    ProcessBatch_id BIGINT NOT NULL,
    ProcessControlSeq INTEGER NOT NULL,
    ProcessName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    ProcessType NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Pool NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL,
    Needs NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    ExpectedDuration INTEGER NULL,
    AlarmDuration INTEGER NULL,
    MaxDuration INTEGER NULL,
    OnLost VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_ProcessControl_OnLost] DEFAULT 'hold',
    MaxLost INTEGER NOT NULL CONSTRAINT [DF_ProcessControl_MaxLost] DEFAULT 3,
    RetryCount INTEGER NULL,
    RetryWaitSecs INTEGER NULL,
    RetryBackoff INTEGER NULL,
    RetryOn NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    OnStepFailure VARCHAR(20) COLLATE Latin1_General_100_CI_AS NULL,
    RowsMin NVARCHAR(20) COLLATE Latin1_General_100_BIN2 NULL,
    RowsMax NVARCHAR(20) COLLATE Latin1_General_100_BIN2 NULL,
    OnRows VARCHAR(20) COLLATE Latin1_General_100_CI_AS NULL,
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
    CONSTRAINT [CK_ProcessControl_ProcessType] CHECK (TRIM(ProcessType) <> '' AND ProcessType NOT LIKE '%[^ -~]%'),
    CONSTRAINT [CK_ProcessControl_MaxLost] CHECK (MaxLost BETWEEN 0 AND 1000),
    CONSTRAINT [CK_ProcessControl_Pool] CHECK (Pool <> ''),
    CONSTRAINT [CK_ProcessControl_Needs] CHECK (Needs <> ''),
    CONSTRAINT [CK_ProcessControl_RetryCount] CHECK (RetryCount BETWEEN 0 AND 1000),
    CONSTRAINT [CK_ProcessControl_RetryWaitSecs] CHECK (RetryWaitSecs BETWEEN 0 AND 31536000),
    CONSTRAINT [CK_ProcessControl_RetryBackoff] CHECK (RetryBackoff BETWEEN 1 AND 10),
    CONSTRAINT [CK_ProcessControl_RetryOn] CHECK (RetryOn <> ''),
    CONSTRAINT [CK_ProcessControl_OnStepFailure] CHECK (lower(OnStepFailure) IN ('stop', 'continue')),
    CONSTRAINT [CK_ProcessControl_RowsMin] CHECK (RowsMin <> ''),
    CONSTRAINT [CK_ProcessControl_RowsMax] CHECK (RowsMax <> ''),
    CONSTRAINT [CK_ProcessControl_OnRows] CHECK (lower(OnRows) IN ('fail', 'warn')),
    CONSTRAINT [FK_ProcessControl_ProcessBatch_id] FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- How many units of a resource an instance of a batch holds while it is claimed.
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

-- Which batches have to be complete before a batch is started.
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
    CONSTRAINT [CK_BatchDependency_DependsOnBatch_id] CHECK (DependsOnBatch_id <> ProcessBatch_id),
    CONSTRAINT [FK_BatchDependency_ProcessBatch_id] FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT [FK_BatchDependency_DependsOnBatch_id] FOREIGN KEY(DependsOnBatch_id) REFERENCES ProcessBatch (ProcessBatch_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- A day on which a calendar differs from its weekdays.
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
    CONSTRAINT [CK_CalendarDay_CalendarDate_Form] CHECK (trim(CalendarDate) LIKE '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'
        AND trim(CalendarDate) NOT LIKE '_____00%' AND trim(CalendarDate) NOT LIKE '_____1[3-9]%'
        AND trim(CalendarDate) NOT LIKE '________00%' AND trim(CalendarDate) NOT LIKE '________3[2-9]%'),
    CONSTRAINT [FK_CalendarDay_Calendar_id] FOREIGN KEY(Calendar_id) REFERENCES Calendar (Calendar_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- Messages about incidents, one for each channel.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.AlertDelivery', N'U') IS NULL
CREATE TABLE AlertDelivery (
    AlertDelivery_id BIGINT NOT NULL IDENTITY,
    Incident_id BIGINT NOT NULL,
    Channel NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Kind VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL,
    Number INTEGER NOT NULL,
    Status VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_AlertDelivery_Status] DEFAULT 'waiting',
    Title NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Body NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Attempts INTEGER NOT NULL CONSTRAINT [DF_AlertDelivery_Attempts] DEFAULT 0,
    NextAttemptTime DATETIME2(3) NOT NULL CONSTRAINT [DF_AlertDelivery_NextAttemptTime] DEFAULT SYSUTCDATETIME(),
    ClaimedBy NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    ClaimedTime DATETIME2(3) NULL,
    SentTime DATETIME2(3) NULL,
    Message NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_AlertDelivery_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_AlertDelivery_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_AlertDelivery] PRIMARY KEY (AlertDelivery_id),
    CONSTRAINT [UQ_AlertDelivery_Incident_id_Channel_Kind_Number] UNIQUE (Incident_id, Channel, Kind, Number),
    CONSTRAINT [CK_AlertDelivery_Channel] CHECK (Channel <> ''),
    CONSTRAINT [CK_AlertDelivery_Number] CHECK (Number >= 0),
    CONSTRAINT [CK_AlertDelivery_Attempts] CHECK (Attempts >= 0),
    CONSTRAINT [CK_AlertDelivery_Kind] CHECK (lower(Kind) IN ('alert', 'repeat', 'escalation', 'recovery', 'digest')),
    CONSTRAINT [CK_AlertDelivery_Status] CHECK (lower(Status) IN ('waiting', 'sent', 'failed', 'withdrawn')),
    CONSTRAINT [FK_AlertDelivery_Incident_id] FOREIGN KEY(Incident_id) REFERENCES Incident (Incident_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_AlertDelivery_Waiting' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.AlertDelivery', N'U'))
CREATE INDEX [IX_AlertDelivery_Waiting] ON AlertDelivery (AlertDelivery_id) WHERE Status = 'waiting';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- The files that a watch has seen, so that none is taken twice.
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

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_FileWatchSeen_Intake' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.FileWatchSeen', N'U'))
CREATE INDEX [IX_FileWatchSeen_Intake] ON FileWatchSeen (FileProcess_id);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- Past due times that a person has asked for.
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

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_ScheduleBackfill_Running' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.ScheduleBackfill', N'U'))
CREATE INDEX [IX_ScheduleBackfill_Running] ON ScheduleBackfill (ScheduleBackfill_id) WHERE Status = 'running';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- An instance: one batch at work on one row of FileProcess, and how far it has come.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U') IS NULL
CREATE TABLE BatchControl (
    BatchControl_id BIGINT NOT NULL IDENTITY,
    ProcessBatch_id BIGINT NOT NULL,
    FileProcess_id BIGINT NOT NULL,
    PrevProcessControlSeq INTEGER NOT NULL CONSTRAINT [DF_BatchControl_PrevProcessControlSeq] DEFAULT 0,
    DefVersion INTEGER NULL,
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
    NextPool NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL,
    BegunTime DATETIME2(3) NULL,
    LostCount INTEGER NOT NULL CONSTRAINT [DF_BatchControl_LostCount] DEFAULT 0,
    StepsFailed INTEGER NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_BatchControl_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_BatchControl_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_BatchControl] PRIMARY KEY (BatchControl_id),
    CONSTRAINT [UQ_BatchControl_FileProcess_id_ProcessBatch_id] UNIQUE (FileProcess_id, ProcessBatch_id),
    CONSTRAINT [CK_BatchControl_Status]
        CHECK (lower(Status) IN ('ready', 'running', 'retry', 'failed', 'held', 'pausing', 'paused', 'cancelling', 'cancelled', 'complete', 'success')),
    CONSTRAINT [CK_BatchControl_PrevProcessControlSeq] CHECK (PrevProcessControlSeq BETWEEN 0 AND 2000000000),
    CONSTRAINT [CK_BatchControl_RetryCount] CHECK (RetryCount >= 0),
    CONSTRAINT [CK_BatchControl_LostCount] CHECK (LostCount >= 0),
    CONSTRAINT [CK_BatchControl_StepsFailed] CHECK (StepsFailed >= 0),
    CONSTRAINT [FK_BatchControl_ProcessBatch_id] FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT [FK_BatchControl_FileProcess_id] FOREIGN KEY(FileProcess_id) REFERENCES FileProcess (FileProcess_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_Deferred' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
CREATE INDEX [IX_BatchControl_Deferred] ON BatchControl (ProcessBatch_id, NextRunTime) WHERE Status IN ('ready', 'retry')
    AND NextRunTime > '1900-01-01 00:00:00.000';
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

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_Standing' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
CREATE INDEX [IX_BatchControl_Standing] ON BatchControl (BatchControl_id) WHERE Status IN ('retry', 'failed', 'held');
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_Over' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
CREATE INDEX [IX_BatchControl_Over] ON BatchControl (ProcessBatch_id, Status, BatchControl_id)
    WHERE Status IN ('complete', 'cancelled');
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_Unreadable' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
CREATE INDEX [IX_BatchControl_Unreadable] ON BatchControl (BatchControl_id) WHERE Status <> 'ready' AND Status <> 'running'
    AND Status <> 'retry' AND Status <> 'failed' AND Status <> 'held' AND Status <> 'pausing' AND Status <> 'paused'
    AND Status <> 'cancelling' AND Status <> 'cancelled' AND Status <> 'complete';
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

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_Cycle' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
CREATE INDEX [IX_BatchControl_Cycle] ON BatchControl (ProcessBatch_id, CycleKey, BatchControl_id);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_Due' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
CREATE INDEX [IX_BatchControl_Due] ON BatchControl (NextRunTime) WHERE Status IN ('ready', 'retry')
    AND NextRunTime > '1900-01-01 00:00:00.000';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_InLine' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
CREATE INDEX [IX_BatchControl_InLine] ON BatchControl (ProcessBatch_id, BatchControl_id)
    WHERE Status IN ('ready', 'retry', 'failed', 'held');
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_AtOnce' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
CREATE INDEX [IX_BatchControl_AtOnce] ON BatchControl (ProcessBatch_id, BatchControl_id) WHERE Status IN ('ready', 'retry')
    AND NextRunTime <= '1900-01-01 00:00:00.000';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- How long attempts took that have been purged.
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

-- When batches will probably be ready, as it was said last, and at fixed hours with what came of it.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.KeptForecast', N'U') IS NULL
CREATE TABLE KeptForecast (
    KeptForecast_id BIGINT NOT NULL IDENTITY,
    ProcessBatch_id BIGINT NOT NULL,
    CycleKey NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    MadeOn DATETIME2(3) NOT NULL,
    KeptFor DATETIME2(3) NULL,
    P50 DATETIME2(3) NULL,
    P90 DATETIME2(3) NULL,
    FinishBy DATETIME2(3) NULL,
    Chance INTEGER NULL,
    NeedsPerson INTEGER NOT NULL,
    Nights INTEGER NOT NULL,
    Decides NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    Helps NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    ReadyOn DATETIME2(3) NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_KeptForecast_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_KeptForecast_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_KeptForecast] PRIMARY KEY (KeptForecast_id),
    CONSTRAINT [CK_KeptForecast_Chance] CHECK (Chance BETWEEN 0 AND 100),
    CONSTRAINT [CK_KeptForecast_NeedsPerson] CHECK (NeedsPerson BETWEEN 0 AND 100),
    CONSTRAINT [CK_KeptForecast_Nights] CHECK (Nights >= 0),
    CONSTRAINT [FK_KeptForecast_ProcessBatch_id] FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'UX_KeptForecast_Newest' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.KeptForecast', N'U'))
CREATE UNIQUE INDEX [UX_KeptForecast_Newest] ON KeptForecast (ProcessBatch_id) WHERE KeptFor IS NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'UX_KeptForecast_Kept' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.KeptForecast', N'U'))
CREATE UNIQUE INDEX [UX_KeptForecast_Kept] ON KeptForecast (ProcessBatch_id, KeptFor) WHERE KeptFor IS NOT NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_KeptForecast_Awaited' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.KeptForecast', N'U'))
CREATE INDEX [IX_KeptForecast_Awaited] ON KeptForecast (KeptForecast_id) WHERE ReadyOn IS NULL AND KeptFor IS NOT NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- Which pools a controller serves; one without rows serves the default pool.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.ControllerPool', N'U') IS NULL
CREATE TABLE ControllerPool (
    ControllerPool_id BIGINT NOT NULL IDENTITY,
    Controller_id BIGINT NOT NULL,
    PoolName NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Agents NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_ControllerPool_z_inserted] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_ControllerPool] PRIMARY KEY (ControllerPool_id),
    CONSTRAINT [UQ_ControllerPool_Controller_id_PoolName] UNIQUE (Controller_id, PoolName),
    CONSTRAINT [CK_ControllerPool_PoolName] CHECK (PoolName <> ''),
    CONSTRAINT [FK_ControllerPool_Controller_id] FOREIGN KEY(Controller_id) REFERENCES Controller (Controller_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- A question that a step asks people, and how it was answered.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Confirmation', N'U') IS NULL
CREATE TABLE Confirmation (
    Confirmation_id BIGINT NOT NULL IDENTITY,
    BatchControl_id BIGINT NOT NULL,
    ProcessControlSeq INTEGER NOT NULL,
    Question NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Who NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Evidence NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    DueTime DATETIME2(3) NULL,
    OnTimeout VARCHAR(20) COLLATE Latin1_General_100_CI_AS NULL,
    Answer VARCHAR(20) COLLATE Latin1_General_100_CI_AS NULL,
    AnsweredTime DATETIME2(3) NULL,
    AnsweredBy NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Reason NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_Confirmation_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_Confirmation_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_Confirmation] PRIMARY KEY (Confirmation_id),
    CONSTRAINT [CK_Confirmation_OnTimeout] CHECK (lower(OnTimeout) IN ('fail', 'go_on', 'incident')),
    CONSTRAINT [CK_Confirmation_Answer] CHECK (lower(Answer) IN ('confirmed', 'refused', 'expired', 'withdrawn')),
    CONSTRAINT [FK_Confirmation_BatchControl_id] FOREIGN KEY(BatchControl_id) REFERENCES BatchControl (BatchControl_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'UX_Confirmation_Open' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Confirmation', N'U'))
CREATE UNIQUE INDEX [UX_Confirmation_Open] ON Confirmation (BatchControl_id) WHERE Answer IS NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_Confirmation_Instance' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Confirmation', N'U'))
CREATE INDEX [IX_Confirmation_Instance] ON Confirmation (BatchControl_id);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- What people write about an instance, an incident or a batch.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Note', N'U') IS NULL
CREATE TABLE Note (
    Note_id BIGINT NOT NULL IDENTITY,
    BatchControl_id BIGINT NULL,
    Incident_id BIGINT NULL,
    ProcessBatch_id BIGINT NULL,
    Text NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Actor NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL CONSTRAINT [DF_Note_Actor] DEFAULT ORIGINAL_LOGIN(),
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_Note_z_inserted] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_Note] PRIMARY KEY (Note_id),
    CONSTRAINT [CK_Note_Text] CHECK (Text <> ''),
    CONSTRAINT [CK_Note_Actor] CHECK (Actor <> ''),
    CONSTRAINT [CK_Note_BatchControl_id]
        CHECK (CASE WHEN BatchControl_id IS NULL THEN 0 ELSE 1 END + CASE WHEN Incident_id IS NULL THEN 0 ELSE 1 END + CASE WHEN ProcessBatch_id IS NULL THEN 0 ELSE 1 END = 1),
    CONSTRAINT [FK_Note_BatchControl_id] FOREIGN KEY(BatchControl_id) REFERENCES BatchControl (BatchControl_id),
    CONSTRAINT [FK_Note_Incident_id] FOREIGN KEY(Incident_id) REFERENCES Incident (Incident_id),
    CONSTRAINT [FK_Note_ProcessBatch_id] FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_Note_Instance' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Note', N'U'))
CREATE INDEX [IX_Note_Instance] ON Note (BatchControl_id);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_Note_Batch' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Note', N'U'))
CREATE INDEX [IX_Note_Batch] ON Note (ProcessBatch_id);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_Note_Incident' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.Note', N'U'))
CREATE INDEX [IX_Note_Incident] ON Note (Incident_id);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- Who may come into the console, as what, and how it is known that it is that person.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.WebUser', N'U') IS NULL
CREATE TABLE WebUser (
    WebUser_id BIGINT NOT NULL IDENTITY,
    UserName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Role VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL,
    Tag NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    PasswordHash NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    CodeHash NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    CodeUntil DATETIME2(3) NULL,
    Enabled SMALLINT NOT NULL CONSTRAINT [DF_WebUser_Enabled] DEFAULT 1,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_WebUser_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_WebUser_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_WebUser] PRIMARY KEY (WebUser_id),
    CONSTRAINT [UQ_WebUser_UserName] UNIQUE (UserName),
    CONSTRAINT [CK_WebUser_UserName] CHECK (UserName <> ''),
    CONSTRAINT [CK_WebUser_Role] CHECK (lower(Role) IN ('reader', 'intake', 'operator', 'author', 'admin')),
    CONSTRAINT [CK_WebUser_Enabled] CHECK (Enabled IN (0, 1))
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- A browser that the console has let in.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.WebSession', N'U') IS NULL
CREATE TABLE WebSession (
    WebSession_id BIGINT NOT NULL IDENTITY,
    WebUser_id BIGINT NOT NULL,
    TokenHash NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Address NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    ByIssuer SMALLINT NOT NULL CONSTRAINT [DF_WebSession_ByIssuer] DEFAULT 0,
    LastUsed DATETIME2(3) NOT NULL,
    ExpiresTime DATETIME2(3) NOT NULL,
    EndedTime DATETIME2(3) NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_WebSession_z_inserted] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_WebSession] PRIMARY KEY (WebSession_id),
    CONSTRAINT [UQ_WebSession_TokenHash] UNIQUE (TokenHash),
    CONSTRAINT [CK_WebSession_ByIssuer] CHECK (ByIssuer IN (0, 1))
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_WebSession_User' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.WebSession', N'U'))
CREATE INDEX [IX_WebSession_User] ON WebSession (WebUser_id);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- What a program shows that asks the console.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.ApiToken', N'U') IS NULL
CREATE TABLE ApiToken (
    ApiToken_id BIGINT NOT NULL IDENTITY,
    TokenName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    TokenHash NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Role VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL,
    Tag NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Pools NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    ExpiresTime DATETIME2(3) NULL,
    LastUsed DATETIME2(3) NULL,
    RevokedTime DATETIME2(3) NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_ApiToken_z_inserted] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_ApiToken] PRIMARY KEY (ApiToken_id),
    CONSTRAINT [UQ_ApiToken_TokenName] UNIQUE (TokenName),
    CONSTRAINT [UQ_ApiToken_TokenHash] UNIQUE (TokenHash),
    CONSTRAINT [CK_ApiToken_TokenName] CHECK (TokenName <> ''),
    CONSTRAINT [CK_ApiToken_Role] CHECK (lower(Role) IN ('reader', 'intake', 'operator', 'author', 'admin', 'agent', 'controller'))
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- Until when no password of a user, or from an address, is looked at, as the last ones were wrong.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.LoginBackOff', N'U') IS NULL
CREATE TABLE LoginBackOff (
    LoginBackOff_id BIGINT NOT NULL IDENTITY,
    Subject NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Failures INTEGER NOT NULL,
    ShutUntil DATETIME2(3) NOT NULL,
    CONSTRAINT [PK_LoginBackOff] PRIMARY KEY (LoginBackOff_id),
    CONSTRAINT [UQ_LoginBackOff_Subject] UNIQUE (Subject)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- What was asked of the console under a key, so that asking again acts once.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.WebRequest', N'U') IS NULL
CREATE TABLE WebRequest (
    WebRequest_id BIGINT NOT NULL IDENTITY,
    Actor NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    RequestKey NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    BodyHash NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    HttpStatus INTEGER NULL,
    Answer NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_WebRequest_z_inserted] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_WebRequest] PRIMARY KEY (WebRequest_id),
    CONSTRAINT [UQ_WebRequest_Actor_RequestKey] UNIQUE (Actor, RequestKey)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- What was decided about each due time of a schedule.
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
    CONSTRAINT [CK_ScheduleFire_FileProcess_id] CHECK ((Outcome = 'fired' AND FileProcess_id IS NOT NULL)
        OR (Outcome <> 'fired' AND FileProcess_id IS NULL)),
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

-- Each attempt at a step, with the command that can be pasted and run by hand.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchProcessHistory', N'U') IS NULL
CREATE TABLE BatchProcessHistory (
    BatchProcessHistory_id BIGINT NOT NULL IDENTITY,
    BatchControl_id BIGINT NOT NULL,
    ProcessBatch_id BIGINT NOT NULL,
    ProcessControlSeq INTEGER NOT NULL,
    ProcessName NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    ProcessType NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NOT NULL,
    DefVersion INTEGER NULL,
    AttemptNo INTEGER NOT NULL CONSTRAINT [DF_BatchProcessHistory_AttemptNo] DEFAULT 1,
    ClaimToken BIGINT NOT NULL CONSTRAINT [DF_BatchProcessHistory_ClaimToken] DEFAULT 0,
    ClaimedBy NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL,
    Cause VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_BatchProcessHistory_Cause] DEFAULT 'auto',
    Status VARCHAR(20) COLLATE Latin1_General_100_CI_AS NOT NULL CONSTRAINT [DF_BatchProcessHistory_Status] DEFAULT 'running',
    CommandText NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
    CommandSpec NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NOT NULL
        CONSTRAINT [DF_BatchProcessHistory_CommandSpec] DEFAULT '{}',
    StartTime DATETIME2(3) NOT NULL CONSTRAINT [DF_BatchProcessHistory_StartTime] DEFAULT SYSUTCDATETIME(),
    EndTime DATETIME2(3) NULL,
    ReturnCode BIGINT NULL,
    ErrorCode NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL,
    ErrorLine INTEGER NULL,
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
    CONSTRAINT [CK_BatchProcessHistory_Status]
        CHECK (lower(Status) IN ('running', 'success', 'failed', 'timeout', 'cancelled', 'lost', 'fenced', 'skipped', 'asked')),
    CONSTRAINT [CK_BatchProcessHistory_EndTime] CHECK ((lower(Status) IN ('running', 'asked') AND EndTime IS NULL)
        OR (lower(Status) NOT IN ('running', 'asked') AND EndTime IS NOT NULL)),
    CONSTRAINT [FK_BatchProcessHistory_BatchControl_id] FOREIGN KEY(BatchControl_id) REFERENCES BatchControl (BatchControl_id),
    CONSTRAINT [FK_BatchProcessHistory_ProcessBatch_id] FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id)
);
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

-- Completed instances that batches which depend on them still have to hear of.
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

-- What a running step has written so far; gone once the output of its attempt is recorded.
IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.StepOutput', N'U') IS NULL
CREATE TABLE StepOutput (
    StepOutput_id BIGINT NOT NULL IDENTITY,
    BatchProcessHistory_id BIGINT NOT NULL,
    Number INTEGER NOT NULL,
    Text NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NOT NULL,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_StepOutput_z_inserted] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_StepOutput] PRIMARY KEY (StepOutput_id),
    CONSTRAINT [UQ_StepOutput_BatchProcessHistory_id_Number] UNIQUE (BatchProcessHistory_id, Number),
    CONSTRAINT [CK_StepOutput_Number] CHECK (Number >= 1),
    CONSTRAINT [FK_StepOutput_BatchProcessHistory_id] FOREIGN KEY(BatchProcessHistory_id) REFERENCES BatchProcessHistory (BatchProcessHistory_id)
);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchCompletion_Waiting' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchCompletion', N'U'))
CREATE INDEX [IX_BatchCompletion_Waiting] ON BatchCompletion (ProcessBatch_id, CycleKey, DependsOnBatch_id, BatchCompletion_id)
    WHERE FileProcess_id IS NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_FileProcess_Duplicate' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.FileProcess', N'U'))
CREATE INDEX [IX_FileProcess_Duplicate] ON FileProcess (Entity, DataHash) WHERE Data IS NOT NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- The name of this database, which no other has.
IF NOT EXISTS (SELECT 1 FROM Setting WHERE Name = 'DatabaseId')
INSERT INTO Setting (Name, Value) SELECT 'DatabaseId', lower(replace(convert(nvarchar(36), newid()), '-', ''));
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM Leader)
INSERT INTO Leader (Fence) SELECT 0;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- What is new in the tables that a database of revision 0045 to 0047 has.
IF COL_LENGTH(QUOTENAME(SCHEMA_NAME()) + N'.ProcessBatch', N'Priority') IS NULL
ALTER TABLE ProcessBatch ADD Priority INTEGER NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF COL_LENGTH(QUOTENAME(SCHEMA_NAME()) + N'.ProcessBatch', N'MaxPerMinute') IS NULL
ALTER TABLE ProcessBatch ADD MaxPerMinute INTEGER NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF COL_LENGTH(QUOTENAME(SCHEMA_NAME()) + N'.ProcessBatch', N'Pool') IS NULL
ALTER TABLE ProcessBatch ADD Pool NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_ProcessBatch_Priority', N'C') IS NULL
ALTER TABLE ProcessBatch ADD CONSTRAINT [CK_ProcessBatch_Priority] CHECK (Priority BETWEEN 0 AND 1000);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_ProcessBatch_MaxPerMinute', N'C') IS NULL
ALTER TABLE ProcessBatch ADD CONSTRAINT [CK_ProcessBatch_MaxPerMinute] CHECK (MaxPerMinute BETWEEN 1 AND 100000);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_ProcessBatch_Pool', N'C') IS NULL
ALTER TABLE ProcessBatch ADD CONSTRAINT [CK_ProcessBatch_Pool] CHECK (Pool <> '');
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

ALTER TABLE OperatorRequest DROP CONSTRAINT IF EXISTS [CK_OperatorRequest_Action_Word];
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_OperatorRequest_Action_Word', N'C') IS NULL
ALTER TABLE OperatorRequest ADD CONSTRAINT [CK_OperatorRequest_Action_Word] CHECK (lower(TRIM(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)) FROM Action)) IN ('rerun', 'skip', 'pause', 'resume', 'cancel', 'enable', 'disable', 'freeze', 'thaw', 'acknowledge', 'snooze', 'retry', 'reject', 'resend', 'drain', 'undrain', 'note', 'confirm', 'refuse', 'run', 'backfill', 'accept') OR NOT (Status = 'requested'));
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF COL_LENGTH(QUOTENAME(SCHEMA_NAME()) + N'.ProcessControl', N'Pool') IS NULL
ALTER TABLE ProcessControl ADD Pool NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF COL_LENGTH(QUOTENAME(SCHEMA_NAME()) + N'.ProcessControl', N'RetryCount') IS NULL
ALTER TABLE ProcessControl ADD RetryCount INTEGER NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF COL_LENGTH(QUOTENAME(SCHEMA_NAME()) + N'.ProcessControl', N'RetryWaitSecs') IS NULL
ALTER TABLE ProcessControl ADD RetryWaitSecs INTEGER NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF COL_LENGTH(QUOTENAME(SCHEMA_NAME()) + N'.ProcessControl', N'RetryBackoff') IS NULL
ALTER TABLE ProcessControl ADD RetryBackoff INTEGER NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF COL_LENGTH(QUOTENAME(SCHEMA_NAME()) + N'.ProcessControl', N'RetryOn') IS NULL
ALTER TABLE ProcessControl ADD RetryOn NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF COL_LENGTH(QUOTENAME(SCHEMA_NAME()) + N'.ProcessControl', N'OnStepFailure') IS NULL
ALTER TABLE ProcessControl ADD OnStepFailure VARCHAR(20) COLLATE Latin1_General_100_CI_AS NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF COL_LENGTH(QUOTENAME(SCHEMA_NAME()) + N'.ProcessControl', N'RowsMin') IS NULL
ALTER TABLE ProcessControl ADD RowsMin NVARCHAR(20) COLLATE Latin1_General_100_BIN2 NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF COL_LENGTH(QUOTENAME(SCHEMA_NAME()) + N'.ProcessControl', N'RowsMax') IS NULL
ALTER TABLE ProcessControl ADD RowsMax NVARCHAR(20) COLLATE Latin1_General_100_BIN2 NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF COL_LENGTH(QUOTENAME(SCHEMA_NAME()) + N'.ProcessControl', N'OnRows') IS NULL
ALTER TABLE ProcessControl ADD OnRows VARCHAR(20) COLLATE Latin1_General_100_CI_AS NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_ProcessControl_Pool', N'C') IS NULL
ALTER TABLE ProcessControl ADD CONSTRAINT [CK_ProcessControl_Pool] CHECK (Pool <> '');
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_ProcessControl_RetryCount', N'C') IS NULL
ALTER TABLE ProcessControl ADD CONSTRAINT [CK_ProcessControl_RetryCount] CHECK (RetryCount BETWEEN 0 AND 1000);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_ProcessControl_RetryWaitSecs', N'C') IS NULL
ALTER TABLE ProcessControl ADD CONSTRAINT [CK_ProcessControl_RetryWaitSecs] CHECK (RetryWaitSecs BETWEEN 0 AND 31536000);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_ProcessControl_RetryBackoff', N'C') IS NULL
ALTER TABLE ProcessControl ADD CONSTRAINT [CK_ProcessControl_RetryBackoff] CHECK (RetryBackoff BETWEEN 1 AND 10);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_ProcessControl_RetryOn', N'C') IS NULL
ALTER TABLE ProcessControl ADD CONSTRAINT [CK_ProcessControl_RetryOn] CHECK (RetryOn <> '');
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_ProcessControl_OnStepFailure', N'C') IS NULL
ALTER TABLE ProcessControl ADD CONSTRAINT [CK_ProcessControl_OnStepFailure] CHECK (lower(OnStepFailure) IN ('stop', 'continue'));
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_ProcessControl_RowsMin', N'C') IS NULL
ALTER TABLE ProcessControl ADD CONSTRAINT [CK_ProcessControl_RowsMin] CHECK (RowsMin <> '');
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_ProcessControl_RowsMax', N'C') IS NULL
ALTER TABLE ProcessControl ADD CONSTRAINT [CK_ProcessControl_RowsMax] CHECK (RowsMax <> '');
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_ProcessControl_OnRows', N'C') IS NULL
ALTER TABLE ProcessControl ADD CONSTRAINT [CK_ProcessControl_OnRows] CHECK (lower(OnRows) IN ('fail', 'warn'));
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF COL_LENGTH(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'NextPool') IS NULL
ALTER TABLE BatchControl ADD NextPool NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF COL_LENGTH(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'BegunTime') IS NULL
ALTER TABLE BatchControl ADD BegunTime DATETIME2(3) NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF COL_LENGTH(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'StepsFailed') IS NULL
ALTER TABLE BatchControl ADD StepsFailed INTEGER NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_BatchControl_StepsFailed', N'C') IS NULL
ALTER TABLE BatchControl ADD CONSTRAINT [CK_BatchControl_StepsFailed] CHECK (StepsFailed >= 0);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchControl_Begun' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchControl', N'U'))
CREATE INDEX [IX_BatchControl_Begun] ON BatchControl (ProcessBatch_id, BegunTime) WHERE BegunTime IS NOT NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

ALTER TABLE BatchProcessHistory DROP CONSTRAINT IF EXISTS [CK_BatchProcessHistory_Status];
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_BatchProcessHistory_Status', N'C') IS NULL
ALTER TABLE BatchProcessHistory ADD CONSTRAINT [CK_BatchProcessHistory_Status] CHECK (lower(Status) IN ('running', 'success', 'failed', 'timeout', 'cancelled', 'lost', 'fenced', 'skipped', 'asked'));
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

ALTER TABLE BatchProcessHistory DROP CONSTRAINT IF EXISTS [CK_BatchProcessHistory_EndTime];
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_BatchProcessHistory_EndTime', N'C') IS NULL
ALTER TABLE BatchProcessHistory ADD CONSTRAINT [CK_BatchProcessHistory_EndTime] CHECK ((lower(Status) IN ('running', 'asked') AND EndTime IS NULL) OR (lower(Status) NOT IN ('running', 'asked') AND EndTime IS NOT NULL));
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

DROP INDEX IF EXISTS [IX_BatchProcessHistory_Unreadable] ON BatchProcessHistory;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = N'IX_BatchProcessHistory_Unreadable' AND object_id = OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.BatchProcessHistory', N'U'))
CREATE INDEX [IX_BatchProcessHistory_Unreadable] ON BatchProcessHistory (BatchProcessHistory_id) WHERE Status <> 'running'
    AND Status <> 'success' AND Status <> 'failed' AND Status <> 'timeout' AND Status <> 'cancelled' AND Status <> 'lost'
    AND Status <> 'fenced' AND Status <> 'skipped' AND Status <> 'asked';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- What is new in the tables that a database of revision 0048 has.
ALTER TABLE Incident DROP CONSTRAINT IF EXISTS [CK_Incident_Kind];
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_Incident_Kind', N'C') IS NULL
ALTER TABLE Incident ADD CONSTRAINT [CK_Incident_Kind] CHECK (lower(Kind) IN ('failed', 'lost', 'held', 'fails_often', 'step_failed', 'unusual_rows', 'unanswered', 'too_long', 'too_short', 'not_arrived', 'not_started', 'not_finished', 'at_risk', 'forecast_misses', 'dependency_deadline', 'calendar_ends', 'no_worker', 'channel_failed', 'unreadable', 'rejected', 'untaken', 'not_starting', 'no_steps', 'history_grows', 'pool_unserved', 'nobody_leads', 'populator_hangs', 'controller_trouble'));
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- What is new in the tables that a database of revision 0049 has.
ALTER TABLE Pool DROP CONSTRAINT IF EXISTS [CK_Pool_Kind];
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_Pool_Kind', N'C') IS NULL
ALTER TABLE Pool ADD CONSTRAINT [CK_Pool_Kind] CHECK (lower(Kind) IN ('controllers', 'dask', 'agents'));
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF COL_LENGTH(QUOTENAME(SCHEMA_NAME()) + N'.ProcessControl', N'Needs') IS NULL
ALTER TABLE ProcessControl ADD Needs NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_ProcessControl_Needs', N'C') IS NULL
ALTER TABLE ProcessControl ADD CONSTRAINT [CK_ProcessControl_Needs] CHECK (Needs <> '');
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF COL_LENGTH(QUOTENAME(SCHEMA_NAME()) + N'.ControllerPool', N'Agents') IS NULL
ALTER TABLE ControllerPool ADD Agents NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

-- What is new in the tables that a database of revision 0050 has.
IF COL_LENGTH(QUOTENAME(SCHEMA_NAME()) + N'.ApiToken', N'Pools') IS NULL
ALTER TABLE ApiToken ADD Pools NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

ALTER TABLE ApiToken DROP CONSTRAINT IF EXISTS [CK_ApiToken_Role];
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.CK_ApiToken_Role', N'C') IS NULL
ALTER TABLE ApiToken ADD CONSTRAINT [CK_ApiToken_Role] CHECK (lower(Role) IN ('reader', 'intake', 'operator', 'author', 'admin', 'agent', 'controller'));
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

IF NOT EXISTS (SELECT 1 FROM alembic_version)
INSERT INTO alembic_version (version_num) VALUES ('0051');
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0051' WHERE version_num = '0045';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0051' WHERE version_num = '0046';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0051' WHERE version_num = '0047';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0051' WHERE version_num = '0048';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0051' WHERE version_num = '0049';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

UPDATE alembic_version SET version_num = '0051' WHERE version_num = '0050';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

CREATE OR ALTER VIEW vUnreadable AS
SELECT TableName, Row_id, LEFT(Given, CHARINDEX(' ', Given) - 1) AS ColumnName, ProcessBatch_id, Place,
    CONCAT(TableName, ' ', Row_id, Named, ' cannot be read: ', LEFT(Given, CHARINDEX(' ', Given) - 1), ' holds ', CASE WHEN Given LIKE 'NextRunTime%' THEN 'no time' ELSE 'nonsense' END) AS Reason,
    CONCAT('SET QUOTED_IDENTIFIER ON; UPDATE ', TableName, ' SET ', Given, ' WHERE ', CONCAT(TableName, '_id = ', Row_id, ';')) AS NextSql
FROM (
SELECT 'ProcessBatch' AS TableName, ProcessBatch_id AS Row_id, ProcessBatch_id, 0 AS Place, CONCAT(' (', ProcessBatchName, ')') AS Named,
    CASE WHEN Enabled NOT BETWEEN 0 AND 1 THEN 'Enabled = 0'
    WHEN Priority NOT BETWEEN 0 AND 1000 THEN 'Priority = NULL'
    WHEN lower(ProcessingMode) NOT IN ('manual', 'scheduled', 'triggered') THEN 'ProcessingMode = NULL'
    WHEN lower(DependencyMode) NOT IN ('all', 'any') THEN 'DependencyMode = ''all'''
    WHEN lower(OnFailure) NOT IN ('hold_batch', 'stop_all', 'continue') THEN 'OnFailure = ''hold_batch'''
    WHEN RetryCount NOT BETWEEN 0 AND 1000 THEN 'RetryCount = 0'
    WHEN RetryWaitMins NOT BETWEEN 0 AND 525600 THEN 'RetryWaitMins = 5'
    WHEN RetryWaitSecs NOT BETWEEN 0 AND 31536000 THEN 'RetryWaitSecs = NULL'
    WHEN MaxConcurrent NOT BETWEEN 1 AND 1000 THEN 'MaxConcurrent = 1'
    WHEN MaxPerMinute NOT BETWEEN 1 AND 100000 THEN 'MaxPerMinute = NULL'
    WHEN DuplicateCheck NOT BETWEEN 0 AND 1 THEN 'DuplicateCheck = 1' END AS Given
FROM ProcessBatch
UNION ALL
SELECT 'ProcessControl', ProcessControl_id, ProcessBatch_id, 1, '',
    CASE WHEN ProcessControlSeq NOT BETWEEN 1 AND 2000000000 THEN 'ProcessControlSeq = ...'
    WHEN ExpectedDuration NOT BETWEEN 1 AND 31536000 THEN 'ExpectedDuration = NULL'
    WHEN AlarmDuration NOT BETWEEN 1 AND 31536000 THEN 'AlarmDuration = NULL'
    WHEN MaxDuration NOT BETWEEN 1 AND 31536000 THEN 'MaxDuration = NULL'
    WHEN lower(OnLost) NOT IN ('hold', 'rerun', 'verify') THEN 'OnLost = ''hold'''
    WHEN MaxLost NOT BETWEEN 0 AND 1000 THEN 'MaxLost = 3'
    WHEN RetryCount NOT BETWEEN 0 AND 1000 THEN 'RetryCount = NULL'
    WHEN RetryWaitSecs NOT BETWEEN 0 AND 31536000 THEN 'RetryWaitSecs = NULL'
    WHEN RetryBackoff NOT BETWEEN 1 AND 10 THEN 'RetryBackoff = NULL' END
FROM ProcessControl
UNION ALL
SELECT 'BatchDependency', BatchDependency_id, ProcessBatch_id, 2, '',
    CASE WHEN DeadlineMins NOT BETWEEN 1 AND 525600 THEN 'DeadlineMins = 1440' END
FROM BatchDependency
UNION ALL
SELECT 'BatchResource', BatchResource_id, ProcessBatch_id, 3, '',
    CASE WHEN Units NOT BETWEEN 1 AND 1000000 THEN 'Units = 1'
    WHEN Exclusive NOT BETWEEN 0 AND 1 THEN 'Exclusive = 0' END
FROM BatchResource
UNION ALL
SELECT 'Resource', t.Resource_id, n.ProcessBatch_id, 4, '',
    CASE WHEN t.Units NOT BETWEEN 0 AND 1000000 THEN 'Units = 1' END
FROM Resource t JOIN BatchResource n ON n.Resource_id = t.Resource_id
UNION ALL
SELECT 'Schedule', Schedule_id, NULL, 5, '',
    CASE WHEN IntervalMinutes NOT BETWEEN 1 AND 1440 THEN 'IntervalMinutes = NULL'
    WHEN EveryN NOT BETWEEN 1 AND 1000 THEN 'EveryN = 1'
    WHEN CatchUpMost NOT BETWEEN 1 AND 1000 THEN 'CatchUpMost = NULL'
    WHEN Jitter NOT BETWEEN 0 AND 86400 THEN 'Jitter = 0'
    WHEN Enabled NOT BETWEEN 0 AND 1 THEN 'Enabled = 0' END
FROM Schedule
UNION ALL
SELECT 'BatchControl', BatchControl_id, NULL, 6, '',
    CASE WHEN NOT (lower(Status) IN ('ready', 'running', 'retry', 'failed', 'held', 'pausing', 'paused', 'cancelling', 'cancelled', 'complete', 'success')) THEN 'Status = ''held''' ELSE 'PrevProcessControlSeq = ...' END
FROM BatchControl WHERE Status <> 'ready' AND Status <> 'running' AND Status <> 'retry' AND Status <> 'failed' AND Status <> 'held' AND Status <> 'pausing' AND Status <> 'paused' AND Status <> 'cancelling' AND Status <> 'cancelled' AND Status <> 'complete'
UNION ALL
SELECT 'FileProcess', FileProcess_id, NULL, 7, '',
    'Status = ''paused'''
FROM FileProcess WHERE Status <> 'ready' AND Status <> 'paused' AND Status <> 'complete' AND Status <> 'rejected' AND Status <> 'duplicate'
) m WHERE Given IS NOT NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

CREATE OR ALTER VIEW vNotInstalled AS
WITH Offered AS (
SELECT CASE WHEN k.ProcessTypes IS NULL THEN 1 ELSE 0 END AS IsUnknown, CONCAT(',', TRIM(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(TRANSLATE(k.ProcessTypes, CONCAT(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)), N','), CONCAT(REPLICATE(N' ', 29), N',')), '                ,', ','), ',                ', ','), '        ,', ','), ',        ', ','), '    ,', ','), ',    ', ','), '  ,', ','), ',  ', ','), ' ,', ','), ', ', ',')), ',') AS ProcessTypes, CASE WHEN EXISTS (SELECT 1 FROM Leader l WHERE l.ControllerName = k.ControllerName) OR NOT EXISTS (SELECT 1 FROM Leader l JOIN Controller m ON m.ControllerName = l.ControllerName
            WHERE m.Status = 'running') THEN CONCAT(',', TRIM(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(TRANSLATE(k.Populators, CONCAT(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)), N','), CONCAT(REPLICATE(N' ', 29), N',')), '                ,', ','), ',                ', ','), '        ,', ','), ',        ', ','), '    ,', ','), ',    ', ','), '  ,', ','), ',  ', ','), ' ,', ','), ', ', ',')), ',') ELSE '' END AS Populators, CONCAT(',', TRIM(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(TRANSLATE(k.Jobs, CONCAT(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)), N','), CONCAT(REPLICATE(N' ', 29), N',')), '                ,', ','), ',                ', ','), '        ,', ','), ',        ', ','), '    ,', ','), ',    ', ','), '  ,', ','), ',  ', ','), ' ,', ','), ', ', ',')), ',') AS Jobs
FROM Controller k
WHERE k.Status = 'running' OR k.Controller_id = (SELECT MAX(l.Controller_id) FROM Controller l)
), Named AS (
SELECT ProcessBatch_id, -1 AS ProcessControlSeq, 'Populator' AS Lacks, Populator AS Name FROM ProcessBatch
UNION ALL SELECT ProcessBatch_id, ProcessControlSeq, 'ProcessType', TRIM(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)) FROM lower(ProcessType)) FROM ProcessControl
UNION ALL SELECT ProcessBatch_id, ProcessControlSeq, 'Data1', Data1 FROM ProcessControl
WHERE Data1 <> '' AND TRIM(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)) FROM lower(ProcessType)) = 'python' AND EXISTS (SELECT 1 FROM Offered WHERE ProcessTypes LIKE '%python%')
)
SELECT n.ProcessBatch_id, b.ProcessBatchName, n.ProcessControlSeq,
    CONCAT(CASE WHEN n.ProcessControlSeq = -1 THEN CONCAT('ProcessBatch (', b.ProcessBatchName, '): Populator') ELSE CONCAT('ProcessControl (', b.ProcessBatchName, ', step ', n.ProcessControlSeq, '): ', CASE WHEN n.Lacks = 'Data1' THEN 'job' ELSE n.Lacks END) END, ' ''', n.Name, CASE WHEN n.Lacks = 'Data1' THEN ''' of Data1' ELSE '''' END, ' is not installed') AS Reason,
    CASE WHEN n.ProcessControlSeq = -1 THEN CONCAT('SET QUOTED_IDENTIFIER ON; UPDATE ProcessBatch SET Populator = ... WHERE ProcessBatch_id = ', n.ProcessBatch_id, ';') ELSE CONCAT('SET QUOTED_IDENTIFIER ON; UPDATE ProcessControl SET ', n.Lacks, ' = ... WHERE ProcessBatch_id = ', n.ProcessBatch_id, ' AND ProcessControlSeq = ', n.ProcessControlSeq, ';') END AS NextSql
FROM Named n JOIN ProcessBatch b ON b.ProcessBatch_id = n.ProcessBatch_id
WHERE EXISTS (SELECT 1 FROM Offered) AND replace(n.Name, ',', '') = n.Name
AND NOT EXISTS (SELECT 1 FROM Offered o WHERE o.IsUnknown = 1 OR (n.Name NOT LIKE '%,%' AND CHARINDEX(CONCAT(',', n.Name, ','), CASE n.Lacks WHEN 'Populator' THEN o.Populators WHEN 'ProcessType' THEN o.ProcessTypes ELSE o.Jobs END) > 0));
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

CREATE OR ALTER VIEW vFrozen AS
SELECT z.ProcessBatch_id, z.ProcessBatchName, z.BatchFreeze_id, z.Scope, z.UntilTime, (SELECT TOP 1 CASE WHEN z.UntilTime BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, z.UntilTime) END FROM ZoneOffset o WHERE o.UntilTime > z.UntilTime AND o.FromTime <= z.UntilTime ORDER BY o.FromTime) AS UntilTimeLocal,
    CONCAT(z.Scope, ' is frozen since ', CONVERT(varchar(19), z.z_inserted, 120) + ' UTC', ', ', CASE WHEN z.UntilTime IS NULL THEN 'until somebody thaws it' ELSE CONCAT('until ', CONVERT(varchar(19), z.UntilTime, 120) + ' UTC') END, ', by ', z.Actor, ': ', z.Reason) AS Reason,
    CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''thaw'', ''{"id": ', z.BatchFreeze_id, '}'', ''...'');') AS NextSql
FROM (SELECT b.ProcessBatch_id, b.ProcessBatchName, z.BatchFreeze_id, CASE WHEN z.Tag IS NOT NULL THEN CONCAT('every batch with tag ''', z.Tag, '''') WHEN z.ProcessBatchName IS NULL THEN 'everything' ELSE CONCAT('batch ', z.ProcessBatchName) END AS Scope, z.UntilTime, z.z_inserted, z.Actor,
             z.Reason, ROW_NUMBER() OVER (PARTITION BY b.ProcessBatch_id ORDER BY CASE WHEN z.UntilTime IS NULL THEN 0 ELSE 1 END, z.UntilTime DESC, z.BatchFreeze_id) AS Nth
      FROM (SELECT BatchFreeze_id, ProcessBatchName, Tag, TRIM(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)) FROM lower(Tag)) AS BareTag, UntilTime, z_inserted, Actor, Reason
            FROM BatchFreeze WHERE ThawedTime IS NULL AND (UntilTime IS NULL OR UntilTime > SYSUTCDATETIME())) z
      JOIN (SELECT ProcessBatch_id, ProcessBatchName, CONCAT(',', TRIM(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(TRANSLATE(lower(Tags), CONCAT(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)), N','), CONCAT(REPLICATE(N' ', 29), N',')), '                ,', ','), ',                ', ','), '        ,', ','), ',        ', ','), '    ,', ','), ',    ', ','), '  ,', ','), ',  ', ','), ' ,', ','), ', ', ',')), ',') AS Tags FROM ProcessBatch) b
        ON (z.Tag IS NULL AND (z.ProcessBatchName IS NULL OR z.ProcessBatchName = b.ProcessBatchName))
        OR (z.BareTag <> '' AND z.BareTag NOT LIKE '%,%' AND CHARINDEX(CONCAT(',', z.BareTag, ','), b.Tags) > 0)) z
WHERE z.Nth = 1;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

CREATE OR ALTER VIEW vPools AS
WITH Serves AS (
SELECT k.Host, k.Status, k.Heartbeat, COALESCE(p.PoolName, 'default') AS PoolName,
       (SELECT MIN(d.Drain_id) FROM Drain d WHERE d.UndrainedTime IS NULL AND lower(d.Host) COLLATE Latin1_General_100_BIN2 = lower(k.Host) COLLATE Latin1_General_100_BIN2) AS Drain_id
FROM Controller k LEFT JOIN ControllerPool p ON p.Controller_id = k.Controller_id
), Named AS (
SELECT 'default' AS PoolName
UNION SELECT PoolName FROM Pool
UNION SELECT PoolName FROM ControllerPool
UNION SELECT COALESCE(NULLIF(TRIM(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)) FROM lower(g.Pool) COLLATE Latin1_General_100_BIN2), ''), NULLIF(TRIM(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)) FROM lower(b.Pool) COLLATE Latin1_General_100_BIN2), ''), 'default') FROM ProcessControl g
JOIN ProcessBatch b ON b.ProcessBatch_id = g.ProcessBatch_id
), Standing AS (
SELECT n.PoolName,
       (SELECT COUNT(*) FROM Controller k WHERE k.Status = 'running') AS Running,
       (SELECT COUNT(*) FROM Serves v WHERE v.PoolName = n.PoolName AND v.Status = 'running' AND v.Drain_id IS NULL) AS Serving,
       (SELECT MIN(v.Drain_id) FROM Serves v WHERE v.PoolName = n.PoolName AND v.Status = 'running') AS HostDrain_id,
       (SELECT COUNT(*) FROM BatchControl c WHERE c.Status IN ('running', 'pausing', 'cancelling')
        AND COALESCE(c.NextPool, 'default') = n.PoolName) AS Claimed,
       (SELECT MAX(v.Heartbeat) FROM Serves v WHERE v.PoolName = n.PoolName) AS LastServed,
       (SELECT MAX(v.Host) FROM Serves v WHERE v.PoolName = n.PoolName
        AND v.Heartbeat = (SELECT MAX(o.Heartbeat) FROM Serves o WHERE o.PoolName = n.PoolName)) AS LastHost,
       (SELECT MIN(d.Drain_id) FROM Drain d WHERE d.UndrainedTime IS NULL AND lower(d.PoolName) COLLATE Latin1_General_100_BIN2 = n.PoolName) AS Drain_id
FROM Named n
)
SELECT t.PoolName, p.MaxConcurrent, COALESCE(p.Enabled, 1) AS Enabled, t.Claimed, t.Serving, t.LastHost,
       t.LastServed, (SELECT TOP 1 CASE WHEN t.LastServed BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, t.LastServed) END FROM ZoneOffset o WHERE o.UntilTime > t.LastServed AND o.FromTime <= t.LastServed ORDER BY o.FromTime) AS LastServedLocal,
       CASE WHEN d.Drain_id IS NOT NULL THEN CONCAT('pool ', t.PoolName, ' is drained by ', d.Actor, ': ', d.Reason)
            WHEN p.Enabled <> 1 THEN CONCAT('pool ', t.PoolName, ' is disabled')
            WHEN t.Serving = 0 AND h.Drain_id IS NOT NULL THEN CONCAT('pool ', t.PoolName, ' is served only by drained hosts: ', h.Host, ' by ', h.Actor, ': ', h.Reason)
            WHEN t.Serving = 0 AND (t.PoolName <> 'default' OR t.Running > 0) THEN CONCAT('no controller serves pool ', t.PoolName, CASE WHEN t.LastHost IS NULL THEN ' (and none ever did)' ELSE CONCAT(' (the last was on ', t.LastHost, ', ', CONVERT(varchar(19), t.LastServed, 120) + ' UTC', ')') END)
            WHEN t.Claimed >= p.MaxConcurrent THEN CONCAT(t.Claimed, ' instances have a step of pool ', t.PoolName, ' under way, its MaxConcurrent') END AS Reason,
       CASE WHEN d.Drain_id IS NOT NULL THEN CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''undrain'', ', CONCAT('N''', replace(CONCAT('{"pool": "', t.PoolName, '"}'), '''', ''''''), ''''), ', ...);')
            WHEN p.Enabled <> 1 THEN CONCAT('SET QUOTED_IDENTIFIER ON; UPDATE Pool SET Enabled = 1 WHERE PoolName = ', CONCAT('N''', replace(t.PoolName, '''', ''''''), ''''), ';')
            WHEN t.Serving = 0 AND h.Drain_id IS NOT NULL THEN CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''undrain'', ', CONCAT('N''', replace(CONCAT('{"host": "', h.Host, '"}'), '''', ''''''), ''''), ', ...);')
            WHEN t.Serving = 0 AND (t.PoolName <> 'default' OR t.Running > 0) THEN 'SELECT * FROM Controller;'
            ELSE 'SELECT * FROM vRunning;' END AS NextSql,
       p.Description
FROM Standing t
LEFT JOIN Pool p ON p.PoolName = t.PoolName
LEFT JOIN Drain d ON d.Drain_id = t.Drain_id
LEFT JOIN Drain h ON h.Drain_id = t.HostDrain_id;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

CREATE OR ALTER VIEW vStatus AS
WITH Unfit AS (
SELECT ProcessBatch_id, Reason, NextSql
FROM (SELECT ProcessBatch_id, Reason, NextSql, ROW_NUMBER() OVER (PARTITION BY ProcessBatch_id ORDER BY Place, Row_id) AS Nth FROM vUnreadable WHERE ProcessBatch_id IS NOT NULL) m
WHERE Nth = 1
), Missing AS (SELECT ProcessBatch_id, ProcessControlSeq, Reason, NextSql FROM vNotInstalled), Counted AS (
SELECT ProcessBatch_id, COUNT(CASE WHEN Status IN ('ready') THEN 1 END) AS Ready, COUNT(CASE WHEN Status IN ('running', 'pausing', 'cancelling') THEN 1 END) AS Running, COUNT(CASE WHEN Status IN ('retry') THEN 1 END) AS Retry,
       COUNT(CASE WHEN Status IN ('failed') THEN 1 END) AS Failed, COUNT(CASE WHEN Status IN ('held') THEN 1 END) AS Held, COUNT(CASE WHEN Status IN ('paused') THEN 1 END) AS Paused
FROM (SELECT ProcessBatch_id, Status FROM BatchControl WHERE Status IN ('ready', 'retry', 'failed', 'held')
      UNION ALL SELECT ProcessBatch_id, Status FROM BatchControl WHERE Status IN ('running', 'pausing', 'cancelling') UNION ALL SELECT ProcessBatch_id, Status FROM BatchControl WHERE Status IN ('paused')) c
GROUP BY ProcessBatch_id
)
SELECT b.ProcessBatch_id, b.ProcessBatchName, COALESCE(b.Entity, b.ProcessBatchName) AS Entity,
       CASE WHEN x.ProcessBatch_id IS NOT NULL THEN 'unreadable' WHEN b.Enabled <> 1 THEN 'disabled'
            WHEN z.BatchFreeze_id IS NOT NULL THEN 'frozen' WHEN y.ProcessBatch_id IS NOT NULL THEN 'unreadable'
            WHEN n.Failed > 0 THEN 'failed' WHEN n.Held > 0 THEN 'held' WHEN n.Running > 0 THEN 'running'
            WHEN n.Retry > 0 THEN 'retry' WHEN n.Ready > 0 THEN 'waits' WHEN n.Paused > 0 THEN 'paused'
            WHEN a.ProcessBatch_id IS NOT NULL THEN 'waits' WHEN t.Incident_id IS NOT NULL THEN 'unreadable'
            ELSE 'idle' END AS Status,
       COALESCE(n.Ready, 0) AS Ready, COALESCE(n.Running, 0) AS Running, COALESCE(n.Retry, 0) AS Retry, COALESCE(n.Failed, 0) AS Failed, COALESCE(n.Held, 0) AS Held, COALESCE(n.Paused, 0) AS Paused,
       c.BatchControl_id AS LastComplete_id, c.z_updated AS LastCompleteTime, (SELECT TOP 1 CASE WHEN c.z_updated BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, c.z_updated) END FROM ZoneOffset o WHERE o.UntilTime > c.z_updated AND o.FromTime <= c.z_updated ORDER BY o.FromTime) AS LastCompleteTimeLocal,
       b.Seq, b.Description,
       CASE WHEN x.ProcessBatch_id IS NOT NULL THEN x.NextSql WHEN b.Enabled <> 1 THEN CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES (''enable'', ', CONCAT('N''', replace(b.ProcessBatchName, '''', ''''''), ''''), ', ''...'');')
            WHEN z.BatchFreeze_id IS NOT NULL THEN z.NextSql WHEN y.ProcessBatch_id IS NOT NULL THEN y.NextSql
            WHEN t.Incident_id IS NOT NULL AND n.ProcessBatch_id IS NULL AND a.ProcessBatch_id IS NULL
                 THEN CONCAT('SELECT * FROM Incident WHERE Incident_id = ', t.Incident_id, ';')
            ELSE CONCAT('SELECT * FROM ', CASE WHEN n.Failed + n.Held > 0 THEN 'vFailed' WHEN n.Running > 0 THEN 'vRunning' WHEN n.Retry + n.Ready + n.Paused > 0 OR a.ProcessBatch_id IS NOT NULL THEN 'vWaiting' ELSE 'vHistory' END, ' WHERE ProcessBatchName = ', CONCAT('N''', replace(b.ProcessBatchName, '''', ''''''), ''''), ';') END AS NextSql, c.StepsFailed AS LastStepsFailed,
       (SELECT o.Text FROM Note o WHERE o.Note_id = (SELECT MAX(m.Note_id) FROM Note m WHERE m.ProcessBatch_id = b.ProcessBatch_id)) AS LastNote
FROM ProcessBatch b
LEFT JOIN Counted n ON n.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Missing y ON y.ProcessBatch_id = b.ProcessBatch_id AND y.ProcessControlSeq = (
    SELECT MIN(v.ProcessControlSeq) FROM Missing v WHERE v.ProcessBatch_id = b.ProcessBatch_id)
LEFT JOIN vFrozen z ON z.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN (SELECT DISTINCT ProcessBatch_id FROM BatchCompletion WHERE FileProcess_id IS NULL) a
    ON a.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN BatchControl c ON c.BatchControl_id = (SELECT MAX(d.BatchControl_id) FROM BatchControl d
    WHERE d.ProcessBatch_id = b.ProcessBatch_id AND d.Status = 'complete' AND d.Status IN ('complete', 'cancelled'))
LEFT JOIN Incident t ON t.Incident_id = (SELECT MIN(i.Incident_id) FROM Incident i
    WHERE i.ResolvedTime IS NULL AND i.Kind = 'unreadable' AND i.ProcessBatch_id = b.ProcessBatch_id);
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

CREATE OR ALTER VIEW vFailed AS
SELECT c.BatchControl_id, b.ProcessBatchName, lower(c.Status) COLLATE Latin1_General_100_BIN2 AS Status, c.CycleKey, f.Entity, f.FileName,
       h.ProcessControlSeq, h.ProcessName, h.ProcessType, h.AttemptNo, lower(h.Status) COLLATE Latin1_General_100_BIN2 AS AttemptStatus, h.ReturnCode,
       h.Message AS ErrorText, h.Output, h.CommandText, h.StartTime, (SELECT TOP 1 CASE WHEN h.StartTime BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, h.StartTime) END FROM ZoneOffset o WHERE o.UntilTime > h.StartTime AND o.FromTime <= h.StartTime ORDER BY o.FromTime) AS StartTimeLocal, h.EndTime, (SELECT TOP 1 CASE WHEN h.EndTime BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, h.EndTime) END FROM ZoneOffset o WHERE o.UntilTime > h.EndTime AND o.FromTime <= h.EndTime ORDER BY o.FromTime) AS EndTimeLocal,
       CAST(DATEDIFF_BIG(millisecond, h.StartTime, h.EndTime) / 1000.0 AS decimal(18, 3)) AS DurationSeconds, h.ClaimedBy, h.Host, c.FileProcess_id,
       CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''rerun'', ', c.BatchControl_id, ', ''...'');') AS RerunSql, CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''skip'', ', c.BatchControl_id, ', ''...'');') AS SkipSql,
       CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''cancel'', ', c.BatchControl_id, ', ''...'');') AS CancelSql, h.ErrorCode, h.ErrorLine,
       (SELECT o.Text FROM Note o WHERE o.Note_id = (SELECT MAX(m.Note_id) FROM Note m WHERE m.BatchControl_id = c.BatchControl_id)) AS LastNote
FROM BatchControl c
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN FileProcess f ON f.FileProcess_id = c.FileProcess_id
LEFT JOIN BatchProcessHistory h ON h.BatchProcessHistory_id = (
    SELECT MAX(g.BatchProcessHistory_id) FROM BatchProcessHistory g WHERE g.BatchControl_id = c.BatchControl_id)
WHERE c.Status IN ('retry', 'failed', 'held') AND (c.Status = 'failed' OR c.Status = 'held');
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

CREATE OR ALTER VIEW vWaiting AS
WITH Unfit AS (
SELECT ProcessBatch_id, Reason, NextSql
FROM (SELECT ProcessBatch_id, Reason, NextSql, ROW_NUMBER() OVER (PARTITION BY ProcessBatch_id ORDER BY Place, Row_id) AS Nth FROM vUnreadable WHERE ProcessBatch_id IS NOT NULL) m
WHERE Nth = 1
), Missing AS (SELECT ProcessBatch_id, ProcessControlSeq, Reason, NextSql FROM vNotInstalled), UnfitWork AS (
SELECT Row_id, ColumnName, Reason, NextSql FROM vUnreadable WHERE TableName = 'BatchControl'
), Claimed AS (
SELECT ProcessBatch_id, COUNT(*) AS HowMany FROM BatchControl WHERE Status IN ('running', 'pausing', 'cancelling') GROUP BY ProcessBatch_id
), Total AS (
SELECT (SELECT COALESCE(SUM(HowMany), 0) FROM Claimed) AS HowMany,
       (SELECT CASE WHEN v.Said NOT LIKE '%[^0-9]%' AND LEN(v.Said) BETWEEN 1 AND 18 THEN TRY_CAST(v.Said AS bigint) ELSE 0 END FROM (SELECT TRIM(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)) FROM Value) AS Said FROM Setting WHERE Name = 'MaxConcurrent') v) AS Most,
       SYSUTCDATETIME() AS Now
), Held AS (
SELECT n.Resource_id, SUM(k.HowMany * CAST(n.Units AS bigint)) AS Units, MAX(n.Exclusive) AS Exclusive
FROM BatchResource n JOIN Claimed k ON k.ProcessBatch_id = n.ProcessBatch_id GROUP BY n.Resource_id
), Unmet AS (
SELECT n.ProcessBatch_id, MIN(n.Resource_id) AS Resource_id
FROM BatchResource n JOIN Resource r ON r.Resource_id = n.Resource_id
LEFT JOIN Held h ON h.Resource_id = n.Resource_id
WHERE n.Units > r.Units OR h.Exclusive = 1 OR (n.Exclusive = 1 AND h.Units > 0)
   OR r.Units - COALESCE(h.Units, 0) < n.Units
GROUP BY n.ProcessBatch_id
), Paced AS (
SELECT c.ProcessBatch_id, COUNT(*) AS Begun, MIN(c.BegunTime) AS Oldest,
       (SELECT MIN(g.ProcessControlSeq) FROM ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id) AS FirstSeq
FROM BatchControl c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE b.MaxPerMinute IS NOT NULL AND c.BegunTime IS NOT NULL AND c.BegunTime > DATEADD(second, -60, SYSUTCDATETIME())
GROUP BY c.ProcessBatch_id, b.MaxPerMinute HAVING COUNT(*) >= b.MaxPerMinute
), Stopping AS (
SELECT MIN(CASE WHEN c.Status = 'retry' THEN NULL ELSE c.BatchControl_id END) AS ByPerson,
       MIN(CASE WHEN c.Status = 'retry' THEN c.BatchControl_id END) AS ByRetry
FROM BatchControl c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE c.Status IN ('retry', 'failed', 'held') AND lower(b.OnFailure) COLLATE Latin1_General_100_BIN2 = 'stop_all'
), Stood AS (
SELECT c.BatchControl_id, c.ProcessBatch_id, c.FileProcess_id, c.CycleKey, lower(c.Status) COLLATE Latin1_General_100_BIN2 AS Status, c.NextRunTime,
       c.PrevProcessControlSeq, c.z_updated, COALESCE(k.HowMany, 0) AS Started, b.MaxConcurrent,
       lower(b.OnFailure) COLLATE Latin1_General_100_BIN2 AS OnFailure,
       CASE WHEN c.Status = 'retry' AND lower(b.OnFailure) COLLATE Latin1_General_100_BIN2 = 'stop_all' THEN
            CASE WHEN t.ByRetry < c.BatchControl_id AND (t.ByPerson IS NULL OR t.ByRetry < t.ByPerson) THEN t.ByRetry
                 ELSE t.ByPerson END
            WHEN t.ByRetry < t.ByPerson OR t.ByPerson IS NULL THEN t.ByRetry ELSE t.ByPerson END AS Stop_id
FROM BatchControl c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id CROSS JOIN Stopping t
LEFT JOIN Claimed k ON k.ProcessBatch_id = c.ProcessBatch_id
WHERE c.Status IN ('ready', 'retry', 'failed', 'held')
), Line AS (
SELECT c.*, c.Started + COUNT(CASE WHEN c.NextRunTime <= SYSUTCDATETIME() AND (c.Status = 'ready' OR c.Status = 'retry')
                                   AND c.Stop_id IS NULL THEN 1 END) OVER (PARTITION BY c.ProcessBatch_id ORDER BY c.BatchControl_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS Taken
FROM Stood c
), Ordered AS (
SELECT c.*, MIN(CASE WHEN c.OnFailure <> 'continue' AND (c.Status = 'failed' OR c.Status = 'held' OR c.NextRunTime > SYSUTCDATETIME()
                          OR (c.Status = 'retry' AND c.Taken >= c.MaxConcurrent))
                     THEN c.BatchControl_id END) OVER (PARTITION BY c.ProcessBatch_id ORDER BY c.BatchControl_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS Ahead_id
FROM Line c
), Instances AS (
SELECT BatchControl_id, ProcessBatch_id, FileProcess_id, CycleKey, Status, NextRunTime, PrevProcessControlSeq, z_updated,
       Started, Taken, Ahead_id, Stop_id FROM Ordered WHERE Status = 'ready' OR Status = 'retry'
UNION ALL
SELECT BatchControl_id, ProcessBatch_id, FileProcess_id, CycleKey, lower(Status) COLLATE Latin1_General_100_BIN2, NextRunTime, PrevProcessControlSeq,
       z_updated, NULL, NULL, NULL, NULL FROM BatchControl WHERE Status IN ('paused')
), Lacking AS (
SELECT w.ProcessBatch_id, w.CycleKey, w.Since, y.DependsOnBatch_id, y.DeadlineMins
FROM (SELECT ProcessBatch_id, CycleKey, MIN(z_inserted) AS Since FROM BatchCompletion
      WHERE FileProcess_id IS NULL GROUP BY ProcessBatch_id, CycleKey) w
JOIN BatchDependency y ON y.ProcessBatch_id = w.ProcessBatch_id
WHERE NOT EXISTS (SELECT 1 FROM BatchCompletion x WHERE x.FileProcess_id IS NULL
    AND x.ProcessBatch_id = w.ProcessBatch_id AND x.DependsOnBatch_id = y.DependsOnBatch_id AND (x.CycleKey = w.CycleKey OR (x.CycleKey IS NULL AND w.CycleKey IS NULL)))
), Locks AS (
SELECT k.Controller_id, CONCAT(' | ', SUBSTRING(LEFT(k.Trouble, CHARINDEX(' Next: ', CONCAT(k.Trouble, ' Next: ')) - 1), 29, 1000000)) AS Said
FROM Controller k
WHERE k.Status = 'running' AND k.Trouble LIKE 'somebody keeps rows locked: %' AND CASE WHEN k.Heartbeat BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, k.OrphanTimeoutSecs, k.Heartbeat) END > SYSUTCDATETIME()
), Met AS (
SELECT c.BatchControl_id, t.Controller_id, SUBSTRING(COALESCE(SUBSTRING(t.Said, NULLIF(CHARINDEX(CONCAT(' | BatchControl ', c.BatchControl_id, ': '), t.Said), 0), 1000000), SUBSTRING(t.Said, NULLIF(CHARINDEX(CONCAT(' | batch ', replace(replace(b.ProcessBatchName, '|', '\|'), ':', '\:'), ': '), t.Said), 0), 1000000), SUBSTRING(t.Said, NULLIF(CHARINDEX(CONCAT(' | FileProcess ', c.FileProcess_id, ': '), t.Said), 0), 1000000)), 4, 1000000) AS Said FROM Instances c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id CROSS JOIN Locks t
), Entry AS (
SELECT m.BatchControl_id, m.Controller_id, LEFT(m.Said, CHARINDEX(' | ', CONCAT(m.Said, ' | ')) - 1) AS Said FROM Met m WHERE m.Said IS NOT NULL
), Locked AS (
SELECT e.BatchControl_id, LEFT(e.Said, CHARINDEX('; to end it: ', CONCAT(e.Said, '; to end it: ')) - 1) AS Reason,
       SUBSTRING(SUBSTRING(e.Said, NULLIF(CHARINDEX('; to end it: ', e.Said), 0), 1000000), 14, 1000000) AS Mend,
       ROW_NUMBER() OVER (PARTITION BY e.BatchControl_id ORDER BY e.Controller_id) AS Nth
FROM Entry e
)
SELECT q.BatchControl_id, q.ProcessBatchName, q.Status, q.CycleKey, q.Entity, q.FileName, q.Since, (SELECT TOP 1 CASE WHEN q.Since BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, q.Since) END FROM ZoneOffset o WHERE o.UntilTime > q.Since AND o.FromTime <= q.Since ORDER BY o.FromTime) AS SinceLocal, q.Reason, q.NotBeforeTime, (SELECT TOP 1 CASE WHEN q.NotBeforeTime BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, q.NotBeforeTime) END FROM ZoneOffset o WHERE o.UntilTime > q.NotBeforeTime AND o.FromTime <= q.NotBeforeTime ORDER BY o.FromTime) AS NotBeforeTimeLocal, q.FileProcess_id, q.NextSql
FROM (
SELECT c.BatchControl_id, b.ProcessBatchName, c.Status, c.CycleKey, f.Entity, f.FileName, c.z_updated AS Since,
       COALESCE(CASE WHEN j.Confirmation_id IS NOT NULL THEN CONCAT('it asks ', COALESCE(j.Who, 'anyone who may act'), ': ', j.Question)
            WHEN c.Status = 'paused' THEN 'somebody paused it' END, x.Reason,
            CASE WHEN b.Enabled <> 1 THEN CONCAT('batch ', b.ProcessBatchName, ' is disabled') END, z.Reason, y.Reason,
            CASE WHEN NOT EXISTS (SELECT 1 FROM ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id)
                 THEN CONCAT('batch ', b.ProcessBatchName, ' has no steps') END, w.Reason,
            CASE WHEN c.PrevProcessControlSeq NOT BETWEEN 0 AND 2000000000 THEN CONCAT('BatchControl ', c.BatchControl_id, ' cannot be read: PrevProcessControlSeq holds nonsense')
            WHEN c.NextRunTime > l.Now THEN CONCAT('it waits until ', CONVERT(varchar(19), c.NextRunTime, 120) + ' UTC')
            WHEN a.BatchControl_id IS NOT NULL THEN CONCAT('BatchControl ', a.BatchControl_id, ' of the same batch is ', lower(a.Status) COLLATE Latin1_General_100_BIN2, ' (OnFailure ', lower(b.OnFailure) COLLATE Latin1_General_100_BIN2, ')')
            WHEN t.BatchControl_id IS NOT NULL THEN CONCAT('BatchControl ', t.BatchControl_id, ' is ', lower(t.Status) COLLATE Latin1_General_100_BIN2, ' and its batch stops everything') END, h.Reason, o.Reason,
            CASE WHEN c.Started >= b.MaxConcurrent THEN CONCAT(b.MaxConcurrent, ' of batch ', b.ProcessBatchName, ' are started before it')
            WHEN p.Begun IS NOT NULL THEN CONCAT('MaxPerMinute of batch ', b.ProcessBatchName, ' is ', b.MaxPerMinute, ', and ', p.Begun, CASE WHEN p.Begun = 1 THEN ' instance of it was' ELSE ' instances of it were' END, ' begun within 60 seconds')
            WHEN l.Most = 0 THEN 'Setting MaxConcurrent is 0, or no number: nothing starts'
            WHEN l.HowMany >= l.Most THEN CONCAT(l.HowMany, ' instances are under way, and Setting MaxConcurrent is ', l.Most)
            WHEN u.Units > r.Units THEN CONCAT('it needs ', u.Units, ' units of ', r.ResourceName, ', and there are ', r.Units)
            WHEN u.Exclusive = 1 THEN CONCAT('it needs all of ', r.ResourceName, ', and instances under way hold it')
            WHEN u.Resource_id IS NOT NULL THEN CONCAT('it needs ', u.Units, ' of the ', r.Units, ' units of ', r.ResourceName, ', and instances under way hold it')
            WHEN c.Taken >= b.MaxConcurrent AND l.Most IS NULL AND b.MaxPerMinute IS NULL AND NOT EXISTS (
                 SELECT 1 FROM BatchResource v WHERE v.ProcessBatch_id = c.ProcessBatch_id) THEN CONCAT(b.MaxConcurrent, ' of batch ', b.ProcessBatchName, ' are started before it')
            WHEN c.Taken >= b.MaxConcurrent THEN CONCAT('others of batch ', b.ProcessBatchName, ' start before it')
            ELSE 'nothing holds it back' END) AS Reason,
       CASE WHEN w.ColumnName = 'NextRunTime' THEN NULL
            WHEN c.NextRunTime > l.Now THEN c.NextRunTime
            WHEN z.BatchFreeze_id IS NULL AND b.Enabled = 1 THEN CASE WHEN p.Oldest BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, 60, p.Oldest) END
            ELSE z.UntilTime END AS NotBeforeTime,
       c.FileProcess_id,
       COALESCE(CASE WHEN j.Confirmation_id IS NOT NULL THEN CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''confirm'', ', c.BatchControl_id, ', ''...'');')
            WHEN c.Status = 'paused' THEN CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''resume'', ', c.BatchControl_id, ', ''...'');') END, x.NextSql,
            CASE WHEN b.Enabled <> 1 THEN CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES (''enable'', ', CONCAT('N''', replace(b.ProcessBatchName, '''', ''''''), ''''), ', ''...'');') END, z.NextSql, y.NextSql,
            CASE WHEN NOT EXISTS (SELECT 1 FROM ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id)
                 THEN CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1) VALUES (', b.ProcessBatch_id, ', 10, ..., ..., ...);') END, w.NextSql,
            CASE WHEN c.PrevProcessControlSeq NOT BETWEEN 0 AND 2000000000 THEN CONCAT('SET QUOTED_IDENTIFIER ON; UPDATE BatchControl SET PrevProcessControlSeq = ... WHERE BatchControl_id = ', c.BatchControl_id, ';')
            WHEN c.NextRunTime > l.Now THEN CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''rerun'', ', c.BatchControl_id, ', ''...'');')
            WHEN a.BatchControl_id IS NOT NULL THEN CONCAT('SELECT * FROM ', CASE WHEN a.Status = 'failed' OR a.Status = 'held' THEN 'vFailed' ELSE 'vWaiting' END, ' WHERE BatchControl_id = ', a.BatchControl_id, ';')
            WHEN t.BatchControl_id IS NOT NULL THEN CONCAT('SELECT * FROM ', CASE WHEN t.Status = 'retry' THEN 'vWaiting' ELSE 'vFailed' END, ' WHERE BatchControl_id = ', t.BatchControl_id, ';')
            WHEN h.Reason IS NOT NULL THEN CASE WHEN h.Mend IS NULL THEN 'SELECT * FROM Controller;' ELSE CONCAT(h.Mend, ';') END
            WHEN o.Reason IS NOT NULL THEN o.NextSql
            WHEN p.Begun IS NOT NULL AND c.Started < b.MaxConcurrent THEN CONCAT('SET QUOTED_IDENTIFIER ON; UPDATE ProcessBatch SET MaxPerMinute = ... WHERE ProcessBatch_id = ', c.ProcessBatch_id, ';')
            ELSE 'SELECT * FROM vRunning;' END) AS NextSql
FROM Instances c
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN FileProcess f ON f.FileProcess_id = c.FileProcess_id
CROSS JOIN Total l
LEFT JOIN vFrozen z ON z.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN Confirmation j ON j.BatchControl_id = c.BatchControl_id AND j.Answer IS NULL AND c.Status = 'paused'
LEFT JOIN BatchControl a ON a.BatchControl_id = c.Ahead_id
LEFT JOIN BatchControl t ON t.BatchControl_id = c.Stop_id
LEFT JOIN Unfit x ON x.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN UnfitWork w ON w.Row_id = c.BatchControl_id
LEFT JOIN Missing y ON y.ProcessBatch_id = c.ProcessBatch_id AND y.ProcessControlSeq = (
    SELECT MIN(v.ProcessControlSeq) FROM Missing v
    WHERE v.ProcessBatch_id = c.ProcessBatch_id AND v.ProcessControlSeq > c.PrevProcessControlSeq)
LEFT JOIN ProcessControl e ON e.ProcessBatch_id = c.ProcessBatch_id AND e.ProcessControlSeq = (
    SELECT MIN(v.ProcessControlSeq) FROM ProcessControl v
    WHERE v.ProcessBatch_id = c.ProcessBatch_id AND v.ProcessControlSeq > c.PrevProcessControlSeq)
LEFT JOIN vPools o ON o.PoolName = COALESCE(NULLIF(TRIM(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)) FROM lower(e.Pool) COLLATE Latin1_General_100_BIN2), ''), NULLIF(TRIM(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)) FROM lower(b.Pool) COLLATE Latin1_General_100_BIN2), ''), 'default')
LEFT JOIN Unmet m ON m.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN Paced p ON p.ProcessBatch_id = c.ProcessBatch_id AND c.Status <> 'paused' AND c.PrevProcessControlSeq < p.FirstSeq
LEFT JOIN BatchResource u ON u.ProcessBatch_id = m.ProcessBatch_id AND u.Resource_id = m.Resource_id
LEFT JOIN Resource r ON r.Resource_id = m.Resource_id
LEFT JOIN Locked h ON h.BatchControl_id = c.BatchControl_id AND h.Nth = 1
UNION ALL
SELECT c.BatchControl_id, b.ProcessBatchName, 'unreadable', c.CycleKey, f.Entity, f.FileName, c.z_updated,
       w.Reason, NULL, c.FileProcess_id, w.NextSql
FROM UnfitWork w
JOIN BatchControl c ON c.BatchControl_id = w.Row_id
LEFT JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN FileProcess f ON f.FileProcess_id = c.FileProcess_id
WHERE w.ColumnName = 'Status'
UNION ALL
SELECT c.BatchControl_id, b.ProcessBatchName, 'unreadable', c.CycleKey, b.Entity, NULL, c.z_updated,
       CONCAT('BatchControl ', c.BatchControl_id, ' cannot be read: FileProcess ', c.FileProcess_id, ' is gone'), NULL, c.FileProcess_id, CONCAT('SET IDENTITY_INSERT FileProcess ON; ', 'SET QUOTED_IDENTIFIER ON; INSERT INTO FileProcess (FileProcess_id, Entity) VALUES (', c.FileProcess_id, ', ', CONCAT('N''', replace(COALESCE(b.Entity, b.ProcessBatchName), '''', ''''''), ''''), ');', ' SET IDENTITY_INSERT FileProcess OFF;')
FROM BatchControl c
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE c.Status IN ('ready', 'running', 'retry', 'failed', 'held', 'pausing', 'paused', 'cancelling')
AND NOT EXISTS (SELECT 1 FROM FileProcess f WHERE f.FileProcess_id = c.FileProcess_id)
UNION ALL
SELECT NULL, b.ProcessBatchName, 'dependency', w.CycleKey, COALESCE(b.Entity, b.ProcessBatchName), NULL,
       w.Since, COALESCE(p.Reason, q.Reason, CONCAT(d.ProcessBatchName, ' ', CASE WHEN x.BatchControl_id IS NULL THEN 'has no instance for this CycleKey yet' ELSE CONCAT('(BatchControl ', x.BatchControl_id, ') ', CASE lower(x.Status) COLLATE Latin1_General_100_BIN2 WHEN 'ready' THEN 'has not begun yet' WHEN 'running' THEN 'is running' WHEN 'retry' THEN 'has failed and waits for its retry' WHEN 'failed' THEN 'has failed' WHEN 'held' THEN 'is held: a person decides' WHEN 'pausing' THEN 'is running, and paused then' WHEN 'paused' THEN 'is paused' WHEN 'cancelling' THEN 'is being cancelled' WHEN 'cancelled' THEN 'was cancelled' WHEN 'complete' THEN CASE WHEN EXISTS (SELECT 1 FROM BatchCompletion u WHERE u.ProcessBatch_id = w.ProcessBatch_id AND u.BatchControl_id = x.BatchControl_id) THEN 'is complete, and that was used before: another instance has to complete'
            ELSE 'had completed before the dependency was registered, which does not count' END END) END, CASE WHEN d.Enabled <> 1 THEN ', and the batch is disabled' WHEN z.BatchFreeze_id IS NOT NULL THEN CONCAT(', and ', z.Scope, ' is frozen') ELSE '' END)), NULL, NULL, COALESCE(p.NextSql, q.NextSql,
       CASE WHEN x.Status = 'failed' OR x.Status = 'held' THEN CONCAT('SELECT * FROM vFailed WHERE BatchControl_id = ', x.BatchControl_id, ';')
            WHEN x.Status = 'cancelled' THEN CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''rerun'', ', x.BatchControl_id, ', ''...'');')
            WHEN d.Enabled <> 1 THEN CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES (''enable'', ', CONCAT('N''', replace(d.ProcessBatchName, '''', ''''''), ''''), ', ''...'');')
            WHEN z.BatchFreeze_id IS NOT NULL THEN z.NextSql
            WHEN x.Status = 'paused' THEN CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''resume'', ', x.BatchControl_id, ', ''...'');')
            WHEN x.BatchControl_id IS NOT NULL THEN CONCAT('SELECT * FROM ', CASE WHEN x.Status = 'ready' OR x.Status = 'retry' THEN 'vWaiting' WHEN x.Status = 'complete' THEN 'vHistory' ELSE 'vRunning' END, ' WHERE BatchControl_id = ', x.BatchControl_id, ';')
            WHEN EXISTS (SELECT 1 FROM Lacking o WHERE o.ProcessBatch_id = w.DependsOnBatch_id)
                 THEN CONCAT('SELECT * FROM vWaiting WHERE ProcessBatchName = ', CONCAT('N''', replace(d.ProcessBatchName, '''', ''''''), ''''), ';')
            ELSE CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO FileProcess (Entity, CycleKey, FileName) VALUES (', CONCAT('N''', replace(COALESCE(d.Entity, d.ProcessBatchName), '''', ''''''), ''''), ', ', CASE WHEN w.CycleKey IS NULL THEN 'NULL' ELSE CONCAT('N''', replace(w.CycleKey, '''', ''''''), '''') END, ', ...);') END)
FROM Lacking w
JOIN ProcessBatch b ON b.ProcessBatch_id = w.ProcessBatch_id
JOIN ProcessBatch d ON d.ProcessBatch_id = w.DependsOnBatch_id
LEFT JOIN BatchControl x ON x.BatchControl_id = (SELECT MAX(o.BatchControl_id) FROM BatchControl o
    WHERE o.ProcessBatch_id = w.DependsOnBatch_id AND (o.CycleKey = w.CycleKey OR (o.CycleKey IS NULL AND w.CycleKey IS NULL)))
LEFT JOIN Unfit p ON p.ProcessBatch_id = w.ProcessBatch_id
LEFT JOIN Unfit q ON q.ProcessBatch_id = w.DependsOnBatch_id
LEFT JOIN vFrozen z ON z.ProcessBatch_id = w.DependsOnBatch_id
UNION ALL
SELECT NULL, b.ProcessBatchName, 'populator', f.CycleKey, f.Entity, f.FileName,
       f.z_inserted, COALESCE(x.Reason, y.Reason, CASE WHEN f.PopulatorTries >= 3 THEN CONCAT('it waits for a person: ', COALESCE(f.Message, 'no reason was given')) ELSE CONCAT('batch ', b.ProcessBatchName, ' has no instance of it yet') END), NULL,
       f.FileProcess_id, COALESCE(x.NextSql, y.NextSql, CASE WHEN f.PopulatorTries >= 3 THEN CONCAT('SET QUOTED_IDENTIFIER ON; UPDATE FileProcess SET PopulatorTries = NULL WHERE FileProcess_id = ', f.FileProcess_id, ';') ELSE 'SELECT * FROM Controller;' END)
FROM FileProcess f
JOIN ProcessBatch b ON COALESCE(b.Entity, b.ProcessBatchName) = f.Entity
LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Missing y ON y.ProcessBatch_id = b.ProcessBatch_id AND y.ProcessControlSeq = -1
WHERE f.PopulatorTries IS NOT NULL AND f.Status = 'ready'
AND NOT EXISTS (SELECT 1 FROM BatchControl c WHERE c.FileProcess_id = f.FileProcess_id AND c.ProcessBatch_id = b.ProcessBatch_id)
AND NOT (b.DuplicateCheck = 1 AND EXISTS (SELECT 1 FROM FileProcess g
        WHERE g.Entity = f.Entity AND g.DataHash = f.DataHash AND g.Data = f.Data AND g.FileProcess_id <> f.FileProcess_id
        AND ((g.FileProcess_id < f.FileProcess_id AND g.Status IN ('ready', 'paused')) OR EXISTS (
            SELECT 1 FROM BatchControl c WHERE c.FileProcess_id = g.FileProcess_id AND c.ProcessBatch_id = b.ProcessBatch_id)))
    AND NOT EXISTS (SELECT 1 FROM AuditLog a WHERE a.Target = CONCAT('FileProcess:', f.FileProcess_id) AND a.Action = 'accept'))
UNION ALL
SELECT NULL, b.ProcessBatchName, 'definition', f.CycleKey, COALESCE(b.Entity, b.ProcessBatchName), NULL,
       q.Since, q.Reason, NULL, NULL, q.NextSql
FROM ProcessBatch b
JOIN (SELECT y.ProcessBatch_id, d.z_updated AS Since, y.Reason, y.NextSql
      FROM Missing y JOIN ProcessBatch d ON d.ProcessBatch_id = y.ProcessBatch_id WHERE y.ProcessControlSeq = -1
      UNION ALL SELECT i.ProcessBatch_id, i.OpenedTime, i.Message, i.NextStep FROM Incident i
      WHERE i.ResolvedTime IS NULL AND i.Kind = 'unreadable' AND i.IncidentKey LIKE 'unreadable ProcessBatch %') q
   ON q.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN FileProcess f ON 1 = 0
LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id
WHERE b.Enabled = 1 AND x.ProcessBatch_id IS NULL
) q;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

CREATE OR ALTER VIEW vRunning AS
SELECT c.BatchControl_id, b.ProcessBatchName, lower(c.Status) COLLATE Latin1_General_100_BIN2 AS Status, c.CycleKey, f.Entity, f.FileName,
       h.ProcessControlSeq, h.ProcessName, h.ProcessType, h.AttemptNo, h.StartTime, (SELECT TOP 1 CASE WHEN h.StartTime BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, h.StartTime) END FROM ZoneOffset o WHERE o.UntilTime > h.StartTime AND o.FromTime <= h.StartTime ORDER BY o.FromTime) AS StartTimeLocal,
       CAST(DATEDIFF_BIG(millisecond, h.StartTime, SYSUTCDATETIME()) / 1000.0 AS decimal(18, 3)) AS RunningSeconds, p.ExpectedDuration, p.AlarmDuration, p.MaxDuration,
       CASE WHEN CASE WHEN h.StartTime BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, p.AlarmDuration, h.StartTime) END <= SYSUTCDATETIME() THEN 'late'
            WHEN CASE WHEN h.StartTime BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, p.ExpectedDuration, h.StartTime) END < SYSUTCDATETIME() THEN 'longer than expected'
            WHEN p.AlarmDuration IS NOT NULL OR p.ExpectedDuration IS NOT NULL THEN 'in time' END AS Timing,
       h.ClaimedBy, h.Host, h.Pid, h.DbSession, h.CommandText, c.FileProcess_id,
       CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''pause'', ', c.BatchControl_id, ', ''...'');') AS PauseSql, CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''cancel'', ', c.BatchControl_id, ', ''...'');') AS CancelSql,
       COALESCE(c.NextPool, 'default') AS PoolName,
       o.Text AS LastOutput
FROM BatchProcessHistory h
JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN FileProcess f ON f.FileProcess_id = c.FileProcess_id
LEFT JOIN ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq
LEFT JOIN StepOutput o ON o.BatchProcessHistory_id = h.BatchProcessHistory_id AND o.Number = (
    SELECT MAX(n.Number) FROM StepOutput n WHERE n.BatchProcessHistory_id = h.BatchProcessHistory_id)
WHERE h.Status = 'running';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

CREATE OR ALTER VIEW vLate AS
WITH Lacking AS (
SELECT w.ProcessBatch_id, w.CycleKey, w.Since, y.DependsOnBatch_id, y.DeadlineMins
FROM (SELECT ProcessBatch_id, CycleKey, MIN(z_inserted) AS Since FROM BatchCompletion
      WHERE FileProcess_id IS NULL GROUP BY ProcessBatch_id, CycleKey) w
JOIN BatchDependency y ON y.ProcessBatch_id = w.ProcessBatch_id
WHERE NOT EXISTS (SELECT 1 FROM BatchCompletion x WHERE x.FileProcess_id IS NULL
    AND x.ProcessBatch_id = w.ProcessBatch_id AND x.DependsOnBatch_id = y.DependsOnBatch_id AND (x.CycleKey = w.CycleKey OR (x.CycleKey IS NULL AND w.CycleKey IS NULL)))
)
SELECT l.What, l.Name, l.ProcessBatchName, l.BatchControl_id, l.ExpectedTime, (SELECT TOP 1 CASE WHEN l.ExpectedTime BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, l.ExpectedTime) END FROM ZoneOffset o WHERE o.UntilTime > l.ExpectedTime AND o.FromTime <= l.ExpectedTime ORDER BY o.FromTime) AS ExpectedTimeLocal,
       CAST(DATEDIFF_BIG(millisecond, l.ExpectedTime, SYSUTCDATETIME()) / 1000.0 AS decimal(18, 3)) AS LateSeconds, l.Reason, l.NextSql
FROM (
SELECT 'step' AS What, CONCAT(b.ProcessBatchName, ', step ', h.ProcessControlSeq, ' ', h.ProcessName) AS Name,
       b.ProcessBatchName, c.BatchControl_id, CASE WHEN h.StartTime BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, COALESCE(p.AlarmDuration, p.ExpectedDuration), h.StartTime) END AS ExpectedTime,
       CONCAT('it runs longer than ', COALESCE(p.AlarmDuration, p.ExpectedDuration), ' seconds') AS Reason,
       CONCAT('SELECT * FROM vRunning WHERE BatchControl_id = ', c.BatchControl_id, ';') AS NextSql
FROM BatchProcessHistory h
JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq
WHERE h.Status = 'running' AND CASE WHEN h.StartTime BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, COALESCE(p.AlarmDuration, p.ExpectedDuration), h.StartTime) END <= SYSUTCDATETIME()
UNION ALL
SELECT 'instance', CONCAT(b.ProcessBatchName, ' ', COALESCE(c.CycleKey, '')), b.ProcessBatchName, c.BatchControl_id,
       c.NextRunTime, 'its NextRunTime is over, and it has not started',
       CONCAT('SELECT * FROM vWaiting WHERE BatchControl_id = ', c.BatchControl_id, ';')
FROM BatchControl c
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE c.Status IN ('ready', 'retry') AND c.NextRunTime > '1900-01-01 00:00:00.000' AND c.NextRunTime < DATEADD(second, -60, SYSUTCDATETIME())
UNION ALL
SELECT 'schedule', ScheduleName, NULL, NULL, NextRunTime, 'its due time is over, and no controller has decided it',
       'SELECT * FROM Controller;'
FROM Schedule WHERE Enabled = 1 AND NextRunTime < DATEADD(second, -60, SYSUTCDATETIME())
UNION ALL
SELECT 'dependency', CONCAT(b.ProcessBatchName, ' waits for ', d.ProcessBatchName), b.ProcessBatchName, NULL,
       CASE WHEN w.Since BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, 60 * w.DeadlineMins, w.Since) END, 'it waits for longer than DeadlineMins', CONCAT('SELECT * FROM vWaiting WHERE ProcessBatchName = ', CONCAT('N''', replace(b.ProcessBatchName, '''', ''''''), ''''), ';')
FROM Lacking w
JOIN ProcessBatch b ON b.ProcessBatch_id = w.ProcessBatch_id
JOIN ProcessBatch d ON d.ProcessBatch_id = w.DependsOnBatch_id
WHERE CASE WHEN w.Since BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, 60 * w.DeadlineMins, w.Since) END < SYSUTCDATETIME()
UNION ALL
SELECT CASE lower(i.Kind) COLLATE Latin1_General_100_BIN2 WHEN 'not_arrived' THEN 'arrival' WHEN 'not_started' THEN 'start' ELSE 'finish' END, i.Subject, i.Subject, NULL, i.OpenedTime, i.Message,
       CONCAT('SELECT * FROM vStatus WHERE ProcessBatchName = ', CONCAT('N''', replace(i.Subject, '''', ''''''), ''''), ';')
FROM Incident i
WHERE i.ResolvedTime IS NULL AND i.Kind IN ('not_arrived', 'not_started', 'not_finished')
) l;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

CREATE OR ALTER VIEW vHistory AS
SELECT h.BatchProcessHistory_id, h.BatchControl_id, b.ProcessBatchName, c.CycleKey, f.Entity, f.FileName, h.ProcessControlSeq,
       h.ProcessName, h.ProcessType, h.AttemptNo, lower(h.Cause) COLLATE Latin1_General_100_BIN2 AS Cause, lower(h.Status) COLLATE Latin1_General_100_BIN2 AS Status,
       h.StartTime, (SELECT TOP 1 CASE WHEN h.StartTime BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, h.StartTime) END FROM ZoneOffset o WHERE o.UntilTime > h.StartTime AND o.FromTime <= h.StartTime ORDER BY o.FromTime) AS StartTimeLocal, h.EndTime, (SELECT TOP 1 CASE WHEN h.EndTime BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, h.EndTime) END FROM ZoneOffset o WHERE o.UntilTime > h.EndTime AND o.FromTime <= h.EndTime ORDER BY o.FromTime) AS EndTimeLocal,
       CAST(DATEDIFF_BIG(millisecond, h.StartTime, h.EndTime) / 1000.0 AS decimal(18, 3)) AS DurationSeconds, h.ReturnCode, h.RowsAffected, h.Message AS ErrorText, h.Output,
       h.CommandText, h.ClaimedBy, h.Host, h.Pid, h.DbSession, c.FileProcess_id,
       CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, BatchControl_id, Arguments, Reason) VALUES (''rerun'', ', h.BatchControl_id, ', ''{"from": ', h.ProcessControlSeq, '}'', ''...'');') AS RerunSql, h.ErrorCode, h.ErrorLine, c.StepsFailed
FROM BatchProcessHistory h
LEFT JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id
LEFT JOIN ProcessBatch b ON b.ProcessBatch_id = h.ProcessBatch_id
LEFT JOIN FileProcess f ON f.FileProcess_id = c.FileProcess_id;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

CREATE OR ALTER VIEW vSchedule AS
WITH Newest AS (
SELECT g.Schedule_id, MAX(g.ScheduleFire_id) AS ScheduleFire_id, MAX(g.Ran_id) AS Ran_id
FROM (SELECT f.Schedule_id, f.ScheduleFire_id,
             CASE WHEN EXISTS (SELECT 1 FROM BatchProcessHistory h JOIN BatchControl c
                               ON c.BatchControl_id = h.BatchControl_id WHERE c.FileProcess_id = f.FileProcess_id)
                  THEN f.FileProcess_id END AS Ran_id
      FROM ScheduleFire f) g
GROUP BY g.Schedule_id
), Came AS (
SELECT c.FileProcess_id, COUNT(*) AS Instances, COUNT(CASE WHEN c.Status IN ('complete') THEN 1 END) AS Complete, COUNT(CASE WHEN c.Status IN ('failed', 'held') THEN 1 END) AS Failed,
       COUNT(CASE WHEN c.Status IN ('cancelled') THEN 1 END) AS Cancelled, COUNT(CASE WHEN c.Status IN ('running', 'pausing', 'cancelling') THEN 1 END) AS Running,
       MIN(c.StartTime) AS StartTime
FROM (SELECT x.FileProcess_id, x.Status,
             (SELECT MIN(h.StartTime) FROM BatchProcessHistory h WHERE h.BatchControl_id = x.BatchControl_id) AS StartTime
      FROM BatchControl x) c
WHERE c.FileProcess_id IN (SELECT n.Ran_id FROM Newest n UNION SELECT g.FileProcess_id FROM Newest n
                           JOIN ScheduleFire g ON g.ScheduleFire_id = n.ScheduleFire_id)
GROUP BY c.FileProcess_id
)
SELECT e.Schedule_id, e.ScheduleName, e.Entity,
       CASE WHEN x.Row_id IS NOT NULL THEN 'unreadable' WHEN e.Enabled <> 1 THEN 'disabled' WHEN e.CalendarName IS NOT NULL AND k.Calendar_id IS NULL THEN 'unreadable'
            WHEN t.Incident_id IS NOT NULL THEN 'starts nothing' WHEN e.NextRunTime IS NULL THEN 'not due'
            WHEN e.NextRunTime < DATEADD(second, -60, SYSUTCDATETIME()) THEN 'overdue' ELSE 'enabled' END AS Status,
       CONCAT(lower(e.ScheduleType) COLLATE Latin1_General_100_BIN2, CASE WHEN e.IntervalMinutes IS NULL THEN '' ELSE CONCAT(', every ', e.IntervalMinutes, ' minutes') END, CASE WHEN e.RunDays IS NULL THEN '' ELSE CONCAT(', ', e.RunDays) END, CASE WHEN e.RunDaysOfMonth IS NULL THEN '' ELSE CONCAT(', ', e.RunDaysOfMonth) END, CASE WHEN e.WeekOfMonth IS NULL THEN '' ELSE CONCAT(', ', e.WeekOfMonth) END, CASE WHEN e.RunMonths IS NULL THEN '' ELSE CONCAT(', ', e.RunMonths) END, CASE WHEN e.RunTimes IS NULL THEN '' ELSE CONCAT(' at ', e.RunTimes) END, CASE WHEN e.RunAt IS NULL THEN '' ELSE CONCAT(' at ', e.RunAt) END, CASE WHEN e.Cron IS NULL THEN '' ELSE CONCAT(' at ', e.Cron) END, CASE WHEN e.BetweenTimes IS NULL THEN '' ELSE CONCAT(', between ', e.BetweenTimes) END, CASE WHEN e.CalendarName IS NULL THEN '' ELSE CONCAT(', calendar ', e.CalendarName) END) AS Timing, e.TimeZone, e.NextRunTime, (SELECT TOP 1 CASE WHEN e.NextRunTime BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, e.NextRunTime) END FROM ZoneOffset o WHERE o.UntilTime > e.NextRunTime AND o.FromTime <= e.NextRunTime ORDER BY o.FromTime) AS NextRunTimeLocal,
       CASE WHEN l.Outcome = 'fired' THEN CASE WHEN p.Status <> 'ready' AND p.Status <> 'complete' THEN lower(p.Status) COLLATE Latin1_General_100_BIN2 WHEN q.Failed > 0 THEN 'failed' WHEN q.Cancelled > 0 THEN 'cancelled' WHEN q.Instances = q.Complete THEN 'complete' WHEN q.Running > 0 THEN 'running' ELSE 'waits' END ELSE lower(l.Outcome) COLLATE Latin1_General_100_BIN2 END AS LastOutcome,
       l.DueTime AS LastDueTime, (SELECT TOP 1 CASE WHEN l.DueTime BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, l.DueTime) END FROM ZoneOffset o WHERE o.UntilTime > l.DueTime AND o.FromTime <= l.DueTime ORDER BY o.FromTime) AS LastDueTimeLocal, l.Reason AS LastReason,
       l.FileProcess_id AS LastFileProcess_id, e.Description,
       CASE WHEN x.Row_id IS NOT NULL THEN x.NextSql WHEN e.Enabled = 1 AND e.CalendarName IS NOT NULL AND k.Calendar_id IS NULL THEN CONCAT('SET QUOTED_IDENTIFIER ON; UPDATE Schedule SET CalendarName = ... WHERE ScheduleName = ', CONCAT('N''', replace(e.ScheduleName, '''', ''''''), ''''), ';')
            WHEN e.Enabled = 1 AND t.Incident_id IS NOT NULL THEN CONCAT('SELECT * FROM Incident WHERE Incident_id = ', t.Incident_id, ';')
            ELSE CONCAT('SET QUOTED_IDENTIFIER ON; UPDATE Schedule SET Enabled = ', CASE WHEN e.Enabled = 1 THEN '0' ELSE '1' END, ' WHERE ScheduleName = ', CONCAT('N''', replace(e.ScheduleName, '''', ''''''), ''''), ';') END AS NextSql,
       r.StartTime AS LastRunOn, (SELECT TOP 1 CASE WHEN r.StartTime BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, r.StartTime) END FROM ZoneOffset o WHERE o.UntilTime > r.StartTime AND o.FromTime <= r.StartTime ORDER BY o.FromTime) AS LastRunOnLocal,
       CASE WHEN r.Failed > 0 OR r.Cancelled > 0 THEN 0 WHEN r.Instances = r.Complete THEN 1 END AS LastRunOK
FROM Schedule e
LEFT JOIN Calendar k ON k.CalendarName = e.CalendarName
LEFT JOIN vUnreadable x ON x.TableName = 'Schedule' AND x.Row_id = e.Schedule_id
LEFT JOIN Newest n ON n.Schedule_id = e.Schedule_id
LEFT JOIN ScheduleFire l ON l.ScheduleFire_id = n.ScheduleFire_id
LEFT JOIN FileProcess p ON p.FileProcess_id = l.FileProcess_id
LEFT JOIN Came q ON q.FileProcess_id = l.FileProcess_id
LEFT JOIN Came r ON r.FileProcess_id = n.Ran_id
LEFT JOIN Incident t ON t.Incident_id = (SELECT MIN(i.Incident_id) FROM Incident i
    WHERE i.ResolvedTime IS NULL AND i.Kind = 'not_starting' AND i.Subject = CONCAT('schedule ', e.ScheduleName));
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

CREATE OR ALTER VIEW vInbox AS
WITH Unfit AS (
SELECT ProcessBatch_id, Reason, NextSql
FROM (SELECT ProcessBatch_id, Reason, NextSql, ROW_NUMBER() OVER (PARTITION BY ProcessBatch_id ORDER BY Place, Row_id) AS Nth FROM vUnreadable WHERE ProcessBatch_id IS NOT NULL) m
WHERE Nth = 1
), Missing AS (SELECT ProcessBatch_id, ProcessControlSeq, Reason, NextSql FROM vNotInstalled), Again AS (
SELECT f.FileProcess_id, MAX(n.FileProcess_id) AS Again_id
FROM FileProcess f JOIN FileWatch w ON f.Source = CONCAT('watch ', w.WatchName)
JOIN FileWatchSeen n ON n.FileWatch_id = w.FileWatch_id AND n.FileProcess_id > f.FileProcess_id
JOIN FileProcess l ON l.FileProcess_id = n.FileProcess_id
LEFT JOIN FileWatchSeen o ON o.FileWatch_id = n.FileWatch_id AND o.FileProcess_id = f.FileProcess_id
WHERE f.Status IN ('paused', 'rejected', 'duplicate') AND (l.FileName = f.FileName OR (o.FileNumber = n.FileNumber AND o.FileSize = n.FileSize AND o.ModifiedNs = n.ModifiedNs)) GROUP BY f.FileProcess_id
), Locks AS (
SELECT k.Controller_id, CONCAT(' | ', SUBSTRING(LEFT(k.Trouble, CHARINDEX(' Next: ', CONCAT(k.Trouble, ' Next: ')) - 1), 29, 1000000)) AS Said
FROM Controller k
WHERE k.Status = 'running' AND k.Trouble LIKE 'somebody keeps rows locked: %' AND CASE WHEN k.Heartbeat BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, k.OrphanTimeoutSecs, k.Heartbeat) END > SYSUTCDATETIME()
), Met AS (
SELECT c.FileProcess_id, t.Controller_id, SUBSTRING(SUBSTRING(t.Said, NULLIF(CHARINDEX(CONCAT(' | FileProcess ', c.FileProcess_id, ': '), t.Said), 0), 1000000), 4, 1000000) AS Said FROM FileProcess c CROSS JOIN Locks t WHERE c.Status = 'ready'
), Entry AS (
SELECT m.FileProcess_id, m.Controller_id, LEFT(m.Said, CHARINDEX(' | ', CONCAT(m.Said, ' | ')) - 1) AS Said FROM Met m WHERE m.Said IS NOT NULL
), Locked AS (
SELECT e.FileProcess_id, LEFT(e.Said, CHARINDEX('; to end it: ', CONCAT(e.Said, '; to end it: ')) - 1) AS Reason,
       SUBSTRING(SUBSTRING(e.Said, NULLIF(CHARINDEX('; to end it: ', e.Said), 0), 1000000), 14, 1000000) AS Mend,
       ROW_NUMBER() OVER (PARTITION BY e.FileProcess_id ORDER BY e.Controller_id) AS Nth
FROM Entry e
), Takers AS (
SELECT COALESCE(b.Entity, b.ProcessBatchName) AS Entity, MIN(x.ProcessBatch_id) AS Unfit_id, MIN(y.ProcessBatch_id) AS Lacking_id,
       COUNT(CASE WHEN b.Populator = 'procedure' THEN 1 END) AS Asks,
       MIN(CASE WHEN b.Populator = 'pattern' AND b.PopulatorArgs IS NOT NULL THEN lower(b.PopulatorOn) COLLATE Latin1_General_100_BIN2 END) AS SearchedIn
FROM ProcessBatch b
LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Missing y ON y.ProcessBatch_id = b.ProcessBatch_id AND y.ProcessControlSeq = -1
GROUP BY COALESCE(b.Entity, b.ProcessBatchName)
)
SELECT q.FileProcess_id, q.Entity, q.FileName, q.Data, q.CycleKey, q.Source, q.Status, q.Reason, q.Arrived, (SELECT TOP 1 CASE WHEN q.Arrived BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, q.Arrived) END FROM ZoneOffset o WHERE o.UntilTime > q.Arrived AND o.FromTime <= q.Arrived ORDER BY o.FromTime) AS ArrivedLocal, q.NextSql
FROM (
SELECT f.FileProcess_id, f.Entity, f.FileName, f.Data, f.CycleKey, f.Source, f.z_inserted AS Arrived, lower(f.Status) COLLATE Latin1_General_100_BIN2 AS Status,
       CASE WHEN g.Again_id IS NOT NULL THEN CONCAT('its file was taken again as FileProcess ', g.Again_id, ': ', COALESCE(f.Message, 'no reason was given'))
            WHEN f.Message IS NOT NULL AND f.Status = 'rejected' AND EXISTS (SELECT 1 FROM AuditLog a WHERE a.Target = CONCAT('FileProcess:', f.FileProcess_id) AND a.Action = 'row update'
                 AND a.z_inserted >= f.z_updated AND a.ValuesAfter NOT LIKE '{"Status":%')
                 THEN CONCAT(f.Message, ' (corrected since)')
            WHEN f.Message IS NULL AND f.Status = 'paused' THEN 'somebody inserted or set it as paused'
            ELSE COALESCE(f.Message, 'no reason was given') END AS Reason,
       CASE WHEN g.Again_id IS NOT NULL THEN CONCAT('SELECT * FROM FileProcess WHERE FileProcess_id = ', g.Again_id, ';')
            WHEN f.Status = 'duplicate' THEN CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO AuditLog (Actor, Host, Action, Target, Reason) VALUES (..., ''sql'', ''accept'', ''', CONCAT('FileProcess:', f.FileProcess_id), ''', ...); ', CONCAT('SET QUOTED_IDENTIFIER ON; UPDATE FileProcess SET Status = ''ready'', Message = NULL WHERE FileProcess_id = ', f.FileProcess_id, ';'))
            WHEN f.Status <> 'rejected' OR f.Message LIKE 'rejected by %' OR EXISTS (SELECT 1 FROM AuditLog a WHERE a.Target = CONCAT('FileProcess:', f.FileProcess_id) AND a.Action = 'row update'
                 AND a.z_inserted >= f.z_updated AND a.ValuesAfter NOT LIKE '{"Status":%')
                 OR (t.Entity IS NOT NULL AND (f.Message IS NULL OR t.Asks > 0)) THEN CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''retry'', ''{"file": ', f.FileProcess_id, '}'', ''...'');')
            WHEN t.Entity IS NOT NULL AND f.Source LIKE 'watch %' AND CASE WHEN t.SearchedIn = 'data' OR (f.FileName IS NULL AND f.Data IS NOT NULL) THEN 'Data'
                 WHEN t.SearchedIn = 'entity' THEN 'Entity' ELSE 'FileName' END = 'FileName' THEN CONCAT('/* rename the file, which its watch takes then */ ', CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''reject'', ''{"file": ', f.FileProcess_id, '}'', ''...'');'))
            ELSE CONCAT('SET QUOTED_IDENTIFIER ON; UPDATE FileProcess SET ', CASE WHEN t.Entity IS NULL THEN CONCAT('Entity = ', COALESCE((SELECT MIN(CONCAT('N''', replace(COALESCE(b.Entity, b.ProcessBatchName), '''', ''''''), '''')) FROM ProcessBatch b WHERE lower(TRIM(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)) FROM COALESCE(b.Entity, b.ProcessBatchName))) COLLATE Latin1_General_100_BIN2 = lower(TRIM(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)) FROM f.Entity)) COLLATE Latin1_General_100_BIN2), '...')) ELSE CONCAT(CASE WHEN t.SearchedIn = 'data' OR (f.FileName IS NULL AND f.Data IS NOT NULL) THEN 'Data'
                 WHEN t.SearchedIn = 'entity' THEN 'Entity' ELSE 'FileName' END, ' = ...') END, ' WHERE FileProcess_id = ', f.FileProcess_id, ';', ' ', CONCAT('SET QUOTED_IDENTIFIER ON; INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''retry'', ''{"file": ', f.FileProcess_id, '}'', ''...'');')) END AS NextSql
FROM FileProcess f LEFT JOIN Again g ON g.FileProcess_id = f.FileProcess_id LEFT JOIN Takers t ON t.Entity = f.Entity
WHERE f.Status IN ('paused', 'rejected', 'duplicate')
UNION ALL
SELECT f.FileProcess_id, f.Entity, f.FileName, f.Data, f.CycleKey, f.Source, f.z_inserted, CASE WHEN t.Entity IS NULL THEN 'untaken' ELSE 'new' END,
       COALESCE(x.Reason, y.Reason, CASE WHEN t.Entity IS NULL THEN CONCAT('no batch takes entity ''', f.Entity, ''': correct it, or register a batch that takes it')
            WHEN f.PopulatorTries >= 3 THEN CONCAT('it waits for a person: ', COALESCE(f.Message, 'no reason was given'))
            WHEN h.Reason IS NOT NULL THEN h.Reason
            WHEN f.PopulatorTries IS NOT NULL THEN 'its populator has not answered yet'
            ELSE 'no controller has looked at it yet' END),
       COALESCE(x.NextSql, y.NextSql, CASE WHEN t.Entity IS NULL THEN CONCAT('SET QUOTED_IDENTIFIER ON; UPDATE FileProcess SET ', CONCAT('Entity = ', COALESCE((SELECT MIN(CONCAT('N''', replace(COALESCE(b.Entity, b.ProcessBatchName), '''', ''''''), '''')) FROM ProcessBatch b WHERE lower(TRIM(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)) FROM COALESCE(b.Entity, b.ProcessBatchName))) COLLATE Latin1_General_100_BIN2 = lower(TRIM(CONCAT(NCHAR(9), NCHAR(10), NCHAR(11), NCHAR(12), NCHAR(13), NCHAR(28), NCHAR(29), NCHAR(30), NCHAR(31), NCHAR(32), NCHAR(133), NCHAR(160), NCHAR(5760), NCHAR(8192), NCHAR(8193), NCHAR(8194), NCHAR(8195), NCHAR(8196), NCHAR(8197), NCHAR(8198), NCHAR(8199), NCHAR(8200), NCHAR(8201), NCHAR(8202), NCHAR(8232), NCHAR(8233), NCHAR(8239), NCHAR(8287), NCHAR(12288)) FROM f.Entity)) COLLATE Latin1_General_100_BIN2), '...')), ' WHERE FileProcess_id = ', f.FileProcess_id, ';')
            WHEN f.PopulatorTries >= 3 THEN CONCAT('SET QUOTED_IDENTIFIER ON; UPDATE FileProcess SET PopulatorTries = NULL WHERE FileProcess_id = ', f.FileProcess_id, ';')
            WHEN h.Reason IS NOT NULL THEN CASE WHEN h.Mend IS NULL THEN 'SELECT * FROM Controller;' ELSE CONCAT(h.Mend, ';') END ELSE 'SELECT * FROM Controller;' END)
FROM FileProcess f
LEFT JOIN Takers t ON t.Entity = f.Entity
LEFT JOIN Unfit x ON x.ProcessBatch_id = t.Unfit_id
LEFT JOIN Missing y ON y.ProcessBatch_id = t.Lacking_id AND y.ProcessControlSeq = -1
LEFT JOIN Locked h ON h.FileProcess_id = f.FileProcess_id AND h.Nth = 1
WHERE f.Status = 'ready' AND NOT EXISTS (SELECT 1 FROM BatchControl c WHERE c.FileProcess_id = f.FileProcess_id)
UNION ALL
SELECT f.FileProcess_id, f.Entity, f.FileName, f.Data, f.CycleKey, f.Source, f.z_inserted, 'unreadable', w.Reason, w.NextSql
FROM vUnreadable w JOIN FileProcess f ON f.FileProcess_id = w.Row_id WHERE w.TableName = 'FileProcess'
) q;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

CREATE OR ALTER VIEW vSqlJob AS
SELECT NULLIF(e.Schedule_id, 0) AS Schedule_id, NULLIF(e.ScheduleName, '') AS JobName,
       replace(replace(p.Data1, '{{', '{'), '}}', '}') AS ConnectionName, replace(replace(p.Data2, '{{', '{'), '}}', '}') AS ScheduledSql,
       COALESCE(e.RunAt, CONCAT(e.StartDate, ' ', e.RunTimes)) AS FirstRunOn,
       NULLIF(CASE WHEN lower(e.ScheduleType) COLLATE Latin1_General_100_BIN2 = 'once' THEN 0 ELSE 1 END, -1) AS IsRepeatable, NULLIF(e.Enabled, -1) AS IsEnabled, e.TimeZone,
       e.NextRunTime, (SELECT TOP 1 CASE WHEN e.NextRunTime BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, e.NextRunTime) END FROM ZoneOffset o WHERE o.UntilTime > e.NextRunTime AND o.FromTime <= e.NextRunTime ORDER BY o.FromTime) AS NextRunTimeLocal, h.StartTime AS LastRunOn, (SELECT TOP 1 CASE WHEN h.StartTime BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, h.StartTime) END FROM ZoneOffset o WHERE o.UntilTime > h.StartTime AND o.FromTime <= h.StartTime ORDER BY o.FromTime) AS LastRunOnLocal,
       CASE WHEN h.Status = 'success' THEN 1 WHEN h.Status <> 'running' THEN 0 END AS LastRunOK,
       h.Message AS ErrorMessage, h.ErrorCode, h.ErrorLine, h.BatchControl_id,
       NULLIF(CONCAT('SELECT * FROM vHistory WHERE ProcessBatchName = ', CONCAT('N''', replace(b.ProcessBatchName, '''', ''''''), ''''), ';'), '') AS NextSql
FROM Schedule e
JOIN ProcessBatch b ON COALESCE(b.Entity, b.ProcessBatchName) = e.Entity
JOIN ProcessControl p ON p.ProcessBatch_id = b.ProcessBatch_id AND p.ProcessControlSeq = 10
LEFT JOIN BatchProcessHistory h ON h.BatchProcessHistory_id = (
    SELECT MAX(g.BatchProcessHistory_id) FROM BatchProcessHistory g
    JOIN BatchControl c ON c.BatchControl_id = g.BatchControl_id WHERE c.ProcessBatch_id = b.ProcessBatch_id)
WHERE e.Origin = 'sql' AND b.Origin = 'sql';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

CREATE OR ALTER VIEW vForecast AS
SELECT b.ProcessBatchName, k.CycleKey, k.P50, (SELECT TOP 1 CASE WHEN k.P50 BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, k.P50) END FROM ZoneOffset o WHERE o.UntilTime > k.P50 AND o.FromTime <= k.P50 ORDER BY o.FromTime) AS P50Local, k.P90, (SELECT TOP 1 CASE WHEN k.P90 BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, k.P90) END FROM ZoneOffset o WHERE o.UntilTime > k.P90 AND o.FromTime <= k.P90 ORDER BY o.FromTime) AS P90Local,
       k.FinishBy, (SELECT TOP 1 CASE WHEN k.FinishBy BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, k.FinishBy) END FROM ZoneOffset o WHERE o.UntilTime > k.FinishBy AND o.FromTime <= k.FinishBy ORDER BY o.FromTime) AS FinishByLocal, CAST(round(DATEDIFF_BIG(second, SYSUTCDATETIME(), k.FinishBy) / 60.0, 0) AS bigint) AS DueInMinutes, k.Chance, k.NeedsPerson, k.Nights,
       k.Decides, k.Helps, k.MadeOn, (SELECT TOP 1 CASE WHEN k.MadeOn BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, o.OffsetSeconds, k.MadeOn) END FROM ZoneOffset o WHERE o.UntilTime > k.MadeOn AND o.FromTime <= k.MadeOn ORDER BY o.FromTime) AS MadeOnLocal,
       CONCAT('SELECT * FROM vStatus WHERE ProcessBatchName = ', CONCAT('N''', replace(b.ProcessBatchName, '''', ''''''), ''''), ';') AS NextSql
FROM KeptForecast k
JOIN ProcessBatch b ON b.ProcessBatch_id = k.ProcessBatch_id
WHERE k.KeptFor IS NULL;
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_ProcessBatch_Audit ON ProcessBatch AFTER INSERT, UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT ORIGINAL_LOGIN(), COALESCE(NULLIF(HOST_NAME(), N''''), N''sql''), CASE WHEN d.ProcessBatch_id IS NULL THEN N''row insert'' WHEN i.ProcessBatch_id IS NULL THEN N''row delete'' ELSE N''row update'' END, LEFT(CONCAT(N''ProcessBatch:'', COALESCE(i.ProcessBatchName, d.ProcessBatchName)), 200),
        CASE WHEN d.ProcessBatch_id IS NOT NULL THEN c.Was END, CASE WHEN i.ProcessBatch_id IS NOT NULL THEN c.Became END
    FROM inserted AS i FULL JOIN deleted AS d ON d.ProcessBatch_id = i.ProcessBatch_id
    CROSS APPLY (SELECT N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Was, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Was,
        N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Became, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Became
        FROM (VALUES
            (1, N''ProcessBatchName'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.ProcessBatchName), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.ProcessBatchName), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (2, N''Entity'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Entity), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Entity), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (3, N''Enabled'', COALESCE(CONVERT(nvarchar(max), d.Enabled), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.Enabled), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (4, N''Seq'', COALESCE(CONVERT(nvarchar(max), d.Seq), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.Seq), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (5, N''Priority'', COALESCE(CONVERT(nvarchar(max), d.Priority), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.Priority), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (6, N''RetryCount'', COALESCE(CONVERT(nvarchar(max), d.RetryCount), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.RetryCount), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (7, N''RetryWaitMins'', COALESCE(CONVERT(nvarchar(max), d.RetryWaitMins), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.RetryWaitMins), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (8, N''RetryWaitSecs'', COALESCE(CONVERT(nvarchar(max), d.RetryWaitSecs), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.RetryWaitSecs), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (9, N''Populator'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Populator), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Populator), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (10, N''PopulatorArgs'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.PopulatorArgs), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.PopulatorArgs), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (11, N''PopulatorOn'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.PopulatorOn), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.PopulatorOn), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (12, N''OnFailure'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.OnFailure), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.OnFailure), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (13, N''DependencyMode'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.DependencyMode), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.DependencyMode), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (14, N''MaxConcurrent'', COALESCE(CONVERT(nvarchar(max), d.MaxConcurrent), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.MaxConcurrent), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (15, N''MaxPerMinute'', COALESCE(CONVERT(nvarchar(max), d.MaxPerMinute), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.MaxPerMinute), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (16, N''Pool'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Pool), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Pool), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (17, N''DuplicateCheck'', COALESCE(CONVERT(nvarchar(max), d.DuplicateCheck), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.DuplicateCheck), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (18, N''ProcessingMode'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.ProcessingMode), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.ProcessingMode), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (19, N''Origin'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Origin), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Origin), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (20, N''Description'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Description), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Description), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (21, N''Tags'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Tags), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Tags), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (22, N''ArriveBy'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.ArriveBy), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.ArriveBy), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (23, N''StartBy'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.StartBy), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.StartBy), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (24, N''FinishBy'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.FinishBy), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.FinishBy), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (25, N''ExpectedOn'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.ExpectedOn), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.ExpectedOn), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (26, N''ExpectedCalendar'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.ExpectedCalendar), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.ExpectedCalendar), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2)) AS v (Place, Name, Was, Became)
        WHERE v.Was <> v.Became) AS c
    WHERE c.Was IS NOT NULL;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_ProcessControl_Audit ON ProcessControl AFTER INSERT, UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT ORIGINAL_LOGIN(), COALESCE(NULLIF(HOST_NAME(), N''''), N''sql''), CASE WHEN d.ProcessControl_id IS NULL THEN N''row insert'' WHEN i.ProcessControl_id IS NULL THEN N''row delete'' ELSE N''row update'' END, LEFT(CONCAT(N''ProcessControl:'', (SELECT p.ProcessBatchName FROM ProcessBatch AS p WHERE p.ProcessBatch_id = COALESCE(i.ProcessBatch_id, d.ProcessBatch_id)), N'':'', COALESCE(i.ProcessControlSeq, d.ProcessControlSeq)), 200),
        CASE WHEN d.ProcessControl_id IS NOT NULL THEN c.Was END, CASE WHEN i.ProcessControl_id IS NOT NULL THEN c.Became END
    FROM inserted AS i FULL JOIN deleted AS d ON d.ProcessControl_id = i.ProcessControl_id
    CROSS APPLY (SELECT N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Was, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Was,
        N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Became, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Became
        FROM (VALUES
            (1, N''ProcessBatch_id'', COALESCE(CONVERT(nvarchar(max), d.ProcessBatch_id), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.ProcessBatch_id), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (2, N''ProcessControlSeq'', COALESCE(CONVERT(nvarchar(max), d.ProcessControlSeq), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.ProcessControlSeq), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (3, N''ProcessName'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.ProcessName), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.ProcessName), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (4, N''ProcessType'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.ProcessType), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.ProcessType), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (5, N''Pool'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Pool), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Pool), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (6, N''Needs'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Needs), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Needs), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (7, N''ExpectedDuration'', COALESCE(CONVERT(nvarchar(max), d.ExpectedDuration), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.ExpectedDuration), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (8, N''AlarmDuration'', COALESCE(CONVERT(nvarchar(max), d.AlarmDuration), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.AlarmDuration), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (9, N''MaxDuration'', COALESCE(CONVERT(nvarchar(max), d.MaxDuration), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.MaxDuration), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (10, N''OnLost'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.OnLost), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.OnLost), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (11, N''MaxLost'', COALESCE(CONVERT(nvarchar(max), d.MaxLost), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.MaxLost), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (12, N''RetryCount'', COALESCE(CONVERT(nvarchar(max), d.RetryCount), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.RetryCount), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (13, N''RetryWaitSecs'', COALESCE(CONVERT(nvarchar(max), d.RetryWaitSecs), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.RetryWaitSecs), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (14, N''RetryBackoff'', COALESCE(CONVERT(nvarchar(max), d.RetryBackoff), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.RetryBackoff), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (15, N''RetryOn'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.RetryOn), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.RetryOn), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (16, N''OnStepFailure'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.OnStepFailure), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.OnStepFailure), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (17, N''RowsMin'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.RowsMin), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.RowsMin), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (18, N''RowsMax'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.RowsMax), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.RowsMax), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (19, N''OnRows'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.OnRows), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.OnRows), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (20, N''Data1'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Data1), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Data1), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (21, N''Data2'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Data2), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Data2), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (22, N''Data3'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Data3), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Data3), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (23, N''Data4'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Data4), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Data4), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (24, N''Data5'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Data5), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Data5), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (25, N''Data6'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Data6), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Data6), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2)) AS v (Place, Name, Was, Became)
        WHERE v.Was <> v.Became) AS c
    WHERE c.Was IS NOT NULL;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_BatchDependency_Audit ON BatchDependency AFTER INSERT, UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT ORIGINAL_LOGIN(), COALESCE(NULLIF(HOST_NAME(), N''''), N''sql''), CASE WHEN d.BatchDependency_id IS NULL THEN N''row insert'' WHEN i.BatchDependency_id IS NULL THEN N''row delete'' ELSE N''row update'' END, LEFT(CONCAT(N''BatchDependency:'', (SELECT p.ProcessBatchName FROM ProcessBatch AS p WHERE p.ProcessBatch_id = COALESCE(i.ProcessBatch_id, d.ProcessBatch_id)), N'':'', COALESCE(i.DependsOnBatch_id, d.DependsOnBatch_id)), 200),
        CASE WHEN d.BatchDependency_id IS NOT NULL THEN c.Was END, CASE WHEN i.BatchDependency_id IS NOT NULL THEN c.Became END
    FROM inserted AS i FULL JOIN deleted AS d ON d.BatchDependency_id = i.BatchDependency_id
    CROSS APPLY (SELECT N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Was, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Was,
        N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Became, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Became
        FROM (VALUES
            (1, N''ProcessBatch_id'', COALESCE(CONVERT(nvarchar(max), d.ProcessBatch_id), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.ProcessBatch_id), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (2, N''DependsOnBatch_id'', COALESCE(CONVERT(nvarchar(max), d.DependsOnBatch_id), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.DependsOnBatch_id), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (3, N''DeadlineMins'', COALESCE(CONVERT(nvarchar(max), d.DeadlineMins), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.DeadlineMins), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2)) AS v (Place, Name, Was, Became)
        WHERE v.Was <> v.Became) AS c
    WHERE c.Was IS NOT NULL;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_BatchResource_Audit ON BatchResource AFTER INSERT, UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT ORIGINAL_LOGIN(), COALESCE(NULLIF(HOST_NAME(), N''''), N''sql''), CASE WHEN d.BatchResource_id IS NULL THEN N''row insert'' WHEN i.BatchResource_id IS NULL THEN N''row delete'' ELSE N''row update'' END, LEFT(CONCAT(N''BatchResource:'', (SELECT p.ProcessBatchName FROM ProcessBatch AS p WHERE p.ProcessBatch_id = COALESCE(i.ProcessBatch_id, d.ProcessBatch_id)), N'':'', COALESCE(i.Resource_id, d.Resource_id)), 200),
        CASE WHEN d.BatchResource_id IS NOT NULL THEN c.Was END, CASE WHEN i.BatchResource_id IS NOT NULL THEN c.Became END
    FROM inserted AS i FULL JOIN deleted AS d ON d.BatchResource_id = i.BatchResource_id
    CROSS APPLY (SELECT N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Was, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Was,
        N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Became, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Became
        FROM (VALUES
            (1, N''ProcessBatch_id'', COALESCE(CONVERT(nvarchar(max), d.ProcessBatch_id), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.ProcessBatch_id), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (2, N''Resource_id'', COALESCE(CONVERT(nvarchar(max), d.Resource_id), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.Resource_id), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (3, N''Units'', COALESCE(CONVERT(nvarchar(max), d.Units), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.Units), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (4, N''Exclusive'', COALESCE(CONVERT(nvarchar(max), d.Exclusive), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.Exclusive), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2)) AS v (Place, Name, Was, Became)
        WHERE v.Was <> v.Became) AS c
    WHERE c.Was IS NOT NULL;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_Resource_Audit ON Resource AFTER INSERT, UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT ORIGINAL_LOGIN(), COALESCE(NULLIF(HOST_NAME(), N''''), N''sql''), CASE WHEN d.Resource_id IS NULL THEN N''row insert'' WHEN i.Resource_id IS NULL THEN N''row delete'' ELSE N''row update'' END, LEFT(CONCAT(N''Resource:'', COALESCE(i.ResourceName, d.ResourceName)), 200),
        CASE WHEN d.Resource_id IS NOT NULL THEN c.Was END, CASE WHEN i.Resource_id IS NOT NULL THEN c.Became END
    FROM inserted AS i FULL JOIN deleted AS d ON d.Resource_id = i.Resource_id
    CROSS APPLY (SELECT N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Was, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Was,
        N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Became, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Became
        FROM (VALUES
            (1, N''ResourceName'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.ResourceName), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.ResourceName), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (2, N''Units'', COALESCE(CONVERT(nvarchar(max), d.Units), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.Units), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (3, N''Description'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Description), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Description), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2)) AS v (Place, Name, Was, Became)
        WHERE v.Was <> v.Became) AS c
    WHERE c.Was IS NOT NULL;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_Pool_Audit ON Pool AFTER INSERT, UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT ORIGINAL_LOGIN(), COALESCE(NULLIF(HOST_NAME(), N''''), N''sql''), CASE WHEN d.Pool_id IS NULL THEN N''row insert'' WHEN i.Pool_id IS NULL THEN N''row delete'' ELSE N''row update'' END, LEFT(CONCAT(N''Pool:'', COALESCE(i.PoolName, d.PoolName)), 200),
        CASE WHEN d.Pool_id IS NOT NULL THEN c.Was END, CASE WHEN i.Pool_id IS NOT NULL THEN c.Became END
    FROM inserted AS i FULL JOIN deleted AS d ON d.Pool_id = i.Pool_id
    CROSS APPLY (SELECT N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Was, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Was,
        N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Became, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Became
        FROM (VALUES
            (1, N''PoolName'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.PoolName), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.PoolName), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (2, N''Kind'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Kind), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Kind), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (3, N''MaxConcurrent'', COALESCE(CONVERT(nvarchar(max), d.MaxConcurrent), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.MaxConcurrent), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (4, N''Enabled'', COALESCE(CONVERT(nvarchar(max), d.Enabled), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.Enabled), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (5, N''Description'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Description), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Description), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2)) AS v (Place, Name, Was, Became)
        WHERE v.Was <> v.Became) AS c
    WHERE c.Was IS NOT NULL;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_Variable_Audit ON Variable AFTER INSERT, UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT ORIGINAL_LOGIN(), COALESCE(NULLIF(HOST_NAME(), N''''), N''sql''), CASE WHEN d.Variable_id IS NULL THEN N''row insert'' WHEN i.Variable_id IS NULL THEN N''row delete'' ELSE N''row update'' END, LEFT(CONCAT(N''Variable:'', COALESCE(i.VariableName, d.VariableName)), 200),
        CASE WHEN d.Variable_id IS NOT NULL THEN c.Was END, CASE WHEN i.Variable_id IS NOT NULL THEN c.Became END
    FROM inserted AS i FULL JOIN deleted AS d ON d.Variable_id = i.Variable_id
    CROSS APPLY (SELECT N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Was, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Was,
        N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Became, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Became
        FROM (VALUES
            (1, N''VariableName'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.VariableName), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.VariableName), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (2, N''Value'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Value), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Value), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (3, N''Description'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Description), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Description), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2)) AS v (Place, Name, Was, Became)
        WHERE v.Was <> v.Became) AS c
    WHERE c.Was IS NOT NULL;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_Schedule_Audit ON Schedule AFTER INSERT, UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT ORIGINAL_LOGIN(), COALESCE(NULLIF(HOST_NAME(), N''''), N''sql''), CASE WHEN d.Schedule_id IS NULL THEN N''row insert'' WHEN i.Schedule_id IS NULL THEN N''row delete'' ELSE N''row update'' END, LEFT(CONCAT(N''Schedule:'', COALESCE(i.ScheduleName, d.ScheduleName)), 200),
        CASE WHEN d.Schedule_id IS NOT NULL THEN c.Was END, CASE WHEN i.Schedule_id IS NOT NULL THEN c.Became END
    FROM inserted AS i FULL JOIN deleted AS d ON d.Schedule_id = i.Schedule_id
    CROSS APPLY (SELECT N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Was, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Was,
        N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Became, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Became
        FROM (VALUES
            (1, N''ScheduleName'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.ScheduleName), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.ScheduleName), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (2, N''Entity'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Entity), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Entity), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (3, N''ScheduleType'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.ScheduleType), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.ScheduleType), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (4, N''IntervalMinutes'', COALESCE(CONVERT(nvarchar(max), d.IntervalMinutes), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.IntervalMinutes), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (5, N''RunTimes'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.RunTimes), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.RunTimes), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (6, N''RunDays'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.RunDays), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.RunDays), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (7, N''RunDaysOfMonth'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.RunDaysOfMonth), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.RunDaysOfMonth), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (8, N''WeekOfMonth'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.WeekOfMonth), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.WeekOfMonth), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (9, N''RunMonths'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.RunMonths), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.RunMonths), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (10, N''BetweenTimes'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.BetweenTimes), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.BetweenTimes), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (11, N''EveryN'', COALESCE(CONVERT(nvarchar(max), d.EveryN), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.EveryN), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (12, N''StartDate'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.StartDate), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.StartDate), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (13, N''EndDate'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.EndDate), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.EndDate), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (14, N''RunAt'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.RunAt), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.RunAt), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (15, N''Cron'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Cron), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Cron), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (16, N''TimeZone'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.TimeZone), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.TimeZone), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (17, N''CalendarName'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.CalendarName), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.CalendarName), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (18, N''CalendarRule'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.CalendarRule), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.CalendarRule), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (19, N''GapPolicy'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.GapPolicy), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.GapPolicy), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (20, N''FoldPolicy'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.FoldPolicy), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.FoldPolicy), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (21, N''CatchUp'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.CatchUp), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.CatchUp), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (22, N''CatchUpMost'', COALESCE(CONVERT(nvarchar(max), d.CatchUpMost), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.CatchUpMost), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (23, N''Overlap'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Overlap), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Overlap), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (24, N''Jitter'', COALESCE(CONVERT(nvarchar(max), d.Jitter), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.Jitter), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (25, N''Enabled'', COALESCE(CONVERT(nvarchar(max), d.Enabled), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.Enabled), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (26, N''Origin'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Origin), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Origin), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (27, N''Description'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Description), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Description), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2)) AS v (Place, Name, Was, Became)
        WHERE v.Was <> v.Became) AS c
    WHERE c.Was IS NOT NULL;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_Calendar_Audit ON Calendar AFTER INSERT, UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT ORIGINAL_LOGIN(), COALESCE(NULLIF(HOST_NAME(), N''''), N''sql''), CASE WHEN d.Calendar_id IS NULL THEN N''row insert'' WHEN i.Calendar_id IS NULL THEN N''row delete'' ELSE N''row update'' END, LEFT(CONCAT(N''Calendar:'', COALESCE(i.CalendarName, d.CalendarName)), 200),
        CASE WHEN d.Calendar_id IS NOT NULL THEN c.Was END, CASE WHEN i.Calendar_id IS NOT NULL THEN c.Became END
    FROM inserted AS i FULL JOIN deleted AS d ON d.Calendar_id = i.Calendar_id
    CROSS APPLY (SELECT N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Was, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Was,
        N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Became, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Became
        FROM (VALUES
            (1, N''CalendarName'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.CalendarName), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.CalendarName), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (2, N''BusinessDays'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.BusinessDays), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.BusinessDays), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (3, N''ValidFrom'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.ValidFrom), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.ValidFrom), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (4, N''ValidUntil'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.ValidUntil), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.ValidUntil), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (5, N''Description'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Description), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Description), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2)) AS v (Place, Name, Was, Became)
        WHERE v.Was <> v.Became) AS c
    WHERE c.Was IS NOT NULL;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_CalendarDay_Audit ON CalendarDay AFTER INSERT, UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT ORIGINAL_LOGIN(), COALESCE(NULLIF(HOST_NAME(), N''''), N''sql''), CASE WHEN d.CalendarDay_id IS NULL THEN N''row insert'' WHEN i.CalendarDay_id IS NULL THEN N''row delete'' ELSE N''row update'' END, LEFT(CONCAT(N''CalendarDay:'', (SELECT p.CalendarName FROM Calendar AS p WHERE p.Calendar_id = COALESCE(i.Calendar_id, d.Calendar_id)), N'':'', COALESCE(i.CalendarDate, d.CalendarDate)), 200),
        CASE WHEN d.CalendarDay_id IS NOT NULL THEN c.Was END, CASE WHEN i.CalendarDay_id IS NOT NULL THEN c.Became END
    FROM inserted AS i FULL JOIN deleted AS d ON d.CalendarDay_id = i.CalendarDay_id
    CROSS APPLY (SELECT N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Was, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Was,
        N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Became, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Became
        FROM (VALUES
            (1, N''Calendar_id'', COALESCE(CONVERT(nvarchar(max), d.Calendar_id), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.Calendar_id), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (2, N''CalendarDate'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.CalendarDate), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.CalendarDate), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (3, N''IsBusinessDay'', COALESCE(CONVERT(nvarchar(max), d.IsBusinessDay), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.IsBusinessDay), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (4, N''Description'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Description), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Description), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2)) AS v (Place, Name, Was, Became)
        WHERE v.Was <> v.Became) AS c
    WHERE c.Was IS NOT NULL;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_DataTrigger_Audit ON DataTrigger AFTER INSERT, UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT ORIGINAL_LOGIN(), COALESCE(NULLIF(HOST_NAME(), N''''), N''sql''), CASE WHEN d.DataTrigger_id IS NULL THEN N''row insert'' WHEN i.DataTrigger_id IS NULL THEN N''row delete'' ELSE N''row update'' END, LEFT(CONCAT(N''DataTrigger:'', COALESCE(i.TriggerName, d.TriggerName)), 200),
        CASE WHEN d.DataTrigger_id IS NOT NULL THEN c.Was END, CASE WHEN i.DataTrigger_id IS NOT NULL THEN c.Became END
    FROM inserted AS i FULL JOIN deleted AS d ON d.DataTrigger_id = i.DataTrigger_id
    CROSS APPLY (SELECT N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Was, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Was,
        N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Became, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Became
        FROM (VALUES
            (1, N''TriggerName'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.TriggerName), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.TriggerName), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (2, N''Entity'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Entity), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Entity), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (3, N''ConnectionName'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.ConnectionName), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.ConnectionName), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (4, N''TableName'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.TableName), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.TableName), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (5, N''StatusColumn'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.StatusColumn), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.StatusColumn), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (6, N''PendingValue'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.PendingValue), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.PendingValue), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (7, N''CreatedColumn'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.CreatedColumn), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.CreatedColumn), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (8, N''RowThreshold'', COALESCE(CONVERT(nvarchar(max), d.RowThreshold), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.RowThreshold), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (9, N''IdleMinutes'', COALESCE(CONVERT(nvarchar(max), d.IdleMinutes), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.IdleMinutes), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (10, N''OnNewRows'', COALESCE(CONVERT(nvarchar(max), d.OnNewRows), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.OnNewRows), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (11, N''DebounceSeconds'', COALESCE(CONVERT(nvarchar(max), d.DebounceSeconds), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.DebounceSeconds), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (12, N''Enabled'', COALESCE(CONVERT(nvarchar(max), d.Enabled), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.Enabled), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2)) AS v (Place, Name, Was, Became)
        WHERE v.Was <> v.Became) AS c
    WHERE c.Was IS NOT NULL;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_FileWatch_Audit ON FileWatch AFTER INSERT, UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT ORIGINAL_LOGIN(), COALESCE(NULLIF(HOST_NAME(), N''''), N''sql''), CASE WHEN d.FileWatch_id IS NULL THEN N''row insert'' WHEN i.FileWatch_id IS NULL THEN N''row delete'' ELSE N''row update'' END, LEFT(CONCAT(N''FileWatch:'', COALESCE(i.WatchName, d.WatchName)), 200),
        CASE WHEN d.FileWatch_id IS NOT NULL THEN c.Was END, CASE WHEN i.FileWatch_id IS NOT NULL THEN c.Became END
    FROM inserted AS i FULL JOIN deleted AS d ON d.FileWatch_id = i.FileWatch_id
    CROSS APPLY (SELECT N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Was, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Was,
        N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Became, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Became
        FROM (VALUES
            (1, N''WatchName'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.WatchName), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.WatchName), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (2, N''Entity'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Entity), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Entity), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (3, N''Folder'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Folder), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Folder), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (4, N''Pattern'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Pattern), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Pattern), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (5, N''Recursive'', COALESCE(CONVERT(nvarchar(max), d.Recursive), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.Recursive), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (6, N''SettleSeconds'', COALESCE(CONVERT(nvarchar(max), d.SettleSeconds), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.SettleSeconds), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (7, N''MarkerSuffix'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.MarkerSuffix), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.MarkerSuffix), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (8, N''DuplicateKey'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.DuplicateKey), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.DuplicateKey), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (9, N''Enabled'', COALESCE(CONVERT(nvarchar(max), d.Enabled), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.Enabled), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2)) AS v (Place, Name, Was, Became)
        WHERE v.Was <> v.Became) AS c
    WHERE c.Was IS NOT NULL;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_BatchFreeze_Audit ON BatchFreeze AFTER INSERT, UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT ORIGINAL_LOGIN(), COALESCE(NULLIF(HOST_NAME(), N''''), N''sql''), CASE WHEN d.BatchFreeze_id IS NULL THEN N''row insert'' WHEN i.BatchFreeze_id IS NULL THEN N''row delete'' ELSE N''row update'' END, LEFT(CONCAT(N''BatchFreeze:'', COALESCE(i.BatchFreeze_id, d.BatchFreeze_id)), 200),
        CASE WHEN d.BatchFreeze_id IS NOT NULL THEN c.Was END, CASE WHEN i.BatchFreeze_id IS NOT NULL THEN c.Became END
    FROM inserted AS i FULL JOIN deleted AS d ON d.BatchFreeze_id = i.BatchFreeze_id
    CROSS APPLY (SELECT N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Was, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Was,
        N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Became, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Became
        FROM (VALUES
            (1, N''ProcessBatchName'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.ProcessBatchName), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.ProcessBatchName), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (2, N''Tag'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Tag), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Tag), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (3, N''Reason'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Reason), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Reason), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (4, N''Actor'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Actor), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Actor), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (5, N''UntilTime'', COALESCE(N''"'' + CONVERT(nvarchar(max), d.UntilTime, 126) + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + CONVERT(nvarchar(max), i.UntilTime, 126) + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (6, N''ThawedTime'', COALESCE(N''"'' + CONVERT(nvarchar(max), d.ThawedTime, 126) + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + CONVERT(nvarchar(max), i.ThawedTime, 126) + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (7, N''ThawedBy'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.ThawedBy), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.ThawedBy), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2)) AS v (Place, Name, Was, Became)
        WHERE v.Was <> v.Became) AS c
    WHERE c.Was IS NOT NULL;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_Drain_Audit ON Drain AFTER INSERT, UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT ORIGINAL_LOGIN(), COALESCE(NULLIF(HOST_NAME(), N''''), N''sql''), CASE WHEN d.Drain_id IS NULL THEN N''row insert'' WHEN i.Drain_id IS NULL THEN N''row delete'' ELSE N''row update'' END, LEFT(CONCAT(N''Drain:'', COALESCE(i.Drain_id, d.Drain_id)), 200),
        CASE WHEN d.Drain_id IS NOT NULL THEN c.Was END, CASE WHEN i.Drain_id IS NOT NULL THEN c.Became END
    FROM inserted AS i FULL JOIN deleted AS d ON d.Drain_id = i.Drain_id
    CROSS APPLY (SELECT N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Was, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Was,
        N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Became, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Became
        FROM (VALUES
            (1, N''Host'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Host), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Host), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (2, N''PoolName'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.PoolName), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.PoolName), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (3, N''Reason'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Reason), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Reason), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (4, N''Actor'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Actor), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Actor), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (5, N''UndrainedTime'', COALESCE(N''"'' + CONVERT(nvarchar(max), d.UndrainedTime, 126) + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + CONVERT(nvarchar(max), i.UndrainedTime, 126) + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (6, N''UndrainedBy'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.UndrainedBy), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.UndrainedBy), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2)) AS v (Place, Name, Was, Became)
        WHERE v.Was <> v.Became) AS c
    WHERE c.Was IS NOT NULL;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_Setting_Audit ON Setting AFTER INSERT, UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT ORIGINAL_LOGIN(), COALESCE(NULLIF(HOST_NAME(), N''''), N''sql''), CASE WHEN d.Setting_id IS NULL THEN N''row insert'' WHEN i.Setting_id IS NULL THEN N''row delete'' ELSE N''row update'' END, LEFT(CONCAT(N''Setting:'', COALESCE(i.Name, d.Name)), 200),
        CASE WHEN d.Setting_id IS NOT NULL THEN c.Was END, CASE WHEN i.Setting_id IS NOT NULL THEN c.Became END
    FROM inserted AS i FULL JOIN deleted AS d ON d.Setting_id = i.Setting_id
    CROSS APPLY (SELECT N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Was, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Was,
        N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Became, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Became
        FROM (VALUES
            (1, N''Name'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Name), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Name), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (2, N''Value'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Value), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Value), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2)) AS v (Place, Name, Was, Became)
        WHERE v.Was <> v.Became) AS c
    WHERE c.Was IS NOT NULL;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_BatchControl_Audit ON BatchControl AFTER UPDATE AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT ORIGINAL_LOGIN(), COALESCE(NULLIF(HOST_NAME(), N''''), N''sql''), CASE WHEN d.BatchControl_id IS NULL THEN N''row insert'' WHEN i.BatchControl_id IS NULL THEN N''row delete'' ELSE N''row update'' END, LEFT(CONCAT(N''BatchControl:'', COALESCE(i.BatchControl_id, d.BatchControl_id)), 200),
        CASE WHEN d.BatchControl_id IS NOT NULL THEN c.Was END, CASE WHEN i.BatchControl_id IS NOT NULL THEN c.Became END
    FROM inserted AS i FULL JOIN deleted AS d ON d.BatchControl_id = i.BatchControl_id
    CROSS APPLY (SELECT N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Was, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Was,
        N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Became, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Became
        FROM (VALUES
            (1, N''Status'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), CASE d.Status WHEN ''success'' THEN ''ready'' ELSE d.Status END), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), CASE i.Status WHEN ''success'' THEN ''ready'' ELSE i.Status END), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (2, N''PrevProcessControlSeq'', COALESCE(CONVERT(nvarchar(max), d.PrevProcessControlSeq), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.PrevProcessControlSeq), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (3, N''RetryCount'', COALESCE(CONVERT(nvarchar(max), d.RetryCount), CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(CONVERT(nvarchar(max), i.RetryCount), CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (4, N''NextRunTime'', COALESCE(N''"'' + CONVERT(nvarchar(max), d.NextRunTime, 126) + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + CONVERT(nvarchar(max), i.NextRunTime, 126) + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (5, N''CycleKey'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.CycleKey), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.CycleKey), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (6, N''Data1'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Data1), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Data1), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (7, N''Data2'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Data2), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Data2), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (8, N''Data3'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Data3), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Data3), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (9, N''Data4'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Data4), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Data4), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (10, N''Data5'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Data5), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Data5), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (11, N''Data6'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Data6), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Data6), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2)) AS v (Place, Name, Was, Became)
        WHERE v.Was <> v.Became) AS c
    WHERE c.Was IS NOT NULL AND i.z_updated = d.z_updated;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_FileProcess_Audit ON FileProcess AFTER UPDATE AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT ORIGINAL_LOGIN(), COALESCE(NULLIF(HOST_NAME(), N''''), N''sql''), CASE WHEN d.FileProcess_id IS NULL THEN N''row insert'' WHEN i.FileProcess_id IS NULL THEN N''row delete'' ELSE N''row update'' END, LEFT(CONCAT(N''FileProcess:'', COALESCE(i.FileProcess_id, d.FileProcess_id)), 200),
        CASE WHEN d.FileProcess_id IS NOT NULL THEN c.Was END, CASE WHEN i.FileProcess_id IS NOT NULL THEN c.Became END
    FROM inserted AS i FULL JOIN deleted AS d ON d.FileProcess_id = i.FileProcess_id
    CROSS APPLY (SELECT N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Was, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Was,
        N''{'' + STRING_AGG(N''"'' + v.Name + N''": '' + v.Became, N'', '') WITHIN GROUP (ORDER BY v.Place) + N''}'' AS Became
        FROM (VALUES
            (1, N''Status'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), CASE d.Status WHEN ''success'' THEN ''complete'' ELSE d.Status END), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), CASE i.Status WHEN ''success'' THEN ''complete'' ELSE i.Status END), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (2, N''Entity'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Entity), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Entity), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (3, N''FileName'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.FileName), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.FileName), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (4, N''Data'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.Data), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.Data), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2),
            (5, N''CycleKey'', COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), d.CycleKey), ''json'') + N''"'', CASE WHEN d.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2, COALESCE(N''"'' + STRING_ESCAPE(CONVERT(nvarchar(max), i.CycleKey), ''json'') + N''"'', CASE WHEN i.z_inserted IS NULL THEN N'''' ELSE N''null'' END) COLLATE Latin1_General_100_BIN2)) AS v (Place, Name, Was, Became)
        WHERE v.Was <> v.Became) AS c
    WHERE c.Was IS NOT NULL AND i.z_updated = d.z_updated;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_AuditLog_AppendOnly ON AuditLog AFTER UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    IF EXISTS (SELECT 1 FROM inserted) OR EXISTS (SELECT 1 FROM deleted AS d WHERE NOT EXISTS (SELECT 1 FROM Setting AS s WHERE s.Name = N''AuditLogDays'' AND TRY_CAST(s.Value AS int) > 0 AND d.z_inserted < DATEADD(day, -TRY_CAST(s.Value AS int), (SELECT TOP (1) n.z_inserted FROM AuditLog AS n ORDER BY n.AuditLog_id DESC))))
        THROW 51000, N''batchctl: what stands in AuditLog stays as it is'', 1;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_AuditSeal_AppendOnly ON AuditSeal AFTER UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    IF EXISTS (SELECT 1 FROM inserted) OR EXISTS (SELECT 1 FROM deleted AS d)
        THROW 51000, N''batchctl: what stands in AuditSeal stays as it is'', 1;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_FileProcess_Success ON FileProcess AFTER INSERT, UPDATE AS
BEGIN
    SET NOCOUNT ON;
    IF EXISTS (SELECT 1 FROM inserted AS s WHERE s.Status = ''success'')
    BEGIN
        UPDATE w SET Status = ''complete'' FROM FileProcess AS w JOIN inserted AS i ON i.FileProcess_id = w.FileProcess_id
        WHERE w.Status = ''success'';
    END;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_BatchControl_Success ON BatchControl AFTER INSERT, UPDATE AS
BEGIN
    SET NOCOUNT ON;
    IF EXISTS (SELECT 1 FROM inserted AS s WHERE s.Status = ''success'')
    BEGIN
        UPDATE w SET Status = ''ready'' FROM BatchControl AS w JOIN inserted AS i ON i.BatchControl_id = w.BatchControl_id
        WHERE w.Status = ''success'';
    END;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_ProcessControl_InUse ON ProcessControl AFTER UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    IF EXISTS (SELECT 1 FROM deleted AS d WHERE EXISTS (SELECT 1 FROM BatchProcessHistory AS h WHERE h.Status = ''running'' AND h.ProcessBatch_id = d.ProcessBatch_id AND h.ProcessControlSeq = d.ProcessControlSeq)
        AND NOT EXISTS (SELECT 1 FROM inserted AS i WHERE i.ProcessBatch_id = d.ProcessBatch_id AND i.ProcessControlSeq = d.ProcessControlSeq))
        THROW 51000, N''batchctl: the ProcessControl row is a step that runs at this moment: wait until it has ended; or, unless it is being cancelled already: batchctl cancel ID --reason ..., with the BatchControl_id that vRunning shows'', 1;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_FileProcess_Paused ON FileProcess AFTER UPDATE AS
BEGIN
    SET NOCOUNT ON;
    IF EXISTS (SELECT 1 FROM inserted AS i JOIN deleted AS d ON d.FileProcess_id = i.FileProcess_id
        WHERE i.Status = ''paused'' AND d.Status <> ''paused'' AND EXISTS (SELECT 1 FROM BatchControl AS w WHERE w.FileProcess_id = i.FileProcess_id))
        THROW 51000, N''batchctl: the FileProcess row has instances: pause these (batchctl pause ID --reason ...), which inbox show names'', 1;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_FileProcess_SetAside ON FileProcess AFTER UPDATE AS
BEGIN
    SET NOCOUNT ON;
    IF EXISTS (SELECT 1 FROM inserted AS i JOIN deleted AS d ON d.FileProcess_id = i.FileProcess_id AND i.z_updated = d.z_updated
        WHERE i.Status IN (''rejected'', ''duplicate'') AND d.Status <> i.Status AND EXISTS (SELECT 1 FROM BatchControl AS w WHERE w.FileProcess_id = i.FileProcess_id AND w.Status NOT IN (''complete'', ''cancelled'')))
        THROW 51000, N''batchctl: the FileProcess row has instances that are not over: cancel these (batchctl cancel ID --reason ...), which inbox show names'', 1;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_Calendar_Used ON Calendar AFTER DELETE AS
BEGIN
    SET NOCOUNT ON;
    IF EXISTS (SELECT 1 FROM Schedule AS u WHERE EXISTS (SELECT 1 FROM deleted AS d WHERE d.CalendarName = u.CalendarName)) OR EXISTS (SELECT 1 FROM ProcessBatch AS u WHERE EXISTS (SELECT 1 FROM deleted AS d WHERE d.CalendarName = u.ExpectedCalendar))
        THROW 51000, N''batchctl: a schedule or ExpectedCalendar of a batch names this calendar: SET QUOTED_IDENTIFIER ON; UPDATE Schedule SET CalendarName = ..., UPDATE ProcessBatch SET ExpectedCalendar = ... first'', 1;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_Calendar_Renamed ON Calendar AFTER UPDATE AS
BEGIN
    SET NOCOUNT ON;
    IF EXISTS (SELECT 1 FROM Schedule AS u WHERE EXISTS (SELECT 1 FROM deleted AS d WHERE d.CalendarName = u.CalendarName AND NOT EXISTS (SELECT 1 FROM inserted AS i WHERE i.CalendarName = d.CalendarName))) OR EXISTS (SELECT 1 FROM ProcessBatch AS u WHERE EXISTS (SELECT 1 FROM deleted AS d WHERE d.CalendarName = u.ExpectedCalendar AND NOT EXISTS (SELECT 1 FROM inserted AS i WHERE i.CalendarName = d.CalendarName)))
        THROW 51000, N''batchctl: a schedule or ExpectedCalendar of a batch names this calendar: SET QUOTED_IDENTIFIER ON; UPDATE Schedule SET CalendarName = ..., UPDATE ProcessBatch SET ExpectedCalendar = ... first'', 1;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_Pool_Used ON Pool AFTER DELETE AS
BEGIN
    SET NOCOUNT ON;
    IF EXISTS (SELECT 1 FROM ProcessBatch AS u WHERE EXISTS (SELECT 1 FROM deleted AS d WHERE d.PoolName = lower(u.Pool))) OR EXISTS (SELECT 1 FROM ProcessControl AS u WHERE EXISTS (SELECT 1 FROM deleted AS d WHERE d.PoolName = lower(u.Pool)))
        THROW 51000, N''batchctl: a batch or a step names this pool: SET QUOTED_IDENTIFIER ON; UPDATE ProcessBatch SET Pool = ..., UPDATE ProcessControl SET Pool = ... first'', 1;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_Pool_Renamed ON Pool AFTER UPDATE AS
BEGIN
    SET NOCOUNT ON;
    IF EXISTS (SELECT 1 FROM ProcessBatch AS u WHERE EXISTS (SELECT 1 FROM deleted AS d WHERE d.PoolName = lower(u.Pool) AND NOT EXISTS (SELECT 1 FROM inserted AS i WHERE i.PoolName = d.PoolName))) OR EXISTS (SELECT 1 FROM ProcessControl AS u WHERE EXISTS (SELECT 1 FROM deleted AS d WHERE d.PoolName = lower(u.Pool) AND NOT EXISTS (SELECT 1 FROM inserted AS i WHERE i.PoolName = d.PoolName)))
        THROW 51000, N''batchctl: a batch or a step names this pool: SET QUOTED_IDENTIFIER ON; UPDATE ProcessBatch SET Pool = ..., UPDATE ProcessControl SET Pool = ... first'', 1;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_vSqlJob_Insert ON vSqlJob INSTEAD OF INSERT AS
BEGIN
    SET NOCOUNT ON;
    IF EXISTS (SELECT 1 FROM inserted AS i WHERE i.JobName IS NULL OR i.FirstRunOn IS NULL OR i.ConnectionName IS NULL OR i.ScheduledSql IS NULL)
        THROW 51000, N''batchctl: a job needs JobName, ConnectionName, ScheduledSql and FirstRunOn'', 1;
    IF EXISTS (SELECT 1 FROM inserted AS i WHERE CAST(i.IsRepeatable AS varchar(11)) NOT IN (''0'', ''1''))
        THROW 51000, N''batchctl: IsRepeatable is 0 (once) or 1 (daily)'', 1;
    IF EXISTS (SELECT 1 FROM inserted AS i WHERE COALESCE(i.IsRepeatable, 0) <> 0 AND RTRIM(SUBSTRING(i.FirstRunOn, 17, 200)) NOT IN ('''', '':00''))
        THROW 51000, N''batchctl: a daily job is due on the minute: write FirstRunOn without seconds, such as 2026-12-01 02:15'', 1;
    IF EXISTS (SELECT 1 FROM inserted AS i WHERE TRIM(i.JobName) = '''')
        THROW 51000, N''batchctl: JobName is empty: it is the name of the job'', 1;
    IF EXISTS (SELECT 1 FROM inserted AS i WHERE NOT ((trim(i.FirstRunOn) LIKE ''[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9][ T][0-2][0-9]:[0-5][0-9]'' OR trim(i.FirstRunOn) LIKE ''[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9][ T][0-2][0-9]:[0-5][0-9]:[0-5][0-9]'') AND trim(i.FirstRunOn) NOT LIKE ''_____00%'' AND trim(i.FirstRunOn) NOT LIKE ''_____1[3-9]%'' AND trim(i.FirstRunOn) NOT LIKE ''________00%'' AND trim(i.FirstRunOn) NOT LIKE ''________3[2-9]%'' AND trim(i.FirstRunOn) NOT LIKE ''%[ T]2[4-9]%''))
        THROW 51000, N''batchctl: FirstRunOn is a time, such as 2026-12-01 02:15'', 1;
    IF EXISTS (SELECT 1 FROM inserted AS i WHERE CAST(i.IsEnabled AS varchar(11)) NOT IN (''0'', ''1''))
        THROW 51000, N''batchctl: IsEnabled is 0 or 1'', 1;
    IF EXISTS (SELECT 1 FROM inserted AS i WHERE EXISTS (SELECT 1 FROM ProcessBatch t WHERE t.ProcessBatchName = i.JobName) OR EXISTS (SELECT 1 FROM Schedule t WHERE t.ScheduleName = i.JobName))
        THROW 51000, N''batchctl: there is a batch or a schedule of this JobName already: SELECT JobName FROM vSqlJob; batchctl batches'', 1;
    INSERT INTO ProcessBatch (ProcessBatchName, OnFailure, Origin)
    SELECT i.JobName, ''continue'', ''sql'' FROM inserted AS i;
    INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2)
    SELECT b.ProcessBatch_id, 10, i.JobName, ''sql'', replace(replace(i.ConnectionName, ''{'', ''{{''), ''}'', ''}}''), replace(replace(i.ScheduledSql, ''{'', ''{{''), ''}'', ''}}'') FROM ProcessBatch AS b JOIN inserted AS i ON b.ProcessBatchName = i.JobName;
    INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, StartDate, RunAt, TimeZone, CatchUp, Enabled, Origin)
    SELECT i.JobName, i.JobName, CASE WHEN COALESCE(i.IsRepeatable, 0) <> 0 THEN ''daily'' ELSE ''once'' END,
        CASE WHEN COALESCE(i.IsRepeatable, 0) <> 0 THEN SUBSTRING(i.FirstRunOn, 12, 5) END, CASE WHEN COALESCE(i.IsRepeatable, 0) <> 0 THEN SUBSTRING(i.FirstRunOn, 1, 10) END,
        CASE WHEN COALESCE(i.IsRepeatable, 0) <> 0 THEN NULL ELSE i.FirstRunOn END, i.TimeZone, ''latest'', COALESCE(i.IsEnabled, 1), ''sql'' FROM inserted AS i;
END';
GO
IF @@TRANCOUNT = 0
BEGIN
    SET NOEXEC ON;
END;
GO

EXEC sp_executesql N'CREATE OR ALTER TRIGGER TR_vSqlJob_Stays ON vSqlJob INSTEAD OF UPDATE, DELETE AS
BEGIN
    SET NOCOUNT ON;
    IF EXISTS (SELECT 1 FROM inserted)
        THROW 51000, N''batchctl: a row of vSqlJob is a job. To change its SQL or its connection: batchctl schedule set-sql NAME --sql ... --connection ... --reason ...; its times: SET QUOTED_IDENTIFIER ON; UPDATE Schedule SET RunAt (once) or RunTimes (daily), Enabled, TimeZone ... WHERE ScheduleName = NAME'', 1;
    IF EXISTS (SELECT 1 FROM deleted)
        THROW 51000, N''batchctl: a row of vSqlJob is a job. To remove it: batchctl schedule remove NAME --reason ...; to stop it: SET QUOTED_IDENTIFIER ON; UPDATE Schedule SET Enabled = 0 WHERE ScheduleName = NAME'', 1;
END';
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

IF OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.alembic_version', N'U') IS NULL OR OBJECT_ID(QUOTENAME(SCHEMA_NAME()) + N'.ProcessBatch', N'U') IS NULL
    RAISERROR(N'batchctl: nothing was made; see the error above.', 16, 1);
ELSE
    SELECT version_num AS batchctl_schema FROM alembic_version;
GO
