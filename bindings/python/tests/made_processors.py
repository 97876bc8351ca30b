"""Processors of transformers, made locally of the small trained tokenizer: those that need no torch, unless it is there."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from material import TOKENIZERS

TAGGED = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}{% generation %}{{ show(m) }}<|im_end|>"
    "{% endgeneration %}{% else %}{{ show(m) }}<|im_end|>{% endif %}\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SHOW = (
    "{% macro show(m) %}{% if m.content is string %}{{ m.content }}{% else %}{% for part in m.content %}"
    "{% if part.type == 'text' %}{{ part.text }}{% else %}PLACEHOLDER{% endif %}{% endfor %}{% endif %}{% endmacro %}"
)


def tokenizer(**extra: Any) -> Any:
    import transformers

    file = str(TOKENIZERS / "chatml" / "tokenizer.json")
    return transformers.PreTrainedTokenizerFast(tokenizer_file=file, pad_token="<|im_end|>", **extra)


def named(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"transformers.models.{module}"), name)


def llava() -> Any:
    images = named("clip.image_processing_pil_clip", "CLIPImageProcessorPil")(
        size={"height": 32, "width": 32}, crop_size={"height": 32, "width": 32}
    )
    made = named("llava.processing_llava", "LlavaProcessor")
    return made(
        images,
        tokenizer(extra_special_tokens={"image_token": "<image>"}),
        patch_size=8,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
    )


def idefics3() -> Any:
    images = named("idefics3.image_processing_pil_idefics3", "Idefics3ImageProcessorPil")
    made = named("idefics3.processing_idefics3", "Idefics3Processor")
    return made(images(size={"longest_edge": 64}, max_image_size={"longest_edge": 32}), tokenizer(), image_seq_len=3)


def gemma3() -> Any:
    images = named("gemma3.image_processing_pil_gemma3", "Gemma3ImageProcessorPil")
    made = named("gemma3.processing_gemma3", "Gemma3Processor")
    tokens = {"image_token": "<image_soft_token>", "boi_token": "<start_of_image>", "eoi_token": "<end_of_image>"}
    return made(images(size={"height": 32, "width": 32}), tokenizer(extra_special_tokens=tokens), image_seq_length=4)


def pixtral() -> Any:
    images = named("pixtral.image_processing_pil_pixtral", "PixtralImageProcessorPil")
    made = named("pixtral.processing_pixtral", "PixtralProcessor")
    tokens = {"image_token": "[IMG]", "image_break_token": "[IMG_BREAK]", "image_end_token": "[IMG_END]"}
    return made(images(size={"longest_edge": 64}, patch_size=16), tokenizer(extra_special_tokens=tokens), patch_size=16)


def qwen2_vl() -> Any:
    images = named("qwen2_vl.image_processing_qwen2_vl", "Qwen2VLImageProcessor")
    videos = named("qwen2_vl.video_processing_qwen2_vl", "Qwen2VLVideoProcessor")
    made = named("qwen2_vl.processing_qwen2_vl", "Qwen2VLProcessor")
    tokens = {"image_token": "<|image_pad|>", "video_token": "<|video_pad|>"}
    sizes = {"min_pixels": 28 * 28, "max_pixels": 28 * 28 * 8}
    return made(images(**sizes), tokenizer(extra_special_tokens=tokens), videos(**sizes))


def smolvlm() -> Any:
    images = named("smolvlm.image_processing_smolvlm", "SmolVLMImageProcessor")
    videos = named("smolvlm.video_processing_smolvlm", "SmolVLMVideoProcessor")
    made = named("smolvlm.processing_smolvlm", "SmolVLMProcessor")
    read = images(size={"longest_edge": 64}, max_image_size={"longest_edge": 32})
    return made(read, tokenizer(), videos(size={"longest_edge": 32}), image_seq_len=3)


def qwen2_audio() -> Any:
    import transformers

    made = named("qwen2_audio.processing_qwen2_audio", "Qwen2AudioProcessor")
    tokens = {"audio_token": "<|AUDIO|>", "audio_bos_token": "<|audio_bos|>", "audio_eos_token": "<|audio_eos|>"}
    return made(transformers.WhisperFeatureExtractor(chunk_length=1), tokenizer(extra_special_tokens=tokens))


# The maker of a processor, what it is given, and the text that its template writes for that.
MAKERS: dict[str, tuple[Callable[[], Any], str, str]] = {
    "llava": (llava, "image", "<image>"),
    "idefics3": (idefics3, "image", "<image>"),
    "gemma3": (gemma3, "image", "<start_of_image>"),
    "pixtral": (pixtral, "image", "[IMG]"),
    "qwen2_vl": (qwen2_vl, "image", "<|image_pad|>"),
    "qwen2_vl of videos": (qwen2_vl, "video", "<|video_pad|>"),
    "qwen2_audio": (qwen2_audio, "audio", "<|AUDIO|>"),
    "smolvlm": (smolvlm, "image", "<image>"),
}


def processor(name: str, template: str = TAGGED) -> Any:
    """The processor, with a template that writes its placeholder for each part that is no text.

    Raises ImportError, or AttributeError with some releases, where something is not installed that it needs.
    """
    maker, _, placeholder = MAKERS[name]
    made = maker()
    made.chat_template = SHOW.replace("PLACEHOLDER", placeholder) + template
    return made
