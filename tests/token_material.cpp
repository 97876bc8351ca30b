// Material of the tests of tokens.
#include "token_material.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "json/json.h"
#include "value/dict.h"

namespace parlance::testing {
namespace {

namespace fs = std::filesystem;

TokenizerFacts byte_facts() {
  TokenizerFacts facts;
  facts.kind = "bytes";
  facts.named = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};
  return facts;
}

std::vector<AddedToken> added_tokens() {
  std::vector<AddedToken> added;
  for (const std::string& text : control_texts()) {
    added.push_back({.id = static_cast<TokenId>(256 + added.size()), .text = text, .special = text.starts_with("<|")});
  }
  return added;
}

void add_template(Material& material, const fs::path& path, Syntax syntax) {
  Result<std::string> text = read_file(path.string());
  if (!text) return;
  auto compiled = Template::compile(*text, {.name = path.filename().string(), .syntax = syntax});
  if (compiled) material.templates.push_back(std::move(*compiled));
}

std::vector<fs::path> files_in(const fs::path& folder, const char* ending) {
  std::vector<fs::path> files;
  if (fs::is_directory(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ending) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The request in a file: its member `context`, or all of it.
std::string request_in(const fs::path& path) {
  Result<std::string> text = read_file(path.string());
  Document document;
  if (!text || !document.parse(*text) || document.root().kind != Kind::dict) return {};
  const DictEntry* entry = find_key(*document.root().dict, "context");
  if (entry == nullptr) return *text;
  Arena arena;
  Limits limits;
  Runtime rt(arena, limits);
  std::string json;
  return append_json(rt, json, entry->value) ? json : std::string();
}

}  // namespace

std::map<std::string, std::string> options_of(int argc, char** argv, std::map<std::string, std::string> defaults) {
  for (int i = 1; i + 1 < argc; i += 2) defaults[argv[i]] = argv[i + 1];
  return defaults;
}

const std::vector<std::string>& control_texts() {
  static const std::vector<std::string> kTexts = {"<s>",
                                                  "</s>",
                                                  "<|im_start|>",
                                                  "<|im_end|>",
                                                  "<tool_call>",
                                                  "</tool_call>",
                                                  "<think>",
                                                  "</think>",
                                                  "[INST]",
                                                  "[/INST]",
                                                  "<|user|>",
                                                  "<|assistant|>",
                                                  "<|system|>",
                                                  "<|eot_id|>",
                                                  "<|start_header_id|>",
                                                  "<|end_header_id|>",
                                                  "<start_of_turn>",
                                                  "<end_of_turn>",
                                                  "<|START_OF_TURN_TOKEN|>",
                                                  "<|END_OF_TURN_TOKEN|>",
                                                  "<｜User｜>",
                                                  "<｜Assistant｜>",
                                                  "[gMASK]",
                                                  "sop",
                                                  "<_user>",
                                                  "<_bot>",
                                                  "<_end>",
                                                  "[TOOL_CALLS]",
                                                  "<|start|>",
                                                  "<|message|>",
                                                  "<|channel|>",
                                                  "<|end|>",
                                                  "assistant",
                                                  "user"};
  return kTexts;
}

std::unique_ptr<Tokenizer> byte_tokenizer() {
  CallbackTokenizer::Parts parts;
  parts.added = added_tokens();
  parts.encode = [](std::string_view run, std::vector<TokenId>& ids) -> Result<void> {
    for (unsigned char c : run) ids.push_back(c);
    return {};
  };
  parts.token_text = [](TokenId id) {
    return id < 256 ? std::string(1, static_cast<char>(id)) : control_texts()[static_cast<std::size_t>(id - 256)];
  };
  parts.facts = byte_facts();
  return std::make_unique<CallbackTokenizer>(std::move(parts));
}

std::unique_ptr<Tokenizer> chosen_tokenizer(const std::string& path) {
  if (path.empty()) return byte_tokenizer();
  Result<std::unique_ptr<Tokenizer>> opened = open_tokenizer(path);
  if (opened) return std::move(*opened);
  std::fputs(opened.error().display().c_str(), stderr);
  std::exit(2);
}

std::vector<std::string> control_texts_of(const Tokenizer& tokenizer) {
  std::vector<std::string> texts;
  for (const AddedToken& token : tokenizer.facts().added) {
    if (token.control) texts.push_back(token.text);
  }
  for (const TokenId marker : tokenizer.facts().markers) texts.push_back(tokenizer.token_text(marker));
  return texts;
}

Material own_material(const std::string& folder) {
  const fs::path formats = folder;
  Material material;
  for (const fs::path& path : files_in(formats, ".jinja")) add_template(material, path, Syntax::jinja);
  for (const fs::path& path : files_in(formats, ".gotmpl")) add_template(material, path, Syntax::go);
  for (const fs::path& path : files_in(formats / "examples", ".json")) {
    if (Result<std::string> text = read_file(path.string())) material.requests.push_back(*text);
  }
  return material;
}

void add_templates(Material& material, const std::string& folder) {
  for (const fs::path& path : files_in(folder, ".jinja")) add_template(material, path, Syntax::jinja);
}

Material corpus_material(const std::string& folder, bool go) {
  const fs::path corpus = folder;
  Material material;
  material.as_is = !go;
  const fs::path templates = corpus / (go ? "go_templates" : "templates");
  for (const fs::path& path : files_in(templates, go ? ".gotmpl" : ".jinja")) {
    add_template(material, path, go ? Syntax::go : Syntax::jinja);
  }
  for (const fs::path& path : files_in(corpus / (go ? "go_conversations" : "conversations"), ".json")) {
    if (std::string request = request_in(path); !request.empty()) material.requests.push_back(request);
  }
  return material;
}

void add_corpus(std::vector<Material>& materials, const std::string& corpus) {
  if (corpus.empty()) return;
  materials.push_back(corpus_material(corpus, false));
  materials.push_back(corpus_material(corpus, true));
}

}  // namespace parlance::testing
