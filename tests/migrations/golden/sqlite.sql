-- The control database of batchctl on SQLite, schema 0045.
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
    ProcessBatchName TEXT NOT NULL,
    Entity TEXT,
    Enabled INTEGER DEFAULT 1 NOT NULL,
    Seq INTEGER DEFAULT 100 NOT NULL,
    RetryCount INTEGER DEFAULT 0 NOT NULL,
    RetryWaitMins INTEGER DEFAULT 5 NOT NULL,
    Populator TEXT DEFAULT 'pattern' NOT NULL,
    PopulatorArgs TEXT,
    OnFailure TEXT COLLATE "NOCASE" DEFAULT 'hold_batch' NOT NULL,
    DependencyMode TEXT COLLATE "NOCASE" DEFAULT 'all' NOT NULL,
    MaxConcurrent INTEGER DEFAULT 1 NOT NULL,
    DuplicateCheck INTEGER DEFAULT 1 NOT NULL,
    Description TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    ProcessingMode TEXT COLLATE "NOCASE",
    RetryWaitSecs INTEGER,
    Origin TEXT,
    Tags TEXT,
    ArriveBy TEXT,
    StartBy TEXT,
    FinishBy TEXT,
    ExpectedOn TEXT,
    ExpectedCalendar TEXT,
    PopulatorOn TEXT COLLATE "NOCASE",
    CONSTRAINT "UQ_ProcessBatch_ProcessBatchName" UNIQUE (ProcessBatchName),
    CONSTRAINT "CK_ProcessBatch_ProcessBatchName" CHECK (ProcessBatchName <> ''),
    CONSTRAINT "CK_ProcessBatch_Enabled" CHECK (Enabled IN (0, 1)),
    CONSTRAINT "CK_ProcessBatch_DuplicateCheck" CHECK (DuplicateCheck IN (0, 1)),
    CONSTRAINT "CK_ProcessBatch_RetryCount" CHECK (RetryCount BETWEEN 0 AND 1000),
    CONSTRAINT "CK_ProcessBatch_RetryWaitMins" CHECK (RetryWaitMins BETWEEN 0 AND 525600),
    CONSTRAINT "CK_ProcessBatch_MaxConcurrent" CHECK (MaxConcurrent BETWEEN 1 AND 1000),
    CONSTRAINT "CK_ProcessBatch_OnFailure" CHECK (OnFailure IN ('hold_batch', 'stop_all', 'continue')),
    CONSTRAINT "CK_ProcessBatch_DependencyMode" CHECK (DependencyMode IN ('all', 'any')),
    CONSTRAINT "CK_ProcessBatch_Entity" CHECK (Entity <> ''),
    CONSTRAINT "CK_ProcessBatch_Populator" CHECK (Populator <> ''),
    CONSTRAINT "CK_ProcessBatch_ProcessingMode" CHECK (ProcessingMode IN ('manual', 'scheduled', 'triggered')),
    CONSTRAINT "CK_ProcessBatch_RetryWaitSecs" CHECK (RetryWaitSecs BETWEEN 0 AND 31536000),
    CONSTRAINT "CK_ProcessBatch_ArriveBy" CHECK (lower(trim(ArriveBy)) = 'none' OR (trim(ArriveBy) GLOB '[0-2][0-9]:[0-5][0-9]'
        AND trim(ArriveBy) NOT GLOB '2[4-9]*')),
    CONSTRAINT "CK_ProcessBatch_StartBy" CHECK (lower(trim(StartBy)) = 'none' OR (trim(StartBy) GLOB '[0-2][0-9]:[0-5][0-9]'
        AND trim(StartBy) NOT GLOB '2[4-9]*')),
    CONSTRAINT "CK_ProcessBatch_FinishBy" CHECK (lower(trim(FinishBy)) = 'none' OR (trim(FinishBy) GLOB '[0-2][0-9]:[0-5][0-9]'
        AND trim(FinishBy) NOT GLOB '2[4-9]*')),
    CONSTRAINT "CK_ProcessBatch_ExpectedOn"
        CHECK (length(replace(replace(replace(replace(replace(replace(replace(',' || replace(replace(lower(replace(ExpectedOn, ' ', '')), '-', ','), ',', ',,') || ',', ',mon,', ''), ',tue,', ''), ',wed,', ''), ',thu,', ''), ',fri,', ''), ',sat,', ''), ',sun,', '')) = 0 * length(',' || replace(replace(lower(replace(ExpectedOn, ' ', '')), '-', ','), ',', ',,') || ',') AND replace(replace(ExpectedOn, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*' AND lower(replace(ExpectedOn, ' ', '')) NOT GLOB '*-[^-,]-*' AND lower(replace(ExpectedOn, ' ', '')) NOT GLOB '*-[^-,][^-,]-*' AND lower(replace(ExpectedOn, ' ', '')) NOT GLOB '*-[^-,][^-,][^-,]-*'),
    CONSTRAINT "CK_ProcessBatch_PopulatorOn" CHECK (PopulatorOn IN ('filename', 'data', 'entity')),
    CONSTRAINT "CK_ProcessBatch_ProcessBatchName_Type" CHECK (length(ProcessBatchName) <= 200
        AND instr(ProcessBatchName, char(0)) = 0),
    CONSTRAINT "CK_ProcessBatch_Entity_Type" CHECK (length(Entity) <= 200 AND instr(Entity, char(0)) = 0),
    CONSTRAINT "CK_ProcessBatch_Populator_Type" CHECK (length(Populator) <= 200 AND instr(Populator, char(0)) = 0),
    CONSTRAINT "CK_ProcessBatch_PopulatorArgs_Type" CHECK (instr(PopulatorArgs, char(0)) = 0),
    CONSTRAINT "CK_ProcessBatch_Description_Type" CHECK (instr(Description, char(0)) = 0),
    CONSTRAINT "CK_ProcessBatch_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_ProcessBatch_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0)))),
    CONSTRAINT "CK_ProcessBatch_Origin_Type" CHECK (length(Origin) <= 200 AND instr(Origin, char(0)) = 0),
    CONSTRAINT "CK_ProcessBatch_Tags_Type" CHECK (length(Tags) <= 200 AND instr(Tags, char(0)) = 0),
    CONSTRAINT "CK_ProcessBatch_ArriveBy_Type" CHECK (length(ArriveBy) <= 50 AND instr(ArriveBy, char(0)) = 0),
    CONSTRAINT "CK_ProcessBatch_StartBy_Type" CHECK (length(StartBy) <= 50 AND instr(StartBy, char(0)) = 0),
    CONSTRAINT "CK_ProcessBatch_FinishBy_Type" CHECK (length(FinishBy) <= 50 AND instr(FinishBy, char(0)) = 0),
    CONSTRAINT "CK_ProcessBatch_ExpectedOn_Type" CHECK (length(ExpectedOn) <= 50 AND instr(ExpectedOn, char(0)) = 0),
    CONSTRAINT "CK_ProcessBatch_ExpectedCalendar_Type" CHECK (length(ExpectedCalendar) <= 200
        AND instr(ExpectedCalendar, char(0)) = 0)
) STRICT;

-- What steps share, such as an FTP server, and how many units of it there are.
CREATE TABLE Resource (
    Resource_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ResourceName TEXT NOT NULL,
    Units INTEGER DEFAULT 1 NOT NULL,
    Description TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_Resource_ResourceName" UNIQUE (ResourceName),
    CONSTRAINT "CK_Resource_ResourceName" CHECK (ResourceName <> ''),
    CONSTRAINT "CK_Resource_Units" CHECK (Units BETWEEN 0 AND 1000000),
    CONSTRAINT "CK_Resource_ResourceName_Type" CHECK (length(ResourceName) <= 200 AND instr(ResourceName, char(0)) = 0),
    CONSTRAINT "CK_Resource_Description_Type" CHECK (instr(Description, char(0)) = 0),
    CONSTRAINT "CK_Resource_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_Resource_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

-- When rows of an entity are put into FileProcess by themselves.
CREATE TABLE Schedule (
    Schedule_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ScheduleName TEXT NOT NULL,
    Entity TEXT NOT NULL,
    ScheduleType TEXT COLLATE "NOCASE" NOT NULL,
    IntervalMinutes INTEGER,
    RunTimes TEXT,
    RunDays TEXT,
    RunDaysOfMonth TEXT,
    WeekOfMonth TEXT,
    RunMonths TEXT,
    BetweenTimes TEXT,
    EveryN INTEGER DEFAULT 1 NOT NULL,
    StartDate TEXT,
    EndDate TEXT,
    RunAt TEXT,
    Cron TEXT,
    TimeZone TEXT,
    CalendarName TEXT,
    CalendarRule TEXT COLLATE "NOCASE" DEFAULT 'business_days' NOT NULL,
    GapPolicy TEXT COLLATE "NOCASE" DEFAULT 'run' NOT NULL,
    FoldPolicy TEXT COLLATE "NOCASE" DEFAULT 'once' NOT NULL,
    CatchUp TEXT COLLATE "NOCASE" DEFAULT 'none' NOT NULL,
    CatchUpMost INTEGER,
    Overlap TEXT COLLATE "NOCASE" DEFAULT 'queue' NOT NULL,
    Jitter INTEGER DEFAULT 0 NOT NULL,
    Enabled INTEGER DEFAULT 1 NOT NULL,
    NextRunTime TEXT,
    DecidedUntil TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    TimingHash TEXT,
    Origin TEXT,
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
    CONSTRAINT "CK_Schedule_ScheduleType"
        CHECK (ScheduleType IN ('interval', 'daily', 'weekly', 'monthly', 'monthly_dow', 'once', 'cron')),
    CONSTRAINT "CK_Schedule_CalendarRule" CHECK (CalendarRule IN ('business_days', 'days_off', 'next', 'previous')),
    CONSTRAINT "CK_Schedule_GapPolicy" CHECK (GapPolicy IN ('run', 'skip')),
    CONSTRAINT "CK_Schedule_FoldPolicy" CHECK (FoldPolicy IN ('once', 'twice')),
    CONSTRAINT "CK_Schedule_CatchUp" CHECK (CatchUp IN ('none', 'latest', 'up_to')),
    CONSTRAINT "CK_Schedule_Overlap" CHECK (Overlap IN ('queue', 'skip')),
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
        CHECK (length(replace(replace(replace(replace(replace(replace(replace(',' || replace(replace(lower(replace(RunDays, ' ', '')), '-', ','), ',', ',,') || ',', ',mon,', ''), ',tue,', ''), ',wed,', ''), ',thu,', ''), ',fri,', ''), ',sat,', ''), ',sun,', '')) = 0 * length(',' || replace(replace(lower(replace(RunDays, ' ', '')), '-', ','), ',', ',,') || ',') AND replace(replace(RunDays, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*' AND lower(replace(RunDays, ' ', '')) NOT GLOB '*-[^-,]-*' AND lower(replace(RunDays, ' ', '')) NOT GLOB '*-[^-,][^-,]-*' AND lower(replace(RunDays, ' ', '')) NOT GLOB '*-[^-,][^-,][^-,]-*'),
    CONSTRAINT "CK_Schedule_WeekOfMonth_Form"
        CHECK (length(replace(replace(replace(replace(replace(replace(',' || replace(lower(replace(WeekOfMonth, ' ', '')), ',', ',,') || ',', ',first,', ''), ',second,', ''), ',third,', ''), ',fourth,', ''), ',fifth,', ''), ',last,', '')) = 0 * length(',' || replace(lower(replace(WeekOfMonth, ' ', '')), ',', ',,') || ',') AND replace(replace(WeekOfMonth, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*'),
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
        CHECK (length(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',jan,', ''), ',feb,', ''), ',mar,', ''), ',apr,', ''), ',may,', ''), ',jun,', ''), ',jul,', ''), ',aug,', ''), ',sep,', ''), ',oct,', '')) + length(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',nov,', ''), ',dec,', ''), ',1,', ''), ',2,', ''), ',3,', ''), ',4,', ''), ',5,', ''), ',6,', ''), ',7,', ''), ',8,', '')) + length(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',9,', ''), ',10,', ''), ',11,', ''), ',12,', ''), ',01,', ''), ',02,', ''), ',03,', ''), ',04,', ''), ',05,', ''), ',06,', '')) + length(replace(replace(replace(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',', ',07,', ''), ',08,', ''), ',09,', '')) = 3 * length(',' || replace(replace(lower(replace(RunMonths, ' ', '')), '-', ','), ',', ',,') || ',') AND replace(replace(RunMonths, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*' AND lower(replace(RunMonths, ' ', '')) NOT GLOB '*-[^-,]-*' AND lower(replace(RunMonths, ' ', '')) NOT GLOB '*-[^-,][^-,]-*' AND lower(replace(RunMonths, ' ', '')) NOT GLOB '*-[^-,][^-,][^-,]-*'),
    CONSTRAINT "CK_Schedule_RunDaysOfMonth_Form"
        CHECK (length(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',1,', ''), ',2,', ''), ',3,', ''), ',4,', ''), ',5,', ''), ',6,', ''), ',7,', ''), ',8,', ''), ',9,', ''), ',10,', '')) + length(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',11,', ''), ',12,', ''), ',13,', ''), ',14,', ''), ',15,', ''), ',16,', ''), ',17,', ''), ',18,', ''), ',19,', ''), ',20,', '')) + length(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',21,', ''), ',22,', ''), ',23,', ''), ',24,', ''), ',25,', ''), ',26,', ''), ',27,', ''), ',28,', ''), ',29,', ''), ',30,', '')) + length(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',31,', ''), ',01,', ''), ',02,', ''), ',03,', ''), ',04,', ''), ',05,', ''), ',06,', ''), ',07,', ''), ',08,', ''), ',09,', '')) + length(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',last,', ''), ',business_1,', ''), ',business_2,', ''), ',business_3,', ''), ',business_4,', ''), ',business_5,', ''), ',business_6,', ''), ',business_7,', ''), ',business_8,', ''), ',business_9,', '')) + length(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_10,', ''), ',business_11,', ''), ',business_12,', ''), ',business_13,', ''), ',business_14,', ''), ',business_15,', ''), ',business_16,', ''), ',business_17,', ''), ',business_18,', ''), ',business_19,', '')) + length(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_20,', ''), ',business_21,', ''), ',business_22,', ''), ',business_23,', ''), ',business_01,', ''), ',business_02,', ''), ',business_03,', ''), ',business_04,', ''), ',business_05,', ''), ',business_06,', '')) + length(replace(replace(replace(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',business_07,', ''), ',business_08,', ''), ',business_09,', ''), ',business_last,', '')) = 7 * length(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',') AND replace(replace(RunDaysOfMonth, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*'),
    CONSTRAINT "CK_Schedule_RunMonths_Days"
        CHECK (NOT ((length(replace(replace(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',feb,', ''), ',2,', ''), ',02,', '')) = 0 * length(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',') AND replace(replace(RunMonths, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*') AND (length(replace(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',30,', ''), ',31,', '')) = 0 * length(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',') AND replace(replace(RunDaysOfMonth, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*')) AND NOT ((length(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',feb,', ''), ',apr,', ''), ',jun,', ''), ',sep,', ''), ',nov,', ''), ',2,', ''), ',4,', ''), ',6,', ''), ',9,', ''), ',11,', '')) + length(replace(replace(replace(replace(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',', ',02,', ''), ',04,', ''), ',06,', ''), ',09,', '')) = 1 * length(',' || replace(lower(replace(RunMonths, ' ', '')), ',', ',,') || ',') AND replace(replace(RunMonths, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*') AND (length(replace(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',', ',31,', '')) = 0 * length(',' || replace(lower(replace(RunDaysOfMonth, ' ', '')), ',', ',,') || ',') AND replace(replace(RunDaysOfMonth, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*'))),
    CONSTRAINT "CK_Schedule_RunTimes_Blanks" CHECK (replace(replace(RunTimes, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*'),
    CONSTRAINT "CK_Schedule_BetweenTimes_Blanks"
        CHECK (replace(replace(BetweenTimes, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*'),
    CONSTRAINT "CK_Schedule_ScheduleName_Type" CHECK (length(ScheduleName) <= 200 AND instr(ScheduleName, char(0)) = 0),
    CONSTRAINT "CK_Schedule_Entity_Type" CHECK (length(Entity) <= 200 AND instr(Entity, char(0)) = 0),
    CONSTRAINT "CK_Schedule_RunTimes_Type" CHECK (length(RunTimes) <= 200 AND instr(RunTimes, char(0)) = 0),
    CONSTRAINT "CK_Schedule_RunDays_Type" CHECK (length(RunDays) <= 200 AND instr(RunDays, char(0)) = 0),
    CONSTRAINT "CK_Schedule_RunDaysOfMonth_Type" CHECK (length(RunDaysOfMonth) <= 200 AND instr(RunDaysOfMonth, char(0)) = 0),
    CONSTRAINT "CK_Schedule_WeekOfMonth_Type" CHECK (length(WeekOfMonth) <= 200 AND instr(WeekOfMonth, char(0)) = 0),
    CONSTRAINT "CK_Schedule_RunMonths_Type" CHECK (length(RunMonths) <= 200 AND instr(RunMonths, char(0)) = 0),
    CONSTRAINT "CK_Schedule_BetweenTimes_Type" CHECK (length(BetweenTimes) <= 50 AND instr(BetweenTimes, char(0)) = 0),
    CONSTRAINT "CK_Schedule_StartDate_Type" CHECK (length(StartDate) <= 10 AND instr(StartDate, char(0)) = 0),
    CONSTRAINT "CK_Schedule_EndDate_Type" CHECK (length(EndDate) <= 10 AND instr(EndDate, char(0)) = 0),
    CONSTRAINT "CK_Schedule_RunAt_Type" CHECK (length(RunAt) <= 50 AND instr(RunAt, char(0)) = 0),
    CONSTRAINT "CK_Schedule_Cron_Type" CHECK (length(Cron) <= 200 AND instr(Cron, char(0)) = 0),
    CONSTRAINT "CK_Schedule_TimeZone_Type" CHECK (length(TimeZone) <= 200 AND instr(TimeZone, char(0)) = 0),
    CONSTRAINT "CK_Schedule_CalendarName_Type" CHECK (length(CalendarName) <= 200 AND instr(CalendarName, char(0)) = 0),
    CONSTRAINT "CK_Schedule_NextRunTime_Type" CHECK (NextRunTime IS NULL OR (NextRunTime >= '0001' AND NextRunTime < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', NextRunTime, '+0 days') IS NextRunTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(NextRunTime, 1, 23), '+0 days'), 1, length(rtrim(NextRunTime))) IS substr(NextRunTime, 1, 23) AND trim(substr(NextRunTime, 24), '0123456789') = '' AND instr(NextRunTime, char(0)) = 0)))),
    CONSTRAINT "CK_Schedule_DecidedUntil_Type" CHECK (DecidedUntil IS NULL OR (DecidedUntil >= '0001' AND DecidedUntil < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', DecidedUntil, '+0 days') IS DecidedUntil
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(DecidedUntil, 1, 23), '+0 days'), 1, length(rtrim(DecidedUntil))) IS substr(DecidedUntil, 1, 23) AND trim(substr(DecidedUntil, 24), '0123456789') = '' AND instr(DecidedUntil, char(0)) = 0)))),
    CONSTRAINT "CK_Schedule_TimingHash_Type" CHECK (length(TimingHash) <= 64 AND instr(TimingHash, char(0)) = 0),
    CONSTRAINT "CK_Schedule_Origin_Type" CHECK (length(Origin) <= 200 AND instr(Origin, char(0)) = 0),
    CONSTRAINT "CK_Schedule_Description_Type" CHECK (instr(Description, char(0)) = 0),
    CONSTRAINT "CK_Schedule_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_Schedule_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

CREATE INDEX "IX_Schedule_Due" ON Schedule (NextRunTime) WHERE Enabled = 1;

-- A named set of business days.
CREATE TABLE Calendar (
    Calendar_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    CalendarName TEXT NOT NULL,
    BusinessDays TEXT DEFAULT 'Mon,Tue,Wed,Thu,Fri' NOT NULL,
    ValidFrom TEXT,
    ValidUntil TEXT,
    Description TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_Calendar_CalendarName" UNIQUE (CalendarName),
    CONSTRAINT "CK_Calendar_CalendarName" CHECK (CalendarName <> ''),
    CONSTRAINT "CK_Calendar_BusinessDays" CHECK (trim(BusinessDays) = ''
        OR (length(replace(replace(replace(replace(replace(replace(replace(',' || replace(replace(lower(replace(BusinessDays, ' ', '')), '-', ','), ',', ',,') || ',', ',mon,', ''), ',tue,', ''), ',wed,', ''), ',thu,', ''), ',fri,', ''), ',sat,', ''), ',sun,', '')) = 0 * length(',' || replace(replace(lower(replace(BusinessDays, ' ', '')), '-', ','), ',', ',,') || ',') AND replace(replace(BusinessDays, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*' AND lower(replace(BusinessDays, ' ', '')) NOT GLOB '*-[^-,]-*' AND lower(replace(BusinessDays, ' ', '')) NOT GLOB '*-[^-,][^-,]-*' AND lower(replace(BusinessDays, ' ', '')) NOT GLOB '*-[^-,][^-,][^-,]-*')),
    CONSTRAINT "CK_Calendar_ValidFrom" CHECK (trim(ValidFrom) GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'
        AND trim(ValidFrom) NOT GLOB '?????00*' AND trim(ValidFrom) NOT GLOB '?????1[3-9]*'
        AND trim(ValidFrom) NOT GLOB '????????00*' AND trim(ValidFrom) NOT GLOB '????????3[2-9]*'),
    CONSTRAINT "CK_Calendar_ValidUntil" CHECK (trim(ValidUntil) GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'
        AND trim(ValidUntil) NOT GLOB '?????00*' AND trim(ValidUntil) NOT GLOB '?????1[3-9]*'
        AND trim(ValidUntil) NOT GLOB '????????00*' AND trim(ValidUntil) NOT GLOB '????????3[2-9]*'),
    CONSTRAINT "CK_Calendar_CalendarName_Type" CHECK (length(CalendarName) <= 200 AND instr(CalendarName, char(0)) = 0),
    CONSTRAINT "CK_Calendar_BusinessDays_Type" CHECK (length(BusinessDays) <= 50 AND instr(BusinessDays, char(0)) = 0),
    CONSTRAINT "CK_Calendar_ValidFrom_Type" CHECK (length(ValidFrom) <= 10 AND instr(ValidFrom, char(0)) = 0),
    CONSTRAINT "CK_Calendar_ValidUntil_Type" CHECK (length(ValidUntil) <= 10 AND instr(ValidUntil, char(0)) = 0),
    CONSTRAINT "CK_Calendar_Description_Type" CHECK (instr(Description, char(0)) = 0),
    CONSTRAINT "CK_Calendar_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_Calendar_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

-- A table of another database whose new rows start an entity.
CREATE TABLE DataTrigger (
    DataTrigger_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    TriggerName TEXT NOT NULL,
    Entity TEXT NOT NULL,
    ConnectionName TEXT NOT NULL,
    TableName TEXT NOT NULL,
    StatusColumn TEXT NOT NULL,
    PendingValue TEXT NOT NULL,
    CreatedColumn TEXT,
    RowThreshold INTEGER,
    IdleMinutes INTEGER,
    OnNewRows INTEGER DEFAULT 0 NOT NULL,
    DebounceSeconds INTEGER DEFAULT 60 NOT NULL,
    Enabled INTEGER DEFAULT 1 NOT NULL,
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
    CONSTRAINT "CK_DataTrigger_TriggerName_Type" CHECK (length(TriggerName) <= 200 AND instr(TriggerName, char(0)) = 0),
    CONSTRAINT "CK_DataTrigger_Entity_Type" CHECK (length(Entity) <= 200 AND instr(Entity, char(0)) = 0),
    CONSTRAINT "CK_DataTrigger_ConnectionName_Type" CHECK (length(ConnectionName) <= 200
        AND instr(ConnectionName, char(0)) = 0),
    CONSTRAINT "CK_DataTrigger_TableName_Type" CHECK (length(TableName) <= 200 AND instr(TableName, char(0)) = 0),
    CONSTRAINT "CK_DataTrigger_StatusColumn_Type" CHECK (length(StatusColumn) <= 200 AND instr(StatusColumn, char(0)) = 0),
    CONSTRAINT "CK_DataTrigger_PendingValue_Type" CHECK (length(PendingValue) <= 200 AND instr(PendingValue, char(0)) = 0),
    CONSTRAINT "CK_DataTrigger_CreatedColumn_Type" CHECK (length(CreatedColumn) <= 200 AND instr(CreatedColumn, char(0)) = 0),
    CONSTRAINT "CK_DataTrigger_LastFired_Type" CHECK (LastFired IS NULL OR (LastFired >= '0001' AND LastFired < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', LastFired, '+0 days') IS LastFired
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(LastFired, 1, 23), '+0 days'), 1, length(rtrim(LastFired))) IS substr(LastFired, 1, 23) AND trim(substr(LastFired, 24), '0123456789') = '' AND instr(LastFired, char(0)) = 0)))),
    CONSTRAINT "CK_DataTrigger_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_DataTrigger_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

-- A folder whose files become rows of FileProcess.
CREATE TABLE FileWatch (
    FileWatch_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    WatchName TEXT NOT NULL,
    Entity TEXT NOT NULL,
    Folder TEXT NOT NULL,
    Pattern TEXT DEFAULT '*' NOT NULL,
    Recursive INTEGER DEFAULT 0 NOT NULL,
    SettleSeconds INTEGER DEFAULT 10 NOT NULL,
    MarkerSuffix TEXT,
    DuplicateKey TEXT COLLATE "NOCASE" DEFAULT 'name_size_time' NOT NULL,
    Enabled INTEGER DEFAULT 1 NOT NULL,
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
    CONSTRAINT "CK_FileWatch_DuplicateKey" CHECK (DuplicateKey IN ('name', 'name_size_time', 'content')),
    CONSTRAINT "CK_FileWatch_Folder" CHECK (Folder <> ''),
    CONSTRAINT "CK_FileWatch_WatchName_Type" CHECK (length(WatchName) <= 200 AND instr(WatchName, char(0)) = 0),
    CONSTRAINT "CK_FileWatch_Entity_Type" CHECK (length(Entity) <= 200 AND instr(Entity, char(0)) = 0),
    CONSTRAINT "CK_FileWatch_Folder_Type" CHECK (instr(Folder, char(0)) = 0),
    CONSTRAINT "CK_FileWatch_Pattern_Type" CHECK (length(Pattern) <= 200 AND instr(Pattern, char(0)) = 0),
    CONSTRAINT "CK_FileWatch_MarkerSuffix_Type" CHECK (length(MarkerSuffix) <= 50 AND instr(MarkerSuffix, char(0)) = 0),
    CONSTRAINT "CK_FileWatch_UnreachableSince_Type" CHECK (UnreachableSince IS NULL OR (UnreachableSince >= '0001'
        AND UnreachableSince < ':' AND (strftime('%Y-%m-%d %H:%M:%f', UnreachableSince, '+0 days') IS UnreachableSince
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(UnreachableSince, 1, 23), '+0 days'), 1, length(rtrim(UnreachableSince))) IS substr(UnreachableSince, 1, 23) AND trim(substr(UnreachableSince, 24), '0123456789') = '' AND instr(UnreachableSince, char(0)) = 0)))),
    CONSTRAINT "CK_FileWatch_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_FileWatch_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

-- What can be set while controllers run.
CREATE TABLE Setting (
    Setting_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    Name TEXT NOT NULL,
    Value TEXT NOT NULL,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_Setting_Name" UNIQUE (Name),
    CONSTRAINT "CK_Setting_Name" CHECK (Name <> ''),
    CONSTRAINT "CK_Setting_MaxConcurrent" CHECK (Name <> 'MaxConcurrent'
        OR (trim(Value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) NOT GLOB '*[^0-9]*' AND length(trim(Value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) BETWEEN 1 AND 18)),
    CONSTRAINT "CK_Setting_Name_Type" CHECK (length(Name) <= 200 AND instr(Name, char(0)) = 0),
    CONSTRAINT "CK_Setting_Value_Type" CHECK (instr(Value, char(0)) = 0),
    CONSTRAINT "CK_Setting_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_Setting_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

-- What a batch and its steps were at each version.
CREATE TABLE BatchVersion (
    BatchVersion_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL,
    ProcessBatchName TEXT NOT NULL,
    DefVersion INTEGER NOT NULL,
    Fingerprint TEXT NOT NULL,
    Content TEXT NOT NULL,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_BatchVersion_ProcessBatch_id_DefVersion" UNIQUE (ProcessBatch_id, DefVersion),
    CONSTRAINT "CK_BatchVersion_DefVersion" CHECK (DefVersion >= 1),
    CONSTRAINT "CK_BatchVersion_ProcessBatchName_Type" CHECK (length(ProcessBatchName) <= 200
        AND instr(ProcessBatchName, char(0)) = 0),
    CONSTRAINT "CK_BatchVersion_Fingerprint_Type" CHECK (length(Fingerprint) <= 64 AND instr(Fingerprint, char(0)) = 0),
    CONSTRAINT "CK_BatchVersion_Content_Type" CHECK (instr(Content, char(0)) = 0),
    CONSTRAINT "CK_BatchVersion_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0)))
) STRICT;

-- Which definitions came from which file or module.
CREATE TABLE AppliedDefinition (
    AppliedDefinition_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    Kind TEXT NOT NULL,
    Name TEXT NOT NULL,
    Owner TEXT,
    Exported TEXT,
    Content TEXT NOT NULL,
    Actor TEXT NOT NULL,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_AppliedDefinition_Kind_Name" UNIQUE (Kind, Name),
    CONSTRAINT "CK_AppliedDefinition_Kind_Type" CHECK (length(Kind) <= 50 AND instr(Kind, char(0)) = 0),
    CONSTRAINT "CK_AppliedDefinition_Name_Type" CHECK (length(Name) <= 200 AND instr(Name, char(0)) = 0),
    CONSTRAINT "CK_AppliedDefinition_Owner_Type" CHECK (length(Owner) <= 200 AND instr(Owner, char(0)) = 0),
    CONSTRAINT "CK_AppliedDefinition_Exported_Type" CHECK (length(Exported) <= 64 AND instr(Exported, char(0)) = 0),
    CONSTRAINT "CK_AppliedDefinition_Content_Type" CHECK (instr(Content, char(0)) = 0),
    CONSTRAINT "CK_AppliedDefinition_Actor_Type" CHECK (length(Actor) <= 200 AND instr(Actor, char(0)) = 0),
    CONSTRAINT "CK_AppliedDefinition_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_AppliedDefinition_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

-- What people ask for by a row, and what was answered.
CREATE TABLE OperatorRequest (
    OperatorRequest_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    Action TEXT NOT NULL,
    BatchControl_id INTEGER,
    ProcessBatchName TEXT,
    Arguments TEXT,
    Reason TEXT,
    Actor TEXT DEFAULT 'sql' NOT NULL,
    Status TEXT COLLATE "NOCASE" DEFAULT 'requested' NOT NULL,
    Answer TEXT,
    AnsweredBy TEXT,
    AnsweredTime TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "CK_OperatorRequest_Action" CHECK (Action <> ''),
    CONSTRAINT "CK_OperatorRequest_Actor" CHECK (Actor <> ''),
    CONSTRAINT "CK_OperatorRequest_Status" CHECK (Status IN ('requested', 'done', 'refused')),
    CONSTRAINT "CK_OperatorRequest_Action_Word"
        CHECK (lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'rerun' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'skip' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'pause' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'resume' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'cancel' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'enable' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'disable' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'freeze' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'thaw' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'acknowledge' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'snooze' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'retry' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'reject' OR lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) = 'resend' OR NOT (Status = 'requested')),
    CONSTRAINT "CK_OperatorRequest_Action_Type" CHECK (length(Action) <= 50 AND instr(Action, char(0)) = 0),
    CONSTRAINT "CK_OperatorRequest_ProcessBatchName_Type" CHECK (length(ProcessBatchName) <= 200
        AND instr(ProcessBatchName, char(0)) = 0),
    CONSTRAINT "CK_OperatorRequest_Arguments_Type" CHECK (instr(Arguments, char(0)) = 0),
    CONSTRAINT "CK_OperatorRequest_Reason_Type" CHECK (instr(Reason, char(0)) = 0),
    CONSTRAINT "CK_OperatorRequest_Actor_Type" CHECK (length(Actor) <= 200 AND instr(Actor, char(0)) = 0),
    CONSTRAINT "CK_OperatorRequest_Answer_Type" CHECK (instr(Answer, char(0)) = 0),
    CONSTRAINT "CK_OperatorRequest_AnsweredBy_Type" CHECK (length(AnsweredBy) <= 200 AND instr(AnsweredBy, char(0)) = 0),
    CONSTRAINT "CK_OperatorRequest_AnsweredTime_Type" CHECK (AnsweredTime IS NULL OR (AnsweredTime >= '0001'
        AND AnsweredTime < ':' AND (strftime('%Y-%m-%d %H:%M:%f', AnsweredTime, '+0 days') IS AnsweredTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(AnsweredTime, 1, 23), '+0 days'), 1, length(rtrim(AnsweredTime))) IS substr(AnsweredTime, 1, 23) AND trim(substr(AnsweredTime, 24), '0123456789') = '' AND instr(AnsweredTime, char(0)) = 0)))),
    CONSTRAINT "CK_OperatorRequest_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_OperatorRequest_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

CREATE INDEX "IX_OperatorRequest_Open" ON OperatorRequest (OperatorRequest_id) WHERE Status = 'requested';

-- What may not start for now, and who said so.
CREATE TABLE BatchFreeze (
    BatchFreeze_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ProcessBatchName TEXT,
    Tag TEXT,
    Reason TEXT NOT NULL,
    Actor TEXT DEFAULT 'sql' NOT NULL,
    UntilTime TEXT,
    ThawedTime TEXT,
    ThawedBy TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "CK_BatchFreeze_Reason" CHECK (Reason <> ''),
    CONSTRAINT "CK_BatchFreeze_Actor" CHECK (Actor <> ''),
    CONSTRAINT "CK_BatchFreeze_Tag" CHECK (ProcessBatchName IS NULL OR Tag IS NULL),
    CONSTRAINT "CK_BatchFreeze_ProcessBatchName_Type" CHECK (length(ProcessBatchName) <= 200
        AND instr(ProcessBatchName, char(0)) = 0),
    CONSTRAINT "CK_BatchFreeze_Tag_Type" CHECK (length(Tag) <= 200 AND instr(Tag, char(0)) = 0),
    CONSTRAINT "CK_BatchFreeze_Reason_Type" CHECK (instr(Reason, char(0)) = 0),
    CONSTRAINT "CK_BatchFreeze_Actor_Type" CHECK (length(Actor) <= 200 AND instr(Actor, char(0)) = 0),
    CONSTRAINT "CK_BatchFreeze_UntilTime_Type" CHECK (UntilTime IS NULL OR (UntilTime >= '0001' AND UntilTime < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', UntilTime, '+0 days') IS UntilTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(UntilTime, 1, 23), '+0 days'), 1, length(rtrim(UntilTime))) IS substr(UntilTime, 1, 23) AND trim(substr(UntilTime, 24), '0123456789') = '' AND instr(UntilTime, char(0)) = 0)))),
    CONSTRAINT "CK_BatchFreeze_ThawedTime_Type" CHECK (ThawedTime IS NULL OR (ThawedTime >= '0001' AND ThawedTime < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', ThawedTime, '+0 days') IS ThawedTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(ThawedTime, 1, 23), '+0 days'), 1, length(rtrim(ThawedTime))) IS substr(ThawedTime, 1, 23) AND trim(substr(ThawedTime, 24), '0123456789') = '' AND instr(ThawedTime, char(0)) = 0)))),
    CONSTRAINT "CK_BatchFreeze_ThawedBy_Type" CHECK (length(ThawedBy) <= 200 AND instr(ThawedBy, char(0)) = 0),
    CONSTRAINT "CK_BatchFreeze_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_BatchFreeze_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

CREATE INDEX "IX_BatchFreeze_Standing" ON BatchFreeze (BatchFreeze_id) WHERE ThawedTime IS NULL;

-- What people have to know of, until it is over.
CREATE TABLE Incident (
    Incident_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    Kind TEXT COLLATE "NOCASE" NOT NULL,
    IncidentKey TEXT NOT NULL,
    Severity TEXT COLLATE "NOCASE" NOT NULL,
    Status TEXT COLLATE "NOCASE" DEFAULT 'open' NOT NULL,
    Subject TEXT NOT NULL,
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
    AcknowledgedBy TEXT,
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
    CONSTRAINT "CK_Incident_Kind"
        CHECK (Kind IN ('failed', 'lost', 'held', 'fails_often', 'too_long', 'too_short', 'not_arrived', 'not_started', 'not_finished', 'dependency_deadline', 'calendar_ends', 'no_worker', 'channel_failed', 'unreadable', 'rejected', 'untaken', 'not_starting', 'no_steps', 'history_grows', 'nobody_leads', 'populator_hangs', 'controller_trouble')),
    CONSTRAINT "CK_Incident_Severity" CHECK (Severity IN ('warning', 'error')),
    CONSTRAINT "CK_Incident_Status" CHECK (Status IN ('open', 'acknowledged', 'resolved')),
    CONSTRAINT "CK_Incident_IncidentKey_Type" CHECK (length(IncidentKey) <= 200 AND instr(IncidentKey, char(0)) = 0),
    CONSTRAINT "CK_Incident_Subject_Type" CHECK (length(Subject) <= 200 AND instr(Subject, char(0)) = 0),
    CONSTRAINT "CK_Incident_Message_Type" CHECK (instr(Message, char(0)) = 0),
    CONSTRAINT "CK_Incident_Detail_Type" CHECK (instr(Detail, char(0)) = 0),
    CONSTRAINT "CK_Incident_NextStep_Type" CHECK (instr(NextStep, char(0)) = 0),
    CONSTRAINT "CK_Incident_OpenedTime_Type" CHECK (OpenedTime >= '0001' AND OpenedTime < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', OpenedTime, '+0 days') IS OpenedTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(OpenedTime, 1, 23), '+0 days'), 1, length(rtrim(OpenedTime))) IS substr(OpenedTime, 1, 23) AND trim(substr(OpenedTime, 24), '0123456789') = '' AND instr(OpenedTime, char(0)) = 0))),
    CONSTRAINT "CK_Incident_LastSeen_Type" CHECK (LastSeen >= '0001' AND LastSeen < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', LastSeen, '+0 days') IS LastSeen
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(LastSeen, 1, 23), '+0 days'), 1, length(rtrim(LastSeen))) IS substr(LastSeen, 1, 23) AND trim(substr(LastSeen, 24), '0123456789') = '' AND instr(LastSeen, char(0)) = 0))),
    CONSTRAINT "CK_Incident_AcknowledgedTime_Type" CHECK (AcknowledgedTime IS NULL OR (AcknowledgedTime >= '0001'
        AND AcknowledgedTime < ':' AND (strftime('%Y-%m-%d %H:%M:%f', AcknowledgedTime, '+0 days') IS AcknowledgedTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(AcknowledgedTime, 1, 23), '+0 days'), 1, length(rtrim(AcknowledgedTime))) IS substr(AcknowledgedTime, 1, 23) AND trim(substr(AcknowledgedTime, 24), '0123456789') = '' AND instr(AcknowledgedTime, char(0)) = 0)))),
    CONSTRAINT "CK_Incident_AcknowledgedBy_Type" CHECK (length(AcknowledgedBy) <= 200 AND instr(AcknowledgedBy, char(0)) = 0),
    CONSTRAINT "CK_Incident_SnoozedUntil_Type" CHECK (SnoozedUntil IS NULL OR (SnoozedUntil >= '0001' AND SnoozedUntil < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', SnoozedUntil, '+0 days') IS SnoozedUntil
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(SnoozedUntil, 1, 23), '+0 days'), 1, length(rtrim(SnoozedUntil))) IS substr(SnoozedUntil, 1, 23) AND trim(substr(SnoozedUntil, 24), '0123456789') = '' AND instr(SnoozedUntil, char(0)) = 0)))),
    CONSTRAINT "CK_Incident_NextAlertTime_Type" CHECK (NextAlertTime IS NULL OR (NextAlertTime >= '0001'
        AND NextAlertTime < ':' AND (strftime('%Y-%m-%d %H:%M:%f', NextAlertTime, '+0 days') IS NextAlertTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(NextAlertTime, 1, 23), '+0 days'), 1, length(rtrim(NextAlertTime))) IS substr(NextAlertTime, 1, 23) AND trim(substr(NextAlertTime, 24), '0123456789') = '' AND instr(NextAlertTime, char(0)) = 0)))),
    CONSTRAINT "CK_Incident_EscalatedTime_Type" CHECK (EscalatedTime IS NULL OR (EscalatedTime >= '0001'
        AND EscalatedTime < ':' AND (strftime('%Y-%m-%d %H:%M:%f', EscalatedTime, '+0 days') IS EscalatedTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(EscalatedTime, 1, 23), '+0 days'), 1, length(rtrim(EscalatedTime))) IS substr(EscalatedTime, 1, 23) AND trim(substr(EscalatedTime, 24), '0123456789') = '' AND instr(EscalatedTime, char(0)) = 0)))),
    CONSTRAINT "CK_Incident_ResolvedTime_Type" CHECK (ResolvedTime IS NULL OR (ResolvedTime >= '0001' AND ResolvedTime < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', ResolvedTime, '+0 days') IS ResolvedTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(ResolvedTime, 1, 23), '+0 days'), 1, length(rtrim(ResolvedTime))) IS substr(ResolvedTime, 1, 23) AND trim(substr(ResolvedTime, 24), '0123456789') = '' AND instr(ResolvedTime, char(0)) = 0)))),
    CONSTRAINT "CK_Incident_RecoveryTime_Type" CHECK (RecoveryTime IS NULL OR (RecoveryTime >= '0001' AND RecoveryTime < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', RecoveryTime, '+0 days') IS RecoveryTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(RecoveryTime, 1, 23), '+0 days'), 1, length(rtrim(RecoveryTime))) IS substr(RecoveryTime, 1, 23) AND trim(substr(RecoveryTime, 24), '0123456789') = '' AND instr(RecoveryTime, char(0)) = 0)))),
    CONSTRAINT "CK_Incident_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_Incident_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

CREATE UNIQUE INDEX "UX_Incident_Standing" ON Incident (IncidentKey) WHERE ResolvedTime IS NULL;

CREATE INDEX "IX_Incident_Recovery" ON Incident (Incident_id) WHERE ResolvedTime IS NOT NULL AND RecoveryTime IS NULL;

-- Who has changed what, when and why. Nothing is ever changed here.
CREATE TABLE AuditLog (
    AuditLog_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    Actor TEXT NOT NULL,
    Host TEXT NOT NULL,
    Action TEXT NOT NULL,
    Target TEXT NOT NULL,
    Reason TEXT,
    ValuesBefore TEXT,
    ValuesAfter TEXT,
    CONSTRAINT "CK_AuditLog_Actor" CHECK (Actor <> ''),
    CONSTRAINT "CK_AuditLog_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_AuditLog_Actor_Type" CHECK (length(Actor) <= 200 AND instr(Actor, char(0)) = 0),
    CONSTRAINT "CK_AuditLog_Host_Type" CHECK (length(Host) <= 200 AND instr(Host, char(0)) = 0),
    CONSTRAINT "CK_AuditLog_Action_Type" CHECK (length(Action) <= 50 AND instr(Action, char(0)) = 0),
    CONSTRAINT "CK_AuditLog_Target_Type" CHECK (length(Target) <= 200 AND instr(Target, char(0)) = 0),
    CONSTRAINT "CK_AuditLog_Reason_Type" CHECK (instr(Reason, char(0)) = 0),
    CONSTRAINT "CK_AuditLog_ValuesBefore_Type" CHECK (instr(ValuesBefore, char(0)) = 0),
    CONSTRAINT "CK_AuditLog_ValuesAfter_Type" CHECK (instr(ValuesAfter, char(0)) = 0)
) STRICT;

CREATE INDEX "IX_AuditLog_Target" ON AuditLog (Target);

-- Hashes that chain the rows of AuditLog.
CREATE TABLE AuditSeal (
    AuditSeal_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    SealNo INTEGER NOT NULL,
    AuditLog_id INTEGER NOT NULL,
    PrevHash TEXT NOT NULL,
    RecordHash TEXT NOT NULL,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_AuditSeal_SealNo" UNIQUE (SealNo),
    CONSTRAINT "UQ_AuditSeal_AuditLog_id" UNIQUE (AuditLog_id),
    CONSTRAINT "CK_AuditSeal_SealNo" CHECK (SealNo >= 1),
    CONSTRAINT "CK_AuditSeal_PrevHash_Type" CHECK (length(PrevHash) <= 64 AND instr(PrevHash, char(0)) = 0),
    CONSTRAINT "CK_AuditSeal_RecordHash_Type" CHECK (length(RecordHash) <= 64 AND instr(RecordHash, char(0)) = 0),
    CONSTRAINT "CK_AuditSeal_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0)))
) STRICT;

-- The offsets of the business time zone, for views that show local times.
CREATE TABLE ZoneOffset (
    ZoneOffset_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ZoneName TEXT NOT NULL,
    FromTime TEXT NOT NULL,
    UntilTime TEXT NOT NULL,
    OffsetSeconds INTEGER NOT NULL,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_ZoneOffset_FromTime" UNIQUE (FromTime),
    CONSTRAINT "CK_ZoneOffset_ZoneName" CHECK (ZoneName <> ''),
    CONSTRAINT "CK_ZoneOffset_UntilTime" CHECK (FromTime < UntilTime),
    CONSTRAINT "CK_ZoneOffset_OffsetSeconds" CHECK (OffsetSeconds BETWEEN -86400 AND 86400),
    CONSTRAINT "CK_ZoneOffset_ZoneName_Type" CHECK (length(ZoneName) <= 200 AND instr(ZoneName, char(0)) = 0),
    CONSTRAINT "CK_ZoneOffset_FromTime_Type" CHECK (FromTime >= '0001' AND FromTime < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', FromTime, '+0 days') IS FromTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(FromTime, 1, 23), '+0 days'), 1, length(rtrim(FromTime))) IS substr(FromTime, 1, 23) AND trim(substr(FromTime, 24), '0123456789') = '' AND instr(FromTime, char(0)) = 0))),
    CONSTRAINT "CK_ZoneOffset_UntilTime_Type" CHECK (UntilTime >= '0001' AND UntilTime < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', UntilTime, '+0 days') IS UntilTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(UntilTime, 1, 23), '+0 days'), 1, length(rtrim(UntilTime))) IS substr(UntilTime, 1, 23) AND trim(substr(UntilTime, 24), '0123456789') = '' AND instr(UntilTime, char(0)) = 0))),
    CONSTRAINT "CK_ZoneOffset_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0)))
) STRICT;

CREATE INDEX "IX_ZoneOffset_Until" ON ZoneOffset (UntilTime, FromTime);

-- What the engine has done, event by event.
CREATE TABLE SchedulerLog (
    SchedulerLog_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    EventTime TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    EventType TEXT COLLATE "NOCASE" NOT NULL,
    Source TEXT NOT NULL,
    Entity TEXT,
    ProcessBatch_id INTEGER,
    FileProcess_id INTEGER,
    BatchControl_id INTEGER,
    Message TEXT,
    RowsQueued INTEGER,
    DurationMs INTEGER,
    CONSTRAINT "CK_SchedulerLog_Source" CHECK (Source <> ''),
    CONSTRAINT "CK_SchedulerLog_EventType" CHECK (EventType IN ('fired', 'skipped', 'completed', 'error', 'rescued')),
    CONSTRAINT "CK_SchedulerLog_EventTime_Type" CHECK (EventTime >= '0001' AND EventTime < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', EventTime, '+0 days') IS EventTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(EventTime, 1, 23), '+0 days'), 1, length(rtrim(EventTime))) IS substr(EventTime, 1, 23) AND trim(substr(EventTime, 24), '0123456789') = '' AND instr(EventTime, char(0)) = 0))),
    CONSTRAINT "CK_SchedulerLog_Source_Type" CHECK (length(Source) <= 200 AND instr(Source, char(0)) = 0),
    CONSTRAINT "CK_SchedulerLog_Entity_Type" CHECK (length(Entity) <= 200 AND instr(Entity, char(0)) = 0),
    CONSTRAINT "CK_SchedulerLog_Message_Type" CHECK (instr(Message, char(0)) = 0)
) STRICT;

CREATE INDEX "IX_SchedulerLog_Entity" ON SchedulerLog (Entity, SchedulerLog_id);

CREATE INDEX "IX_SchedulerLog_Fired" ON SchedulerLog (FileProcess_id) WHERE EventType = 'fired';

-- What has arrived: a row here is work for every batch that takes its entity.
CREATE TABLE FileProcess (
    FileProcess_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    Entity TEXT NOT NULL,
    FileName TEXT,
    Status TEXT COLLATE "NOCASE" DEFAULT 'ready' NOT NULL,
    Data TEXT,
    CycleKey TEXT,
    Source TEXT,
    Message TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    PopulatorTries INTEGER,
    CONSTRAINT "CK_FileProcess_Status" CHECK (Status = 'ready' OR Status = 'paused' OR Status = 'complete'
        OR Status = 'rejected' OR Status = 'duplicate' OR Status = 'success'),
    CONSTRAINT "CK_FileProcess_Entity" CHECK (Entity <> ''),
    CONSTRAINT "CK_FileProcess_Entity_Type" CHECK (length(Entity) <= 200 AND instr(Entity, char(0)) = 0),
    CONSTRAINT "CK_FileProcess_FileName_Type" CHECK (instr(FileName, char(0)) = 0),
    CONSTRAINT "CK_FileProcess_Data_Type" CHECK (instr(Data, char(0)) = 0),
    CONSTRAINT "CK_FileProcess_CycleKey_Type" CHECK (length(CycleKey) <= 200 AND instr(CycleKey, char(0)) = 0),
    CONSTRAINT "CK_FileProcess_Source_Type" CHECK (length(Source) <= 200 AND instr(Source, char(0)) = 0),
    CONSTRAINT "CK_FileProcess_Message_Type" CHECK (instr(Message, char(0)) = 0),
    CONSTRAINT "CK_FileProcess_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_FileProcess_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

CREATE INDEX "IX_FileProcess_Ready" ON FileProcess (FileProcess_id) WHERE Status = 'ready';

CREATE INDEX "IX_FileProcess_Awaiting" ON FileProcess (FileProcess_id) WHERE PopulatorTries IS NOT NULL;

CREATE INDEX "IX_FileProcess_Duplicate" ON FileProcess (Entity, Data) WHERE Data IS NOT NULL;

CREATE INDEX "IX_FileProcess_Unreadable" ON FileProcess (FileProcess_id) WHERE ((Status = 'ready' OR Status = 'paused'
    OR Status = 'complete' OR Status = 'rejected' OR Status = 'duplicate' OR Status = 'success')) IS NOT TRUE;

CREATE INDEX "IX_FileProcess_Inbox" ON FileProcess (FileProcess_id) WHERE (Status = 'paused' OR Status = 'rejected'
    OR Status = 'duplicate');

-- The controllers that run, or have run.
CREATE TABLE Controller (
    Controller_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ControllerName TEXT NOT NULL,
    Status TEXT COLLATE "NOCASE" DEFAULT 'running' NOT NULL,
    Host TEXT NOT NULL,
    Pid INTEGER,
    PidStart TEXT,
    BootId TEXT,
    Slots INTEGER DEFAULT 1 NOT NULL,
    HeartbeatSeq INTEGER DEFAULT 0 NOT NULL,
    Heartbeat TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    AppVersion TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    OrphanTimeoutSecs INTEGER,
    SchedulerZone TEXT,
    LeftOut TEXT,
    ProcessTypes TEXT,
    Populators TEXT,
    Jobs TEXT,
    Trouble TEXT,
    CONSTRAINT "UQ_Controller_ControllerName" UNIQUE (ControllerName),
    CONSTRAINT "CK_Controller_ControllerName" CHECK (ControllerName <> ''),
    CONSTRAINT "CK_Controller_Status" CHECK (Status IN ('running', 'stopped', 'lost')),
    CONSTRAINT "CK_Controller_Slots" CHECK (Slots >= 0),
    CONSTRAINT "CK_Controller_ControllerName_Type" CHECK (length(ControllerName) <= 200 AND instr(ControllerName, char(0)) = 0),
    CONSTRAINT "CK_Controller_Host_Type" CHECK (length(Host) <= 200 AND instr(Host, char(0)) = 0),
    CONSTRAINT "CK_Controller_PidStart_Type" CHECK (length(PidStart) <= 50 AND instr(PidStart, char(0)) = 0),
    CONSTRAINT "CK_Controller_BootId_Type" CHECK (length(BootId) <= 50 AND instr(BootId, char(0)) = 0),
    CONSTRAINT "CK_Controller_Heartbeat_Type" CHECK (Heartbeat >= '0001' AND Heartbeat < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', Heartbeat, '+0 days') IS Heartbeat
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(Heartbeat, 1, 23), '+0 days'), 1, length(rtrim(Heartbeat))) IS substr(Heartbeat, 1, 23) AND trim(substr(Heartbeat, 24), '0123456789') = '' AND instr(Heartbeat, char(0)) = 0))),
    CONSTRAINT "CK_Controller_AppVersion_Type" CHECK (length(AppVersion) <= 50 AND instr(AppVersion, char(0)) = 0),
    CONSTRAINT "CK_Controller_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_Controller_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0)))),
    CONSTRAINT "CK_Controller_SchedulerZone_Type" CHECK (length(SchedulerZone) <= 200 AND instr(SchedulerZone, char(0)) = 0),
    CONSTRAINT "CK_Controller_LeftOut_Type" CHECK (instr(LeftOut, char(0)) = 0),
    CONSTRAINT "CK_Controller_ProcessTypes_Type" CHECK (instr(ProcessTypes, char(0)) = 0),
    CONSTRAINT "CK_Controller_Populators_Type" CHECK (instr(Populators, char(0)) = 0),
    CONSTRAINT "CK_Controller_Jobs_Type" CHECK (instr(Jobs, char(0)) = 0),
    CONSTRAINT "CK_Controller_Trouble_Type" CHECK (instr(Trouble, char(0)) = 0)
) STRICT;

-- Which controller makes instances and fires schedules: one row.
CREATE TABLE Leader (
    Leader_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ControllerName TEXT,
    Fence INTEGER DEFAULT 0 NOT NULL,
    LeaseUntil TEXT DEFAULT '1900-01-01 00:00:00.000' NOT NULL,
    Place TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "CK_Leader_Leader_id" CHECK (Leader_id = 1),
    CONSTRAINT "CK_Leader_Fence" CHECK (Fence BETWEEN 0 AND 2000000000),
    CONSTRAINT "CK_Leader_ControllerName_Type" CHECK (length(ControllerName) <= 200 AND instr(ControllerName, char(0)) = 0),
    CONSTRAINT "CK_Leader_LeaseUntil_Type" CHECK (LeaseUntil >= '0001' AND LeaseUntil < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', LeaseUntil, '+0 days') IS LeaseUntil
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(LeaseUntil, 1, 23), '+0 days'), 1, length(rtrim(LeaseUntil))) IS substr(LeaseUntil, 1, 23) AND trim(substr(LeaseUntil, 24), '0123456789') = '' AND instr(LeaseUntil, char(0)) = 0))),
    CONSTRAINT "CK_Leader_Place_Type" CHECK (instr(Place, char(0)) = 0),
    CONSTRAINT "CK_Leader_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_Leader_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

-- Rows that controllers lock to do one thing at a time.
CREATE TABLE NamedLock (
    NamedLock_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "CK_NamedLock_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_NamedLock_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

-- The steps of a batch, carried out in the order of ProcessControlSeq.
CREATE TABLE ProcessControl (
    ProcessControl_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL,
    ProcessControlSeq INTEGER NOT NULL,
    ProcessName TEXT NOT NULL,
    ProcessType TEXT NOT NULL,
    ExpectedDuration INTEGER,
    AlarmDuration INTEGER,
    MaxDuration INTEGER,
    OnLost TEXT COLLATE "NOCASE" DEFAULT 'hold' NOT NULL,
    Data1 TEXT,
    Data2 TEXT,
    Data3 TEXT,
    Data4 TEXT,
    Data5 TEXT,
    Data6 TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    MaxLost INTEGER DEFAULT 3 NOT NULL,
    CONSTRAINT "UQ_ProcessControl_ProcessBatch_id_ProcessControlSeq" UNIQUE (ProcessBatch_id, ProcessControlSeq),
    CONSTRAINT "CK_ProcessControl_ProcessControlSeq" CHECK (ProcessControlSeq BETWEEN 1 AND 2000000000),
    CONSTRAINT "CK_ProcessControl_ProcessName" CHECK (ProcessName <> ''),
    CONSTRAINT "CK_ProcessControl_ExpectedDuration" CHECK (ExpectedDuration BETWEEN 1 AND 31536000),
    CONSTRAINT "CK_ProcessControl_AlarmDuration" CHECK (AlarmDuration BETWEEN 1 AND 31536000),
    CONSTRAINT "CK_ProcessControl_MaxDuration" CHECK (MaxDuration BETWEEN 1 AND 31536000),
    CONSTRAINT "CK_ProcessControl_OnLost" CHECK (OnLost IN ('hold', 'rerun', 'verify')),
    CONSTRAINT "CK_ProcessControl_ProcessType" CHECK (trim(ProcessType) <> '' AND ProcessType NOT GLOB '*[^ -~]*'),
    CONSTRAINT "CK_ProcessControl_MaxLost" CHECK (MaxLost BETWEEN 0 AND 1000),
    CONSTRAINT "FK_ProcessControl_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "CK_ProcessControl_ProcessName_Type" CHECK (length(ProcessName) <= 200 AND instr(ProcessName, char(0)) = 0),
    CONSTRAINT "CK_ProcessControl_ProcessType_Type" CHECK (length(ProcessType) <= 50 AND instr(ProcessType, char(0)) = 0),
    CONSTRAINT "CK_ProcessControl_Data1_Type" CHECK (instr(Data1, char(0)) = 0),
    CONSTRAINT "CK_ProcessControl_Data2_Type" CHECK (instr(Data2, char(0)) = 0),
    CONSTRAINT "CK_ProcessControl_Data3_Type" CHECK (instr(Data3, char(0)) = 0),
    CONSTRAINT "CK_ProcessControl_Data4_Type" CHECK (instr(Data4, char(0)) = 0),
    CONSTRAINT "CK_ProcessControl_Data5_Type" CHECK (instr(Data5, char(0)) = 0),
    CONSTRAINT "CK_ProcessControl_Data6_Type" CHECK (instr(Data6, char(0)) = 0),
    CONSTRAINT "CK_ProcessControl_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_ProcessControl_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

-- How many units of a resource an instance of a batch holds while it is claimed.
CREATE TABLE BatchResource (
    BatchResource_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL,
    Resource_id INTEGER NOT NULL,
    Units INTEGER DEFAULT 1 NOT NULL,
    Exclusive INTEGER DEFAULT 0 NOT NULL,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_BatchResource_ProcessBatch_id_Resource_id" UNIQUE (ProcessBatch_id, Resource_id),
    CONSTRAINT "CK_BatchResource_Units" CHECK (Units BETWEEN 1 AND 1000000),
    CONSTRAINT "CK_BatchResource_Exclusive" CHECK (Exclusive IN (0, 1)),
    CONSTRAINT "FK_BatchResource_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "FK_BatchResource_Resource_id" FOREIGN KEY(Resource_id) REFERENCES Resource (Resource_id),
    CONSTRAINT "CK_BatchResource_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_BatchResource_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

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
    CONSTRAINT "CK_BatchDependency_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_BatchDependency_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

-- A day on which a calendar differs from its weekdays.
CREATE TABLE CalendarDay (
    CalendarDay_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    Calendar_id INTEGER NOT NULL,
    CalendarDate TEXT NOT NULL,
    IsBusinessDay INTEGER DEFAULT 0 NOT NULL,
    Description TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_CalendarDay_Calendar_id_CalendarDate" UNIQUE (Calendar_id, CalendarDate),
    CONSTRAINT "CK_CalendarDay_CalendarDate" CHECK (CalendarDate LIKE '____-__-__'),
    CONSTRAINT "CK_CalendarDay_IsBusinessDay" CHECK (IsBusinessDay IN (0, 1)),
    CONSTRAINT "CK_CalendarDay_CalendarDate_Form" CHECK (trim(CalendarDate) GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]'
        AND trim(CalendarDate) NOT GLOB '?????00*' AND trim(CalendarDate) NOT GLOB '?????1[3-9]*'
        AND trim(CalendarDate) NOT GLOB '????????00*' AND trim(CalendarDate) NOT GLOB '????????3[2-9]*'),
    CONSTRAINT "FK_CalendarDay_Calendar_id" FOREIGN KEY(Calendar_id) REFERENCES Calendar (Calendar_id),
    CONSTRAINT "CK_CalendarDay_CalendarDate_Type" CHECK (length(CalendarDate) <= 10 AND instr(CalendarDate, char(0)) = 0),
    CONSTRAINT "CK_CalendarDay_Description_Type" CHECK (length(Description) <= 200 AND instr(Description, char(0)) = 0),
    CONSTRAINT "CK_CalendarDay_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_CalendarDay_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

-- Messages about incidents, one for each channel.
CREATE TABLE AlertDelivery (
    AlertDelivery_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    Incident_id INTEGER NOT NULL,
    Channel TEXT NOT NULL,
    Kind TEXT COLLATE "NOCASE" NOT NULL,
    Number INTEGER NOT NULL,
    Status TEXT COLLATE "NOCASE" DEFAULT 'waiting' NOT NULL,
    Title TEXT NOT NULL,
    Body TEXT NOT NULL,
    Attempts INTEGER DEFAULT 0 NOT NULL,
    NextAttemptTime TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    ClaimedBy TEXT,
    ClaimedTime TEXT,
    SentTime TEXT,
    Message TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_AlertDelivery_Incident_id_Channel_Kind_Number" UNIQUE (Incident_id, Channel, Kind, Number),
    CONSTRAINT "CK_AlertDelivery_Channel" CHECK (Channel <> ''),
    CONSTRAINT "CK_AlertDelivery_Number" CHECK (Number >= 0),
    CONSTRAINT "CK_AlertDelivery_Attempts" CHECK (Attempts >= 0),
    CONSTRAINT "CK_AlertDelivery_Kind" CHECK (Kind IN ('alert', 'repeat', 'escalation', 'recovery', 'digest')),
    CONSTRAINT "CK_AlertDelivery_Status" CHECK (Status IN ('waiting', 'sent', 'failed', 'withdrawn')),
    CONSTRAINT "FK_AlertDelivery_Incident_id" FOREIGN KEY(Incident_id) REFERENCES Incident (Incident_id),
    CONSTRAINT "CK_AlertDelivery_Channel_Type" CHECK (length(Channel) <= 200 AND instr(Channel, char(0)) = 0),
    CONSTRAINT "CK_AlertDelivery_Title_Type" CHECK (length(Title) <= 200 AND instr(Title, char(0)) = 0),
    CONSTRAINT "CK_AlertDelivery_Body_Type" CHECK (instr(Body, char(0)) = 0),
    CONSTRAINT "CK_AlertDelivery_NextAttemptTime_Type" CHECK (NextAttemptTime >= '0001' AND NextAttemptTime < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', NextAttemptTime, '+0 days') IS NextAttemptTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(NextAttemptTime, 1, 23), '+0 days'), 1, length(rtrim(NextAttemptTime))) IS substr(NextAttemptTime, 1, 23) AND trim(substr(NextAttemptTime, 24), '0123456789') = '' AND instr(NextAttemptTime, char(0)) = 0))),
    CONSTRAINT "CK_AlertDelivery_ClaimedBy_Type" CHECK (length(ClaimedBy) <= 200 AND instr(ClaimedBy, char(0)) = 0),
    CONSTRAINT "CK_AlertDelivery_ClaimedTime_Type" CHECK (ClaimedTime IS NULL OR (ClaimedTime >= '0001' AND ClaimedTime < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', ClaimedTime, '+0 days') IS ClaimedTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(ClaimedTime, 1, 23), '+0 days'), 1, length(rtrim(ClaimedTime))) IS substr(ClaimedTime, 1, 23) AND trim(substr(ClaimedTime, 24), '0123456789') = '' AND instr(ClaimedTime, char(0)) = 0)))),
    CONSTRAINT "CK_AlertDelivery_SentTime_Type" CHECK (SentTime IS NULL OR (SentTime >= '0001' AND SentTime < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', SentTime, '+0 days') IS SentTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(SentTime, 1, 23), '+0 days'), 1, length(rtrim(SentTime))) IS substr(SentTime, 1, 23) AND trim(substr(SentTime, 24), '0123456789') = '' AND instr(SentTime, char(0)) = 0)))),
    CONSTRAINT "CK_AlertDelivery_Message_Type" CHECK (instr(Message, char(0)) = 0),
    CONSTRAINT "CK_AlertDelivery_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_AlertDelivery_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

CREATE INDEX "IX_AlertDelivery_Waiting" ON AlertDelivery (AlertDelivery_id) WHERE Status = 'waiting';

-- The files that a watch has seen, so that none is taken twice.
CREATE TABLE FileWatchSeen (
    FileWatchSeen_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    FileWatch_id INTEGER NOT NULL,
    PathKey TEXT NOT NULL,
    FilePath TEXT NOT NULL,
    FileSize INTEGER NOT NULL,
    ModifiedNs INTEGER NOT NULL,
    FileNumber TEXT,
    FileProcess_id INTEGER,
    MissingSince TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_FileWatchSeen_FileWatch_id_PathKey" UNIQUE (FileWatch_id, PathKey),
    CONSTRAINT "FK_FileWatchSeen_FileWatch_id" FOREIGN KEY(FileWatch_id) REFERENCES FileWatch (FileWatch_id),
    CONSTRAINT "FK_FileWatchSeen_FileProcess_id" FOREIGN KEY(FileProcess_id) REFERENCES FileProcess (FileProcess_id),
    CONSTRAINT "CK_FileWatchSeen_PathKey_Type" CHECK (length(PathKey) <= 64 AND instr(PathKey, char(0)) = 0),
    CONSTRAINT "CK_FileWatchSeen_FilePath_Type" CHECK (instr(FilePath, char(0)) = 0),
    CONSTRAINT "CK_FileWatchSeen_FileNumber_Type" CHECK (length(FileNumber) <= 50 AND instr(FileNumber, char(0)) = 0),
    CONSTRAINT "CK_FileWatchSeen_MissingSince_Type" CHECK (MissingSince IS NULL OR (MissingSince >= '0001'
        AND MissingSince < ':' AND (strftime('%Y-%m-%d %H:%M:%f', MissingSince, '+0 days') IS MissingSince
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(MissingSince, 1, 23), '+0 days'), 1, length(rtrim(MissingSince))) IS substr(MissingSince, 1, 23) AND trim(substr(MissingSince, 24), '0123456789') = '' AND instr(MissingSince, char(0)) = 0)))),
    CONSTRAINT "CK_FileWatchSeen_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_FileWatchSeen_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

CREATE INDEX "IX_FileWatchSeen_Intake" ON FileWatchSeen (FileProcess_id);

-- Past due times that a person has asked for.
CREATE TABLE ScheduleBackfill (
    ScheduleBackfill_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    Schedule_id INTEGER NOT NULL,
    Status TEXT COLLATE "NOCASE" DEFAULT 'running' NOT NULL,
    FromTime TEXT NOT NULL,
    UntilTime TEXT NOT NULL,
    MostOpen INTEGER DEFAULT 1 NOT NULL,
    Missed INTEGER DEFAULT 0 NOT NULL,
    DoneUntil TEXT,
    Fired INTEGER DEFAULT 0 NOT NULL,
    Actor TEXT NOT NULL,
    Reason TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "CK_ScheduleBackfill_UntilTime" CHECK (FromTime <= UntilTime),
    CONSTRAINT "CK_ScheduleBackfill_MostOpen" CHECK (MostOpen BETWEEN 1 AND 1000),
    CONSTRAINT "CK_ScheduleBackfill_Missed" CHECK (Missed IN (0, 1)),
    CONSTRAINT "CK_ScheduleBackfill_Status" CHECK (Status IN ('running', 'complete', 'cancelled')),
    CONSTRAINT "FK_ScheduleBackfill_Schedule_id" FOREIGN KEY(Schedule_id) REFERENCES Schedule (Schedule_id),
    CONSTRAINT "CK_ScheduleBackfill_FromTime_Type" CHECK (FromTime >= '0001' AND FromTime < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', FromTime, '+0 days') IS FromTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(FromTime, 1, 23), '+0 days'), 1, length(rtrim(FromTime))) IS substr(FromTime, 1, 23) AND trim(substr(FromTime, 24), '0123456789') = '' AND instr(FromTime, char(0)) = 0))),
    CONSTRAINT "CK_ScheduleBackfill_UntilTime_Type" CHECK (UntilTime >= '0001' AND UntilTime < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', UntilTime, '+0 days') IS UntilTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(UntilTime, 1, 23), '+0 days'), 1, length(rtrim(UntilTime))) IS substr(UntilTime, 1, 23) AND trim(substr(UntilTime, 24), '0123456789') = '' AND instr(UntilTime, char(0)) = 0))),
    CONSTRAINT "CK_ScheduleBackfill_DoneUntil_Type" CHECK (DoneUntil IS NULL OR (DoneUntil >= '0001' AND DoneUntil < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', DoneUntil, '+0 days') IS DoneUntil
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(DoneUntil, 1, 23), '+0 days'), 1, length(rtrim(DoneUntil))) IS substr(DoneUntil, 1, 23) AND trim(substr(DoneUntil, 24), '0123456789') = '' AND instr(DoneUntil, char(0)) = 0)))),
    CONSTRAINT "CK_ScheduleBackfill_Actor_Type" CHECK (length(Actor) <= 200 AND instr(Actor, char(0)) = 0),
    CONSTRAINT "CK_ScheduleBackfill_Reason_Type" CHECK (instr(Reason, char(0)) = 0),
    CONSTRAINT "CK_ScheduleBackfill_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_ScheduleBackfill_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

CREATE INDEX "IX_ScheduleBackfill_Running" ON ScheduleBackfill (ScheduleBackfill_id) WHERE Status = 'running';

-- An instance: one batch at work on one row of FileProcess, and how far it has come.
CREATE TABLE BatchControl (
    BatchControl_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL,
    FileProcess_id INTEGER NOT NULL,
    PrevProcessControlSeq INTEGER DEFAULT 0 NOT NULL,
    Status TEXT COLLATE "NOCASE" DEFAULT 'ready' NOT NULL,
    RetryCount INTEGER DEFAULT 0 NOT NULL,
    NextRunTime TEXT DEFAULT '1900-01-01 00:00:00.000' NOT NULL,
    CycleKey TEXT,
    Data1 TEXT,
    Data2 TEXT,
    Data3 TEXT,
    Data4 TEXT,
    Data5 TEXT,
    Data6 TEXT,
    ClaimToken INTEGER DEFAULT 0 NOT NULL,
    ClaimedBy TEXT,
    LostCount INTEGER DEFAULT 0 NOT NULL,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    DefVersion INTEGER,
    CONSTRAINT "UQ_BatchControl_FileProcess_id_ProcessBatch_id" UNIQUE (FileProcess_id, ProcessBatch_id),
    CONSTRAINT "CK_BatchControl_Status" CHECK (Status = 'ready' OR Status = 'running' OR Status = 'retry' OR Status = 'failed'
        OR Status = 'held' OR Status = 'pausing' OR Status = 'paused' OR Status = 'cancelling' OR Status = 'cancelled'
        OR Status = 'complete' OR Status = 'success'),
    CONSTRAINT "CK_BatchControl_PrevProcessControlSeq" CHECK (PrevProcessControlSeq BETWEEN 0 AND 2000000000),
    CONSTRAINT "CK_BatchControl_RetryCount" CHECK (RetryCount >= 0),
    CONSTRAINT "CK_BatchControl_LostCount" CHECK (LostCount >= 0),
    CONSTRAINT "FK_BatchControl_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "FK_BatchControl_FileProcess_id" FOREIGN KEY(FileProcess_id) REFERENCES FileProcess (FileProcess_id),
    CONSTRAINT "CK_BatchControl_NextRunTime_Type" CHECK (NextRunTime >= '0001' AND NextRunTime < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', NextRunTime, '+0 days') IS NextRunTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(NextRunTime, 1, 23), '+0 days'), 1, length(rtrim(NextRunTime))) IS substr(NextRunTime, 1, 23) AND trim(substr(NextRunTime, 24), '0123456789') = '' AND instr(NextRunTime, char(0)) = 0))),
    CONSTRAINT "CK_BatchControl_CycleKey_Type" CHECK (length(CycleKey) <= 200 AND instr(CycleKey, char(0)) = 0),
    CONSTRAINT "CK_BatchControl_Data1_Type" CHECK (instr(Data1, char(0)) = 0),
    CONSTRAINT "CK_BatchControl_Data2_Type" CHECK (instr(Data2, char(0)) = 0),
    CONSTRAINT "CK_BatchControl_Data3_Type" CHECK (instr(Data3, char(0)) = 0),
    CONSTRAINT "CK_BatchControl_Data4_Type" CHECK (instr(Data4, char(0)) = 0),
    CONSTRAINT "CK_BatchControl_Data5_Type" CHECK (instr(Data5, char(0)) = 0),
    CONSTRAINT "CK_BatchControl_Data6_Type" CHECK (instr(Data6, char(0)) = 0),
    CONSTRAINT "CK_BatchControl_ClaimedBy_Type" CHECK (length(ClaimedBy) <= 200 AND instr(ClaimedBy, char(0)) = 0),
    CONSTRAINT "CK_BatchControl_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_BatchControl_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

CREATE INDEX "IX_BatchControl_InLine" ON BatchControl (ProcessBatch_id, BatchControl_id) WHERE (Status = 'ready'
    OR Status = 'retry' OR Status = 'failed' OR Status = 'held');

CREATE INDEX "IX_BatchControl_Paused" ON BatchControl (ProcessBatch_id, BatchControl_id) WHERE (Status = 'paused');

CREATE INDEX "IX_BatchControl_Standing" ON BatchControl (BatchControl_id) WHERE (Status = 'retry' OR Status = 'failed'
    OR Status = 'held');

CREATE INDEX "IX_BatchControl_Unreadable" ON BatchControl (BatchControl_id) WHERE ((Status = 'ready' OR Status = 'running'
    OR Status = 'retry' OR Status = 'failed' OR Status = 'held' OR Status = 'pausing' OR Status = 'paused'
    OR Status = 'cancelling' OR Status = 'cancelled' OR Status = 'complete' OR Status = 'success')
    AND (PrevProcessControlSeq BETWEEN 0 AND 2000000000) AND (NextRunTime >= '0001' AND NextRunTime < ':'
    AND (strftime('%Y-%m-%d %H:%M:%f', NextRunTime, '+0 days') IS NextRunTime
    OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(NextRunTime, 1, 23), '+0 days'), 1, length(rtrim(NextRunTime))) IS substr(NextRunTime, 1, 23) AND trim(substr(NextRunTime, 24), '0123456789') = '' AND instr(NextRunTime, char(0)) = 0)))) IS NOT TRUE;

CREATE INDEX "IX_BatchControl_Deferred" ON BatchControl (ProcessBatch_id, NextRunTime) WHERE (Status = 'ready'
    OR Status = 'retry') AND NextRunTime > '1900-01-01 00:00:00.000';

CREATE INDEX "IX_BatchControl_Cycle" ON BatchControl (ProcessBatch_id, CycleKey, BatchControl_id);

CREATE INDEX "IX_BatchControl_Claimed" ON BatchControl (ProcessBatch_id) WHERE (Status = 'running' OR Status = 'pausing'
    OR Status = 'cancelling');

CREATE INDEX "IX_BatchControl_Due" ON BatchControl (NextRunTime) WHERE (Status = 'ready' OR Status = 'retry')
    AND NextRunTime > '1900-01-01 00:00:00.000';

CREATE INDEX "IX_BatchControl_Over" ON BatchControl (ProcessBatch_id, Status, BatchControl_id) WHERE (Status = 'complete'
    OR Status = 'cancelled');

CREATE INDEX "IX_BatchControl_AtOnce" ON BatchControl (ProcessBatch_id, BatchControl_id) WHERE (Status = 'ready'
    OR Status = 'retry') AND NextRunTime <= '1900-01-01 00:00:00.000';

-- How long attempts took that have been purged.
CREATE TABLE DurationHistory (
    DurationHistory_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL,
    ProcessControlSeq INTEGER NOT NULL,
    Day TEXT NOT NULL,
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
    CONSTRAINT "CK_DurationHistory_Day_Type" CHECK (length(Day) <= 10 AND instr(Day, char(0)) = 0),
    CONSTRAINT "CK_DurationHistory_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_DurationHistory_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

-- What was decided about each due time of a schedule.
CREATE TABLE ScheduleFire (
    ScheduleFire_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    Schedule_id INTEGER NOT NULL,
    FireKey TEXT NOT NULL,
    Outcome TEXT COLLATE "NOCASE" NOT NULL,
    DueTime TEXT NOT NULL,
    DueUntil TEXT,
    Instants INTEGER DEFAULT 1 NOT NULL,
    Reason TEXT,
    FileProcess_id INTEGER,
    ScheduleBackfill_id INTEGER,
    ZoneRules TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_ScheduleFire_Schedule_id_FireKey" UNIQUE (Schedule_id, FireKey),
    CONSTRAINT "CK_ScheduleFire_FireKey" CHECK (FireKey <> ''),
    CONSTRAINT "CK_ScheduleFire_Instants" CHECK (Instants >= 1),
    CONSTRAINT "CK_ScheduleFire_FileProcess_id" CHECK ((Outcome = 'fired' AND FileProcess_id IS NOT NULL)
        OR (Outcome <> 'fired' AND FileProcess_id IS NULL)),
    CONSTRAINT "CK_ScheduleFire_Outcome" CHECK (Outcome IN ('fired', 'skipped', 'purged')),
    CONSTRAINT "FK_ScheduleFire_Schedule_id" FOREIGN KEY(Schedule_id) REFERENCES Schedule (Schedule_id),
    CONSTRAINT "FK_ScheduleFire_FileProcess_id" FOREIGN KEY(FileProcess_id) REFERENCES FileProcess (FileProcess_id),
    CONSTRAINT "FK_ScheduleFire_ScheduleBackfill_id" FOREIGN KEY(ScheduleBackfill_id) REFERENCES ScheduleBackfill (ScheduleBackfill_id),
    CONSTRAINT "CK_ScheduleFire_FireKey_Type" CHECK (length(FireKey) <= 100 AND instr(FireKey, char(0)) = 0),
    CONSTRAINT "CK_ScheduleFire_DueTime_Type" CHECK (DueTime >= '0001' AND DueTime < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', DueTime, '+0 days') IS DueTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(DueTime, 1, 23), '+0 days'), 1, length(rtrim(DueTime))) IS substr(DueTime, 1, 23) AND trim(substr(DueTime, 24), '0123456789') = '' AND instr(DueTime, char(0)) = 0))),
    CONSTRAINT "CK_ScheduleFire_DueUntil_Type" CHECK (DueUntil IS NULL OR (DueUntil >= '0001' AND DueUntil < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', DueUntil, '+0 days') IS DueUntil
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(DueUntil, 1, 23), '+0 days'), 1, length(rtrim(DueUntil))) IS substr(DueUntil, 1, 23) AND trim(substr(DueUntil, 24), '0123456789') = '' AND instr(DueUntil, char(0)) = 0)))),
    CONSTRAINT "CK_ScheduleFire_Reason_Type" CHECK (instr(Reason, char(0)) = 0),
    CONSTRAINT "CK_ScheduleFire_ZoneRules_Type" CHECK (length(ZoneRules) <= 50 AND instr(ZoneRules, char(0)) = 0),
    CONSTRAINT "CK_ScheduleFire_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0)))
) STRICT;

CREATE INDEX "IX_ScheduleFire_FileProcess" ON ScheduleFire (FileProcess_id);

CREATE INDEX "IX_ScheduleFire_Due" ON ScheduleFire (Schedule_id, DueTime);

-- Each attempt at a step, with the command that can be pasted and run by hand.
CREATE TABLE BatchProcessHistory (
    BatchProcessHistory_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    BatchControl_id INTEGER NOT NULL,
    ProcessBatch_id INTEGER NOT NULL,
    ProcessControlSeq INTEGER NOT NULL,
    ProcessName TEXT NOT NULL,
    ProcessType TEXT NOT NULL,
    AttemptNo INTEGER DEFAULT 1 NOT NULL,
    ClaimToken INTEGER DEFAULT 0 NOT NULL,
    Cause TEXT COLLATE "NOCASE" DEFAULT 'auto' NOT NULL,
    Status TEXT COLLATE "NOCASE" DEFAULT 'running' NOT NULL,
    CommandText TEXT NOT NULL,
    CommandSpec TEXT DEFAULT '{}' NOT NULL,
    StartTime TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    EndTime TEXT,
    ReturnCode INTEGER,
    Message TEXT,
    Output TEXT,
    RowsAffected INTEGER,
    Host TEXT,
    Pid INTEGER,
    PidStart TEXT,
    BootId TEXT,
    DbSession TEXT,
    Spawned TEXT,
    RetryCountAfter INTEGER,
    NextRunTimeAfter TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    ClaimedBy TEXT,
    DefVersion INTEGER,
    ErrorCode TEXT,
    ErrorLine INTEGER,
    CONSTRAINT "UQ_BatchProcessHistory_BatchControl_id_ProcessControlSeq_AttemptNo" UNIQUE (BatchControl_id, ProcessControlSeq, AttemptNo),
    CONSTRAINT "CK_BatchProcessHistory_Cause" CHECK (Cause = 'auto' OR Cause = 'retry' OR Cause = 'manual' OR Cause = 'verify'),
    CONSTRAINT "CK_BatchProcessHistory_Status" CHECK (Status = 'running' OR Status = 'success' OR Status = 'failed'
        OR Status = 'timeout' OR Status = 'cancelled' OR Status = 'lost' OR Status = 'fenced' OR Status = 'skipped'),
    CONSTRAINT "CK_BatchProcessHistory_EndTime" CHECK ((Status = 'running' AND EndTime IS NULL) OR (Status <> 'running'
        AND EndTime IS NOT NULL)),
    CONSTRAINT "FK_BatchProcessHistory_BatchControl_id" FOREIGN KEY(BatchControl_id) REFERENCES BatchControl (BatchControl_id),
    CONSTRAINT "FK_BatchProcessHistory_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "CK_BatchProcessHistory_ProcessName_Type" CHECK (length(ProcessName) <= 200 AND instr(ProcessName, char(0)) = 0),
    CONSTRAINT "CK_BatchProcessHistory_ProcessType_Type" CHECK (length(ProcessType) <= 50 AND instr(ProcessType, char(0)) = 0),
    CONSTRAINT "CK_BatchProcessHistory_CommandText_Type" CHECK (instr(CommandText, char(0)) = 0),
    CONSTRAINT "CK_BatchProcessHistory_CommandSpec_Type" CHECK (instr(CommandSpec, char(0)) = 0),
    CONSTRAINT "CK_BatchProcessHistory_StartTime_Type" CHECK (StartTime >= '0001' AND StartTime < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', StartTime, '+0 days') IS StartTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(StartTime, 1, 23), '+0 days'), 1, length(rtrim(StartTime))) IS substr(StartTime, 1, 23) AND trim(substr(StartTime, 24), '0123456789') = '' AND instr(StartTime, char(0)) = 0))),
    CONSTRAINT "CK_BatchProcessHistory_EndTime_Type" CHECK (EndTime IS NULL OR (EndTime >= '0001' AND EndTime < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', EndTime, '+0 days') IS EndTime
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(EndTime, 1, 23), '+0 days'), 1, length(rtrim(EndTime))) IS substr(EndTime, 1, 23) AND trim(substr(EndTime, 24), '0123456789') = '' AND instr(EndTime, char(0)) = 0)))),
    CONSTRAINT "CK_BatchProcessHistory_Message_Type" CHECK (instr(Message, char(0)) = 0),
    CONSTRAINT "CK_BatchProcessHistory_Output_Type" CHECK (instr(Output, char(0)) = 0),
    CONSTRAINT "CK_BatchProcessHistory_Host_Type" CHECK (length(Host) <= 200 AND instr(Host, char(0)) = 0),
    CONSTRAINT "CK_BatchProcessHistory_PidStart_Type" CHECK (length(PidStart) <= 50 AND instr(PidStart, char(0)) = 0),
    CONSTRAINT "CK_BatchProcessHistory_BootId_Type" CHECK (length(BootId) <= 50 AND instr(BootId, char(0)) = 0),
    CONSTRAINT "CK_BatchProcessHistory_DbSession_Type" CHECK (length(DbSession) <= 200 AND instr(DbSession, char(0)) = 0),
    CONSTRAINT "CK_BatchProcessHistory_Spawned_Type" CHECK (Spawned IS NULL OR (Spawned >= '0001' AND Spawned < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', Spawned, '+0 days') IS Spawned
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(Spawned, 1, 23), '+0 days'), 1, length(rtrim(Spawned))) IS substr(Spawned, 1, 23) AND trim(substr(Spawned, 24), '0123456789') = '' AND instr(Spawned, char(0)) = 0)))),
    CONSTRAINT "CK_BatchProcessHistory_NextRunTimeAfter_Type" CHECK (NextRunTimeAfter IS NULL OR (NextRunTimeAfter >= '0001'
        AND NextRunTimeAfter < ':' AND (strftime('%Y-%m-%d %H:%M:%f', NextRunTimeAfter, '+0 days') IS NextRunTimeAfter
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(NextRunTimeAfter, 1, 23), '+0 days'), 1, length(rtrim(NextRunTimeAfter))) IS substr(NextRunTimeAfter, 1, 23) AND trim(substr(NextRunTimeAfter, 24), '0123456789') = '' AND instr(NextRunTimeAfter, char(0)) = 0)))),
    CONSTRAINT "CK_BatchProcessHistory_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_BatchProcessHistory_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001'
        AND z_updated < ':' AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0)))),
    CONSTRAINT "CK_BatchProcessHistory_ClaimedBy_Type" CHECK (length(ClaimedBy) <= 200 AND instr(ClaimedBy, char(0)) = 0),
    CONSTRAINT "CK_BatchProcessHistory_ErrorCode_Type" CHECK (length(ErrorCode) <= 50 AND instr(ErrorCode, char(0)) = 0)
) STRICT;

CREATE INDEX "IX_BatchProcessHistory_Unreadable" ON BatchProcessHistory (BatchProcessHistory_id) WHERE ((Status = 'running'
    OR Status = 'success' OR Status = 'failed' OR Status = 'timeout' OR Status = 'cancelled' OR Status = 'lost'
    OR Status = 'fenced' OR Status = 'skipped') AND (Cause = 'auto' OR Cause = 'retry' OR Cause = 'manual'
    OR Cause = 'verify')) IS NOT TRUE;

CREATE UNIQUE INDEX "UX_BatchProcessHistory_Live" ON BatchProcessHistory (BatchControl_id) WHERE Status = 'running';

-- Completed instances that batches which depend on them still have to hear of.
CREATE TABLE BatchCompletion (
    BatchCompletion_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL,
    DependsOnBatch_id INTEGER NOT NULL,
    BatchControl_id INTEGER NOT NULL,
    CycleKey TEXT,
    FileProcess_id INTEGER,
    Overdue TEXT,
    z_inserted TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    z_updated TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')) NOT NULL,
    CONSTRAINT "UQ_BatchCompletion_ProcessBatch_id_BatchControl_id" UNIQUE (ProcessBatch_id, BatchControl_id),
    CONSTRAINT "FK_BatchCompletion_ProcessBatch_id" FOREIGN KEY(ProcessBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "FK_BatchCompletion_DependsOnBatch_id" FOREIGN KEY(DependsOnBatch_id) REFERENCES ProcessBatch (ProcessBatch_id),
    CONSTRAINT "FK_BatchCompletion_BatchControl_id" FOREIGN KEY(BatchControl_id) REFERENCES BatchControl (BatchControl_id),
    CONSTRAINT "FK_BatchCompletion_FileProcess_id" FOREIGN KEY(FileProcess_id) REFERENCES FileProcess (FileProcess_id),
    CONSTRAINT "CK_BatchCompletion_CycleKey_Type" CHECK (length(CycleKey) <= 200 AND instr(CycleKey, char(0)) = 0),
    CONSTRAINT "CK_BatchCompletion_Overdue_Type" CHECK (Overdue IS NULL OR (Overdue >= '0001' AND Overdue < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', Overdue, '+0 days') IS Overdue
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(Overdue, 1, 23), '+0 days'), 1, length(rtrim(Overdue))) IS substr(Overdue, 1, 23) AND trim(substr(Overdue, 24), '0123456789') = '' AND instr(Overdue, char(0)) = 0)))),
    CONSTRAINT "CK_BatchCompletion_z_inserted_Type" CHECK (z_inserted >= '0001' AND z_inserted < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_inserted, '+0 days') IS z_inserted
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_inserted, 1, 23), '+0 days'), 1, length(rtrim(z_inserted))) IS substr(z_inserted, 1, 23) AND trim(substr(z_inserted, 24), '0123456789') = '' AND instr(z_inserted, char(0)) = 0))),
    CONSTRAINT "CK_BatchCompletion_z_updated_Type" CHECK (z_updated IS z_inserted OR (z_updated >= '0001' AND z_updated < ':'
        AND (strftime('%Y-%m-%d %H:%M:%f', z_updated, '+0 days') IS z_updated
        OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(z_updated, 1, 23), '+0 days'), 1, length(rtrim(z_updated))) IS substr(z_updated, 1, 23) AND trim(substr(z_updated, 24), '0123456789') = '' AND instr(z_updated, char(0)) = 0))))
) STRICT;

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
) STRICT;

-- The name of this database, which no other has.
INSERT INTO Setting (Name, Value) SELECT 'DatabaseId', lower(hex(randomblob(16)));

INSERT INTO Leader (Fence) SELECT 0;

INSERT INTO alembic_version (version_num) VALUES ('0044') RETURNING version_num;

-- Running upgrade 0044 -> 0045

UPDATE alembic_version SET version_num='0045' WHERE alembic_version.version_num = '0044';

CREATE VIEW vUnreadable AS
SELECT TableName, Row_id, substr(Given, 1, instr(Given, ' ') - 1) AS ColumnName, ProcessBatch_id, Place,
    TableName || ' ' || Row_id || Named || ' cannot be read: ' || substr(Given, 1, instr(Given, ' ') - 1) || ' holds ' || CASE WHEN Given LIKE 'NextRunTime%' THEN 'no time' ELSE 'nonsense' END AS Reason,
    'UPDATE ' || TableName || ' SET ' || Given || ' WHERE ' || TableName || '_id = ' || Row_id || ';' AS NextSql
FROM (
SELECT 'ProcessBatch' AS TableName, ProcessBatch_id AS Row_id, ProcessBatch_id, 0 AS Place, ' (' || ProcessBatchName || ')' AS Named,
    CASE WHEN Enabled NOT BETWEEN 0 AND 1 THEN 'Enabled = 0'
    WHEN RetryCount NOT BETWEEN 0 AND 1000 THEN 'RetryCount = 0'
    WHEN RetryWaitMins NOT BETWEEN 0 AND 525600 THEN 'RetryWaitMins = 5'
    WHEN lower(OnFailure) NOT IN ('hold_batch', 'stop_all', 'continue') THEN 'OnFailure = ''hold_batch'''
    WHEN lower(DependencyMode) NOT IN ('all', 'any') THEN 'DependencyMode = ''all'''
    WHEN MaxConcurrent NOT BETWEEN 1 AND 1000 THEN 'MaxConcurrent = 1'
    WHEN DuplicateCheck NOT BETWEEN 0 AND 1 THEN 'DuplicateCheck = 1'
    WHEN lower(ProcessingMode) NOT IN ('manual', 'scheduled', 'triggered') THEN 'ProcessingMode = NULL'
    WHEN RetryWaitSecs NOT BETWEEN 0 AND 31536000 THEN 'RetryWaitSecs = NULL' END AS Given
FROM ProcessBatch
UNION ALL
SELECT 'ProcessControl', ProcessControl_id, ProcessBatch_id, 1, '',
    CASE WHEN ProcessControlSeq NOT BETWEEN 1 AND 2000000000 THEN 'ProcessControlSeq = ...'
    WHEN ExpectedDuration NOT BETWEEN 1 AND 31536000 THEN 'ExpectedDuration = NULL'
    WHEN AlarmDuration NOT BETWEEN 1 AND 31536000 THEN 'AlarmDuration = NULL'
    WHEN MaxDuration NOT BETWEEN 1 AND 31536000 THEN 'MaxDuration = NULL'
    WHEN lower(OnLost) NOT IN ('hold', 'rerun', 'verify') THEN 'OnLost = ''hold'''
    WHEN MaxLost NOT BETWEEN 0 AND 1000 THEN 'MaxLost = 3' END
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
    CASE WHEN NOT (Status = 'ready' OR Status = 'running' OR Status = 'retry' OR Status = 'failed' OR Status = 'held' OR Status = 'pausing' OR Status = 'paused' OR Status = 'cancelling' OR Status = 'cancelled' OR Status = 'complete' OR Status = 'success') THEN 'Status = ''held'''
    WHEN NOT (PrevProcessControlSeq BETWEEN 0 AND 2000000000) THEN 'PrevProcessControlSeq = ...' ELSE 'NextRunTime = ''1900-01-01 00:00:00.000''' END
FROM BatchControl WHERE ((Status = 'ready' OR Status = 'running' OR Status = 'retry' OR Status = 'failed' OR Status = 'held' OR Status = 'pausing' OR Status = 'paused' OR Status = 'cancelling' OR Status = 'cancelled' OR Status = 'complete' OR Status = 'success') AND (PrevProcessControlSeq BETWEEN 0 AND 2000000000) AND (NextRunTime >= '0001' AND NextRunTime < ':' AND (strftime('%Y-%m-%d %H:%M:%f', NextRunTime, '+0 days') IS NextRunTime OR (substr(strftime('%Y-%m-%d %H:%M:%f', substr(NextRunTime, 1, 23), '+0 days'), 1, length(rtrim(NextRunTime))) IS substr(NextRunTime, 1, 23) AND trim(substr(NextRunTime, 24), '0123456789') = '' AND instr(NextRunTime, char(0)) = 0)))) IS NOT TRUE
UNION ALL
SELECT 'FileProcess', FileProcess_id, NULL, 7, '',
    'Status = ''paused'''
FROM FileProcess WHERE ((Status = 'ready' OR Status = 'paused' OR Status = 'complete' OR Status = 'rejected' OR Status = 'duplicate' OR Status = 'success')) IS NOT TRUE
) m WHERE Given IS NOT NULL;

CREATE VIEW vNotInstalled AS
WITH Offered AS (
SELECT CASE WHEN k.ProcessTypes IS NULL THEN 1 ELSE 0 END AS IsUnknown, k.ProcessTypes AS ProcessTypes, CASE WHEN EXISTS (SELECT 1 FROM Leader l WHERE l.ControllerName = k.ControllerName) OR NOT EXISTS (SELECT 1 FROM Leader l JOIN Controller m ON m.ControllerName = l.ControllerName
    WHERE m.Status = 'running') THEN k.Populators ELSE '' END AS Populators, k.Jobs AS Jobs
FROM Controller k
WHERE k.Status = 'running' OR k.Controller_id = (SELECT MAX(l.Controller_id) FROM Controller l)
), Named AS (
SELECT ProcessBatch_id, -1 AS ProcessControlSeq, 'Populator' AS Lacks, Populator AS Name FROM ProcessBatch
UNION ALL SELECT ProcessBatch_id, ProcessControlSeq, 'ProcessType', trim(lower(ProcessType), (SELECT Blanks FROM batchctl_blanks)) FROM ProcessControl
UNION ALL SELECT ProcessBatch_id, ProcessControlSeq, 'Data1', Data1 FROM ProcessControl
WHERE Data1 <> '' AND trim(lower(ProcessType), (SELECT Blanks FROM batchctl_blanks)) = 'python' AND EXISTS (SELECT 1 FROM Offered WHERE ProcessTypes LIKE '%python%')
)
SELECT n.ProcessBatch_id, b.ProcessBatchName, n.ProcessControlSeq,
    CASE WHEN n.ProcessControlSeq = -1 THEN 'ProcessBatch (' || b.ProcessBatchName || '): Populator' ELSE 'ProcessControl (' || b.ProcessBatchName || ', step ' || n.ProcessControlSeq || '): ' || CASE WHEN n.Lacks = 'Data1' THEN 'job' ELSE n.Lacks END END || ' ''' || n.Name || CASE WHEN n.Lacks = 'Data1' THEN ''' of Data1' ELSE '''' END || ' is not installed' AS Reason,
    CASE WHEN n.ProcessControlSeq = -1 THEN 'UPDATE ProcessBatch SET Populator = ... WHERE ProcessBatch_id = ' || n.ProcessBatch_id || ';' ELSE 'UPDATE ProcessControl SET ' || n.Lacks || ' = ... WHERE ProcessBatch_id = ' || n.ProcessBatch_id || ' AND ProcessControlSeq = ' || n.ProcessControlSeq || ';' END AS NextSql
FROM Named n JOIN ProcessBatch b ON b.ProcessBatch_id = n.ProcessBatch_id
WHERE EXISTS (SELECT 1 FROM Offered) AND replace(n.Name, ',', '') = n.Name
AND NOT EXISTS (SELECT 1 FROM Offered o WHERE o.IsUnknown = 1 OR (EXISTS (SELECT 1 FROM json_each('[' || replace(json_quote(CAST(CASE n.Lacks WHEN 'Populator' THEN o.Populators WHEN 'ProcessType' THEN o.ProcessTypes ELSE o.Jobs END AS text)), ',', '","') || ']') t WHERE trim(t.value, (SELECT Blanks FROM batchctl_blanks)) = n.Name)));

CREATE VIEW vFrozen AS
SELECT z.ProcessBatch_id, z.ProcessBatchName, z.BatchFreeze_id, z.Scope, z.UntilTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', z.UntilTime, OffsetSeconds || ' seconds') FROM ZoneOffset WHERE datetime(z.UntilTime, '+1 second') BETWEEN FromTime AND UntilTime) AS UntilTimeLocal,
    z.Scope || ' is frozen since ' || strftime('%Y-%m-%d %H:%M:%S', z.z_inserted) || ' UTC, ' || CASE WHEN z.UntilTime IS NULL THEN 'until somebody thaws it' ELSE 'until ' || strftime('%Y-%m-%d %H:%M:%S', z.UntilTime) || ' UTC' END || ', by ' || z.Actor || ': ' || z.Reason AS Reason,
    'INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''thaw'', ''{"id": ' || z.BatchFreeze_id || '}'', ''...'');' AS NextSql
FROM (SELECT b.ProcessBatch_id, b.ProcessBatchName, z.BatchFreeze_id, CASE WHEN z.Tag IS NOT NULL THEN 'every batch with tag ''' || z.Tag || '''' WHEN z.ProcessBatchName IS NULL THEN 'everything' ELSE 'batch ' || z.ProcessBatchName END AS Scope, z.UntilTime, z.z_inserted, z.Actor,
    z.Reason, ROW_NUMBER() OVER (PARTITION BY b.ProcessBatch_id ORDER BY CASE WHEN z.UntilTime IS NULL THEN 0 ELSE 1 END, z.UntilTime DESC, z.BatchFreeze_id) AS Nth
    FROM (SELECT BatchFreeze_id, ProcessBatchName, Tag, trim(lower(Tag), (SELECT Blanks FROM batchctl_blanks)) AS BareTag, UntilTime, z_inserted, Actor, Reason
    FROM BatchFreeze WHERE ThawedTime IS NULL AND (UntilTime IS NULL OR UntilTime > strftime('%Y-%m-%d %H:%M:%f', 'now'))) z
    JOIN (SELECT ProcessBatch_id, ProcessBatchName, lower(Tags) AS Tags FROM ProcessBatch) b
    ON (z.Tag IS NULL AND (z.ProcessBatchName IS NULL OR z.ProcessBatchName = b.ProcessBatchName))
    OR (z.BareTag <> '' AND EXISTS (SELECT 1 FROM json_each('[' || replace(json_quote(CAST(b.Tags AS text)), ',', '","') || ']') t WHERE trim(t.value, (SELECT Blanks FROM batchctl_blanks)) = z.BareTag))) z
WHERE z.Nth = 1;

CREATE VIEW vStatus AS
WITH Unfit AS (
SELECT ProcessBatch_id, Reason, NextSql
FROM (SELECT ProcessBatch_id, Reason, NextSql, ROW_NUMBER() OVER (PARTITION BY ProcessBatch_id ORDER BY Place, Row_id) AS Nth FROM vUnreadable WHERE ProcessBatch_id IS NOT NULL) m
WHERE Nth = 1
), Missing AS (SELECT ProcessBatch_id, ProcessControlSeq, Reason, NextSql FROM vNotInstalled), Counted AS (
SELECT ProcessBatch_id, COUNT(CASE WHEN (Status = 'ready') THEN 1 END) AS Ready, COUNT(CASE WHEN (Status = 'running' OR Status = 'pausing' OR Status = 'cancelling') THEN 1 END) AS Running, COUNT(CASE WHEN (Status = 'retry') THEN 1 END) AS Retry,
    COUNT(CASE WHEN (Status = 'failed') THEN 1 END) AS Failed, COUNT(CASE WHEN (Status = 'held') THEN 1 END) AS Held, COUNT(CASE WHEN (Status = 'paused') THEN 1 END) AS Paused
FROM (SELECT ProcessBatch_id, Status FROM BatchControl WHERE (Status = 'ready' OR Status = 'retry' OR Status = 'failed' OR Status = 'held')
    UNION ALL SELECT ProcessBatch_id, Status FROM BatchControl WHERE (Status = 'running' OR Status = 'pausing' OR Status = 'cancelling') UNION ALL SELECT ProcessBatch_id, Status FROM BatchControl WHERE (Status = 'paused')) c
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
    c.BatchControl_id AS LastComplete_id, c.z_updated AS LastCompleteTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', c.z_updated, OffsetSeconds || ' seconds') FROM ZoneOffset WHERE datetime(c.z_updated, '+1 second') BETWEEN FromTime AND UntilTime) AS LastCompleteTimeLocal,
    b.Seq, b.Description,
    CASE WHEN x.ProcessBatch_id IS NOT NULL THEN x.NextSql WHEN b.Enabled <> 1 THEN 'INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES (''enable'', ' || quote(b.ProcessBatchName) || ', ''...'');'
    WHEN z.BatchFreeze_id IS NOT NULL THEN z.NextSql WHEN y.ProcessBatch_id IS NOT NULL THEN y.NextSql
    WHEN t.Incident_id IS NOT NULL AND n.ProcessBatch_id IS NULL AND a.ProcessBatch_id IS NULL
    THEN 'SELECT * FROM Incident WHERE Incident_id = ' || t.Incident_id || ';'
    ELSE 'SELECT * FROM ' || CASE WHEN n.Failed + n.Held > 0 THEN 'vFailed' WHEN n.Running > 0 THEN 'vRunning' WHEN n.Retry + n.Ready + n.Paused > 0 OR a.ProcessBatch_id IS NOT NULL THEN 'vWaiting' ELSE 'vHistory' END || ' WHERE ProcessBatchName = ' || quote(b.ProcessBatchName) || ';' END AS NextSql
FROM ProcessBatch b
LEFT JOIN Counted n ON n.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Missing y ON y.ProcessBatch_id = b.ProcessBatch_id AND y.ProcessControlSeq = (
    SELECT MIN(v.ProcessControlSeq) FROM Missing v WHERE v.ProcessBatch_id = b.ProcessBatch_id)
LEFT JOIN vFrozen z ON z.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN (SELECT DISTINCT ProcessBatch_id FROM BatchCompletion WHERE FileProcess_id IS NULL) a
    ON a.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN BatchControl c ON c.BatchControl_id = (SELECT MAX(d.BatchControl_id) FROM BatchControl d
    WHERE d.ProcessBatch_id = b.ProcessBatch_id AND d.Status = 'complete' AND (d.Status = 'complete' OR d.Status = 'cancelled'))
LEFT JOIN Incident t ON t.Incident_id = (SELECT MIN(i.Incident_id) FROM Incident i
    WHERE i.ResolvedTime IS NULL AND i.Kind = 'unreadable' AND i.ProcessBatch_id = b.ProcessBatch_id);

CREATE VIEW vFailed AS
SELECT c.BatchControl_id, b.ProcessBatchName, lower(c.Status) AS Status, c.CycleKey, f.Entity, f.FileName,
    h.ProcessControlSeq, h.ProcessName, h.ProcessType, h.AttemptNo, lower(h.Status) AS AttemptStatus, h.ReturnCode,
    h.Message AS ErrorText, h.Output, h.CommandText, h.StartTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', h.StartTime, OffsetSeconds || ' seconds') FROM ZoneOffset WHERE datetime(h.StartTime, '+1 second') BETWEEN FromTime AND UntilTime) AS StartTimeLocal, h.EndTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', h.EndTime, OffsetSeconds || ' seconds') FROM ZoneOffset WHERE datetime(h.EndTime, '+1 second') BETWEEN FromTime AND UntilTime) AS EndTimeLocal,
    round((julianday(h.EndTime) - julianday(h.StartTime)) * 86400.0, 3) AS DurationSeconds, h.ClaimedBy, h.Host, c.FileProcess_id,
    'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''rerun'', ' || c.BatchControl_id || ', ''...'');' AS RerunSql, 'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''skip'', ' || c.BatchControl_id || ', ''...'');' AS SkipSql,
    'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''cancel'', ' || c.BatchControl_id || ', ''...'');' AS CancelSql, h.ErrorCode, h.ErrorLine
FROM BatchControl c
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN FileProcess f ON f.FileProcess_id = c.FileProcess_id
LEFT JOIN BatchProcessHistory h ON h.BatchProcessHistory_id = (
    SELECT MAX(g.BatchProcessHistory_id) FROM BatchProcessHistory g WHERE g.BatchControl_id = c.BatchControl_id)
WHERE (c.Status = 'retry' OR c.Status = 'failed' OR c.Status = 'held') AND (c.Status = 'failed' OR c.Status = 'held');

CREATE VIEW vWaiting AS
WITH Unfit AS (
SELECT ProcessBatch_id, Reason, NextSql
FROM (SELECT ProcessBatch_id, Reason, NextSql, ROW_NUMBER() OVER (PARTITION BY ProcessBatch_id ORDER BY Place, Row_id) AS Nth FROM vUnreadable WHERE ProcessBatch_id IS NOT NULL) m
WHERE Nth = 1
), Missing AS (SELECT ProcessBatch_id, ProcessControlSeq, Reason, NextSql FROM vNotInstalled), UnfitWork AS (
SELECT Row_id, ColumnName, Reason, NextSql FROM vUnreadable WHERE TableName = 'BatchControl'
), Claimed AS (
SELECT ProcessBatch_id, COUNT(*) AS HowMany FROM BatchControl WHERE (Status = 'running' OR Status = 'pausing' OR Status = 'cancelling') GROUP BY ProcessBatch_id
), Total AS (
SELECT (SELECT COALESCE(SUM(HowMany), 0) FROM Claimed) AS HowMany,
    (SELECT CASE WHEN v.Said NOT GLOB '*[^0-9]*' AND length(v.Said) BETWEEN 1 AND 18 THEN CAST(v.Said AS bigint) ELSE 0 END FROM (SELECT trim(Value, (SELECT Blanks FROM batchctl_blanks)) AS Said FROM Setting WHERE Name = 'MaxConcurrent') v) AS Most,
    strftime('%Y-%m-%d %H:%M:%f', 'now') AS Now
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
    c.PrevProcessControlSeq, c.z_updated, COALESCE(k.HowMany, 0) AS Started, b.MaxConcurrent,
    lower(b.OnFailure) AS OnFailure,
    CASE WHEN c.Status = 'retry' AND lower(b.OnFailure) = 'stop_all' THEN
    CASE WHEN t.ByRetry < c.BatchControl_id AND (t.ByPerson IS NULL OR t.ByRetry < t.ByPerson) THEN t.ByRetry
    ELSE t.ByPerson END
    WHEN t.ByRetry < t.ByPerson OR t.ByPerson IS NULL THEN t.ByRetry ELSE t.ByPerson END AS Stop_id
FROM BatchControl c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id CROSS JOIN Stopping t
LEFT JOIN Claimed k ON k.ProcessBatch_id = c.ProcessBatch_id
WHERE (c.Status = 'ready' OR c.Status = 'retry' OR c.Status = 'failed' OR c.Status = 'held')
), Line AS (
SELECT c.*, c.Started + COUNT(CASE WHEN c.NextRunTime <= strftime('%Y-%m-%d %H:%M:%f', 'now') AND (c.Status = 'ready' OR c.Status = 'retry')
    AND c.Stop_id IS NULL THEN 1 END) OVER (PARTITION BY c.ProcessBatch_id ORDER BY c.BatchControl_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS Taken
FROM Stood c
), Ordered AS (
SELECT c.*, MIN(CASE WHEN c.OnFailure <> 'continue' AND (c.Status = 'failed' OR c.Status = 'held' OR c.NextRunTime > strftime('%Y-%m-%d %H:%M:%f', 'now')
    OR (c.Status = 'retry' AND c.Taken >= c.MaxConcurrent))
    THEN c.BatchControl_id END) OVER (PARTITION BY c.ProcessBatch_id ORDER BY c.BatchControl_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS Ahead_id
FROM Line c
), Instances AS (
SELECT BatchControl_id, ProcessBatch_id, FileProcess_id, CycleKey, Status, NextRunTime, PrevProcessControlSeq, z_updated,
    Started, Taken, Ahead_id, Stop_id FROM Ordered WHERE Status = 'ready' OR Status = 'retry'
UNION ALL
SELECT BatchControl_id, ProcessBatch_id, FileProcess_id, CycleKey, lower(Status), NextRunTime, PrevProcessControlSeq,
    z_updated, NULL, NULL, NULL, NULL FROM BatchControl WHERE (Status = 'paused')
), Lacking AS (
SELECT w.ProcessBatch_id, w.CycleKey, w.Since, y.DependsOnBatch_id,
    (SELECT MAX(x.BatchControl_id) FROM BatchControl x
    WHERE x.ProcessBatch_id = y.DependsOnBatch_id AND (x.CycleKey = w.CycleKey OR (x.CycleKey IS NULL AND w.CycleKey IS NULL))) AS Newest_id
FROM (SELECT ProcessBatch_id, CycleKey, MIN(z_inserted) AS Since FROM BatchCompletion
    WHERE FileProcess_id IS NULL GROUP BY ProcessBatch_id, CycleKey) w
JOIN BatchDependency y ON y.ProcessBatch_id = w.ProcessBatch_id
WHERE NOT EXISTS (SELECT 1 FROM BatchCompletion x WHERE x.FileProcess_id IS NULL
    AND x.ProcessBatch_id = w.ProcessBatch_id AND x.DependsOnBatch_id = y.DependsOnBatch_id AND (x.CycleKey = w.CycleKey OR (x.CycleKey IS NULL AND w.CycleKey IS NULL)))
), Told AS (
SELECT k.Controller_id, ' | ' || substr(substr(k.Trouble, 1, instr(k.Trouble || ' Next: ', ' Next: ') - 1), 29) AS Said
FROM Controller k
WHERE k.Status = 'running' AND k.Trouble LIKE 'somebody keeps rows locked: %' AND strftime('%Y-%m-%d %H:%M:%f', k.Heartbeat, (k.OrphanTimeoutSecs) || ' seconds') > strftime('%Y-%m-%d %H:%M:%f', 'now')
), Met AS (
SELECT c.BatchControl_id, t.Controller_id, substr(COALESCE(substr(t.Said, NULLIF(instr(t.Said, ' | BatchControl ' || c.BatchControl_id || ': '), 0)), substr(t.Said, NULLIF(instr(t.Said, ' | batch ' || replace(replace(b.ProcessBatchName, '|', '\|'), ':', '\:') || ': '), 0)), substr(t.Said, NULLIF(instr(t.Said, ' | FileProcess ' || c.FileProcess_id || ': '), 0))), 4) AS Said FROM Instances c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id CROSS JOIN Told t
), Entry AS (
SELECT m.BatchControl_id, m.Controller_id, substr(m.Said, 1, instr(m.Said || ' | ', ' | ') - 1) AS Said FROM Met m WHERE m.Said IS NOT NULL
), Locked AS (
SELECT e.BatchControl_id, substr(e.Said, 1, instr(e.Said || '; to end it: ', '; to end it: ') - 1) AS Reason,
    substr(substr(e.Said, NULLIF(instr(e.Said, '; to end it: '), 0)), 14) AS Mend,
    ROW_NUMBER() OVER (PARTITION BY e.BatchControl_id ORDER BY e.Controller_id) AS Nth
FROM Entry e
)
SELECT q.BatchControl_id, q.ProcessBatchName, q.Status, q.CycleKey, q.Entity, q.FileName, q.Since, (SELECT strftime('%Y-%m-%d %H:%M:%f', q.Since, OffsetSeconds || ' seconds') FROM ZoneOffset WHERE datetime(q.Since, '+1 second') BETWEEN FromTime AND UntilTime) AS SinceLocal, q.Reason, q.NotBeforeTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', q.NotBeforeTime, OffsetSeconds || ' seconds') FROM ZoneOffset WHERE datetime(q.NotBeforeTime, '+1 second') BETWEEN FromTime AND UntilTime) AS NotBeforeTimeLocal, q.FileProcess_id, q.NextSql
FROM (
SELECT c.BatchControl_id, b.ProcessBatchName, c.Status, c.CycleKey, f.Entity, f.FileName, c.z_updated AS Since,
    CASE WHEN c.Status = 'paused' THEN 'somebody paused it'
    WHEN x.ProcessBatch_id IS NOT NULL THEN x.Reason
    WHEN b.Enabled <> 1 THEN 'batch ' || b.ProcessBatchName || ' is disabled'
    WHEN z.BatchFreeze_id IS NOT NULL THEN z.Reason
    WHEN y.ProcessBatch_id IS NOT NULL THEN y.Reason
    WHEN NOT EXISTS (SELECT 1 FROM ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id)
    THEN 'batch ' || b.ProcessBatchName || ' has no steps'
    WHEN w.Row_id IS NOT NULL THEN w.Reason
    WHEN c.NextRunTime > l.Now THEN 'it waits until ' || strftime('%Y-%m-%d %H:%M:%S', c.NextRunTime) || ' UTC'
    WHEN a.BatchControl_id IS NOT NULL THEN 'BatchControl ' || a.BatchControl_id || ' of the same batch is ' || lower(a.Status) || ' (OnFailure ' || lower(b.OnFailure) || ')'
    WHEN t.BatchControl_id IS NOT NULL THEN 'BatchControl ' || t.BatchControl_id || ' is ' || lower(t.Status) || ' and its batch stops everything'
    WHEN h.Reason IS NOT NULL THEN h.Reason
    WHEN c.Started >= b.MaxConcurrent THEN b.MaxConcurrent || ' of batch ' || b.ProcessBatchName || ' are started before it'
    WHEN l.Most = 0 THEN 'Setting MaxConcurrent is 0, or no number: nothing starts'
    WHEN l.HowMany >= l.Most THEN l.HowMany || ' instances are under way, and Setting MaxConcurrent is ' || l.Most
    WHEN u.Units > r.Units THEN 'it needs ' || u.Units || ' units of ' || r.ResourceName || ', and there are ' || r.Units
    WHEN u.Exclusive = 1 THEN 'it needs all of ' || r.ResourceName || ', and instances under way hold it'
    WHEN u.Resource_id IS NOT NULL THEN 'it needs ' || u.Units || ' of the ' || r.Units || ' units of ' || r.ResourceName || ', and instances under way hold it'
    WHEN c.Taken >= b.MaxConcurrent AND l.Most IS NULL AND NOT EXISTS (
    SELECT 1 FROM BatchResource v WHERE v.ProcessBatch_id = c.ProcessBatch_id) THEN b.MaxConcurrent || ' of batch ' || b.ProcessBatchName || ' are started before it'
    WHEN c.Taken >= b.MaxConcurrent THEN 'others of batch ' || b.ProcessBatchName || ' start before it'
    ELSE 'nothing holds it back' END AS Reason,
    CASE WHEN w.ColumnName = 'NextRunTime' THEN NULL
    WHEN c.NextRunTime > l.Now THEN c.NextRunTime ELSE z.UntilTime END AS NotBeforeTime,
    c.FileProcess_id,
    CASE WHEN c.Status = 'paused' THEN 'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''resume'', ' || c.BatchControl_id || ', ''...'');'
    WHEN x.ProcessBatch_id IS NOT NULL THEN x.NextSql
    WHEN b.Enabled <> 1 THEN 'INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES (''enable'', ' || quote(b.ProcessBatchName) || ', ''...'');'
    WHEN z.BatchFreeze_id IS NOT NULL THEN z.NextSql
    WHEN y.ProcessBatch_id IS NOT NULL THEN y.NextSql
    WHEN NOT EXISTS (SELECT 1 FROM ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id) THEN 'INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1) VALUES (' || b.ProcessBatch_id || ', 10, ..., ..., ...);'
    WHEN w.Row_id IS NOT NULL THEN w.NextSql
    WHEN c.NextRunTime > l.Now THEN 'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''rerun'', ' || c.BatchControl_id || ', ''...'');'
    WHEN a.BatchControl_id IS NOT NULL THEN 'SELECT * FROM ' || CASE WHEN a.Status = 'failed' OR a.Status = 'held' THEN 'vFailed' ELSE 'vWaiting' END || ' WHERE BatchControl_id = ' || a.BatchControl_id || ';'
    WHEN t.BatchControl_id IS NOT NULL THEN 'SELECT * FROM ' || CASE WHEN t.Status = 'retry' THEN 'vWaiting' ELSE 'vFailed' END || ' WHERE BatchControl_id = ' || t.BatchControl_id || ';'
    WHEN h.Reason IS NOT NULL THEN CASE WHEN h.Mend IS NULL THEN 'SELECT * FROM Controller;' ELSE h.Mend || ';' END
    ELSE 'SELECT * FROM vRunning;' END AS NextSql
FROM Instances c
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN FileProcess f ON f.FileProcess_id = c.FileProcess_id
CROSS JOIN Total l
LEFT JOIN vFrozen z ON z.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN BatchControl a ON a.BatchControl_id = c.Ahead_id
LEFT JOIN BatchControl t ON t.BatchControl_id = c.Stop_id
LEFT JOIN Unfit x ON x.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN UnfitWork w ON w.Row_id = c.BatchControl_id
LEFT JOIN Missing y ON y.ProcessBatch_id = c.ProcessBatch_id AND y.ProcessControlSeq = (
    SELECT MIN(v.ProcessControlSeq) FROM Missing v
    WHERE v.ProcessBatch_id = c.ProcessBatch_id AND v.ProcessControlSeq > c.PrevProcessControlSeq)
LEFT JOIN Unmet m ON m.ProcessBatch_id = c.ProcessBatch_id
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
    'BatchControl ' || c.BatchControl_id || ' cannot be read: FileProcess ' || c.FileProcess_id || ' is gone', NULL, c.FileProcess_id, 'INSERT INTO FileProcess (FileProcess_id, Entity) VALUES (' || c.FileProcess_id || ', ' || quote(COALESCE(b.Entity, b.ProcessBatchName)) || ');'
FROM BatchControl c
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE (c.Status = 'ready' OR c.Status = 'running' OR c.Status = 'retry' OR c.Status = 'failed' OR c.Status = 'held' OR c.Status = 'pausing' OR c.Status = 'paused' OR c.Status = 'cancelling')
AND NOT EXISTS (SELECT 1 FROM FileProcess f WHERE f.FileProcess_id = c.FileProcess_id)
UNION ALL
SELECT NULL, b.ProcessBatchName, 'dependency', w.CycleKey, COALESCE(b.Entity, b.ProcessBatchName), NULL,
    w.Since, COALESCE(p.Reason, q.Reason, d.ProcessBatchName || ' ' || CASE WHEN x.BatchControl_id IS NULL THEN 'has no instance for this CycleKey yet' ELSE '(BatchControl ' || x.BatchControl_id || ') ' || CASE lower(x.Status) WHEN 'ready' THEN 'has not begun yet' WHEN 'running' THEN 'is running' WHEN 'retry' THEN 'has failed and waits for its retry' WHEN 'failed' THEN 'has failed' WHEN 'held' THEN 'is held: a person decides' WHEN 'pausing' THEN 'is running, and paused then' WHEN 'paused' THEN 'is paused' WHEN 'cancelling' THEN 'is being cancelled' WHEN 'cancelled' THEN 'was cancelled' WHEN 'complete' THEN CASE WHEN EXISTS (SELECT 1 FROM BatchCompletion u WHERE u.ProcessBatch_id = w.ProcessBatch_id AND u.BatchControl_id = x.BatchControl_id) THEN 'is complete, and that was used before: another instance has to complete'
    ELSE 'had completed before the dependency was registered, which does not count' END END END || CASE WHEN d.Enabled <> 1 THEN ', and the batch is disabled' WHEN z.BatchFreeze_id IS NOT NULL THEN ', and ' || z.Scope || ' is frozen' ELSE '' END), NULL, NULL, COALESCE(p.NextSql, q.NextSql,
    CASE WHEN x.Status = 'failed' OR x.Status = 'held' THEN 'SELECT * FROM vFailed WHERE BatchControl_id = ' || x.BatchControl_id || ';'
    WHEN x.Status = 'cancelled' THEN 'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''rerun'', ' || x.BatchControl_id || ', ''...'');'
    WHEN d.Enabled <> 1 THEN 'INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES (''enable'', ' || quote(d.ProcessBatchName) || ', ''...'');'
    WHEN z.BatchFreeze_id IS NOT NULL THEN z.NextSql
    WHEN x.Status = 'paused' THEN 'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''resume'', ' || x.BatchControl_id || ', ''...'');'
    WHEN x.BatchControl_id IS NOT NULL THEN 'SELECT * FROM ' || CASE WHEN x.Status = 'ready' OR x.Status = 'retry' THEN 'vWaiting' WHEN x.Status = 'complete' THEN 'vHistory' ELSE 'vRunning' END || ' WHERE BatchControl_id = ' || x.BatchControl_id || ';'
    WHEN EXISTS (SELECT 1 FROM Lacking o WHERE o.ProcessBatch_id = w.DependsOnBatch_id)
    THEN 'SELECT * FROM vWaiting WHERE ProcessBatchName = ' || quote(d.ProcessBatchName) || ';'
    ELSE 'INSERT INTO FileProcess (Entity, CycleKey, FileName) VALUES (' || quote(COALESCE(d.Entity, d.ProcessBatchName)) || ', ' || quote(w.CycleKey) || ', ...);' END)
FROM Lacking w
JOIN ProcessBatch b ON b.ProcessBatch_id = w.ProcessBatch_id
JOIN ProcessBatch d ON d.ProcessBatch_id = w.DependsOnBatch_id
LEFT JOIN BatchControl x ON x.BatchControl_id = w.Newest_id
LEFT JOIN Unfit p ON p.ProcessBatch_id = w.ProcessBatch_id
LEFT JOIN Unfit q ON q.ProcessBatch_id = w.DependsOnBatch_id
LEFT JOIN vFrozen z ON z.ProcessBatch_id = w.DependsOnBatch_id
UNION ALL
SELECT NULL, b.ProcessBatchName, 'populator', f.CycleKey, f.Entity, f.FileName,
    f.z_inserted, COALESCE(x.Reason, y.Reason, CASE WHEN f.PopulatorTries >= 3 THEN 'it waits for a person: ' || COALESCE(f.Message, 'no reason was given') ELSE 'batch ' || b.ProcessBatchName || ' has no instance of it yet' END), NULL,
    f.FileProcess_id, COALESCE(x.NextSql, y.NextSql, CASE WHEN f.PopulatorTries >= 3 THEN 'UPDATE FileProcess SET PopulatorTries = NULL WHERE FileProcess_id = ' || f.FileProcess_id || ';' ELSE 'SELECT * FROM Controller;' END)
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
    AND NOT EXISTS (SELECT 1 FROM AuditLog a WHERE a.Target = 'FileProcess:' || f.FileProcess_id AND a.Action = 'accept'))
UNION ALL
SELECT NULL, b.ProcessBatchName, 'definition', NULL, COALESCE(b.Entity, b.ProcessBatchName), NULL,
    q.Since, q.Reason, NULL, NULL, q.NextSql
FROM ProcessBatch b
JOIN (SELECT y.ProcessBatch_id, d.z_updated AS Since, y.Reason, y.NextSql
    FROM Missing y JOIN ProcessBatch d ON d.ProcessBatch_id = y.ProcessBatch_id WHERE y.ProcessControlSeq = -1
    UNION ALL SELECT i.ProcessBatch_id, i.OpenedTime, i.Message, i.NextStep FROM Incident i
    WHERE i.ResolvedTime IS NULL AND i.Kind = 'unreadable' AND i.IncidentKey LIKE 'unreadable ProcessBatch %') q
   ON q.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id
WHERE b.Enabled = 1 AND x.ProcessBatch_id IS NULL
) q;

CREATE VIEW vRunning AS
SELECT c.BatchControl_id, b.ProcessBatchName, lower(c.Status) AS Status, c.CycleKey, f.Entity, f.FileName,
    h.ProcessControlSeq, h.ProcessName, h.ProcessType, h.AttemptNo, h.StartTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', h.StartTime, OffsetSeconds || ' seconds') FROM ZoneOffset WHERE datetime(h.StartTime, '+1 second') BETWEEN FromTime AND UntilTime) AS StartTimeLocal,
    round((julianday(strftime('%Y-%m-%d %H:%M:%f', 'now')) - julianday(h.StartTime)) * 86400.0, 3) AS RunningSeconds, p.ExpectedDuration, p.AlarmDuration, p.MaxDuration,
    CASE WHEN strftime('%Y-%m-%d %H:%M:%f', h.StartTime, (p.AlarmDuration) || ' seconds') <= strftime('%Y-%m-%d %H:%M:%f', 'now') THEN 'late'
    WHEN strftime('%Y-%m-%d %H:%M:%f', h.StartTime, (p.ExpectedDuration) || ' seconds') < strftime('%Y-%m-%d %H:%M:%f', 'now') THEN 'longer than expected'
    WHEN p.AlarmDuration IS NOT NULL OR p.ExpectedDuration IS NOT NULL THEN 'in time' END AS Timing,
    h.ClaimedBy, h.Host, h.Pid, h.DbSession, h.CommandText, c.FileProcess_id,
    'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''pause'', ' || c.BatchControl_id || ', ''...'');' AS PauseSql, 'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''cancel'', ' || c.BatchControl_id || ', ''...'');' AS CancelSql
FROM BatchProcessHistory h
JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN FileProcess f ON f.FileProcess_id = c.FileProcess_id
LEFT JOIN ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq
WHERE h.Status = 'running';

CREATE VIEW vLate AS
SELECT l.What, l.Name, l.ProcessBatchName, l.BatchControl_id, l.ExpectedTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', l.ExpectedTime, OffsetSeconds || ' seconds') FROM ZoneOffset WHERE datetime(l.ExpectedTime, '+1 second') BETWEEN FromTime AND UntilTime) AS ExpectedTimeLocal,
    round((julianday(strftime('%Y-%m-%d %H:%M:%f', 'now')) - julianday(l.ExpectedTime)) * 86400.0, 3) AS LateSeconds, l.Reason, l.NextSql
FROM (
SELECT 'step' AS What, b.ProcessBatchName || ', step ' || h.ProcessControlSeq || ' ' || h.ProcessName AS Name,
    b.ProcessBatchName, c.BatchControl_id, strftime('%Y-%m-%d %H:%M:%f', h.StartTime, (COALESCE(p.AlarmDuration, p.ExpectedDuration)) || ' seconds') AS ExpectedTime,
    'it runs longer than ' || COALESCE(p.AlarmDuration, p.ExpectedDuration) || ' seconds' AS Reason,
    'SELECT * FROM vRunning WHERE BatchControl_id = ' || c.BatchControl_id || ';' AS NextSql
FROM BatchProcessHistory h
JOIN BatchControl c ON c.BatchControl_id = h.BatchControl_id
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq
WHERE h.Status = 'running' AND strftime('%Y-%m-%d %H:%M:%f', h.StartTime, (COALESCE(p.AlarmDuration, p.ExpectedDuration)) || ' seconds') <= strftime('%Y-%m-%d %H:%M:%f', 'now')
UNION ALL
SELECT 'instance', b.ProcessBatchName || ' ' || COALESCE(c.CycleKey, ''), b.ProcessBatchName, c.BatchControl_id,
    c.NextRunTime, 'its NextRunTime is over, and it has not started',
    'SELECT * FROM vWaiting WHERE BatchControl_id = ' || c.BatchControl_id || ';'
FROM BatchControl c
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE (c.Status = 'ready' OR c.Status = 'retry') AND c.NextRunTime > '1900-01-01 00:00:00.000' AND c.NextRunTime < strftime('%Y-%m-%d %H:%M:%f', 'now', '-60 seconds')
UNION ALL
SELECT 'schedule', ScheduleName, NULL, NULL, NextRunTime, 'its due time is over, and no controller has decided it',
    'SELECT * FROM Controller;'
FROM Schedule WHERE Enabled = 1 AND NextRunTime < strftime('%Y-%m-%d %H:%M:%f', 'now', '-60 seconds')
UNION ALL
SELECT 'dependency', b.ProcessBatchName || ' waits for ' || d.ProcessBatchName, b.ProcessBatchName, NULL,
    strftime('%Y-%m-%d %H:%M:%f', w.Since, (60 * y.DeadlineMins) || ' seconds'), 'it waits for longer than DeadlineMins', 'SELECT * FROM vWaiting WHERE ProcessBatchName = ' || quote(b.ProcessBatchName) || ';'
FROM (SELECT ProcessBatch_id, CycleKey, MIN(z_inserted) AS Since FROM BatchCompletion
    WHERE FileProcess_id IS NULL GROUP BY ProcessBatch_id, CycleKey) w
JOIN BatchDependency y ON y.ProcessBatch_id = w.ProcessBatch_id
JOIN ProcessBatch b ON b.ProcessBatch_id = w.ProcessBatch_id
JOIN ProcessBatch d ON d.ProcessBatch_id = y.DependsOnBatch_id
WHERE NOT EXISTS (SELECT 1 FROM BatchCompletion x WHERE x.FileProcess_id IS NULL
    AND x.ProcessBatch_id = w.ProcessBatch_id AND x.DependsOnBatch_id = y.DependsOnBatch_id AND (x.CycleKey = w.CycleKey OR (x.CycleKey IS NULL AND w.CycleKey IS NULL))) AND strftime('%Y-%m-%d %H:%M:%f', w.Since, (60 * y.DeadlineMins) || ' seconds') < strftime('%Y-%m-%d %H:%M:%f', 'now')
UNION ALL
SELECT CASE lower(i.Kind) WHEN 'not_arrived' THEN 'arrival' WHEN 'not_started' THEN 'start' ELSE 'finish' END, i.Subject, i.Subject, NULL, i.OpenedTime, i.Message,
    'SELECT * FROM vStatus WHERE ProcessBatchName = ' || quote(i.Subject) || ';'
FROM Incident i
WHERE i.ResolvedTime IS NULL AND (i.Kind = 'not_arrived' OR i.Kind = 'not_started' OR i.Kind = 'not_finished')
) l;

CREATE VIEW vHistory AS
SELECT h.BatchProcessHistory_id, h.BatchControl_id, b.ProcessBatchName, c.CycleKey, f.Entity, f.FileName, h.ProcessControlSeq,
    h.ProcessName, h.ProcessType, h.AttemptNo, lower(h.Cause) AS Cause, lower(h.Status) AS Status,
    h.StartTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', h.StartTime, OffsetSeconds || ' seconds') FROM ZoneOffset WHERE datetime(h.StartTime, '+1 second') BETWEEN FromTime AND UntilTime) AS StartTimeLocal, h.EndTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', h.EndTime, OffsetSeconds || ' seconds') FROM ZoneOffset WHERE datetime(h.EndTime, '+1 second') BETWEEN FromTime AND UntilTime) AS EndTimeLocal,
    round((julianday(h.EndTime) - julianday(h.StartTime)) * 86400.0, 3) AS DurationSeconds, h.ReturnCode, h.RowsAffected, h.Message AS ErrorText, h.Output,
    h.CommandText, h.ClaimedBy, h.Host, h.Pid, h.DbSession, c.FileProcess_id,
    'INSERT INTO OperatorRequest (Action, BatchControl_id, Arguments, Reason) VALUES (''rerun'', ' || h.BatchControl_id || ', ''{"from": ' || h.ProcessControlSeq || '}'', ''...'');' AS RerunSql, h.ErrorCode, h.ErrorLine
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
SELECT c.FileProcess_id, COUNT(*) AS Instances, COUNT(CASE WHEN (c.Status = 'complete') THEN 1 END) AS Complete, COUNT(CASE WHEN (c.Status = 'failed' OR c.Status = 'held') THEN 1 END) AS Failed,
    COUNT(CASE WHEN (c.Status = 'cancelled') THEN 1 END) AS Cancelled, COUNT(CASE WHEN (c.Status = 'running' OR c.Status = 'pausing' OR c.Status = 'cancelling') THEN 1 END) AS Running,
    MIN(c.StartTime) AS StartTime
FROM (SELECT x.FileProcess_id, x.Status,
    (SELECT MIN(h.StartTime) FROM BatchProcessHistory h WHERE h.BatchControl_id = x.BatchControl_id) AS StartTime
    FROM BatchControl x) c
WHERE c.FileProcess_id IN (SELECT n.Ran_id FROM Newest n UNION SELECT g.FileProcess_id FROM Newest n
    JOIN ScheduleFire g ON g.ScheduleFire_id = n.ScheduleFire_id)
GROUP BY c.FileProcess_id
)
SELECT e.Schedule_id, e.ScheduleName, e.Entity,
    CASE WHEN x.Row_id IS NOT NULL THEN 'unreadable' WHEN e.Enabled <> 1 THEN 'disabled' WHEN e.CalendarName IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM Calendar k WHERE k.CalendarName = e.CalendarName) THEN 'unreadable'
    WHEN t.Incident_id IS NOT NULL THEN 'starts nothing' WHEN e.NextRunTime IS NULL THEN 'not due'
    WHEN e.NextRunTime < strftime('%Y-%m-%d %H:%M:%f', 'now', '-60 seconds') THEN 'overdue' ELSE 'enabled' END AS Status,
    lower(e.ScheduleType) || COALESCE(', every ' || e.IntervalMinutes || ' minutes', '') || COALESCE(', ' || e.RunDays, '') || COALESCE(', ' || e.RunDaysOfMonth, '') || COALESCE(', ' || e.WeekOfMonth, '') || COALESCE(', ' || e.RunMonths, '') || COALESCE(' at ' || e.RunTimes, '') || COALESCE(' at ' || e.RunAt, '') || COALESCE(' at ' || e.Cron, '') || COALESCE(', between ' || e.BetweenTimes, '') || COALESCE(', calendar ' || e.CalendarName, '') AS Timing, e.TimeZone, e.NextRunTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', e.NextRunTime, OffsetSeconds || ' seconds') FROM ZoneOffset WHERE datetime(e.NextRunTime, '+1 second') BETWEEN FromTime AND UntilTime) AS NextRunTimeLocal,
    CASE WHEN l.Outcome = 'fired' THEN CASE WHEN p.Status <> 'ready' AND p.Status <> 'complete' THEN lower(p.Status) WHEN q.Failed > 0 THEN 'failed' WHEN q.Cancelled > 0 THEN 'cancelled' WHEN q.Instances = q.Complete THEN 'complete' WHEN q.Running > 0 THEN 'running' ELSE 'waits' END ELSE lower(l.Outcome) END AS LastOutcome,
    l.DueTime AS LastDueTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', l.DueTime, OffsetSeconds || ' seconds') FROM ZoneOffset WHERE datetime(l.DueTime, '+1 second') BETWEEN FromTime AND UntilTime) AS LastDueTimeLocal, l.Reason AS LastReason,
    l.FileProcess_id AS LastFileProcess_id, e.Description,
    CASE WHEN x.Row_id IS NOT NULL THEN x.NextSql WHEN e.Enabled <> 1 THEN 'UPDATE Schedule SET Enabled = ' || CASE WHEN e.Enabled = 1 THEN '0' ELSE '1' END || ' WHERE ScheduleName = ' || quote(e.ScheduleName) || ';' WHEN e.CalendarName IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM Calendar k WHERE k.CalendarName = e.CalendarName) THEN 'UPDATE Schedule SET CalendarName = ... WHERE ScheduleName = ' || quote(e.ScheduleName) || ';'
    WHEN t.Incident_id IS NOT NULL THEN 'SELECT * FROM Incident WHERE Incident_id = ' || t.Incident_id || ';'
    ELSE 'UPDATE Schedule SET Enabled = ' || CASE WHEN e.Enabled = 1 THEN '0' ELSE '1' END || ' WHERE ScheduleName = ' || quote(e.ScheduleName) || ';' END AS NextSql,
    r.StartTime AS LastRunOn, (SELECT strftime('%Y-%m-%d %H:%M:%f', r.StartTime, OffsetSeconds || ' seconds') FROM ZoneOffset WHERE datetime(r.StartTime, '+1 second') BETWEEN FromTime AND UntilTime) AS LastRunOnLocal,
    CASE WHEN r.Failed > 0 OR r.Cancelled > 0 THEN 0 WHEN r.Instances = r.Complete THEN 1 END AS LastRunOK
FROM Schedule e
LEFT JOIN vUnreadable x ON x.TableName = 'Schedule' AND x.Row_id = e.Schedule_id
LEFT JOIN Newest n ON n.Schedule_id = e.Schedule_id
LEFT JOIN ScheduleFire l ON l.ScheduleFire_id = n.ScheduleFire_id
LEFT JOIN FileProcess p ON p.FileProcess_id = l.FileProcess_id
LEFT JOIN Came q ON q.FileProcess_id = l.FileProcess_id
LEFT JOIN Came r ON r.FileProcess_id = n.Ran_id
LEFT JOIN Incident t ON t.Incident_id = (SELECT MIN(i.Incident_id) FROM Incident i
    WHERE i.ResolvedTime IS NULL AND i.Kind = 'not_starting' AND i.Subject = 'schedule ' || e.ScheduleName);

CREATE VIEW vInbox AS
WITH Unfit AS (
SELECT ProcessBatch_id, Reason, NextSql
FROM (SELECT ProcessBatch_id, Reason, NextSql, ROW_NUMBER() OVER (PARTITION BY ProcessBatch_id ORDER BY Place, Row_id) AS Nth FROM vUnreadable WHERE ProcessBatch_id IS NOT NULL) m
WHERE Nth = 1
), Missing AS (SELECT ProcessBatch_id, ProcessControlSeq, Reason, NextSql FROM vNotInstalled), Again AS (
SELECT f.FileProcess_id, MAX(n.FileProcess_id) AS Again_id
FROM FileProcess f JOIN FileWatch w ON f.Source = 'watch ' || w.WatchName
JOIN FileWatchSeen n ON n.FileWatch_id = w.FileWatch_id AND n.FileProcess_id > f.FileProcess_id
JOIN FileProcess l ON l.FileProcess_id = n.FileProcess_id
LEFT JOIN FileWatchSeen o ON o.FileWatch_id = n.FileWatch_id AND o.FileProcess_id = f.FileProcess_id
WHERE (f.Status = 'paused' OR f.Status = 'rejected' OR f.Status = 'duplicate') AND (l.FileName = f.FileName OR (o.FileNumber = n.FileNumber AND o.FileSize = n.FileSize AND o.ModifiedNs = n.ModifiedNs)) GROUP BY f.FileProcess_id
), Told AS (
SELECT k.Controller_id, ' | ' || substr(substr(k.Trouble, 1, instr(k.Trouble || ' Next: ', ' Next: ') - 1), 29) AS Said
FROM Controller k
WHERE k.Status = 'running' AND k.Trouble LIKE 'somebody keeps rows locked: %' AND strftime('%Y-%m-%d %H:%M:%f', k.Heartbeat, (k.OrphanTimeoutSecs) || ' seconds') > strftime('%Y-%m-%d %H:%M:%f', 'now')
), Met AS (
SELECT c.FileProcess_id, t.Controller_id, substr(substr(t.Said, NULLIF(instr(t.Said, ' | FileProcess ' || c.FileProcess_id || ': '), 0)), 4) AS Said FROM FileProcess c CROSS JOIN Told t WHERE c.Status = 'ready'
), Entry AS (
SELECT m.FileProcess_id, m.Controller_id, substr(m.Said, 1, instr(m.Said || ' | ', ' | ') - 1) AS Said FROM Met m WHERE m.Said IS NOT NULL
), Locked AS (
SELECT e.FileProcess_id, substr(e.Said, 1, instr(e.Said || '; to end it: ', '; to end it: ') - 1) AS Reason,
    substr(substr(e.Said, NULLIF(instr(e.Said, '; to end it: '), 0)), 14) AS Mend,
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
SELECT q.FileProcess_id, q.Entity, q.FileName, q.Data, q.CycleKey, q.Source, q.Status, q.Reason, q.Arrived, (SELECT strftime('%Y-%m-%d %H:%M:%f', q.Arrived, OffsetSeconds || ' seconds') FROM ZoneOffset WHERE datetime(q.Arrived, '+1 second') BETWEEN FromTime AND UntilTime) AS ArrivedLocal, q.NextSql
FROM (
SELECT f.FileProcess_id, f.Entity, f.FileName, f.Data, f.CycleKey, f.Source, f.z_inserted AS Arrived, lower(f.Status) AS Status,
    CASE WHEN g.Again_id IS NOT NULL THEN 'its file was taken again as FileProcess ' || g.Again_id || ': ' || COALESCE(f.Message, 'no reason was given')
    WHEN f.Message IS NOT NULL AND f.Status = 'rejected' AND EXISTS (SELECT 1 FROM AuditLog a WHERE a.Target = 'FileProcess:' || f.FileProcess_id AND a.Action = 'row update'
    AND a.z_inserted >= f.z_updated AND a.ValuesAfter NOT LIKE '{"Status":%')
    THEN f.Message || ' (corrected since)'
    WHEN f.Message IS NULL AND f.Status = 'paused' THEN 'somebody inserted or set it as paused'
    ELSE COALESCE(f.Message, 'no reason was given') END AS Reason,
    CASE WHEN g.Again_id IS NOT NULL THEN 'SELECT * FROM FileProcess WHERE FileProcess_id = ' || g.Again_id || ';'
    WHEN f.Status = 'duplicate' THEN 'INSERT INTO AuditLog (Actor, Host, Action, Target, Reason) VALUES (..., ''sql'', ''accept'', ''FileProcess:' || f.FileProcess_id || ''', ...); UPDATE FileProcess SET Status = ''ready'', Message = NULL WHERE FileProcess_id = ' || f.FileProcess_id || ';'
    WHEN f.Status <> 'rejected' OR f.Message LIKE 'rejected by %' OR EXISTS (SELECT 1 FROM AuditLog a WHERE a.Target = 'FileProcess:' || f.FileProcess_id AND a.Action = 'row update'
    AND a.z_inserted >= f.z_updated AND a.ValuesAfter NOT LIKE '{"Status":%')
    OR (t.Entity IS NOT NULL AND (f.Message IS NULL OR t.Asks > 0)) THEN 'INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''retry'', ''{"file": ' || f.FileProcess_id || '}'', ''...'');'
    WHEN t.Entity IS NOT NULL AND f.Source LIKE 'watch %' AND CASE WHEN t.SearchedIn = 'data' OR (f.FileName IS NULL AND f.Data IS NOT NULL) THEN 'Data'
    WHEN t.SearchedIn = 'entity' THEN 'Entity' ELSE 'FileName' END = 'FileName' THEN '/* rename the file, which its watch takes then */ INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''reject'', ''{"file": ' || f.FileProcess_id || '}'', ''...'');'
    ELSE 'UPDATE FileProcess SET ' || CASE WHEN t.Entity IS NULL THEN 'Entity = ' || COALESCE((SELECT MIN(quote(COALESCE(b.Entity, b.ProcessBatchName))) FROM ProcessBatch b WHERE lower(trim(COALESCE(b.Entity, b.ProcessBatchName), (SELECT Blanks FROM batchctl_blanks))) = lower(trim(f.Entity, (SELECT Blanks FROM batchctl_blanks)))), '...') ELSE CASE WHEN t.SearchedIn = 'data' OR (f.FileName IS NULL AND f.Data IS NOT NULL) THEN 'Data'
    WHEN t.SearchedIn = 'entity' THEN 'Entity' ELSE 'FileName' END || ' = ...' END || ' WHERE FileProcess_id = ' || f.FileProcess_id || '; INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''retry'', ''{"file": ' || f.FileProcess_id || '}'', ''...'');' END AS NextSql
FROM FileProcess f LEFT JOIN Again g ON g.FileProcess_id = f.FileProcess_id LEFT JOIN Takers t ON t.Entity = f.Entity
WHERE (f.Status = 'paused' OR f.Status = 'rejected' OR f.Status = 'duplicate')
UNION ALL
SELECT f.FileProcess_id, f.Entity, f.FileName, f.Data, f.CycleKey, f.Source, f.z_inserted, CASE WHEN t.Entity IS NULL THEN 'untaken' ELSE 'new' END,
    COALESCE(x.Reason, y.Reason, CASE WHEN t.Entity IS NULL THEN 'no batch takes entity ''' || f.Entity || ''': correct it, or register a batch that takes it'
    WHEN f.PopulatorTries >= 3 THEN 'it waits for a person: ' || COALESCE(f.Message, 'no reason was given')
    WHEN h.Reason IS NOT NULL THEN h.Reason
    WHEN f.PopulatorTries IS NOT NULL THEN 'its populator has not answered yet'
    ELSE 'no controller has looked at it yet' END),
    COALESCE(x.NextSql, y.NextSql, CASE WHEN t.Entity IS NULL THEN 'UPDATE FileProcess SET Entity = ' || COALESCE((SELECT MIN(quote(COALESCE(b.Entity, b.ProcessBatchName))) FROM ProcessBatch b WHERE lower(trim(COALESCE(b.Entity, b.ProcessBatchName), (SELECT Blanks FROM batchctl_blanks))) = lower(trim(f.Entity, (SELECT Blanks FROM batchctl_blanks)))), '...') || ' WHERE FileProcess_id = ' || f.FileProcess_id || ';'
    WHEN f.PopulatorTries >= 3 THEN 'UPDATE FileProcess SET PopulatorTries = NULL WHERE FileProcess_id = ' || f.FileProcess_id || ';'
    WHEN h.Reason IS NOT NULL THEN CASE WHEN h.Mend IS NULL THEN 'SELECT * FROM Controller;' ELSE h.Mend || ';' END ELSE 'SELECT * FROM Controller;' END)
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

CREATE VIEW vSqlJob AS
SELECT e.Schedule_id AS Schedule_id, e.ScheduleName AS JobName,
    replace(replace(p.Data1, '{{', '{'), '}}', '}') AS ConnectionName, replace(replace(p.Data2, '{{', '{'), '}}', '}') AS ScheduledSql,
    COALESCE(e.RunAt, e.StartDate || ' ' || e.RunTimes) AS FirstRunOn,
    CASE WHEN lower(e.ScheduleType) = 'once' THEN 0 ELSE 1 END AS IsRepeatable, e.Enabled AS IsEnabled, e.TimeZone,
    e.NextRunTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', e.NextRunTime, OffsetSeconds || ' seconds') FROM ZoneOffset WHERE datetime(e.NextRunTime, '+1 second') BETWEEN FromTime AND UntilTime) AS NextRunTimeLocal, h.StartTime AS LastRunOn, (SELECT strftime('%Y-%m-%d %H:%M:%f', h.StartTime, OffsetSeconds || ' seconds') FROM ZoneOffset WHERE datetime(h.StartTime, '+1 second') BETWEEN FromTime AND UntilTime) AS LastRunOnLocal,
    CASE WHEN h.Status = 'success' THEN 1 WHEN h.Status <> 'running' THEN 0 END AS LastRunOK,
    h.Message AS ErrorMessage, h.ErrorCode, h.ErrorLine, h.BatchControl_id,
    'SELECT * FROM vHistory WHERE ProcessBatchName = ' || quote(b.ProcessBatchName) || ';' AS NextSql
FROM Schedule e
JOIN ProcessBatch b ON COALESCE(b.Entity, b.ProcessBatchName) = e.Entity
JOIN ProcessControl p ON p.ProcessBatch_id = b.ProcessBatch_id AND p.ProcessControlSeq = 10
LEFT JOIN BatchProcessHistory h ON h.BatchProcessHistory_id = (
    SELECT MAX(g.BatchProcessHistory_id) FROM BatchProcessHistory g
    JOIN BatchControl c ON c.BatchControl_id = g.BatchControl_id WHERE c.ProcessBatch_id = b.ProcessBatch_id)
WHERE e.Origin = 'sql' AND b.Origin = 'sql';

CREATE VIEW batchctl_blanks AS SELECT char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288) AS Blanks;

CREATE VIEW batchctl_ProcessBatch AS
SELECT 'ProcessBatch' AS TableName, ProcessBatch_id AS RowNumber, 'ProcessBatch:' || ProcessBatchName AS Target,
    json_object('ProcessBatchName', ProcessBatchName, 'Entity', Entity, 'Enabled', Enabled, 'Seq', Seq, 'RetryCount', RetryCount, 'RetryWaitMins', RetryWaitMins, 'RetryWaitSecs', RetryWaitSecs, 'Populator', Populator, 'PopulatorArgs', PopulatorArgs, 'PopulatorOn', PopulatorOn, 'OnFailure', OnFailure, 'DependencyMode', DependencyMode, 'MaxConcurrent', MaxConcurrent, 'DuplicateCheck', DuplicateCheck, 'ProcessingMode', ProcessingMode, 'Origin', Origin, 'Description', Description, 'Tags', Tags, 'ArriveBy', ArriveBy, 'StartBy', StartBy, 'FinishBy', FinishBy, 'ExpectedOn', ExpectedOn, 'ExpectedCalendar', ExpectedCalendar) AS ValuesBefore
FROM ProcessBatch r;

CREATE VIEW batchctl_ProcessControl AS
SELECT 'ProcessControl' AS TableName, ProcessControl_id AS RowNumber, 'ProcessControl:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = r.ProcessBatch_id), '') || ':' || ProcessControlSeq AS Target,
    json_object('ProcessBatch_id', ProcessBatch_id, 'ProcessControlSeq', ProcessControlSeq, 'ProcessName', ProcessName, 'ProcessType', ProcessType, 'ExpectedDuration', ExpectedDuration, 'AlarmDuration', AlarmDuration, 'MaxDuration', MaxDuration, 'OnLost', OnLost, 'MaxLost', MaxLost, 'Data1', Data1, 'Data2', Data2, 'Data3', Data3, 'Data4', Data4, 'Data5', Data5, 'Data6', Data6) AS ValuesBefore
FROM ProcessControl r;

CREATE VIEW batchctl_BatchDependency AS
SELECT 'BatchDependency' AS TableName, BatchDependency_id AS RowNumber, 'BatchDependency:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = r.ProcessBatch_id), '') || ':' || DependsOnBatch_id AS Target,
    json_object('ProcessBatch_id', ProcessBatch_id, 'DependsOnBatch_id', DependsOnBatch_id, 'DeadlineMins', DeadlineMins) AS ValuesBefore
FROM BatchDependency r;

CREATE VIEW batchctl_BatchResource AS
SELECT 'BatchResource' AS TableName, BatchResource_id AS RowNumber, 'BatchResource:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = r.ProcessBatch_id), '') || ':' || Resource_id AS Target,
    json_object('ProcessBatch_id', ProcessBatch_id, 'Resource_id', Resource_id, 'Units', Units, 'Exclusive', Exclusive) AS ValuesBefore
FROM BatchResource r;

CREATE VIEW batchctl_Resource AS
SELECT 'Resource' AS TableName, Resource_id AS RowNumber, 'Resource:' || ResourceName AS Target,
    json_object('ResourceName', ResourceName, 'Units', Units, 'Description', Description) AS ValuesBefore
FROM Resource r;

CREATE VIEW batchctl_Schedule AS
SELECT 'Schedule' AS TableName, Schedule_id AS RowNumber, 'Schedule:' || ScheduleName AS Target,
    json_object('ScheduleName', ScheduleName, 'Entity', Entity, 'ScheduleType', ScheduleType, 'IntervalMinutes', IntervalMinutes, 'RunTimes', RunTimes, 'RunDays', RunDays, 'RunDaysOfMonth', RunDaysOfMonth, 'WeekOfMonth', WeekOfMonth, 'RunMonths', RunMonths, 'BetweenTimes', BetweenTimes, 'EveryN', EveryN, 'StartDate', StartDate, 'EndDate', EndDate, 'RunAt', RunAt, 'Cron', Cron, 'TimeZone', TimeZone, 'CalendarName', CalendarName, 'CalendarRule', CalendarRule, 'GapPolicy', GapPolicy, 'FoldPolicy', FoldPolicy, 'CatchUp', CatchUp, 'CatchUpMost', CatchUpMost, 'Overlap', Overlap, 'Jitter', Jitter, 'Enabled', Enabled, 'Origin', Origin, 'Description', Description) AS ValuesBefore
FROM Schedule r;

CREATE VIEW batchctl_Calendar AS
SELECT 'Calendar' AS TableName, Calendar_id AS RowNumber, 'Calendar:' || CalendarName AS Target,
    json_object('CalendarName', CalendarName, 'BusinessDays', BusinessDays, 'ValidFrom', ValidFrom, 'ValidUntil', ValidUntil, 'Description', Description) AS ValuesBefore
FROM Calendar r;

CREATE VIEW batchctl_CalendarDay AS
SELECT 'CalendarDay' AS TableName, CalendarDay_id AS RowNumber, 'CalendarDay:' || coalesce((SELECT p.CalendarName FROM Calendar p WHERE p.Calendar_id = r.Calendar_id), '') || ':' || CalendarDate AS Target,
    json_object('Calendar_id', Calendar_id, 'CalendarDate', CalendarDate, 'IsBusinessDay', IsBusinessDay, 'Description', Description) AS ValuesBefore
FROM CalendarDay r;

CREATE VIEW batchctl_DataTrigger AS
SELECT 'DataTrigger' AS TableName, DataTrigger_id AS RowNumber, 'DataTrigger:' || TriggerName AS Target,
    json_object('TriggerName', TriggerName, 'Entity', Entity, 'ConnectionName', ConnectionName, 'TableName', TableName, 'StatusColumn', StatusColumn, 'PendingValue', PendingValue, 'CreatedColumn', CreatedColumn, 'RowThreshold', RowThreshold, 'IdleMinutes', IdleMinutes, 'OnNewRows', OnNewRows, 'DebounceSeconds', DebounceSeconds, 'Enabled', Enabled) AS ValuesBefore
FROM DataTrigger r;

CREATE VIEW batchctl_FileWatch AS
SELECT 'FileWatch' AS TableName, FileWatch_id AS RowNumber, 'FileWatch:' || WatchName AS Target,
    json_object('WatchName', WatchName, 'Entity', Entity, 'Folder', Folder, 'Pattern', Pattern, 'Recursive', Recursive, 'SettleSeconds', SettleSeconds, 'MarkerSuffix', MarkerSuffix, 'DuplicateKey', DuplicateKey, 'Enabled', Enabled) AS ValuesBefore
FROM FileWatch r;

CREATE VIEW batchctl_BatchFreeze AS
SELECT 'BatchFreeze' AS TableName, BatchFreeze_id AS RowNumber, 'BatchFreeze:' || BatchFreeze_id AS Target,
    json_object('ProcessBatchName', ProcessBatchName, 'Tag', Tag, 'Reason', Reason, 'Actor', Actor, 'UntilTime', UntilTime, 'ThawedTime', ThawedTime, 'ThawedBy', ThawedBy) AS ValuesBefore
FROM BatchFreeze r;

CREATE VIEW batchctl_Setting AS
SELECT 'Setting' AS TableName, Setting_id AS RowNumber, 'Setting:' || Name AS Target,
    json_object('Name', Name, 'Value', Value) AS ValuesBefore
FROM Setting r;

CREATE VIEW batchctl_rows AS
SELECT 'ProcessBatch' AS TableName, ProcessBatch_id AS RowNumber FROM ProcessBatch UNION ALL
SELECT 'ProcessControl' AS TableName, ProcessControl_id AS RowNumber FROM ProcessControl UNION ALL
SELECT 'BatchDependency' AS TableName, BatchDependency_id AS RowNumber FROM BatchDependency UNION ALL
SELECT 'BatchResource' AS TableName, BatchResource_id AS RowNumber FROM BatchResource UNION ALL
SELECT 'Resource' AS TableName, Resource_id AS RowNumber FROM Resource UNION ALL
SELECT 'Schedule' AS TableName, Schedule_id AS RowNumber FROM Schedule UNION ALL
SELECT 'Calendar' AS TableName, Calendar_id AS RowNumber FROM Calendar UNION ALL
SELECT 'CalendarDay' AS TableName, CalendarDay_id AS RowNumber FROM CalendarDay UNION ALL
SELECT 'DataTrigger' AS TableName, DataTrigger_id AS RowNumber FROM DataTrigger UNION ALL
SELECT 'FileWatch' AS TableName, FileWatch_id AS RowNumber FROM FileWatch UNION ALL
SELECT 'BatchFreeze' AS TableName, BatchFreeze_id AS RowNumber FROM BatchFreeze UNION ALL
SELECT 'Setting' AS TableName, Setting_id AS RowNumber FROM Setting;

CREATE VIEW batchctl_audited AS
SELECT '' AS Action, r.*, 0 AS FormerNumber FROM batchctl_replaced r;

CREATE VIEW batchctl_used AS
SELECT 'ProcessBatch' AS TableName, ProcessBatch_id AS RowNumber FROM BatchControl UNION ALL
SELECT 'ProcessBatch' AS TableName, ProcessBatch_id AS RowNumber FROM BatchProcessHistory UNION ALL
SELECT 'ProcessBatch' AS TableName, ProcessBatch_id AS RowNumber FROM BatchCompletion UNION ALL
SELECT 'ProcessBatch' AS TableName, DependsOnBatch_id AS RowNumber FROM BatchCompletion UNION ALL
SELECT 'ProcessBatch' AS TableName, ProcessBatch_id AS RowNumber FROM DurationHistory UNION ALL
SELECT 'ProcessBatch' AS TableName, ProcessBatch_id AS RowNumber FROM ProcessControl UNION ALL
SELECT 'ProcessBatch' AS TableName, ProcessBatch_id AS RowNumber FROM BatchResource UNION ALL
SELECT 'ProcessBatch' AS TableName, ProcessBatch_id AS RowNumber FROM BatchDependency UNION ALL
SELECT 'ProcessBatch' AS TableName, DependsOnBatch_id AS RowNumber FROM BatchDependency UNION ALL
SELECT 'Resource' AS TableName, Resource_id AS RowNumber FROM BatchResource UNION ALL
SELECT 'Calendar' AS TableName, Calendar_id AS RowNumber FROM CalendarDay UNION ALL
SELECT 'Schedule' AS TableName, Schedule_id AS RowNumber FROM ScheduleFire UNION ALL
SELECT 'Schedule' AS TableName, Schedule_id AS RowNumber FROM ScheduleBackfill UNION ALL
SELECT 'FileWatch' AS TableName, FileWatch_id AS RowNumber FROM FileWatchSeen;

CREATE TRIGGER TR_ProcessBatch_BeforeInsert BEFORE INSERT ON ProcessBatch
BEGIN
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_ProcessBatch WHERE RowNumber IN (NEW.rowid, (SELECT rowid FROM ProcessBatch WHERE ProcessBatchName = NEW.ProcessBatchName));
END;

CREATE TRIGGER TR_ProcessBatch_BeforeUpdate BEFORE UPDATE ON ProcessBatch
BEGIN
    SELECT RAISE(ABORT, 'batchctl: other rows go by its ProcessBatch_id: leave that as it is')
    WHERE NEW.ProcessBatch_id <> OLD.ProcessBatch_id AND EXISTS (SELECT 1 FROM batchctl_used u WHERE u.TableName = 'ProcessBatch' AND u.RowNumber = OLD.ProcessBatch_id);
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_ProcessBatch WHERE RowNumber IN (OLD.rowid, NEW.rowid, (SELECT rowid FROM ProcessBatch WHERE ProcessBatchName = NEW.ProcessBatchName));
END;

CREATE TRIGGER TR_ProcessBatch_AuditInsert AFTER INSERT ON ProcessBatch
BEGIN
    INSERT INTO batchctl_audited SELECT 'insert', *, NULL FROM batchctl_ProcessBatch WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_ProcessBatch_AuditUpdate AFTER UPDATE ON ProcessBatch
BEGIN
    INSERT INTO batchctl_audited SELECT 'update', *, OLD.rowid FROM batchctl_ProcessBatch WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_ProcessBatch_AuditDelete BEFORE DELETE ON ProcessBatch
BEGIN
    INSERT INTO batchctl_audited SELECT 'delete', *, NULL FROM batchctl_ProcessBatch WHERE RowNumber = OLD.rowid;
END;

CREATE TRIGGER TR_ProcessControl_BeforeInsert BEFORE INSERT ON ProcessControl
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ProcessBatch_id of ProcessControl: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch')
    WHERE NEW.ProcessBatch_id NOT IN (SELECT ProcessBatch_id FROM ProcessBatch);
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_ProcessControl WHERE RowNumber IN (NEW.rowid, (SELECT rowid FROM ProcessControl WHERE ProcessBatch_id = NEW.ProcessBatch_id AND ProcessControlSeq = NEW.ProcessControlSeq));
END;

CREATE TRIGGER TR_ProcessControl_BeforeUpdate BEFORE UPDATE ON ProcessControl
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ProcessBatch_id of ProcessControl: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch')
    WHERE NEW.ProcessBatch_id IS NOT OLD.ProcessBatch_id AND NEW.ProcessBatch_id NOT IN (SELECT ProcessBatch_id FROM ProcessBatch);
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_ProcessControl WHERE RowNumber IN (OLD.rowid, NEW.rowid, (SELECT rowid FROM ProcessControl WHERE ProcessBatch_id = NEW.ProcessBatch_id AND ProcessControlSeq = NEW.ProcessControlSeq));
END;

CREATE TRIGGER TR_ProcessControl_AuditInsert AFTER INSERT ON ProcessControl
BEGIN
    INSERT INTO batchctl_audited SELECT 'insert', *, NULL FROM batchctl_ProcessControl WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_ProcessControl_AuditUpdate AFTER UPDATE ON ProcessControl
BEGIN
    INSERT INTO batchctl_audited SELECT 'update', *, OLD.rowid FROM batchctl_ProcessControl WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_ProcessControl_AuditDelete BEFORE DELETE ON ProcessControl
BEGIN
    INSERT INTO batchctl_audited SELECT 'delete', *, NULL FROM batchctl_ProcessControl WHERE RowNumber = OLD.rowid;
END;

CREATE TRIGGER TR_BatchDependency_BeforeInsert BEFORE INSERT ON BatchDependency
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ProcessBatch_id of BatchDependency: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch')
    WHERE NEW.ProcessBatch_id NOT IN (SELECT ProcessBatch_id FROM ProcessBatch);
    SELECT RAISE(ABORT, 'batchctl: DependsOnBatch_id of BatchDependency: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch')
    WHERE NEW.DependsOnBatch_id NOT IN (SELECT ProcessBatch_id FROM ProcessBatch);
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_BatchDependency WHERE RowNumber IN (NEW.rowid, (SELECT rowid FROM BatchDependency WHERE ProcessBatch_id = NEW.ProcessBatch_id AND DependsOnBatch_id = NEW.DependsOnBatch_id));
END;

CREATE TRIGGER TR_BatchDependency_BeforeUpdate BEFORE UPDATE ON BatchDependency
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ProcessBatch_id of BatchDependency: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch')
    WHERE NEW.ProcessBatch_id IS NOT OLD.ProcessBatch_id AND NEW.ProcessBatch_id NOT IN (SELECT ProcessBatch_id FROM ProcessBatch);
    SELECT RAISE(ABORT, 'batchctl: DependsOnBatch_id of BatchDependency: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch')
    WHERE NEW.DependsOnBatch_id IS NOT OLD.DependsOnBatch_id AND NEW.DependsOnBatch_id NOT IN (SELECT ProcessBatch_id FROM ProcessBatch);
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_BatchDependency WHERE RowNumber IN (OLD.rowid, NEW.rowid, (SELECT rowid FROM BatchDependency WHERE ProcessBatch_id = NEW.ProcessBatch_id AND DependsOnBatch_id = NEW.DependsOnBatch_id));
END;

CREATE TRIGGER TR_BatchDependency_AuditInsert AFTER INSERT ON BatchDependency
BEGIN
    INSERT INTO batchctl_audited SELECT 'insert', *, NULL FROM batchctl_BatchDependency WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_BatchDependency_AuditUpdate AFTER UPDATE ON BatchDependency
BEGIN
    INSERT INTO batchctl_audited SELECT 'update', *, OLD.rowid FROM batchctl_BatchDependency WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_BatchDependency_AuditDelete BEFORE DELETE ON BatchDependency
BEGIN
    INSERT INTO batchctl_audited SELECT 'delete', *, NULL FROM batchctl_BatchDependency WHERE RowNumber = OLD.rowid;
END;

CREATE TRIGGER TR_BatchResource_BeforeInsert BEFORE INSERT ON BatchResource
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ProcessBatch_id of BatchResource: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch')
    WHERE NEW.ProcessBatch_id NOT IN (SELECT ProcessBatch_id FROM ProcessBatch);
    SELECT RAISE(ABORT, 'batchctl: Resource_id of BatchResource: there is no such Resource: SELECT Resource_id, ResourceName FROM Resource')
    WHERE NEW.Resource_id NOT IN (SELECT Resource_id FROM Resource);
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_BatchResource WHERE RowNumber IN (NEW.rowid, (SELECT rowid FROM BatchResource WHERE ProcessBatch_id = NEW.ProcessBatch_id AND Resource_id = NEW.Resource_id));
END;

CREATE TRIGGER TR_BatchResource_BeforeUpdate BEFORE UPDATE ON BatchResource
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ProcessBatch_id of BatchResource: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch')
    WHERE NEW.ProcessBatch_id IS NOT OLD.ProcessBatch_id AND NEW.ProcessBatch_id NOT IN (SELECT ProcessBatch_id FROM ProcessBatch);
    SELECT RAISE(ABORT, 'batchctl: Resource_id of BatchResource: there is no such Resource: SELECT Resource_id, ResourceName FROM Resource')
    WHERE NEW.Resource_id IS NOT OLD.Resource_id AND NEW.Resource_id NOT IN (SELECT Resource_id FROM Resource);
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_BatchResource WHERE RowNumber IN (OLD.rowid, NEW.rowid, (SELECT rowid FROM BatchResource WHERE ProcessBatch_id = NEW.ProcessBatch_id AND Resource_id = NEW.Resource_id));
END;

CREATE TRIGGER TR_BatchResource_AuditInsert AFTER INSERT ON BatchResource
BEGIN
    INSERT INTO batchctl_audited SELECT 'insert', *, NULL FROM batchctl_BatchResource WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_BatchResource_AuditUpdate AFTER UPDATE ON BatchResource
BEGIN
    INSERT INTO batchctl_audited SELECT 'update', *, OLD.rowid FROM batchctl_BatchResource WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_BatchResource_AuditDelete BEFORE DELETE ON BatchResource
BEGIN
    INSERT INTO batchctl_audited SELECT 'delete', *, NULL FROM batchctl_BatchResource WHERE RowNumber = OLD.rowid;
END;

CREATE TRIGGER TR_Resource_BeforeInsert BEFORE INSERT ON Resource
BEGIN
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_Resource WHERE RowNumber IN (NEW.rowid, (SELECT rowid FROM Resource WHERE ResourceName = NEW.ResourceName));
END;

CREATE TRIGGER TR_Resource_BeforeUpdate BEFORE UPDATE ON Resource
BEGIN
    SELECT RAISE(ABORT, 'batchctl: other rows go by its Resource_id: leave that as it is')
    WHERE NEW.Resource_id <> OLD.Resource_id AND EXISTS (SELECT 1 FROM batchctl_used u WHERE u.TableName = 'Resource' AND u.RowNumber = OLD.Resource_id);
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_Resource WHERE RowNumber IN (OLD.rowid, NEW.rowid, (SELECT rowid FROM Resource WHERE ResourceName = NEW.ResourceName));
END;

CREATE TRIGGER TR_Resource_AuditInsert AFTER INSERT ON Resource
BEGIN
    INSERT INTO batchctl_audited SELECT 'insert', *, NULL FROM batchctl_Resource WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_Resource_AuditUpdate AFTER UPDATE ON Resource
BEGIN
    INSERT INTO batchctl_audited SELECT 'update', *, OLD.rowid FROM batchctl_Resource WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_Resource_AuditDelete BEFORE DELETE ON Resource
BEGIN
    INSERT INTO batchctl_audited SELECT 'delete', *, NULL FROM batchctl_Resource WHERE RowNumber = OLD.rowid;
END;

CREATE TRIGGER TR_Schedule_BeforeInsert BEFORE INSERT ON Schedule
BEGIN
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_Schedule WHERE RowNumber IN (NEW.rowid, (SELECT rowid FROM Schedule WHERE ScheduleName = NEW.ScheduleName));
END;

CREATE TRIGGER TR_Schedule_BeforeUpdate BEFORE UPDATE ON Schedule
BEGIN
    SELECT RAISE(ABORT, 'batchctl: other rows go by its Schedule_id: leave that as it is')
    WHERE NEW.Schedule_id <> OLD.Schedule_id AND EXISTS (SELECT 1 FROM batchctl_used u WHERE u.TableName = 'Schedule' AND u.RowNumber = OLD.Schedule_id);
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_Schedule WHERE RowNumber IN (OLD.rowid, NEW.rowid, (SELECT rowid FROM Schedule WHERE ScheduleName = NEW.ScheduleName));
END;

CREATE TRIGGER TR_Schedule_AuditInsert AFTER INSERT ON Schedule
BEGIN
    INSERT INTO batchctl_audited SELECT 'insert', *, NULL FROM batchctl_Schedule WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_Schedule_AuditUpdate AFTER UPDATE ON Schedule
BEGIN
    INSERT INTO batchctl_audited SELECT 'update', *, OLD.rowid FROM batchctl_Schedule WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_Schedule_AuditDelete BEFORE DELETE ON Schedule
BEGIN
    INSERT INTO batchctl_audited SELECT 'delete', *, NULL FROM batchctl_Schedule WHERE RowNumber = OLD.rowid;
END;

CREATE TRIGGER TR_Calendar_BeforeInsert BEFORE INSERT ON Calendar
BEGIN
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_Calendar WHERE RowNumber IN (NEW.rowid, (SELECT rowid FROM Calendar WHERE CalendarName = NEW.CalendarName));
END;

CREATE TRIGGER TR_Calendar_BeforeUpdate BEFORE UPDATE ON Calendar
BEGIN
    SELECT RAISE(ABORT, 'batchctl: other rows go by its Calendar_id: leave that as it is')
    WHERE NEW.Calendar_id <> OLD.Calendar_id AND EXISTS (SELECT 1 FROM batchctl_used u WHERE u.TableName = 'Calendar' AND u.RowNumber = OLD.Calendar_id);
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_Calendar WHERE RowNumber IN (OLD.rowid, NEW.rowid, (SELECT rowid FROM Calendar WHERE CalendarName = NEW.CalendarName));
END;

CREATE TRIGGER TR_Calendar_AuditInsert AFTER INSERT ON Calendar
BEGIN
    INSERT INTO batchctl_audited SELECT 'insert', *, NULL FROM batchctl_Calendar WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_Calendar_AuditUpdate AFTER UPDATE ON Calendar
BEGIN
    INSERT INTO batchctl_audited SELECT 'update', *, OLD.rowid FROM batchctl_Calendar WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_Calendar_AuditDelete BEFORE DELETE ON Calendar
BEGIN
    INSERT INTO batchctl_audited SELECT 'delete', *, NULL FROM batchctl_Calendar WHERE RowNumber = OLD.rowid;
END;

CREATE TRIGGER TR_CalendarDay_BeforeInsert BEFORE INSERT ON CalendarDay
BEGIN
    SELECT RAISE(ABORT, 'batchctl: Calendar_id of CalendarDay: there is no such Calendar: SELECT Calendar_id, CalendarName FROM Calendar')
    WHERE NEW.Calendar_id NOT IN (SELECT Calendar_id FROM Calendar);
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_CalendarDay WHERE RowNumber IN (NEW.rowid, (SELECT rowid FROM CalendarDay WHERE Calendar_id = NEW.Calendar_id AND CalendarDate = NEW.CalendarDate));
END;

CREATE TRIGGER TR_CalendarDay_BeforeUpdate BEFORE UPDATE ON CalendarDay
BEGIN
    SELECT RAISE(ABORT, 'batchctl: Calendar_id of CalendarDay: there is no such Calendar: SELECT Calendar_id, CalendarName FROM Calendar')
    WHERE NEW.Calendar_id IS NOT OLD.Calendar_id AND NEW.Calendar_id NOT IN (SELECT Calendar_id FROM Calendar);
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_CalendarDay WHERE RowNumber IN (OLD.rowid, NEW.rowid, (SELECT rowid FROM CalendarDay WHERE Calendar_id = NEW.Calendar_id AND CalendarDate = NEW.CalendarDate));
END;

CREATE TRIGGER TR_CalendarDay_AuditInsert AFTER INSERT ON CalendarDay
BEGIN
    INSERT INTO batchctl_audited SELECT 'insert', *, NULL FROM batchctl_CalendarDay WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_CalendarDay_AuditUpdate AFTER UPDATE ON CalendarDay
BEGIN
    INSERT INTO batchctl_audited SELECT 'update', *, OLD.rowid FROM batchctl_CalendarDay WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_CalendarDay_AuditDelete BEFORE DELETE ON CalendarDay
BEGIN
    INSERT INTO batchctl_audited SELECT 'delete', *, NULL FROM batchctl_CalendarDay WHERE RowNumber = OLD.rowid;
END;

CREATE TRIGGER TR_DataTrigger_BeforeInsert BEFORE INSERT ON DataTrigger
BEGIN
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_DataTrigger WHERE RowNumber IN (NEW.rowid, (SELECT rowid FROM DataTrigger WHERE TriggerName = NEW.TriggerName));
END;

CREATE TRIGGER TR_DataTrigger_BeforeUpdate BEFORE UPDATE ON DataTrigger
BEGIN
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_DataTrigger WHERE RowNumber IN (OLD.rowid, NEW.rowid, (SELECT rowid FROM DataTrigger WHERE TriggerName = NEW.TriggerName));
END;

CREATE TRIGGER TR_DataTrigger_AuditInsert AFTER INSERT ON DataTrigger
BEGIN
    INSERT INTO batchctl_audited SELECT 'insert', *, NULL FROM batchctl_DataTrigger WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_DataTrigger_AuditUpdate AFTER UPDATE ON DataTrigger
BEGIN
    INSERT INTO batchctl_audited SELECT 'update', *, OLD.rowid FROM batchctl_DataTrigger WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_DataTrigger_AuditDelete BEFORE DELETE ON DataTrigger
BEGIN
    INSERT INTO batchctl_audited SELECT 'delete', *, NULL FROM batchctl_DataTrigger WHERE RowNumber = OLD.rowid;
END;

CREATE TRIGGER TR_FileWatch_BeforeInsert BEFORE INSERT ON FileWatch
BEGIN
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_FileWatch WHERE RowNumber IN (NEW.rowid, (SELECT rowid FROM FileWatch WHERE WatchName = NEW.WatchName));
END;

CREATE TRIGGER TR_FileWatch_BeforeUpdate BEFORE UPDATE ON FileWatch
BEGIN
    SELECT RAISE(ABORT, 'batchctl: other rows go by its FileWatch_id: leave that as it is')
    WHERE NEW.FileWatch_id <> OLD.FileWatch_id AND EXISTS (SELECT 1 FROM batchctl_used u WHERE u.TableName = 'FileWatch' AND u.RowNumber = OLD.FileWatch_id);
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_FileWatch WHERE RowNumber IN (OLD.rowid, NEW.rowid, (SELECT rowid FROM FileWatch WHERE WatchName = NEW.WatchName));
END;

CREATE TRIGGER TR_FileWatch_AuditInsert AFTER INSERT ON FileWatch
BEGIN
    INSERT INTO batchctl_audited SELECT 'insert', *, NULL FROM batchctl_FileWatch WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_FileWatch_AuditUpdate AFTER UPDATE ON FileWatch
BEGIN
    INSERT INTO batchctl_audited SELECT 'update', *, OLD.rowid FROM batchctl_FileWatch WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_FileWatch_AuditDelete BEFORE DELETE ON FileWatch
BEGIN
    INSERT INTO batchctl_audited SELECT 'delete', *, NULL FROM batchctl_FileWatch WHERE RowNumber = OLD.rowid;
END;

CREATE TRIGGER TR_BatchFreeze_BeforeInsert BEFORE INSERT ON BatchFreeze
BEGIN
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_BatchFreeze WHERE RowNumber IN (NEW.rowid);
END;

CREATE TRIGGER TR_BatchFreeze_BeforeUpdate BEFORE UPDATE ON BatchFreeze
BEGIN
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_BatchFreeze WHERE RowNumber IN (OLD.rowid, NEW.rowid);
END;

CREATE TRIGGER TR_BatchFreeze_AuditInsert AFTER INSERT ON BatchFreeze
BEGIN
    INSERT INTO batchctl_audited SELECT 'insert', *, NULL FROM batchctl_BatchFreeze WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_BatchFreeze_AuditUpdate AFTER UPDATE ON BatchFreeze
BEGIN
    INSERT INTO batchctl_audited SELECT 'update', *, OLD.rowid FROM batchctl_BatchFreeze WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_BatchFreeze_AuditDelete BEFORE DELETE ON BatchFreeze
BEGIN
    INSERT INTO batchctl_audited SELECT 'delete', *, NULL FROM batchctl_BatchFreeze WHERE RowNumber = OLD.rowid;
END;

CREATE TRIGGER TR_Setting_BeforeInsert BEFORE INSERT ON Setting
BEGIN
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_Setting WHERE RowNumber IN (NEW.rowid, (SELECT rowid FROM Setting WHERE Name = NEW.Name));
END;

CREATE TRIGGER TR_Setting_BeforeUpdate BEFORE UPDATE ON Setting
BEGIN
    INSERT INTO batchctl_replaced SELECT * FROM batchctl_Setting WHERE RowNumber IN (OLD.rowid, NEW.rowid, (SELECT rowid FROM Setting WHERE Name = NEW.Name));
END;

CREATE TRIGGER TR_Setting_AuditInsert AFTER INSERT ON Setting
BEGIN
    INSERT INTO batchctl_audited SELECT 'insert', *, NULL FROM batchctl_Setting WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_Setting_AuditUpdate AFTER UPDATE ON Setting
BEGIN
    INSERT INTO batchctl_audited SELECT 'update', *, OLD.rowid FROM batchctl_Setting WHERE RowNumber = NEW.rowid;
END;

CREATE TRIGGER TR_Setting_AuditDelete BEFORE DELETE ON Setting
BEGIN
    INSERT INTO batchctl_audited SELECT 'delete', *, NULL FROM batchctl_Setting WHERE RowNumber = OLD.rowid;
END;

CREATE TRIGGER TR_BatchControl_AuditUpdate AFTER UPDATE OF Status, PrevProcessControlSeq, RetryCount, NextRunTime, CycleKey, Data1, Data2, Data3, Data4, Data5, Data6 ON BatchControl WHEN NEW.z_updated IS OLD.z_updated
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row update', 'BatchControl:' || NEW.BatchControl_id,
        json_group_object(column1, column2), json_group_object(column1, column3)
    FROM (VALUES ('Status', CASE OLD.Status WHEN 'success' THEN 'ready' ELSE OLD.Status END, CASE NEW.Status WHEN 'success' THEN 'ready' ELSE NEW.Status END), ('PrevProcessControlSeq', OLD.PrevProcessControlSeq, NEW.PrevProcessControlSeq), ('RetryCount', OLD.RetryCount, NEW.RetryCount), ('NextRunTime', OLD.NextRunTime, NEW.NextRunTime), ('CycleKey', OLD.CycleKey, NEW.CycleKey), ('Data1', OLD.Data1, NEW.Data1), ('Data2', OLD.Data2, NEW.Data2), ('Data3', OLD.Data3, NEW.Data3), ('Data4', OLD.Data4, NEW.Data4), ('Data5', OLD.Data5, NEW.Data5), ('Data6', OLD.Data6, NEW.Data6))
    WHERE column2 IS NOT column3 COLLATE BINARY GROUP BY NULL;
END;

CREATE TRIGGER TR_FileProcess_AuditUpdate AFTER UPDATE OF Status, Entity, FileName, Data, CycleKey ON FileProcess WHEN NEW.z_updated IS OLD.z_updated
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row update', 'FileProcess:' || NEW.FileProcess_id,
        json_group_object(column1, column2), json_group_object(column1, column3)
    FROM (VALUES ('Status', CASE OLD.Status WHEN 'success' THEN 'complete' ELSE OLD.Status END, CASE NEW.Status WHEN 'success' THEN 'complete' ELSE NEW.Status END), ('Entity', OLD.Entity, NEW.Entity), ('FileName', OLD.FileName, NEW.FileName), ('Data', OLD.Data, NEW.Data), ('CycleKey', OLD.CycleKey, NEW.CycleKey))
    WHERE column2 IS NOT column3 COLLATE BINARY GROUP BY NULL;
END;

CREATE TRIGGER TR_batchctl_replaced_Anew BEFORE INSERT ON batchctl_replaced
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = NEW.TableName AND RowNumber = NEW.RowNumber;
END;

CREATE TRIGGER TR_batchctl_audited INSTEAD OF INSERT ON batchctl_audited
BEGIN
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', substr(Target, 1, 200), ValuesBefore FROM batchctl_replaced w
    WHERE NEW.Action <> 'delete' AND TableName = NEW.TableName AND RowNumber IS NOT NEW.FormerNumber
        AND (RowNumber = NEW.RowNumber OR NOT EXISTS (SELECT 1 FROM batchctl_rows n WHERE n.TableName = w.TableName AND n.RowNumber = w.RowNumber)) ORDER BY RowNumber;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row update', substr(NEW.Target, 1, 200), json_group_object(key, value),
        json_group_object(key, json_extract(NEW.ValuesBefore, fullkey))
    FROM batchctl_replaced w, json_each(w.ValuesBefore)
    WHERE TableName = NEW.TableName AND RowNumber = NEW.FormerNumber AND ValuesBefore <> NEW.ValuesBefore
        AND value IS NOT json_extract(NEW.ValuesBefore, fullkey) GROUP BY RowNumber;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row ' || NEW.Action, substr(NEW.Target, 1, 200),
        CASE NEW.Action WHEN 'delete' THEN NEW.ValuesBefore END,
        CASE NEW.Action WHEN 'insert' THEN NEW.ValuesBefore END WHERE NEW.Action <> 'update';
    DELETE FROM batchctl_replaced
    WHERE TableName = NEW.TableName AND (RowNumber = NEW.RowNumber OR NEW.Action <> 'delete');
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

CREATE TRIGGER TR_ProcessBatch_InUse BEFORE DELETE ON ProcessBatch
BEGIN
    SELECT RAISE(ABORT, 'batchctl: BatchControl has rows of this ProcessBatch: instead: batchctl disable NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM BatchControl WHERE ProcessBatch_id = OLD.ProcessBatch_id);
    SELECT RAISE(ABORT, 'batchctl: BatchProcessHistory has rows of this ProcessBatch: instead: batchctl disable NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM BatchProcessHistory WHERE ProcessBatch_id = OLD.ProcessBatch_id);
    SELECT RAISE(ABORT, 'batchctl: BatchCompletion has rows of this ProcessBatch: instead: batchctl disable NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM BatchCompletion WHERE ProcessBatch_id = OLD.ProcessBatch_id) OR EXISTS (SELECT 1 FROM BatchCompletion WHERE DependsOnBatch_id = OLD.ProcessBatch_id);
    SELECT RAISE(ABORT, 'batchctl: DurationHistory has rows of this ProcessBatch: instead: batchctl disable NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM DurationHistory WHERE ProcessBatch_id = OLD.ProcessBatch_id);
    SELECT RAISE(ABORT, 'batchctl: ProcessControl has rows of this ProcessBatch: DELETE FROM ProcessControl WHERE ProcessBatch_id = ... first; or instead: batchctl disable NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM ProcessControl WHERE ProcessBatch_id = OLD.ProcessBatch_id);
    SELECT RAISE(ABORT, 'batchctl: BatchResource has rows of this ProcessBatch: DELETE FROM BatchResource WHERE ProcessBatch_id = ... first; or instead: batchctl disable NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM BatchResource WHERE ProcessBatch_id = OLD.ProcessBatch_id);
    SELECT RAISE(ABORT, 'batchctl: BatchDependency has rows of this ProcessBatch: DELETE FROM BatchDependency WHERE ProcessBatch_id = ... first; or instead: batchctl disable NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM BatchDependency WHERE ProcessBatch_id = OLD.ProcessBatch_id);
    SELECT RAISE(ABORT, 'batchctl: BatchDependency has rows of this ProcessBatch: DELETE FROM BatchDependency WHERE DependsOnBatch_id = ... first; or instead: batchctl disable NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM BatchDependency WHERE DependsOnBatch_id = OLD.ProcessBatch_id);
END;

CREATE TRIGGER TR_Resource_InUse BEFORE DELETE ON Resource
BEGIN
    SELECT RAISE(ABORT, 'batchctl: BatchResource has rows of this Resource: DELETE FROM BatchResource WHERE Resource_id = ... first')
    WHERE EXISTS (SELECT 1 FROM BatchResource WHERE Resource_id = OLD.Resource_id);
END;

CREATE TRIGGER TR_Calendar_InUse BEFORE DELETE ON Calendar
BEGIN
    SELECT RAISE(ABORT, 'batchctl: CalendarDay has rows of this Calendar: DELETE FROM CalendarDay WHERE Calendar_id = ... first; or instead: batchctl calendar remove NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM CalendarDay WHERE Calendar_id = OLD.Calendar_id);
END;

CREATE TRIGGER TR_Schedule_InUse BEFORE DELETE ON Schedule
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ScheduleFire has rows of this Schedule: instead: batchctl schedule remove NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM ScheduleFire WHERE Schedule_id = OLD.Schedule_id);
    SELECT RAISE(ABORT, 'batchctl: ScheduleBackfill has rows of this Schedule: instead: batchctl schedule remove NAME --reason ...')
    WHERE EXISTS (SELECT 1 FROM ScheduleBackfill WHERE Schedule_id = OLD.Schedule_id);
END;

CREATE TRIGGER TR_FileWatch_InUse BEFORE DELETE ON FileWatch
BEGIN
    SELECT RAISE(ABORT, 'batchctl: FileWatchSeen has rows of this FileWatch: instead: UPDATE FileWatch SET Enabled = 0 WHERE WatchName = ...')
    WHERE EXISTS (SELECT 1 FROM FileWatchSeen WHERE FileWatch_id = OLD.FileWatch_id);
END;

CREATE TRIGGER TR_batchctl_replaced_InUse BEFORE DELETE ON batchctl_replaced WHEN NOT EXISTS (SELECT 1 FROM batchctl_rows n WHERE n.TableName = OLD.TableName AND n.RowNumber = OLD.RowNumber)
    AND EXISTS (SELECT 1 FROM batchctl_used u WHERE u.TableName = OLD.TableName AND u.RowNumber = OLD.RowNumber)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: other tables have rows of this ProcessBatch, which a REPLACE would leave behind: use UPDATE, or ON CONFLICT DO UPDATE')
    WHERE OLD.TableName = 'ProcessBatch';
    SELECT RAISE(ABORT, 'batchctl: other tables have rows of this Resource, which a REPLACE would leave behind: use UPDATE, or ON CONFLICT DO UPDATE')
    WHERE OLD.TableName = 'Resource';
    SELECT RAISE(ABORT, 'batchctl: other tables have rows of this Calendar, which a REPLACE would leave behind: use UPDATE, or ON CONFLICT DO UPDATE')
    WHERE OLD.TableName = 'Calendar';
    SELECT RAISE(ABORT, 'batchctl: other tables have rows of this Schedule, which a REPLACE would leave behind: use UPDATE, or ON CONFLICT DO UPDATE')
    WHERE OLD.TableName = 'Schedule';
    SELECT RAISE(ABORT, 'batchctl: other tables have rows of this FileWatch, which a REPLACE would leave behind: use UPDATE, or ON CONFLICT DO UPDATE')
    WHERE OLD.TableName = 'FileWatch';
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

