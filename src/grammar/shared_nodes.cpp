// Counting uses and sizes of nodes, from a stack. Begin reading at SharedNodes::SharedNodes.
#include "grammar/shared_nodes.h"

#include <algorithm>

#include "base/format.h"

namespace parlance::grammar {
namespace {

constexpr std::uint32_t kWorthARule = 3;
constexpr std::uint32_t kLargest = 4000;  ///< of what counts as regular

/// Whether the character stands for itself in a class of every language.
bool is_plain(char32_t c) {
  return c > 0x20 && c < 0x7F && c != '[' && c != ']' && c != '\\' && c != '^' && c != '-' && c != '/' && c != '"' &&
         c != '&' && c != '~';
}

bool may_be_regular(Op op) { return op != Op::rule && op != Op::text && op != Op::never; }

std::string class_char(char32_t c, std::string (*unicode)(char32_t)) {
  if (is_plain(c)) return std::string(1, static_cast<char>(c));
  return c < 0x80 ? format("\\x{:02X}", static_cast<std::uint32_t>(c)) : unicode(c);
}

}  // namespace

/// A node is visited when it is first met, and measured behind its children. One that leads back to itself is asked for
/// its size before it has one, and counts as not regular: it needs a rule in any case.
SharedNodes::SharedNodes(const Ir& ir, std::span<const NodeId> roots) {
  struct Visit {
    NodeId node;
    bool done;
  };
  std::vector<Visit> stack;
  for (const NodeId root : roots) stack.push_back({root, false});
  while (!stack.empty()) {
    const Visit visit = stack.back();
    stack.pop_back();
    if (visit.done) {
      measure(ir, visit.node);
      continue;
    }
    Facts& facts = sizes_[visit.node];
    if (facts.uses++ > 0) continue;
    facts.regular = false;  // to what leads back here, which asks before it is measured
    stack.push_back({visit.node, true});
    ir.for_each_child(visit.node, [&](NodeId child) { stack.push_back({child, false}); });
  }
}

void SharedNodes::measure(const Ir& ir, NodeId node) {
  Facts facts = sizes_.at(node);
  const Op op = ir.node(node).op;
  std::uint64_t size = 1;
  if (op != Op::rule) {
    facts.regular = may_be_regular(op);
    ir.for_each_child(node, [&](NodeId child) {
      const Facts& below = sizes_.at(child);
      size += below.size;
      facts.regular = facts.regular && below.regular;
    });
  }
  facts.size = static_cast<std::uint32_t>(std::min<std::uint64_t>(size, kLargest + 1));
  facts.regular = facts.regular && facts.size <= kLargest;
  facts.regular = facts.regular || ir.guard_of(node) != nullptr;
  sizes_[node] = facts;
}

bool SharedNodes::is_shared(NodeId node) const {
  const auto found = sizes_.find(node);
  return found != sizes_.end() && found->second.uses > 1 && found->second.size >= kWorthARule;
}

std::string Names::take(std::string_view wanted) {
  std::string name(wanted);
  std::uint32_t& next = next_[name];
  while (!taken_.insert(name).second) name = format("{}-{}", wanted, ++next + 1);
  return name;
}

std::string quoted(std::string_view bytes) {
  std::string out = "\"";
  for (const char c : bytes) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
          out += format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

/// A class as all languages write it. What it leaves out is shorter where it has nearly all characters.
std::string class_of(std::span<const Range> given, std::string (*unicode)(char32_t)) {
  std::vector<Range> ranges(given.begin(), given.end());
  std::vector<Range> others = complement(ranges);
  std::erase_if(others, [](const Range& r) { return r.first > 0x10FFFF; });
  // What is left out is named only in ASCII: llama.cpp refuses the first bytes of a character in its parts, where they
  // could be those of one left out.
  const bool negate =
      !ranges.empty() && ranges.back().last == 0x10FFFF && (others.empty() || others.back().last < 0x80);
  if (negate) ranges = std::move(others);
  if (ranges.empty()) return negate ? "[^\\x00]" : "";
  // An escape must not be followed by a digit that could belong to it: what needs one comes last.
  std::stable_sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    const auto escapes = [](const Range& r) { return is_plain(r.first) ? (is_plain(r.last) ? 0 : 1) : 2; };
    return escapes(a) < escapes(b);
  });
  std::string text = negate ? "[^" : "[";
  for (const Range& range : ranges) {
    text += class_char(range.first, unicode);
    if (range.last > range.first) text += "-" + class_char(range.last, unicode);
  }
  return text + "]";
}

}  // namespace parlance::grammar
