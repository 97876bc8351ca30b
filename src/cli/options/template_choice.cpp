// Finding the template that the command line asks for.
#include "cli/options/template_choice.h"

#include <cstdlib>
#include <optional>

#include "base/packed.h"
#include "base/utf8.h"
#include "cli/input.h"
#include "parlance/source.h"

namespace parlance::cli {
namespace {

/// Read once, however often a command asks for its template. Nothing says what standard input is; --syntax does.
Result<NamedTemplate> read_template() {
  static const Result<std::string> text = read_input("-", "the template");
  if (!text) return text.error();
  if (!utf8::is_valid(*text, false))
    return Error(ErrorCode::file, "<stdin>: not UTF-8").hint(std::string(hint_for_bytes(*text)));
  return NamedTemplate{"default", *text, "<stdin>", Syntax::jinja};
}

Result<NamedTemplate> given_template(const std::string& path) {
  return path == "-" ? read_template() : open_template_file(path);
}

Result<ModelSource> from_file(const std::string& path) {
  Result<NamedTemplate> read = given_template(path);
  if (!read) return read.error();
  ModelSource found;
  found.path = path;
  found.templates.push_back(std::move(*read));
  return found;
}

/// A template of the user's own in place of the model's; the model's special tokens and tokenizer stay.
Result<ModelSource> with_template(ModelSource found, const std::string& path) {
  Result<NamedTemplate> read = given_template(path);
  if (!read) return read.error();
  found.templates = {std::move(*read)};
  found.response_template.clear();  // which says how the model's own template writes replies
  return found;
}

}  // namespace

Result<ModelSource> find_templates(const TemplateWish& wish) {
  if (!wish.format.empty()) return open_format(wish.format);
  for (const std::string& path : {wish.file, wish.model})
    if (!path.empty()) count_as_read(path);
  if (wish.model.empty()) return from_file(wish.file);
  const ModelStores stores = model_stores([](const char* name) -> const char* { return std::getenv(name); });
  Result<ModelSource> model = open_model(wish.model, stores, !wish.file.empty());
  if (!model) return model.error();
  return wish.file.empty() ? std::move(model) : with_template(std::move(*model), wish.file);
}

}  // namespace parlance::cli
