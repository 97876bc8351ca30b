// llguidance's Lark. JSON by a schema is given through as %json; what is regular becomes a terminal, in as large pieces
// as there are; text between markers is a terminal that holds none of them, with the marker behind it. Begin reading at
// LarkPrinter::run.
#include <algorithm>
#include <deque>
#include <functional>
#include <map>

#include "base/format.h"
#include "grammar/borders.h"
#include "grammar/engine_schema.h"
#include "grammar/printers.h"
#include "grammar/shared_nodes.h"
#include "reply/scan/text_codec.h"

namespace parlance::grammar {
namespace {

/// brackets inside each other, before a rule or a terminal is made of it: llguidance refuses many
constexpr int kLarkDepth = 20;
/// bytes of a regular expression, before one that is used more than once gets a terminal
constexpr std::size_t kInline = 60;

std::string lark_char(char32_t c) { return format("\\u{{{:X}}}", static_cast<std::uint32_t>(c)); }

std::string upper(std::string_view name) {
  std::string out;
  for (const char c : name) out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c == '-' ? '_' : c;
  return out;
}
std::string lower(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

/// A marker in which white space is soft.
std::string soft(std::string_view marker) {
  std::string out;
  for (const std::string_view word : reply::soft_words(marker))
    out.append(out.empty() ? "" : " /[ \\t\\n\\r]*/ ").append(quoted(word));
  return out;
}

/// What none of the markers occurs in.
std::string text_without(const std::vector<std::string>& markers) {
  std::string any;
  for (const std::string& marker : markers) any += (any.empty() ? "" : " | ") + soft(marker);
  return "~(/(?s:.*)/ (" + any + ") /(?s:.*)/)";
}

class LarkPrinter {
 public:
  explicit LarkPrinter(const GrammarData& data)
      : data_(data), ir_(data.ir), shared_(data.ir, {&data.root, 1}), borders_(data.ir), json_(engine_schemas(data)) {}
  std::string run();

 private:
  std::string expression(NodeId id, bool atom, int depth);
  std::string fresh(NodeId id, bool atom, int depth);
  std::string nothing();
  std::string sequence(const Node& node, bool atom, int depth);
  bool is_terminal(NodeId id);
  bool holds_pieces(NodeId id);
  bool is_piece(NodeId id) const;
  std::size_t size_of_terminal(std::span<const NodeId> children);
  bool may_go_on(std::span<const Range> more, std::span<const NodeId> behind);
  bool is_quoted(NodeId id) const;
  bool is_between_quotes(NodeId id) const;
  std::string choice(const Node& node, int depth);
  std::string repeated(const Node& node, std::string atom) const;
  std::string terminal(NodeId id);
  std::string defined(const std::string& body, std::string_view wanted);
  std::string terminal_of(const std::vector<NodeId>& run);
  struct Written {
    std::string text{};
    int height = 0;  ///< brackets inside each other
  };
  const Written& regular(NodeId id);
  const std::string& class_text(NodeId id);
  struct FoundToken {
    std::size_t at = std::string_view::npos;  ///< npos: there is none
    std::size_t size = 0;
    std::string name{};
  };
  FoundToken find_token(std::string_view literal, std::size_t from) const;
  bool holds_token(NodeId id);
  std::string with_tokens(std::string_view literal) const;
  std::string json(NodeId id, const std::string& schema);
  std::string text(NodeId id);
  std::string text_rule(NodeId id);
  std::string rule_of(NodeId id, std::string_view wanted, std::function<std::string()> body);

  const GrammarData& data_;
  const Ir& ir_;
  SharedNodes shared_;
  Borders borders_;
  std::unordered_map<NodeId, std::string> json_;  ///< what llguidance reads by itself
  Names names_;
  std::map<NodeId, std::string> rules_;
  std::unordered_map<NodeId, std::string> classes_;
  std::unordered_map<NodeId, Written> written_;  ///< regular()
  std::unordered_map<NodeId, bool> holding_;     ///< holds_token()
  std::unordered_map<NodeId, bool> in_pieces_;   ///< holds_pieces()
  std::map<std::string, std::string> runs_;      ///< of a regular expression, its terminal
  std::deque<std::pair<std::string, std::function<std::string()>>> tasks_;
  std::string definitions_;
};

std::string LarkPrinter::run() {
  std::string out = "%llguidance {}\n\n";
  tasks_.emplace_back(names_.take("start"), [this] { return fresh(data_.root, false, 0); });
  while (!tasks_.empty()) {
    const auto [name, write] = std::move(tasks_.front());
    tasks_.pop_front();
    out += name + ": " + write() + "\n";
  }
  return out + (definitions_.empty() ? "" : "\n") + definitions_;
}

std::string LarkPrinter::rule_of(NodeId id, std::string_view wanted, std::function<std::string()> body) {
  const auto [known, is_new] = rules_.try_emplace(id);
  if (!is_new) return known->second;
  known->second = names_.take(lower(wanted));
  tasks_.emplace_back(known->second, std::move(body));
  return known->second;
}

std::string LarkPrinter::expression(NodeId id, bool atom, int depth) {
  if (const auto schema = json_.find(id); schema != json_.end()) return json(id, schema->second);
  const Node& node = ir_.node(id);
  if (node.op == Op::rule) {
    const NodeId body = ir_.rules()[node.min].body;
    return rule_of(id, ir_.rules()[node.min].name, [this, body] { return fresh(body, false, 0); });
  }
  if (node.op == Op::text) return text(id);
  if (id == ir_.empty()) return "\"\"";
  if (node.op == Op::literal && holds_token(id)) return with_tokens(ir_.bytes(node));
  if (is_terminal(id) && size_of_terminal({&id, 1}) == 1) return terminal(id);
  if (node.op != Op::never && (shared_.is_shared(id) || depth > kLarkDepth)) {
    const std::string_view name = ir_.name_of(id);
    return rule_of(id, name.empty() ? "part" : name, [this, id] { return fresh(id, false, 0); });
  }
  return fresh(id, atom, depth);
}

std::string LarkPrinter::fresh(NodeId id, bool atom, int depth) {
  if (const auto schema = json_.find(id); schema != json_.end()) return json(id, schema->second);
  const Node& node = ir_.node(id);
  switch (node.op) {
    case Op::never: return nothing();
    case Op::sequence: return node.size == 0 ? "\"\"" : sequence(node, atom, depth);
    case Op::choice: return choice(node, depth);
    case Op::repeat:
      if (Ir::is_token(node)) return is_terminal(id) ? terminal(id) : expression(ir_.inside_token(id), atom, depth);
      return repeated(node, expression(ir_.children(node)[0], true, depth + 1));
    case Op::literal:
    case Op::chars: return terminal(id);
    default: return expression(id, atom, depth);
  }
}

/// A class without a character, which no text matches.
std::string LarkPrinter::nothing() {
  if (!runs_.contains("")) {
    runs_[""] = names_.take("NOTHING");
    definitions_ += runs_[""] + ": /[^\\u{0}-\\u{10FFFF}]/\n";
  }
  return runs_[""];
}

/// Regular parts beside each other are one terminal, as far as it is clear where it ends.
std::string LarkPrinter::sequence(const Node& node, bool atom, int depth) {
  std::string out;
  const std::vector<NodeId> children(ir_.children(node).begin(), ir_.children(node).end());
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < children.size();) {
    const std::size_t size = size_of_terminal(std::span(children).subspan(i));
    const bool one = size <= 1;
    const std::string part = !one ? terminal_of({children.begin() + static_cast<std::ptrdiff_t>(i),
                                                 children.begin() + static_cast<std::ptrdiff_t>(i + size)})
                             : is_terminal(children[i]) && size == 0 ? fresh(children[i], true, depth + 1)
                                                                     : expression(children[i], true, depth + 1);
    out += (count++ > 0 ? " " : "") + part;
    i += one ? 1 : size;
  }
  return atom && count > 1 ? "(" + out + ")" : out;
}

bool LarkPrinter::is_terminal(NodeId id) {
  return shared_.is_regular(id) && !json_.contains(id) && id != ir_.empty() && !holds_token(id) && !holds_pieces(id);
}

/// Whether the regular node is of several pieces, of which one at least is a token of the grammar's. What the lexer
/// takes as one must be the same in all ways that begin alike: it follows the longer, and cannot go back where that
/// ends otherwise.
bool LarkPrinter::holds_pieces(NodeId id) {
  if (const auto known = in_pieces_.find(id); known != in_pieces_.end()) return known->second;
  const Node& node = ir_.node(id);
  bool holds = false;
  if ((node.op == Op::sequence || node.op == Op::choice || node.op == Op::repeat) && !Ir::is_token(node)) {
    const bool ways = node.op == Op::choice;
    ir_.for_each_child(id, [&](NodeId child) {
      holds = holds || (shared_.is_regular(child) && ((!ways && is_piece(child)) || holds_pieces(child)));
    });
  }
  return in_pieces_[id] = holds;
}

/// A token, or a choice of some.
bool LarkPrinter::is_piece(NodeId id) const {
  const Node& node = ir_.node(id);
  if (node.op != Op::choice) return Ir::is_token(node);
  return std::any_of(ir_.children(node).begin(), ir_.children(node).end(),
                     [this](NodeId way) { return is_piece(way); });
}

/// How many of the first children make one terminal: the lexer takes all it can, so what stands behind must not begin
/// as the terminal may go on. Where nothing is known to stand behind, digits may go on. 0: the first needs to be taken
/// apart.
std::size_t LarkPrinter::size_of_terminal(std::span<const NodeId> children) {
  std::size_t most = 0;
  while (most < children.size() && is_terminal(children[most]) && (most == 0 || !is_piece(children[most]))) {
    if (is_piece(children[most++])) break;
  }
  if (most == 1 && is_quoted(children[0])) return 1;
  const std::vector<Borders::Facts> here = borders_.of_beginnings(children.first(most));
  for (std::size_t size = most; size > 0; --size) {
    if (!may_go_on(here[size - 1].more, children.subspan(size))) return size;
  }
  return 0;
}

/// Whether what stands behind a terminal may begin with one of `more`.
bool LarkPrinter::may_go_on(std::span<const Range> more, std::span<const NodeId> behind) {
  for (const NodeId id : behind) {
    const Borders::Facts& next = borders_.of(id);
    if (overlap(more, next.first)) return true;
    if (!next.may_be_empty) return false;
  }
  static const std::vector<Range> unlike_numbers =
      complement(normalized({{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'.', '.'}, {'+', '+'}, {'-', '-'}}));
  return overlap(more, unlike_numbers);
}

/// Whether every text of the token is one between quotes that nothing in it ends: none is the beginning of another.
bool LarkPrinter::is_quoted(NodeId id) const {
  const Node& node = ir_.node(id);
  const std::span<const NodeId> children = ir_.children(node);
  if (const Guard* guard = ir_.guard_of(id)) return is_quoted(guard->any);
  if (Ir::is_token(node)) return is_between_quotes(ir_.inside_token(id));
  return node.op == Op::choice &&
         std::all_of(children.begin(), children.end(), [this](NodeId way) { return is_quoted(way); });
}

bool LarkPrinter::is_between_quotes(NodeId id) const {
  const Node& node = ir_.node(id);
  const std::span<const NodeId> children = ir_.children(node);
  if (node.op == Op::choice)
    return std::all_of(children.begin(), children.end(), [this](NodeId way) { return is_between_quotes(way); });
  const bool whole = node.op == Op::literal;
  if (!whole && (node.op != Op::sequence || node.size == 0)) return false;
  const Node& first = whole ? node : ir_.node(children.front());
  const Node& last = whole ? node : ir_.node(children.back());
  if (first.op != Op::literal || last.op != Op::literal) return false;
  const auto quotes = [&](std::string_view quote) {
    return ir_.bytes(first).starts_with(quote) && ir_.bytes(last).ends_with(quote);
  };
  return quotes("\"") || quotes("'") || quotes("\\\"");
}

/// Texts in quotes are one terminal together: of two the lexer would follow the longer, and could not go back where it
/// ends elsewhere.
std::string LarkPrinter::choice(const Node& node, int depth) {
  std::string out, texts;
  std::vector<NodeId> quoted_ways;
  for (std::uint32_t i = 0; i < node.size; ++i) {
    const NodeId way = ir_.children(node)[i];
    if (is_terminal(way) && is_quoted(way)) quoted_ways.push_back(way);
  }
  const bool literals = std::all_of(quoted_ways.begin(), quoted_ways.end(),
                                    [this](NodeId way) { return ir_.node(ir_.inside_token(way)).op == Op::literal; });
  if (quoted_ways.size() < 2 || literals) quoted_ways.clear();
  for (const NodeId way : quoted_ways) texts += (texts.empty() ? "" : " | ") + regular(way).text;
  if (!texts.empty()) out = defined("(" + texts + ")", "T");
  bool may_lack = false;
  for (std::uint32_t i = 0; i < node.size; ++i) {
    const NodeId child = ir_.children(node)[i];
    if (child == ir_.empty()) {
      may_lack = true;
      continue;
    }
    if (std::find(quoted_ways.begin(), quoted_ways.end(), child) != quoted_ways.end()) continue;
    out += (out.empty() ? "" : " | ") + expression(child, false, depth + 1);
  }
  return "(" + out + ")" + (may_lack ? "?" : "");
}

std::string LarkPrinter::repeated(const Node& node, std::string atom) const {
  if (atom.back() == '?' || atom.back() == '*' || atom.back() == '+' || atom.back() == '}') atom = "(" + atom + ")";
  if (node.min == 0 && node.max == kUnbounded) return atom + "*";
  if (node.min == 1 && node.max == kUnbounded) return atom + "+";
  if (node.min == 0 && node.max == 1) return atom + "?";
  if (node.max == kUnbounded) return format("{}{{{},}}", atom, node.min);
  return format("{}{{{},{}}}", atom, node.min, node.max);
}

// ---- terminals

std::string LarkPrinter::terminal_of(const std::vector<NodeId>& run) {
  std::string body;
  for (const NodeId id : run) body += (body.empty() ? "" : " ") + regular(id).text;
  if (run.size() == 1 && ir_.node(ir_.inside_token(run[0])).op == Op::literal) return body;
  return defined(body, run.size() == 1 ? ir_.name_of(run[0]) : "");
}

/// The terminal of a regular expression.
std::string LarkPrinter::defined(const std::string& body, std::string_view wanted) {
  const auto [known, is_new] = runs_.try_emplace(body);
  if (is_new) {
    known->second = names_.take(upper(wanted.empty() ? "T" : wanted));
    std::replace(known->second.begin(), known->second.end(), '-', '_');
    definitions_ += known->second + ": " + body + "\n";
  }
  return known->second;
}

std::string LarkPrinter::terminal(NodeId id) { return terminal_of({id}); }

const std::string& LarkPrinter::class_text(NodeId id) {
  std::string& known = classes_[id];
  if (known.empty()) known = "/" + class_of(ir_.ranges(ir_.node(id)), lark_char) + "/";
  return known;
}

/// A node inside of a terminal, written once. Where brackets would nest too deep, or are used again, those inside are a
/// terminal of their own.
const LarkPrinter::Written& LarkPrinter::regular(NodeId id) {
  if (const auto known = written_.find(id); known != written_.end()) return known->second;
  const Node& node = ir_.node(id);
  Written made;
  if (const Guard* guard = ir_.guard_of(id)) {
    made.text = defined(regular(guard->any).text + " & " + text_without(guard->never), ir_.name_of(id));
  } else if (node.op == Op::literal) {
    made.text = quoted(ir_.bytes(node));
  } else if (node.op == Op::chars) {
    made.text = class_text(id);
  } else if (node.op == Op::repeat) {
    const Written& child = regular(ir_.children(node)[0]);
    made = Ir::is_token(node) ? child : Written{repeated(node, child.text), child.height + 1};
  } else if (node.size == 0) {
    made.text = "\"\"";
  } else {
    const bool choice = node.op == Op::choice;
    bool may_lack = false;
    for (const NodeId way : ir_.children(node)) {
      may_lack = may_lack || (choice && way == ir_.empty());
      if (choice && way == ir_.empty()) continue;
      const Written& child = regular(way);
      made.text += (made.text.empty() ? "(" : choice ? " | " : " ") + child.text;
      made.height = std::max(made.height, child.height + 1);
    }
    made.text += ')';
    if (made.height > kLarkDepth) made = {defined(made.text, ""), 0};
    if (may_lack) made.text += '?';
  }
  if (shared_.is_shared(id) && !Ir::is_token(node) && made.text.size() > kInline)
    made = {defined(made.text, ir_.name_of(id)), 0};
  return written_.emplace(id, std::move(made)).first->second;
}

// ---- tokens

/// How a token is named. llguidance takes as tokens what calls itself special and what stands in <>; the rest is text
/// to it, and so is what has no name there: a token known by its text alone that does not stand in <>.
std::string token_name(const AddedToken& token) {
  const std::string& text = token.text;
  const bool angles = text.size() > 2 && text.front() == '<' && text.back() == '>';
  if (!angles && (!token.special || token.id < 0)) return {};
  const bool plain = angles && text.find_first_of("<> \t\r\n[", 1) == text.size() - 1;
  return plain ? text : token.id < 0 ? "" : format("<[{}]>", token.id);
}

/// The first token in a text, and the longest there.
LarkPrinter::FoundToken LarkPrinter::find_token(std::string_view literal, std::size_t from) const {
  FoundToken found;
  for (const AddedToken& token : data_.control) {
    const std::size_t at = literal.find(token.text, from);
    if (at == literal.npos || at > found.at || (at == found.at && token.text.size() <= found.size)) continue;
    std::string name = token_name(token);
    if (!name.empty()) found = {at, token.text.size(), std::move(name)};
  }
  return found;
}

/// Of regular nodes, which lead to no rule.
bool LarkPrinter::holds_token(NodeId id) {
  if (data_.control.empty()) return false;
  if (const auto known = holding_.find(id); known != holding_.end()) return known->second;
  const Node& node = ir_.node(id);
  bool holds = node.op == Op::literal && find_token(ir_.bytes(node), 0).size > 0;
  if (node.op == Op::sequence || node.op == Op::choice || node.op == Op::repeat) {
    ir_.for_each_child(id, [&](NodeId child) { holds = holds || (shared_.is_regular(child) && holds_token(child)); });
  }
  return holding_[id] = holds;
}

/// Tokens stand for themselves: <|call|>.
std::string LarkPrinter::with_tokens(std::string_view literal) const {
  std::string out;
  const auto put = [&](const std::string& part) { out += (out.empty() ? "" : " ") + part; };
  std::size_t from = 0;
  for (FoundToken token = find_token(literal, 0); token.size > 0; token = find_token(literal, from)) {
    if (token.at > from) put(quoted(literal.substr(from, token.at - from)));
    put(token.name);
    from = token.at + token.size;
  }
  if (from < literal.size()) put(quoted(literal.substr(from)));
  return out.find(' ') == std::string::npos ? out : "(" + out + ")";
}

// ---- JSON and text

std::string LarkPrinter::json(NodeId id, const std::string& schema) {
  return rule_of(id, "json", [&schema] { return "%json " + schema; });
}

std::string LarkPrinter::text(NodeId id) {
  const std::string_view name = ir_.name_of(id);
  return rule_of(id, name.empty() ? "text" : name, [this, id] { return text_rule(id); });
}

/// A terminal without any stop, alone or with a stop behind it; the stop's target follows.
std::string LarkPrinter::text_rule(NodeId id) {
  const Node& node = ir_.node(id);
  const std::string plain = names_.take("TEXT");
  std::string terminal = plain;
  std::replace(terminal.begin(), terminal.end(), '-', '_');
  std::string rule;
  std::vector<std::string> stops;
  for (const Stop& stop : ir_.stops(node)) stops.push_back(stop.literal);
  definitions_ += terminal + ": /(?s:.*)/" + (stops.empty() ? "" : " & " + text_without(stops)) + "\n";
  if (node.min != 0) rule = terminal;
  for (const Stop& stop : ir_.stops(node)) {
    if (stop.target == kNone) continue;
    // A token is in no text, so that it ends it by itself; white space before it is the text's.
    const FoundToken token = find_token(stop.literal, 0);
    const std::string before = token.size == 0 ? stop.literal : stop.literal.substr(0, token.at);
    std::string head = terminal;
    if (before.find_first_not_of(" \t\r\n") != before.npos) {
      head = names_.take("UNTIL");
      std::replace(head.begin(), head.end(), '-', '_');
      definitions_ += head + ": " + terminal + " " + soft(before) + "\n";
    }
    if (token.size > 0) head += " " + with_tokens(std::string_view(stop.literal).substr(token.at));
    const std::string behind = stop.target == ir_.empty() ? "" : " " + expression(stop.target, true, 1);
    rule += (rule.empty() ? "" : " | ") + head + behind;
  }
  return "(" + rule + ")" + (node.min != 0 ? "?" : "");
}

}  // namespace

std::string print_lark(const GrammarData& data) { return LarkPrinter(data).run(); }

}  // namespace parlance::grammar
