#!/usr/bin/env python3
"""A reader of replies: transformers' ResponseParser with a response_template, fed piece by piece.

Speaks the protocol of ../README.md: the template is a response_template as JSON, the context {"prompt", "pieces"}. It cannot
read what is not whole anew at each piece: the beginning of a JSON region is an error to it.
"""

import json
import os

os.environ["TRANSFORMERS_VERBOSITY"] = "error"  # it says that PyTorch is not there

import transformers
from transformers.utils.chat_parsing import ResponseParser
from transformers.utils.chat_parsing.response_templates import load_response_template

from engine import serve


class Reader:
    version = transformers.__version__

    def load(self, command):
        with open(command["template"], encoding="utf-8") as f:
            self.format = load_response_template(json.load(f))
        with open(command["context"], encoding="utf-8") as f:
            context = json.load(f)
        self.prompt, self.pieces = context["prompt"], context["pieces"]

    def stream(self):
        parser = ResponseParser(self.format, prefix=self.prompt)
        for piece in self.pieces:
            parser.feed(piece)
        return parser.finalize()[0]

    def e2e(self):
        return json.dumps({"message": self.stream()}).encode()


if __name__ == "__main__":
    serve(Reader())
