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
