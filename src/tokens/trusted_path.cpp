// TrustedPath: a path is a row of parts, `name`, `.name`, `[3]`, `["a key"]`; `[*]` stands for any one in brackets.
#include "tokens/trusted_path.h"

#include <algorithm>

namespace parlance {
namespace {

constexpr std::string_view kAny = "[*]";

Error no_path(std::string_view path) {
  Error::Parts parts;
  parts.code = ErrorCode::usage;
  parts.message = "'" + std::string(path) + "' is no path into a request";
  parts.hint = "for example messages[0].content, messages[*].tool_calls, tools";
  return Error(std::move(parts));
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

bool is_index(std::string_view part) {
  const std::string_view inside = part.substr(1, part.size() - 2);
  return part == kAny || inside.starts_with('"') ||
         (!inside.empty() && inside.find_first_not_of("0123456789") == inside.npos);
}

}  // namespace

Result<TrustedPath> TrustedPath::parse(std::string_view path) {
  TrustedPath parsed;
  parsed.text_ = path;
  for (std::string_view rest = path; !rest.empty() || parsed.parts_.empty();) {
    const std::size_t size = first_part(rest, parsed.parts_.empty());
    if (size == 0 || (rest.starts_with('[') && !is_index(rest.substr(0, size)))) return no_path(path);
    parsed.parts_.emplace_back(rest.substr(0, size));
    rest.remove_prefix(size);
  }
  return parsed;
}

bool TrustedPath::covers(std::string_view path) const {
  bool is_first = true;
  for (const std::string& part : parts_) {
    const std::size_t size = first_part(path, is_first);
    const bool same = part == kAny ? path.starts_with('[') : path.substr(0, size) == part;
    if (size == 0 || !same) return false;
    path.remove_prefix(size);
    is_first = false;
  }
  return true;
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

}  // namespace parlance
