// Syntax: the language a template is written in.
//
// The extension of a template file decides its language. For a model, the place where it keeps the template decides.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace parlance {

enum class Syntax : std::uint8_t {
  jinja,  ///< Jinja2 under transformers' settings
  go,     ///< Go's text/template with Ollama's functions and data
};

/// "jinja" or "go".
constexpr std::string_view syntax_name(Syntax syntax) { return syntax == Syntax::go ? "go" : "jinja"; }
/// The syntax with this name, if there is one.
constexpr std::optional<Syntax> syntax_named(std::string_view name) {
  if (name == "jinja") return Syntax::jinja;
  if (name == "go") return Syntax::go;
  return std::nullopt;
}
/// The syntax of a file by its extension: .gotmpl and .tmpl are Go's, everything else is Jinja.
constexpr Syntax syntax_of_file(std::string_view path) {
  return path.ends_with(".gotmpl") || path.ends_with(".tmpl") ? Syntax::go : Syntax::jinja;
}

}  // namespace parlance
