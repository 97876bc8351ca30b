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

/// A call as a tag: literals around what its schema says.
class Tag {
 public:
  Tag(const Ir& ir, const std::unordered_map<NodeId, std::string>& json, NodeId call) : ir_(ir), json_(json) {
    const Node& node = ir_.node(call);
    if (node.op == Op::sequence) {
      parts_.assign(ir_.children(node).begin(), ir_.children(node).end());
    } else {
      parts_.push_back(call);
    }
  }
  std::string print() {
    take_front();
    take_back();
    const NodeId middle = parts_.size() == 1 ? parts_[0] : kNone;
    const auto schema = middle == kNone ? json_.end() : json_.find(middle);
    std::string content;
    if (schema != json_.end()) {
      content = format(R"({{"type": "json_schema", "json_schema": {}}})", schema->second);
    } else if (parts_.empty()) {
      content = R"({"type": "const_string", "value": ""})";
    } else {
      content = grammar_of(ir_, parts_);
    }
    return format(R"({{"type": "tag", "begin": {}, "content": {}, "end": {}}})", quoted(begin_), content, quoted(end_));
  }

 private:
  bool is_space(NodeId id) const { return ir_.name_of(id) == "space"; }
  /// What white space a template writes there: one blank behind ',' and ':'.
  void take_front() {
    std::size_t i = 0;
    for (; i < parts_.size(); ++i) {
      const Node& node = ir_.node(ir_.inside_token(parts_[i]));
      if (node.op == Op::literal) {
        begin_ += ir_.bytes(node);
      } else if (!is_space(parts_[i])) {
        break;
      } else if (begin_.ends_with(':') || begin_.ends_with(',')) {
        begin_ += ' ';
      }
    }
    parts_.erase(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  void take_back() {
    while (!parts_.empty()) {
      const Node& node = ir_.node(ir_.inside_token(parts_.back()));
      if (node.op == Op::literal) {
        end_.insert(0, ir_.bytes(node));
      } else if (!is_space(parts_.back())) {
        break;
      }
      parts_.pop_back();
    }
  }

  const Ir& ir_;
  const std::unordered_map<NodeId, std::string>& json_;
  std::vector<NodeId> parts_;
  std::string begin_, end_;
};

std::string flag(bool value) { return value ? "true" : "false"; }

std::string tags_of(const Grammar::Data& data, const Outline::Calls& calls) {
  const std::unordered_map<NodeId, std::string> json = engine_schemas(data);
  std::string out;
  for (const NodeId call : calls.each) out += (out.empty() ? "" : ", ") + Tag(data.ir, json, call).print();
  return "[" + out + "]";
}

std::string separated(const Grammar::Data& data, const Outline::Calls& calls) {
  return format(R"({{"type": "tags_with_separator", "tags": {}, "separator": {}, "at_least_one": true, "stop_after_first": {}}})",
                     tags_of(data, calls), quoted(calls.separator), flag(!data.parallel));
}

/// The tags that may stand in the text.
std::string all_tags(const Grammar::Data& data) {
  std::string out;
  for (const Outline::Calls& calls : data.outline.calls) {
    std::string tags = tags_of(data, calls);
    if (calls.all != kNone) {  // xgrammar has no end of several tags but one that is written, so they are a grammar
      tags = format(R"([{{"type": "tag", "begin": {}, "content": {}, "end": ""}}])", quoted(calls.trigger), grammar_of(data.ir, {&calls.all, 1}));
    } else if (calls.grouped) {
      tags = format(R"([{{"type": "tag", "begin": {}, "content": {}, "end": {}}}])", quoted(calls.open), separated(data, calls),
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
  if (triggers.empty()) return format(R"({{"type": "any_text", "excludes": {}}})", list_of(outline.not_in_text));
  if (must_call && outline.calls.size() == 1) {
    const Outline::Calls& calls = outline.calls[0];
    const std::string tags = all_tags(data);
    return calls.grouped ? tags.substr(1, tags.size() - 2) : separated(data, calls);
  }
  const bool once = !data.parallel || (outline.calls.size() == 1 && outline.calls[0].grouped && !outline.text_behind);
  return format(R"({{"type": "triggered_tags", "triggers": {}, "tags": {}, "at_least_one": {}, "stop_after_first": {}, "excludes": {}}})",
                     list_of(triggers), all_tags(data), flag(must_call), flag(once), list_of(excludes));
}

/// What follows each other; white space that may be there is a grammar of its own.
class Sequence {
 public:
  explicit Sequence(const Ir& ir) : ir_(ir) {}
  void add(std::string element) { elements_.push_back(std::move(element)); }
  void add_blank(std::initializer_list<NodeId> nodes) {
    std::vector<NodeId> written;
    std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(written), [this](NodeId id) { return id != ir_.empty(); });
    if (!written.empty()) add(grammar_of(ir_, written));
  }
  std::string print() const {
    if (elements_.size() == 1) return elements_[0];
    std::string out;
    for (const std::string& element : elements_) out += (out.empty() ? "" : ", ") + element;
    return format(R"({{"type": "sequence", "elements": [{}]}})", out);
  }

 private:
  const Ir& ir_;
  std::vector<std::string> elements_;
};

std::string reasoning_of(const Grammar::Data& data) {
  const Outline& outline = data.outline;
  Sequence reasoning(data.ir);
  reasoning.add_blank({outline.before_reasoning});
  reasoning.add(format(R"({{"type": "tag", "begin": {}, "content": {{"type": "any_text", "excludes": {}}}, "end": {}}})",
                       quoted(outline.reasoning_begin), list_of(outline.not_in_reasoning), quoted(outline.reasoning_end)));
  const bool optional = !outline.reasoning_begin.empty();
  return optional ? format(R"({{"type": "optional", "content": {}}})", reasoning.print()) : reasoning.print();
}

std::string constant(std::string_view text) { return format(R"({{"type": "const_string", "value": {}}})", quoted(text)); }

/// Reasoning that nothing closes but the calls in it.
std::string reasoning_with_calls(const Grammar::Data& data) {
  const Outline& outline = data.outline;
  Sequence all(data.ir);
  all.add_blank({outline.before_reasoning});
  if (!outline.reasoning_begin.empty()) all.add(constant(outline.reasoning_begin));
  std::vector<std::string> never = outline.not_in_reasoning;
  never.push_back(outline.reasoning_end);
  for (const Outline::Calls& calls : outline.calls) never.push_back(calls.trigger);
  all.add(format(R"({{"type": "any_text", "excludes": {}}})", list_of(never)));
  all.add(answer_of(data, true));
  if (!outline.text_behind) all.add_blank({outline.behind_calls});
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
  if (outline.must_call) all.add_blank({outline.before_calls, outline.calls_lead});  // else text is free there
  all.add(answer_of(data, outline.must_call));
  if (!outline.calls.empty() && !outline.text_behind) all.add_blank({outline.behind_calls});
  if (!outline.calls_end_reasoning) return all.print();
  return format(R"({{"type": "or", "elements": [{}, {}]}})", all.print(), reasoning_with_calls(data));
}

}  // namespace

std::string print_structural_tag(const Grammar::Data& data) {
  return format(R"({{"type": "structural_tag", "format": {}}})", format_of(data)) + "\n";
}

}  // namespace parlance::grammar
