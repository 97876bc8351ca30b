// One opener for each kind of source; the table of them is in sources.cpp.
//
// Each kind has two functions: one says whether a path or name is of this kind, the other opens it. The first that says
// yes opens, so that an error can be about that kind and need not guess what was meant.
#pragma once
#include <string>
#include <vector>

#include "parlance/source.h"

namespace parlance {

/// What is to be opened, and for whom.
struct SourceRequest {
  std::string path;  ///< or a name in one of the stores
  const ModelStores& stores;
  const SourceRequest* asker = nullptr;  ///< whose FROM it is
};

/// Opens by the first row of the table that accepts the path. `templates` may stay empty here: a
/// FROM need not have one. Fails with file when there is nothing of this path or name; model_file
/// when a FROM leads back to itself, or too far.
Result<ModelSource> open_source(const SourceRequest& request);

bool is_plain_file(const SourceRequest& request);
Result<ModelSource> open_plain_file(const SourceRequest& request);

/// A file that begins with GGUF's magic, or is called .gguf.
bool is_gguf(const SourceRequest& request);
Result<ModelSource> open_gguf(const SourceRequest& request);
/// Some of the files of a folder that hold a model's header: not the later parts of a split one.
std::vector<std::string> gguf_files_in(const std::string& folder);

/// A file whose name says so: Modelfile, Modelfile.x, x.Modelfile.
bool is_modelfile(const SourceRequest& request);
Result<ModelSource> open_modelfile(const SourceRequest& request);
/// What a model says over what its base says, as Ollama lays the one over the other.
void lay_over(ModelSource& base, ModelSource&& over);

/// A folder of Hugging Face's cache, or org/name in it.
bool is_hf_cache(const SourceRequest& request);
Result<ModelSource> open_hf_cache(const SourceRequest& request);
std::vector<std::string> names_in_hf_cache(const ModelStores& stores);

/// A folder, or a tokenizer_config.json by itself.
bool is_hf_folder(const SourceRequest& request);
Result<ModelSource> open_hf_folder(const SourceRequest& request);

/// A name in Ollama's store.
bool is_ollama_model(const SourceRequest& request);
Result<ModelSource> open_ollama_model(const SourceRequest& request);
std::vector<std::string> names_in_ollama(const ModelStores& stores);

}  // namespace parlance
