-- Loads one file of flights into FlightStaging. :Path is the file, :FileName its name, :StartDate and :EndDate its period.
-- It runs in one transaction: either every line is loaded or nothing has changed.

DELETE FROM FlightLine;

-- The file becomes one JSON array of its lines, each line one of its fields: the database parses the file itself.
INSERT INTO FlightLine (Line, Fields)
SELECT key + 1, '[' || replace(json_quote(value), ',', '","') || ']'
FROM json_each(
    '["' || replace(replace(replace(replace(
        CAST(readfile(:Path) AS TEXT), char(13), ''), '\', '\\'), '"', '\"'), char(10), '","') || '"]'
)
WHERE key > 0 AND value <> '';

-- Shows the lines that the next statement is about to refuse.
SELECT Line, Fields FROM BrokenFlightLine ORDER BY Line LIMIT 20;

DELETE FROM FlightStaging;

INSERT INTO FlightStaging (
    FileName, StartDate, EndDate, Line, FieldCount, DateKey,
    DepTime, SchedDepTime, DepDelay, ArrTime, SchedArrTime, ArrDelay,
    Carrier, Flight, TailNum, Origin, Dest, AirTime, Distance, TimeHour
)
SELECT
    :FileName, :StartDate, :EndDate, Line, json_array_length(Fields),
    json_extract(Fields, '$[0]') * 10000 + json_extract(Fields, '$[1]') * 100 + json_extract(Fields, '$[2]'),
    nullif(json_extract(Fields, '$[3]'), 'NA'),
    json_extract(Fields, '$[4]'),
    nullif(json_extract(Fields, '$[5]'), 'NA'),
    nullif(json_extract(Fields, '$[6]'), 'NA'),
    json_extract(Fields, '$[7]'),
    nullif(json_extract(Fields, '$[8]'), 'NA'),
    json_extract(Fields, '$[9]'),
    json_extract(Fields, '$[10]'),
    nullif(json_extract(Fields, '$[11]'), 'NA'),
    json_extract(Fields, '$[12]'),
    json_extract(Fields, '$[13]'),
    nullif(json_extract(Fields, '$[14]'), 'NA'),
    json_extract(Fields, '$[15]'),
    json_extract(Fields, '$[18]')
FROM FlightLine
ORDER BY Line;

INSERT OR REPLACE INTO FlightLoad (FileName, StartDate, EndDate, Flights)
SELECT :FileName, :StartDate, :EndDate, count(*) FROM FlightStaging;

DELETE FROM FlightLine;
