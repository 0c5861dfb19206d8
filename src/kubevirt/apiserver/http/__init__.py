"""The API over HTTP: what was asked, in which form, and how the answer is written."""
