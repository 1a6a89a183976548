"""Split a request into the parts that ask for something, without the reasons beside them."""

from andy_cli.models.inside.planning import small_talk
from andy_cli.models.inside.planning.choosing import is_name
from andy_cli.models.inside.planning.mentions import Mentions
from andy_cli.models.inside.planning.opening import find_opener
from andy_cli.models.inside.planning.planned_request import PlannedRequest, Step
from andy_cli.models.inside.planning.splitting import (
    ADVERBS,
    COMES_BEFORE,
    SECOND_COMES_FIRST,
    find_joints,
    find_marks,
    find_openings,
    split_unjoined,
    split_wishes,
)
from andy_cli.models.inside.values.words import (
    LINKS,
    WORD,
    find_plain_words,
    is_question,
)

TALK_LEAD = 0.01
"""By so much nearer to talk than to any command is a reason that stands behind a wish."""
WISH_LEAD = 0.025
"""By so much nearer to a command than to talk is what is clearly a wish."""
CLEAR_GAIN = 0.03
"""By so much nearer to its command is a wish of several words without the reason beside it."""
UNJOINED = 0.008
"""By so much nearer to their commands than the whole are two wishes with nothing between them."""
CLEAR_LEAD = 0.02
"""By so much nearer to a command than to talk are both of two wishes, where one comes `before` the
other and nothing shows where it ends.
"""
CLEAR_CUT = 0.042
"""Of that and of what the cut gains."""
SPLIT = 0.05
"""By so much a part may be farther from its command than the whole request from its own."""


class PartSplitter:
    """Splits one request."""

    def __init__(self, request: PlannedRequest, mentions: Mentions) -> None:
        self._request = request
        self._mentions = mentions

    def split(self, text: str) -> list[str]:
        compared = self._request.compare(text)
        nearest, likeliest = max(compared.commands), self._request.choices[compared.best]

        def is_more(before: str, part: str) -> bool:
            left = Step(self._request.compare(before).best, before, 1.0)
            if find_opener(self._request, left, part):
                return True
            if self.is_refused(part):
                return is_wish(before)
            one, other = (self._mentions.find_value(said, likeliest) for said in (before, part))
            return self._mentions.is_value(part, likeliest) and one is not None and one != other

        def is_wish(part: str) -> bool:
            part = SECOND_COMES_FIRST.sub("", part, count=1)
            if is_name(part, self._request.names) or {*find_plain_words(part)} <= LINKS | ADVERBS:
                return False
            scores = self._request.compare(part)
            best = max(scores.commands)
            if scores.kind in small_talk.QUESTIONS and best < scores.talk:
                return is_question(part) or self._mentions.means_file(part)
            return best > scores.talk and best > nearest - SPLIT

        joined = split_wishes(text, is_wish, is_more)
        if not self._request.has_examples:
            return [self.leave_reasons(part) for part in joined]
        parts = [part for whole in joined for part in self._split_unjoined(whole)]
        return [self.leave_reasons(part) for part in parts]

    def is_refused(self, part: str) -> bool:
        """Tell whether it is clearly a wish that cannot be fulfilled."""
        scores = self._request.compare(part)
        is_clear = scores.talk > max(scores.commands) + WISH_LEAD
        return self._request.has_examples and is_clear and small_talk.is_refused(scores.kind)

    def _split_unjoined(self, text: str) -> list[str]:
        parts = split_unjoined(text, self._are_clear)
        beginning = SECOND_COMES_FIRST.match(text) or COMES_BEFORE.match(text)
        if len(parts) > 1 or beginning is None:
            return parts
        # A reason may stand there as well: `before I forget open my notes`.
        rest = text[beginning.end() :]
        cuts = [mark.start() for mark in find_marks(WORD, rest)[1:]]
        clear = {cut: self._measure_cut(rest[:cut].strip(), rest[cut:]) for cut in cuts}
        best = max(cuts, key=clear.__getitem__, default=0)
        if not cuts or clear[best] <= CLEAR_CUT:
            return [text]
        first, second = rest[:best].strip(), rest[best:]
        return [second, first] if SECOND_COMES_FIRST.match(text) else [first, second]

    def _measure_cut(self, left: str, right: str) -> float:
        """Measure how clearly two parts are two wishes: by what they are nearer to their commands
        than to talk, and than the whole is to its own; 0 where they are not.
        """
        one, other, whole = map(self._request.compare, (left, right, f"{left} {right}"))
        leads = [max(part.commands) - part.talk for part in (one, other)]
        gain = (max(one.commands) + max(other.commands)) / 2 - max(whole.commands)
        steps = Step(one.best, left, 1.0), Step(other.best, right, 1.0)
        values = [self._request.fill_by_meaning(step).values for step in steps]
        are_two = one.best != other.best or (all(values) and values[0] != values[1])
        return min(leads) + gain if min(leads) > CLEAR_LEAD and gain > 0 and are_two else 0.0

    def _are_clear(self, left: str, right: str) -> bool:
        """Tell whether they are wishes by themselves, and for different commands."""
        left = SECOND_COMES_FIRST.sub("", left, 1)
        one, other, whole = map(self._request.compare, (left, right, f"{left} {right}"))
        near = (max(one.commands) + max(other.commands)) / 2
        are_meant = all(max(part.commands) > part.talk + WISH_LEAD for part in (one, other))
        # A question stands in the middle of a wish as well: `tell me what time it is`.
        least = CLEAR_GAIN if is_question(right) else UNJOINED
        is_clear = near > max(whole.commands) + least and are_meant and one.best != other.best
        return is_clear and not self._request.fill_by_meaning(Step(one.best, left, 1.0)).missing

    def leave_reasons(self, part: str) -> str:
        """`Stop the music, I am on the phone`: leave what is talk beside the wish, and names
        nothing.
        """
        joints = [joint.span() for joint, _ in find_joints(part)]
        # How near a wish is to a command that is only described says too little without a joint.
        is_known = self._request.has_examples
        openings = [(start, start) for start in find_openings(part) if is_known]
        for start, end in (*joints, *openings):
            left, right = part[:start].strip(), part[end:].strip()
            if not (left and right):
                continue
            leaves = self._is_reason if start < end else self._is_clear_reason
            if leaves(left, right, part):
                return self.leave_reasons(right)
            if leaves(right, left, part):
                return left
        return part

    def _is_reason(self, reason: str, wish: str, part: str) -> bool:
        """Tell whether it is talk, without which the wish is nearer to its command."""
        said, alone, whole = map(self._request.compare, (reason, wish, part))
        is_named = self._mentions.has_name(reason, self._request.choices[whole.best])
        if is_named or self.is_refused(reason):
            return False
        gain = max(alone.commands) - max(whole.commands)
        is_wish = max(whole.commands) > whole.talk - TALK_LEAD
        is_clear = self._request.has_examples and gain > CLEAR_GAIN and " " in wish
        is_talk = said.talk > max(said.commands) + TALK_LEAD
        return is_talk and (is_clear or (gain > 0 and is_wish))

    def _is_clear_reason(self, reason: str, wish: str, part: str) -> bool:
        """Tell the same where nothing stands between them: `my gran is here put some jazz on`."""
        said, alone, whole = map(self._request.compare, (reason, wish, part))
        is_nearer = max(alone.commands) > max(whole.commands) + CLEAR_GAIN
        have_words = " " in reason and " " in wish
        may_be_meant = max(whole.commands) > whole.talk - TALK_LEAD
        if not (self._request.choices[alone.best].harmless or may_be_meant):
            return False
        is_question = whole.kind in small_talk.QUESTIONS
        is_clear = said.kind == "reason" and have_words and is_nearer and not is_question
        return is_clear and self._is_reason(reason, wish, part)
