"""Contents of Google's mails, documents, sheets and files as plain text."""
