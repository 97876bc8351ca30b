// A template file on its own.
#include "sources/files.h"
#include "sources/openers.h"

namespace parlance {

Result<NamedTemplate> open_template_file(const std::string& path) {
  Result<std::string> text = read_text_file(path);
  if (!text) return text.error();
  return NamedTemplate{"default", std::move(*text), path, syntax_of_file(path)};
}

bool is_plain_file(const SourceRequest& request) {
  const bool named_so = request.path.ends_with(".jinja") || syntax_of_file(request.path) != Syntax::jinja;
  return named_so && is_file(request.path);
}

Result<ModelSource> open_plain_file(const SourceRequest& request) {
  Result<NamedTemplate> read = open_template_file(request.path);
  if (!read) return read.error();
  ModelSource source;
  source.path = request.path;
  source.templates.push_back(std::move(*read));
  return source;
}

}  // namespace parlance
