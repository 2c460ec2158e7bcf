"""Writes a selection as v0 does: bytes for the frozen surfaces, or a JSON object with the same members. Pure."""

from __future__ import annotations

from strictwire.canon.json import JsonObject, render
from strictwire.packs.context import binary32
from strictwire.packs.context.index import Index
from strictwire.packs.context.select import Pick, Selection


def render_selection(index: Index, selection: Selection) -> bytes:
    """Return the compact JSON of v0: members in fixed order, no newline at the end."""
    why = b',"why":{"query_terms":%b,"term_matches":' % render(list(selection.terms))
    documents = b",".join([_document(index, pick, why) for pick in selection.picks])
    return b'{"documents":[%b],"selection":%b}' % (documents, render(_summary(selection)))


def selection_object(index: Index, selection: Selection) -> JsonObject:
    """Return the same answer as a value. Each score is the double that prints with the digits of its binary32."""
    terms = list(selection.terms)
    documents = [
        {
            **index.document(pick.number),
            "score": float(binary32.render(pick.score)),
            "tokens": index.tokens[pick.number],
            "why": {"query_terms": terms, "term_matches": pick.matches, "total_words": index.words[pick.number]},
        }
        for pick in selection.picks
    ]
    return {"documents": documents, "selection": _summary(selection)}


def _document(index: Index, pick: Pick, why: bytes) -> bytes:
    return b'%b%b,"tokens":%d%b%d,"total_words":%d}}' % (
        index.store.head(pick.number),
        binary32.render(pick.score).encode(),
        index.tokens[pick.number],
        why,
        pick.matches,
        index.words[pick.number],
    )


def _summary(selection: Selection) -> JsonObject:
    selected = len(selection.picks)
    return {
        "query": selection.query,
        "budget": selection.budget,
        "tokens_used": selection.tokens_used,
        "documents_considered": selection.considered,
        "documents_selected": selected,
        "documents_excluded_by_budget": selection.considered - selected,
    }
