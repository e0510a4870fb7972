"""The lists, the explanations and the acts of the console for programs: `/api/v1`."""
