-- The control database of batchctl on SQLite, schema 0044.
--
-- Run it on a file that is not there yet: sqlite3 -bail batchctl.db < batchctl.sql
-- It makes everything, from nothing, and is one transaction: with -bail nothing of it stays after an error.
-- To bring a database of batchctl up to date: batchctl db upgrade

BEGIN;

CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL, 
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

-- Running upgrade  -> 0044

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

INSERT INTO alembic_version (version_num) VALUES ('0044') RETURNING version_num;

CREATE VIEW vStatus AS
WITH Holding AS (
SELECT f.BatchFreeze_id, f.ProcessBatchName, trim(lower(f.Tag), char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) AS Tag, f.UntilTime
FROM BatchFreeze f WHERE f.ThawedTime IS NULL AND (f.UntilTime IS NULL OR f.UntilTime > strftime('%Y-%m-%d %H:%M:%f', 'now'))
), Frozen AS (
SELECT b.ProcessBatch_id, COALESCE(
    (SELECT MIN(z.BatchFreeze_id) FROM Holding z WHERE z.UntilTime IS NULL AND ((z.Tag IS NULL AND (z.ProcessBatchName IS NULL OR z.ProcessBatchName = b.ProcessBatchName)) OR (z.Tag <> '' AND EXISTS (SELECT 1 FROM json_each('[' || replace(json_quote(CAST(b.Tags AS text)), ',', '","') || ']') t WHERE trim(t.value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = z.Tag)))),
    (SELECT MIN(z.BatchFreeze_id) FROM Holding z WHERE ((z.Tag IS NULL AND (z.ProcessBatchName IS NULL OR z.ProcessBatchName = b.ProcessBatchName)) OR (z.Tag <> '' AND EXISTS (SELECT 1 FROM json_each('[' || replace(json_quote(CAST(b.Tags AS text)), ',', '","') || ']') t WHERE trim(t.value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = z.Tag))) AND z.UntilTime = (
        SELECT MAX(y.UntilTime) FROM Holding y WHERE ((y.Tag IS NULL AND (y.ProcessBatchName IS NULL OR y.ProcessBatchName = b.ProcessBatchName)) OR (y.Tag <> '' AND EXISTS (SELECT 1 FROM json_each('[' || replace(json_quote(CAST(b.Tags AS text)), ',', '","') || ']') t WHERE trim(t.value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = y.Tag)))))
    ) AS BatchFreeze_id
FROM (SELECT ProcessBatch_id, ProcessBatchName, lower(Tags) AS Tags FROM ProcessBatch) b
), Misread AS (
SELECT b.ProcessBatch_id, 0 AS Place, b.ProcessBatch_id AS Row_id, ('ProcessBatch ' || b.ProcessBatch_id || ' (' || b.ProcessBatchName || ')') AS RowName,
       CASE WHEN b.Enabled NOT BETWEEN 0 AND 1 THEN 'Enabled' WHEN typeof(b.Enabled) NOT IN ('integer', 'null') THEN 'Enabled' WHEN typeof(b.Seq) NOT IN ('integer', 'null') THEN 'Seq' WHEN b.RetryCount NOT BETWEEN 0 AND 1000 THEN 'RetryCount' WHEN typeof(b.RetryCount) NOT IN ('integer', 'null') THEN 'RetryCount' WHEN b.RetryWaitMins NOT BETWEEN 0 AND 525600 THEN 'RetryWaitMins' WHEN typeof(b.RetryWaitMins) NOT IN ('integer', 'null') THEN 'RetryWaitMins' WHEN lower(b.OnFailure) NOT IN ('hold_batch', 'stop_all', 'continue') THEN 'OnFailure' WHEN lower(b.DependencyMode) NOT IN ('all', 'any') THEN 'DependencyMode' WHEN b.MaxConcurrent NOT BETWEEN 1 AND 1000 THEN 'MaxConcurrent' WHEN typeof(b.MaxConcurrent) NOT IN ('integer', 'null') THEN 'MaxConcurrent' WHEN b.DuplicateCheck NOT BETWEEN 0 AND 1 THEN 'DuplicateCheck' WHEN typeof(b.DuplicateCheck) NOT IN ('integer', 'null') THEN 'DuplicateCheck' WHEN lower(b.ProcessingMode) NOT IN ('manual', 'scheduled', 'triggered') THEN 'ProcessingMode' WHEN b.RetryWaitSecs NOT BETWEEN 0 AND 31536000 THEN 'RetryWaitSecs' WHEN typeof(b.RetryWaitSecs) NOT IN ('integer', 'null') THEN 'RetryWaitSecs' END AS ColumnName, ('UPDATE ProcessBatch SET ' || CASE WHEN b.Enabled NOT BETWEEN 0 AND 1 THEN 'Enabled = 0' WHEN typeof(b.Enabled) NOT IN ('integer', 'null') THEN 'Enabled = 0' WHEN typeof(b.Seq) NOT IN ('integer', 'null') THEN 'Seq = 100' WHEN b.RetryCount NOT BETWEEN 0 AND 1000 THEN 'RetryCount = 0' WHEN typeof(b.RetryCount) NOT IN ('integer', 'null') THEN 'RetryCount = 0' WHEN b.RetryWaitMins NOT BETWEEN 0 AND 525600 THEN 'RetryWaitMins = 5' WHEN typeof(b.RetryWaitMins) NOT IN ('integer', 'null') THEN 'RetryWaitMins = 5' WHEN lower(b.OnFailure) NOT IN ('hold_batch', 'stop_all', 'continue') THEN 'OnFailure = ''hold_batch''' WHEN lower(b.DependencyMode) NOT IN ('all', 'any') THEN 'DependencyMode = ''all''' WHEN b.MaxConcurrent NOT BETWEEN 1 AND 1000 THEN 'MaxConcurrent = 1' WHEN typeof(b.MaxConcurrent) NOT IN ('integer', 'null') THEN 'MaxConcurrent = 1' WHEN b.DuplicateCheck NOT BETWEEN 0 AND 1 THEN 'DuplicateCheck = 1' WHEN typeof(b.DuplicateCheck) NOT IN ('integer', 'null') THEN 'DuplicateCheck = 1' WHEN lower(b.ProcessingMode) NOT IN ('manual', 'scheduled', 'triggered') THEN 'ProcessingMode = NULL' WHEN b.RetryWaitSecs NOT BETWEEN 0 AND 31536000 THEN 'RetryWaitSecs = NULL' WHEN typeof(b.RetryWaitSecs) NOT IN ('integer', 'null') THEN 'RetryWaitSecs = NULL' END || ' WHERE ProcessBatch_id = ' || b.ProcessBatch_id || ';') AS Mend
FROM ProcessBatch b WHERE CASE WHEN b.Enabled NOT BETWEEN 0 AND 1 THEN 'Enabled' WHEN typeof(b.Enabled) NOT IN ('integer', 'null') THEN 'Enabled' WHEN typeof(b.Seq) NOT IN ('integer', 'null') THEN 'Seq' WHEN b.RetryCount NOT BETWEEN 0 AND 1000 THEN 'RetryCount' WHEN typeof(b.RetryCount) NOT IN ('integer', 'null') THEN 'RetryCount' WHEN b.RetryWaitMins NOT BETWEEN 0 AND 525600 THEN 'RetryWaitMins' WHEN typeof(b.RetryWaitMins) NOT IN ('integer', 'null') THEN 'RetryWaitMins' WHEN lower(b.OnFailure) NOT IN ('hold_batch', 'stop_all', 'continue') THEN 'OnFailure' WHEN lower(b.DependencyMode) NOT IN ('all', 'any') THEN 'DependencyMode' WHEN b.MaxConcurrent NOT BETWEEN 1 AND 1000 THEN 'MaxConcurrent' WHEN typeof(b.MaxConcurrent) NOT IN ('integer', 'null') THEN 'MaxConcurrent' WHEN b.DuplicateCheck NOT BETWEEN 0 AND 1 THEN 'DuplicateCheck' WHEN typeof(b.DuplicateCheck) NOT IN ('integer', 'null') THEN 'DuplicateCheck' WHEN lower(b.ProcessingMode) NOT IN ('manual', 'scheduled', 'triggered') THEN 'ProcessingMode' WHEN b.RetryWaitSecs NOT BETWEEN 0 AND 31536000 THEN 'RetryWaitSecs' WHEN typeof(b.RetryWaitSecs) NOT IN ('integer', 'null') THEN 'RetryWaitSecs' END IS NOT NULL
UNION ALL
SELECT t.ProcessBatch_id, 1 AS Place, t.ProcessControl_id AS Row_id, ('ProcessControl ' || t.ProcessControl_id) AS RowName,
       CASE WHEN t.ProcessControlSeq NOT BETWEEN 1 AND 2000000000 THEN 'ProcessControlSeq' WHEN typeof(t.ProcessControlSeq) NOT IN ('integer', 'null') THEN 'ProcessControlSeq' WHEN t.ExpectedDuration NOT BETWEEN 1 AND 31536000 THEN 'ExpectedDuration' WHEN typeof(t.ExpectedDuration) NOT IN ('integer', 'null') THEN 'ExpectedDuration' WHEN t.AlarmDuration NOT BETWEEN 1 AND 31536000 THEN 'AlarmDuration' WHEN typeof(t.AlarmDuration) NOT IN ('integer', 'null') THEN 'AlarmDuration' WHEN t.MaxDuration NOT BETWEEN 1 AND 31536000 THEN 'MaxDuration' WHEN typeof(t.MaxDuration) NOT IN ('integer', 'null') THEN 'MaxDuration' WHEN lower(t.OnLost) NOT IN ('hold', 'rerun', 'verify') THEN 'OnLost' WHEN t.MaxLost NOT BETWEEN 0 AND 1000 THEN 'MaxLost' WHEN typeof(t.MaxLost) NOT IN ('integer', 'null') THEN 'MaxLost' END AS ColumnName, ('UPDATE ProcessControl SET ' || CASE WHEN t.ProcessControlSeq NOT BETWEEN 1 AND 2000000000 THEN 'ProcessControlSeq = ...' WHEN typeof(t.ProcessControlSeq) NOT IN ('integer', 'null') THEN 'ProcessControlSeq = ...' WHEN t.ExpectedDuration NOT BETWEEN 1 AND 31536000 THEN 'ExpectedDuration = NULL' WHEN typeof(t.ExpectedDuration) NOT IN ('integer', 'null') THEN 'ExpectedDuration = NULL' WHEN t.AlarmDuration NOT BETWEEN 1 AND 31536000 THEN 'AlarmDuration = NULL' WHEN typeof(t.AlarmDuration) NOT IN ('integer', 'null') THEN 'AlarmDuration = NULL' WHEN t.MaxDuration NOT BETWEEN 1 AND 31536000 THEN 'MaxDuration = NULL' WHEN typeof(t.MaxDuration) NOT IN ('integer', 'null') THEN 'MaxDuration = NULL' WHEN lower(t.OnLost) NOT IN ('hold', 'rerun', 'verify') THEN 'OnLost = ''hold''' WHEN t.MaxLost NOT BETWEEN 0 AND 1000 THEN 'MaxLost = 3' WHEN typeof(t.MaxLost) NOT IN ('integer', 'null') THEN 'MaxLost = 3' END || ' WHERE ProcessControl_id = ' || t.ProcessControl_id || ';') AS Mend
FROM ProcessControl t WHERE CASE WHEN t.ProcessControlSeq NOT BETWEEN 1 AND 2000000000 THEN 'ProcessControlSeq' WHEN typeof(t.ProcessControlSeq) NOT IN ('integer', 'null') THEN 'ProcessControlSeq' WHEN t.ExpectedDuration NOT BETWEEN 1 AND 31536000 THEN 'ExpectedDuration' WHEN typeof(t.ExpectedDuration) NOT IN ('integer', 'null') THEN 'ExpectedDuration' WHEN t.AlarmDuration NOT BETWEEN 1 AND 31536000 THEN 'AlarmDuration' WHEN typeof(t.AlarmDuration) NOT IN ('integer', 'null') THEN 'AlarmDuration' WHEN t.MaxDuration NOT BETWEEN 1 AND 31536000 THEN 'MaxDuration' WHEN typeof(t.MaxDuration) NOT IN ('integer', 'null') THEN 'MaxDuration' WHEN lower(t.OnLost) NOT IN ('hold', 'rerun', 'verify') THEN 'OnLost' WHEN t.MaxLost NOT BETWEEN 0 AND 1000 THEN 'MaxLost' WHEN typeof(t.MaxLost) NOT IN ('integer', 'null') THEN 'MaxLost' END IS NOT NULL
UNION ALL
SELECT t.ProcessBatch_id, 2 AS Place, t.BatchDependency_id AS Row_id, ('BatchDependency ' || t.BatchDependency_id) AS RowName,
       CASE WHEN t.DeadlineMins NOT BETWEEN 1 AND 525600 THEN 'DeadlineMins' WHEN typeof(t.DeadlineMins) NOT IN ('integer', 'null') THEN 'DeadlineMins' END AS ColumnName, ('UPDATE BatchDependency SET ' || CASE WHEN t.DeadlineMins NOT BETWEEN 1 AND 525600 THEN 'DeadlineMins = 1440' WHEN typeof(t.DeadlineMins) NOT IN ('integer', 'null') THEN 'DeadlineMins = 1440' END || ' WHERE BatchDependency_id = ' || t.BatchDependency_id || ';') AS Mend
FROM BatchDependency t WHERE CASE WHEN t.DeadlineMins NOT BETWEEN 1 AND 525600 THEN 'DeadlineMins' WHEN typeof(t.DeadlineMins) NOT IN ('integer', 'null') THEN 'DeadlineMins' END IS NOT NULL
UNION ALL
SELECT t.ProcessBatch_id, 3 AS Place, t.BatchResource_id AS Row_id, ('BatchResource ' || t.BatchResource_id) AS RowName,
       CASE WHEN t.Units NOT BETWEEN 1 AND 1000000 THEN 'Units' WHEN typeof(t.Units) NOT IN ('integer', 'null') THEN 'Units' WHEN t.Exclusive NOT BETWEEN 0 AND 1 THEN 'Exclusive' WHEN typeof(t.Exclusive) NOT IN ('integer', 'null') THEN 'Exclusive' END AS ColumnName, ('UPDATE BatchResource SET ' || CASE WHEN t.Units NOT BETWEEN 1 AND 1000000 THEN 'Units = 1' WHEN typeof(t.Units) NOT IN ('integer', 'null') THEN 'Units = 1' WHEN t.Exclusive NOT BETWEEN 0 AND 1 THEN 'Exclusive = 0' WHEN typeof(t.Exclusive) NOT IN ('integer', 'null') THEN 'Exclusive = 0' END || ' WHERE BatchResource_id = ' || t.BatchResource_id || ';') AS Mend
FROM BatchResource t WHERE CASE WHEN t.Units NOT BETWEEN 1 AND 1000000 THEN 'Units' WHEN typeof(t.Units) NOT IN ('integer', 'null') THEN 'Units' WHEN t.Exclusive NOT BETWEEN 0 AND 1 THEN 'Exclusive' WHEN typeof(t.Exclusive) NOT IN ('integer', 'null') THEN 'Exclusive' END IS NOT NULL
UNION ALL
SELECT n.ProcessBatch_id, 4 AS Place, t.Resource_id AS Row_id, ('Resource ' || t.Resource_id) AS RowName,
       CASE WHEN t.Units NOT BETWEEN 0 AND 1000000 THEN 'Units' WHEN typeof(t.Units) NOT IN ('integer', 'null') THEN 'Units' END AS ColumnName, ('UPDATE Resource SET ' || CASE WHEN t.Units NOT BETWEEN 0 AND 1000000 THEN 'Units = 1' WHEN typeof(t.Units) NOT IN ('integer', 'null') THEN 'Units = 1' END || ' WHERE Resource_id = ' || t.Resource_id || ';') AS Mend
FROM BatchResource n JOIN Resource t ON t.Resource_id = n.Resource_id WHERE CASE WHEN t.Units NOT BETWEEN 0 AND 1000000 THEN 'Units' WHEN typeof(t.Units) NOT IN ('integer', 'null') THEN 'Units' END IS NOT NULL
), Unfit AS (
SELECT m.ProcessBatch_id, m.RowName, m.ColumnName, m.Mend
FROM (SELECT y.*, ROW_NUMBER() OVER (PARTITION BY y.ProcessBatch_id ORDER BY y.Place, y.Row_id) AS Nth FROM Misread y) m
WHERE m.Nth = 1
), Offered AS (
SELECT k.Controller_id, CASE WHEN k.ProcessTypes IS NULL THEN 1 ELSE 0 END AS IsUnknown, k.ProcessTypes AS ProcessTypes, CASE WHEN EXISTS (SELECT 1 FROM Leader l WHERE l.ControllerName = k.ControllerName) OR NOT EXISTS (SELECT 1 FROM Leader l JOIN Controller m ON m.ControllerName = l.ControllerName
            WHERE m.Status = 'running') THEN k.Populators ELSE '' END AS Populators, k.Jobs AS Jobs
FROM Controller k
WHERE k.Status = 'running' OR k.Controller_id = (SELECT MAX(l.Controller_id) FROM Controller l)
), Missing AS (
SELECT b.ProcessBatch_id, -1 AS ProcessControlSeq, ('ProcessBatch (' || b.ProcessBatchName || '): Populator ''' || b.Populator || ''' is not installed') AS Reason, ('UPDATE ProcessBatch SET Populator = ... WHERE ProcessBatch_id = ' || b.ProcessBatch_id || ';') AS Mend
FROM ProcessBatch b WHERE EXISTS (SELECT 1 FROM Offered) AND (replace(b.Populator, ',', '') = b.Populator AND NOT EXISTS (SELECT 1 FROM Offered o WHERE o.IsUnknown = 1 OR (EXISTS (SELECT 1 FROM json_each('[' || replace(json_quote(CAST(o.Populators AS text)), ',', '","') || ']') t WHERE trim(t.value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = b.Populator))))
UNION ALL
SELECT q.ProcessBatch_id, q.ProcessControlSeq, CASE WHEN q.Lacks = 'ProcessType' THEN ('ProcessControl (' || q.ProcessBatchName || ', step ' || q.ProcessControlSeq || '): ProcessType ''' || q.ProcessType || ''' is not installed') ELSE ('ProcessControl (' || q.ProcessBatchName || ', step ' || q.ProcessControlSeq || '): job ''' || q.Data1 || ''' of Data1 is not installed') END, ('UPDATE ProcessControl SET ' || q.Lacks || ' = ... WHERE ProcessBatch_id = ' || q.ProcessBatch_id || ' AND ProcessControlSeq = ' || q.ProcessControlSeq || ';')
FROM (SELECT p.ProcessBatch_id, b.ProcessBatchName, p.ProcessControlSeq, trim(lower(p.ProcessType), char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) AS ProcessType, p.Data1,
      CASE WHEN (replace(trim(lower(p.ProcessType), char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)), ',', '') = trim(lower(p.ProcessType), char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) AND NOT EXISTS (SELECT 1 FROM Offered o WHERE o.IsUnknown = 1 OR (EXISTS (SELECT 1 FROM json_each('[' || replace(json_quote(CAST(o.ProcessTypes AS text)), ',', '","') || ']') t WHERE trim(t.value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = trim(lower(p.ProcessType), char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)))))) THEN 'ProcessType' WHEN trim(lower(p.ProcessType), char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = 'python' AND p.Data1 <> '' AND (replace(p.Data1, ',', '') = p.Data1 AND NOT EXISTS (SELECT 1 FROM Offered o WHERE o.IsUnknown = 1 OR (EXISTS (SELECT 1 FROM json_each('[' || replace(json_quote(CAST(o.Jobs AS text)), ',', '","') || ']') t WHERE trim(t.value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = p.Data1)))) THEN 'Data1' END AS Lacks
      FROM ProcessControl p JOIN ProcessBatch b ON b.ProcessBatch_id = p.ProcessBatch_id
      WHERE EXISTS (SELECT 1 FROM Offered)) q
WHERE q.Lacks IS NOT NULL
), Counted AS (
SELECT c.ProcessBatch_id, SUM(CASE WHEN (c.Status = 'ready') THEN 1 ELSE 0 END) AS Ready, SUM(CASE WHEN (c.Status = 'running' OR c.Status = 'pausing' OR c.Status = 'cancelling') THEN 1 ELSE 0 END) AS Running,
       SUM(CASE WHEN (c.Status = 'retry') THEN 1 ELSE 0 END) AS Retry, SUM(CASE WHEN (c.Status = 'failed') THEN 1 ELSE 0 END) AS Failed, SUM(CASE WHEN (c.Status = 'held') THEN 1 ELSE 0 END) AS Held, SUM(CASE WHEN (c.Status = 'paused') THEN 1 ELSE 0 END) AS Paused
FROM (SELECT ProcessBatch_id, Status FROM BatchControl WHERE (Status = 'ready' OR Status = 'retry' OR Status = 'failed' OR Status = 'held')
      UNION ALL SELECT ProcessBatch_id, Status FROM BatchControl WHERE (Status = 'running' OR Status = 'pausing' OR Status = 'cancelling')
      UNION ALL SELECT ProcessBatch_id, Status FROM BatchControl WHERE (Status = 'paused')) c
GROUP BY c.ProcessBatch_id
), Newest AS (
SELECT b.ProcessBatch_id, (SELECT MAX(c.BatchControl_id) FROM BatchControl c
    WHERE c.ProcessBatch_id = b.ProcessBatch_id AND c.Status = 'complete' AND (c.Status = 'complete' OR c.Status = 'cancelled')) AS Complete_id
FROM ProcessBatch b
)
SELECT b.ProcessBatch_id, b.ProcessBatchName, COALESCE(b.Entity, b.ProcessBatchName) AS Entity,
       CASE WHEN x.ProcessBatch_id IS NOT NULL THEN 'unreadable'
            WHEN b.Enabled <> 1 THEN 'disabled' WHEN z.BatchFreeze_id IS NOT NULL THEN 'frozen'
            WHEN y.ProcessBatch_id IS NOT NULL THEN 'unreadable'
            WHEN n.Failed > 0 THEN 'failed' WHEN n.Held > 0 THEN 'held' WHEN n.Running > 0 THEN 'running'
            WHEN n.Retry > 0 THEN 'retry' WHEN n.Ready > 0 THEN 'waits' WHEN n.Paused > 0 THEN 'paused'
            WHEN EXISTS (SELECT 1 FROM BatchCompletion u
                 WHERE u.ProcessBatch_id = b.ProcessBatch_id AND u.FileProcess_id IS NULL) THEN 'waits' WHEN t.Incident_id IS NOT NULL THEN 'unreadable' ELSE 'idle' END AS Status,
       COALESCE(n.Ready, 0) AS Ready, COALESCE(n.Running, 0) AS Running, COALESCE(n.Retry, 0) AS Retry,
       COALESCE(n.Failed, 0) AS Failed, COALESCE(n.Held, 0) AS Held, COALESCE(n.Paused, 0) AS Paused,
       c.BatchControl_id AS LastComplete_id, c.z_updated AS LastCompleteTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', c.z_updated, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', c.z_updated) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', c.z_updated)) AS LastCompleteTimeLocal,
       b.Seq, b.Description,
       CASE WHEN x.ProcessBatch_id IS NOT NULL THEN x.Mend WHEN b.Enabled <> 1 THEN ('INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES (''enable'', ' || ('''' || replace(b.ProcessBatchName, '''', '''''') || '''') || ', ''...'');')
            WHEN z.BatchFreeze_id IS NOT NULL THEN ('INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''thaw'', ''{"id": ' || z.BatchFreeze_id || '}'', ''...'');')
            WHEN y.ProcessBatch_id IS NOT NULL THEN y.Mend
            WHEN n.Failed + n.Held > 0 THEN ('SELECT * FROM vFailed WHERE ProcessBatchName = ' || ('''' || replace(b.ProcessBatchName, '''', '''''') || '''') || ';')
            WHEN n.Running > 0 THEN ('SELECT * FROM vRunning WHERE ProcessBatchName = ' || ('''' || replace(b.ProcessBatchName, '''', '''''') || '''') || ';')
            WHEN n.Retry + n.Ready + n.Paused > 0 OR EXISTS (SELECT 1 FROM BatchCompletion u
                 WHERE u.ProcessBatch_id = b.ProcessBatch_id AND u.FileProcess_id IS NULL) THEN ('SELECT * FROM vWaiting WHERE ProcessBatchName = ' || ('''' || replace(b.ProcessBatchName, '''', '''''') || '''') || ';')
            WHEN t.Incident_id IS NOT NULL THEN ('SELECT * FROM Incident WHERE Incident_id = ' || t.Incident_id || ';')
            ELSE ('SELECT * FROM vHistory WHERE ProcessBatchName = ' || ('''' || replace(b.ProcessBatchName, '''', '''''') || '''') || ';') END AS NextSql
FROM ProcessBatch b
LEFT JOIN Counted n ON n.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Missing y ON y.ProcessBatch_id = b.ProcessBatch_id AND y.ProcessControlSeq = (
    SELECT MIN(v.ProcessControlSeq) FROM Missing v WHERE v.ProcessBatch_id = b.ProcessBatch_id)
LEFT JOIN Frozen fz ON fz.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN BatchFreeze z ON z.BatchFreeze_id = fz.BatchFreeze_id
LEFT JOIN Newest w ON w.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN BatchControl c ON c.BatchControl_id = w.Complete_id
LEFT JOIN Incident t ON t.Incident_id = (SELECT MIN(i.Incident_id) FROM Incident i
    WHERE i.ResolvedTime IS NULL AND i.Kind = 'unreadable' AND i.ProcessBatch_id = b.ProcessBatch_id);

CREATE VIEW vFailed AS
SELECT c.BatchControl_id, b.ProcessBatchName, lower(c.Status) AS Status, c.CycleKey, f.Entity, f.FileName,
       h.ProcessControlSeq, h.ProcessName, h.ProcessType, h.AttemptNo, lower(h.Status) AS AttemptStatus, h.ReturnCode,
       h.Message AS ErrorText, h.Output, h.CommandText, h.StartTime AS StartTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', h.StartTime, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', h.StartTime) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', h.StartTime)) AS StartTimeLocal, h.EndTime AS EndTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', h.EndTime, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', h.EndTime) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', h.EndTime)) AS EndTimeLocal,
       round((julianday(h.EndTime) - julianday(h.StartTime)) * 86400.0, 3) AS DurationSeconds, h.ClaimedBy, h.Host, c.FileProcess_id,
       ('INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''rerun'', ' || c.BatchControl_id || ', ''...'');') AS RerunSql, ('INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''skip'', ' || c.BatchControl_id || ', ''...'');') AS SkipSql,
       ('INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''cancel'', ' || c.BatchControl_id || ', ''...'');') AS CancelSql, h.ErrorCode, h.ErrorLine
FROM BatchControl c
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN FileProcess f ON f.FileProcess_id = c.FileProcess_id
LEFT JOIN BatchProcessHistory h ON h.BatchProcessHistory_id = (
    SELECT MAX(g.BatchProcessHistory_id) FROM BatchProcessHistory g WHERE g.BatchControl_id = c.BatchControl_id)
WHERE (c.Status = 'retry' OR c.Status = 'failed' OR c.Status = 'held') AND (c.Status = 'failed' OR c.Status = 'held');

CREATE VIEW vWaiting AS
WITH Holding AS (
SELECT f.BatchFreeze_id, f.ProcessBatchName, trim(lower(f.Tag), char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) AS Tag, f.UntilTime
FROM BatchFreeze f WHERE f.ThawedTime IS NULL AND (f.UntilTime IS NULL OR f.UntilTime > strftime('%Y-%m-%d %H:%M:%f', 'now'))
), Frozen AS (
SELECT b.ProcessBatch_id, COALESCE(
    (SELECT MIN(z.BatchFreeze_id) FROM Holding z WHERE z.UntilTime IS NULL AND ((z.Tag IS NULL AND (z.ProcessBatchName IS NULL OR z.ProcessBatchName = b.ProcessBatchName)) OR (z.Tag <> '' AND EXISTS (SELECT 1 FROM json_each('[' || replace(json_quote(CAST(b.Tags AS text)), ',', '","') || ']') t WHERE trim(t.value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = z.Tag)))),
    (SELECT MIN(z.BatchFreeze_id) FROM Holding z WHERE ((z.Tag IS NULL AND (z.ProcessBatchName IS NULL OR z.ProcessBatchName = b.ProcessBatchName)) OR (z.Tag <> '' AND EXISTS (SELECT 1 FROM json_each('[' || replace(json_quote(CAST(b.Tags AS text)), ',', '","') || ']') t WHERE trim(t.value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = z.Tag))) AND z.UntilTime = (
        SELECT MAX(y.UntilTime) FROM Holding y WHERE ((y.Tag IS NULL AND (y.ProcessBatchName IS NULL OR y.ProcessBatchName = b.ProcessBatchName)) OR (y.Tag <> '' AND EXISTS (SELECT 1 FROM json_each('[' || replace(json_quote(CAST(b.Tags AS text)), ',', '","') || ']') t WHERE trim(t.value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = y.Tag)))))
    ) AS BatchFreeze_id
FROM (SELECT ProcessBatch_id, ProcessBatchName, lower(Tags) AS Tags FROM ProcessBatch) b
), Misread AS (
SELECT b.ProcessBatch_id, 0 AS Place, b.ProcessBatch_id AS Row_id, ('ProcessBatch ' || b.ProcessBatch_id || ' (' || b.ProcessBatchName || ')') AS RowName,
       CASE WHEN b.Enabled NOT BETWEEN 0 AND 1 THEN 'Enabled' WHEN typeof(b.Enabled) NOT IN ('integer', 'null') THEN 'Enabled' WHEN typeof(b.Seq) NOT IN ('integer', 'null') THEN 'Seq' WHEN b.RetryCount NOT BETWEEN 0 AND 1000 THEN 'RetryCount' WHEN typeof(b.RetryCount) NOT IN ('integer', 'null') THEN 'RetryCount' WHEN b.RetryWaitMins NOT BETWEEN 0 AND 525600 THEN 'RetryWaitMins' WHEN typeof(b.RetryWaitMins) NOT IN ('integer', 'null') THEN 'RetryWaitMins' WHEN lower(b.OnFailure) NOT IN ('hold_batch', 'stop_all', 'continue') THEN 'OnFailure' WHEN lower(b.DependencyMode) NOT IN ('all', 'any') THEN 'DependencyMode' WHEN b.MaxConcurrent NOT BETWEEN 1 AND 1000 THEN 'MaxConcurrent' WHEN typeof(b.MaxConcurrent) NOT IN ('integer', 'null') THEN 'MaxConcurrent' WHEN b.DuplicateCheck NOT BETWEEN 0 AND 1 THEN 'DuplicateCheck' WHEN typeof(b.DuplicateCheck) NOT IN ('integer', 'null') THEN 'DuplicateCheck' WHEN lower(b.ProcessingMode) NOT IN ('manual', 'scheduled', 'triggered') THEN 'ProcessingMode' WHEN b.RetryWaitSecs NOT BETWEEN 0 AND 31536000 THEN 'RetryWaitSecs' WHEN typeof(b.RetryWaitSecs) NOT IN ('integer', 'null') THEN 'RetryWaitSecs' END AS ColumnName, ('UPDATE ProcessBatch SET ' || CASE WHEN b.Enabled NOT BETWEEN 0 AND 1 THEN 'Enabled = 0' WHEN typeof(b.Enabled) NOT IN ('integer', 'null') THEN 'Enabled = 0' WHEN typeof(b.Seq) NOT IN ('integer', 'null') THEN 'Seq = 100' WHEN b.RetryCount NOT BETWEEN 0 AND 1000 THEN 'RetryCount = 0' WHEN typeof(b.RetryCount) NOT IN ('integer', 'null') THEN 'RetryCount = 0' WHEN b.RetryWaitMins NOT BETWEEN 0 AND 525600 THEN 'RetryWaitMins = 5' WHEN typeof(b.RetryWaitMins) NOT IN ('integer', 'null') THEN 'RetryWaitMins = 5' WHEN lower(b.OnFailure) NOT IN ('hold_batch', 'stop_all', 'continue') THEN 'OnFailure = ''hold_batch''' WHEN lower(b.DependencyMode) NOT IN ('all', 'any') THEN 'DependencyMode = ''all''' WHEN b.MaxConcurrent NOT BETWEEN 1 AND 1000 THEN 'MaxConcurrent = 1' WHEN typeof(b.MaxConcurrent) NOT IN ('integer', 'null') THEN 'MaxConcurrent = 1' WHEN b.DuplicateCheck NOT BETWEEN 0 AND 1 THEN 'DuplicateCheck = 1' WHEN typeof(b.DuplicateCheck) NOT IN ('integer', 'null') THEN 'DuplicateCheck = 1' WHEN lower(b.ProcessingMode) NOT IN ('manual', 'scheduled', 'triggered') THEN 'ProcessingMode = NULL' WHEN b.RetryWaitSecs NOT BETWEEN 0 AND 31536000 THEN 'RetryWaitSecs = NULL' WHEN typeof(b.RetryWaitSecs) NOT IN ('integer', 'null') THEN 'RetryWaitSecs = NULL' END || ' WHERE ProcessBatch_id = ' || b.ProcessBatch_id || ';') AS Mend
FROM ProcessBatch b WHERE CASE WHEN b.Enabled NOT BETWEEN 0 AND 1 THEN 'Enabled' WHEN typeof(b.Enabled) NOT IN ('integer', 'null') THEN 'Enabled' WHEN typeof(b.Seq) NOT IN ('integer', 'null') THEN 'Seq' WHEN b.RetryCount NOT BETWEEN 0 AND 1000 THEN 'RetryCount' WHEN typeof(b.RetryCount) NOT IN ('integer', 'null') THEN 'RetryCount' WHEN b.RetryWaitMins NOT BETWEEN 0 AND 525600 THEN 'RetryWaitMins' WHEN typeof(b.RetryWaitMins) NOT IN ('integer', 'null') THEN 'RetryWaitMins' WHEN lower(b.OnFailure) NOT IN ('hold_batch', 'stop_all', 'continue') THEN 'OnFailure' WHEN lower(b.DependencyMode) NOT IN ('all', 'any') THEN 'DependencyMode' WHEN b.MaxConcurrent NOT BETWEEN 1 AND 1000 THEN 'MaxConcurrent' WHEN typeof(b.MaxConcurrent) NOT IN ('integer', 'null') THEN 'MaxConcurrent' WHEN b.DuplicateCheck NOT BETWEEN 0 AND 1 THEN 'DuplicateCheck' WHEN typeof(b.DuplicateCheck) NOT IN ('integer', 'null') THEN 'DuplicateCheck' WHEN lower(b.ProcessingMode) NOT IN ('manual', 'scheduled', 'triggered') THEN 'ProcessingMode' WHEN b.RetryWaitSecs NOT BETWEEN 0 AND 31536000 THEN 'RetryWaitSecs' WHEN typeof(b.RetryWaitSecs) NOT IN ('integer', 'null') THEN 'RetryWaitSecs' END IS NOT NULL
UNION ALL
SELECT t.ProcessBatch_id, 1 AS Place, t.ProcessControl_id AS Row_id, ('ProcessControl ' || t.ProcessControl_id) AS RowName,
       CASE WHEN t.ProcessControlSeq NOT BETWEEN 1 AND 2000000000 THEN 'ProcessControlSeq' WHEN typeof(t.ProcessControlSeq) NOT IN ('integer', 'null') THEN 'ProcessControlSeq' WHEN t.ExpectedDuration NOT BETWEEN 1 AND 31536000 THEN 'ExpectedDuration' WHEN typeof(t.ExpectedDuration) NOT IN ('integer', 'null') THEN 'ExpectedDuration' WHEN t.AlarmDuration NOT BETWEEN 1 AND 31536000 THEN 'AlarmDuration' WHEN typeof(t.AlarmDuration) NOT IN ('integer', 'null') THEN 'AlarmDuration' WHEN t.MaxDuration NOT BETWEEN 1 AND 31536000 THEN 'MaxDuration' WHEN typeof(t.MaxDuration) NOT IN ('integer', 'null') THEN 'MaxDuration' WHEN lower(t.OnLost) NOT IN ('hold', 'rerun', 'verify') THEN 'OnLost' WHEN t.MaxLost NOT BETWEEN 0 AND 1000 THEN 'MaxLost' WHEN typeof(t.MaxLost) NOT IN ('integer', 'null') THEN 'MaxLost' END AS ColumnName, ('UPDATE ProcessControl SET ' || CASE WHEN t.ProcessControlSeq NOT BETWEEN 1 AND 2000000000 THEN 'ProcessControlSeq = ...' WHEN typeof(t.ProcessControlSeq) NOT IN ('integer', 'null') THEN 'ProcessControlSeq = ...' WHEN t.ExpectedDuration NOT BETWEEN 1 AND 31536000 THEN 'ExpectedDuration = NULL' WHEN typeof(t.ExpectedDuration) NOT IN ('integer', 'null') THEN 'ExpectedDuration = NULL' WHEN t.AlarmDuration NOT BETWEEN 1 AND 31536000 THEN 'AlarmDuration = NULL' WHEN typeof(t.AlarmDuration) NOT IN ('integer', 'null') THEN 'AlarmDuration = NULL' WHEN t.MaxDuration NOT BETWEEN 1 AND 31536000 THEN 'MaxDuration = NULL' WHEN typeof(t.MaxDuration) NOT IN ('integer', 'null') THEN 'MaxDuration = NULL' WHEN lower(t.OnLost) NOT IN ('hold', 'rerun', 'verify') THEN 'OnLost = ''hold''' WHEN t.MaxLost NOT BETWEEN 0 AND 1000 THEN 'MaxLost = 3' WHEN typeof(t.MaxLost) NOT IN ('integer', 'null') THEN 'MaxLost = 3' END || ' WHERE ProcessControl_id = ' || t.ProcessControl_id || ';') AS Mend
FROM ProcessControl t WHERE CASE WHEN t.ProcessControlSeq NOT BETWEEN 1 AND 2000000000 THEN 'ProcessControlSeq' WHEN typeof(t.ProcessControlSeq) NOT IN ('integer', 'null') THEN 'ProcessControlSeq' WHEN t.ExpectedDuration NOT BETWEEN 1 AND 31536000 THEN 'ExpectedDuration' WHEN typeof(t.ExpectedDuration) NOT IN ('integer', 'null') THEN 'ExpectedDuration' WHEN t.AlarmDuration NOT BETWEEN 1 AND 31536000 THEN 'AlarmDuration' WHEN typeof(t.AlarmDuration) NOT IN ('integer', 'null') THEN 'AlarmDuration' WHEN t.MaxDuration NOT BETWEEN 1 AND 31536000 THEN 'MaxDuration' WHEN typeof(t.MaxDuration) NOT IN ('integer', 'null') THEN 'MaxDuration' WHEN lower(t.OnLost) NOT IN ('hold', 'rerun', 'verify') THEN 'OnLost' WHEN t.MaxLost NOT BETWEEN 0 AND 1000 THEN 'MaxLost' WHEN typeof(t.MaxLost) NOT IN ('integer', 'null') THEN 'MaxLost' END IS NOT NULL
UNION ALL
SELECT t.ProcessBatch_id, 2 AS Place, t.BatchDependency_id AS Row_id, ('BatchDependency ' || t.BatchDependency_id) AS RowName,
       CASE WHEN t.DeadlineMins NOT BETWEEN 1 AND 525600 THEN 'DeadlineMins' WHEN typeof(t.DeadlineMins) NOT IN ('integer', 'null') THEN 'DeadlineMins' END AS ColumnName, ('UPDATE BatchDependency SET ' || CASE WHEN t.DeadlineMins NOT BETWEEN 1 AND 525600 THEN 'DeadlineMins = 1440' WHEN typeof(t.DeadlineMins) NOT IN ('integer', 'null') THEN 'DeadlineMins = 1440' END || ' WHERE BatchDependency_id = ' || t.BatchDependency_id || ';') AS Mend
FROM BatchDependency t WHERE CASE WHEN t.DeadlineMins NOT BETWEEN 1 AND 525600 THEN 'DeadlineMins' WHEN typeof(t.DeadlineMins) NOT IN ('integer', 'null') THEN 'DeadlineMins' END IS NOT NULL
UNION ALL
SELECT t.ProcessBatch_id, 3 AS Place, t.BatchResource_id AS Row_id, ('BatchResource ' || t.BatchResource_id) AS RowName,
       CASE WHEN t.Units NOT BETWEEN 1 AND 1000000 THEN 'Units' WHEN typeof(t.Units) NOT IN ('integer', 'null') THEN 'Units' WHEN t.Exclusive NOT BETWEEN 0 AND 1 THEN 'Exclusive' WHEN typeof(t.Exclusive) NOT IN ('integer', 'null') THEN 'Exclusive' END AS ColumnName, ('UPDATE BatchResource SET ' || CASE WHEN t.Units NOT BETWEEN 1 AND 1000000 THEN 'Units = 1' WHEN typeof(t.Units) NOT IN ('integer', 'null') THEN 'Units = 1' WHEN t.Exclusive NOT BETWEEN 0 AND 1 THEN 'Exclusive = 0' WHEN typeof(t.Exclusive) NOT IN ('integer', 'null') THEN 'Exclusive = 0' END || ' WHERE BatchResource_id = ' || t.BatchResource_id || ';') AS Mend
FROM BatchResource t WHERE CASE WHEN t.Units NOT BETWEEN 1 AND 1000000 THEN 'Units' WHEN typeof(t.Units) NOT IN ('integer', 'null') THEN 'Units' WHEN t.Exclusive NOT BETWEEN 0 AND 1 THEN 'Exclusive' WHEN typeof(t.Exclusive) NOT IN ('integer', 'null') THEN 'Exclusive' END IS NOT NULL
UNION ALL
SELECT n.ProcessBatch_id, 4 AS Place, t.Resource_id AS Row_id, ('Resource ' || t.Resource_id) AS RowName,
       CASE WHEN t.Units NOT BETWEEN 0 AND 1000000 THEN 'Units' WHEN typeof(t.Units) NOT IN ('integer', 'null') THEN 'Units' END AS ColumnName, ('UPDATE Resource SET ' || CASE WHEN t.Units NOT BETWEEN 0 AND 1000000 THEN 'Units = 1' WHEN typeof(t.Units) NOT IN ('integer', 'null') THEN 'Units = 1' END || ' WHERE Resource_id = ' || t.Resource_id || ';') AS Mend
FROM BatchResource n JOIN Resource t ON t.Resource_id = n.Resource_id WHERE CASE WHEN t.Units NOT BETWEEN 0 AND 1000000 THEN 'Units' WHEN typeof(t.Units) NOT IN ('integer', 'null') THEN 'Units' END IS NOT NULL
), Unfit AS (
SELECT m.ProcessBatch_id, m.RowName, m.ColumnName, m.Mend
FROM (SELECT y.*, ROW_NUMBER() OVER (PARTITION BY y.ProcessBatch_id ORDER BY y.Place, y.Row_id) AS Nth FROM Misread y) m
WHERE m.Nth = 1
), Offered AS (
SELECT k.Controller_id, CASE WHEN k.ProcessTypes IS NULL THEN 1 ELSE 0 END AS IsUnknown, k.ProcessTypes AS ProcessTypes, CASE WHEN EXISTS (SELECT 1 FROM Leader l WHERE l.ControllerName = k.ControllerName) OR NOT EXISTS (SELECT 1 FROM Leader l JOIN Controller m ON m.ControllerName = l.ControllerName
            WHERE m.Status = 'running') THEN k.Populators ELSE '' END AS Populators, k.Jobs AS Jobs
FROM Controller k
WHERE k.Status = 'running' OR k.Controller_id = (SELECT MAX(l.Controller_id) FROM Controller l)
), Missing AS (
SELECT b.ProcessBatch_id, -1 AS ProcessControlSeq, ('ProcessBatch (' || b.ProcessBatchName || '): Populator ''' || b.Populator || ''' is not installed') AS Reason, ('UPDATE ProcessBatch SET Populator = ... WHERE ProcessBatch_id = ' || b.ProcessBatch_id || ';') AS Mend
FROM ProcessBatch b WHERE EXISTS (SELECT 1 FROM Offered) AND (replace(b.Populator, ',', '') = b.Populator AND NOT EXISTS (SELECT 1 FROM Offered o WHERE o.IsUnknown = 1 OR (EXISTS (SELECT 1 FROM json_each('[' || replace(json_quote(CAST(o.Populators AS text)), ',', '","') || ']') t WHERE trim(t.value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = b.Populator))))
UNION ALL
SELECT q.ProcessBatch_id, q.ProcessControlSeq, CASE WHEN q.Lacks = 'ProcessType' THEN ('ProcessControl (' || q.ProcessBatchName || ', step ' || q.ProcessControlSeq || '): ProcessType ''' || q.ProcessType || ''' is not installed') ELSE ('ProcessControl (' || q.ProcessBatchName || ', step ' || q.ProcessControlSeq || '): job ''' || q.Data1 || ''' of Data1 is not installed') END, ('UPDATE ProcessControl SET ' || q.Lacks || ' = ... WHERE ProcessBatch_id = ' || q.ProcessBatch_id || ' AND ProcessControlSeq = ' || q.ProcessControlSeq || ';')
FROM (SELECT p.ProcessBatch_id, b.ProcessBatchName, p.ProcessControlSeq, trim(lower(p.ProcessType), char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) AS ProcessType, p.Data1,
      CASE WHEN (replace(trim(lower(p.ProcessType), char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)), ',', '') = trim(lower(p.ProcessType), char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) AND NOT EXISTS (SELECT 1 FROM Offered o WHERE o.IsUnknown = 1 OR (EXISTS (SELECT 1 FROM json_each('[' || replace(json_quote(CAST(o.ProcessTypes AS text)), ',', '","') || ']') t WHERE trim(t.value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = trim(lower(p.ProcessType), char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)))))) THEN 'ProcessType' WHEN trim(lower(p.ProcessType), char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = 'python' AND p.Data1 <> '' AND (replace(p.Data1, ',', '') = p.Data1 AND NOT EXISTS (SELECT 1 FROM Offered o WHERE o.IsUnknown = 1 OR (EXISTS (SELECT 1 FROM json_each('[' || replace(json_quote(CAST(o.Jobs AS text)), ',', '","') || ']') t WHERE trim(t.value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = p.Data1)))) THEN 'Data1' END AS Lacks
      FROM ProcessControl p JOIN ProcessBatch b ON b.ProcessBatch_id = p.ProcessBatch_id
      WHERE EXISTS (SELECT 1 FROM Offered)) q
WHERE q.Lacks IS NOT NULL
),
UnfitWork AS (
SELECT BatchControl_id, CASE WHEN NOT (Status = 'ready' OR Status = 'running' OR Status = 'retry' OR Status = 'failed' OR Status = 'held' OR Status = 'pausing' OR Status = 'paused' OR Status = 'cancelling' OR Status = 'cancelled' OR Status = 'complete' OR Status = 'success') THEN 'Status' WHEN NOT (PrevProcessControlSeq BETWEEN 0 AND 2000000000) THEN 'PrevProcessControlSeq' WHEN NOT (typeof(ProcessBatch_id) = 'integer') THEN 'ProcessBatch_id' WHEN NOT (typeof(FileProcess_id) = 'integer') THEN 'FileProcess_id' WHEN NOT (typeof(PrevProcessControlSeq) = 'integer') THEN 'PrevProcessControlSeq' WHEN NOT (typeof(RetryCount) = 'integer') THEN 'RetryCount' WHEN NOT ((NextRunTime >= '0001' AND NextRunTime < ':' AND strftime('%Y-%m-%d %H:%M:%f', NextRunTime, '+0 days') IS NextRunTime) OR (NextRunTime >= '0001' AND NextRunTime GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(NextRunTime, 1, 10), '+0 days') IS substr(NextRunTime, 1, 10) AND substr(NextRunTime, 12, 2) < '24' AND substr(strftime('%Y-%m-%d %H:%M:%S', NextRunTime), 1, length(NextRunTime)) IS substr(NextRunTime, 1, 19) AND substr(NextRunTime, 20) NOT GLOB '*[^.0-9]*' AND NextRunTime GLOB '*[0-9]' AND instr(NextRunTime, char(0)) = 0)) THEN 'NextRunTime' WHEN NOT (typeof(ClaimToken) = 'integer') THEN 'ClaimToken' WHEN NOT (typeof(LostCount) = 'integer') THEN 'LostCount' ELSE 'DefVersion' END AS ColumnName, ('BatchControl ' || BatchControl_id || ' cannot be read: ' || CASE WHEN NOT (Status = 'ready' OR Status = 'running' OR Status = 'retry' OR Status = 'failed' OR Status = 'held' OR Status = 'pausing' OR Status = 'paused' OR Status = 'cancelling' OR Status = 'cancelled' OR Status = 'complete' OR Status = 'success') THEN 'Status holds nonsense' WHEN NOT (PrevProcessControlSeq BETWEEN 0 AND 2000000000) THEN 'PrevProcessControlSeq holds nonsense' WHEN NOT (typeof(ProcessBatch_id) = 'integer') THEN 'ProcessBatch_id holds nonsense' WHEN NOT (typeof(FileProcess_id) = 'integer') THEN 'FileProcess_id holds nonsense' WHEN NOT (typeof(PrevProcessControlSeq) = 'integer') THEN 'PrevProcessControlSeq holds nonsense' WHEN NOT (typeof(RetryCount) = 'integer') THEN 'RetryCount holds nonsense' WHEN NOT ((NextRunTime >= '0001' AND NextRunTime < ':' AND strftime('%Y-%m-%d %H:%M:%f', NextRunTime, '+0 days') IS NextRunTime) OR (NextRunTime >= '0001' AND NextRunTime GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(NextRunTime, 1, 10), '+0 days') IS substr(NextRunTime, 1, 10) AND substr(NextRunTime, 12, 2) < '24' AND substr(strftime('%Y-%m-%d %H:%M:%S', NextRunTime), 1, length(NextRunTime)) IS substr(NextRunTime, 1, 19) AND substr(NextRunTime, 20) NOT GLOB '*[^.0-9]*' AND NextRunTime GLOB '*[0-9]' AND instr(NextRunTime, char(0)) = 0)) THEN 'NextRunTime holds no time' WHEN NOT (typeof(ClaimToken) = 'integer') THEN 'ClaimToken holds nonsense' WHEN NOT (typeof(LostCount) = 'integer') THEN 'LostCount holds nonsense' ELSE 'DefVersion holds nonsense' END) AS Reason, CASE WHEN NOT (Status = 'ready' OR Status = 'running' OR Status = 'retry' OR Status = 'failed' OR Status = 'held' OR Status = 'pausing' OR Status = 'paused' OR Status = 'cancelling' OR Status = 'cancelled' OR Status = 'complete' OR Status = 'success') THEN ('UPDATE BatchControl SET Status = ''held'' WHERE BatchControl_id = ' || BatchControl_id || ';') WHEN NOT (PrevProcessControlSeq BETWEEN 0 AND 2000000000) THEN ('UPDATE BatchControl SET PrevProcessControlSeq = ... WHERE BatchControl_id = ' || BatchControl_id || ';') WHEN NOT (typeof(ProcessBatch_id) = 'integer') THEN ('SELECT * FROM BatchControl WHERE BatchControl_id = ' || BatchControl_id || ';') WHEN NOT (typeof(FileProcess_id) = 'integer') THEN ('SELECT * FROM BatchControl WHERE BatchControl_id = ' || BatchControl_id || ';') WHEN NOT (typeof(PrevProcessControlSeq) = 'integer') THEN ('UPDATE BatchControl SET PrevProcessControlSeq = ... WHERE BatchControl_id = ' || BatchControl_id || ';') WHEN NOT (typeof(RetryCount) = 'integer') THEN ('SELECT * FROM BatchControl WHERE BatchControl_id = ' || BatchControl_id || ';') WHEN NOT ((NextRunTime >= '0001' AND NextRunTime < ':' AND strftime('%Y-%m-%d %H:%M:%f', NextRunTime, '+0 days') IS NextRunTime) OR (NextRunTime >= '0001' AND NextRunTime GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(NextRunTime, 1, 10), '+0 days') IS substr(NextRunTime, 1, 10) AND substr(NextRunTime, 12, 2) < '24' AND substr(strftime('%Y-%m-%d %H:%M:%S', NextRunTime), 1, length(NextRunTime)) IS substr(NextRunTime, 1, 19) AND substr(NextRunTime, 20) NOT GLOB '*[^.0-9]*' AND NextRunTime GLOB '*[0-9]' AND instr(NextRunTime, char(0)) = 0)) THEN ('UPDATE BatchControl SET NextRunTime = ''1900-01-01 00:00:00.000'' WHERE BatchControl_id = ' || BatchControl_id || ';') WHEN NOT (typeof(ClaimToken) = 'integer') THEN ('SELECT * FROM BatchControl WHERE BatchControl_id = ' || BatchControl_id || ';') WHEN NOT (typeof(LostCount) = 'integer') THEN ('SELECT * FROM BatchControl WHERE BatchControl_id = ' || BatchControl_id || ';') ELSE ('SELECT * FROM BatchControl WHERE BatchControl_id = ' || BatchControl_id || ';') END AS Mend
FROM BatchControl WHERE ((Status = 'ready' OR Status = 'running' OR Status = 'retry' OR Status = 'failed' OR Status = 'held' OR Status = 'pausing' OR Status = 'paused' OR Status = 'cancelling' OR Status = 'cancelled' OR Status = 'complete' OR Status = 'success') AND (PrevProcessControlSeq BETWEEN 0 AND 2000000000) AND (typeof(ProcessBatch_id) = 'integer') AND (typeof(FileProcess_id) = 'integer') AND (typeof(PrevProcessControlSeq) = 'integer') AND (typeof(RetryCount) = 'integer') AND ((NextRunTime >= '0001' AND NextRunTime < ':' AND strftime('%Y-%m-%d %H:%M:%f', NextRunTime, '+0 days') IS NextRunTime) OR (NextRunTime >= '0001' AND NextRunTime GLOB '[0-9][0-9][0-9][0-9]-*' AND date(substr(NextRunTime, 1, 10), '+0 days') IS substr(NextRunTime, 1, 10) AND substr(NextRunTime, 12, 2) < '24' AND substr(strftime('%Y-%m-%d %H:%M:%S', NextRunTime), 1, length(NextRunTime)) IS substr(NextRunTime, 1, 19) AND substr(NextRunTime, 20) NOT GLOB '*[^.0-9]*' AND NextRunTime GLOB '*[0-9]' AND instr(NextRunTime, char(0)) = 0)) AND (typeof(ClaimToken) = 'integer') AND (typeof(LostCount) = 'integer') AND (DefVersion IS NULL OR (typeof(DefVersion) = 'integer'))) IS NOT TRUE
), Claimed AS (
SELECT ProcessBatch_id, COUNT(*) AS HowMany FROM BatchControl WHERE (Status = 'running' OR Status = 'pausing' OR Status = 'cancelling') GROUP BY ProcessBatch_id
), Total AS (
SELECT (SELECT COALESCE(SUM(HowMany), 0) FROM Claimed) AS HowMany,
       (SELECT CASE WHEN trim(Value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) NOT GLOB '*[^0-9]*' AND length(trim(Value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) BETWEEN 1 AND 18 THEN CAST(trim(Value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) AS bigint) ELSE 0 END FROM Setting WHERE Name = 'MaxConcurrent') AS Most
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
), Stopping AS (
SELECT MIN(CASE WHEN c.Status = 'retry' THEN NULL ELSE c.BatchControl_id END) AS ByPerson,
       MIN(CASE WHEN c.Status = 'retry' THEN c.BatchControl_id END) AS ByRetry
FROM BatchControl c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE (c.Status = 'retry' OR c.Status = 'failed' OR c.Status = 'held') AND lower(b.OnFailure) = 'stop_all'
), Stood AS (
SELECT c.BatchControl_id, c.ProcessBatch_id, c.FileProcess_id, c.CycleKey, lower(c.Status) AS Status, c.NextRunTime,
       c.z_updated,
       CASE WHEN c.Status = 'retry' AND lower(b.OnFailure) = 'stop_all' THEN
            CASE WHEN t.ByRetry < c.BatchControl_id AND (t.ByPerson IS NULL OR t.ByRetry < t.ByPerson) THEN t.ByRetry
                 ELSE t.ByPerson END
            WHEN t.ByRetry < t.ByPerson OR t.ByPerson IS NULL THEN t.ByRetry ELSE t.ByPerson END AS Stop_id
FROM BatchControl c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id CROSS JOIN Stopping t
WHERE (c.Status = 'ready' OR c.Status = 'retry' OR c.Status = 'failed' OR c.Status = 'held')
), Line AS (
SELECT c.*, SUM(CASE WHEN c.NextRunTime <= strftime('%Y-%m-%d %H:%M:%f', 'now') AND (c.Status = 'ready' OR c.Status = 'retry') AND c.Stop_id IS NULL THEN 1 ELSE 0 END) OVER (PARTITION BY c.ProcessBatch_id ORDER BY c.BatchControl_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS Earlier FROM Stood c
), Ordered AS (
SELECT c.*, COALESCE(k.HowMany, 0) AS Started, COALESCE(k.HowMany, 0) + COALESCE(c.Earlier, 0) AS Taken,
       MIN(CASE WHEN lower(b.OnFailure) <> 'continue' AND (c.Status = 'failed' OR c.Status = 'held' OR c.NextRunTime > strftime('%Y-%m-%d %H:%M:%f', 'now')
                     OR (c.Status = 'retry' AND COALESCE(k.HowMany, 0) + COALESCE(c.Earlier, 0) >= b.MaxConcurrent))
                THEN c.BatchControl_id END) OVER (PARTITION BY c.ProcessBatch_id ORDER BY c.BatchControl_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS Ahead_id
FROM Line c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN Claimed k ON k.ProcessBatch_id = c.ProcessBatch_id
), Instances AS (
SELECT c.BatchControl_id, c.ProcessBatch_id, c.FileProcess_id, c.CycleKey, c.Status, c.NextRunTime, c.z_updated, c.Started,
       c.Taken, c.Ahead_id, c.Stop_id FROM Ordered c WHERE c.Status = 'ready' OR c.Status = 'retry'
UNION ALL
SELECT p.BatchControl_id, p.ProcessBatch_id, p.FileProcess_id, p.CycleKey, lower(p.Status), p.NextRunTime, p.z_updated,
       NULL, NULL, NULL, NULL FROM BatchControl p WHERE (p.Status = 'paused')
), Lacking AS (
SELECT w.ProcessBatch_id, w.CycleKey, w.Since, y.DependsOnBatch_id, y.DeadlineMins,
       (SELECT MAX(x.BatchControl_id) FROM BatchControl x
        WHERE x.ProcessBatch_id = y.DependsOnBatch_id AND (x.CycleKey = w.CycleKey OR (x.CycleKey IS NULL AND w.CycleKey IS NULL))) AS Newest_id
FROM (SELECT ProcessBatch_id, CycleKey, MIN(z_inserted) AS Since FROM BatchCompletion WHERE FileProcess_id IS NULL
      GROUP BY ProcessBatch_id, CycleKey) w
JOIN BatchDependency y ON y.ProcessBatch_id = w.ProcessBatch_id
WHERE NOT EXISTS (SELECT 1 FROM BatchCompletion x WHERE x.FileProcess_id IS NULL
    AND x.ProcessBatch_id = w.ProcessBatch_id AND (x.CycleKey = w.CycleKey OR (x.CycleKey IS NULL AND w.CycleKey IS NULL)) AND x.DependsOnBatch_id = y.DependsOnBatch_id)
), Told AS (
SELECT k.Controller_id, (' | ' || substr(substr(k.Trouble, 1, instr(k.Trouble || ' Next: ', ' Next: ') - 1), 29)) AS Said
FROM Controller k
WHERE k.Status = 'running' AND k.Trouble LIKE 'somebody keeps rows locked: %' AND strftime('%Y-%m-%d %H:%M:%f', k.Heartbeat, (k.OrphanTimeoutSecs) || ' seconds') > strftime('%Y-%m-%d %H:%M:%f', 'now')
), Met AS (
SELECT c.BatchControl_id, t.Controller_id, substr(COALESCE(CASE WHEN instr(t.Said, (' | BatchControl ' || c.BatchControl_id || ': ')) > 0 THEN substr(t.Said, instr(t.Said, (' | BatchControl ' || c.BatchControl_id || ': '))) END, CASE WHEN instr(t.Said, (' | batch ' || replace(replace(b.ProcessBatchName, '|', '\|'), ':', '\:') || ': ')) > 0 THEN substr(t.Said, instr(t.Said, (' | batch ' || replace(replace(b.ProcessBatchName, '|', '\|'), ':', '\:') || ': '))) END, CASE WHEN instr(t.Said, (' | FileProcess ' || c.FileProcess_id || ': ')) > 0 THEN substr(t.Said, instr(t.Said, (' | FileProcess ' || c.FileProcess_id || ': '))) END), 4) AS Said FROM Instances c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id CROSS JOIN Told t
), Entry AS (
SELECT m.BatchControl_id, m.Controller_id, substr(m.Said, 1, instr(m.Said || ' | ', ' | ') - 1) AS Said FROM Met m WHERE m.Said IS NOT NULL
), Locked AS (
SELECT e.BatchControl_id, substr(e.Said, 1, instr(e.Said || '; to end it: ', '; to end it: ') - 1) AS Reason,
       substr(CASE WHEN instr(e.Said, '; to end it: ') > 0 THEN substr(e.Said, instr(e.Said, '; to end it: ')) END, 14) AS Mend,
       ROW_NUMBER() OVER (PARTITION BY e.BatchControl_id ORDER BY e.Controller_id) AS Nth
FROM Entry e
)
SELECT c.BatchControl_id, b.ProcessBatchName, c.Status, c.CycleKey, f.Entity, f.FileName, c.z_updated AS Since, (SELECT strftime('%Y-%m-%d %H:%M:%f', c.z_updated, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', c.z_updated) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', c.z_updated)) AS SinceLocal,
       CASE WHEN c.Status = 'paused' THEN 'somebody paused it'
            WHEN x.ProcessBatch_id IS NOT NULL THEN (x.RowName || ' cannot be read: ' || x.ColumnName || ' holds nonsense')
            WHEN b.Enabled <> 1 THEN ('batch ' || b.ProcessBatchName || ' is disabled')
            WHEN z.BatchFreeze_id IS NOT NULL THEN (CASE WHEN z.Tag IS NOT NULL THEN ('every batch with tag ''' || z.Tag || '''') WHEN z.ProcessBatchName IS NULL THEN 'everything' ELSE ('batch ' || z.ProcessBatchName) END || ' is frozen since ' || strftime('%Y-%m-%d %H:%M:%S', z.z_inserted) || ' UTC' || ', ' || CASE WHEN z.UntilTime IS NULL THEN 'until somebody thaws it' ELSE ('until ' || strftime('%Y-%m-%d %H:%M:%S', z.UntilTime) || ' UTC') END || ', by ' || z.Actor || ': ' || z.Reason)
            WHEN y.ProcessBatch_id IS NOT NULL THEN y.Reason
            WHEN NOT EXISTS (SELECT 1 FROM ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id)
                 THEN ('batch ' || b.ProcessBatchName || ' has no steps')
            WHEN w.BatchControl_id IS NOT NULL THEN w.Reason
            WHEN i.PrevProcessControlSeq NOT BETWEEN 0 AND 2000000000 THEN ('BatchControl ' || c.BatchControl_id || ' cannot be read: PrevProcessControlSeq holds nonsense')
            WHEN c.NextRunTime > strftime('%Y-%m-%d %H:%M:%f', 'now') THEN ('it waits until ' || strftime('%Y-%m-%d %H:%M:%S', c.NextRunTime) || ' UTC')
            WHEN a.BatchControl_id IS NOT NULL THEN ('BatchControl ' || a.BatchControl_id || ' of the same batch is ' || lower(a.Status) || ' (OnFailure ' || lower(b.OnFailure) || ')')
            WHEN t.BatchControl_id IS NOT NULL THEN ('BatchControl ' || t.BatchControl_id || ' is ' || lower(t.Status) || ' and its batch stops everything')
            WHEN h.Reason IS NOT NULL THEN h.Reason
            WHEN c.Started >= b.MaxConcurrent THEN (b.MaxConcurrent || ' of batch ' || b.ProcessBatchName || ' are started before it')
            WHEN l.Most = 0 THEN 'Setting MaxConcurrent is 0, or no number: nothing starts'
            WHEN l.HowMany >= l.Most THEN (l.HowMany || ' instances are under way, and Setting MaxConcurrent is ' || l.Most)
            WHEN u.Units > r.Units THEN ('it needs ' || u.Units || ' units of ' || r.ResourceName || ', and there are ' || r.Units)
            WHEN u.Exclusive = 1 THEN ('it needs all of ' || r.ResourceName || ', and instances under way hold it')
            WHEN u.Resource_id IS NOT NULL THEN ('it needs ' || u.Units || ' of the ' || r.Units || ' units of ' || r.ResourceName || ', and instances under way hold it')
            WHEN c.Taken >= b.MaxConcurrent AND l.Most IS NULL AND NOT EXISTS (
                 SELECT 1 FROM BatchResource v WHERE v.ProcessBatch_id = c.ProcessBatch_id) THEN (b.MaxConcurrent || ' of batch ' || b.ProcessBatchName || ' are started before it')
            WHEN c.Taken >= b.MaxConcurrent THEN ('others of batch ' || b.ProcessBatchName || ' start before it')
            ELSE 'nothing holds it back' END AS Reason,
       CASE WHEN w.ColumnName = 'NextRunTime' THEN NULL
            WHEN c.NextRunTime > strftime('%Y-%m-%d %H:%M:%f', 'now') THEN c.NextRunTime WHEN z.UntilTime > strftime('%Y-%m-%d %H:%M:%f', 'now') THEN z.UntilTime END AS NotBeforeTime,
       CASE WHEN w.ColumnName = 'NextRunTime' THEN NULL WHEN c.NextRunTime > strftime('%Y-%m-%d %H:%M:%f', 'now') THEN (SELECT strftime('%Y-%m-%d %H:%M:%f', c.NextRunTime, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', c.NextRunTime) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', c.NextRunTime))
            WHEN z.UntilTime > strftime('%Y-%m-%d %H:%M:%f', 'now') THEN (SELECT strftime('%Y-%m-%d %H:%M:%f', z.UntilTime, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', z.UntilTime) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', z.UntilTime)) END AS NotBeforeTimeLocal,
       c.FileProcess_id,
       CASE WHEN c.Status = 'paused' THEN ('INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''resume'', ' || c.BatchControl_id || ', ''...'');')
            WHEN x.ProcessBatch_id IS NOT NULL THEN x.Mend
            WHEN b.Enabled <> 1 THEN ('INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES (''enable'', ' || ('''' || replace(b.ProcessBatchName, '''', '''''') || '''') || ', ''...'');')
            WHEN z.BatchFreeze_id IS NOT NULL THEN ('INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''thaw'', ''{"id": ' || z.BatchFreeze_id || '}'', ''...'');')
            WHEN y.ProcessBatch_id IS NOT NULL THEN y.Mend
            WHEN NOT EXISTS (SELECT 1 FROM ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id) THEN ('INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1) VALUES (' || b.ProcessBatch_id || ', 10, ..., ..., ...);')
            WHEN w.BatchControl_id IS NOT NULL THEN w.Mend
            WHEN i.PrevProcessControlSeq NOT BETWEEN 0 AND 2000000000 THEN ('UPDATE BatchControl SET PrevProcessControlSeq = ... WHERE BatchControl_id = ' || c.BatchControl_id || ';')
            WHEN c.NextRunTime > strftime('%Y-%m-%d %H:%M:%f', 'now') THEN ('INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''rerun'', ' || c.BatchControl_id || ', ''...'');')
            WHEN a.Status = 'failed' OR a.Status = 'held' THEN ('SELECT * FROM vFailed WHERE BatchControl_id = ' || a.BatchControl_id || ';')
            WHEN a.BatchControl_id IS NOT NULL THEN ('SELECT * FROM vWaiting WHERE BatchControl_id = ' || a.BatchControl_id || ';')
            WHEN t.Status = 'retry' THEN ('SELECT * FROM vWaiting WHERE BatchControl_id = ' || t.BatchControl_id || ';')
            WHEN t.BatchControl_id IS NOT NULL THEN ('SELECT * FROM vFailed WHERE BatchControl_id = ' || t.BatchControl_id || ';')
            WHEN h.Reason IS NOT NULL THEN CASE WHEN h.Mend IS NULL THEN 'SELECT * FROM Controller;' ELSE (h.Mend || ';') END
            ELSE 'SELECT * FROM vRunning;' END AS NextSql
FROM Instances c
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN FileProcess f ON f.FileProcess_id = c.FileProcess_id
CROSS JOIN Total l
LEFT JOIN Frozen fz ON fz.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN BatchFreeze z ON z.BatchFreeze_id = fz.BatchFreeze_id
LEFT JOIN BatchControl a ON a.BatchControl_id = c.Ahead_id
LEFT JOIN BatchControl t ON t.BatchControl_id = c.Stop_id
LEFT JOIN Unfit x ON x.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN UnfitWork w ON w.BatchControl_id = c.BatchControl_id
LEFT JOIN BatchControl i ON i.BatchControl_id = c.BatchControl_id
LEFT JOIN Missing y ON y.ProcessBatch_id = c.ProcessBatch_id AND y.ProcessControlSeq = (
    SELECT MIN(v.ProcessControlSeq) FROM Missing v
    WHERE v.ProcessBatch_id = c.ProcessBatch_id AND v.ProcessControlSeq > i.PrevProcessControlSeq)
LEFT JOIN Unmet m ON m.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN BatchResource u ON u.ProcessBatch_id = m.ProcessBatch_id AND u.Resource_id = m.Resource_id
LEFT JOIN Resource r ON r.Resource_id = m.Resource_id
LEFT JOIN Locked h ON h.BatchControl_id = c.BatchControl_id AND h.Nth = 1
UNION ALL
SELECT c.BatchControl_id, b.ProcessBatchName, 'unreadable', c.CycleKey, f.Entity, f.FileName,
       c.z_updated AS Since, (SELECT strftime('%Y-%m-%d %H:%M:%f', c.z_updated, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', c.z_updated) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', c.z_updated)) AS SinceLocal, w.Reason, NULL, NULL, c.FileProcess_id, w.Mend
FROM UnfitWork w
JOIN BatchControl c ON c.BatchControl_id = w.BatchControl_id
LEFT JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN FileProcess f ON f.FileProcess_id = c.FileProcess_id
WHERE w.ColumnName = 'Status'
UNION ALL
SELECT c.BatchControl_id, b.ProcessBatchName, 'unreadable', c.CycleKey, b.Entity, NULL,
       c.z_updated AS Since, (SELECT strftime('%Y-%m-%d %H:%M:%f', c.z_updated, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', c.z_updated) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', c.z_updated)) AS SinceLocal, ('BatchControl ' || c.BatchControl_id || ' cannot be read: FileProcess ' || c.FileProcess_id || ' is gone'), NULL, NULL, c.FileProcess_id, ('' || 'INSERT INTO FileProcess (FileProcess_id, Entity) VALUES (' || c.FileProcess_id || ', ' || ('''' || replace(COALESCE(b.Entity, b.ProcessBatchName), '''', '''''') || '''') || ');' || '')
FROM BatchControl c
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE (c.Status = 'ready' OR c.Status = 'running' OR c.Status = 'retry' OR c.Status = 'failed' OR c.Status = 'held' OR c.Status = 'pausing' OR c.Status = 'paused' OR c.Status = 'cancelling')
AND NOT EXISTS (SELECT 1 FROM FileProcess f WHERE f.FileProcess_id = c.FileProcess_id)
UNION ALL
SELECT NULL, b.ProcessBatchName, 'dependency', w.CycleKey, COALESCE(b.Entity, b.ProcessBatchName), NULL,
       w.Since AS Since, (SELECT strftime('%Y-%m-%d %H:%M:%f', w.Since, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', w.Since) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', w.Since)) AS SinceLocal, CASE WHEN p.ProcessBatch_id IS NOT NULL THEN (p.RowName || ' cannot be read: ' || p.ColumnName || ' holds nonsense')
            WHEN q.ProcessBatch_id IS NOT NULL THEN (q.RowName || ' cannot be read: ' || q.ColumnName || ' holds nonsense') ELSE (d.ProcessBatchName || ' ' || CASE WHEN x.BatchControl_id IS NULL THEN 'has no instance for this CycleKey yet' ELSE ('(BatchControl ' || x.BatchControl_id || ') ' || CASE lower(x.Status) WHEN 'ready' THEN 'has not begun yet' WHEN 'running' THEN 'is running' WHEN 'retry' THEN 'has failed and waits for its retry' WHEN 'failed' THEN 'has failed' WHEN 'held' THEN 'is held: a person decides' WHEN 'pausing' THEN 'is running, and paused then' WHEN 'paused' THEN 'is paused' WHEN 'cancelling' THEN 'is being cancelled' WHEN 'cancelled' THEN 'was cancelled' WHEN 'complete' THEN CASE WHEN EXISTS (SELECT 1 FROM BatchCompletion u WHERE u.ProcessBatch_id = w.ProcessBatch_id AND u.BatchControl_id = x.BatchControl_id) THEN 'is complete, and that was used before: another instance has to complete'
            ELSE 'had completed before the dependency was registered, which does not count' END END) END || CASE WHEN d.Enabled <> 1 THEN ', and the batch is disabled' WHEN z.BatchFreeze_id IS NOT NULL THEN (', and ' || CASE WHEN z.Tag IS NOT NULL THEN ('every batch with tag ''' || z.Tag || '''') WHEN z.ProcessBatchName IS NULL THEN 'everything' ELSE ('batch ' || z.ProcessBatchName) END || ' is frozen') ELSE '' END) END, NULL, NULL, NULL,
       CASE WHEN p.ProcessBatch_id IS NOT NULL THEN p.Mend WHEN q.ProcessBatch_id IS NOT NULL THEN q.Mend
            WHEN x.Status = 'failed' OR x.Status = 'held' THEN ('SELECT * FROM vFailed WHERE BatchControl_id = ' || x.BatchControl_id || ';')
            WHEN x.Status = 'cancelled' THEN ('INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''rerun'', ' || x.BatchControl_id || ', ''...'');')
            WHEN d.Enabled <> 1 THEN ('INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES (''enable'', ' || ('''' || replace(d.ProcessBatchName, '''', '''''') || '''') || ', ''...'');')
            WHEN z.BatchFreeze_id IS NOT NULL THEN ('INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''thaw'', ''{"id": ' || z.BatchFreeze_id || '}'', ''...'');')
            WHEN x.Status = 'ready' OR x.Status = 'retry' THEN ('SELECT * FROM vWaiting WHERE BatchControl_id = ' || x.BatchControl_id || ';')
            WHEN x.Status = 'paused' THEN ('INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''resume'', ' || x.BatchControl_id || ', ''...'');')
            WHEN x.Status = 'complete' THEN ('SELECT * FROM vHistory WHERE BatchControl_id = ' || x.BatchControl_id || ';')
            WHEN x.BatchControl_id IS NOT NULL THEN ('SELECT * FROM vRunning WHERE BatchControl_id = ' || x.BatchControl_id || ';')
            WHEN EXISTS (SELECT 1 FROM Lacking o WHERE o.ProcessBatch_id = w.DependsOnBatch_id)
                 THEN ('SELECT * FROM vWaiting WHERE ProcessBatchName = ' || ('''' || replace(d.ProcessBatchName, '''', '''''') || '''') || ';')
            ELSE ('INSERT INTO FileProcess (Entity, CycleKey, FileName) VALUES (' || ('''' || replace(COALESCE(d.Entity, d.ProcessBatchName), '''', '''''') || '''') || ', ' || CASE WHEN w.CycleKey IS NULL THEN 'NULL' ELSE ('''' || replace(w.CycleKey, '''', '''''') || '''') END || ', ...);') END
FROM Lacking w
JOIN ProcessBatch b ON b.ProcessBatch_id = w.ProcessBatch_id
JOIN ProcessBatch d ON d.ProcessBatch_id = w.DependsOnBatch_id
LEFT JOIN BatchControl x ON x.BatchControl_id = w.Newest_id
LEFT JOIN Unfit p ON p.ProcessBatch_id = w.ProcessBatch_id
LEFT JOIN Unfit q ON q.ProcessBatch_id = w.DependsOnBatch_id
LEFT JOIN Frozen fz ON fz.ProcessBatch_id = w.DependsOnBatch_id
LEFT JOIN BatchFreeze z ON z.BatchFreeze_id = fz.BatchFreeze_id
UNION ALL
SELECT NULL, b.ProcessBatchName, 'populator', f.CycleKey, f.Entity, f.FileName,
       f.z_inserted AS Since, (SELECT strftime('%Y-%m-%d %H:%M:%f', f.z_inserted, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', f.z_inserted) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', f.z_inserted)) AS SinceLocal, CASE WHEN x.ProcessBatch_id IS NOT NULL THEN (x.RowName || ' cannot be read: ' || x.ColumnName || ' holds nonsense')
            WHEN y.ProcessBatch_id IS NOT NULL THEN y.Reason
            WHEN f.PopulatorTries >= 3 THEN ('it waits for a person: ' || COALESCE(f.Message, 'no reason was given')) ELSE ('batch ' || b.ProcessBatchName || ' has no instance of it yet') END, NULL, NULL, f.FileProcess_id,
       CASE WHEN x.ProcessBatch_id IS NOT NULL THEN x.Mend WHEN y.ProcessBatch_id IS NOT NULL THEN y.Mend
            WHEN f.PopulatorTries >= 3 THEN ('UPDATE FileProcess SET PopulatorTries = NULL WHERE FileProcess_id = ' || f.FileProcess_id || ';') ELSE 'SELECT * FROM Controller;' END
FROM FileProcess f
JOIN ProcessBatch b ON COALESCE(b.Entity, b.ProcessBatchName) = f.Entity
LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Missing y ON y.ProcessBatch_id = b.ProcessBatch_id AND y.ProcessControlSeq = -1
WHERE f.PopulatorTries IS NOT NULL AND f.Status = 'ready'
AND NOT EXISTS (SELECT 1 FROM BatchControl c WHERE c.FileProcess_id = f.FileProcess_id AND c.ProcessBatch_id = b.ProcessBatch_id)
AND NOT (b.DuplicateCheck = 1 AND EXISTS (SELECT 1 FROM FileProcess g
        WHERE g.Entity = f.Entity AND g.Data = f.Data AND g.FileProcess_id <> f.FileProcess_id
        AND ((g.FileProcess_id < f.FileProcess_id AND (g.Status = 'ready' OR g.Status = 'paused')) OR EXISTS (
            SELECT 1 FROM BatchControl c WHERE c.FileProcess_id = g.FileProcess_id AND c.ProcessBatch_id = b.ProcessBatch_id)))
    AND NOT EXISTS (SELECT 1 FROM AuditLog a WHERE a.Target = ('FileProcess:' || f.FileProcess_id) AND a.Action = 'accept'))
UNION ALL
SELECT NULL, b.ProcessBatchName, 'definition', f.CycleKey, COALESCE(b.Entity, b.ProcessBatchName), NULL,
       q.Since AS Since, (SELECT strftime('%Y-%m-%d %H:%M:%f', q.Since, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', q.Since) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', q.Since)) AS SinceLocal, q.Reason, NULL, NULL, NULL, q.Mend
FROM ProcessBatch b
JOIN (SELECT y.ProcessBatch_id, d.z_updated AS Since, y.Reason, y.Mend
      FROM Missing y JOIN ProcessBatch d ON d.ProcessBatch_id = y.ProcessBatch_id WHERE y.ProcessControlSeq = -1
      UNION ALL SELECT i.ProcessBatch_id, i.OpenedTime, i.Message, i.NextStep FROM Incident i
      WHERE i.ResolvedTime IS NULL AND i.Kind = 'unreadable' AND i.IncidentKey LIKE 'unreadable ProcessBatch %') q
   ON q.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN FileProcess f ON 1 = 0
LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id
WHERE b.Enabled = 1 AND x.ProcessBatch_id IS NULL;

CREATE VIEW vRunning AS
SELECT c.BatchControl_id, b.ProcessBatchName, lower(c.Status) AS Status, c.CycleKey, f.Entity, f.FileName,
       h.ProcessControlSeq, h.ProcessName, h.ProcessType, h.AttemptNo, h.StartTime AS StartTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', h.StartTime, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', h.StartTime) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', h.StartTime)) AS StartTimeLocal,
       round((julianday(strftime('%Y-%m-%d %H:%M:%f', 'now')) - julianday(h.StartTime)) * 86400.0, 3) AS RunningSeconds, p.ExpectedDuration, p.AlarmDuration, p.MaxDuration,
       CASE WHEN strftime('%Y-%m-%d %H:%M:%f', h.StartTime, (p.AlarmDuration) || ' seconds') <= strftime('%Y-%m-%d %H:%M:%f', 'now') THEN 'late'
            WHEN strftime('%Y-%m-%d %H:%M:%f', h.StartTime, (p.ExpectedDuration) || ' seconds') < strftime('%Y-%m-%d %H:%M:%f', 'now') THEN 'longer than expected'
            WHEN p.AlarmDuration IS NOT NULL OR p.ExpectedDuration IS NOT NULL THEN 'in time' END AS Timing,
       h.ClaimedBy, h.Host, h.Pid, h.DbSession, h.CommandText, c.FileProcess_id,
       ('INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''pause'', ' || c.BatchControl_id || ', ''...'');') AS PauseSql, ('INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''cancel'', ' || c.BatchControl_id || ', ''...'');') AS CancelSql
FROM BatchProcessHistory h
JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN FileProcess f ON f.FileProcess_id = c.FileProcess_id
LEFT JOIN ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq
WHERE h.Status = 'running';

CREATE VIEW vLate AS
SELECT 'step' AS What, (b.ProcessBatchName || ', step ' || h.ProcessControlSeq || ' ' || h.ProcessName) AS Name,
       b.ProcessBatchName, c.BatchControl_id, strftime('%Y-%m-%d %H:%M:%f', h.StartTime, (COALESCE(p.AlarmDuration, p.ExpectedDuration)) || ' seconds') AS ExpectedTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', strftime('%Y-%m-%d %H:%M:%f', h.StartTime, (COALESCE(p.AlarmDuration, p.ExpectedDuration)) || ' seconds'), (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', strftime('%Y-%m-%d %H:%M:%f', h.StartTime, (COALESCE(p.AlarmDuration, p.ExpectedDuration)) || ' seconds')) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', strftime('%Y-%m-%d %H:%M:%f', h.StartTime, (COALESCE(p.AlarmDuration, p.ExpectedDuration)) || ' seconds'))) AS ExpectedTimeLocal, round((julianday(strftime('%Y-%m-%d %H:%M:%f', 'now')) - julianday(strftime('%Y-%m-%d %H:%M:%f', h.StartTime, (COALESCE(p.AlarmDuration, p.ExpectedDuration)) || ' seconds'))) * 86400.0, 3) AS LateSeconds,
       ('it runs longer than ' || COALESCE(p.AlarmDuration, p.ExpectedDuration) || ' seconds') AS Reason,
       ('SELECT * FROM vRunning WHERE BatchControl_id = ' || c.BatchControl_id || ';') AS NextSql
FROM BatchProcessHistory h
JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq
WHERE h.Status = 'running' AND strftime('%Y-%m-%d %H:%M:%f', h.StartTime, (COALESCE(p.AlarmDuration, p.ExpectedDuration)) || ' seconds') <= strftime('%Y-%m-%d %H:%M:%f', 'now')
UNION ALL
SELECT 'instance', (b.ProcessBatchName || ' ' || COALESCE(c.CycleKey, '')),
       b.ProcessBatchName, c.BatchControl_id, c.NextRunTime AS ExpectedTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', c.NextRunTime, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', c.NextRunTime) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', c.NextRunTime)) AS ExpectedTimeLocal, round((julianday(strftime('%Y-%m-%d %H:%M:%f', 'now')) - julianday(c.NextRunTime)) * 86400.0, 3) AS LateSeconds,
       'its NextRunTime is over, and it has not started', ('SELECT * FROM vWaiting WHERE BatchControl_id = ' || c.BatchControl_id || ';')
FROM BatchControl c
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE (c.Status = 'ready' OR c.Status = 'retry') AND c.NextRunTime > '1900-01-01 00:00:00.000' AND c.NextRunTime < strftime('%Y-%m-%d %H:%M:%f', 'now', '-60 seconds')
UNION ALL
SELECT 'schedule', e.ScheduleName, NULL, NULL, e.NextRunTime AS ExpectedTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', e.NextRunTime, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', e.NextRunTime) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', e.NextRunTime)) AS ExpectedTimeLocal, round((julianday(strftime('%Y-%m-%d %H:%M:%f', 'now')) - julianday(e.NextRunTime)) * 86400.0, 3) AS LateSeconds,
       'its due time is over, and no controller has decided it', 'SELECT * FROM Controller;'
FROM Schedule e WHERE e.Enabled = 1 AND e.NextRunTime < strftime('%Y-%m-%d %H:%M:%f', 'now', '-60 seconds')
UNION ALL
SELECT 'dependency', (b.ProcessBatchName || ' waits for ' || d.ProcessBatchName), b.ProcessBatchName, NULL,
       strftime('%Y-%m-%d %H:%M:%f', w.Since, (60 * w.DeadlineMins) || ' seconds') AS ExpectedTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', strftime('%Y-%m-%d %H:%M:%f', w.Since, (60 * w.DeadlineMins) || ' seconds'), (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', strftime('%Y-%m-%d %H:%M:%f', w.Since, (60 * w.DeadlineMins) || ' seconds')) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', strftime('%Y-%m-%d %H:%M:%f', w.Since, (60 * w.DeadlineMins) || ' seconds'))) AS ExpectedTimeLocal, round((julianday(strftime('%Y-%m-%d %H:%M:%f', 'now')) - julianday(strftime('%Y-%m-%d %H:%M:%f', w.Since, (60 * w.DeadlineMins) || ' seconds'))) * 86400.0, 3) AS LateSeconds, 'it waits for longer than DeadlineMins',
       ('SELECT * FROM vWaiting WHERE ProcessBatchName = ' || ('''' || replace(b.ProcessBatchName, '''', '''''') || '''') || ';')
FROM (SELECT y.ProcessBatch_id, y.DependsOnBatch_id, y.DeadlineMins, v.CycleKey, v.Since
      FROM (SELECT ProcessBatch_id, CycleKey, MIN(z_inserted) AS Since FROM BatchCompletion WHERE FileProcess_id IS NULL
            GROUP BY ProcessBatch_id, CycleKey) v
      JOIN BatchDependency y ON y.ProcessBatch_id = v.ProcessBatch_id
      WHERE NOT EXISTS (SELECT 1 FROM BatchCompletion x WHERE x.FileProcess_id IS NULL
          AND x.ProcessBatch_id = v.ProcessBatch_id AND x.DependsOnBatch_id = y.DependsOnBatch_id
          AND (x.CycleKey = v.CycleKey OR (x.CycleKey IS NULL AND v.CycleKey IS NULL)))) w
JOIN ProcessBatch b ON b.ProcessBatch_id = w.ProcessBatch_id
JOIN ProcessBatch d ON d.ProcessBatch_id = w.DependsOnBatch_id
WHERE strftime('%Y-%m-%d %H:%M:%f', w.Since, (60 * w.DeadlineMins) || ' seconds') < strftime('%Y-%m-%d %H:%M:%f', 'now')
UNION ALL
SELECT CASE lower(i.Kind) WHEN 'not_arrived' THEN 'arrival' WHEN 'not_started' THEN 'start' ELSE 'finish' END, i.Subject, i.Subject, NULL, i.OpenedTime AS ExpectedTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', i.OpenedTime, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', i.OpenedTime) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', i.OpenedTime)) AS ExpectedTimeLocal, round((julianday(strftime('%Y-%m-%d %H:%M:%f', 'now')) - julianday(i.OpenedTime)) * 86400.0, 3) AS LateSeconds, i.Message,
       ('SELECT * FROM vStatus WHERE ProcessBatchName = ' || ('''' || replace(i.Subject, '''', '''''') || '''') || ';')
FROM Incident i
WHERE i.ResolvedTime IS NULL AND (i.Kind = 'not_arrived' OR i.Kind = 'not_started' OR i.Kind = 'not_finished');

CREATE VIEW vHistory AS
SELECT h.BatchProcessHistory_id, h.BatchControl_id, b.ProcessBatchName, c.CycleKey, f.Entity, f.FileName, h.ProcessControlSeq,
       h.ProcessName, h.ProcessType, h.AttemptNo, lower(h.Cause) AS Cause, lower(h.Status) AS Status,
       h.StartTime AS StartTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', h.StartTime, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', h.StartTime) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', h.StartTime)) AS StartTimeLocal, h.EndTime AS EndTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', h.EndTime, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', h.EndTime) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', h.EndTime)) AS EndTimeLocal,
       round((julianday(h.EndTime) - julianday(h.StartTime)) * 86400.0, 3) AS DurationSeconds, h.ReturnCode, h.RowsAffected, h.Message AS ErrorText, h.Output,
       h.CommandText, h.ClaimedBy, h.Host, h.Pid, h.DbSession, c.FileProcess_id,
       ('INSERT INTO OperatorRequest (Action, BatchControl_id, Arguments, Reason) VALUES (''rerun'', ' || h.BatchControl_id || ', ''{"from": ' || h.ProcessControlSeq || '}'', ''...'');') AS RerunSql, h.ErrorCode, h.ErrorLine
FROM BatchProcessHistory h
LEFT JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id
LEFT JOIN ProcessBatch b ON b.ProcessBatch_id = h.ProcessBatch_id
LEFT JOIN FileProcess f ON f.FileProcess_id = c.FileProcess_id;

CREATE VIEW vSchedule AS
WITH Newest AS (
SELECT g.Schedule_id, MAX(g.ScheduleFire_id) AS ScheduleFire_id, MAX(g.Ran_id) AS Ran_id
FROM (SELECT f.Schedule_id, f.ScheduleFire_id,
             CASE WHEN EXISTS (SELECT 1 FROM BatchProcessHistory h JOIN BatchControl c
                               ON c.BatchControl_id = h.BatchControl_id WHERE c.FileProcess_id = f.FileProcess_id)
                  THEN f.FileProcess_id END AS Ran_id
      FROM ScheduleFire f) g
GROUP BY g.Schedule_id
), Came AS (
SELECT c.FileProcess_id, COUNT(*) AS Instances, SUM(CASE WHEN (c.Status = 'complete') THEN 1 ELSE 0 END) AS Complete, SUM(CASE WHEN (c.Status = 'failed' OR c.Status = 'held') THEN 1 ELSE 0 END) AS Failed,
       SUM(CASE WHEN (c.Status = 'cancelled') THEN 1 ELSE 0 END) AS Cancelled, SUM(CASE WHEN (c.Status = 'running' OR c.Status = 'pausing' OR c.Status = 'cancelling') THEN 1 ELSE 0 END) AS Running,
       MIN(c.StartTime) AS StartTime
FROM (SELECT x.FileProcess_id, x.Status,
             (SELECT MIN(h.StartTime) FROM BatchProcessHistory h WHERE h.BatchControl_id = x.BatchControl_id) AS StartTime
      FROM BatchControl x) c
WHERE c.FileProcess_id IN (SELECT n.Ran_id FROM Newest n UNION SELECT g.FileProcess_id FROM Newest n
                           JOIN ScheduleFire g ON g.ScheduleFire_id = n.ScheduleFire_id)
GROUP BY c.FileProcess_id
)
SELECT e.Schedule_id, e.ScheduleName, e.Entity,
       CASE WHEN CASE WHEN e.IntervalMinutes NOT BETWEEN 1 AND 1440 THEN 'IntervalMinutes' WHEN typeof(e.IntervalMinutes) NOT IN ('integer', 'null') THEN 'IntervalMinutes' WHEN e.EveryN NOT BETWEEN 1 AND 1000 THEN 'EveryN' WHEN typeof(e.EveryN) NOT IN ('integer', 'null') THEN 'EveryN' WHEN e.CatchUpMost NOT BETWEEN 1 AND 1000 THEN 'CatchUpMost' WHEN typeof(e.CatchUpMost) NOT IN ('integer', 'null') THEN 'CatchUpMost' WHEN e.Jitter NOT BETWEEN 0 AND 86400 THEN 'Jitter' WHEN typeof(e.Jitter) NOT IN ('integer', 'null') THEN 'Jitter' WHEN e.Enabled NOT BETWEEN 0 AND 1 THEN 'Enabled' WHEN typeof(e.Enabled) NOT IN ('integer', 'null') THEN 'Enabled' END IS NOT NULL THEN 'unreadable' WHEN e.Enabled <> 1 THEN 'disabled' WHEN e.CalendarName IS NOT NULL AND NOT EXISTS (
                 SELECT 1 FROM Calendar k WHERE k.CalendarName = e.CalendarName) THEN 'unreadable'
            WHEN t.Incident_id IS NOT NULL THEN 'starts nothing' WHEN e.NextRunTime IS NULL THEN 'not due'
            WHEN e.NextRunTime < strftime('%Y-%m-%d %H:%M:%f', 'now', '-60 seconds') THEN 'overdue' ELSE 'enabled' END AS Status,
       (lower(e.ScheduleType) || CASE WHEN e.IntervalMinutes IS NULL THEN '' ELSE (', every ' || e.IntervalMinutes || ' minutes') END || CASE WHEN e.RunDays IS NULL THEN '' ELSE (', ' || e.RunDays) END || CASE WHEN e.RunDaysOfMonth IS NULL THEN '' ELSE (', ' || e.RunDaysOfMonth) END || CASE WHEN e.WeekOfMonth IS NULL THEN '' ELSE (', ' || e.WeekOfMonth) END || CASE WHEN e.RunMonths IS NULL THEN '' ELSE (', ' || e.RunMonths) END || CASE WHEN e.RunTimes IS NULL THEN '' ELSE (' at ' || e.RunTimes) END || CASE WHEN e.RunAt IS NULL THEN '' ELSE (' at ' || e.RunAt) END || CASE WHEN e.Cron IS NULL THEN '' ELSE (' at ' || e.Cron) END || CASE WHEN e.BetweenTimes IS NULL THEN '' ELSE (', between ' || e.BetweenTimes) END || CASE WHEN e.CalendarName IS NULL THEN '' ELSE (', calendar ' || e.CalendarName) END) AS Timing, e.TimeZone, e.NextRunTime AS NextRunTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', e.NextRunTime, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', e.NextRunTime) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', e.NextRunTime)) AS NextRunTimeLocal,
       CASE WHEN l.Outcome = 'fired' THEN CASE WHEN p.Status <> 'ready' AND p.Status <> 'complete' THEN lower(p.Status) WHEN q.Failed > 0 THEN 'failed' WHEN q.Cancelled > 0 THEN 'cancelled' WHEN q.Instances = q.Complete THEN 'complete' WHEN q.Running > 0 THEN 'running' ELSE 'waits' END ELSE lower(l.Outcome) END AS LastOutcome,
       l.DueTime AS LastDueTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', l.DueTime, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', l.DueTime) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', l.DueTime)) AS LastDueTimeLocal, l.Reason AS LastReason,
       l.FileProcess_id AS LastFileProcess_id, e.Description,
       CASE WHEN CASE WHEN e.IntervalMinutes NOT BETWEEN 1 AND 1440 THEN 'IntervalMinutes' WHEN typeof(e.IntervalMinutes) NOT IN ('integer', 'null') THEN 'IntervalMinutes' WHEN e.EveryN NOT BETWEEN 1 AND 1000 THEN 'EveryN' WHEN typeof(e.EveryN) NOT IN ('integer', 'null') THEN 'EveryN' WHEN e.CatchUpMost NOT BETWEEN 1 AND 1000 THEN 'CatchUpMost' WHEN typeof(e.CatchUpMost) NOT IN ('integer', 'null') THEN 'CatchUpMost' WHEN e.Jitter NOT BETWEEN 0 AND 86400 THEN 'Jitter' WHEN typeof(e.Jitter) NOT IN ('integer', 'null') THEN 'Jitter' WHEN e.Enabled NOT BETWEEN 0 AND 1 THEN 'Enabled' WHEN typeof(e.Enabled) NOT IN ('integer', 'null') THEN 'Enabled' END IS NOT NULL THEN ('UPDATE Schedule SET ' || CASE WHEN e.IntervalMinutes NOT BETWEEN 1 AND 1440 THEN 'IntervalMinutes = NULL' WHEN typeof(e.IntervalMinutes) NOT IN ('integer', 'null') THEN 'IntervalMinutes = NULL' WHEN e.EveryN NOT BETWEEN 1 AND 1000 THEN 'EveryN = 1' WHEN typeof(e.EveryN) NOT IN ('integer', 'null') THEN 'EveryN = 1' WHEN e.CatchUpMost NOT BETWEEN 1 AND 1000 THEN 'CatchUpMost = NULL' WHEN typeof(e.CatchUpMost) NOT IN ('integer', 'null') THEN 'CatchUpMost = NULL' WHEN e.Jitter NOT BETWEEN 0 AND 86400 THEN 'Jitter = 0' WHEN typeof(e.Jitter) NOT IN ('integer', 'null') THEN 'Jitter = 0' WHEN e.Enabled NOT BETWEEN 0 AND 1 THEN 'Enabled = 0' WHEN typeof(e.Enabled) NOT IN ('integer', 'null') THEN 'Enabled = 0' END || ' WHERE Schedule_id = ' || e.Schedule_id || ';') WHEN e.Enabled <> 1 THEN ('UPDATE Schedule SET Enabled = ' || CASE WHEN e.Enabled = 1 THEN '0' ELSE '1' END || ' WHERE ScheduleName = ' || ('''' || replace(e.ScheduleName, '''', '''''') || '''') || ';') WHEN e.CalendarName IS NOT NULL AND NOT EXISTS (
                 SELECT 1 FROM Calendar k WHERE k.CalendarName = e.CalendarName) THEN ('UPDATE Schedule SET CalendarName = ... WHERE ScheduleName = ' || ('''' || replace(e.ScheduleName, '''', '''''') || '''') || ';')
            WHEN t.Incident_id IS NOT NULL THEN ('SELECT * FROM Incident WHERE Incident_id = ' || t.Incident_id || ';')
            ELSE ('UPDATE Schedule SET Enabled = ' || CASE WHEN e.Enabled = 1 THEN '0' ELSE '1' END || ' WHERE ScheduleName = ' || ('''' || replace(e.ScheduleName, '''', '''''') || '''') || ';') END AS NextSql,
       r.StartTime AS LastRunOn, (SELECT strftime('%Y-%m-%d %H:%M:%f', r.StartTime, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', r.StartTime) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', r.StartTime)) AS LastRunOnLocal,
       CASE WHEN r.Failed > 0 OR r.Cancelled > 0 THEN 0 WHEN r.Instances = r.Complete THEN 1 END AS LastRunOK
FROM Schedule e
LEFT JOIN Newest n ON n.Schedule_id = e.Schedule_id
LEFT JOIN ScheduleFire l ON l.ScheduleFire_id = n.ScheduleFire_id
LEFT JOIN FileProcess p ON p.FileProcess_id = l.FileProcess_id
LEFT JOIN Came q ON q.FileProcess_id = l.FileProcess_id
LEFT JOIN Came r ON r.FileProcess_id = n.Ran_id
LEFT JOIN Incident t ON t.Incident_id = (SELECT MIN(i.Incident_id) FROM Incident i
    WHERE i.ResolvedTime IS NULL AND i.Kind = 'not_starting' AND i.Subject = ('schedule ' || e.ScheduleName));

CREATE VIEW vInbox AS
WITH Misread AS (
SELECT b.ProcessBatch_id, 0 AS Place, b.ProcessBatch_id AS Row_id, ('ProcessBatch ' || b.ProcessBatch_id || ' (' || b.ProcessBatchName || ')') AS RowName,
       CASE WHEN b.Enabled NOT BETWEEN 0 AND 1 THEN 'Enabled' WHEN typeof(b.Enabled) NOT IN ('integer', 'null') THEN 'Enabled' WHEN typeof(b.Seq) NOT IN ('integer', 'null') THEN 'Seq' WHEN b.RetryCount NOT BETWEEN 0 AND 1000 THEN 'RetryCount' WHEN typeof(b.RetryCount) NOT IN ('integer', 'null') THEN 'RetryCount' WHEN b.RetryWaitMins NOT BETWEEN 0 AND 525600 THEN 'RetryWaitMins' WHEN typeof(b.RetryWaitMins) NOT IN ('integer', 'null') THEN 'RetryWaitMins' WHEN lower(b.OnFailure) NOT IN ('hold_batch', 'stop_all', 'continue') THEN 'OnFailure' WHEN lower(b.DependencyMode) NOT IN ('all', 'any') THEN 'DependencyMode' WHEN b.MaxConcurrent NOT BETWEEN 1 AND 1000 THEN 'MaxConcurrent' WHEN typeof(b.MaxConcurrent) NOT IN ('integer', 'null') THEN 'MaxConcurrent' WHEN b.DuplicateCheck NOT BETWEEN 0 AND 1 THEN 'DuplicateCheck' WHEN typeof(b.DuplicateCheck) NOT IN ('integer', 'null') THEN 'DuplicateCheck' WHEN lower(b.ProcessingMode) NOT IN ('manual', 'scheduled', 'triggered') THEN 'ProcessingMode' WHEN b.RetryWaitSecs NOT BETWEEN 0 AND 31536000 THEN 'RetryWaitSecs' WHEN typeof(b.RetryWaitSecs) NOT IN ('integer', 'null') THEN 'RetryWaitSecs' END AS ColumnName, ('UPDATE ProcessBatch SET ' || CASE WHEN b.Enabled NOT BETWEEN 0 AND 1 THEN 'Enabled = 0' WHEN typeof(b.Enabled) NOT IN ('integer', 'null') THEN 'Enabled = 0' WHEN typeof(b.Seq) NOT IN ('integer', 'null') THEN 'Seq = 100' WHEN b.RetryCount NOT BETWEEN 0 AND 1000 THEN 'RetryCount = 0' WHEN typeof(b.RetryCount) NOT IN ('integer', 'null') THEN 'RetryCount = 0' WHEN b.RetryWaitMins NOT BETWEEN 0 AND 525600 THEN 'RetryWaitMins = 5' WHEN typeof(b.RetryWaitMins) NOT IN ('integer', 'null') THEN 'RetryWaitMins = 5' WHEN lower(b.OnFailure) NOT IN ('hold_batch', 'stop_all', 'continue') THEN 'OnFailure = ''hold_batch''' WHEN lower(b.DependencyMode) NOT IN ('all', 'any') THEN 'DependencyMode = ''all''' WHEN b.MaxConcurrent NOT BETWEEN 1 AND 1000 THEN 'MaxConcurrent = 1' WHEN typeof(b.MaxConcurrent) NOT IN ('integer', 'null') THEN 'MaxConcurrent = 1' WHEN b.DuplicateCheck NOT BETWEEN 0 AND 1 THEN 'DuplicateCheck = 1' WHEN typeof(b.DuplicateCheck) NOT IN ('integer', 'null') THEN 'DuplicateCheck = 1' WHEN lower(b.ProcessingMode) NOT IN ('manual', 'scheduled', 'triggered') THEN 'ProcessingMode = NULL' WHEN b.RetryWaitSecs NOT BETWEEN 0 AND 31536000 THEN 'RetryWaitSecs = NULL' WHEN typeof(b.RetryWaitSecs) NOT IN ('integer', 'null') THEN 'RetryWaitSecs = NULL' END || ' WHERE ProcessBatch_id = ' || b.ProcessBatch_id || ';') AS Mend
FROM ProcessBatch b WHERE CASE WHEN b.Enabled NOT BETWEEN 0 AND 1 THEN 'Enabled' WHEN typeof(b.Enabled) NOT IN ('integer', 'null') THEN 'Enabled' WHEN typeof(b.Seq) NOT IN ('integer', 'null') THEN 'Seq' WHEN b.RetryCount NOT BETWEEN 0 AND 1000 THEN 'RetryCount' WHEN typeof(b.RetryCount) NOT IN ('integer', 'null') THEN 'RetryCount' WHEN b.RetryWaitMins NOT BETWEEN 0 AND 525600 THEN 'RetryWaitMins' WHEN typeof(b.RetryWaitMins) NOT IN ('integer', 'null') THEN 'RetryWaitMins' WHEN lower(b.OnFailure) NOT IN ('hold_batch', 'stop_all', 'continue') THEN 'OnFailure' WHEN lower(b.DependencyMode) NOT IN ('all', 'any') THEN 'DependencyMode' WHEN b.MaxConcurrent NOT BETWEEN 1 AND 1000 THEN 'MaxConcurrent' WHEN typeof(b.MaxConcurrent) NOT IN ('integer', 'null') THEN 'MaxConcurrent' WHEN b.DuplicateCheck NOT BETWEEN 0 AND 1 THEN 'DuplicateCheck' WHEN typeof(b.DuplicateCheck) NOT IN ('integer', 'null') THEN 'DuplicateCheck' WHEN lower(b.ProcessingMode) NOT IN ('manual', 'scheduled', 'triggered') THEN 'ProcessingMode' WHEN b.RetryWaitSecs NOT BETWEEN 0 AND 31536000 THEN 'RetryWaitSecs' WHEN typeof(b.RetryWaitSecs) NOT IN ('integer', 'null') THEN 'RetryWaitSecs' END IS NOT NULL
UNION ALL
SELECT t.ProcessBatch_id, 1 AS Place, t.ProcessControl_id AS Row_id, ('ProcessControl ' || t.ProcessControl_id) AS RowName,
       CASE WHEN t.ProcessControlSeq NOT BETWEEN 1 AND 2000000000 THEN 'ProcessControlSeq' WHEN typeof(t.ProcessControlSeq) NOT IN ('integer', 'null') THEN 'ProcessControlSeq' WHEN t.ExpectedDuration NOT BETWEEN 1 AND 31536000 THEN 'ExpectedDuration' WHEN typeof(t.ExpectedDuration) NOT IN ('integer', 'null') THEN 'ExpectedDuration' WHEN t.AlarmDuration NOT BETWEEN 1 AND 31536000 THEN 'AlarmDuration' WHEN typeof(t.AlarmDuration) NOT IN ('integer', 'null') THEN 'AlarmDuration' WHEN t.MaxDuration NOT BETWEEN 1 AND 31536000 THEN 'MaxDuration' WHEN typeof(t.MaxDuration) NOT IN ('integer', 'null') THEN 'MaxDuration' WHEN lower(t.OnLost) NOT IN ('hold', 'rerun', 'verify') THEN 'OnLost' WHEN t.MaxLost NOT BETWEEN 0 AND 1000 THEN 'MaxLost' WHEN typeof(t.MaxLost) NOT IN ('integer', 'null') THEN 'MaxLost' END AS ColumnName, ('UPDATE ProcessControl SET ' || CASE WHEN t.ProcessControlSeq NOT BETWEEN 1 AND 2000000000 THEN 'ProcessControlSeq = ...' WHEN typeof(t.ProcessControlSeq) NOT IN ('integer', 'null') THEN 'ProcessControlSeq = ...' WHEN t.ExpectedDuration NOT BETWEEN 1 AND 31536000 THEN 'ExpectedDuration = NULL' WHEN typeof(t.ExpectedDuration) NOT IN ('integer', 'null') THEN 'ExpectedDuration = NULL' WHEN t.AlarmDuration NOT BETWEEN 1 AND 31536000 THEN 'AlarmDuration = NULL' WHEN typeof(t.AlarmDuration) NOT IN ('integer', 'null') THEN 'AlarmDuration = NULL' WHEN t.MaxDuration NOT BETWEEN 1 AND 31536000 THEN 'MaxDuration = NULL' WHEN typeof(t.MaxDuration) NOT IN ('integer', 'null') THEN 'MaxDuration = NULL' WHEN lower(t.OnLost) NOT IN ('hold', 'rerun', 'verify') THEN 'OnLost = ''hold''' WHEN t.MaxLost NOT BETWEEN 0 AND 1000 THEN 'MaxLost = 3' WHEN typeof(t.MaxLost) NOT IN ('integer', 'null') THEN 'MaxLost = 3' END || ' WHERE ProcessControl_id = ' || t.ProcessControl_id || ';') AS Mend
FROM ProcessControl t WHERE CASE WHEN t.ProcessControlSeq NOT BETWEEN 1 AND 2000000000 THEN 'ProcessControlSeq' WHEN typeof(t.ProcessControlSeq) NOT IN ('integer', 'null') THEN 'ProcessControlSeq' WHEN t.ExpectedDuration NOT BETWEEN 1 AND 31536000 THEN 'ExpectedDuration' WHEN typeof(t.ExpectedDuration) NOT IN ('integer', 'null') THEN 'ExpectedDuration' WHEN t.AlarmDuration NOT BETWEEN 1 AND 31536000 THEN 'AlarmDuration' WHEN typeof(t.AlarmDuration) NOT IN ('integer', 'null') THEN 'AlarmDuration' WHEN t.MaxDuration NOT BETWEEN 1 AND 31536000 THEN 'MaxDuration' WHEN typeof(t.MaxDuration) NOT IN ('integer', 'null') THEN 'MaxDuration' WHEN lower(t.OnLost) NOT IN ('hold', 'rerun', 'verify') THEN 'OnLost' WHEN t.MaxLost NOT BETWEEN 0 AND 1000 THEN 'MaxLost' WHEN typeof(t.MaxLost) NOT IN ('integer', 'null') THEN 'MaxLost' END IS NOT NULL
UNION ALL
SELECT t.ProcessBatch_id, 2 AS Place, t.BatchDependency_id AS Row_id, ('BatchDependency ' || t.BatchDependency_id) AS RowName,
       CASE WHEN t.DeadlineMins NOT BETWEEN 1 AND 525600 THEN 'DeadlineMins' WHEN typeof(t.DeadlineMins) NOT IN ('integer', 'null') THEN 'DeadlineMins' END AS ColumnName, ('UPDATE BatchDependency SET ' || CASE WHEN t.DeadlineMins NOT BETWEEN 1 AND 525600 THEN 'DeadlineMins = 1440' WHEN typeof(t.DeadlineMins) NOT IN ('integer', 'null') THEN 'DeadlineMins = 1440' END || ' WHERE BatchDependency_id = ' || t.BatchDependency_id || ';') AS Mend
FROM BatchDependency t WHERE CASE WHEN t.DeadlineMins NOT BETWEEN 1 AND 525600 THEN 'DeadlineMins' WHEN typeof(t.DeadlineMins) NOT IN ('integer', 'null') THEN 'DeadlineMins' END IS NOT NULL
UNION ALL
SELECT t.ProcessBatch_id, 3 AS Place, t.BatchResource_id AS Row_id, ('BatchResource ' || t.BatchResource_id) AS RowName,
       CASE WHEN t.Units NOT BETWEEN 1 AND 1000000 THEN 'Units' WHEN typeof(t.Units) NOT IN ('integer', 'null') THEN 'Units' WHEN t.Exclusive NOT BETWEEN 0 AND 1 THEN 'Exclusive' WHEN typeof(t.Exclusive) NOT IN ('integer', 'null') THEN 'Exclusive' END AS ColumnName, ('UPDATE BatchResource SET ' || CASE WHEN t.Units NOT BETWEEN 1 AND 1000000 THEN 'Units = 1' WHEN typeof(t.Units) NOT IN ('integer', 'null') THEN 'Units = 1' WHEN t.Exclusive NOT BETWEEN 0 AND 1 THEN 'Exclusive = 0' WHEN typeof(t.Exclusive) NOT IN ('integer', 'null') THEN 'Exclusive = 0' END || ' WHERE BatchResource_id = ' || t.BatchResource_id || ';') AS Mend
FROM BatchResource t WHERE CASE WHEN t.Units NOT BETWEEN 1 AND 1000000 THEN 'Units' WHEN typeof(t.Units) NOT IN ('integer', 'null') THEN 'Units' WHEN t.Exclusive NOT BETWEEN 0 AND 1 THEN 'Exclusive' WHEN typeof(t.Exclusive) NOT IN ('integer', 'null') THEN 'Exclusive' END IS NOT NULL
UNION ALL
SELECT n.ProcessBatch_id, 4 AS Place, t.Resource_id AS Row_id, ('Resource ' || t.Resource_id) AS RowName,
       CASE WHEN t.Units NOT BETWEEN 0 AND 1000000 THEN 'Units' WHEN typeof(t.Units) NOT IN ('integer', 'null') THEN 'Units' END AS ColumnName, ('UPDATE Resource SET ' || CASE WHEN t.Units NOT BETWEEN 0 AND 1000000 THEN 'Units = 1' WHEN typeof(t.Units) NOT IN ('integer', 'null') THEN 'Units = 1' END || ' WHERE Resource_id = ' || t.Resource_id || ';') AS Mend
FROM BatchResource n JOIN Resource t ON t.Resource_id = n.Resource_id WHERE CASE WHEN t.Units NOT BETWEEN 0 AND 1000000 THEN 'Units' WHEN typeof(t.Units) NOT IN ('integer', 'null') THEN 'Units' END IS NOT NULL
), Unfit AS (
SELECT m.ProcessBatch_id, m.RowName, m.ColumnName, m.Mend
FROM (SELECT y.*, ROW_NUMBER() OVER (PARTITION BY y.ProcessBatch_id ORDER BY y.Place, y.Row_id) AS Nth FROM Misread y) m
WHERE m.Nth = 1
), UnfitWork AS (
SELECT FileProcess_id, CASE WHEN NOT (Status = 'ready' OR Status = 'paused' OR Status = 'complete' OR Status = 'rejected' OR Status = 'duplicate' OR Status = 'success') THEN 'Status' ELSE 'PopulatorTries' END AS ColumnName, ('FileProcess ' || FileProcess_id || ' cannot be read: ' || CASE WHEN NOT (Status = 'ready' OR Status = 'paused' OR Status = 'complete' OR Status = 'rejected' OR Status = 'duplicate' OR Status = 'success') THEN 'Status holds nonsense' ELSE 'PopulatorTries holds nonsense' END) AS Reason, CASE WHEN NOT (Status = 'ready' OR Status = 'paused' OR Status = 'complete' OR Status = 'rejected' OR Status = 'duplicate' OR Status = 'success') THEN ('UPDATE FileProcess SET Status = ''paused'' WHERE FileProcess_id = ' || FileProcess_id || ';') ELSE ('UPDATE FileProcess SET PopulatorTries = NULL WHERE FileProcess_id = ' || FileProcess_id || ';') END AS Mend
FROM FileProcess WHERE ((Status = 'ready' OR Status = 'paused' OR Status = 'complete' OR Status = 'rejected' OR Status = 'duplicate' OR Status = 'success') AND (PopulatorTries IS NULL OR (typeof(PopulatorTries) = 'integer'))) IS NOT TRUE
), Offered AS (
SELECT k.Controller_id, CASE WHEN k.ProcessTypes IS NULL THEN 1 ELSE 0 END AS IsUnknown, k.ProcessTypes AS ProcessTypes, CASE WHEN EXISTS (SELECT 1 FROM Leader l WHERE l.ControllerName = k.ControllerName) OR NOT EXISTS (SELECT 1 FROM Leader l JOIN Controller m ON m.ControllerName = l.ControllerName
            WHERE m.Status = 'running') THEN k.Populators ELSE '' END AS Populators, k.Jobs AS Jobs
FROM Controller k
WHERE k.Status = 'running' OR k.Controller_id = (SELECT MAX(l.Controller_id) FROM Controller l)
), Missing AS (
SELECT b.ProcessBatch_id, -1 AS ProcessControlSeq, ('ProcessBatch (' || b.ProcessBatchName || '): Populator ''' || b.Populator || ''' is not installed') AS Reason, ('UPDATE ProcessBatch SET Populator = ... WHERE ProcessBatch_id = ' || b.ProcessBatch_id || ';') AS Mend
FROM ProcessBatch b WHERE EXISTS (SELECT 1 FROM Offered) AND (replace(b.Populator, ',', '') = b.Populator AND NOT EXISTS (SELECT 1 FROM Offered o WHERE o.IsUnknown = 1 OR (EXISTS (SELECT 1 FROM json_each('[' || replace(json_quote(CAST(o.Populators AS text)), ',', '","') || ']') t WHERE trim(t.value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = b.Populator))))
UNION ALL
SELECT q.ProcessBatch_id, q.ProcessControlSeq, CASE WHEN q.Lacks = 'ProcessType' THEN ('ProcessControl (' || q.ProcessBatchName || ', step ' || q.ProcessControlSeq || '): ProcessType ''' || q.ProcessType || ''' is not installed') ELSE ('ProcessControl (' || q.ProcessBatchName || ', step ' || q.ProcessControlSeq || '): job ''' || q.Data1 || ''' of Data1 is not installed') END, ('UPDATE ProcessControl SET ' || q.Lacks || ' = ... WHERE ProcessBatch_id = ' || q.ProcessBatch_id || ' AND ProcessControlSeq = ' || q.ProcessControlSeq || ';')
FROM (SELECT p.ProcessBatch_id, b.ProcessBatchName, p.ProcessControlSeq, trim(lower(p.ProcessType), char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) AS ProcessType, p.Data1,
      CASE WHEN (replace(trim(lower(p.ProcessType), char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)), ',', '') = trim(lower(p.ProcessType), char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) AND NOT EXISTS (SELECT 1 FROM Offered o WHERE o.IsUnknown = 1 OR (EXISTS (SELECT 1 FROM json_each('[' || replace(json_quote(CAST(o.ProcessTypes AS text)), ',', '","') || ']') t WHERE trim(t.value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = trim(lower(p.ProcessType), char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)))))) THEN 'ProcessType' WHEN trim(lower(p.ProcessType), char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = 'python' AND p.Data1 <> '' AND (replace(p.Data1, ',', '') = p.Data1 AND NOT EXISTS (SELECT 1 FROM Offered o WHERE o.IsUnknown = 1 OR (EXISTS (SELECT 1 FROM json_each('[' || replace(json_quote(CAST(o.Jobs AS text)), ',', '","') || ']') t WHERE trim(t.value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = p.Data1)))) THEN 'Data1' END AS Lacks
      FROM ProcessControl p JOIN ProcessBatch b ON b.ProcessBatch_id = p.ProcessBatch_id
      WHERE EXISTS (SELECT 1 FROM Offered)) q
WHERE q.Lacks IS NOT NULL
), Again AS (
SELECT f.FileProcess_id, MAX(n.FileProcess_id) AS Again_id
FROM FileProcess f JOIN FileWatch w ON f.Source = ('watch ' || w.WatchName)
JOIN FileWatchSeen n ON n.FileWatch_id = w.FileWatch_id AND n.FileProcess_id > f.FileProcess_id
JOIN FileProcess l ON l.FileProcess_id = n.FileProcess_id
LEFT JOIN FileWatchSeen o ON o.FileWatch_id = n.FileWatch_id AND o.FileProcess_id = f.FileProcess_id
WHERE (f.Status = 'paused' OR f.Status = 'rejected' OR f.Status = 'duplicate') AND (l.FileName = f.FileName OR (o.FileNumber = n.FileNumber AND o.FileSize = n.FileSize AND o.ModifiedNs = n.ModifiedNs)) GROUP BY f.FileProcess_id
), Told AS (
SELECT k.Controller_id, (' | ' || substr(substr(k.Trouble, 1, instr(k.Trouble || ' Next: ', ' Next: ') - 1), 29)) AS Said
FROM Controller k
WHERE k.Status = 'running' AND k.Trouble LIKE 'somebody keeps rows locked: %' AND strftime('%Y-%m-%d %H:%M:%f', k.Heartbeat, (k.OrphanTimeoutSecs) || ' seconds') > strftime('%Y-%m-%d %H:%M:%f', 'now')
), Met AS (
SELECT c.FileProcess_id, t.Controller_id, substr(CASE WHEN instr(t.Said, (' | FileProcess ' || c.FileProcess_id || ': ')) > 0 THEN substr(t.Said, instr(t.Said, (' | FileProcess ' || c.FileProcess_id || ': '))) END, 4) AS Said FROM FileProcess c CROSS JOIN Told t WHERE c.Status = 'ready'
), Entry AS (
SELECT m.FileProcess_id, m.Controller_id, substr(m.Said, 1, instr(m.Said || ' | ', ' | ') - 1) AS Said FROM Met m WHERE m.Said IS NOT NULL
), Locked AS (
SELECT e.FileProcess_id, substr(e.Said, 1, instr(e.Said || '; to end it: ', '; to end it: ') - 1) AS Reason,
       substr(CASE WHEN instr(e.Said, '; to end it: ') > 0 THEN substr(e.Said, instr(e.Said, '; to end it: ')) END, 14) AS Mend,
       ROW_NUMBER() OVER (PARTITION BY e.FileProcess_id ORDER BY e.Controller_id) AS Nth
FROM Entry e
), Broken AS (
SELECT COALESCE(b.Entity, b.ProcessBatchName) AS Entity, MIN(b.ProcessBatch_id) AS ProcessBatch_id
FROM Unfit x JOIN ProcessBatch b ON b.ProcessBatch_id = x.ProcessBatch_id GROUP BY COALESCE(b.Entity, b.ProcessBatchName)
), Unpopulated AS (
SELECT COALESCE(b.Entity, b.ProcessBatchName) AS Entity, MIN(b.ProcessBatch_id) AS ProcessBatch_id
FROM Missing y JOIN ProcessBatch b ON b.ProcessBatch_id = y.ProcessBatch_id WHERE y.ProcessControlSeq = -1
GROUP BY COALESCE(b.Entity, b.ProcessBatchName)
), Takers AS (
SELECT COALESCE(b.Entity, b.ProcessBatchName) AS Entity, SUM(CASE WHEN b.Populator = 'procedure' THEN 1 ELSE 0 END) AS Asks,
       MIN(CASE WHEN b.Populator = 'pattern' AND b.PopulatorArgs IS NOT NULL THEN lower(b.PopulatorOn) END) AS SearchedIn
FROM ProcessBatch b GROUP BY COALESCE(b.Entity, b.ProcessBatchName)
)
SELECT f.FileProcess_id, f.Entity, f.FileName, f.Data, f.CycleKey, f.Source, lower(f.Status) AS Status,
       CASE WHEN g.Again_id IS NOT NULL THEN ('its file was taken again as FileProcess ' || g.Again_id || ': ' || COALESCE(f.Message, 'no reason was given'))
            WHEN f.Message IS NOT NULL AND f.Status = 'rejected' AND EXISTS (SELECT 1 FROM AuditLog a WHERE a.Target = ('FileProcess:' || f.FileProcess_id) AND a.Action = 'row update'
                 AND a.z_inserted >= f.z_updated AND a.ValuesAfter NOT LIKE '{"Status":%')
                 THEN (f.Message || ' (corrected since)')
            WHEN f.Message IS NOT NULL THEN f.Message WHEN f.Status = 'paused' THEN 'somebody inserted or set it as paused'
            ELSE 'no reason was given' END AS Reason,
       f.z_inserted AS Arrived, (SELECT strftime('%Y-%m-%d %H:%M:%f', f.z_inserted, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', f.z_inserted) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', f.z_inserted)) AS ArrivedLocal, CASE WHEN g.Again_id IS NOT NULL THEN ('SELECT * FROM FileProcess WHERE FileProcess_id = ' || g.Again_id || ';')
            WHEN f.Status = 'duplicate' THEN ('INSERT INTO AuditLog (Actor, Host, Action, Target, Reason) VALUES (..., ''sql'', ''accept'', ''' || ('FileProcess:' || f.FileProcess_id) || ''', ...); ' || ('UPDATE FileProcess SET Status = ''ready'', Message = NULL WHERE FileProcess_id = ' || f.FileProcess_id || ';'))
            WHEN f.Status <> 'rejected' OR f.Message LIKE 'rejected by %' OR EXISTS (SELECT 1 FROM AuditLog a WHERE a.Target = ('FileProcess:' || f.FileProcess_id) AND a.Action = 'row update'
                 AND a.z_inserted >= f.z_updated AND a.ValuesAfter NOT LIKE '{"Status":%') THEN ('INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''retry'', ''{"file": ' || f.FileProcess_id || '}'', ''...'');')
            WHEN t.Entity IS NULL THEN (('UPDATE FileProcess SET Entity = ' || COALESCE((SELECT ('''' || replace(MIN(COALESCE(b.Entity, b.ProcessBatchName)), '''', '''''') || '''') FROM ProcessBatch b WHERE lower(trim(COALESCE(b.Entity, b.ProcessBatchName), char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = lower(trim(f.Entity, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)))), '...') || ' WHERE FileProcess_id = ' || f.FileProcess_id || ';') || ' ' || ('INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''retry'', ''{"file": ' || f.FileProcess_id || '}'', ''...'');'))
            WHEN f.Message IS NULL OR t.Asks > 0 THEN ('INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''retry'', ''{"file": ' || f.FileProcess_id || '}'', ''...'');')
            WHEN f.Source LIKE 'watch %' AND CASE WHEN t.SearchedIn = 'data' OR (f.FileName IS NULL AND f.Data IS NOT NULL) THEN 'Data'
                 WHEN t.SearchedIn = 'entity' THEN 'Entity' ELSE 'FileName' END = 'FileName' THEN ('/* rename the file, which its watch takes then */ ' || ('INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''reject'', ''{"file": ' || f.FileProcess_id || '}'', ''...'');'))
            ELSE (('UPDATE FileProcess SET ' || CASE WHEN t.SearchedIn = 'data' OR (f.FileName IS NULL AND f.Data IS NOT NULL) THEN 'Data'
                 WHEN t.SearchedIn = 'entity' THEN 'Entity' ELSE 'FileName' END || ' = ... WHERE FileProcess_id = ' || f.FileProcess_id || '; ') || ('INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''retry'', ''{"file": ' || f.FileProcess_id || '}'', ''...'');')) END AS NextSql
FROM FileProcess f LEFT JOIN Again g ON g.FileProcess_id = f.FileProcess_id LEFT JOIN Takers t ON t.Entity = f.Entity
WHERE (f.Status = 'paused' OR f.Status = 'rejected' OR f.Status = 'duplicate')
UNION ALL
SELECT f.FileProcess_id, f.Entity, f.FileName, f.Data, f.CycleKey, f.Source, CASE WHEN EXISTS (SELECT 1 FROM ProcessBatch b WHERE COALESCE(b.Entity, b.ProcessBatchName) = f.Entity) THEN 'new' ELSE 'untaken' END,
       CASE WHEN x.ProcessBatch_id IS NOT NULL THEN (x.RowName || ' cannot be read: ' || x.ColumnName || ' holds nonsense')
            WHEN y.ProcessBatch_id IS NOT NULL THEN y.Reason
            WHEN EXISTS (SELECT 1 FROM ProcessBatch b WHERE COALESCE(b.Entity, b.ProcessBatchName) = f.Entity) AND f.PopulatorTries >= 3 THEN ('it waits for a person: ' || COALESCE(f.Message, 'no reason was given'))
            WHEN EXISTS (SELECT 1 FROM ProcessBatch b WHERE COALESCE(b.Entity, b.ProcessBatchName) = f.Entity) AND h.Reason IS NOT NULL THEN h.Reason
            WHEN EXISTS (SELECT 1 FROM ProcessBatch b WHERE COALESCE(b.Entity, b.ProcessBatchName) = f.Entity) AND f.PopulatorTries IS NOT NULL THEN 'its populator has not answered yet'
            WHEN EXISTS (SELECT 1 FROM ProcessBatch b WHERE COALESCE(b.Entity, b.ProcessBatchName) = f.Entity) THEN 'no controller has looked at it yet'
            ELSE ('no batch takes entity ''' || f.Entity || ''': correct it, or register a batch that takes it') END,
       f.z_inserted AS Arrived, (SELECT strftime('%Y-%m-%d %H:%M:%f', f.z_inserted, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', f.z_inserted) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', f.z_inserted)) AS ArrivedLocal, CASE WHEN x.ProcessBatch_id IS NOT NULL THEN x.Mend
            WHEN y.ProcessBatch_id IS NOT NULL THEN y.Mend
            WHEN EXISTS (SELECT 1 FROM ProcessBatch b WHERE COALESCE(b.Entity, b.ProcessBatchName) = f.Entity) AND f.PopulatorTries >= 3 THEN ('UPDATE FileProcess SET PopulatorTries = NULL WHERE FileProcess_id = ' || f.FileProcess_id || ';')
            WHEN EXISTS (SELECT 1 FROM ProcessBatch b WHERE COALESCE(b.Entity, b.ProcessBatchName) = f.Entity) AND h.Reason IS NOT NULL THEN CASE WHEN h.Mend IS NULL THEN 'SELECT * FROM Controller;' ELSE (h.Mend || ';') END
            WHEN EXISTS (SELECT 1 FROM ProcessBatch b WHERE COALESCE(b.Entity, b.ProcessBatchName) = f.Entity) THEN 'SELECT * FROM Controller;' ELSE ('UPDATE FileProcess SET Entity = ' || COALESCE((SELECT ('''' || replace(MIN(COALESCE(b.Entity, b.ProcessBatchName)), '''', '''''') || '''') FROM ProcessBatch b WHERE lower(trim(COALESCE(b.Entity, b.ProcessBatchName), char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = lower(trim(f.Entity, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)))), '...') || ' WHERE FileProcess_id = ' || f.FileProcess_id || ';') END
FROM FileProcess f
LEFT JOIN Broken q ON q.Entity = f.Entity
LEFT JOIN Unfit x ON x.ProcessBatch_id = q.ProcessBatch_id
LEFT JOIN Unpopulated u ON u.Entity = f.Entity
LEFT JOIN Missing y ON y.ProcessBatch_id = u.ProcessBatch_id AND y.ProcessControlSeq = -1
LEFT JOIN Locked h ON h.FileProcess_id = f.FileProcess_id AND h.Nth = 1
WHERE f.Status = 'ready' AND NOT EXISTS (SELECT 1 FROM BatchControl c WHERE c.FileProcess_id = f.FileProcess_id)
UNION ALL
SELECT f.FileProcess_id, f.Entity, f.FileName, f.Data, f.CycleKey, f.Source, 'unreadable', w.Reason, f.z_inserted AS Arrived, (SELECT strftime('%Y-%m-%d %H:%M:%f', f.z_inserted, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', f.z_inserted) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', f.z_inserted)) AS ArrivedLocal, w.Mend
FROM UnfitWork w JOIN FileProcess f ON f.FileProcess_id = w.FileProcess_id;

CREATE VIEW vSqlJob AS
SELECT e.Schedule_id AS Schedule_id, e.ScheduleName AS JobName,
       replace(replace(p.Data1, '{{', '{'), '}}', '}') AS ConnectionName, replace(replace(p.Data2, '{{', '{'), '}}', '}') AS ScheduledSql,
       COALESCE(e.RunAt, (e.StartDate || ' ' || e.RunTimes)) AS FirstRunOn,
       CASE WHEN lower(e.ScheduleType) = 'once' THEN 0 ELSE 1 END AS IsRepeatable, e.Enabled AS IsEnabled, e.TimeZone,
       e.NextRunTime AS NextRunTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', e.NextRunTime, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', e.NextRunTime) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', e.NextRunTime)) AS NextRunTimeLocal, h.StartTime AS LastRunOn, (SELECT strftime('%Y-%m-%d %H:%M:%f', h.StartTime, (o.OffsetSeconds) || ' seconds') FROM ZoneOffset o WHERE o.UntilTime > strftime('%Y-%m-%d %H:%M:%f', h.StartTime) AND o.FromTime <= strftime('%Y-%m-%d %H:%M:%f', h.StartTime)) AS LastRunOnLocal,
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

CREATE TRIGGER TR_ProcessBatch_BeforeInsert BEFORE INSERT ON ProcessBatch
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'ProcessBatch';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'ProcessBatch', r.ProcessBatch_id, substr('ProcessBatch:' || r.ProcessBatchName, 1, 200), json_object('ProcessBatchName', r.ProcessBatchName, 'Entity', r.Entity, 'Enabled', r.Enabled, 'Seq', r.Seq, 'RetryCount', r.RetryCount, 'RetryWaitMins', r.RetryWaitMins, 'RetryWaitSecs', r.RetryWaitSecs, 'Populator', r.Populator, 'PopulatorArgs', r.PopulatorArgs, 'PopulatorOn', r.PopulatorOn, 'OnFailure', r.OnFailure, 'DependencyMode', r.DependencyMode, 'MaxConcurrent', r.MaxConcurrent, 'DuplicateCheck', r.DuplicateCheck, 'ProcessingMode', r.ProcessingMode, 'Origin', r.Origin, 'Description', r.Description, 'Tags', r.Tags, 'ArriveBy', r.ArriveBy, 'StartBy', r.StartBy, 'FinishBy', r.FinishBy, 'ExpectedOn', r.ExpectedOn, 'ExpectedCalendar', r.ExpectedCalendar)
    FROM ProcessBatch r WHERE (r.ProcessBatch_id = NEW.ProcessBatch_id OR (r.ProcessBatchName = NEW.ProcessBatchName));
END;

CREATE TRIGGER TR_ProcessBatch_BeforeUpdate BEFORE UPDATE ON ProcessBatch WHEN NEW.ProcessBatch_id IS NOT OLD.ProcessBatch_id OR NEW.ProcessBatchName IS NOT OLD.ProcessBatchName
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'ProcessBatch';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'ProcessBatch', r.ProcessBatch_id, substr('ProcessBatch:' || r.ProcessBatchName, 1, 200), json_object('ProcessBatchName', r.ProcessBatchName, 'Entity', r.Entity, 'Enabled', r.Enabled, 'Seq', r.Seq, 'RetryCount', r.RetryCount, 'RetryWaitMins', r.RetryWaitMins, 'RetryWaitSecs', r.RetryWaitSecs, 'Populator', r.Populator, 'PopulatorArgs', r.PopulatorArgs, 'PopulatorOn', r.PopulatorOn, 'OnFailure', r.OnFailure, 'DependencyMode', r.DependencyMode, 'MaxConcurrent', r.MaxConcurrent, 'DuplicateCheck', r.DuplicateCheck, 'ProcessingMode', r.ProcessingMode, 'Origin', r.Origin, 'Description', r.Description, 'Tags', r.Tags, 'ArriveBy', r.ArriveBy, 'StartBy', r.StartBy, 'FinishBy', r.FinishBy, 'ExpectedOn', r.ExpectedOn, 'ExpectedCalendar', r.ExpectedCalendar)
    FROM ProcessBatch r WHERE r.ProcessBatch_id <> OLD.ProcessBatch_id AND (r.ProcessBatch_id = NEW.ProcessBatch_id OR (r.ProcessBatchName = NEW.ProcessBatchName));
END;

CREATE TRIGGER TR_ProcessBatch_AuditInsert AFTER INSERT ON ProcessBatch
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'ProcessBatch' AND (w.RowNumber = NEW.ProcessBatch_id
        OR NOT EXISTS (SELECT 1 FROM ProcessBatch r WHERE r.ProcessBatch_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'ProcessBatch';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row insert', substr('ProcessBatch:' || NEW.ProcessBatchName, 1, 200), NULL, json_object('ProcessBatchName', NEW.ProcessBatchName, 'Entity', NEW.Entity, 'Enabled', NEW.Enabled, 'Seq', NEW.Seq, 'RetryCount', NEW.RetryCount, 'RetryWaitMins', NEW.RetryWaitMins, 'RetryWaitSecs', NEW.RetryWaitSecs, 'Populator', NEW.Populator, 'PopulatorArgs', NEW.PopulatorArgs, 'PopulatorOn', NEW.PopulatorOn, 'OnFailure', NEW.OnFailure, 'DependencyMode', NEW.DependencyMode, 'MaxConcurrent', NEW.MaxConcurrent, 'DuplicateCheck', NEW.DuplicateCheck, 'ProcessingMode', NEW.ProcessingMode, 'Origin', NEW.Origin, 'Description', NEW.Description, 'Tags', NEW.Tags, 'ArriveBy', NEW.ArriveBy, 'StartBy', NEW.StartBy, 'FinishBy', NEW.FinishBy, 'ExpectedOn', NEW.ExpectedOn, 'ExpectedCalendar', NEW.ExpectedCalendar);
END;

CREATE TRIGGER TR_ProcessBatch_AuditUpdate AFTER UPDATE ON ProcessBatch
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'ProcessBatch' AND w.RowNumber <> OLD.ProcessBatch_id AND (w.RowNumber = NEW.ProcessBatch_id
        OR NOT EXISTS (SELECT 1 FROM ProcessBatch r WHERE r.ProcessBatch_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'ProcessBatch';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row update', substr('ProcessBatch:' || NEW.ProcessBatchName, 1, 200), json_group_object(Name, Was), json_group_object(Name, Became)
    FROM (SELECT 'ProcessBatchName' Name, OLD.ProcessBatchName Was, NEW.ProcessBatchName Became UNION ALL SELECT 'Entity', OLD.Entity, NEW.Entity UNION ALL SELECT 'Enabled', OLD.Enabled, NEW.Enabled UNION ALL SELECT 'Seq', OLD.Seq, NEW.Seq UNION ALL SELECT 'RetryCount', OLD.RetryCount, NEW.RetryCount UNION ALL SELECT 'RetryWaitMins', OLD.RetryWaitMins, NEW.RetryWaitMins UNION ALL SELECT 'RetryWaitSecs', OLD.RetryWaitSecs, NEW.RetryWaitSecs UNION ALL SELECT 'Populator', OLD.Populator, NEW.Populator UNION ALL SELECT 'PopulatorArgs', OLD.PopulatorArgs, NEW.PopulatorArgs UNION ALL SELECT 'PopulatorOn', OLD.PopulatorOn, NEW.PopulatorOn UNION ALL SELECT 'OnFailure', OLD.OnFailure, NEW.OnFailure UNION ALL SELECT 'DependencyMode', OLD.DependencyMode, NEW.DependencyMode UNION ALL SELECT 'MaxConcurrent', OLD.MaxConcurrent, NEW.MaxConcurrent UNION ALL SELECT 'DuplicateCheck', OLD.DuplicateCheck, NEW.DuplicateCheck UNION ALL SELECT 'ProcessingMode', OLD.ProcessingMode, NEW.ProcessingMode UNION ALL SELECT 'Origin', OLD.Origin, NEW.Origin UNION ALL SELECT 'Description', OLD.Description, NEW.Description UNION ALL SELECT 'Tags', OLD.Tags, NEW.Tags UNION ALL SELECT 'ArriveBy', OLD.ArriveBy, NEW.ArriveBy UNION ALL SELECT 'StartBy', OLD.StartBy, NEW.StartBy UNION ALL SELECT 'FinishBy', OLD.FinishBy, NEW.FinishBy UNION ALL SELECT 'ExpectedOn', OLD.ExpectedOn, NEW.ExpectedOn UNION ALL SELECT 'ExpectedCalendar', OLD.ExpectedCalendar, NEW.ExpectedCalendar)
    WHERE Was IS NOT Became COLLATE BINARY GROUP BY NULL;
END;

CREATE TRIGGER TR_ProcessBatch_AuditDelete AFTER DELETE ON ProcessBatch
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'ProcessBatch' AND RowNumber = OLD.ProcessBatch_id;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row delete', substr('ProcessBatch:' || OLD.ProcessBatchName, 1, 200), json_object('ProcessBatchName', OLD.ProcessBatchName, 'Entity', OLD.Entity, 'Enabled', OLD.Enabled, 'Seq', OLD.Seq, 'RetryCount', OLD.RetryCount, 'RetryWaitMins', OLD.RetryWaitMins, 'RetryWaitSecs', OLD.RetryWaitSecs, 'Populator', OLD.Populator, 'PopulatorArgs', OLD.PopulatorArgs, 'PopulatorOn', OLD.PopulatorOn, 'OnFailure', OLD.OnFailure, 'DependencyMode', OLD.DependencyMode, 'MaxConcurrent', OLD.MaxConcurrent, 'DuplicateCheck', OLD.DuplicateCheck, 'ProcessingMode', OLD.ProcessingMode, 'Origin', OLD.Origin, 'Description', OLD.Description, 'Tags', OLD.Tags, 'ArriveBy', OLD.ArriveBy, 'StartBy', OLD.StartBy, 'FinishBy', OLD.FinishBy, 'ExpectedOn', OLD.ExpectedOn, 'ExpectedCalendar', OLD.ExpectedCalendar), NULL;
END;

CREATE TRIGGER TR_ProcessControl_BeforeInsert BEFORE INSERT ON ProcessControl
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'ProcessControl';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'ProcessControl', r.ProcessControl_id, substr('ProcessControl:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = r.ProcessBatch_id), '') || ':' || r.ProcessControlSeq, 1, 200), json_object('ProcessBatch_id', r.ProcessBatch_id, 'ProcessControlSeq', r.ProcessControlSeq, 'ProcessName', r.ProcessName, 'ProcessType', r.ProcessType, 'ExpectedDuration', r.ExpectedDuration, 'AlarmDuration', r.AlarmDuration, 'MaxDuration', r.MaxDuration, 'OnLost', r.OnLost, 'MaxLost', r.MaxLost, 'Data1', r.Data1, 'Data2', r.Data2, 'Data3', r.Data3, 'Data4', r.Data4, 'Data5', r.Data5, 'Data6', r.Data6)
    FROM ProcessControl r WHERE (r.ProcessControl_id = NEW.ProcessControl_id OR (r.ProcessBatch_id = NEW.ProcessBatch_id AND r.ProcessControlSeq = NEW.ProcessControlSeq));
END;

CREATE TRIGGER TR_ProcessControl_BeforeUpdate BEFORE UPDATE ON ProcessControl WHEN NEW.ProcessControl_id IS NOT OLD.ProcessControl_id OR NEW.ProcessBatch_id IS NOT OLD.ProcessBatch_id OR NEW.ProcessControlSeq IS NOT OLD.ProcessControlSeq
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'ProcessControl';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'ProcessControl', r.ProcessControl_id, substr('ProcessControl:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = r.ProcessBatch_id), '') || ':' || r.ProcessControlSeq, 1, 200), json_object('ProcessBatch_id', r.ProcessBatch_id, 'ProcessControlSeq', r.ProcessControlSeq, 'ProcessName', r.ProcessName, 'ProcessType', r.ProcessType, 'ExpectedDuration', r.ExpectedDuration, 'AlarmDuration', r.AlarmDuration, 'MaxDuration', r.MaxDuration, 'OnLost', r.OnLost, 'MaxLost', r.MaxLost, 'Data1', r.Data1, 'Data2', r.Data2, 'Data3', r.Data3, 'Data4', r.Data4, 'Data5', r.Data5, 'Data6', r.Data6)
    FROM ProcessControl r WHERE r.ProcessControl_id <> OLD.ProcessControl_id AND (r.ProcessControl_id = NEW.ProcessControl_id OR (r.ProcessBatch_id = NEW.ProcessBatch_id AND r.ProcessControlSeq = NEW.ProcessControlSeq));
END;

CREATE TRIGGER TR_ProcessControl_AuditInsert AFTER INSERT ON ProcessControl
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'ProcessControl' AND (w.RowNumber = NEW.ProcessControl_id
        OR NOT EXISTS (SELECT 1 FROM ProcessControl r WHERE r.ProcessControl_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'ProcessControl';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row insert', substr('ProcessControl:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = NEW.ProcessBatch_id), '') || ':' || NEW.ProcessControlSeq, 1, 200), NULL, json_object('ProcessBatch_id', NEW.ProcessBatch_id, 'ProcessControlSeq', NEW.ProcessControlSeq, 'ProcessName', NEW.ProcessName, 'ProcessType', NEW.ProcessType, 'ExpectedDuration', NEW.ExpectedDuration, 'AlarmDuration', NEW.AlarmDuration, 'MaxDuration', NEW.MaxDuration, 'OnLost', NEW.OnLost, 'MaxLost', NEW.MaxLost, 'Data1', NEW.Data1, 'Data2', NEW.Data2, 'Data3', NEW.Data3, 'Data4', NEW.Data4, 'Data5', NEW.Data5, 'Data6', NEW.Data6);
END;

CREATE TRIGGER TR_ProcessControl_AuditUpdate AFTER UPDATE ON ProcessControl
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'ProcessControl' AND w.RowNumber <> OLD.ProcessControl_id AND (w.RowNumber = NEW.ProcessControl_id
        OR NOT EXISTS (SELECT 1 FROM ProcessControl r WHERE r.ProcessControl_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'ProcessControl';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row update', substr('ProcessControl:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = NEW.ProcessBatch_id), '') || ':' || NEW.ProcessControlSeq, 1, 200), json_group_object(Name, Was), json_group_object(Name, Became)
    FROM (SELECT 'ProcessBatch_id' Name, OLD.ProcessBatch_id Was, NEW.ProcessBatch_id Became UNION ALL SELECT 'ProcessControlSeq', OLD.ProcessControlSeq, NEW.ProcessControlSeq UNION ALL SELECT 'ProcessName', OLD.ProcessName, NEW.ProcessName UNION ALL SELECT 'ProcessType', OLD.ProcessType, NEW.ProcessType UNION ALL SELECT 'ExpectedDuration', OLD.ExpectedDuration, NEW.ExpectedDuration UNION ALL SELECT 'AlarmDuration', OLD.AlarmDuration, NEW.AlarmDuration UNION ALL SELECT 'MaxDuration', OLD.MaxDuration, NEW.MaxDuration UNION ALL SELECT 'OnLost', OLD.OnLost, NEW.OnLost UNION ALL SELECT 'MaxLost', OLD.MaxLost, NEW.MaxLost UNION ALL SELECT 'Data1', OLD.Data1, NEW.Data1 UNION ALL SELECT 'Data2', OLD.Data2, NEW.Data2 UNION ALL SELECT 'Data3', OLD.Data3, NEW.Data3 UNION ALL SELECT 'Data4', OLD.Data4, NEW.Data4 UNION ALL SELECT 'Data5', OLD.Data5, NEW.Data5 UNION ALL SELECT 'Data6', OLD.Data6, NEW.Data6)
    WHERE Was IS NOT Became COLLATE BINARY GROUP BY NULL;
END;

CREATE TRIGGER TR_ProcessControl_AuditDelete AFTER DELETE ON ProcessControl
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'ProcessControl' AND RowNumber = OLD.ProcessControl_id;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row delete', substr('ProcessControl:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = OLD.ProcessBatch_id), '') || ':' || OLD.ProcessControlSeq, 1, 200), json_object('ProcessBatch_id', OLD.ProcessBatch_id, 'ProcessControlSeq', OLD.ProcessControlSeq, 'ProcessName', OLD.ProcessName, 'ProcessType', OLD.ProcessType, 'ExpectedDuration', OLD.ExpectedDuration, 'AlarmDuration', OLD.AlarmDuration, 'MaxDuration', OLD.MaxDuration, 'OnLost', OLD.OnLost, 'MaxLost', OLD.MaxLost, 'Data1', OLD.Data1, 'Data2', OLD.Data2, 'Data3', OLD.Data3, 'Data4', OLD.Data4, 'Data5', OLD.Data5, 'Data6', OLD.Data6), NULL;
END;

CREATE TRIGGER TR_BatchDependency_BeforeInsert BEFORE INSERT ON BatchDependency
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'BatchDependency';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'BatchDependency', r.BatchDependency_id, substr('BatchDependency:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = r.ProcessBatch_id), '') || ':' || r.DependsOnBatch_id, 1, 200), json_object('ProcessBatch_id', r.ProcessBatch_id, 'DependsOnBatch_id', r.DependsOnBatch_id, 'DeadlineMins', r.DeadlineMins)
    FROM BatchDependency r WHERE (r.BatchDependency_id = NEW.BatchDependency_id OR (r.ProcessBatch_id = NEW.ProcessBatch_id AND r.DependsOnBatch_id = NEW.DependsOnBatch_id));
END;

CREATE TRIGGER TR_BatchDependency_BeforeUpdate BEFORE UPDATE ON BatchDependency WHEN NEW.BatchDependency_id IS NOT OLD.BatchDependency_id OR NEW.ProcessBatch_id IS NOT OLD.ProcessBatch_id OR NEW.DependsOnBatch_id IS NOT OLD.DependsOnBatch_id
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'BatchDependency';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'BatchDependency', r.BatchDependency_id, substr('BatchDependency:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = r.ProcessBatch_id), '') || ':' || r.DependsOnBatch_id, 1, 200), json_object('ProcessBatch_id', r.ProcessBatch_id, 'DependsOnBatch_id', r.DependsOnBatch_id, 'DeadlineMins', r.DeadlineMins)
    FROM BatchDependency r WHERE r.BatchDependency_id <> OLD.BatchDependency_id AND (r.BatchDependency_id = NEW.BatchDependency_id OR (r.ProcessBatch_id = NEW.ProcessBatch_id AND r.DependsOnBatch_id = NEW.DependsOnBatch_id));
END;

CREATE TRIGGER TR_BatchDependency_AuditInsert AFTER INSERT ON BatchDependency
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'BatchDependency' AND (w.RowNumber = NEW.BatchDependency_id
        OR NOT EXISTS (SELECT 1 FROM BatchDependency r WHERE r.BatchDependency_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'BatchDependency';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row insert', substr('BatchDependency:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = NEW.ProcessBatch_id), '') || ':' || NEW.DependsOnBatch_id, 1, 200), NULL, json_object('ProcessBatch_id', NEW.ProcessBatch_id, 'DependsOnBatch_id', NEW.DependsOnBatch_id, 'DeadlineMins', NEW.DeadlineMins);
END;

CREATE TRIGGER TR_BatchDependency_AuditUpdate AFTER UPDATE ON BatchDependency
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'BatchDependency' AND w.RowNumber <> OLD.BatchDependency_id AND (w.RowNumber = NEW.BatchDependency_id
        OR NOT EXISTS (SELECT 1 FROM BatchDependency r WHERE r.BatchDependency_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'BatchDependency';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row update', substr('BatchDependency:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = NEW.ProcessBatch_id), '') || ':' || NEW.DependsOnBatch_id, 1, 200), json_group_object(Name, Was), json_group_object(Name, Became)
    FROM (SELECT 'ProcessBatch_id' Name, OLD.ProcessBatch_id Was, NEW.ProcessBatch_id Became UNION ALL SELECT 'DependsOnBatch_id', OLD.DependsOnBatch_id, NEW.DependsOnBatch_id UNION ALL SELECT 'DeadlineMins', OLD.DeadlineMins, NEW.DeadlineMins)
    WHERE Was IS NOT Became COLLATE BINARY GROUP BY NULL;
END;

CREATE TRIGGER TR_BatchDependency_AuditDelete AFTER DELETE ON BatchDependency
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'BatchDependency' AND RowNumber = OLD.BatchDependency_id;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row delete', substr('BatchDependency:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = OLD.ProcessBatch_id), '') || ':' || OLD.DependsOnBatch_id, 1, 200), json_object('ProcessBatch_id', OLD.ProcessBatch_id, 'DependsOnBatch_id', OLD.DependsOnBatch_id, 'DeadlineMins', OLD.DeadlineMins), NULL;
END;

CREATE TRIGGER TR_BatchResource_BeforeInsert BEFORE INSERT ON BatchResource
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'BatchResource';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'BatchResource', r.BatchResource_id, substr('BatchResource:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = r.ProcessBatch_id), '') || ':' || r.Resource_id, 1, 200), json_object('ProcessBatch_id', r.ProcessBatch_id, 'Resource_id', r.Resource_id, 'Units', r.Units, 'Exclusive', r.Exclusive)
    FROM BatchResource r WHERE (r.BatchResource_id = NEW.BatchResource_id OR (r.ProcessBatch_id = NEW.ProcessBatch_id AND r.Resource_id = NEW.Resource_id));
END;

CREATE TRIGGER TR_BatchResource_BeforeUpdate BEFORE UPDATE ON BatchResource WHEN NEW.BatchResource_id IS NOT OLD.BatchResource_id OR NEW.ProcessBatch_id IS NOT OLD.ProcessBatch_id OR NEW.Resource_id IS NOT OLD.Resource_id
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'BatchResource';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'BatchResource', r.BatchResource_id, substr('BatchResource:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = r.ProcessBatch_id), '') || ':' || r.Resource_id, 1, 200), json_object('ProcessBatch_id', r.ProcessBatch_id, 'Resource_id', r.Resource_id, 'Units', r.Units, 'Exclusive', r.Exclusive)
    FROM BatchResource r WHERE r.BatchResource_id <> OLD.BatchResource_id AND (r.BatchResource_id = NEW.BatchResource_id OR (r.ProcessBatch_id = NEW.ProcessBatch_id AND r.Resource_id = NEW.Resource_id));
END;

CREATE TRIGGER TR_BatchResource_AuditInsert AFTER INSERT ON BatchResource
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'BatchResource' AND (w.RowNumber = NEW.BatchResource_id
        OR NOT EXISTS (SELECT 1 FROM BatchResource r WHERE r.BatchResource_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'BatchResource';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row insert', substr('BatchResource:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = NEW.ProcessBatch_id), '') || ':' || NEW.Resource_id, 1, 200), NULL, json_object('ProcessBatch_id', NEW.ProcessBatch_id, 'Resource_id', NEW.Resource_id, 'Units', NEW.Units, 'Exclusive', NEW.Exclusive);
END;

CREATE TRIGGER TR_BatchResource_AuditUpdate AFTER UPDATE ON BatchResource
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'BatchResource' AND w.RowNumber <> OLD.BatchResource_id AND (w.RowNumber = NEW.BatchResource_id
        OR NOT EXISTS (SELECT 1 FROM BatchResource r WHERE r.BatchResource_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'BatchResource';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row update', substr('BatchResource:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = NEW.ProcessBatch_id), '') || ':' || NEW.Resource_id, 1, 200), json_group_object(Name, Was), json_group_object(Name, Became)
    FROM (SELECT 'ProcessBatch_id' Name, OLD.ProcessBatch_id Was, NEW.ProcessBatch_id Became UNION ALL SELECT 'Resource_id', OLD.Resource_id, NEW.Resource_id UNION ALL SELECT 'Units', OLD.Units, NEW.Units UNION ALL SELECT 'Exclusive', OLD.Exclusive, NEW.Exclusive)
    WHERE Was IS NOT Became COLLATE BINARY GROUP BY NULL;
END;

CREATE TRIGGER TR_BatchResource_AuditDelete AFTER DELETE ON BatchResource
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'BatchResource' AND RowNumber = OLD.BatchResource_id;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row delete', substr('BatchResource:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = OLD.ProcessBatch_id), '') || ':' || OLD.Resource_id, 1, 200), json_object('ProcessBatch_id', OLD.ProcessBatch_id, 'Resource_id', OLD.Resource_id, 'Units', OLD.Units, 'Exclusive', OLD.Exclusive), NULL;
END;

CREATE TRIGGER TR_Resource_BeforeInsert BEFORE INSERT ON Resource
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'Resource';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'Resource', r.Resource_id, substr('Resource:' || r.ResourceName, 1, 200), json_object('ResourceName', r.ResourceName, 'Units', r.Units, 'Description', r.Description)
    FROM Resource r WHERE (r.Resource_id = NEW.Resource_id OR (r.ResourceName = NEW.ResourceName));
END;

CREATE TRIGGER TR_Resource_BeforeUpdate BEFORE UPDATE ON Resource WHEN NEW.Resource_id IS NOT OLD.Resource_id OR NEW.ResourceName IS NOT OLD.ResourceName
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'Resource';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'Resource', r.Resource_id, substr('Resource:' || r.ResourceName, 1, 200), json_object('ResourceName', r.ResourceName, 'Units', r.Units, 'Description', r.Description)
    FROM Resource r WHERE r.Resource_id <> OLD.Resource_id AND (r.Resource_id = NEW.Resource_id OR (r.ResourceName = NEW.ResourceName));
END;

CREATE TRIGGER TR_Resource_AuditInsert AFTER INSERT ON Resource
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'Resource' AND (w.RowNumber = NEW.Resource_id
        OR NOT EXISTS (SELECT 1 FROM Resource r WHERE r.Resource_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'Resource';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row insert', substr('Resource:' || NEW.ResourceName, 1, 200), NULL, json_object('ResourceName', NEW.ResourceName, 'Units', NEW.Units, 'Description', NEW.Description);
END;

CREATE TRIGGER TR_Resource_AuditUpdate AFTER UPDATE ON Resource
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'Resource' AND w.RowNumber <> OLD.Resource_id AND (w.RowNumber = NEW.Resource_id
        OR NOT EXISTS (SELECT 1 FROM Resource r WHERE r.Resource_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'Resource';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row update', substr('Resource:' || NEW.ResourceName, 1, 200), json_group_object(Name, Was), json_group_object(Name, Became)
    FROM (SELECT 'ResourceName' Name, OLD.ResourceName Was, NEW.ResourceName Became UNION ALL SELECT 'Units', OLD.Units, NEW.Units UNION ALL SELECT 'Description', OLD.Description, NEW.Description)
    WHERE Was IS NOT Became COLLATE BINARY GROUP BY NULL;
END;

CREATE TRIGGER TR_Resource_AuditDelete AFTER DELETE ON Resource
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'Resource' AND RowNumber = OLD.Resource_id;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row delete', substr('Resource:' || OLD.ResourceName, 1, 200), json_object('ResourceName', OLD.ResourceName, 'Units', OLD.Units, 'Description', OLD.Description), NULL;
END;

CREATE TRIGGER TR_Schedule_BeforeInsert BEFORE INSERT ON Schedule
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'Schedule';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'Schedule', r.Schedule_id, substr('Schedule:' || r.ScheduleName, 1, 200), json_object('ScheduleName', r.ScheduleName, 'Entity', r.Entity, 'ScheduleType', r.ScheduleType, 'IntervalMinutes', r.IntervalMinutes, 'RunTimes', r.RunTimes, 'RunDays', r.RunDays, 'RunDaysOfMonth', r.RunDaysOfMonth, 'WeekOfMonth', r.WeekOfMonth, 'RunMonths', r.RunMonths, 'BetweenTimes', r.BetweenTimes, 'EveryN', r.EveryN, 'StartDate', r.StartDate, 'EndDate', r.EndDate, 'RunAt', r.RunAt, 'Cron', r.Cron, 'TimeZone', r.TimeZone, 'CalendarName', r.CalendarName, 'CalendarRule', r.CalendarRule, 'GapPolicy', r.GapPolicy, 'FoldPolicy', r.FoldPolicy, 'CatchUp', r.CatchUp, 'CatchUpMost', r.CatchUpMost, 'Overlap', r.Overlap, 'Jitter', r.Jitter, 'Enabled', r.Enabled, 'Origin', r.Origin, 'Description', r.Description)
    FROM Schedule r WHERE (r.Schedule_id = NEW.Schedule_id OR (r.ScheduleName = NEW.ScheduleName));
END;

CREATE TRIGGER TR_Schedule_BeforeUpdate BEFORE UPDATE ON Schedule WHEN NEW.Schedule_id IS NOT OLD.Schedule_id OR NEW.ScheduleName IS NOT OLD.ScheduleName
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'Schedule';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'Schedule', r.Schedule_id, substr('Schedule:' || r.ScheduleName, 1, 200), json_object('ScheduleName', r.ScheduleName, 'Entity', r.Entity, 'ScheduleType', r.ScheduleType, 'IntervalMinutes', r.IntervalMinutes, 'RunTimes', r.RunTimes, 'RunDays', r.RunDays, 'RunDaysOfMonth', r.RunDaysOfMonth, 'WeekOfMonth', r.WeekOfMonth, 'RunMonths', r.RunMonths, 'BetweenTimes', r.BetweenTimes, 'EveryN', r.EveryN, 'StartDate', r.StartDate, 'EndDate', r.EndDate, 'RunAt', r.RunAt, 'Cron', r.Cron, 'TimeZone', r.TimeZone, 'CalendarName', r.CalendarName, 'CalendarRule', r.CalendarRule, 'GapPolicy', r.GapPolicy, 'FoldPolicy', r.FoldPolicy, 'CatchUp', r.CatchUp, 'CatchUpMost', r.CatchUpMost, 'Overlap', r.Overlap, 'Jitter', r.Jitter, 'Enabled', r.Enabled, 'Origin', r.Origin, 'Description', r.Description)
    FROM Schedule r WHERE r.Schedule_id <> OLD.Schedule_id AND (r.Schedule_id = NEW.Schedule_id OR (r.ScheduleName = NEW.ScheduleName));
END;

CREATE TRIGGER TR_Schedule_AuditInsert AFTER INSERT ON Schedule
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'Schedule' AND (w.RowNumber = NEW.Schedule_id
        OR NOT EXISTS (SELECT 1 FROM Schedule r WHERE r.Schedule_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'Schedule';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row insert', substr('Schedule:' || NEW.ScheduleName, 1, 200), NULL, json_object('ScheduleName', NEW.ScheduleName, 'Entity', NEW.Entity, 'ScheduleType', NEW.ScheduleType, 'IntervalMinutes', NEW.IntervalMinutes, 'RunTimes', NEW.RunTimes, 'RunDays', NEW.RunDays, 'RunDaysOfMonth', NEW.RunDaysOfMonth, 'WeekOfMonth', NEW.WeekOfMonth, 'RunMonths', NEW.RunMonths, 'BetweenTimes', NEW.BetweenTimes, 'EveryN', NEW.EveryN, 'StartDate', NEW.StartDate, 'EndDate', NEW.EndDate, 'RunAt', NEW.RunAt, 'Cron', NEW.Cron, 'TimeZone', NEW.TimeZone, 'CalendarName', NEW.CalendarName, 'CalendarRule', NEW.CalendarRule, 'GapPolicy', NEW.GapPolicy, 'FoldPolicy', NEW.FoldPolicy, 'CatchUp', NEW.CatchUp, 'CatchUpMost', NEW.CatchUpMost, 'Overlap', NEW.Overlap, 'Jitter', NEW.Jitter, 'Enabled', NEW.Enabled, 'Origin', NEW.Origin, 'Description', NEW.Description);
END;

CREATE TRIGGER TR_Schedule_AuditUpdate AFTER UPDATE ON Schedule
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'Schedule' AND w.RowNumber <> OLD.Schedule_id AND (w.RowNumber = NEW.Schedule_id
        OR NOT EXISTS (SELECT 1 FROM Schedule r WHERE r.Schedule_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'Schedule';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row update', substr('Schedule:' || NEW.ScheduleName, 1, 200), json_group_object(Name, Was), json_group_object(Name, Became)
    FROM (SELECT 'ScheduleName' Name, OLD.ScheduleName Was, NEW.ScheduleName Became UNION ALL SELECT 'Entity', OLD.Entity, NEW.Entity UNION ALL SELECT 'ScheduleType', OLD.ScheduleType, NEW.ScheduleType UNION ALL SELECT 'IntervalMinutes', OLD.IntervalMinutes, NEW.IntervalMinutes UNION ALL SELECT 'RunTimes', OLD.RunTimes, NEW.RunTimes UNION ALL SELECT 'RunDays', OLD.RunDays, NEW.RunDays UNION ALL SELECT 'RunDaysOfMonth', OLD.RunDaysOfMonth, NEW.RunDaysOfMonth UNION ALL SELECT 'WeekOfMonth', OLD.WeekOfMonth, NEW.WeekOfMonth UNION ALL SELECT 'RunMonths', OLD.RunMonths, NEW.RunMonths UNION ALL SELECT 'BetweenTimes', OLD.BetweenTimes, NEW.BetweenTimes UNION ALL SELECT 'EveryN', OLD.EveryN, NEW.EveryN UNION ALL SELECT 'StartDate', OLD.StartDate, NEW.StartDate UNION ALL SELECT 'EndDate', OLD.EndDate, NEW.EndDate UNION ALL SELECT 'RunAt', OLD.RunAt, NEW.RunAt UNION ALL SELECT 'Cron', OLD.Cron, NEW.Cron UNION ALL SELECT 'TimeZone', OLD.TimeZone, NEW.TimeZone UNION ALL SELECT 'CalendarName', OLD.CalendarName, NEW.CalendarName UNION ALL SELECT 'CalendarRule', OLD.CalendarRule, NEW.CalendarRule UNION ALL SELECT 'GapPolicy', OLD.GapPolicy, NEW.GapPolicy UNION ALL SELECT 'FoldPolicy', OLD.FoldPolicy, NEW.FoldPolicy UNION ALL SELECT 'CatchUp', OLD.CatchUp, NEW.CatchUp UNION ALL SELECT 'CatchUpMost', OLD.CatchUpMost, NEW.CatchUpMost UNION ALL SELECT 'Overlap', OLD.Overlap, NEW.Overlap UNION ALL SELECT 'Jitter', OLD.Jitter, NEW.Jitter UNION ALL SELECT 'Enabled', OLD.Enabled, NEW.Enabled UNION ALL SELECT 'Origin', OLD.Origin, NEW.Origin UNION ALL SELECT 'Description', OLD.Description, NEW.Description)
    WHERE Was IS NOT Became COLLATE BINARY GROUP BY NULL;
END;

CREATE TRIGGER TR_Schedule_AuditDelete AFTER DELETE ON Schedule
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'Schedule' AND RowNumber = OLD.Schedule_id;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row delete', substr('Schedule:' || OLD.ScheduleName, 1, 200), json_object('ScheduleName', OLD.ScheduleName, 'Entity', OLD.Entity, 'ScheduleType', OLD.ScheduleType, 'IntervalMinutes', OLD.IntervalMinutes, 'RunTimes', OLD.RunTimes, 'RunDays', OLD.RunDays, 'RunDaysOfMonth', OLD.RunDaysOfMonth, 'WeekOfMonth', OLD.WeekOfMonth, 'RunMonths', OLD.RunMonths, 'BetweenTimes', OLD.BetweenTimes, 'EveryN', OLD.EveryN, 'StartDate', OLD.StartDate, 'EndDate', OLD.EndDate, 'RunAt', OLD.RunAt, 'Cron', OLD.Cron, 'TimeZone', OLD.TimeZone, 'CalendarName', OLD.CalendarName, 'CalendarRule', OLD.CalendarRule, 'GapPolicy', OLD.GapPolicy, 'FoldPolicy', OLD.FoldPolicy, 'CatchUp', OLD.CatchUp, 'CatchUpMost', OLD.CatchUpMost, 'Overlap', OLD.Overlap, 'Jitter', OLD.Jitter, 'Enabled', OLD.Enabled, 'Origin', OLD.Origin, 'Description', OLD.Description), NULL;
END;

CREATE TRIGGER TR_Calendar_BeforeInsert BEFORE INSERT ON Calendar
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'Calendar';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'Calendar', r.Calendar_id, substr('Calendar:' || r.CalendarName, 1, 200), json_object('CalendarName', r.CalendarName, 'BusinessDays', r.BusinessDays, 'ValidFrom', r.ValidFrom, 'ValidUntil', r.ValidUntil, 'Description', r.Description)
    FROM Calendar r WHERE (r.Calendar_id = NEW.Calendar_id OR (r.CalendarName = NEW.CalendarName));
END;

CREATE TRIGGER TR_Calendar_BeforeUpdate BEFORE UPDATE ON Calendar WHEN NEW.Calendar_id IS NOT OLD.Calendar_id OR NEW.CalendarName IS NOT OLD.CalendarName
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'Calendar';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'Calendar', r.Calendar_id, substr('Calendar:' || r.CalendarName, 1, 200), json_object('CalendarName', r.CalendarName, 'BusinessDays', r.BusinessDays, 'ValidFrom', r.ValidFrom, 'ValidUntil', r.ValidUntil, 'Description', r.Description)
    FROM Calendar r WHERE r.Calendar_id <> OLD.Calendar_id AND (r.Calendar_id = NEW.Calendar_id OR (r.CalendarName = NEW.CalendarName));
END;

CREATE TRIGGER TR_Calendar_AuditInsert AFTER INSERT ON Calendar
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'Calendar' AND (w.RowNumber = NEW.Calendar_id
        OR NOT EXISTS (SELECT 1 FROM Calendar r WHERE r.Calendar_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'Calendar';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row insert', substr('Calendar:' || NEW.CalendarName, 1, 200), NULL, json_object('CalendarName', NEW.CalendarName, 'BusinessDays', NEW.BusinessDays, 'ValidFrom', NEW.ValidFrom, 'ValidUntil', NEW.ValidUntil, 'Description', NEW.Description);
END;

CREATE TRIGGER TR_Calendar_AuditUpdate AFTER UPDATE ON Calendar
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'Calendar' AND w.RowNumber <> OLD.Calendar_id AND (w.RowNumber = NEW.Calendar_id
        OR NOT EXISTS (SELECT 1 FROM Calendar r WHERE r.Calendar_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'Calendar';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row update', substr('Calendar:' || NEW.CalendarName, 1, 200), json_group_object(Name, Was), json_group_object(Name, Became)
    FROM (SELECT 'CalendarName' Name, OLD.CalendarName Was, NEW.CalendarName Became UNION ALL SELECT 'BusinessDays', OLD.BusinessDays, NEW.BusinessDays UNION ALL SELECT 'ValidFrom', OLD.ValidFrom, NEW.ValidFrom UNION ALL SELECT 'ValidUntil', OLD.ValidUntil, NEW.ValidUntil UNION ALL SELECT 'Description', OLD.Description, NEW.Description)
    WHERE Was IS NOT Became COLLATE BINARY GROUP BY NULL;
END;

CREATE TRIGGER TR_Calendar_AuditDelete AFTER DELETE ON Calendar
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'Calendar' AND RowNumber = OLD.Calendar_id;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row delete', substr('Calendar:' || OLD.CalendarName, 1, 200), json_object('CalendarName', OLD.CalendarName, 'BusinessDays', OLD.BusinessDays, 'ValidFrom', OLD.ValidFrom, 'ValidUntil', OLD.ValidUntil, 'Description', OLD.Description), NULL;
END;

CREATE TRIGGER TR_CalendarDay_BeforeInsert BEFORE INSERT ON CalendarDay
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'CalendarDay';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'CalendarDay', r.CalendarDay_id, substr('CalendarDay:' || coalesce((SELECT p.CalendarName FROM Calendar p WHERE p.Calendar_id = r.Calendar_id), '') || ':' || r.CalendarDate, 1, 200), json_object('Calendar_id', r.Calendar_id, 'CalendarDate', r.CalendarDate, 'IsBusinessDay', r.IsBusinessDay, 'Description', r.Description)
    FROM CalendarDay r WHERE (r.CalendarDay_id = NEW.CalendarDay_id OR (r.Calendar_id = NEW.Calendar_id AND r.CalendarDate = NEW.CalendarDate));
END;

CREATE TRIGGER TR_CalendarDay_BeforeUpdate BEFORE UPDATE ON CalendarDay WHEN NEW.CalendarDay_id IS NOT OLD.CalendarDay_id OR NEW.Calendar_id IS NOT OLD.Calendar_id OR NEW.CalendarDate IS NOT OLD.CalendarDate
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'CalendarDay';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'CalendarDay', r.CalendarDay_id, substr('CalendarDay:' || coalesce((SELECT p.CalendarName FROM Calendar p WHERE p.Calendar_id = r.Calendar_id), '') || ':' || r.CalendarDate, 1, 200), json_object('Calendar_id', r.Calendar_id, 'CalendarDate', r.CalendarDate, 'IsBusinessDay', r.IsBusinessDay, 'Description', r.Description)
    FROM CalendarDay r WHERE r.CalendarDay_id <> OLD.CalendarDay_id AND (r.CalendarDay_id = NEW.CalendarDay_id OR (r.Calendar_id = NEW.Calendar_id AND r.CalendarDate = NEW.CalendarDate));
END;

CREATE TRIGGER TR_CalendarDay_AuditInsert AFTER INSERT ON CalendarDay
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'CalendarDay' AND (w.RowNumber = NEW.CalendarDay_id
        OR NOT EXISTS (SELECT 1 FROM CalendarDay r WHERE r.CalendarDay_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'CalendarDay';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row insert', substr('CalendarDay:' || coalesce((SELECT p.CalendarName FROM Calendar p WHERE p.Calendar_id = NEW.Calendar_id), '') || ':' || NEW.CalendarDate, 1, 200), NULL, json_object('Calendar_id', NEW.Calendar_id, 'CalendarDate', NEW.CalendarDate, 'IsBusinessDay', NEW.IsBusinessDay, 'Description', NEW.Description);
END;

CREATE TRIGGER TR_CalendarDay_AuditUpdate AFTER UPDATE ON CalendarDay
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'CalendarDay' AND w.RowNumber <> OLD.CalendarDay_id AND (w.RowNumber = NEW.CalendarDay_id
        OR NOT EXISTS (SELECT 1 FROM CalendarDay r WHERE r.CalendarDay_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'CalendarDay';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row update', substr('CalendarDay:' || coalesce((SELECT p.CalendarName FROM Calendar p WHERE p.Calendar_id = NEW.Calendar_id), '') || ':' || NEW.CalendarDate, 1, 200), json_group_object(Name, Was), json_group_object(Name, Became)
    FROM (SELECT 'Calendar_id' Name, OLD.Calendar_id Was, NEW.Calendar_id Became UNION ALL SELECT 'CalendarDate', OLD.CalendarDate, NEW.CalendarDate UNION ALL SELECT 'IsBusinessDay', OLD.IsBusinessDay, NEW.IsBusinessDay UNION ALL SELECT 'Description', OLD.Description, NEW.Description)
    WHERE Was IS NOT Became COLLATE BINARY GROUP BY NULL;
END;

CREATE TRIGGER TR_CalendarDay_AuditDelete AFTER DELETE ON CalendarDay
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'CalendarDay' AND RowNumber = OLD.CalendarDay_id;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row delete', substr('CalendarDay:' || coalesce((SELECT p.CalendarName FROM Calendar p WHERE p.Calendar_id = OLD.Calendar_id), '') || ':' || OLD.CalendarDate, 1, 200), json_object('Calendar_id', OLD.Calendar_id, 'CalendarDate', OLD.CalendarDate, 'IsBusinessDay', OLD.IsBusinessDay, 'Description', OLD.Description), NULL;
END;

CREATE TRIGGER TR_DataTrigger_BeforeInsert BEFORE INSERT ON DataTrigger
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'DataTrigger';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'DataTrigger', r.DataTrigger_id, substr('DataTrigger:' || r.TriggerName, 1, 200), json_object('TriggerName', r.TriggerName, 'Entity', r.Entity, 'ConnectionName', r.ConnectionName, 'TableName', r.TableName, 'StatusColumn', r.StatusColumn, 'PendingValue', r.PendingValue, 'CreatedColumn', r.CreatedColumn, 'RowThreshold', r.RowThreshold, 'IdleMinutes', r.IdleMinutes, 'OnNewRows', r.OnNewRows, 'DebounceSeconds', r.DebounceSeconds, 'Enabled', r.Enabled)
    FROM DataTrigger r WHERE (r.DataTrigger_id = NEW.DataTrigger_id OR (r.TriggerName = NEW.TriggerName));
END;

CREATE TRIGGER TR_DataTrigger_BeforeUpdate BEFORE UPDATE ON DataTrigger WHEN NEW.DataTrigger_id IS NOT OLD.DataTrigger_id OR NEW.TriggerName IS NOT OLD.TriggerName
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'DataTrigger';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'DataTrigger', r.DataTrigger_id, substr('DataTrigger:' || r.TriggerName, 1, 200), json_object('TriggerName', r.TriggerName, 'Entity', r.Entity, 'ConnectionName', r.ConnectionName, 'TableName', r.TableName, 'StatusColumn', r.StatusColumn, 'PendingValue', r.PendingValue, 'CreatedColumn', r.CreatedColumn, 'RowThreshold', r.RowThreshold, 'IdleMinutes', r.IdleMinutes, 'OnNewRows', r.OnNewRows, 'DebounceSeconds', r.DebounceSeconds, 'Enabled', r.Enabled)
    FROM DataTrigger r WHERE r.DataTrigger_id <> OLD.DataTrigger_id AND (r.DataTrigger_id = NEW.DataTrigger_id OR (r.TriggerName = NEW.TriggerName));
END;

CREATE TRIGGER TR_DataTrigger_AuditInsert AFTER INSERT ON DataTrigger
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'DataTrigger' AND (w.RowNumber = NEW.DataTrigger_id
        OR NOT EXISTS (SELECT 1 FROM DataTrigger r WHERE r.DataTrigger_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'DataTrigger';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row insert', substr('DataTrigger:' || NEW.TriggerName, 1, 200), NULL, json_object('TriggerName', NEW.TriggerName, 'Entity', NEW.Entity, 'ConnectionName', NEW.ConnectionName, 'TableName', NEW.TableName, 'StatusColumn', NEW.StatusColumn, 'PendingValue', NEW.PendingValue, 'CreatedColumn', NEW.CreatedColumn, 'RowThreshold', NEW.RowThreshold, 'IdleMinutes', NEW.IdleMinutes, 'OnNewRows', NEW.OnNewRows, 'DebounceSeconds', NEW.DebounceSeconds, 'Enabled', NEW.Enabled);
END;

CREATE TRIGGER TR_DataTrigger_AuditUpdate AFTER UPDATE ON DataTrigger
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'DataTrigger' AND w.RowNumber <> OLD.DataTrigger_id AND (w.RowNumber = NEW.DataTrigger_id
        OR NOT EXISTS (SELECT 1 FROM DataTrigger r WHERE r.DataTrigger_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'DataTrigger';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row update', substr('DataTrigger:' || NEW.TriggerName, 1, 200), json_group_object(Name, Was), json_group_object(Name, Became)
    FROM (SELECT 'TriggerName' Name, OLD.TriggerName Was, NEW.TriggerName Became UNION ALL SELECT 'Entity', OLD.Entity, NEW.Entity UNION ALL SELECT 'ConnectionName', OLD.ConnectionName, NEW.ConnectionName UNION ALL SELECT 'TableName', OLD.TableName, NEW.TableName UNION ALL SELECT 'StatusColumn', OLD.StatusColumn, NEW.StatusColumn UNION ALL SELECT 'PendingValue', OLD.PendingValue, NEW.PendingValue UNION ALL SELECT 'CreatedColumn', OLD.CreatedColumn, NEW.CreatedColumn UNION ALL SELECT 'RowThreshold', OLD.RowThreshold, NEW.RowThreshold UNION ALL SELECT 'IdleMinutes', OLD.IdleMinutes, NEW.IdleMinutes UNION ALL SELECT 'OnNewRows', OLD.OnNewRows, NEW.OnNewRows UNION ALL SELECT 'DebounceSeconds', OLD.DebounceSeconds, NEW.DebounceSeconds UNION ALL SELECT 'Enabled', OLD.Enabled, NEW.Enabled)
    WHERE Was IS NOT Became COLLATE BINARY GROUP BY NULL;
END;

CREATE TRIGGER TR_DataTrigger_AuditDelete AFTER DELETE ON DataTrigger
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'DataTrigger' AND RowNumber = OLD.DataTrigger_id;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row delete', substr('DataTrigger:' || OLD.TriggerName, 1, 200), json_object('TriggerName', OLD.TriggerName, 'Entity', OLD.Entity, 'ConnectionName', OLD.ConnectionName, 'TableName', OLD.TableName, 'StatusColumn', OLD.StatusColumn, 'PendingValue', OLD.PendingValue, 'CreatedColumn', OLD.CreatedColumn, 'RowThreshold', OLD.RowThreshold, 'IdleMinutes', OLD.IdleMinutes, 'OnNewRows', OLD.OnNewRows, 'DebounceSeconds', OLD.DebounceSeconds, 'Enabled', OLD.Enabled), NULL;
END;

CREATE TRIGGER TR_FileWatch_BeforeInsert BEFORE INSERT ON FileWatch
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'FileWatch';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'FileWatch', r.FileWatch_id, substr('FileWatch:' || r.WatchName, 1, 200), json_object('WatchName', r.WatchName, 'Entity', r.Entity, 'Folder', r.Folder, 'Pattern', r.Pattern, 'Recursive', r.Recursive, 'SettleSeconds', r.SettleSeconds, 'MarkerSuffix', r.MarkerSuffix, 'DuplicateKey', r.DuplicateKey, 'Enabled', r.Enabled)
    FROM FileWatch r WHERE (r.FileWatch_id = NEW.FileWatch_id OR (r.WatchName = NEW.WatchName));
END;

CREATE TRIGGER TR_FileWatch_BeforeUpdate BEFORE UPDATE ON FileWatch WHEN NEW.FileWatch_id IS NOT OLD.FileWatch_id OR NEW.WatchName IS NOT OLD.WatchName
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'FileWatch';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'FileWatch', r.FileWatch_id, substr('FileWatch:' || r.WatchName, 1, 200), json_object('WatchName', r.WatchName, 'Entity', r.Entity, 'Folder', r.Folder, 'Pattern', r.Pattern, 'Recursive', r.Recursive, 'SettleSeconds', r.SettleSeconds, 'MarkerSuffix', r.MarkerSuffix, 'DuplicateKey', r.DuplicateKey, 'Enabled', r.Enabled)
    FROM FileWatch r WHERE r.FileWatch_id <> OLD.FileWatch_id AND (r.FileWatch_id = NEW.FileWatch_id OR (r.WatchName = NEW.WatchName));
END;

CREATE TRIGGER TR_FileWatch_AuditInsert AFTER INSERT ON FileWatch
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'FileWatch' AND (w.RowNumber = NEW.FileWatch_id
        OR NOT EXISTS (SELECT 1 FROM FileWatch r WHERE r.FileWatch_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'FileWatch';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row insert', substr('FileWatch:' || NEW.WatchName, 1, 200), NULL, json_object('WatchName', NEW.WatchName, 'Entity', NEW.Entity, 'Folder', NEW.Folder, 'Pattern', NEW.Pattern, 'Recursive', NEW.Recursive, 'SettleSeconds', NEW.SettleSeconds, 'MarkerSuffix', NEW.MarkerSuffix, 'DuplicateKey', NEW.DuplicateKey, 'Enabled', NEW.Enabled);
END;

CREATE TRIGGER TR_FileWatch_AuditUpdate AFTER UPDATE ON FileWatch
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'FileWatch' AND w.RowNumber <> OLD.FileWatch_id AND (w.RowNumber = NEW.FileWatch_id
        OR NOT EXISTS (SELECT 1 FROM FileWatch r WHERE r.FileWatch_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'FileWatch';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row update', substr('FileWatch:' || NEW.WatchName, 1, 200), json_group_object(Name, Was), json_group_object(Name, Became)
    FROM (SELECT 'WatchName' Name, OLD.WatchName Was, NEW.WatchName Became UNION ALL SELECT 'Entity', OLD.Entity, NEW.Entity UNION ALL SELECT 'Folder', OLD.Folder, NEW.Folder UNION ALL SELECT 'Pattern', OLD.Pattern, NEW.Pattern UNION ALL SELECT 'Recursive', OLD.Recursive, NEW.Recursive UNION ALL SELECT 'SettleSeconds', OLD.SettleSeconds, NEW.SettleSeconds UNION ALL SELECT 'MarkerSuffix', OLD.MarkerSuffix, NEW.MarkerSuffix UNION ALL SELECT 'DuplicateKey', OLD.DuplicateKey, NEW.DuplicateKey UNION ALL SELECT 'Enabled', OLD.Enabled, NEW.Enabled)
    WHERE Was IS NOT Became COLLATE BINARY GROUP BY NULL;
END;

CREATE TRIGGER TR_FileWatch_AuditDelete AFTER DELETE ON FileWatch
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'FileWatch' AND RowNumber = OLD.FileWatch_id;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row delete', substr('FileWatch:' || OLD.WatchName, 1, 200), json_object('WatchName', OLD.WatchName, 'Entity', OLD.Entity, 'Folder', OLD.Folder, 'Pattern', OLD.Pattern, 'Recursive', OLD.Recursive, 'SettleSeconds', OLD.SettleSeconds, 'MarkerSuffix', OLD.MarkerSuffix, 'DuplicateKey', OLD.DuplicateKey, 'Enabled', OLD.Enabled), NULL;
END;

CREATE TRIGGER TR_BatchFreeze_BeforeInsert BEFORE INSERT ON BatchFreeze
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'BatchFreeze';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'BatchFreeze', r.BatchFreeze_id, substr('BatchFreeze:' || r.BatchFreeze_id, 1, 200), json_object('ProcessBatchName', r.ProcessBatchName, 'Tag', r.Tag, 'Reason', r.Reason, 'Actor', r.Actor, 'UntilTime', r.UntilTime, 'ThawedTime', r.ThawedTime, 'ThawedBy', r.ThawedBy)
    FROM BatchFreeze r WHERE (r.BatchFreeze_id = NEW.BatchFreeze_id);
END;

CREATE TRIGGER TR_BatchFreeze_BeforeUpdate BEFORE UPDATE ON BatchFreeze WHEN NEW.BatchFreeze_id IS NOT OLD.BatchFreeze_id
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'BatchFreeze';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'BatchFreeze', r.BatchFreeze_id, substr('BatchFreeze:' || r.BatchFreeze_id, 1, 200), json_object('ProcessBatchName', r.ProcessBatchName, 'Tag', r.Tag, 'Reason', r.Reason, 'Actor', r.Actor, 'UntilTime', r.UntilTime, 'ThawedTime', r.ThawedTime, 'ThawedBy', r.ThawedBy)
    FROM BatchFreeze r WHERE r.BatchFreeze_id <> OLD.BatchFreeze_id AND (r.BatchFreeze_id = NEW.BatchFreeze_id);
END;

CREATE TRIGGER TR_BatchFreeze_AuditInsert AFTER INSERT ON BatchFreeze
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'BatchFreeze' AND (w.RowNumber = NEW.BatchFreeze_id
        OR NOT EXISTS (SELECT 1 FROM BatchFreeze r WHERE r.BatchFreeze_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'BatchFreeze';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row insert', substr('BatchFreeze:' || NEW.BatchFreeze_id, 1, 200), NULL, json_object('ProcessBatchName', NEW.ProcessBatchName, 'Tag', NEW.Tag, 'Reason', NEW.Reason, 'Actor', NEW.Actor, 'UntilTime', NEW.UntilTime, 'ThawedTime', NEW.ThawedTime, 'ThawedBy', NEW.ThawedBy);
END;

CREATE TRIGGER TR_BatchFreeze_AuditUpdate AFTER UPDATE ON BatchFreeze
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'BatchFreeze' AND w.RowNumber <> OLD.BatchFreeze_id AND (w.RowNumber = NEW.BatchFreeze_id
        OR NOT EXISTS (SELECT 1 FROM BatchFreeze r WHERE r.BatchFreeze_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'BatchFreeze';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row update', substr('BatchFreeze:' || NEW.BatchFreeze_id, 1, 200), json_group_object(Name, Was), json_group_object(Name, Became)
    FROM (SELECT 'ProcessBatchName' Name, OLD.ProcessBatchName Was, NEW.ProcessBatchName Became UNION ALL SELECT 'Tag', OLD.Tag, NEW.Tag UNION ALL SELECT 'Reason', OLD.Reason, NEW.Reason UNION ALL SELECT 'Actor', OLD.Actor, NEW.Actor UNION ALL SELECT 'UntilTime', OLD.UntilTime, NEW.UntilTime UNION ALL SELECT 'ThawedTime', OLD.ThawedTime, NEW.ThawedTime UNION ALL SELECT 'ThawedBy', OLD.ThawedBy, NEW.ThawedBy)
    WHERE Was IS NOT Became COLLATE BINARY GROUP BY NULL;
END;

CREATE TRIGGER TR_BatchFreeze_AuditDelete AFTER DELETE ON BatchFreeze
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'BatchFreeze' AND RowNumber = OLD.BatchFreeze_id;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row delete', substr('BatchFreeze:' || OLD.BatchFreeze_id, 1, 200), json_object('ProcessBatchName', OLD.ProcessBatchName, 'Tag', OLD.Tag, 'Reason', OLD.Reason, 'Actor', OLD.Actor, 'UntilTime', OLD.UntilTime, 'ThawedTime', OLD.ThawedTime, 'ThawedBy', OLD.ThawedBy), NULL;
END;

CREATE TRIGGER TR_Setting_BeforeInsert BEFORE INSERT ON Setting
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'Setting';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'Setting', r.Setting_id, substr('Setting:' || r.Name, 1, 200), json_object('Name', r.Name, 'Value', r.Value)
    FROM Setting r WHERE (r.Setting_id = NEW.Setting_id OR (r.Name = NEW.Name));
END;

CREATE TRIGGER TR_Setting_BeforeUpdate BEFORE UPDATE ON Setting WHEN NEW.Setting_id IS NOT OLD.Setting_id OR NEW.Name IS NOT OLD.Name
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'Setting';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'Setting', r.Setting_id, substr('Setting:' || r.Name, 1, 200), json_object('Name', r.Name, 'Value', r.Value)
    FROM Setting r WHERE r.Setting_id <> OLD.Setting_id AND (r.Setting_id = NEW.Setting_id OR (r.Name = NEW.Name));
END;

CREATE TRIGGER TR_Setting_AuditInsert AFTER INSERT ON Setting
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'Setting' AND (w.RowNumber = NEW.Setting_id
        OR NOT EXISTS (SELECT 1 FROM Setting r WHERE r.Setting_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'Setting';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row insert', substr('Setting:' || NEW.Name, 1, 200), NULL, json_object('Name', NEW.Name, 'Value', NEW.Value);
END;

CREATE TRIGGER TR_Setting_AuditUpdate AFTER UPDATE ON Setting
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', w.Target, w.ValuesBefore FROM batchctl_replaced w
    WHERE w.TableName = 'Setting' AND w.RowNumber <> OLD.Setting_id AND (w.RowNumber = NEW.Setting_id
        OR NOT EXISTS (SELECT 1 FROM Setting r WHERE r.Setting_id = w.RowNumber)) ORDER BY w.RowNumber;
    DELETE FROM batchctl_replaced WHERE TableName = 'Setting';
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row update', substr('Setting:' || NEW.Name, 1, 200), json_group_object(Name, Was), json_group_object(Name, Became)
    FROM (SELECT 'Name' Name, OLD.Name Was, NEW.Name Became UNION ALL SELECT 'Value', OLD.Value, NEW.Value)
    WHERE Was IS NOT Became COLLATE BINARY GROUP BY NULL;
END;

CREATE TRIGGER TR_Setting_AuditDelete AFTER DELETE ON Setting
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'Setting' AND RowNumber = OLD.Setting_id;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row delete', substr('Setting:' || OLD.Name, 1, 200), json_object('Name', OLD.Name, 'Value', OLD.Value), NULL;
END;

CREATE TRIGGER TR_BatchControl_AuditUpdate AFTER UPDATE OF Status, PrevProcessControlSeq, RetryCount, NextRunTime, CycleKey, Data1, Data2, Data3, Data4, Data5, Data6 ON BatchControl WHEN NEW.z_updated IS OLD.z_updated AND (OLD.Status IS NOT NEW.Status OR OLD.PrevProcessControlSeq IS NOT NEW.PrevProcessControlSeq OR OLD.RetryCount IS NOT NEW.RetryCount OR OLD.NextRunTime IS NOT NEW.NextRunTime OR OLD.CycleKey IS NOT NEW.CycleKey OR OLD.Data1 IS NOT NEW.Data1 OR OLD.Data2 IS NOT NEW.Data2 OR OLD.Data3 IS NOT NEW.Data3 OR OLD.Data4 IS NOT NEW.Data4 OR OLD.Data5 IS NOT NEW.Data5 OR OLD.Data6 IS NOT NEW.Data6)
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row update', substr('BatchControl:' || NEW.BatchControl_id, 1, 200), json_group_object(Name, Was), json_group_object(Name, Became)
    FROM (SELECT 'Status' Name, CASE OLD.Status WHEN 'success' THEN 'ready' ELSE OLD.Status END Was, CASE NEW.Status WHEN 'success' THEN 'ready' ELSE NEW.Status END Became UNION ALL SELECT 'PrevProcessControlSeq', OLD.PrevProcessControlSeq, NEW.PrevProcessControlSeq UNION ALL SELECT 'RetryCount', OLD.RetryCount, NEW.RetryCount UNION ALL SELECT 'NextRunTime', OLD.NextRunTime, NEW.NextRunTime UNION ALL SELECT 'CycleKey', OLD.CycleKey, NEW.CycleKey UNION ALL SELECT 'Data1', OLD.Data1, NEW.Data1 UNION ALL SELECT 'Data2', OLD.Data2, NEW.Data2 UNION ALL SELECT 'Data3', OLD.Data3, NEW.Data3 UNION ALL SELECT 'Data4', OLD.Data4, NEW.Data4 UNION ALL SELECT 'Data5', OLD.Data5, NEW.Data5 UNION ALL SELECT 'Data6', OLD.Data6, NEW.Data6)
    WHERE Was IS NOT Became COLLATE BINARY GROUP BY NULL;
END;

CREATE TRIGGER TR_FileProcess_AuditUpdate AFTER UPDATE OF Status, Entity, FileName, Data, CycleKey ON FileProcess WHEN NEW.z_updated IS OLD.z_updated AND (OLD.Status IS NOT NEW.Status OR OLD.Entity IS NOT NEW.Entity OR OLD.FileName IS NOT NEW.FileName OR OLD.Data IS NOT NEW.Data OR OLD.CycleKey IS NOT NEW.CycleKey)
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row update', substr('FileProcess:' || NEW.FileProcess_id, 1, 200), json_group_object(Name, Was), json_group_object(Name, Became)
    FROM (SELECT 'Status' Name, CASE OLD.Status WHEN 'success' THEN 'complete' ELSE OLD.Status END Was, CASE NEW.Status WHEN 'success' THEN 'complete' ELSE NEW.Status END Became UNION ALL SELECT 'Entity', OLD.Entity, NEW.Entity UNION ALL SELECT 'FileName', OLD.FileName, NEW.FileName UNION ALL SELECT 'Data', OLD.Data, NEW.Data UNION ALL SELECT 'CycleKey', OLD.CycleKey, NEW.CycleKey)
    WHERE Was IS NOT Became COLLATE BINARY GROUP BY NULL;
END;

CREATE TRIGGER TR_AuditLog_AppendOnlyUpdate BEFORE UPDATE ON AuditLog
BEGIN
    SELECT RAISE(ABORT, 'batchctl: what stands in AuditLog stays as it is');
END;

CREATE TRIGGER TR_AuditLog_AppendOnlyDelete BEFORE DELETE ON AuditLog WHEN NOT coalesce((SELECT trim(s.Value) NOT GLOB '*[^0-9]*' AND CAST(s.Value AS INTEGER) > 0 AND OLD.z_inserted < strftime('%Y-%m-%d %H:%M:%f', (SELECT n.z_inserted FROM AuditLog n ORDER BY n.AuditLog_id DESC LIMIT 1), '-' || trim(s.Value) || ' days') FROM Setting s WHERE s.Name = 'AuditLogDays'), 0)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: what stands in AuditLog stays as it is');
END;

CREATE TRIGGER TR_AuditLog_AppendOnlyInsert BEFORE INSERT ON AuditLog WHEN EXISTS (SELECT 1 FROM AuditLog WHERE AuditLog_id = NEW.AuditLog_id)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: what stands in AuditLog stays as it is');
END;

CREATE TRIGGER TR_AuditSeal_AppendOnlyUpdate BEFORE UPDATE ON AuditSeal
BEGIN
    SELECT RAISE(ABORT, 'batchctl: what stands in AuditSeal stays as it is');
END;

CREATE TRIGGER TR_AuditSeal_AppendOnlyDelete BEFORE DELETE ON AuditSeal
BEGIN
    SELECT RAISE(ABORT, 'batchctl: what stands in AuditSeal stays as it is');
END;

CREATE TRIGGER TR_AuditSeal_AppendOnlyInsert BEFORE INSERT ON AuditSeal WHEN EXISTS (SELECT 1 FROM AuditSeal WHERE AuditSeal_id = NEW.AuditSeal_id)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: what stands in AuditSeal stays as it is');
END;

CREATE TRIGGER TR_ProcessControl_ProcessBatch_idInsert BEFORE INSERT ON ProcessControl WHEN NEW.ProcessBatch_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ProcessBatch p WHERE p.ProcessBatch_id = NEW.ProcessBatch_id)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ProcessBatch_id of ProcessControl: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch');
END;

CREATE TRIGGER TR_ProcessControl_ProcessBatch_idUpdate BEFORE UPDATE OF ProcessBatch_id ON ProcessControl WHEN NEW.ProcessBatch_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ProcessBatch p WHERE p.ProcessBatch_id = NEW.ProcessBatch_id)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ProcessBatch_id of ProcessControl: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch');
END;

CREATE TRIGGER TR_BatchResource_ProcessBatch_idInsert BEFORE INSERT ON BatchResource WHEN NEW.ProcessBatch_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ProcessBatch p WHERE p.ProcessBatch_id = NEW.ProcessBatch_id)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ProcessBatch_id of BatchResource: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch');
END;

CREATE TRIGGER TR_BatchResource_ProcessBatch_idUpdate BEFORE UPDATE OF ProcessBatch_id ON BatchResource WHEN NEW.ProcessBatch_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ProcessBatch p WHERE p.ProcessBatch_id = NEW.ProcessBatch_id)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ProcessBatch_id of BatchResource: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch');
END;

CREATE TRIGGER TR_BatchResource_Resource_idInsert BEFORE INSERT ON BatchResource WHEN NEW.Resource_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM Resource p WHERE p.Resource_id = NEW.Resource_id)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: Resource_id of BatchResource: there is no such Resource: SELECT Resource_id, ResourceName FROM Resource');
END;

CREATE TRIGGER TR_BatchResource_Resource_idUpdate BEFORE UPDATE OF Resource_id ON BatchResource WHEN NEW.Resource_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM Resource p WHERE p.Resource_id = NEW.Resource_id)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: Resource_id of BatchResource: there is no such Resource: SELECT Resource_id, ResourceName FROM Resource');
END;

CREATE TRIGGER TR_BatchDependency_ProcessBatch_idInsert BEFORE INSERT ON BatchDependency WHEN NEW.ProcessBatch_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ProcessBatch p WHERE p.ProcessBatch_id = NEW.ProcessBatch_id)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ProcessBatch_id of BatchDependency: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch');
END;

CREATE TRIGGER TR_BatchDependency_ProcessBatch_idUpdate BEFORE UPDATE OF ProcessBatch_id ON BatchDependency WHEN NEW.ProcessBatch_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ProcessBatch p WHERE p.ProcessBatch_id = NEW.ProcessBatch_id)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ProcessBatch_id of BatchDependency: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch');
END;

CREATE TRIGGER TR_BatchDependency_DependsOnBatch_idInsert BEFORE INSERT ON BatchDependency WHEN NEW.DependsOnBatch_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ProcessBatch p WHERE p.ProcessBatch_id = NEW.DependsOnBatch_id)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: DependsOnBatch_id of BatchDependency: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch');
END;

CREATE TRIGGER TR_BatchDependency_DependsOnBatch_idUpdate BEFORE UPDATE OF DependsOnBatch_id ON BatchDependency WHEN NEW.DependsOnBatch_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ProcessBatch p WHERE p.ProcessBatch_id = NEW.DependsOnBatch_id)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: DependsOnBatch_id of BatchDependency: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch');
END;

CREATE TRIGGER TR_CalendarDay_Calendar_idInsert BEFORE INSERT ON CalendarDay WHEN NEW.Calendar_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM Calendar p WHERE p.Calendar_id = NEW.Calendar_id)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: Calendar_id of CalendarDay: there is no such Calendar: SELECT Calendar_id, CalendarName FROM Calendar');
END;

CREATE TRIGGER TR_CalendarDay_Calendar_idUpdate BEFORE UPDATE OF Calendar_id ON CalendarDay WHEN NEW.Calendar_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM Calendar p WHERE p.Calendar_id = NEW.Calendar_id)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: Calendar_id of CalendarDay: there is no such Calendar: SELECT Calendar_id, CalendarName FROM Calendar');
END;

CREATE TRIGGER TR_ProcessBatch_InUse BEFORE DELETE ON ProcessBatch
BEGIN
    SELECT RAISE(ABORT, 'batchctl: BatchControl has rows of this ProcessBatch: instead: batchctl disable NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM BatchControl c WHERE c.ProcessBatch_id = OLD.ProcessBatch_id);
    SELECT RAISE(ABORT, 'batchctl: BatchProcessHistory has rows of this ProcessBatch: instead: batchctl disable NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM BatchProcessHistory c WHERE c.ProcessBatch_id = OLD.ProcessBatch_id);
    SELECT RAISE(ABORT, 'batchctl: BatchCompletion has rows of this ProcessBatch: instead: batchctl disable NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM BatchCompletion c WHERE c.ProcessBatch_id = OLD.ProcessBatch_id);
    SELECT RAISE(ABORT, 'batchctl: BatchCompletion has rows of this ProcessBatch: instead: batchctl disable NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM BatchCompletion c WHERE c.DependsOnBatch_id = OLD.ProcessBatch_id);
    SELECT RAISE(ABORT, 'batchctl: DurationHistory has rows of this ProcessBatch: instead: batchctl disable NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM DurationHistory c WHERE c.ProcessBatch_id = OLD.ProcessBatch_id);
    SELECT RAISE(ABORT, 'batchctl: ProcessControl has rows of this ProcessBatch: DELETE FROM ProcessControl WHERE ProcessBatch_id = ... first; or instead: batchctl disable NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM ProcessControl c WHERE c.ProcessBatch_id = OLD.ProcessBatch_id);
    SELECT RAISE(ABORT, 'batchctl: BatchResource has rows of this ProcessBatch: DELETE FROM BatchResource WHERE ProcessBatch_id = ... first; or instead: batchctl disable NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM BatchResource c WHERE c.ProcessBatch_id = OLD.ProcessBatch_id);
    SELECT RAISE(ABORT, 'batchctl: BatchDependency has rows of this ProcessBatch: DELETE FROM BatchDependency WHERE ProcessBatch_id = ... first; or instead: batchctl disable NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM BatchDependency c WHERE c.ProcessBatch_id = OLD.ProcessBatch_id);
    SELECT RAISE(ABORT, 'batchctl: BatchDependency has rows of this ProcessBatch: DELETE FROM BatchDependency WHERE DependsOnBatch_id = ... first; or instead: batchctl disable NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM BatchDependency c WHERE c.DependsOnBatch_id = OLD.ProcessBatch_id);
END;

CREATE TRIGGER TR_ProcessBatch_Renumbered BEFORE UPDATE OF ProcessBatch_id ON ProcessBatch WHEN NEW.ProcessBatch_id <> OLD.ProcessBatch_id AND (EXISTS (SELECT 1 FROM BatchControl c WHERE c.ProcessBatch_id = OLD.ProcessBatch_id) OR EXISTS (SELECT 1 FROM BatchProcessHistory c WHERE c.ProcessBatch_id = OLD.ProcessBatch_id) OR EXISTS (SELECT 1 FROM BatchCompletion c WHERE c.ProcessBatch_id = OLD.ProcessBatch_id) OR EXISTS (SELECT 1 FROM BatchCompletion c WHERE c.DependsOnBatch_id = OLD.ProcessBatch_id) OR EXISTS (SELECT 1 FROM DurationHistory c WHERE c.ProcessBatch_id = OLD.ProcessBatch_id) OR EXISTS (SELECT 1 FROM ProcessControl c WHERE c.ProcessBatch_id = OLD.ProcessBatch_id) OR EXISTS (SELECT 1 FROM BatchResource c WHERE c.ProcessBatch_id = OLD.ProcessBatch_id) OR EXISTS (SELECT 1 FROM BatchDependency c WHERE c.ProcessBatch_id = OLD.ProcessBatch_id) OR EXISTS (SELECT 1 FROM BatchDependency c WHERE c.DependsOnBatch_id = OLD.ProcessBatch_id))
BEGIN
    SELECT RAISE(ABORT, 'batchctl: other rows go by its ProcessBatch_id: leave that as it is');
END;

CREATE TRIGGER TR_ProcessBatch_Replaced BEFORE DELETE ON batchctl_replaced WHEN OLD.TableName = 'ProcessBatch' AND NOT EXISTS (SELECT 1 FROM ProcessBatch p WHERE p.ProcessBatch_id = OLD.RowNumber) AND (EXISTS (SELECT 1 FROM BatchControl c WHERE c.ProcessBatch_id = OLD.RowNumber) OR EXISTS (SELECT 1 FROM BatchProcessHistory c WHERE c.ProcessBatch_id = OLD.RowNumber) OR EXISTS (SELECT 1 FROM BatchCompletion c WHERE c.ProcessBatch_id = OLD.RowNumber) OR EXISTS (SELECT 1 FROM BatchCompletion c WHERE c.DependsOnBatch_id = OLD.RowNumber) OR EXISTS (SELECT 1 FROM DurationHistory c WHERE c.ProcessBatch_id = OLD.RowNumber) OR EXISTS (SELECT 1 FROM ProcessControl c WHERE c.ProcessBatch_id = OLD.RowNumber) OR EXISTS (SELECT 1 FROM BatchResource c WHERE c.ProcessBatch_id = OLD.RowNumber) OR EXISTS (SELECT 1 FROM BatchDependency c WHERE c.ProcessBatch_id = OLD.RowNumber) OR EXISTS (SELECT 1 FROM BatchDependency c WHERE c.DependsOnBatch_id = OLD.RowNumber))
BEGIN
    SELECT RAISE(ABORT, 'batchctl: other tables have rows of this ProcessBatch, which a REPLACE would leave behind: use UPDATE, or ON CONFLICT DO UPDATE');
END;

CREATE TRIGGER TR_Resource_InUse BEFORE DELETE ON Resource
BEGIN
    SELECT RAISE(ABORT, 'batchctl: BatchResource has rows of this Resource: DELETE FROM BatchResource WHERE Resource_id = ... first')
    WHERE EXISTS (SELECT 1 FROM BatchResource c WHERE c.Resource_id = OLD.Resource_id);
END;

CREATE TRIGGER TR_Resource_Renumbered BEFORE UPDATE OF Resource_id ON Resource WHEN NEW.Resource_id <> OLD.Resource_id AND (EXISTS (SELECT 1 FROM BatchResource c WHERE c.Resource_id = OLD.Resource_id))
BEGIN
    SELECT RAISE(ABORT, 'batchctl: other rows go by its Resource_id: leave that as it is');
END;

CREATE TRIGGER TR_Resource_Replaced BEFORE DELETE ON batchctl_replaced WHEN OLD.TableName = 'Resource' AND NOT EXISTS (SELECT 1 FROM Resource p WHERE p.Resource_id = OLD.RowNumber) AND (EXISTS (SELECT 1 FROM BatchResource c WHERE c.Resource_id = OLD.RowNumber))
BEGIN
    SELECT RAISE(ABORT, 'batchctl: other tables have rows of this Resource, which a REPLACE would leave behind: use UPDATE, or ON CONFLICT DO UPDATE');
END;

CREATE TRIGGER TR_Calendar_InUse BEFORE DELETE ON Calendar
BEGIN
    SELECT RAISE(ABORT, 'batchctl: CalendarDay has rows of this Calendar: DELETE FROM CalendarDay WHERE Calendar_id = ... first; or instead: batchctl calendar remove NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM CalendarDay c WHERE c.Calendar_id = OLD.Calendar_id);
END;

CREATE TRIGGER TR_Calendar_Renumbered BEFORE UPDATE OF Calendar_id ON Calendar WHEN NEW.Calendar_id <> OLD.Calendar_id AND (EXISTS (SELECT 1 FROM CalendarDay c WHERE c.Calendar_id = OLD.Calendar_id))
BEGIN
    SELECT RAISE(ABORT, 'batchctl: other rows go by its Calendar_id: leave that as it is');
END;

CREATE TRIGGER TR_Calendar_Replaced BEFORE DELETE ON batchctl_replaced WHEN OLD.TableName = 'Calendar' AND NOT EXISTS (SELECT 1 FROM Calendar p WHERE p.Calendar_id = OLD.RowNumber) AND (EXISTS (SELECT 1 FROM CalendarDay c WHERE c.Calendar_id = OLD.RowNumber))
BEGIN
    SELECT RAISE(ABORT, 'batchctl: other tables have rows of this Calendar, which a REPLACE would leave behind: use UPDATE, or ON CONFLICT DO UPDATE');
END;

CREATE TRIGGER TR_Schedule_InUse BEFORE DELETE ON Schedule
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ScheduleFire has rows of this Schedule: instead: batchctl schedule remove NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM ScheduleFire c WHERE c.Schedule_id = OLD.Schedule_id);
    SELECT RAISE(ABORT, 'batchctl: ScheduleBackfill has rows of this Schedule: instead: batchctl schedule remove NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM ScheduleBackfill c WHERE c.Schedule_id = OLD.Schedule_id);
END;

CREATE TRIGGER TR_Schedule_Renumbered BEFORE UPDATE OF Schedule_id ON Schedule WHEN NEW.Schedule_id <> OLD.Schedule_id AND (EXISTS (SELECT 1 FROM ScheduleFire c WHERE c.Schedule_id = OLD.Schedule_id) OR EXISTS (SELECT 1 FROM ScheduleBackfill c WHERE c.Schedule_id = OLD.Schedule_id))
BEGIN
    SELECT RAISE(ABORT, 'batchctl: other rows go by its Schedule_id: leave that as it is');
END;

CREATE TRIGGER TR_Schedule_Replaced BEFORE DELETE ON batchctl_replaced WHEN OLD.TableName = 'Schedule' AND NOT EXISTS (SELECT 1 FROM Schedule p WHERE p.Schedule_id = OLD.RowNumber) AND (EXISTS (SELECT 1 FROM ScheduleFire c WHERE c.Schedule_id = OLD.RowNumber) OR EXISTS (SELECT 1 FROM ScheduleBackfill c WHERE c.Schedule_id = OLD.RowNumber))
BEGIN
    SELECT RAISE(ABORT, 'batchctl: other tables have rows of this Schedule, which a REPLACE would leave behind: use UPDATE, or ON CONFLICT DO UPDATE');
END;

CREATE TRIGGER TR_FileWatch_InUse BEFORE DELETE ON FileWatch
BEGIN
    SELECT RAISE(ABORT, 'batchctl: FileWatchSeen has rows of this FileWatch: instead: UPDATE FileWatch SET Enabled = 0 WHERE WatchName = ...')
    WHERE EXISTS (SELECT 1 FROM FileWatchSeen c WHERE c.FileWatch_id = OLD.FileWatch_id);
END;

CREATE TRIGGER TR_FileWatch_Renumbered BEFORE UPDATE OF FileWatch_id ON FileWatch WHEN NEW.FileWatch_id <> OLD.FileWatch_id AND (EXISTS (SELECT 1 FROM FileWatchSeen c WHERE c.FileWatch_id = OLD.FileWatch_id))
BEGIN
    SELECT RAISE(ABORT, 'batchctl: other rows go by its FileWatch_id: leave that as it is');
END;

CREATE TRIGGER TR_FileWatch_Replaced BEFORE DELETE ON batchctl_replaced WHEN OLD.TableName = 'FileWatch' AND NOT EXISTS (SELECT 1 FROM FileWatch p WHERE p.FileWatch_id = OLD.RowNumber) AND (EXISTS (SELECT 1 FROM FileWatchSeen c WHERE c.FileWatch_id = OLD.RowNumber))
BEGIN
    SELECT RAISE(ABORT, 'batchctl: other tables have rows of this FileWatch, which a REPLACE would leave behind: use UPDATE, or ON CONFLICT DO UPDATE');
END;

CREATE TRIGGER TR_FileProcess_SuccessInsert AFTER INSERT ON FileProcess WHEN NEW.Status = 'success'
BEGIN
    UPDATE FileProcess SET Status = 'complete' WHERE FileProcess_id = NEW.FileProcess_id;
END;

CREATE TRIGGER TR_FileProcess_SuccessUpdate AFTER UPDATE OF Status ON FileProcess WHEN NEW.Status = 'success'
BEGIN
    UPDATE FileProcess SET Status = 'complete' WHERE FileProcess_id = NEW.FileProcess_id;
END;

CREATE TRIGGER TR_BatchControl_SuccessInsert AFTER INSERT ON BatchControl WHEN NEW.Status = 'success'
BEGIN
    UPDATE BatchControl SET Status = 'ready' WHERE BatchControl_id = NEW.BatchControl_id;
END;

CREATE TRIGGER TR_BatchControl_SuccessUpdate AFTER UPDATE OF Status ON BatchControl WHEN NEW.Status = 'success'
BEGIN
    UPDATE BatchControl SET Status = 'ready' WHERE BatchControl_id = NEW.BatchControl_id;
END;

CREATE TRIGGER TR_BatchControl_InUse BEFORE DELETE ON BatchControl WHEN EXISTS (SELECT 1 FROM BatchProcessHistory h WHERE h.BatchControl_id = OLD.BatchControl_id)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: the BatchControl row has attempts in BatchProcessHistory: batchctl cancel ID --reason ... unless it is over or being cancelled; what is complete or cancelled goes with batchctl purge');
END;

CREATE TRIGGER TR_FileProcess_InUse BEFORE DELETE ON FileProcess WHEN EXISTS (SELECT 1 FROM BatchControl AS w WHERE w.FileProcess_id = OLD.FileProcess_id)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: the FileProcess row has instances: of each, batchctl cancel ID --reason ... unless it is over or being cancelled; what is complete or cancelled goes with batchctl purge');
END;

CREATE TRIGGER TR_ProcessControl_InUseDelete BEFORE DELETE ON ProcessControl WHEN EXISTS (SELECT 1 FROM BatchProcessHistory AS h WHERE h.Status = 'running' AND h.ProcessBatch_id = OLD.ProcessBatch_id AND h.ProcessControlSeq = OLD.ProcessControlSeq)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: the ProcessControl row is a step that runs at this moment: wait until it has ended; or, unless it is being cancelled already: batchctl cancel ID --reason ..., with the BatchControl_id that vRunning shows');
END;

CREATE TRIGGER TR_ProcessControl_InUseUpdate BEFORE UPDATE ON ProcessControl WHEN (NEW.ProcessBatch_id IS NOT OLD.ProcessBatch_id OR NEW.ProcessControlSeq IS NOT OLD.ProcessControlSeq) AND EXISTS (SELECT 1 FROM BatchProcessHistory AS h WHERE h.Status = 'running' AND h.ProcessBatch_id = OLD.ProcessBatch_id AND h.ProcessControlSeq = OLD.ProcessControlSeq)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: the ProcessControl row is a step that runs at this moment: wait until it has ended; or, unless it is being cancelled already: batchctl cancel ID --reason ..., with the BatchControl_id that vRunning shows');
END;

CREATE TRIGGER TR_ProcessControl_Replaced AFTER INSERT ON ProcessControl WHEN EXISTS (SELECT 1 FROM BatchProcessHistory h WHERE h.Status = 'running' AND NOT EXISTS (SELECT 1 FROM ProcessControl p WHERE p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq))
BEGIN
    SELECT RAISE(ABORT, 'batchctl: the step runs, which a REPLACE would move or remove: wait until it has ended; or, unless it is being cancelled already: batchctl cancel ID --reason ..., with the BatchControl_id that vRunning shows');
END;

CREATE TRIGGER TR_FileProcess_InTheWay BEFORE INSERT ON FileProcess WHEN EXISTS (SELECT 1 FROM FileProcess r WHERE r.FileProcess_id = NEW.FileProcess_id) OR EXISTS (SELECT 1 FROM batchctl_replaced w WHERE w.TableName = 'FileProcess')
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'FileProcess';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'FileProcess', r.FileProcess_id, 'FileProcess:' || r.FileProcess_id, '{}' FROM FileProcess r WHERE r.FileProcess_id = NEW.FileProcess_id;
END;

CREATE TRIGGER TR_FileProcess_NotReplaced AFTER INSERT ON FileProcess WHEN EXISTS (SELECT 1 FROM batchctl_replaced w WHERE w.TableName = 'FileProcess' AND (w.RowNumber = NEW.FileProcess_id OR NOT EXISTS (SELECT 1 FROM FileProcess r WHERE r.FileProcess_id = w.RowNumber)))
BEGIN
    SELECT RAISE(ABORT, 'batchctl: a REPLACE forgets how the FileProcess row stands, and leaves no row in AuditLog: UPDATE FileProcess ... instead');
END;

CREATE TRIGGER TR_BatchControl_InTheWay BEFORE INSERT ON BatchControl WHEN EXISTS (SELECT 1 FROM BatchControl r WHERE r.BatchControl_id = NEW.BatchControl_id OR (r.FileProcess_id = NEW.FileProcess_id AND r.ProcessBatch_id = NEW.ProcessBatch_id)) OR EXISTS (SELECT 1 FROM batchctl_replaced w WHERE w.TableName = 'BatchControl')
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = 'BatchControl';
    INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)
    SELECT 'BatchControl', r.BatchControl_id, 'BatchControl:' || r.BatchControl_id, '{}' FROM BatchControl r WHERE r.BatchControl_id = NEW.BatchControl_id OR (r.FileProcess_id = NEW.FileProcess_id AND r.ProcessBatch_id = NEW.ProcessBatch_id);
END;

CREATE TRIGGER TR_BatchControl_NotReplaced AFTER INSERT ON BatchControl WHEN EXISTS (SELECT 1 FROM batchctl_replaced w WHERE w.TableName = 'BatchControl' AND (w.RowNumber = NEW.BatchControl_id OR NOT EXISTS (SELECT 1 FROM BatchControl r WHERE r.BatchControl_id = w.RowNumber)))
BEGIN
    SELECT RAISE(ABORT, 'batchctl: a REPLACE forgets how the BatchControl row stands, and leaves no row in AuditLog: UPDATE BatchControl ... instead');
END;

CREATE TRIGGER TR_FileProcess_Paused BEFORE UPDATE OF Status ON FileProcess WHEN NEW.Status = 'paused' AND OLD.Status <> 'paused' AND EXISTS (SELECT 1 FROM BatchControl AS w WHERE w.FileProcess_id = OLD.FileProcess_id)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: the FileProcess row has instances: pause these (batchctl pause ID --reason ...), which inbox show names');
END;

CREATE TRIGGER TR_FileProcess_Replaced AFTER INSERT ON FileProcess WHEN NEW.Status = 'paused' AND EXISTS (SELECT 1 FROM BatchControl AS w WHERE w.FileProcess_id = NEW.FileProcess_id)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: the row has instances, which would go on all the same: pause these');
END;

CREATE TRIGGER TR_FileProcess_SetAside BEFORE UPDATE OF Status ON FileProcess WHEN NEW.z_updated IS OLD.z_updated AND NEW.Status <> OLD.Status AND (NEW.Status = 'rejected' OR NEW.Status = 'duplicate') AND EXISTS (SELECT 1 FROM BatchControl AS w WHERE w.FileProcess_id = NEW.FileProcess_id AND w.Status NOT IN ('complete', 'cancelled'))
BEGIN
    SELECT RAISE(ABORT, 'batchctl: the FileProcess row has instances that are not over: cancel these (batchctl cancel ID --reason ...), which inbox show names');
END;

CREATE TRIGGER TR_FileProcess_SetAsideInsert AFTER INSERT ON FileProcess WHEN (NEW.Status = 'rejected' OR NEW.Status = 'duplicate') AND EXISTS (SELECT 1 FROM BatchControl AS w WHERE w.FileProcess_id = NEW.FileProcess_id AND w.Status NOT IN ('complete', 'cancelled'))
BEGIN
    SELECT RAISE(ABORT, 'batchctl: the FileProcess row has instances that are not over: cancel these (batchctl cancel ID --reason ...), which inbox show names');
END;

CREATE TRIGGER TR_Calendar_Used BEFORE DELETE ON Calendar WHEN EXISTS (SELECT 1 FROM Schedule AS u WHERE u.CalendarName = OLD.CalendarName) OR EXISTS (SELECT 1 FROM ProcessBatch AS u WHERE u.ExpectedCalendar = OLD.CalendarName)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: a schedule or ExpectedCalendar of a batch names this calendar: UPDATE Schedule SET CalendarName = ..., UPDATE ProcessBatch SET ExpectedCalendar = ... first');
END;

CREATE TRIGGER TR_Calendar_Renamed BEFORE UPDATE OF CalendarName ON Calendar WHEN NEW.CalendarName <> OLD.CalendarName AND (EXISTS (SELECT 1 FROM Schedule AS u WHERE u.CalendarName = OLD.CalendarName) OR EXISTS (SELECT 1 FROM ProcessBatch AS u WHERE u.ExpectedCalendar = OLD.CalendarName))
BEGIN
    SELECT RAISE(ABORT, 'batchctl: a schedule or ExpectedCalendar of a batch names this calendar: UPDATE Schedule SET CalendarName = ..., UPDATE ProcessBatch SET ExpectedCalendar = ... first');
END;

CREATE TRIGGER TR_vSqlJob_Insert INSTEAD OF INSERT ON vSqlJob
BEGIN
    SELECT RAISE(ABORT, 'batchctl: a job needs JobName, ConnectionName, ScheduledSql and FirstRunOn')
    WHERE NEW.JobName IS NULL OR NEW.FirstRunOn IS NULL OR NEW.ConnectionName IS NULL OR NEW.ScheduledSql IS NULL;
    SELECT RAISE(ABORT, 'batchctl: IsRepeatable is 0 (once) or 1 (daily)')
    WHERE CAST(NEW.IsRepeatable AS TEXT) NOT IN ('0', '1');
    SELECT RAISE(ABORT, 'batchctl: a daily job is due on the minute: write FirstRunOn without seconds, such as 2026-12-01 02:15')
    WHERE COALESCE(NEW.IsRepeatable, 0) <> 0 AND RTRIM(substr(NEW.FirstRunOn, 17)) NOT IN ('', ':00');
    SELECT RAISE(ABORT, 'batchctl: JobName is empty: it is the name of the job')
    WHERE TRIM(NEW.JobName) = '';
    SELECT RAISE(ABORT, 'batchctl: FirstRunOn is a time, such as 2026-12-01 02:15')
    WHERE NOT ((trim(NEW.FirstRunOn) GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9][ T][0-2][0-9]:[0-5][0-9]' OR trim(NEW.FirstRunOn) GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9][ T][0-2][0-9]:[0-5][0-9]:[0-5][0-9]') AND trim(NEW.FirstRunOn) NOT GLOB '?????00*' AND trim(NEW.FirstRunOn) NOT GLOB '?????1[3-9]*' AND trim(NEW.FirstRunOn) NOT GLOB '????????00*' AND trim(NEW.FirstRunOn) NOT GLOB '????????3[2-9]*' AND trim(NEW.FirstRunOn) NOT GLOB '*[ T]2[4-9]*');
    SELECT RAISE(ABORT, 'batchctl: IsEnabled is 0 or 1')
    WHERE CAST(NEW.IsEnabled AS TEXT) NOT IN ('0', '1');
    SELECT RAISE(ABORT, 'batchctl: there is a batch or a schedule of this JobName already: SELECT JobName FROM vSqlJob; batchctl batches')
    WHERE EXISTS (SELECT 1 FROM ProcessBatch t WHERE t.ProcessBatchName = NEW.JobName) OR EXISTS (SELECT 1 FROM Schedule t WHERE t.ScheduleName = NEW.JobName);
    INSERT INTO ProcessBatch (ProcessBatchName, OnFailure, Origin)
    SELECT NEW.JobName, 'continue', 'sql';
    INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2)
    SELECT b.ProcessBatch_id, 10, NEW.JobName, 'sql', replace(replace(NEW.ConnectionName, '{', '{{'), '}', '}}'), replace(replace(NEW.ScheduledSql, '{', '{{'), '}', '}}') FROM ProcessBatch b WHERE b.ProcessBatchName = NEW.JobName;
    INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, StartDate, RunAt, TimeZone, CatchUp, Enabled, Origin)
    SELECT NEW.JobName, NEW.JobName, CASE WHEN COALESCE(NEW.IsRepeatable, 0) <> 0 THEN 'daily' ELSE 'once' END,
        CASE WHEN COALESCE(NEW.IsRepeatable, 0) <> 0 THEN substr(NEW.FirstRunOn, 12, 5) END, CASE WHEN COALESCE(NEW.IsRepeatable, 0) <> 0 THEN substr(NEW.FirstRunOn, 1, 10) END,
        CASE WHEN NOT (COALESCE(NEW.IsRepeatable, 0) <> 0) THEN NEW.FirstRunOn END, NEW.TimeZone, 'latest', COALESCE(NEW.IsEnabled, 1), 'sql';
END;

CREATE TRIGGER TR_vSqlJob_Update INSTEAD OF UPDATE ON vSqlJob
BEGIN
    SELECT RAISE(ABORT, 'batchctl: a row of vSqlJob is a job. To change its SQL or its connection: batchctl schedule set-sql NAME --sql ... --connection ... --reason ...; its times: UPDATE Schedule SET RunAt (once) or RunTimes (daily), Enabled, TimeZone ... WHERE ScheduleName = NAME');
END;

CREATE TRIGGER TR_vSqlJob_Delete INSTEAD OF DELETE ON vSqlJob
BEGIN
    SELECT RAISE(ABORT, 'batchctl: a row of vSqlJob is a job. To remove it: batchctl schedule remove NAME --reason ...; to stop it: UPDATE Schedule SET Enabled = 0 WHERE ScheduleName = NAME');
END;

COMMIT;

