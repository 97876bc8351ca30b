// Members that are kept. Begin reading at Keeper::append.
#include "bulk/keep.h"

#include <algorithm>

#include "base/error_members.h"
#include "json/json.h"

namespace parlance {
namespace {

/// Where the string that begins here ends, quotation marks included.
std::size_t end_of_string(std::string_view json, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < json.size() && json[at] != '"') at += json[at] == '\\' ? 2 : 1;
  return std::min(at + 1, json.size());
}

/// Appends the names of members, which are JSON without braces, each with a newline behind it.
void append_names(std::string& names, std::string_view members) {
  int depth = 0;
  for (std::size_t at = 0; at < members.size();) {
    const char c = members[at];
    if (c != '"') {
      depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
      ++at;
      continue;
    }
    const std::size_t end = end_of_string(members, at);
    if (depth == 0 && end < members.size() && members[end] == ':')
      names.append(members.substr(at, end - at)).push_back('\n');
    at = end;
  }
}

}  // namespace

void Keeper::append(std::string& out, std::string_view line, bool has_id, std::string_view members,
                    BulkProgress& counts) {
  if (!keeps() || !document_.parse(line) || !document_.root().is(Kind::dict)) return;
  own_ = "\n";
  append_names(own_, members);
  const Value row = document_.root();
  const auto keep = [&](std::string_view name, Value value) {
    if (!value.is_undefined() && !(has_id && name == "id")) append_one(out, name, value, counts);
  };
  if (options_.keep_all) {
    for (const DictEntry& member : row.members()) keep(member.key.text(), member.value);
  } else {
    for (const std::string& name : options_.keep) keep(name, row[name]);
  }
}

void Keeper::append_one(std::string& out, std::string_view name, Value value, BulkProgress& counts) {
  std::string quoted;
  append_json_string(quoted, name);
  if (tells_errors(name) || own_.find("\n" + quoted + "\n") != own_.npos) {
    ++counts.hidden[std::string(name)];
    return;
  }
  if (!options_.keep_all) ++counts.kept[std::string(name)];
  out.append(quoted).append(": ").append(strict_json_text(value)).append(", ");
}

}  // namespace parlance
