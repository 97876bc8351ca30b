// Values of Python outside of calls: a literal as JSON, and the rest of an object that began as JSON.
//
// Begin reading at json_of_python.
#include "reply/scan/python_scanner.h"
#include "reply/scan/text_codec.h"

namespace parlance::reply {
namespace {

const std::string kEmptyCallee;

}  // namespace

/// Its brackets are open. Behind a comma nothing has filled the innermost: the comma has been given out.
PythonScanner::PythonScanner(const JsonScanner& json, std::uint32_t depth, std::uint32_t pending)
    : PythonScanner(kEmptyCallee, depth, pending) {
  brackets_.make();
  for (const bool object : json.brackets()) frames().push_back({object ? In::dict : In::list, true, true, 0});
  Frame& inner = frames().back();
  inner.filled = json.behind_colon();
  at_ = inner.filled ? At::value : inner.in == In::dict ? At::key_or_end : At::value_or_end;
}

std::size_t PythonScanner::open_brackets() const {
  std::size_t count = 0;
  if (!brackets_) return count;
  for (const Frame& frame : brackets_->frames) count += frame.in == In::call || frame.in == In::bracket ? 1 : 0;
  return count;
}

std::size_t PythonScanner::open_braces() const {
  std::size_t count = 0;
  if (!brackets_) return count;
  for (const Frame& frame : brackets_->frames) count += frame.in == In::dict || frame.in == In::set ? 1 : 0;
  return count;
}

/// It is read as the one argument of a call.
std::string json_of_python(std::string_view text, std::uint32_t depth) {
  const std::string callee, call = "(x=" + std::string(text) + ")";
  PythonScanner scanner(callee, depth, 0xFFFFFFFF);
  std::string json;
  const char* at = call.data();
  if (scanner.run(at, call.data() + call.size(), json) != Scan::done || at != call.data() + call.size()) return {};
  const std::string_view value = trimmed(std::string_view(json).substr(6, json.size() - 7));  // {"x": …}
  JsonScanner whole(depth);
  const char* p = value.data();
  const Scan end = whole.run(p, value.data() + value.size());
  // The text may hold a second argument, as in `1, y=2`. So what came out counts only if it is exactly one value.
  const bool one = p == value.data() + value.size() && end != Scan::bad && whole.complete();
  return one ? std::string(value) : std::string();
}

}  // namespace parlance::reply
