"""Every drawing as the lessons call it, once: what the tests look at."""

from mhalib import drawings, load_model, load_tokenizer
from mhalib.language import parse

SHOP = "There are so many bats I can choose at the baseball store."
HOME = "I love to study bats that live inside a cave."
TEXTS = [
    SHOP,
    "The key to the cabinets is lost.",
    "When Anna saw Tom near the door, she sold her book.",
    "I see a red key, a blue box and a gold lamp, but I like the blue box and the red key.",
    "Say red blue gold, then say red blue gold.",
    "The dog that met the cats and copied the birds now sings.",
]


def gallery():
    """Return all drawings by name."""
    model, tokenizer = load_model(), load_tokenizer()

    def one_row(text, word, layer, head):
        tokens = [token.decode() for token in tokenizer.tokens(text)]
        query = len(tokens) - 1 - [token.strip() for token in tokens][::-1].index(word)
        weights = model.forward(tokenizer.encode(text)).layer(layer).attention.weights
        return drawings.arcs(tokens, weights[head, query], query, title=f"after “{word}”")

    found = {f"here {lesson}": drawings.here(lesson) for lesson in range(9)}
    found["machine"] = drawings.machine()
    found["head"] = drawings.head_shapes(model, tokenizer.encode(SHOP), 1, 1)
    found["arcs"] = drawings.beside(
        one_row(SHOP, "the", 1, 1), one_row(HOME, "a", 0, 0), name="bats in two sentences"
    )
    found["relations"] = drawings.relations(parse(text) for text in TEXTS)
    return found
