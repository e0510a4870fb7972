"""The shells that people paste command texts into."""
