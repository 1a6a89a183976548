"""The words of protocols that are written the same whatever the dialect."""

FENCES = frozenset(
    f"{word}{joint}{what}{many}"
    for word in ("tool", "function")
    for joint in ("_", "-", "")
    for what in ("call", "code", "use", "request", "result", "response", "output")
    for many in ("", "s")
) - {"functioncode", "functionuse"}
"""Info words of fences that hold protocol, whatever stands in them."""

HEADERS = {
    "<|start_header_id|>": "<|end_header_id|>",
    "<|header_start|>": "<|header_end|>",
}

ROLE_FOLLOWS = ("<|im_start|>", "<start_of_turn>", "<|turn>")

TOKENS = (
    "<|end_header_id|>",
    "<|header_end|>",
    "<|eot|>",
    "<|eom|>",
    "<|system|>",
    "<|tool|>",
    "<|bot|>",
    "<|human|>",
    "<|im_sep|>",
    "<|startoftext|>",
    "<|endofprompt|>",
    "<|end_of_role|>",
    "<|start_of_role|>",
    "<|pad|>",
    "<|message|>",
    "<|constrain|>",
    "<|python_end|>",
    "<|CHATBOT_TOKEN|>",
    "<|USER_TOKEN|>",
    "<|SYSTEM_TOKEN|>",
    "<|START_OF_TURN_TOKEN|>",
    "<\uff5cUser\uff5c>",
    "<\uff5cAssistant\uff5c>",
    "<\uff5cbegin\u2581of\u2581sentence\uff5c>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "<<SYS>>",
    "<</SYS>>",
    "<bos>",
    "<turn|>",
)

LABELS = tuple(
    f"[{word}{joint}{what}{many}]"
    for word in ("tool", "function")
    for joint in (" ", "_", "-", "")
    for what in ("request", "call", "result", "output", "response", "execution", "use")
    for many in ("", "s")
)

RESULTS = tuple(
    f"{word}_{what}{many}"
    for word in ("tool", "function")
    for what in ("response", "result", "output")
    for many in ("", "s")
)

CALLS = tuple(
    f"{word}_{what}{many}"
    for word in ("tool", "function")
    for what in ("call", "request", "use", "code")
    for many in ("", "s")
)
