-- Who did what, and when: a row for every attempt, also while it runs.
SELECT BatchControl_id, ClaimedBy, Pid, DbSession, StartTime, EndTime, Status
FROM BatchProcessHistory
ORDER BY BatchProcessHistory_id;

-- How many ran at once, at most.
SELECT max(AtOnce) AS AtOnceAtMost
FROM (
    SELECT (
        SELECT count(*)
        FROM BatchProcessHistory other
        WHERE other.StartTime <= one.StartTime AND (other.EndTime IS NULL OR other.EndTime > one.StartTime)
    ) AS AtOnce
    FROM BatchProcessHistory one
) counted;
