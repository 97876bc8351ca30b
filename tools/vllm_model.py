#!/usr/bin/env python3
"""A model of a GGUF file as a folder that vLLM and SGLang read, its weights as 32-bit floats: vllm_model.py GGUF FOLDER."""

import os
import pathlib
import sys

from transformers import AutoModelForCausalLM, AutoTokenizer

file, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
part = folder.with_suffix(".part")
AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(part)
model = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype="float32")
model.hf_quantizer = None  # its weights are floats now
del model.config.quantization_config
model.save_pretrained(part)
os.rename(part, folder)
