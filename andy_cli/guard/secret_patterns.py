"""The looks of secrets: their own forms, the names that stand beside them, the notations.

Each pattern marks the secret by its groups. What may be repeated has a bound wherever it would be
looked for from every character again: hostile text takes no longer than its length.
"""

# All are texts until they are first used: some cost a millisecond to compile.
FORMS = r"""(?xs)
    (?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=\\u[0-9a-fA-F]{4}))(?:  # nothing, or a JSON escape
        [sr]k-(?=[\w-]{0,99}[\dA-Z])[\w-]{16,}      # OpenAI, Anthropic, OpenRouter
      | [sr]k_(?:live|test)_\w{12,} | whsec_[\w+/=]{20,}             # Stripe
      | csk-[\w-]{16,} | gsk_\w{20,} | xai-[\w-]{20,} | hf_[A-Za-z0-9]{20,} | pplx-[A-Za-z0-9]{20,}
      | nvapi-[\w-]{20,} | r8_[A-Za-z0-9]{20,} | fw_[A-Za-z0-9]{20,} | sess-[A-Za-z0-9]{20,}
      | gh[opusr]_[A-Za-z0-9]{20,} | github_pat_\w{20,} | gl[a-z]{2,6}-[\w-]{16,}
      | gl(?:sa|c)_\w{20,}
      | xox[abceoprs]-[\w-]{10,} | xapp-[\w-]{20,} | pypi-[\w-]{20,} | npm_[A-Za-z0-9]{20,}
      | A(?:KIA|SIA|ROA|IDA|BIA|CCA)[A-Z0-9]{16} | AIza[\w-]{30,} | GOCSPX-[\w-]{20,}
      | ya29\.[\w.-]{20,} | 1//0[\w-]{20,}
      | SG\.[\w-]{16,}\.[\w-]{16,} | key-[0-9a-f]{32} | (?:AC|SK)[0-9a-f]{32}
      | do[opr]_v1_[0-9a-f]{20,} | dapi[0-9a-f]{32} | dckr_pat_[\w-]{20,} | dp\.[a-z]{2,5}\.\w{20,}
      | shp(?:at|ca|pa|ss)_[0-9a-fA-F]{20,} | sq0[a-z]{3}-[\w-]{20,} | lin_api_\w{20,} | ntn_\w{20,}
      | secret_[A-Za-z0-9]{32,} | figd_[\w-]{20,} | PMAK-[0-9a-f-]{20,} | NRAK-\w{20,}
      | hv[sbr]\.[\w-]{20,} | sbp_[0-9a-f]{20,} | pul-[0-9a-f]{20,} | tskey-[\w-]{16,}
      | rubygems_[0-9a-f]{20,} | sntry[su]_[\w+/=]{20,} | pscale_(?:tkn|pw)_[\w.-]{20,}
      | AGE-SECRET-KEY-1[A-Z0-9]{30,} | pat[A-Za-z0-9]{14}\.[0-9a-f]{32,}
      | \d{8,10}:AA[\w-]{30,}                  # Telegram
      | [MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}  # Discord
      | eyJ[\w-]{8,999}\.[\w-]{8,}\.[\w-]*        # JWT
    )
  | hooks\.slack\.com/services/[\w/]{20,} | discord(?:app)?\.com/api/webhooks/\d+/[\w-]{20,}
  | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY(?:[ ]BLOCK)?-----.*?
    (?:-----END[ ][A-Z ]*PRIVATE[ ]KEY(?:[ ]BLOCK)?-----|\Z)
    """
NAMES = r"""(?:(?:api|access|private|secret|subscription|account|shared|signing|encryption|master
    |service|license|auth|client)[_-]?key
    |token|secret|password|passwd|passphrase|passcode|credentials?|pwd
    |pass(?<![a-z0-9]pass)(?![a-z])|auth(?<![a-z0-9]auth)(?![a-z])|pat(?<=_pat))"""
"""The ends of names that stand beside a secret."""

PASSWORD_IN_URL = r"""(?<=://)([^\s/:@"']*):([^\s/"']+)@"""
SCHEME = r"(?i)\b(?:Bearer|Basic)\s+([\w.~+/=-]{8,})"
AUTHORIZED = r"(?i)authorization\s*[:=]\s*[\w-]{2,20}[ \t]+([\w.~+/=:-]{8,})"
COOKIE = r"""(?i)\b(?:Set-)?Cookie\s*:\s*([^\r\n"]{0,99}=[^\r\n"]*)"""
VALUE = r"""([^\s"'`,;()\[\]{}<>$\\&]{8,})(?![(\[{])"""
QUOTED = r"""(?:"([^\s"\\]{8,})\\?"|'([^\s'\\]{8,})\\?')"""
"""Within quotes a password may hold what would end it elsewhere."""
NAME = rf"(?xi)(?=[tspcamle])(?:{NAMES}|authorization)"
"""The first letters are there for speed alone."""
NAMED = (
    rf"""(?x)
    \\?["']?\s*(?:[:=]|=>|:=)\s*
    (?:[|>][+-]?[ \t]*\n[ \t]*)?                      # a block of YAML
    \\?(?:{QUOTED}|["']?{VALUE})""",
    r"""(?x)\s*(?:</key>\s*<string)?>\s*([^\s<>$]{8,})</    # XML, a property list""",
    r"""(?x)["']\s+value\s*=\s*["']([^\s"'<>$]{8,})["']""",
)
"""Forms of a value after a name."""
LISTED = r"""(?x)s\\?["']?\s*[:=]\s*\[([^\[\]{}]{8,4000})\]"""
IN_LIST = r"""["']([^\s"'\\]{8,})["'\\]"""
QUERY = rf"(?i)[?&](?:key|sig|signature|code|X-Amz-(?:Signature|Credential|Security-Token))={VALUE}"
OPTION = rf"""(?xi)
    (?<![\w-])--?[\w-]{{0,40}}{NAMES}[ ]+["']?{VALUE}
  | (?<![\w-])(?:-u|--user|--proxy-user)[ =]?["']?[^\s:"'/]{{1,99}}:([^\s"'/]{{8,}})
  | \blogin[ \t]+\S{{1,99}}\s+password[ \t]+(\S{{8,}})
  | \b(?:setx|setenv|set[ ]+-\w{{1,9}})[ ]+\w{{0,40}}{NAMES}[ ]+["']?{VALUE}
  | \b(?:sshpass|(?:mysql|mariadb)\w*|login)\b[^\n|;]{{0,99}}?[ ]-p[ ]?["']?{VALUE}
  | \b(?:identified[ ]+by|password)[ ]+'([^\s']{{8,}})'      # SQL
  | \bprivate-lines:[ ]\d+\r?\n([\w+/=\s]+)                  # PuTTY
    """
PROSE = r"""(?xi)
    \b(?:key|token|secret|password|credential)s?\b[^\n:=]{0,60}[:=]\s*["'`]?([\w+/-]{20,})
    """
LINE_BREAK = r"""(?:\\\\?r)?(?:[\\=]?\r?\n|\\\\?n)[ \t]*"""
"""Within a text or as an escape of JSON, after the sign of a shell or of a mail."""
CONTINUED = rf"""{LINE_BREAK}([\w+/-]{{6,}}={{0,2}})(?=["'`,;]{{0,3}}(?:\\|\s*?\n|\s*\Z))"""
"""The rest of a secret in the next line, which has nothing else."""
BEGUN = rf"""(?x)
    \\?["']?\s*[:=][ \t]*["']?([^\s"'`,;()\[\]{{}}<>$\\&]{{1,7}})(?={LINE_BREAK}[\w+/-]{{8}})
    """
"""A secret of which only a few characters stand in its first line."""
STAND_IN = r"""(?xs)
    (?i:your|my|the|some|insert|replace|placeholder|change|example|xxx|\*\*\*|\.\.\.|redacted)[^0-9]*
  | \$[\w{(].* | \{\{.* | <.* | %[({].* | [\w.]+[(\[].*[)\]]
    """
"""A placeholder, a variable, a slot of a template or a call stands for a secret and is none."""
# Possessive: letters that could be parted in many ways would take for ever.
WORDY = r"(?:[A-Z]++[a-z]*+|[a-z]{2,}+|\d++)*+"
"""A part of a path as people name things; what is drawn has single letters between its figures."""


SECRET_NAME = rf"""(?xi)(?:^|[_-]|\b|(?<=[a-z])(?-i:(?=[A-Z]))){NAMES}$
    |^(?:proxy-)?authorization$|^(?:set-)?cookie$"""
SIGNS = tuple(
    """sk- rk- sk_ rk_ whsec_ xai- hf_ pplx- nvapi- r8_ fw_ sess- gho_ ghp_ ghr_ ghs_ ghu_ glsa_
    glc_ xox xapp- pypi- npm_ AKIA ASIA AROA AIDA ABIA ACCA AIza GOCSPX- ya29. 1//0 SG. _v1_ dapi
    dp. shp sq0 lin_api_ ntn_ figd_ PMAK- NRAK- hvs. hvb. hvr. sbp_ pul- sntry pscale_ :AA
    eyJ hooks.slack
    api/webhooks -----BEGIN""".split()
)
PLAIN_SIGNS = tuple(
    """token secret pass pwd credential auth _pat key cookie bearer basic login sig code -u
    mysql mariadb identified private-lines""".split()
)
"""As above, in whatever case."""
SIGN_FORMS = (
    r"gl[a-z]{2,6}-|pat[A-Za-z0-9]{14}\.|[AS][CK][0-9a-f]{32}|[MNO][\w-]{23,27}\.[\w-]{6}\."
)
