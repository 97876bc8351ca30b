"""What is known to differ between parlance.renderers.ParlanceRenderer and the renderers by hand of the package `renderers`."""

from __future__ import annotations

import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Known:
    families: str
    """A pattern of the families' labels, as are the next two of conversations and fields."""
    where: str
    field: str
    fault: str
    """"by hand", "parlance", "template" (it is another than that of the renderer by hand) or "choice"."""
    right: str
    """Whom transformers confirms; "-": it cannot say."""
    why: str

    def covers(self, family: str, where: str, field: str, right: str) -> bool:
        pairs = ((self.families, family), (self.where, where), (self.field, field), (self.right, right))
        return all(re.fullmatch(pattern, text) for pattern, text in pairs)


MASKS = "sampled_mask|is_content"
WRITTEN = "counts as sampled what the generation prompt has already written (<think>, the opening of a channel)"
UNWRITTEN = "does not count as sampled what the generation prompt does not write, so that the model has to"
KNOWN = [
    Known(".*", "control tokens.*", "ids", "choice", "by hand|neither",
          "a user's text becomes control tokens, as in transformers; parlance gives the same ids with protect=False"),
    Known("(qwen3|llama-3|nemotron).*", "-", "stop tokens", "choice", "-",
          "by hand it is a table with a token that neither the template nor the tokenizer has; generation_config.json would name it"),
    Known(r"(qwen3\.[568]|minimax-m2|nemotron).*", ".*", MASKS, "by hand", "parlance", WRITTEN),
    Known("gemma4 26B.*", "cycles.*", "sampled_mask", "by hand", "parlance", WRITTEN),
    Known(r"laguna-xs\.2 \(letters\)", ".*", MASKS, "by hand", "parlance", WRITTEN),
    Known("(glm-|gpt-oss).*", ".*", MASKS, "by hand", "parlance", UNWRITTEN),
    Known("gemma4.*", ".*", "is_content", "by hand", "-", "counts the quotes around a result as content, which the template writes"),
    Known(r"qwen3\.[568]", "a result.*", "ids", "by hand", "parlance",
          "encodes content and markup apart; the tokenizer has tokens across them. With (letters) the ids are equal"),
    Known(r"laguna-xs\.2", "(?!control).*", "ids", "by hand", "parlance", "the same, in the system message"),
    Known("gemma4 31B.*", ".*", "ids", "by hand", "parlance", "writes an empty thought in front of earlier answers; the template does not"),
    Known("deepseek-v3.*", "(two results|cycles).*", "ids", "by hand", "parlance", "leaves out the line feed between calls"),
    Known("deepseek-r1.*", ".*", "ids", "template", "parlance", "trl's template writes calls and the prompt behind results otherwise"),
    Known("deepseek-v4.*", ".*", "ids", "template", "parlance", "by hand as the model's encoder in Python, which this template is not"),
    Known("gpt-oss", ".*", "ids", "template", "parlance", "by hand as openai_harmony, which the model's template is not"),
    Known("kimi-k2.*", ".*", "ids", "template", "parlance", "by hand as the model's tokenizer class hands tools to the template"),
    Known("gpt-oss", "a result.*", "ids", "choice", "-",
          "the template refuses content beside the reasoning of a call; parlance's passes join the two"),
    Known(r"qwen3\.8.*", "the bridge from a reply cut off to a user", "ids", "by hand", "-",
          "closes a thought that was cut off by its marker alone; parlance as the template closes one"),
    Known("deepseek-v3.*", "the bridge from a call to a result and a user", "ids", "template", "-",
          "the end of the results in front of a user, which this template does not write"),
    Known(r"laguna-xs\.2 \(letters\)", "the bridge from .*", "ids", "by hand", "-",
          "leaves out the line feed behind the turn that was sampled"),
    Known("gemma4.*", "the bridge from a call to a result", "no bridge", "choice", "-",
          "the template writes content that was sampled before a call behind its result; by hand the ids are kept, parlance refuses"),
    Known("glm-4.5.*", "a reply cut off", "reasoning_complete", "choice", "-", "by hand a line feed alone is the beginning of reasoning"),
    Known("minimax-m2.*", "a system message.*", "message_indices", "by hand", "-",
          "a system message has the token that begins every prompt, which else is of no message"),
    Known("minimax-m2.*", "two results.*", "message_indices", "choice", "-", "the line feed between two results is by hand of the first"),
    Known("gpt-oss", "a system message.*", "message_indices|is_content", "choice", "-",
          "a system message has the whole preamble, and the heads of its sections are its content"),
    Known("laguna.*", "a system message.*", "message_indices", "choice", "-", "the tags around a system message are by hand of no message"),
    Known("laguna.*", "the bridge from (a call|a plain reply) to .*", "message_indices", "by hand", "-",
          "the line feed behind the turn that was sampled is of the next message; the protocol has -1 for it"),
    Known("laguna.*", "the bridge from a reply cut off to a user", "message_indices", "parlance", "-",
          "the end that is added to the turn is of the next message"),
    Known("deepseek-v4.*", "-", "is_prefix_stable", "template", "-", "the encoder in Python drops reasoning; this template keeps it"),
    Known("kimi-k2.*", "-", "is_prefix_stable", "template", "-", "transformers refuses this template for conversations with calls"),
]  # fmt: skip
