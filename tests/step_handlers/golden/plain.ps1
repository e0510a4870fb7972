# BatchControl 42 of batch MyFileType1
# in cmd.exe: cd /d "C:\shop" && "C:\shop\bin\load.exe" ^"--file=C:\in\a b\\^" ^"say \^"hi\^"^" <nul
& { $ErrorActionPreference = 'Stop'; $start = [Diagnostics.ProcessStartInfo]::new('C:\shop\bin\load.exe', '"--file=C:\in\a b\\" "say \"hi\""'); $start.WorkingDirectory = 'C:\shop'; $start.UseShellExecute = $false; $start.RedirectStandardInput = $true; $process = [Diagnostics.Process]::Start($start); $process.StandardInput.Close(); $process.WaitForExit(); $global:LASTEXITCODE = $process.ExitCode }
