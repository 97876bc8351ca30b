// The table of settings, and their readers. Begin reading at kNames.
#include "serve/backends/sampling.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/utf8.h"
#include "parlance/json.h"

namespace parlance::serve {

namespace {

enum class Wanted : std::uint8_t { number, whole, flag, biases };

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// A setting, and the members of requests that mean it. Behind a dot: a member of `options`, as Ollama has them.
struct SettingNames {
  std::string_view name;
  Wanted wanted;
  std::array<std::string_view, 4> members;
  double least = -kUnlimited, most = kUnlimited;  ///< of a number, which is never infinite
};

constexpr SettingNames kNames[kSettings] = {
    {"max_tokens", Wanted::whole, {"max_completion_tokens", "max_tokens", "max_output_tokens", ".num_predict"}},
    {"temperature", Wanted::number, {"temperature", ".temperature"}, 0},
    {"top_p", Wanted::number, {"top_p", ".top_p"}, 0, 1},
    {"top_k", Wanted::whole, {"top_k", ".top_k"}},
    {"min_p", Wanted::number, {"min_p", ".min_p"}, 0, 1},
    {"typical_p", Wanted::number, {"typical_p", ".typical_p"}, 0, 1},
    {"presence_penalty", Wanted::number, {"presence_penalty", ".presence_penalty"}},
    {"frequency_penalty", Wanted::number, {"frequency_penalty", ".frequency_penalty"}},
    {"repeat_penalty", Wanted::number, {"repetition_penalty", "repeat_penalty", ".repeat_penalty"}},
    {"seed", Wanted::whole, {"seed", ".seed"}},
    {"logit_bias", Wanted::biases, {"logit_bias"}},
    {"ignore_eos", Wanted::flag, {"ignore_eos"}},
    {"min_tokens", Wanted::whole, {"min_tokens"}},
};

constexpr std::array<std::string_view, 3> kStop = {"stop", "stop_sequences", ".stop"};
constexpr std::size_t kMostStops = 64;
constexpr std::size_t kLongestStop = 4096;

Value member_of(Value request, std::string_view name) {
  if (name.empty()) return {};
  return name[0] == '.' ? request["options"][name.substr(1)] : request[name];
}

std::string path_of(std::string_view name) {
  return name[0] == '.' ? "options" + std::string(name) : std::string(name);
}

/// JSON has neither infinities nor what is no number, but the reader takes 1e999 and NaN, as Python does.
std::optional<double> finite_number(Value value) {
  if (value.is_small_int()) return static_cast<double>(value.integer);
  return value.is(Kind::real) && std::isfinite(value.real) ? std::optional(value.real) : std::nullopt;
}

bool is_within(Value value, double least, double most) {
  const std::optional<double> number = finite_number(value);
  return number && *number >= least && *number <= most;
}

std::optional<TokenId> biased_id(std::string_view text) {
  TokenId id = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), id);
  const bool is_id = failed == std::errc() && end == text.data() + text.size() && id >= 0;
  return is_id ? std::optional(id) : std::nullopt;
}

bool are_biases(Value value) {
  const auto members = value.members();
  return value.is(Kind::dict) && std::all_of(members.begin(), members.end(), [](const DictEntry& one) {
           return biased_id(one.key.text()) && finite_number(one.value);
         });
}

bool fits(Value value, const SettingNames& setting) {
  switch (setting.wanted) {
    case Wanted::number: return is_within(value, setting.least, setting.most);
    case Wanted::whole: return value.is_small_int();
    case Wanted::flag: return value.is(Kind::boolean);
    case Wanted::biases: return are_biases(value);
  }
  return false;
}

/// Ollama takes any number for an integer of its options, without what is behind the point.
Value as_taken(Value given, const SettingNames& setting, std::string_view name) {
  constexpr double kMost = 1e15;
  const bool may_have_point = setting.wanted == Wanted::whole && name.starts_with('.') && given.is(Kind::real);
  if (!may_have_point || !is_within(given, -kMost, kMost)) return given;
  return Value::of_int(static_cast<std::int64_t>(given.real));
}

std::string_view words_for(const SettingNames& setting) {
  constexpr std::string_view kWords[] = {"a number", "an integer", "true or false",
                                         "an object of token ids, each with a number"};
  if (setting.most == 1) return "a number from 0 to 1";
  return setting.least == 0 ? "a number of at least 0" : kWords[static_cast<std::size_t>(setting.wanted)];
}

Error wrong(std::string_view name, std::string_view wanted) {
  return Error(ErrorCode::conversation, path_of(name) + " must be " + std::string(wanted)).input(path_of(name));
}

/// Which of the biases is none.
std::string fault_of(Value biases) {
  constexpr std::size_t kMost = 64;  // bytes: it is the client's text
  for (const DictEntry& one : biases.members()) {
    const std::string key(utf8::whole_prefix(one.key.text(), kMost));
    if (!biased_id(one.key.text())) return ": '" + key + "' is no id";
    if (!finite_number(one.value)) return ": that of " + key + " is no number";
  }
  return {};
}

Result<void> read_stop_ids(Value list, std::vector<TokenId>& into) {
  constexpr std::string_view kName = "stop_token_ids";
  constexpr std::size_t kMost = 1024;
  if (list.is_undefined() || list.is_none()) return {};
  if (!list.is_sequence() || list.items().size() > kMost) return wrong(kName, "a list of at most 1024 token ids");
  for (const Value& id : list.items()) {
    if (!id.is_small_int() || id.integer < 0 || id.integer > INT32_MAX)
      return wrong(kName, "a list of token ids, which are integers from 0 on");
    into.push_back(static_cast<TokenId>(id.integer));
  }
  return {};
}

Result<void> read_stops(Value request, std::vector<std::string>& into) {
  std::string_view last = kStop[0];
  for (const std::string_view name : kStop) {
    const Value given = member_of(request, name);
    if (given.is_undefined() || given.is_none()) continue;
    last = name;
    if (given.is_string()) into.emplace_back(given.text());
    if (!given.is_string() && !given.is_sequence()) return wrong(name, "a string or a list of strings");
    for (const Value& one : given.items()) {
      if (!one.is_string()) return wrong(name, "a string or a list of strings");
      into.emplace_back(one.text());
    }
  }
  std::erase(into, std::string());
  const bool large = std::any_of(into.begin(), into.end(), [](const auto& stop) { return stop.size() > kLongestStop; });
  if (large || into.size() > kMostStops) {
    return wrong(last,
                 "at most " + std::to_string(kMostStops) + " texts of " + std::to_string(kLongestStop) + " bytes");
  }
  return {};
}

}  // namespace

std::string_view name_of(Setting setting) { return kNames[static_cast<std::size_t>(setting)].name; }

const std::string* SamplingSettings::find(Setting setting) const {
  for (const auto& [which, json] : values) {
    if (which == setting) return &json;
  }
  return nullptr;
}

std::optional<std::int64_t> SamplingSettings::integer(Setting setting) const {
  const std::string* json = find(setting);
  if (json == nullptr) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(json->data(), json->data() + json->size(), number);
  return failed == std::errc() && end == json->data() + json->size() ? std::optional(number) : std::nullopt;
}

void SamplingSettings::take_tokens(std::int64_t count) {
  for (auto& [setting, json] : values) {
    if (setting == Setting::max_tokens || setting == Setting::min_tokens)
      json = std::to_string(std::max<std::int64_t>(0, *integer(setting) - count));
  }
}

void SamplingSettings::limit_tokens(std::int64_t most) {
  for (auto& [setting, json] : values) {
    if (setting == Setting::max_tokens || setting == Setting::min_tokens)
      json = std::to_string(std::min(*integer(setting), most));
  }
}

void SamplingSettings::write(JsonWriter& into, std::span<const std::string_view> names,
                             std::int64_t seed_offset) const {
  for (const auto& [setting, json] : values) {
    const std::string_view name = names[static_cast<std::size_t>(setting)];
    if (name.empty()) continue;
    const std::optional<std::int64_t> seed = setting == Setting::seed ? integer(setting) : std::nullopt;
    into.raw(name, seed ? std::to_string(*seed + seed_offset) : json);
  }
}

std::string member_of(Value request, Setting setting) {
  for (const std::string_view name : kNames[static_cast<std::size_t>(setting)].members) {
    const Value given = member_of(request, name);
    if (!given.is_undefined() && !given.is_none()) return path_of(name);
  }
  return {};
}

Result<SamplingSettings> read_sampling(Value request, std::int64_t least_tokens) {
  SamplingSettings made;
  for (std::size_t number = 0; number < kSettings; ++number) {
    for (const std::string_view name : kNames[number].members) {
      const Value given = as_taken(member_of(request, name), kNames[number], name);
      if (given.is_undefined() || given.is_none()) continue;
      const Value biases = kNames[number].wanted == Wanted::biases ? given : Value();
      if (!fits(given, kNames[number])) return wrong(name, std::string(words_for(kNames[number])) + fault_of(biases));
      for (const DictEntry& bias : biases.members())
        made.highest_biased = std::max(made.highest_biased, biased_id(bias.key.text()).value_or(-1));
      const bool is_limit = static_cast<Setting>(number) == Setting::max_tokens;
      if (is_limit && given.integer < least_tokens && name != ".num_predict")
        return wrong(name, "at least " + std::to_string(least_tokens));
      if (is_limit && given.integer <= 0 && name == ".num_predict") break;  // Ollama: no limit
      made.values.emplace_back(static_cast<Setting>(number), json_text(given));
      break;
    }
  }
  if (Result<void> read = read_stops(request, made.stop); !read) return read.error();
  if (Result<void> read = read_stop_ids(request["stop_token_ids"], made.stop_ids); !read) return read.error();
  return made;
}

}  // namespace parlance::serve
