// Begin reading at read_own_grammar.
#include "serve/fronts/own_grammar.h"

#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "serve/json/members.h"

namespace parlance::serve {

namespace {

/// A member that has a grammar, in the object of that name or, "", in the request itself.
struct GrammarMember {
  std::string_view outer, name;
  bool is_tag = false;  ///< a structural tag; else GBNF, which xgrammar's EBNF is too
};
constexpr GrammarMember kGrammars[] = {
    {"structured_outputs", "grammar"},
    {"", "guided_grammar"},
    {"", "grammar"},
    {"", "ebnf"},
    {"structured_outputs", "structural_tag", true},
    {"", "structural_tag", true},
};

/// Other forms that a request may have for its reply, each of which has a grammar of its own.
constexpr std::string_view kForms[] = {"guided_json", "guided_regex", "guided_choice", "json_schema", "regex"};

Error cannot(const std::string& path, const std::string& why) {
  return Error(ErrorCode::conversation, path + ": " + why).input(path);
}

/// Why the reply of this request cannot be held to a grammar of its own; "": it can.
std::string conflict_in(Value body) {
  const bool calls = !body["tools"].items().empty() || !body["functions"].items().empty();
  if (calls && body["tool_choice"].text() != "none")
    return "with tools, the grammar of the reply is made from these; leave one of the two out";
  const std::string other = "the request has another form for its reply, ";
  for (const std::string_view name : kForms)
    if (is_given(body[name])) return other + std::string(name);
  for (const std::string_view name : {"json", "regex", "choice", "json_object"})
    if (is_given(body["structured_outputs"][name])) return other + "structured_outputs." + std::string(name);
  const Value format = body["response_format"];
  return is_given(format) && format["type"].text() != "text" ? other + "response_format" : "";
}

}  // namespace

Result<OwnGrammar> read_own_grammar(const ServedModel& model, Value body) {
  OwnGrammar made;
  for (const GrammarMember& member : kGrammars) {
    const Value given = member.outer.empty() ? body[member.name] : body[member.outer][member.name];
    if (!is_given(given)) continue;
    const std::string path =
        (member.outer.empty() ? std::string() : std::string(member.outer) + ".") + std::string(member.name);
    if (!given.is_string() && !(member.is_tag && given.is(Kind::dict))) return cannot(path, "must be a text");
    if (given.is_string() && given.text().empty()) continue;
    if (made.text) return cannot(path, "there is another grammar, " + made.path);
    if (const std::string why = conflict_in(body); !why.empty()) return cannot(path, why);
    const std::optional<GrammarSyntax> syntax = model.backend->facts().grammar;
    const bool takes_tags = syntax == GrammarSyntax::structural_tag;
    if (!takes_tags && (member.is_tag || syntax != GrammarSyntax::gbnf))
      return cannot(path, "the engine takes no such grammar, so the reply would not be held to it");
    std::string text = given.is_string() ? std::string(given.text()) : json_text(given);
    if (takes_tags && !member.is_tag) {
      JsonWriter format('{');
      format.text("type", "grammar").text("grammar", text);
      text = JsonWriter('{').text("type", "structural_tag").raw("format", format.take()).take();
    }
    made = {std::make_shared<const std::string>(std::move(text)), path};
  }
  return made;
}

}  // namespace parlance::serve
