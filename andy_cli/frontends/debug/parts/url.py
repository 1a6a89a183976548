"""`andy debug url`: whether an address may be fetched, by answers of names and servers as given."""

from collections.abc import Mapping

from andy_cli.frontends.debug.debug_part import ChunkCut, DebugPart, Record, list_of, text_of
from andy_cli.guard.addresses import judge_redirects


def judge_url(record: Record, _: ChunkCut) -> dict[str, object]:
    answers = record.get("resolve", {})
    if not isinstance(answers, Mapping):
        raise TypeError("resolve is an object: a list of answers for each name")

    def resolve_name(host: str) -> list[str]:
        """List all that the name ever answers: each answer is a list of addresses."""
        known_answers = answers.get(host)
        lists = known_answers if isinstance(known_answers, list) else []
        return [
            str(address)
            for address_list in lists
            for address in (address_list if isinstance(address_list, list) else [address_list])
        ]

    redirects = [str(redirect) for redirect in list_of(record, "redirect")]
    method = str(record.get("method") or "GET")
    end = judge_redirects(method, text_of(record, "url"), redirects, resolve_name)
    return {"verdict": end.verdict, "reason": end.reason}


PART = DebugPart("url", judge_url)
