"""The course's colours, declared once: pairs for light and dark paper.

Drawings and figures read them here. Style sheets of the site and of the widgets cannot; a test
holds theirs to these.
"""

Pair = tuple[str, str]  # on light paper, on dark paper

DIMENSIONS: dict[str, Pair] = {
    "n": ("#0b5fa5", "#7cc0ff"),
    "d_model": ("#a8380b", "#ff9e73"),
    "h": ("#7b2d8e", "#d9a2ec"),
    "d_k": ("#0a6b4f", "#5fd3ac"),
    "d_v": ("#855600", "#e8bd5a"),
    "d_ff": ("#a0286a", "#ff9ccc"),
}
# One for each relation of the course's language. Chosen by search: any two differ by 20 or more in
# CIELAB also for eyes without red, green or blue cones, and each stands out from the paper 4.5 : 1.
RELATIONS: dict[str, Pair] = {
    "topic": ("#1459d9", "#a9c9ff"),
    "agreement": ("#7d2507", "#d0873a"),
    "coreference": ("#b04495", "#f2559c"),
    "recall": ("#16805a", "#4fe3a5"),
    "list": ("#7d7200", "#ffe34d"),
    "both": ("#2a1a5e", "#a97cf5"),
}
HEADS: tuple[Pair, ...] = (
    ("#2563c9", "#7fb0ff"),
    ("#b8490a", "#f0955c"),
    ("#00735a", "#3ec8a0"),
    ("#8a3f9e", "#d79be8"),
    ("#7a6000", "#dcbc4a"),
    ("#a62a5b", "#f58cb4"),
    ("#4b5563", "#b8c2d0"),
    ("#00707f", "#58cbdc"),
)
ROLES: dict[str, Pair] = {
    "text": ("#1f2733", "#dfe5ee"),
    "soft": ("#566173", "#a3afc2"),
    "edge": ("#848f9f", "#76839a"),
    "accent": ("#2257c4", "#82acff"),
    "q": ("#6a35b1", "#c4a3ff"),
    "k": ("#006b78", "#58cbdc"),
    "v": ("#855600", "#e8bd5a"),
    "changed": ("#b0186a", "#ff86c0"),
    "road": ("#e6eaf1", "#2b333f"),  # areas only
    "paper": ("#ffffff", "#181c23"),
    "plus": ("#4076de", "#7aa6ff"),  # cells: positive, negative
    "minus": ("#e06c18", "#ff9654"),
}
