"""The code of plugins and jobs: called in processes of their own, within time limits."""
