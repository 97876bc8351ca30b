// llama.cpp's GBNF. Text between markers becomes a rule for each state of its automaton; long counted repeats are built
// of blocks, since engines unroll them. Begin reading at GbnfPrinter::run.
#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/format.h"
#include "grammar/printers.h"
#include "grammar/shared_nodes.h"
#include "grammar/stop_automaton.h"

namespace parlance::grammar {
namespace {

constexpr std::uint32_t kBlock = 64;  ///< the longest repeat that is left to the engine
constexpr int kGbnfDepth = 50;        ///< brackets inside each other, before a rule is made of it
/// rules that an engine makes of what is repeated, times how often: llama.cpp refuses 2000
constexpr std::uint32_t kMostMade = 1000;

/// Texts of tokens that end generation in llama.cpp, whatever the model says: there no grammar can ask for one, since
/// the reply is over with it. Each was asked of the library in node-llama-cpp 3.22.1 (llama_vocab_is_eog).
constexpr std::string_view kEnds[] = {"<|eot_id|>",
                                      "<|im_end|>",
                                      "<|end|>",
                                      "<|return|>",
                                      "<|call|>",
                                      "<|flush|>",
                                      "<|calls|>",
                                      "<end_of_turn>",
                                      "<|endoftext|>",
                                      "<|eom_id|>",
                                      "<|end_of_text|>",
                                      "<EOT>",
                                      "_<EOT>",
                                      "[EOT]",
                                      "[EOS]",
                                      "</s>",
                                      "<eos>",
                                      "<\uFF5Cend\u2581of\u2581sentence\uFF5C>",
                                      "<end_of_utterance>",
                                      "<turn|>"};

std::string gbnf_char(char32_t c) {
  return c < 0x10000 ? format("\\u{:04X}", static_cast<std::uint32_t>(c))
                     : format("\\U{:08X}", static_cast<std::uint32_t>(c));
}

/// How many rules llama.cpp makes of a text by itself: one for each bracket and repeat, and for each time of a counted
/// one.
std::uint32_t made_of(std::string_view text) {
  std::uint64_t made = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\')
        ++i;
      else if (c == quote)
        quote = 0;
    } else if (c == '"' || c == '[') {
      quote = c == '"' ? '"' : ']';
    } else if (c == '(' || c == '*' || c == '+' || c == '?') {
      ++made;
    } else if (c == '{') {
      std::uint64_t count = 0, last = 0;
      for (++i; i < text.size() && text[i] != '}'; ++i) {
        if (text[i] == ',')
          count = std::exchange(last, 0);
        else
          last = last * 10 + static_cast<std::uint64_t>(text[i] - '0');
      }
      made += std::max(count, last);
    }
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(made, kUnbounded));
}

class GbnfPrinter {
 public:
  GbnfPrinter(const Ir& ir, std::span<const NodeId> sequence) : ir_(ir), shared_(ir, sequence), sequence_(sequence) {}
  std::string run();
  /// Of a whole reply: what ends it may be an end of generation.
  void may_end_before_tokens() { find_ends(sequence_.back()); }

 private:
  enum class Bind : std::uint8_t { alternatives, sequence, atom };
  std::string all();
  void find_ends(NodeId first);
  bool may_lack(NodeId id) const;
  std::string literal(NodeId id, Bind bind) const;
  std::string expression(NodeId id, Bind bind, int depth);
  std::string fresh(NodeId id, Bind bind, int depth);
  std::string list(const Node& node, Bind bind, int depth);
  std::string repeated(NodeId id, Bind bind, int depth);
  std::string exactly(const std::string& atom, std::uint32_t count);
  std::string up_to(const std::string& atom, std::uint32_t count);
  std::string block(const std::string& atom);
  std::string repeatable(std::string atom, std::uint32_t times);
  std::string text(NodeId id);
  void write_text(NodeId id, const std::string& name);
  std::string rule_of(NodeId id, std::string_view wanted, NodeId body);
  std::string bracketed(std::string text) { return "(" + text + ")"; }

  const Ir& ir_;
  SharedNodes shared_;
  std::span<const NodeId> sequence_;
  Names names_;
  std::set<NodeId> ends_;                      ///< what a reply may end with
  std::map<NodeId, std::string> rules_;        ///< the names of nodes that have one
  std::map<std::string, std::string> blocks_;  ///< of an atom, the rule of 64 of them
  std::map<std::string, std::string> parts_;   ///< of a text that is repeated, its rule
  std::deque<std::pair<std::string, std::function<std::string()>>> tasks_;
  std::string out_;
};

/// Rules are written from a queue: each one that is named on the way is appended, so that nothing recurses through
/// rules.
std::string GbnfPrinter::run() {
  const std::string root = names_.take("root");
  tasks_.emplace_back(root, [this] { return all(); });
  while (!tasks_.empty()) {
    const auto [name, write] = std::move(tasks_.front());
    tasks_.pop_front();
    out_ += name + " ::= " + write() + "\n";
  }
  return std::move(out_);
}

std::string GbnfPrinter::all() {
  if (sequence_.size() == 1) return fresh(sequence_[0], Bind::alternatives, 0);
  std::string out;
  for (const NodeId id : sequence_) out += (out.empty() ? "" : " ") + expression(id, Bind::atom, 1);
  return out.empty() ? "\"\"" : out;
}

// The name is known before the body is written, which a rule that refers to itself needs.
std::string GbnfPrinter::rule_of(NodeId id, std::string_view wanted, NodeId body) {
  const auto [known, is_new] = rules_.try_emplace(id);
  if (!is_new) return known->second;
  known->second = names_.take(wanted);
  tasks_.emplace_back(known->second, [this, body] { return fresh(body, Bind::alternatives, 0); });
  return known->second;
}

std::string GbnfPrinter::expression(NodeId id, Bind bind, int depth) {
  const Node& node = ir_.node(id);
  if (node.op == Op::rule) return rule_of(id, ir_.rules()[node.min].name, ir_.rules()[node.min].body);
  if (node.op == Op::text) return text(id);
  const bool plain = node.op == Op::literal || node.op == Op::chars || node.op == Op::never;
  if (!plain && id != ir_.empty() && (shared_.is_shared(id) || depth > kGbnfDepth)) {
    const std::string_view name = ir_.name_of(id);
    return rule_of(id, name.empty() ? "part" : name, id);
  }
  return fresh(id, bind, depth);
}

std::string GbnfPrinter::fresh(NodeId id, Bind bind, int depth) {
  const Node& node = ir_.node(id);
  switch (node.op) {
    case Op::never: return "[^\\x00-\\U0010FFFF]";
    case Op::literal: return literal(id, bind);
    case Op::chars: return class_of(ir_.ranges(node), gbnf_char);
    case Op::sequence:
    case Op::choice: return list(node, bind, depth);
    case Op::repeat:
      return Ir::is_token(node) ? expression(ir_.inside_token(id), bind, depth) : repeated(id, bind, depth);
    default: return expression(id, bind, depth);
  }
}

/// Whether the node may be empty, as far as that is seen without looking into rules.
bool GbnfPrinter::may_lack(NodeId id) const {
  const Node& node = ir_.node(id);
  if (node.op == Op::choice)
    return std::any_of(ir_.children(node).begin(), ir_.children(node).end(),
                       [this](NodeId child) { return child == ir_.empty(); });
  return id == ir_.empty() || ((node.op == Op::repeat && node.min == 0) || (node.op == Op::text && node.min != 0));
}

/// The last piece of a reply in each way to write one.
void GbnfPrinter::find_ends(NodeId first) {
  std::vector<NodeId> pending{first};
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    const Node& node = ir_.node(id);
    if (!ends_.insert(id).second) continue;
    if (node.op != Op::sequence) ir_.for_each_child(id, [&](NodeId child) { pending.push_back(child); });
    for (std::uint32_t i = node.op == Op::sequence ? node.size : 0; i-- > 0;) {
      const NodeId child = ir_.children(node)[i];
      pending.push_back(child);
      if (!may_lack(child)) break;
    }
  }
}

/// What llama.cpp takes for the end of generation is optional at the end of a reply: generation stops there before the
/// grammar is asked for the token.
std::string GbnfPrinter::literal(NodeId id, Bind bind) const {
  const std::string_view bytes = ir_.bytes(ir_.node(id));
  const auto end = ends_.contains(id) ? std::find_if(std::begin(kEnds), std::end(kEnds),
                                                     [&](std::string_view text) { return bytes.ends_with(text); })
                                      : std::end(kEnds);
  if (end == std::end(kEnds)) return quoted(bytes);
  const std::string_view before = bytes.substr(0, bytes.size() - end->size());
  const std::string last = quoted(*end) + "?";
  if (before.empty()) return last;
  const std::string whole = quoted(before) + " " + last;
  return bind == Bind::atom ? "(" + whole + ")" : whole;
}

std::string GbnfPrinter::list(const Node& node, Bind bind, int depth) {
  const bool choice = node.op == Op::choice;
  const std::string_view separator = choice ? " | " : " ";
  std::string out;
  bool may_lack = false, behind_text = false;
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < node.size; ++i) {
    const NodeId child = ir_.children(node)[i];
    if (child == ir_.empty()) {
      may_lack = true;
      continue;
    }
    const std::string part = expression(child, choice ? Bind::sequence : Bind::atom, depth + 1);
    const bool text = !choice && ir_.node(ir_.inside_token(child)).op == Op::literal && part.back() == '"';
    if (text && behind_text) {
      out.replace(out.size() - 1, 1, part, 1);  // a token's text beside another
    } else {
      out.append(count++ > 0 ? separator : "").append(part);
    }
    behind_text = text;
  }
  if (count == 0) return "\"\"";
  if (may_lack) return repeatable(bracketed(out), 1) + "?";
  const bool loose = choice ? bind != Bind::alternatives : bind == Bind::atom;
  return loose ? bracketed(out) : out;
}

// ---- repeats

std::string GbnfPrinter::repeated(NodeId id, Bind bind, int depth) {
  const Node& node = ir_.node(id);
  const NodeId child = ir_.children(node)[0];
  const bool unbounded = node.max == kUnbounded;
  const std::uint32_t min = node.min, max = node.max;
  const bool small = min <= kBlock && (unbounded || max <= kBlock);
  std::string atom = expression(child, Bind::atom, depth + 1);
  if (atom.back() == '?' || atom.back() == '*' || atom.back() == '+' || atom.back() == '}') atom = bracketed(atom);
  atom = repeatable(std::move(atom), !small ? kBlock : unbounded ? std::max(min, 1U) : max);
  if (min == 0 && unbounded) return atom + "*";
  if (min == 1 && unbounded) return atom + "+";
  if (min == 0 && max == 1) return atom + "?";
  if (small && unbounded) return format("{}{{{},}}", atom, min);
  if (small) return min == max ? format("{}{{{}}}", atom, min) : format("{}{{{},{}}}", atom, min, max);
  if (ir_.node(child).op != Op::chars) {  // what is said often gets a name
    const std::string_view name = ir_.name_of(child);
    atom = rule_of(child, name.empty() ? "item" : name, child);
  }
  std::string out = min > 0 ? exactly(atom, min) : "";
  const std::string rest = unbounded ? atom + "*" : max > min ? up_to(atom, max - min) : "";
  if (!out.empty() && !rest.empty()) out += " ";
  out += rest;
  return bind == Bind::atom ? bracketed(out) : out;
}

/// What may be repeated so often in any engine: the text, or a rule of it.
std::string GbnfPrinter::repeatable(std::string atom, std::uint32_t times) {
  if (std::uint64_t{made_of(atom)} * times <= kMostMade) return atom;
  const auto [known, is_new] = parts_.try_emplace(atom);
  if (is_new) {
    known->second = names_.take("part");
    tasks_.emplace_back(known->second, [atom] { return atom; });
  }
  return known->second;
}

std::string GbnfPrinter::block(const std::string& atom) {
  const auto [known, is_new] = blocks_.try_emplace(atom);
  if (!is_new) return known->second;
  known->second = names_.take("block");
  tasks_.emplace_back(known->second, [atom] { return format("{}{{{}}}", atom, kBlock); });
  return known->second;
}

/// Blocks of blocks: 10000 times costs a few rules of 64, where the engine would unroll 10000 copies.
std::string GbnfPrinter::exactly(const std::string& atom, std::uint32_t count) {
  if (count <= kBlock) return format("{}{{{}}}", atom, count);
  const std::string blocks = exactly(block(atom), count / kBlock);
  return count % kBlock == 0 ? blocks : format("{} {}{{{}}}", blocks, atom, count % kBlock);
}

/// Full blocks and then less than one; or as many blocks as there can be and what is left.
std::string GbnfPrinter::up_to(const std::string& atom, std::uint32_t count) {
  if (count <= kBlock) return format("{}{{0,{}}}", atom, count);
  const std::string blocks = block(atom);
  const std::uint32_t whole = count / kBlock, rest = count % kBlock;
  const std::string some = format("{} {}{{0,{}}}", up_to(blocks, whole - 1), atom, kBlock - 1);
  const std::string all = exactly(blocks, whole) + (rest > 0 ? format(" {}{{0,{}}}", atom, rest) : "");
  return bracketed(some + " | " + all);
}

// ---- text

std::string GbnfPrinter::text(NodeId id) {
  const auto known = rules_.find(id);
  if (known != rules_.end()) return known->second;
  const std::string_view wanted = ir_.name_of(id);
  const std::string name = names_.take(wanted.empty() ? "text" : wanted);
  rules_.emplace(id, name);
  write_text(id, name);
  return name;
}

/// A rule for each state of the automaton. From a state, a character that no edge names leads back to the start; an
/// edge leads to its state; an edge that completes a stop leads to the stop's target, or is missing if the stop is
/// forbidden.
void GbnfPrinter::write_text(NodeId id, const std::string& name) {
  const auto shared = std::make_shared<const StopAutomaton>(ir_.stops(ir_.node(id)));
  const StopAutomaton& automaton = *shared;
  // none where a stop is complete
  const auto state_names = std::make_shared<std::vector<std::string>>(automaton.size());
  std::vector<std::string>& names = *state_names;
  names[0] = name;
  for (StopAutomaton::State s = 0; s < automaton.size(); ++s) {
    for (const auto& [c, step] : automaton.edges(s)) {
      if (step.stop == kNone && names[step.state].empty()) names[step.state] = names_.take(name + "-at");
    }
  }
  for (StopAutomaton::State s = 0; s < automaton.size(); ++s) {
    if (names[s].empty()) continue;
    tasks_.emplace_back(names[s], [this, id, state_names, shared, s] {
      const StopAutomaton& automaton = *shared;
      const std::vector<std::string>& names = *state_names;
      const Node node = ir_.node(id);
      std::vector<Range> special;
      std::map<StopAutomaton::Step, std::vector<Range>> by_step;
      for (const auto& [c, step] : automaton.edges(s)) {
        special.push_back({c, c});
        by_step[step].push_back({c, c});
      }
      std::string out = class_of(complement(normalized(std::move(special))), gbnf_char) + " " + names[0];
      for (const auto& [step, chars] : by_step) {
        const NodeId target = step.stop == kNone ? kNone : ir_.stops(node)[step.stop].target;
        if (step.stop != kNone && target == kNone) continue;
        out += " | " + class_of(normalized(chars), gbnf_char);
        if (step.stop == kNone) out += " " + names[step.state];
        if (target != kNone && target != ir_.empty()) out += " " + expression(target, Bind::atom, 1);
      }
      return node.min != 0 ? bracketed(out) + "?" : out;
    });
  }
}

}  // namespace

std::string print_gbnf(const Ir& ir, std::span<const NodeId> sequence) { return GbnfPrinter(ir, sequence).run(); }

std::string print_gbnf_of_reply(const Ir& ir, NodeId root) {
  GbnfPrinter printer(ir, {&root, 1});
  printer.may_end_before_tokens();
  return printer.run();
}

}  // namespace parlance::grammar
