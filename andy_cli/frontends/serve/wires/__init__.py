"""The APIs that clients speak: each has a reader of requests and a writer of answers."""
