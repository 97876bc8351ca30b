"""transformers' tokenizer classes: the rows of data/class_tokens.def, each with the special tokens that a class has by itself, and the rows
TYPE_CLASS of data/transformers_types.def, each with the class of a model_type. Without an argument compares them with the installed release
(with one that is not the newest only the tokens: models come and go); with --write writes them there."""
import json
import pathlib
import re
import sys

import transformers
from transformers.models.auto import tokenization_auto as auto
from transformers.tokenization_utils_tokenizers import TokenizersBackend

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
TOKENS, TYPES = DATA / "class_tokens.def", DATA / "transformers_types.def"
NEWEST = re.search(r"^transformers==(\S+)$", (pathlib.Path(__file__).parent / "requirements.txt").read_text("utf-8"), re.MULTILINE)[1]
GENERIC = {"TokenizersBackend", "MistralCommonBackend", "PreTrainedTokenizerFast", "PythonBackend"}
FLAGS = ("lstrip", "rstrip", "normalized", "single_word")
# What a class makes a tokenizer of that has no vocabulary of its own: one that fits is enough.
TEXTS = ["<pad>", "</s>", "<unk>", "<mask_1>", "<mask_2>", "[UNK]", "a"]
VOCABULARIES = [{}, {"vocab": {text: i for i, text in enumerate(TEXTS)}}, {"vocab": [(text, 0.0) for text in TEXTS]}]


def made(found):
    for arguments in VOCABULARIES:
        try:
            return found(**arguments)
        except BaseException:  # a panic of Rust is no Exception
            continue
    return None


def classes():
    """Those that take a tokenizer.json. Of what inherits the generic constructor, nothing is known beyond the file."""
    names = {name for name in dir(transformers) if name.endswith("Tokenizer")}
    for name in sorted(names | {name.removesuffix("Fast") for name in auto.TOKENIZER_MAPPING_NAMES.values() if name}):
        found = auto.tokenizer_class_from_name(name)
        if isinstance(found, type) and issubclass(found, TokenizersBackend) and found.__init__ is not TokenizersBackend.__init__:
            yield name, found


def token_rows():
    for name, found in classes():
        tokenizer = made(found)
        if tokenizer is None:
            print(f"left out: {name} needs more than a vocabulary")
            continue
        added = {token.content: token for token in tokenizer.added_tokens_decoder.values()}
        tokens = {}
        for variable, text in tokenizer.special_tokens_map.items():
            flags = [flag for flag in FLAGS if text in added and getattr(added[text], flag)]
            tokens[variable] = {"content": text} | dict.fromkeys(flags, True) if flags else text
        yield f'CLASS_TOKENS("{name}", R"~({json.dumps(tokens, separators=(",", ":"), ensure_ascii=False)})~")'


def type_rows():
    for model_type, name in sorted(auto.TOKENIZER_MAPPING_NAMES.items()):
        if name is None:
            continue
        name = name.removesuffix("Fast")
        always = name in GENERIC or model_type in auto.MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS
        # Where transformers has no configuration of this name, it goes by the class that is named, or by none.
        if always or model_type in auto.CONFIG_MAPPING_NAMES:
            yield f'TYPE_CLASS("{model_type}", "{"TokenizersBackend" if name in GENERIC else name}", {"true" if always else "false"})'


def compare(table, start, rows, write):
    lines = table.read_text("utf-8").splitlines()
    known = [line for line in lines if line.startswith(start)]
    if write:
        at = lines.index(known[0])
        others = [line for line in lines if line not in known]
        table.write_text("\n".join(others[:at] + rows + others[at:]) + "\n", "utf-8")
        return True
    for line in sorted(set(rows) ^ set(known)):
        print(("made: " if line in rows else "in the table: ") + line)
    print(f"{len(set(rows) & set(known))} of {len(rows)} rows of {table.name} are as in transformers {transformers.__version__}")
    return rows == known


def main():
    write = sys.argv[1:] == ["--write"]
    same = compare(TOKENS, "CLASS_TOKENS(", [*token_rows()], write)
    if transformers.__version__ == NEWEST:
        same = compare(TYPES, "TYPE_CLASS(", [*type_rows()], write) and same
    return 0 if same else 1


sys.exit(main())
