-- What the warehouse holds, by file.
SELECT FileName, count(*) AS Flights
FROM Flight
GROUP BY FileName
ORDER BY FileName;
