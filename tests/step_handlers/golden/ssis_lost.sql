-- BatchControl 42 of batch MyFileType1
-- for sqlcmd or SSMS, on the server of connection etl
DECLARE @caller nvarchar(4000) = N'batchctl test BatchControl 42 step 10 attempt ', @folder nvarchar(128) = N'Finance', @project nvarchar(128) = N'Daily Load', @package nvarchar(260) = N'Load.dtsx';
SELECT TOP (1) e.[execution_id], e.[status], CAST(p.[parameter_value] AS nvarchar(4000)) AS [caller]
FROM [SSISDB].[catalog].[executions] AS e
JOIN [SSISDB].[catalog].[execution_parameter_values] AS p ON p.[execution_id] = e.[execution_id]
WHERE e.[folder_name] = @folder AND e.[project_name] = @project AND e.[package_name] = @package
    AND p.[object_type] = 50 AND p.[parameter_name] = N'CALLER_INFO'
    AND CHARINDEX(@caller, CAST(p.[parameter_value] AS nvarchar(4000))) = 1
ORDER BY e.[execution_id] DESC;
