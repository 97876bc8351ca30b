// xgrammar's structural tags: JSON that says where tags may stand in a text, and what stands in them. Arguments that
// are JSON keep their schema; what a tag cannot say is a grammar inside of it. Begin reading at print_structural_tag.
#include <algorithm>
#include <iterator>

#include "base/format.h"
#include "grammar/engine_schema.h"
#include "grammar/printers.h"
#include "json/writer.h"

namespace parlance::grammar {
namespace {

std::string grammar_of(const Ir& ir, std::span<const NodeId> sequence) {
  return format(R"({{"type": "grammar", "grammar": {}}})", json_string(print_gbnf(ir, sequence)));
}

/// Free text. xgrammar excludes whole strings here, which replaces the automaton that GBNF needs.
std::string any_text(const std::vector<std::string>& never) {
  return format(R"({{"type": "any_text", "excludes": {}}})", json_list(never));
}

std::string tag(std::string_view begin, std::string_view content, std::string_view end_json) {
  return format(R"({{"type": "tag", "begin": {}, "content": {}, "end": {}}})", json_string(begin), content, end_json);
}

/// What follows each other; what may be white space is a grammar of its own.
class Sequence {
 public:
  explicit Sequence(const Ir& ir) : ir_(ir) {}
  void add(std::string element) { elements_.push_back(std::move(element)); }
  void add_grammar(std::span<const NodeId> nodes) {
    std::vector<NodeId> written;
    std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(written),
                 [this](NodeId id) { return id != ir_.empty(); });
    if (!written.empty()) add(grammar_of(ir_, written));
  }
  void add_grammar(std::initializer_list<NodeId> nodes) { add_grammar(std::span(nodes.begin(), nodes.size())); }
  std::string print() const {
    if (elements_.empty()) return R"({"type": "const_string", "value": ""})";
    if (elements_.size() == 1) return elements_[0];
    Json list('[');
    for (const std::string& element : elements_) list.item(element);
    return format(R"({{"type": "sequence", "elements": {}}})", list.take());
  }

 private:
  const Ir& ir_;
  std::vector<std::string> elements_;
};

/// A call as a tag: literals around what its schema says.
/// Literals at the ends become the tag's begin and end. A part that has a schema of its own is handed over as schema;
/// what stands between is a grammar.
std::string tag_of(const Ir& ir, const std::unordered_map<NodeId, std::string>& json, NodeId call) {
  const Node& node = ir.node(call);
  std::span<const NodeId> parts = node.op == Op::sequence ? ir.children(node) : std::span(&call, 1);
  std::string begin, end;
  const auto literal = [&](NodeId id) {
    return ir.node(ir.inside_token(id)).op == Op::literal ? ir.bytes(ir.node(ir.inside_token(id))) : std::string_view();
  };
  for (; !parts.empty() && !literal(parts.front()).empty(); parts = parts.subspan(1)) begin += literal(parts.front());
  for (; !parts.empty() && !literal(parts.back()).empty(); parts = parts.first(parts.size() - 1))
    end.insert(0, literal(parts.back()));
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
  return tag(begin, content.print(), json_string(end));
}

std::string flag(bool value) { return value ? "true" : "false"; }
std::string constant(std::string_view text) {
  return format(R"({{"type": "const_string", "value": {}}})", json_string(text));
}
std::string of_kind(std::string_view kind, const std::string& content) {
  return format(R"({{"type": "{}", "content": {}}})", kind, content);
}

class StructuralTagPrinter {
 public:
  explicit StructuralTagPrinter(const GrammarData& data)
      : ir_(data.ir), outline_(data.outline), parallel_(data.parallel), root_(data.root), json_(engine_schemas(data)) {
    if (!outline_.is_tagged) return;
    for (const Outline::Calls& calls : outline_.calls) each_.push_back(tags_of(calls));
    for (std::size_t i = 0; i < outline_.calls.size(); ++i) {
      const std::string tags = tags_in_text(i);
      all_tags_ += (all_tags_.empty() ? "" : ", ") + tags;
    }
  }

  std::string run() const {
    if (!outline_.is_tagged) {
      const auto schema = json_.find(root_);
      if (schema == json_.end()) return grammar_of(ir_, {&root_, 1});
      return format(R"({{"type": "json_schema", "json_schema": {}}})", schema->second);
    }
    Sequence all(ir_);
    if (!outline_.prefix.empty()) all.add(constant(outline_.prefix));
    if (outline_.prefix.empty() && outline_.reasons) all.add(reasoning());
    if (outline_.must_call) all.add_grammar({outline_.before_calls, outline_.calls_lead});  // else text is free there
    all.add(answer(outline_.must_call));
    if (!outline_.calls.empty() && !outline_.text_behind) all.add_grammar({outline_.behind_calls});
    if (!outline_.calls_end_reasoning) return all.print();
    return format(R"({{"type": "or", "elements": [{}, {}]}})", all.print(), reasoning_with_calls());
  }

 private:
  /// A tag for each tool.
  std::string tags_of(const Outline::Calls& calls) const {
    std::string out;
    if (calls.all != kNone) return out;
    for (const NodeId call : calls.each) out += (out.empty() ? "" : ", ") + tag_of(ir_, json_, call);
    return out;
  }

  /// One call of a form or more, with what separates them.
  std::string separated(std::size_t form) const {
    const Outline::Calls& calls = outline_.calls[form];
    const std::string one =
        calls.each.size() == 1 ? each_[form] : format(R"({{"type": "or", "elements": [{}]}})", each_[form]);
    if (!parallel_) return one;
    Sequence further(ir_);
    if (calls.gap_is_blank) {  // also behind the last
      further.add(one);
      further.add_grammar({calls.gap});
      return of_kind("plus", further.print());
    }
    further.add_grammar({calls.gap});
    further.add(one);
    Sequence all(ir_);
    all.add(one);
    all.add(of_kind("star", further.print()));
    return all.print();
  }

  /// The tags of a form that may stand in a text.
  std::string tags_in_text(std::size_t form) const {
    const Outline::Calls& calls = outline_.calls[form];
    if (calls.all != kNone) {  // xgrammar has no end of several tags but one that is written, so they are a grammar
      return tag(calls.trigger, grammar_of(ir_, {&calls.all, 1}), "\"\"");
    }
    if (!calls.grouped) return each_[form];
    Sequence inside(ir_);
    inside.add_grammar({calls.padding});
    inside.add(separated(form));
    inside.add_grammar({calls.padding});
    return tag(calls.open, inside.print(),
               calls.closes.size() == 1 ? json_string(calls.closes[0]) : json_list(calls.closes));
  }

  std::vector<std::string> triggers() const {
    std::vector<std::string> all;
    for (const Outline::Calls& calls : outline_.calls) all.push_back(calls.trigger);
    return all;
  }

  /// Calls, and text before them unless a call has to be there.
  /// A text that is excluded and begins with a trigger, or stands in one, would keep the tag itself from beginning.
  std::string answer(bool must_call) const {
    const std::vector<std::string> begins = triggers();
    if (begins.empty()) return any_text(outline_.not_in_text);
    if (must_call && begins.size() == 1) return outline_.calls[0].grouped ? all_tags_ : separated(0);
    std::vector<std::string> excludes;
    for (const std::string& text : outline_.not_in_text) {
      const bool triggers_too = std::any_of(begins.begin(), begins.end(), [&](const std::string& trigger) {
        return text.starts_with(trigger) || trigger.find(text) != trigger.npos;
      });
      if (!triggers_too) excludes.push_back(text);
    }
    const bool once = !parallel_ || (begins.size() == 1 && outline_.calls[0].grouped && !outline_.text_behind);
    Sequence all(ir_);
    all.add(format(
        R"({{"type": "triggered_tags", "triggers": {}, "tags": [{}], "at_least_one": {}, "stop_after_first": {}, )"
        R"("excludes": {}}})",
        json_list(begins), all_tags_, flag(must_call), flag(once), json_list(excludes)));
    if (once && outline_.text_behind) all.add(any_text(with_triggers(outline_.not_in_text)));
    return all.print();
  }

  std::vector<std::string> with_triggers(std::vector<std::string> texts) const {
    for (std::string& trigger : triggers()) texts.push_back(std::move(trigger));
    return texts;
  }

  std::string reasoning() const {
    Sequence all(ir_);
    all.add_grammar({outline_.before_reasoning});
    all.add(tag(outline_.reasoning_begin, any_text(outline_.not_in_reasoning), json_string(outline_.reasoning_end)));
    const bool optional = !outline_.reasoning_begin.empty();
    return optional ? of_kind("optional", all.print()) : all.print();
  }

  /// Reasoning that nothing closes but the calls in it.
  std::string reasoning_with_calls() const {
    Sequence all(ir_);
    all.add_grammar({outline_.before_reasoning});
    if (!outline_.reasoning_begin.empty()) all.add(constant(outline_.reasoning_begin));
    std::vector<std::string> never = with_triggers(outline_.not_in_reasoning);
    never.push_back(outline_.reasoning_end);
    all.add(any_text(never));
    all.add(answer(true));
    if (!outline_.text_behind) all.add_grammar({outline_.behind_calls});
    return all.print();
  }

  const Ir& ir_;
  const Outline& outline_;
  const bool parallel_;
  const NodeId root_;
  const std::unordered_map<NodeId, std::string> json_;  ///< what xgrammar reads by itself
  std::vector<std::string> each_{};                     ///< of each form, a tag for each tool
  std::string all_tags_{};                              ///< those that may stand in a text
};

}  // namespace

std::string print_structural_tag(const GrammarData& data) {
  return format(R"({{"type": "structural_tag", "format": {}}})", StructuralTagPrinter(data).run()) + "\n";
}

}  // namespace parlance::grammar
