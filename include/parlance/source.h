// Sources: opens the template of a file, a model's folder or GGUF file, a Modelfile, a model in a local store, or a
// built-in format. Begin reading at open_model.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/result.h"
#include "parlance/syntax.h"
#include "parlance/tokenizer.h"

namespace parlance {

class Conversation;

/// A named template of a model.
struct NamedTemplate {
  std::string name;  ///< "default", "tool_use", "rag", …
  std::string text;
  std::string origin;  ///< file (and member) it was read from, for errors
  Syntax syntax = Syntax::jinja;
};

/// A special-token variable of a model.
struct SpecialToken {
  std::string name;  ///< "bos_token", "eos_token", …
  std::string text;
  std::int64_t id = -1;  ///< in the vocabulary, where the source says so (GGUF); else -1
};

/// A message that a Modelfile puts before those of a request.
struct SourceMessage {
  std::string role;
  std::string content;
};

/// A parameter of a Modelfile, as text: `temperature`, `0.7`. A name with several values (`stop`) has several.
struct SourceParameter {
  std::string name;
  std::string value;
};

/// What a model says about its chat format. open_model() returns at least one template, unless `may_lack_template`.
struct ModelSource {
  std::string path;
  /// For open_tokenizer: the model's folder, or the GGUF file of its weights; "" if there is neither.
  std::string tokenizer_path;
  std::vector<NamedTemplate> templates;
  std::vector<SpecialToken> special_tokens;
  std::string system;                       ///< Modelfile's SYSTEM: used if a request does not begin with one
  std::vector<SourceMessage> messages;      ///< Modelfile's MESSAGEs: put before the request's
  std::vector<SourceParameter> parameters;  ///< Modelfile's PARAMETERs
  std::string response_template;            ///< JSON, from tokenizer_config.json (response_template.h)
  std::optional<bool> add_bos_token;        ///< does the tokenizer add BOS by itself? (GGUF)
  std::optional<bool> add_eos_token;
  std::vector<std::string> notes;  ///< what was met and left out, for people
  std::string looked_for;          ///< where a template was searched for: the hint if there is none

  /// Chooses as transformers does: `name` if given; the only one; `tool_use` if `has_tools` and there is one;
  /// `default`. Fails with no_template (the names there are, nearest name).
  /// Lifetime, here and below: the model's.
  Result<const NamedTemplate*> choose(std::optional<std::string_view> name, bool has_tools) const&;
  Result<const NamedTemplate*> choose(std::optional<std::string_view> name, bool has_tools) const&& = delete;
  /// The values of the parameter `stop`.
  std::vector<std::string_view> stop() const&;
  std::vector<std::string_view> stop() const&& = delete;
};

/// The folders in which other programs keep models, for opening models by name. An empty one is not searched; all are
/// empty by default.
struct ModelStores {
  std::string ollama;    ///< Ollama's folder of models, with `manifests` and `blobs`
  std::string hf_cache;  ///< Hugging Face's folder of `models--org--name`
  std::string home;      ///< what `~` means in a Modelfile's FROM
};

/// The folders that the environment names, with the defaults of the programs: OLLAMA_MODELS; HF_HUB_CACHE,
/// HUGGINGFACE_HUB_CACHE, HF_HOME, XDG_CACHE_HOME; HOME. `variable` is getenv, or a stand-in for it.
ModelStores model_stores(const char* (*variable)(const char* name));

/// A model in one of the stores.
struct StoredModel {
  std::string name;   ///< as open_model() takes it
  std::string store;  ///< the folder of ModelStores
};
/// The models in the stores, each store's sorted; none of a store that cannot be read.
std::vector<StoredModel> stored_models(const ModelStores& stores);

/// Opens a model: a path, or a name in one of the stores. Tried in this order:
///
///     a template file        FILE.jinja, FILE.gotmpl
///     a GGUF file            its header: tokenizer.chat_template, tokenizer.chat_template.NAME, special tokens by id
///     a Modelfile            FROM, TEMPLATE, SYSTEM, MESSAGE, PARAMETER; what it does not say is taken from FROM
///     a Hugging Face cache   a folder models--org--name (refs/main, else its one snapshot), or org/name[@revision]
///     a Hugging Face folder  chat_template.jinja, additional_chat_templates/*.jinja, chat_template.json,
///                            tokenizer_config.json, special_tokens_map.json, as in transformers; else its GGUF file
///     a model of Ollama      by name: [host/][namespace/]model[:tag]
///
/// Fails with file (unreadable; or no such name, and the message lists what there is), json (broken JSON, with place),
/// model_file (damaged GGUF, Modelfile or manifest, with place; configuration of a wrong shape), and no_template unless
/// `may_lack_template`, for callers that bring a template of their own.
Result<ModelSource> open_model(const std::string& path, const ModelStores& stores = {}, bool may_lack_template = false);
/// The control tokens that a model's files declare, without opening its tokenizer. `path` is a tokenizer.json (the
/// tokenizer_config.json beside it is read too), a folder that has one, or a GGUF file. Tokens of white space alone are
/// not counted.
/// Fails with file; json (place); model_file; tokenizer if no file declares them.
Result<std::vector<AddedToken>> control_tokens(const std::string& path);
/// Reads a template file; FILE.gotmpl and FILE.tmpl are Go templates.
/// Fails with file, also when it is not UTF-8.
Result<NamedTemplate> open_template_file(const std::string& path);
/// Reads a whole file.
/// Fails with file.
Result<std::string> read_file(const std::string& path);
/// The error of a system call that failed on a path, with the nearest name in its folder where there is nothing.
Error file_error(const std::string& path, int system_error);

/// Puts what a model brings along into a conversation: special tokens where the request has no variable of that name,
/// and, unless `tokens_only`, messages in Ollama's order: SYSTEM if the request's first message is no system message,
/// then the MESSAGEs, then the request's own.
/// Fails with limit_memory.
Result<void> add_model(Conversation& conversation, const ModelSource& model, bool tokens_only = false);

/// A format that parlance itself brings: its template text and what it is for.
struct BuiltinFormat {
  std::string_view name;
  std::string_view aliases;  ///< separated by blanks
  std::string_view sentence;
  std::string_view text;     ///< the template
  std::string_view example;  ///< a request, JSON
  std::span<const std::pair<std::string_view, std::string_view>> special_tokens;
  Syntax syntax = Syntax::jinja;
  /// Control tokens that the model's own vocabulary file lacks (SentencePieceOptions::special_tokens); mostly none.
  std::span<const std::string_view> vocabulary_tokens;
  std::string_view reply;  ///< how the model writes its replies: ReplyFormat (reply.h) as JSON
};
std::span<const BuiltinFormat> builtin_formats();
/// By name or alias, or null.
const BuiltinFormat* find_format(std::string_view name);

}  // namespace parlance
