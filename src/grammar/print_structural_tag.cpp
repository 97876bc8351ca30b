// xgrammar's structural tags: JSON that says where tags may stand in a text, and what stands in them. Arguments that are JSON
// keep their schema; what a tag cannot say is a grammar inside of it. Begin reading at print_structural_tag.
#include <algorithm>
#include <iterator>

#include "base/format.h"
#include "grammar/engine_schema.h"
#include "grammar/printers.h"
#include "value/json.h"

namespace parlance::grammar {
namespace {

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string list_of(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + quoted(text);
  return "[" + out + "]";
}

std::string grammar_of(const Ir& ir, std::span<const NodeId> sequence) {
  return format(R"({{"type": "grammar", "grammar": {}}})", quoted(print_gbnf(ir, sequence)));
}

std::string any_text(const std::vector<std::string>& never) { return format(R"({{"type": "any_text", "excludes": {}}})", list_of(never)); }

/// What follows each other; what may be white space is a grammar of its own.
class Sequence {
 public:
  explicit Sequence(const Ir& ir) : ir_(ir) {}
  void add(std::string element) { elements_.push_back(std::move(element)); }
  void add_grammar(std::span<const NodeId> nodes) {
    std::vector<NodeId> written;
    std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(written), [this](NodeId id) { return id != ir_.empty(); });
    if (!written.empty()) add(grammar_of(ir_, written));
  }
  void add_grammar(std::initializer_list<NodeId> nodes) { add_grammar(std::span(nodes.begin(), nodes.size())); }
  std::string print() const {
    if (elements_.empty()) return R"({"type": "const_string", "value": ""})";
    if (elements_.size() == 1) return elements_[0];
    std::string out;
    for (const std::string& element : elements_) out += (out.empty() ? "" : ", ") + element;
    return format(R"({{"type": "sequence", "elements": [{}]}})", out);
  }

 private:
  const Ir& ir_;
  std::vector<std::string> elements_;
};

/// A call as a tag: literals around what its schema says.
std::string tag_of(const Ir& ir, const std::unordered_map<NodeId, std::string>& json, NodeId call) {
  const Node& node = ir.node(call);
  std::span<const NodeId> parts = node.op == Op::sequence ? ir.children(node) : std::span(&call, 1);
  std::string begin, end;
  const auto literal = [&](NodeId id) { return ir.node(ir.inside_token(id)).op == Op::literal ? ir.bytes(ir.node(ir.inside_token(id))) : std::string_view(); };
  for (; !parts.empty() && !literal(parts.front()).empty(); parts = parts.subspan(1)) begin += literal(parts.front());
  for (; !parts.empty() && !literal(parts.back()).empty(); parts = parts.first(parts.size() - 1)) end.insert(0, literal(parts.back()));
  Sequence content(ir);
  std::size_t from = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto schema = json.find(parts[i]);
    if (schema == json.end()) continue;
    content.add_grammar(parts.subspan(from, i - from));
    content.add(format(R"({{"type": "json_schema", "json_schema": {}}})", schema->second));
    from = i + 1;
  }
  content.add_grammar(parts.subspan(from));
  return format(R"({{"type": "tag", "begin": {}, "content": {}, "end": {}}})", quoted(begin), content.print(), quoted(end));
}

std::string flag(bool value) { return value ? "true" : "false"; }

std::string tags_of(const Grammar::Data& data, const Outline::Calls& calls) {
  const std::unordered_map<NodeId, std::string> json = engine_schemas(data);
  std::string out;
  for (const NodeId call : calls.each) out += (out.empty() ? "" : ", ") + tag_of(data.ir, json, call);
  return "[" + out + "]";
}

std::string of_kind(std::string_view kind, const std::string& content) { return format(R"({{"type": "{}", "content": {}}})", kind, content); }

/// One call or more, with what separates them.
std::string separated(const Grammar::Data& data, const Outline::Calls& calls) {
  const std::string one = calls.each.size() == 1 ? tag_of(data.ir, engine_schemas(data), calls.each[0])
                                                 : format(R"({{"type": "or", "elements": {}}})", tags_of(data, calls));
  if (!data.parallel) return one;
  Sequence further(data.ir);
  if (calls.gap_is_blank) {  // also behind the last
    further.add(one);
    further.add_grammar({calls.gap});
    return of_kind("plus", further.print());
  }
  further.add_grammar({calls.gap});
  further.add(one);
  Sequence all(data.ir);
  all.add(one);
  all.add(of_kind("star", further.print()));
  return all.print();
}

std::string grouped(const Grammar::Data& data, const Outline::Calls& calls) {
  Sequence all(data.ir);
  all.add_grammar({calls.padding});
  all.add(separated(data, calls));
  all.add_grammar({calls.padding});
  return all.print();
}

/// The tags that may stand in the text.
std::string all_tags(const Grammar::Data& data) {
  std::string out;
  for (const Outline::Calls& calls : data.outline.calls) {
    std::string tags = tags_of(data, calls);
    if (calls.all != kNone) {  // xgrammar has no end of several tags but one that is written, so they are a grammar
      tags = format(R"([{{"type": "tag", "begin": {}, "content": {}, "end": ""}}])", quoted(calls.trigger), grammar_of(data.ir, {&calls.all, 1}));
    } else if (calls.grouped) {
      tags = format(R"([{{"type": "tag", "begin": {}, "content": {}, "end": {}}}])", quoted(calls.open), grouped(data, calls),
                         calls.closes.size() == 1 ? quoted(calls.closes[0]) : list_of(calls.closes));
    }
    out += (out.empty() ? "" : ", ") + tags.substr(1, tags.size() - 2);
  }
  return "[" + out + "]";
}

/// Calls, and text before them unless a call has to be there.
std::string answer_of(const Grammar::Data& data, bool must_call) {
  const Outline& outline = data.outline;
  std::vector<std::string> excludes, triggers;
  for (const Outline::Calls& calls : outline.calls) triggers.push_back(calls.trigger);
  for (const std::string& text : outline.not_in_text) {
    bool triggers_too = false;
    for (const std::string& trigger : triggers) triggers_too = triggers_too || text.find(trigger) == 0 || trigger.find(text) != trigger.npos;
    if (!triggers_too) excludes.push_back(text);
  }
  if (triggers.empty()) return any_text(outline.not_in_text);
  if (must_call && outline.calls.size() == 1) {
    const Outline::Calls& calls = outline.calls[0];
    const std::string tags = all_tags(data);
    return calls.grouped ? tags.substr(1, tags.size() - 2) : separated(data, calls);
  }
  const bool once = !data.parallel || (outline.calls.size() == 1 && outline.calls[0].grouped && !outline.text_behind);
  Sequence all(data.ir);
  all.add(format(R"({{"type": "triggered_tags", "triggers": {}, "tags": {}, "at_least_one": {}, "stop_after_first": {}, "excludes": {}}})",
                 list_of(triggers), all_tags(data), flag(must_call), flag(once), list_of(excludes)));
  if (once && outline.text_behind) {
    std::vector<std::string> never = outline.not_in_text;
    never.insert(never.end(), triggers.begin(), triggers.end());
    all.add(any_text(never));
  }
  return all.print();
}

std::string reasoning_of(const Grammar::Data& data) {
  const Outline& outline = data.outline;
  Sequence reasoning(data.ir);
  reasoning.add_grammar({outline.before_reasoning});
  reasoning.add(format(R"({{"type": "tag", "begin": {}, "content": {{"type": "any_text", "excludes": {}}}, "end": {}}})",
                       quoted(outline.reasoning_begin), list_of(outline.not_in_reasoning), quoted(outline.reasoning_end)));
  const bool optional = !outline.reasoning_begin.empty();
  return optional ? of_kind("optional", reasoning.print()) : reasoning.print();
}

std::string constant(std::string_view text) { return format(R"({{"type": "const_string", "value": {}}})", quoted(text)); }

/// Reasoning that nothing closes but the calls in it.
std::string reasoning_with_calls(const Grammar::Data& data) {
  const Outline& outline = data.outline;
  Sequence all(data.ir);
  all.add_grammar({outline.before_reasoning});
  if (!outline.reasoning_begin.empty()) all.add(constant(outline.reasoning_begin));
  std::vector<std::string> never = outline.not_in_reasoning;
  never.push_back(outline.reasoning_end);
  for (const Outline::Calls& calls : outline.calls) never.push_back(calls.trigger);
  all.add(any_text(never));
  all.add(answer_of(data, true));
  if (!outline.text_behind) all.add_grammar({outline.behind_calls});
  return all.print();
}

std::string format_of(const Grammar::Data& data) {
  const Outline& outline = data.outline;
  if (!outline.is_tagged) {
    const std::unordered_map<NodeId, std::string> json = engine_schemas(data);
    const auto schema = json.find(data.root);
    if (schema == json.end()) return grammar_of(data.ir, {&data.root, 1});
    return format(R"({{"type": "json_schema", "json_schema": {}}})", schema->second);
  }
  Sequence all(data.ir);
  if (!outline.prefix.empty()) all.add(constant(outline.prefix));
  if (outline.prefix.empty() && outline.reasons) all.add(reasoning_of(data));
  if (outline.must_call) all.add_grammar({outline.before_calls, outline.calls_lead});  // else text is free there
  all.add(answer_of(data, outline.must_call));
  if (!outline.calls.empty() && !outline.text_behind) all.add_grammar({outline.behind_calls});
  if (!outline.calls_end_reasoning) return all.print();
  return format(R"({{"type": "or", "elements": [{}, {}]}})", all.print(), reasoning_with_calls(data));
}

}  // namespace

std::string print_structural_tag(const Grammar::Data& data) {
  return format(R"({{"type": "structural_tag", "format": {}}})", format_of(data)) + "\n";
}

}  // namespace parlance::grammar
