-- BatchControl 42 of batch MyFileType1
-- for sqlcmd or SSMS, on the server of connection etl
SET NOCOUNT ON;
BEGIN TRY
DECLARE @status int;
DECLARE @execution_id bigint, @folder nvarchar(128) = N'Finance', @project nvarchar(128) = N'Daily Load', @package nvarchar(260) = N'Load.dtsx';
EXEC [SSISDB].[catalog].[create_execution] @folder_name = @folder, @project_name = @project, @package_name = @package,
    @reference_id = NULL, @use32bitruntime = 0, @execution_id = @execution_id OUTPUT;
DECLARE @name1 nvarchar(128) = N'Day', @value1 nvarchar(4000) = N'2026-11-21';
EXEC [SSISDB].[catalog].[set_execution_parameter_value] @execution_id = @execution_id,
    @object_type = 20, @parameter_name = @name1, @parameter_value = @value1;
DECLARE @name2 nvarchar(128) = N'Rows', @value2 int = CAST(N'5' AS int);
EXEC [SSISDB].[catalog].[set_execution_parameter_value] @execution_id = @execution_id,
    @object_type = 30, @parameter_name = @name2, @parameter_value = @value2;
DECLARE @name3 nvarchar(128) = N'LOGGING_LEVEL', @value3 smallint = CAST(N'1' AS smallint);
EXEC [SSISDB].[catalog].[set_execution_parameter_value] @execution_id = @execution_id,
    @object_type = 50, @parameter_name = @name3, @parameter_value = @value3;
DECLARE @name4 nvarchar(128) = N'CALLER_INFO', @value4 nvarchar(4000) = N'batchctl test BatchControl 42 step 10 attempt 1 of MyFileType1';
EXEC [SSISDB].[catalog].[set_execution_parameter_value] @execution_id = @execution_id,
    @object_type = 50, @parameter_name = @name4, @parameter_value = @value4;
DECLARE @name5 nvarchar(128) = N'SYNCHRONIZED', @value5 int = CAST(N'1' AS int);
EXEC [SSISDB].[catalog].[set_execution_parameter_value] @execution_id = @execution_id,
    @object_type = 50, @parameter_name = @name5, @parameter_value = @value5;
EXEC [SSISDB].[catalog].[start_execution] @execution_id = @execution_id;
SELECT @status = [status] FROM [SSISDB].[catalog].[executions] WHERE [execution_id] = @execution_id;
WHILE @status IN (2, 5, 8)
BEGIN
WAITFOR DELAY '00:00:01';
SELECT @status = [status] FROM [SSISDB].[catalog].[executions] WHERE [execution_id] = @execution_id;
END;
SELECT @execution_id AS [execution_id], @status AS [status];
SELECT TOP (300) [operation_message_id], [message_type],
    CONVERT(nvarchar(19), [message_time], 126) AS [message_time], [message], COUNT(*) OVER () AS [all_messages]
FROM [SSISDB].[catalog].[operation_messages] WHERE [operation_id] = @execution_id
ORDER BY CASE WHEN [message_type] IN (120, 130) THEN 0 WHEN [message_type] = 110 THEN 1 ELSE 2 END,
    [operation_message_id];
IF @status <> 7 RAISERROR(N'execution %I64d ended with status %d, not with 7', 16, 1, @execution_id, @status);
END TRY
BEGIN CATCH
THROW;
END CATCH;
