"""Requests to the APIs of Google over HTTP, and what their refusals mean."""
