"""Every drawing as the lessons call it, once: what the tests look at."""

from mhalib import drawings, load_model, load_tokenizer
from mhalib.language import next_word_distribution, parse

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
RUNGS = {
    "knows nothing": 6.34,
    "how often a word comes": 4.26,
    "the word before": 1.69,
    "two words before": 1.19,
    "one layer, one head": (0.91, 0.95),
    "one layer, 8 heads": (0.79, 0.84),
    "the course’s model": 0.74,
}


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
    found["split"] = drawings.split_merge()
    found["trap"] = drawings.reshape_trap()
    found["W_O"] = drawings.output_blocks()
    found["block"] = drawings.block()
    found["encoder"] = drawings.encoder_decoder()
    found["induction"] = repetition(model, tokenizer)
    found["road"] = recall(model, tokenizer)
    found["clock"] = drawings.clock_hands()
    found["tree"] = drawings.merge_tree(tokenizer)
    bats = tokenizer.encode(" bats")[0]
    found["one-hot"] = drawings.one_hot(model.parameters["E"], bats, "bats")
    found["histograms"] = drawings.score_histograms()
    found["cache"] = drawings.cache()
    found["labels"] = drawings.shifted_labels(["I", " love", " to", " study", " bats", " that"])
    found["cuts"] = drawings.cuts({
        f"after “{text.split()[-1]}”": next_word_distribution(text)
        for text in ("There are so many bats I can choose at the", "When Anna saw")
    })  # fmt: skip
    found["ladder"] = drawings.ladder(RUNGS, best=0.73)
    found["ladder, growing"] = drawings.ladder(RUNGS, best=0.73, until="the word before")
    return found


def heads_that_look(trace, source, target):
    """Return the weights of the head that looks from target to source the most, and where it is."""
    layers = range(len(trace.layers))
    places = [(layer, head) for layer in layers for head in range(4)]
    best = max(places, key=lambda p: trace.layer(p[0]).attention.weights[p[1], target, source])
    return best, trace.layer(best[0]).attention.weights[best[1]]


def repetition(model, tokenizer):
    text = "Say red blue gold, then say red"
    tokens = [token.decode() for token in tokenizer.tokens(text)]
    trace = model.forward(tokenizer.encode(text))
    (_, _), lower = heads_that_look(trace, 1, 2)
    (_, _), upper = heads_that_look(trace, 2, len(tokens) - 1)
    return drawings.induction(tokens, lower, upper, len(tokens) - 1)


def recall(model, tokenizer):
    text = "I see a red key, a blue box and a gold lamp, but I like the blue"
    tokens = [token.decode() for token in tokenizer.tokens(text)]
    trace = model.forward(tokenizer.encode(text))
    query = len(tokens) - 1
    (_, _), lower = heads_that_look(trace, 7, 8)
    (_, _), upper = heads_that_look(trace, 8, query)
    return drawings.road(tokens, [lower, upper], query)
