-- A batch: which entity it takes, how its instances are made, in what order and how often they are tried.
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

-- Where steps may run: the controllers that serve a pool begin its steps, and no others.
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

-- What {var:Name} stands for in definitions, so that the same ones serve test and production.
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

-- What steps share, such as an FTP server, and how many units of it there are.
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

-- When rows of an entity are put into FileProcess by themselves.
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

CREATE INDEX [IX_Schedule_Due] ON Schedule (NextRunTime) WHERE Enabled = 1;

-- A named set of business days.
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

-- A table of another database whose new rows start an entity.
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

-- A folder whose files become rows of FileProcess.
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

-- What can be set while controllers run.
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

-- What a batch and its steps were at each version.
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

-- Which definitions came from which file or module.
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

-- What people ask for by a row, and what was answered.
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

CREATE INDEX [IX_OperatorRequest_Open] ON OperatorRequest (OperatorRequest_id) WHERE Status = 'requested';

-- What may not start for now, and who said so.
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

CREATE INDEX [IX_BatchFreeze_Standing] ON BatchFreeze (BatchFreeze_id) WHERE ThawedTime IS NULL;

-- A host or a pool on which nothing new begins, until somebody ends that.
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

CREATE INDEX [IX_Drain_Standing] ON Drain (Drain_id) WHERE UndrainedTime IS NULL;

-- What people have to know of, until it is over.
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

CREATE INDEX [IX_Incident_Recovery] ON Incident (Incident_id) WHERE ResolvedTime IS NOT NULL AND RecoveryTime IS NULL;

CREATE UNIQUE INDEX [UX_Incident_Standing] ON Incident (IncidentKey) WHERE ResolvedTime IS NULL;

-- Who has changed what, when and why. Nothing is ever changed here.
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

CREATE INDEX [IX_AuditLog_Target] ON AuditLog (Target);

-- Hashes that chain the rows of AuditLog.
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

-- The offsets of the business time zone, for views that show local times.
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

CREATE INDEX [IX_ZoneOffset_Until] ON ZoneOffset (UntilTime, FromTime);

-- What the engine has done, event by event.
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

CREATE INDEX [IX_SchedulerLog_Fired] ON SchedulerLog (FileProcess_id) WHERE EventType = 'fired';

CREATE INDEX [IX_SchedulerLog_Entity] ON SchedulerLog (Entity, SchedulerLog_id);

-- What has arrived: a row here is work for every batch that takes its entity.
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

CREATE INDEX [IX_FileProcess_Awaiting] ON FileProcess (FileProcess_id) WHERE PopulatorTries IS NOT NULL;

CREATE INDEX [IX_FileProcess_Unreadable] ON FileProcess (FileProcess_id) WHERE Status <> 'ready' AND Status <> 'paused'
    AND Status <> 'complete' AND Status <> 'rejected' AND Status <> 'duplicate';

CREATE INDEX [IX_FileProcess_Inbox] ON FileProcess (FileProcess_id) WHERE Status IN ('paused', 'rejected', 'duplicate');

CREATE INDEX [IX_FileProcess_Ready] ON FileProcess (FileProcess_id) WHERE Status = 'ready';

-- The controllers that run, or have run.
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

-- Which controller makes instances and fires schedules: one row.
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

-- Rows that controllers lock to do one thing at a time.
CREATE TABLE NamedLock (
    NamedLock_id BIGINT NOT NULL IDENTITY,
    z_inserted DATETIME2(3) NOT NULL CONSTRAINT [DF_NamedLock_z_inserted] DEFAULT SYSUTCDATETIME(),
    z_updated DATETIME2(3) NOT NULL CONSTRAINT [DF_NamedLock_z_updated] DEFAULT SYSUTCDATETIME(),
    CONSTRAINT [PK_NamedLock] PRIMARY KEY (NamedLock_id)
);

-- The steps of a batch, carried out in the order of ProcessControlSeq.
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

-- How many units of a resource an instance of a batch holds while it is claimed.
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

-- Which batches have to be complete before a batch is started.
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

-- A day on which a calendar differs from its weekdays.
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

-- Messages about incidents, one for each channel.
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

CREATE INDEX [IX_AlertDelivery_Waiting] ON AlertDelivery (AlertDelivery_id) WHERE Status = 'waiting';

-- The files that a watch has seen, so that none is taken twice.
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

CREATE INDEX [IX_FileWatchSeen_Intake] ON FileWatchSeen (FileProcess_id);

-- Past due times that a person has asked for.
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

CREATE INDEX [IX_ScheduleBackfill_Running] ON ScheduleBackfill (ScheduleBackfill_id) WHERE Status = 'running';

-- An instance: one batch at work on one row of FileProcess, and how far it has come.
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

CREATE INDEX [IX_BatchControl_Deferred] ON BatchControl (ProcessBatch_id, NextRunTime) WHERE Status IN ('ready', 'retry')
    AND NextRunTime > '1900-01-01 00:00:00.000';

CREATE INDEX [IX_BatchControl_Paused] ON BatchControl (ProcessBatch_id, BatchControl_id) WHERE Status IN ('paused');

CREATE INDEX [IX_BatchControl_Standing] ON BatchControl (BatchControl_id) WHERE Status IN ('retry', 'failed', 'held');

CREATE INDEX [IX_BatchControl_Over] ON BatchControl (ProcessBatch_id, Status, BatchControl_id)
    WHERE Status IN ('complete', 'cancelled');

CREATE INDEX [IX_BatchControl_Unreadable] ON BatchControl (BatchControl_id) WHERE Status <> 'ready' AND Status <> 'running'
    AND Status <> 'retry' AND Status <> 'failed' AND Status <> 'held' AND Status <> 'pausing' AND Status <> 'paused'
    AND Status <> 'cancelling' AND Status <> 'cancelled' AND Status <> 'complete';

CREATE INDEX [IX_BatchControl_Claimed] ON BatchControl (ProcessBatch_id) WHERE Status IN ('running', 'pausing', 'cancelling');

CREATE INDEX [IX_BatchControl_Cycle] ON BatchControl (ProcessBatch_id, CycleKey, BatchControl_id);

CREATE INDEX [IX_BatchControl_Due] ON BatchControl (NextRunTime) WHERE Status IN ('ready', 'retry')
    AND NextRunTime > '1900-01-01 00:00:00.000';

CREATE INDEX [IX_BatchControl_Begun] ON BatchControl (ProcessBatch_id, BegunTime) WHERE BegunTime IS NOT NULL;

CREATE INDEX [IX_BatchControl_InLine] ON BatchControl (ProcessBatch_id, BatchControl_id)
    WHERE Status IN ('ready', 'retry', 'failed', 'held');

CREATE INDEX [IX_BatchControl_AtOnce] ON BatchControl (ProcessBatch_id, BatchControl_id) WHERE Status IN ('ready', 'retry')
    AND NextRunTime <= '1900-01-01 00:00:00.000';

-- How long attempts took that have been purged.
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

-- When batches will probably be ready, as it was said last, and at fixed hours with what came of it.
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

CREATE UNIQUE INDEX [UX_KeptForecast_Newest] ON KeptForecast (ProcessBatch_id) WHERE KeptFor IS NULL;

CREATE UNIQUE INDEX [UX_KeptForecast_Kept] ON KeptForecast (ProcessBatch_id, KeptFor) WHERE KeptFor IS NOT NULL;

CREATE INDEX [IX_KeptForecast_Awaited] ON KeptForecast (KeptForecast_id) WHERE ReadyOn IS NULL AND KeptFor IS NOT NULL;

-- Which pools a controller serves; one without rows serves the default pool.
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

-- A question that a step asks people, and how it was answered.
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

CREATE UNIQUE INDEX [UX_Confirmation_Open] ON Confirmation (BatchControl_id) WHERE Answer IS NULL;

CREATE INDEX [IX_Confirmation_Instance] ON Confirmation (BatchControl_id);

-- What people write about an instance, an incident or a batch.
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

CREATE INDEX [IX_Note_Instance] ON Note (BatchControl_id);

CREATE INDEX [IX_Note_Batch] ON Note (ProcessBatch_id);

CREATE INDEX [IX_Note_Incident] ON Note (Incident_id);

-- Who may come into the console, as what, and how it is known that it is that person.
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

-- A browser that the console has let in.
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

CREATE INDEX [IX_WebSession_User] ON WebSession (WebUser_id);

-- What a program shows that asks the console.
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

-- Until when no password of a user, or from an address, is looked at, as the last ones were wrong.
CREATE TABLE LoginBackOff (
    LoginBackOff_id BIGINT NOT NULL IDENTITY,
    Subject NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Failures INTEGER NOT NULL,
    ShutUntil DATETIME2(3) NOT NULL,
    CONSTRAINT [PK_LoginBackOff] PRIMARY KEY (LoginBackOff_id),
    CONSTRAINT [UQ_LoginBackOff_Subject] UNIQUE (Subject)
);

-- What was asked of the console under a key, so that asking again acts once.
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

-- What was decided about each due time of a schedule.
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

CREATE INDEX [IX_ScheduleFire_Due] ON ScheduleFire (Schedule_id, DueTime);

CREATE INDEX [IX_ScheduleFire_FileProcess] ON ScheduleFire (FileProcess_id);

-- Each attempt at a step, with the command that can be pasted and run by hand.
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

CREATE UNIQUE INDEX [UX_BatchProcessHistory_Live] ON BatchProcessHistory (BatchControl_id) WHERE Status = 'running';

CREATE INDEX [IX_BatchProcessHistory_Unreadable] ON BatchProcessHistory (BatchProcessHistory_id) WHERE Status <> 'running'
    AND Status <> 'success' AND Status <> 'failed' AND Status <> 'timeout' AND Status <> 'cancelled' AND Status <> 'lost'
    AND Status <> 'fenced' AND Status <> 'skipped' AND Status <> 'asked';

-- Completed instances that batches which depend on them still have to hear of.
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

CREATE INDEX [IX_BatchCompletion_Instance] ON BatchCompletion (BatchControl_id);

CREATE INDEX [IX_BatchCompletion_Started] ON BatchCompletion (FileProcess_id);

-- What a running step has written so far; gone once the output of its attempt is recorded.
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

CREATE INDEX [IX_BatchCompletion_Waiting] ON BatchCompletion (ProcessBatch_id, CycleKey, DependsOnBatch_id, BatchCompletion_id)
    WHERE FileProcess_id IS NULL;

CREATE INDEX [IX_FileProcess_Duplicate] ON FileProcess (Entity, DataHash) WHERE Data IS NOT NULL;

-- The name of this database, which no other has.
INSERT INTO Setting (Name, Value) SELECT 'DatabaseId', lower(replace(convert(nvarchar(36), newid()), '-', ''));

INSERT INTO Leader (Fence) SELECT 0;
