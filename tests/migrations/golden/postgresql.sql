-- The control database of batchctl on PostgreSQL 14 or later, schema 0051.
--
-- Run it as the role that shall own the tables: psql -v ON_ERROR_STOP=1 -d DATABASE -f batchctl.sql
-- It makes everything, from nothing, in the first schema of the search_path, and is one transaction: after an error nothing
-- of it stays. Without ON_ERROR_STOP psql goes on after an error, to no effect, and its exit code is 0.
-- The rights that another role needs to work with the tables: batchctl doctor, run as that role, prints them.

BEGIN;

DO $$
BEGIN
    IF EXISTS (SELECT 1 FROM pg_catalog.pg_class WHERE relnamespace = current_schema()::regnamespace AND relname IN (
        'alembic_version', 'processbatch', 'pool', 'variable', 'resource', 'schedule', 'calendar', 'datatrigger', 'filewatch', 'setting', 'batchversion', 'applieddefinition', 'operatorrequest', 'batchfreeze', 'drain', 'incident', 'auditlog', 'auditseal', 'zoneoffset', 'schedulerlog', 'fileprocess', 'controller', 'leader', 'namedlock', 'processcontrol', 'batchresource', 'batchdependency', 'calendarday', 'alertdelivery', 'filewatchseen', 'schedulebackfill', 'batchcontrol', 'durationhistory', 'keptforecast', 'controllerpool', 'confirmation', 'note', 'webuser', 'websession', 'apitoken', 'loginbackoff', 'webrequest', 'schedulefire', 'batchprocesshistory', 'batchcompletion', 'stepoutput'))
    THEN
        RAISE EXCEPTION 'batchctl: there are tables of these names already; nothing is made'
            USING HINT = 'to bring a database of batchctl up to date: batchctl db upgrade; or choose another database or schema';
    END IF;
END
$$;

CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL, 
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

-- Running upgrade  -> 0051

-- A batch: which entity it takes, how its instances are made, in what order and how often they are tried.
CREATE TABLE ProcessBatch (
    ProcessBatch_id BIGSERIAL NOT NULL,
    ProcessBatchName VARCHAR(200) NOT NULL,
    Entity VARCHAR(200),
    Enabled SMALLINT DEFAULT 1 NOT NULL,
    Seq INTEGER DEFAULT 100 NOT NULL,
    Priority INTEGER,
    ProcessingMode VARCHAR(20),
    Populator VARCHAR(200) DEFAULT 'pattern' NOT NULL,
    PopulatorArgs TEXT,
    PopulatorOn VARCHAR(20),
    DependencyMode VARCHAR(20) DEFAULT 'all' NOT NULL,
    OnFailure VARCHAR(20) DEFAULT 'hold_batch' NOT NULL,
    RetryCount INTEGER DEFAULT 0 NOT NULL,
    RetryWaitMins INTEGER DEFAULT 5 NOT NULL,
    RetryWaitSecs INTEGER,
    MaxConcurrent INTEGER DEFAULT 1 NOT NULL,
    MaxPerMinute INTEGER,
    Pool VARCHAR(50),
    DuplicateCheck SMALLINT DEFAULT 1 NOT NULL,
    ArriveBy VARCHAR(50),
    StartBy VARCHAR(50),
    FinishBy VARCHAR(50),
    ExpectedOn VARCHAR(50),
    ExpectedCalendar VARCHAR(200),
    Tags VARCHAR(200),
    Origin VARCHAR(200),
    Description TEXT,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_ProcessBatch" PRIMARY KEY (ProcessBatch_id),
    CONSTRAINT "UQ_ProcessBatch_ProcessBatchName" UNIQUE (ProcessBatchName),
    CONSTRAINT "CK_ProcessBatch_ProcessBatchName" CHECK (ProcessBatchName <> ''),
    CONSTRAINT "CK_ProcessBatch_Enabled" CHECK (Enabled IN (0, 1)),
    CONSTRAINT "CK_ProcessBatch_DuplicateCheck" CHECK (DuplicateCheck IN (0, 1)),
    CONSTRAINT "CK_ProcessBatch_RetryCount" CHECK (RetryCount BETWEEN 0 AND 1000),
    CONSTRAINT "CK_ProcessBatch_RetryWaitMins" CHECK (RetryWaitMins BETWEEN 0 AND 525600),
    CONSTRAINT "CK_ProcessBatch_MaxConcurrent" CHECK (MaxConcurrent BETWEEN 1 AND 1000),
    CONSTRAINT "CK_ProcessBatch_Priority" CHECK (Priority BETWEEN 0 AND 1000),
    CONSTRAINT "CK_ProcessBatch_MaxPerMinute" CHECK (MaxPerMinute BETWEEN 1 AND 100000),
    CONSTRAINT "CK_ProcessBatch_Pool" CHECK (Pool <> ''),
    CONSTRAINT "CK_ProcessBatch_OnFailure" CHECK (lower(OnFailure) IN ('hold_batch', 'stop_all', 'continue')),
    CONSTRAINT "CK_ProcessBatch_DependencyMode" CHECK (lower(DependencyMode) IN ('all', 'any')),
    CONSTRAINT "CK_ProcessBatch_Entity" CHECK (Entity <> ''),
    CONSTRAINT "CK_ProcessBatch_Populator" CHECK (Populator <> ''),
    CONSTRAINT "CK_ProcessBatch_ProcessingMode" CHECK (lower(ProcessingMode) IN ('manual', 'scheduled', 'triggered')),
    CONSTRAINT "CK_ProcessBatch_RetryWaitSecs" CHECK (RetryWaitSecs BETWEEN 0 AND 31536000),
    CONSTRAINT "CK_ProcessBatch_ArriveBy" CHECK (lower(trim(ArriveBy)) = 'none'
        OR (trim(ArriveBy) ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$')),
    CONSTRAINT "CK_ProcessBatch_StartBy" CHECK (lower(trim(StartBy)) = 'none'
        OR (trim(StartBy) ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$')),
    CONSTRAINT "CK_ProcessBatch_FinishBy" CHECK (lower(trim(FinishBy)) = 'none'
        OR (trim(FinishBy) ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$')),
    CONSTRAINT "CK_ProcessBatch_ExpectedOn"
        CHECK (lower(ExpectedOn COLLATE "C") ~ '^ *(mon|tue|wed|thu|fri|sat|sun)( *- *(mon|tue|wed|thu|fri|sat|sun))? *(, *(mon|tue|wed|thu|fri|sat|sun)( *- *(mon|tue|wed|thu|fri|sat|sun))? *)*$'),
    CONSTRAINT "CK_ProcessBatch_PopulatorOn" CHECK (lower(PopulatorOn) IN ('filename', 'data', 'entity')),
    CONSTRAINT "CK_ProcessBatch_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_ProcessBatch_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

-- Where steps may run: the controllers that serve a pool begin its steps, and no others.
CREATE TABLE Pool (
    Pool_id BIGSERIAL NOT NULL,
    PoolName VARCHAR(50) NOT NULL,
    Kind VARCHAR(20) DEFAULT 'controllers' NOT NULL,
    MaxConcurrent INTEGER,
    Enabled SMALLINT DEFAULT 1 NOT NULL,
    Description TEXT,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_Pool" PRIMARY KEY (Pool_id),
    CONSTRAINT "UQ_Pool_PoolName" UNIQUE (PoolName),
    CONSTRAINT "CK_Pool_PoolName" CHECK (PoolName <> '' AND PoolName = lower(PoolName)),
    CONSTRAINT "CK_Pool_Kind" CHECK (lower(Kind) IN ('controllers', 'dask', 'agents')),
    CONSTRAINT "CK_Pool_MaxConcurrent" CHECK (MaxConcurrent BETWEEN 1 AND 1000),
    CONSTRAINT "CK_Pool_Enabled" CHECK (Enabled IN (0, 1)),
    CONSTRAINT "CK_Pool_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_Pool_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

-- What {var:Name} stands for in definitions, so that the same ones serve test and production.
CREATE TABLE Variable (
    Variable_id BIGSERIAL NOT NULL,
    VariableName VARCHAR(200) NOT NULL,
    Value TEXT NOT NULL,
    Description TEXT,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_Variable" PRIMARY KEY (Variable_id),
    CONSTRAINT "UQ_Variable_VariableName" UNIQUE (VariableName),
    CONSTRAINT "CK_Variable_VariableName" CHECK (VariableName <> ''),
    CONSTRAINT "CK_Variable_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_Variable_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

-- What steps share, such as an FTP server, and how many units of it there are.
CREATE TABLE Resource (
    Resource_id BIGSERIAL NOT NULL,
    ResourceName VARCHAR(200) NOT NULL,
    Units INTEGER DEFAULT 1 NOT NULL,
    Description TEXT,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_Resource" PRIMARY KEY (Resource_id),
    CONSTRAINT "UQ_Resource_ResourceName" UNIQUE (ResourceName),
    CONSTRAINT "CK_Resource_ResourceName" CHECK (ResourceName <> ''),
    CONSTRAINT "CK_Resource_Units" CHECK (Units BETWEEN 0 AND 1000000),
    CONSTRAINT "CK_Resource_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_Resource_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

-- When rows of an entity are put into FileProcess by themselves.
CREATE TABLE Schedule (
    Schedule_id BIGSERIAL NOT NULL,
    ScheduleName VARCHAR(200) NOT NULL,
    Entity VARCHAR(200) NOT NULL,
    ScheduleType VARCHAR(20) NOT NULL,
    IntervalMinutes INTEGER,
    RunTimes VARCHAR(200),
    RunDays VARCHAR(200),
    RunDaysOfMonth VARCHAR(200),
    WeekOfMonth VARCHAR(200),
    RunMonths VARCHAR(200),
    BetweenTimes VARCHAR(50),
    EveryN INTEGER DEFAULT 1 NOT NULL,
    StartDate VARCHAR(10),
    EndDate VARCHAR(10),
    RunAt VARCHAR(50),
    Cron VARCHAR(200),
    TimeZone VARCHAR(200),
    CalendarName VARCHAR(200),
    CalendarRule VARCHAR(20) DEFAULT 'business_days' NOT NULL,
    GapPolicy VARCHAR(20) DEFAULT 'run' NOT NULL,
    FoldPolicy VARCHAR(20) DEFAULT 'once' NOT NULL,
    CatchUp VARCHAR(20) DEFAULT 'none' NOT NULL,
    CatchUpMost INTEGER,
    Overlap VARCHAR(20) DEFAULT 'queue' NOT NULL,
    Jitter INTEGER DEFAULT 0 NOT NULL,
    Enabled SMALLINT DEFAULT 1 NOT NULL,
    NextRunTime TIMESTAMP(3) WITHOUT TIME ZONE,
    DecidedUntil TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC'),
    TimingHash VARCHAR(64),
    Origin VARCHAR(200),
    Description TEXT,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_Schedule" PRIMARY KEY (Schedule_id),
    CONSTRAINT "UQ_Schedule_ScheduleName" UNIQUE (ScheduleName),
    CONSTRAINT "CK_Schedule_ScheduleName" CHECK (ScheduleName <> ''),
    CONSTRAINT "CK_Schedule_Entity" CHECK (Entity <> ''),
    CONSTRAINT "CK_Schedule_IntervalMinutes" CHECK ((IntervalMinutes IS NOT NULL AND (ScheduleType = 'interval'))
        OR (IntervalMinutes IS NULL AND ScheduleType <> 'interval')),
    CONSTRAINT "CK_Schedule_IntervalMinutes_Bounds" CHECK (IntervalMinutes BETWEEN 1 AND 1440),
    CONSTRAINT "CK_Schedule_RunTimes" CHECK ((RunTimes IS NOT NULL AND (ScheduleType = 'daily' OR ScheduleType = 'weekly'
        OR ScheduleType = 'monthly' OR ScheduleType = 'monthly_dow')) OR (RunTimes IS NULL AND ScheduleType <> 'daily'
        AND ScheduleType <> 'weekly' AND ScheduleType <> 'monthly' AND ScheduleType <> 'monthly_dow')),
    CONSTRAINT "CK_Schedule_RunDays" CHECK (RunDays IS NOT NULL OR (ScheduleType <> 'weekly'
        AND ScheduleType <> 'monthly_dow')),
    CONSTRAINT "CK_Schedule_RunDaysOfMonth" CHECK (RunDaysOfMonth IS NOT NULL OR (ScheduleType <> 'monthly')),
    CONSTRAINT "CK_Schedule_WeekOfMonth" CHECK (WeekOfMonth IS NOT NULL OR (ScheduleType <> 'monthly_dow')),
    CONSTRAINT "CK_Schedule_RunAt" CHECK ((RunAt IS NOT NULL AND (ScheduleType = 'once')) OR (RunAt IS NULL
        AND ScheduleType <> 'once')),
    CONSTRAINT "CK_Schedule_Cron" CHECK ((Cron IS NOT NULL AND (ScheduleType = 'cron')) OR (Cron IS NULL
        AND ScheduleType <> 'cron')),
    CONSTRAINT "CK_Schedule_EveryN" CHECK (EveryN BETWEEN 1 AND 1000),
    CONSTRAINT "CK_Schedule_CatchUpMost" CHECK ((CatchUp = 'up_to' AND CatchUpMost IS NOT NULL) OR (CatchUp <> 'up_to'
        AND CatchUpMost IS NULL)),
    CONSTRAINT "CK_Schedule_CatchUpMost_Bounds" CHECK (CatchUpMost BETWEEN 1 AND 1000),
    CONSTRAINT "CK_Schedule_Jitter" CHECK (Jitter BETWEEN 0 AND 86400),
    CONSTRAINT "CK_Schedule_Enabled" CHECK (Enabled IN (0, 1)),
    CONSTRAINT "CK_Schedule_ScheduleType"
        CHECK (lower(ScheduleType) IN ('interval', 'daily', 'weekly', 'monthly', 'monthly_dow', 'once', 'cron')),
    CONSTRAINT "CK_Schedule_CalendarRule" CHECK (lower(CalendarRule) IN ('business_days', 'days_off', 'next', 'previous')),
    CONSTRAINT "CK_Schedule_GapPolicy" CHECK (lower(GapPolicy) IN ('run', 'skip')),
    CONSTRAINT "CK_Schedule_FoldPolicy" CHECK (lower(FoldPolicy) IN ('once', 'twice')),
    CONSTRAINT "CK_Schedule_CatchUp" CHECK (lower(CatchUp) IN ('none', 'latest', 'up_to')),
    CONSTRAINT "CK_Schedule_Overlap" CHECK (lower(Overlap) IN ('queue', 'skip')),
    CONSTRAINT "CK_Schedule_RunTimes_Form"
        CHECK (replace(RunTimes, ' ', '') ~ '^([01][0-9]|2[0-3]):[0-5][0-9](,([01][0-9]|2[0-3]):[0-5][0-9])*$'),
    CONSTRAINT "CK_Schedule_BetweenTimes"
        CHECK (replace(BetweenTimes, ' ', '') ~ '^([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9]$'),
    CONSTRAINT "CK_Schedule_RunDays_Form"
        CHECK (lower(RunDays COLLATE "C") ~ '^ *(mon|tue|wed|thu|fri|sat|sun)( *- *(mon|tue|wed|thu|fri|sat|sun))? *(, *(mon|tue|wed|thu|fri|sat|sun)( *- *(mon|tue|wed|thu|fri|sat|sun))? *)*$'),
    CONSTRAINT "CK_Schedule_WeekOfMonth_Form"
        CHECK (lower(WeekOfMonth COLLATE "C") ~ '^ *(first|second|third|fourth|fifth|last) *(, *(first|second|third|fourth|fifth|last) *)*$'),
    CONSTRAINT "CK_Schedule_RunAt_Form"
        CHECK (trim(RunAt) ~ '^[0-9][0-9][0-9][0-9]-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$'),
    CONSTRAINT "CK_Schedule_StartDate"
        CHECK (trim(StartDate) ~ '^[0-9][0-9][0-9][0-9]-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$'),
    CONSTRAINT "CK_Schedule_EndDate" CHECK (trim(EndDate) ~ '^[0-9][0-9][0-9][0-9]-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$'),
    CONSTRAINT "CK_Schedule_RunMonths"
        CHECK (lower(RunMonths COLLATE "C") ~ '^ *(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|1|2|3|4|5|6|7|8|9|10|11|12|01|02|03|04|05|06|07|08|09)( *- *(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|1|2|3|4|5|6|7|8|9|10|11|12|01|02|03|04|05|06|07|08|09))? *(, *(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|1|2|3|4|5|6|7|8|9|10|11|12|01|02|03|04|05|06|07|08|09)( *- *(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|1|2|3|4|5|6|7|8|9|10|11|12|01|02|03|04|05|06|07|08|09))? *)*$'),
    CONSTRAINT "CK_Schedule_RunDaysOfMonth_Form"
        CHECK (lower(RunDaysOfMonth COLLATE "C") ~ '^ *(1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16|17|18|19|20|21|22|23|24|25|26|27|28|29|30|31|01|02|03|04|05|06|07|08|09|last|business_1|business_2|business_3|business_4|business_5|business_6|business_7|business_8|business_9|business_10|business_11|business_12|business_13|business_14|business_15|business_16|business_17|business_18|business_19|business_20|business_21|business_22|business_23|business_01|business_02|business_03|business_04|business_05|business_06|business_07|business_08|business_09|business_last) *(, *(1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16|17|18|19|20|21|22|23|24|25|26|27|28|29|30|31|01|02|03|04|05|06|07|08|09|last|business_1|business_2|business_3|business_4|business_5|business_6|business_7|business_8|business_9|business_10|business_11|business_12|business_13|business_14|business_15|business_16|business_17|business_18|business_19|business_20|business_21|business_22|business_23|business_01|business_02|business_03|business_04|business_05|business_06|business_07|business_08|business_09|business_last) *)*$'),
    CONSTRAINT "CK_Schedule_RunMonths_Days" CHECK (NOT ((lower(RunMonths COLLATE "C") ~ '^ *(feb|2|02) *(, *(feb|2|02) *)*$')
        AND (lower(RunDaysOfMonth COLLATE "C") ~ '^ *(30|31) *(, *(30|31) *)*$'))
        AND NOT ((lower(RunMonths COLLATE "C") ~ '^ *(feb|apr|jun|sep|nov|2|4|6|9|11|02|04|06|09) *(, *(feb|apr|jun|sep|nov|2|4|6|9|11|02|04|06|09) *)*$') AND (lower(RunDaysOfMonth COLLATE "C") ~ '^ *(31) *(, *(31) *)*$'))),
    CONSTRAINT "CK_Schedule_RunTimes_Blanks" CHECK (RunTimes !~ '[^-, ] +[^-, ]'),
    CONSTRAINT "CK_Schedule_BetweenTimes_Blanks" CHECK (BetweenTimes !~ '[^-, ] +[^-, ]'),
    CONSTRAINT "CK_Schedule_NextRunTime_Type" CHECK (NextRunTime >= '0001-01-01' AND NextRunTime < '10000-01-01'),
    CONSTRAINT "CK_Schedule_DecidedUntil_Type" CHECK (DecidedUntil >= '0001-01-01' AND DecidedUntil < '10000-01-01'),
    CONSTRAINT "CK_Schedule_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_Schedule_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

CREATE INDEX "IX_Schedule_Due" ON Schedule (NextRunTime) WHERE Enabled = 1;

-- A named set of business days.
CREATE TABLE Calendar (
    Calendar_id BIGSERIAL NOT NULL,
    CalendarName VARCHAR(200) NOT NULL,
    BusinessDays VARCHAR(50) DEFAULT 'Mon,Tue,Wed,Thu,Fri' NOT NULL,
    ValidFrom VARCHAR(10),
    ValidUntil VARCHAR(10),
    Description TEXT,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_Calendar" PRIMARY KEY (Calendar_id),
    CONSTRAINT "UQ_Calendar_CalendarName" UNIQUE (CalendarName),
    CONSTRAINT "CK_Calendar_CalendarName" CHECK (CalendarName <> ''),
    CONSTRAINT "CK_Calendar_BusinessDays" CHECK (trim(BusinessDays) = ''
        OR (lower(BusinessDays COLLATE "C") ~ '^ *(mon|tue|wed|thu|fri|sat|sun)( *- *(mon|tue|wed|thu|fri|sat|sun))? *(, *(mon|tue|wed|thu|fri|sat|sun)( *- *(mon|tue|wed|thu|fri|sat|sun))? *)*$')),
    CONSTRAINT "CK_Calendar_ValidFrom"
        CHECK (trim(ValidFrom) ~ '^[0-9][0-9][0-9][0-9]-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$'),
    CONSTRAINT "CK_Calendar_ValidUntil"
        CHECK (trim(ValidUntil) ~ '^[0-9][0-9][0-9][0-9]-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$'),
    CONSTRAINT "CK_Calendar_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_Calendar_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

-- A table of another database whose new rows start an entity.
CREATE TABLE DataTrigger (
    DataTrigger_id BIGSERIAL NOT NULL,
    TriggerName VARCHAR(200) NOT NULL,
    Entity VARCHAR(200) NOT NULL,
    ConnectionName VARCHAR(200) NOT NULL,
    TableName VARCHAR(200) NOT NULL,
    StatusColumn VARCHAR(200) NOT NULL,
    PendingValue VARCHAR(200) NOT NULL,
    CreatedColumn VARCHAR(200),
    RowThreshold BIGINT,
    IdleMinutes INTEGER,
    OnNewRows SMALLINT DEFAULT 0 NOT NULL,
    DebounceSeconds INTEGER DEFAULT 60 NOT NULL,
    Enabled SMALLINT DEFAULT 1 NOT NULL,
    LastFired TIMESTAMP(3) WITHOUT TIME ZONE,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_DataTrigger" PRIMARY KEY (DataTrigger_id),
    CONSTRAINT "UQ_DataTrigger_TriggerName" UNIQUE (TriggerName),
    CONSTRAINT "CK_DataTrigger_TriggerName" CHECK (TriggerName <> ''),
    CONSTRAINT "CK_DataTrigger_Entity" CHECK (Entity <> ''),
    CONSTRAINT "CK_DataTrigger_RowThreshold" CHECK (RowThreshold >= 1),
    CONSTRAINT "CK_DataTrigger_IdleMinutes" CHECK (IdleMinutes BETWEEN 1 AND 525600),
    CONSTRAINT "CK_DataTrigger_DebounceSeconds" CHECK (DebounceSeconds BETWEEN 0 AND 31536000),
    CONSTRAINT "CK_DataTrigger_Condition" CHECK (RowThreshold IS NOT NULL OR IdleMinutes IS NOT NULL OR OnNewRows = 1),
    CONSTRAINT "CK_DataTrigger_Age" CHECK (IdleMinutes IS NULL OR CreatedColumn IS NOT NULL),
    CONSTRAINT "CK_DataTrigger_OnNewRows" CHECK (OnNewRows IN (0, 1)),
    CONSTRAINT "CK_DataTrigger_Enabled" CHECK (Enabled IN (0, 1)),
    CONSTRAINT "CK_DataTrigger_ConnectionName" CHECK (ConnectionName <> ''),
    CONSTRAINT "CK_DataTrigger_TableName" CHECK (TableName <> ''),
    CONSTRAINT "CK_DataTrigger_StatusColumn" CHECK (StatusColumn <> ''),
    CONSTRAINT "CK_DataTrigger_LastFired_Type" CHECK (LastFired >= '0001-01-01' AND LastFired < '10000-01-01'),
    CONSTRAINT "CK_DataTrigger_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_DataTrigger_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

-- A folder whose files become rows of FileProcess.
CREATE TABLE FileWatch (
    FileWatch_id BIGSERIAL NOT NULL,
    WatchName VARCHAR(200) NOT NULL,
    Entity VARCHAR(200) NOT NULL,
    Folder TEXT NOT NULL,
    Pattern VARCHAR(200) DEFAULT '*' NOT NULL,
    Recursive SMALLINT DEFAULT 0 NOT NULL,
    SettleSeconds INTEGER DEFAULT 10 NOT NULL,
    MarkerSuffix VARCHAR(50),
    DuplicateKey VARCHAR(20) DEFAULT 'name_size_time' NOT NULL,
    Enabled SMALLINT DEFAULT 1 NOT NULL,
    UnreachableSince TIMESTAMP(3) WITHOUT TIME ZONE,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_FileWatch" PRIMARY KEY (FileWatch_id),
    CONSTRAINT "UQ_FileWatch_WatchName" UNIQUE (WatchName),
    CONSTRAINT "CK_FileWatch_WatchName" CHECK (WatchName <> ''),
    CONSTRAINT "CK_FileWatch_Entity" CHECK (Entity <> ''),
    CONSTRAINT "CK_FileWatch_Pattern" CHECK (Pattern <> ''),
    CONSTRAINT "CK_FileWatch_MarkerSuffix" CHECK (MarkerSuffix <> ''),
    CONSTRAINT "CK_FileWatch_SettleSeconds" CHECK (SettleSeconds BETWEEN 0 AND 86400),
    CONSTRAINT "CK_FileWatch_Recursive" CHECK (Recursive IN (0, 1)),
    CONSTRAINT "CK_FileWatch_Enabled" CHECK (Enabled IN (0, 1)),
    CONSTRAINT "CK_FileWatch_DuplicateKey" CHECK (lower(DuplicateKey) IN ('name', 'name_size_time', 'content')),
    CONSTRAINT "CK_FileWatch_Folder" CHECK (Folder <> ''),
    CONSTRAINT "CK_FileWatch_UnreachableSince_Type" CHECK (UnreachableSince >= '0001-01-01'
        AND UnreachableSince < '10000-01-01'),
    CONSTRAINT "CK_FileWatch_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_FileWatch_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

-- What can be set while controllers run.
CREATE TABLE Setting (
    Setting_id BIGSERIAL NOT NULL,
    Name VARCHAR(200) NOT NULL,
    Value TEXT NOT NULL,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_Setting" PRIMARY KEY (Setting_id),
    CONSTRAINT "UQ_Setting_Name" UNIQUE (Name),
    CONSTRAINT "CK_Setting_Name" CHECK (Name <> ''),
    CONSTRAINT "CK_Setting_MaxConcurrent" CHECK (Name <> 'MaxConcurrent'
        OR regexp_replace(Value, '^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$', '', 'g') ~ '^[0-9]{1,18}$'),
    CONSTRAINT "CK_Setting_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_Setting_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

-- What a batch and its steps were at each version.
CREATE TABLE BatchVersion (
    BatchVersion_id BIGSERIAL NOT NULL,
    ProcessBatch_id BIGINT NOT NULL,
    ProcessBatchName VARCHAR(200) NOT NULL,
    DefVersion INTEGER NOT NULL,
    Fingerprint VARCHAR(64) NOT NULL,
    Content TEXT NOT NULL,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_BatchVersion" PRIMARY KEY (BatchVersion_id),
    CONSTRAINT "UQ_BatchVersion_ProcessBatch_id_DefVersion" UNIQUE (ProcessBatch_id, DefVersion),
    CONSTRAINT "CK_BatchVersion_DefVersion" CHECK (DefVersion >= 1),
    CONSTRAINT "CK_BatchVersion_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01')
);

-- Which definitions came from which file or module.
CREATE TABLE AppliedDefinition (
    AppliedDefinition_id BIGSERIAL NOT NULL,
    Kind VARCHAR(50) NOT NULL,
    Name VARCHAR(200) NOT NULL,
    Owner VARCHAR(200),
    Exported VARCHAR(64),
    Content TEXT NOT NULL,
    Actor VARCHAR(200) NOT NULL,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_AppliedDefinition" PRIMARY KEY (AppliedDefinition_id),
    CONSTRAINT "UQ_AppliedDefinition_Kind_Name" UNIQUE (Kind, Name),
    CONSTRAINT "CK_AppliedDefinition_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_AppliedDefinition_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

-- What people ask for by a row, and what was answered.
CREATE TABLE OperatorRequest (
    OperatorRequest_id BIGSERIAL NOT NULL,
    Action VARCHAR(50) NOT NULL,
    BatchControl_id BIGINT,
    ProcessBatchName VARCHAR(200),
    Arguments TEXT,
    Reason TEXT,
    Actor VARCHAR(200) DEFAULT SESSION_USER NOT NULL,
    Status VARCHAR(20) DEFAULT 'requested' NOT NULL,
    Answer TEXT,
    AnsweredBy VARCHAR(200),
    AnsweredTime TIMESTAMP(3) WITHOUT TIME ZONE,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_OperatorRequest" PRIMARY KEY (OperatorRequest_id),
    CONSTRAINT "CK_OperatorRequest_Action" CHECK (Action <> ''),
    CONSTRAINT "CK_OperatorRequest_Actor" CHECK (Actor <> ''),
    CONSTRAINT "CK_OperatorRequest_Status" CHECK (lower(Status) IN ('requested', 'done', 'refused')),
    CONSTRAINT "CK_OperatorRequest_Action_Word"
        CHECK (lower(regexp_replace(Action, '^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$', '', 'g')) IN ('rerun', 'skip', 'pause', 'resume', 'cancel', 'enable', 'disable', 'freeze', 'thaw', 'acknowledge', 'snooze', 'retry', 'reject', 'resend', 'drain', 'undrain', 'note', 'confirm', 'refuse', 'run', 'backfill', 'accept') OR NOT (Status = 'requested')),
    CONSTRAINT "CK_OperatorRequest_AnsweredTime_Type" CHECK (AnsweredTime >= '0001-01-01' AND AnsweredTime < '10000-01-01'),
    CONSTRAINT "CK_OperatorRequest_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_OperatorRequest_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

CREATE INDEX "IX_OperatorRequest_Open" ON OperatorRequest (OperatorRequest_id) WHERE Status = 'requested';

-- What may not start for now, and who said so.
CREATE TABLE BatchFreeze (
    BatchFreeze_id BIGSERIAL NOT NULL,
    ProcessBatchName VARCHAR(200),
    Tag VARCHAR(200),
    Reason TEXT NOT NULL,
    Actor VARCHAR(200) DEFAULT SESSION_USER NOT NULL,
    UntilTime TIMESTAMP(3) WITHOUT TIME ZONE,
    ThawedTime TIMESTAMP(3) WITHOUT TIME ZONE,
    ThawedBy VARCHAR(200),
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_BatchFreeze" PRIMARY KEY (BatchFreeze_id),
    CONSTRAINT "CK_BatchFreeze_Reason" CHECK (Reason <> ''),
    CONSTRAINT "CK_BatchFreeze_Actor" CHECK (Actor <> ''),
    CONSTRAINT "CK_BatchFreeze_Tag" CHECK (ProcessBatchName IS NULL OR Tag IS NULL),
    CONSTRAINT "CK_BatchFreeze_UntilTime_Type" CHECK (UntilTime >= '0001-01-01' AND UntilTime < '10000-01-01'),
    CONSTRAINT "CK_BatchFreeze_ThawedTime_Type" CHECK (ThawedTime >= '0001-01-01' AND ThawedTime < '10000-01-01'),
    CONSTRAINT "CK_BatchFreeze_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_BatchFreeze_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

CREATE INDEX "IX_BatchFreeze_Standing" ON BatchFreeze (BatchFreeze_id) WHERE ThawedTime IS NULL;

-- A host or a pool on which nothing new begins, until somebody ends that.
CREATE TABLE Drain (
    Drain_id BIGSERIAL NOT NULL,
    Host VARCHAR(200),
    PoolName VARCHAR(50),
    Reason TEXT NOT NULL,
    Actor VARCHAR(200) DEFAULT SESSION_USER NOT NULL,
    UndrainedTime TIMESTAMP(3) WITHOUT TIME ZONE,
    UndrainedBy VARCHAR(200),
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_Drain" PRIMARY KEY (Drain_id),
    CONSTRAINT "CK_Drain_Reason" CHECK (Reason <> ''),
    CONSTRAINT "CK_Drain_Actor" CHECK (Actor <> ''),
    CONSTRAINT "CK_Drain_Host" CHECK ((Host IS NULL AND PoolName IS NOT NULL) OR (Host IS NOT NULL AND PoolName IS NULL)),
    CONSTRAINT "CK_Drain_UndrainedTime_Type" CHECK (UndrainedTime >= '0001-01-01' AND UndrainedTime < '10000-01-01'),
    CONSTRAINT "CK_Drain_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_Drain_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

CREATE INDEX "IX_Drain_Standing" ON Drain (Drain_id) WHERE UndrainedTime IS NULL;

-- What people have to know of, until it is over.
CREATE TABLE Incident (
    Incident_id BIGSERIAL NOT NULL,
    Kind VARCHAR(20) NOT NULL,
    IncidentKey VARCHAR(200) NOT NULL,
    Severity VARCHAR(20) NOT NULL,
    Status VARCHAR(20) DEFAULT 'open' NOT NULL,
    Subject VARCHAR(200) NOT NULL,
    Message TEXT NOT NULL,
    Detail TEXT,
    NextStep TEXT,
    ProcessBatch_id BIGINT,
    ProcessControlSeq INTEGER,
    BatchControl_id BIGINT,
    Evidence BIGINT DEFAULT 0 NOT NULL,
    Occurrences INTEGER DEFAULT 1 NOT NULL,
    OpenedTime TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    LastSeen TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    AcknowledgedTime TIMESTAMP(3) WITHOUT TIME ZONE,
    AcknowledgedBy VARCHAR(200),
    SnoozedUntil TIMESTAMP(3) WITHOUT TIME ZONE,
    AlertsMade INTEGER DEFAULT 0 NOT NULL,
    NextAlertTime TIMESTAMP(3) WITHOUT TIME ZONE,
    EscalatedTime TIMESTAMP(3) WITHOUT TIME ZONE,
    ResolvedTime TIMESTAMP(3) WITHOUT TIME ZONE,
    RecoveryTime TIMESTAMP(3) WITHOUT TIME ZONE,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_Incident" PRIMARY KEY (Incident_id),
    CONSTRAINT "CK_Incident_IncidentKey" CHECK (IncidentKey <> ''),
    CONSTRAINT "CK_Incident_Occurrences" CHECK (Occurrences >= 1),
    CONSTRAINT "CK_Incident_AlertsMade" CHECK (AlertsMade >= 0),
    CONSTRAINT "CK_Incident_Kind"
        CHECK (lower(Kind) IN ('failed', 'lost', 'held', 'fails_often', 'step_failed', 'unusual_rows', 'unanswered', 'too_long', 'too_short', 'not_arrived', 'not_started', 'not_finished', 'at_risk', 'forecast_misses', 'dependency_deadline', 'calendar_ends', 'no_worker', 'channel_failed', 'unreadable', 'rejected', 'untaken', 'not_starting', 'no_steps', 'history_grows', 'pool_unserved', 'nobody_leads', 'populator_hangs', 'controller_trouble')),
    CONSTRAINT "CK_Incident_Severity" CHECK (lower(Severity) IN ('warning', 'error')),
    CONSTRAINT "CK_Incident_Status" CHECK (lower(Status) IN ('open', 'acknowledged', 'resolved')),
    CONSTRAINT "CK_Incident_OpenedTime_Type" CHECK (OpenedTime >= '0001-01-01' AND OpenedTime < '10000-01-01'),
    CONSTRAINT "CK_Incident_LastSeen_Type" CHECK (LastSeen >= '0001-01-01' AND LastSeen < '10000-01-01'),
    CONSTRAINT "CK_Incident_AcknowledgedTime_Type" CHECK (AcknowledgedTime >= '0001-01-01'
        AND AcknowledgedTime < '10000-01-01'),
    CONSTRAINT "CK_Incident_SnoozedUntil_Type" CHECK (SnoozedUntil >= '0001-01-01' AND SnoozedUntil < '10000-01-01'),
    CONSTRAINT "CK_Incident_NextAlertTime_Type" CHECK (NextAlertTime >= '0001-01-01' AND NextAlertTime < '10000-01-01'),
    CONSTRAINT "CK_Incident_EscalatedTime_Type" CHECK (EscalatedTime >= '0001-01-01' AND EscalatedTime < '10000-01-01'),
    CONSTRAINT "CK_Incident_ResolvedTime_Type" CHECK (ResolvedTime >= '0001-01-01' AND ResolvedTime < '10000-01-01'),
    CONSTRAINT "CK_Incident_RecoveryTime_Type" CHECK (RecoveryTime >= '0001-01-01' AND RecoveryTime < '10000-01-01'),
    CONSTRAINT "CK_Incident_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_Incident_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

CREATE INDEX "IX_Incident_Recovery" ON Incident (Incident_id) WHERE ResolvedTime IS NOT NULL AND RecoveryTime IS NULL;

CREATE UNIQUE INDEX "UX_Incident_Standing" ON Incident (IncidentKey) WHERE ResolvedTime IS NULL;

-- Who has changed what, when and why. Nothing is ever changed here.
CREATE TABLE AuditLog (
    AuditLog_id BIGSERIAL NOT NULL,
    Actor VARCHAR(200) NOT NULL,
    Host VARCHAR(200) NOT NULL,
    Action VARCHAR(50) NOT NULL,
    Target VARCHAR(200) NOT NULL,
    Reason TEXT,
    ValuesBefore TEXT,
    ValuesAfter TEXT,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_AuditLog" PRIMARY KEY (AuditLog_id),
    CONSTRAINT "CK_AuditLog_Actor" CHECK (Actor <> ''),
    CONSTRAINT "CK_AuditLog_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01')
);

CREATE INDEX "IX_AuditLog_Target" ON AuditLog (Target);

-- Hashes that chain the rows of AuditLog.
CREATE TABLE AuditSeal (
    AuditSeal_id BIGSERIAL NOT NULL,
    SealNo BIGINT NOT NULL,
    AuditLog_id BIGINT NOT NULL,
    PrevHash VARCHAR(64) NOT NULL,
    RecordHash VARCHAR(64) NOT NULL,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_AuditSeal" PRIMARY KEY (AuditSeal_id),
    CONSTRAINT "UQ_AuditSeal_SealNo" UNIQUE (SealNo),
    CONSTRAINT "UQ_AuditSeal_AuditLog_id" UNIQUE (AuditLog_id),
    CONSTRAINT "CK_AuditSeal_SealNo" CHECK (SealNo >= 1),
    CONSTRAINT "CK_AuditSeal_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01')
);

-- The offsets of the business time zone, for views that show local times.
CREATE TABLE ZoneOffset (
    ZoneOffset_id BIGSERIAL NOT NULL,
    ZoneName VARCHAR(200) NOT NULL,
    FromTime TIMESTAMP(3) WITHOUT TIME ZONE NOT NULL,
    UntilTime TIMESTAMP(3) WITHOUT TIME ZONE NOT NULL,
    OffsetSeconds INTEGER NOT NULL,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_ZoneOffset" PRIMARY KEY (ZoneOffset_id),
    CONSTRAINT "UQ_ZoneOffset_FromTime" UNIQUE (FromTime),
    CONSTRAINT "CK_ZoneOffset_ZoneName" CHECK (ZoneName <> ''),
    CONSTRAINT "CK_ZoneOffset_UntilTime" CHECK (FromTime < UntilTime),
    CONSTRAINT "CK_ZoneOffset_OffsetSeconds" CHECK (OffsetSeconds BETWEEN -86400 AND 86400),
    CONSTRAINT "CK_ZoneOffset_FromTime_Type" CHECK (FromTime >= '0001-01-01' AND FromTime < '10000-01-01'),
    CONSTRAINT "CK_ZoneOffset_UntilTime_Type" CHECK (UntilTime >= '0001-01-01' AND UntilTime < '10000-01-01'),
    CONSTRAINT "CK_ZoneOffset_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01')
);

CREATE INDEX "IX_ZoneOffset_Until" ON ZoneOffset (UntilTime, FromTime);

-- What the engine has done, event by event.
CREATE TABLE SchedulerLog (
    SchedulerLog_id BIGSERIAL NOT NULL,
    EventTime TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    EventType VARCHAR(20) NOT NULL,
    Source VARCHAR(200) NOT NULL,
    Entity VARCHAR(200),
    ProcessBatch_id BIGINT,
    FileProcess_id BIGINT,
    BatchControl_id BIGINT,
    Message TEXT,
    RowsQueued BIGINT,
    DurationMs BIGINT,
    CONSTRAINT "PK_SchedulerLog" PRIMARY KEY (SchedulerLog_id),
    CONSTRAINT "CK_SchedulerLog_Source" CHECK (Source <> ''),
    CONSTRAINT "CK_SchedulerLog_EventType" CHECK (lower(EventType) IN ('fired', 'skipped', 'completed', 'error', 'rescued')),
    CONSTRAINT "CK_SchedulerLog_EventTime_Type" CHECK (EventTime >= '0001-01-01' AND EventTime < '10000-01-01')
);

CREATE INDEX "IX_SchedulerLog_Fired" ON SchedulerLog (FileProcess_id) WHERE EventType = 'fired';

CREATE INDEX "IX_SchedulerLog_Entity" ON SchedulerLog (Entity, SchedulerLog_id);

-- What has arrived: a row here is work for every batch that takes its entity.
CREATE TABLE FileProcess (
    FileProcess_id BIGSERIAL NOT NULL,
    Entity VARCHAR(200) NOT NULL,
    FileName TEXT,
    Status VARCHAR(20) DEFAULT 'ready' NOT NULL,
    Data TEXT,
    CycleKey VARCHAR(200),
    Source VARCHAR(200),
    PopulatorTries INTEGER,
    Message TEXT,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_FileProcess" PRIMARY KEY (FileProcess_id),
    CONSTRAINT "CK_FileProcess_Status" CHECK (lower(Status) IN ('ready', 'paused', 'complete', 'rejected', 'duplicate')),
    CONSTRAINT "CK_FileProcess_Entity" CHECK (Entity <> ''),
    CONSTRAINT "CK_FileProcess_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_FileProcess_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

CREATE INDEX "IX_FileProcess_Awaiting" ON FileProcess (FileProcess_id) WHERE PopulatorTries IS NOT NULL;

CREATE INDEX "IX_FileProcess_Duplicate" ON FileProcess USING hash (Data) WHERE Data IS NOT NULL;

CREATE INDEX "IX_FileProcess_Unreadable" ON FileProcess (FileProcess_id)
    WHERE (lower(Status) IN ('ready', 'paused', 'complete', 'rejected', 'duplicate')) IS NOT TRUE;

CREATE INDEX "IX_FileProcess_Inbox" ON FileProcess (FileProcess_id) WHERE Status IN ('paused', 'rejected', 'duplicate');

CREATE INDEX "IX_FileProcess_Ready" ON FileProcess (FileProcess_id) WHERE Status = 'ready';

-- The controllers that run, or have run.
CREATE TABLE Controller (
    Controller_id BIGSERIAL NOT NULL,
    ControllerName VARCHAR(200) NOT NULL,
    Status VARCHAR(20) DEFAULT 'running' NOT NULL,
    Host VARCHAR(200) NOT NULL,
    Pid BIGINT,
    PidStart VARCHAR(50),
    BootId VARCHAR(50),
    Slots INTEGER DEFAULT 1 NOT NULL,
    HeartbeatSeq BIGINT DEFAULT 0 NOT NULL,
    Heartbeat TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    AppVersion VARCHAR(50),
    OrphanTimeoutSecs INTEGER,
    SchedulerZone VARCHAR(200),
    LeftOut TEXT,
    ProcessTypes TEXT,
    Populators TEXT,
    Jobs TEXT,
    Trouble TEXT,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_Controller" PRIMARY KEY (Controller_id),
    CONSTRAINT "UQ_Controller_ControllerName" UNIQUE (ControllerName),
    CONSTRAINT "CK_Controller_ControllerName" CHECK (ControllerName <> ''),
    CONSTRAINT "CK_Controller_Status" CHECK (lower(Status) IN ('running', 'stopped', 'lost')),
    CONSTRAINT "CK_Controller_Slots" CHECK (Slots >= 0),
    CONSTRAINT "CK_Controller_Heartbeat_Type" CHECK (Heartbeat >= '0001-01-01' AND Heartbeat < '10000-01-01'),
    CONSTRAINT "CK_Controller_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_Controller_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

-- Which controller makes instances and fires schedules: one row.
CREATE TABLE Leader (
    Leader_id BIGSERIAL NOT NULL,
    ControllerName VARCHAR(200),
    Fence BIGINT DEFAULT 0 NOT NULL,
    LeaseUntil TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT '1900-01-01 00:00:00.000' NOT NULL,
    Place TEXT,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_Leader" PRIMARY KEY (Leader_id),
    CONSTRAINT "CK_Leader_Leader_id" CHECK (Leader_id = 1),
    CONSTRAINT "CK_Leader_Fence" CHECK (Fence BETWEEN 0 AND 2000000000),
    CONSTRAINT "CK_Leader_LeaseUntil_Type" CHECK (LeaseUntil >= '0001-01-01' AND LeaseUntil < '10000-01-01'),
    CONSTRAINT "CK_Leader_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_Leader_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

-- Rows that controllers lock to do one thing at a time.
CREATE TABLE NamedLock (
    NamedLock_id BIGSERIAL NOT NULL,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_NamedLock" PRIMARY KEY (NamedLock_id),
    CONSTRAINT "CK_NamedLock_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_NamedLock_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

-- The steps of a batch, carried out in the order of ProcessControlSeq.
CREATE TABLE ProcessControl (
    ProcessControl_id BIGSERIAL NOT NULL,
    ProcessBatch_id BIGINT NOT NULL,
    ProcessControlSeq INTEGER NOT NULL,
    ProcessName VARCHAR(200) NOT NULL,
    ProcessType VARCHAR(50) NOT NULL,
    Pool VARCHAR(50),
    Needs VARCHAR(200),
    ExpectedDuration INTEGER,
    AlarmDuration INTEGER,
    MaxDuration INTEGER,
    OnLost VARCHAR(20) DEFAULT 'hold' NOT NULL,
    MaxLost INTEGER DEFAULT 3 NOT NULL,
    RetryCount INTEGER,
    RetryWaitSecs INTEGER,
    RetryBackoff INTEGER,
    RetryOn VARCHAR(200),
    OnStepFailure VARCHAR(20),
    RowsMin VARCHAR(20),
    RowsMax VARCHAR(20),
    OnRows VARCHAR(20),
    Data1 TEXT,
    Data2 TEXT,
    Data3 TEXT,
    Data4 TEXT,
    Data5 TEXT,
    Data6 TEXT,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_ProcessControl" PRIMARY KEY (ProcessControl_id),
    CONSTRAINT "UQ_ProcessControl_ProcessBatch_id_ProcessControlSeq" UNIQUE (ProcessBatch_id, ProcessControlSeq),
    CONSTRAINT "CK_ProcessControl_ProcessControlSeq" CHECK (ProcessControlSeq BETWEEN 1 AND 2000000000),
    CONSTRAINT "CK_ProcessControl_ProcessName" CHECK (ProcessName <> ''),
    CONSTRAINT "CK_ProcessControl_ExpectedDuration" CHECK (ExpectedDuration BETWEEN 1 AND 31536000),
    CONSTRAINT "CK_ProcessControl_AlarmDuration" CHECK (AlarmDuration BETWEEN 1 AND 31536000),
    CONSTRAINT "CK_ProcessControl_MaxDuration" CHECK (MaxDuration BETWEEN 1 AND 31536000),
    CONSTRAINT "CK_ProcessControl_OnLost" CHECK (lower(OnLost) IN ('hold', 'rerun', 'verify')),
    CONSTRAINT "CK_ProcessControl_ProcessType" CHECK (ProcessType COLLATE "C" ~ '^ *[!-~][ -~]*$'),
    CONSTRAINT "CK_ProcessControl_MaxLost" CHECK (MaxLost BETWEEN 0 AND 1000),
    CONSTRAINT "CK_ProcessControl_Pool" CHECK (Pool <> ''),
    CONSTRAINT "CK_ProcessControl_Needs" CHECK (Needs <> ''),
    CONSTRAINT "CK_ProcessControl_RetryCount" CHECK (RetryCount BETWEEN 0 AND 1000),
    CONSTRAINT "CK_ProcessControl_RetryWaitSecs" CHECK (RetryWaitSecs BETWEEN 0 AND 31536000),
    CONSTRAINT "CK_ProcessControl_RetryBackoff" CHECK (RetryBackoff BETWEEN 1 AND 10),
    CONSTRAINT "CK_ProcessControl_RetryOn" CHECK (RetryOn <> ''),
    CONSTRAINT "CK_ProcessControl_OnStepFailure" CHECK (lower(OnStepFailure) IN ('stop', 'continue')),
    CONSTRAINT "CK_ProcessControl_RowsMin" CHECK (RowsMin <> ''),
    CONSTRAINT "CK_ProcessControl_RowsMax" CHECK (RowsMax <> ''),
    CONSTRAINT "CK_ProcessControl_OnRows" CHECK (lower(OnRows) IN ('fail', 'warn')),
    CONSTRAINT "FK_ProcessControl_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "CK_ProcessControl_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_ProcessControl_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

-- How many units of a resource an instance of a batch holds while it is claimed.
CREATE TABLE BatchResource (
    BatchResource_id BIGSERIAL NOT NULL,
    ProcessBatch_id BIGINT NOT NULL,
    Resource_id BIGINT NOT NULL,
    Units INTEGER DEFAULT 1 NOT NULL,
    Exclusive SMALLINT DEFAULT 0 NOT NULL,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_BatchResource" PRIMARY KEY (BatchResource_id),
    CONSTRAINT "UQ_BatchResource_ProcessBatch_id_Resource_id" UNIQUE (ProcessBatch_id, Resource_id),
    CONSTRAINT "CK_BatchResource_Units" CHECK (Units BETWEEN 1 AND 1000000),
    CONSTRAINT "CK_BatchResource_Exclusive" CHECK (Exclusive IN (0, 1)),
    CONSTRAINT "FK_BatchResource_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "FK_BatchResource_Resource_id" FOREIGN KEY(Resource_id) REFERENCES Resource (Resource_id),
    CONSTRAINT "CK_BatchResource_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_BatchResource_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

-- Which batches have to be complete before a batch is started.
CREATE TABLE BatchDependency (
    BatchDependency_id BIGSERIAL NOT NULL,
    ProcessBatch_id BIGINT NOT NULL,
    DependsOnBatch_id BIGINT NOT NULL,
    DeadlineMins INTEGER DEFAULT 1440 NOT NULL,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_BatchDependency" PRIMARY KEY (BatchDependency_id),
    CONSTRAINT "UQ_BatchDependency_ProcessBatch_id_DependsOnBatch_id" UNIQUE (ProcessBatch_id, DependsOnBatch_id),
    CONSTRAINT "CK_BatchDependency_DeadlineMins" CHECK (DeadlineMins BETWEEN 1 AND 525600),
    CONSTRAINT "CK_BatchDependency_DependsOnBatch_id" CHECK (DependsOnBatch_id <> ProcessBatch_id),
    CONSTRAINT "FK_BatchDependency_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "FK_BatchDependency_DependsOnBatch_id" FOREIGN KEY(DependsOnBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "CK_BatchDependency_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_BatchDependency_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

-- A day on which a calendar differs from its weekdays.
CREATE TABLE CalendarDay (
    CalendarDay_id BIGSERIAL NOT NULL,
    Calendar_id BIGINT NOT NULL,
    CalendarDate VARCHAR(10) NOT NULL,
    IsBusinessDay SMALLINT DEFAULT 0 NOT NULL,
    Description VARCHAR(200),
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_CalendarDay" PRIMARY KEY (CalendarDay_id),
    CONSTRAINT "UQ_CalendarDay_Calendar_id_CalendarDate" UNIQUE (Calendar_id, CalendarDate),
    CONSTRAINT "CK_CalendarDay_CalendarDate" CHECK (CalendarDate LIKE '____-__-__'),
    CONSTRAINT "CK_CalendarDay_IsBusinessDay" CHECK (IsBusinessDay IN (0, 1)),
    CONSTRAINT "CK_CalendarDay_CalendarDate_Form"
        CHECK (trim(CalendarDate) ~ '^[0-9][0-9][0-9][0-9]-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$'),
    CONSTRAINT "FK_CalendarDay_Calendar_id" FOREIGN KEY(Calendar_id) REFERENCES Calendar (Calendar_id),
    CONSTRAINT "CK_CalendarDay_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_CalendarDay_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

-- Messages about incidents, one for each channel.
CREATE TABLE AlertDelivery (
    AlertDelivery_id BIGSERIAL NOT NULL,
    Incident_id BIGINT NOT NULL,
    Channel VARCHAR(200) NOT NULL,
    Kind VARCHAR(20) NOT NULL,
    Number INTEGER NOT NULL,
    Status VARCHAR(20) DEFAULT 'waiting' NOT NULL,
    Title VARCHAR(200) NOT NULL,
    Body TEXT NOT NULL,
    Attempts INTEGER DEFAULT 0 NOT NULL,
    NextAttemptTime TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    ClaimedBy VARCHAR(200),
    ClaimedTime TIMESTAMP(3) WITHOUT TIME ZONE,
    SentTime TIMESTAMP(3) WITHOUT TIME ZONE,
    Message TEXT,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_AlertDelivery" PRIMARY KEY (AlertDelivery_id),
    CONSTRAINT "UQ_AlertDelivery_Incident_id_Channel_Kind_Number" UNIQUE (Incident_id, Channel, Kind, Number),
    CONSTRAINT "CK_AlertDelivery_Channel" CHECK (Channel <> ''),
    CONSTRAINT "CK_AlertDelivery_Number" CHECK (Number >= 0),
    CONSTRAINT "CK_AlertDelivery_Attempts" CHECK (Attempts >= 0),
    CONSTRAINT "CK_AlertDelivery_Kind" CHECK (lower(Kind) IN ('alert', 'repeat', 'escalation', 'recovery', 'digest')),
    CONSTRAINT "CK_AlertDelivery_Status" CHECK (lower(Status) IN ('waiting', 'sent', 'failed', 'withdrawn')),
    CONSTRAINT "FK_AlertDelivery_Incident_id" FOREIGN KEY(Incident_id) REFERENCES Incident (Incident_id),
    CONSTRAINT "CK_AlertDelivery_NextAttemptTime_Type" CHECK (NextAttemptTime >= '0001-01-01'
        AND NextAttemptTime < '10000-01-01'),
    CONSTRAINT "CK_AlertDelivery_ClaimedTime_Type" CHECK (ClaimedTime >= '0001-01-01' AND ClaimedTime < '10000-01-01'),
    CONSTRAINT "CK_AlertDelivery_SentTime_Type" CHECK (SentTime >= '0001-01-01' AND SentTime < '10000-01-01'),
    CONSTRAINT "CK_AlertDelivery_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_AlertDelivery_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

CREATE INDEX "IX_AlertDelivery_Waiting" ON AlertDelivery (AlertDelivery_id) WHERE Status = 'waiting';

-- The files that a watch has seen, so that none is taken twice.
CREATE TABLE FileWatchSeen (
    FileWatchSeen_id BIGSERIAL NOT NULL,
    FileWatch_id BIGINT NOT NULL,
    PathKey VARCHAR(64) NOT NULL,
    FilePath TEXT NOT NULL,
    FileSize BIGINT NOT NULL,
    ModifiedNs BIGINT NOT NULL,
    FileNumber VARCHAR(50),
    FileProcess_id BIGINT,
    MissingSince TIMESTAMP(3) WITHOUT TIME ZONE,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_FileWatchSeen" PRIMARY KEY (FileWatchSeen_id),
    CONSTRAINT "UQ_FileWatchSeen_FileWatch_id_PathKey" UNIQUE (FileWatch_id, PathKey),
    CONSTRAINT "FK_FileWatchSeen_FileWatch_id" FOREIGN KEY(FileWatch_id) REFERENCES FileWatch (FileWatch_id),
    CONSTRAINT "FK_FileWatchSeen_FileProcess_id" FOREIGN KEY(FileProcess_id) REFERENCES FileProcess (FileProcess_id),
    CONSTRAINT "CK_FileWatchSeen_MissingSince_Type" CHECK (MissingSince >= '0001-01-01' AND MissingSince < '10000-01-01'),
    CONSTRAINT "CK_FileWatchSeen_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_FileWatchSeen_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

CREATE INDEX "IX_FileWatchSeen_Intake" ON FileWatchSeen (FileProcess_id);

-- Past due times that a person has asked for.
CREATE TABLE ScheduleBackfill (
    ScheduleBackfill_id BIGSERIAL NOT NULL,
    Schedule_id BIGINT NOT NULL,
    Status VARCHAR(20) DEFAULT 'running' NOT NULL,
    FromTime TIMESTAMP(3) WITHOUT TIME ZONE NOT NULL,
    UntilTime TIMESTAMP(3) WITHOUT TIME ZONE NOT NULL,
    MostOpen INTEGER DEFAULT 1 NOT NULL,
    Missed SMALLINT DEFAULT 0 NOT NULL,
    DoneUntil TIMESTAMP(3) WITHOUT TIME ZONE,
    Fired BIGINT DEFAULT 0 NOT NULL,
    Actor VARCHAR(200) NOT NULL,
    Reason TEXT,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_ScheduleBackfill" PRIMARY KEY (ScheduleBackfill_id),
    CONSTRAINT "CK_ScheduleBackfill_UntilTime" CHECK (FromTime <= UntilTime),
    CONSTRAINT "CK_ScheduleBackfill_MostOpen" CHECK (MostOpen BETWEEN 1 AND 1000),
    CONSTRAINT "CK_ScheduleBackfill_Missed" CHECK (Missed IN (0, 1)),
    CONSTRAINT "CK_ScheduleBackfill_Status" CHECK (lower(Status) IN ('running', 'complete', 'cancelled')),
    CONSTRAINT "FK_ScheduleBackfill_Schedule_id" FOREIGN KEY(Schedule_id) REFERENCES Schedule (Schedule_id),
    CONSTRAINT "CK_ScheduleBackfill_FromTime_Type" CHECK (FromTime >= '0001-01-01' AND FromTime < '10000-01-01'),
    CONSTRAINT "CK_ScheduleBackfill_UntilTime_Type" CHECK (UntilTime >= '0001-01-01' AND UntilTime < '10000-01-01'),
    CONSTRAINT "CK_ScheduleBackfill_DoneUntil_Type" CHECK (DoneUntil >= '0001-01-01' AND DoneUntil < '10000-01-01'),
    CONSTRAINT "CK_ScheduleBackfill_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_ScheduleBackfill_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

CREATE INDEX "IX_ScheduleBackfill_Running" ON ScheduleBackfill (ScheduleBackfill_id) WHERE Status = 'running';

-- An instance: one batch at work on one row of FileProcess, and how far it has come.
CREATE TABLE BatchControl (
    BatchControl_id BIGSERIAL NOT NULL,
    ProcessBatch_id BIGINT NOT NULL,
    FileProcess_id BIGINT NOT NULL,
    PrevProcessControlSeq INTEGER DEFAULT 0 NOT NULL,
    DefVersion INTEGER,
    Status VARCHAR(20) DEFAULT 'ready' NOT NULL,
    RetryCount INTEGER DEFAULT 0 NOT NULL,
    NextRunTime TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT '1900-01-01 00:00:00.000' NOT NULL,
    CycleKey VARCHAR(200),
    Data1 TEXT,
    Data2 TEXT,
    Data3 TEXT,
    Data4 TEXT,
    Data5 TEXT,
    Data6 TEXT,
    ClaimToken BIGINT DEFAULT 0 NOT NULL,
    ClaimedBy VARCHAR(200),
    NextPool VARCHAR(50),
    BegunTime TIMESTAMP(3) WITHOUT TIME ZONE,
    LostCount INTEGER DEFAULT 0 NOT NULL,
    StepsFailed INTEGER,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_BatchControl" PRIMARY KEY (BatchControl_id),
    CONSTRAINT "UQ_BatchControl_FileProcess_id_ProcessBatch_id" UNIQUE (FileProcess_id, ProcessBatch_id),
    CONSTRAINT "CK_BatchControl_Status"
        CHECK (lower(Status) IN ('ready', 'running', 'retry', 'failed', 'held', 'pausing', 'paused', 'cancelling', 'cancelled', 'complete')),
    CONSTRAINT "CK_BatchControl_PrevProcessControlSeq" CHECK (PrevProcessControlSeq BETWEEN 0 AND 2000000000),
    CONSTRAINT "CK_BatchControl_RetryCount" CHECK (RetryCount >= 0),
    CONSTRAINT "CK_BatchControl_LostCount" CHECK (LostCount >= 0),
    CONSTRAINT "CK_BatchControl_StepsFailed" CHECK (StepsFailed >= 0),
    CONSTRAINT "CK_BatchControl_NextRunTime" CHECK (NextRunTime >= '0001-01-01' AND NextRunTime < '10000-01-01'),
    CONSTRAINT "FK_BatchControl_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "FK_BatchControl_FileProcess_id" FOREIGN KEY(FileProcess_id) REFERENCES FileProcess (FileProcess_id),
    CONSTRAINT "CK_BatchControl_BegunTime_Type" CHECK (BegunTime >= '0001-01-01' AND BegunTime < '10000-01-01'),
    CONSTRAINT "CK_BatchControl_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_BatchControl_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

CREATE INDEX "IX_BatchControl_Deferred" ON BatchControl (ProcessBatch_id, NextRunTime) WHERE Status IN ('ready', 'retry')
    AND NextRunTime > '1900-01-01 00:00:00.000';

CREATE INDEX "IX_BatchControl_Paused" ON BatchControl (ProcessBatch_id, BatchControl_id) WHERE Status IN ('paused');

CREATE INDEX "IX_BatchControl_Standing" ON BatchControl (BatchControl_id) WHERE Status IN ('retry', 'failed', 'held');

CREATE INDEX "IX_BatchControl_Over" ON BatchControl (ProcessBatch_id, Status, BatchControl_id)
    WHERE Status IN ('complete', 'cancelled');

CREATE INDEX "IX_BatchControl_Unreadable" ON BatchControl (BatchControl_id)
    WHERE (lower(Status) IN ('ready', 'running', 'retry', 'failed', 'held', 'pausing', 'paused', 'cancelling', 'cancelled', 'complete')) IS NOT TRUE;

CREATE INDEX "IX_BatchControl_Claimed" ON BatchControl (ProcessBatch_id) WHERE Status IN ('running', 'pausing', 'cancelling');

CREATE INDEX "IX_BatchControl_Cycle" ON BatchControl (ProcessBatch_id, CycleKey, BatchControl_id);

CREATE INDEX "IX_BatchControl_Due" ON BatchControl (NextRunTime) WHERE Status IN ('ready', 'retry')
    AND NextRunTime > '1900-01-01 00:00:00.000';

CREATE INDEX "IX_BatchControl_Begun" ON BatchControl (ProcessBatch_id, BegunTime) WHERE BegunTime IS NOT NULL;

CREATE INDEX "IX_BatchControl_InLine" ON BatchControl (ProcessBatch_id, BatchControl_id)
    WHERE Status IN ('ready', 'retry', 'failed', 'held');

CREATE INDEX "IX_BatchControl_AtOnce" ON BatchControl (ProcessBatch_id, BatchControl_id) WHERE Status IN ('ready', 'retry')
    AND NextRunTime <= '1900-01-01 00:00:00.000';

-- How long attempts took that have been purged.
CREATE TABLE DurationHistory (
    DurationHistory_id BIGSERIAL NOT NULL,
    ProcessBatch_id BIGINT NOT NULL,
    ProcessControlSeq INTEGER NOT NULL,
    Day VARCHAR(10) NOT NULL,
    UpToMs BIGINT NOT NULL,
    Runs BIGINT NOT NULL,
    TotalMs BIGINT NOT NULL,
    MinMs BIGINT NOT NULL,
    MaxMs BIGINT NOT NULL,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_DurationHistory" PRIMARY KEY (DurationHistory_id),
    CONSTRAINT "UQ_DurationHistory_ProcessBatch_id_ProcessControlSeq_Day_UpToMs" UNIQUE (ProcessBatch_id, ProcessControlSeq, Day, UpToMs),
    CONSTRAINT "CK_DurationHistory_Runs" CHECK (Runs >= 1),
    CONSTRAINT "CK_DurationHistory_MinMs" CHECK (MinMs BETWEEN 0 AND MaxMs),
    CONSTRAINT "FK_DurationHistory_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "CK_DurationHistory_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_DurationHistory_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

-- When batches will probably be ready, as it was said last, and at fixed hours with what came of it.
CREATE TABLE KeptForecast (
    KeptForecast_id BIGSERIAL NOT NULL,
    ProcessBatch_id BIGINT NOT NULL,
    CycleKey VARCHAR(200),
    MadeOn TIMESTAMP(3) WITHOUT TIME ZONE NOT NULL,
    KeptFor TIMESTAMP(3) WITHOUT TIME ZONE,
    P50 TIMESTAMP(3) WITHOUT TIME ZONE,
    P90 TIMESTAMP(3) WITHOUT TIME ZONE,
    FinishBy TIMESTAMP(3) WITHOUT TIME ZONE,
    Chance INTEGER,
    NeedsPerson INTEGER NOT NULL,
    Nights INTEGER NOT NULL,
    Decides TEXT,
    Helps TEXT,
    ReadyOn TIMESTAMP(3) WITHOUT TIME ZONE,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_KeptForecast" PRIMARY KEY (KeptForecast_id),
    CONSTRAINT "CK_KeptForecast_Chance" CHECK (Chance BETWEEN 0 AND 100),
    CONSTRAINT "CK_KeptForecast_NeedsPerson" CHECK (NeedsPerson BETWEEN 0 AND 100),
    CONSTRAINT "CK_KeptForecast_Nights" CHECK (Nights >= 0),
    CONSTRAINT "FK_KeptForecast_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "CK_KeptForecast_MadeOn_Type" CHECK (MadeOn >= '0001-01-01' AND MadeOn < '10000-01-01'),
    CONSTRAINT "CK_KeptForecast_KeptFor_Type" CHECK (KeptFor >= '0001-01-01' AND KeptFor < '10000-01-01'),
    CONSTRAINT "CK_KeptForecast_P50_Type" CHECK (P50 >= '0001-01-01' AND P50 < '10000-01-01'),
    CONSTRAINT "CK_KeptForecast_P90_Type" CHECK (P90 >= '0001-01-01' AND P90 < '10000-01-01'),
    CONSTRAINT "CK_KeptForecast_FinishBy_Type" CHECK (FinishBy >= '0001-01-01' AND FinishBy < '10000-01-01'),
    CONSTRAINT "CK_KeptForecast_ReadyOn_Type" CHECK (ReadyOn >= '0001-01-01' AND ReadyOn < '10000-01-01'),
    CONSTRAINT "CK_KeptForecast_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_KeptForecast_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

CREATE UNIQUE INDEX "UX_KeptForecast_Newest" ON KeptForecast (ProcessBatch_id) WHERE KeptFor IS NULL;

CREATE UNIQUE INDEX "UX_KeptForecast_Kept" ON KeptForecast (ProcessBatch_id, KeptFor) WHERE KeptFor IS NOT NULL;

CREATE INDEX "IX_KeptForecast_Awaited" ON KeptForecast (KeptForecast_id) WHERE ReadyOn IS NULL AND KeptFor IS NOT NULL;

-- Which pools a controller serves; one without rows serves the default pool.
CREATE TABLE ControllerPool (
    ControllerPool_id BIGSERIAL NOT NULL,
    Controller_id BIGINT NOT NULL,
    PoolName VARCHAR(50) NOT NULL,
    Agents TEXT,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_ControllerPool" PRIMARY KEY (ControllerPool_id),
    CONSTRAINT "UQ_ControllerPool_Controller_id_PoolName" UNIQUE (Controller_id, PoolName),
    CONSTRAINT "CK_ControllerPool_PoolName" CHECK (PoolName <> ''),
    CONSTRAINT "FK_ControllerPool_Controller_id" FOREIGN KEY(Controller_id) REFERENCES Controller (Controller_id),
    CONSTRAINT "CK_ControllerPool_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01')
);

-- A question that a step asks people, and how it was answered.
CREATE TABLE Confirmation (
    Confirmation_id BIGSERIAL NOT NULL,
    BatchControl_id BIGINT NOT NULL,
    ProcessControlSeq INTEGER NOT NULL,
    Question TEXT NOT NULL,
    Who VARCHAR(200),
    Evidence TEXT,
    DueTime TIMESTAMP(3) WITHOUT TIME ZONE,
    OnTimeout VARCHAR(20),
    Answer VARCHAR(20),
    AnsweredTime TIMESTAMP(3) WITHOUT TIME ZONE,
    AnsweredBy VARCHAR(200),
    Reason TEXT,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_Confirmation" PRIMARY KEY (Confirmation_id),
    CONSTRAINT "CK_Confirmation_OnTimeout" CHECK (lower(OnTimeout) IN ('fail', 'go_on', 'incident')),
    CONSTRAINT "CK_Confirmation_Answer" CHECK (lower(Answer) IN ('confirmed', 'refused', 'expired', 'withdrawn')),
    CONSTRAINT "FK_Confirmation_BatchControl_id" FOREIGN KEY(BatchControl_id) REFERENCES BatchControl (BatchControl_id),
    CONSTRAINT "CK_Confirmation_DueTime_Type" CHECK (DueTime >= '0001-01-01' AND DueTime < '10000-01-01'),
    CONSTRAINT "CK_Confirmation_AnsweredTime_Type" CHECK (AnsweredTime >= '0001-01-01' AND AnsweredTime < '10000-01-01'),
    CONSTRAINT "CK_Confirmation_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_Confirmation_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

CREATE UNIQUE INDEX "UX_Confirmation_Open" ON Confirmation (BatchControl_id) WHERE Answer IS NULL;

CREATE INDEX "IX_Confirmation_Instance" ON Confirmation (BatchControl_id);

-- What people write about an instance, an incident or a batch.
CREATE TABLE Note (
    Note_id BIGSERIAL NOT NULL,
    BatchControl_id BIGINT,
    Incident_id BIGINT,
    ProcessBatch_id BIGINT,
    Text TEXT NOT NULL,
    Actor VARCHAR(200) DEFAULT SESSION_USER NOT NULL,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_Note" PRIMARY KEY (Note_id),
    CONSTRAINT "CK_Note_Text" CHECK (Text <> ''),
    CONSTRAINT "CK_Note_Actor" CHECK (Actor <> ''),
    CONSTRAINT "CK_Note_BatchControl_id"
        CHECK (CASE WHEN BatchControl_id IS NULL THEN 0 ELSE 1 END + CASE WHEN Incident_id IS NULL THEN 0 ELSE 1 END + CASE WHEN ProcessBatch_id IS NULL THEN 0 ELSE 1 END = 1),
    CONSTRAINT "FK_Note_BatchControl_id" FOREIGN KEY(BatchControl_id) REFERENCES BatchControl (BatchControl_id),
    CONSTRAINT "FK_Note_Incident_id" FOREIGN KEY(Incident_id) REFERENCES Incident (Incident_id),
    CONSTRAINT "FK_Note_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "CK_Note_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01')
);

CREATE INDEX "IX_Note_Instance" ON Note (BatchControl_id);

CREATE INDEX "IX_Note_Batch" ON Note (ProcessBatch_id);

CREATE INDEX "IX_Note_Incident" ON Note (Incident_id);

-- Who may come into the console, as what, and how it is known that it is that person.
CREATE TABLE WebUser (
    WebUser_id BIGSERIAL NOT NULL,
    UserName VARCHAR(200) NOT NULL,
    Role VARCHAR(20) NOT NULL,
    Tag VARCHAR(200),
    PasswordHash VARCHAR(200),
    CodeHash VARCHAR(200),
    CodeUntil TIMESTAMP(3) WITHOUT TIME ZONE,
    Enabled SMALLINT DEFAULT 1 NOT NULL,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_WebUser" PRIMARY KEY (WebUser_id),
    CONSTRAINT "UQ_WebUser_UserName" UNIQUE (UserName),
    CONSTRAINT "CK_WebUser_UserName" CHECK (UserName <> ''),
    CONSTRAINT "CK_WebUser_Role" CHECK (lower(Role) IN ('reader', 'intake', 'operator', 'author', 'admin')),
    CONSTRAINT "CK_WebUser_Enabled" CHECK (Enabled IN (0, 1)),
    CONSTRAINT "CK_WebUser_CodeUntil_Type" CHECK (CodeUntil >= '0001-01-01' AND CodeUntil < '10000-01-01'),
    CONSTRAINT "CK_WebUser_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_WebUser_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

-- A browser that the console has let in.
CREATE TABLE WebSession (
    WebSession_id BIGSERIAL NOT NULL,
    WebUser_id BIGINT NOT NULL,
    TokenHash VARCHAR(200) NOT NULL,
    Address VARCHAR(200),
    ByIssuer SMALLINT DEFAULT 0 NOT NULL,
    LastUsed TIMESTAMP(3) WITHOUT TIME ZONE NOT NULL,
    ExpiresTime TIMESTAMP(3) WITHOUT TIME ZONE NOT NULL,
    EndedTime TIMESTAMP(3) WITHOUT TIME ZONE,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_WebSession" PRIMARY KEY (WebSession_id),
    CONSTRAINT "UQ_WebSession_TokenHash" UNIQUE (TokenHash),
    CONSTRAINT "CK_WebSession_ByIssuer" CHECK (ByIssuer IN (0, 1)),
    CONSTRAINT "CK_WebSession_LastUsed_Type" CHECK (LastUsed >= '0001-01-01' AND LastUsed < '10000-01-01'),
    CONSTRAINT "CK_WebSession_ExpiresTime_Type" CHECK (ExpiresTime >= '0001-01-01' AND ExpiresTime < '10000-01-01'),
    CONSTRAINT "CK_WebSession_EndedTime_Type" CHECK (EndedTime >= '0001-01-01' AND EndedTime < '10000-01-01'),
    CONSTRAINT "CK_WebSession_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01')
);

CREATE INDEX "IX_WebSession_User" ON WebSession (WebUser_id);

-- What a program shows that asks the console.
CREATE TABLE ApiToken (
    ApiToken_id BIGSERIAL NOT NULL,
    TokenName VARCHAR(200) NOT NULL,
    TokenHash VARCHAR(200) NOT NULL,
    Role VARCHAR(20) NOT NULL,
    Tag VARCHAR(200),
    Pools VARCHAR(200),
    ExpiresTime TIMESTAMP(3) WITHOUT TIME ZONE,
    LastUsed TIMESTAMP(3) WITHOUT TIME ZONE,
    RevokedTime TIMESTAMP(3) WITHOUT TIME ZONE,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_ApiToken" PRIMARY KEY (ApiToken_id),
    CONSTRAINT "UQ_ApiToken_TokenName" UNIQUE (TokenName),
    CONSTRAINT "UQ_ApiToken_TokenHash" UNIQUE (TokenHash),
    CONSTRAINT "CK_ApiToken_TokenName" CHECK (TokenName <> ''),
    CONSTRAINT "CK_ApiToken_Role" CHECK (lower(Role) IN ('reader', 'intake', 'operator', 'author', 'admin', 'agent', 'controller')),
    CONSTRAINT "CK_ApiToken_ExpiresTime_Type" CHECK (ExpiresTime >= '0001-01-01' AND ExpiresTime < '10000-01-01'),
    CONSTRAINT "CK_ApiToken_LastUsed_Type" CHECK (LastUsed >= '0001-01-01' AND LastUsed < '10000-01-01'),
    CONSTRAINT "CK_ApiToken_RevokedTime_Type" CHECK (RevokedTime >= '0001-01-01' AND RevokedTime < '10000-01-01'),
    CONSTRAINT "CK_ApiToken_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01')
);

-- Until when no password of a user, or from an address, is looked at, as the last ones were wrong.
CREATE TABLE LoginBackOff (
    LoginBackOff_id BIGSERIAL NOT NULL,
    Subject VARCHAR(200) NOT NULL,
    Failures INTEGER NOT NULL,
    ShutUntil TIMESTAMP(3) WITHOUT TIME ZONE NOT NULL,
    CONSTRAINT "PK_LoginBackOff" PRIMARY KEY (LoginBackOff_id),
    CONSTRAINT "UQ_LoginBackOff_Subject" UNIQUE (Subject),
    CONSTRAINT "CK_LoginBackOff_ShutUntil_Type" CHECK (ShutUntil >= '0001-01-01' AND ShutUntil < '10000-01-01')
);

-- What was asked of the console under a key, so that asking again acts once.
CREATE TABLE WebRequest (
    WebRequest_id BIGSERIAL NOT NULL,
    Actor VARCHAR(200) NOT NULL,
    RequestKey VARCHAR(200) NOT NULL,
    BodyHash VARCHAR(200) NOT NULL,
    HttpStatus INTEGER,
    Answer TEXT,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_WebRequest" PRIMARY KEY (WebRequest_id),
    CONSTRAINT "UQ_WebRequest_Actor_RequestKey" UNIQUE (Actor, RequestKey),
    CONSTRAINT "CK_WebRequest_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01')
);

-- What was decided about each due time of a schedule.
CREATE TABLE ScheduleFire (
    ScheduleFire_id BIGSERIAL NOT NULL,
    Schedule_id BIGINT NOT NULL,
    FireKey VARCHAR(100) NOT NULL,
    Outcome VARCHAR(20) NOT NULL,
    DueTime TIMESTAMP(3) WITHOUT TIME ZONE NOT NULL,
    DueUntil TIMESTAMP(3) WITHOUT TIME ZONE,
    Instants INTEGER DEFAULT 1 NOT NULL,
    Reason TEXT,
    FileProcess_id BIGINT,
    ScheduleBackfill_id BIGINT,
    ZoneRules VARCHAR(50),
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_ScheduleFire" PRIMARY KEY (ScheduleFire_id),
    CONSTRAINT "UQ_ScheduleFire_Schedule_id_FireKey" UNIQUE (Schedule_id, FireKey),
    CONSTRAINT "CK_ScheduleFire_FireKey" CHECK (FireKey <> ''),
    CONSTRAINT "CK_ScheduleFire_Instants" CHECK (Instants >= 1),
    CONSTRAINT "CK_ScheduleFire_FileProcess_id" CHECK ((Outcome = 'fired' AND FileProcess_id IS NOT NULL)
        OR (Outcome <> 'fired' AND FileProcess_id IS NULL)),
    CONSTRAINT "CK_ScheduleFire_Outcome" CHECK (lower(Outcome) IN ('fired', 'skipped', 'purged')),
    CONSTRAINT "FK_ScheduleFire_Schedule_id" FOREIGN KEY(Schedule_id) REFERENCES Schedule (Schedule_id),
    CONSTRAINT "FK_ScheduleFire_FileProcess_id" FOREIGN KEY(FileProcess_id) REFERENCES FileProcess (FileProcess_id),
    CONSTRAINT "FK_ScheduleFire_ScheduleBackfill_id" FOREIGN KEY(ScheduleBackfill_id) REFERENCES ScheduleBackfill (ScheduleBackfill_id),
    CONSTRAINT "CK_ScheduleFire_DueTime_Type" CHECK (DueTime >= '0001-01-01' AND DueTime < '10000-01-01'),
    CONSTRAINT "CK_ScheduleFire_DueUntil_Type" CHECK (DueUntil >= '0001-01-01' AND DueUntil < '10000-01-01'),
    CONSTRAINT "CK_ScheduleFire_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01')
);

CREATE INDEX "IX_ScheduleFire_Due" ON ScheduleFire (Schedule_id, DueTime);

CREATE INDEX "IX_ScheduleFire_FileProcess" ON ScheduleFire (FileProcess_id);

-- Each attempt at a step, with the command that can be pasted and run by hand.
CREATE TABLE BatchProcessHistory (
    BatchProcessHistory_id BIGSERIAL NOT NULL,
    BatchControl_id BIGINT NOT NULL,
    ProcessBatch_id BIGINT NOT NULL,
    ProcessControlSeq INTEGER NOT NULL,
    ProcessName VARCHAR(200) NOT NULL,
    ProcessType VARCHAR(50) NOT NULL,
    DefVersion INTEGER,
    AttemptNo INTEGER DEFAULT 1 NOT NULL,
    ClaimToken BIGINT DEFAULT 0 NOT NULL,
    ClaimedBy VARCHAR(200),
    Cause VARCHAR(20) DEFAULT 'auto' NOT NULL,
    Status VARCHAR(20) DEFAULT 'running' NOT NULL,
    CommandText TEXT NOT NULL,
    CommandSpec TEXT DEFAULT '{}' NOT NULL,
    StartTime TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    EndTime TIMESTAMP(3) WITHOUT TIME ZONE,
    ReturnCode BIGINT,
    ErrorCode VARCHAR(50),
    ErrorLine INTEGER,
    Message TEXT,
    Output TEXT,
    RowsAffected BIGINT,
    Host VARCHAR(200),
    Pid BIGINT,
    PidStart VARCHAR(50),
    BootId VARCHAR(50),
    DbSession VARCHAR(200),
    Spawned TIMESTAMP(3) WITHOUT TIME ZONE,
    RetryCountAfter INTEGER,
    NextRunTimeAfter TIMESTAMP(3) WITHOUT TIME ZONE,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_BatchProcessHistory" PRIMARY KEY (BatchProcessHistory_id),
    CONSTRAINT "UQ_BatchProcessHistory_BatchControl_id_ProcessControlSe_de49" UNIQUE (BatchControl_id, ProcessControlSeq, AttemptNo),
    CONSTRAINT "CK_BatchProcessHistory_Cause" CHECK (lower(Cause) IN ('auto', 'retry', 'manual', 'verify')),
    CONSTRAINT "CK_BatchProcessHistory_Status"
        CHECK (lower(Status) IN ('running', 'success', 'failed', 'timeout', 'cancelled', 'lost', 'fenced', 'skipped', 'asked')),
    CONSTRAINT "CK_BatchProcessHistory_EndTime" CHECK ((lower(Status) IN ('running', 'asked') AND EndTime IS NULL)
        OR (lower(Status) NOT IN ('running', 'asked') AND EndTime IS NOT NULL)),
    CONSTRAINT "FK_BatchProcessHistory_BatchControl_id" FOREIGN KEY(BatchControl_id) REFERENCES BatchControl (BatchControl_id),
    CONSTRAINT "FK_BatchProcessHistory_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "CK_BatchProcessHistory_StartTime_Type" CHECK (StartTime >= '0001-01-01' AND StartTime < '10000-01-01'),
    CONSTRAINT "CK_BatchProcessHistory_EndTime_Type" CHECK (EndTime >= '0001-01-01' AND EndTime < '10000-01-01'),
    CONSTRAINT "CK_BatchProcessHistory_Spawned_Type" CHECK (Spawned >= '0001-01-01' AND Spawned < '10000-01-01'),
    CONSTRAINT "CK_BatchProcessHistory_NextRunTimeAfter_Type" CHECK (NextRunTimeAfter >= '0001-01-01'
        AND NextRunTimeAfter < '10000-01-01'),
    CONSTRAINT "CK_BatchProcessHistory_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_BatchProcessHistory_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

CREATE UNIQUE INDEX "UX_BatchProcessHistory_Live" ON BatchProcessHistory (BatchControl_id) WHERE Status = 'running';

CREATE INDEX "IX_BatchProcessHistory_Unreadable" ON BatchProcessHistory (BatchProcessHistory_id)
    WHERE (lower(Status) IN ('running', 'success', 'failed', 'timeout', 'cancelled', 'lost', 'fenced', 'skipped', 'asked')
    AND lower(Cause) IN ('auto', 'retry', 'manual', 'verify')) IS NOT TRUE;

-- Completed instances that batches which depend on them still have to hear of.
CREATE TABLE BatchCompletion (
    BatchCompletion_id BIGSERIAL NOT NULL,
    ProcessBatch_id BIGINT NOT NULL,
    DependsOnBatch_id BIGINT NOT NULL,
    BatchControl_id BIGINT NOT NULL,
    CycleKey VARCHAR(200),
    FileProcess_id BIGINT,
    Overdue TIMESTAMP(3) WITHOUT TIME ZONE,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    z_updated TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_BatchCompletion" PRIMARY KEY (BatchCompletion_id),
    CONSTRAINT "UQ_BatchCompletion_ProcessBatch_id_BatchControl_id" UNIQUE (ProcessBatch_id, BatchControl_id),
    CONSTRAINT "FK_BatchCompletion_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "FK_BatchCompletion_DependsOnBatch_id" FOREIGN KEY(DependsOnBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "FK_BatchCompletion_BatchControl_id" FOREIGN KEY(BatchControl_id) REFERENCES BatchControl (BatchControl_id),
    CONSTRAINT "FK_BatchCompletion_FileProcess_id" FOREIGN KEY(FileProcess_id) REFERENCES FileProcess (FileProcess_id),
    CONSTRAINT "CK_BatchCompletion_Overdue_Type" CHECK (Overdue >= '0001-01-01' AND Overdue < '10000-01-01'),
    CONSTRAINT "CK_BatchCompletion_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01'),
    CONSTRAINT "CK_BatchCompletion_z_updated_Type" CHECK (z_updated >= '0001-01-01' AND z_updated < '10000-01-01')
);

CREATE INDEX "IX_BatchCompletion_Instance" ON BatchCompletion (BatchControl_id);

CREATE INDEX "IX_BatchCompletion_Started" ON BatchCompletion (FileProcess_id);

-- What a running step has written so far; gone once the output of its attempt is recorded.
CREATE TABLE StepOutput (
    StepOutput_id BIGSERIAL NOT NULL,
    BatchProcessHistory_id BIGINT NOT NULL,
    Number INTEGER NOT NULL,
    Text TEXT NOT NULL,
    z_inserted TIMESTAMP(3) WITHOUT TIME ZONE DEFAULT (clock_timestamp() AT TIME ZONE 'UTC') NOT NULL,
    CONSTRAINT "PK_StepOutput" PRIMARY KEY (StepOutput_id),
    CONSTRAINT "UQ_StepOutput_BatchProcessHistory_id_Number" UNIQUE (BatchProcessHistory_id, Number),
    CONSTRAINT "CK_StepOutput_Number" CHECK (Number >= 1),
    CONSTRAINT "FK_StepOutput_BatchProcessHistory_id" FOREIGN KEY(BatchProcessHistory_id) REFERENCES BatchProcessHistory (BatchProcessHistory_id),
    CONSTRAINT "CK_StepOutput_z_inserted_Type" CHECK (z_inserted >= '0001-01-01' AND z_inserted < '10000-01-01')
);

CREATE INDEX "IX_BatchCompletion_Waiting" ON BatchCompletion (ProcessBatch_id, CycleKey, DependsOnBatch_id, BatchCompletion_id)
    WHERE FileProcess_id IS NULL;

-- The name of this database, which no other has.
INSERT INTO Setting (Name, Value) SELECT 'DatabaseId', md5(random()::text || clock_timestamp()::text || txid_current()::text);

INSERT INTO Leader (Fence) SELECT 0;

INSERT INTO NamedLock (NamedLock_id) SELECT generate_series(1, 64);

INSERT INTO alembic_version (version_num) VALUES ('0051') RETURNING alembic_version.version_num;

CREATE OR REPLACE FUNCTION batchctl_audit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ours text := quote_ident(TG_TABLE_SCHEMA) || '.';
    before jsonb := CASE WHEN TG_OP IN ('UPDATE', 'DELETE') THEN to_jsonb(OLD) END;
    after jsonb := CASE WHEN TG_OP IN ('UPDATE', 'INSERT') THEN to_jsonb(NEW) END;
    target text := TG_ARGV[0];
    key text := TG_ARGV[2] || '_id';
    parent text;
    was json;
    became json;
BEGIN
    IF TG_OP <> 'TRUNCATE' THEN
        SELECT json_object_agg(name, before -> lower(name) ORDER BY place),
               json_object_agg(name, after -> lower(name) ORDER BY place)
        INTO was, became
        FROM unnest(TG_ARGV[4:]) WITH ORDINALITY AS c (name, place)
        WHERE before -> lower(name) IS DISTINCT FROM after -> lower(name);
        IF was IS NULL AND became IS NULL THEN
            RETURN NULL;
        END IF;
        IF key <> '_id' THEN
            EXECUTE 'SELECT ' || TG_ARGV[3] || ' FROM ' || ours || TG_ARGV[2] || ' WHERE ' || key || ' = $1'
            INTO parent USING (coalesce(after, before) ->> lower(key))::bigint;
        END IF;
        target := concat_ws(':', target, parent, coalesce(after, before) ->> lower(TG_ARGV[1]));
    END IF;
    EXECUTE 'INSERT INTO ' || ours || 'AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)'
            ' VALUES ($1, $2, $3, left($4, 200), $5, $6)'
    USING session_user,
          left(concat_ws('@', nullif(current_setting('application_name'), ''), coalesce(host(inet_client_addr()), 'local')), 200),
          CASE TG_OP WHEN 'TRUNCATE' THEN 'row truncate' ELSE 'row ' || lower(TG_OP) END,
          target,
          CASE WHEN before IS NOT NULL THEN was::text END,
          CASE WHEN after IS NOT NULL THEN became::text END;
    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION batchctl_audit() FROM PUBLIC;

CREATE OR REPLACE FUNCTION batchctl_append_only() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ours text := quote_ident(TG_TABLE_SCHEMA) || '.';
    days text;
    newest timestamp;
BEGIN
    IF TG_OP = 'DELETE' AND TG_NARGS > 0 THEN
        EXECUTE 'SELECT trim(Value) FROM ' || ours || 'Setting WHERE Name = $1' INTO days USING TG_ARGV[0];
        IF days ~ '^[0-9]{1,5}$' AND days::integer > 0 THEN
            EXECUTE 'SELECT z_inserted FROM ' || ours || 'AuditLog ORDER BY AuditLog_id DESC LIMIT 1' INTO newest;
            IF OLD.z_inserted < newest - make_interval(days => days::integer) THEN
                RETURN OLD;
            END IF;
        END IF;
    END IF;
    RAISE EXCEPTION USING
        MESSAGE = 'batchctl: what stands in ' || TG_TABLE_NAME || ' stays as it is',
        HINT = 'only what is older than the Setting AuditLogDays says may go: batchctl purge';
END
$$;

REVOKE ALL ON FUNCTION batchctl_append_only() FROM PUBLIC;

CREATE OR REPLACE FUNCTION batchctl_success() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.Status := TG_ARGV[0];
    RETURN NEW;
END
$$;

CREATE OR REPLACE FUNCTION batchctl_in_use() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ours text := quote_ident(TG_TABLE_SCHEMA) || '.';
    runs boolean;
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || ours || 'BatchProcessHistory h WHERE h.Status = ''running'')' INTO runs;
        IF runs THEN
            RAISE EXCEPTION USING MESSAGE = 'batchctl: the ProcessControl row is a step that runs at this moment: wait until it has ended; or, unless it is being cancelled already: batchctl cancel ID --reason ..., with the BatchControl_id that vRunning shows', ERRCODE = 'foreign_key_violation';
        END IF;
        RETURN NULL;
    END IF;
    IF TG_OP = 'UPDATE' AND NEW.ProcessBatch_id = OLD.ProcessBatch_id AND NEW.ProcessControlSeq = OLD.ProcessControlSeq THEN
        RETURN NEW;
    END IF;
    EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || ours || 'BatchProcessHistory h WHERE h.Status = ''running'''
            ' AND h.ProcessBatch_id = $1 AND h.ProcessControlSeq = $2)'
    INTO runs USING OLD.ProcessBatch_id, OLD.ProcessControlSeq;
    IF runs THEN
        RAISE EXCEPTION USING MESSAGE = 'batchctl: the ProcessControl row is a step that runs at this moment: wait until it has ended; or, unless it is being cancelled already: batchctl cancel ID --reason ..., with the BatchControl_id that vRunning shows', ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
END
$$;

REVOKE ALL ON FUNCTION batchctl_in_use() FROM PUBLIC;

CREATE OR REPLACE FUNCTION batchctl_paused() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ours text := quote_ident(TG_TABLE_SCHEMA) || '.';
    made boolean;
BEGIN
    EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || ours || 'BatchControl w WHERE w.FileProcess_id = $1)'
    INTO made USING OLD.FileProcess_id;
    IF made THEN
        RAISE EXCEPTION 'batchctl: the FileProcess row has instances: pause these (batchctl pause ID --reason ...), which inbox show names';
    END IF;
    RETURN NEW;
END
$$;

REVOKE ALL ON FUNCTION batchctl_paused() FROM PUBLIC;

CREATE OR REPLACE FUNCTION batchctl_set_aside() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ours text := quote_ident(TG_TABLE_SCHEMA) || '.';
    made boolean;
BEGIN
    EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || ours || 'BatchControl w WHERE w.FileProcess_id = $1 AND w.Status NOT IN (''complete'', ''cancelled''))'
    INTO made USING OLD.FileProcess_id;
    IF made THEN
        RAISE EXCEPTION 'batchctl: the FileProcess row has instances that are not over: cancel these (batchctl cancel ID --reason ...), which inbox show names';
    END IF;
    RETURN NEW;
END
$$;

REVOKE ALL ON FUNCTION batchctl_set_aside() FROM PUBLIC;

CREATE OR REPLACE FUNCTION batchctl_calendar_used() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ours text := quote_ident(TG_TABLE_SCHEMA) || '.';
    used boolean;
BEGIN
    EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || ours || 'Schedule u WHERE u.CalendarName = $1)'
            ' OR EXISTS (SELECT 1 FROM ' || ours || 'ProcessBatch u WHERE u.ExpectedCalendar = $1)'
    INTO used USING OLD.CalendarName;
    IF used THEN
        RAISE EXCEPTION USING MESSAGE = 'batchctl: a schedule or ExpectedCalendar of a batch names this calendar: UPDATE Schedule SET CalendarName = ..., UPDATE ProcessBatch SET ExpectedCalendar = ... first', ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN OLD;
END
$$;

REVOKE ALL ON FUNCTION batchctl_calendar_used() FROM PUBLIC;

CREATE OR REPLACE FUNCTION batchctl_pool_used() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ours text := quote_ident(TG_TABLE_SCHEMA) || '.';
    used boolean;
BEGIN
    EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || ours || 'ProcessBatch u WHERE lower(u.Pool) = $1)'
            ' OR EXISTS (SELECT 1 FROM ' || ours || 'ProcessControl u WHERE lower(u.Pool) = $1)'
    INTO used USING OLD.PoolName;
    IF used THEN
        RAISE EXCEPTION USING MESSAGE = 'batchctl: a batch or a step names this pool: UPDATE ProcessBatch SET Pool = ..., UPDATE ProcessControl SET Pool = ... first', ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN OLD;
END
$$;

REVOKE ALL ON FUNCTION batchctl_pool_used() FROM PUBLIC;

CREATE OR REPLACE FUNCTION batchctl_sql_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.JobName IS NULL OR NEW.FirstRunOn IS NULL OR NEW.ConnectionName IS NULL OR NEW.ScheduledSql IS NULL THEN
        RAISE EXCEPTION 'batchctl: a job needs JobName, ConnectionName, ScheduledSql and FirstRunOn';
    END IF;
    IF CAST(NEW.IsRepeatable AS text) NOT IN ('0', '1') THEN
        RAISE EXCEPTION 'batchctl: IsRepeatable is 0 (once) or 1 (daily)';
    END IF;
    IF COALESCE(NEW.IsRepeatable, 0) <> 0 AND RTRIM(substr(NEW.FirstRunOn, 17)) NOT IN ('', ':00') THEN
        RAISE EXCEPTION 'batchctl: a daily job is due on the minute: write FirstRunOn without seconds, such as 2026-12-01 02:15';
    END IF;
    IF TRIM(NEW.JobName) = '' THEN
        RAISE EXCEPTION 'batchctl: JobName is empty: it is the name of the job';
    END IF;
    IF NOT (trim(NEW.FirstRunOn) ~ '^[0-9][0-9][0-9][0-9]-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$') THEN
        RAISE EXCEPTION 'batchctl: FirstRunOn is a time, such as 2026-12-01 02:15';
    END IF;
    IF CAST(NEW.IsEnabled AS text) NOT IN ('0', '1') THEN
        RAISE EXCEPTION 'batchctl: IsEnabled is 0 or 1';
    END IF;
    IF EXISTS (SELECT 1 FROM ProcessBatch t WHERE t.ProcessBatchName = NEW.JobName) OR EXISTS (SELECT 1 FROM Schedule t WHERE t.ScheduleName = NEW.JobName) THEN
        RAISE EXCEPTION 'batchctl: there is a batch or a schedule of this JobName already: SELECT JobName FROM vSqlJob; batchctl batches';
    END IF;
    INSERT INTO ProcessBatch (ProcessBatchName, OnFailure, Origin)
    SELECT NEW.JobName, 'continue', 'sql';
    INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2)
    SELECT b.ProcessBatch_id, 10, NEW.JobName, 'sql', replace(replace(NEW.ConnectionName, '{', '{{'), '}', '}}'), replace(replace(NEW.ScheduledSql, '{', '{{'), '}', '}}') FROM ProcessBatch b WHERE b.ProcessBatchName = NEW.JobName;
    INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, StartDate, RunAt, TimeZone, CatchUp, Enabled, Origin)
    SELECT NEW.JobName, NEW.JobName, CASE WHEN COALESCE(NEW.IsRepeatable, 0) <> 0 THEN 'daily' ELSE 'once' END,
        CASE WHEN COALESCE(NEW.IsRepeatable, 0) <> 0 THEN substr(NEW.FirstRunOn, 12, 5) END, CASE WHEN COALESCE(NEW.IsRepeatable, 0) <> 0 THEN substr(NEW.FirstRunOn, 1, 10) END,
        CASE WHEN COALESCE(NEW.IsRepeatable, 0) <> 0 THEN NULL ELSE NEW.FirstRunOn END, NEW.TimeZone, 'latest', COALESCE(NEW.IsEnabled, 1), 'sql';
    RETURN NEW;
END
$$;

CREATE OR REPLACE FUNCTION batchctl_job_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        RAISE EXCEPTION 'batchctl: a row of vSqlJob is a job. To change its SQL or its connection: batchctl schedule set-sql NAME --sql ... --connection ... --reason ...; its times: UPDATE Schedule SET RunAt (once) or RunTimes (daily), Enabled, TimeZone ... WHERE ScheduleName = NAME';
    END IF;
    RAISE EXCEPTION 'batchctl: a row of vSqlJob is a job. To remove it: batchctl schedule remove NAME --reason ...; to stop it: UPDATE Schedule SET Enabled = 0 WHERE ScheduleName = NAME';
END
$$;

CREATE OR REPLACE FUNCTION batchctl_lower() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RETURN jsonb_populate_record(NEW, jsonb_build_object(TG_ARGV[0], lower(to_jsonb(NEW) ->> TG_ARGV[0])));
END
$$;

CREATE OR REPLACE FUNCTION batchctl_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('batchctl', lower(TG_TABLE_NAME));
    RETURN NULL;
END
$$;

CREATE OR REPLACE VIEW vUnreadable AS
SELECT TableName, Row_id, split_part(Given, ' ', 1) AS ColumnName, ProcessBatch_id, Place,
    (TableName || ' ' || Row_id || Named || ' cannot be read: ' || split_part(Given, ' ', 1) || ' holds ' || CASE WHEN Given LIKE 'NextRunTime%' THEN 'no time' ELSE 'nonsense' END) AS Reason,
    ('UPDATE ' || TableName || ' SET ' || Given || ' WHERE ' || (TableName || '_id = ' || Row_id || ';')) AS NextSql
FROM (
SELECT 'ProcessBatch' AS TableName, ProcessBatch_id AS Row_id, ProcessBatch_id, 0 AS Place, (' (' || ProcessBatchName || ')') AS Named,
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
    CASE WHEN NOT (lower(Status) IN ('ready', 'running', 'retry', 'failed', 'held', 'pausing', 'paused', 'cancelling', 'cancelled', 'complete')) THEN 'Status = ''held''' ELSE 'PrevProcessControlSeq = ...' END
FROM BatchControl WHERE (lower(Status) IN ('ready', 'running', 'retry', 'failed', 'held', 'pausing', 'paused', 'cancelling', 'cancelled', 'complete')) IS NOT TRUE
UNION ALL
SELECT 'FileProcess', FileProcess_id, NULL, 7, '',
    'Status = ''paused'''
FROM FileProcess WHERE (lower(Status) IN ('ready', 'paused', 'complete', 'rejected', 'duplicate')) IS NOT TRUE
) m WHERE Given IS NOT NULL;

CREATE OR REPLACE VIEW vNotInstalled AS
WITH Offered AS (
SELECT CASE WHEN k.ProcessTypes IS NULL THEN 1 ELSE 0 END AS IsUnknown, k.ProcessTypes AS ProcessTypes, CASE WHEN EXISTS (SELECT 1 FROM Leader l WHERE l.ControllerName = k.ControllerName) OR NOT EXISTS (SELECT 1 FROM Leader l JOIN Controller m ON m.ControllerName = l.ControllerName
    WHERE m.Status = 'running') THEN k.Populators ELSE '' END AS Populators, k.Jobs AS Jobs
FROM Controller k
WHERE k.Status = 'running' OR k.Controller_id = (SELECT MAX(l.Controller_id) FROM Controller l)
), Named AS (
SELECT ProcessBatch_id, -1 AS ProcessControlSeq, 'Populator' AS Lacks, Populator AS Name FROM ProcessBatch
UNION ALL SELECT ProcessBatch_id, ProcessControlSeq, 'ProcessType', regexp_replace(lower(ProcessType), '^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$', '', 'g') FROM ProcessControl
UNION ALL SELECT ProcessBatch_id, ProcessControlSeq, 'Data1', Data1 FROM ProcessControl
WHERE Data1 <> '' AND regexp_replace(lower(ProcessType), '^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$', '', 'g') = 'python' AND EXISTS (SELECT 1 FROM Offered WHERE ProcessTypes LIKE '%python%')
)
SELECT n.ProcessBatch_id, b.ProcessBatchName, n.ProcessControlSeq,
    (CASE WHEN n.ProcessControlSeq = -1 THEN ('ProcessBatch (' || b.ProcessBatchName || '): Populator') ELSE ('ProcessControl (' || b.ProcessBatchName || ', step ' || n.ProcessControlSeq || '): ' || CASE WHEN n.Lacks = 'Data1' THEN 'job' ELSE n.Lacks END) END || ' ''' || n.Name || CASE WHEN n.Lacks = 'Data1' THEN ''' of Data1' ELSE '''' END || ' is not installed') AS Reason,
    CASE WHEN n.ProcessControlSeq = -1 THEN ('UPDATE ProcessBatch SET Populator = ... WHERE ProcessBatch_id = ' || n.ProcessBatch_id || ';') ELSE ('UPDATE ProcessControl SET ' || n.Lacks || ' = ... WHERE ProcessBatch_id = ' || n.ProcessBatch_id || ' AND ProcessControlSeq = ' || n.ProcessControlSeq || ';') END AS NextSql
FROM Named n JOIN ProcessBatch b ON b.ProcessBatch_id = n.ProcessBatch_id
WHERE EXISTS (SELECT 1 FROM Offered) AND replace(n.Name, ',', '') = n.Name
AND NOT EXISTS (SELECT 1 FROM Offered o WHERE o.IsUnknown = 1 OR (EXISTS (SELECT 1 FROM unnest(string_to_array(CASE n.Lacks WHEN 'Populator' THEN o.Populators WHEN 'ProcessType' THEN o.ProcessTypes ELSE o.Jobs END, ',')) AS t(value) WHERE regexp_replace(t.value, '^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$', '', 'g') = n.Name)));

CREATE OR REPLACE VIEW vFrozen AS
SELECT z.ProcessBatch_id, z.ProcessBatchName, z.BatchFreeze_id, z.Scope, z.UntilTime, (SELECT MIN(CASE WHEN z.UntilTime < '5000-01-01' AND (z.UntilTime > '4000-01-01 BC' OR NOT isfinite(z.UntilTime)) THEN z.UntilTime + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > z.UntilTime AND o.FromTime <= z.UntilTime) AS UntilTimeLocal,
    (z.Scope || ' is frozen since ' || CASE WHEN z.z_inserted > '9999-12-31 23:59:59' THEN '9999-12-31 23:59:59' WHEN z.z_inserted < '0001-01-01' THEN '0001-01-01 00:00:00' ELSE to_char(z.z_inserted, 'YYYY-MM-DD HH24:MI:SS') END || ' UTC, ' || CASE WHEN z.UntilTime IS NULL THEN 'until somebody thaws it' ELSE ('until ' || CASE WHEN z.UntilTime > '9999-12-31 23:59:59' THEN '9999-12-31 23:59:59' WHEN z.UntilTime < '0001-01-01' THEN '0001-01-01 00:00:00' ELSE to_char(z.UntilTime, 'YYYY-MM-DD HH24:MI:SS') END || ' UTC') END || ', by ' || z.Actor || ': ' || z.Reason) AS Reason,
    ('INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''thaw'', ''{"id": ' || z.BatchFreeze_id || '}'', ''...'');') AS NextSql
FROM (SELECT b.ProcessBatch_id, b.ProcessBatchName, z.BatchFreeze_id, CASE WHEN z.Tag IS NOT NULL THEN ('every batch with tag ''' || z.Tag || '''') WHEN z.ProcessBatchName IS NULL THEN 'everything' ELSE ('batch ' || z.ProcessBatchName) END AS Scope, z.UntilTime, z.z_inserted, z.Actor,
    z.Reason, ROW_NUMBER() OVER (PARTITION BY b.ProcessBatch_id ORDER BY CASE WHEN z.UntilTime IS NULL THEN 0 ELSE 1 END, z.UntilTime DESC, z.BatchFreeze_id) AS Nth
    FROM (SELECT BatchFreeze_id, ProcessBatchName, Tag, regexp_replace(lower(Tag), '^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$', '', 'g') AS BareTag, UntilTime, z_inserted, Actor, Reason
    FROM BatchFreeze WHERE ThawedTime IS NULL AND (UntilTime IS NULL OR UntilTime > (statement_timestamp() AT TIME ZONE 'UTC'))) z
    JOIN (SELECT ProcessBatch_id, ProcessBatchName, lower(Tags) AS Tags FROM ProcessBatch) b
    ON (z.Tag IS NULL AND (z.ProcessBatchName IS NULL OR z.ProcessBatchName = b.ProcessBatchName))
    OR (z.BareTag <> '' AND EXISTS (SELECT 1 FROM unnest(string_to_array(b.Tags, ',')) AS t(value) WHERE regexp_replace(t.value, '^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$', '', 'g') = z.BareTag))) z
WHERE z.Nth = 1;

CREATE OR REPLACE VIEW vPools AS
WITH Serves AS (
SELECT k.Host, k.Status, k.Heartbeat, COALESCE(p.PoolName, 'default') AS PoolName,
    (SELECT MIN(d.Drain_id) FROM Drain d WHERE d.UndrainedTime IS NULL AND lower(d.Host) = lower(k.Host)) AS Drain_id
FROM Controller k LEFT JOIN ControllerPool p ON p.Controller_id = k.Controller_id
), Named AS (
SELECT 'default' AS PoolName
UNION SELECT PoolName FROM Pool
UNION SELECT PoolName FROM ControllerPool
UNION SELECT COALESCE(NULLIF(regexp_replace(lower(g.Pool), '^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$', '', 'g'), ''), NULLIF(regexp_replace(lower(b.Pool), '^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$', '', 'g'), ''), 'default') FROM ProcessControl g
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
    (SELECT MIN(d.Drain_id) FROM Drain d WHERE d.UndrainedTime IS NULL AND lower(d.PoolName) = n.PoolName) AS Drain_id
FROM Named n
)
SELECT t.PoolName, p.MaxConcurrent, COALESCE(p.Enabled, 1) AS Enabled, t.Claimed, t.Serving, t.LastHost,
    t.LastServed, (SELECT MIN(CASE WHEN t.LastServed < '5000-01-01' AND (t.LastServed > '4000-01-01 BC' OR NOT isfinite(t.LastServed)) THEN t.LastServed + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > t.LastServed AND o.FromTime <= t.LastServed) AS LastServedLocal,
    CASE WHEN d.Drain_id IS NOT NULL THEN ('pool ' || t.PoolName || ' is drained by ' || d.Actor || ': ' || d.Reason)
    WHEN p.Enabled <> 1 THEN ('pool ' || t.PoolName || ' is disabled')
    WHEN t.Serving = 0 AND h.Drain_id IS NOT NULL THEN ('pool ' || t.PoolName || ' is served only by drained hosts: ' || h.Host || ' by ' || h.Actor || ': ' || h.Reason)
    WHEN t.Serving = 0 AND (t.PoolName <> 'default' OR t.Running > 0) THEN ('no controller serves pool ' || t.PoolName || CASE WHEN t.LastHost IS NULL THEN ' (and none ever did)' ELSE (' (the last was on ' || t.LastHost || ', ' || CASE WHEN t.LastServed > '9999-12-31 23:59:59' THEN '9999-12-31 23:59:59' WHEN t.LastServed < '0001-01-01' THEN '0001-01-01 00:00:00' ELSE to_char(t.LastServed, 'YYYY-MM-DD HH24:MI:SS') END || ' UTC)') END)
    WHEN t.Claimed >= p.MaxConcurrent THEN (t.Claimed || ' instances have a step of pool ' || t.PoolName || ' under way, its MaxConcurrent') END AS Reason,
    CASE WHEN d.Drain_id IS NOT NULL THEN ('INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''undrain'', ' || ('''' || replace(('{"pool": "' || t.PoolName || '"}'), '''', '''''') || '''') || ', ...);')
    WHEN p.Enabled <> 1 THEN ('UPDATE Pool SET Enabled = 1 WHERE PoolName = ' || ('''' || replace(t.PoolName, '''', '''''') || '''') || ';')
    WHEN t.Serving = 0 AND h.Drain_id IS NOT NULL THEN ('INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''undrain'', ' || ('''' || replace(('{"host": "' || h.Host || '"}'), '''', '''''') || '''') || ', ...);')
    WHEN t.Serving = 0 AND (t.PoolName <> 'default' OR t.Running > 0) THEN 'SELECT * FROM Controller;'
    ELSE 'SELECT * FROM vRunning;' END AS NextSql,
    p.Description
FROM Standing t
LEFT JOIN Pool p ON p.PoolName = t.PoolName
LEFT JOIN Drain d ON d.Drain_id = t.Drain_id
LEFT JOIN Drain h ON h.Drain_id = t.HostDrain_id;

CREATE OR REPLACE VIEW vStatus AS
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
    c.BatchControl_id AS LastComplete_id, c.z_updated AS LastCompleteTime, (SELECT MIN(CASE WHEN c.z_updated < '5000-01-01' AND (c.z_updated > '4000-01-01 BC' OR NOT isfinite(c.z_updated)) THEN c.z_updated + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > c.z_updated AND o.FromTime <= c.z_updated) AS LastCompleteTimeLocal,
    b.Seq, b.Description,
    CASE WHEN x.ProcessBatch_id IS NOT NULL THEN x.NextSql WHEN b.Enabled <> 1 THEN ('INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES (''enable'', ' || ('''' || replace(b.ProcessBatchName, '''', '''''') || '''') || ', ''...'');')
    WHEN z.BatchFreeze_id IS NOT NULL THEN z.NextSql WHEN y.ProcessBatch_id IS NOT NULL THEN y.NextSql
    WHEN t.Incident_id IS NOT NULL AND n.ProcessBatch_id IS NULL AND a.ProcessBatch_id IS NULL
    THEN ('SELECT * FROM Incident WHERE Incident_id = ' || t.Incident_id || ';')
    ELSE ('SELECT * FROM ' || CASE WHEN n.Failed + n.Held > 0 THEN 'vFailed' WHEN n.Running > 0 THEN 'vRunning' WHEN n.Retry + n.Ready + n.Paused > 0 OR a.ProcessBatch_id IS NOT NULL THEN 'vWaiting' ELSE 'vHistory' END || ' WHERE ProcessBatchName = ' || ('''' || replace(b.ProcessBatchName, '''', '''''') || '''') || ';') END AS NextSql, c.StepsFailed AS LastStepsFailed,
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

CREATE OR REPLACE VIEW vFailed AS
SELECT c.BatchControl_id, b.ProcessBatchName, lower(c.Status) AS Status, c.CycleKey, f.Entity, f.FileName,
    h.ProcessControlSeq, h.ProcessName, h.ProcessType, h.AttemptNo, lower(h.Status) AS AttemptStatus, h.ReturnCode,
    h.Message AS ErrorText, h.Output, h.CommandText, h.StartTime, (SELECT MIN(CASE WHEN h.StartTime < '5000-01-01' AND (h.StartTime > '4000-01-01 BC' OR NOT isfinite(h.StartTime)) THEN h.StartTime + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > h.StartTime AND o.FromTime <= h.StartTime) AS StartTimeLocal, h.EndTime, (SELECT MIN(CASE WHEN h.EndTime < '5000-01-01' AND (h.EndTime > '4000-01-01 BC' OR NOT isfinite(h.EndTime)) THEN h.EndTime + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > h.EndTime AND o.FromTime <= h.EndTime) AS EndTimeLocal,
    CASE WHEN isfinite(h.StartTime) AND isfinite(h.EndTime) THEN round(EXTRACT(EPOCH FROM h.EndTime) - EXTRACT(EPOCH FROM h.StartTime), 3) END AS DurationSeconds, h.ClaimedBy, h.Host, c.FileProcess_id,
    ('INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''rerun'', ' || c.BatchControl_id || ', ''...'');') AS RerunSql, ('INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''skip'', ' || c.BatchControl_id || ', ''...'');') AS SkipSql,
    ('INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''cancel'', ' || c.BatchControl_id || ', ''...'');') AS CancelSql, h.ErrorCode, h.ErrorLine,
    (SELECT o.Text FROM Note o WHERE o.Note_id = (SELECT MAX(m.Note_id) FROM Note m WHERE m.BatchControl_id = c.BatchControl_id)) AS LastNote
FROM BatchControl c
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN FileProcess f ON f.FileProcess_id = c.FileProcess_id
LEFT JOIN BatchProcessHistory h ON h.BatchProcessHistory_id = (
    SELECT MAX(g.BatchProcessHistory_id) FROM BatchProcessHistory g WHERE g.BatchControl_id = c.BatchControl_id)
WHERE c.Status IN ('retry', 'failed', 'held') AND (c.Status = 'failed' OR c.Status = 'held');

CREATE OR REPLACE VIEW vWaiting AS
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
    (SELECT CASE WHEN v.Said ~ '^[0-9]{1,18}$' THEN CAST(v.Said AS bigint) ELSE 0 END FROM (SELECT regexp_replace(Value, '^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$', '', 'g') AS Said FROM Setting WHERE Name = 'MaxConcurrent') v) AS Most,
    (statement_timestamp() AT TIME ZONE 'UTC') AS Now
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
WHERE b.MaxPerMinute IS NOT NULL AND c.BegunTime IS NOT NULL AND c.BegunTime > (statement_timestamp() AT TIME ZONE 'UTC' - interval '60 seconds')
GROUP BY c.ProcessBatch_id, b.MaxPerMinute HAVING COUNT(*) >= b.MaxPerMinute
), Stopping AS (
SELECT MIN(CASE WHEN c.Status = 'retry' THEN NULL ELSE c.BatchControl_id END) AS ByPerson,
    MIN(CASE WHEN c.Status = 'retry' THEN c.BatchControl_id END) AS ByRetry
FROM BatchControl c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE c.Status IN ('retry', 'failed', 'held') AND lower(b.OnFailure) = 'stop_all'
), Stood AS (
SELECT c.BatchControl_id, c.ProcessBatch_id, c.FileProcess_id, c.CycleKey, lower(c.Status) AS Status, c.NextRunTime,
    c.PrevProcessControlSeq, c.z_updated, COALESCE(k.HowMany, 0) AS Started, b.MaxConcurrent,
    lower(b.OnFailure) AS OnFailure,
    CASE WHEN c.Status = 'retry' AND lower(b.OnFailure) = 'stop_all' THEN
    CASE WHEN t.ByRetry < c.BatchControl_id AND (t.ByPerson IS NULL OR t.ByRetry < t.ByPerson) THEN t.ByRetry
    ELSE t.ByPerson END
    WHEN t.ByRetry < t.ByPerson OR t.ByPerson IS NULL THEN t.ByRetry ELSE t.ByPerson END AS Stop_id
FROM BatchControl c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id CROSS JOIN Stopping t
LEFT JOIN Claimed k ON k.ProcessBatch_id = c.ProcessBatch_id
WHERE c.Status IN ('ready', 'retry', 'failed', 'held')
), Line AS (
SELECT c.*, c.Started + COUNT(CASE WHEN c.NextRunTime <= (statement_timestamp() AT TIME ZONE 'UTC') AND (c.Status = 'ready' OR c.Status = 'retry')
    AND c.Stop_id IS NULL THEN 1 END) OVER (PARTITION BY c.ProcessBatch_id ORDER BY c.BatchControl_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS Taken
FROM Stood c
), Ordered AS (
SELECT c.*, MIN(CASE WHEN c.OnFailure <> 'continue' AND (c.Status = 'failed' OR c.Status = 'held' OR c.NextRunTime > (statement_timestamp() AT TIME ZONE 'UTC')
    OR (c.Status = 'retry' AND c.Taken >= c.MaxConcurrent))
    THEN c.BatchControl_id END) OVER (PARTITION BY c.ProcessBatch_id ORDER BY c.BatchControl_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS Ahead_id
FROM Line c
), Instances AS (
SELECT BatchControl_id, ProcessBatch_id, FileProcess_id, CycleKey, Status, NextRunTime, PrevProcessControlSeq, z_updated,
    Started, Taken, Ahead_id, Stop_id FROM Ordered WHERE Status = 'ready' OR Status = 'retry'
UNION ALL
SELECT BatchControl_id, ProcessBatch_id, FileProcess_id, CycleKey, lower(Status), NextRunTime, PrevProcessControlSeq,
    z_updated, NULL, NULL, NULL, NULL FROM BatchControl WHERE Status IN ('paused')
), Lacking AS (
SELECT w.ProcessBatch_id, w.CycleKey, w.Since, y.DependsOnBatch_id, y.DeadlineMins
FROM (SELECT ProcessBatch_id, CycleKey, MIN(z_inserted) AS Since FROM BatchCompletion
    WHERE FileProcess_id IS NULL GROUP BY ProcessBatch_id, CycleKey) w
JOIN BatchDependency y ON y.ProcessBatch_id = w.ProcessBatch_id
WHERE NOT EXISTS (SELECT 1 FROM BatchCompletion x WHERE x.FileProcess_id IS NULL
    AND x.ProcessBatch_id = w.ProcessBatch_id AND x.DependsOnBatch_id = y.DependsOnBatch_id AND (x.CycleKey = w.CycleKey OR (x.CycleKey IS NULL AND w.CycleKey IS NULL)))
), Locks AS (
SELECT k.Controller_id, (' | ' || substr(split_part(k.Trouble, ' Next: ', 1), 29)) AS Said
FROM Controller k
WHERE k.Status = 'running' AND k.Trouble LIKE 'somebody keeps rows locked: %' AND CASE WHEN k.Heartbeat < '5000-01-01' AND (k.Heartbeat > '4000-01-01 BC' OR NOT isfinite(k.Heartbeat)) THEN k.Heartbeat + (k.OrphanTimeoutSecs) * interval '1 second' END > (statement_timestamp() AT TIME ZONE 'UTC')
), Met AS (
SELECT c.BatchControl_id, t.Controller_id, substr(COALESCE(substr(t.Said, NULLIF(strpos(t.Said, (' | BatchControl ' || c.BatchControl_id || ': ')), 0)), substr(t.Said, NULLIF(strpos(t.Said, (' | batch ' || replace(replace(b.ProcessBatchName, '|', '\|'), ':', '\:') || ': ')), 0)), substr(t.Said, NULLIF(strpos(t.Said, (' | FileProcess ' || c.FileProcess_id || ': ')), 0))), 4) AS Said FROM Instances c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id CROSS JOIN Locks t
), Entry AS (
SELECT m.BatchControl_id, m.Controller_id, split_part(m.Said, ' | ', 1) AS Said FROM Met m WHERE m.Said IS NOT NULL
), Locked AS (
SELECT e.BatchControl_id, split_part(e.Said, '; to end it: ', 1) AS Reason,
    substr(substr(e.Said, NULLIF(strpos(e.Said, '; to end it: '), 0)), 14) AS Mend,
    ROW_NUMBER() OVER (PARTITION BY e.BatchControl_id ORDER BY e.Controller_id) AS Nth
FROM Entry e
)
SELECT q.BatchControl_id, q.ProcessBatchName, q.Status, q.CycleKey, q.Entity, q.FileName, q.Since, (SELECT MIN(CASE WHEN q.Since < '5000-01-01' AND (q.Since > '4000-01-01 BC' OR NOT isfinite(q.Since)) THEN q.Since + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > q.Since AND o.FromTime <= q.Since) AS SinceLocal, q.Reason, q.NotBeforeTime, (SELECT MIN(CASE WHEN q.NotBeforeTime < '5000-01-01' AND (q.NotBeforeTime > '4000-01-01 BC' OR NOT isfinite(q.NotBeforeTime)) THEN q.NotBeforeTime + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > q.NotBeforeTime AND o.FromTime <= q.NotBeforeTime) AS NotBeforeTimeLocal, q.FileProcess_id, q.NextSql
FROM (
SELECT c.BatchControl_id, b.ProcessBatchName, c.Status, c.CycleKey, f.Entity, f.FileName, c.z_updated AS Since,
    COALESCE(CASE WHEN j.Confirmation_id IS NOT NULL THEN ('it asks ' || COALESCE(j.Who, 'anyone who may act') || ': ' || j.Question)
    WHEN c.Status = 'paused' THEN 'somebody paused it' END, x.Reason,
    CASE WHEN b.Enabled <> 1 THEN ('batch ' || b.ProcessBatchName || ' is disabled') END, z.Reason, y.Reason,
    CASE WHEN NOT EXISTS (SELECT 1 FROM ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id)
    THEN ('batch ' || b.ProcessBatchName || ' has no steps') END, w.Reason,
    CASE WHEN c.PrevProcessControlSeq NOT BETWEEN 0 AND 2000000000 THEN ('BatchControl ' || c.BatchControl_id || ' cannot be read: PrevProcessControlSeq holds nonsense')
    WHEN c.NextRunTime > l.Now THEN ('it waits until ' || CASE WHEN c.NextRunTime > '9999-12-31 23:59:59' THEN '9999-12-31 23:59:59' WHEN c.NextRunTime < '0001-01-01' THEN '0001-01-01 00:00:00' ELSE to_char(c.NextRunTime, 'YYYY-MM-DD HH24:MI:SS') END || ' UTC')
    WHEN a.BatchControl_id IS NOT NULL THEN ('BatchControl ' || a.BatchControl_id || ' of the same batch is ' || lower(a.Status) || ' (OnFailure ' || lower(b.OnFailure) || ')')
    WHEN t.BatchControl_id IS NOT NULL THEN ('BatchControl ' || t.BatchControl_id || ' is ' || lower(t.Status) || ' and its batch stops everything') END, h.Reason, o.Reason,
    CASE WHEN c.Started >= b.MaxConcurrent THEN (b.MaxConcurrent || ' of batch ' || b.ProcessBatchName || ' are started before it')
    WHEN p.Begun IS NOT NULL THEN ('MaxPerMinute of batch ' || b.ProcessBatchName || ' is ' || b.MaxPerMinute || ', and ' || p.Begun || CASE WHEN p.Begun = 1 THEN ' instance of it was' ELSE ' instances of it were' END || ' begun within 60 seconds')
    WHEN l.Most = 0 THEN 'Setting MaxConcurrent is 0, or no number: nothing starts'
    WHEN l.HowMany >= l.Most THEN (l.HowMany || ' instances are under way, and Setting MaxConcurrent is ' || l.Most)
    WHEN u.Units > r.Units THEN ('it needs ' || u.Units || ' units of ' || r.ResourceName || ', and there are ' || r.Units)
    WHEN u.Exclusive = 1 THEN ('it needs all of ' || r.ResourceName || ', and instances under way hold it')
    WHEN u.Resource_id IS NOT NULL THEN ('it needs ' || u.Units || ' of the ' || r.Units || ' units of ' || r.ResourceName || ', and instances under way hold it')
    WHEN c.Taken >= b.MaxConcurrent AND l.Most IS NULL AND b.MaxPerMinute IS NULL AND NOT EXISTS (
    SELECT 1 FROM BatchResource v WHERE v.ProcessBatch_id = c.ProcessBatch_id) THEN (b.MaxConcurrent || ' of batch ' || b.ProcessBatchName || ' are started before it')
    WHEN c.Taken >= b.MaxConcurrent THEN ('others of batch ' || b.ProcessBatchName || ' start before it')
    ELSE 'nothing holds it back' END) AS Reason,
    CASE WHEN w.ColumnName = 'NextRunTime' THEN NULL
    WHEN c.NextRunTime > l.Now THEN c.NextRunTime
    WHEN z.BatchFreeze_id IS NULL AND b.Enabled = 1 THEN CASE WHEN p.Oldest < '5000-01-01' AND (p.Oldest > '4000-01-01 BC' OR NOT isfinite(p.Oldest)) THEN p.Oldest + (60) * interval '1 second' END
    ELSE z.UntilTime END AS NotBeforeTime,
    c.FileProcess_id,
    COALESCE(CASE WHEN j.Confirmation_id IS NOT NULL THEN ('INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''confirm'', ' || c.BatchControl_id || ', ''...'');')
    WHEN c.Status = 'paused' THEN ('INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''resume'', ' || c.BatchControl_id || ', ''...'');') END, x.NextSql,
    CASE WHEN b.Enabled <> 1 THEN ('INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES (''enable'', ' || ('''' || replace(b.ProcessBatchName, '''', '''''') || '''') || ', ''...'');') END, z.NextSql, y.NextSql,
    CASE WHEN NOT EXISTS (SELECT 1 FROM ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id)
    THEN ('INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1) VALUES (' || b.ProcessBatch_id || ', 10, ..., ..., ...);') END, w.NextSql,
    CASE WHEN c.PrevProcessControlSeq NOT BETWEEN 0 AND 2000000000 THEN ('UPDATE BatchControl SET PrevProcessControlSeq = ... WHERE BatchControl_id = ' || c.BatchControl_id || ';')
    WHEN c.NextRunTime > l.Now THEN ('INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''rerun'', ' || c.BatchControl_id || ', ''...'');')
    WHEN a.BatchControl_id IS NOT NULL THEN ('SELECT * FROM ' || CASE WHEN a.Status = 'failed' OR a.Status = 'held' THEN 'vFailed' ELSE 'vWaiting' END || ' WHERE BatchControl_id = ' || a.BatchControl_id || ';')
    WHEN t.BatchControl_id IS NOT NULL THEN ('SELECT * FROM ' || CASE WHEN t.Status = 'retry' THEN 'vWaiting' ELSE 'vFailed' END || ' WHERE BatchControl_id = ' || t.BatchControl_id || ';')
    WHEN h.Reason IS NOT NULL THEN CASE WHEN h.Mend IS NULL THEN 'SELECT * FROM Controller;' ELSE (h.Mend || ';') END
    WHEN o.Reason IS NOT NULL THEN o.NextSql
    WHEN p.Begun IS NOT NULL AND c.Started < b.MaxConcurrent THEN ('UPDATE ProcessBatch SET MaxPerMinute = ... WHERE ProcessBatch_id = ' || c.ProcessBatch_id || ';')
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
LEFT JOIN vPools o ON o.PoolName = COALESCE(NULLIF(regexp_replace(lower(e.Pool), '^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$', '', 'g'), ''), NULLIF(regexp_replace(lower(b.Pool), '^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$', '', 'g'), ''), 'default')
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
    ('BatchControl ' || c.BatchControl_id || ' cannot be read: FileProcess ' || c.FileProcess_id || ' is gone'), NULL, c.FileProcess_id, ('INSERT INTO FileProcess (FileProcess_id, Entity) VALUES (' || c.FileProcess_id || ', ' || ('''' || replace(COALESCE(b.Entity, b.ProcessBatchName), '''', '''''') || '''') || ');')
FROM BatchControl c
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE c.Status IN ('ready', 'running', 'retry', 'failed', 'held', 'pausing', 'paused', 'cancelling')
AND NOT EXISTS (SELECT 1 FROM FileProcess f WHERE f.FileProcess_id = c.FileProcess_id)
UNION ALL
SELECT NULL, b.ProcessBatchName, 'dependency', w.CycleKey, COALESCE(b.Entity, b.ProcessBatchName), NULL,
    w.Since, COALESCE(p.Reason, q.Reason, (d.ProcessBatchName || ' ' || CASE WHEN x.BatchControl_id IS NULL THEN 'has no instance for this CycleKey yet' ELSE ('(BatchControl ' || x.BatchControl_id || ') ' || CASE lower(x.Status) WHEN 'ready' THEN 'has not begun yet' WHEN 'running' THEN 'is running' WHEN 'retry' THEN 'has failed and waits for its retry' WHEN 'failed' THEN 'has failed' WHEN 'held' THEN 'is held: a person decides' WHEN 'pausing' THEN 'is running, and paused then' WHEN 'paused' THEN 'is paused' WHEN 'cancelling' THEN 'is being cancelled' WHEN 'cancelled' THEN 'was cancelled' WHEN 'complete' THEN CASE WHEN EXISTS (SELECT 1 FROM BatchCompletion u WHERE u.ProcessBatch_id = w.ProcessBatch_id AND u.BatchControl_id = x.BatchControl_id) THEN 'is complete, and that was used before: another instance has to complete'
    ELSE 'had completed before the dependency was registered, which does not count' END END) END || CASE WHEN d.Enabled <> 1 THEN ', and the batch is disabled' WHEN z.BatchFreeze_id IS NOT NULL THEN (', and ' || z.Scope || ' is frozen') ELSE '' END)), NULL, NULL, COALESCE(p.NextSql, q.NextSql,
    CASE WHEN x.Status = 'failed' OR x.Status = 'held' THEN ('SELECT * FROM vFailed WHERE BatchControl_id = ' || x.BatchControl_id || ';')
    WHEN x.Status = 'cancelled' THEN ('INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''rerun'', ' || x.BatchControl_id || ', ''...'');')
    WHEN d.Enabled <> 1 THEN ('INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES (''enable'', ' || ('''' || replace(d.ProcessBatchName, '''', '''''') || '''') || ', ''...'');')
    WHEN z.BatchFreeze_id IS NOT NULL THEN z.NextSql
    WHEN x.Status = 'paused' THEN ('INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''resume'', ' || x.BatchControl_id || ', ''...'');')
    WHEN x.BatchControl_id IS NOT NULL THEN ('SELECT * FROM ' || CASE WHEN x.Status = 'ready' OR x.Status = 'retry' THEN 'vWaiting' WHEN x.Status = 'complete' THEN 'vHistory' ELSE 'vRunning' END || ' WHERE BatchControl_id = ' || x.BatchControl_id || ';')
    WHEN EXISTS (SELECT 1 FROM Lacking o WHERE o.ProcessBatch_id = w.DependsOnBatch_id)
    THEN ('SELECT * FROM vWaiting WHERE ProcessBatchName = ' || ('''' || replace(d.ProcessBatchName, '''', '''''') || '''') || ';')
    ELSE ('INSERT INTO FileProcess (Entity, CycleKey, FileName) VALUES (' || ('''' || replace(COALESCE(d.Entity, d.ProcessBatchName), '''', '''''') || '''') || ', ' || CASE WHEN w.CycleKey IS NULL THEN 'NULL' ELSE ('''' || replace(w.CycleKey, '''', '''''') || '''') END || ', ...);') END)
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
    f.z_inserted, COALESCE(x.Reason, y.Reason, CASE WHEN f.PopulatorTries >= 3 THEN ('it waits for a person: ' || COALESCE(f.Message, 'no reason was given')) ELSE ('batch ' || b.ProcessBatchName || ' has no instance of it yet') END), NULL,
    f.FileProcess_id, COALESCE(x.NextSql, y.NextSql, CASE WHEN f.PopulatorTries >= 3 THEN ('UPDATE FileProcess SET PopulatorTries = NULL WHERE FileProcess_id = ' || f.FileProcess_id || ';') ELSE 'SELECT * FROM Controller;' END)
FROM FileProcess f
JOIN ProcessBatch b ON COALESCE(b.Entity, b.ProcessBatchName) = f.Entity
LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Missing y ON y.ProcessBatch_id = b.ProcessBatch_id AND y.ProcessControlSeq = -1
WHERE f.PopulatorTries IS NOT NULL AND f.Status = 'ready'
AND NOT EXISTS (SELECT 1 FROM BatchControl c WHERE c.FileProcess_id = f.FileProcess_id AND c.ProcessBatch_id = b.ProcessBatch_id)
AND NOT (b.DuplicateCheck = 1 AND EXISTS (SELECT 1 FROM FileProcess g
    WHERE g.Entity = f.Entity AND g.Data = f.Data AND g.FileProcess_id <> f.FileProcess_id
    AND ((g.FileProcess_id < f.FileProcess_id AND g.Status IN ('ready', 'paused')) OR EXISTS (
    SELECT 1 FROM BatchControl c WHERE c.FileProcess_id = g.FileProcess_id AND c.ProcessBatch_id = b.ProcessBatch_id)))
    AND NOT EXISTS (SELECT 1 FROM AuditLog a WHERE a.Target = ('FileProcess:' || f.FileProcess_id) AND a.Action = 'accept'))
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

CREATE OR REPLACE VIEW vRunning AS
SELECT c.BatchControl_id, b.ProcessBatchName, lower(c.Status) AS Status, c.CycleKey, f.Entity, f.FileName,
    h.ProcessControlSeq, h.ProcessName, h.ProcessType, h.AttemptNo, h.StartTime, (SELECT MIN(CASE WHEN h.StartTime < '5000-01-01' AND (h.StartTime > '4000-01-01 BC' OR NOT isfinite(h.StartTime)) THEN h.StartTime + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > h.StartTime AND o.FromTime <= h.StartTime) AS StartTimeLocal,
    CASE WHEN isfinite(h.StartTime) AND isfinite((statement_timestamp() AT TIME ZONE 'UTC')) THEN round(EXTRACT(EPOCH FROM (statement_timestamp() AT TIME ZONE 'UTC')) - EXTRACT(EPOCH FROM h.StartTime), 3) END AS RunningSeconds, p.ExpectedDuration, p.AlarmDuration, p.MaxDuration,
    CASE WHEN CASE WHEN h.StartTime < '5000-01-01' AND (h.StartTime > '4000-01-01 BC' OR NOT isfinite(h.StartTime)) THEN h.StartTime + (p.AlarmDuration) * interval '1 second' END <= (statement_timestamp() AT TIME ZONE 'UTC') THEN 'late'
    WHEN CASE WHEN h.StartTime < '5000-01-01' AND (h.StartTime > '4000-01-01 BC' OR NOT isfinite(h.StartTime)) THEN h.StartTime + (p.ExpectedDuration) * interval '1 second' END < (statement_timestamp() AT TIME ZONE 'UTC') THEN 'longer than expected'
    WHEN p.AlarmDuration IS NOT NULL OR p.ExpectedDuration IS NOT NULL THEN 'in time' END AS Timing,
    h.ClaimedBy, h.Host, h.Pid, h.DbSession, h.CommandText, c.FileProcess_id,
    ('INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''pause'', ' || c.BatchControl_id || ', ''...'');') AS PauseSql, ('INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''cancel'', ' || c.BatchControl_id || ', ''...'');') AS CancelSql,
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

CREATE OR REPLACE VIEW vLate AS
WITH Lacking AS (
SELECT w.ProcessBatch_id, w.CycleKey, w.Since, y.DependsOnBatch_id, y.DeadlineMins
FROM (SELECT ProcessBatch_id, CycleKey, MIN(z_inserted) AS Since FROM BatchCompletion
    WHERE FileProcess_id IS NULL GROUP BY ProcessBatch_id, CycleKey) w
JOIN BatchDependency y ON y.ProcessBatch_id = w.ProcessBatch_id
WHERE NOT EXISTS (SELECT 1 FROM BatchCompletion x WHERE x.FileProcess_id IS NULL
    AND x.ProcessBatch_id = w.ProcessBatch_id AND x.DependsOnBatch_id = y.DependsOnBatch_id AND (x.CycleKey = w.CycleKey OR (x.CycleKey IS NULL AND w.CycleKey IS NULL)))
)
SELECT l.What, l.Name, l.ProcessBatchName, l.BatchControl_id, l.ExpectedTime, (SELECT MIN(CASE WHEN l.ExpectedTime < '5000-01-01' AND (l.ExpectedTime > '4000-01-01 BC' OR NOT isfinite(l.ExpectedTime)) THEN l.ExpectedTime + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > l.ExpectedTime AND o.FromTime <= l.ExpectedTime) AS ExpectedTimeLocal,
    CASE WHEN isfinite(l.ExpectedTime) AND isfinite((statement_timestamp() AT TIME ZONE 'UTC')) THEN round(EXTRACT(EPOCH FROM (statement_timestamp() AT TIME ZONE 'UTC')) - EXTRACT(EPOCH FROM l.ExpectedTime), 3) END AS LateSeconds, l.Reason, l.NextSql
FROM (
SELECT 'step' AS What, (b.ProcessBatchName || ', step ' || h.ProcessControlSeq || ' ' || h.ProcessName) AS Name,
    b.ProcessBatchName, c.BatchControl_id, CASE WHEN h.StartTime < '5000-01-01' AND (h.StartTime > '4000-01-01 BC' OR NOT isfinite(h.StartTime)) THEN h.StartTime + (COALESCE(p.AlarmDuration, p.ExpectedDuration)) * interval '1 second' END AS ExpectedTime,
    ('it runs longer than ' || COALESCE(p.AlarmDuration, p.ExpectedDuration) || ' seconds') AS Reason,
    ('SELECT * FROM vRunning WHERE BatchControl_id = ' || c.BatchControl_id || ';') AS NextSql
FROM BatchProcessHistory h
JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq
WHERE h.Status = 'running' AND CASE WHEN h.StartTime < '5000-01-01' AND (h.StartTime > '4000-01-01 BC' OR NOT isfinite(h.StartTime)) THEN h.StartTime + (COALESCE(p.AlarmDuration, p.ExpectedDuration)) * interval '1 second' END <= (statement_timestamp() AT TIME ZONE 'UTC')
UNION ALL
SELECT 'instance', (b.ProcessBatchName || ' ' || COALESCE(c.CycleKey, '')), b.ProcessBatchName, c.BatchControl_id,
    c.NextRunTime, 'its NextRunTime is over, and it has not started',
    ('SELECT * FROM vWaiting WHERE BatchControl_id = ' || c.BatchControl_id || ';')
FROM BatchControl c
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE c.Status IN ('ready', 'retry') AND c.NextRunTime > '1900-01-01 00:00:00.000' AND c.NextRunTime < (statement_timestamp() AT TIME ZONE 'UTC' - interval '60 seconds')
UNION ALL
SELECT 'schedule', ScheduleName, NULL, NULL, NextRunTime, 'its due time is over, and no controller has decided it',
    'SELECT * FROM Controller;'
FROM Schedule WHERE Enabled = 1 AND NextRunTime < (statement_timestamp() AT TIME ZONE 'UTC' - interval '60 seconds')
UNION ALL
SELECT 'dependency', (b.ProcessBatchName || ' waits for ' || d.ProcessBatchName), b.ProcessBatchName, NULL,
    CASE WHEN w.Since < '5000-01-01' AND (w.Since > '4000-01-01 BC' OR NOT isfinite(w.Since)) THEN w.Since + (60 * w.DeadlineMins) * interval '1 second' END, 'it waits for longer than DeadlineMins', ('SELECT * FROM vWaiting WHERE ProcessBatchName = ' || ('''' || replace(b.ProcessBatchName, '''', '''''') || '''') || ';')
FROM Lacking w
JOIN ProcessBatch b ON b.ProcessBatch_id = w.ProcessBatch_id
JOIN ProcessBatch d ON d.ProcessBatch_id = w.DependsOnBatch_id
WHERE CASE WHEN w.Since < '5000-01-01' AND (w.Since > '4000-01-01 BC' OR NOT isfinite(w.Since)) THEN w.Since + (60 * w.DeadlineMins) * interval '1 second' END < (statement_timestamp() AT TIME ZONE 'UTC')
UNION ALL
SELECT CASE lower(i.Kind) WHEN 'not_arrived' THEN 'arrival' WHEN 'not_started' THEN 'start' ELSE 'finish' END, i.Subject, i.Subject, NULL, i.OpenedTime, i.Message,
    ('SELECT * FROM vStatus WHERE ProcessBatchName = ' || ('''' || replace(i.Subject, '''', '''''') || '''') || ';')
FROM Incident i
WHERE i.ResolvedTime IS NULL AND i.Kind IN ('not_arrived', 'not_started', 'not_finished')
) l;

CREATE OR REPLACE VIEW vHistory AS
SELECT h.BatchProcessHistory_id, h.BatchControl_id, b.ProcessBatchName, c.CycleKey, f.Entity, f.FileName, h.ProcessControlSeq,
    h.ProcessName, h.ProcessType, h.AttemptNo, lower(h.Cause) AS Cause, lower(h.Status) AS Status,
    h.StartTime, (SELECT MIN(CASE WHEN h.StartTime < '5000-01-01' AND (h.StartTime > '4000-01-01 BC' OR NOT isfinite(h.StartTime)) THEN h.StartTime + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > h.StartTime AND o.FromTime <= h.StartTime) AS StartTimeLocal, h.EndTime, (SELECT MIN(CASE WHEN h.EndTime < '5000-01-01' AND (h.EndTime > '4000-01-01 BC' OR NOT isfinite(h.EndTime)) THEN h.EndTime + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > h.EndTime AND o.FromTime <= h.EndTime) AS EndTimeLocal,
    CASE WHEN isfinite(h.StartTime) AND isfinite(h.EndTime) THEN round(EXTRACT(EPOCH FROM h.EndTime) - EXTRACT(EPOCH FROM h.StartTime), 3) END AS DurationSeconds, h.ReturnCode, h.RowsAffected, h.Message AS ErrorText, h.Output,
    h.CommandText, h.ClaimedBy, h.Host, h.Pid, h.DbSession, c.FileProcess_id,
    ('INSERT INTO OperatorRequest (Action, BatchControl_id, Arguments, Reason) VALUES (''rerun'', ' || h.BatchControl_id || ', ''{"from": ' || h.ProcessControlSeq || '}'', ''...'');') AS RerunSql, h.ErrorCode, h.ErrorLine, c.StepsFailed
FROM BatchProcessHistory h
LEFT JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id
LEFT JOIN ProcessBatch b ON b.ProcessBatch_id = h.ProcessBatch_id
LEFT JOIN FileProcess f ON f.FileProcess_id = c.FileProcess_id;

CREATE OR REPLACE VIEW vSchedule AS
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
    WHEN e.NextRunTime < (statement_timestamp() AT TIME ZONE 'UTC' - interval '60 seconds') THEN 'overdue' ELSE 'enabled' END AS Status,
    (lower(e.ScheduleType) || COALESCE((', every ' || e.IntervalMinutes || ' minutes'), '') || COALESCE((', ' || e.RunDays), '') || COALESCE((', ' || e.RunDaysOfMonth), '') || COALESCE((', ' || e.WeekOfMonth), '') || COALESCE((', ' || e.RunMonths), '') || COALESCE((' at ' || e.RunTimes), '') || COALESCE((' at ' || e.RunAt), '') || COALESCE((' at ' || e.Cron), '') || COALESCE((', between ' || e.BetweenTimes), '') || COALESCE((', calendar ' || e.CalendarName), '')) AS Timing, e.TimeZone, e.NextRunTime, (SELECT MIN(CASE WHEN e.NextRunTime < '5000-01-01' AND (e.NextRunTime > '4000-01-01 BC' OR NOT isfinite(e.NextRunTime)) THEN e.NextRunTime + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > e.NextRunTime AND o.FromTime <= e.NextRunTime) AS NextRunTimeLocal,
    CASE WHEN l.Outcome = 'fired' THEN CASE WHEN p.Status <> 'ready' AND p.Status <> 'complete' THEN lower(p.Status) WHEN q.Failed > 0 THEN 'failed' WHEN q.Cancelled > 0 THEN 'cancelled' WHEN q.Instances = q.Complete THEN 'complete' WHEN q.Running > 0 THEN 'running' ELSE 'waits' END ELSE lower(l.Outcome) END AS LastOutcome,
    l.DueTime AS LastDueTime, (SELECT MIN(CASE WHEN l.DueTime < '5000-01-01' AND (l.DueTime > '4000-01-01 BC' OR NOT isfinite(l.DueTime)) THEN l.DueTime + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > l.DueTime AND o.FromTime <= l.DueTime) AS LastDueTimeLocal, l.Reason AS LastReason,
    l.FileProcess_id AS LastFileProcess_id, e.Description,
    CASE WHEN x.Row_id IS NOT NULL THEN x.NextSql WHEN e.Enabled = 1 AND e.CalendarName IS NOT NULL AND k.Calendar_id IS NULL THEN ('UPDATE Schedule SET CalendarName = ... WHERE ScheduleName = ' || ('''' || replace(e.ScheduleName, '''', '''''') || '''') || ';')
    WHEN e.Enabled = 1 AND t.Incident_id IS NOT NULL THEN ('SELECT * FROM Incident WHERE Incident_id = ' || t.Incident_id || ';')
    ELSE ('UPDATE Schedule SET Enabled = ' || CASE WHEN e.Enabled = 1 THEN '0' ELSE '1' END || ' WHERE ScheduleName = ' || ('''' || replace(e.ScheduleName, '''', '''''') || '''') || ';') END AS NextSql,
    r.StartTime AS LastRunOn, (SELECT MIN(CASE WHEN r.StartTime < '5000-01-01' AND (r.StartTime > '4000-01-01 BC' OR NOT isfinite(r.StartTime)) THEN r.StartTime + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > r.StartTime AND o.FromTime <= r.StartTime) AS LastRunOnLocal,
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
    WHERE i.ResolvedTime IS NULL AND i.Kind = 'not_starting' AND i.Subject = ('schedule ' || e.ScheduleName));

CREATE OR REPLACE VIEW vInbox AS
WITH Unfit AS (
SELECT ProcessBatch_id, Reason, NextSql
FROM (SELECT ProcessBatch_id, Reason, NextSql, ROW_NUMBER() OVER (PARTITION BY ProcessBatch_id ORDER BY Place, Row_id) AS Nth FROM vUnreadable WHERE ProcessBatch_id IS NOT NULL) m
WHERE Nth = 1
), Missing AS (SELECT ProcessBatch_id, ProcessControlSeq, Reason, NextSql FROM vNotInstalled), Again AS (
SELECT f.FileProcess_id, MAX(n.FileProcess_id) AS Again_id
FROM FileProcess f JOIN FileWatch w ON f.Source = ('watch ' || w.WatchName)
JOIN FileWatchSeen n ON n.FileWatch_id = w.FileWatch_id AND n.FileProcess_id > f.FileProcess_id
JOIN FileProcess l ON l.FileProcess_id = n.FileProcess_id
LEFT JOIN FileWatchSeen o ON o.FileWatch_id = n.FileWatch_id AND o.FileProcess_id = f.FileProcess_id
WHERE f.Status IN ('paused', 'rejected', 'duplicate') AND (l.FileName = f.FileName OR (o.FileNumber = n.FileNumber AND o.FileSize = n.FileSize AND o.ModifiedNs = n.ModifiedNs)) GROUP BY f.FileProcess_id
), Locks AS (
SELECT k.Controller_id, (' | ' || substr(split_part(k.Trouble, ' Next: ', 1), 29)) AS Said
FROM Controller k
WHERE k.Status = 'running' AND k.Trouble LIKE 'somebody keeps rows locked: %' AND CASE WHEN k.Heartbeat < '5000-01-01' AND (k.Heartbeat > '4000-01-01 BC' OR NOT isfinite(k.Heartbeat)) THEN k.Heartbeat + (k.OrphanTimeoutSecs) * interval '1 second' END > (statement_timestamp() AT TIME ZONE 'UTC')
), Met AS (
SELECT c.FileProcess_id, t.Controller_id, substr(substr(t.Said, NULLIF(strpos(t.Said, (' | FileProcess ' || c.FileProcess_id || ': ')), 0)), 4) AS Said FROM FileProcess c CROSS JOIN Locks t WHERE c.Status = 'ready'
), Entry AS (
SELECT m.FileProcess_id, m.Controller_id, split_part(m.Said, ' | ', 1) AS Said FROM Met m WHERE m.Said IS NOT NULL
), Locked AS (
SELECT e.FileProcess_id, split_part(e.Said, '; to end it: ', 1) AS Reason,
    substr(substr(e.Said, NULLIF(strpos(e.Said, '; to end it: '), 0)), 14) AS Mend,
    ROW_NUMBER() OVER (PARTITION BY e.FileProcess_id ORDER BY e.Controller_id) AS Nth
FROM Entry e
), Takers AS (
SELECT COALESCE(b.Entity, b.ProcessBatchName) AS Entity, MIN(x.ProcessBatch_id) AS Unfit_id, MIN(y.ProcessBatch_id) AS Lacking_id,
    COUNT(CASE WHEN b.Populator = 'procedure' THEN 1 END) AS Asks,
    MIN(CASE WHEN b.Populator = 'pattern' AND b.PopulatorArgs IS NOT NULL THEN lower(b.PopulatorOn) END) AS SearchedIn
FROM ProcessBatch b
LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Missing y ON y.ProcessBatch_id = b.ProcessBatch_id AND y.ProcessControlSeq = -1
GROUP BY COALESCE(b.Entity, b.ProcessBatchName)
)
SELECT q.FileProcess_id, q.Entity, q.FileName, q.Data, q.CycleKey, q.Source, q.Status, q.Reason, q.Arrived, (SELECT MIN(CASE WHEN q.Arrived < '5000-01-01' AND (q.Arrived > '4000-01-01 BC' OR NOT isfinite(q.Arrived)) THEN q.Arrived + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > q.Arrived AND o.FromTime <= q.Arrived) AS ArrivedLocal, q.NextSql
FROM (
SELECT f.FileProcess_id, f.Entity, f.FileName, f.Data, f.CycleKey, f.Source, f.z_inserted AS Arrived, lower(f.Status) AS Status,
    CASE WHEN g.Again_id IS NOT NULL THEN ('its file was taken again as FileProcess ' || g.Again_id || ': ' || COALESCE(f.Message, 'no reason was given'))
    WHEN f.Message IS NOT NULL AND f.Status = 'rejected' AND EXISTS (SELECT 1 FROM AuditLog a WHERE a.Target = ('FileProcess:' || f.FileProcess_id) AND a.Action = 'row update'
    AND a.z_inserted >= f.z_updated AND a.ValuesAfter NOT LIKE '{"Status":%')
    THEN (f.Message || ' (corrected since)')
    WHEN f.Message IS NULL AND f.Status = 'paused' THEN 'somebody inserted or set it as paused'
    ELSE COALESCE(f.Message, 'no reason was given') END AS Reason,
    CASE WHEN g.Again_id IS NOT NULL THEN ('SELECT * FROM FileProcess WHERE FileProcess_id = ' || g.Again_id || ';')
    WHEN f.Status = 'duplicate' THEN ('INSERT INTO AuditLog (Actor, Host, Action, Target, Reason) VALUES (..., ''sql'', ''accept'', ''' || ('FileProcess:' || f.FileProcess_id) || ''', ...); ' || ('UPDATE FileProcess SET Status = ''ready'', Message = NULL WHERE FileProcess_id = ' || f.FileProcess_id || ';'))
    WHEN f.Status <> 'rejected' OR f.Message LIKE 'rejected by %' OR EXISTS (SELECT 1 FROM AuditLog a WHERE a.Target = ('FileProcess:' || f.FileProcess_id) AND a.Action = 'row update'
    AND a.z_inserted >= f.z_updated AND a.ValuesAfter NOT LIKE '{"Status":%')
    OR (t.Entity IS NOT NULL AND (f.Message IS NULL OR t.Asks > 0)) THEN ('INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''retry'', ''{"file": ' || f.FileProcess_id || '}'', ''...'');')
    WHEN t.Entity IS NOT NULL AND f.Source LIKE 'watch %' AND CASE WHEN t.SearchedIn = 'data' OR (f.FileName IS NULL AND f.Data IS NOT NULL) THEN 'Data'
    WHEN t.SearchedIn = 'entity' THEN 'Entity' ELSE 'FileName' END = 'FileName' THEN ('/* rename the file, which its watch takes then */ ' || ('INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''reject'', ''{"file": ' || f.FileProcess_id || '}'', ''...'');'))
    ELSE ('UPDATE FileProcess SET ' || CASE WHEN t.Entity IS NULL THEN ('Entity = ' || COALESCE((SELECT MIN(('''' || replace(COALESCE(b.Entity, b.ProcessBatchName), '''', '''''') || '''')) FROM ProcessBatch b WHERE lower(regexp_replace(COALESCE(b.Entity, b.ProcessBatchName), '^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$', '', 'g')) = lower(regexp_replace(f.Entity, '^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$', '', 'g'))), '...')) ELSE (CASE WHEN t.SearchedIn = 'data' OR (f.FileName IS NULL AND f.Data IS NOT NULL) THEN 'Data'
    WHEN t.SearchedIn = 'entity' THEN 'Entity' ELSE 'FileName' END || ' = ...') END || ' WHERE FileProcess_id = ' || f.FileProcess_id || '; ' || ('INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''retry'', ''{"file": ' || f.FileProcess_id || '}'', ''...'');')) END AS NextSql
FROM FileProcess f LEFT JOIN Again g ON g.FileProcess_id = f.FileProcess_id LEFT JOIN Takers t ON t.Entity = f.Entity
WHERE f.Status IN ('paused', 'rejected', 'duplicate')
UNION ALL
SELECT f.FileProcess_id, f.Entity, f.FileName, f.Data, f.CycleKey, f.Source, f.z_inserted, CASE WHEN t.Entity IS NULL THEN 'untaken' ELSE 'new' END,
    COALESCE(x.Reason, y.Reason, CASE WHEN t.Entity IS NULL THEN ('no batch takes entity ''' || f.Entity || ''': correct it, or register a batch that takes it')
    WHEN f.PopulatorTries >= 3 THEN ('it waits for a person: ' || COALESCE(f.Message, 'no reason was given'))
    WHEN h.Reason IS NOT NULL THEN h.Reason
    WHEN f.PopulatorTries IS NOT NULL THEN 'its populator has not answered yet'
    ELSE 'no controller has looked at it yet' END),
    COALESCE(x.NextSql, y.NextSql, CASE WHEN t.Entity IS NULL THEN ('UPDATE FileProcess SET ' || ('Entity = ' || COALESCE((SELECT MIN(('''' || replace(COALESCE(b.Entity, b.ProcessBatchName), '''', '''''') || '''')) FROM ProcessBatch b WHERE lower(regexp_replace(COALESCE(b.Entity, b.ProcessBatchName), '^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$', '', 'g')) = lower(regexp_replace(f.Entity, '^[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$', '', 'g'))), '...')) || ' WHERE FileProcess_id = ' || f.FileProcess_id || ';')
    WHEN f.PopulatorTries >= 3 THEN ('UPDATE FileProcess SET PopulatorTries = NULL WHERE FileProcess_id = ' || f.FileProcess_id || ';')
    WHEN h.Reason IS NOT NULL THEN CASE WHEN h.Mend IS NULL THEN 'SELECT * FROM Controller;' ELSE (h.Mend || ';') END ELSE 'SELECT * FROM Controller;' END)
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

CREATE OR REPLACE VIEW vSqlJob AS
SELECT e.Schedule_id AS Schedule_id, e.ScheduleName AS JobName,
    replace(replace(p.Data1, '{{', '{'), '}}', '}') AS ConnectionName, replace(replace(p.Data2, '{{', '{'), '}}', '}') AS ScheduledSql,
    COALESCE(e.RunAt, (e.StartDate || ' ' || e.RunTimes)) AS FirstRunOn,
    CASE WHEN lower(e.ScheduleType) = 'once' THEN 0 ELSE 1 END AS IsRepeatable, e.Enabled AS IsEnabled, e.TimeZone,
    e.NextRunTime, (SELECT MIN(CASE WHEN e.NextRunTime < '5000-01-01' AND (e.NextRunTime > '4000-01-01 BC' OR NOT isfinite(e.NextRunTime)) THEN e.NextRunTime + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > e.NextRunTime AND o.FromTime <= e.NextRunTime) AS NextRunTimeLocal, h.StartTime AS LastRunOn, (SELECT MIN(CASE WHEN h.StartTime < '5000-01-01' AND (h.StartTime > '4000-01-01 BC' OR NOT isfinite(h.StartTime)) THEN h.StartTime + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > h.StartTime AND o.FromTime <= h.StartTime) AS LastRunOnLocal,
    CASE WHEN h.Status = 'success' THEN 1 WHEN h.Status <> 'running' THEN 0 END AS LastRunOK,
    h.Message AS ErrorMessage, h.ErrorCode, h.ErrorLine, h.BatchControl_id,
    ('SELECT * FROM vHistory WHERE ProcessBatchName = ' || ('''' || replace(b.ProcessBatchName, '''', '''''') || '''') || ';') AS NextSql
FROM Schedule e
JOIN ProcessBatch b ON COALESCE(b.Entity, b.ProcessBatchName) = e.Entity
JOIN ProcessControl p ON p.ProcessBatch_id = b.ProcessBatch_id AND p.ProcessControlSeq = 10
LEFT JOIN BatchProcessHistory h ON h.BatchProcessHistory_id = (
    SELECT MAX(g.BatchProcessHistory_id) FROM BatchProcessHistory g
    JOIN BatchControl c ON c.BatchControl_id = g.BatchControl_id WHERE c.ProcessBatch_id = b.ProcessBatch_id)
WHERE e.Origin = 'sql' AND b.Origin = 'sql';

CREATE OR REPLACE VIEW vForecast AS
SELECT b.ProcessBatchName, k.CycleKey, k.P50, (SELECT MIN(CASE WHEN k.P50 < '5000-01-01' AND (k.P50 > '4000-01-01 BC' OR NOT isfinite(k.P50)) THEN k.P50 + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > k.P50 AND o.FromTime <= k.P50) AS P50Local, k.P90, (SELECT MIN(CASE WHEN k.P90 < '5000-01-01' AND (k.P90 > '4000-01-01 BC' OR NOT isfinite(k.P90)) THEN k.P90 + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > k.P90 AND o.FromTime <= k.P90) AS P90Local,
    k.FinishBy, (SELECT MIN(CASE WHEN k.FinishBy < '5000-01-01' AND (k.FinishBy > '4000-01-01 BC' OR NOT isfinite(k.FinishBy)) THEN k.FinishBy + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > k.FinishBy AND o.FromTime <= k.FinishBy) AS FinishByLocal, CASE WHEN isfinite(k.FinishBy) THEN CAST(round(EXTRACT(EPOCH FROM k.FinishBy - (statement_timestamp() AT TIME ZONE 'UTC')) / 60) AS bigint) END AS DueInMinutes, k.Chance, k.NeedsPerson, k.Nights,
    k.Decides, k.Helps, k.MadeOn, (SELECT MIN(CASE WHEN k.MadeOn < '5000-01-01' AND (k.MadeOn > '4000-01-01 BC' OR NOT isfinite(k.MadeOn)) THEN k.MadeOn + (o.OffsetSeconds) * interval '1 second' END) FROM ZoneOffset o WHERE o.UntilTime > k.MadeOn AND o.FromTime <= k.MadeOn) AS MadeOnLocal,
    ('SELECT * FROM vStatus WHERE ProcessBatchName = ' || ('''' || replace(b.ProcessBatchName, '''', '''''') || '''') || ';') AS NextSql
FROM KeptForecast k
JOIN ProcessBatch b ON b.ProcessBatch_id = k.ProcessBatch_id
WHERE k.KeptFor IS NULL;

CREATE OR REPLACE TRIGGER TR_ProcessBatch_Audit AFTER INSERT OR DELETE OR UPDATE OF ProcessBatchName, Entity, Enabled, Seq, Priority, RetryCount, RetryWaitMins, RetryWaitSecs, Populator, PopulatorArgs, PopulatorOn, OnFailure, DependencyMode, MaxConcurrent, MaxPerMinute, Pool, DuplicateCheck, ProcessingMode, Origin, Description, Tags, ArriveBy, StartBy, FinishBy, ExpectedOn, ExpectedCalendar ON ProcessBatch FOR EACH ROW
    EXECUTE FUNCTION batchctl_audit('ProcessBatch', 'ProcessBatchName', '', '', 'ProcessBatchName', 'Entity', 'Enabled', 'Seq', 'Priority', 'RetryCount', 'RetryWaitMins', 'RetryWaitSecs', 'Populator', 'PopulatorArgs', 'PopulatorOn', 'OnFailure', 'DependencyMode', 'MaxConcurrent', 'MaxPerMinute', 'Pool', 'DuplicateCheck', 'ProcessingMode', 'Origin', 'Description', 'Tags', 'ArriveBy', 'StartBy', 'FinishBy', 'ExpectedOn', 'ExpectedCalendar');

CREATE OR REPLACE TRIGGER TR_ProcessBatch_AuditTruncate AFTER TRUNCATE ON ProcessBatch FOR EACH STATEMENT
    EXECUTE FUNCTION batchctl_audit('ProcessBatch', '', '');

CREATE OR REPLACE TRIGGER TR_ProcessControl_Audit AFTER INSERT OR DELETE OR UPDATE OF ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Pool, Needs, ExpectedDuration, AlarmDuration, MaxDuration, OnLost, MaxLost, RetryCount, RetryWaitSecs, RetryBackoff, RetryOn, OnStepFailure, RowsMin, RowsMax, OnRows, Data1, Data2, Data3, Data4, Data5, Data6 ON ProcessControl FOR EACH ROW
    EXECUTE FUNCTION batchctl_audit('ProcessControl', 'ProcessControlSeq', 'ProcessBatch', 'ProcessBatchName', 'ProcessBatch_id', 'ProcessControlSeq', 'ProcessName', 'ProcessType', 'Pool', 'Needs', 'ExpectedDuration', 'AlarmDuration', 'MaxDuration', 'OnLost', 'MaxLost', 'RetryCount', 'RetryWaitSecs', 'RetryBackoff', 'RetryOn', 'OnStepFailure', 'RowsMin', 'RowsMax', 'OnRows', 'Data1', 'Data2', 'Data3', 'Data4', 'Data5', 'Data6');

CREATE OR REPLACE TRIGGER TR_ProcessControl_AuditTruncate AFTER TRUNCATE ON ProcessControl FOR EACH STATEMENT
    EXECUTE FUNCTION batchctl_audit('ProcessControl', '', '');

CREATE OR REPLACE TRIGGER TR_BatchDependency_Audit AFTER INSERT OR DELETE OR UPDATE OF ProcessBatch_id, DependsOnBatch_id, DeadlineMins ON BatchDependency FOR EACH ROW
    EXECUTE FUNCTION batchctl_audit('BatchDependency', 'DependsOnBatch_id', 'ProcessBatch', 'ProcessBatchName', 'ProcessBatch_id', 'DependsOnBatch_id', 'DeadlineMins');

CREATE OR REPLACE TRIGGER TR_BatchDependency_AuditTruncate AFTER TRUNCATE ON BatchDependency FOR EACH STATEMENT
    EXECUTE FUNCTION batchctl_audit('BatchDependency', '', '');

CREATE OR REPLACE TRIGGER TR_BatchResource_Audit AFTER INSERT OR DELETE OR UPDATE OF ProcessBatch_id, Resource_id, Units, Exclusive ON BatchResource FOR EACH ROW
    EXECUTE FUNCTION batchctl_audit('BatchResource', 'Resource_id', 'ProcessBatch', 'ProcessBatchName', 'ProcessBatch_id', 'Resource_id', 'Units', 'Exclusive');

CREATE OR REPLACE TRIGGER TR_BatchResource_AuditTruncate AFTER TRUNCATE ON BatchResource FOR EACH STATEMENT
    EXECUTE FUNCTION batchctl_audit('BatchResource', '', '');

CREATE OR REPLACE TRIGGER TR_Resource_Audit AFTER INSERT OR DELETE OR UPDATE OF ResourceName, Units, Description ON Resource FOR EACH ROW
    EXECUTE FUNCTION batchctl_audit('Resource', 'ResourceName', '', '', 'ResourceName', 'Units', 'Description');

CREATE OR REPLACE TRIGGER TR_Resource_AuditTruncate AFTER TRUNCATE ON Resource FOR EACH STATEMENT
    EXECUTE FUNCTION batchctl_audit('Resource', '', '');

CREATE OR REPLACE TRIGGER TR_Pool_Audit AFTER INSERT OR DELETE OR UPDATE OF PoolName, Kind, MaxConcurrent, Enabled, Description ON Pool FOR EACH ROW
    EXECUTE FUNCTION batchctl_audit('Pool', 'PoolName', '', '', 'PoolName', 'Kind', 'MaxConcurrent', 'Enabled', 'Description');

CREATE OR REPLACE TRIGGER TR_Pool_AuditTruncate AFTER TRUNCATE ON Pool FOR EACH STATEMENT
    EXECUTE FUNCTION batchctl_audit('Pool', '', '');

CREATE OR REPLACE TRIGGER TR_Variable_Audit AFTER INSERT OR DELETE OR UPDATE OF VariableName, Value, Description ON Variable FOR EACH ROW
    EXECUTE FUNCTION batchctl_audit('Variable', 'VariableName', '', '', 'VariableName', 'Value', 'Description');

CREATE OR REPLACE TRIGGER TR_Variable_AuditTruncate AFTER TRUNCATE ON Variable FOR EACH STATEMENT
    EXECUTE FUNCTION batchctl_audit('Variable', '', '');

CREATE OR REPLACE TRIGGER TR_Schedule_Audit AFTER INSERT OR DELETE OR UPDATE OF ScheduleName, Entity, ScheduleType, IntervalMinutes, RunTimes, RunDays, RunDaysOfMonth, WeekOfMonth, RunMonths, BetweenTimes, EveryN, StartDate, EndDate, RunAt, Cron, TimeZone, CalendarName, CalendarRule, GapPolicy, FoldPolicy, CatchUp, CatchUpMost, Overlap, Jitter, Enabled, Origin, Description ON Schedule FOR EACH ROW
    EXECUTE FUNCTION batchctl_audit('Schedule', 'ScheduleName', '', '', 'ScheduleName', 'Entity', 'ScheduleType', 'IntervalMinutes', 'RunTimes', 'RunDays', 'RunDaysOfMonth', 'WeekOfMonth', 'RunMonths', 'BetweenTimes', 'EveryN', 'StartDate', 'EndDate', 'RunAt', 'Cron', 'TimeZone', 'CalendarName', 'CalendarRule', 'GapPolicy', 'FoldPolicy', 'CatchUp', 'CatchUpMost', 'Overlap', 'Jitter', 'Enabled', 'Origin', 'Description');

CREATE OR REPLACE TRIGGER TR_Schedule_AuditTruncate AFTER TRUNCATE ON Schedule FOR EACH STATEMENT
    EXECUTE FUNCTION batchctl_audit('Schedule', '', '');

CREATE OR REPLACE TRIGGER TR_Calendar_Audit AFTER INSERT OR DELETE OR UPDATE OF CalendarName, BusinessDays, ValidFrom, ValidUntil, Description ON Calendar FOR EACH ROW
    EXECUTE FUNCTION batchctl_audit('Calendar', 'CalendarName', '', '', 'CalendarName', 'BusinessDays', 'ValidFrom', 'ValidUntil', 'Description');

CREATE OR REPLACE TRIGGER TR_Calendar_AuditTruncate AFTER TRUNCATE ON Calendar FOR EACH STATEMENT
    EXECUTE FUNCTION batchctl_audit('Calendar', '', '');

CREATE OR REPLACE TRIGGER TR_CalendarDay_Audit AFTER INSERT OR DELETE OR UPDATE OF Calendar_id, CalendarDate, IsBusinessDay, Description ON CalendarDay FOR EACH ROW
    EXECUTE FUNCTION batchctl_audit('CalendarDay', 'CalendarDate', 'Calendar', 'CalendarName', 'Calendar_id', 'CalendarDate', 'IsBusinessDay', 'Description');

CREATE OR REPLACE TRIGGER TR_CalendarDay_AuditTruncate AFTER TRUNCATE ON CalendarDay FOR EACH STATEMENT
    EXECUTE FUNCTION batchctl_audit('CalendarDay', '', '');

CREATE OR REPLACE TRIGGER TR_DataTrigger_Audit AFTER INSERT OR DELETE OR UPDATE OF TriggerName, Entity, ConnectionName, TableName, StatusColumn, PendingValue, CreatedColumn, RowThreshold, IdleMinutes, OnNewRows, DebounceSeconds, Enabled ON DataTrigger FOR EACH ROW
    EXECUTE FUNCTION batchctl_audit('DataTrigger', 'TriggerName', '', '', 'TriggerName', 'Entity', 'ConnectionName', 'TableName', 'StatusColumn', 'PendingValue', 'CreatedColumn', 'RowThreshold', 'IdleMinutes', 'OnNewRows', 'DebounceSeconds', 'Enabled');

CREATE OR REPLACE TRIGGER TR_DataTrigger_AuditTruncate AFTER TRUNCATE ON DataTrigger FOR EACH STATEMENT
    EXECUTE FUNCTION batchctl_audit('DataTrigger', '', '');

CREATE OR REPLACE TRIGGER TR_FileWatch_Audit AFTER INSERT OR DELETE OR UPDATE OF WatchName, Entity, Folder, Pattern, Recursive, SettleSeconds, MarkerSuffix, DuplicateKey, Enabled ON FileWatch FOR EACH ROW
    EXECUTE FUNCTION batchctl_audit('FileWatch', 'WatchName', '', '', 'WatchName', 'Entity', 'Folder', 'Pattern', 'Recursive', 'SettleSeconds', 'MarkerSuffix', 'DuplicateKey', 'Enabled');

CREATE OR REPLACE TRIGGER TR_FileWatch_AuditTruncate AFTER TRUNCATE ON FileWatch FOR EACH STATEMENT
    EXECUTE FUNCTION batchctl_audit('FileWatch', '', '');

CREATE OR REPLACE TRIGGER TR_BatchFreeze_Audit AFTER INSERT OR DELETE OR UPDATE OF ProcessBatchName, Tag, Reason, Actor, UntilTime, ThawedTime, ThawedBy ON BatchFreeze FOR EACH ROW
    EXECUTE FUNCTION batchctl_audit('BatchFreeze', 'BatchFreeze_id', '', '', 'ProcessBatchName', 'Tag', 'Reason', 'Actor', 'UntilTime', 'ThawedTime', 'ThawedBy');

CREATE OR REPLACE TRIGGER TR_BatchFreeze_AuditTruncate AFTER TRUNCATE ON BatchFreeze FOR EACH STATEMENT
    EXECUTE FUNCTION batchctl_audit('BatchFreeze', '', '');

CREATE OR REPLACE TRIGGER TR_Drain_Audit AFTER INSERT OR DELETE OR UPDATE OF Host, PoolName, Reason, Actor, UndrainedTime, UndrainedBy ON Drain FOR EACH ROW
    EXECUTE FUNCTION batchctl_audit('Drain', 'Drain_id', '', '', 'Host', 'PoolName', 'Reason', 'Actor', 'UndrainedTime', 'UndrainedBy');

CREATE OR REPLACE TRIGGER TR_Drain_AuditTruncate AFTER TRUNCATE ON Drain FOR EACH STATEMENT
    EXECUTE FUNCTION batchctl_audit('Drain', '', '');

CREATE OR REPLACE TRIGGER TR_Setting_Audit AFTER INSERT OR DELETE OR UPDATE OF Name, Value ON Setting FOR EACH ROW
    EXECUTE FUNCTION batchctl_audit('Setting', 'Name', '', '', 'Name', 'Value');

CREATE OR REPLACE TRIGGER TR_Setting_AuditTruncate AFTER TRUNCATE ON Setting FOR EACH STATEMENT
    EXECUTE FUNCTION batchctl_audit('Setting', '', '');

CREATE OR REPLACE TRIGGER TR_BatchControl_Audit AFTER UPDATE OF Status, PrevProcessControlSeq, RetryCount, NextRunTime, CycleKey, Data1, Data2, Data3, Data4, Data5, Data6 ON BatchControl FOR EACH ROW
    WHEN (left(current_setting('application_name'), 9) <> 'batchctl/')
    EXECUTE FUNCTION batchctl_audit('BatchControl', 'BatchControl_id', '', '', 'Status', 'PrevProcessControlSeq', 'RetryCount', 'NextRunTime', 'CycleKey', 'Data1', 'Data2', 'Data3', 'Data4', 'Data5', 'Data6');

CREATE OR REPLACE TRIGGER TR_FileProcess_Audit AFTER UPDATE OF Status, Entity, FileName, Data, CycleKey ON FileProcess FOR EACH ROW
    WHEN (left(current_setting('application_name'), 9) <> 'batchctl/')
    EXECUTE FUNCTION batchctl_audit('FileProcess', 'FileProcess_id', '', '', 'Status', 'Entity', 'FileName', 'Data', 'CycleKey');

CREATE OR REPLACE TRIGGER TR_AuditLog_AppendOnly BEFORE UPDATE OR DELETE ON AuditLog FOR EACH ROW
    EXECUTE FUNCTION batchctl_append_only('AuditLogDays');

CREATE OR REPLACE TRIGGER TR_AuditLog_AppendOnlyTruncate BEFORE TRUNCATE ON AuditLog FOR EACH STATEMENT
    EXECUTE FUNCTION batchctl_append_only();

CREATE OR REPLACE TRIGGER TR_AuditSeal_AppendOnly BEFORE UPDATE OR DELETE ON AuditSeal FOR EACH ROW
    EXECUTE FUNCTION batchctl_append_only();

CREATE OR REPLACE TRIGGER TR_AuditSeal_AppendOnlyTruncate BEFORE TRUNCATE ON AuditSeal FOR EACH STATEMENT
    EXECUTE FUNCTION batchctl_append_only();

CREATE OR REPLACE TRIGGER TR_FileProcess_Success BEFORE INSERT OR UPDATE OF Status ON FileProcess FOR EACH ROW
    WHEN (lower(NEW.Status) = 'success')
    EXECUTE FUNCTION batchctl_success('complete');

CREATE OR REPLACE TRIGGER TR_BatchControl_Success BEFORE INSERT OR UPDATE OF Status ON BatchControl FOR EACH ROW
    WHEN (lower(NEW.Status) = 'success')
    EXECUTE FUNCTION batchctl_success('ready');

CREATE OR REPLACE TRIGGER TR_ProcessControl_InUse BEFORE DELETE OR UPDATE OF ProcessBatch_id, ProcessControlSeq ON ProcessControl FOR EACH ROW
    EXECUTE FUNCTION batchctl_in_use();

CREATE OR REPLACE TRIGGER TR_ProcessControl_InUseTruncate BEFORE TRUNCATE ON ProcessControl FOR EACH STATEMENT
    EXECUTE FUNCTION batchctl_in_use();

CREATE OR REPLACE TRIGGER TR_FileProcess_Paused BEFORE UPDATE OF Status ON FileProcess FOR EACH ROW
    WHEN (lower(NEW.Status) = 'paused' AND OLD.Status <> 'paused')
    EXECUTE FUNCTION batchctl_paused();

CREATE OR REPLACE TRIGGER TR_FileProcess_SetAside BEFORE UPDATE OF Status ON FileProcess FOR EACH ROW
    WHEN (left(current_setting('application_name'), 9) <> 'batchctl/' AND lower(NEW.Status) IN ('rejected', 'duplicate') AND lower(NEW.Status) <> OLD.Status)
    EXECUTE FUNCTION batchctl_set_aside();

CREATE OR REPLACE TRIGGER TR_Calendar_Used BEFORE DELETE ON Calendar FOR EACH ROW
    EXECUTE FUNCTION batchctl_calendar_used();

CREATE OR REPLACE TRIGGER TR_Calendar_Renamed AFTER UPDATE OF CalendarName ON Calendar FOR EACH ROW
    WHEN (NEW.CalendarName <> OLD.CalendarName)
    EXECUTE FUNCTION batchctl_calendar_used();

CREATE OR REPLACE TRIGGER TR_Pool_Used BEFORE DELETE ON Pool FOR EACH ROW
    EXECUTE FUNCTION batchctl_pool_used();

CREATE OR REPLACE TRIGGER TR_Pool_Renamed AFTER UPDATE OF PoolName ON Pool FOR EACH ROW
    WHEN (NEW.PoolName <> OLD.PoolName)
    EXECUTE FUNCTION batchctl_pool_used();

CREATE OR REPLACE TRIGGER TR_vSqlJob_Insert INSTEAD OF INSERT ON vSqlJob FOR EACH ROW
    EXECUTE FUNCTION batchctl_sql_job();

CREATE OR REPLACE TRIGGER TR_vSqlJob_Stays INSTEAD OF UPDATE OR DELETE ON vSqlJob FOR EACH ROW
    EXECUTE FUNCTION batchctl_job_stays();

CREATE OR REPLACE TRIGGER TR_ApiToken_Role BEFORE INSERT OR UPDATE OF Role ON ApiToken FOR EACH ROW
    WHEN (NEW.Role <> lower(NEW.Role))
    EXECUTE FUNCTION batchctl_lower('role');

CREATE OR REPLACE TRIGGER TR_Controller_Status BEFORE INSERT OR UPDATE OF Status ON Controller FOR EACH ROW
    WHEN (NEW.Status <> lower(NEW.Status))
    EXECUTE FUNCTION batchctl_lower('status');

CREATE OR REPLACE TRIGGER TR_FileProcess_Status BEFORE INSERT OR UPDATE OF Status ON FileProcess FOR EACH ROW
    WHEN (NEW.Status <> lower(NEW.Status))
    EXECUTE FUNCTION batchctl_lower('status');

CREATE OR REPLACE TRIGGER TR_FileWatch_DuplicateKey BEFORE INSERT OR UPDATE OF DuplicateKey ON FileWatch FOR EACH ROW
    WHEN (NEW.DuplicateKey <> lower(NEW.DuplicateKey))
    EXECUTE FUNCTION batchctl_lower('duplicatekey');

CREATE OR REPLACE TRIGGER TR_Incident_Kind BEFORE INSERT OR UPDATE OF Kind ON Incident FOR EACH ROW
    WHEN (NEW.Kind <> lower(NEW.Kind))
    EXECUTE FUNCTION batchctl_lower('kind');

CREATE OR REPLACE TRIGGER TR_Incident_Severity BEFORE INSERT OR UPDATE OF Severity ON Incident FOR EACH ROW
    WHEN (NEW.Severity <> lower(NEW.Severity))
    EXECUTE FUNCTION batchctl_lower('severity');

CREATE OR REPLACE TRIGGER TR_Incident_Status BEFORE INSERT OR UPDATE OF Status ON Incident FOR EACH ROW
    WHEN (NEW.Status <> lower(NEW.Status))
    EXECUTE FUNCTION batchctl_lower('status');

CREATE OR REPLACE TRIGGER TR_OperatorRequest_Status BEFORE INSERT OR UPDATE OF Status ON OperatorRequest FOR EACH ROW
    WHEN (NEW.Status <> lower(NEW.Status))
    EXECUTE FUNCTION batchctl_lower('status');

CREATE OR REPLACE TRIGGER TR_Pool_Kind BEFORE INSERT OR UPDATE OF Kind ON Pool FOR EACH ROW
    WHEN (NEW.Kind <> lower(NEW.Kind))
    EXECUTE FUNCTION batchctl_lower('kind');

CREATE OR REPLACE TRIGGER TR_ProcessBatch_ProcessingMode BEFORE INSERT OR UPDATE OF ProcessingMode ON ProcessBatch FOR EACH ROW
    WHEN (NEW.ProcessingMode <> lower(NEW.ProcessingMode))
    EXECUTE FUNCTION batchctl_lower('processingmode');

CREATE OR REPLACE TRIGGER TR_ProcessBatch_PopulatorOn BEFORE INSERT OR UPDATE OF PopulatorOn ON ProcessBatch FOR EACH ROW
    WHEN (NEW.PopulatorOn <> lower(NEW.PopulatorOn))
    EXECUTE FUNCTION batchctl_lower('populatoron');

CREATE OR REPLACE TRIGGER TR_ProcessBatch_DependencyMode BEFORE INSERT OR UPDATE OF DependencyMode ON ProcessBatch FOR EACH ROW
    WHEN (NEW.DependencyMode <> lower(NEW.DependencyMode))
    EXECUTE FUNCTION batchctl_lower('dependencymode');

CREATE OR REPLACE TRIGGER TR_ProcessBatch_OnFailure BEFORE INSERT OR UPDATE OF OnFailure ON ProcessBatch FOR EACH ROW
    WHEN (NEW.OnFailure <> lower(NEW.OnFailure))
    EXECUTE FUNCTION batchctl_lower('onfailure');

CREATE OR REPLACE TRIGGER TR_Schedule_ScheduleType BEFORE INSERT OR UPDATE OF ScheduleType ON Schedule FOR EACH ROW
    WHEN (NEW.ScheduleType <> lower(NEW.ScheduleType))
    EXECUTE FUNCTION batchctl_lower('scheduletype');

CREATE OR REPLACE TRIGGER TR_Schedule_CalendarRule BEFORE INSERT OR UPDATE OF CalendarRule ON Schedule FOR EACH ROW
    WHEN (NEW.CalendarRule <> lower(NEW.CalendarRule))
    EXECUTE FUNCTION batchctl_lower('calendarrule');

CREATE OR REPLACE TRIGGER TR_Schedule_GapPolicy BEFORE INSERT OR UPDATE OF GapPolicy ON Schedule FOR EACH ROW
    WHEN (NEW.GapPolicy <> lower(NEW.GapPolicy))
    EXECUTE FUNCTION batchctl_lower('gappolicy');

CREATE OR REPLACE TRIGGER TR_Schedule_FoldPolicy BEFORE INSERT OR UPDATE OF FoldPolicy ON Schedule FOR EACH ROW
    WHEN (NEW.FoldPolicy <> lower(NEW.FoldPolicy))
    EXECUTE FUNCTION batchctl_lower('foldpolicy');

CREATE OR REPLACE TRIGGER TR_Schedule_CatchUp BEFORE INSERT OR UPDATE OF CatchUp ON Schedule FOR EACH ROW
    WHEN (NEW.CatchUp <> lower(NEW.CatchUp))
    EXECUTE FUNCTION batchctl_lower('catchup');

CREATE OR REPLACE TRIGGER TR_Schedule_Overlap BEFORE INSERT OR UPDATE OF Overlap ON Schedule FOR EACH ROW
    WHEN (NEW.Overlap <> lower(NEW.Overlap))
    EXECUTE FUNCTION batchctl_lower('overlap');

CREATE OR REPLACE TRIGGER TR_SchedulerLog_EventType BEFORE INSERT OR UPDATE OF EventType ON SchedulerLog FOR EACH ROW
    WHEN (NEW.EventType <> lower(NEW.EventType))
    EXECUTE FUNCTION batchctl_lower('eventtype');

CREATE OR REPLACE TRIGGER TR_WebUser_Role BEFORE INSERT OR UPDATE OF Role ON WebUser FOR EACH ROW
    WHEN (NEW.Role <> lower(NEW.Role))
    EXECUTE FUNCTION batchctl_lower('role');

CREATE OR REPLACE TRIGGER TR_AlertDelivery_Kind BEFORE INSERT OR UPDATE OF Kind ON AlertDelivery FOR EACH ROW
    WHEN (NEW.Kind <> lower(NEW.Kind))
    EXECUTE FUNCTION batchctl_lower('kind');

CREATE OR REPLACE TRIGGER TR_AlertDelivery_Status BEFORE INSERT OR UPDATE OF Status ON AlertDelivery FOR EACH ROW
    WHEN (NEW.Status <> lower(NEW.Status))
    EXECUTE FUNCTION batchctl_lower('status');

CREATE OR REPLACE TRIGGER TR_BatchControl_Status BEFORE INSERT OR UPDATE OF Status ON BatchControl FOR EACH ROW
    WHEN (NEW.Status <> lower(NEW.Status))
    EXECUTE FUNCTION batchctl_lower('status');

CREATE OR REPLACE TRIGGER TR_ProcessControl_OnLost BEFORE INSERT OR UPDATE OF OnLost ON ProcessControl FOR EACH ROW
    WHEN (NEW.OnLost <> lower(NEW.OnLost))
    EXECUTE FUNCTION batchctl_lower('onlost');

CREATE OR REPLACE TRIGGER TR_ProcessControl_OnStepFailure BEFORE INSERT OR UPDATE OF OnStepFailure ON ProcessControl FOR EACH ROW
    WHEN (NEW.OnStepFailure <> lower(NEW.OnStepFailure))
    EXECUTE FUNCTION batchctl_lower('onstepfailure');

CREATE OR REPLACE TRIGGER TR_ProcessControl_OnRows BEFORE INSERT OR UPDATE OF OnRows ON ProcessControl FOR EACH ROW
    WHEN (NEW.OnRows <> lower(NEW.OnRows))
    EXECUTE FUNCTION batchctl_lower('onrows');

CREATE OR REPLACE TRIGGER TR_ScheduleBackfill_Status BEFORE INSERT OR UPDATE OF Status ON ScheduleBackfill FOR EACH ROW
    WHEN (NEW.Status <> lower(NEW.Status))
    EXECUTE FUNCTION batchctl_lower('status');

CREATE OR REPLACE TRIGGER TR_BatchProcessHistory_Cause BEFORE INSERT OR UPDATE OF Cause ON BatchProcessHistory FOR EACH ROW
    WHEN (NEW.Cause <> lower(NEW.Cause))
    EXECUTE FUNCTION batchctl_lower('cause');

CREATE OR REPLACE TRIGGER TR_BatchProcessHistory_Status BEFORE INSERT OR UPDATE OF Status ON BatchProcessHistory FOR EACH ROW
    WHEN (NEW.Status <> lower(NEW.Status))
    EXECUTE FUNCTION batchctl_lower('status');

CREATE OR REPLACE TRIGGER TR_Confirmation_OnTimeout BEFORE INSERT OR UPDATE OF OnTimeout ON Confirmation FOR EACH ROW
    WHEN (NEW.OnTimeout <> lower(NEW.OnTimeout))
    EXECUTE FUNCTION batchctl_lower('ontimeout');

CREATE OR REPLACE TRIGGER TR_Confirmation_Answer BEFORE INSERT OR UPDATE OF Answer ON Confirmation FOR EACH ROW
    WHEN (NEW.Answer <> lower(NEW.Answer))
    EXECUTE FUNCTION batchctl_lower('answer');

CREATE OR REPLACE TRIGGER TR_ScheduleFire_Outcome BEFORE INSERT OR UPDATE OF Outcome ON ScheduleFire FOR EACH ROW
    WHEN (NEW.Outcome <> lower(NEW.Outcome))
    EXECUTE FUNCTION batchctl_lower('outcome');

CREATE OR REPLACE TRIGGER TR_ProcessBatch_Notify AFTER INSERT OR UPDATE OR DELETE ON ProcessBatch FOR EACH STATEMENT
    WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on')
    EXECUTE FUNCTION batchctl_notify();

CREATE OR REPLACE TRIGGER TR_ProcessControl_Notify AFTER INSERT OR UPDATE OR DELETE ON ProcessControl FOR EACH STATEMENT
    WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on')
    EXECUTE FUNCTION batchctl_notify();

CREATE OR REPLACE TRIGGER TR_BatchDependency_Notify AFTER INSERT OR UPDATE OR DELETE ON BatchDependency FOR EACH STATEMENT
    WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on')
    EXECUTE FUNCTION batchctl_notify();

CREATE OR REPLACE TRIGGER TR_BatchResource_Notify AFTER INSERT OR UPDATE OR DELETE ON BatchResource FOR EACH STATEMENT
    WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on')
    EXECUTE FUNCTION batchctl_notify();

CREATE OR REPLACE TRIGGER TR_Resource_Notify AFTER INSERT OR UPDATE OR DELETE ON Resource FOR EACH STATEMENT
    WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on')
    EXECUTE FUNCTION batchctl_notify();

CREATE OR REPLACE TRIGGER TR_Pool_Notify AFTER INSERT OR UPDATE OR DELETE ON Pool FOR EACH STATEMENT
    WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on')
    EXECUTE FUNCTION batchctl_notify();

CREATE OR REPLACE TRIGGER TR_Variable_Notify AFTER INSERT OR UPDATE OR DELETE ON Variable FOR EACH STATEMENT
    WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on')
    EXECUTE FUNCTION batchctl_notify();

CREATE OR REPLACE TRIGGER TR_Schedule_Notify AFTER INSERT OR UPDATE OR DELETE ON Schedule FOR EACH STATEMENT
    WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on')
    EXECUTE FUNCTION batchctl_notify();

CREATE OR REPLACE TRIGGER TR_Calendar_Notify AFTER INSERT OR UPDATE OR DELETE ON Calendar FOR EACH STATEMENT
    WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on')
    EXECUTE FUNCTION batchctl_notify();

CREATE OR REPLACE TRIGGER TR_CalendarDay_Notify AFTER INSERT OR UPDATE OR DELETE ON CalendarDay FOR EACH STATEMENT
    WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on')
    EXECUTE FUNCTION batchctl_notify();

CREATE OR REPLACE TRIGGER TR_DataTrigger_Notify AFTER INSERT OR UPDATE OR DELETE ON DataTrigger FOR EACH STATEMENT
    WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on')
    EXECUTE FUNCTION batchctl_notify();

CREATE OR REPLACE TRIGGER TR_FileWatch_Notify AFTER INSERT OR UPDATE OR DELETE ON FileWatch FOR EACH STATEMENT
    WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on')
    EXECUTE FUNCTION batchctl_notify();

CREATE OR REPLACE TRIGGER TR_BatchFreeze_Notify AFTER INSERT OR UPDATE OR DELETE ON BatchFreeze FOR EACH STATEMENT
    WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on')
    EXECUTE FUNCTION batchctl_notify();

CREATE OR REPLACE TRIGGER TR_Drain_Notify AFTER INSERT OR UPDATE OR DELETE ON Drain FOR EACH STATEMENT
    WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on')
    EXECUTE FUNCTION batchctl_notify();

CREATE OR REPLACE TRIGGER TR_Setting_Notify AFTER INSERT OR UPDATE OR DELETE ON Setting FOR EACH STATEMENT
    WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on')
    EXECUTE FUNCTION batchctl_notify();

CREATE OR REPLACE TRIGGER TR_BatchControl_Notify AFTER INSERT OR UPDATE OR DELETE ON BatchControl FOR EACH STATEMENT
    WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on')
    EXECUTE FUNCTION batchctl_notify();

CREATE OR REPLACE TRIGGER TR_FileProcess_Notify AFTER INSERT OR UPDATE OR DELETE ON FileProcess FOR EACH STATEMENT
    WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on')
    EXECUTE FUNCTION batchctl_notify();

CREATE OR REPLACE TRIGGER TR_OperatorRequest_Notify AFTER INSERT ON OperatorRequest FOR EACH STATEMENT
    WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on')
    EXECUTE FUNCTION batchctl_notify();

COMMIT;

