"""The requests of the trials in trust_trials.py, and the call that each of them wants."""

from typing import NamedTuple

from andy_cli.messages import Arguments, Effect

TrialRequest = tuple[str | int, ...]
"""The user's words, and the values that they name."""


class TrustTrial(NamedTuple):
    """One tool and what the user says to have it used, in two ways."""

    effect: Effect
    tool: str
    about: str
    names: tuple[str, ...]
    """Of the values that it takes."""
    first: TrialRequest
    second: TrialRequest

    @property
    def said(self) -> list[tuple[str, Arguments]]:
        """Both requests, each with the values that it wants."""
        return [
            (str(words), dict(zip(self.names, values, strict=True)))
            for words, *values in (self.first, self.second)
        ]

    @property
    def values(self) -> int:
        return len(self.names)


TRIALS = (
    TrustTrial(
        Effect.READ,
        "list_reminders",
        "List the user's reminders",
        (),
        ("What are my reminders?",),
        ("Show me my reminders, please.",),
    ),
    TrustTrial(
        Effect.READ,
        "read_note",
        "Read a note of the user's",
        ("title",),
        ("Read me the note Packing.", "Packing"),
        ("What does my note called Roof say?", "Roof"),
    ),
    TrustTrial(
        Effect.READ,
        "find_mail",
        "Find mail of a sender with a word in it",
        ("sender", "word"),
        ("Find the mail from Ines about the lease.", "Ines", "lease"),
        ("Is there mail by Otto that mentions skates?", "Otto", "skates"),
    ),
    TrustTrial(
        Effect.READ,
        "find_trains",
        "Find trains on a day of the week",
        ("start", "destination", "day"),
        ("Which trains go from Lund to Ystad on Friday?", "Lund", "Ystad", "Friday"),
        ("I want to go to Graz from Linz on Monday, are there trains?", "Linz", "Graz", "Monday"),
    ),
    TrustTrial(
        Effect.PLAY,
        "shuffle_music",
        "Play the user's music in any order",
        (),
        ("Shuffle my music.",),
        ("Play my songs in random order.",),
    ),
    TrustTrial(
        Effect.PLAY,
        "play_album",
        "Play an album",
        ("title",),
        ("Put on the album Harvest Moon.", "Harvest Moon"),
        ("Play Pastel Blues, the album.", "Pastel Blues"),
    ),
    TrustTrial(
        Effect.PLAY,
        "play_song",
        "Play a song of an artist",
        ("title", "artist"),
        ("Play Jolene by Dolly Parton.", "Jolene", "Dolly Parton"),
        ("I want to hear Nina Simone with Sinnerman.", "Sinnerman", "Nina Simone"),
    ),
    TrustTrial(
        Effect.PLAY,
        "play_episode",
        "Play an episode of a podcast",
        ("podcast", "season", "episode"),
        ("Play episode 4 of season 2 of Long Roads.", "Long Roads", 2, 4),
        ("From the podcast Deep Water play season 1, episode 12.", "Deep Water", 1, 12),
    ),
    TrustTrial(
        Effect.NETWORK,
        "check_connection",
        "See whether this machine is connected to the internet",
        (),
        ("Am I online?",),
        ("Check my internet connection.",),
    ),
    TrustTrial(
        Effect.NETWORK,
        "fetch_feed",
        "Fetch the news of a site",
        ("site",),
        ("What is new on orbit.example?", "orbit.example"),
        ("Fetch the news of harbour.example.", "harbour.example"),
    ),
    TrustTrial(
        Effect.NETWORK,
        "exchange_rate",
        "Ask for the rate between two currencies, by their three letters",
        ("source", "target"),
        ("What is the rate from EUR to SEK?", "EUR", "SEK"),
        ("How many JPY is one CHF?", "CHF", "JPY"),
    ),
    TrustTrial(
        Effect.NETWORK,
        "search_books",
        "Search a library's catalogue",
        ("title", "author", "language"),
        ("Look in the catalogue for Emma by Austen in French.", "Emma", "Austen", "French"),
        ("Does the library have the Danish Hunger by Hamsun?", "Hunger", "Hamsun", "Danish"),
    ),
    TrustTrial(
        Effect.WRITE,
        "tidy_desktop",
        "Put the files on the desktop into folders by kind",
        (),
        ("Tidy up my desktop.",),
        ("Sort the files on my desktop by kind.",),
    ),
    TrustTrial(
        Effect.WRITE,
        "make_folder",
        "Make a new folder",
        ("name",),
        ("Make a folder called invoices.", "invoices"),
        ("I need a new folder, name it slides.", "slides"),
    ),
    TrustTrial(
        Effect.WRITE,
        "write_note",
        "Write a new note",
        ("title", "text"),
        ('Write a note called Shopping that says "eggs and flour".', "Shopping", "eggs and flour"),
        (
            "Make a note Garage with the text: the key is under the pot",
            "Garage",
            "the key is under the pot",
        ),
    ),
    TrustTrial(
        Effect.WRITE,
        "replace_in_note",
        "Replace words in a note",
        ("title", "old", "new"),
        ("In the note Menu replace soup by salad.", "Menu", "soup", "salad"),
        ("Put Thursday in place of Tuesday in my note Plan.", "Plan", "Tuesday", "Thursday"),
    ),
    TrustTrial(
        Effect.RUN,
        "run_tests",
        "Run the tests of the project",
        (),
        ("Run the tests.",),
        ("Do the tests of this project pass? Run them.",),
    ),
    TrustTrial(
        Effect.RUN,
        "run_script",
        "Run a script by its file name",
        ("file",),
        ("Run backup.sh.", "backup.sh"),
        ("Start the script named report.py.", "report.py"),
    ),
    TrustTrial(
        Effect.RUN,
        "run_in_folder",
        "Run a command line in a folder",
        ("command", "folder"),
        ("Run make clean in the folder engine.", "make clean", "engine"),
        ("In docs run git status.", "git status", "docs"),
    ),
    TrustTrial(
        Effect.RUN,
        "run_on_host",
        "Run a command line on another machine, as a user",
        ("host", "command", "user"),
        ("On the host pluto run uptime as the user mara.", "pluto", "uptime", "mara"),
        ("As root on ceres, run df -h.", "ceres", "df -h", "root"),
    ),
    TrustTrial(
        Effect.ACT,
        "accept_invitation",
        "Accept the newest invitation",
        (),
        ("Accept the newest invitation.",),
        ("Say yes to the latest invitation.",),
    ),
    TrustTrial(
        Effect.ACT,
        "call_person",
        "Call a person by phone",
        ("name",),
        ("Call Ruben.", "Ruben"),
        ("Please phone Mrs Adeyemi.", "Mrs Adeyemi"),
    ),
    TrustTrial(
        Effect.ACT,
        "send_message",
        "Send a short message to a person",
        ("to", "text"),
        ('Send Lena the message "I am late".', "Lena", "I am late"),
        ("Message Tariq, saying: the door is open", "Tariq", "the door is open"),
    ),
    TrustTrial(
        Effect.ACT,
        "send_mail",
        "Send a mail",
        ("to", "subject", "text"),
        (
            'Mail eva@example.org with the subject Keys: "They are in the box".',
            "eva@example.org",
            "Keys",
            "They are in the box",
        ),
        (
            "Send a mail to jo@example.com, subject Boat, text: it floats",
            "jo@example.com",
            "Boat",
            "it floats",
        ),
    ),
)
