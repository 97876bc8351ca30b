// llama.cpp's GBNF. Text between markers becomes a rule for each state of its automaton; long counted repeats are built of
// blocks, since engines unroll them. Begin reading at Printer::run.
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "base/format.h"
#include "grammar/printers.h"
#include "grammar/shared_nodes.h"
#include "grammar/stop_automaton.h"

namespace parlance::grammar {
namespace {

constexpr std::uint32_t kBlock = 64;  ///< the longest repeat that is left to the engine
constexpr int kDepth = 50;            ///< brackets inside each other, before a rule is made of it

std::string gbnf_char(char32_t c) {
  return c < 0x10000 ? format("\\u{:04X}", static_cast<std::uint32_t>(c)) : format("\\U{:08X}", static_cast<std::uint32_t>(c));
}

class Printer {
 public:
  Printer(const Ir& ir, std::span<const NodeId> sequence) : ir_(ir), shared_(ir, sequence), sequence_(sequence) {}
  std::string run();

 private:
  enum class Bind : std::uint8_t { alternatives, sequence, atom };
  std::string all();
  std::string expression(NodeId id, Bind bind, int depth);
  std::string fresh(NodeId id, Bind bind, int depth);
  std::string list(const Node& node, Bind bind, int depth);
  std::string repeated(NodeId id, Bind bind, int depth);
  std::string exactly(const std::string& atom, std::uint32_t count);
  std::string up_to(const std::string& atom, std::uint32_t count);
  std::string block(const std::string& atom);
  std::string text(NodeId id);
  void write_text(NodeId id, const std::string& name);
  std::string rule_of(NodeId id, std::string_view wanted, NodeId body);
  std::string bracketed(std::string text) { return "(" + text + ")"; }

  const Ir& ir_;
  SharedNodes shared_;
  std::span<const NodeId> sequence_;
  Names names_;
  std::map<NodeId, std::string> rules_;          ///< the names of nodes that have one
  std::map<std::string, std::string> blocks_;    ///< of an atom, the rule of 64 of them
  std::deque<std::pair<std::string, std::function<std::string()>>> tasks_;
  std::string out_;
};

std::string Printer::run() {
  const std::string root = names_.take("root");
  tasks_.emplace_back(root, [this] { return all(); });
  while (!tasks_.empty()) {
    const auto [name, write] = std::move(tasks_.front());
    tasks_.pop_front();
    out_ += name + " ::= " + write() + "\n";
  }
  return std::move(out_);
}

std::string Printer::all() {
  if (sequence_.size() == 1) return fresh(sequence_[0], Bind::alternatives, 0);
  std::string out;
  for (const NodeId id : sequence_) out += (out.empty() ? "" : " ") + expression(id, Bind::atom, 1);
  return out.empty() ? "\"\"" : out;
}

std::string Printer::rule_of(NodeId id, std::string_view wanted, NodeId body) {
  const auto [known, is_new] = rules_.try_emplace(id);
  if (!is_new) return known->second;
  known->second = names_.take(wanted);
  tasks_.emplace_back(known->second, [this, body] { return fresh(body, Bind::alternatives, 0); });
  return known->second;
}

std::string Printer::expression(NodeId id, Bind bind, int depth) {
  const Node& node = ir_.node(id);
  if (node.op == Op::rule) return rule_of(id, ir_.rules()[node.min].name, ir_.rules()[node.min].body);
  if (node.op == Op::text) return text(id);
  const bool plain = node.op == Op::literal || node.op == Op::chars || node.op == Op::never;
  if (!plain && id != ir_.empty() && (shared_.is_shared(id) || depth > kDepth)) {
    const std::string_view name = ir_.name_of(id);
    return rule_of(id, name.empty() ? "part" : name, id);
  }
  return fresh(id, bind, depth);
}

std::string Printer::fresh(NodeId id, Bind bind, int depth) {
  const Node& node = ir_.node(id);
  switch (node.op) {
    case Op::never: return "[^\\x00-\\U0010FFFF]";
    case Op::literal: return quoted(ir_.bytes(node));
    case Op::chars: return class_of(ir_.ranges(node), gbnf_char);
    case Op::sequence:
    case Op::choice: return list(node, bind, depth);
    case Op::repeat: return repeated(id, bind, depth);
    default: return expression(id, bind, depth);
  }
}

std::string Printer::list(const Node& node, Bind bind, int depth) {
  const bool choice = node.op == Op::choice;
  const std::string_view separator = choice ? " | " : " ";
  std::string out;
  bool may_lack = false;
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < node.size; ++i) {
    const NodeId child = ir_.children(node)[i];
    if (child == ir_.empty()) {
      may_lack = true;
      continue;
    }
    if (count++ > 0) out += separator;
    out += expression(child, choice ? Bind::sequence : Bind::atom, depth + 1);
  }
  if (count == 0) return "\"\"";
  if (may_lack) return bracketed(out) + "?";
  const bool loose = choice ? bind != Bind::alternatives : bind == Bind::atom;
  return loose ? bracketed(out) : out;
}

// ---- repeats

std::string Printer::repeated(NodeId id, Bind bind, int depth) {
  const Node& node = ir_.node(id);
  const NodeId child = ir_.children(node)[0];
  const bool unbounded = node.max == kUnbounded;
  const std::uint32_t min = node.min, max = node.max;
  const bool small = min <= kBlock && (unbounded || max <= kBlock);
  std::string atom = expression(child, Bind::atom, depth + 1);
  if (atom.back() == '?' || atom.back() == '*' || atom.back() == '+' || atom.back() == '}') atom = bracketed(atom);
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

std::string Printer::block(const std::string& atom) {
  const auto [known, is_new] = blocks_.try_emplace(atom);
  if (!is_new) return known->second;
  known->second = names_.take("block");
  tasks_.emplace_back(known->second, [atom] { return format("{}{{{}}}", atom, kBlock); });
  return known->second;
}

std::string Printer::exactly(const std::string& atom, std::uint32_t count) {
  if (count <= kBlock) return format("{}{{{}}}", atom, count);
  const std::string blocks = exactly(block(atom), count / kBlock);
  return count % kBlock == 0 ? blocks : format("{} {}{{{}}}", blocks, atom, count % kBlock);
}

/// Full blocks and then less than one; or as many blocks as there can be and what is left.
std::string Printer::up_to(const std::string& atom, std::uint32_t count) {
  if (count <= kBlock) return format("{}{{0,{}}}", atom, count);
  const std::string blocks = block(atom);
  const std::uint32_t whole = count / kBlock, rest = count % kBlock;
  const std::string some = format("{} {}{{0,{}}}", up_to(blocks, whole - 1), atom, kBlock - 1);
  const std::string all = exactly(blocks, whole) + (rest > 0 ? format(" {}{{0,{}}}", atom, rest) : "");
  return bracketed(some + " | " + all);
}

// ---- text

std::string Printer::text(NodeId id) {
  const auto known = rules_.find(id);
  if (known != rules_.end()) return known->second;
  const std::string_view wanted = ir_.name_of(id);
  const std::string name = names_.take(wanted.empty() ? "text" : wanted);
  rules_.emplace(id, name);
  write_text(id, name);
  return name;
}

void Printer::write_text(NodeId id, const std::string& name) {
  const auto shared = std::make_shared<const StopAutomaton>(ir_.stops(ir_.node(id)));
  const StopAutomaton& automaton = *shared;
  const auto state_names = std::make_shared<std::vector<std::string>>(automaton.size());  // none where a stop is complete
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

std::string print_gbnf(const Ir& ir, std::span<const NodeId> sequence) { return Printer(ir, sequence).run(); }

}  // namespace parlance::grammar
