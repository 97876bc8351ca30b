// The table of members, and its reader. Begin reading at kMembers.
#include "serve/fronts/shapes/member_values.h"

#include <algorithm>
#include <span>
#include <string>

#include "serve/fronts/request_parts.h"

namespace parlance::serve {

namespace {

enum class Allowed : std::uint8_t { flag, object, text, word, words, flag_or_word, duration };

struct KnownMember {
  ReplyApi api;
  std::string_view name;
  Allowed allowed;
  std::span<const std::string_view> words{};
};

constexpr std::string_view kTruncations[] = {"auto", "disabled"};
constexpr std::string_view kEfforts[] = {"high", "medium", "low", "max"};
constexpr std::string_view kIncluded[] = {"code_interpreter_call.outputs",  "computer_call_output.output.image_url",
                                          "file_search_call.results",       "message.input_image.image_url",
                                          "message.output_text.logprobs",   "reasoning.encrypted_content",
                                          "web_search_call.action.sources", "web_search_call.results"};
/// Other members are checked where they are read: settings in sampling.cpp, the conversation by its reader.
constexpr KnownMember kMembers[] = {{ReplyApi::openai, "store", Allowed::flag},
                                    {ReplyApi::responses, "store", Allowed::flag},
                                    {ReplyApi::responses, "background", Allowed::flag},
                                    {ReplyApi::responses, "truncation", Allowed::word, kTruncations},
                                    {ReplyApi::responses, "include", Allowed::words, kIncluded},
                                    {ReplyApi::openai, "cache_salt", Allowed::text},
                                    {ReplyApi::anthropic, "cache_salt", Allowed::text},
                                    {ReplyApi::responses, "cache_salt", Allowed::text},
                                    {ReplyApi::ollama, "think", Allowed::flag_or_word, kEfforts},
                                    {ReplyApi::ollama, "options", Allowed::object},
                                    {ReplyApi::ollama, "raw", Allowed::flag},
                                    {ReplyApi::ollama, "truncate", Allowed::flag},
                                    {ReplyApi::ollama, "shift", Allowed::flag},
                                    {ReplyApi::ollama, "logprobs", Allowed::flag},
                                    {ReplyApi::ollama, "keep_alive", Allowed::duration}};

/// "'a', 'b' or 'c'".
std::string listed_words(std::span<const std::string_view> words) {
  std::string all;
  for (std::size_t number = 0; number < words.size(); ++number) {
    if (number > 0) all += number + 1 == words.size() ? " or " : ", ";
    all.append("'").append(words[number]).append("'");
  }
  return all;
}

std::string words_for_member(const KnownMember& member) {
  switch (member.allowed) {
    case Allowed::flag: return "true or false";
    case Allowed::object: return "an object";
    case Allowed::text: return "a string that is not empty";
    case Allowed::word: return listed_words(member.words);
    case Allowed::words: return "a list";
    case Allowed::flag_or_word: return "true, false, " + listed_words(member.words);
    case Allowed::duration: return "a number of seconds, or numbers with units, as '1h30m'";
  }
  return {};
}

bool is_word_of(Value value, const KnownMember& member) {
  return value.is_string() && std::ranges::find(member.words, value.text()) != member.words.end();
}

/// As Go reads them: a sign, then numbers with their units; 0 needs none.
bool is_duration(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return true;
  constexpr std::string_view kUnits[] = {"ns", "us", "\u00B5s", "\u03BCs", "ms", "s", "m", "h"};
  bool is_any = false;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find_first_not_of("0123456789."), text.size());
    const std::string_view number = text.substr(0, size);
    if (number.find_first_of("0123456789") == number.npos || std::ranges::count(number, '.') > 1) return false;
    text.remove_prefix(size);
    const auto unit = std::ranges::find_if(kUnits, [text](std::string_view one) { return text.starts_with(one); });
    if (unit == std::end(kUnits)) return false;
    text.remove_prefix(unit->size());
    is_any = true;
  }
  return is_any;
}

bool fits_member(Value value, const KnownMember& member) {
  switch (member.allowed) {
    case Allowed::flag: return value.is(Kind::boolean);
    case Allowed::object: return value.is(Kind::dict);
    case Allowed::text: return value.is_string() && !value.text().empty();
    case Allowed::word: return is_word_of(value, member);
    case Allowed::words: return value.is_sequence();
    case Allowed::flag_or_word: return value.is(Kind::boolean) || is_word_of(value, member);
    case Allowed::duration: return value.is_small_int() || value.is(Kind::real) || is_duration(value.text());
  }
  return false;
}

Error wrong_value(const std::string& path, const std::string& wanted) {
  return Error(ErrorCode::conversation, path + " must be " + wanted).input(path);
}

Result<void> check_value(Value value, const KnownMember& member) {
  const std::string name(member.name);
  if (!is_given(value)) return {};
  if (!fits_member(value, member)) return wrong_value(name, words_for_member(member));
  if (member.allowed != Allowed::words) return {};
  std::size_t number = 0;
  for (const Value& word : value.items()) {
    const std::string path = name + "[" + std::to_string(number++) + "]";
    if (!is_word_of(word, member)) return wrong_value(path, listed_words(member.words));
  }
  return {};
}

}  // namespace

Result<void> check_member_values(Value body, ReplyApi api) {
  for (const KnownMember& member : kMembers) {
    if (member.api != api) continue;
    if (Result<void> checked = check_value(body[member.name], member); !checked) return checked;
  }
  const bool waits = api == ReplyApi::responses && body["background"].is(Kind::boolean) && body["background"].integer;
  if (waits && body["store"].is(Kind::boolean) && body["store"].integer == 0)
    return Error(ErrorCode::conversation, "background: an answer that comes later is stored, and store is false")
        .input("background");
  return {};
}

}  // namespace parlance::serve
