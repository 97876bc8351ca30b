// What a data set may be that is no JSON lines. Begin reading at expect_json_lines.
#include <algorithm>
#include <vector>

#include "base/ascii.h"
#include "base/visible.h"
#include "cli/lines/line_input.h"
#include "parlance/json.h"

namespace parlance::cli {
namespace {

/// A kind of files by what they begin with. FILE in the hint is its name.
struct FileKind {
  std::string_view begin, what, hint;
};
using namespace std::string_view_literals;

constexpr std::string_view kArrow =
    "python -c \"import datasets; datasets.Dataset.from_file('FILE').to_json('FILE.jsonl')\"";
constexpr std::string_view kUtf8 = "iconv -f UTF-16 -t UTF-8 FILE | parlance … --jsonl";
constexpr FileKind kKinds[] = {
    {"PAR1"sv, "Parquet",
     "python -c \"import json, pyarrow.parquet as p; [print(json.dumps(row, default=str)) for row in "
     "p.read_table('FILE').to_pylist()]\" > FILE.jsonl"},
    {"ARROW1"sv, "Arrow",
     "python -c \"import json, pyarrow.feather as p; [print(json.dumps(row, default=str)) for row in "
     "p.read_table('FILE').to_pylist()]\" > FILE.jsonl"},
    {"\xFF\xFF\xFF\xFF"sv, "a stream of Arrow's", kArrow},
    {"\xFD"
     "7zXZ\0"sv,
     "packed by xz", "xzcat FILE | parlance … --jsonl"},
    {"BZh"sv, "packed by bzip2", "bzcat FILE | parlance … --jsonl"},
    {"\x04\x22\x4D\x18"sv, "packed by lz4", "lz4cat FILE | parlance … --jsonl"},
    {"PK\x03\x04"sv, "a zip archive", "unzip -p FILE | parlance … --jsonl"},
    {"7z\xBC\xAF\x27\x1C"sv, "a 7z archive", "7z x -so FILE | parlance … --jsonl"},
    {"Obj\x01"sv, "Avro", "fastavro FILE > FILE.jsonl"},
    {"SQLite format 3"sv, "a database of SQLite", "sqlite3 -json FILE 'select * from TABLE' | jq -c '.[]'"},
    {"\xFF\xFE"sv, "UTF-16", kUtf8},
    {"\xFE\xFF"sv, "UTF-16", kUtf8},
    {"version https://git-lfs"sv, "a pointer of Git LFS, in place of the data", "git lfs pull fetches the data"},
    {"GGUF"sv, "a model", "-m takes a model; --jsonl is followed by the requests"},
};

/// `what` the file is.
Error no_lines(const std::string& path, std::string_view what, std::string_view hint) {
  constexpr std::string_view kFile = "FILE";
  const std::string name = is_stdin(path) ? std::string(kFile) : path;
  std::string said(hint);
  for (std::size_t at = said.find(kFile); at != said.npos; at = said.find(kFile, at + name.size()))
    said.replace(at, kFile.size(), name);
  return Error(ErrorCode::json, input_name(path) + ": " + std::string(what) + ", not lines of JSON")
      .hint(std::move(said));
}

/// Lines that are not blank, trimmed. The last may be cut.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t newline = 0; !text.empty(); text.remove_prefix(std::min(newline + 1, text.size()))) {
    newline = std::min(text.find('\n'), text.size());
    if (const std::string_view line = ascii::trimmed(text.substr(0, newline)); !line.empty()) lines.push_back(line);
  }
  return lines;
}

bool is_whole_json(std::string_view line) { return static_cast<bool>(Document().parse(line)); }

/// An object behind the first line that is whole: a row. The last one of a list over several lines may look like it,
/// but is followed by the list's end.
bool has_row(const std::vector<std::string_view>& lines, bool is_all) {
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const bool is_last = i + 1 == lines.size();
    const bool ends_list = is_last ? !is_all : lines[i + 1].starts_with(']');
    if (lines[i].starts_with('{') && lines[i].ends_with('}') && !ends_list && is_whole_json(lines[i])) return true;
  }
  return false;
}

/// A list of rows, over several lines or on one. Lines that are lists themselves are rows, if wrong ones.
bool is_list_of_rows(const std::vector<std::string_view>& lines, bool is_all) {
  if (!lines.front().starts_with('[')) return false;
  Document document;
  if (!document.parse(lines.front()))
    return lines.size() > 1 ? !lines[1].starts_with('[') && !has_row(lines, is_all) : !is_all || lines.front() == "[";
  const std::span<const Value> rows = document.root().items();
  const bool are_messages = !rows.empty() && !rows.front()["role"].is_undefined();
  return lines.size() == 1 && is_all && !are_messages &&
         std::ranges::all_of(rows, [](const Value& row) { return row.is(Kind::dict); });
}

/// `{` alone on its line, with a member below.
bool is_indented(const std::vector<std::string_view>& lines) {
  return lines.front() == "{" && lines.size() > 1 && lines[1].starts_with('"');
}

/// What each line would fail as: no line is an object or a list.
bool is_text(const std::vector<std::string_view>& lines) {
  return std::ranges::none_of(lines, [](std::string_view line) { return line[0] == '{' || line[0] == '['; }) &&
         !is_whole_json(lines.front());
}

Error no_lines_of_text(const std::string& path, std::string_view first) {
  constexpr std::size_t kShown = 40;
  if (first.starts_with("data:") || first.starts_with("event:"))
    return no_lines(path, "events of a server (data: …)", "sed -n 's/^data: *//p' FILE | parlance … --jsonl");
  if (first.starts_with('<'))
    return no_lines(path, "HTML or XML", "was it downloaded whole, and from the right address?");
  const bool is_table = first.find(',') != first.npos || first.find('\t') != first.npos;
  const std::string_view cut = first.substr(0, std::min(first.size(), kShown));
  std::string begin;
  append_visible(begin, cut, "");
  const std::string shown = " that begins with '" + begin + (cut.size() < first.size() ? "…'" : "'");
  if (!is_table) return no_lines(path, "a text" + shown, "--jsonl reads an object of JSON on each line");
  const std::string reading = first.find('\t') != first.npos ? ", sep='\\t'" : "";
  return no_lines(path, "a table" + shown,
                  "python -c \"import pandas; pandas.read_csv('FILE'" + reading +
                      ", dtype=str, keep_default_na=False).to_json('FILE.jsonl', orient='records', lines=True)\"");
}

}  // namespace

Result<void> expect_json_lines(std::string_view begin, bool is_all, const std::string& path) {
  for (const FileKind& kind : kKinds)
    if (begin.starts_with(kind.begin)) return no_lines(path, kind.what, kind.hint);
  if (begin.substr(0, 512).find('\0') != begin.npos)
    return no_lines(path, "no text", "which kind of file is it? file FILE says so");
  const std::vector<std::string_view> lines = lines_of(begin);
  if (lines.empty()) return {};
  if (is_list_of_rows(lines, is_all)) return no_lines(path, "one list", "jq -c '.[]' FILE | parlance … --jsonl");
  if (is_indented(lines)) return no_lines(path, "an object over several lines", "jq -c . FILE | parlance … --jsonl");
  return is_text(lines) ? Result<void>(no_lines_of_text(path, lines.front())) : Result<void>();
}

}  // namespace parlance::cli
