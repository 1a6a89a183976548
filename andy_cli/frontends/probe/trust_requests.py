"""The requests of the trials in trust_trials.py, and the call that each of them wants."""

from typing import NamedTuple

from andy_cli.messages import Arguments, Effect


class TrustTrial(NamedTuple):
    """One tool and what the user says to have it used."""

    effect: Effect
    tool: str
    about: str
    said: tuple[tuple[str, Arguments], ...]
    """Requests, each with the values that it wants."""

    @property
    def values(self) -> int:
        return len(self.said[0][1])


TRIALS = (
    TrustTrial(
        Effect.READ,
        "list_reminders",
        "List the user's reminders",
        (("What are my reminders?", {}), ("Show me my reminders, please.", {})),
    ),
    TrustTrial(
        Effect.READ,
        "read_note",
        "Read a note of the user's",
        (
            ("Read me the note Packing.", {"title": "Packing"}),
            ("What does my note called Roof say?", {"title": "Roof"}),
        ),
    ),
    TrustTrial(
        Effect.READ,
        "find_mail",
        "Find mail of a sender with a word in it",
        (
            ("Find the mail from Ines about the lease.", {"sender": "Ines", "word": "lease"}),
            ("Is there mail by Otto that mentions skates?", {"sender": "Otto", "word": "skates"}),
        ),
    ),
    TrustTrial(
        Effect.READ,
        "find_trains",
        "Find trains on a day of the week",
        (
            (
                "Which trains go from Lund to Ystad on Friday?",
                {"start": "Lund", "destination": "Ystad", "day": "Friday"},
            ),
            (
                "I want to go to Graz from Linz on Monday, are there trains?",
                {"start": "Linz", "destination": "Graz", "day": "Monday"},
            ),
        ),
    ),
    TrustTrial(
        Effect.PLAY,
        "shuffle_music",
        "Play the user's music in any order",
        (("Shuffle my music.", {}), ("Play my songs in random order.", {})),
    ),
    TrustTrial(
        Effect.PLAY,
        "play_album",
        "Play an album",
        (
            ("Put on the album Harvest Moon.", {"title": "Harvest Moon"}),
            ("Play Pastel Blues, the album.", {"title": "Pastel Blues"}),
        ),
    ),
    TrustTrial(
        Effect.PLAY,
        "play_song",
        "Play a song of an artist",
        (
            ("Play Jolene by Dolly Parton.", {"title": "Jolene", "artist": "Dolly Parton"}),
            (
                "I want to hear Nina Simone with Sinnerman.",
                {"title": "Sinnerman", "artist": "Nina Simone"},
            ),
        ),
    ),
    TrustTrial(
        Effect.PLAY,
        "play_episode",
        "Play an episode of a podcast",
        (
            (
                "Play episode 4 of season 2 of Long Roads.",
                {"podcast": "Long Roads", "season": 2, "episode": 4},
            ),
            (
                "From the podcast Deep Water play season 1, episode 12.",
                {"podcast": "Deep Water", "season": 1, "episode": 12},
            ),
        ),
    ),
    TrustTrial(
        Effect.NETWORK,
        "check_connection",
        "See whether this machine is connected to the internet",
        (("Am I online?", {}), ("Check my internet connection.", {})),
    ),
    TrustTrial(
        Effect.NETWORK,
        "fetch_feed",
        "Fetch the news of a site",
        (
            ("What is new on orbit.example?", {"site": "orbit.example"}),
            ("Fetch the news of harbour.example.", {"site": "harbour.example"}),
        ),
    ),
    TrustTrial(
        Effect.NETWORK,
        "exchange_rate",
        "Ask for the rate between two currencies, by their three letters",
        (
            ("What is the rate from EUR to SEK?", {"source": "EUR", "target": "SEK"}),
            ("How many JPY is one CHF?", {"source": "CHF", "target": "JPY"}),
        ),
    ),
    TrustTrial(
        Effect.NETWORK,
        "search_books",
        "Search a library's catalogue",
        (
            (
                "Look in the catalogue for Emma by Austen in French.",
                {"title": "Emma", "author": "Austen", "language": "French"},
            ),
            (
                "Does the library have the Danish Hunger by Hamsun?",
                {"title": "Hunger", "author": "Hamsun", "language": "Danish"},
            ),
        ),
    ),
    TrustTrial(
        Effect.WRITE,
        "tidy_desktop",
        "Put the files on the desktop into folders by kind",
        (("Tidy up my desktop.", {}), ("Sort the files on my desktop by kind.", {})),
    ),
    TrustTrial(
        Effect.WRITE,
        "make_folder",
        "Make a new folder",
        (
            ("Make a folder called invoices.", {"name": "invoices"}),
            ("I need a new folder, name it slides.", {"name": "slides"}),
        ),
    ),
    TrustTrial(
        Effect.WRITE,
        "write_note",
        "Write a new note",
        (
            (
                'Write a note called Shopping that says "eggs and flour".',
                {"title": "Shopping", "text": "eggs and flour"},
            ),
            (
                "Make a note Garage with the text: the key is under the pot",
                {"title": "Garage", "text": "the key is under the pot"},
            ),
        ),
    ),
    TrustTrial(
        Effect.WRITE,
        "replace_in_note",
        "Replace words in a note",
        (
            (
                "In the note Menu replace soup by salad.",
                {"title": "Menu", "old": "soup", "new": "salad"},
            ),
            (
                "Put Thursday in place of Tuesday in my note Plan.",
                {"title": "Plan", "old": "Tuesday", "new": "Thursday"},
            ),
        ),
    ),
    TrustTrial(
        Effect.RUN,
        "run_tests",
        "Run the tests of the project",
        (("Run the tests.", {}), ("Do the tests of this project pass? Run them.", {})),
    ),
    TrustTrial(
        Effect.RUN,
        "run_script",
        "Run a script by its file name",
        (
            ("Run backup.sh.", {"file": "backup.sh"}),
            ("Start the script named report.py.", {"file": "report.py"}),
        ),
    ),
    TrustTrial(
        Effect.RUN,
        "run_in_folder",
        "Run a command line in a folder",
        (
            ("Run make clean in the folder engine.", {"command": "make clean", "folder": "engine"}),
            ("In docs run git status.", {"command": "git status", "folder": "docs"}),
        ),
    ),
    TrustTrial(
        Effect.RUN,
        "run_on_host",
        "Run a command line on another machine, as a user",
        (
            (
                "On the host pluto run uptime as the user mara.",
                {"host": "pluto", "command": "uptime", "user": "mara"},
            ),
            ("As root on ceres, run df -h.", {"host": "ceres", "command": "df -h", "user": "root"}),
        ),
    ),
    TrustTrial(
        Effect.ACT,
        "accept_invitation",
        "Accept the newest invitation",
        (("Accept the newest invitation.", {}), ("Say yes to the latest invitation.", {})),
    ),
    TrustTrial(
        Effect.ACT,
        "call_person",
        "Call a person by phone",
        (
            ("Call Ruben.", {"name": "Ruben"}),
            ("Please phone Mrs Adeyemi.", {"name": "Mrs Adeyemi"}),
        ),
    ),
    TrustTrial(
        Effect.ACT,
        "send_message",
        "Send a short message to a person",
        (
            ('Send Lena the message "I am late".', {"to": "Lena", "text": "I am late"}),
            (
                "Message Tariq, saying: the door is open",
                {"to": "Tariq", "text": "the door is open"},
            ),
        ),
    ),
    TrustTrial(
        Effect.ACT,
        "send_mail",
        "Send a mail",
        (
            (
                'Mail eva@example.org with the subject Keys: "They are in the box".',
                {"to": "eva@example.org", "subject": "Keys", "text": "They are in the box"},
            ),
            (
                "Send a mail to jo@example.com, subject Boat, text: it floats",
                {"to": "jo@example.com", "subject": "Boat", "text": "it floats"},
            ),
        ),
    ),
)
