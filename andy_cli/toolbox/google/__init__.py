"""Google Workspace over its REST APIs: mail, drive, calendar, documents, sheets, tasks."""
