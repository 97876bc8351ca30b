// Fuzz target: any text as a Modelfile, and its first line as the name of a model. Reading must
// end; what was read and is written again reads as the same; a name leads nowhere but below its
// folder.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/utf8.h"
#include "sources/modelfile.h"
#include "sources/ollama_name.h"

namespace {

using parlance::ModelfileCommand;

/// A command as Ollama writes it. Quotes that end a line inside a value cannot be written.
std::string written(const ModelfileCommand& command) {
  const std::string word = command.word.empty() ? "" : command.word + " ";
  return command.name + " " + word + "\"\"\"" + command.value + "\"\"\"\n";
}

bool can_be_written(const ModelfileCommand& command) { return command.value.find('"') == std::string::npos; }

void check_name(std::string_view text) {
  const auto name = parlance::parse_ollama_name(text);
  if (!name) return;
  const std::string path = name->path();
  if (path.front() == '/' || path.find("..") == 0 || path.find("/.") != path.npos || path.find('\0') != path.npos)
    std::abort();
  const auto again = parlance::parse_ollama_name(name->shortest());
  if (!again || !again->is(*name)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_name(text.substr(0, text.find('\n')));
  if (!parlance::utf8::is_valid(text, false)) return 0;
  const auto read = parlance::parse_modelfile(text, "Modelfile");
  if (!read) {
    if (read.error().where().line == 0 || read.error().display().empty()) std::abort();
    return 0;
  }
  std::string again;
  for (const ModelfileCommand& command : *read) {
    if (!can_be_written(command)) return 0;
    again += written(command);
  }
  const auto second = parlance::parse_modelfile(again, "Modelfile");
  if (!second || second->size() != read->size()) std::abort();
  for (std::size_t i = 0; i < read->size(); ++i) {
    if ((*read)[i].value != (*second)[i].value || (*read)[i].name != (*second)[i].name) std::abort();
  }
  return 0;
}
