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
  std::int64_t id = -1;  ///< its id, if the source gives one (GGUF); else -1
};

/// A message that a Modelfile puts before those of a request.
struct SourceMessage {
  std::string role;
  std::string content;
};

/// A parameter of a Modelfile, as text: `temperature`, `0.7`. A name with several values (`stop`) comes several times.
struct SourceParameter {
  std::string name;
  std::string value;
};

/// What a GGUF file says of its weights, in Ollama's words; "": it does not say it.
struct WeightFacts {
  std::string family;        ///< "llama"
  std::string size;          ///< "135M": about the number of parameters
  std::string quantization;  ///< "Q4_K_M"
};

/// The facts that a model's files state about its chat format. open_model() returns at least one template, unless
/// `may_lack_template`.
struct ModelSource {
  std::string path;
  /// For open_tokenizer: the model's folder, or the GGUF file of its weights; "" if there is neither.
  std::string tokenizer_path;
  std::vector<NamedTemplate> templates;
  std::vector<SpecialToken> special_tokens;
  std::string system;                       ///< Modelfile's SYSTEM: for requests that begin with no system message
  std::vector<SourceMessage> messages;      ///< Modelfile's MESSAGEs: put before the messages of a request
  std::vector<SourceParameter> parameters;  ///< Modelfile's PARAMETERs
  WeightFacts weights{};
  std::string response_template;      ///< JSON, from tokenizer_config.json (response_template.h)
  std::optional<bool> add_bos_token;  ///< whether the tokenizer itself adds BOS (GGUF)
  std::optional<bool> add_eos_token;
  std::vector<std::string> notes;  ///< for people: parts of the files that were ignored
  std::string looked_for;          ///< where open_model() searched for a template: the hint if there is none

  /// Chooses a template as transformers does: `name` if given; else the only one; else `tool_use` if `has_tools` and it
  /// exists; else `default`. Fails with no_template (existing names, nearest name).
  /// Lifetime, here and below: the model's.
  Result<const NamedTemplate*> choose(std::optional<std::string_view> name, bool has_tools) const&;
  Result<const NamedTemplate*> choose(std::optional<std::string_view> name, bool has_tools) const&& = delete;
  /// The values of the parameter `stop`.
  std::vector<std::string_view> stop() const&;
  std::vector<std::string_view> stop() const&& = delete;
};

/// The folders in which other programs keep models, for opening models by name. An empty path is not searched; all are
/// empty by default.
struct ModelStores {
  std::string ollama;    ///< Ollama's folder of models, with `manifests` and `blobs`
  std::string hf_cache;  ///< Hugging Face's cache, with folders `models--org--name`
  std::string home;      ///< the meaning of `~` in a Modelfile's FROM
};

/// The folders that the environment names, or else the defaults of the programs: OLLAMA_MODELS; HF_HUB_CACHE,
/// HUGGINGFACE_HUB_CACHE, HF_HOME, XDG_CACHE_HOME; HOME. `variable` is getenv, or a stand-in for it.
ModelStores model_stores(const char* (*variable)(const char* name));

/// A model in one of the stores.
struct StoredModel {
  std::string name;   ///< the name that open_model() takes
  std::string store;  ///< the folder of ModelStores
};
/// The models in the stores, sorted within each store. A store that cannot be read gives none.
std::vector<StoredModel> stored_models(const ModelStores& stores);

/// Opens a model: a path, or a name in one of the stores. Tried in this order:
///
///     a template file        FILE.jinja, FILE.gotmpl
///     a GGUF file            its header: tokenizer.chat_template, tokenizer.chat_template.NAME, special tokens by id
///     a Modelfile            FROM, TEMPLATE, SYSTEM, MESSAGE, PARAMETER; what it does not have comes from FROM
///     a Hugging Face cache   a folder models--org--name (refs/main, else its one snapshot), or org/name, with or
///                            without @ and a revision
///     a Hugging Face folder  chat_template.jinja, additional_chat_templates/*.jinja, chat_template.json,
///                            tokenizer_config.json, special_tokens_map.json, as in transformers; else its GGUF file
///     a model of Ollama      by name: [host/][namespace/]model[:tag]
///
/// Fails with file (unreadable; or no such name, with a list of existing names), json (invalid JSON, with place),
/// model_file (damaged GGUF, Modelfile or manifest, with place; configuration of the wrong form), and no_template
/// unless `may_lack_template`, which is for callers that have a template of their own.
Result<ModelSource> open_model(const std::string& path, const ModelStores& stores = {}, bool may_lack_template = false);
/// The control tokens that a model's files declare, without opening its tokenizer. `path` is a tokenizer.json (the
/// tokenizer_config.json beside it is read too), a folder that has one, or a GGUF file. Tokens that are only white
/// space do not count.
/// Fails with file; json (place); model_file; tokenizer if no file declares them.
Result<std::vector<AddedToken>> control_tokens(const std::string& path);
/// Reads a template file; FILE.gotmpl and FILE.tmpl are Go templates.
/// Fails with file, also if it is not UTF-8.
Result<NamedTemplate> open_template_file(const std::string& path);
/// Reads a whole file.
/// Fails with file.
Result<std::string> read_file(const std::string& path);
/// The error of a system call that failed on a path. If the path does not exist, it has the nearest name in the folder.
Error file_error(const std::string& path, int system_error);

/// Adds the model's special tokens and messages to a conversation. A special token is set if the request has no
/// variable of that name. Messages are added unless `tokens_only`, in Ollama's order: SYSTEM if the request does not
/// begin with a system message, then the MESSAGEs, then the request's own.
/// Fails with limit_memory, and with unicode_decode if a text of the model's is not UTF-8.
Result<void> add_model(Conversation& conversation, const ModelSource& model, bool tokens_only = false);

/// A built-in format: its template, its purpose, its reply format.
struct BuiltinFormat {
  std::string_view name;
  std::string_view aliases;  ///< separated by spaces
  std::string_view sentence;
  std::string_view text;     ///< the template
  std::string_view example;  ///< a request, JSON
  std::span<const std::pair<std::string_view, std::string_view>> special_tokens;
  Syntax syntax = Syntax::jinja;
  /// Control tokens that the model's vocabulary file lacks (SentencePieceOptions::special_tokens); mostly none.
  std::span<const std::string_view> vocabulary_tokens;
  std::string_view reply;  ///< how the model writes its replies: ReplyFormat (reply.h) as JSON
};
std::span<const BuiltinFormat> builtin_formats();
/// Finds a format by its name or alias; null if there is none.
const BuiltinFormat* find_format(std::string_view name);
/// A built-in format as a model; its path is the format's name.
/// Fails with usage if there is none of this name (nearest name).
Result<ModelSource> open_format(std::string_view name);

}  // namespace parlance
