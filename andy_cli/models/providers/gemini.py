"""Google's Gemini, through its OpenAI-compatible endpoint."""

from andy_cli.models.client import Provider

PROVIDER = Provider(
    name="gemini",
    base_url="https://generativelanguage.googleapis.com/v1beta/openai",
    key_names=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    key_begins=("AIza",),
    default_model="gemini-2.5-flash",
    rank=90,
    plain_schemas=True,
)
