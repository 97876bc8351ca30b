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

/// What a request has.
struct FoundGrammar {
  const GrammarMember* member = nullptr;  ///< null: nothing
  std::string path{}, text{};
};

Error cannot(const std::string& path, const std::string& why) {
  return Error(ErrorCode::conversation, path + ": " + why).input(path);
}

Result<FoundGrammar> find_in(Value body) {
  FoundGrammar found;
  for (const GrammarMember& member : kGrammars) {
    const Value given = member.outer.empty() ? body[member.name] : body[member.outer][member.name];
    if (!is_given(given)) continue;
    const std::string path =
        (member.outer.empty() ? std::string() : std::string(member.outer) + ".") + std::string(member.name);
    if (!given.is_string() && !(member.is_tag && given.is(Kind::dict))) return cannot(path, "must be a string");
    if (given.is_string() && given.text().empty()) continue;
    if (found.member != nullptr) return cannot(path, "there is another grammar, " + found.path);
    found = {&member, path, given.is_string() ? std::string(given.text()) : json_text(given)};
  }
  return found;
}

OwnGrammar own_grammar(FoundGrammar found, std::string text) {
  return {std::make_shared<const std::string>(std::move(text)), std::move(found.path)};
}

}  // namespace

Result<OwnGrammar> read_own_grammar(const ServedModel& model, Value body) {
  Result<FoundGrammar> found = find_in(body);
  if (!found) return found.error();
  if (found->member == nullptr) return OwnGrammar();
  const std::optional<GrammarSyntax> syntax = model.backend->facts().grammar;
  const bool takes_tags = syntax == GrammarSyntax::structural_tag, is_tag = found->member->is_tag;
  if (!takes_tags && (is_tag || syntax != GrammarSyntax::gbnf))
    return cannot(found->path, "the engine takes no such grammar, so the reply would not be held to it");
  std::string text = std::move(found->text);
  if (takes_tags && !is_tag) {
    JsonWriter format('{');
    format.text("type", "grammar").text("grammar", text);
    text = JsonWriter('{').text("type", "structural_tag").raw("format", format.take()).take();
  }
  return own_grammar(std::move(*found), std::move(text));
}

Result<OwnGrammar> own_structured_outputs(Value body) {
  Result<FoundGrammar> found = find_in(body);
  if (!found) return found.error();
  if (found->member == nullptr) return OwnGrammar();
  const std::string_view outer = found->member->outer;
  const std::string_view name = found->member->is_tag ? "structural_tag" : "grammar";
  std::string text = outer.empty() ? JsonWriter('{').text(name, found->text).take() : json_text(body[outer]);
  return own_grammar(std::move(*found), std::move(text));
}

}  // namespace parlance::serve
