-- The control database of batchctl on SQLite, schema 0051.
--
-- Run it on a file that is not there yet: sqlite3 -bail batchctl.db < batchctl.sql
-- It makes everything, from nothing, and is one transaction: with -bail nothing of it stays after an error.
-- To bring a database of batchctl up to date: batchctl db upgrade

BEGIN;

CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL, 
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

-- Running upgrade  -> 0051

-- A batch: which entity it takes, how its instances are made, in what order and how often they are tried.
CREATE TABLE ProcessBatch (
    ProcessBatch_id INTEGER PRIMARY KEY AUTOINCREMENT,
    ProcessBatchName TEXT NOT NULL UNIQUE CHECK (length(ProcessBatchName) BETWEEN 1 AND 200),
    Entity TEXT CHECK (length(Entity) BETWEEN 1 AND 200),
    Enabled INTEGER NOT NULL DEFAULT 1 CHECK (Enabled IN (0, 1)),
    Seq INTEGER NOT NULL DEFAULT 100,
    Priority INTEGER CHECK (Priority BETWEEN 0 AND 1000),
    ProcessingMode TEXT COLLATE NOCASE CHECK (ProcessingMode IN ('manual', 'scheduled', 'triggered')),
    Populator TEXT NOT NULL DEFAULT 'pattern' CHECK (length(Populator) BETWEEN 1 AND 200),
    PopulatorArgs TEXT,
    PopulatorOn TEXT COLLATE NOCASE CHECK (PopulatorOn IN ('filename', 'data', 'entity')),
    DependencyMode TEXT COLLATE NOCASE NOT NULL DEFAULT 'all' CHECK (DependencyMode IN ('all', 'any')),
    OnFailure TEXT COLLATE NOCASE NOT NULL DEFAULT 'hold_batch' CHECK (OnFailure IN ('hold_batch', 'stop_all', 'continue')),
    RetryCount INTEGER NOT NULL DEFAULT 0 CHECK (RetryCount BETWEEN 0 AND 1000),
    RetryWaitMins INTEGER NOT NULL DEFAULT 5 CHECK (RetryWaitMins BETWEEN 0 AND 525600),
    RetryWaitSecs INTEGER CHECK (RetryWaitSecs BETWEEN 0 AND 31536000),
    MaxConcurrent INTEGER NOT NULL DEFAULT 1 CHECK (MaxConcurrent BETWEEN 1 AND 1000),
    MaxPerMinute INTEGER CHECK (MaxPerMinute BETWEEN 1 AND 100000),
    Pool TEXT CHECK (length(Pool) BETWEEN 1 AND 50),
    DuplicateCheck INTEGER NOT NULL DEFAULT 1 CHECK (DuplicateCheck IN (0, 1)),
    ArriveBy TEXT CHECK (length(ArriveBy) <= 50)
        CHECK (lower(trim(ArriveBy)) = 'none' OR (trim(ArriveBy) GLOB '[0-2][0-9]:[0-5][0-9]' AND trim(ArriveBy) NOT GLOB '2[4-9]*')),
    StartBy TEXT CHECK (length(StartBy) <= 50)
        CHECK (lower(trim(StartBy)) = 'none' OR (trim(StartBy) GLOB '[0-2][0-9]:[0-5][0-9]' AND trim(StartBy) NOT GLOB '2[4-9]*')),
    FinishBy TEXT CHECK (length(FinishBy) <= 50)
        CHECK (lower(trim(FinishBy)) = 'none' OR (trim(FinishBy) GLOB '[0-2][0-9]:[0-5][0-9]' AND trim(FinishBy) NOT GLOB '2[4-9]*')),
    ExpectedOn TEXT CHECK (length(ExpectedOn) <= 50)
        CHECK (replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(lower(ExpectedOn),'mon','W'),'tue','W'),'wed','W'),'thu','W'),'fri','W'),'sat','W'),'sun','W'),' ',''),'W-W','W')||',','W,','') = ''),
    ExpectedCalendar TEXT CHECK (length(ExpectedCalendar) <= 200),
    Tags TEXT CHECK (length(Tags) <= 200),
    Origin TEXT CHECK (length(Origin) <= 200),
    Description TEXT,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    CHECK (NOT instr(replace(json_array(ProcessBatchName,Entity,Populator,PopulatorArgs,Pool,ArriveBy,StartBy,FinishBy,ExpectedOn,ExpectedCalendar,
        Tags,Origin,Description),'\\',''),'\u0000'))
) STRICT;

-- Where steps may run: the controllers that serve a pool begin its steps, and no others.
CREATE TABLE Pool (
    Pool_id INTEGER PRIMARY KEY AUTOINCREMENT,
    PoolName TEXT NOT NULL UNIQUE CHECK (length(PoolName) <= 50) CHECK (PoolName <> '' AND PoolName = lower(PoolName)),
    Kind TEXT COLLATE NOCASE NOT NULL DEFAULT 'controllers' CHECK (Kind IN ('controllers', 'dask', 'agents')),
    MaxConcurrent INTEGER CHECK (MaxConcurrent BETWEEN 1 AND 1000),
    Enabled INTEGER NOT NULL DEFAULT 1 CHECK (Enabled IN (0, 1)),
    Description TEXT,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    CHECK (NOT instr(replace(json_array(PoolName,Description),'\\',''),'\u0000'))
) STRICT;

-- What {var:Name} stands for in definitions, so that the same ones serve test and production.
CREATE TABLE Variable (
    Variable_id INTEGER PRIMARY KEY AUTOINCREMENT,
    VariableName TEXT NOT NULL UNIQUE CHECK (length(VariableName) BETWEEN 1 AND 200),
    Value TEXT NOT NULL,
    Description TEXT,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    CHECK (NOT instr(replace(json_array(VariableName,Value,Description),'\\',''),'\u0000'))
) STRICT;

-- What steps share, such as an FTP server, and how many units of it there are.
CREATE TABLE Resource (
    Resource_id INTEGER PRIMARY KEY AUTOINCREMENT,
    ResourceName TEXT NOT NULL UNIQUE CHECK (length(ResourceName) BETWEEN 1 AND 200),
    Units INTEGER NOT NULL DEFAULT 1 CHECK (Units BETWEEN 0 AND 1000000),
    Description TEXT,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    CHECK (NOT instr(replace(json_array(ResourceName,Description),'\\',''),'\u0000'))
) STRICT;

-- When rows of an entity are put into FileProcess by themselves.
CREATE TABLE Schedule (
    Schedule_id INTEGER PRIMARY KEY AUTOINCREMENT,
    ScheduleName TEXT NOT NULL UNIQUE CHECK (length(ScheduleName) BETWEEN 1 AND 200),
    Entity TEXT NOT NULL CHECK (length(Entity) BETWEEN 1 AND 200),
    ScheduleType TEXT COLLATE NOCASE NOT NULL
        CHECK (ScheduleType IN ('interval', 'daily', 'weekly', 'monthly', 'monthly_dow', 'once', 'cron')),
    IntervalMinutes INTEGER CHECK (IntervalMinutes BETWEEN 1 AND 1440)
        CHECK ((IntervalMinutes IS NOT NULL) = (ScheduleType IN ('interval'))),
    RunTimes TEXT CHECK (length(RunTimes) <= 200) CHECK (replace(replace(RunTimes, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*')
        CHECK ((RunTimes IS NOT NULL) = (ScheduleType IN ('daily', 'weekly', 'monthly', 'monthly_dow')))
        CHECK ((','||replace(RunTimes, ' ', '')||',') NOT GLOB '*,[^0-2]*' AND (','||replace(RunTimes, ' ', '')||',') NOT GLOB '*,2[^0-3]*' AND (','||replace(RunTimes, ' ', '')||',') NOT GLOB '*,[01][^0-9]*' AND (','||replace(RunTimes, ' ', '')||',') NOT GLOB '*,??[^:]*' AND (','||replace(RunTimes, ' ', '')||',') NOT GLOB '*,???[^0-5]*' AND (','||replace(RunTimes, ' ', '')||',') NOT GLOB '*,????[^0-9]*' AND (','||replace(RunTimes, ' ', '')||',') NOT GLOB '*,?????[^,]*'),
    RunDays TEXT CHECK (length(RunDays) <= 200) CHECK (RunDays IS NOT NULL OR ScheduleType NOT IN ('weekly', 'monthly_dow'))
        CHECK (replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(lower(RunDays),'mon','W'),'tue','W'),'wed','W'),'thu','W'),'fri','W'),'sat','W'),'sun','W'),' ',''),'W-W','W')||',','W,','') = ''),
    RunDaysOfMonth TEXT CHECK (length(RunDaysOfMonth) <= 200) CHECK (RunDaysOfMonth IS NOT NULL OR ScheduleType NOT IN ('monthly'))
        CHECK (replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(lower(RunDaysOfMonth),'4','9'),'5','9'),'6','9'),'7','9'),'8','9'),'29','W'),'30','W'),'31','W'),'2','1'),'3','U'),'9','U'),'10','V'),'11','V'),'1U','V'),'1','U'),'0U','V'),'U','V'),'last','V'),'business_V','W'),'V','W'),' ','')||',','W,','') = ''),
    WeekOfMonth TEXT CHECK (length(WeekOfMonth) <= 200) CHECK (WeekOfMonth IS NOT NULL OR ScheduleType NOT IN ('monthly_dow'))
        CHECK (replace(replace(replace(replace(replace(replace(replace(replace(lower(WeekOfMonth),'first','W'),'second','W'),'third','W'),'fourth','W'),'fifth','W'),'last','W'),' ','')||',','W,','') = ''),
    RunMonths TEXT CHECK (length(RunMonths) <= 200)
        CHECK (NOT (replace(replace(replace(replace(lower(RunMonths),'feb','2'),'0',''),' ','')||',','2,','') = '' AND replace(replace(replace(lower(RunDaysOfMonth),' ','')||',','30,',''),'31,','') = '') AND NOT (replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(lower(RunMonths),'feb','2'),'apr','2'),'jun','2'),'sep','2'),'nov','2'),'0',''),'4','2'),'6','2'),'9','2'),'11','2'),' ','')||',','2,','') = '' AND replace(replace(lower(RunDaysOfMonth),' ','')||',','31,','') = ''))
        CHECK (RunMonths IS NULL OR json_patch('{"'||replace('jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec,1,2,3,4,5,6,7,8,9,10,11,12,01,02,03,04,05,06,07,08,09',',','":"","')||'":""}','{'||replace(json_quote(replace(replace(lower(RunMonths),' ',''),'-',',')),',','":"","')||':""}') LIKE '%"09":""}' AND replace(replace(RunMonths, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*' AND replace(lower(RunMonths),' ','') NOT GLOB '*-?-*' AND replace(lower(RunMonths),' ','') NOT GLOB '*-??-*' AND replace(lower(RunMonths),' ','') NOT GLOB '*-?[^,]?-*'),
    BetweenTimes TEXT CHECK (length(BetweenTimes) <= 50)
        CHECK (replace(replace(BetweenTimes, ' ', '<>'), '><', '') NOT GLOB '*[^-,]<>[^-,]*')
        CHECK (replace(BetweenTimes, ' ', '') GLOB '[0-2][0-9]:[0-5][0-9]-[0-2][0-9]:[0-5][0-9]' AND replace(BetweenTimes, ' ', '') NOT GLOB '2[4-9]*' AND replace(BetweenTimes, ' ', '') NOT GLOB '*-2[4-9]*'),
    EveryN INTEGER NOT NULL DEFAULT 1 CHECK (EveryN BETWEEN 1 AND 1000),
    StartDate TEXT CHECK (length(StartDate) <= 10)
        CHECK (trim(StartDate) GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]' AND substr(trim(StartDate),6,2) BETWEEN '01' AND '12' AND substr(trim(StartDate),9,2) BETWEEN '01' AND '31'),
    EndDate TEXT CHECK (length(EndDate) <= 10)
        CHECK (trim(EndDate) GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]' AND substr(trim(EndDate),6,2) BETWEEN '01' AND '12' AND substr(trim(EndDate),9,2) BETWEEN '01' AND '31'),
    RunAt TEXT CHECK (length(RunAt) <= 50) CHECK ((RunAt IS NOT NULL) = (ScheduleType IN ('once')))
        CHECK (substr(trim(RunAt)||':'||'00',1,max(19,length(trim(RunAt)))) GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9][ T][0-2][0-9]:[0-5][0-9]:[0-5][0-9]' AND substr(trim(RunAt),6,2) BETWEEN '01' AND '12' AND substr(trim(RunAt),9,2) BETWEEN '01' AND '31' AND substr(trim(RunAt),12,2) < '24'),
    Cron TEXT CHECK (length(Cron) <= 200) CHECK ((Cron IS NOT NULL) = (ScheduleType IN ('cron'))),
    TimeZone TEXT CHECK (length(TimeZone) <= 200),
    CalendarName TEXT CHECK (length(CalendarName) <= 200),
    CalendarRule TEXT COLLATE NOCASE NOT NULL DEFAULT 'business_days'
        CHECK (CalendarRule IN ('business_days', 'days_off', 'next', 'previous')),
    GapPolicy TEXT COLLATE NOCASE NOT NULL DEFAULT 'run' CHECK (GapPolicy IN ('run', 'skip')),
    FoldPolicy TEXT COLLATE NOCASE NOT NULL DEFAULT 'once' CHECK (FoldPolicy IN ('once', 'twice')),
    CatchUp TEXT COLLATE NOCASE NOT NULL DEFAULT 'none' CHECK (CatchUp IN ('none', 'latest', 'up_to')),
    CatchUpMost INTEGER CHECK (CatchUpMost BETWEEN 1 AND 1000) CHECK ((CatchUpMost IS NOT NULL) = (CatchUp = 'up_to')),
    Overlap TEXT COLLATE NOCASE NOT NULL DEFAULT 'queue' CHECK (Overlap IN ('queue', 'skip')),
    Jitter INTEGER NOT NULL DEFAULT 0 CHECK (Jitter BETWEEN 0 AND 86400),
    Enabled INTEGER NOT NULL DEFAULT 1 CHECK (Enabled IN (0, 1)),
    NextRunTime TEXT,
    DecidedUntil TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    TimingHash TEXT CHECK (length(TimingHash) <= 64),
    Origin TEXT CHECK (length(Origin) <= 200),
    Description TEXT,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    CHECK (NOT instr(replace(json_array(ScheduleName,Entity,RunTimes,RunDays,RunDaysOfMonth,WeekOfMonth,RunMonths,BetweenTimes,StartDate,EndDate,
        RunAt,Cron,TimeZone,CalendarName,TimingHash,Origin,Description),'\\',''),'\u0000'))
) STRICT;

CREATE INDEX "IX_Schedule_Due" ON Schedule (NextRunTime) WHERE Enabled = 1;

-- A named set of business days.
CREATE TABLE Calendar (
    Calendar_id INTEGER PRIMARY KEY AUTOINCREMENT,
    CalendarName TEXT NOT NULL UNIQUE CHECK (length(CalendarName) BETWEEN 1 AND 200),
    BusinessDays TEXT NOT NULL DEFAULT 'Mon,Tue,Wed,Thu,Fri' CHECK (length(BusinessDays) <= 50)
        CHECK (trim(BusinessDays) = '' OR (replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(lower(BusinessDays),'mon','W'),'tue','W'),'wed','W'),'thu','W'),'fri','W'),'sat','W'),'sun','W'),' ',''),'W-W','W')||',','W,','') = '')),
    ValidFrom TEXT CHECK (length(ValidFrom) <= 10)
        CHECK (trim(ValidFrom) GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]' AND substr(trim(ValidFrom),6,2) BETWEEN '01' AND '12' AND substr(trim(ValidFrom),9,2) BETWEEN '01' AND '31'),
    ValidUntil TEXT CHECK (length(ValidUntil) <= 10)
        CHECK (trim(ValidUntil) GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]' AND substr(trim(ValidUntil),6,2) BETWEEN '01' AND '12' AND substr(trim(ValidUntil),9,2) BETWEEN '01' AND '31'),
    Description TEXT,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    CHECK (NOT instr(replace(json_array(CalendarName,BusinessDays,ValidFrom,ValidUntil,Description),'\\',''),'\u0000'))
) STRICT;

-- A table of another database whose new rows start an entity.
CREATE TABLE DataTrigger (
    DataTrigger_id INTEGER PRIMARY KEY AUTOINCREMENT,
    TriggerName TEXT NOT NULL UNIQUE CHECK (length(TriggerName) BETWEEN 1 AND 200),
    Entity TEXT NOT NULL CHECK (length(Entity) BETWEEN 1 AND 200),
    ConnectionName TEXT NOT NULL CHECK (length(ConnectionName) BETWEEN 1 AND 200),
    TableName TEXT NOT NULL CHECK (length(TableName) BETWEEN 1 AND 200),
    StatusColumn TEXT NOT NULL CHECK (length(StatusColumn) BETWEEN 1 AND 200),
    PendingValue TEXT NOT NULL CHECK (length(PendingValue) <= 200),
    CreatedColumn TEXT CHECK (length(CreatedColumn) <= 200),
    RowThreshold INTEGER CHECK (RowThreshold >= 1) CHECK (RowThreshold IS NOT NULL OR IdleMinutes IS NOT NULL OR OnNewRows = 1),
    IdleMinutes INTEGER CHECK (IdleMinutes BETWEEN 1 AND 525600) CHECK (IdleMinutes IS NULL OR CreatedColumn IS NOT NULL),
    OnNewRows INTEGER NOT NULL DEFAULT 0 CHECK (OnNewRows IN (0, 1)),
    DebounceSeconds INTEGER NOT NULL DEFAULT 60 CHECK (DebounceSeconds BETWEEN 0 AND 31536000),
    Enabled INTEGER NOT NULL DEFAULT 1 CHECK (Enabled IN (0, 1)),
    LastFired TEXT,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    CHECK (NOT instr(replace(json_array(TriggerName,Entity,ConnectionName,TableName,StatusColumn,PendingValue,CreatedColumn),'\\',''),'\u0000'))
) STRICT;

-- A folder whose files become rows of FileProcess.
CREATE TABLE FileWatch (
    FileWatch_id INTEGER PRIMARY KEY AUTOINCREMENT,
    WatchName TEXT NOT NULL UNIQUE CHECK (length(WatchName) BETWEEN 1 AND 200),
    Entity TEXT NOT NULL CHECK (length(Entity) BETWEEN 1 AND 200),
    Folder TEXT NOT NULL CHECK (Folder <> ''),
    Pattern TEXT NOT NULL DEFAULT '*' CHECK (length(Pattern) BETWEEN 1 AND 200),
    Recursive INTEGER NOT NULL DEFAULT 0 CHECK (Recursive IN (0, 1)),
    SettleSeconds INTEGER NOT NULL DEFAULT 10 CHECK (SettleSeconds BETWEEN 0 AND 86400),
    MarkerSuffix TEXT CHECK (length(MarkerSuffix) BETWEEN 1 AND 50),
    DuplicateKey TEXT COLLATE NOCASE NOT NULL DEFAULT 'name_size_time' CHECK (DuplicateKey IN ('name', 'name_size_time', 'content')),
    Enabled INTEGER NOT NULL DEFAULT 1 CHECK (Enabled IN (0, 1)),
    UnreachableSince TEXT,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    CHECK (NOT instr(replace(json_array(WatchName,Entity,Folder,Pattern,MarkerSuffix),'\\',''),'\u0000'))
) STRICT;

-- What can be set while controllers run.
CREATE TABLE Setting (
    Setting_id INTEGER PRIMARY KEY AUTOINCREMENT,
    Name TEXT NOT NULL UNIQUE CHECK (length(Name) BETWEEN 1 AND 200),
    Value TEXT NOT NULL
        CHECK (Name <> 'MaxConcurrent' OR (trim(Value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) NOT GLOB '*[^0-9]*' AND length(trim(Value, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) BETWEEN 1 AND 18)),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    CHECK (NOT instr(replace(json_array(Name,Value),'\\',''),'\u0000'))
) STRICT;

-- What a batch and its steps were at each version.
CREATE TABLE BatchVersion (
    BatchVersion_id INTEGER PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL,
    ProcessBatchName TEXT NOT NULL CHECK (length(ProcessBatchName) <= 200),
    DefVersion INTEGER NOT NULL CHECK (DefVersion >= 1),
    Fingerprint TEXT NOT NULL CHECK (length(Fingerprint) <= 64),
    Content TEXT NOT NULL,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    UNIQUE (ProcessBatch_id, DefVersion),
    CHECK (NOT instr(replace(json_array(ProcessBatchName,Fingerprint,Content),'\\',''),'\u0000'))
) STRICT;

-- Which definitions came from which file or module.
CREATE TABLE AppliedDefinition (
    AppliedDefinition_id INTEGER PRIMARY KEY AUTOINCREMENT,
    Kind TEXT NOT NULL CHECK (length(Kind) <= 50),
    Name TEXT NOT NULL CHECK (length(Name) <= 200),
    Owner TEXT CHECK (length(Owner) <= 200),
    Exported TEXT CHECK (length(Exported) <= 64),
    Content TEXT NOT NULL,
    Actor TEXT NOT NULL CHECK (length(Actor) <= 200),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_updated GLOB '*[0-9]' AND ifnull(max('0001',date(z_updated,'+0 days')),'')||' ' IN (z_updated||' ',rtrim(z_updated,'0123456789.:'))),
    UNIQUE (Kind, Name),
    CHECK (NOT instr(replace(json_array(Kind,Name,Owner,Exported,Content,Actor),'\\',''),'\u0000'))
) STRICT;

-- What people ask for by a row, and what was answered.
CREATE TABLE OperatorRequest (
    OperatorRequest_id INTEGER PRIMARY KEY AUTOINCREMENT,
    Action TEXT NOT NULL CHECK (length(Action) BETWEEN 1 AND 50)
        CHECK (lower(trim(Action, char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288))) IN ('rerun', 'skip', 'pause', 'resume', 'cancel', 'enable', 'disable', 'freeze', 'thaw', 'acknowledge', 'snooze', 'retry', 'reject', 'resend', 'drain', 'undrain', 'note', 'confirm', 'refuse', 'run', 'backfill', 'accept') OR NOT (Status = 'requested')),
    BatchControl_id INTEGER,
    ProcessBatchName TEXT CHECK (length(ProcessBatchName) <= 200),
    Arguments TEXT,
    Reason TEXT,
    Actor TEXT NOT NULL DEFAULT 'sql' CHECK (length(Actor) BETWEEN 1 AND 200),
    Status TEXT COLLATE NOCASE NOT NULL DEFAULT 'requested' CHECK (Status IN ('requested', 'done', 'refused')),
    Answer TEXT,
    AnsweredBy TEXT CHECK (length(AnsweredBy) <= 200),
    AnsweredTime TEXT
        CHECK (AnsweredTime GLOB '*[0-9]' AND ifnull(max('0001',date(AnsweredTime,'+0 days')),'')||' ' IN (AnsweredTime||' ',rtrim(AnsweredTime,'0123456789.:'))),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_updated GLOB '*[0-9]' AND ifnull(max('0001',date(z_updated,'+0 days')),'')||' ' IN (z_updated||' ',rtrim(z_updated,'0123456789.:'))),
    CHECK (NOT instr(replace(json_array(Action,ProcessBatchName,Arguments,Reason,Actor,Answer,AnsweredBy),'\\',''),'\u0000'))
) STRICT;

CREATE INDEX "IX_OperatorRequest_Open" ON OperatorRequest (OperatorRequest_id) WHERE Status = 'requested';

-- What may not start for now, and who said so.
CREATE TABLE BatchFreeze (
    BatchFreeze_id INTEGER PRIMARY KEY AUTOINCREMENT,
    ProcessBatchName TEXT CHECK (length(ProcessBatchName) <= 200),
    Tag TEXT CHECK (length(Tag) <= 200) CHECK (ProcessBatchName IS NULL OR Tag IS NULL),
    Reason TEXT NOT NULL CHECK (Reason <> ''),
    Actor TEXT NOT NULL DEFAULT 'sql' CHECK (length(Actor) BETWEEN 1 AND 200),
    UntilTime TEXT,
    ThawedTime TEXT,
    ThawedBy TEXT CHECK (length(ThawedBy) <= 200),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    CHECK (NOT instr(replace(json_array(ProcessBatchName,Tag,Reason,Actor,ThawedBy),'\\',''),'\u0000'))
) STRICT;

CREATE INDEX "IX_BatchFreeze_Standing" ON BatchFreeze (BatchFreeze_id) WHERE ThawedTime IS NULL;

-- A host or a pool on which nothing new begins, until somebody ends that.
CREATE TABLE Drain (
    Drain_id INTEGER PRIMARY KEY AUTOINCREMENT,
    Host TEXT CHECK (length(Host) <= 200) CHECK ((Host IS NULL AND PoolName IS NOT NULL) OR (Host IS NOT NULL AND PoolName IS NULL)),
    PoolName TEXT CHECK (length(PoolName) <= 50),
    Reason TEXT NOT NULL CHECK (Reason <> ''),
    Actor TEXT NOT NULL DEFAULT 'sql' CHECK (length(Actor) BETWEEN 1 AND 200),
    UndrainedTime TEXT,
    UndrainedBy TEXT CHECK (length(UndrainedBy) <= 200),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    CHECK (NOT instr(replace(json_array(Host,PoolName,Reason,Actor,UndrainedBy),'\\',''),'\u0000'))
) STRICT;

CREATE INDEX "IX_Drain_Standing" ON Drain (Drain_id) WHERE UndrainedTime IS NULL;

-- What people have to know of, until it is over.
CREATE TABLE Incident (
    Incident_id INTEGER PRIMARY KEY AUTOINCREMENT,
    Kind TEXT COLLATE NOCASE NOT NULL
        CHECK (Kind IN ('failed', 'lost', 'held', 'fails_often', 'step_failed', 'unusual_rows', 'unanswered', 'too_long', 'too_short', 'not_arrived', 'not_started', 'not_finished', 'at_risk', 'forecast_misses', 'dependency_deadline', 'calendar_ends', 'no_worker', 'channel_failed', 'unreadable', 'rejected', 'untaken', 'not_starting', 'no_steps', 'history_grows', 'pool_unserved', 'nobody_leads', 'populator_hangs', 'controller_trouble')),
    IncidentKey TEXT NOT NULL CHECK (length(IncidentKey) BETWEEN 1 AND 200),
    Severity TEXT COLLATE NOCASE NOT NULL CHECK (Severity IN ('warning', 'error')),
    Status TEXT COLLATE NOCASE NOT NULL DEFAULT 'open' CHECK (Status IN ('open', 'acknowledged', 'resolved')),
    Subject TEXT NOT NULL CHECK (length(Subject) <= 200),
    Message TEXT NOT NULL,
    Detail TEXT,
    NextStep TEXT,
    ProcessBatch_id INTEGER,
    ProcessControlSeq INTEGER,
    BatchControl_id INTEGER,
    Evidence INTEGER NOT NULL DEFAULT 0,
    Occurrences INTEGER NOT NULL DEFAULT 1 CHECK (Occurrences >= 1),
    OpenedTime TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (OpenedTime GLOB '*[0-9]' AND ifnull(max('0001',date(OpenedTime,'+0 days')),'')||' ' IN (OpenedTime||' ',rtrim(OpenedTime,'0123456789.:'))),
    LastSeen TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (LastSeen GLOB '*[0-9]' AND ifnull(max('0001',date(LastSeen,'+0 days')),'')||' ' IN (LastSeen||' ',rtrim(LastSeen,'0123456789.:'))),
    AcknowledgedTime TEXT
        CHECK (AcknowledgedTime GLOB '*[0-9]' AND ifnull(max('0001',date(AcknowledgedTime,'+0 days')),'')||' ' IN (AcknowledgedTime||' ',rtrim(AcknowledgedTime,'0123456789.:'))),
    AcknowledgedBy TEXT CHECK (length(AcknowledgedBy) <= 200),
    SnoozedUntil TEXT
        CHECK (SnoozedUntil GLOB '*[0-9]' AND ifnull(max('0001',date(SnoozedUntil,'+0 days')),'')||' ' IN (SnoozedUntil||' ',rtrim(SnoozedUntil,'0123456789.:'))),
    AlertsMade INTEGER NOT NULL DEFAULT 0 CHECK (AlertsMade >= 0),
    NextAlertTime TEXT
        CHECK (NextAlertTime GLOB '*[0-9]' AND ifnull(max('0001',date(NextAlertTime,'+0 days')),'')||' ' IN (NextAlertTime||' ',rtrim(NextAlertTime,'0123456789.:'))),
    EscalatedTime TEXT
        CHECK (EscalatedTime GLOB '*[0-9]' AND ifnull(max('0001',date(EscalatedTime,'+0 days')),'')||' ' IN (EscalatedTime||' ',rtrim(EscalatedTime,'0123456789.:'))),
    ResolvedTime TEXT
        CHECK (ResolvedTime GLOB '*[0-9]' AND ifnull(max('0001',date(ResolvedTime,'+0 days')),'')||' ' IN (ResolvedTime||' ',rtrim(ResolvedTime,'0123456789.:'))),
    RecoveryTime TEXT
        CHECK (RecoveryTime GLOB '*[0-9]' AND ifnull(max('0001',date(RecoveryTime,'+0 days')),'')||' ' IN (RecoveryTime||' ',rtrim(RecoveryTime,'0123456789.:'))),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_updated GLOB '*[0-9]' AND ifnull(max('0001',date(z_updated,'+0 days')),'')||' ' IN (z_updated||' ',rtrim(z_updated,'0123456789.:'))),
    CHECK (NOT instr(replace(json_array(IncidentKey,Subject,Message,Detail,NextStep,AcknowledgedBy),'\\',''),'\u0000'))
) STRICT;

CREATE UNIQUE INDEX "UX_Incident_Standing" ON Incident (IncidentKey) WHERE ResolvedTime IS NULL;

CREATE INDEX "IX_Incident_Recovery" ON Incident (Incident_id) WHERE ResolvedTime IS NOT NULL AND RecoveryTime IS NULL;

-- Who has changed what, when and why. Nothing is ever changed here.
CREATE TABLE AuditLog (
    AuditLog_id INTEGER PRIMARY KEY AUTOINCREMENT,
    Actor TEXT NOT NULL CHECK (length(Actor) BETWEEN 1 AND 200),
    Host TEXT NOT NULL CHECK (length(Host) <= 200),
    Action TEXT NOT NULL CHECK (length(Action) <= 50),
    Target TEXT NOT NULL CHECK (length(Target) <= 200),
    Reason TEXT,
    ValuesBefore TEXT,
    ValuesAfter TEXT,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    CHECK (NOT instr(replace(json_array(Actor,Host,Action,Target,Reason,ValuesBefore,ValuesAfter),'\\',''),'\u0000'))
) STRICT;

CREATE INDEX "IX_AuditLog_Target" ON AuditLog (Target);

-- Hashes that chain the rows of AuditLog.
CREATE TABLE AuditSeal (
    AuditSeal_id INTEGER PRIMARY KEY AUTOINCREMENT,
    SealNo INTEGER NOT NULL UNIQUE CHECK (SealNo >= 1),
    AuditLog_id INTEGER NOT NULL UNIQUE,
    PrevHash TEXT NOT NULL CHECK (length(PrevHash) <= 64),
    RecordHash TEXT NOT NULL CHECK (length(RecordHash) <= 64),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    CHECK (NOT instr(replace(json_array(PrevHash,RecordHash),'\\',''),'\u0000'))
) STRICT;

-- The offsets of the business time zone, for views that show local times.
CREATE TABLE ZoneOffset (
    ZoneOffset_id INTEGER PRIMARY KEY AUTOINCREMENT,
    ZoneName TEXT NOT NULL CHECK (NOT instr(ZoneName,char(0))) CHECK (length(ZoneName) BETWEEN 1 AND 200),
    FromTime TEXT NOT NULL UNIQUE
        CHECK (FromTime GLOB '*[0-9]' AND ifnull(max('0001',date(FromTime,'+0 days')),'')||' ' IN (FromTime||' ',rtrim(FromTime,'0123456789.:'))),
    UntilTime TEXT NOT NULL CHECK (FromTime < UntilTime)
        CHECK (UntilTime GLOB '*[0-9]' AND ifnull(max('0001',date(UntilTime,'+0 days')),'')||' ' IN (UntilTime||' ',rtrim(UntilTime,'0123456789.:'))),
    OffsetSeconds INTEGER NOT NULL CHECK (OffsetSeconds BETWEEN -86400 AND 86400),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:')))
) STRICT;

CREATE INDEX "IX_ZoneOffset_Until" ON ZoneOffset (UntilTime, FromTime);

-- What the engine has done, event by event.
CREATE TABLE SchedulerLog (
    SchedulerLog_id INTEGER PRIMARY KEY AUTOINCREMENT,
    EventTime TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (EventTime GLOB '*[0-9]' AND ifnull(max('0001',date(EventTime,'+0 days')),'')||' ' IN (EventTime||' ',rtrim(EventTime,'0123456789.:'))),
    EventType TEXT COLLATE NOCASE NOT NULL CHECK (EventType IN ('fired', 'skipped', 'completed', 'error', 'rescued')),
    Source TEXT NOT NULL CHECK (length(Source) BETWEEN 1 AND 200),
    Entity TEXT CHECK (length(Entity) <= 200),
    ProcessBatch_id INTEGER,
    FileProcess_id INTEGER,
    BatchControl_id INTEGER,
    Message TEXT,
    RowsQueued INTEGER,
    DurationMs INTEGER,
    CHECK (NOT instr(replace(json_array(Source,Entity,Message),'\\',''),'\u0000'))
) STRICT;

CREATE INDEX "IX_SchedulerLog_Entity" ON SchedulerLog (Entity, SchedulerLog_id);

CREATE INDEX "IX_SchedulerLog_Fired" ON SchedulerLog (FileProcess_id) WHERE EventType = 'fired';

-- What has arrived: a row here is work for every batch that takes its entity.
CREATE TABLE FileProcess (
    FileProcess_id INTEGER PRIMARY KEY AUTOINCREMENT,
    Entity TEXT NOT NULL CHECK (NOT instr(Entity,char(0))) CHECK (length(Entity) BETWEEN 1 AND 200),
    FileName TEXT CHECK (NOT instr(FileName,char(0))),
    Status TEXT COLLATE NOCASE NOT NULL DEFAULT 'ready'
        CHECK (Status = 'ready' OR Status = 'paused' OR Status = 'complete' OR Status = 'rejected' OR Status = 'duplicate' OR Status = 'success'),
    Data TEXT CHECK (NOT instr(Data,char(0))),
    CycleKey TEXT CHECK (length(CycleKey) <= 200) CHECK (NOT instr(CycleKey,char(0))),
    Source TEXT CHECK (length(Source) <= 200) CHECK (NOT instr(Source,char(0))),
    PopulatorTries INTEGER,
    Message TEXT CHECK (NOT instr(Message,char(0))),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted BETWEEN '0001' AND ':' AND z_inserted IS strftime('%Y-%m-%d %H:%M:%f',z_inserted,'+0 days') OR z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_updated IS z_inserted OR z_updated BETWEEN '0001' AND ':' AND z_updated IS strftime('%Y-%m-%d %H:%M:%f',z_updated,'+0 days') OR z_updated GLOB '*[0-9]' AND ifnull(max('0001',date(z_updated,'+0 days')),'')||' ' IN (z_updated||' ',rtrim(z_updated,'0123456789.:')))
) STRICT;

CREATE INDEX "IX_FileProcess_Ready" ON FileProcess (FileProcess_id) WHERE Status = 'ready';

CREATE INDEX "IX_FileProcess_Awaiting" ON FileProcess (FileProcess_id) WHERE PopulatorTries IS NOT NULL;

CREATE INDEX "IX_FileProcess_Duplicate" ON FileProcess (Entity, Data) WHERE Data IS NOT NULL;

CREATE INDEX "IX_FileProcess_Unreadable" ON FileProcess (FileProcess_id) WHERE ((Status = 'ready' OR Status = 'paused' OR Status = 'complete' OR Status = 'rejected' OR Status = 'duplicate' OR Status = 'success')) IS NOT TRUE;

CREATE INDEX "IX_FileProcess_Inbox" ON FileProcess (FileProcess_id) WHERE (Status = 'paused' OR Status = 'rejected' OR Status = 'duplicate');

-- The controllers that run, or have run.
CREATE TABLE Controller (
    Controller_id INTEGER PRIMARY KEY AUTOINCREMENT,
    ControllerName TEXT NOT NULL UNIQUE CHECK (length(ControllerName) BETWEEN 1 AND 200),
    Status TEXT COLLATE NOCASE NOT NULL DEFAULT 'running' CHECK (Status IN ('running', 'stopped', 'lost')),
    Host TEXT NOT NULL CHECK (length(Host) <= 200),
    Pid INTEGER,
    PidStart TEXT CHECK (length(PidStart) <= 50),
    BootId TEXT CHECK (length(BootId) <= 50),
    Slots INTEGER NOT NULL DEFAULT 1 CHECK (Slots >= 0),
    HeartbeatSeq INTEGER NOT NULL DEFAULT 0,
    Heartbeat TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (Heartbeat GLOB '*[0-9]' AND ifnull(max('0001',date(Heartbeat,'+0 days')),'')||' ' IN (Heartbeat||' ',rtrim(Heartbeat,'0123456789.:'))),
    AppVersion TEXT CHECK (length(AppVersion) <= 50),
    OrphanTimeoutSecs INTEGER,
    SchedulerZone TEXT CHECK (length(SchedulerZone) <= 200),
    LeftOut TEXT,
    ProcessTypes TEXT,
    Populators TEXT,
    Jobs TEXT,
    Trouble TEXT,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_updated GLOB '*[0-9]' AND ifnull(max('0001',date(z_updated,'+0 days')),'')||' ' IN (z_updated||' ',rtrim(z_updated,'0123456789.:'))),
    CHECK (NOT instr(replace(json_array(ControllerName,Host,PidStart,BootId,AppVersion,SchedulerZone,LeftOut,ProcessTypes,Populators,Jobs,
        Trouble),'\\',''),'\u0000'))
) STRICT;

-- Which controller makes instances and fires schedules: one row.
CREATE TABLE Leader (
    Leader_id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (Leader_id = 1),
    ControllerName TEXT CHECK (length(ControllerName) <= 200),
    Fence INTEGER NOT NULL DEFAULT 0 CHECK (Fence BETWEEN 0 AND 2000000000),
    LeaseUntil TEXT NOT NULL DEFAULT '1900-01-01 00:00:00.000'
        CHECK (LeaseUntil GLOB '*[0-9]' AND ifnull(max('0001',date(LeaseUntil,'+0 days')),'')||' ' IN (LeaseUntil||' ',rtrim(LeaseUntil,'0123456789.:'))),
    Place TEXT,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_updated GLOB '*[0-9]' AND ifnull(max('0001',date(z_updated,'+0 days')),'')||' ' IN (z_updated||' ',rtrim(z_updated,'0123456789.:'))),
    CHECK (NOT instr(replace(json_array(ControllerName,Place),'\\',''),'\u0000'))
) STRICT;

-- Rows that controllers lock to do one thing at a time.
CREATE TABLE NamedLock (
    NamedLock_id INTEGER PRIMARY KEY AUTOINCREMENT,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_updated GLOB '*[0-9]' AND ifnull(max('0001',date(z_updated,'+0 days')),'')||' ' IN (z_updated||' ',rtrim(z_updated,'0123456789.:')))
) STRICT;

-- The steps of a batch, carried out in the order of ProcessControlSeq.
CREATE TABLE ProcessControl (
    ProcessControl_id INTEGER PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL REFERENCES ProcessBatch,
    ProcessControlSeq INTEGER NOT NULL CHECK (ProcessControlSeq BETWEEN 1 AND 2000000000),
    ProcessName TEXT NOT NULL CHECK (length(ProcessName) BETWEEN 1 AND 200),
    ProcessType TEXT NOT NULL CHECK (length(ProcessType) <= 50) CHECK (trim(ProcessType) <> '' AND ProcessType NOT GLOB '*[^ -~]*'),
    Pool TEXT CHECK (length(Pool) BETWEEN 1 AND 50),
    Needs TEXT CHECK (length(Needs) BETWEEN 1 AND 200),
    ExpectedDuration INTEGER CHECK (ExpectedDuration BETWEEN 1 AND 31536000),
    AlarmDuration INTEGER CHECK (AlarmDuration BETWEEN 1 AND 31536000),
    MaxDuration INTEGER CHECK (MaxDuration BETWEEN 1 AND 31536000),
    OnLost TEXT COLLATE NOCASE NOT NULL DEFAULT 'hold' CHECK (OnLost IN ('hold', 'rerun', 'verify')),
    MaxLost INTEGER NOT NULL DEFAULT 3 CHECK (MaxLost BETWEEN 0 AND 1000),
    RetryCount INTEGER CHECK (RetryCount BETWEEN 0 AND 1000),
    RetryWaitSecs INTEGER CHECK (RetryWaitSecs BETWEEN 0 AND 31536000),
    RetryBackoff INTEGER CHECK (RetryBackoff BETWEEN 1 AND 10),
    RetryOn TEXT CHECK (length(RetryOn) BETWEEN 1 AND 200),
    OnStepFailure TEXT COLLATE NOCASE CHECK (OnStepFailure IN ('stop', 'continue')),
    RowsMin TEXT CHECK (length(RowsMin) BETWEEN 1 AND 20),
    RowsMax TEXT CHECK (length(RowsMax) BETWEEN 1 AND 20),
    OnRows TEXT COLLATE NOCASE CHECK (OnRows IN ('fail', 'warn')),
    Data1 TEXT,
    Data2 TEXT,
    Data3 TEXT,
    Data4 TEXT,
    Data5 TEXT,
    Data6 TEXT,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    UNIQUE (ProcessBatch_id, ProcessControlSeq),
    CHECK (NOT instr(replace(json_array(ProcessName,ProcessType,Pool,Needs,RetryOn,RowsMin,RowsMax,Data1,Data2,Data3,
        Data4,Data5,Data6),'\\',''),'\u0000'))
) STRICT;

-- How many units of a resource an instance of a batch holds while it is claimed.
CREATE TABLE BatchResource (
    BatchResource_id INTEGER PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL REFERENCES ProcessBatch,
    Resource_id INTEGER NOT NULL REFERENCES Resource,
    Units INTEGER NOT NULL DEFAULT 1 CHECK (Units BETWEEN 1 AND 1000000),
    Exclusive INTEGER NOT NULL DEFAULT 0 CHECK (Exclusive IN (0, 1)),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    UNIQUE (ProcessBatch_id, Resource_id)
) STRICT;

-- Which batches have to be complete before a batch is started.
CREATE TABLE BatchDependency (
    BatchDependency_id INTEGER PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL REFERENCES ProcessBatch,
    DependsOnBatch_id INTEGER NOT NULL REFERENCES ProcessBatch CHECK (DependsOnBatch_id <> ProcessBatch_id),
    DeadlineMins INTEGER NOT NULL DEFAULT 1440 CHECK (DeadlineMins BETWEEN 1 AND 525600),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    UNIQUE (ProcessBatch_id, DependsOnBatch_id)
) STRICT;

-- A day on which a calendar differs from its weekdays.
CREATE TABLE CalendarDay (
    CalendarDay_id INTEGER PRIMARY KEY AUTOINCREMENT,
    Calendar_id INTEGER NOT NULL REFERENCES Calendar,
    CalendarDate TEXT NOT NULL CHECK (length(CalendarDate) <= 10) CHECK (CalendarDate LIKE '____-__-__')
        CHECK (trim(CalendarDate) GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]' AND substr(trim(CalendarDate),6,2) BETWEEN '01' AND '12' AND substr(trim(CalendarDate),9,2) BETWEEN '01' AND '31'),
    IsBusinessDay INTEGER NOT NULL DEFAULT 0 CHECK (IsBusinessDay IN (0, 1)),
    Description TEXT CHECK (length(Description) <= 200),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    UNIQUE (Calendar_id, CalendarDate),
    CHECK (NOT instr(replace(json_array(CalendarDate,Description),'\\',''),'\u0000'))
) STRICT;

-- Messages about incidents, one for each channel.
CREATE TABLE AlertDelivery (
    AlertDelivery_id INTEGER PRIMARY KEY AUTOINCREMENT,
    Incident_id INTEGER NOT NULL REFERENCES Incident,
    Channel TEXT NOT NULL CHECK (length(Channel) BETWEEN 1 AND 200),
    Kind TEXT COLLATE NOCASE NOT NULL CHECK (Kind IN ('alert', 'repeat', 'escalation', 'recovery', 'digest')),
    Number INTEGER NOT NULL CHECK (Number >= 0),
    Status TEXT COLLATE NOCASE NOT NULL DEFAULT 'waiting' CHECK (Status IN ('waiting', 'sent', 'failed', 'withdrawn')),
    Title TEXT NOT NULL CHECK (length(Title) <= 200),
    Body TEXT NOT NULL,
    Attempts INTEGER NOT NULL DEFAULT 0 CHECK (Attempts >= 0),
    NextAttemptTime TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (NextAttemptTime GLOB '*[0-9]' AND ifnull(max('0001',date(NextAttemptTime,'+0 days')),'')||' ' IN (NextAttemptTime||' ',rtrim(NextAttemptTime,'0123456789.:'))),
    ClaimedBy TEXT CHECK (length(ClaimedBy) <= 200),
    ClaimedTime TEXT
        CHECK (ClaimedTime GLOB '*[0-9]' AND ifnull(max('0001',date(ClaimedTime,'+0 days')),'')||' ' IN (ClaimedTime||' ',rtrim(ClaimedTime,'0123456789.:'))),
    SentTime TEXT
        CHECK (SentTime GLOB '*[0-9]' AND ifnull(max('0001',date(SentTime,'+0 days')),'')||' ' IN (SentTime||' ',rtrim(SentTime,'0123456789.:'))),
    Message TEXT,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_updated GLOB '*[0-9]' AND ifnull(max('0001',date(z_updated,'+0 days')),'')||' ' IN (z_updated||' ',rtrim(z_updated,'0123456789.:'))),
    UNIQUE (Incident_id, Channel, Kind, Number),
    CHECK (NOT instr(replace(json_array(Channel,Title,Body,ClaimedBy,Message),'\\',''),'\u0000'))
) STRICT;

CREATE INDEX "IX_AlertDelivery_Waiting" ON AlertDelivery (AlertDelivery_id) WHERE Status = 'waiting';

-- The files that a watch has seen, so that none is taken twice.
CREATE TABLE FileWatchSeen (
    FileWatchSeen_id INTEGER PRIMARY KEY AUTOINCREMENT,
    FileWatch_id INTEGER NOT NULL REFERENCES FileWatch,
    PathKey TEXT NOT NULL CHECK (length(PathKey) <= 64),
    FilePath TEXT NOT NULL,
    FileSize INTEGER NOT NULL,
    ModifiedNs INTEGER NOT NULL,
    FileNumber TEXT CHECK (length(FileNumber) <= 50),
    FileProcess_id INTEGER REFERENCES FileProcess,
    MissingSince TEXT
        CHECK (MissingSince GLOB '*[0-9]' AND ifnull(max('0001',date(MissingSince,'+0 days')),'')||' ' IN (MissingSince||' ',rtrim(MissingSince,'0123456789.:'))),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_updated GLOB '*[0-9]' AND ifnull(max('0001',date(z_updated,'+0 days')),'')||' ' IN (z_updated||' ',rtrim(z_updated,'0123456789.:'))),
    UNIQUE (FileWatch_id, PathKey),
    CHECK (NOT instr(replace(json_array(PathKey,FilePath,FileNumber),'\\',''),'\u0000'))
) STRICT;

CREATE INDEX "IX_FileWatchSeen_Intake" ON FileWatchSeen (FileProcess_id);

-- Past due times that a person has asked for.
CREATE TABLE ScheduleBackfill (
    ScheduleBackfill_id INTEGER PRIMARY KEY AUTOINCREMENT,
    Schedule_id INTEGER NOT NULL REFERENCES Schedule,
    Status TEXT COLLATE NOCASE NOT NULL DEFAULT 'running' CHECK (Status IN ('running', 'complete', 'cancelled')),
    FromTime TEXT NOT NULL
        CHECK (FromTime GLOB '*[0-9]' AND ifnull(max('0001',date(FromTime,'+0 days')),'')||' ' IN (FromTime||' ',rtrim(FromTime,'0123456789.:'))),
    UntilTime TEXT NOT NULL CHECK (FromTime <= UntilTime)
        CHECK (UntilTime GLOB '*[0-9]' AND ifnull(max('0001',date(UntilTime,'+0 days')),'')||' ' IN (UntilTime||' ',rtrim(UntilTime,'0123456789.:'))),
    MostOpen INTEGER NOT NULL DEFAULT 1 CHECK (MostOpen BETWEEN 1 AND 1000),
    Missed INTEGER NOT NULL DEFAULT 0 CHECK (Missed IN (0, 1)),
    DoneUntil TEXT
        CHECK (DoneUntil GLOB '*[0-9]' AND ifnull(max('0001',date(DoneUntil,'+0 days')),'')||' ' IN (DoneUntil||' ',rtrim(DoneUntil,'0123456789.:'))),
    Fired INTEGER NOT NULL DEFAULT 0,
    Actor TEXT NOT NULL CHECK (length(Actor) <= 200),
    Reason TEXT,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_updated GLOB '*[0-9]' AND ifnull(max('0001',date(z_updated,'+0 days')),'')||' ' IN (z_updated||' ',rtrim(z_updated,'0123456789.:'))),
    CHECK (NOT instr(replace(json_array(Actor,Reason),'\\',''),'\u0000'))
) STRICT;

CREATE INDEX "IX_ScheduleBackfill_Running" ON ScheduleBackfill (ScheduleBackfill_id) WHERE Status = 'running';

-- An instance: one batch at work on one row of FileProcess, and how far it has come.
CREATE TABLE BatchControl (
    BatchControl_id INTEGER PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL REFERENCES ProcessBatch,
    FileProcess_id INTEGER NOT NULL REFERENCES FileProcess,
    PrevProcessControlSeq INTEGER NOT NULL DEFAULT 0 CHECK (PrevProcessControlSeq BETWEEN 0 AND 2000000000),
    DefVersion INTEGER,
    Status TEXT COLLATE NOCASE NOT NULL DEFAULT 'ready'
        CHECK (Status = 'ready' OR Status = 'running' OR Status = 'retry' OR Status = 'failed' OR Status = 'held' OR Status = 'pausing' OR Status = 'paused' OR Status = 'cancelling' OR Status = 'cancelled' OR Status = 'complete' OR Status = 'success'),
    RetryCount INTEGER NOT NULL DEFAULT 0 CHECK (RetryCount >= 0),
    NextRunTime TEXT NOT NULL DEFAULT '1900-01-01 00:00:00.000'
        CHECK (NextRunTime BETWEEN '0001' AND ':' AND NextRunTime IS strftime('%Y-%m-%d %H:%M:%f',NextRunTime,'+0 days') OR NextRunTime GLOB '*[0-9]' AND ifnull(max('0001',date(NextRunTime,'+0 days')),'')||' ' IN (NextRunTime||' ',rtrim(NextRunTime,'0123456789.:'))),
    CycleKey TEXT CHECK (length(CycleKey) <= 200) CHECK (NOT instr(CycleKey,char(0))),
    Data1 TEXT CHECK (NOT instr(Data1,char(0))),
    Data2 TEXT CHECK (NOT instr(Data2,char(0))),
    Data3 TEXT CHECK (NOT instr(Data3,char(0))),
    Data4 TEXT CHECK (NOT instr(Data4,char(0))),
    Data5 TEXT CHECK (NOT instr(Data5,char(0))),
    Data6 TEXT CHECK (NOT instr(Data6,char(0))),
    ClaimToken INTEGER NOT NULL DEFAULT 0,
    ClaimedBy TEXT CHECK (length(ClaimedBy) <= 200) CHECK (NOT instr(ClaimedBy,char(0))),
    NextPool TEXT CHECK (length(NextPool) <= 50) CHECK (NOT instr(NextPool,char(0))),
    BegunTime TEXT
        CHECK (BegunTime IS NULL OR BegunTime BETWEEN '0001' AND ':' AND BegunTime IS strftime('%Y-%m-%d %H:%M:%f',BegunTime,'+0 days') OR BegunTime GLOB '*[0-9]' AND ifnull(max('0001',date(BegunTime,'+0 days')),'')||' ' IN (BegunTime||' ',rtrim(BegunTime,'0123456789.:'))),
    LostCount INTEGER NOT NULL DEFAULT 0 CHECK (LostCount >= 0),
    StepsFailed INTEGER CHECK (StepsFailed >= 0),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted BETWEEN '0001' AND ':' AND z_inserted IS strftime('%Y-%m-%d %H:%M:%f',z_inserted,'+0 days') OR z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_updated IS z_inserted OR z_updated BETWEEN '0001' AND ':' AND z_updated IS strftime('%Y-%m-%d %H:%M:%f',z_updated,'+0 days') OR z_updated GLOB '*[0-9]' AND ifnull(max('0001',date(z_updated,'+0 days')),'')||' ' IN (z_updated||' ',rtrim(z_updated,'0123456789.:'))),
    UNIQUE (FileProcess_id, ProcessBatch_id)
) STRICT;

CREATE INDEX "IX_BatchControl_InLine" ON BatchControl (ProcessBatch_id, BatchControl_id) WHERE (Status = 'ready' OR Status = 'retry' OR Status = 'failed' OR Status = 'held');

CREATE INDEX "IX_BatchControl_Paused" ON BatchControl (ProcessBatch_id, BatchControl_id) WHERE (Status = 'paused');

CREATE INDEX "IX_BatchControl_Standing" ON BatchControl (BatchControl_id) WHERE (Status = 'retry' OR Status = 'failed' OR Status = 'held');

CREATE INDEX "IX_BatchControl_Unreadable" ON BatchControl (BatchControl_id) WHERE ((Status = 'ready' OR Status = 'running' OR Status = 'retry' OR Status = 'failed' OR Status = 'held' OR Status = 'pausing' OR Status = 'paused' OR Status = 'cancelling' OR Status = 'cancelled' OR Status = 'complete' OR Status = 'success') AND (PrevProcessControlSeq BETWEEN 0 AND 2000000000) AND (NextRunTime BETWEEN '0001' AND ':' AND NextRunTime IS strftime('%Y-%m-%d %H:%M:%f',NextRunTime,'+0 days') OR NextRunTime GLOB '*[0-9]' AND ifnull(max('0001',date(NextRunTime,'+0 days')),'')||' ' IN (NextRunTime||' ',rtrim(NextRunTime,'0123456789.:')))) IS NOT TRUE;

CREATE INDEX "IX_BatchControl_Deferred" ON BatchControl (ProcessBatch_id, NextRunTime) WHERE (Status = 'ready' OR Status = 'retry') AND NextRunTime > '1900-01-01 00:00:00.000';

CREATE INDEX "IX_BatchControl_Cycle" ON BatchControl (ProcessBatch_id, CycleKey, BatchControl_id);

CREATE INDEX "IX_BatchControl_Claimed" ON BatchControl (ProcessBatch_id) WHERE (Status = 'running' OR Status = 'pausing' OR Status = 'cancelling');

CREATE INDEX "IX_BatchControl_Due" ON BatchControl (NextRunTime) WHERE (Status = 'ready' OR Status = 'retry') AND NextRunTime > '1900-01-01 00:00:00.000';

CREATE INDEX "IX_BatchControl_Begun" ON BatchControl (ProcessBatch_id, BegunTime) WHERE BegunTime IS NOT NULL;

CREATE INDEX "IX_BatchControl_Over" ON BatchControl (ProcessBatch_id, Status, BatchControl_id) WHERE (Status = 'complete' OR Status = 'cancelled');

CREATE INDEX "IX_BatchControl_AtOnce" ON BatchControl (ProcessBatch_id, BatchControl_id) WHERE (Status = 'ready' OR Status = 'retry') AND NextRunTime <= '1900-01-01 00:00:00.000';

-- How long attempts took that have been purged.
CREATE TABLE DurationHistory (
    DurationHistory_id INTEGER PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL REFERENCES ProcessBatch,
    ProcessControlSeq INTEGER NOT NULL,
    Day TEXT NOT NULL CHECK (length(Day) <= 10) CHECK (NOT instr(Day,char(0))),
    UpToMs INTEGER NOT NULL,
    Runs INTEGER NOT NULL CHECK (Runs >= 1),
    TotalMs INTEGER NOT NULL,
    MinMs INTEGER NOT NULL CHECK (MinMs BETWEEN 0 AND MaxMs),
    MaxMs INTEGER NOT NULL,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_updated GLOB '*[0-9]' AND ifnull(max('0001',date(z_updated,'+0 days')),'')||' ' IN (z_updated||' ',rtrim(z_updated,'0123456789.:'))),
    UNIQUE (ProcessBatch_id, ProcessControlSeq, Day, UpToMs)
) STRICT;

-- When batches will probably be ready, as it was said last, and at fixed hours with what came of it.
CREATE TABLE KeptForecast (
    KeptForecast_id INTEGER PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL REFERENCES ProcessBatch,
    CycleKey TEXT CHECK (length(CycleKey) <= 200),
    MadeOn TEXT NOT NULL
        CHECK (MadeOn GLOB '*[0-9]' AND ifnull(max('0001',date(MadeOn,'+0 days')),'')||' ' IN (MadeOn||' ',rtrim(MadeOn,'0123456789.:'))),
    KeptFor TEXT
        CHECK (KeptFor GLOB '*[0-9]' AND ifnull(max('0001',date(KeptFor,'+0 days')),'')||' ' IN (KeptFor||' ',rtrim(KeptFor,'0123456789.:'))),
    P50 TEXT CHECK (P50 GLOB '*[0-9]' AND ifnull(max('0001',date(P50,'+0 days')),'')||' ' IN (P50||' ',rtrim(P50,'0123456789.:'))),
    P90 TEXT CHECK (P90 GLOB '*[0-9]' AND ifnull(max('0001',date(P90,'+0 days')),'')||' ' IN (P90||' ',rtrim(P90,'0123456789.:'))),
    FinishBy TEXT
        CHECK (FinishBy GLOB '*[0-9]' AND ifnull(max('0001',date(FinishBy,'+0 days')),'')||' ' IN (FinishBy||' ',rtrim(FinishBy,'0123456789.:'))),
    Chance INTEGER CHECK (Chance BETWEEN 0 AND 100),
    NeedsPerson INTEGER NOT NULL CHECK (NeedsPerson BETWEEN 0 AND 100),
    Nights INTEGER NOT NULL CHECK (Nights >= 0),
    Decides TEXT,
    Helps TEXT,
    ReadyOn TEXT
        CHECK (ReadyOn GLOB '*[0-9]' AND ifnull(max('0001',date(ReadyOn,'+0 days')),'')||' ' IN (ReadyOn||' ',rtrim(ReadyOn,'0123456789.:'))),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_updated GLOB '*[0-9]' AND ifnull(max('0001',date(z_updated,'+0 days')),'')||' ' IN (z_updated||' ',rtrim(z_updated,'0123456789.:'))),
    CHECK (NOT instr(replace(json_array(CycleKey,Decides,Helps),'\\',''),'\u0000'))
) STRICT;

CREATE UNIQUE INDEX "UX_KeptForecast_Newest" ON KeptForecast (ProcessBatch_id) WHERE KeptFor IS NULL;

CREATE UNIQUE INDEX "UX_KeptForecast_Kept" ON KeptForecast (ProcessBatch_id, KeptFor) WHERE KeptFor IS NOT NULL;

CREATE INDEX "IX_KeptForecast_Awaited" ON KeptForecast (KeptForecast_id) WHERE ReadyOn IS NULL AND KeptFor IS NOT NULL;

-- Which pools a controller serves; one without rows serves the default pool.
CREATE TABLE ControllerPool (
    ControllerPool_id INTEGER PRIMARY KEY AUTOINCREMENT,
    Controller_id INTEGER NOT NULL REFERENCES Controller,
    PoolName TEXT NOT NULL CHECK (length(PoolName) BETWEEN 1 AND 50),
    Agents TEXT,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    UNIQUE (Controller_id, PoolName),
    CHECK (NOT instr(replace(json_array(PoolName,Agents),'\\',''),'\u0000'))
) STRICT;

-- A question that a step asks people, and how it was answered.
CREATE TABLE Confirmation (
    Confirmation_id INTEGER PRIMARY KEY AUTOINCREMENT,
    BatchControl_id INTEGER NOT NULL REFERENCES BatchControl,
    ProcessControlSeq INTEGER NOT NULL,
    Question TEXT NOT NULL,
    Who TEXT CHECK (length(Who) <= 200),
    Evidence TEXT,
    DueTime TEXT
        CHECK (DueTime GLOB '*[0-9]' AND ifnull(max('0001',date(DueTime,'+0 days')),'')||' ' IN (DueTime||' ',rtrim(DueTime,'0123456789.:'))),
    OnTimeout TEXT COLLATE NOCASE CHECK (OnTimeout IN ('fail', 'go_on', 'incident')),
    Answer TEXT COLLATE NOCASE CHECK (Answer IN ('confirmed', 'refused', 'expired', 'withdrawn')),
    AnsweredTime TEXT
        CHECK (AnsweredTime GLOB '*[0-9]' AND ifnull(max('0001',date(AnsweredTime,'+0 days')),'')||' ' IN (AnsweredTime||' ',rtrim(AnsweredTime,'0123456789.:'))),
    AnsweredBy TEXT CHECK (length(AnsweredBy) <= 200),
    Reason TEXT,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_updated GLOB '*[0-9]' AND ifnull(max('0001',date(z_updated,'+0 days')),'')||' ' IN (z_updated||' ',rtrim(z_updated,'0123456789.:'))),
    CHECK (NOT instr(replace(json_array(Question,Who,Evidence,AnsweredBy,Reason),'\\',''),'\u0000'))
) STRICT;

CREATE UNIQUE INDEX "UX_Confirmation_Open" ON Confirmation (BatchControl_id) WHERE Answer IS NULL;

CREATE INDEX "IX_Confirmation_Instance" ON Confirmation (BatchControl_id);

-- What people write about an instance, an incident or a batch.
CREATE TABLE Note (
    Note_id INTEGER PRIMARY KEY AUTOINCREMENT,
    BatchControl_id INTEGER REFERENCES BatchControl
        CHECK (CASE WHEN BatchControl_id IS NULL THEN 0 ELSE 1 END + CASE WHEN Incident_id IS NULL THEN 0 ELSE 1 END + CASE WHEN ProcessBatch_id IS NULL THEN 0 ELSE 1 END = 1),
    Incident_id INTEGER REFERENCES Incident,
    ProcessBatch_id INTEGER REFERENCES ProcessBatch,
    Text TEXT NOT NULL CHECK (Text <> ''),
    Actor TEXT NOT NULL DEFAULT 'sql' CHECK (length(Actor) BETWEEN 1 AND 200),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    CHECK (NOT instr(replace(json_array(Text,Actor),'\\',''),'\u0000'))
) STRICT;

CREATE INDEX "IX_Note_Instance" ON Note (BatchControl_id);

CREATE INDEX "IX_Note_Batch" ON Note (ProcessBatch_id);

CREATE INDEX "IX_Note_Incident" ON Note (Incident_id);

-- Who may come into the console, as what, and how it is known that it is that person.
CREATE TABLE WebUser (
    WebUser_id INTEGER PRIMARY KEY AUTOINCREMENT,
    UserName TEXT NOT NULL UNIQUE CHECK (length(UserName) BETWEEN 1 AND 200),
    Role TEXT COLLATE NOCASE NOT NULL CHECK (Role IN ('reader', 'intake', 'operator', 'author', 'admin')),
    Tag TEXT CHECK (length(Tag) <= 200),
    PasswordHash TEXT CHECK (length(PasswordHash) <= 200),
    CodeHash TEXT CHECK (length(CodeHash) <= 200),
    CodeUntil TEXT
        CHECK (CodeUntil GLOB '*[0-9]' AND ifnull(max('0001',date(CodeUntil,'+0 days')),'')||' ' IN (CodeUntil||' ',rtrim(CodeUntil,'0123456789.:'))),
    Enabled INTEGER NOT NULL DEFAULT 1 CHECK (Enabled IN (0, 1)),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_updated GLOB '*[0-9]' AND ifnull(max('0001',date(z_updated,'+0 days')),'')||' ' IN (z_updated||' ',rtrim(z_updated,'0123456789.:'))),
    CHECK (NOT instr(replace(json_array(UserName,Tag,PasswordHash,CodeHash),'\\',''),'\u0000'))
) STRICT;

-- A browser that the console has let in.
CREATE TABLE WebSession (
    WebSession_id INTEGER PRIMARY KEY AUTOINCREMENT,
    WebUser_id INTEGER NOT NULL,
    TokenHash TEXT NOT NULL UNIQUE CHECK (length(TokenHash) <= 200),
    Address TEXT CHECK (length(Address) <= 200),
    ByIssuer INTEGER NOT NULL DEFAULT 0 CHECK (ByIssuer IN (0, 1)),
    LastUsed TEXT NOT NULL
        CHECK (LastUsed GLOB '*[0-9]' AND ifnull(max('0001',date(LastUsed,'+0 days')),'')||' ' IN (LastUsed||' ',rtrim(LastUsed,'0123456789.:'))),
    ExpiresTime TEXT NOT NULL
        CHECK (ExpiresTime GLOB '*[0-9]' AND ifnull(max('0001',date(ExpiresTime,'+0 days')),'')||' ' IN (ExpiresTime||' ',rtrim(ExpiresTime,'0123456789.:'))),
    EndedTime TEXT
        CHECK (EndedTime GLOB '*[0-9]' AND ifnull(max('0001',date(EndedTime,'+0 days')),'')||' ' IN (EndedTime||' ',rtrim(EndedTime,'0123456789.:'))),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    CHECK (NOT instr(replace(json_array(TokenHash,Address),'\\',''),'\u0000'))
) STRICT;

CREATE INDEX "IX_WebSession_User" ON WebSession (WebUser_id);

-- What a program shows that asks the console.
CREATE TABLE ApiToken (
    ApiToken_id INTEGER PRIMARY KEY AUTOINCREMENT,
    TokenName TEXT NOT NULL UNIQUE CHECK (length(TokenName) BETWEEN 1 AND 200),
    TokenHash TEXT NOT NULL UNIQUE CHECK (length(TokenHash) <= 200),
    Role TEXT COLLATE NOCASE NOT NULL CHECK (Role IN ('reader', 'intake', 'operator', 'author', 'admin', 'agent', 'controller')),
    Tag TEXT CHECK (length(Tag) <= 200),
    Pools TEXT CHECK (length(Pools) <= 200),
    ExpiresTime TEXT
        CHECK (ExpiresTime GLOB '*[0-9]' AND ifnull(max('0001',date(ExpiresTime,'+0 days')),'')||' ' IN (ExpiresTime||' ',rtrim(ExpiresTime,'0123456789.:'))),
    LastUsed TEXT
        CHECK (LastUsed GLOB '*[0-9]' AND ifnull(max('0001',date(LastUsed,'+0 days')),'')||' ' IN (LastUsed||' ',rtrim(LastUsed,'0123456789.:'))),
    RevokedTime TEXT
        CHECK (RevokedTime GLOB '*[0-9]' AND ifnull(max('0001',date(RevokedTime,'+0 days')),'')||' ' IN (RevokedTime||' ',rtrim(RevokedTime,'0123456789.:'))),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    CHECK (NOT instr(replace(json_array(TokenName,TokenHash,Tag,Pools),'\\',''),'\u0000'))
) STRICT;

-- Until when no password of a user, or from an address, is looked at, as the last ones were wrong.
CREATE TABLE LoginBackOff (
    LoginBackOff_id INTEGER PRIMARY KEY AUTOINCREMENT,
    Subject TEXT NOT NULL UNIQUE CHECK (length(Subject) <= 200) CHECK (NOT instr(Subject,char(0))),
    Failures INTEGER NOT NULL,
    ShutUntil TEXT NOT NULL
        CHECK (ShutUntil GLOB '*[0-9]' AND ifnull(max('0001',date(ShutUntil,'+0 days')),'')||' ' IN (ShutUntil||' ',rtrim(ShutUntil,'0123456789.:')))
) STRICT;

-- What was asked of the console under a key, so that asking again acts once.
CREATE TABLE WebRequest (
    WebRequest_id INTEGER PRIMARY KEY AUTOINCREMENT,
    Actor TEXT NOT NULL CHECK (length(Actor) <= 200),
    RequestKey TEXT NOT NULL CHECK (length(RequestKey) <= 200),
    BodyHash TEXT NOT NULL CHECK (length(BodyHash) <= 200),
    HttpStatus INTEGER,
    Answer TEXT,
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    UNIQUE (Actor, RequestKey),
    CHECK (NOT instr(replace(json_array(Actor,RequestKey,BodyHash,Answer),'\\',''),'\u0000'))
) STRICT;

-- What was decided about each due time of a schedule.
CREATE TABLE ScheduleFire (
    ScheduleFire_id INTEGER PRIMARY KEY AUTOINCREMENT,
    Schedule_id INTEGER NOT NULL REFERENCES Schedule,
    FireKey TEXT NOT NULL CHECK (length(FireKey) BETWEEN 1 AND 100),
    Outcome TEXT COLLATE NOCASE NOT NULL CHECK (Outcome IN ('fired', 'skipped', 'purged')),
    DueTime TEXT NOT NULL
        CHECK (DueTime GLOB '*[0-9]' AND ifnull(max('0001',date(DueTime,'+0 days')),'')||' ' IN (DueTime||' ',rtrim(DueTime,'0123456789.:'))),
    DueUntil TEXT
        CHECK (DueUntil GLOB '*[0-9]' AND ifnull(max('0001',date(DueUntil,'+0 days')),'')||' ' IN (DueUntil||' ',rtrim(DueUntil,'0123456789.:'))),
    Instants INTEGER NOT NULL DEFAULT 1 CHECK (Instants >= 1),
    Reason TEXT,
    FileProcess_id INTEGER REFERENCES FileProcess CHECK ((FileProcess_id IS NOT NULL) = (Outcome = 'fired')),
    ScheduleBackfill_id INTEGER REFERENCES ScheduleBackfill,
    ZoneRules TEXT CHECK (length(ZoneRules) <= 50),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    UNIQUE (Schedule_id, FireKey),
    CHECK (NOT instr(replace(json_array(FireKey,Reason,ZoneRules),'\\',''),'\u0000'))
) STRICT;

CREATE INDEX "IX_ScheduleFire_FileProcess" ON ScheduleFire (FileProcess_id);

CREATE INDEX "IX_ScheduleFire_Due" ON ScheduleFire (Schedule_id, DueTime);

-- Each attempt at a step, with the command that can be pasted and run by hand.
CREATE TABLE BatchProcessHistory (
    BatchProcessHistory_id INTEGER PRIMARY KEY AUTOINCREMENT,
    BatchControl_id INTEGER NOT NULL REFERENCES BatchControl,
    ProcessBatch_id INTEGER NOT NULL REFERENCES ProcessBatch,
    ProcessControlSeq INTEGER NOT NULL,
    ProcessName TEXT NOT NULL CHECK (length(ProcessName) <= 200) CHECK (NOT instr(ProcessName,char(0))),
    ProcessType TEXT NOT NULL CHECK (length(ProcessType) <= 50) CHECK (NOT instr(ProcessType,char(0))),
    DefVersion INTEGER,
    AttemptNo INTEGER NOT NULL DEFAULT 1,
    ClaimToken INTEGER NOT NULL DEFAULT 0,
    ClaimedBy TEXT CHECK (length(ClaimedBy) <= 200) CHECK (NOT instr(ClaimedBy,char(0))),
    Cause TEXT COLLATE NOCASE NOT NULL DEFAULT 'auto' CHECK (Cause = 'auto' OR Cause = 'retry' OR Cause = 'manual' OR Cause = 'verify'),
    Status TEXT COLLATE NOCASE NOT NULL DEFAULT 'running'
        CHECK (Status = 'running' OR Status = 'success' OR Status = 'failed' OR Status = 'timeout' OR Status = 'cancelled' OR Status = 'lost' OR Status = 'fenced' OR Status = 'skipped' OR Status = 'asked'),
    CommandText TEXT NOT NULL CHECK (NOT instr(CommandText,char(0))),
    CommandSpec TEXT NOT NULL DEFAULT '{}' CHECK (NOT instr(CommandSpec,char(0))),
    StartTime TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (StartTime BETWEEN '0001' AND ':' AND StartTime IS strftime('%Y-%m-%d %H:%M:%f',StartTime,'+0 days') OR StartTime GLOB '*[0-9]' AND ifnull(max('0001',date(StartTime,'+0 days')),'')||' ' IN (StartTime||' ',rtrim(StartTime,'0123456789.:'))),
    EndTime TEXT CHECK ((Status = 'running' OR Status = 'asked') = (EndTime IS NULL))
        CHECK (EndTime IS NULL OR EndTime BETWEEN '0001' AND ':' AND EndTime IS strftime('%Y-%m-%d %H:%M:%f',EndTime,'+0 days') OR EndTime GLOB '*[0-9]' AND ifnull(max('0001',date(EndTime,'+0 days')),'')||' ' IN (EndTime||' ',rtrim(EndTime,'0123456789.:'))),
    ReturnCode INTEGER,
    ErrorCode TEXT CHECK (length(ErrorCode) <= 50) CHECK (NOT instr(ErrorCode,char(0))),
    ErrorLine INTEGER,
    Message TEXT CHECK (NOT instr(Message,char(0))),
    Output TEXT CHECK (NOT instr(Output,char(0))),
    RowsAffected INTEGER,
    Host TEXT CHECK (length(Host) <= 200) CHECK (NOT instr(Host,char(0))),
    Pid INTEGER,
    PidStart TEXT CHECK (length(PidStart) <= 50) CHECK (NOT instr(PidStart,char(0))),
    BootId TEXT CHECK (length(BootId) <= 50) CHECK (NOT instr(BootId,char(0))),
    DbSession TEXT CHECK (length(DbSession) <= 200) CHECK (NOT instr(DbSession,char(0))),
    Spawned TEXT
        CHECK (Spawned IS NULL OR Spawned BETWEEN '0001' AND ':' AND Spawned IS strftime('%Y-%m-%d %H:%M:%f',Spawned,'+0 days') OR Spawned GLOB '*[0-9]' AND ifnull(max('0001',date(Spawned,'+0 days')),'')||' ' IN (Spawned||' ',rtrim(Spawned,'0123456789.:'))),
    RetryCountAfter INTEGER,
    NextRunTimeAfter TEXT
        CHECK (NextRunTimeAfter IS NULL OR NextRunTimeAfter BETWEEN '0001' AND ':' AND NextRunTimeAfter IS strftime('%Y-%m-%d %H:%M:%f',NextRunTimeAfter,'+0 days') OR NextRunTimeAfter GLOB '*[0-9]' AND ifnull(max('0001',date(NextRunTimeAfter,'+0 days')),'')||' ' IN (NextRunTimeAfter||' ',rtrim(NextRunTimeAfter,'0123456789.:'))),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted BETWEEN '0001' AND ':' AND z_inserted IS strftime('%Y-%m-%d %H:%M:%f',z_inserted,'+0 days') OR z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_updated IS z_inserted OR z_updated BETWEEN '0001' AND ':' AND z_updated IS strftime('%Y-%m-%d %H:%M:%f',z_updated,'+0 days') OR z_updated GLOB '*[0-9]' AND ifnull(max('0001',date(z_updated,'+0 days')),'')||' ' IN (z_updated||' ',rtrim(z_updated,'0123456789.:'))),
    UNIQUE (BatchControl_id, ProcessControlSeq, AttemptNo)
) STRICT;

CREATE INDEX "IX_BatchProcessHistory_Unreadable" ON BatchProcessHistory (BatchProcessHistory_id) WHERE ((Status = 'running' OR Status = 'success' OR Status = 'failed' OR Status = 'timeout' OR Status = 'cancelled' OR Status = 'lost' OR Status = 'fenced' OR Status = 'skipped' OR Status = 'asked') AND (Cause = 'auto' OR Cause = 'retry' OR Cause = 'manual' OR Cause = 'verify')) IS NOT TRUE;

CREATE UNIQUE INDEX "UX_BatchProcessHistory_Live" ON BatchProcessHistory (BatchControl_id) WHERE Status = 'running';

-- Completed instances that batches which depend on them still have to hear of.
CREATE TABLE BatchCompletion (
    BatchCompletion_id INTEGER PRIMARY KEY AUTOINCREMENT,
    ProcessBatch_id INTEGER NOT NULL REFERENCES ProcessBatch,
    DependsOnBatch_id INTEGER NOT NULL REFERENCES ProcessBatch,
    BatchControl_id INTEGER NOT NULL REFERENCES BatchControl,
    CycleKey TEXT CHECK (length(CycleKey) <= 200) CHECK (NOT instr(CycleKey,char(0))),
    FileProcess_id INTEGER REFERENCES FileProcess,
    Overdue TEXT
        CHECK (Overdue GLOB '*[0-9]' AND ifnull(max('0001',date(Overdue,'+0 days')),'')||' ' IN (Overdue||' ',rtrim(Overdue,'0123456789.:'))),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    z_updated TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_updated GLOB '*[0-9]' AND ifnull(max('0001',date(z_updated,'+0 days')),'')||' ' IN (z_updated||' ',rtrim(z_updated,'0123456789.:'))),
    UNIQUE (ProcessBatch_id, BatchControl_id)
) STRICT;

CREATE INDEX "IX_BatchCompletion_Instance" ON BatchCompletion (BatchControl_id);

CREATE INDEX "IX_BatchCompletion_Started" ON BatchCompletion (FileProcess_id);

-- What a running step has written so far; gone once the output of its attempt is recorded.
CREATE TABLE StepOutput (
    StepOutput_id INTEGER PRIMARY KEY AUTOINCREMENT,
    BatchProcessHistory_id INTEGER NOT NULL REFERENCES BatchProcessHistory,
    Number INTEGER NOT NULL CHECK (Number >= 1),
    Text TEXT NOT NULL CHECK (NOT instr(Text,char(0))),
    z_inserted TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now'))
        CHECK (z_inserted BETWEEN '0001' AND ':' AND z_inserted IS strftime('%Y-%m-%d %H:%M:%f',z_inserted,'+0 days') OR z_inserted GLOB '*[0-9]' AND ifnull(max('0001',date(z_inserted,'+0 days')),'')||' ' IN (z_inserted||' ',rtrim(z_inserted,'0123456789.:'))),
    UNIQUE (BatchProcessHistory_id, Number)
) STRICT;

CREATE INDEX "IX_BatchCompletion_Waiting" ON BatchCompletion (ProcessBatch_id, CycleKey, DependsOnBatch_id, BatchCompletion_id) WHERE FileProcess_id IS NULL;

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

INSERT INTO alembic_version (version_num) VALUES ('0051') RETURNING version_num;

CREATE VIEW vUnreadable AS
SELECT TableName, Row_id, substr(Given, 1, instr(Given, ' ') - 1) AS ColumnName, ProcessBatch_id, Place,
    TableName || ' ' || Row_id || Named || ' cannot be read: ' || substr(Given, 1, instr(Given, ' ') - 1) || ' holds ' || CASE WHEN Given LIKE 'NextRunTime%' THEN 'no time' ELSE 'nonsense' END AS Reason,
    'UPDATE ' || TableName || ' SET ' || Given || ' WHERE ' || TableName || '_id = ' || Row_id || ';' AS NextSql
FROM (
SELECT 'ProcessBatch' AS TableName, ProcessBatch_id AS Row_id, ProcessBatch_id, 0 AS Place, ' (' || ProcessBatchName || ')' AS Named,
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
    CASE WHEN NOT (Status = 'ready' OR Status = 'running' OR Status = 'retry' OR Status = 'failed' OR Status = 'held' OR Status = 'pausing' OR Status = 'paused' OR Status = 'cancelling' OR Status = 'cancelled' OR Status = 'complete' OR Status = 'success') THEN 'Status = ''held'''
    WHEN NOT (PrevProcessControlSeq BETWEEN 0 AND 2000000000) THEN 'PrevProcessControlSeq = ...' ELSE 'NextRunTime = ''1900-01-01 00:00:00.000''' END
FROM BatchControl WHERE ((Status = 'ready' OR Status = 'running' OR Status = 'retry' OR Status = 'failed' OR Status = 'held' OR Status = 'pausing' OR Status = 'paused' OR Status = 'cancelling' OR Status = 'cancelled' OR Status = 'complete' OR Status = 'success') AND (PrevProcessControlSeq BETWEEN 0 AND 2000000000) AND (NextRunTime BETWEEN '0001' AND ':' AND NextRunTime IS strftime('%Y-%m-%d %H:%M:%f',NextRunTime,'+0 days') OR NextRunTime GLOB '*[0-9]' AND ifnull(max('0001',date(NextRunTime,'+0 days')),'')||' ' IN (NextRunTime||' ',rtrim(NextRunTime,'0123456789.:')))) IS NOT TRUE
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
SELECT z.ProcessBatch_id, z.ProcessBatchName, z.BatchFreeze_id, z.Scope, z.UntilTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', z.UntilTime, Shift) FROM batchctl_shifts WHERE datetime(z.UntilTime, '+1 second') BETWEEN FromTime AND UntilTime) AS UntilTimeLocal,
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

CREATE VIEW vPools AS
WITH Serves AS (
SELECT k.Host, k.Status, k.Heartbeat, COALESCE(p.PoolName, 'default') AS PoolName,
    (SELECT MIN(d.Drain_id) FROM Drain d WHERE d.UndrainedTime IS NULL AND lower(d.Host) = lower(k.Host)) AS Drain_id
FROM Controller k LEFT JOIN ControllerPool p ON p.Controller_id = k.Controller_id
), Named AS (
SELECT 'default' AS PoolName
UNION SELECT PoolName FROM Pool
UNION SELECT PoolName FROM ControllerPool
UNION SELECT COALESCE(NULLIF(trim(lower(g.Pool), (SELECT Blanks FROM batchctl_blanks)), ''), NULLIF(trim(lower(b.Pool), (SELECT Blanks FROM batchctl_blanks)), ''), 'default') FROM ProcessControl g
JOIN ProcessBatch b ON b.ProcessBatch_id = g.ProcessBatch_id
), Standing AS (
SELECT n.PoolName,
    (SELECT COUNT(*) FROM Controller k WHERE k.Status = 'running') AS Running,
    (SELECT COUNT(*) FROM Serves v WHERE v.PoolName = n.PoolName AND v.Status = 'running' AND v.Drain_id IS NULL) AS Serving,
    (SELECT MIN(v.Drain_id) FROM Serves v WHERE v.PoolName = n.PoolName AND v.Status = 'running') AS HostDrain_id,
    (SELECT COUNT(*) FROM BatchControl c WHERE (c.Status = 'running' OR c.Status = 'pausing' OR c.Status = 'cancelling')
    AND COALESCE(c.NextPool, 'default') = n.PoolName) AS Claimed,
    (SELECT MAX(v.Heartbeat) FROM Serves v WHERE v.PoolName = n.PoolName) AS LastServed,
    (SELECT MAX(v.Host) FROM Serves v WHERE v.PoolName = n.PoolName
    AND v.Heartbeat = (SELECT MAX(o.Heartbeat) FROM Serves o WHERE o.PoolName = n.PoolName)) AS LastHost,
    (SELECT MIN(d.Drain_id) FROM Drain d WHERE d.UndrainedTime IS NULL AND lower(d.PoolName) = n.PoolName) AS Drain_id
FROM Named n
)
SELECT t.PoolName, p.MaxConcurrent, COALESCE(p.Enabled, 1) AS Enabled, t.Claimed, t.Serving, t.LastHost,
    t.LastServed, (SELECT strftime('%Y-%m-%d %H:%M:%f', t.LastServed, Shift) FROM batchctl_shifts WHERE datetime(t.LastServed, '+1 second') BETWEEN FromTime AND UntilTime) AS LastServedLocal,
    CASE WHEN d.Drain_id IS NOT NULL THEN 'pool ' || t.PoolName || ' is drained by ' || d.Actor || ': ' || d.Reason
    WHEN p.Enabled <> 1 THEN 'pool ' || t.PoolName || ' is disabled'
    WHEN t.Serving = 0 AND h.Drain_id IS NOT NULL THEN 'pool ' || t.PoolName || ' is served only by drained hosts: ' || h.Host || ' by ' || h.Actor || ': ' || h.Reason
    WHEN t.Serving = 0 AND (t.PoolName <> 'default' OR t.Running > 0) THEN 'no controller serves pool ' || t.PoolName || CASE WHEN t.LastHost IS NULL THEN ' (and none ever did)' ELSE ' (the last was on ' || t.LastHost || ', ' || strftime('%Y-%m-%d %H:%M:%S', t.LastServed) || ' UTC)' END
    WHEN t.Claimed >= p.MaxConcurrent THEN t.Claimed || ' instances have a step of pool ' || t.PoolName || ' under way, its MaxConcurrent' END AS Reason,
    CASE WHEN d.Drain_id IS NOT NULL THEN 'INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''undrain'', ' || quote('{"pool": "' || t.PoolName || '"}') || ', ...);'
    WHEN p.Enabled <> 1 THEN 'UPDATE Pool SET Enabled = 1 WHERE PoolName = ' || quote(t.PoolName) || ';'
    WHEN t.Serving = 0 AND h.Drain_id IS NOT NULL THEN 'INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''undrain'', ' || quote('{"host": "' || h.Host || '"}') || ', ...);'
    WHEN t.Serving = 0 AND (t.PoolName <> 'default' OR t.Running > 0) THEN 'SELECT * FROM Controller;'
    ELSE 'SELECT * FROM vRunning;' END AS NextSql,
    p.Description
FROM Standing t
LEFT JOIN Pool p ON p.PoolName = t.PoolName
LEFT JOIN Drain d ON d.Drain_id = t.Drain_id
LEFT JOIN Drain h ON h.Drain_id = t.HostDrain_id;

CREATE VIEW vStatus AS
WITH Unfit AS (SELECT * FROM batchctl_unfit), Missing AS (SELECT ProcessBatch_id, ProcessControlSeq, Reason, NextSql FROM vNotInstalled), Counted AS (
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
    c.BatchControl_id AS LastComplete_id, c.z_updated AS LastCompleteTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', c.z_updated, Shift) FROM batchctl_shifts WHERE datetime(c.z_updated, '+1 second') BETWEEN FromTime AND UntilTime) AS LastCompleteTimeLocal,
    b.Seq, b.Description,
    CASE WHEN x.ProcessBatch_id IS NOT NULL THEN x.NextSql WHEN b.Enabled <> 1 THEN 'INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES (''enable'', ' || quote(b.ProcessBatchName) || ', ''...'');'
    WHEN z.BatchFreeze_id IS NOT NULL THEN z.NextSql WHEN y.ProcessBatch_id IS NOT NULL THEN y.NextSql
    WHEN t.Incident_id IS NOT NULL AND n.ProcessBatch_id IS NULL AND a.ProcessBatch_id IS NULL
    THEN 'SELECT * FROM Incident WHERE Incident_id = ' || t.Incident_id || ';'
    ELSE 'SELECT * FROM ' || CASE WHEN n.Failed + n.Held > 0 THEN 'vFailed' WHEN n.Running > 0 THEN 'vRunning' WHEN n.Retry + n.Ready + n.Paused > 0 OR a.ProcessBatch_id IS NOT NULL THEN 'vWaiting' ELSE 'vHistory' END || ' WHERE ProcessBatchName = ' || quote(b.ProcessBatchName) || ';' END AS NextSql, c.StepsFailed AS LastStepsFailed,
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
    WHERE d.ProcessBatch_id = b.ProcessBatch_id AND d.Status = 'complete' AND (d.Status = 'complete' OR d.Status = 'cancelled'))
LEFT JOIN Incident t ON t.Incident_id = (SELECT MIN(i.Incident_id) FROM Incident i
    WHERE i.ResolvedTime IS NULL AND i.Kind = 'unreadable' AND i.ProcessBatch_id = b.ProcessBatch_id);

CREATE VIEW vFailed AS
SELECT c.BatchControl_id, b.ProcessBatchName, lower(c.Status) AS Status, c.CycleKey, f.Entity, f.FileName,
    h.ProcessControlSeq, h.ProcessName, h.ProcessType, h.AttemptNo, lower(h.Status) AS AttemptStatus, h.ReturnCode,
    h.Message AS ErrorText, h.Output, h.CommandText, h.StartTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', h.StartTime, Shift) FROM batchctl_shifts WHERE datetime(h.StartTime, '+1 second') BETWEEN FromTime AND UntilTime) AS StartTimeLocal, h.EndTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', h.EndTime, Shift) FROM batchctl_shifts WHERE datetime(h.EndTime, '+1 second') BETWEEN FromTime AND UntilTime) AS EndTimeLocal,
    round((julianday(h.EndTime) - julianday(h.StartTime)) * 86400.0, 3) AS DurationSeconds, h.ClaimedBy, h.Host, c.FileProcess_id,
    'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''rerun'', ' || c.BatchControl_id || ', ''...'');' AS RerunSql, 'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''skip'', ' || c.BatchControl_id || ', ''...'');' AS SkipSql,
    'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''cancel'', ' || c.BatchControl_id || ', ''...'');' AS CancelSql, h.ErrorCode, h.ErrorLine,
    (SELECT o.Text FROM Note o WHERE o.Note_id = (SELECT MAX(m.Note_id) FROM Note m WHERE m.BatchControl_id = c.BatchControl_id)) AS LastNote
FROM BatchControl c
JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN FileProcess f ON f.FileProcess_id = c.FileProcess_id
LEFT JOIN BatchProcessHistory h ON h.BatchProcessHistory_id = (
    SELECT MAX(g.BatchProcessHistory_id) FROM BatchProcessHistory g WHERE g.BatchControl_id = c.BatchControl_id)
WHERE (c.Status = 'retry' OR c.Status = 'failed' OR c.Status = 'held') AND (c.Status = 'failed' OR c.Status = 'held');

CREATE VIEW vWaiting AS
WITH Unfit AS (SELECT * FROM batchctl_unfit), Missing AS (SELECT ProcessBatch_id, ProcessControlSeq, Reason, NextSql FROM vNotInstalled), UnfitWork AS (
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
), Paced AS (
SELECT c.ProcessBatch_id, COUNT(*) AS Begun, MIN(c.BegunTime) AS Oldest,
    (SELECT MIN(g.ProcessControlSeq) FROM ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id) AS FirstSeq
FROM BatchControl c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE b.MaxPerMinute IS NOT NULL AND c.BegunTime IS NOT NULL AND c.BegunTime > strftime('%Y-%m-%d %H:%M:%f', 'now', '-60 seconds')
GROUP BY c.ProcessBatch_id, b.MaxPerMinute HAVING COUNT(*) >= b.MaxPerMinute
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
), Lacking AS (SELECT * FROM batchctl_lacking), Locks AS (SELECT * FROM batchctl_locks), Met AS (
SELECT c.BatchControl_id, t.Controller_id, substr(COALESCE(substr(t.Said, NULLIF(instr(t.Said, ' | BatchControl ' || c.BatchControl_id || ': '), 0)), substr(t.Said, NULLIF(instr(t.Said, ' | batch ' || replace(replace(b.ProcessBatchName, '|', '\|'), ':', '\:') || ': '), 0)), substr(t.Said, NULLIF(instr(t.Said, ' | FileProcess ' || c.FileProcess_id || ': '), 0))), 4) AS Said FROM Instances c JOIN ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id CROSS JOIN Locks t
), Entry AS (
SELECT m.BatchControl_id, m.Controller_id, substr(m.Said, 1, instr(m.Said || ' | ', ' | ') - 1) AS Said FROM Met m WHERE m.Said IS NOT NULL
), Locked AS (
SELECT e.BatchControl_id, substr(e.Said, 1, instr(e.Said || '; to end it: ', '; to end it: ') - 1) AS Reason,
    substr(substr(e.Said, NULLIF(instr(e.Said, '; to end it: '), 0)), 14) AS Mend,
    ROW_NUMBER() OVER (PARTITION BY e.BatchControl_id ORDER BY e.Controller_id) AS Nth
FROM Entry e
)
SELECT q.BatchControl_id, q.ProcessBatchName, q.Status, q.CycleKey, q.Entity, q.FileName, q.Since, (SELECT strftime('%Y-%m-%d %H:%M:%f', q.Since, Shift) FROM batchctl_shifts WHERE datetime(q.Since, '+1 second') BETWEEN FromTime AND UntilTime) AS SinceLocal, q.Reason, q.NotBeforeTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', q.NotBeforeTime, Shift) FROM batchctl_shifts WHERE datetime(q.NotBeforeTime, '+1 second') BETWEEN FromTime AND UntilTime) AS NotBeforeTimeLocal, q.FileProcess_id, q.NextSql
FROM (
SELECT c.BatchControl_id, b.ProcessBatchName, c.Status, c.CycleKey, f.Entity, f.FileName, c.z_updated AS Since,
    COALESCE(CASE WHEN j.Confirmation_id IS NOT NULL THEN 'it asks ' || COALESCE(j.Who, 'anyone who may act') || ': ' || j.Question
    WHEN c.Status = 'paused' THEN 'somebody paused it' END, x.Reason,
    CASE WHEN b.Enabled <> 1 THEN 'batch ' || b.ProcessBatchName || ' is disabled' END, z.Reason, y.Reason,
    CASE WHEN NOT EXISTS (SELECT 1 FROM ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id)
    THEN 'batch ' || b.ProcessBatchName || ' has no steps' END, w.Reason,
    CASE WHEN c.NextRunTime > l.Now THEN 'it waits until ' || strftime('%Y-%m-%d %H:%M:%S', c.NextRunTime) || ' UTC'
    WHEN a.BatchControl_id IS NOT NULL THEN 'BatchControl ' || a.BatchControl_id || ' of the same batch is ' || lower(a.Status) || ' (OnFailure ' || lower(b.OnFailure) || ')'
    WHEN t.BatchControl_id IS NOT NULL THEN 'BatchControl ' || t.BatchControl_id || ' is ' || lower(t.Status) || ' and its batch stops everything' END, h.Reason, o.Reason,
    CASE WHEN c.Started >= b.MaxConcurrent THEN b.MaxConcurrent || ' of batch ' || b.ProcessBatchName || ' are started before it'
    WHEN p.Begun IS NOT NULL THEN 'MaxPerMinute of batch ' || b.ProcessBatchName || ' is ' || b.MaxPerMinute || ', and ' || p.Begun || CASE WHEN p.Begun = 1 THEN ' instance of it was' ELSE ' instances of it were' END || ' begun within 60 seconds'
    WHEN l.Most = 0 THEN 'Setting MaxConcurrent is 0, or no number: nothing starts'
    WHEN l.HowMany >= l.Most THEN l.HowMany || ' instances are under way, and Setting MaxConcurrent is ' || l.Most
    WHEN u.Units > r.Units THEN 'it needs ' || u.Units || ' units of ' || r.ResourceName || ', and there are ' || r.Units
    WHEN u.Exclusive = 1 THEN 'it needs all of ' || r.ResourceName || ', and instances under way hold it'
    WHEN u.Resource_id IS NOT NULL THEN 'it needs ' || u.Units || ' of the ' || r.Units || ' units of ' || r.ResourceName || ', and instances under way hold it'
    WHEN c.Taken >= b.MaxConcurrent AND l.Most IS NULL AND b.MaxPerMinute IS NULL AND NOT EXISTS (
    SELECT 1 FROM BatchResource v WHERE v.ProcessBatch_id = c.ProcessBatch_id) THEN b.MaxConcurrent || ' of batch ' || b.ProcessBatchName || ' are started before it'
    WHEN c.Taken >= b.MaxConcurrent THEN 'others of batch ' || b.ProcessBatchName || ' start before it'
    ELSE 'nothing holds it back' END) AS Reason,
    CASE WHEN w.ColumnName = 'NextRunTime' THEN NULL
    WHEN c.NextRunTime > l.Now THEN c.NextRunTime
    WHEN z.BatchFreeze_id IS NULL AND b.Enabled = 1 THEN strftime('%Y-%m-%d %H:%M:%f', p.Oldest, (60) || ' seconds')
    ELSE z.UntilTime END AS NotBeforeTime,
    c.FileProcess_id,
    COALESCE(CASE WHEN j.Confirmation_id IS NOT NULL THEN 'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''confirm'', ' || c.BatchControl_id || ', ''...'');'
    WHEN c.Status = 'paused' THEN 'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''resume'', ' || c.BatchControl_id || ', ''...'');' END, x.NextSql,
    CASE WHEN b.Enabled <> 1 THEN 'INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES (''enable'', ' || quote(b.ProcessBatchName) || ', ''...'');' END, z.NextSql, y.NextSql,
    CASE WHEN NOT EXISTS (SELECT 1 FROM ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id)
    THEN 'INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1) VALUES (' || b.ProcessBatch_id || ', 10, ..., ..., ...);' END, w.NextSql,
    CASE WHEN c.NextRunTime > l.Now THEN 'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''rerun'', ' || c.BatchControl_id || ', ''...'');'
    WHEN a.BatchControl_id IS NOT NULL THEN 'SELECT * FROM ' || CASE WHEN a.Status = 'failed' OR a.Status = 'held' THEN 'vFailed' ELSE 'vWaiting' END || ' WHERE BatchControl_id = ' || a.BatchControl_id || ';'
    WHEN t.BatchControl_id IS NOT NULL THEN 'SELECT * FROM ' || CASE WHEN t.Status = 'retry' THEN 'vWaiting' ELSE 'vFailed' END || ' WHERE BatchControl_id = ' || t.BatchControl_id || ';'
    WHEN h.Reason IS NOT NULL THEN CASE WHEN h.Mend IS NULL THEN 'SELECT * FROM Controller;' ELSE h.Mend || ';' END
    WHEN o.Reason IS NOT NULL THEN o.NextSql
    WHEN p.Begun IS NOT NULL AND c.Started < b.MaxConcurrent THEN 'UPDATE ProcessBatch SET MaxPerMinute = ... WHERE ProcessBatch_id = ' || c.ProcessBatch_id || ';'
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
LEFT JOIN vPools o ON o.PoolName = COALESCE(NULLIF(trim(lower(e.Pool), (SELECT Blanks FROM batchctl_blanks)), ''), NULLIF(trim(lower(b.Pool), (SELECT Blanks FROM batchctl_blanks)), ''), 'default')
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
LEFT JOIN BatchControl x ON x.BatchControl_id = (SELECT MAX(o.BatchControl_id) FROM BatchControl o
    WHERE o.ProcessBatch_id = w.DependsOnBatch_id AND o.CycleKey IS w.CycleKey)
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
    h.ProcessControlSeq, h.ProcessName, h.ProcessType, h.AttemptNo, h.StartTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', h.StartTime, Shift) FROM batchctl_shifts WHERE datetime(h.StartTime, '+1 second') BETWEEN FromTime AND UntilTime) AS StartTimeLocal,
    round((julianday(strftime('%Y-%m-%d %H:%M:%f', 'now')) - julianday(h.StartTime)) * 86400.0, 3) AS RunningSeconds, p.ExpectedDuration, p.AlarmDuration, p.MaxDuration,
    CASE WHEN strftime('%Y-%m-%d %H:%M:%f', h.StartTime, (p.AlarmDuration) || ' seconds') <= strftime('%Y-%m-%d %H:%M:%f', 'now') THEN 'late'
    WHEN strftime('%Y-%m-%d %H:%M:%f', h.StartTime, (p.ExpectedDuration) || ' seconds') < strftime('%Y-%m-%d %H:%M:%f', 'now') THEN 'longer than expected'
    WHEN p.AlarmDuration IS NOT NULL OR p.ExpectedDuration IS NOT NULL THEN 'in time' END AS Timing,
    h.ClaimedBy, h.Host, h.Pid, h.DbSession, h.CommandText, c.FileProcess_id,
    'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''pause'', ' || c.BatchControl_id || ', ''...'');' AS PauseSql, 'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''cancel'', ' || c.BatchControl_id || ', ''...'');' AS CancelSql,
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

CREATE VIEW vLate AS
WITH Lacking AS (SELECT * FROM batchctl_lacking)
SELECT l.What, l.Name, l.ProcessBatchName, l.BatchControl_id, l.ExpectedTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', l.ExpectedTime, Shift) FROM batchctl_shifts WHERE datetime(l.ExpectedTime, '+1 second') BETWEEN FromTime AND UntilTime) AS ExpectedTimeLocal,
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
    strftime('%Y-%m-%d %H:%M:%f', w.Since, (60 * w.DeadlineMins) || ' seconds'), 'it waits for longer than DeadlineMins', 'SELECT * FROM vWaiting WHERE ProcessBatchName = ' || quote(b.ProcessBatchName) || ';'
FROM Lacking w
JOIN ProcessBatch b ON b.ProcessBatch_id = w.ProcessBatch_id
JOIN ProcessBatch d ON d.ProcessBatch_id = w.DependsOnBatch_id
WHERE strftime('%Y-%m-%d %H:%M:%f', w.Since, (60 * w.DeadlineMins) || ' seconds') < strftime('%Y-%m-%d %H:%M:%f', 'now')
UNION ALL
SELECT CASE lower(i.Kind) WHEN 'not_arrived' THEN 'arrival' WHEN 'not_started' THEN 'start' ELSE 'finish' END, i.Subject, i.Subject, NULL, i.OpenedTime, i.Message,
    'SELECT * FROM vStatus WHERE ProcessBatchName = ' || quote(i.Subject) || ';'
FROM Incident i
WHERE i.ResolvedTime IS NULL AND (i.Kind = 'not_arrived' OR i.Kind = 'not_started' OR i.Kind = 'not_finished')
) l;

CREATE VIEW vHistory AS
SELECT h.BatchProcessHistory_id, h.BatchControl_id, b.ProcessBatchName, c.CycleKey, f.Entity, f.FileName, h.ProcessControlSeq,
    h.ProcessName, h.ProcessType, h.AttemptNo, lower(h.Cause) AS Cause, lower(h.Status) AS Status,
    h.StartTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', h.StartTime, Shift) FROM batchctl_shifts WHERE datetime(h.StartTime, '+1 second') BETWEEN FromTime AND UntilTime) AS StartTimeLocal, h.EndTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', h.EndTime, Shift) FROM batchctl_shifts WHERE datetime(h.EndTime, '+1 second') BETWEEN FromTime AND UntilTime) AS EndTimeLocal,
    round((julianday(h.EndTime) - julianday(h.StartTime)) * 86400.0, 3) AS DurationSeconds, h.ReturnCode, h.RowsAffected, h.Message AS ErrorText, h.Output,
    h.CommandText, h.ClaimedBy, h.Host, h.Pid, h.DbSession, c.FileProcess_id,
    'INSERT INTO OperatorRequest (Action, BatchControl_id, Arguments, Reason) VALUES (''rerun'', ' || h.BatchControl_id || ', ''{"from": ' || h.ProcessControlSeq || '}'', ''...'');' AS RerunSql, h.ErrorCode, h.ErrorLine, c.StepsFailed
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
    CASE WHEN x.Row_id IS NOT NULL THEN 'unreadable' WHEN e.Enabled <> 1 THEN 'disabled' WHEN e.CalendarName IS NOT NULL AND k.Calendar_id IS NULL THEN 'unreadable'
    WHEN t.Incident_id IS NOT NULL THEN 'starts nothing' WHEN e.NextRunTime IS NULL THEN 'not due'
    WHEN e.NextRunTime < strftime('%Y-%m-%d %H:%M:%f', 'now', '-60 seconds') THEN 'overdue' ELSE 'enabled' END AS Status,
    lower(e.ScheduleType) || COALESCE(', every ' || e.IntervalMinutes || ' minutes', '') || COALESCE(', ' || e.RunDays, '') || COALESCE(', ' || e.RunDaysOfMonth, '') || COALESCE(', ' || e.WeekOfMonth, '') || COALESCE(', ' || e.RunMonths, '') || COALESCE(' at ' || e.RunTimes, '') || COALESCE(' at ' || e.RunAt, '') || COALESCE(' at ' || e.Cron, '') || COALESCE(', between ' || e.BetweenTimes, '') || COALESCE(', calendar ' || e.CalendarName, '') AS Timing, e.TimeZone, e.NextRunTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', e.NextRunTime, Shift) FROM batchctl_shifts WHERE datetime(e.NextRunTime, '+1 second') BETWEEN FromTime AND UntilTime) AS NextRunTimeLocal,
    CASE WHEN l.Outcome = 'fired' THEN CASE WHEN p.Status <> 'ready' AND p.Status <> 'complete' THEN lower(p.Status) WHEN q.Failed > 0 THEN 'failed' WHEN q.Cancelled > 0 THEN 'cancelled' WHEN q.Instances = q.Complete THEN 'complete' WHEN q.Running > 0 THEN 'running' ELSE 'waits' END ELSE lower(l.Outcome) END AS LastOutcome,
    l.DueTime AS LastDueTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', l.DueTime, Shift) FROM batchctl_shifts WHERE datetime(l.DueTime, '+1 second') BETWEEN FromTime AND UntilTime) AS LastDueTimeLocal, l.Reason AS LastReason,
    l.FileProcess_id AS LastFileProcess_id, e.Description,
    CASE WHEN x.Row_id IS NOT NULL THEN x.NextSql WHEN e.Enabled = 1 AND e.CalendarName IS NOT NULL AND k.Calendar_id IS NULL THEN 'UPDATE Schedule SET CalendarName = ... WHERE ScheduleName = ' || quote(e.ScheduleName) || ';'
    WHEN e.Enabled = 1 AND t.Incident_id IS NOT NULL THEN 'SELECT * FROM Incident WHERE Incident_id = ' || t.Incident_id || ';'
    ELSE 'UPDATE Schedule SET Enabled = ' || CASE WHEN e.Enabled = 1 THEN '0' ELSE '1' END || ' WHERE ScheduleName = ' || quote(e.ScheduleName) || ';' END AS NextSql,
    r.StartTime AS LastRunOn, (SELECT strftime('%Y-%m-%d %H:%M:%f', r.StartTime, Shift) FROM batchctl_shifts WHERE datetime(r.StartTime, '+1 second') BETWEEN FromTime AND UntilTime) AS LastRunOnLocal,
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
    WHERE i.ResolvedTime IS NULL AND i.Kind = 'not_starting' AND i.Subject = 'schedule ' || e.ScheduleName);

CREATE VIEW vInbox AS
WITH Unfit AS (SELECT * FROM batchctl_unfit), Missing AS (SELECT ProcessBatch_id, ProcessControlSeq, Reason, NextSql FROM vNotInstalled), Again AS (
SELECT f.FileProcess_id, MAX(n.FileProcess_id) AS Again_id
FROM FileProcess f JOIN FileWatch w ON f.Source = 'watch ' || w.WatchName
JOIN FileWatchSeen n ON n.FileWatch_id = w.FileWatch_id AND n.FileProcess_id > f.FileProcess_id
JOIN FileProcess l ON l.FileProcess_id = n.FileProcess_id
LEFT JOIN FileWatchSeen o ON o.FileWatch_id = n.FileWatch_id AND o.FileProcess_id = f.FileProcess_id
WHERE (f.Status = 'paused' OR f.Status = 'rejected' OR f.Status = 'duplicate') AND (l.FileName = f.FileName OR (o.FileNumber = n.FileNumber AND o.FileSize = n.FileSize AND o.ModifiedNs = n.ModifiedNs)) GROUP BY f.FileProcess_id
), Locks AS (SELECT * FROM batchctl_locks), Met AS (
SELECT c.FileProcess_id, t.Controller_id, substr(substr(t.Said, NULLIF(instr(t.Said, ' | FileProcess ' || c.FileProcess_id || ': '), 0)), 4) AS Said FROM FileProcess c CROSS JOIN Locks t WHERE c.Status = 'ready'
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
SELECT q.FileProcess_id, q.Entity, q.FileName, q.Data, q.CycleKey, q.Source, q.Status, q.Reason, q.Arrived, (SELECT strftime('%Y-%m-%d %H:%M:%f', q.Arrived, Shift) FROM batchctl_shifts WHERE datetime(q.Arrived, '+1 second') BETWEEN FromTime AND UntilTime) AS ArrivedLocal, q.NextSql
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
    e.NextRunTime, (SELECT strftime('%Y-%m-%d %H:%M:%f', e.NextRunTime, Shift) FROM batchctl_shifts WHERE datetime(e.NextRunTime, '+1 second') BETWEEN FromTime AND UntilTime) AS NextRunTimeLocal, h.StartTime AS LastRunOn, (SELECT strftime('%Y-%m-%d %H:%M:%f', h.StartTime, Shift) FROM batchctl_shifts WHERE datetime(h.StartTime, '+1 second') BETWEEN FromTime AND UntilTime) AS LastRunOnLocal,
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

CREATE VIEW vForecast AS
SELECT b.ProcessBatchName, k.CycleKey, k.P50, (SELECT strftime('%Y-%m-%d %H:%M:%f', k.P50, Shift) FROM batchctl_shifts WHERE datetime(k.P50, '+1 second') BETWEEN FromTime AND UntilTime) AS P50Local, k.P90, (SELECT strftime('%Y-%m-%d %H:%M:%f', k.P90, Shift) FROM batchctl_shifts WHERE datetime(k.P90, '+1 second') BETWEEN FromTime AND UntilTime) AS P90Local,
    k.FinishBy, (SELECT strftime('%Y-%m-%d %H:%M:%f', k.FinishBy, Shift) FROM batchctl_shifts WHERE datetime(k.FinishBy, '+1 second') BETWEEN FromTime AND UntilTime) AS FinishByLocal, CAST(round((julianday(k.FinishBy) - julianday(strftime('%Y-%m-%d %H:%M:%f', 'now'))) * 1440.0) AS INTEGER) AS DueInMinutes, k.Chance, k.NeedsPerson, k.Nights,
    k.Decides, k.Helps, k.MadeOn, (SELECT strftime('%Y-%m-%d %H:%M:%f', k.MadeOn, Shift) FROM batchctl_shifts WHERE datetime(k.MadeOn, '+1 second') BETWEEN FromTime AND UntilTime) AS MadeOnLocal,
    'SELECT * FROM vStatus WHERE ProcessBatchName = ' || quote(b.ProcessBatchName) || ';' AS NextSql
FROM KeptForecast k
JOIN ProcessBatch b ON b.ProcessBatch_id = k.ProcessBatch_id
WHERE k.KeptFor IS NULL;

CREATE VIEW batchctl_blanks AS SELECT char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288) AS Blanks;

CREATE VIEW batchctl_shifts AS
SELECT OffsetSeconds || ' seconds' AS Shift, FromTime, UntilTime FROM ZoneOffset;

CREATE VIEW batchctl_unfit AS
SELECT ProcessBatch_id, Reason, NextSql
FROM (SELECT ProcessBatch_id, Reason, NextSql, ROW_NUMBER() OVER (PARTITION BY ProcessBatch_id ORDER BY Place, Row_id) AS Nth FROM vUnreadable WHERE ProcessBatch_id IS NOT NULL) m
WHERE Nth = 1;

CREATE VIEW batchctl_lacking AS
SELECT w.ProcessBatch_id, w.CycleKey, w.Since, y.DependsOnBatch_id, y.DeadlineMins
FROM (SELECT ProcessBatch_id, CycleKey, MIN(z_inserted) AS Since FROM BatchCompletion
    WHERE FileProcess_id IS NULL GROUP BY ProcessBatch_id, CycleKey) w
JOIN BatchDependency y ON y.ProcessBatch_id = w.ProcessBatch_id
WHERE NOT EXISTS (SELECT 1 FROM BatchCompletion x WHERE x.FileProcess_id IS NULL
    AND x.ProcessBatch_id = w.ProcessBatch_id AND x.DependsOnBatch_id = y.DependsOnBatch_id AND x.CycleKey IS w.CycleKey);

CREATE VIEW batchctl_locks AS
SELECT k.Controller_id, ' | ' || substr(substr(k.Trouble, 1, instr(k.Trouble || ' Next: ', ' Next: ') - 1), 29) AS Said
FROM Controller k
WHERE k.Status = 'running' AND k.Trouble LIKE 'somebody keeps rows locked: %' AND strftime('%Y-%m-%d %H:%M:%f', k.Heartbeat, (k.OrphanTimeoutSecs) || ' seconds') > strftime('%Y-%m-%d %H:%M:%f', 'now');

CREATE VIEW batchctl_told AS
SELECT 'ProcessBatch' AS TableName, ProcessBatch_id AS RowNumber, 'ProcessBatch:' || ProcessBatchName AS Target,
    json_object('ProcessBatchName',ProcessBatchName, 'Entity',Entity, 'Enabled',Enabled, 'Seq',Seq, 'Priority',Priority, 'RetryCount',RetryCount, 'RetryWaitMins',RetryWaitMins, 'RetryWaitSecs',RetryWaitSecs, 'Populator',Populator, 'PopulatorArgs',PopulatorArgs, 'PopulatorOn',PopulatorOn, 'OnFailure',OnFailure, 'DependencyMode',DependencyMode, 'MaxConcurrent',MaxConcurrent, 'MaxPerMinute',MaxPerMinute, 'Pool',Pool, 'DuplicateCheck',DuplicateCheck, 'ProcessingMode',ProcessingMode, 'Origin',Origin, 'Description',Description, 'Tags',Tags, 'ArriveBy',ArriveBy, 'StartBy',StartBy, 'FinishBy',FinishBy, 'ExpectedOn',ExpectedOn, 'ExpectedCalendar',ExpectedCalendar) AS ValuesBefore,
    json_array(z_inserted, z_updated) AS Times
FROM ProcessBatch r UNION ALL
SELECT 'ProcessControl', ProcessControl_id, 'ProcessControl:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = r.ProcessBatch_id), '') || ':' || ProcessControlSeq,
    json_object('ProcessBatch_id',ProcessBatch_id, 'ProcessControlSeq',ProcessControlSeq, 'ProcessName',ProcessName, 'ProcessType',ProcessType, 'Pool',Pool, 'Needs',Needs, 'ExpectedDuration',ExpectedDuration, 'AlarmDuration',AlarmDuration, 'MaxDuration',MaxDuration, 'OnLost',OnLost, 'MaxLost',MaxLost, 'RetryCount',RetryCount, 'RetryWaitSecs',RetryWaitSecs, 'RetryBackoff',RetryBackoff, 'RetryOn',RetryOn, 'OnStepFailure',OnStepFailure, 'RowsMin',RowsMin, 'RowsMax',RowsMax, 'OnRows',OnRows, 'Data1',Data1, 'Data2',Data2, 'Data3',Data3, 'Data4',Data4, 'Data5',Data5, 'Data6',Data6),
    json_array(z_inserted, z_updated)
FROM ProcessControl r UNION ALL
SELECT 'BatchDependency', BatchDependency_id, 'BatchDependency:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = r.ProcessBatch_id), '') || ':' || DependsOnBatch_id,
    json_object('ProcessBatch_id',ProcessBatch_id, 'DependsOnBatch_id',DependsOnBatch_id, 'DeadlineMins',DeadlineMins),
    json_array(z_inserted, z_updated)
FROM BatchDependency r UNION ALL
SELECT 'BatchResource', BatchResource_id, 'BatchResource:' || coalesce((SELECT p.ProcessBatchName FROM ProcessBatch p WHERE p.ProcessBatch_id = r.ProcessBatch_id), '') || ':' || Resource_id,
    json_object('ProcessBatch_id',ProcessBatch_id, 'Resource_id',Resource_id, 'Units',Units, 'Exclusive',Exclusive),
    json_array(z_inserted, z_updated)
FROM BatchResource r UNION ALL
SELECT 'Resource', Resource_id, 'Resource:' || ResourceName,
    json_object('ResourceName',ResourceName, 'Units',Units, 'Description',Description),
    json_array(z_inserted, z_updated)
FROM Resource r UNION ALL
SELECT 'Pool', Pool_id, 'Pool:' || PoolName,
    json_object('PoolName',PoolName, 'Kind',Kind, 'MaxConcurrent',MaxConcurrent, 'Enabled',Enabled, 'Description',Description),
    json_array(z_inserted, z_updated)
FROM Pool r UNION ALL
SELECT 'Variable', Variable_id, 'Variable:' || VariableName,
    json_object('VariableName',VariableName, 'Value',Value, 'Description',Description),
    json_array(z_inserted, z_updated)
FROM Variable r UNION ALL
SELECT 'Schedule', Schedule_id, 'Schedule:' || ScheduleName,
    json_object('ScheduleName',ScheduleName, 'Entity',Entity, 'ScheduleType',ScheduleType, 'IntervalMinutes',IntervalMinutes, 'RunTimes',RunTimes, 'RunDays',RunDays, 'RunDaysOfMonth',RunDaysOfMonth, 'WeekOfMonth',WeekOfMonth, 'RunMonths',RunMonths, 'BetweenTimes',BetweenTimes, 'EveryN',EveryN, 'StartDate',StartDate, 'EndDate',EndDate, 'RunAt',RunAt, 'Cron',Cron, 'TimeZone',TimeZone, 'CalendarName',CalendarName, 'CalendarRule',CalendarRule, 'GapPolicy',GapPolicy, 'FoldPolicy',FoldPolicy, 'CatchUp',CatchUp, 'CatchUpMost',CatchUpMost, 'Overlap',Overlap, 'Jitter',Jitter, 'Enabled',Enabled, 'Origin',Origin, 'Description',Description),
    json_array(NextRunTime, DecidedUntil, z_inserted, z_updated)
FROM Schedule r UNION ALL
SELECT 'Calendar', Calendar_id, 'Calendar:' || CalendarName,
    json_object('CalendarName',CalendarName, 'BusinessDays',BusinessDays, 'ValidFrom',ValidFrom, 'ValidUntil',ValidUntil, 'Description',Description),
    json_array(z_inserted, z_updated)
FROM Calendar r UNION ALL
SELECT 'CalendarDay', CalendarDay_id, 'CalendarDay:' || coalesce((SELECT p.CalendarName FROM Calendar p WHERE p.Calendar_id = r.Calendar_id), '') || ':' || CalendarDate,
    json_object('Calendar_id',Calendar_id, 'CalendarDate',CalendarDate, 'IsBusinessDay',IsBusinessDay, 'Description',Description),
    json_array(z_inserted, z_updated)
FROM CalendarDay r UNION ALL
SELECT 'DataTrigger', DataTrigger_id, 'DataTrigger:' || TriggerName,
    json_object('TriggerName',TriggerName, 'Entity',Entity, 'ConnectionName',ConnectionName, 'TableName',TableName, 'StatusColumn',StatusColumn, 'PendingValue',PendingValue, 'CreatedColumn',CreatedColumn, 'RowThreshold',RowThreshold, 'IdleMinutes',IdleMinutes, 'OnNewRows',OnNewRows, 'DebounceSeconds',DebounceSeconds, 'Enabled',Enabled),
    json_array(LastFired, z_inserted, z_updated)
FROM DataTrigger r UNION ALL
SELECT 'FileWatch', FileWatch_id, 'FileWatch:' || WatchName,
    json_object('WatchName',WatchName, 'Entity',Entity, 'Folder',Folder, 'Pattern',Pattern, 'Recursive',Recursive, 'SettleSeconds',SettleSeconds, 'MarkerSuffix',MarkerSuffix, 'DuplicateKey',DuplicateKey, 'Enabled',Enabled),
    json_array(UnreachableSince, z_inserted, z_updated)
FROM FileWatch r UNION ALL
SELECT 'BatchFreeze', BatchFreeze_id, 'BatchFreeze:' || BatchFreeze_id,
    json_object('ProcessBatchName',ProcessBatchName, 'Tag',Tag, 'Reason',Reason, 'Actor',Actor, 'UntilTime',UntilTime, 'ThawedTime',ThawedTime, 'ThawedBy',ThawedBy),
    json_array(UntilTime, ThawedTime, z_inserted, z_updated)
FROM BatchFreeze r UNION ALL
SELECT 'Drain', Drain_id, 'Drain:' || Drain_id,
    json_object('Host',Host, 'PoolName',PoolName, 'Reason',Reason, 'Actor',Actor, 'UndrainedTime',UndrainedTime, 'UndrainedBy',UndrainedBy),
    json_array(UndrainedTime, z_inserted, z_updated)
FROM Drain r UNION ALL
SELECT 'Setting', Setting_id, 'Setting:' || Name,
    json_object('Name',Name, 'Value',Value),
    json_array(z_inserted, z_updated)
FROM Setting r;

CREATE VIEW batchctl_in_the_way AS
SELECT '' AS TableName, 0 AS RowNumber;

CREATE VIEW batchctl_audited AS
SELECT '' AS Action, '' AS TableName, 0 AS RowNumber, 0 AS FormerNumber;

CREATE VIEW batchctl_used (TableName, RowNumber) AS
SELECT 'ProcessBatch', ProcessBatch_id FROM BatchControl UNION ALL
SELECT 'ProcessBatch', ProcessBatch_id FROM BatchProcessHistory UNION ALL
SELECT 'ProcessBatch', ProcessBatch_id FROM BatchCompletion UNION ALL
SELECT 'ProcessBatch', DependsOnBatch_id FROM BatchCompletion UNION ALL
SELECT 'ProcessBatch', ProcessBatch_id FROM DurationHistory UNION ALL
SELECT 'ProcessBatch', ProcessBatch_id FROM KeptForecast UNION ALL
SELECT 'ProcessBatch', ProcessBatch_id FROM Note UNION ALL
SELECT 'ProcessBatch', ProcessBatch_id FROM ProcessControl UNION ALL
SELECT 'ProcessBatch', ProcessBatch_id FROM BatchResource UNION ALL
SELECT 'ProcessBatch', ProcessBatch_id FROM BatchDependency UNION ALL
SELECT 'ProcessBatch', DependsOnBatch_id FROM BatchDependency UNION ALL
SELECT 'Resource', Resource_id FROM BatchResource UNION ALL
SELECT 'Calendar', Calendar_id FROM CalendarDay UNION ALL
SELECT 'Schedule', Schedule_id FROM ScheduleFire UNION ALL
SELECT 'Schedule', Schedule_id FROM ScheduleBackfill UNION ALL
SELECT 'FileWatch', FileWatch_id FROM FileWatchSeen;

CREATE TRIGGER TR_ProcessBatch_BeforeInsert BEFORE INSERT ON ProcessBatch
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'ProcessBatch', rowid FROM ProcessBatch WHERE rowid = NEW.rowid
    OR ProcessBatchName = NEW.ProcessBatchName;
END;

CREATE TRIGGER TR_ProcessBatch_BeforeUpdate BEFORE UPDATE ON ProcessBatch
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'ProcessBatch', rowid FROM ProcessBatch WHERE rowid IN (OLD.rowid, NEW.rowid)
    OR ProcessBatchName = NEW.ProcessBatchName;
END;

CREATE TRIGGER TR_ProcessBatch_AuditInsert AFTER INSERT ON ProcessBatch
BEGIN
    INSERT INTO batchctl_audited VALUES ('insert', 'ProcessBatch', NEW.rowid, NULL);
END;

CREATE TRIGGER TR_ProcessBatch_AuditUpdate AFTER UPDATE ON ProcessBatch
BEGIN
    INSERT INTO batchctl_audited VALUES ('update', 'ProcessBatch', NEW.rowid, OLD.rowid);
END;

CREATE TRIGGER TR_ProcessBatch_AuditDelete BEFORE DELETE ON ProcessBatch
BEGIN
    SELECT RAISE(ABORT, 'batchctl: BatchControl has rows of this ProcessBatch: instead: batchctl disable NAME --reason ...')
    FROM BatchControl WHERE ProcessBatch_id = OLD.ProcessBatch_id;
    SELECT RAISE(ABORT, 'batchctl: BatchProcessHistory has rows of this ProcessBatch: instead: batchctl disable NAME --reason ...')
    FROM BatchProcessHistory WHERE ProcessBatch_id = OLD.ProcessBatch_id;
    SELECT RAISE(ABORT, 'batchctl: BatchCompletion has rows of this ProcessBatch: instead: batchctl disable NAME --reason ...')
    FROM BatchCompletion WHERE ProcessBatch_id = OLD.ProcessBatch_id OR DependsOnBatch_id = OLD.ProcessBatch_id;
    SELECT RAISE(ABORT, 'batchctl: DurationHistory has rows of this ProcessBatch: instead: batchctl disable NAME --reason ...')
    FROM DurationHistory WHERE ProcessBatch_id = OLD.ProcessBatch_id;
    SELECT RAISE(ABORT, 'batchctl: KeptForecast has rows of this ProcessBatch: instead: batchctl disable NAME --reason ...')
    FROM KeptForecast WHERE ProcessBatch_id = OLD.ProcessBatch_id;
    SELECT RAISE(ABORT, 'batchctl: Note has rows of this ProcessBatch: instead: batchctl disable NAME --reason ...')
    FROM Note WHERE ProcessBatch_id = OLD.ProcessBatch_id;
    SELECT RAISE(ABORT, 'batchctl: ProcessControl has rows of this ProcessBatch: DELETE FROM ProcessControl WHERE ProcessBatch_id = ... first; or instead: batchctl disable NAME --reason ...')
    FROM ProcessControl WHERE ProcessBatch_id = OLD.ProcessBatch_id;
    SELECT RAISE(ABORT, 'batchctl: BatchResource has rows of this ProcessBatch: DELETE FROM BatchResource WHERE ProcessBatch_id = ... first; or instead: batchctl disable NAME --reason ...')
    FROM BatchResource WHERE ProcessBatch_id = OLD.ProcessBatch_id;
    SELECT RAISE(ABORT, 'batchctl: BatchDependency has rows of this ProcessBatch: DELETE FROM BatchDependency WHERE ProcessBatch_id = ... first; or instead: batchctl disable NAME --reason ...')
    FROM BatchDependency WHERE ProcessBatch_id = OLD.ProcessBatch_id;
    SELECT RAISE(ABORT, 'batchctl: BatchDependency has rows of this ProcessBatch: DELETE FROM BatchDependency WHERE DependsOnBatch_id = ... first; or instead: batchctl disable NAME --reason ...')
    FROM BatchDependency WHERE DependsOnBatch_id = OLD.ProcessBatch_id;
    INSERT INTO batchctl_audited VALUES ('delete', 'ProcessBatch', OLD.rowid, NULL);
END;

CREATE TRIGGER TR_ProcessControl_BeforeInsert BEFORE INSERT ON ProcessControl
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ProcessBatch_id of ProcessControl: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch')
    WHERE NEW.ProcessBatch_id NOT IN (SELECT ProcessBatch_id FROM ProcessBatch);
    INSERT INTO batchctl_in_the_way SELECT 'ProcessControl', rowid FROM ProcessControl WHERE rowid = NEW.rowid
    OR ProcessBatch_id = NEW.ProcessBatch_id AND ProcessControlSeq = NEW.ProcessControlSeq;
END;

CREATE TRIGGER TR_ProcessControl_BeforeUpdate BEFORE UPDATE ON ProcessControl
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ProcessBatch_id of ProcessControl: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch')
    WHERE NEW.ProcessBatch_id IS NOT OLD.ProcessBatch_id AND NEW.ProcessBatch_id NOT IN (SELECT ProcessBatch_id FROM ProcessBatch);
    INSERT INTO batchctl_in_the_way SELECT 'ProcessControl', rowid FROM ProcessControl WHERE rowid IN (OLD.rowid, NEW.rowid)
    OR ProcessBatch_id = NEW.ProcessBatch_id AND ProcessControlSeq = NEW.ProcessControlSeq;
END;

CREATE TRIGGER TR_ProcessControl_AuditInsert AFTER INSERT ON ProcessControl
BEGIN
    INSERT INTO batchctl_audited VALUES ('insert', 'ProcessControl', NEW.rowid, NULL);
END;

CREATE TRIGGER TR_ProcessControl_AuditUpdate AFTER UPDATE ON ProcessControl
BEGIN
    INSERT INTO batchctl_audited VALUES ('update', 'ProcessControl', NEW.rowid, OLD.rowid);
END;

CREATE TRIGGER TR_ProcessControl_AuditDelete BEFORE DELETE ON ProcessControl
BEGIN
    INSERT INTO batchctl_audited VALUES ('delete', 'ProcessControl', OLD.rowid, NULL);
END;

CREATE TRIGGER TR_BatchDependency_BeforeInsert BEFORE INSERT ON BatchDependency
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ProcessBatch_id of BatchDependency: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch')
    WHERE NEW.ProcessBatch_id NOT IN (SELECT ProcessBatch_id FROM ProcessBatch);
    SELECT RAISE(ABORT, 'batchctl: DependsOnBatch_id of BatchDependency: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch')
    WHERE NEW.DependsOnBatch_id NOT IN (SELECT ProcessBatch_id FROM ProcessBatch);
    INSERT INTO batchctl_in_the_way SELECT 'BatchDependency', rowid FROM BatchDependency WHERE rowid = NEW.rowid
    OR ProcessBatch_id = NEW.ProcessBatch_id AND DependsOnBatch_id = NEW.DependsOnBatch_id;
END;

CREATE TRIGGER TR_BatchDependency_BeforeUpdate BEFORE UPDATE ON BatchDependency
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ProcessBatch_id of BatchDependency: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch')
    WHERE NEW.ProcessBatch_id IS NOT OLD.ProcessBatch_id AND NEW.ProcessBatch_id NOT IN (SELECT ProcessBatch_id FROM ProcessBatch);
    SELECT RAISE(ABORT, 'batchctl: DependsOnBatch_id of BatchDependency: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch')
    WHERE NEW.DependsOnBatch_id IS NOT OLD.DependsOnBatch_id AND NEW.DependsOnBatch_id NOT IN (SELECT ProcessBatch_id FROM ProcessBatch);
    INSERT INTO batchctl_in_the_way SELECT 'BatchDependency', rowid FROM BatchDependency WHERE rowid IN (OLD.rowid, NEW.rowid)
    OR ProcessBatch_id = NEW.ProcessBatch_id AND DependsOnBatch_id = NEW.DependsOnBatch_id;
END;

CREATE TRIGGER TR_BatchDependency_AuditInsert AFTER INSERT ON BatchDependency
BEGIN
    INSERT INTO batchctl_audited VALUES ('insert', 'BatchDependency', NEW.rowid, NULL);
END;

CREATE TRIGGER TR_BatchDependency_AuditUpdate AFTER UPDATE ON BatchDependency
BEGIN
    INSERT INTO batchctl_audited VALUES ('update', 'BatchDependency', NEW.rowid, OLD.rowid);
END;

CREATE TRIGGER TR_BatchDependency_AuditDelete BEFORE DELETE ON BatchDependency
BEGIN
    INSERT INTO batchctl_audited VALUES ('delete', 'BatchDependency', OLD.rowid, NULL);
END;

CREATE TRIGGER TR_BatchResource_BeforeInsert BEFORE INSERT ON BatchResource
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ProcessBatch_id of BatchResource: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch')
    WHERE NEW.ProcessBatch_id NOT IN (SELECT ProcessBatch_id FROM ProcessBatch);
    SELECT RAISE(ABORT, 'batchctl: Resource_id of BatchResource: there is no such Resource: SELECT Resource_id, ResourceName FROM Resource')
    WHERE NEW.Resource_id NOT IN (SELECT Resource_id FROM Resource);
    INSERT INTO batchctl_in_the_way SELECT 'BatchResource', rowid FROM BatchResource WHERE rowid = NEW.rowid
    OR ProcessBatch_id = NEW.ProcessBatch_id AND Resource_id = NEW.Resource_id;
END;

CREATE TRIGGER TR_BatchResource_BeforeUpdate BEFORE UPDATE ON BatchResource
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ProcessBatch_id of BatchResource: there is no such ProcessBatch: SELECT ProcessBatch_id, ProcessBatchName FROM ProcessBatch')
    WHERE NEW.ProcessBatch_id IS NOT OLD.ProcessBatch_id AND NEW.ProcessBatch_id NOT IN (SELECT ProcessBatch_id FROM ProcessBatch);
    SELECT RAISE(ABORT, 'batchctl: Resource_id of BatchResource: there is no such Resource: SELECT Resource_id, ResourceName FROM Resource')
    WHERE NEW.Resource_id IS NOT OLD.Resource_id AND NEW.Resource_id NOT IN (SELECT Resource_id FROM Resource);
    INSERT INTO batchctl_in_the_way SELECT 'BatchResource', rowid FROM BatchResource WHERE rowid IN (OLD.rowid, NEW.rowid)
    OR ProcessBatch_id = NEW.ProcessBatch_id AND Resource_id = NEW.Resource_id;
END;

CREATE TRIGGER TR_BatchResource_AuditInsert AFTER INSERT ON BatchResource
BEGIN
    INSERT INTO batchctl_audited VALUES ('insert', 'BatchResource', NEW.rowid, NULL);
END;

CREATE TRIGGER TR_BatchResource_AuditUpdate AFTER UPDATE ON BatchResource
BEGIN
    INSERT INTO batchctl_audited VALUES ('update', 'BatchResource', NEW.rowid, OLD.rowid);
END;

CREATE TRIGGER TR_BatchResource_AuditDelete BEFORE DELETE ON BatchResource
BEGIN
    INSERT INTO batchctl_audited VALUES ('delete', 'BatchResource', OLD.rowid, NULL);
END;

CREATE TRIGGER TR_Resource_BeforeInsert BEFORE INSERT ON Resource
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'Resource', rowid FROM Resource WHERE rowid = NEW.rowid
    OR ResourceName = NEW.ResourceName;
END;

CREATE TRIGGER TR_Resource_BeforeUpdate BEFORE UPDATE ON Resource
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'Resource', rowid FROM Resource WHERE rowid IN (OLD.rowid, NEW.rowid)
    OR ResourceName = NEW.ResourceName;
END;

CREATE TRIGGER TR_Resource_AuditInsert AFTER INSERT ON Resource
BEGIN
    INSERT INTO batchctl_audited VALUES ('insert', 'Resource', NEW.rowid, NULL);
END;

CREATE TRIGGER TR_Resource_AuditUpdate AFTER UPDATE ON Resource
BEGIN
    INSERT INTO batchctl_audited VALUES ('update', 'Resource', NEW.rowid, OLD.rowid);
END;

CREATE TRIGGER TR_Resource_AuditDelete BEFORE DELETE ON Resource
BEGIN
    SELECT RAISE(ABORT, 'batchctl: BatchResource has rows of this Resource: DELETE FROM BatchResource WHERE Resource_id = ... first')
    FROM BatchResource WHERE Resource_id = OLD.Resource_id;
    INSERT INTO batchctl_audited VALUES ('delete', 'Resource', OLD.rowid, NULL);
END;

CREATE TRIGGER TR_Pool_BeforeInsert BEFORE INSERT ON Pool
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'Pool', rowid FROM Pool WHERE rowid = NEW.rowid
    OR PoolName = NEW.PoolName;
END;

CREATE TRIGGER TR_Pool_BeforeUpdate BEFORE UPDATE ON Pool
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'Pool', rowid FROM Pool WHERE rowid IN (OLD.rowid, NEW.rowid)
    OR PoolName = NEW.PoolName;
END;

CREATE TRIGGER TR_Pool_AuditInsert AFTER INSERT ON Pool
BEGIN
    INSERT INTO batchctl_audited VALUES ('insert', 'Pool', NEW.rowid, NULL);
END;

CREATE TRIGGER TR_Pool_AuditUpdate AFTER UPDATE ON Pool
BEGIN
    INSERT INTO batchctl_audited VALUES ('update', 'Pool', NEW.rowid, OLD.rowid);
END;

CREATE TRIGGER TR_Pool_AuditDelete BEFORE DELETE ON Pool
BEGIN
    INSERT INTO batchctl_audited VALUES ('delete', 'Pool', OLD.rowid, NULL);
END;

CREATE TRIGGER TR_Variable_BeforeInsert BEFORE INSERT ON Variable
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'Variable', rowid FROM Variable WHERE rowid = NEW.rowid
    OR VariableName = NEW.VariableName;
END;

CREATE TRIGGER TR_Variable_BeforeUpdate BEFORE UPDATE ON Variable
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'Variable', rowid FROM Variable WHERE rowid IN (OLD.rowid, NEW.rowid)
    OR VariableName = NEW.VariableName;
END;

CREATE TRIGGER TR_Variable_AuditInsert AFTER INSERT ON Variable
BEGIN
    INSERT INTO batchctl_audited VALUES ('insert', 'Variable', NEW.rowid, NULL);
END;

CREATE TRIGGER TR_Variable_AuditUpdate AFTER UPDATE ON Variable
BEGIN
    INSERT INTO batchctl_audited VALUES ('update', 'Variable', NEW.rowid, OLD.rowid);
END;

CREATE TRIGGER TR_Variable_AuditDelete BEFORE DELETE ON Variable
BEGIN
    INSERT INTO batchctl_audited VALUES ('delete', 'Variable', OLD.rowid, NULL);
END;

CREATE TRIGGER TR_Schedule_BeforeInsert BEFORE INSERT ON Schedule
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'Schedule', rowid FROM Schedule WHERE rowid = NEW.rowid
    OR ScheduleName = NEW.ScheduleName;
END;

CREATE TRIGGER TR_Schedule_BeforeUpdate BEFORE UPDATE ON Schedule
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'Schedule', rowid FROM Schedule WHERE rowid IN (OLD.rowid, NEW.rowid)
    OR ScheduleName = NEW.ScheduleName;
END;

CREATE TRIGGER TR_Schedule_AuditInsert AFTER INSERT ON Schedule
BEGIN
    INSERT INTO batchctl_audited VALUES ('insert', 'Schedule', NEW.rowid, NULL);
END;

CREATE TRIGGER TR_Schedule_AuditUpdate AFTER UPDATE ON Schedule
BEGIN
    INSERT INTO batchctl_audited VALUES ('update', 'Schedule', NEW.rowid, OLD.rowid);
END;

CREATE TRIGGER TR_Schedule_AuditDelete BEFORE DELETE ON Schedule
BEGIN
    SELECT RAISE(ABORT, 'batchctl: ScheduleFire has rows of this Schedule: instead: batchctl schedule remove NAME --reason ...')
    FROM ScheduleFire WHERE Schedule_id = OLD.Schedule_id;
    SELECT RAISE(ABORT, 'batchctl: ScheduleBackfill has rows of this Schedule: instead: batchctl schedule remove NAME --reason ...')
    FROM ScheduleBackfill WHERE Schedule_id = OLD.Schedule_id;
    INSERT INTO batchctl_audited VALUES ('delete', 'Schedule', OLD.rowid, NULL);
END;

CREATE TRIGGER TR_Calendar_BeforeInsert BEFORE INSERT ON Calendar
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'Calendar', rowid FROM Calendar WHERE rowid = NEW.rowid
    OR CalendarName = NEW.CalendarName;
END;

CREATE TRIGGER TR_Calendar_BeforeUpdate BEFORE UPDATE ON Calendar
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'Calendar', rowid FROM Calendar WHERE rowid IN (OLD.rowid, NEW.rowid)
    OR CalendarName = NEW.CalendarName;
END;

CREATE TRIGGER TR_Calendar_AuditInsert AFTER INSERT ON Calendar
BEGIN
    INSERT INTO batchctl_audited VALUES ('insert', 'Calendar', NEW.rowid, NULL);
END;

CREATE TRIGGER TR_Calendar_AuditUpdate AFTER UPDATE ON Calendar
BEGIN
    INSERT INTO batchctl_audited VALUES ('update', 'Calendar', NEW.rowid, OLD.rowid);
END;

CREATE TRIGGER TR_Calendar_AuditDelete BEFORE DELETE ON Calendar
BEGIN
    SELECT RAISE(ABORT, 'batchctl: CalendarDay has rows of this Calendar: DELETE FROM CalendarDay WHERE Calendar_id = ... first; or instead: batchctl calendar remove NAME --reason ...')
    FROM CalendarDay WHERE Calendar_id = OLD.Calendar_id;
    INSERT INTO batchctl_audited VALUES ('delete', 'Calendar', OLD.rowid, NULL);
END;

CREATE TRIGGER TR_CalendarDay_BeforeInsert BEFORE INSERT ON CalendarDay
BEGIN
    SELECT RAISE(ABORT, 'batchctl: Calendar_id of CalendarDay: there is no such Calendar: SELECT Calendar_id, CalendarName FROM Calendar')
    WHERE NEW.Calendar_id NOT IN (SELECT Calendar_id FROM Calendar);
    INSERT INTO batchctl_in_the_way SELECT 'CalendarDay', rowid FROM CalendarDay WHERE rowid = NEW.rowid
    OR Calendar_id = NEW.Calendar_id AND CalendarDate = NEW.CalendarDate;
END;

CREATE TRIGGER TR_CalendarDay_BeforeUpdate BEFORE UPDATE ON CalendarDay
BEGIN
    SELECT RAISE(ABORT, 'batchctl: Calendar_id of CalendarDay: there is no such Calendar: SELECT Calendar_id, CalendarName FROM Calendar')
    WHERE NEW.Calendar_id IS NOT OLD.Calendar_id AND NEW.Calendar_id NOT IN (SELECT Calendar_id FROM Calendar);
    INSERT INTO batchctl_in_the_way SELECT 'CalendarDay', rowid FROM CalendarDay WHERE rowid IN (OLD.rowid, NEW.rowid)
    OR Calendar_id = NEW.Calendar_id AND CalendarDate = NEW.CalendarDate;
END;

CREATE TRIGGER TR_CalendarDay_AuditInsert AFTER INSERT ON CalendarDay
BEGIN
    INSERT INTO batchctl_audited VALUES ('insert', 'CalendarDay', NEW.rowid, NULL);
END;

CREATE TRIGGER TR_CalendarDay_AuditUpdate AFTER UPDATE ON CalendarDay
BEGIN
    INSERT INTO batchctl_audited VALUES ('update', 'CalendarDay', NEW.rowid, OLD.rowid);
END;

CREATE TRIGGER TR_CalendarDay_AuditDelete BEFORE DELETE ON CalendarDay
BEGIN
    INSERT INTO batchctl_audited VALUES ('delete', 'CalendarDay', OLD.rowid, NULL);
END;

CREATE TRIGGER TR_DataTrigger_BeforeInsert BEFORE INSERT ON DataTrigger
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'DataTrigger', rowid FROM DataTrigger WHERE rowid = NEW.rowid
    OR TriggerName = NEW.TriggerName;
END;

CREATE TRIGGER TR_DataTrigger_BeforeUpdate BEFORE UPDATE ON DataTrigger
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'DataTrigger', rowid FROM DataTrigger WHERE rowid IN (OLD.rowid, NEW.rowid)
    OR TriggerName = NEW.TriggerName;
END;

CREATE TRIGGER TR_DataTrigger_AuditInsert AFTER INSERT ON DataTrigger
BEGIN
    INSERT INTO batchctl_audited VALUES ('insert', 'DataTrigger', NEW.rowid, NULL);
END;

CREATE TRIGGER TR_DataTrigger_AuditUpdate AFTER UPDATE ON DataTrigger
BEGIN
    INSERT INTO batchctl_audited VALUES ('update', 'DataTrigger', NEW.rowid, OLD.rowid);
END;

CREATE TRIGGER TR_DataTrigger_AuditDelete BEFORE DELETE ON DataTrigger
BEGIN
    INSERT INTO batchctl_audited VALUES ('delete', 'DataTrigger', OLD.rowid, NULL);
END;

CREATE TRIGGER TR_FileWatch_BeforeInsert BEFORE INSERT ON FileWatch
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'FileWatch', rowid FROM FileWatch WHERE rowid = NEW.rowid
    OR WatchName = NEW.WatchName;
END;

CREATE TRIGGER TR_FileWatch_BeforeUpdate BEFORE UPDATE ON FileWatch
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'FileWatch', rowid FROM FileWatch WHERE rowid IN (OLD.rowid, NEW.rowid)
    OR WatchName = NEW.WatchName;
END;

CREATE TRIGGER TR_FileWatch_AuditInsert AFTER INSERT ON FileWatch
BEGIN
    INSERT INTO batchctl_audited VALUES ('insert', 'FileWatch', NEW.rowid, NULL);
END;

CREATE TRIGGER TR_FileWatch_AuditUpdate AFTER UPDATE ON FileWatch
BEGIN
    INSERT INTO batchctl_audited VALUES ('update', 'FileWatch', NEW.rowid, OLD.rowid);
END;

CREATE TRIGGER TR_FileWatch_AuditDelete BEFORE DELETE ON FileWatch
BEGIN
    SELECT RAISE(ABORT, 'batchctl: FileWatchSeen has rows of this FileWatch: instead: UPDATE FileWatch SET Enabled = 0 WHERE WatchName = ...')
    FROM FileWatchSeen WHERE FileWatch_id = OLD.FileWatch_id;
    INSERT INTO batchctl_audited VALUES ('delete', 'FileWatch', OLD.rowid, NULL);
END;

CREATE TRIGGER TR_BatchFreeze_BeforeInsert BEFORE INSERT ON BatchFreeze
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'BatchFreeze', rowid FROM BatchFreeze WHERE rowid = NEW.rowid;
END;

CREATE TRIGGER TR_BatchFreeze_BeforeUpdate BEFORE UPDATE ON BatchFreeze
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'BatchFreeze', rowid FROM BatchFreeze WHERE rowid IN (OLD.rowid, NEW.rowid);
END;

CREATE TRIGGER TR_BatchFreeze_AuditInsert AFTER INSERT ON BatchFreeze
BEGIN
    INSERT INTO batchctl_audited VALUES ('insert', 'BatchFreeze', NEW.rowid, NULL);
END;

CREATE TRIGGER TR_BatchFreeze_AuditUpdate AFTER UPDATE ON BatchFreeze
BEGIN
    INSERT INTO batchctl_audited VALUES ('update', 'BatchFreeze', NEW.rowid, OLD.rowid);
END;

CREATE TRIGGER TR_BatchFreeze_AuditDelete BEFORE DELETE ON BatchFreeze
BEGIN
    INSERT INTO batchctl_audited VALUES ('delete', 'BatchFreeze', OLD.rowid, NULL);
END;

CREATE TRIGGER TR_Drain_BeforeInsert BEFORE INSERT ON Drain
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'Drain', rowid FROM Drain WHERE rowid = NEW.rowid;
END;

CREATE TRIGGER TR_Drain_BeforeUpdate BEFORE UPDATE ON Drain
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'Drain', rowid FROM Drain WHERE rowid IN (OLD.rowid, NEW.rowid);
END;

CREATE TRIGGER TR_Drain_AuditInsert AFTER INSERT ON Drain
BEGIN
    INSERT INTO batchctl_audited VALUES ('insert', 'Drain', NEW.rowid, NULL);
END;

CREATE TRIGGER TR_Drain_AuditUpdate AFTER UPDATE ON Drain
BEGIN
    INSERT INTO batchctl_audited VALUES ('update', 'Drain', NEW.rowid, OLD.rowid);
END;

CREATE TRIGGER TR_Drain_AuditDelete BEFORE DELETE ON Drain
BEGIN
    INSERT INTO batchctl_audited VALUES ('delete', 'Drain', OLD.rowid, NULL);
END;

CREATE TRIGGER TR_Setting_BeforeInsert BEFORE INSERT ON Setting
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'Setting', rowid FROM Setting WHERE rowid = NEW.rowid
    OR Name = NEW.Name;
END;

CREATE TRIGGER TR_Setting_BeforeUpdate BEFORE UPDATE ON Setting
BEGIN
    INSERT INTO batchctl_in_the_way SELECT 'Setting', rowid FROM Setting WHERE rowid IN (OLD.rowid, NEW.rowid)
    OR Name = NEW.Name;
END;

CREATE TRIGGER TR_Setting_AuditInsert AFTER INSERT ON Setting
BEGIN
    INSERT INTO batchctl_audited VALUES ('insert', 'Setting', NEW.rowid, NULL);
END;

CREATE TRIGGER TR_Setting_AuditUpdate AFTER UPDATE ON Setting
BEGIN
    INSERT INTO batchctl_audited VALUES ('update', 'Setting', NEW.rowid, OLD.rowid);
END;

CREATE TRIGGER TR_Setting_AuditDelete BEFORE DELETE ON Setting
BEGIN
    INSERT INTO batchctl_audited VALUES ('delete', 'Setting', OLD.rowid, NULL);
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

CREATE TRIGGER TR_batchctl_in_the_way INSTEAD OF INSERT ON batchctl_in_the_way
BEGIN
    DELETE FROM batchctl_replaced WHERE TableName = NEW.TableName AND RowNumber = NEW.RowNumber;
    INSERT INTO batchctl_replaced SELECT TableName, RowNumber, Target, ValuesBefore FROM batchctl_told t WHERE t.TableName = NEW.TableName AND t.RowNumber = NEW.RowNumber;
END;

CREATE TRIGGER TR_batchctl_audited INSTEAD OF INSERT ON batchctl_audited
BEGIN
    SELECT RAISE(ABORT, 'batchctl: other rows go by its number: leave that as it is')
    FROM batchctl_used WHERE NEW.RowNumber <> NEW.FormerNumber AND TableName = NEW.TableName AND RowNumber = NEW.FormerNumber;
    SELECT RAISE(ABORT, 'batchctl: a time is written like 2026-11-21 03:15:00: DecidedUntil, LastFired, NextRunTime, ThawedTime, UndrainedTime, UnreachableSince, UntilTime, z_inserted, z_updated')
    FROM batchctl_told t, json_each(t.Times) WHERE NEW.Action <> 'delete' AND t.TableName = NEW.TableName AND t.RowNumber = NEW.RowNumber
        AND (instr(t.Times,'\u0000') OR NOT (value GLOB '*[0-9]' AND ifnull(max('0001',date(value,'+0 days')),'')||' ' IN (value||' ',rtrim(value,'0123456789.:'))));
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore)
    SELECT 'sql', 'sql', 'row delete', substr(Target, 1, 200), ValuesBefore FROM batchctl_replaced w
    WHERE NEW.Action <> 'delete' AND TableName = NEW.TableName AND RowNumber IS NOT NEW.FormerNumber
        AND (RowNumber = NEW.RowNumber OR NOT EXISTS (SELECT 1 FROM batchctl_told n WHERE n.TableName = w.TableName AND n.RowNumber = w.RowNumber)) ORDER BY RowNumber;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row update', substr(t.Target, 1, 200), json_group_object(key, value),
        json_group_object(key, json_extract(t.ValuesBefore, fullkey))
    FROM batchctl_replaced w, batchctl_told t, json_each(w.ValuesBefore)
    WHERE w.TableName = NEW.TableName AND w.RowNumber = NEW.FormerNumber AND t.TableName = NEW.TableName AND t.RowNumber = NEW.RowNumber
        AND w.ValuesBefore <> t.ValuesBefore AND value IS NOT json_extract(t.ValuesBefore, fullkey) GROUP BY w.RowNumber;
    INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore, ValuesAfter)
    SELECT 'sql', 'sql', 'row ' || NEW.Action, substr(Target, 1, 200),
        CASE NEW.Action WHEN 'delete' THEN ValuesBefore END,
        CASE NEW.Action WHEN 'insert' THEN ValuesBefore END
    FROM batchctl_told t WHERE NEW.Action <> 'update' AND t.TableName = NEW.TableName AND t.RowNumber = NEW.RowNumber;
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

CREATE TRIGGER TR_batchctl_replaced_InUse BEFORE DELETE ON batchctl_replaced WHEN NOT EXISTS (SELECT 1 FROM batchctl_told n WHERE n.TableName = OLD.TableName AND n.RowNumber = OLD.RowNumber)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: other tables have rows of this definition, which a REPLACE would leave behind: use UPDATE, or ON CONFLICT DO UPDATE')
    FROM batchctl_used WHERE TableName = OLD.TableName AND RowNumber = OLD.RowNumber;
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

CREATE TRIGGER TR_FileProcess_SetAside BEFORE UPDATE OF Status ON FileProcess WHEN NEW.Status <> OLD.Status AND (NEW.Status = 'paused' OR NEW.Status = 'rejected' OR NEW.Status = 'duplicate')
BEGIN
    SELECT RAISE(ABORT, 'batchctl: the FileProcess row has instances: pause these (batchctl pause ID --reason ...), which inbox show names')
    WHERE NEW.Status = 'paused' AND EXISTS (SELECT 1 FROM BatchControl AS w WHERE w.FileProcess_id = OLD.FileProcess_id);
    SELECT RAISE(ABORT, 'batchctl: the FileProcess row has instances that are not over: cancel these (batchctl cancel ID --reason ...), which inbox show names')
    WHERE NEW.z_updated IS OLD.z_updated AND NEW.Status <> 'paused' AND EXISTS (SELECT 1 FROM BatchControl AS w WHERE w.FileProcess_id = NEW.FileProcess_id AND w.Status NOT IN ('complete', 'cancelled'));
END;

CREATE TRIGGER TR_FileProcess_SetAsideInsert AFTER INSERT ON FileProcess WHEN (NEW.Status = 'paused' OR NEW.Status = 'rejected' OR NEW.Status = 'duplicate')
BEGIN
    SELECT RAISE(ABORT, 'batchctl: the row has instances, which would go on all the same: pause these')
    WHERE NEW.Status = 'paused' AND EXISTS (SELECT 1 FROM BatchControl AS w WHERE w.FileProcess_id = NEW.FileProcess_id);
    SELECT RAISE(ABORT, 'batchctl: the FileProcess row has instances that are not over: cancel these (batchctl cancel ID --reason ...), which inbox show names')
    WHERE NEW.Status <> 'paused' AND EXISTS (SELECT 1 FROM BatchControl AS w WHERE w.FileProcess_id = NEW.FileProcess_id AND w.Status NOT IN ('complete', 'cancelled'));
END;

CREATE TRIGGER TR_Calendar_Used BEFORE DELETE ON Calendar WHEN EXISTS (SELECT 1 FROM Schedule AS u WHERE u.CalendarName = OLD.CalendarName) OR EXISTS (SELECT 1 FROM ProcessBatch AS u WHERE u.ExpectedCalendar = OLD.CalendarName)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: a schedule or ExpectedCalendar of a batch names this calendar: UPDATE Schedule SET CalendarName = ..., UPDATE ProcessBatch SET ExpectedCalendar = ... first');
END;

CREATE TRIGGER TR_Calendar_Renamed BEFORE UPDATE OF CalendarName ON Calendar WHEN NEW.CalendarName <> OLD.CalendarName AND (EXISTS (SELECT 1 FROM Schedule AS u WHERE u.CalendarName = OLD.CalendarName) OR EXISTS (SELECT 1 FROM ProcessBatch AS u WHERE u.ExpectedCalendar = OLD.CalendarName))
BEGIN
    SELECT RAISE(ABORT, 'batchctl: a schedule or ExpectedCalendar of a batch names this calendar: UPDATE Schedule SET CalendarName = ..., UPDATE ProcessBatch SET ExpectedCalendar = ... first');
END;

CREATE TRIGGER TR_Pool_Used BEFORE DELETE ON Pool WHEN EXISTS (SELECT 1 FROM ProcessBatch AS u WHERE lower(u.Pool) = OLD.PoolName) OR EXISTS (SELECT 1 FROM ProcessControl AS u WHERE lower(u.Pool) = OLD.PoolName)
BEGIN
    SELECT RAISE(ABORT, 'batchctl: a batch or a step names this pool: UPDATE ProcessBatch SET Pool = ..., UPDATE ProcessControl SET Pool = ... first');
END;

CREATE TRIGGER TR_Pool_Renamed BEFORE UPDATE OF PoolName ON Pool WHEN NEW.PoolName <> OLD.PoolName AND (EXISTS (SELECT 1 FROM ProcessBatch AS u WHERE lower(u.Pool) = OLD.PoolName) OR EXISTS (SELECT 1 FROM ProcessControl AS u WHERE lower(u.Pool) = OLD.PoolName))
BEGIN
    SELECT RAISE(ABORT, 'batchctl: a batch or a step names this pool: UPDATE ProcessBatch SET Pool = ..., UPDATE ProcessControl SET Pool = ... first');
END;

CREATE TRIGGER TR_vSqlJob_Insert INSTEAD OF INSERT ON vSqlJob
BEGIN
    SELECT RAISE(ABORT, 'batchctl: a job needs JobName, ConnectionName, ScheduledSql and FirstRunOn')
    WHERE NEW.JobName IS NULL OR NEW.FirstRunOn IS NULL OR NEW.ConnectionName IS NULL OR NEW.ScheduledSql IS NULL;
    SELECT RAISE(ABORT, 'batchctl: IsRepeatable is 0 (once) or 1 (daily)')
    WHERE CAST(NEW.IsRepeatable AS TEXT) NOT IN ('0', '1');
    SELECT RAISE(ABORT, 'batchctl: a daily job is due on the minute: write FirstRunOn without seconds, such as 2026-12-01 02:15')
    WHERE NEW.IsRepeatable AND RTRIM(substr(NEW.FirstRunOn, 17)) NOT IN ('', ':00');
    SELECT RAISE(ABORT, 'batchctl: JobName is empty: it is the name of the job')
    WHERE TRIM(NEW.JobName) = '';
    SELECT RAISE(ABORT, 'batchctl: FirstRunOn is a time, such as 2026-12-01 02:15')
    WHERE NOT (substr(trim(NEW.FirstRunOn)||':'||'00',1,max(19,length(trim(NEW.FirstRunOn)))) GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9][ T][0-2][0-9]:[0-5][0-9]:[0-5][0-9]' AND substr(trim(NEW.FirstRunOn),6,2) BETWEEN '01' AND '12' AND substr(trim(NEW.FirstRunOn),9,2) BETWEEN '01' AND '31' AND substr(trim(NEW.FirstRunOn),12,2) < '24');
    SELECT RAISE(ABORT, 'batchctl: IsEnabled is 0 or 1')
    WHERE CAST(NEW.IsEnabled AS TEXT) NOT IN ('0', '1');
    SELECT RAISE(ABORT, 'batchctl: there is a batch or a schedule of this JobName already: SELECT JobName FROM vSqlJob; batchctl batches')
    WHERE EXISTS (SELECT 1 FROM ProcessBatch t WHERE t.ProcessBatchName = NEW.JobName) OR EXISTS (SELECT 1 FROM Schedule t WHERE t.ScheduleName = NEW.JobName);
    INSERT INTO ProcessBatch (ProcessBatchName, OnFailure, Origin)
    SELECT NEW.JobName, 'continue', 'sql';
    INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2)
    SELECT b.ProcessBatch_id, 10, NEW.JobName, 'sql', replace(replace(NEW.ConnectionName, '{', '{{'), '}', '}}'), replace(replace(NEW.ScheduledSql, '{', '{{'), '}', '}}') FROM ProcessBatch b WHERE b.ProcessBatchName = NEW.JobName;
    INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, StartDate, RunAt, TimeZone, CatchUp, Enabled, Origin)
    SELECT NEW.JobName, NEW.JobName, CASE WHEN NEW.IsRepeatable THEN 'daily' ELSE 'once' END,
        CASE WHEN NEW.IsRepeatable THEN substr(NEW.FirstRunOn, 12, 5) END, CASE WHEN NEW.IsRepeatable THEN substr(NEW.FirstRunOn, 1, 10) END,
        CASE WHEN NEW.IsRepeatable THEN NULL ELSE NEW.FirstRunOn END, NEW.TimeZone, 'latest', COALESCE(NEW.IsEnabled, 1), 'sql';
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

