-- The warehouse of the worked example on PostgreSQL, with its stored procedure.
-- NA in a file becomes null. Days are numbers: 20130131.
--
-- The server itself reads the file, so the file must be readable for it, and the role needs: GRANT pg_read_server_files TO ...

-- The lines of the file that is being loaded, as they are written. Empty between loads.
CREATE TABLE FlightText (
    Line    integer GENERATED ALWAYS AS IDENTITY,
    Written text
);

-- The same lines without the header, split into their fields. Empty between loads.
CREATE TABLE FlightLine (
    Line   integer NOT NULL PRIMARY KEY,
    Fields text[]  NOT NULL
);

-- Lines that the load will refuse.
CREATE VIEW BrokenFlightLine AS
SELECT Line, Fields
FROM FlightLine
WHERE cardinality(Fields) <> 19
   OR EXISTS (
        SELECT 1
        FROM unnest(ARRAY[1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 15, 16, 17, 18]) AS At
        WHERE Fields[At] <> 'NA' AND Fields[At] !~ '^-?[0-9]+$'
      );

-- The file loaded last.
CREATE TABLE FlightStaging (
    FileName     text    NOT NULL,
    StartDate    integer NOT NULL,
    EndDate      integer NOT NULL,
    Line         integer NOT NULL PRIMARY KEY,
    DateKey      integer NOT NULL,
    DepTime      integer,
    SchedDepTime integer NOT NULL,
    DepDelay     integer,
    ArrTime      integer,
    SchedArrTime integer NOT NULL,
    ArrDelay     integer,
    Carrier      text    NOT NULL,
    Flight       integer NOT NULL,
    TailNum      text,
    Origin       text    NOT NULL,
    Dest         text    NOT NULL,
    AirTime      integer,
    Distance     integer NOT NULL,
    TimeHour     timestamptz NOT NULL,
    CONSTRAINT the_day_lies_in_the_period_of_the_file CHECK (DateKey BETWEEN StartDate AND EndDate)
);

-- One row per file ever loaded.
CREATE TABLE FlightLoad (
    FileName  text    NOT NULL PRIMARY KEY,
    StartDate integer NOT NULL,
    EndDate   integer NOT NULL,
    Flights   integer NOT NULL,
    CONSTRAINT the_file_holds_at_least_one_flight CHECK (Flights > 0)
);

-- The flights of all files.
CREATE TABLE Flight (
    DateKey      integer NOT NULL,
    TimeHour     timestamptz NOT NULL,
    Carrier      text    NOT NULL,
    Flight       integer NOT NULL,
    TailNum      text,
    Origin       text    NOT NULL,
    Dest         text    NOT NULL,
    Distance     integer NOT NULL,
    SchedDepTime integer NOT NULL,
    DepTime      integer,
    DepDelay     integer,
    SchedArrTime integer NOT NULL,
    ArrTime      integer,
    ArrDelay     integer,
    AirTime      integer,
    FileName     text    NOT NULL,
    PRIMARY KEY (DateKey, TimeHour, Carrier, Flight)
);

-- Loads one file of flights into FlightStaging: either every line of it, or nothing has changed.
CREATE PROCEDURE load_flights(Path text, FileName text, StartDate integer, EndDate integer)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    broken record;
BEGIN
    TRUNCATE FlightText RESTART IDENTITY;
    DELETE FROM FlightLine;

    -- With a delimiter and a quote that no file holds, each line is the one value of its row.
    EXECUTE format(
        $copy$COPY FlightText (Written) FROM %L WITH (FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02', ENCODING 'UTF8')$copy$,
        load_flights.Path
    );

    INSERT INTO FlightLine (Line, Fields)
    SELECT Line, string_to_array(Written, ',')
    FROM FlightText
    WHERE Line > 1 AND Written <> '';

    FOR broken IN SELECT Line, Fields FROM BrokenFlightLine ORDER BY Line LIMIT 20 LOOP
        RAISE NOTICE '% | %', broken.Line, broken.Fields;
    END LOOP;
    SELECT Line, Fields INTO broken FROM BrokenFlightLine ORDER BY Line LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'line % of % is no flight', broken.Line, load_flights.FileName
            USING ERRCODE = 'check_violation', HINT = 'have the sender correct the file, then: batchctl rerun';
    END IF;

    DELETE FROM FlightStaging;

    INSERT INTO FlightStaging (
        FileName, StartDate, EndDate, Line, DateKey,
        DepTime, SchedDepTime, DepDelay, ArrTime, SchedArrTime, ArrDelay,
        Carrier, Flight, TailNum, Origin, Dest, AirTime, Distance, TimeHour
    )
    SELECT
        load_flights.FileName, load_flights.StartDate, load_flights.EndDate, Line,
        Fields[1]::integer * 10000 + Fields[2]::integer * 100 + Fields[3]::integer,
        nullif(Fields[4], 'NA')::integer,
        Fields[5]::integer,
        nullif(Fields[6], 'NA')::integer,
        nullif(Fields[7], 'NA')::integer,
        Fields[8]::integer,
        nullif(Fields[9], 'NA')::integer,
        Fields[10],
        Fields[11]::integer,
        nullif(Fields[12], 'NA'),
        Fields[13],
        Fields[14],
        nullif(Fields[15], 'NA')::integer,
        Fields[16]::integer,
        Fields[19]::timestamptz
    FROM FlightLine;

    INSERT INTO FlightLoad (FileName, StartDate, EndDate, Flights)
    SELECT load_flights.FileName, load_flights.StartDate, load_flights.EndDate, count(*) FROM FlightStaging
    ON CONFLICT (FileName) DO UPDATE
    SET StartDate = EXCLUDED.StartDate, EndDate = EXCLUDED.EndDate, Flights = EXCLUDED.Flights;

    TRUNCATE FlightText RESTART IDENTITY;
    DELETE FROM FlightLine;
END
$$;
