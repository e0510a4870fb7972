-- What the warehouse holds, by file: beside it, what the load counted.
SELECT FlightLoad.FileName, FlightLoad.Flights AS Loaded, count(Flight.Flight) AS Merged
FROM FlightLoad LEFT JOIN Flight ON Flight.FileName = FlightLoad.FileName
GROUP BY FlightLoad.FileName
ORDER BY FlightLoad.FileName;
