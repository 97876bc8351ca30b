// TrustedPath: a path is a row of parts, `name`, `.name`, `[3]`, `["a key"]`; `[*]` stands for any one in brackets, and
// `[assistant]` for each item with that role.
#include "tokens/trusted_path.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "base/nearest.h"
#include "conversation/edit.h"
#include "parlance/tokens.h"
#include "value/dict.h"
#include "value/string.h"

namespace parlance {
namespace {

constexpr std::string_view kAny = "[*]";

Error no_path(std::string_view path) {
  return Error(ErrorCode::usage, "'" + std::string(path) + "' is not a path in a request")
      .hint("for example messages[0].content, messages[*].tool_calls, messages[assistant], tools");
}

/// The end of the brackets that open at `path[0]`; 0 if they do not close.
std::size_t end_of_brackets(std::string_view path) {
  if (path.size() < 2 || path[1] != '"') return path.find(']') + 1;
  for (std::size_t at = 2; at < path.size(); ++at) {
    if (path[at] == '\\') {
      ++at;
    } else if (path[at] == '"') {
      return path.substr(at + 1).starts_with(']') ? at + 2 : 0;
    }
  }
  return 0;
}

/// The size of the part that `path` begins with; 0 if it begins with none.
std::size_t first_part(std::string_view path, bool is_first) {
  if (path.starts_with('[')) return is_first ? 0 : end_of_brackets(path);
  const bool dotted = path.starts_with('.');
  if (dotted == is_first) return 0;
  const std::size_t end = std::min(path.find_first_of(".[", dotted ? 1 : 0), path.size());
  return end == (dotted ? 1u : 0u) ? 0 : end;
}

std::string_view inside_of_brackets(std::string_view part) { return part.substr(1, part.size() - 2); }

bool is_index(std::string_view part) {
  const std::string_view inside = inside_of_brackets(part);
  return part == kAny || inside.starts_with('"') || (!inside.empty() && std::ranges::all_of(inside, ascii::is_digit));
}

/// The role that `[assistant]` stands for; "" of what is no such part.
std::string_view role_of(std::string_view part) {
  if (!part.starts_with('[')) return {};
  const std::string_view inside = inside_of_brackets(part);
  return std::ranges::all_of(inside, ascii::is_letter) ? inside : std::string_view();
}

bool has_role(Value item, std::string_view wanted) {
  const Value* role = item.kind == Kind::dict ? member(item, "role") : nullptr;
  return role != nullptr && role->is_leaf() && leaf_text(*role) == wanted;
}

/// The name that a part stands for: name, .name, ["name"].
std::string_view name_of(std::string_view part) {
  if (part.starts_with('.')) return part.substr(1);
  return part.starts_with("[\"") ? part.substr(2, part.size() - 4) : part;
}

/// Follows a path through values. What it cannot follow, it remembers: the farthest part, and the name nearest to it.
class PathWalk {
 public:
  explicit PathWalk(std::span<const std::string> parts) : parts_(parts) {}

  bool reaches(Value v, std::size_t at = 0) {
    if (at == parts_.size()) return true;
    if (v.kind == Kind::dict) return reaches_member(v, at);
    if (v.is_sequence()) return reaches_item(items(v), at);
    is_left_out_ |= v.kind == Kind::none;
    return stop_at(at, {});
  }
  const std::string& hint() const { return hint_; }
  /// The parts with the farthest one put right; nothing if no name is near.
  std::optional<std::vector<std::string>> put_right() const {
    if (best_.empty()) return {};
    std::vector<std::string> parts(parts_.begin(), parts_.end());
    std::string& part = parts[farthest_];
    part.replace(part.find(name_of(part)), name_of(part).size(), best_);
    return parts;
  }
  /// May it lead somewhere in another request: inside of one item of many, or of something that this one left out?
  bool may_lead() const {
    const auto passed = parts_.first(farthest_);
    return is_left_out_ || std::find(passed.begin(), passed.end(), kAny) != passed.end();
  }
  bool is_past_end() const { return is_past_end_; }

 private:
  bool reaches_member(Value dict, std::size_t at) {
    const std::string_view name = name_of(parts_[at]);
    if (name.find('\\') != name.npos) return true;  // an escaped name is not looked for
    if (const Value* inside = member(dict, name)) return reaches(*inside, at + 1);
    NearestName nearest(name);
    for (const DictEntry& entry : entries(dict)) {
      if (entry.key.is_leaf()) nearest.offer(leaf_text(entry.key));
    }
    return stop_at(at, nearest.best().empty() ? "" : ": " + nearest.hint(), nearest.best());
  }
  bool reaches_item(std::span<const Value> list, std::size_t at) {
    if (parts_[at] == kAny) return std::any_of(list.begin(), list.end(), [&](Value v) { return reaches(v, at + 1); });
    if (const std::string_view role = role_of(parts_[at]); !role.empty())
      return std::ranges::any_of(list, [&](Value v) { return has_role(v, role) && reaches(v, at + 1); }) ||
             none_of(role, at);
    std::size_t index = list.size();
    const std::string& part = parts_[at];
    if (part.starts_with('[')) std::from_chars(part.data() + 1, part.data() + part.size(), index);
    if (index < list.size()) return reaches(list[index], at + 1);
    stop_at(at, ": there are " + std::to_string(list.size()));
    is_past_end_ = farthest_ == at && part.starts_with('[');
    return false;
  }
  /// Another request may have a message of that role, unless the role is misspelt. False.
  bool none_of(std::string_view role, std::size_t at) {
    NearestName nearest(role);
    for (const std::string_view known : standard_roles()) nearest.offer(known);
    if (nearest.best().empty() || nearest.best() == role) return is_left_out_ = true, stop_at(at, {});
    return stop_at(at, ": " + nearest.hint(), "[" + std::string(nearest.best()) + "]");
  }
  /// Of several messages one may have no name that is near. False.
  bool stop_at(std::size_t at, const std::string& hint, const std::string& best = {}) {
    if (at < farthest_) return false;
    if (at > farthest_ || !hint.empty()) {
      hint_ = hint;
      best_ = best;
    }
    farthest_ = at;
    is_past_end_ = false;
    return false;
  }

  std::span<const std::string> parts_;
  std::size_t farthest_ = 0;
  std::string hint_;
  std::string best_;  ///< the name nearest to the farthest part
  bool is_left_out_ = false, is_past_end_ = false;
};

}  // namespace

Result<TrustedPath> TrustedPath::parse(std::string_view path) {
  TrustedPath parsed;
  parsed.text_ = path;
  for (std::string_view rest = path; !rest.empty() || parsed.parts_.empty();) {
    const std::size_t size = first_part(rest, parsed.parts_.empty());
    const std::string_view part = rest.substr(0, size);
    const bool is_role = parsed.parts_.size() == 1 && !role_of(part).empty();  // messages have one, what is inside not
    if (size == 0 || (rest.starts_with('[') && !is_role && !is_index(part))) return no_path(path);
    parsed.parts_.emplace_back(part);
    rest.remove_prefix(size);
  }
  return parsed;
}

bool TrustedPath::covers(std::string_view path, std::string_view role) const {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::size_t size = first_part(path, i == 0);
    if (size == 0 || !covers_part(i, path.substr(0, size), role)) return false;
    path.remove_prefix(size);
  }
  return true;
}

bool TrustedPath::covers_part(std::size_t at, std::string_view part, std::string_view role) const {
  const std::string& wanted = parts_[at];
  if (wanted == kAny) return part.starts_with('[');
  const std::string_view wanted_role = at == 1 ? role_of(wanted) : std::string_view();
  return wanted_role.empty() ? part == wanted : part.starts_with('[') && wanted_role == role;
}

std::string_view role_of_span(const Conversation& conversation, const Span& span) {
  const Value messages = conversation.messages();
  const auto number = static_cast<std::uint32_t>(span.message);
  if (span.message < 0 || !messages.is_sequence() || number >= messages.list->size) return {};
  const Value message = messages.list->items[number];
  const Value* role = message.kind == Kind::dict ? member(message, "role") : nullptr;
  return role != nullptr && role->is_leaf() ? leaf_text(*role) : std::string_view();
}

std::optional<std::string> TrustedPath::missing_in(Value variables) const {
  PathWalk walk(parts_);
  if (walk.reaches(variables)) return {};
  return walk.hint();
}

Result<void> TrustedPath::check_spelling(Value variables, bool grows) const {
  PathWalk walk(parts_);
  if (walk.reaches(variables)) return {};
  std::optional<std::vector<std::string>> near = walk.put_right();
  if (!near && (walk.may_lead() || (grows && walk.is_past_end()))) return {};
  Error error(ErrorCode::usage, "trust has the path " + text_ + ", but the request has nothing there");
  if (!near) return std::move(error).hint(walk.hint().empty() ? "" : walk.hint().substr(2) + " of them");
  for (std::size_t i = 0; i < parts_.size(); ++i) {  // there may be more than one slip
    PathWalk again(*near);
    if (again.reaches(variables)) break;
    if (std::optional<std::vector<std::string>> nearer = again.put_right()) near = std::move(nearer);
  }
  std::string path;
  for (const std::string& part : *near) path += part;
  return std::move(error).hint("did you mean " + path + "?");
}

Result<std::vector<TrustedPath>> parse_trusted_paths(const std::vector<std::string>& paths) {
  std::vector<TrustedPath> parsed;
  for (const std::string& path : paths) {
    Result<TrustedPath> one = TrustedPath::parse(path);
    if (!one) return one.error();
    parsed.push_back(std::move(*one));
  }
  return parsed;
}

Result<void> validate(const TokenizeOptions& options) {
  const Result<std::vector<TrustedPath>> paths = parse_trusted_paths(options.trust);
  return paths ? Result<void>() : paths.error();
}

}  // namespace parlance
