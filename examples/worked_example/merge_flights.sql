-- Replaces the flights of the file's period by what was loaded from it. Running it twice changes nothing more.
-- When another file has been loaded since, it changes nothing: load this one again first (rerun --from 20).

DELETE FROM Flight
WHERE DateKey BETWEEN {Data3} AND {Data4}
  AND EXISTS (SELECT 1 FROM FlightStaging WHERE FileName = {Data2});

INSERT INTO Flight (
    DateKey, TimeHour, Carrier, Flight, TailNum, Origin, Dest, Distance,
    SchedDepTime, DepTime, DepDelay, SchedArrTime, ArrTime, ArrDelay, AirTime, FileName
)
SELECT
    DateKey, TimeHour, Carrier, Flight, TailNum, Origin, Dest, Distance,
    SchedDepTime, DepTime, DepDelay, SchedArrTime, ArrTime, ArrDelay, AirTime, FileName
FROM FlightStaging
WHERE FileName = {Data2};
