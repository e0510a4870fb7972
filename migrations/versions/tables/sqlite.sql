-- A batch: which entity it takes, how its instances are made, in what order and how often they are tried.
CREATE TABLE ProcessBatch (
    ProcessBatch_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ProcessBatchName VARCHAR(200) NOT NULL,
    Entity VARCHAR(200),
    Enabled SMALLINT DEFAULT 1 NOT NULL,
    Seq INTEGER DEFAULT 100 NOT NULL,
    RetryCount INTEGER DEFAULT 0 NOT NULL,
    RetryWaitMins INTEGER DEFAULT 5 NOT NULL,
    Populator VARCHAR(200) DEFAULT 'pattern' NOT NULL,
    PopulatorArgs TEXT,
    OnFailure VARCHAR(20) COLLATE "NOCASE" DEFAULT 'hold_batch' NOT NULL,
    DependencyMode VARCHAR(20) COLLATE "NOCASE" DEFAULT 'all' NOT NULL,
    MaxConcurrent INTEGER DEFAULT 1 NOT NULL,
    DuplicateCheck SMALLINT DEFAULT 1 NOT NULL,
    Description TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    ProcessingMode VARCHAR(20) COLLATE "NOCASE" CONSTRAINT CK_ProcessBatch_ProcessingMode_Type CHECK (ProcessingMode IS NULL
        OR (typeof(ProcessingMode) = 'text')) CONSTRAINT CK_ProcessBatch_ProcessingMode CHECK (ProcessingMode = 'manual'
        OR ProcessingMode = 'scheduled' OR ProcessingMode = 'triggered'),
    RetryWaitSecs INTEGER CONSTRAINT CK_ProcessBatch_RetryWaitSecs_Type CHECK (RetryWaitSecs IS NULL
        OR (typeof(RetryWaitSecs) = 'integer')) CONSTRAINT CK_ProcessBatch_RetryWaitSecs CHECK (RetryWaitSecs BETWEEN 0
        AND 31536000),
    Origin VARCHAR(200) CONSTRAINT CK_ProcessBatch_Origin_Type CHECK (Origin IS NULL OR (typeof(Origin) = 'text'
        AND instr(Origin, char(0)) = 0 AND length(Origin) <= 200)),
    Tags VARCHAR(200) CONSTRAINT CK_ProcessBatch_Tags_Type CHECK (Tags IS NULL OR (typeof(Tags) = 'text'
        AND instr(Tags, char(0)) = 0 AND length(Tags) <= 200)),
    ArriveBy VARCHAR(50) CONSTRAINT CK_ProcessBatch_ArriveBy_Type CHECK (ArriveBy IS NULL OR (typeof(ArriveBy) = 'text'
        AND instr(ArriveBy, char(0)) = 0 AND length(ArriveBy) <= 50)) CONSTRAINT CK_ProcessBatch_ArriveBy
        CHECK (lower(trim(ArriveBy)) = 'none' OR (trim(ArriveBy) GLOB '[0-2][0-9]:[0-5][0-9]'
        AND trim(ArriveBy) NOT GLOB '2[4-9]*')),
    StartBy VARCHAR(50) CONSTRAINT CK_ProcessBatch_StartBy_Type CHECK (StartBy IS NULL OR (typeof(StartBy) = 'text'
        AND instr(StartBy, char(0)) = 0 AND length(StartBy) <= 50)) CONSTRAINT CK_ProcessBatch_StartBy
        CHECK (lower(trim(StartBy)) = 'none' OR (trim(StartBy) GLOB '[0-2][0-9]:[0-5][0-9]'
        AND trim(StartBy) NOT GLOB '2[4-9]*')),
    FinishBy VARCHAR(50) CONSTRAINT CK_ProcessBatch_FinishBy_Type CHECK (FinishBy IS NULL OR (typeof(FinishBy) = 'text'
        AND instr(FinishBy, char(0)) = 0 AND length(FinishBy) <= 50)) CONSTRAINT CK_ProcessBatch_FinishBy
        CHECK (lower(trim(FinishBy)) = 'none' OR (trim(FinishBy) GLOB '[0-2][0-9]:[0-5][0-9]'
        AND trim(FinishBy) NOT GLOB '2[4-9]*')),
    ExpectedOn VARCHAR(50) CONSTRAINT CK_ProcessBatch_ExpectedOn_Type CHECK (ExpectedOn IS NULL OR (typeof(ExpectedOn) = 'text'
        AND instr(ExpectedOn, char(0)) = 0 AND length(ExpectedOn) <= 50)) CONSTRAINT CK_ProcessBatch_ExpectedOn
        CHECK (length(replace(',' || replace(replace(lower(replace(ExpectedOn, ' ', '')), '-', ','), ',', ',,') || ',', ',mon,', '')) + length(replace(',' || replace(replace(lower(replace(ExpectedOn, ' ', '')), '-', ','), ',', ',,') || ',', ',tue,', '')) + length(replace(',' || replace(replace(lower(replace(ExpectedOn, ' ', '')), '-', ','), ',', ',,') || ',', ',wed,', '')) + length(replace(',' || replace(replace(lower(replace(ExpectedOn, ' ', '')), '-', ','), ',', ',,') || ',', ',thu,', '')) + length(replace(',' || replace(replace(lower(replace(ExpectedOn, ' ', '')), '-', ','), ',', ',,') || ',', ',fri,', '')) + length(replace(',' || replace(replace(lower(replace(ExpectedOn, ' ', '')), '-', ','), ',', ',,') || ',', ',sat,', '')) + length(replace(',' || replace(replace(lower(replace(ExpectedOn, ' ', '')), '-', ','), ',', ',,') || ',', ',sun,', '')) = 6 * length(',' || replace(replace(lower(replace(ExpectedOn, ' ', '')), '-', ','), ',', ',,') || ',') AND replace(replace(ExpectedOn, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*' AND lower(replace(ExpectedOn, ' ', '')) NOT GLOB '*-[^-,]-*' AND lower(replace(ExpectedOn, ' ', '')) NOT GLOB '*-[^-,][^-,]-*' AND lower(replace(ExpectedOn, ' ', '')) NOT GLOB '*-[^-,][^-,][^-,]-*'),
    ExpectedCalendar VARCHAR(200) CONSTRAINT CK_ProcessBatch_ExpectedCalendar_Type CHECK (ExpectedCalendar IS NULL
        OR (typeof(ExpectedCalendar) = 'text' AND instr(ExpectedCalendar, char(0)) = 0 AND length(ExpectedCalendar) <= 200)),
    PopulatorOn VARCHAR(20) COLLATE "NOCASE" CONSTRAINT CK_ProcessBatch_PopulatorOn_Type CHECK (PopulatorOn IS NULL
        OR (typeof(PopulatorOn) = 'text')) CONSTRAINT CK_ProcessBatch_PopulatorOn CHECK (PopulatorOn = 'filename'
        OR PopulatorOn = 'data' OR PopulatorOn = 'entity'),
    CONSTRAINT "UQ_ProcessBatch_ProcessBatchName" UNIQUE (ProcessBatchName),
    CONSTRAINT "CK_ProcessBatch_ProcessBatchName" CHECK (ProcessBatchName <> ''),
    CONSTRAINT "CK_ProcessBatch_Enabled" CHECK (Enabled IN (0, 1)),
    CONSTRAINT "CK_ProcessBatch_DuplicateCheck" CHECK (DuplicateCheck IN (0, 1)),
    CONSTRAINT "CK_ProcessBatch_RetryCount" CHECK (RetryCount BETWEEN 0 AND 1000),
    CONSTRAINT "CK_ProcessBatch_RetryWaitMins" CHECK (RetryWaitMins BETWEEN 0 AND 525600),
    CONSTRAINT "CK_ProcessBatch_MaxConcurrent" CHECK (MaxConcurrent BETWEEN 1 AND 1000),
    CONSTRAINT "CK_ProcessBatch_OnFailure" CHECK (OnFailure = 'hold_batch' OR OnFailure = 'stop_all' OR OnFailure = 'continue'),
    CONSTRAINT "CK_ProcessBatch_DependencyMode" CHECK (DependencyMode = 'all' OR DependencyMode = 'any'),
    CONSTRAINT "CK_ProcessBatch_Entity" CHECK (Entity <> ''),
    CONSTRAINT "CK_ProcessBatch_Populator" CHECK (Populator <> ''),
    CONSTRAINT "CK_ProcessBatch_ProcessBatchName_Type" CHECK (typeof(ProcessBatchName) = 'text'
        AND instr(ProcessBatchName, char(0)) = 0 AND length(ProcessBatchName) <= 200),
    CONSTRAINT "CK_ProcessBatch_Entity_Type" CHECK (Entity IS NULL OR (typeof(Entity) = 'text' AND instr(Entity, char(0)) = 0
        AND length(Entity) <= 200)),
    CONSTRAINT "CK_ProcessBatch_Enabled_Type" CHECK (typeof(Enabled) = 'integer'),
    CONSTRAINT "CK_ProcessBatch_Seq_Type" CHECK (typeof(Seq) = 'integer'),
    CONSTRAINT "CK_ProcessBatch_RetryCount_Type" CHECK (typeof(RetryCount) = 'integer'),
    CONSTRAINT "CK_ProcessBatch_RetryWaitMins_Type" CHECK (typeof(RetryWaitMins) = 'integer'),
    CONSTRAINT "CK_ProcessBatch_Populator_Type" CHECK (typeof(Populator) = 'text' AND instr(Populator, char(0)) = 0
        AND length(Populator) <= 200),
    CONSTRAINT "CK_ProcessBatch_PopulatorArgs_Type" CHECK (PopulatorArgs IS NULL OR (typeof(PopulatorArgs) = 'text'
        AND instr(PopulatorArgs, char(0)) = 0)),
    CONSTRAINT "CK_ProcessBatch_OnFailure_Type" CHECK (typeof(OnFailure) = 'text'),
    CONSTRAINT "CK_ProcessBatch_DependencyMode_Type" CHECK (typeof(DependencyMode) = 'text'),
    CONSTRAINT "CK_ProcessBatch_MaxConcurrent_Type" CHECK (typeof(MaxConcurrent) = 'integer'),
    CONSTRAINT "CK_ProcessBatch_DuplicateCheck_Type" CHECK (typeof(DuplicateCheck) = 'integer'),
    CONSTRAINT "CK_ProcessBatch_Description_Type" CHECK (Description IS NULL OR (typeof(Description) = 'text'
        AND instr(Description, char(0)) = 0)),
    CONSTRAINT "CK_ProcessBatch_z_inserted_Type" CHECK ((z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_ProcessBatch_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

-- What steps share, such as an FTP server, and how many units of it there are.
CREATE TABLE Resource (
    Resource_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ResourceName VARCHAR(200) NOT NULL,
    Units INTEGER DEFAULT 1 NOT NULL,
    Description TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_Resource_ResourceName" UNIQUE (ResourceName),
    CONSTRAINT "CK_Resource_ResourceName" CHECK (ResourceName <> ''),
    CONSTRAINT "CK_Resource_Units" CHECK (Units BETWEEN 0 AND 1000000),
    CONSTRAINT "CK_Resource_ResourceName_Type" CHECK (typeof(ResourceName) = 'text' AND instr(ResourceName, char(0)) = 0
        AND length(ResourceName) <= 200),
    CONSTRAINT "CK_Resource_Units_Type" CHECK (typeof(Units) = 'integer'),
    CONSTRAINT "CK_Resource_Description_Type" CHECK (Description IS NULL OR (typeof(Description) = 'text'
        AND instr(Description, char(0)) = 0)),
    CONSTRAINT "CK_Resource_z_inserted_Type" CHECK ((z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_Resource_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

-- When rows of an entity are put into FileProcess by themselves.
CREATE TABLE Schedule (
    Schedule_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ScheduleName VARCHAR(200) NOT NULL,
    Entity VARCHAR(200) NOT NULL,
    ScheduleType VARCHAR(20) COLLATE "NOCASE" NOT NULL,
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
    CalendarRule VARCHAR(20) COLLATE "NOCASE" DEFAULT 'business_days' NOT NULL,
    GapPolicy VARCHAR(20) COLLATE "NOCASE" DEFAULT 'run' NOT NULL,
    FoldPolicy VARCHAR(20) COLLATE "NOCASE" DEFAULT 'once' NOT NULL,
    CatchUp VARCHAR(20) COLLATE "NOCASE" DEFAULT 'none' NOT NULL,
    CatchUpMost INTEGER,
    Overlap VARCHAR(20) COLLATE "NOCASE" DEFAULT 'queue' NOT NULL,
    Jitter INTEGER DEFAULT 0 NOT NULL,
    Enabled SMALLINT DEFAULT 1 NOT NULL,
    NextRunTime TEXT,
    DecidedUntil TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    TimingHash VARCHAR(64),
    Origin VARCHAR(200),
    Description TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
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
    CONSTRAINT "CK_Schedule_ScheduleType" CHECK (ScheduleType = 'interval' OR ScheduleType = 'daily' OR ScheduleType = 'weekly'
        OR ScheduleType = 'monthly' OR ScheduleType = 'monthly_dow' OR ScheduleType = 'once' OR ScheduleType = 'cron'),
    CONSTRAINT "CK_Schedule_CalendarRule" CHECK (CalendarRule = 'business_days' OR CalendarRule = 'days_off'
        OR CalendarRule = 'next' OR CalendarRule = 'previous'),
    CONSTRAINT "CK_Schedule_GapPolicy" CHECK (GapPolicy = 'run' OR GapPolicy = 'skip'),
    CONSTRAINT "CK_Schedule_FoldPolicy" CHECK (FoldPolicy = 'once' OR FoldPolicy = 'twice'),
    CONSTRAINT "CK_Schedule_CatchUp" CHECK (CatchUp = 'none' OR CatchUp = 'latest' OR CatchUp = 'up_to'),
    CONSTRAINT "CK_Schedule_Overlap" CHECK (Overlap = 'queue' OR Overlap = 'skip'),
    CONSTRAINT "CK_Schedule_RunTimes_Form" CHECK (',' || replace(RunTimes, ' ', '') || ',' NOT GLOB '*,[^0-2]*'
        AND ',' || replace(RunTimes, ' ', '') || ',' NOT GLOB '*,2[^0-3]*'
        AND ',' || replace(RunTimes, ' ', '') || ',' NOT GLOB '*,[01][^0-9]*'
        AND ',' || replace(RunTimes, ' ', '') || ',' NOT GLOB '*,??[^:]*'
        AND ',' || replace(RunTimes, ' ', '') || ',' NOT GLOB '*,???[^0-5]*'
        AND ',' || replace(RunTimes, ' ', '') || ',' NOT GLOB '*,????[^0-9]*'
        AND ',' || replace(RunTimes, ' ', '') || ',' NOT GLOB '*,?????[^,]*'),
    CONSTRAINT "CK_Schedule_BetweenTimes"
        CHECK (replace(BetweenTimes, ' ', '') GLOB '[0-2][0-9]:[0-5][0-9]-[0-2][0-9]:[0-5][0-9]'
        AND replace(BetweenTimes, ' ', '') NOT GLOB '2[4-9]*' AND replace(BetweenTimes, ' ', '') NOT GLOB '*-2[4-9]*'),
    CONSTRAINT "CK_Schedule_RunDays_Form"
        CHECK (length(replace(',' || replace(replace(lower(replace(RunDays, ' ', '')), '-', ','), ',', ',,') || ',', ',mon,', '')) + length(replace(',' || replace(replace(lower(replace(RunDays, ' ', '')), '-', ','), ',', ',,') || ',', ',tue,', '')) + length(replace(',' || replace(replace(lower(replace(RunDays, ' ', '')), '-', ','), ',', ',,') || ',', ',wed,', '')) + length(replace(',' || replace(replace(lower(replace(RunDays, ' ', '')), '-', ','), ',', ',,') || ',', ',thu,', '')) + length(replace(',' || replace(replace(lower(replace(RunDays, ' ', '')), '-', ','), ',', ',,') || ',', ',fri,', '')) + length(replace(',' || replace(replace(lower(replace(RunDays, ' ', '')), '-', ','), ',', ',,') || ',', ',sat,', '')) + length(replace(',' || replace(replace(lower(replace(RunDays, ' ', '')), '-', ','), ',', ',,') || ',', ',sun,', '')) = 6 * length(',' || replace(replace(lower(replace(RunDays, ' ', '')), '-', ','), ',', ',,') || ',') AND replace(replace(RunDays, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*' AND lower(replace(RunDays, ' ', '')) NOT GLOB '*-[^-,]-*' AND lower(replace(RunDays, ' ', '')) NOT GLOB '*-[^-,][^-,]-*' AND lower(replace(RunDays, ' ', '')) NOT GLOB '*-[^-,][^-,][^-,]-*'),
    CONSTRAINT "CK_Schedule_WeekOfMonth_Form"
        CHECK (length(replace(',' || replace(lower(replace(WeekOfMonth, ' ', '')), ',', ',,') || ',', ',first,', '')) + length(replace(',' || replace(lower(replace(WeekOfMonth, ' ', '')), ',', ',,') || ',', ',second,', '')) + length(replace(',' || replace(lower(replace(WeekOfMonth, ' ', '')), ',', ',,') || ',', ',third,', '')) + length(replace(',' || replace(lower(replace(WeekOfMonth, ' ', '')), ',', ',,') || ',', ',fourth,', '')) + length(replace(',' || replace(lower(replace(WeekOfMonth, ' ', '')), ',', ',,') || ',', ',fifth,', '')) + length(replace(',' || replace(lower(replace(WeekOfMonth, ' ', '')), ',', ',,') || ',', ',last,', '')) = 5 * length(',' || replace(lower(replace(WeekOfMonth, ' ', '')), ',', ',,') || ',') AND replace(replace(WeekOfMonth, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*'),
    CONSTRAINT "CK_Schedule_RunAt_Form"
        CHECK ((trim(RunAt) GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9][ T][0-2][0-9]:[0-5][0-9]'
        OR trim(RunAt) GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9][ T][0-2][0-9]:[0-5][0-9]:[0-5][0-9]')
        AND trim(RunAt) NOT GLOB '?????00*' AND trim(RunAt) NOT GLOB '?????1[3-9]*' AND trim(RunAt) NOT GLOB '????????00*'
        AND trim(RunAt) NOT GLOB '????????3[2-9]*' AND trim(RunAt) NOT GLOB '*[ T]2[4-9]*'),
    CONSTRAINT "CK_Schedule_StartDate" CHECK (trim(StartDate) GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'
        AND trim(StartDate) NOT GLOB '?????00*' AND trim(StartDate) NOT GLOB '?????1[3-9]*'
        AND trim(StartDate) NOT GLOB '????????00*' AND trim(StartDate) NOT GLOB '????????3[2-9]*'),
    CONSTRAINT "CK_Schedule_EndDate" CHECK (trim(EndDate) GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'
        AND trim(EndDate) NOT GLOB '?????00*' AND trim(EndDate) NOT GLOB '?????1[3-9]*'
        AND trim(EndDate) NOT GLOB '????????00*' AND trim(EndDate) NOT GLOB '????????3[2-9]*'),
    CONSTRAINT "CK_Schedule_RunMonths"
        CHECK (length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',jan,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',feb,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',mar,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',apr,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',may,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',jun,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',jul,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',aug,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',sep,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',oct,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',nov,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',dec,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',1,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',2,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',3,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',4,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',5,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',6,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',7,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',8,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',9,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',10,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',11,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',12,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',01,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',02,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',03,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',04,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',05,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',06,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',07,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',08,', '')) + length(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',09,', '')) = 32 * length(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',') AND replace(replace(RunMonths, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*' AND lower(replace(RunMonths, ' ', '')) NOT GLOB '*-[^-,]-*' AND lower(replace(RunMonths, ' ', '')) NOT GLOB '*-[^-,][^-,]-*' AND lower(replace(RunMonths, ' ', '')) NOT GLOB '*-[^-,][^-,][^-,]-*'),
    CONSTRAINT "CK_Schedule_RunDaysOfMonth_Form"
        CHECK (length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',1,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',2,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',3,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',4,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',5,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',6,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',7,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',8,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',9,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',10,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',11,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',12,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',13,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',14,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',15,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',16,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',17,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',18,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',19,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',20,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',21,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',22,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',23,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',24,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',25,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',26,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',27,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',28,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',29,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',30,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',31,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',01,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',02,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',03,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',04,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',05,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',06,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',07,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',08,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',09,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',last,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_1,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_2,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_3,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_4,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_5,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_6,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_7,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_8,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_9,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_10,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_11,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_12,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_13,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_14,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_15,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_16,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_17,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_18,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_19,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_20,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_21,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_22,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_23,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_01,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_02,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_03,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_04,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_05,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_06,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_07,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_08,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_09,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_last,', '')) = 73 * length(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',') AND replace(replace(RunDaysOfMonth, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*'),
    CONSTRAINT "CK_Schedule_RunMonths_Days"
        CHECK (NOT ((length(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',feb,', '')) + length(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',2,', '')) + length(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',02,', '')) = 2 * length(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',') AND replace(replace(RunMonths, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*') AND (length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',30,', '')) + length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',31,', '')) = 1 * length(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',') AND replace(replace(RunDaysOfMonth, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*')) AND NOT ((length(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',feb,', '')) + length(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',apr,', '')) + length(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',jun,', '')) + length(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',sep,', '')) + length(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',nov,', '')) + length(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',2,', '')) + length(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',4,', '')) + length(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',6,', '')) + length(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',9,', '')) + length(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',11,', '')) + length(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',02,', '')) + length(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',04,', '')) + length(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',06,', '')) + length(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',09,', '')) = 13 * length(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',') AND replace(replace(RunMonths, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*') AND (length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',31,', '')) = 0 * length(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',') AND replace(replace(RunDaysOfMonth, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*'))),
    CONSTRAINT "CK_Schedule_RunTimes_Blanks" CHECK (replace(replace(RunTimes, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*'),
    CONSTRAINT "CK_Schedule_BetweenTimes_Blanks"
        CHECK (replace(replace(BetweenTimes, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*'),
    CONSTRAINT "CK_Schedule_ScheduleName_Type" CHECK (typeof(ScheduleName) = 'text' AND instr(ScheduleName, char(0)) = 0
        AND length(ScheduleName) <= 200),
    CONSTRAINT "CK_Schedule_Entity_Type" CHECK (typeof(Entity) = 'text' AND instr(Entity, char(0)) = 0
        AND length(Entity) <= 200),
    CONSTRAINT "CK_Schedule_ScheduleType_Type" CHECK (typeof(ScheduleType) = 'text'),
    CONSTRAINT "CK_Schedule_IntervalMinutes_Type" CHECK (IntervalMinutes IS NULL OR (typeof(IntervalMinutes) = 'integer')),
    CONSTRAINT "CK_Schedule_RunTimes_Type" CHECK (RunTimes IS NULL OR (typeof(RunTimes) = 'text'
        AND instr(RunTimes, char(0)) = 0 AND length(RunTimes) <= 200)),
    CONSTRAINT "CK_Schedule_RunDays_Type" CHECK (RunDays IS NULL OR (typeof(RunDays) = 'text' AND instr(RunDays, char(0)) = 0
        AND length(RunDays) <= 200)),
    CONSTRAINT "CK_Schedule_RunDaysOfMonth_Type" CHECK (RunDaysOfMonth IS NULL OR (typeof(RunDaysOfMonth) = 'text'
        AND instr(RunDaysOfMonth, char(0)) = 0 AND length(RunDaysOfMonth) <= 200)),
    CONSTRAINT "CK_Schedule_WeekOfMonth_Type" CHECK (WeekOfMonth IS NULL OR (typeof(WeekOfMonth) = 'text'
        AND instr(WeekOfMonth, char(0)) = 0 AND length(WeekOfMonth) <= 200)),
    CONSTRAINT "CK_Schedule_RunMonths_Type" CHECK (RunMonths IS NULL OR (typeof(RunMonths) = 'text'
        AND instr(RunMonths, char(0)) = 0 AND length(RunMonths) <= 200)),
    CONSTRAINT "CK_Schedule_BetweenTimes_Type" CHECK (BetweenTimes IS NULL OR (typeof(BetweenTimes) = 'text'
        AND instr(BetweenTimes, char(0)) = 0 AND length(BetweenTimes) <= 50)),
    CONSTRAINT "CK_Schedule_EveryN_Type" CHECK (typeof(EveryN) = 'integer'),
    CONSTRAINT "CK_Schedule_StartDate_Type" CHECK (StartDate IS NULL OR (typeof(StartDate) = 'text'
        AND instr(StartDate, char(0)) = 0 AND length(StartDate) <= 10)),
    CONSTRAINT "CK_Schedule_EndDate_Type" CHECK (EndDate IS NULL OR (typeof(EndDate) = 'text' AND instr(EndDate, char(0)) = 0
        AND length(EndDate) <= 10)),
    CONSTRAINT "CK_Schedule_RunAt_Type" CHECK (RunAt IS NULL OR (typeof(RunAt) = 'text' AND instr(RunAt, char(0)) = 0
        AND length(RunAt) <= 50)),
    CONSTRAINT "CK_Schedule_Cron_Type" CHECK (Cron IS NULL OR (typeof(Cron) = 'text' AND instr(Cron, char(0)) = 0
        AND length(Cron) <= 200)),
    CONSTRAINT "CK_Schedule_TimeZone_Type" CHECK (TimeZone IS NULL OR (typeof(TimeZone) = 'text'
        AND instr(TimeZone, char(0)) = 0 AND length(TimeZone) <= 200)),
    CONSTRAINT "CK_Schedule_CalendarName_Type" CHECK (CalendarName IS NULL OR (typeof(CalendarName) = 'text'
        AND instr(CalendarName, char(0)) = 0 AND length(CalendarName) <= 200)),
    CONSTRAINT "CK_Schedule_CalendarRule_Type" CHECK (typeof(CalendarRule) = 'text'),
    CONSTRAINT "CK_Schedule_GapPolicy_Type" CHECK (typeof(GapPolicy) = 'text'),
    CONSTRAINT "CK_Schedule_FoldPolicy_Type" CHECK (typeof(FoldPolicy) = 'text'),
    CONSTRAINT "CK_Schedule_CatchUp_Type" CHECK (typeof(CatchUp) = 'text'),
    CONSTRAINT "CK_Schedule_CatchUpMost_Type" CHECK (CatchUpMost IS NULL OR (typeof(CatchUpMost) = 'integer')),
    CONSTRAINT "CK_Schedule_Overlap_Type" CHECK (typeof(Overlap) = 'text'),
    CONSTRAINT "CK_Schedule_Jitter_Type" CHECK (typeof(Jitter) = 'integer'),
    CONSTRAINT "CK_Schedule_Enabled_Type" CHECK (typeof(Enabled) = 'integer'),
    CONSTRAINT "CK_Schedule_NextRunTime_Type" CHECK (NextRunTime IS NULL OR ((NextRunTime >= '0001' AND NextRunTime < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', NextRunTime, '+0 days') IS NextRunTime) OR (NextRunTime >= '0001'
        AND NextRunTime GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(NextRunTime, 1, 10), '+0 days') IS substr(NextRunTime, 1, 10) AND substr(NextRunTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', NextRunTime), 1, length(NextRunTime)) IS substr(NextRunTime, 1, 19)
        AND substr(NextRunTime, 20) NOT GLOB '*[^.0-9]*' AND NextRunTime GLOB '*[0-9]' AND instr(NextRunTime, char(0)) = 0))),
    CONSTRAINT "CK_Schedule_DecidedUntil_Type" CHECK (DecidedUntil IS NULL OR ((DecidedUntil >= '0001' AND DecidedUntil < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', DecidedUntil, '+0 days') IS DecidedUntil) OR (DecidedUntil >= '0001'
        AND DecidedUntil GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(DecidedUntil, 1, 10), '+0 days') IS substr(DecidedUntil, 1, 10) AND substr(DecidedUntil, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', DecidedUntil), 1, length(DecidedUntil)) IS substr(DecidedUntil, 1, 19)
        AND substr(DecidedUntil, 20) NOT GLOB '*[^.0-9]*' AND DecidedUntil GLOB '*[0-9]'
        AND instr(DecidedUntil, char(0)) = 0))),
    CONSTRAINT "CK_Schedule_TimingHash_Type" CHECK (TimingHash IS NULL OR (typeof(TimingHash) = 'text'
        AND instr(TimingHash, char(0)) = 0 AND length(TimingHash) <= 64)),
    CONSTRAINT "CK_Schedule_Origin_Type" CHECK (Origin IS NULL OR (typeof(Origin) = 'text' AND instr(Origin, char(0)) = 0
        AND length(Origin) <= 200)),
    CONSTRAINT "CK_Schedule_Description_Type" CHECK (Description IS NULL OR (typeof(Description) = 'text'
        AND instr(Description, char(0)) = 0)),
    CONSTRAINT "CK_Schedule_z_inserted_Type" CHECK (z_inserted IS NextRunTime OR z_inserted IS DecidedUntil
        OR (z_inserted >= '0001' AND z_inserted < ':' AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted)
        OR (z_inserted >= '0001' AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_Schedule_z_updated_Type" CHECK (z_updated IS NextRunTime OR z_updated IS DecidedUntil
        OR z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

CREATE INDEX "IX_Schedule_Due" ON Schedule (NextRunTime) WHERE Enabled = 1;

-- A named set of business days.
CREATE TABLE Calendar (
    Calendar_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    CalendarName VARCHAR(200) NOT NULL,
    BusinessDays VARCHAR(50) DEFAULT 'Mon,Tue,Wed,Thu,Fri' NOT NULL,
    ValidFrom VARCHAR(10),
    ValidUntil VARCHAR(10),
    Description TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_Calendar_CalendarName" UNIQUE (CalendarName),
    CONSTRAINT "CK_Calendar_CalendarName" CHECK (CalendarName <> ''),
    CONSTRAINT "CK_Calendar_BusinessDays" CHECK (trim(BusinessDays) = ''
        OR (length(replace(',' || replace(replace(lower(replace(BusinessDays, ' ', '')), '-', ','), ',', ',,') || ',', ',mon,', '')) + length(replace(',' || replace(replace(lower(replace(BusinessDays, ' ', '')), '-', ','), ',', ',,') || ',', ',tue,', '')) + length(replace(',' || replace(replace(lower(replace(BusinessDays, ' ', '')), '-', ','), ',', ',,') || ',', ',wed,', '')) + length(replace(',' || replace(replace(lower(replace(BusinessDays, ' ', '')), '-', ','), ',', ',,') || ',', ',thu,', '')) + length(replace(',' || replace(replace(lower(replace(BusinessDays, ' ', '')), '-', ','), ',', ',,') || ',', ',fri,', '')) + length(replace(',' || replace(replace(lower(replace(BusinessDays, ' ', '')), '-', ','), ',', ',,') || ',', ',sat,', '')) + length(replace(',' || replace(replace(lower(replace(BusinessDays, ' ', '')), '-', ','), ',', ',,') || ',', ',sun,', '')) = 6 * length(',' || replace(replace(lower(replace(BusinessDays, ' ', '')), '-', ','), ',', ',,') || ',') AND replace(replace(BusinessDays, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*' AND lower(replace(BusinessDays, ' ', '')) NOT GLOB '*-[^-,]-*' AND lower(replace(BusinessDays, ' ', '')) NOT GLOB '*-[^-,][^-,]-*' AND lower(replace(BusinessDays, ' ', '')) NOT GLOB '*-[^-,][^-,][^-,]-*')),
    CONSTRAINT "CK_Calendar_ValidFrom" CHECK (trim(ValidFrom) GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'
        AND trim(ValidFrom) NOT GLOB '?????00*' AND trim(ValidFrom) NOT GLOB '?????1[3-9]*'
        AND trim(ValidFrom) NOT GLOB '????????00*' AND trim(ValidFrom) NOT GLOB '????????3[2-9]*'),
    CONSTRAINT "CK_Calendar_ValidUntil" CHECK (trim(ValidUntil) GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'
        AND trim(ValidUntil) NOT GLOB '?????00*' AND trim(ValidUntil) NOT GLOB '?????1[3-9]*'
        AND trim(ValidUntil) NOT GLOB '????????00*' AND trim(ValidUntil) NOT GLOB '????????3[2-9]*'),
    CONSTRAINT "CK_Calendar_CalendarName_Type" CHECK (typeof(CalendarName) = 'text' AND instr(CalendarName, char(0)) = 0
        AND length(CalendarName) <= 200),
    CONSTRAINT "CK_Calendar_BusinessDays_Type" CHECK (typeof(BusinessDays) = 'text' AND instr(BusinessDays, char(0)) = 0
        AND length(BusinessDays) <= 50),
    CONSTRAINT "CK_Calendar_ValidFrom_Type" CHECK (ValidFrom IS NULL OR (typeof(ValidFrom) = 'text'
        AND instr(ValidFrom, char(0)) = 0 AND length(ValidFrom) <= 10)),
    CONSTRAINT "CK_Calendar_ValidUntil_Type" CHECK (ValidUntil IS NULL OR (typeof(ValidUntil) = 'text'
        AND instr(ValidUntil, char(0)) = 0 AND length(ValidUntil) <= 10)),
    CONSTRAINT "CK_Calendar_Description_Type" CHECK (Description IS NULL OR (typeof(Description) = 'text'
        AND instr(Description, char(0)) = 0)),
    CONSTRAINT "CK_Calendar_z_inserted_Type" CHECK ((z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_Calendar_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

-- A table of another database whose new rows start an entity.
CREATE TABLE DataTrigger (
    DataTrigger_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    TriggerName VARCHAR(200) NOT NULL,
    Entity VARCHAR(200) NOT NULL,
    ConnectionName VARCHAR(200) NOT NULL,
    TableName VARCHAR(200) NOT NULL,
    StatusColumn VARCHAR(200) NOT NULL,
    PendingValue VARCHAR(200) NOT NULL,
    CreatedColumn VARCHAR(200),
    RowThreshold INTEGER,
    IdleMinutes INTEGER,
    OnNewRows SMALLINT DEFAULT 0 NOT NULL,
    DebounceSeconds INTEGER DEFAULT 60 NOT NULL,
    Enabled SMALLINT DEFAULT 1 NOT NULL,
    LastFired TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
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
    CONSTRAINT "CK_DataTrigger_TriggerName_Type" CHECK (typeof(TriggerName) = 'text' AND instr(TriggerName, char(0)) = 0
        AND length(TriggerName) <= 200),
    CONSTRAINT "CK_DataTrigger_Entity_Type" CHECK (typeof(Entity) = 'text' AND instr(Entity, char(0)) = 0
        AND length(Entity) <= 200),
    CONSTRAINT "CK_DataTrigger_ConnectionName_Type" CHECK (typeof(ConnectionName) = 'text'
        AND instr(ConnectionName, char(0)) = 0 AND length(ConnectionName) <= 200),
    CONSTRAINT "CK_DataTrigger_TableName_Type" CHECK (typeof(TableName) = 'text' AND instr(TableName, char(0)) = 0
        AND length(TableName) <= 200),
    CONSTRAINT "CK_DataTrigger_StatusColumn_Type" CHECK (typeof(StatusColumn) = 'text' AND instr(StatusColumn, char(0)) = 0
        AND length(StatusColumn) <= 200),
    CONSTRAINT "CK_DataTrigger_PendingValue_Type" CHECK (typeof(PendingValue) = 'text' AND instr(PendingValue, char(0)) = 0
        AND length(PendingValue) <= 200),
    CONSTRAINT "CK_DataTrigger_CreatedColumn_Type" CHECK (CreatedColumn IS NULL OR (typeof(CreatedColumn) = 'text'
        AND instr(CreatedColumn, char(0)) = 0 AND length(CreatedColumn) <= 200)),
    CONSTRAINT "CK_DataTrigger_RowThreshold_Type" CHECK (RowThreshold IS NULL OR (typeof(RowThreshold) = 'integer')),
    CONSTRAINT "CK_DataTrigger_IdleMinutes_Type" CHECK (IdleMinutes IS NULL OR (typeof(IdleMinutes) = 'integer')),
    CONSTRAINT "CK_DataTrigger_OnNewRows_Type" CHECK (typeof(OnNewRows) = 'integer'),
    CONSTRAINT "CK_DataTrigger_DebounceSeconds_Type" CHECK (typeof(DebounceSeconds) = 'integer'),
    CONSTRAINT "CK_DataTrigger_Enabled_Type" CHECK (typeof(Enabled) = 'integer'),
    CONSTRAINT "CK_DataTrigger_LastFired_Type" CHECK (LastFired IS NULL OR ((LastFired >= '0001' AND LastFired < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', LastFired, '+0 days') IS LastFired) OR (LastFired >= '0001'
        AND LastFired GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(LastFired, 1, 10), '+0 days') IS substr(LastFired, 1, 10)
        AND substr(LastFired, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', LastFired), 1, length(LastFired)) IS substr(LastFired, 1, 19)
        AND substr(LastFired, 20) NOT GLOB '*[^.0-9]*' AND LastFired GLOB '*[0-9]' AND instr(LastFired, char(0)) = 0))),
    CONSTRAINT "CK_DataTrigger_z_inserted_Type" CHECK (z_inserted IS LastFired OR (z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_DataTrigger_z_updated_Type" CHECK (z_updated IS LastFired OR z_updated IS z_inserted OR (z_updated >= '0001'
        AND z_updated < ':' AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

-- A folder whose files become rows of FileProcess.
CREATE TABLE FileWatch (
    FileWatch_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    WatchName VARCHAR(200) NOT NULL,
    Entity VARCHAR(200) NOT NULL,
    Folder TEXT NOT NULL,
    Pattern VARCHAR(200) DEFAULT '*' NOT NULL,
    Recursive SMALLINT DEFAULT 0 NOT NULL,
    SettleSeconds INTEGER DEFAULT 10 NOT NULL,
    MarkerSuffix VARCHAR(50),
    DuplicateKey VARCHAR(20) COLLATE "NOCASE" DEFAULT 'name_size_time' NOT NULL,
    Enabled SMALLINT DEFAULT 1 NOT NULL,
    UnreachableSince TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_FileWatch_WatchName" UNIQUE (WatchName),
    CONSTRAINT "CK_FileWatch_WatchName" CHECK (WatchName <> ''),
    CONSTRAINT "CK_FileWatch_Entity" CHECK (Entity <> ''),
    CONSTRAINT "CK_FileWatch_Pattern" CHECK (Pattern <> ''),
    CONSTRAINT "CK_FileWatch_MarkerSuffix" CHECK (MarkerSuffix <> ''),
    CONSTRAINT "CK_FileWatch_SettleSeconds" CHECK (SettleSeconds BETWEEN 0 AND 86400),
    CONSTRAINT "CK_FileWatch_Recursive" CHECK (Recursive IN (0, 1)),
    CONSTRAINT "CK_FileWatch_Enabled" CHECK (Enabled IN (0, 1)),
    CONSTRAINT "CK_FileWatch_DuplicateKey" CHECK (DuplicateKey = 'name' OR DuplicateKey = 'name_size_time'
        OR DuplicateKey = 'content'),
    CONSTRAINT "CK_FileWatch_Folder" CHECK (Folder <> ''),
    CONSTRAINT "CK_FileWatch_WatchName_Type" CHECK (typeof(WatchName) = 'text' AND instr(WatchName, char(0)) = 0
        AND length(WatchName) <= 200),
    CONSTRAINT "CK_FileWatch_Entity_Type" CHECK (typeof(Entity) = 'text' AND instr(Entity, char(0)) = 0
        AND length(Entity) <= 200),
    CONSTRAINT "CK_FileWatch_Folder_Type" CHECK (typeof(Folder) = 'text' AND instr(Folder, char(0)) = 0),
    CONSTRAINT "CK_FileWatch_Pattern_Type" CHECK (typeof(Pattern) = 'text' AND instr(Pattern, char(0)) = 0
        AND length(Pattern) <= 200),
    CONSTRAINT "CK_FileWatch_Recursive_Type" CHECK (typeof(Recursive) = 'integer'),
    CONSTRAINT "CK_FileWatch_SettleSeconds_Type" CHECK (typeof(SettleSeconds) = 'integer'),
    CONSTRAINT "CK_FileWatch_MarkerSuffix_Type" CHECK (MarkerSuffix IS NULL OR (typeof(MarkerSuffix) = 'text'
        AND instr(MarkerSuffix, char(0)) = 0 AND length(MarkerSuffix) <= 50)),
    CONSTRAINT "CK_FileWatch_DuplicateKey_Type" CHECK (typeof(DuplicateKey) = 'text'),
    CONSTRAINT "CK_FileWatch_Enabled_Type" CHECK (typeof(Enabled) = 'integer'),
    CONSTRAINT "CK_FileWatch_UnreachableSince_Type" CHECK (UnreachableSince IS NULL OR ((UnreachableSince >= '0001'
        AND UnreachableSince < ':' AND strftime('%Y-%m-%d %H:%M:%f', UnreachableSince, '+0 days') IS UnreachableSince)
        OR (UnreachableSince >= '0001' AND UnreachableSince GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(UnreachableSince, 1, 10), '+0 days') IS substr(UnreachableSince, 1, 10)
        AND substr(UnreachableSince, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', UnreachableSince), 1, length(UnreachableSince)) IS substr(UnreachableSince, 1, 19) AND substr(UnreachableSince, 20) NOT GLOB '*[^.0-9]*' AND UnreachableSince GLOB '*[0-9]' AND instr(UnreachableSince, char(0)) = 0))),
    CONSTRAINT "CK_FileWatch_z_inserted_Type" CHECK (z_inserted IS UnreachableSince OR (z_inserted >= '0001'
        AND z_inserted < ':' AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_FileWatch_z_updated_Type" CHECK (z_updated IS UnreachableSince OR z_updated IS z_inserted
        OR (z_updated >= '0001' AND z_updated < ':' AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated)
        OR (z_updated >= '0001' AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10) AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

-- What can be set while controllers run.
CREATE TABLE Setting (
    Setting_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    Name VARCHAR(200) NOT NULL,
    Value TEXT NOT NULL,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_Setting_Name" UNIQUE (Name),
    CONSTRAINT "CK_Setting_Name" CHECK (Name <> ''),
    CONSTRAINT "CK_Setting_MaxConcurrent" CHECK (Name <> 'MaxConcurrent'
        OR (trim(Value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) NOT GLOB '*[^0-9]*' AND length(trim(Value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) BETWEEN 1 AND 18)),
    CONSTRAINT "CK_Setting_Name_Type" CHECK (typeof(Name) = 'text' AND instr(Name, char(0)) = 0 AND length(Name) <= 200),
    CONSTRAINT "CK_Setting_Value_Type" CHECK (typeof(Value) = 'text' AND instr(Value, char(0)) = 0),
    CONSTRAINT "CK_Setting_z_inserted_Type" CHECK ((z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_Setting_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

-- What a batch and its steps were at each version.
CREATE TABLE BatchVersion (
    BatchVersion_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL,
    ProcessBatchName VARCHAR(200) NOT NULL,
    DefVersion INTEGER NOT NULL,
    Fingerprint VARCHAR(64) NOT NULL,
    Content TEXT NOT NULL,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_BatchVersion_ProcessBatch_id_DefVersion" UNIQUE (ProcessBatch_id, DefVersion),
    CONSTRAINT "CK_BatchVersion_DefVersion" CHECK (DefVersion >= 1),
    CONSTRAINT "CK_BatchVersion_ProcessBatch_id_Type" CHECK (typeof(ProcessBatch_id) = 'integer'),
    CONSTRAINT "CK_BatchVersion_ProcessBatchName_Type" CHECK (typeof(ProcessBatchName) = 'text'
        AND instr(ProcessBatchName, char(0)) = 0 AND length(ProcessBatchName) <= 200),
    CONSTRAINT "CK_BatchVersion_DefVersion_Type" CHECK (typeof(DefVersion) = 'integer'),
    CONSTRAINT "CK_BatchVersion_Fingerprint_Type" CHECK (typeof(Fingerprint) = 'text' AND instr(Fingerprint, char(0)) = 0
        AND length(Fingerprint) <= 64),
    CONSTRAINT "CK_BatchVersion_Content_Type" CHECK (typeof(Content) = 'text' AND instr(Content, char(0)) = 0),
    CONSTRAINT "CK_BatchVersion_z_inserted_Type" CHECK ((z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0))
);

-- Which definitions came from which file or module.
CREATE TABLE AppliedDefinition (
    AppliedDefinition_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    Kind VARCHAR(50) NOT NULL,
    Name VARCHAR(200) NOT NULL,
    Owner VARCHAR(200),
    Exported VARCHAR(64),
    Content TEXT NOT NULL,
    Actor VARCHAR(200) NOT NULL,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_AppliedDefinition_Kind_Name" UNIQUE (Kind, Name),
    CONSTRAINT "CK_AppliedDefinition_Kind_Type" CHECK (typeof(Kind) = 'text' AND instr(Kind, char(0)) = 0
        AND length(Kind) <= 50),
    CONSTRAINT "CK_AppliedDefinition_Name_Type" CHECK (typeof(Name) = 'text' AND instr(Name, char(0)) = 0
        AND length(Name) <= 200),
    CONSTRAINT "CK_AppliedDefinition_Owner_Type" CHECK (Owner IS NULL OR (typeof(Owner) = 'text' AND instr(Owner, char(0)) = 0
        AND length(Owner) <= 200)),
    CONSTRAINT "CK_AppliedDefinition_Exported_Type" CHECK (Exported IS NULL OR (typeof(Exported) = 'text'
        AND instr(Exported, char(0)) = 0 AND length(Exported) <= 64)),
    CONSTRAINT "CK_AppliedDefinition_Content_Type" CHECK (typeof(Content) = 'text' AND instr(Content, char(0)) = 0),
    CONSTRAINT "CK_AppliedDefinition_Actor_Type" CHECK (typeof(Actor) = 'text' AND instr(Actor, char(0)) = 0
        AND length(Actor) <= 200),
    CONSTRAINT "CK_AppliedDefinition_z_inserted_Type" CHECK ((z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_AppliedDefinition_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

-- What people ask for by a row, and what was answered.
CREATE TABLE OperatorRequest (
    OperatorRequest_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    Action VARCHAR(50) NOT NULL,
    BatchControl_id INTEGER,
    ProcessBatchName VARCHAR(200),
    Arguments TEXT,
    Reason TEXT,
    Actor VARCHAR(200) DEFAULT 'sql' NOT NULL,
    Status VARCHAR(20) COLLATE "NOCASE" DEFAULT 'requested' NOT NULL,
    Answer TEXT,
    AnsweredBy VARCHAR(200),
    AnsweredTime TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "CK_OperatorRequest_Action" CHECK (Action <> ''),
    CONSTRAINT "CK_OperatorRequest_Actor" CHECK (Actor <> ''),
    CONSTRAINT "CK_OperatorRequest_Status" CHECK (Status = 'requested' OR Status = 'done' OR Status = 'refused'),
    CONSTRAINT "CK_OperatorRequest_Action_Word"
        CHECK (lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'rerun' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'skip' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'pause' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'resume' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'cancel' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'enable' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'disable' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'freeze' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'thaw' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'acknowledge' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'snooze' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'retry' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'reject' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'resend' OR NOT (Status = 'requested')),
    CONSTRAINT "CK_OperatorRequest_Action_Type" CHECK (typeof(Action) = 'text' AND instr(Action, char(0)) = 0
        AND length(Action) <= 50),
    CONSTRAINT "CK_OperatorRequest_BatchControl_id_Type" CHECK (BatchControl_id IS NULL
        OR (typeof(BatchControl_id) = 'integer')),
    CONSTRAINT "CK_OperatorRequest_ProcessBatchName_Type" CHECK (ProcessBatchName IS NULL OR (typeof(ProcessBatchName) = 'text'
        AND instr(ProcessBatchName, char(0)) = 0 AND length(ProcessBatchName) <= 200)),
    CONSTRAINT "CK_OperatorRequest_Arguments_Type" CHECK (Arguments IS NULL OR (typeof(Arguments) = 'text'
        AND instr(Arguments, char(0)) = 0)),
    CONSTRAINT "CK_OperatorRequest_Reason_Type" CHECK (Reason IS NULL OR (typeof(Reason) = 'text'
        AND instr(Reason, char(0)) = 0)),
    CONSTRAINT "CK_OperatorRequest_Actor_Type" CHECK (typeof(Actor) = 'text' AND instr(Actor, char(0)) = 0
        AND length(Actor) <= 200),
    CONSTRAINT "CK_OperatorRequest_Status_Type" CHECK (typeof(Status) = 'text'),
    CONSTRAINT "CK_OperatorRequest_Answer_Type" CHECK (Answer IS NULL OR (typeof(Answer) = 'text'
        AND instr(Answer, char(0)) = 0)),
    CONSTRAINT "CK_OperatorRequest_AnsweredBy_Type" CHECK (AnsweredBy IS NULL OR (typeof(AnsweredBy) = 'text'
        AND instr(AnsweredBy, char(0)) = 0 AND length(AnsweredBy) <= 200)),
    CONSTRAINT "CK_OperatorRequest_AnsweredTime_Type" CHECK (AnsweredTime IS NULL OR ((AnsweredTime >= '0001'
        AND AnsweredTime < ':' AND strftime('%Y-%m-%d %H:%M:%f', AnsweredTime, '+0 days') IS AnsweredTime)
        OR (AnsweredTime >= '0001' AND AnsweredTime GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(AnsweredTime, 1, 10), '+0 days') IS substr(AnsweredTime, 1, 10) AND substr(AnsweredTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', AnsweredTime), 1, length(AnsweredTime)) IS substr(AnsweredTime, 1, 19)
        AND substr(AnsweredTime, 20) NOT GLOB '*[^.0-9]*' AND AnsweredTime GLOB '*[0-9]'
        AND instr(AnsweredTime, char(0)) = 0))),
    CONSTRAINT "CK_OperatorRequest_z_inserted_Type" CHECK (z_inserted IS AnsweredTime OR (z_inserted >= '0001'
        AND z_inserted < ':' AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_OperatorRequest_z_updated_Type" CHECK (z_updated IS AnsweredTime OR z_updated IS z_inserted
        OR (z_updated >= '0001' AND z_updated < ':' AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated)
        OR (z_updated >= '0001' AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10) AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

CREATE INDEX "IX_OperatorRequest_Open" ON OperatorRequest (OperatorRequest_id) WHERE Status = 'requested';

-- What may not start for now, and who said so.
CREATE TABLE BatchFreeze (
    BatchFreeze_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ProcessBatchName VARCHAR(200),
    Tag VARCHAR(200),
    Reason TEXT NOT NULL,
    Actor VARCHAR(200) DEFAULT 'sql' NOT NULL,
    UntilTime TEXT,
    ThawedTime TEXT,
    ThawedBy VARCHAR(200),
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "CK_BatchFreeze_Reason" CHECK (Reason <> ''),
    CONSTRAINT "CK_BatchFreeze_Actor" CHECK (Actor <> ''),
    CONSTRAINT "CK_BatchFreeze_Tag" CHECK (ProcessBatchName IS NULL OR Tag IS NULL),
    CONSTRAINT "CK_BatchFreeze_ProcessBatchName_Type" CHECK (ProcessBatchName IS NULL OR (typeof(ProcessBatchName) = 'text'
        AND instr(ProcessBatchName, char(0)) = 0 AND length(ProcessBatchName) <= 200)),
    CONSTRAINT "CK_BatchFreeze_Tag_Type" CHECK (Tag IS NULL OR (typeof(Tag) = 'text' AND instr(Tag, char(0)) = 0
        AND length(Tag) <= 200)),
    CONSTRAINT "CK_BatchFreeze_Reason_Type" CHECK (typeof(Reason) = 'text' AND instr(Reason, char(0)) = 0),
    CONSTRAINT "CK_BatchFreeze_Actor_Type" CHECK (typeof(Actor) = 'text' AND instr(Actor, char(0)) = 0
        AND length(Actor) <= 200),
    CONSTRAINT "CK_BatchFreeze_UntilTime_Type" CHECK (UntilTime IS NULL OR ((UntilTime >= '0001' AND UntilTime < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', UntilTime, '+0 days') IS UntilTime) OR (UntilTime >= '0001'
        AND UntilTime GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(UntilTime, 1, 10), '+0 days') IS substr(UntilTime, 1, 10)
        AND substr(UntilTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', UntilTime), 1, length(UntilTime)) IS substr(UntilTime, 1, 19)
        AND substr(UntilTime, 20) NOT GLOB '*[^.0-9]*' AND UntilTime GLOB '*[0-9]' AND instr(UntilTime, char(0)) = 0))),
    CONSTRAINT "CK_BatchFreeze_ThawedTime_Type" CHECK (ThawedTime IS NULL OR ((ThawedTime >= '0001' AND ThawedTime < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', ThawedTime, '+0 days') IS ThawedTime) OR (ThawedTime >= '0001'
        AND ThawedTime GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(ThawedTime, 1, 10), '+0 days') IS substr(ThawedTime, 1, 10) AND substr(ThawedTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', ThawedTime), 1, length(ThawedTime)) IS substr(ThawedTime, 1, 19)
        AND substr(ThawedTime, 20) NOT GLOB '*[^.0-9]*' AND ThawedTime GLOB '*[0-9]' AND instr(ThawedTime, char(0)) = 0))),
    CONSTRAINT "CK_BatchFreeze_ThawedBy_Type" CHECK (ThawedBy IS NULL OR (typeof(ThawedBy) = 'text'
        AND instr(ThawedBy, char(0)) = 0 AND length(ThawedBy) <= 200)),
    CONSTRAINT "CK_BatchFreeze_z_inserted_Type" CHECK (z_inserted IS UntilTime OR z_inserted IS ThawedTime
        OR (z_inserted >= '0001' AND z_inserted < ':' AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted)
        OR (z_inserted >= '0001' AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_BatchFreeze_z_updated_Type" CHECK (z_updated IS UntilTime OR z_updated IS ThawedTime
        OR z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

CREATE INDEX "IX_BatchFreeze_Standing" ON BatchFreeze (BatchFreeze_id) WHERE ThawedTime IS NULL;

-- What people have to know of, until it is over.
CREATE TABLE Incident (
    Incident_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    Kind VARCHAR(20) COLLATE "NOCASE" NOT NULL,
    IncidentKey VARCHAR(200) NOT NULL,
    Severity VARCHAR(20) COLLATE "NOCASE" NOT NULL,
    Status VARCHAR(20) COLLATE "NOCASE" DEFAULT 'open' NOT NULL,
    Subject VARCHAR(200) NOT NULL,
    Message TEXT NOT NULL,
    Detail TEXT,
    NextStep TEXT,
    ProcessBatch_id INTEGER,
    ProcessControlSeq INTEGER,
    BatchControl_id INTEGER,
    Evidence INTEGER DEFAULT 0 NOT NULL,
    Occurrences INTEGER DEFAULT 1 NOT NULL,
    OpenedTime TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    LastSeen TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    AcknowledgedTime TEXT,
    AcknowledgedBy VARCHAR(200),
    SnoozedUntil TEXT,
    AlertsMade INTEGER DEFAULT 0 NOT NULL,
    NextAlertTime TEXT,
    EscalatedTime TEXT,
    ResolvedTime TEXT,
    RecoveryTime TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "CK_Incident_IncidentKey" CHECK (IncidentKey <> ''),
    CONSTRAINT "CK_Incident_Occurrences" CHECK (Occurrences >= 1),
    CONSTRAINT "CK_Incident_AlertsMade" CHECK (AlertsMade >= 0),
    CONSTRAINT "CK_Incident_Kind" CHECK (Kind = 'failed' OR Kind = 'lost' OR Kind = 'held' OR Kind = 'fails_often'
        OR Kind = 'too_long' OR Kind = 'too_short' OR Kind = 'not_arrived' OR Kind = 'not_started' OR Kind = 'not_finished'
        OR Kind = 'dependency_deadline' OR Kind = 'calendar_ends' OR Kind = 'no_worker' OR Kind = 'channel_failed'
        OR Kind = 'unreadable' OR Kind = 'rejected' OR Kind = 'untaken' OR Kind = 'not_starting' OR Kind = 'no_steps'
        OR Kind = 'history_grows' OR Kind = 'nobody_leads' OR Kind = 'populator_hangs' OR Kind = 'controller_trouble'),
    CONSTRAINT "CK_Incident_Severity" CHECK (Severity = 'warning' OR Severity = 'error'),
    CONSTRAINT "CK_Incident_Status" CHECK (Status = 'open' OR Status = 'acknowledged' OR Status = 'resolved'),
    CONSTRAINT "CK_Incident_Kind_Type" CHECK (typeof(Kind) = 'text'),
    CONSTRAINT "CK_Incident_IncidentKey_Type" CHECK (typeof(IncidentKey) = 'text' AND instr(IncidentKey, char(0)) = 0
        AND length(IncidentKey) <= 200),
    CONSTRAINT "CK_Incident_Severity_Type" CHECK (typeof(Severity) = 'text'),
    CONSTRAINT "CK_Incident_Status_Type" CHECK (typeof(Status) = 'text'),
    CONSTRAINT "CK_Incident_Subject_Type" CHECK (typeof(Subject) = 'text' AND instr(Subject, char(0)) = 0
        AND length(Subject) <= 200),
    CONSTRAINT "CK_Incident_Message_Type" CHECK (typeof(Message) = 'text' AND instr(Message, char(0)) = 0),
    CONSTRAINT "CK_Incident_Detail_Type" CHECK (Detail IS NULL OR (typeof(Detail) = 'text' AND instr(Detail, char(0)) = 0)),
    CONSTRAINT "CK_Incident_NextStep_Type" CHECK (NextStep IS NULL OR (typeof(NextStep) = 'text'
        AND instr(NextStep, char(0)) = 0)),
    CONSTRAINT "CK_Incident_ProcessBatch_id_Type" CHECK (ProcessBatch_id IS NULL OR (typeof(ProcessBatch_id) = 'integer')),
    CONSTRAINT "CK_Incident_ProcessControlSeq_Type" CHECK (ProcessControlSeq IS NULL
        OR (typeof(ProcessControlSeq) = 'integer')),
    CONSTRAINT "CK_Incident_BatchControl_id_Type" CHECK (BatchControl_id IS NULL OR (typeof(BatchControl_id) = 'integer')),
    CONSTRAINT "CK_Incident_Evidence_Type" CHECK (typeof(Evidence) = 'integer'),
    CONSTRAINT "CK_Incident_Occurrences_Type" CHECK (typeof(Occurrences) = 'integer'),
    CONSTRAINT "CK_Incident_OpenedTime_Type" CHECK ((OpenedTime >= '0001' AND OpenedTime < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', OpenedTime, '+0 days') IS OpenedTime) OR (OpenedTime >= '0001'
        AND OpenedTime GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(OpenedTime, 1, 10), '+0 days') IS substr(OpenedTime, 1, 10) AND substr(OpenedTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', OpenedTime), 1, length(OpenedTime)) IS substr(OpenedTime, 1, 19)
        AND substr(OpenedTime, 20) NOT GLOB '*[^.0-9]*' AND OpenedTime GLOB '*[0-9]' AND instr(OpenedTime, char(0)) = 0)),
    CONSTRAINT "CK_Incident_LastSeen_Type" CHECK ((LastSeen >= '0001' AND LastSeen < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', LastSeen, '+0 days') IS LastSeen) OR (LastSeen >= '0001'
        AND LastSeen GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(LastSeen, 1, 10), '+0 days') IS substr(LastSeen, 1, 10)
        AND substr(LastSeen, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', LastSeen), 1, length(LastSeen)) IS substr(LastSeen, 1, 19)
        AND substr(LastSeen, 20) NOT GLOB '*[^.0-9]*' AND LastSeen GLOB '*[0-9]' AND instr(LastSeen, char(0)) = 0)),
    CONSTRAINT "CK_Incident_AcknowledgedTime_Type" CHECK (AcknowledgedTime IS NULL OR ((AcknowledgedTime >= '0001'
        AND AcknowledgedTime < ':' AND strftime('%Y-%m-%d %H:%M:%f', AcknowledgedTime, '+0 days') IS AcknowledgedTime)
        OR (AcknowledgedTime >= '0001' AND AcknowledgedTime GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(AcknowledgedTime, 1, 10), '+0 days') IS substr(AcknowledgedTime, 1, 10)
        AND substr(AcknowledgedTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', AcknowledgedTime), 1, length(AcknowledgedTime)) IS substr(AcknowledgedTime, 1, 19) AND substr(AcknowledgedTime, 20) NOT GLOB '*[^.0-9]*' AND AcknowledgedTime GLOB '*[0-9]' AND instr(AcknowledgedTime, char(0)) = 0))),
    CONSTRAINT "CK_Incident_AcknowledgedBy_Type" CHECK (AcknowledgedBy IS NULL OR (typeof(AcknowledgedBy) = 'text'
        AND instr(AcknowledgedBy, char(0)) = 0 AND length(AcknowledgedBy) <= 200)),
    CONSTRAINT "CK_Incident_SnoozedUntil_Type" CHECK (SnoozedUntil IS NULL OR ((SnoozedUntil >= '0001' AND SnoozedUntil < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', SnoozedUntil, '+0 days') IS SnoozedUntil) OR (SnoozedUntil >= '0001'
        AND SnoozedUntil GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(SnoozedUntil, 1, 10), '+0 days') IS substr(SnoozedUntil, 1, 10) AND substr(SnoozedUntil, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', SnoozedUntil), 1, length(SnoozedUntil)) IS substr(SnoozedUntil, 1, 19)
        AND substr(SnoozedUntil, 20) NOT GLOB '*[^.0-9]*' AND SnoozedUntil GLOB '*[0-9]'
        AND instr(SnoozedUntil, char(0)) = 0))),
    CONSTRAINT "CK_Incident_AlertsMade_Type" CHECK (typeof(AlertsMade) = 'integer'),
    CONSTRAINT "CK_Incident_NextAlertTime_Type" CHECK (NextAlertTime IS NULL OR ((NextAlertTime >= '0001'
        AND NextAlertTime < ':' AND strftime('%Y-%m-%d %H:%M:%f', NextAlertTime, '+0 days') IS NextAlertTime)
        OR (NextAlertTime >= '0001' AND NextAlertTime GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(NextAlertTime, 1, 10), '+0 days') IS substr(NextAlertTime, 1, 10)
        AND substr(NextAlertTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', NextAlertTime), 1, length(NextAlertTime)) IS substr(NextAlertTime, 1, 19)
        AND substr(NextAlertTime, 20) NOT GLOB '*[^.0-9]*' AND NextAlertTime GLOB '*[0-9]'
        AND instr(NextAlertTime, char(0)) = 0))),
    CONSTRAINT "CK_Incident_EscalatedTime_Type" CHECK (EscalatedTime IS NULL OR ((EscalatedTime >= '0001'
        AND EscalatedTime < ':' AND strftime('%Y-%m-%d %H:%M:%f', EscalatedTime, '+0 days') IS EscalatedTime)
        OR (EscalatedTime >= '0001' AND EscalatedTime GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(EscalatedTime, 1, 10), '+0 days') IS substr(EscalatedTime, 1, 10)
        AND substr(EscalatedTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', EscalatedTime), 1, length(EscalatedTime)) IS substr(EscalatedTime, 1, 19)
        AND substr(EscalatedTime, 20) NOT GLOB '*[^.0-9]*' AND EscalatedTime GLOB '*[0-9]'
        AND instr(EscalatedTime, char(0)) = 0))),
    CONSTRAINT "CK_Incident_ResolvedTime_Type" CHECK (ResolvedTime IS NULL OR ((ResolvedTime >= '0001' AND ResolvedTime < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', ResolvedTime, '+0 days') IS ResolvedTime) OR (ResolvedTime >= '0001'
        AND ResolvedTime GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(ResolvedTime, 1, 10), '+0 days') IS substr(ResolvedTime, 1, 10) AND substr(ResolvedTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', ResolvedTime), 1, length(ResolvedTime)) IS substr(ResolvedTime, 1, 19)
        AND substr(ResolvedTime, 20) NOT GLOB '*[^.0-9]*' AND ResolvedTime GLOB '*[0-9]'
        AND instr(ResolvedTime, char(0)) = 0))),
    CONSTRAINT "CK_Incident_RecoveryTime_Type" CHECK (RecoveryTime IS NULL OR ((RecoveryTime >= '0001' AND RecoveryTime < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', RecoveryTime, '+0 days') IS RecoveryTime) OR (RecoveryTime >= '0001'
        AND RecoveryTime GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(RecoveryTime, 1, 10), '+0 days') IS substr(RecoveryTime, 1, 10) AND substr(RecoveryTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', RecoveryTime), 1, length(RecoveryTime)) IS substr(RecoveryTime, 1, 19)
        AND substr(RecoveryTime, 20) NOT GLOB '*[^.0-9]*' AND RecoveryTime GLOB '*[0-9]'
        AND instr(RecoveryTime, char(0)) = 0))),
    CONSTRAINT "CK_Incident_z_inserted_Type" CHECK (z_inserted IS OpenedTime OR z_inserted IS LastSeen
        OR z_inserted IS AcknowledgedTime OR z_inserted IS SnoozedUntil OR z_inserted IS NextAlertTime
        OR z_inserted IS EscalatedTime OR z_inserted IS ResolvedTime OR z_inserted IS RecoveryTime OR (z_inserted >= '0001'
        AND z_inserted < ':' AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_Incident_z_updated_Type" CHECK (z_updated IS OpenedTime OR z_updated IS LastSeen
        OR z_updated IS AcknowledgedTime OR z_updated IS SnoozedUntil OR z_updated IS NextAlertTime
        OR z_updated IS EscalatedTime OR z_updated IS ResolvedTime OR z_updated IS RecoveryTime OR z_updated IS z_inserted
        OR (z_updated >= '0001' AND z_updated < ':' AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated)
        OR (z_updated >= '0001' AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10) AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

CREATE INDEX "IX_Incident_Recovery" ON Incident (Incident_id) WHERE ResolvedTime IS NOT NULL AND RecoveryTime IS NULL;

CREATE UNIQUE INDEX "UX_Incident_Standing" ON Incident (IncidentKey) WHERE ResolvedTime IS NULL;

-- Who has changed what, when and why. Nothing is ever changed here.
CREATE TABLE AuditLog (
    AuditLog_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    Actor VARCHAR(200) NOT NULL,
    Host VARCHAR(200) NOT NULL,
    Action VARCHAR(50) NOT NULL,
    Target VARCHAR(200) NOT NULL,
    Reason TEXT,
    ValuesBefore TEXT,
    ValuesAfter TEXT,
    CONSTRAINT "CK_AuditLog_Actor" CHECK (Actor <> ''),
    CONSTRAINT "CK_AuditLog_z_inserted_Type" CHECK ((z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_AuditLog_Actor_Type" CHECK (typeof(Actor) = 'text' AND instr(Actor, char(0)) = 0 AND length(Actor) <= 200),
    CONSTRAINT "CK_AuditLog_Host_Type" CHECK (typeof(Host) = 'text' AND instr(Host, char(0)) = 0 AND length(Host) <= 200),
    CONSTRAINT "CK_AuditLog_Action_Type" CHECK (typeof(Action) = 'text' AND instr(Action, char(0)) = 0
        AND length(Action) <= 50),
    CONSTRAINT "CK_AuditLog_Target_Type" CHECK (typeof(Target) = 'text' AND instr(Target, char(0)) = 0
        AND length(Target) <= 200),
    CONSTRAINT "CK_AuditLog_Reason_Type" CHECK (Reason IS NULL OR (typeof(Reason) = 'text' AND instr(Reason, char(0)) = 0)),
    CONSTRAINT "CK_AuditLog_ValuesBefore_Type" CHECK (ValuesBefore IS NULL OR (typeof(ValuesBefore) = 'text'
        AND instr(ValuesBefore, char(0)) = 0)),
    CONSTRAINT "CK_AuditLog_ValuesAfter_Type" CHECK (ValuesAfter IS NULL OR (typeof(ValuesAfter) = 'text'
        AND instr(ValuesAfter, char(0)) = 0))
);

CREATE INDEX "IX_AuditLog_Target" ON AuditLog (Target);

-- Hashes that chain the rows of AuditLog.
CREATE TABLE AuditSeal (
    AuditSeal_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    SealNo INTEGER NOT NULL,
    AuditLog_id INTEGER NOT NULL,
    PrevHash VARCHAR(64) NOT NULL,
    RecordHash VARCHAR(64) NOT NULL,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_AuditSeal_SealNo" UNIQUE (SealNo),
    CONSTRAINT "UQ_AuditSeal_AuditLog_id" UNIQUE (AuditLog_id),
    CONSTRAINT "CK_AuditSeal_SealNo" CHECK (SealNo >= 1),
    CONSTRAINT "CK_AuditSeal_SealNo_Type" CHECK (typeof(SealNo) = 'integer'),
    CONSTRAINT "CK_AuditSeal_AuditLog_id_Type" CHECK (typeof(AuditLog_id) = 'integer'),
    CONSTRAINT "CK_AuditSeal_PrevHash_Type" CHECK (typeof(PrevHash) = 'text' AND instr(PrevHash, char(0)) = 0
        AND length(PrevHash) <= 64),
    CONSTRAINT "CK_AuditSeal_RecordHash_Type" CHECK (typeof(RecordHash) = 'text' AND instr(RecordHash, char(0)) = 0
        AND length(RecordHash) <= 64),
    CONSTRAINT "CK_AuditSeal_z_inserted_Type" CHECK ((z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0))
);

-- The offsets of the business time zone, for views that show local times.
CREATE TABLE ZoneOffset (
    ZoneOffset_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ZoneName VARCHAR(200) NOT NULL,
    FromTime TEXT NOT NULL,
    UntilTime TEXT NOT NULL,
    OffsetSeconds INTEGER NOT NULL,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_ZoneOffset_FromTime" UNIQUE (FromTime),
    CONSTRAINT "CK_ZoneOffset_ZoneName" CHECK (ZoneName <> ''),
    CONSTRAINT "CK_ZoneOffset_UntilTime" CHECK (FromTime < UntilTime),
    CONSTRAINT "CK_ZoneOffset_OffsetSeconds" CHECK (OffsetSeconds BETWEEN -86400 AND 86400),
    CONSTRAINT "CK_ZoneOffset_ZoneName_Type" CHECK (typeof(ZoneName) = 'text' AND instr(ZoneName, char(0)) = 0
        AND length(ZoneName) <= 200),
    CONSTRAINT "CK_ZoneOffset_FromTime_Type" CHECK ((FromTime >= '0001' AND FromTime < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', FromTime, '+0 days') IS FromTime) OR (FromTime >= '0001'
        AND FromTime GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(FromTime, 1, 10), '+0 days') IS substr(FromTime, 1, 10)
        AND substr(FromTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', FromTime), 1, length(FromTime)) IS substr(FromTime, 1, 19)
        AND substr(FromTime, 20) NOT GLOB '*[^.0-9]*' AND FromTime GLOB '*[0-9]' AND instr(FromTime, char(0)) = 0)),
    CONSTRAINT "CK_ZoneOffset_UntilTime_Type" CHECK ((UntilTime >= '0001' AND UntilTime < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', UntilTime, '+0 days') IS UntilTime) OR (UntilTime >= '0001'
        AND UntilTime GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(UntilTime, 1, 10), '+0 days') IS substr(UntilTime, 1, 10)
        AND substr(UntilTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', UntilTime), 1, length(UntilTime)) IS substr(UntilTime, 1, 19)
        AND substr(UntilTime, 20) NOT GLOB '*[^.0-9]*' AND UntilTime GLOB '*[0-9]' AND instr(UntilTime, char(0)) = 0)),
    CONSTRAINT "CK_ZoneOffset_OffsetSeconds_Type" CHECK (typeof(OffsetSeconds) = 'integer'),
    CONSTRAINT "CK_ZoneOffset_z_inserted_Type" CHECK (z_inserted IS FromTime OR z_inserted IS UntilTime
        OR (z_inserted >= '0001' AND z_inserted < ':' AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted)
        OR (z_inserted >= '0001' AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0))
);

CREATE INDEX "IX_ZoneOffset_Until" ON ZoneOffset (UntilTime, FromTime);

-- What the engine has done, event by event.
CREATE TABLE SchedulerLog (
    SchedulerLog_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    EventTime TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    EventType VARCHAR(20) COLLATE "NOCASE" NOT NULL,
    Source VARCHAR(200) NOT NULL,
    Entity VARCHAR(200),
    ProcessBatch_id INTEGER,
    FileProcess_id INTEGER,
    BatchControl_id INTEGER,
    Message TEXT,
    RowsQueued INTEGER,
    DurationMs INTEGER,
    CONSTRAINT "CK_SchedulerLog_Source" CHECK (Source <> ''),
    CONSTRAINT "CK_SchedulerLog_EventType" CHECK (EventType = 'fired' OR EventType = 'skipped' OR EventType = 'completed'
        OR EventType = 'error' OR EventType = 'rescued'),
    CONSTRAINT "CK_SchedulerLog_EventTime_Type" CHECK ((EventTime >= '0001' AND EventTime < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', EventTime, '+0 days') IS EventTime) OR (EventTime >= '0001'
        AND EventTime GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(EventTime, 1, 10), '+0 days') IS substr(EventTime, 1, 10)
        AND substr(EventTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', EventTime), 1, length(EventTime)) IS substr(EventTime, 1, 19)
        AND substr(EventTime, 20) NOT GLOB '*[^.0-9]*' AND EventTime GLOB '*[0-9]' AND instr(EventTime, char(0)) = 0)),
    CONSTRAINT "CK_SchedulerLog_EventType_Type" CHECK (typeof(EventType) = 'text'),
    CONSTRAINT "CK_SchedulerLog_Source_Type" CHECK (typeof(Source) = 'text' AND instr(Source, char(0)) = 0
        AND length(Source) <= 200),
    CONSTRAINT "CK_SchedulerLog_Entity_Type" CHECK (Entity IS NULL OR (typeof(Entity) = 'text' AND instr(Entity, char(0)) = 0
        AND length(Entity) <= 200)),
    CONSTRAINT "CK_SchedulerLog_ProcessBatch_id_Type" CHECK (ProcessBatch_id IS NULL OR (typeof(ProcessBatch_id) = 'integer')),
    CONSTRAINT "CK_SchedulerLog_FileProcess_id_Type" CHECK (FileProcess_id IS NULL OR (typeof(FileProcess_id) = 'integer')),
    CONSTRAINT "CK_SchedulerLog_BatchControl_id_Type" CHECK (BatchControl_id IS NULL OR (typeof(BatchControl_id) = 'integer')),
    CONSTRAINT "CK_SchedulerLog_Message_Type" CHECK (Message IS NULL OR (typeof(Message) = 'text'
        AND instr(Message, char(0)) = 0)),
    CONSTRAINT "CK_SchedulerLog_RowsQueued_Type" CHECK (RowsQueued IS NULL OR (typeof(RowsQueued) = 'integer')),
    CONSTRAINT "CK_SchedulerLog_DurationMs_Type" CHECK (DurationMs IS NULL OR (typeof(DurationMs) = 'integer'))
);

CREATE INDEX "IX_SchedulerLog_Fired" ON SchedulerLog (FileProcess_id) WHERE EventType = 'fired';

CREATE INDEX "IX_SchedulerLog_Entity" ON SchedulerLog (Entity, SchedulerLog_id);

-- What has arrived: a row here is work for every batch that takes its entity.
CREATE TABLE FileProcess (
    FileProcess_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    Entity VARCHAR(200) NOT NULL,
    FileName TEXT,
    Status VARCHAR(20) COLLATE "NOCASE" DEFAULT 'ready' NOT NULL,
    Data TEXT,
    CycleKey VARCHAR(200),
    Source VARCHAR(200),
    Message TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    PopulatorTries INTEGER CONSTRAINT CK_FileProcess_PopulatorTries_Type CHECK (PopulatorTries IS NULL
        OR (typeof(PopulatorTries) = 'integer')),
    CONSTRAINT "CK_FileProcess_Status" CHECK (Status = 'ready' OR Status = 'paused' OR Status = 'complete'
        OR Status = 'rejected' OR Status = 'duplicate' OR Status = 'success'),
    CONSTRAINT "CK_FileProcess_Entity" CHECK (Entity <> ''),
    CONSTRAINT "CK_FileProcess_Entity_Type" CHECK (typeof(Entity) = 'text' AND instr(Entity, char(0)) = 0
        AND length(Entity) <= 200),
    CONSTRAINT "CK_FileProcess_FileName_Type" CHECK (FileName IS NULL OR (typeof(FileName) = 'text'
        AND instr(FileName, char(0)) = 0)),
    CONSTRAINT "CK_FileProcess_Status_Type" CHECK (typeof(Status) = 'text'),
    CONSTRAINT "CK_FileProcess_Data_Type" CHECK (Data IS NULL OR (typeof(Data) = 'text' AND instr(Data, char(0)) = 0)),
    CONSTRAINT "CK_FileProcess_CycleKey_Type" CHECK (CycleKey IS NULL OR (typeof(CycleKey) = 'text'
        AND instr(CycleKey, char(0)) = 0 AND length(CycleKey) <= 200)),
    CONSTRAINT "CK_FileProcess_Source_Type" CHECK (Source IS NULL OR (typeof(Source) = 'text' AND instr(Source, char(0)) = 0
        AND length(Source) <= 200)),
    CONSTRAINT "CK_FileProcess_Message_Type" CHECK (Message IS NULL OR (typeof(Message) = 'text'
        AND instr(Message, char(0)) = 0)),
    CONSTRAINT "CK_FileProcess_z_inserted_Type" CHECK ((z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_FileProcess_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

CREATE INDEX "IX_FileProcess_Awaiting" ON FileProcess (FileProcess_id) WHERE PopulatorTries IS NOT NULL;

CREATE INDEX "IX_FileProcess_Unreadable" ON FileProcess (FileProcess_id) WHERE ((Status = 'ready' OR Status = 'paused'
    OR Status = 'complete' OR Status = 'rejected' OR Status = 'duplicate' OR Status = 'success') AND (PopulatorTries IS NULL
    OR (typeof(PopulatorTries) = 'integer'))) IS NOT TRUE;

CREATE INDEX "IX_FileProcess_Inbox" ON FileProcess (FileProcess_id) WHERE (Status = 'paused' OR Status = 'rejected'
    OR Status = 'duplicate');

CREATE INDEX "IX_FileProcess_Duplicate" ON FileProcess (Entity, Data) WHERE Data IS NOT NULL;

CREATE INDEX "IX_FileProcess_Ready" ON FileProcess (FileProcess_id) WHERE Status = 'ready';

-- The controllers that run, or have run.
CREATE TABLE Controller (
    Controller_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ControllerName VARCHAR(200) NOT NULL,
    Status VARCHAR(20) COLLATE "NOCASE" DEFAULT 'running' NOT NULL,
    Host VARCHAR(200) NOT NULL,
    Pid INTEGER,
    PidStart VARCHAR(50),
    BootId VARCHAR(50),
    Slots INTEGER DEFAULT 1 NOT NULL,
    HeartbeatSeq INTEGER DEFAULT 0 NOT NULL,
    Heartbeat TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    AppVersion VARCHAR(50),
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    OrphanTimeoutSecs INTEGER CONSTRAINT CK_Controller_OrphanTimeoutSecs_Type CHECK (OrphanTimeoutSecs IS NULL
        OR (typeof(OrphanTimeoutSecs) = 'integer')),
    SchedulerZone VARCHAR(200) CONSTRAINT CK_Controller_SchedulerZone_Type CHECK (SchedulerZone IS NULL
        OR (typeof(SchedulerZone) = 'text' AND instr(SchedulerZone, char(0)) = 0 AND length(SchedulerZone) <= 200)),
    LeftOut TEXT CONSTRAINT CK_Controller_LeftOut_Type CHECK (LeftOut IS NULL OR (typeof(LeftOut) = 'text'
        AND instr(LeftOut, char(0)) = 0)),
    ProcessTypes TEXT CONSTRAINT CK_Controller_ProcessTypes_Type CHECK (ProcessTypes IS NULL OR (typeof(ProcessTypes) = 'text'
        AND instr(ProcessTypes, char(0)) = 0)),
    Populators TEXT CONSTRAINT CK_Controller_Populators_Type CHECK (Populators IS NULL OR (typeof(Populators) = 'text'
        AND instr(Populators, char(0)) = 0)),
    Jobs TEXT CONSTRAINT CK_Controller_Jobs_Type CHECK (Jobs IS NULL OR (typeof(Jobs) = 'text' AND instr(Jobs, char(0)) = 0)),
    Trouble TEXT CONSTRAINT CK_Controller_Trouble_Type CHECK (Trouble IS NULL OR (typeof(Trouble) = 'text'
        AND instr(Trouble, char(0)) = 0)),
    CONSTRAINT "UQ_Controller_ControllerName" UNIQUE (ControllerName),
    CONSTRAINT "CK_Controller_ControllerName" CHECK (ControllerName <> ''),
    CONSTRAINT "CK_Controller_Status" CHECK (Status = 'running' OR Status = 'stopped' OR Status = 'lost'),
    CONSTRAINT "CK_Controller_Slots" CHECK (Slots >= 0),
    CONSTRAINT "CK_Controller_ControllerName_Type" CHECK (typeof(ControllerName) = 'text'
        AND instr(ControllerName, char(0)) = 0 AND length(ControllerName) <= 200),
    CONSTRAINT "CK_Controller_Status_Type" CHECK (typeof(Status) = 'text'),
    CONSTRAINT "CK_Controller_Host_Type" CHECK (typeof(Host) = 'text' AND instr(Host, char(0)) = 0 AND length(Host) <= 200),
    CONSTRAINT "CK_Controller_Pid_Type" CHECK (Pid IS NULL OR (typeof(Pid) = 'integer')),
    CONSTRAINT "CK_Controller_PidStart_Type" CHECK (PidStart IS NULL OR (typeof(PidStart) = 'text'
        AND instr(PidStart, char(0)) = 0 AND length(PidStart) <= 50)),
    CONSTRAINT "CK_Controller_BootId_Type" CHECK (BootId IS NULL OR (typeof(BootId) = 'text' AND instr(BootId, char(0)) = 0
        AND length(BootId) <= 50)),
    CONSTRAINT "CK_Controller_Slots_Type" CHECK (typeof(Slots) = 'integer'),
    CONSTRAINT "CK_Controller_HeartbeatSeq_Type" CHECK (typeof(HeartbeatSeq) = 'integer'),
    CONSTRAINT "CK_Controller_Heartbeat_Type" CHECK ((Heartbeat >= '0001' AND Heartbeat < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', Heartbeat, '+0 days') IS Heartbeat) OR (Heartbeat >= '0001'
        AND Heartbeat GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(Heartbeat, 1, 10), '+0 days') IS substr(Heartbeat, 1, 10)
        AND substr(Heartbeat, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', Heartbeat), 1, length(Heartbeat)) IS substr(Heartbeat, 1, 19)
        AND substr(Heartbeat, 20) NOT GLOB '*[^.0-9]*' AND Heartbeat GLOB '*[0-9]' AND instr(Heartbeat, char(0)) = 0)),
    CONSTRAINT "CK_Controller_AppVersion_Type" CHECK (AppVersion IS NULL OR (typeof(AppVersion) = 'text'
        AND instr(AppVersion, char(0)) = 0 AND length(AppVersion) <= 50)),
    CONSTRAINT "CK_Controller_z_inserted_Type" CHECK (z_inserted IS Heartbeat OR (z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_Controller_z_updated_Type" CHECK (z_updated IS Heartbeat OR z_updated IS z_inserted OR (z_updated >= '0001'
        AND z_updated < ':' AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

-- Which controller makes instances and fires schedules: one row.
CREATE TABLE Leader (
    Leader_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ControllerName VARCHAR(200),
    Fence INTEGER DEFAULT 0 NOT NULL,
    LeaseUntil TEXT DEFAULT '1900-01-01 00:00:00.000' NOT NULL,
    Place TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "CK_Leader_Leader_id" CHECK (Leader_id = 1),
    CONSTRAINT "CK_Leader_Fence" CHECK (Fence BETWEEN 0 AND 2000000000),
    CONSTRAINT "CK_Leader_ControllerName_Type" CHECK (ControllerName IS NULL OR (typeof(ControllerName) = 'text'
        AND instr(ControllerName, char(0)) = 0 AND length(ControllerName) <= 200)),
    CONSTRAINT "CK_Leader_Fence_Type" CHECK (typeof(Fence) = 'integer'),
    CONSTRAINT "CK_Leader_LeaseUntil_Type" CHECK ((LeaseUntil >= '0001' AND LeaseUntil < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', LeaseUntil, '+0 days') IS LeaseUntil) OR (LeaseUntil >= '0001'
        AND LeaseUntil GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(LeaseUntil, 1, 10), '+0 days') IS substr(LeaseUntil, 1, 10) AND substr(LeaseUntil, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', LeaseUntil), 1, length(LeaseUntil)) IS substr(LeaseUntil, 1, 19)
        AND substr(LeaseUntil, 20) NOT GLOB '*[^.0-9]*' AND LeaseUntil GLOB '*[0-9]' AND instr(LeaseUntil, char(0)) = 0)),
    CONSTRAINT "CK_Leader_Place_Type" CHECK (Place IS NULL OR (typeof(Place) = 'text' AND instr(Place, char(0)) = 0)),
    CONSTRAINT "CK_Leader_z_inserted_Type" CHECK (z_inserted IS LeaseUntil OR (z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_Leader_z_updated_Type" CHECK (z_updated IS LeaseUntil OR z_updated IS z_inserted OR (z_updated >= '0001'
        AND z_updated < ':' AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

-- Rows that controllers lock to do one thing at a time.
CREATE TABLE NamedLock (
    NamedLock_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "CK_NamedLock_z_inserted_Type" CHECK ((z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_NamedLock_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

-- The steps of a batch, carried out in the order of ProcessControlSeq.
CREATE TABLE ProcessControl (
    ProcessControl_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL,
    ProcessControlSeq INTEGER NOT NULL,
    ProcessName VARCHAR(200) NOT NULL,
    ProcessType VARCHAR(50) NOT NULL,
    ExpectedDuration INTEGER,
    AlarmDuration INTEGER,
    MaxDuration INTEGER,
    OnLost VARCHAR(20) COLLATE "NOCASE" DEFAULT 'hold' NOT NULL,
    Data1 TEXT,
    Data2 TEXT,
    Data3 TEXT,
    Data4 TEXT,
    Data5 TEXT,
    Data6 TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    MaxLost INTEGER DEFAULT 3 NOT NULL CONSTRAINT CK_ProcessControl_MaxLost_Type CHECK (typeof(MaxLost) = 'integer')
        CONSTRAINT CK_ProcessControl_MaxLost CHECK (MaxLost BETWEEN 0 AND 1000),
    CONSTRAINT "UQ_ProcessControl_ProcessBatch_id_ProcessControlSeq" UNIQUE (ProcessBatch_id, ProcessControlSeq),
    CONSTRAINT "CK_ProcessControl_ProcessControlSeq" CHECK (ProcessControlSeq BETWEEN 1 AND 2000000000),
    CONSTRAINT "CK_ProcessControl_ProcessName" CHECK (ProcessName <> ''),
    CONSTRAINT "CK_ProcessControl_ExpectedDuration" CHECK (ExpectedDuration BETWEEN 1 AND 31536000),
    CONSTRAINT "CK_ProcessControl_AlarmDuration" CHECK (AlarmDuration BETWEEN 1 AND 31536000),
    CONSTRAINT "CK_ProcessControl_MaxDuration" CHECK (MaxDuration BETWEEN 1 AND 31536000),
    CONSTRAINT "CK_ProcessControl_OnLost" CHECK (OnLost = 'hold' OR OnLost = 'rerun' OR OnLost = 'verify'),
    CONSTRAINT "CK_ProcessControl_ProcessType" CHECK (trim(ProcessType) <> '' AND ProcessType NOT GLOB '*[^ -~]*'),
    CONSTRAINT "FK_ProcessControl_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "CK_ProcessControl_ProcessBatch_id_Type" CHECK (typeof(ProcessBatch_id) = 'integer'),
    CONSTRAINT "CK_ProcessControl_ProcessControlSeq_Type" CHECK (typeof(ProcessControlSeq) = 'integer'),
    CONSTRAINT "CK_ProcessControl_ProcessName_Type" CHECK (typeof(ProcessName) = 'text' AND instr(ProcessName, char(0)) = 0
        AND length(ProcessName) <= 200),
    CONSTRAINT "CK_ProcessControl_ProcessType_Type" CHECK (typeof(ProcessType) = 'text' AND instr(ProcessType, char(0)) = 0
        AND length(ProcessType) <= 50),
    CONSTRAINT "CK_ProcessControl_ExpectedDuration_Type" CHECK (ExpectedDuration IS NULL
        OR (typeof(ExpectedDuration) = 'integer')),
    CONSTRAINT "CK_ProcessControl_AlarmDuration_Type" CHECK (AlarmDuration IS NULL OR (typeof(AlarmDuration) = 'integer')),
    CONSTRAINT "CK_ProcessControl_MaxDuration_Type" CHECK (MaxDuration IS NULL OR (typeof(MaxDuration) = 'integer')),
    CONSTRAINT "CK_ProcessControl_OnLost_Type" CHECK (typeof(OnLost) = 'text'),
    CONSTRAINT "CK_ProcessControl_Data1_Type" CHECK (Data1 IS NULL OR (typeof(Data1) = 'text' AND instr(Data1, char(0)) = 0)),
    CONSTRAINT "CK_ProcessControl_Data2_Type" CHECK (Data2 IS NULL OR (typeof(Data2) = 'text' AND instr(Data2, char(0)) = 0)),
    CONSTRAINT "CK_ProcessControl_Data3_Type" CHECK (Data3 IS NULL OR (typeof(Data3) = 'text' AND instr(Data3, char(0)) = 0)),
    CONSTRAINT "CK_ProcessControl_Data4_Type" CHECK (Data4 IS NULL OR (typeof(Data4) = 'text' AND instr(Data4, char(0)) = 0)),
    CONSTRAINT "CK_ProcessControl_Data5_Type" CHECK (Data5 IS NULL OR (typeof(Data5) = 'text' AND instr(Data5, char(0)) = 0)),
    CONSTRAINT "CK_ProcessControl_Data6_Type" CHECK (Data6 IS NULL OR (typeof(Data6) = 'text' AND instr(Data6, char(0)) = 0)),
    CONSTRAINT "CK_ProcessControl_z_inserted_Type" CHECK ((z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_ProcessControl_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

-- How many units of a resource an instance of a batch holds while it is claimed.
CREATE TABLE BatchResource (
    BatchResource_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL,
    Resource_id INTEGER NOT NULL,
    Units INTEGER DEFAULT 1 NOT NULL,
    Exclusive SMALLINT DEFAULT 0 NOT NULL,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_BatchResource_ProcessBatch_id_Resource_id" UNIQUE (ProcessBatch_id, Resource_id),
    CONSTRAINT "CK_BatchResource_Units" CHECK (Units BETWEEN 1 AND 1000000),
    CONSTRAINT "CK_BatchResource_Exclusive" CHECK (Exclusive IN (0, 1)),
    CONSTRAINT "FK_BatchResource_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "FK_BatchResource_Resource_id" FOREIGN KEY(Resource_id) REFERENCES Resource (Resource_id),
    CONSTRAINT "CK_BatchResource_ProcessBatch_id_Type" CHECK (typeof(ProcessBatch_id) = 'integer'),
    CONSTRAINT "CK_BatchResource_Resource_id_Type" CHECK (typeof(Resource_id) = 'integer'),
    CONSTRAINT "CK_BatchResource_Units_Type" CHECK (typeof(Units) = 'integer'),
    CONSTRAINT "CK_BatchResource_Exclusive_Type" CHECK (typeof(Exclusive) = 'integer'),
    CONSTRAINT "CK_BatchResource_z_inserted_Type" CHECK ((z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_BatchResource_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

-- Which batches have to be complete before a batch is started.
CREATE TABLE BatchDependency (
    BatchDependency_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL,
    DependsOnBatch_id INTEGER NOT NULL,
    DeadlineMins INTEGER DEFAULT 1440 NOT NULL,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_BatchDependency_ProcessBatch_id_DependsOnBatch_id" UNIQUE (ProcessBatch_id, DependsOnBatch_id),
    CONSTRAINT "CK_BatchDependency_DeadlineMins" CHECK (DeadlineMins BETWEEN 1 AND 525600),
    CONSTRAINT "CK_BatchDependency_DependsOnBatch_id" CHECK (DependsOnBatch_id <> ProcessBatch_id),
    CONSTRAINT "FK_BatchDependency_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "FK_BatchDependency_DependsOnBatch_id" FOREIGN KEY(DependsOnBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "CK_BatchDependency_ProcessBatch_id_Type" CHECK (typeof(ProcessBatch_id) = 'integer'),
    CONSTRAINT "CK_BatchDependency_DependsOnBatch_id_Type" CHECK (typeof(DependsOnBatch_id) = 'integer'),
    CONSTRAINT "CK_BatchDependency_DeadlineMins_Type" CHECK (typeof(DeadlineMins) = 'integer'),
    CONSTRAINT "CK_BatchDependency_z_inserted_Type" CHECK ((z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_BatchDependency_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

-- A day on which a calendar differs from its weekdays.
CREATE TABLE CalendarDay (
    CalendarDay_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    Calendar_id INTEGER NOT NULL,
    CalendarDate VARCHAR(10) NOT NULL,
    IsBusinessDay SMALLINT DEFAULT 0 NOT NULL,
    Description VARCHAR(200),
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_CalendarDay_Calendar_id_CalendarDate" UNIQUE (Calendar_id, CalendarDate),
    CONSTRAINT "CK_CalendarDay_CalendarDate" CHECK (CalendarDate LIKE '____-__-__'),
    CONSTRAINT "CK_CalendarDay_IsBusinessDay" CHECK (IsBusinessDay IN (0, 1)),
    CONSTRAINT "CK_CalendarDay_CalendarDate_Form" CHECK (trim(CalendarDate) GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'
        AND trim(CalendarDate) NOT GLOB '?????00*' AND trim(CalendarDate) NOT GLOB '?????1[3-9]*'
        AND trim(CalendarDate) NOT GLOB '????????00*' AND trim(CalendarDate) NOT GLOB '????????3[2-9]*'),
    CONSTRAINT "FK_CalendarDay_Calendar_id" FOREIGN KEY(Calendar_id) REFERENCES Calendar (Calendar_id),
    CONSTRAINT "CK_CalendarDay_Calendar_id_Type" CHECK (typeof(Calendar_id) = 'integer'),
    CONSTRAINT "CK_CalendarDay_CalendarDate_Type" CHECK (typeof(CalendarDate) = 'text' AND instr(CalendarDate, char(0)) = 0
        AND length(CalendarDate) <= 10),
    CONSTRAINT "CK_CalendarDay_IsBusinessDay_Type" CHECK (typeof(IsBusinessDay) = 'integer'),
    CONSTRAINT "CK_CalendarDay_Description_Type" CHECK (Description IS NULL OR (typeof(Description) = 'text'
        AND instr(Description, char(0)) = 0 AND length(Description) <= 200)),
    CONSTRAINT "CK_CalendarDay_z_inserted_Type" CHECK ((z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_CalendarDay_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

-- Messages about incidents, one for each channel.
CREATE TABLE AlertDelivery (
    AlertDelivery_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    Incident_id INTEGER NOT NULL,
    Channel VARCHAR(200) NOT NULL,
    Kind VARCHAR(20) COLLATE "NOCASE" NOT NULL,
    Number INTEGER NOT NULL,
    Status VARCHAR(20) COLLATE "NOCASE" DEFAULT 'waiting' NOT NULL,
    Title VARCHAR(200) NOT NULL,
    Body TEXT NOT NULL,
    Attempts INTEGER DEFAULT 0 NOT NULL,
    NextAttemptTime TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    ClaimedBy VARCHAR(200),
    ClaimedTime TEXT,
    SentTime TEXT,
    Message TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_AlertDelivery_Incident_id_Channel_Kind_Number" UNIQUE (Incident_id, Channel, Kind, Number),
    CONSTRAINT "CK_AlertDelivery_Channel" CHECK (Channel <> ''),
    CONSTRAINT "CK_AlertDelivery_Number" CHECK (Number >= 0),
    CONSTRAINT "CK_AlertDelivery_Attempts" CHECK (Attempts >= 0),
    CONSTRAINT "CK_AlertDelivery_Kind" CHECK (Kind = 'alert' OR Kind = 'repeat' OR Kind = 'escalation' OR Kind = 'recovery'
        OR Kind = 'digest'),
    CONSTRAINT "CK_AlertDelivery_Status" CHECK (Status = 'waiting' OR Status = 'sent' OR Status = 'failed'
        OR Status = 'withdrawn'),
    CONSTRAINT "FK_AlertDelivery_Incident_id" FOREIGN KEY(Incident_id) REFERENCES Incident (Incident_id),
    CONSTRAINT "CK_AlertDelivery_Incident_id_Type" CHECK (typeof(Incident_id) = 'integer'),
    CONSTRAINT "CK_AlertDelivery_Channel_Type" CHECK (typeof(Channel) = 'text' AND instr(Channel, char(0)) = 0
        AND length(Channel) <= 200),
    CONSTRAINT "CK_AlertDelivery_Kind_Type" CHECK (typeof(Kind) = 'text'),
    CONSTRAINT "CK_AlertDelivery_Number_Type" CHECK (typeof(Number) = 'integer'),
    CONSTRAINT "CK_AlertDelivery_Status_Type" CHECK (typeof(Status) = 'text'),
    CONSTRAINT "CK_AlertDelivery_Title_Type" CHECK (typeof(Title) = 'text' AND instr(Title, char(0)) = 0
        AND length(Title) <= 200),
    CONSTRAINT "CK_AlertDelivery_Body_Type" CHECK (typeof(Body) = 'text' AND instr(Body, char(0)) = 0),
    CONSTRAINT "CK_AlertDelivery_Attempts_Type" CHECK (typeof(Attempts) = 'integer'),
    CONSTRAINT "CK_AlertDelivery_NextAttemptTime_Type" CHECK ((NextAttemptTime >= '0001' AND NextAttemptTime < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', NextAttemptTime, '+0 days') IS NextAttemptTime) OR (NextAttemptTime >= '0001'
        AND NextAttemptTime GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(NextAttemptTime, 1, 10), '+0 days') IS substr(NextAttemptTime, 1, 10)
        AND substr(NextAttemptTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', NextAttemptTime), 1, length(NextAttemptTime)) IS substr(NextAttemptTime, 1, 19) AND substr(NextAttemptTime, 20) NOT GLOB '*[^.0-9]*' AND NextAttemptTime GLOB '*[0-9]' AND instr(NextAttemptTime, char(0)) = 0)),
    CONSTRAINT "CK_AlertDelivery_ClaimedBy_Type" CHECK (ClaimedBy IS NULL OR (typeof(ClaimedBy) = 'text'
        AND instr(ClaimedBy, char(0)) = 0 AND length(ClaimedBy) <= 200)),
    CONSTRAINT "CK_AlertDelivery_ClaimedTime_Type" CHECK (ClaimedTime IS NULL OR ((ClaimedTime >= '0001' AND ClaimedTime < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', ClaimedTime, '+0 days') IS ClaimedTime) OR (ClaimedTime >= '0001'
        AND ClaimedTime GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(ClaimedTime, 1, 10), '+0 days') IS substr(ClaimedTime, 1, 10) AND substr(ClaimedTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', ClaimedTime), 1, length(ClaimedTime)) IS substr(ClaimedTime, 1, 19)
        AND substr(ClaimedTime, 20) NOT GLOB '*[^.0-9]*' AND ClaimedTime GLOB '*[0-9]' AND instr(ClaimedTime, char(0)) = 0))),
    CONSTRAINT "CK_AlertDelivery_SentTime_Type" CHECK (SentTime IS NULL OR ((SentTime >= '0001' AND SentTime < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', SentTime, '+0 days') IS SentTime) OR (SentTime >= '0001'
        AND SentTime GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(SentTime, 1, 10), '+0 days') IS substr(SentTime, 1, 10)
        AND substr(SentTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', SentTime), 1, length(SentTime)) IS substr(SentTime, 1, 19)
        AND substr(SentTime, 20) NOT GLOB '*[^.0-9]*' AND SentTime GLOB '*[0-9]' AND instr(SentTime, char(0)) = 0))),
    CONSTRAINT "CK_AlertDelivery_Message_Type" CHECK (Message IS NULL OR (typeof(Message) = 'text'
        AND instr(Message, char(0)) = 0)),
    CONSTRAINT "CK_AlertDelivery_z_inserted_Type" CHECK (z_inserted IS NextAttemptTime OR z_inserted IS ClaimedTime
        OR z_inserted IS SentTime OR (z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_AlertDelivery_z_updated_Type" CHECK (z_updated IS NextAttemptTime OR z_updated IS ClaimedTime
        OR z_updated IS SentTime OR z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

CREATE INDEX "IX_AlertDelivery_Waiting" ON AlertDelivery (AlertDelivery_id) WHERE Status = 'waiting';

-- The files that a watch has seen, so that none is taken twice.
CREATE TABLE FileWatchSeen (
    FileWatchSeen_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    FileWatch_id INTEGER NOT NULL,
    PathKey VARCHAR(64) NOT NULL,
    FilePath TEXT NOT NULL,
    FileSize INTEGER NOT NULL,
    ModifiedNs INTEGER NOT NULL,
    FileNumber VARCHAR(50),
    FileProcess_id INTEGER,
    MissingSince TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_FileWatchSeen_FileWatch_id_PathKey" UNIQUE (FileWatch_id, PathKey),
    CONSTRAINT "FK_FileWatchSeen_FileWatch_id" FOREIGN KEY(FileWatch_id) REFERENCES FileWatch (FileWatch_id),
    CONSTRAINT "FK_FileWatchSeen_FileProcess_id" FOREIGN KEY(FileProcess_id) REFERENCES FileProcess (FileProcess_id),
    CONSTRAINT "CK_FileWatchSeen_FileWatch_id_Type" CHECK (typeof(FileWatch_id) = 'integer'),
    CONSTRAINT "CK_FileWatchSeen_PathKey_Type" CHECK (typeof(PathKey) = 'text' AND instr(PathKey, char(0)) = 0
        AND length(PathKey) <= 64),
    CONSTRAINT "CK_FileWatchSeen_FilePath_Type" CHECK (typeof(FilePath) = 'text' AND instr(FilePath, char(0)) = 0),
    CONSTRAINT "CK_FileWatchSeen_FileSize_Type" CHECK (typeof(FileSize) = 'integer'),
    CONSTRAINT "CK_FileWatchSeen_ModifiedNs_Type" CHECK (typeof(ModifiedNs) = 'integer'),
    CONSTRAINT "CK_FileWatchSeen_FileNumber_Type" CHECK (FileNumber IS NULL OR (typeof(FileNumber) = 'text'
        AND instr(FileNumber, char(0)) = 0 AND length(FileNumber) <= 50)),
    CONSTRAINT "CK_FileWatchSeen_FileProcess_id_Type" CHECK (FileProcess_id IS NULL OR (typeof(FileProcess_id) = 'integer')),
    CONSTRAINT "CK_FileWatchSeen_MissingSince_Type" CHECK (MissingSince IS NULL OR ((MissingSince >= '0001'
        AND MissingSince < ':' AND strftime('%Y-%m-%d %H:%M:%f', MissingSince, '+0 days') IS MissingSince)
        OR (MissingSince >= '0001' AND MissingSince GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(MissingSince, 1, 10), '+0 days') IS substr(MissingSince, 1, 10) AND substr(MissingSince, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', MissingSince), 1, length(MissingSince)) IS substr(MissingSince, 1, 19)
        AND substr(MissingSince, 20) NOT GLOB '*[^.0-9]*' AND MissingSince GLOB '*[0-9]'
        AND instr(MissingSince, char(0)) = 0))),
    CONSTRAINT "CK_FileWatchSeen_z_inserted_Type" CHECK (z_inserted IS MissingSince OR (z_inserted >= '0001'
        AND z_inserted < ':' AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_FileWatchSeen_z_updated_Type" CHECK (z_updated IS MissingSince OR z_updated IS z_inserted
        OR (z_updated >= '0001' AND z_updated < ':' AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated)
        OR (z_updated >= '0001' AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10) AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

CREATE INDEX "IX_FileWatchSeen_Intake" ON FileWatchSeen (FileProcess_id);

-- Past due times that a person has asked for.
CREATE TABLE ScheduleBackfill (
    ScheduleBackfill_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    Schedule_id INTEGER NOT NULL,
    Status VARCHAR(20) COLLATE "NOCASE" DEFAULT 'running' NOT NULL,
    FromTime TEXT NOT NULL,
    UntilTime TEXT NOT NULL,
    MostOpen INTEGER DEFAULT 1 NOT NULL,
    Missed SMALLINT DEFAULT 0 NOT NULL,
    DoneUntil TEXT,
    Fired INTEGER DEFAULT 0 NOT NULL,
    Actor VARCHAR(200) NOT NULL,
    Reason TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "CK_ScheduleBackfill_UntilTime" CHECK (FromTime <= UntilTime),
    CONSTRAINT "CK_ScheduleBackfill_MostOpen" CHECK (MostOpen BETWEEN 1 AND 1000),
    CONSTRAINT "CK_ScheduleBackfill_Missed" CHECK (Missed IN (0, 1)),
    CONSTRAINT "CK_ScheduleBackfill_Status" CHECK (Status = 'running' OR Status = 'complete' OR Status = 'cancelled'),
    CONSTRAINT "FK_ScheduleBackfill_Schedule_id" FOREIGN KEY(Schedule_id) REFERENCES Schedule (Schedule_id),
    CONSTRAINT "CK_ScheduleBackfill_Schedule_id_Type" CHECK (typeof(Schedule_id) = 'integer'),
    CONSTRAINT "CK_ScheduleBackfill_Status_Type" CHECK (typeof(Status) = 'text'),
    CONSTRAINT "CK_ScheduleBackfill_FromTime_Type" CHECK ((FromTime >= '0001' AND FromTime < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', FromTime, '+0 days') IS FromTime) OR (FromTime >= '0001'
        AND FromTime GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(FromTime, 1, 10), '+0 days') IS substr(FromTime, 1, 10)
        AND substr(FromTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', FromTime), 1, length(FromTime)) IS substr(FromTime, 1, 19)
        AND substr(FromTime, 20) NOT GLOB '*[^.0-9]*' AND FromTime GLOB '*[0-9]' AND instr(FromTime, char(0)) = 0)),
    CONSTRAINT "CK_ScheduleBackfill_UntilTime_Type" CHECK ((UntilTime >= '0001' AND UntilTime < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', UntilTime, '+0 days') IS UntilTime) OR (UntilTime >= '0001'
        AND UntilTime GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(UntilTime, 1, 10), '+0 days') IS substr(UntilTime, 1, 10)
        AND substr(UntilTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', UntilTime), 1, length(UntilTime)) IS substr(UntilTime, 1, 19)
        AND substr(UntilTime, 20) NOT GLOB '*[^.0-9]*' AND UntilTime GLOB '*[0-9]' AND instr(UntilTime, char(0)) = 0)),
    CONSTRAINT "CK_ScheduleBackfill_MostOpen_Type" CHECK (typeof(MostOpen) = 'integer'),
    CONSTRAINT "CK_ScheduleBackfill_Missed_Type" CHECK (typeof(Missed) = 'integer'),
    CONSTRAINT "CK_ScheduleBackfill_DoneUntil_Type" CHECK (DoneUntil IS NULL OR ((DoneUntil >= '0001' AND DoneUntil < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', DoneUntil, '+0 days') IS DoneUntil) OR (DoneUntil >= '0001'
        AND DoneUntil GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(DoneUntil, 1, 10), '+0 days') IS substr(DoneUntil, 1, 10)
        AND substr(DoneUntil, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', DoneUntil), 1, length(DoneUntil)) IS substr(DoneUntil, 1, 19)
        AND substr(DoneUntil, 20) NOT GLOB '*[^.0-9]*' AND DoneUntil GLOB '*[0-9]' AND instr(DoneUntil, char(0)) = 0))),
    CONSTRAINT "CK_ScheduleBackfill_Fired_Type" CHECK (typeof(Fired) = 'integer'),
    CONSTRAINT "CK_ScheduleBackfill_Actor_Type" CHECK (typeof(Actor) = 'text' AND instr(Actor, char(0)) = 0
        AND length(Actor) <= 200),
    CONSTRAINT "CK_ScheduleBackfill_Reason_Type" CHECK (Reason IS NULL OR (typeof(Reason) = 'text'
        AND instr(Reason, char(0)) = 0)),
    CONSTRAINT "CK_ScheduleBackfill_z_inserted_Type" CHECK (z_inserted IS FromTime OR z_inserted IS UntilTime
        OR z_inserted IS DoneUntil OR (z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_ScheduleBackfill_z_updated_Type" CHECK (z_updated IS FromTime OR z_updated IS UntilTime
        OR z_updated IS DoneUntil OR z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

CREATE INDEX "IX_ScheduleBackfill_Running" ON ScheduleBackfill (ScheduleBackfill_id) WHERE Status = 'running';

-- An instance: one batch at work on one row of FileProcess, and how far it has come.
CREATE TABLE BatchControl (
    BatchControl_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL,
    FileProcess_id INTEGER NOT NULL,
    PrevProcessControlSeq INTEGER DEFAULT 0 NOT NULL,
    Status VARCHAR(20) COLLATE "NOCASE" DEFAULT 'ready' NOT NULL,
    RetryCount INTEGER DEFAULT 0 NOT NULL,
    NextRunTime TEXT DEFAULT '1900-01-01 00:00:00.000' NOT NULL,
    CycleKey VARCHAR(200),
    Data1 TEXT,
    Data2 TEXT,
    Data3 TEXT,
    Data4 TEXT,
    Data5 TEXT,
    Data6 TEXT,
    ClaimToken INTEGER DEFAULT 0 NOT NULL,
    ClaimedBy VARCHAR(200),
    LostCount INTEGER DEFAULT 0 NOT NULL,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    DefVersion INTEGER CONSTRAINT CK_BatchControl_DefVersion_Type CHECK (DefVersion IS NULL
        OR (typeof(DefVersion) = 'integer')),
    CONSTRAINT "UQ_BatchControl_FileProcess_id_ProcessBatch_id" UNIQUE (FileProcess_id, ProcessBatch_id),
    CONSTRAINT "CK_BatchControl_Status" CHECK (Status = 'ready' OR Status = 'running' OR Status = 'retry' OR Status = 'failed'
        OR Status = 'held' OR Status = 'pausing' OR Status = 'paused' OR Status = 'cancelling' OR Status = 'cancelled'
        OR Status = 'complete' OR Status = 'success'),
    CONSTRAINT "CK_BatchControl_PrevProcessControlSeq" CHECK (PrevProcessControlSeq BETWEEN 0 AND 2000000000),
    CONSTRAINT "CK_BatchControl_RetryCount" CHECK (RetryCount >= 0),
    CONSTRAINT "CK_BatchControl_LostCount" CHECK (LostCount >= 0),
    CONSTRAINT "FK_BatchControl_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "FK_BatchControl_FileProcess_id" FOREIGN KEY(FileProcess_id) REFERENCES FileProcess (FileProcess_id),
    CONSTRAINT "CK_BatchControl_ProcessBatch_id_Type" CHECK (typeof(ProcessBatch_id) = 'integer'),
    CONSTRAINT "CK_BatchControl_FileProcess_id_Type" CHECK (typeof(FileProcess_id) = 'integer'),
    CONSTRAINT "CK_BatchControl_PrevProcessControlSeq_Type" CHECK (typeof(PrevProcessControlSeq) = 'integer'),
    CONSTRAINT "CK_BatchControl_Status_Type" CHECK (typeof(Status) = 'text'),
    CONSTRAINT "CK_BatchControl_RetryCount_Type" CHECK (typeof(RetryCount) = 'integer'),
    CONSTRAINT "CK_BatchControl_NextRunTime_Type" CHECK ((NextRunTime >= '0001' AND NextRunTime < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', NextRunTime, '+0 days') IS NextRunTime) OR (NextRunTime >= '0001'
        AND NextRunTime GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(NextRunTime, 1, 10), '+0 days') IS substr(NextRunTime, 1, 10) AND substr(NextRunTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', NextRunTime), 1, length(NextRunTime)) IS substr(NextRunTime, 1, 19)
        AND substr(NextRunTime, 20) NOT GLOB '*[^.0-9]*' AND NextRunTime GLOB '*[0-9]' AND instr(NextRunTime, char(0)) = 0)),
    CONSTRAINT "CK_BatchControl_CycleKey_Type" CHECK (CycleKey IS NULL OR (typeof(CycleKey) = 'text'
        AND instr(CycleKey, char(0)) = 0 AND length(CycleKey) <= 200)),
    CONSTRAINT "CK_BatchControl_Data1_Type" CHECK (Data1 IS NULL OR (typeof(Data1) = 'text' AND instr(Data1, char(0)) = 0)),
    CONSTRAINT "CK_BatchControl_Data2_Type" CHECK (Data2 IS NULL OR (typeof(Data2) = 'text' AND instr(Data2, char(0)) = 0)),
    CONSTRAINT "CK_BatchControl_Data3_Type" CHECK (Data3 IS NULL OR (typeof(Data3) = 'text' AND instr(Data3, char(0)) = 0)),
    CONSTRAINT "CK_BatchControl_Data4_Type" CHECK (Data4 IS NULL OR (typeof(Data4) = 'text' AND instr(Data4, char(0)) = 0)),
    CONSTRAINT "CK_BatchControl_Data5_Type" CHECK (Data5 IS NULL OR (typeof(Data5) = 'text' AND instr(Data5, char(0)) = 0)),
    CONSTRAINT "CK_BatchControl_Data6_Type" CHECK (Data6 IS NULL OR (typeof(Data6) = 'text' AND instr(Data6, char(0)) = 0)),
    CONSTRAINT "CK_BatchControl_ClaimToken_Type" CHECK (typeof(ClaimToken) = 'integer'),
    CONSTRAINT "CK_BatchControl_ClaimedBy_Type" CHECK (ClaimedBy IS NULL OR (typeof(ClaimedBy) = 'text'
        AND instr(ClaimedBy, char(0)) = 0 AND length(ClaimedBy) <= 200)),
    CONSTRAINT "CK_BatchControl_LostCount_Type" CHECK (typeof(LostCount) = 'integer'),
    CONSTRAINT "CK_BatchControl_z_inserted_Type" CHECK (z_inserted IS NextRunTime OR (z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_BatchControl_z_updated_Type" CHECK (z_updated IS NextRunTime OR z_updated IS z_inserted
        OR (z_updated >= '0001' AND z_updated < ':' AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated)
        OR (z_updated >= '0001' AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10) AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

CREATE INDEX "IX_BatchControl_Deferred" ON BatchControl (ProcessBatch_id, NextRunTime) WHERE (Status = 'ready'
    OR Status = 'retry') AND NextRunTime > '1900-01-01 00:00:00.000';

CREATE INDEX "IX_BatchControl_Paused" ON BatchControl (ProcessBatch_id, BatchControl_id) WHERE (Status = 'paused');

CREATE INDEX "IX_BatchControl_Standing" ON BatchControl (BatchControl_id) WHERE (Status = 'retry' OR Status = 'failed'
    OR Status = 'held');

CREATE INDEX "IX_BatchControl_Over" ON BatchControl (ProcessBatch_id, Status, BatchControl_id) WHERE (Status = 'complete'
    OR Status = 'cancelled');

CREATE INDEX "IX_BatchControl_Unreadable" ON BatchControl (BatchControl_id) WHERE ((Status = 'ready' OR Status = 'running'
    OR Status = 'retry' OR Status = 'failed' OR Status = 'held' OR Status = 'pausing' OR Status = 'paused'
    OR Status = 'cancelling' OR Status = 'cancelled' OR Status = 'complete' OR Status = 'success')
    AND (PrevProcessControlSeq BETWEEN 0 AND 2000000000) AND (typeof(ProcessBatch_id) = 'integer') AND (typeof(FileProcess_id) = 'integer')
    AND (typeof(PrevProcessControlSeq) = 'integer') AND (typeof(RetryCount) = 'integer') AND ((NextRunTime >= '0001'
    AND NextRunTime < ':' AND strftime('%Y-%m-%d %H:%M:%f', NextRunTime, '+0 days') IS NextRunTime) OR (NextRunTime >= '0001'
    AND NextRunTime GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(NextRunTime, 1, 10), '+0 days') IS substr(NextRunTime, 1, 10)
    AND substr(NextRunTime, 12, 2) < '24'
    AND substr(strftime('%Y-%m-%d %H:%M:%S', NextRunTime), 1, length(NextRunTime)) IS substr(NextRunTime, 1, 19)
    AND substr(NextRunTime, 20) NOT GLOB '*[^.0-9]*' AND NextRunTime GLOB '*[0-9]' AND instr(NextRunTime, char(0)) = 0))
    AND (typeof(ClaimToken) = 'integer') AND (typeof(LostCount) = 'integer') AND (DefVersion IS NULL
    OR (typeof(DefVersion) = 'integer'))) IS NOT TRUE;

CREATE INDEX "IX_BatchControl_Claimed" ON BatchControl (ProcessBatch_id) WHERE (Status = 'running' OR Status = 'pausing'
    OR Status = 'cancelling');

CREATE INDEX "IX_BatchControl_Cycle" ON BatchControl (ProcessBatch_id, CycleKey, BatchControl_id);

CREATE INDEX "IX_BatchControl_Due" ON BatchControl (NextRunTime) WHERE (Status = 'ready' OR Status = 'retry')
    AND NextRunTime > '1900-01-01 00:00:00.000';

CREATE INDEX "IX_BatchControl_InLine" ON BatchControl (ProcessBatch_id, BatchControl_id) WHERE (Status = 'ready'
    OR Status = 'retry' OR Status = 'failed' OR Status = 'held');

CREATE INDEX "IX_BatchControl_AtOnce" ON BatchControl (ProcessBatch_id, BatchControl_id) WHERE (Status = 'ready'
    OR Status = 'retry') AND NextRunTime <= '1900-01-01 00:00:00.000';

-- How long attempts took that have been purged.
CREATE TABLE DurationHistory (
    DurationHistory_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL,
    ProcessControlSeq INTEGER NOT NULL,
    Day VARCHAR(10) NOT NULL,
    UpToMs INTEGER NOT NULL,
    Runs INTEGER NOT NULL,
    TotalMs INTEGER NOT NULL,
    MinMs INTEGER NOT NULL,
    MaxMs INTEGER NOT NULL,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_DurationHistory_ProcessBatch_id_ProcessControlSeq_Day_UpToMs" UNIQUE (ProcessBatch_id, ProcessControlSeq, Day, UpToMs),
    CONSTRAINT "CK_DurationHistory_Runs" CHECK (Runs >= 1),
    CONSTRAINT "CK_DurationHistory_MinMs" CHECK (MinMs BETWEEN 0 AND MaxMs),
    CONSTRAINT "FK_DurationHistory_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "CK_DurationHistory_ProcessBatch_id_Type" CHECK (typeof(ProcessBatch_id) = 'integer'),
    CONSTRAINT "CK_DurationHistory_ProcessControlSeq_Type" CHECK (typeof(ProcessControlSeq) = 'integer'),
    CONSTRAINT "CK_DurationHistory_Day_Type" CHECK (typeof(Day) = 'text' AND instr(Day, char(0)) = 0 AND length(Day) <= 10),
    CONSTRAINT "CK_DurationHistory_UpToMs_Type" CHECK (typeof(UpToMs) = 'integer'),
    CONSTRAINT "CK_DurationHistory_Runs_Type" CHECK (typeof(Runs) = 'integer'),
    CONSTRAINT "CK_DurationHistory_TotalMs_Type" CHECK (typeof(TotalMs) = 'integer'),
    CONSTRAINT "CK_DurationHistory_MinMs_Type" CHECK (typeof(MinMs) = 'integer'),
    CONSTRAINT "CK_DurationHistory_MaxMs_Type" CHECK (typeof(MaxMs) = 'integer'),
    CONSTRAINT "CK_DurationHistory_z_inserted_Type" CHECK ((z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_DurationHistory_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

-- What was decided about each due time of a schedule.
CREATE TABLE ScheduleFire (
    ScheduleFire_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    Schedule_id INTEGER NOT NULL,
    FireKey VARCHAR(100) NOT NULL,
    Outcome VARCHAR(20) COLLATE "NOCASE" NOT NULL,
    DueTime TEXT NOT NULL,
    DueUntil TEXT,
    Instants INTEGER DEFAULT 1 NOT NULL,
    Reason TEXT,
    FileProcess_id INTEGER,
    ScheduleBackfill_id INTEGER,
    ZoneRules VARCHAR(50),
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_ScheduleFire_Schedule_id_FireKey" UNIQUE (Schedule_id, FireKey),
    CONSTRAINT "CK_ScheduleFire_FireKey" CHECK (FireKey <> ''),
    CONSTRAINT "CK_ScheduleFire_Instants" CHECK (Instants >= 1),
    CONSTRAINT "CK_ScheduleFire_FileProcess_id" CHECK ((Outcome = 'fired' AND FileProcess_id IS NOT NULL)
        OR (Outcome <> 'fired' AND FileProcess_id IS NULL)),
    CONSTRAINT "CK_ScheduleFire_Outcome" CHECK (Outcome = 'fired' OR Outcome = 'skipped' OR Outcome = 'purged'),
    CONSTRAINT "FK_ScheduleFire_Schedule_id" FOREIGN KEY(Schedule_id) REFERENCES Schedule (Schedule_id),
    CONSTRAINT "FK_ScheduleFire_FileProcess_id" FOREIGN KEY(FileProcess_id) REFERENCES FileProcess (FileProcess_id),
    CONSTRAINT "FK_ScheduleFire_ScheduleBackfill_id" FOREIGN KEY(ScheduleBackfill_id) REFERENCES ScheduleBackfill (ScheduleBackfill_id),
    CONSTRAINT "CK_ScheduleFire_Schedule_id_Type" CHECK (typeof(Schedule_id) = 'integer'),
    CONSTRAINT "CK_ScheduleFire_FireKey_Type" CHECK (typeof(FireKey) = 'text' AND instr(FireKey, char(0)) = 0
        AND length(FireKey) <= 100),
    CONSTRAINT "CK_ScheduleFire_Outcome_Type" CHECK (typeof(Outcome) = 'text'),
    CONSTRAINT "CK_ScheduleFire_DueTime_Type" CHECK ((DueTime >= '0001' AND DueTime < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', DueTime, '+0 days') IS DueTime) OR (DueTime >= '0001'
        AND DueTime GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(DueTime, 1, 10), '+0 days') IS substr(DueTime, 1, 10)
        AND substr(DueTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', DueTime), 1, length(DueTime)) IS substr(DueTime, 1, 19)
        AND substr(DueTime, 20) NOT GLOB '*[^.0-9]*' AND DueTime GLOB '*[0-9]' AND instr(DueTime, char(0)) = 0)),
    CONSTRAINT "CK_ScheduleFire_DueUntil_Type" CHECK (DueUntil IS NULL OR ((DueUntil >= '0001' AND DueUntil < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', DueUntil, '+0 days') IS DueUntil) OR (DueUntil >= '0001'
        AND DueUntil GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(DueUntil, 1, 10), '+0 days') IS substr(DueUntil, 1, 10)
        AND substr(DueUntil, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', DueUntil), 1, length(DueUntil)) IS substr(DueUntil, 1, 19)
        AND substr(DueUntil, 20) NOT GLOB '*[^.0-9]*' AND DueUntil GLOB '*[0-9]' AND instr(DueUntil, char(0)) = 0))),
    CONSTRAINT "CK_ScheduleFire_Instants_Type" CHECK (typeof(Instants) = 'integer'),
    CONSTRAINT "CK_ScheduleFire_Reason_Type" CHECK (Reason IS NULL OR (typeof(Reason) = 'text' AND instr(Reason, char(0)) = 0)),
    CONSTRAINT "CK_ScheduleFire_FileProcess_id_Type" CHECK (FileProcess_id IS NULL OR (typeof(FileProcess_id) = 'integer')),
    CONSTRAINT "CK_ScheduleFire_ScheduleBackfill_id_Type" CHECK (ScheduleBackfill_id IS NULL
        OR (typeof(ScheduleBackfill_id) = 'integer')),
    CONSTRAINT "CK_ScheduleFire_ZoneRules_Type" CHECK (ZoneRules IS NULL OR (typeof(ZoneRules) = 'text'
        AND instr(ZoneRules, char(0)) = 0 AND length(ZoneRules) <= 50)),
    CONSTRAINT "CK_ScheduleFire_z_inserted_Type" CHECK (z_inserted IS DueTime OR z_inserted IS DueUntil
        OR (z_inserted >= '0001' AND z_inserted < ':' AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted)
        OR (z_inserted >= '0001' AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0))
);

CREATE INDEX "IX_ScheduleFire_Due" ON ScheduleFire (Schedule_id, DueTime);

CREATE INDEX "IX_ScheduleFire_FileProcess" ON ScheduleFire (FileProcess_id);

-- Each attempt at a step, with the command that can be pasted and run by hand.
CREATE TABLE BatchProcessHistory (
    BatchProcessHistory_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    BatchControl_id INTEGER NOT NULL,
    ProcessBatch_id INTEGER NOT NULL,
    ProcessControlSeq INTEGER NOT NULL,
    ProcessName VARCHAR(200) NOT NULL,
    ProcessType VARCHAR(50) NOT NULL,
    AttemptNo INTEGER DEFAULT 1 NOT NULL,
    ClaimToken INTEGER DEFAULT 0 NOT NULL,
    Cause VARCHAR(20) COLLATE "NOCASE" DEFAULT 'auto' NOT NULL,
    Status VARCHAR(20) COLLATE "NOCASE" DEFAULT 'running' NOT NULL,
    CommandText TEXT NOT NULL,
    CommandSpec TEXT DEFAULT '{}' NOT NULL,
    StartTime TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    EndTime TEXT,
    ReturnCode INTEGER,
    Message TEXT,
    Output TEXT,
    RowsAffected INTEGER,
    Host VARCHAR(200),
    Pid INTEGER,
    PidStart VARCHAR(50),
    BootId VARCHAR(50),
    DbSession VARCHAR(200),
    Spawned TEXT,
    RetryCountAfter INTEGER,
    NextRunTimeAfter TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    ClaimedBy VARCHAR(200) CONSTRAINT CK_BatchProcessHistory_ClaimedBy_Type CHECK (ClaimedBy IS NULL
        OR (typeof(ClaimedBy) = 'text' AND instr(ClaimedBy, char(0)) = 0 AND length(ClaimedBy) <= 200)),
    DefVersion INTEGER CONSTRAINT CK_BatchProcessHistory_DefVersion_Type CHECK (DefVersion IS NULL
        OR (typeof(DefVersion) = 'integer')),
    ErrorCode VARCHAR(50) CONSTRAINT CK_BatchProcessHistory_ErrorCode_Type CHECK (ErrorCode IS NULL
        OR (typeof(ErrorCode) = 'text' AND instr(ErrorCode, char(0)) = 0 AND length(ErrorCode) <= 50)),
    ErrorLine INTEGER CONSTRAINT CK_BatchProcessHistory_ErrorLine_Type CHECK (ErrorLine IS NULL
        OR (typeof(ErrorLine) = 'integer')),
    CONSTRAINT "UQ_BatchProcessHistory_BatchControl_id_ProcessControlSeq_AttemptNo" UNIQUE (BatchControl_id, ProcessControlSeq, AttemptNo),
    CONSTRAINT "CK_BatchProcessHistory_Cause" CHECK (Cause = 'auto' OR Cause = 'retry' OR Cause = 'manual' OR Cause = 'verify'),
    CONSTRAINT "CK_BatchProcessHistory_Status" CHECK (Status = 'running' OR Status = 'success' OR Status = 'failed'
        OR Status = 'timeout' OR Status = 'cancelled' OR Status = 'lost' OR Status = 'fenced' OR Status = 'skipped'),
    CONSTRAINT "CK_BatchProcessHistory_EndTime" CHECK ((Status = 'running' AND EndTime IS NULL) OR (Status <> 'running'
        AND EndTime IS NOT NULL)),
    CONSTRAINT "FK_BatchProcessHistory_BatchControl_id" FOREIGN KEY(BatchControl_id) REFERENCES BatchControl (BatchControl_id),
    CONSTRAINT "FK_BatchProcessHistory_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "CK_BatchProcessHistory_BatchControl_id_Type" CHECK (typeof(BatchControl_id) = 'integer'),
    CONSTRAINT "CK_BatchProcessHistory_ProcessBatch_id_Type" CHECK (typeof(ProcessBatch_id) = 'integer'),
    CONSTRAINT "CK_BatchProcessHistory_ProcessControlSeq_Type" CHECK (typeof(ProcessControlSeq) = 'integer'),
    CONSTRAINT "CK_BatchProcessHistory_ProcessName_Type" CHECK (typeof(ProcessName) = 'text'
        AND instr(ProcessName, char(0)) = 0 AND length(ProcessName) <= 200),
    CONSTRAINT "CK_BatchProcessHistory_ProcessType_Type" CHECK (typeof(ProcessType) = 'text'
        AND instr(ProcessType, char(0)) = 0 AND length(ProcessType) <= 50),
    CONSTRAINT "CK_BatchProcessHistory_AttemptNo_Type" CHECK (typeof(AttemptNo) = 'integer'),
    CONSTRAINT "CK_BatchProcessHistory_ClaimToken_Type" CHECK (typeof(ClaimToken) = 'integer'),
    CONSTRAINT "CK_BatchProcessHistory_Cause_Type" CHECK (typeof(Cause) = 'text'),
    CONSTRAINT "CK_BatchProcessHistory_Status_Type" CHECK (typeof(Status) = 'text'),
    CONSTRAINT "CK_BatchProcessHistory_CommandText_Type" CHECK (typeof(CommandText) = 'text'
        AND instr(CommandText, char(0)) = 0),
    CONSTRAINT "CK_BatchProcessHistory_CommandSpec_Type" CHECK (typeof(CommandSpec) = 'text'
        AND instr(CommandSpec, char(0)) = 0),
    CONSTRAINT "CK_BatchProcessHistory_StartTime_Type" CHECK ((StartTime >= '0001' AND StartTime < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', StartTime, '+0 days') IS StartTime) OR (StartTime >= '0001'
        AND StartTime GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(StartTime, 1, 10), '+0 days') IS substr(StartTime, 1, 10)
        AND substr(StartTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', StartTime), 1, length(StartTime)) IS substr(StartTime, 1, 19)
        AND substr(StartTime, 20) NOT GLOB '*[^.0-9]*' AND StartTime GLOB '*[0-9]' AND instr(StartTime, char(0)) = 0)),
    CONSTRAINT "CK_BatchProcessHistory_EndTime_Type" CHECK (EndTime IS NULL OR ((EndTime >= '0001' AND EndTime < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', EndTime, '+0 days') IS EndTime) OR (EndTime >= '0001'
        AND EndTime GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(EndTime, 1, 10), '+0 days') IS substr(EndTime, 1, 10)
        AND substr(EndTime, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', EndTime), 1, length(EndTime)) IS substr(EndTime, 1, 19)
        AND substr(EndTime, 20) NOT GLOB '*[^.0-9]*' AND EndTime GLOB '*[0-9]' AND instr(EndTime, char(0)) = 0))),
    CONSTRAINT "CK_BatchProcessHistory_ReturnCode_Type" CHECK (ReturnCode IS NULL OR (typeof(ReturnCode) = 'integer')),
    CONSTRAINT "CK_BatchProcessHistory_Message_Type" CHECK (Message IS NULL OR (typeof(Message) = 'text'
        AND instr(Message, char(0)) = 0)),
    CONSTRAINT "CK_BatchProcessHistory_Output_Type" CHECK (Output IS NULL OR (typeof(Output) = 'text'
        AND instr(Output, char(0)) = 0)),
    CONSTRAINT "CK_BatchProcessHistory_RowsAffected_Type" CHECK (RowsAffected IS NULL OR (typeof(RowsAffected) = 'integer')),
    CONSTRAINT "CK_BatchProcessHistory_Host_Type" CHECK (Host IS NULL OR (typeof(Host) = 'text' AND instr(Host, char(0)) = 0
        AND length(Host) <= 200)),
    CONSTRAINT "CK_BatchProcessHistory_Pid_Type" CHECK (Pid IS NULL OR (typeof(Pid) = 'integer')),
    CONSTRAINT "CK_BatchProcessHistory_PidStart_Type" CHECK (PidStart IS NULL OR (typeof(PidStart) = 'text'
        AND instr(PidStart, char(0)) = 0 AND length(PidStart) <= 50)),
    CONSTRAINT "CK_BatchProcessHistory_BootId_Type" CHECK (BootId IS NULL OR (typeof(BootId) = 'text'
        AND instr(BootId, char(0)) = 0 AND length(BootId) <= 50)),
    CONSTRAINT "CK_BatchProcessHistory_DbSession_Type" CHECK (DbSession IS NULL OR (typeof(DbSession) = 'text'
        AND instr(DbSession, char(0)) = 0 AND length(DbSession) <= 200)),
    CONSTRAINT "CK_BatchProcessHistory_Spawned_Type" CHECK (Spawned IS NULL OR ((Spawned >= '0001' AND Spawned < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', Spawned, '+0 days') IS Spawned) OR (Spawned >= '0001'
        AND Spawned GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(Spawned, 1, 10), '+0 days') IS substr(Spawned, 1, 10)
        AND substr(Spawned, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', Spawned), 1, length(Spawned)) IS substr(Spawned, 1, 19)
        AND substr(Spawned, 20) NOT GLOB '*[^.0-9]*' AND Spawned GLOB '*[0-9]' AND instr(Spawned, char(0)) = 0))),
    CONSTRAINT "CK_BatchProcessHistory_RetryCountAfter_Type" CHECK (RetryCountAfter IS NULL
        OR (typeof(RetryCountAfter) = 'integer')),
    CONSTRAINT "CK_BatchProcessHistory_NextRunTimeAfter_Type" CHECK (NextRunTimeAfter IS NULL OR ((NextRunTimeAfter >= '0001'
        AND NextRunTimeAfter < ':' AND strftime('%Y-%m-%d %H:%M:%f', NextRunTimeAfter, '+0 days') IS NextRunTimeAfter)
        OR (NextRunTimeAfter >= '0001' AND NextRunTimeAfter GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(NextRunTimeAfter, 1, 10), '+0 days') IS substr(NextRunTimeAfter, 1, 10)
        AND substr(NextRunTimeAfter, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', NextRunTimeAfter), 1, length(NextRunTimeAfter)) IS substr(NextRunTimeAfter, 1, 19) AND substr(NextRunTimeAfter, 20) NOT GLOB '*[^.0-9]*' AND NextRunTimeAfter GLOB '*[0-9]' AND instr(NextRunTimeAfter, char(0)) = 0))),
    CONSTRAINT "CK_BatchProcessHistory_z_inserted_Type" CHECK (z_inserted IS StartTime OR z_inserted IS EndTime
        OR z_inserted IS Spawned OR z_inserted IS NextRunTimeAfter OR (z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_BatchProcessHistory_z_updated_Type" CHECK (z_updated IS StartTime OR z_updated IS EndTime
        OR z_updated IS Spawned OR z_updated IS NextRunTimeAfter OR z_updated IS z_inserted OR (z_updated >= '0001'
        AND z_updated < ':' AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated) OR (z_updated >= '0001'
        AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10)
        AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

CREATE UNIQUE INDEX "UX_BatchProcessHistory_Live" ON BatchProcessHistory (BatchControl_id) WHERE Status = 'running';

CREATE INDEX "IX_BatchProcessHistory_Unreadable" ON BatchProcessHistory (BatchProcessHistory_id) WHERE ((Status = 'running'
    OR Status = 'success' OR Status = 'failed' OR Status = 'timeout' OR Status = 'cancelled' OR Status = 'lost'
    OR Status = 'fenced' OR Status = 'skipped') AND (Cause = 'auto' OR Cause = 'retry' OR Cause = 'manual' OR Cause = 'verify')
    AND (typeof(BatchControl_id) = 'integer') AND (typeof(ProcessBatch_id) = 'integer')
    AND (typeof(ProcessControlSeq) = 'integer') AND (typeof(AttemptNo) = 'integer') AND (typeof(ClaimToken) = 'integer')
    AND (ReturnCode IS NULL OR (typeof(ReturnCode) = 'integer')) AND (RowsAffected IS NULL
    OR (typeof(RowsAffected) = 'integer')) AND (Pid IS NULL OR (typeof(Pid) = 'integer')) AND (RetryCountAfter IS NULL
    OR (typeof(RetryCountAfter) = 'integer')) AND (DefVersion IS NULL OR (typeof(DefVersion) = 'integer'))
    AND (ErrorLine IS NULL OR (typeof(ErrorLine) = 'integer'))) IS NOT TRUE;

-- Completed instances that batches which depend on them still have to hear of.
CREATE TABLE BatchCompletion (
    BatchCompletion_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL,
    DependsOnBatch_id INTEGER NOT NULL,
    BatchControl_id INTEGER NOT NULL,
    CycleKey VARCHAR(200),
    FileProcess_id INTEGER,
    Overdue TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_BatchCompletion_ProcessBatch_id_BatchControl_id" UNIQUE (ProcessBatch_id, BatchControl_id),
    CONSTRAINT "FK_BatchCompletion_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "FK_BatchCompletion_DependsOnBatch_id" FOREIGN KEY(DependsOnBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "FK_BatchCompletion_BatchControl_id" FOREIGN KEY(BatchControl_id) REFERENCES BatchControl (BatchControl_id),
    CONSTRAINT "FK_BatchCompletion_FileProcess_id" FOREIGN KEY(FileProcess_id) REFERENCES FileProcess (FileProcess_id),
    CONSTRAINT "CK_BatchCompletion_ProcessBatch_id_Type" CHECK (typeof(ProcessBatch_id) = 'integer'),
    CONSTRAINT "CK_BatchCompletion_DependsOnBatch_id_Type" CHECK (typeof(DependsOnBatch_id) = 'integer'),
    CONSTRAINT "CK_BatchCompletion_BatchControl_id_Type" CHECK (typeof(BatchControl_id) = 'integer'),
    CONSTRAINT "CK_BatchCompletion_CycleKey_Type" CHECK (CycleKey IS NULL OR (typeof(CycleKey) = 'text'
        AND instr(CycleKey, char(0)) = 0 AND length(CycleKey) <= 200)),
    CONSTRAINT "CK_BatchCompletion_FileProcess_id_Type" CHECK (FileProcess_id IS NULL OR (typeof(FileProcess_id) = 'integer')),
    CONSTRAINT "CK_BatchCompletion_Overdue_Type" CHECK (Overdue IS NULL OR ((Overdue >= '0001' AND Overdue < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', Overdue, '+0 days') IS Overdue) OR (Overdue >= '0001'
        AND Overdue GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(Overdue, 1, 10), '+0 days') IS substr(Overdue, 1, 10)
        AND substr(Overdue, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', Overdue), 1, length(Overdue)) IS substr(Overdue, 1, 19)
        AND substr(Overdue, 20) NOT GLOB '*[^.0-9]*' AND Overdue GLOB '*[0-9]' AND instr(Overdue, char(0)) = 0))),
    CONSTRAINT "CK_BatchCompletion_z_inserted_Type" CHECK (z_inserted IS Overdue OR (z_inserted >= '0001' AND z_inserted < ':'
        AND strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted) OR (z_inserted >= '0001'
        AND z_inserted GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_inserted, 1, 10), '+0 days') IS substr(z_inserted, 1, 10) AND substr(z_inserted, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_inserted), 1, length(z_inserted)) IS substr(z_inserted, 1, 19)
        AND substr(z_inserted, 20) NOT GLOB '*[^.0-9]*' AND z_inserted GLOB '*[0-9]' AND instr(z_inserted, char(0)) = 0)),
    CONSTRAINT "CK_BatchCompletion_z_updated_Type" CHECK (z_updated IS Overdue OR z_updated IS z_inserted
        OR (z_updated >= '0001' AND z_updated < ':' AND strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated)
        OR (z_updated >= '0001' AND z_updated GLOB '[0-9][0-9][0-9][0-9]-*'
        AND date(substr(z_updated, 1, 10), '+0 days') IS substr(z_updated, 1, 10) AND substr(z_updated, 12, 2) < '24'
        AND substr(strftime('%Y-%m-%d %H:%M:%S', z_updated), 1, length(z_updated)) IS substr(z_updated, 1, 19)
        AND substr(z_updated, 20) NOT GLOB '*[^.0-9]*' AND z_updated GLOB '*[0-9]' AND instr(z_updated, char(0)) = 0))
);

CREATE INDEX "IX_BatchCompletion_Instance" ON BatchCompletion (BatchControl_id);

CREATE INDEX "IX_BatchCompletion_Started" ON BatchCompletion (FileProcess_id);

CREATE INDEX "IX_BatchCompletion_Waiting" ON BatchCompletion (ProcessBatch_id, CycleKey, DependsOnBatch_id, BatchCompletion_id)
    WHERE FileProcess_id IS NULL;

-- What was in the way of a row that is written just now, until it is known whether that replaced it.
CREATE TABLE batchctl_replaced (
    TableName TEXT NOT NULL,
    RowNumber INTEGER NOT NULL,
    Target TEXT NOT NULL,
    ValuesBefore TEXT NOT NULL
);

-- The name of this database, which no other has.
INSERT INTO Setting (Name, Value) SELECT 'DatabaseId', lower(hex(randomblob(16)));

INSERT INTO Leader (Fence) SELECT 0;
