"""Model APIs at a host that policy names for a provider: gateways, local servers. Pure.

Sources: the API references of Anthropic, OpenAI, Gemini and Ollama.
"""

from netpolicy.table import Table

MODEL_API = Table(
    "model-api",
    model=[
        "POST /**/v1/{messages,messages/count_tokens,complete}",
        "POST /**/v1/{chat/completions,completions,responses,responses/compact}",
        "POST /**/v1/{embeddings,moderations,rerank}",
        "POST /**/{chat/completions,completions,embeddings}",
        "POST /**/{v1,v1beta}/models/*:{generateContent,streamGenerateContent,countTokens,embedContent}",
        "POST /api/{chat,generate,embed,embeddings}",
    ],
    read=["POST /api/show"],
)
