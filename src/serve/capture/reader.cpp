// Reads captures. Begin reading at read_capture.
#include "serve/capture/reader.h"

#include <algorithm>
#include <filesystem>

#include "base/one_line.h"
#include "base/sha256.h"
#include "parlance/source.h"
#include "serve/capture/record.h"

namespace parlance::serve {

namespace {

constexpr std::string_view kSeal = ", \"check\": \"";
constexpr std::size_t kDigits = 32;
constexpr std::size_t kSealSize = kSeal.size() + kDigits + 2;  // "}

}  // namespace

std::string sealed(std::string record) {
  record = one_line(record);
  record.pop_back();
  const std::string hash = sha256(record).substr(0, kDigits);
  return record.append(kSeal).append(hash).append("\"}");
}

bool is_intact(std::string_view line) {
  if (line.size() <= kSealSize || !line.ends_with("\"}")) return false;
  const std::string_view said = line.substr(0, line.size() - kSealSize);
  const std::string_view seal = line.substr(said.size());
  return seal.starts_with(kSeal) && seal.substr(kSeal.size(), kDigits) == sha256(said).substr(0, kDigits);
}

Result<CaptureText> read_capture(const std::string& path, std::size_t from) {
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  CaptureText made;
  std::size_t line = static_cast<std::size_t>(
      std::count(text->begin(), text->begin() + static_cast<std::ptrdiff_t>(std::min(from, text->size())), '\n'));
  for (std::size_t at = std::min(from, text->size()); at < text->size();) {
    const std::size_t end = text->find('\n', at);
    if (end == text->npos) {
      made.torn = true;
      break;
    }
    const std::string_view one = std::string_view(*text).substr(at, end - at);
    CaptureRecord record{.line = ++line, .offset = at};
    record.intact = is_intact(one) && record.document.parse(one);
    if (record.root()["format"].is_small_int() && record.root()["format"].integer > kCaptureFormat) {
      return Error(ErrorCode::value, "'" + path + "' was written by a later version of parlance, " +
                                         std::string(record.root()["parlance"].text()));
    }
    made.records.push_back(std::move(record));
    at = end + 1;
    made.size = at;
  }
  return made;
}

Result<std::vector<std::string>> capture_files(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (!fs::is_directory(path, failed)) return std::vector{path};
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, failed)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path().string());
  }
  if (failed) return file_error(path, failed.value());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<TokenId> listed_ids(Value list) {
  std::vector<TokenId> ids;
  for (const Value& id : list.items()) ids.push_back(static_cast<TokenId>(number_in(id)));
  return ids;
}

std::vector<std::string> call_ids_of(Value record) {
  std::vector<std::string> ids;
  for (const Value& id : record["call_ids"].items()) ids.emplace_back(id.text());
  return ids;
}

std::string kept_name(Value record) {
  std::string name(record["name"].text());
  if (!name.empty()) return name;  // older records have none
  name.append(record["session"].text()).append("\n").append(record["id"].text());
  return name.append("\n").append(record["key"].text());
}

}  // namespace parlance::serve
