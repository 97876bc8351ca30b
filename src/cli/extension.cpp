// The ids of --extend. Begin reading at read_ids, of lines at LineExtender::answer.
#include "cli/extension.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "cli/input.h"
#include "cli/options/prompt_options.h"
#include "cli/tokens_json.h"
#include "cli/unknown_text.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "parlance/sampled_reply.h"

namespace parlance::cli {
namespace {

constexpr const char* kWhose = "line N of IDS belongs to request N; blank lines among the requests are not counted";

const std::string kNoId = "not a whole number from 0 to " + std::to_string(std::numeric_limits<TokenId>::max());

Error no_ids(const std::string& name, const std::string& where) {
  return Error(ErrorCode::conversation, name + " holds no list of token ids: " + where)
      .hint("for example [1, 2, 3] or 1 2 3, or what parlance tokens --json prints");
}

/// Numbers with blanks or one comma between them: `1 2 3`.
Result<std::vector<TokenId>> read_list(std::string_view text, const std::string& name) {
  std::vector<TokenId> ids;
  const char* comma = nullptr;  // the one behind the last id
  const char* const end = text.data() + text.size();
  const auto at_byte = [&](const char* at) { return "byte " + std::to_string(at - text.data()); };
  for (const char* at = text.data(); at < end;) {
    if (*at == ',') {
      if (ids.empty() || comma != nullptr) return no_ids(name, at_byte(at) + ": no id before the comma");
      comma = at++;
      continue;
    }
    constexpr std::string_view kBlanks = " \t\r\n";
    if (kBlanks.find(*at) != kBlanks.npos) {
      ++at;
      continue;
    }
    TokenId id = 0;
    const auto [stopped, failed] = std::from_chars(at, end, id);
    if (failed != std::errc() || id < 0) return no_ids(name, at_byte(at) + ": " + kNoId);
    ids.push_back(id);
    comma = nullptr;
    at = stopped;
  }
  if (comma != nullptr) return no_ids(name, at_byte(comma) + ": no id behind the comma");
  return ids;
}

/// What stands where an id should: its JSON, or what it is where that may be long.
std::string what_stands(const Value& value) {
  if (value.is_sequence()) return "a list";
  if (value.is(Kind::dict)) return "an object";
  return value.is_string() ? "a string" : json_text(value);
}

/// A list, or the member `ids` of what --json printed, with or without --extend.
Result<std::vector<TokenId>> ids_of(const Value& root, const std::string& name) {
  const Value list = root.is(Kind::dict) ? root["ids"] : root;
  if (!list.is_sequence()) return no_ids(name, "the object has no list \"ids\"");
  std::vector<TokenId> ids;
  for (const Value& id : list.items()) {
    const bool fits = id.is_small_int() && id.integer >= 0 && id.integer <= std::numeric_limits<TokenId>::max();
    if (!fits) {
      return no_ids(name, "ids[" + std::to_string(ids.size()) + "] is " + what_stands(id) + ", and " + kNoId);
    }
    ids.push_back(static_cast<TokenId>(id.integer));
  }
  return ids;
}

bool begins_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && (text[first] == '{' || text[first] == '[');
}

/// The ids of a line. Where it says whose they are (`"id"`), they must be those of `id`, which is JSON.
Result<std::vector<TokenId>> ids_of_line(std::string_view line, const std::string& name, const std::string& id) {
  if (!begins_json(line)) return read_list(line, name);
  Document result;
  if (Result<void> parsed = result.parse(line, name); !parsed) return no_ids(name, parsed.error().message());
  const Value said = result.root()["id"];
  const std::string other = said.is_undefined() ? "" : json_text(said);
  if (!id.empty() && !other.empty() && id != other) {
    return Error(ErrorCode::conversation,
                 name + " is of another request: it has \"id\": " + other + ", the request \"id\": " + id);
  }
  return ids_of(result.root(), name);
}

}  // namespace

Result<std::vector<TokenId>> read_ids(std::string_view text, const std::string& path) {
  const std::string name = "'" + path + "'";
  if (text.find_first_not_of(" \t\r\n,") == text.npos) return no_ids(name, "it is empty");
  if (!begins_json(text)) return read_list(text, name);
  Document result;
  if (Result<void> parsed = result.parse(text, path); !parsed) return parsed.error();
  return ids_of(result.root(), name);
}

std::string extension_members(std::vector<TokenId> ids, const Extension& extension, std::span<const Loss> losses) {
  std::string out = "\"append\": " + ids_as_json(extension.ids);
  ids.insert(ids.end(), extension.ids.begin(), extension.ids.end());
  out += ", \"ids\": " + ids_as_json(ids) + ", \"canonical\": " + (extension.canonical ? "true, " : "false, ");
  append_losses(out, losses);
  return out;
}

Result<Extension> extend_request(std::span<const TokenId> ids, const Template& chat_template,
                                 const Tokenizer& tokenizer, Conversation conversation, const SessionOptions& options,
                                 const RequestReader& reader) {
  const HowToRead start = [&](const Conversation& chat, std::string_view prompt) {
    return reader.reply_to(chat, options.render, prompt);
  };
  return extend_ids(ids, chat_template, tokenizer, std::move(conversation), options, start);
}

// ---- a request a line

Result<IdLines> IdLines::open(const std::string& path) {
  Result<std::string> text = read_input(path, "the ids of --extend");
  if (!text) return text.error();
  IdLines lines;
  lines.path_ = path;
  lines.text_ = std::move(*text);
  for (std::size_t at = 0; at < lines.text_.size();) {
    lines.begins_.push_back(at);
    at = std::min(lines.text_.find('\n', at), lines.text_.size() - 1) + 1;
  }
  return lines;
}

std::string_view IdLines::line(std::uint64_t number) const {
  if (number == 0 || number > begins_.size()) return {};
  const std::size_t begin = begins_[number - 1];
  return std::string_view(text_).substr(begin, text_.find('\n', begin) - begin);
}

Result<void> IdLines::check_end(std::uint64_t requests) const {
  for (std::uint64_t number = requests + 1; number <= size(); ++number) {
    if (line(number).find_first_not_of(" \t\r") == std::string_view::npos) continue;
    return Error(ErrorCode::conversation,
                 name(number) + " belongs to no request: the number of requests is " + std::to_string(requests))
        .hint(kWhose);
  }
  return {};
}

std::string IdLines::name(std::uint64_t number) const {
  return "line " + std::to_string(number) + " of '" + path_ + "'";
}

Result<void> LineExtender::fill(Conversation&& conversation, std::uint64_t number, BulkAnswer& answer) const {
  const std::string_view line = ids.line(number);
  if (line.find_first_not_of(" \t\r") == line.npos) {
    const std::string why = number > ids.size()
                                ? "it has " + std::to_string(ids.size()) + (ids.size() == 1 ? " line" : " lines")
                                : "it is blank";
    return Error(ErrorCode::conversation, ids.name(number) + " has no ids: " + why).hint(kWhose);
  }
  Result<std::vector<TokenId>> known = ids_of_line(line, ids.name(number), answer.id);
  if (!known) return known.error();
  const Result<Template>& chosen = reader.template_for(conversation);
  if (!chosen) return chosen.error();
  const Result<Extension> extension =
      extend_request(*known, *chosen, tokenizer, std::move(conversation), options, reader);
  if (!extension) return extension.error();
  std::vector<Loss> losses;
  if (on_loss != OnLoss::ignore) lose_unknown(extension->unknown, tokenizer, losses);
  answer.lost.add(losses);
  if (on_loss == OnLoss::fail && !losses.empty()) return error_of(losses);
  answer.members = extension_members(std::move(*known), *extension, losses);
  return {};
}

Result<void> LineExtender::answer(const BulkLine& line, BulkAnswer& answer) const {
  ChatRequest request;
  const Result<void> read = reader.read_into(request, line.text);
  answer.id = request.id;
  if (!read) return read;
  return fill(std::move(request.conversation), line.request, answer);
}

}  // namespace parlance::cli
