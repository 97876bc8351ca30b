// An answer that has a form: JSON by a schema, a pattern, one of some texts. Begin reading at ReplyGrammar::response.
#include <algorithm>

#include "base/utf8.h"
#include "grammar/reply_grammar.h"

namespace parlance::grammar {
namespace {

/// What readers take for the beginning or the end of something else, and so no string of an answer may hold.
std::vector<std::string> texts_of(const std::vector<Stop>& stops) {
  std::vector<std::string> texts;
  for (const Stop& stop : stops) texts.push_back(stop.literal);
  return texts;
}

std::vector<Range> first_letters_of_stops(const std::vector<Stop>& stops) {
  std::vector<Range> letters;
  for (const Stop& stop : stops) {
    const char32_t c = utf8::decode(stop.literal.data(), stop.literal.data() + stop.literal.size()).code_point;
    letters.push_back({c, c});
  }
  return normalized(std::move(letters));
}

}  // namespace

std::string whole_pattern(std::string_view pattern) { return "^(?:" + std::string(pattern) + ")$"; }

bool ReplyGrammar::has_response() const { return data_.options.response.kind != ResponseFormat::Kind::text; }

/// JSON in which no string holds a marker: a reader would find a call in it.
NodeId ReplyGrammar::json_response() {
  const bool by_schema = data_.options.response.kind == ResponseFormat::Kind::json_schema;
  const std::vector<std::string> never = texts_of(forbidden(false));
  const Style& json = arguments_.style(Style::Kind::json, Style::Space::lines, {}, Style::Escape::none, never);
  const Value root = by_schema ? data_.response.root() : Value();
  response_schema_ =
      std::make_unique<Schema>(Schema::Context{ir_, data_.response, notes_, arguments_.shared(), data_.options.open,
                                               data_.options.any_order, "response_format: "},
                               root);
  const NodeId node =
      response_schema_->value(json, by_schema ? Schemas{root} : Schemas{}, "response", by_schema ? kAnyType : kObject);
  if (never.empty() && !data_.options.any_order) data_.json.emplace(node, root);
  return node;
}

/// Where the pattern takes many characters, it takes none that a marker begins with: only where it names one.
NodeId ReplyGrammar::pattern_response() {
  const std::vector<Range> begins = first_letters_of_stops(forbidden(false));
  bool kept_out = false;
  const Unit unit = [&](std::vector<Range> ranges) {
    ranges = normalized(std::move(ranges));
    const bool one = ranges.size() == 1 && ranges[0].first == ranges[0].last;
    if (one || intersection(ranges, begins).empty()) return ir_.chars(std::move(ranges));
    kept_out = true;
    return ir_.chars(intersection(ranges, complement(begins)));
  };
  std::string why;
  const std::optional<Regex> regex = parse_regex(ir_, unit, whole_pattern(data_.options.response.pattern), why);
  if (kept_out)
    notes_.add("response_format", "pattern", "what begins a marker stands only where the pattern names it", true);
  return regex ? regex->node : ir_.never();
}

// Common beginnings are factored out: engines follow alternatives side by side, and choices may be thousands of labels.
NodeId ReplyGrammar::choice_response() {
  const std::vector<std::string> never = texts_of(forbidden(false));
  std::vector<NodeId> ways;
  for (const std::string& text : data_.options.response.choices) {
    const bool marks = std::any_of(never.begin(), never.end(),
                                   [&](const std::string& marker) { return text.find(marker) != text.npos; });
    if (marks) notes_.add("response_format", "choice", "'" + text + "' holds a marker of the format: left out", true);
    if (!marks) ways.push_back(ir_.literal(text));
  }
  return ir_.factored(ways);
}

/// The same as a whole reply. A pattern or a choice is all that it says: what stands behind it would be of the answer.
NodeId ReplyGrammar::whole_response() {
  return ir_.sequence({response(), is_json_response() ? before_end() : ir_.empty()});
}

bool ReplyGrammar::is_json_response() const {
  const ResponseFormat::Kind kind = data_.options.response.kind;
  return kind == ResponseFormat::Kind::json_object || kind == ResponseFormat::Kind::json_schema;
}

/// Calls, or an answer without markers of its own. The white space that may stand before calls may stand before JSON
/// too, so that an engine's lexer need not know which of them comes.
NodeId ReplyGrammar::calls_or_response() {
  if (!calls_allowed()) return whole_response();
  if (!is_json_response()) return ir_.choice({calls(true), whole_response()});
  std::vector<NodeId> leads;
  for (const Group& group : groups_) leads.push_back(lead(*group.form));
  lead_stands_ = true;
  const NodeId called = calls(true);
  lead_stands_ = false;
  return ir_.sequence({ir_.choice(leads), ir_.choice({called, whole_response()})});
}

/// The answer, which stands where content would.
NodeId ReplyGrammar::response() {
  if (response_ != kNone) return response_;
  switch (data_.options.response.kind) {
    case ResponseFormat::Kind::text: return response_ = ir_.never();
    case ResponseFormat::Kind::json_object:
    case ResponseFormat::Kind::json_schema: return response_ = json_response();
    case ResponseFormat::Kind::regex: return response_ = pattern_response();
    case ResponseFormat::Kind::choice: return response_ = choice_response();
  }
  return response_;
}

}  // namespace parlance::grammar
