"""What a sentence must be to go because it tells of a tool: the narrow rule (C8, R10).

It is first-person narration of the call, names a tool of this session or a marker of a protocol
outside quotes and inline code, and the user did not ask. What it says beside that is kept. Not by
phrases alone: that ate answers.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from andy_cli.compiler.expression import Expression

LONGEST = 400
"""Characters of a sentence that is looked at."""
CUES = 9
"""Words within which narration has begun, or it is none."""

STARTERS = frozenset(
    """i i'll i'm i've i'd ill im ive let let's lets we we'll we're we've allow now next first
    firstly then ok okay sure alright right great good perfect thanks to so and but well before
    finally again in for with after once as since because here of certainly absolutely yes no hm
    hmm understood got calling using invoking running executing by therefore thus hence step also
    one just please hold give hello hi hey on this that at lastly secondly second third last
    continuing moving""".split()
)
SUBJECT = (
    r"(?:\b(?:i|we)(?:['\u2019](?:ll|m|ve|re))?|\blet['\u2019]?s|\blet\s+(?:me|us)|\ballow\s+me)\b"
)
CUE = Expression(
    rf"(?i){SUBJECT}|^\W*(?:(?:\w+|step \d+)\W+)?(?:calling|using|invoking|running|executing)\b"
)
ASIDE = """
    will shall am are was were have had has just now going need needed want wanted must
    should then also first next quickly already to start started begin began by try trying
    tried did do be simply proceed go went ahead and attempt attempted again plan intend
    about gonna continue finally once more immediately please you look check see directly
    successfully both
""".split()
BETWEEN = rf"(?:\s+(?:{'|'.join(ASIDE)})\b,?)*"
VERB = (
    r"(?:call(?:ed|ing)?|us(?:e|ed|ing)|invok(?:e|ed|ing)|run(?:ning)?|ran|execut(?:e|ed|ing)"
    r"|trigger(?:ed|ing)?|issu(?:e|ed|ing)|query(?:ing)?|queried|emit(?:ted|ting)?|send(?:ing)?|sent"
    r"|mak(?:e|ing)|made|writ(?:e|ing)|wrote|perform(?:ed|ing)?|launch(?:ed|ing)?"
    r"|tr(?:y|ied|ying)|ask(?:ed|ing)?|do(?:ing)?|consult(?:ed|ing)?|check(?:ed|ing)?\s+with"
    r"|employ(?:ed|ing)?|leverag(?:e|ed|ing)|utili[sz](?:e|ed|ing))"
)
CALLING = r"(?:calling|using|invoking|running|executing)"
GERUND = rf"(?:{CALLING}|via(?:\s+a\s+call\s+to)?|with\s+a\s+call\s+to)"
KIND = r"(?:tool|function|command|action|call|request|api|method|operation|block|tag|marker)s?"
OBJECT = (
    rf"(?:\s+(?:the|a|an|my|our|another|this|that|both|up|out|again|of|to|for|with|called|named"
    rf"|available|built-in|internal|appropriate|following|{KIND}):?)*\s+"
)
MARKS = (
    r"<[|/]?tool_[a-z_]+\|?>",
    r"<function_calls?>",
    r"\[Tool \w+\]",
    r"toolCalls",
    r"DEAR ANDYBOT",
)
NOT_THE_ACT = Expression(
    r"(?i)\b(?:if|when|whenever|whether|unless|can|could|would|may|might|not|never|cannot|like|"
    r"\w+n['\u2019]t|i['\u2019]d|supposed|you (?:can|could|should|may))\b"
)
FUTURE = Expression(
    r"(?i)['\u2019]ll\b|\bwill\b|\blet\b|\blet['\u2019]?s\b|\bto\b|\bshall\b|\bmust\b"
)
FINDING = Expression(
    r"(?i)\b(?:found|finds?|show(?:s|ed|ing)?|return(?:s|ed)|report(?:s|ed)|says|said|gave|got|saw"
    r"|there (?:is|are|was|were)|contains?|contained|failed|error|could|did|nothing|is|are|was|were"
    r"|has|learned|discovered|confirmed|because|see)\b|\d|:\s*\S"
)
STATEMENT = Expression(
    r"(?i)\b(?:is|are|was|will|would|can|could|may|might|requires?|returns?|gives?|takes?|lets?|"
    r"allows?|makes?|does|should|means|helps?|needs?|you|works?|saves?|costs?|fails?)\b"
)
QUOTED = Expression(
    r"`+[^`]*`+|\"[^\"]*\"|\u201c[^\u201d]*\u201d|\u00ab[^\u00bb]*\u00bb|(?<!\w)['\u2018][^'\u2019]*['\u2019](?!\w)"
)
SCOPE = r"(?:\s+(?:on|with|for|in|at|against|again|now|first|next)\b(?:\s+[^\s,;]+){0,6}?)?"
JOINED = Expression(rf"{SCOPE}\s*,?\s*(?P<word>and\s+then|and|but|to)\s+(?=\w)")
GOES_ON = Expression(r"(?i)(?:\w+ed|found|saw|got|see|find|read|could|can|then|also|now)\b")
LED = Expression(r"[^.;:\0]{0,100}?,?\s+(?=(?:I|we)\b)")
TOLD = Expression(rf"{SCOPE}\s*(?::|;|\u2013|\u2014|\s-)\s+(?=\w)")
ASKS = Expression(
    r"(?i)\b(?:tools?|functions?|capabilit\w+|api|mcp|protocol|commands?|tool[_ ]calls?|plugins?)\b"
    r"|\bwhat (?:can|could|do|did|are) you\b|\bhow (?:do|did|are|can|would|will) you\b"
    r"|\bexplain (?:how you|what you|your)\b|\bwhich (?:one )?did you\b|\bdebug\b"
)


def asks_about_tools(user: str, tools: Iterable[str] = ()) -> bool:
    """Whether the user asks about tools, by name or at large, or how things are done (R10, R15)."""
    if ASKS.search(user):
        return True
    return any(not is_word(name) and name.lower() in user.lower() for name in tools)


def is_word(name: str) -> bool:
    """A tool's name that is also a word: `search`."""
    return name.isalpha() and name.islower()


@lru_cache(maxsize=16)
def acts(tools: tuple[str, ...]) -> re.Pattern[str]:
    """First person, verb, tool; a name that is also a word counts with `tool` behind it only."""
    longest = sorted(tools, key=len, reverse=True)
    forms = [*(re.escape(each) for each in longest if not is_word(each)), *MARKS]
    if words := [re.escape(each) for each in longest if is_word(each)]:
        forms.append(rf"(?:{'|'.join(words)})(?=\s+(?:tool|function|command)\b|\()")
    called = rf"(?:{'|'.join(forms)})(?:\([^()]*\))?"
    name = rf"[*_]*(?<![\w./\-]){called}[*_]*(?![\w\-/]|\.\w)(?:\s+{KIND})*(?![\w\-])"
    return re.compile(
        rf"(?:(?P<subject>{SUBJECT})(?:{BETWEEN}\s+(?P<verb>{VERB})"
        rf"|[^.;!?\0]{{1,120}}?\s(?P<by>by\s+{GERUND}|{GERUND}))"
        rf"|^\W*(?:(?:\w+|step \d+)\W+)?(?P<gerund>{CALLING})){OBJECT}{name}",
        re.IGNORECASE,
    )


def hopeless(sentence: str) -> bool:
    """What has begun so is no narration, however it goes on."""
    if len(sentence) > LONGEST:
        return True
    words = sentence.split(maxsplit=CUES)
    if not words or (len(words) == 1 and not sentence[-1].isspace()):
        return False
    first = words[0].strip("(,.:;!*_-\u2014").lower().replace("\u2019", "'")
    if first not in STARTERS:
        return True
    return len(words) > CUES and CUE.search(" ".join(words[:CUES])) is None


def narration(sentence: str, tools: tuple[str, ...]) -> re.Match[str] | None:
    """Where a sentence tells that a tool is called; None if it does not, or is about more."""
    if hopeless(sentence) or "|" in sentence.replace("<|", "").replace("|>", ""):
        return None
    bare = QUOTED.sub(lambda match: "\0" * len(match[0]), sentence)
    act = acts(tools).search(bare)
    if act is None or bare.rstrip().endswith("?"):
        return None
    if NOT_THE_ACT.search(bare, 0) and NOT_THE_ACT.search(bare[: act.end()]):
        return None
    if act["gerund"] and not LED.match(bare[act.end() :]) and STATEMENT.search(bare[act.end() :]):
        return None
    return None if act["verb"] and habit(act) else act


def habit(act: re.Match[str]) -> bool:
    """`I use x every day` tells of no call that is made now."""
    between = act.string[act.end("subject") : act.start("verb")]
    bare = act["verb"].lower() in ("call", "use", "invoke", "run", "execute", "query", "trigger")
    return bare and act["subject"].lower() in ("i", "we") and not between.strip()


def tells_more(sentence: str, act: re.Match[str]) -> bool:
    """What was found is told in the same breath: that is no plumbing."""
    if act["gerund"]:
        return LED.match(sentence[act.end() :]) is not None
    begun = sentence[: act.start("verb") if act["verb"] else act.end()]
    rest = sentence[act.end() :]
    return not FUTURE.search(begun) and FINDING.search(rest) is not None


def without_act(sentence: str, act: re.Match[str]) -> str:
    """The sentence minus the marker: `I called x and found 3 songs` -> `I found 3 songs`."""
    where = next(each for each in ("verb", "by", "gerund") if act[each])
    head, rest = sentence[: act.start(where)], sentence[act.end() :]
    blanks = sentence[: len(sentence) - len(sentence.lstrip())]
    if where == "by":
        return head.rstrip() + rest
    if where == "gerund" and (led := LED.match(rest)):
        return blanks + upper(rest[led.end() :])
    if told := TOLD.match(rest):
        return blanks + upper(rest[told.end() :])
    if joined := JOINED.match(rest):
        said = rest[joined.end() :]
        goes_on = joined["word"] == "to" or GOES_ON.match(said)
        return head + said if goes_on and head.strip() else blanks + upper(said)
    return head + act[where] + rest


def upper(text: str) -> str:
    return text[:1].upper() + text[1:]
