"""transformers' classes that build a tokenizer of their own from the vocabulary and the merges of a tokenizer.json: the rows REBUILT of
data/rebuilt_classes.def, each with a normaliser, a pre-tokeniser, the settings of BPE, and whether parlance follows it. Without an argument compares them with the installed release; with --write writes them there."""
import itertools, json, pathlib, re, sys
import transformers
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES, tokenizer_class_from_name
from transformers.tokenization_utils_tokenizers import TokenizersBackend

TABLE = pathlib.Path(__file__).resolve().parents[2] / "data/rebuilt_classes.def"
# What a class makes of the settings add_prefix_space and legacy, by add_prefix_space (absent, true, false) and legacy (absent, true).
PREFIXES = {
    "@legacy": ["first", "first", "never", "always", "always", "never"],
    "@first": ["first", "first", "never", "first", "first", "never"],
    "@always": ["always", "always", "never", "always", "always", "never"],
    "@blank": [False, True, False, False, True, False],
    "@no_blank": [True, True, False, True, True, False],
}

VOCABULARY = {text: i for i, text in enumerate(["@unk", "<pad>", "<s>", "</s>", "<bos>", "<eos>", "<mask>"])}
# Of pages and their boxes, which are no chats.
NOT_OF_CHATS = {"LayoutLMv3Tokenizer", "MarkupLMTokenizer"}


def plain(part):
    """As src/tokenizers/hf/src/shape.rs writes it."""
    if not isinstance(part, dict):
        return part
    part = {name: value for name, value in part.items() if name != "trim_offsets"}
    for name in ("normalizers", "pretokenizers"):
        if name in part:
            part[name] = [one for one in map(plain, part[name]) if one is not None]
            if len(part[name]) < 2:
                return part[name][0] if part[name] else None
    return part


def merged(all_of):
    """One value for what all settings give: with a name of PREFIXES where they differ."""
    if all(one == all_of[0] for one in all_of):
        return all_of[0]
    if isinstance(all_of[0], dict) and all(one.keys() == all_of[0].keys() for one in all_of):
        return {name: merged([one[name] for one in all_of]) for name in all_of[0]}
    if isinstance(all_of[0], list) and len({len(one) for one in all_of}) == 1:
        return [merged(list(ones)) for ones in zip(*all_of)]
    return next(name for name, values in PREFIXES.items() if values == all_of)


def classes():
    names = {name for name in dir(transformers) if name.endswith("Tokenizer")} | {n.removesuffix("Fast") for n in TOKENIZER_MAPPING_NAMES.values() if n}
    for name in sorted(names):
        found = tokenizer_class_from_name(name)
        if name in NOT_OF_CHATS:
            continue
        is_backend = isinstance(found, type) and issubclass(found, TokenizersBackend) and found is not TokenizersBackend
        if is_backend and "__init__" in vars(found) and getattr(found.model, "__name__", "") == "BPE":
            yield name, found


def model_of(found):
    """BPE's settings, with @unk for the text of the unknown token that the configuration names."""
    model = json.loads(found(vocab=VOCABULARY, merges=[], unk_token="@unk")._tokenizer.to_str())["model"]
    return {key: value for key, value in model.items() if key not in ("type", "vocab", "merges", "dropout") and value}


def is_followed(found):
    """Not where the class adds more tokens than have a name, such as the languages of a translator, or encodes in a way of its own, or by
    a vocabulary of its own."""
    tokenizer = found()
    added = {token.content for token in tokenizer.added_tokens_decoder.values()}
    encodes_itself = {"__call__", "_encode_plus", "encode", "tokenize"} & vars(found).keys()
    has_own_vocabulary = found(vocab=VOCABULARY, merges=[], unk_token="@unk").convert_tokens_to_ids("<mask>") != VOCABULARY["<mask>"]
    return not encodes_itself and not has_own_vocabulary and added <= {*tokenizer.special_tokens_map.values()}


def rows():
    for name, found in classes():
        shapes = []
        for legacy, blank in itertools.product([{}, {"legacy": True}], [{}, {"add_prefix_space": True}, {"add_prefix_space": False}]):
            made = json.loads(found(**legacy, **blank)._tokenizer.to_str())
            shapes.append([plain(made["normalizer"]), plain(made["pre_tokenizer"])])
        parts = [*merged(shapes), model_of(found)]
        texts = [json.dumps(part, sort_keys=True, separators=(",", ":"), ensure_ascii=False) for part in parts]
        texts = [re.sub(r'"(@\w*blank)"', r"\1", text) for text in texts]
        yield f'REBUILT("{name}", ' + ", ".join(f'R"~({text})~"' for text in texts) + f', {"true" if is_followed(found) else "false"})'


def main():
    made = list(rows())
    lines = TABLE.read_text().splitlines()
    if sys.argv[1:] == ["--write"]:
        kept = [line for line in lines if not line.startswith("REBUILT(")]
        TABLE.write_text("\n".join(kept + made) + "\n")
        return 0
    known = [line for line in lines if line.startswith("REBUILT(")]
    for line in sorted(set(made) ^ set(known)):
        print(("made: " if line in made else "in the table: ") + line)
    print(f"{len(set(made) & set(known))} of {len(made)} classes of transformers {transformers.__version__} are as in {TABLE.name}")
    return 0 if sorted(made) == sorted(known) else 1


sys.exit(main())
