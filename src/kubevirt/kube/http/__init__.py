"""Requests and answers: what goes over the wire, and what each failure means."""
