# BatchControl 42 of batch MyFileType1
# in cmd.exe: cd /d "C:\shop" && "C:\jobs\load.cmd" data_20261101.csv /x <nul
& { $ErrorActionPreference = 'Stop'; $start = [Diagnostics.ProcessStartInfo]::new('C:\jobs\load.cmd', 'data_20261101.csv /x'); $start.WorkingDirectory = 'C:\shop'; $start.UseShellExecute = $false; $start.RedirectStandardInput = $true; $process = [Diagnostics.Process]::Start($start); $process.StandardInput.Close(); $process.WaitForExit(); $global:LASTEXITCODE = $process.ExitCode }
