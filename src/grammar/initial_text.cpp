// Content of formats whose calls have no marker: text that does not begin as a call does. Begin reading at
// ReplyGrammar::text_not_initial.
#include <algorithm>
#include <map>

#include "base/utf8.h"
#include "grammar/reply_grammar.h"

namespace parlance::grammar {
namespace {

constexpr std::size_t kLongestBeginning = 64;  ///< bytes of a beginning: what goes on as it does is no content either
const std::vector<Range> kBlanks{{'\t', '\n'}, {'\r', '\r'}, {' ', ' '}};

/// Texts as a tree of code points; a text that another begins with takes its place.
class Beginnings {
 public:
  void add(std::string_view text) {
    std::size_t at = 0;
    for (const char* p = text.data(); p != text.data() + text.size() && !branches_[at].whole;) {
      const utf8::Decoded c = utf8::decode(p, text.data() + text.size());
      p += c.size;
      const auto [edge, is_new] = branches_[at].next.try_emplace(c.code_point, branches_.size());
      at = edge->second;
      if (is_new) branches_.emplace_back();
    }
    if (at != 0) branches_[at] = {{}, true};
  }
  bool is_empty() const { return branches_[0].next.empty(); }

  /// Text that leaves the tree, up to the character that does, which is none of `marks`; at the root no blank either.
  NodeId leaving(Ir& ir, const std::vector<Range>& marks, std::size_t at = 0) const {
    std::vector<Range> others = marks;
    if (at == 0) others.insert(others.end(), kBlanks.begin(), kBlanks.end());
    std::vector<NodeId> ways;
    for (const auto& [c, child] : branches_[at].next) {
      others.push_back({c, c});
      if (!branches_[child].whole) ways.push_back(ir.sequence({ir.chars({{c, c}}), leaving(ir, marks, child)}));
    }
    ways.push_back(ir.chars(complement(normalized(std::move(others)))));
    return ir.choice(ways);
  }
  /// Text that ends inside of the tree.
  NodeId inside(Ir& ir, std::size_t at = 0) const {
    std::vector<NodeId> ways;
    for (const auto& [c, child] : branches_[at].next) {
      if (branches_[child].whole) continue;
      ways.push_back(ir.sequence({ir.chars({{c, c}}), ir.optional(inside(ir, child))}));
    }
    return ir.choice(ways);
  }

 private:
  struct Branch {
    std::map<char32_t, std::size_t> next;
    bool whole = false;
  };
  std::vector<Branch> branches_{1};
};

}  // namespace

/// What calls without a marker begin with.
std::vector<std::string> ReplyGrammar::initial_openings() const {
  std::vector<std::string> all;
  for (const CallForm& form : format_.calls) {
    if (!form.initial) continue;
    const CallPart& part = form.call[0];
    if (!opening(form).empty()) all.push_back(opening(form));
    if (form.layout == CallLayout::list && !form.open.exists()) {
      all.emplace_back("[");
      continue;
    }
    if (part.kind == CallPart::Kind::object) all.emplace_back("{");
    if (part.kind == CallPart::Kind::literal) all.push_back(part.literal.texts[0]);
    for (const Tool& tool : data_.tools) {
      if (part.kind == CallPart::Kind::name) all.push_back(tool.name);
    }
  }
  return all;
}

/// Content that does not begin as an initial call does. What may begin a marker cannot be its first character either,
/// nor one that follows the beginning of a call.
NodeId ReplyGrammar::text_not_initial() {
  const NodeId text = free_text(openings(most_calls()), true);
  std::vector<Range> marks;
  for (const Stop& stop : forbidden(false)) {
    if (stop.literal.empty()) continue;
    const char32_t c = utf8::decode(stop.literal.data(), stop.literal.data() + stop.literal.size()).code_point;
    marks.push_back({c, c});
  }
  marks = normalized(std::move(marks));
  Beginnings calls;
  for (const std::string& opening : initial_openings()) {
    const char* p = opening.data();
    const char* const end = p + opening.size();
    for (bool mark = false; p != end && p < opening.data() + kLongestBeginning && !mark;) {
      const utf8::Decoded c = utf8::decode(p, end);
      mark = contains(marks, c.code_point);
      p += c.size;
    }
    calls.add({opening.data(), p});
  }
  if (calls.is_empty()) return text;
  const NodeId gap = ir_.repeat(ir_.chars(kBlanks), 0, kUnbounded);
  // One piece each to an engine's lexer, which follows the longest.
  const NodeId begun = ir_.token(ir_.sequence({gap, calls.leaving(ir_, marks)}));
  const NodeId whole = ir_.token(ir_.sequence({gap, calls.inside(ir_)}));
  return ir_.optional(ir_.choice({ir_.sequence({begun, text}), whole}));
}

}  // namespace parlance::grammar
