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
