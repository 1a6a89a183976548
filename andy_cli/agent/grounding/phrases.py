"""How an answer says that something was done, each way as a regular expression."""

import re

from andy_cli.agent.grounding.families import FAMILIES
from andy_cli.compiler.expression import Expression

OUTSIDE = (
    r"(?:file|folder|director\w+|document|doc|spreadsheet|sheet|event|meeting|appointment|task|todo"
    r"|to-do|reminder|calendar|contact|playlist|queue|database|setting\w*|config\w*|row"
    r"|record|e-?mail"
    r"|message|inbox|draft e-?mail|backup|branch|commit|repository|repo|server|service"
    r"|process|container"
    r"|script|command|tests?|test suite|program|app|application|browser|page|website|url|link|tab"
    r"|music|song|track|playback|video|player|album|alarm|timer|volume|download|upload"
    r"|package|drive"
    r"|drive|disk|cell|invite|invitation|booking|reservation|order|account|password|permission\w*"
    r"|pipeline|deployment|instance|vm|machine|router|computer|system|site|connection|subscription"
    r"|membership|money|payment|duplicate|episode|podcast|\#\d+|screenshot|picture|label"
    r"|issue|ticket|pull request|note|photo|image|attachment|recording|archive|line"
    r"|lights?|build|job"
    r"|datei|ordner|termin|aufgabe|erinnerung|notiz|tabelle|dokument|nachricht|lied|musik"
    r"|befehl|skript"
    r"|kalender|seite|fichier|dossier|rendez-vous|tâche|rappel|musique|chanson|réunion"
    r"|commande|courriel|archivo|carpeta|documento|evento|reunión|tarea"
    r"|recordatorio|música|canción|correo|comando|cita|it|them|everything|backups?)s?"
)

THING = Expression(
    rf"\b{OUTSIDE}\b|[\w-]\.(?:[a-z][a-z0-9]{{1,4}})\b|[~/]\w|@\w|[\"“«]\w|\b[A-Z]+-\d",
    re.IGNORECASE,
)

WORDS = Expression(
    r"\b(?:draft|paragraph|sentence|wording|phrase|code|example|version|list|table|summary"
    r"|jargon|tone"
    r"|section|text below|text|poem|story|answer|explanation|snippet|function|outline|plan"
    r"|comments?"
    r"|bullet|typos?|grammar|overview|breakdown|response|reply below|below|above|following"
    r"|translation"
    r"|in mind|sense|sure|point|suggestions?|recommendations?|essay|limerick|haiku|letter below)\b",
    re.IGNORECASE,
)
"""What an answer can do to its own words, without any call."""

ALOUD = re.compile(r"\b(?:aloud|out loud|loud|laut|à voix haute|en voz alta)\b", re.IGNORECASE)
ADVERBS = (
    r"(?:(?:now|just|also|already|successfully|then|currently|both|all|finally"
    r"|recently|gerade|bereits|jetzt|nun|soeben|déjà|bien|ya|gone ahead and"
    r"|went ahead and|started|begun|been|been able to|managed to|have|has"
    r"|erfolgreich)\s+)*"
)

OBJECT_FIRST = r"(?:[^.!?;:]{1,80}?\s)"
DONE = "|".join(each.done for each in FAMILIES)
DOING = "|".join(each.doing for each in FAMILIES if each.doing)
AUX = (
    r"(?:has|have|had|was|were|is|are|wurde|wurden|ist|sind|wird|a été|ont été|est"
    r"|ha sido|han sido|fue|está)"
)

CLAIMED = Expression(
    rf"\b(?:I|we)(?:['’]ve|\shave|\shad)?\s+{ADVERBS}(?P<past>{DONE})\b"
    rf"|\b(?:I|we)(?:['’](?:m|re)|\sam|\sare)\s+{ADVERBS}(?P<doing>{DOING})\b"
    rf"|\b(?:I|we)\s+{ADVERBS}started\s+(?P<begun>{DOING})\b"
    rf"|^\W*(?:(?:done|ok|okay|all set|sure|great|alright|perfect|got it|success|fertig"
    rf"|erledigt|gut|voilà|listo|hecho)\W+)*"
    rf"(?:{ADVERBS}|now\s)(?P<bare>{DONE}|{DOING})\b(?!\s*:?\s*$)"
    rf"|\b(?P<subject>(?:the|your|this|that|both|all|it|they|everything|\S{{1,80}}\.\w{{2,4}}|die"
    rf"|der|das|dein\w*|ihr\w*|alle|le|la|les|votre|ton|el|los|su"
    rf"|tu)\b[^.!?;:\n]{{0,60}}?)\s*{AUX}\s+{ADVERBS}(?P<passive>{DONE}|{DOING})\b"
    rf"|\bich\s+(?:habe|bin)\s+{OBJECT_FIRST}(?P<german>{DONE})\b|\bich\s+(?P<german_now>spiele)\b"
    rf"|\b(?:j['’]ai|nous avons)\s+{ADVERBS}(?P<french>{DONE})\b|\b(?:he"
    rf"|hemos)\s+{ADVERBS}(?P<spanish>(?:{DONE})(?<=[aeirs][dt][oa]))\b"
    rf"|^\W*(?P<named>[A-Z][\w-]*(?:\s[\w-]+){{0,2}}?)\s+(?P<filed>saved|sent|written"
    rf"|exported|uploaded|copied|moved|added)\s(?=(?:to|as|in|into)\b)"
    rf"|^\W*(?P<things>(?:all\s|both\s)?(?:e-?mail|duplicate|alarm|timer|volume|message"
    rf"|file|document|music|playback|song|event|meeting|task|reminder|folder|changes?|note"
    rf"|backup|download|invitation)s?)\s+(?:{AUX}\s+)?{ADVERBS}(?P<short>{DONE})\b",
    re.IGNORECASE,
)

GROUPS = (
    "past",
    "doing",
    "begun",
    "bare",
    "passive",
    "german",
    "german_now",
    "french",
    "spanish",
    "short",
    "filed",
)

UNREAL = Expression(
    r"\b(?:if|once|when|whenever|before|until|unless|would|could|can|cannot|might|may"
    r"|should|shall|will|going to"
    r"|let me|want|wants|need|wish|plan to|try|trying|tried|about to|ready to|to be|not"
    r"|never|no|unable|failed|fail|couldn|didn"
    r"|haven|hasn|wasn|weren|isn|nothing|neither|without|falls|sobald|bevor|nicht|kein\w*"
    r"|könnte|kann|werde|möchte|ne|n['’]ai|pas|si|no|aún|wenn|error|how)\b|n['’]t\b"
    r"|['’]ll\b|['’]d\b",
    re.IGNORECASE,
)

BYSTANDER = Expression(
    r"\b(?:originally|by (?!me\b)[A-Z]\w+|in (?:19|20)\d\d|yesterday|last (?:week|month"
    r"|year|\w+day)|ago|on (?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|\bwas (?:last )?(?:created|modified|updated|sent|changed|saved|added|made|written"
    r"|built) (?:on|at|by|in|from)\b",
    0,
)

OPINION = re.compile(
    r"devil|role|part|trick|up\b|sense|sure|mistake|it clear|together|through|into account"
    r"|aside|out of|note of|the assumption|an effort|across",
    re.I,
)

AND_ALSO = Expression(
    rf"\band\s+(?:(?:also|then|now|have|I|I['’]ve|I have)\s+)*(?P<more>{DONE})\b"
    r"(?P<subject>)(?P<things>)",
    re.IGNORECASE,
)

ALSO = Expression(
    rf"\bI(?:['’]ve|\shave)?\s+\w+ed\s(?:[\w'’]+\s){{0,5}}and\s+(?P<past>{DONE})\b"
    r"(?P<subject>)(?P<things>)",
    re.IGNORECASE,
)
"""After a verb that is none of ours: `I tidied up and deleted 14 files`."""

RECIPIENT = re.compile(r"\b(?:to|an|à|a) (?:[A-Z]|him\b|her\b|them\b)")
OWN_TEXT = re.compile(r"\b(?:above|below|my (?:thoughts|last|previous|earlier|answer))\b", re.I)
NAMED = Expression(r"[\w-]\.[a-z][a-z0-9]{1,4}\b|(?<!\w)[~/]\w|\w@\w", re.IGNORECASE)
ANY_DEED = Expression(rf"\b(?:{DONE}|{DOING})\b", re.IGNORECASE)
