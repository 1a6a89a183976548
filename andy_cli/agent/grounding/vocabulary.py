"""Words the audit knows, in English and, where they are few, German, French and Spanish."""

import re

MONTHS = {
    name: number
    for number, names in enumerate(
        """january jan januar jänner janvier janv enero ene
        february feb februar février fevrier févr febrero
        march mar märz mrz mars marzo
        april apr avril avr abril abr
        may mai mayo
        june jun juni juin junio
        july jul juli juillet juil julio
        august aug août aout agosto ago
        september sep sept septembre septiembre
        october oct oktober okt octobre octubre
        november nov novembre noviembre
        december dec dezember dez décembre decembre diciembre dic""".split("\n"),
        1,
    )
    for name in names.split()
}

WEEKDAYS = {
    name: number
    for number, names in enumerate(
        """monday mon montag lundi lunes
        tuesday tue tues dienstag mardi martes
        wednesday wed mittwoch mercredi miércoles
        thursday thu thurs donnerstag jeudi jueves
        friday fri freitag vendredi viernes
        saturday sat samstag samedi sábado
        sunday sun sonntag dimanche domingo""".split("\n")
    )
    for name in names.split()
}

NUMBER_WORDS = {
    name: number
    for number, names in enumerate(
        """zero null
        one ein eine un une uno una
        two zwei deux dos
        three drei trois tres
        four vier quatre cuatro
        five fünf cinq cinco
        six sechs seis
        seven sieben sept siete
        eight acht huit ocho
        nine neun neuf nueve
        ten zehn dix diez
        eleven elf onze
        twelve zwölf douze doce
        thirteen dreizehn treize trece
        fourteen vierzehn quatorze catorce
        fifteen fünfzehn quinze quince
        sixteen sechzehn seize dieciséis
        seventeen siebzehn
        eighteen achtzehn
        nineteen neunzehn
        twenty zwanzig vingt veinte""".split("\n")
    )
    for name in names.split()
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80}

EXTENSIONS = frozenset(
    """mp3 wav flac ogg m4a aac opus wma aiff mid txt md rst pdf doc docx odt rtf tex epub xls
    xlsx ods
    csv tsv ppt pptx odp json jsonl toml yaml yml xml html htm css scss js mjs ts tsx jsx vue py
    pyi
    ipynb sh bash zsh bat ps1 c h cc cpp hpp rs go java kt swift rb php pl lua r sql db sqlite log
    ini
    cfg conf env lock png jpg jpeg gif svg webp bmp tiff heic ico psd mp4 mkv avi mov webm m4v zip
    tar
    gz tgz bz2 xz 7z rar iso dmg exe msi deb rpm apk jar whl bak tmp eml ics vcf m3u m3u8 pem key
    crt
    gguf bin dat parquet tf proto dart scala""".split()
)

LIBRARIES = frozenset(
    """node vue next nuxt express react three d3 chart angular moment backbone ember alpine discord
    p5 asp socket day anime pdf brain solid svelte require knockout bun deno plotly""".split()
)
"""What stands before `.js`, `.io` and the like in the name of no file."""

ITEMS = {
    word: family
    for family, words in {
        "file": """file files document documents doc docs photo photos picture pictures image
    images
            pdf pdfs mp3 mp3s entry entries item items datei dateien fichier fichiers archivo
            archivos
            attachment attachments script scripts video videos recording recordings csv csvs
            dokument
            dokumente documento documentos elemento elementos einträge foto fotos bilder png pngs
            jpg
            jpgs jpegs notebooks log logs book books""",
        "folder": """folder folders directory directories subfolder subfolders subdirectory
            subdirectories ordner unterordner dossier dossiers carpeta carpetas""",
        "song": """song songs track tracks tune tunes title titles lied lieder titel chanson
    chansons
            canción canciones piste pistes album albums stücke morceaux""",
        "mail": """email emails e-mail e-mails mail mails message messages conversation
    conversations
            thread threads letter letters nachricht nachrichten mensaje mensajes correo correos
            courriel courriels newsletters""",
        "event": """event events meeting meetings appointment appointments call calls session
    sessions
            termin termine réunion réunions reunión reuniones rendez-vous événement événements cita
            citas eventos evento invitation invitations""",
        "task": """task tasks todo todos to-do to-dos reminder reminders aufgabe aufgaben tâche
    tâches
            tarea tareas issue issues ticket tickets bug bugs""",
        "row": """row rows record records line lines column columns zeile zeilen ligne lignes fila
            filas sheet sheets spreadsheet spreadsheets table tables cell cells product products
            order orders customer customers employee employees person people contact contacts member
            members transaction transactions invoice invoices""",
        "result": """result results hit hits match matches page pages article articles link links
            website websites source sources ergebnis ergebnisse résultat résultats resultado
            resultados option options paper papers post posts treffer""",
        "code": """commit commits branch branches test tests error errors warning warnings process
            processes package packages container containers user users change changes author
            authors
            module modules function functions dependency dependencies note notes failure failures
            repository repositories repo repos playlist playlists artist artists calendar
            calendars""",
    }.items()
    for word in words.split()
}
"""What results are lists of, by family: within one family people use words for each other."""

COUNTING = re.compile(
    r"\b(?:count|total|num|number|results?|matches|hits|length|found|items?|entries|summary"
    r"|listed|sum|n|size|rows|records)\b"
)

APPROXIMATE = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|close to|some|circa|ca\.|etwa|rund"
    r"|ungefähr|environ|unos|unas|cerca de|alrededor de|aproximadamente|(?P<above>over|above|more"
    r" than|just over|at least|über|plus de|más de|a little over|well over|mehr als)"
    r"|(?P<below>nearly|almost|under|below|less than|just (?:under|short of)|up to|at most"
    r"|fast|knapp"
    r"|presque|près de|casi|fewer than|unter|weniger als|moins de|menos de))"
    r"(?:\s+(?:a|an))?|[~≈])\s*[$€£]?$",
    re.IGNORECASE,
)
"""Stands before a figure that is meant roughly."""

STOP = frozenset(
    """the a an and or of in on at to for from by with is are was were be been it its this that
    these
    those there here you your yours i my me we our they them their he she his her as but not no all
    any some each every both more most other another such than then so if when while which who what
    where how do does did has have had will would can could may might must shall should also just
    only very about into over under after before between out up down off per via new old file files
    folder song songs track email emails named called der die das und oder von im ist sind ein eine
    le la les de des du et ou en est sont el los las y o es son un una""".split()
)
"""Words that say nothing about what a sentence is about."""

LABELS = frozenset(
    """total totals overall average mean median largest smallest biggest longest shortest newest
    oldest latest earliest first last highest lowest summary note notes size sizes duration date
    time
    name title subject sender from to type kind status location where when who what attendees
    participants details duration length artist album format next upcoming priority due range count
    number result results conclusion key highlights observations findings overview most least sum
    tip tips warning modified created changed updated price cost author source description change
    trend peak best worst today tomorrow yesterday morning afternoon evening night tonight week
    weekend conditions forecast temperature wind humidity currently now main other others remaining
    rest files folders directories songs tracks emails events tasks documents images music work
    personal high medium low done open pending completed unread read important urgent""".split()
)
"""Words that name a row of an account, not an entry of a list."""

KNOWN_NAMES = frozenset(
    """gmail google outlook microsoft windows linux macos apple excel word drive calendar docs
    sheets
    python javascript java spotify youtube github gitlab wikipedia chrome firefox slack zoom teams
    english german french spanish italian monday tuesday wednesday thursday friday saturday sunday
    android iphone amazon unix""".split()
)
