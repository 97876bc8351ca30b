// What this library makes of Modelfiles and of models' names, for modelfile_oracle.py: the same
// lines in and out as ollama/main.go.
#include <iostream>
#include <string>

#include "json/json.h"
#include "parlance/json.h"
#include "sources/json_file.h"
#include "sources/modelfile.h"
#include "sources/ollama_name.h"

namespace {

using parlance::ModelfileCommand;

/// The name of a command as Ollama keeps it: FROM is `model`, a PARAMETER is called as what it
/// sets.
std::string name_of(const ModelfileCommand& command) {
  if (command.name == "from") return "model";
  return command.name == "parameter" ? command.word : command.name;
}

std::string argument_of(const ModelfileCommand& command) {
  return command.name == "message" ? command.word + ": " + command.value : command.value;
}

std::string commands(std::string_view text) {
  const auto read = parlance::parse_modelfile(text, "Modelfile");
  if (!read) return "null";
  std::string out = "[";
  for (const ModelfileCommand& command : *read) {
    out += out.size() == 1 ? "[" : ",[";
    parlance::append_json_string(out, name_of(command));
    out += ",";
    parlance::append_json_string(out, argument_of(command));
    out += "]";
  }
  return out + "]";
}

std::string path(std::string_view name) {
  const auto parsed = parlance::parse_ollama_name(name);
  if (!parsed) return "null";
  std::string out;
  parlance::append_json_string(out, parsed->path());
  return out;
}

}  // namespace

int main() {
  std::string line;
  parlance::Document document;
  while (std::getline(std::cin, line)) {
    if (!document.parse(line)) return 1;
    const bool is_name = parlance::json_member(document.root(), "name") != nullptr;
    std::cout << (is_name ? path(parlance::json_text(document.root(), "name"))
                          : commands(parlance::json_text(document.root(), "modelfile")))
              << "\n";
  }
}
