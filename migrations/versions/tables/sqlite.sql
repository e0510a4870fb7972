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
