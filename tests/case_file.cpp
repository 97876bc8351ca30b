// Reading and rewriting case files. Leans on the library's own JSON reader for texts written as JSON.
#include "case_file.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>

#include "base/unicode.h"
#include "base/utf8.h"
#include "json/json.h"
#include "parlance/json.h"

namespace parlance::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 12> kSections = {"context", "settings",    "template", "template json",
                                                        "output",  "output json", "error",    "spans",
                                                        "tree",    "code",        "events",   "findings"};
constexpr std::array<std::string_view, 3> kHeaders = {"about", "oracle", "differs"};
constexpr std::array<std::string_view, 2> kInherited = {"context", "settings"};
constexpr std::array<std::string_view, 4> kExpectations = {"output", "output json", "error", "spans"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The section that a line opens, or "": any other line with dashes is content.
std::string_view section_of(std::string_view line) {
  if (!line.starts_with("--- ") || !is_one_of(kSections, line.substr(4))) return {};
  return line.substr(4);
}

std::string read_whole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

/// Reads the lines of one file into blocks: the preamble first, then a block for each `===`.
class BlockReader {
 public:
  BlockReader(const fs::path& path, std::string name, std::vector<std::string>& faults)
      : path_(path), name_(std::move(name)), faults_(faults) {
    begin_block(name_, 1);
  }

  std::vector<Case> read() {
    const std::vector<std::string> lines = split_lines(read_whole(path_));
    for (std::size_t i = 0; i < lines.size(); ++i) take(lines[i], i + 1);
    return std::move(blocks_);
  }

 private:
  void begin_block(std::string id, std::size_t line) {
    Case block;
    block.path = path_;
    block.id = std::move(id);
    block.line = block.end = line;
    blocks_.push_back(std::move(block));
    body_ = nullptr;
  }

  void take(const std::string& line, std::size_t number) {
    if (line.starts_with("=== ")) {
      begin_block(name_ + ":" + trimmed(line.substr(4)), number);
    } else if (std::string_view section = section_of(line); !section.empty()) {
      open(section, number);
    } else if (body_ != nullptr) {
      if (!first_line_) *body_ += '\n';
      *body_ += line;
      first_line_ = false;
    } else if (!trimmed(line).empty()) {
      take_header(line, number);
    }
    blocks_.back().end = number;
  }

  void open(std::string_view section, std::size_t number) {
    auto [entry, is_new] = blocks_.back().sections.emplace(section, "");
    if (!is_new) fail(number, "a second section " + std::string(section));
    body_ = &entry->second;
    first_line_ = true;
  }

  void take_header(const std::string& line, std::size_t number) {
    const std::size_t blank = std::min(line.find(' '), line.size());
    const std::string key = line.substr(0, blank);
    if (!is_one_of(kHeaders, key)) fail(number, "'" + key + "' is neither a header nor in a section");
    blocks_.back().headers[key] = trimmed(line.substr(blank));
  }

  void fail(std::size_t line, const std::string& what) {
    faults_.push_back(path_.string() + ":" + std::to_string(line) + ": " + what);
  }

  const fs::path& path_;
  std::string name_;
  std::vector<std::string>& faults_;
  std::vector<Case> blocks_;
  std::string* body_ = nullptr;
  bool first_line_ = true;
};

/// Whether a text can stand in a section and be read by eye.
bool is_plain(std::string_view text) {
  if (text.empty() || text.back() == '\n') return false;
  for (const std::string& line : split_lines(text)) {
    if (line.starts_with("=== ") || !section_of(line).empty()) return false;
    if (!line.empty() && (line.back() == ' ' || line.back() == '\t')) return false;
  }
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    const utf8::Decoded c = utf8::decode(at, end);
    if (c.code_point != '\n' && !unicode::is_printable(c.code_point)) return false;
    at += c.size;
  }
  return true;
}

}  // namespace

const std::string* Case::find(std::string_view section) const {
  const auto found = sections.find(section);
  return found == sections.end() ? nullptr : &found->second;
}

std::optional<std::string> Case::text(std::string_view name) const {
  if (const std::string* json = find(std::string(name) + " json")) return text_of_json(*json);
  const std::string* plain = find(name);
  return plain == nullptr ? std::nullopt : std::optional(*plain);
}

std::vector<Case> read_cases(const fs::path& path, const fs::path& root, std::vector<std::string>& faults) {
  std::vector<Case> cases =
      BlockReader(path, path.lexically_relative(root).replace_extension().generic_string(), faults).read();
  if (cases.size() == 1) return cases;
  const Case preamble = std::move(cases.front());
  cases.erase(cases.begin());
  for (const auto& [name, text] : preamble.sections) {
    if (!is_one_of(kInherited, name)) {
      faults.push_back(path.string() + ": before the first === only context and settings may stand");
    }
  }
  std::set<std::string> seen;
  for (Case& c : cases) {
    c.headers.insert(preamble.headers.begin(), preamble.headers.end());
    c.sections.insert(preamble.sections.begin(), preamble.sections.end());
    if (!seen.insert(c.id).second) faults.push_back(path.string() + ": a second case " + c.id);
  }
  return cases;
}

std::vector<Case> find_cases(const fs::path& root, const fs::path& folder, std::vector<std::string>& faults) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".case") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Case> all;
  for (const fs::path& path : paths) {
    std::vector<Case> cases = read_cases(path, root, faults);
    std::move(cases.begin(), cases.end(), std::back_inserter(all));
  }
  return all;
}

std::string write_text_section(std::string_view name, std::string_view text) {
  if (is_plain(text)) return "--- " + std::string(name) + "\n" + std::string(text) + "\n";
  std::string json;
  append_json_string(json, text);
  return "--- " + std::string(name) + " json\n" + json + "\n";
}

void replace_expectation(const Case& c, const std::string& sections) {
  const std::vector<std::string> lines = split_lines(read_whole(c.path));
  std::string out;
  bool dropping = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool inside = i + 1 >= c.line && i + 1 <= c.end;
    if (std::string_view section = section_of(lines[i]); inside && !section.empty()) {
      dropping = is_one_of(kExpectations, section);
    }
    if (!inside || !dropping) out += lines[i] + "\n";
    if (i + 1 == c.end) {
      out += sections;
      dropping = false;
    }
  }
  std::ofstream(c.path, std::ios::binary) << out;
}

std::optional<std::string> text_of_json(std::string_view json) {
  Document document;
  if (!document.parse(json) || !document.root().is_leaf()) return std::nullopt;
  return std::string(leaf_text(document.root()));
}

}  // namespace parlance::testing
