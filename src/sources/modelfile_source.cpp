// A Modelfile as a source: its commands, laid over what its FROM says.
//
// Facts: Ollama's parser/parser.go (CreateRequest, expandPath: a FROM is a path if there is
// something at it, else a name), server/create.go (what a model takes over from its base),
// api/types.go (only `stop` has several values). Begin reading at open_modelfile.
#include <algorithm>
#include <optional>

#include "base/utf8.h"
#include "sources/files.h"
#include "sources/modelfile.h"
#include "sources/openers.h"

namespace parlance {
namespace {

constexpr std::string_view kStop = "stop";

bool has_prefix(std::string_view text, std::string_view prefix) { return text.starts_with(prefix); }

/// UTF-16 with a byte order mark is read too, as Ollama reads it.
Result<std::string> to_utf8(std::string text, const std::string& path) {
  const bool little = has_prefix(text, "\xFF\xFE");
  if (!little && !has_prefix(text, "\xFE\xFF")) {
    if (utf8::is_valid(text, false)) return text;
    return Error(ErrorCode::file, path + ": not UTF-8");
  }
  std::string made;
  char32_t high = 0;
  for (std::size_t i = 2; i + 1 < text.size(); i += 2) {
    const auto first = static_cast<unsigned char>(text[i]);
    const auto second = static_cast<unsigned char>(text[i + 1]);
    const char32_t unit = little ? first | second << 8 : first << 8 | second;
    const bool is_low = unit >= 0xDC00 && unit < 0xE000;
    if (high != 0 && is_low) {
      utf8::append(made, 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00));
      high = 0;
      continue;
    }
    if (high != 0) utf8::append(made, utf8::kReplacement);
    high = unit >= 0xD800 && unit < 0xDC00 ? unit : 0;
    if (high == 0) utf8::append(made, is_low ? utf8::kReplacement : unit);
  }
  if (high != 0) utf8::append(made, utf8::kReplacement);
  return made;
}

/// Where a FROM would lie in the file system: beside the Modelfile, unless it says otherwise.
std::string path_of_from(const std::string& from, const SourceRequest& request) {
  if (has_prefix(from, "/")) return from;
  const std::string& home = request.stores.home;
  if (!home.empty() && from == "~") return home;
  if (!home.empty() && has_prefix(from, "~/")) return join_path(home, std::string_view(from).substr(2));
  return join_path(folder_of(request.path), from);
}

/// What the Modelfile says itself.
struct Modelfile {
  std::vector<std::string> from;
  ModelSource own;
};

void set_parameter(ModelSource& source, const ModelfileCommand& command) {
  if (command.word != kStop) {
    std::erase_if(source.parameters, [&](const SourceParameter& p) { return p.name == command.word; });
  }
  source.parameters.push_back({command.word, command.value});
}

Modelfile collect(const std::vector<ModelfileCommand>& commands, const std::string& path) {
  Modelfile file;
  ModelSource& own = file.own;
  own.path = path;
  for (const ModelfileCommand& command : commands) {
    if (command.name == "from") file.from.push_back(command.value);
    if (command.name == "system") own.system = command.value;
    if (command.name == "message") own.messages.push_back({command.word, command.value});
    if (command.name == "parameter") set_parameter(own, command);
    if (command.name == "renderer" && !command.value.empty()) {
      own.notes.push_back("Ollama renders this model by its own code, '" + command.value + "', not by the template");
    }
    if (command.name != "template") continue;
    own.templates.clear();  // the last one counts; an empty one is none
    if (!command.value.empty()) own.templates.push_back({"default", command.value, path + " (TEMPLATE)", Syntax::go});
  }
  return file;
}

/// What is not there as a file may be a model's name, unless it looks like a file's.
bool may_be_name(const std::string& from) {
  return !has_prefix(from, ".") && !has_prefix(from, "/") && !has_prefix(from, "~") && !from.ends_with(".gguf");
}

/// Several FROMs are a model and what belongs to it, as a projector: the model is the one that has
/// a template.
Result<ModelSource> open_base(const Modelfile& file, const SourceRequest& request) {
  std::optional<Result<ModelSource>> base;
  for (const std::string& from : file.from) {
    SourceRequest asked{path_of_from(from, request), request.stores, &request};
    if (!is_there(asked.path) && may_be_name(from)) asked.path = from;
    Result<ModelSource> opened = open_source(asked);
    if (opened && !opened->templates.empty()) return opened;
    if (!base || (!*base && opened)) base.emplace(std::move(opened));
  }
  return std::move(*base);
}

Error of_from(const Error& error, const std::string& path) {
  std::vector<std::string> trace = error.trace();
  trace.push_back("FROM of " + path);
  return error.trace(std::move(trace));
}

}  // namespace

bool is_modelfile(const SourceRequest& request) {
  std::string name(file_name_of(request.path));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const bool named_so = name == "modelfile" || has_prefix(name, "modelfile.") || name.ends_with(".modelfile");
  return named_so && is_file(request.path);
}

void lay_over(ModelSource& base, ModelSource&& over) {
  base.path = std::move(over.path);
  if (!over.templates.empty()) base.templates = std::move(over.templates);
  if (!over.system.empty()) base.system = std::move(over.system);
  if (!over.messages.empty()) base.messages = std::move(over.messages);
  std::erase_if(base.parameters, [&](const SourceParameter& old) {
    return std::any_of(over.parameters.begin(), over.parameters.end(),
                       [&](const SourceParameter& p) { return p.name == old.name; });
  });
  base.parameters.insert(base.parameters.end(), over.parameters.begin(), over.parameters.end());
  base.notes.insert(base.notes.end(), over.notes.begin(), over.notes.end());
}

Result<ModelSource> open_modelfile(const SourceRequest& request) {
  Result<std::string> read = read_file(request.path, kMaxConfiguration);
  if (!read) return read.error();
  const Result<std::string> text = to_utf8(std::move(*read), request.path);
  if (!text) return text.error();
  const Result<std::vector<ModelfileCommand>> commands = parse_modelfile(*text, request.path);
  if (!commands) return commands.error();
  Modelfile file = collect(*commands, request.path);
  Result<ModelSource> base = open_base(file, request);
  if (base) {
    lay_over(*base, std::move(file.own));
    return base;
  }
  // A template of its own makes a Modelfile usable also where its model is not at hand.
  if (file.own.templates.empty() || base.error().code() != ErrorCode::file) return of_from(base.error(), request.path);
  file.own.notes.push_back("FROM was not followed: " + base.error().message());
  return std::move(file.own);
}

}  // namespace parlance
