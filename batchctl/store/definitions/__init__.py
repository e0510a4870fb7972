"""What people define: batches, steps, jobs, and the files these come from."""
