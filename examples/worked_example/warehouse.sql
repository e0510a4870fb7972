-- The warehouse of the worked example: what MyFileType1 loads, merges and reports from.
-- NA in a file becomes null. Days are numbers: 20130131.

-- The lines of the file that is being loaded, each as a JSON array of its fields. Empty between loads.
CREATE TABLE FlightLine (
    Line   INTEGER NOT NULL PRIMARY KEY,
    Fields TEXT    NOT NULL
);

-- Lines that the load will refuse.
CREATE VIEW BrokenFlightLine AS
SELECT Line, Fields
FROM FlightLine
WHERE json_array_length(Fields) <> 19
   OR EXISTS (
        SELECT 1 FROM json_each(Fields)
        WHERE key IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 14, 15, 16, 17)
          AND value <> 'NA' AND (value = '' OR value GLOB '*[^0-9-]*')
      );

-- The file loaded last. The name of a constraint is what a person reads when a line breaks it.
CREATE TABLE FlightStaging (
    FileName     TEXT    NOT NULL,
    StartDate    INTEGER NOT NULL,
    EndDate      INTEGER NOT NULL,
    Line         INTEGER NOT NULL PRIMARY KEY,
    FieldCount   INTEGER NOT NULL,
    DateKey      INTEGER,
    DepTime      INTEGER,
    SchedDepTime INTEGER,
    DepDelay     INTEGER,
    ArrTime      INTEGER,
    SchedArrTime INTEGER,
    ArrDelay     INTEGER,
    Carrier      TEXT,
    Flight       INTEGER,
    TailNum      TEXT,
    Origin       TEXT,
    Dest         TEXT,
    AirTime      INTEGER,
    Distance     INTEGER,
    TimeHour     TEXT,
    CONSTRAINT "every line has 19 fields"                CHECK (FieldCount = 19),
    CONSTRAINT "the day lies in the period of the file"  CHECK (DateKey BETWEEN StartDate AND EndDate),
    CONSTRAINT "dep_time is a whole number or NA"        CHECK (typeof(DepTime) IN ('integer', 'null')),
    CONSTRAINT "sched_dep_time is a whole number"        CHECK (typeof(SchedDepTime) = 'integer'),
    CONSTRAINT "dep_delay is a whole number or NA"       CHECK (typeof(DepDelay) IN ('integer', 'null')),
    CONSTRAINT "arr_time is a whole number or NA"        CHECK (typeof(ArrTime) IN ('integer', 'null')),
    CONSTRAINT "sched_arr_time is a whole number"        CHECK (typeof(SchedArrTime) = 'integer'),
    CONSTRAINT "arr_delay is a whole number or NA"       CHECK (typeof(ArrDelay) IN ('integer', 'null')),
    CONSTRAINT "carrier is two characters"               CHECK (Carrier IS NOT NULL AND length(Carrier) = 2),
    CONSTRAINT "flight is a whole number"                CHECK (typeof(Flight) = 'integer'),
    CONSTRAINT "origin is an airport code"               CHECK (Origin IS NOT NULL AND length(Origin) = 3),
    CONSTRAINT "dest is an airport code"                 CHECK (Dest IS NOT NULL AND length(Dest) = 3),
    CONSTRAINT "air_time is a whole number or NA"        CHECK (typeof(AirTime) IN ('integer', 'null')),
    CONSTRAINT "distance is a whole number"              CHECK (typeof(Distance) = 'integer'),
    CONSTRAINT "time_hour is a time"                     CHECK (TimeHour IS NOT NULL AND julianday(TimeHour) IS NOT NULL)
);

-- One row per file ever loaded.
CREATE TABLE FlightLoad (
    FileName  TEXT    NOT NULL PRIMARY KEY,
    StartDate INTEGER NOT NULL,
    EndDate   INTEGER NOT NULL,
    Flights   INTEGER NOT NULL,
    CONSTRAINT "the file holds at least one flight" CHECK (Flights > 0)
);

-- The flights of all files.
CREATE TABLE Flight (
    DateKey      INTEGER NOT NULL,
    TimeHour     TEXT    NOT NULL,
    Carrier      TEXT    NOT NULL,
    Flight       INTEGER NOT NULL,
    TailNum      TEXT,
    Origin       TEXT    NOT NULL,
    Dest         TEXT    NOT NULL,
    Distance     INTEGER NOT NULL,
    SchedDepTime INTEGER NOT NULL,
    DepTime      INTEGER,
    DepDelay     INTEGER,
    SchedArrTime INTEGER NOT NULL,
    ArrTime      INTEGER,
    ArrDelay     INTEGER,
    AirTime      INTEGER,
    FileName     TEXT    NOT NULL,
    PRIMARY KEY (DateKey, TimeHour, Carrier, Flight)
) WITHOUT ROWID;
