"""The requests of the trials in trust_trials.py, and the call that each of them wants."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from andy_cli.messages import Arguments, Effect

REQUESTS = """\
read list_reminders: List the user's reminders
  What are my reminders?
  Show me my reminders, please.
read read_note title: Read a note of the user's
  Read me the note {title=Packing}.
  What does my note called {title=Roof} say?
read find_mail sender word: Find mail of a sender with a word in it
  Find the mail from {sender=Ines} about the {word=lease}.
  Is there mail by {sender=Otto} that mentions {word=skates}?
read find_trains start destination day: Find trains on a day of the week
  Which trains go from {start=Lund} to {destination=Ystad} on {day=Friday}?
  I want to go to {destination=Graz} from {start=Linz} on {day=Monday}, are there trains?
play shuffle_music: Play the user's music in any order
  Shuffle my music.
  Play my songs in random order.
play play_album title: Play an album
  Put on the album {title=Harvest Moon}.
  Play {title=Pastel Blues}, the album.
play play_song title artist: Play a song of an artist
  Play {title=Jolene} by {artist=Dolly Parton}.
  I want to hear {artist=Nina Simone} with {title=Sinnerman}.
play play_episode podcast season episode: Play an episode of a podcast
  Play episode {episode=4} of season {season=2} of {podcast=Long Roads}.
  From the podcast {podcast=Deep Water} play season {season=1}, episode {episode=12}.
network check_connection: See whether this machine is connected to the internet
  Am I online?
  Check my internet connection.
network fetch_feed site: Fetch the news of a site
  What is new on {site=orbit.example}?
  Fetch the news of {site=harbour.example}.
network exchange_rate source target: Ask for the rate between two currencies, by their three letters
  What is the rate from {source=EUR} to {target=SEK}?
  How many {target=JPY} is one {source=CHF}?
network search_books title author language: Search a library's catalogue
  Look in the catalogue for {title=Emma} by {author=Austen} in {language=French}.
  Does the library have the {language=Danish} {title=Hunger} by {author=Hamsun}?
write tidy_desktop: Put the files on the desktop into folders by kind
  Tidy up my desktop.
  Sort the files on my desktop by kind.
write make_folder name: Make a new folder
  Make a folder called {name=invoices}.
  I need a new folder, name it {name=slides}.
write write_note title text: Write a new note
  Write a note called {title=Shopping} that says "{text=eggs and flour}".
  Make a note {title=Garage} with the text: {text=the key is under the pot}
write replace_in_note title old new: Replace words in a note
  In the note {title=Menu} replace {old=soup} by {new=salad}.
  Put {new=Thursday} in place of {old=Tuesday} in my note {title=Plan}.
run run_tests: Run the tests of the project
  Run the tests.
  Do the tests of this project pass? Run them.
run run_script file: Run a script by its file name
  Run {file=backup.sh}.
  Start the script named {file=report.py}.
run run_in_folder command folder: Run a command line in a folder
  Run {command=make clean} in the folder {folder=engine}.
  In {folder=docs} run {command=git status}.
run run_on_host host command user: Run a command line on another machine, as a user
  On the host {host=pluto} run {command=uptime} as the user {user=mara}.
  As {user=root} on {host=ceres}, run {command=df -h}.
act accept_invitation: Accept the newest invitation
  Accept the newest invitation.
  Say yes to the latest invitation.
act call_person name: Call a person by phone
  Call {name=Ruben}.
  Please phone {name=Mrs Adeyemi}.
act send_message to text: Send a short message to a person
  Send {to=Lena} the message "{text=I am late}".
  Message {to=Tariq}, saying: {text=the door is open}
act send_mail to subject text: Send a mail
  Mail {to=eva@example.org} with the subject {subject=Keys}: "{text=They are in the box}".
  Send a mail to {to=jo@example.com}, subject {subject=Boat}, text: {text=it floats}
"""
"""Of each trial the effect, the tool, the names of its values and what it does; and two requests in
which the values stand."""
VALUE = re.compile(r"\{(\w+)=([^}]*)\}")


class TrustTrial(NamedTuple):
    """One tool and what the user says to have it used, in two ways."""

    effect: Effect
    tool: str
    about: str
    value_count: int
    """The number of values that it takes."""
    requests: tuple[tuple[str, Arguments], ...]
    """Both requests, each with the values that it wants."""


def _read_trials() -> Iterator[TrustTrial]:
    lines = REQUESTS.splitlines()
    for heading, *requests in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        signature, _, about = heading.partition(": ")
        effect, tool, *names = signature.split()
        read_requests = tuple(_read_request(request.strip(), names) for request in requests)
        yield TrustTrial(Effect(effect), tool, about, len(names), read_requests)


def _read_request(written: str, names: Sequence[str]) -> tuple[str, Arguments]:
    values = {name: int(text) if text.isdigit() else text for name, text in VALUE.findall(written)}
    return VALUE.sub(r"\2", written), {name: values[name] for name in names}


TRIALS = tuple(_read_trials())
