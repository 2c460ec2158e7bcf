"""How directives to a model read: the expressions of STRINGS_NOT_DIRECTIVES, each with what it does.

They cover what public scanners and public reports of attacks name, in the languages that such texts were found in. Each
alternative has a planted text in the tests, and a harmless text with the same words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

DIRECTIVES: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        "sets other instructions aside": re.compile(
            r"\b(?:ignore|disregard|forget|override|bypass|do\s+not\s+(?:follow|obey))\s+(?:all\s+|any\s+|the\s+|your\s+|my\s+|of\s+)*"
            r"(?:previous|prior|earlier|above|preceding|system|safety|security|other)\s+"
            r"(?:instruction|prompt|rule|message|guideline|check|polic)"
            r"|\b(?:forget|ignore)\s+(?:everything|all)\s+(?:before|above|said)|\bsystem\s+prompt\s+override"
            r"|\bnew\s+(?:instructions|directives|guidelines)\s*:"
            r"|\b(?:ignora|olvida|esque[cç]a|ignorez|negeer|zignoruj)\b[^.]{0,40}\b(?:instru\w*|regras|instrucciones|polece\w*)\b"
            r"|(?:이전|위의)[^.]{0,12}(?:지시|명령)[^.]{0,8}무시|تجاهل[^.]{0,40}(?:التعليمات|الأوامر)|(?:पिछले|पूर्व)[^.]{0,20}निर्देश[^.]{0,20}अनदेखा"
            r"|\b(?:ignor(?:a|e|ez|iere)|vergiss|olvida|oublie[z]?|dimentica)\b[^.]{0,40}"
            r"\b(?:instruc\w*|anweisung\w*|istruzion\w*|consign\w*|regla\w*|regeln)\b"
            r"|忽略[^。]{0,12}(?:指令|指示|说明|提示)|(?:以前|前|上記)の(?:指示|命令)を無視|игнорируй[^.]{0,40}(?:инструкц|указани)",
            re.IGNORECASE,
        ),
        "hides something from the user": re.compile(
            r"\b(?:do\s+not|don'?t|never|must\s+not)\s+(?:tell|inform|mention|reveal|show|notify|alert|disclose|let)\b[^.]{0,60}"
            r"\b(?:user|human|person)\b"
            r"|\bwithout\s+(?:telling|informing|asking|notifying|alerting)\s+(?:the\s+)?(?:user|human)\b"
            r"|\b(?:keep|hide)\s+(?:this|it)\s+(?:secret|hidden|from\s+the\s+user)\b"
            r"|\btell\s+the\s+user\s+only\b|\bwithout\s+(?:the\s+)?user'?s?\s+(?:knowledge|knowing|consent)\b"
            r"|\b(?:silently|secretly|covertly|invisibly|quietly)\s+"
            r"(?:send|upload|transmit|forward|collect|record|copy|copies|log|share|store|exfiltrate|insert|run|execute)(?:s|es|ing)?\b"
            r"|\b(?:send|upload|transmit|forward|collect|record|copy|share)s?\b[^.]{0,40}\b(?:silently|secretly|covertly)\b"
            r"|사용자에게[^.]{0,12}(?:말하지|알리지)\s*마|ユーザーに(?:は)?(?:言わ|知らせ|伝え)ないで"
            r"|\bno\s+(?:se\s+lo\s+)?digas\b[^.]{0,30}\busuario\b|\bsag\w*\b[^.]{0,30}\b(?:nutzer|benutzer)\w*\s+nicht"
            r"|\bne\s+(?:le\s+)?dis\b[^.]{0,30}\butilisateur\b|不要告诉用户",
            re.IGNORECASE,
        ),
        "imitates a prompt": re.compile(
            r"<\s*/?\s*(?:important|system|instructions?|secret|admin|hidden|s>|\|im_start\|)\s*>"
            r"|<\|(?:im_start|im_end|system|endoftext)\|>|\[/?(?:INST|SYSTEM)\]|^\s*#{0,3}\s*system\s*:\s*\S"
            r"|<!--[^>]{0,80}\b(?:system|admin|ignore|instruction|override|execute)\b"
            r"|(?:\[{1,3}|\|{3})\s*(?:system|admin|hidden|internal|secret|private)[\s_]+(?:override|instruction|directive|command)s?\s*"
            r"(?:\]{1,3}|\|{3})",
            re.IGNORECASE | re.MULTILINE,
        ),
        "asks for data that the tool does not need": re.compile(
            r"\b(?:read|open|cat|include|send|pass|attach|copy|paste|provide|upload|put)\b[^.]{0,60}"
            r"(?:~/\.ssh|\.ssh/|id_rsa|id_ed25519|/etc/passwd|/etc/shadow|\.aws/credentials|\.cursor/mcp\.json|\.netrc"
            r"|(?:the\s+)?(?:full|entire|whole|complete)\s+(?:conversation|chat|context|history)"
            r"|\bsystem\s+prompt\b|\ball\s+environment\s+variables\b"
            r"|(?:conversation|chat)\s+history|(?:all|any|your)\s+(?:api\s*keys?|passwords?|credentials|tokens)\b)"
            r"|\b(?:collect|harvest|steal|scrape|exfiltrate|leak)(?:s|es|ing)?\s+(?:\w+\s+){0,2}"
            r"(?:api[\s_]?keys?|tokens?|credentials?|passwords?|secrets?|conversations?|keystrokes?|cookies)\b"
            r"|\b(?:list|show|print|reveal)\s+(?:me\s+)?all\s+(?:your\s+|the\s+)?(?:api\s*keys?|passwords?|credentials)\b"
            r"|\btool\s+(?:will|does)\s+not\s+work\s+(?:unless|without)\b[^.]{0,60}\b(?:contents?|key|file|config)\b",
            re.IGNORECASE,
        ),
        "asks to run a command or to decode a text": re.compile(
            r"\b(?:run|execute|paste)\b[^.\n]{0,40}\b(?:curl|wget|bash|powershell|nc)\b[^\n]{0,80}(?:\||https?://)"
            r"|\bcurl\s[^\n|]{0,120}\|\s*(?:ba|z)?sh\b"
            r"|\b(?:decode|base64)\b[^.\n]{0,40}\b(?:and|then)\s+(?:follow|execute|run|obey)\b",
            re.IGNORECASE,
        ),
        "steers the use of other tools": re.compile(
            r"\bbefore\s+(?:using|calling|running|invoking)\s+(?:this|any|every|each|all)(?:\s+other)?\s+tools?\b[^.]{0,80}"
            r"\b(?:must|always|first|read|send|fetch)\b"
            r"|\b(?:always|must)\s+(?:call|use|run|invoke)\s+this\s+tool\s+(?:first|before\s+(?:any|every|all))"
            r"|\b(?:instead\s+of|never\s+use)\s+(?:the\s+)?(?:other|any\s+other|all\s+other)\s+tools?\b"
            r"|\b(?:required|mandatory|essential)\s+to\s+(?:call|use|run|invoke)\s+this\s+tool\s+(?:first|before)"
            r"|\balways\s+default\s+to\s+(?:using\s+|calling\s+)?this\s+tool\b"
            r"|\b(?:highest|higher)\s+priority\s+(?:over|than)\s+(?:all\s+|any\s+)?(?:other\s+)?tools?\b"
            r"|\bdo\s+not\s+(?:call|use|execute)\s+(?:any\s+)?other\s+tools?\b"
            r"|\bwhen(?:ever)?\s+(?:the\s+)?\w+\s+tool\s+is\s+(?:called|used)[^.]{0,60}\b(?:also|change|replace|redirect|bcc)\b",
            re.IGNORECASE,
        ),
        "changes the role of the model": re.compile(
            r"\boriginally\s+you\s+(?:did|were|could|had)\b|\b(?:you\s+)?were\s+(?:advised|told|instructed)\s+to\s+refuse\b"
            r"|\byou\s+are\s+now\s+(?:an?|the|in|no\s+longer)\b|\bact\s+as\s+(?:an?\s+)?(?:admin\w*|root|system|superuser)\b"
            r"|\bdeveloper\s+mode\b|\bjailbreak\b|\bgrant\s+(?:me\s+|yourself\s+)?admin(?:istrator)?\s+(?:access|privileges?|rights)\b"
            r"|\bbypass\s+(?:all\s+)?(?:security|safety|permission)\s+checks?\b",
            re.IGNORECASE,
        ),
    }
)
"""What a directive does, and how it reads."""

HINT: Final = re.compile(
    r"ignor|disregard|forget|overrid|bypass|vergiss|olvid|oubli|dimentic|忽略|無視|игнорир|user|human|person|usuario|nutzer"
    r"|utilisateur|用户|secret|<|\[|system|ssh|passwd|shadow|credentials|netrc|mcp\.json|id_|conversation|chat|context|history"
    r"|environment|tool|you\s+are\s+now|act\s+as|developer\s+mode|jailbreak|do\s+not|instructions|esque|ignorez|negeer|zignoruj"
    r"|무시|사용자|ユーザー|تجاهل|अनदेखा|silently|secretly|covertly|invisibly|quietly|collect|harvest|steal|scrape|exfiltrat|leak|keys?\b"
    r"|passwords?|tokens|curl|wget|powershell|base64|decode|\|\|\||grant|originally|refuse",
    re.IGNORECASE,
)
"""Matches every string that a directive matches; most strings stop here."""


def find_directives(text: str) -> Iterator[tuple[str, str]]:
    """What each directive in a text does, and its words."""
    if len(text) < MIN_LENGTH or not HINT.search(text):
        return
    for what, pattern in DIRECTIVES.items():
        found = pattern.search(text)
        if found is not None:
            yield what, found[0].strip()


MIN_LENGTH: Final = 5
"""Shortest text that can be a directive, in characters; some languages need few."""
