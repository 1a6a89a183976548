"""Command lines for cmd and PowerShell, judged by their words.

No grammar of either is read. A line never runs if a known way to destroy, to open a door or to send
secrets out shows anywhere in it, carets and quotes taken away. Made of plain words and pipes, with
programs that are known to read, it is allowed (yet where there is no sandbox, as on Windows, the
gate asks for all of them); anything else is asked.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal

from andy_cli.guard.commands.places import SECRET_VARIABLE, is_secret
from andy_cli.guard.commands.verdict import CommandJudgement, ask, deny, strictest

LONGEST = 8191
"""What cmd itself takes."""

READS = {
    "cmd": "cd comp date dir echo fc find findstr hostname tasklist tree type ver vol where whoami",
    "powershell": "cat dir echo gc gci get-childitem get-content get-date get-filehash get-item "
    "get-location get-process gp gps hostname ls measure measure-object ps pwd select-object "
    "select-string sls sort-object test-path type whoami write-output",
}
OPTION = re.compile(
    r"/[abdinstvx]|-(?:depth|directory|file|filter|first|force|hidden|last|line|name|path|pattern"
    r"|property|recurse|tail|totalcount)",
    re.IGNORECASE,
)
NAME = re.compile(r"(?![-/\\])(?!.*\.\.)[\w .*?/\\-]+(?<![. ])")
"""Of a file below the folder, or any other plain word."""

ROOT = r"(?:[a-z]:[\\/]?(?:\*(?:\.\*)?)?|[\\/](?:\*(?:\.\*)?)?|~[\\/]?\*?)"
HOME = (
    r"(?:%userprofile%|%homepath%|%homedrive%%homepath%|%systemroot%|%windir%|%systemdrive%|%programfiles\S*%"
    r"|%appdata%|%localappdata%|%programdata%|%public%|\$home|\$\{?env:(?:userprofile|home|systemroot|windir"
    r"|systemdrive|appdata|localappdata|programfiles|programdata|public|homepath|homedrive)\}?"
    r"|[a-z]:[\\/](?:windows|users|program ?files|programdata)|[\\/](?:windows|users)|/home"
    r"|/etc|/usr)"
)
VITAL = rf"(?:{HOME}(?:[\\/][^\s\\/]*)?[\\/]?\*?(?:\.\*)?|{ROOT})(?=[\s,;|&)\]}}]|\Z)"
ANYWHERE = rf"[^|&;\n]{{0,999}}?[\s,(=]{VITAL}"
STARTUP = (
    r"(?:start menu[\\/]programs[\\/]startup|shell:startup|\$profile|profile\.ps1"
    r"|currentversion[\\/]run"
    r"|\\winlogon|image file execution options|system32[\\/](?:drivers[\\/]etc[\\/]hosts|tasks"
    r"|config)"
    r"|\.ssh[\\/]|authorized_keys|\.git[\\/](?:hooks|config)|\.gitconfig|appinit_dlls|\\policies\\|\\services\\)"
)
DENIED = {
    "it destroys a disk or the system": r"""
    \bformat(?:\.com)?\s+[a-z]:|\bdeltree\b
    \bdiskpart\b|\bbcdedit\b|\bbootrec\b|\bvssadmin\s+\w*\s*delete|\bvssadmin\s+(?:delete|resize)
      |\bwbadmin\s+delete|\bcipher\s+/w|\bfsutil\b|\breagentc\b|\bmountvol\b|\bsdelete\b
      |\bchkdsk\b.*/[fr]|\bconvert\s+[a-z]:|\blabel\s+[a-z]:|shadowcopy\s+delete|\bdism\b|\bsfc\b
      |\bmanage-bde\b|\bclean\s+all
    \b(?:format-volume|clear-disk|initialize-disk|remove-partition|set-disk|set-partition
      |new-partition|resize-partition|reset-physicaldisk|remove-vm|clear-content\s+c:
      |disable-computerrestore|delete-computerrestore\w*|checkpoint-computer|remove-computer
      |reset-computermachinepassword|remove-physicaldisk|remove-virtualdisk|repair-volume
      |disable-bitlocker|clear-tpm)\b
    \b(?:shutdown|stop-computer|restart-computer|logoff|tsshutdn|psshutdown)\b
    \b(?:rd|rmdir|del|erase|deltree)\b(?=[^|&\n]{0,999}\s/s)<ANYWHERE>
    \b(?:del|erase)\b<ANYWHERE>
    \b(?:remove-item|ri|rm|rd|rmdir|del|erase|clear-content|clc)\b(?=[^|;\n]{0,999}\s-(?:r
      |fo)\w*)<ANYWHERE>
    (?:get-childitem|gci|ls|dir)\b<ANYWHERE>[^;\n]{0,999}\|\s*(?:remove-item|ri|rm|del|%|foreach)
    \b(?:takeown|icacls|cacls|attrib)\b(?=[^|&\n]{0,999}\s[/+-])<ANYWHERE>
    \b(?:move|mv|ren|rename|move-item|mi|rename-item|robocopy|xcopy)\b(?=[^|&\n]{0,999}(?:/mir
      |/purge|/mov|move|mv|ren))<ANYWHERE>
    \\\\[.?]\\(?:physicaldrive|[a-z]:)
    >\s*[a-z]:\\windows|%0\s*\|\s*%0|\bfor\b.{0,999}\bin\s*\([^)]*(?:[a-z]:\\
      |%userprofile%)[^)]*\).{0,999}\b(?:del|rd|rmdir|erase)\b
    \bwmic\b.{0,999}\b(?:delete|format|uninstall)\b|\bstop-process\b.{0,999}\b(?:lsass|csrss
      |wininit|winlogon)|taskkill\b.{0,999}(?:/im\s+\*|lsass|csrss|winlogon|svchost)
    \[(?:system\.)?io\.(?:directory|file)\]::delete
    """,
    "it runs what it just fetched": r"""
    (?:\biex\b|invoke-expression).{0,999}(?:iwr|irm|curl|wget|invoke-(?:webrequest|restmethod)
      |downloadstring|downloadfile|net\.webclient|frombase64|start-bitstransfer)
    (?:iwr|irm|curl|wget|invoke-(?:webrequest|restmethod)|downloadstring|downloaddata|openread
      |frombase64string|net\.webclient).{0,999}(?:\|\s*(?:iex\b|invoke-expression|powershell|pwsh
      |cmd|sh\b|bash|python\w*|node|perl|ruby|&|\.\s)|scriptblock|reflection\.assembly)
    (?:iwr|irm|curl|wget|certutil|bitsadmin|start-bitstransfer|invoke-(?:webrequest|restmethod)
      |downloadfile)\b.{0,999}(?:&|;|\n)\s*(?:call\s+|start\s+(?:\"\"\s+)?|start-process\s+
      |saps\s+|cmd\b|powershell\b|msiexec|rundll32|regsvr32|wscript|cscript|mshta|python\w*|bash
      |sh\b|&\s|\.[\\/]|[^\s&|;]*\.(?:exe|bat|cmd|ps1|msi|vbs|js|scr|com|dll|hta)\b)
    \bmshta\b|\bregsvr32\b.{0,999}(?:/i:|http|scrobj)|\brundll32\b.{0,999}(?:javascript|http
      |url\.dll)|\bmsiexec\b.{0,999}http|\binstallutil\b|\bmsbuild\b.{0,999}http
      |\bcscript\b.{0,999}http|\bwscript\b.{0,999}http
    \bcertutil\b.{0,999}(?:-|/)(?:urlcache|decode|verifyctl)|\bbitsadmin\b.{0,999}/transfer
    (?:powershell|pwsh)(?:\.exe)?\b.{0,999}\s[-/]e(?:c|n\w*)?\s+[a-z0-9+/=]{8,}
    \bfor\s+/f\b.{0,999}(?:curl|iwr|certutil|wget).{0,999}\bdo\b
    scriptblock\]?::create.{0,999}(?:iwr|irm|curl|wget|invoke-web|downloadstring|webclient)
    add-type\b.{0,999}(?:http|downloadstring)|\bimport-module\b.{0,999}(?:http|\\\\)
    """,
    "it opens a lasting door or raises rights": r"""
    <STARTUP>(?=.{0,999}(?:\|\s*(?:set|add|out)-|\btee))|(?:>|\b(?:copy|xcopy|robocopy|move|cp|mv
      |mklink|reg\s+(?:add|import|delete|copy|restore|load)|new-item|ni|set-content|sc|add-content
      |ac|out-file|tee|tee-object|copy-item|move-item|set-item\w*|sp|new-itemproperty
      |set-itemproperty)\b).{0,999}<STARTUP>
    \b(?:schtasks)\b.{0,999}/(?:create|change|delete)|\bat\s+\d
      |\bsc(?:\.exe)?\s+(?:\\\\\S+\s+)?(?:create|config|delete|stop|failure|sdset)
      |\bnet1?\s+(?:user|localgroup|group|share|accounts|stop)\s+\S|\breg(?:\.exe)?\s+(?:add
      |delete|import|restore|load|copy)\b|\bregedit\b\s+/s|\bsetx\b|\bnetsh\b.{0,999}\b(?:add|set
      |delete|off|disable|reset)\b|\bassoc\s+\.\w+=|\bftype\s+\w+=|\brunas\b
      |\bmklink\b.{0,999}(?:windows|startup)|\bwmic\b.{0,999}(?:create|call)|\bwevtutil\s+cl
      |\bauditpol\b.{0,999}/(?:clear|set|remove)|\bicacls\b.{0,999}everyone|\bpsexec\b
      |\bgpupdate\b|\bsecedit\b|\bdsquery\b|\bcmdkey\s+/(?:add|delete)|\btakeown\b.{0,999}windows
      |\bpowercfg\b.{0,999}/h
    \b(?:register-scheduledtask|new-scheduledtask\w*|set-scheduledtask|register-scheduledjob
      |new-service|set-service|stop-service|remove-service|new-localuser|set-localuser
      |enable-localuser|remove-localuser|add-localgroupmember|new-aduser|set-executionpolicy
      |set-mppreference|add-mppreference|disable-windowsoptionalfeature
      |enable-windowsoptionalfeature|set-netfirewall\w*|new-netfirewallrule|remove-netfirewallrule
      |disable-netfirewallrule|enable-psremoting|set-wsmaninstance|register-wmievent
      |set-wmiinstance|new-ciminstance|register-cimindicationevent|new-psdrive|set-acl
      |clear-eventlog|remove-eventlog|new-smbshare|enable-wsman\w*|register-objectevent
      |add-windowscapability|set-psrepository|uninstall-windowsfeature|install-windowsfeature)\b
    -verb\s+\"?runas|-ex(?:ec\w*|p\w*)?\s+(?:bypass|unrestricted)\b|amsiutils|amsiinitfailed
    \[environment\]::setenvironmentvariable\(.{0,999}(?:'|\")(?:user|machine)
      |net\.sockets\.tcpclient|\bnc(?:at)?(?:\.exe)?\b.{0,999}\s-\w*[ec]\b
      |\bgit\b\s+config\s+--(?:global|system)\s+(?:core\.|alias\.|credential|include|url)
      |\bgit\s+config\s+(?:core\.(?:hookspath|fsmonitor|sshcommand|pager|editor)|alias\.)
    \b(?:ssh)\b.{0,999}\s-\w*r\s+\d|\bwsl\b.{0,999}\b(?:sudo|rm\s+-rf)\b|\bmimikatz\b
      |\bprocdump\b.{0,999}lsass|comsvcs\.dll|\bntdsutil\b|\breg\s+save\b
    """,
    "it sends secrets out": r"""
    (?:^|[\s\"'=,(<>@|&;:])\\\\(?![.?]\\)[^\s\\]+\\|(?:^|[\s\"'=(])//[\w.-]+/\w
    \\\\[?.]\\unc\\
    """,
}
"""Ways to do it, one a line; a deeper line goes on with the one above."""
SENDS = re.compile(
    r"(?<![\w.-])(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|webclient|uploadstring|uploadfile|uploaddata|httpclient|ftp|tftp|sftp|scp|ssh|nc|ncat|telnet|send-mailmessage|start-bitstransfer|bitsadmin|certutil|ping|nslookup|resolve-dnsname|test-netconnection|tcpclient|rclone|azcopy|aws|gh)\b",
    re.IGNORECASE,
)
DUMPS = re.compile(
    r"(?:^|[|&;({]\s*)(?:set|env)\s*(?:$|[|&;)}>])|(?:get-childitem|gci|ls|dir|get-item|gi)\s+(?:-path\s+)?env:|\bget-clipboard\b|\bcmdkey\s+/list|get-storedcredential|\bgetenvironmentvariables\b|\[environment\]::getenv\w*\([^)]*(?:key|token|secret|pass)",
    re.IGNORECASE,
)
VARIABLE = re.compile(r"%(\w+)%|\$\{?env:(\w+)", re.IGNORECASE)


@cache
def _denied_patterns() -> tuple[tuple[str, tuple[re.Pattern[str], ...]], ...]:
    return tuple(
        (why, tuple(re.compile(_fill_pattern(form), re.IGNORECASE) for form in join_rows(forms)))
        for why, forms in DENIED.items()
    )


def _fill_pattern(form: str) -> str:
    return form.replace("<ANYWHERE>", ANYWHERE).replace("<STARTUP>", STARTUP)


def join_rows(text: str) -> list[str]:
    """The lines of a table; a deeper line goes on with the one above."""
    return [part for part in re.sub(r"\n {5,}", "", text).split("\n    ") if part.strip()]


def judge(line: str, shell: Literal["cmd", "powershell"]) -> CommandJudgement:
    """Judge a line for one of the shells of Windows."""
    if len(line) > LONGEST:
        return deny("it is too long to be judged")
    return strictest([*_find_dangers(line, shell), _judge_reading(line, shell)])


def _find_dangers(line: str, shell: str) -> Iterator[CommandJudgement]:
    escape = "^" if shell == "cmd" else "`"
    line = re.sub(r"[ \t]+", " ", line)
    bare = line.replace(escape, "")
    for text in {
        line,
        bare,
        bare.replace('"', "").replace("'", ""),
        re.sub(r"['\"]\s*\+\s*['\"]", "", bare),
    }:
        for why, forms in _denied_patterns():
            if any(form.search(text) for form in forms):
                yield deny(why)
        if SENDS.search(text) and _reads_secret(text):
            yield deny("it sends secrets out")


def _reads_secret(text: str) -> bool:
    """Whether a line names secrets or prints the environment."""
    if DUMPS.search(text):
        return True
    if any(SECRET_VARIABLE.search(one or other) for one, other in VARIABLE.findall(text)):
        return True
    words = re.split(r"[\s\"'=@,;|&<>()]+", text.replace("\\", "/"))
    return any(is_secret(word) for word in words)


def _judge_reading(line: str, shell: Literal["cmd", "powershell"]) -> CommandJudgement:
    for part in line.split("|"):
        if not re.fullmatch(r"(?:[^\"'\s]|\"[^\"]*\"|\s)+", part):
            return ask("it is not clear what it is given")
        name, *rest = [
            quoted or word for quoted, word in re.findall(r'"([^"]*)"|([^\s"]+)', part)
        ] or [""]
        if name.lower() not in READS[shell].split():
            return ask(f"{name or 'nothing'} may do anything")
        for word in rest:
            if not OPTION.fullmatch(word) and (
                not NAME.fullmatch(word) or is_secret(word.replace("\\", "/"))
            ):
                return ask(f"{word} is not known to be harmless")
        if name.lower() == "date" and rest != ["/t"]:
            return ask("date sets the clock")
    return CommandJudgement("allow", "it only reads inside the workspace")
