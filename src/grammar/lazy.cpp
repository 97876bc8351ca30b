// A grammar that sets in where a call begins: what triggers it, and the calls alone. Begin reading at Grammar::to_lazy.
#include <algorithm>

#include "grammar/data.h"
#include "grammar/printers.h"

namespace parlance {
namespace {

Error no_lazy_grammar(std::string why, std::string hint) {
  return Error(ErrorCode::value, std::move(why)).hint(std::move(hint));
}

/// The text as a regular expression of ECMAScript.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view(R"(\^$.|?*+()[]{}/)").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// The same at the beginning of a reply, where the prompt may have said a part.
std::string begun(const grammar::Lazy& lazy, std::string_view text) {
  if (lazy.inside.empty() || !text.starts_with(lazy.inside)) return escaped(text);
  return "(?:" + escaped(lazy.inside) + ")?" + escaped(text.substr(lazy.inside.size()));
}

/// What is said in reasoning begins no call, so the trigger stands behind it.
GrammarTrigger trigger_at(const grammar::Lazy& lazy, std::string_view opening) {
  const std::string call = "(" + escaped(opening) + R"()[\s\S]*$)";
  const std::string close = escaped(lazy.reasoning_close);
  if (close.empty()) return {GrammarTrigger::Kind::word, std::string(opening)};
  if (lazy.in_reasoning) return {GrammarTrigger::Kind::pattern, R"(^[\s\S]*?)" + close + R"([\s\S]*?)" + call};
  const std::string open = escaped(lazy.reasoning_open);
  return {GrammarTrigger::Kind::pattern, R"(^(?:\s*)" + begun(lazy, lazy.reasoning_open) + R"([\s\S]*?)" + close +
                                             ")?(?:(?!" + open + R"()[\s\S])*?)" + call};
}

/// The openings, and the control tokens that the calls or the marks of reasoning hold. What ends the reply is in
/// neither.
std::vector<std::string> preserved_of(const grammar::Lazy& lazy, std::string_view calls,
                                      const std::vector<AddedToken>& control) {
  std::vector<std::string> texts = lazy.openings;
  for (const AddedToken& token : control) {
    const bool stands = calls.find(token.text) != calls.npos ||
                        lazy.reasoning_open.find(token.text) != std::string::npos ||
                        lazy.reasoning_close.find(token.text) != std::string::npos;
    if (stands && std::find(texts.begin(), texts.end(), token.text) == texts.end()) texts.push_back(token.text);
  }
  return texts;
}

}  // namespace

// A trigger is the first byte of a call. If the prompt has said all of the opening, no byte of the reply tells where
// the call begins; if it has said a part, the rest of it at the reply's beginning is one more trigger.
Result<LazyGrammar> Grammar::to_lazy() const {
  const grammar::Lazy& lazy = data_->lazy;
  if (data_->options.choice != ToolChoice::automatic)
    return no_lazy_grammar("a lazy grammar leaves text free; here a call is demanded, or forbidden",
                           "it goes with the choice auto");
  if (data_->options.response.kind != ResponseFormat::Kind::text)
    return no_lazy_grammar("a lazy grammar leaves text free; here the answer has a form", "take the whole grammar");
  if (lazy.calls == grammar::kNone)
    return no_lazy_grammar("there is no call that could activate a lazy grammar",
                           "it needs tools, and a format that has calls");
  const bool marked =
      std::none_of(lazy.openings.begin(), lazy.openings.end(), [](const std::string& text) { return text.empty(); });
  if (!marked) return no_lazy_grammar("calls of this format begin with no text of their own", "take the whole grammar");
  const bool said = std::find(lazy.openings.begin(), lazy.openings.end(), lazy.inside) != lazy.openings.end();
  if (said)
    return no_lazy_grammar(
        "the prompt ends with what calls begin with, so that nothing in the reply tells where one begins",
        "take the whole grammar");
  LazyGrammar made;
  for (const std::string& opening : lazy.openings) {
    made.triggers.push_back(trigger_at(lazy, opening));
    if (lazy.inside.empty() || !opening.starts_with(lazy.inside)) continue;
    const std::string rest = escaped(std::string_view(opening).substr(lazy.inside.size()));
    made.triggers.push_back({GrammarTrigger::Kind::pattern, "^(" + rest + R"()[\s\S]*$)"});
  }
  made.grammar = grammar::print_gbnf(data_->ir, {&lazy.calls, 1});
  made.preserved = preserved_of(lazy, made.grammar, data_->control);
  return made;
}

}  // namespace parlance
