DECLARE @file nvarchar(512) = N'C:\Backup\Shop_' + FORMAT(SYSUTCDATETIME(), 'yyyy-MM-dd_HHmmss') + N'.bak';
BACKUP DATABASE Shop TO DISK = @file WITH INIT, CHECKSUM;
