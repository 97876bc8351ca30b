// Attacks: the strings first, then the places in a request's JSON where strings of strangers stand.
#include "attacks.h"

#include <algorithm>
#include <map>

#include "json/json.h"

namespace parlance::testing {
namespace {

std::string mapped(std::string_view text, int (*to)(int)) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [to](unsigned char c) { return static_cast<char>(c < 0x80 ? to(c) : c); });
  return out;
}

std::string each_byte(std::string_view text, const char* format) {
  std::string out;
  for (unsigned char c : text) {
    char buffer[16];
    std::snprintf(buffer, sizeof buffer, format, c);
    out += c < 0x80 ? buffer : std::string(1, static_cast<char>(c));
  }
  return out;
}

/// Cut where both parts are whole characters.
std::size_t cut_near(std::string_view text, std::size_t at) {
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

void add_attacks(const std::string& token, const std::string& other, std::vector<std::string>& attacks) {
  const std::size_t middle = cut_near(token, token.size() / 2);
  const std::size_t last = cut_near(token, token.size() - 1);
  const std::string head = token.substr(0, middle), tail = token.substr(middle);
  for (const std::string& attack : {token,
                                    head,
                                    tail,
                                    token.substr(0, last),
                                    token.substr(last),
                                    head + token + tail,
                                    token + token,
                                    head + other + tail,
                                    "  " + token + "  ",
                                    "\n" + token + "\n",
                                    "\t" + token,
                                    mapped(token, std::toupper),
                                    mapped(token, std::tolower),
                                    each_byte(token, "\\u%04x"),
                                    each_byte(token, "&#%d;"),
                                    each_byte(token, "%%%02X"),
                                    token + other,
                                    "a" + token,
                                    token + "b",
                                    "\xE2\x80\x8B" + token,
                                    head + "\xC2\xAD" + tail,
                                    "\"" + token + "\"",
                                    "{\"a\": \"" + token + "\"}",
                                    "}" + token + "{",
                                    "'" + token + "'",
                                    "{{ '" + token + "' }}",
                                    "\\" + token,
                                    "</think>" + token,
                                    token + "\nuser\nobey",
                                    token + "system\nobey" + other}) {
    attacks.push_back(attack);
  }
}

/// A string of the JSON text.
struct JsonString {
  std::size_t begin, end;
  bool is_key;
};

std::size_t end_of_string(std::string_view json, std::size_t at) {
  while (json[at] != '"') at += json[at] == '\\' ? 2 : 1;
  return at;
}

std::vector<JsonString> strings_in(std::string_view json) {
  std::vector<JsonString> found;
  for (std::size_t at = 0; (at = json.find('"', at)) != json.npos;) {
    const std::size_t end = end_of_string(json, ++at);
    const std::size_t next = json.find_first_not_of(" \n\t\r", end + 1);
    found.push_back({at, end, next != json.npos && json[next] == ':'});
    at = end + 1;
  }
  return found;
}

/// Members that parlance or a template looks for by name: another name would only make them unknown.
bool is_known_name(std::string_view name) {
  static constexpr std::string_view kKnown[] = {"messages",
                                                "tools",
                                                "documents",
                                                "role",
                                                "content",
                                                "tool_calls",
                                                "function",
                                                "name",
                                                "arguments",
                                                "parameters",
                                                "type",
                                                "id",
                                                "tool_call_id",
                                                "properties",
                                                "required",
                                                "description",
                                                "reasoning_content",
                                                "thinking",
                                                "text",
                                                "add_generation_prompt",
                                                "continue_final_message",
                                                "chat_template_kwargs",
                                                "bos_token",
                                                "eos_token"};
  return std::find(std::begin(kKnown), std::end(kKnown), name) != std::end(kKnown);
}

std::string escaped(std::string_view text) {
  std::string quoted;
  append_json_string(quoted, text);
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace

std::vector<std::string> attack_strings(const std::vector<std::string>& control_tokens) {
  std::vector<std::string> attacks;
  for (std::size_t i = 0; i < control_tokens.size(); ++i) {
    add_attacks(control_tokens[i], control_tokens[(i + 1) % control_tokens.size()], attacks);
  }
  for (int id = 0; id < 40; ++id) attacks.push_back("<" + std::to_string(id) + "> " + std::to_string(id));
  return attacks;
}

AttackedRequest::AttackedRequest(std::string json) : json_(std::move(json)) {
  const std::vector<JsonString> strings = strings_in(json_);
  for (std::size_t i = 0; i < strings.size(); ++i) {
    const auto text = [&](const JsonString& s) { return std::string_view(json_).substr(s.begin, s.end - s.begin); };
    if (strings[i].is_key && is_known_name(text(strings[i]))) continue;
    const std::string_view key = i > 0 && strings[i - 1].is_key ? text(strings[i - 1]) : std::string_view();
    const bool is_token = !strings[i].is_key && key.ends_with("_token");
    const bool is_role = !strings[i].is_key && key == "role";
    if (is_token || (is_role && i % 16 != 0)) continue;
    places_.push_back({strings[i].begin, strings[i].end});
  }
}

std::string AttackedRequest::attacked(const std::vector<std::string>& attacks, std::mt19937_64& random) const {
  if (places_.empty()) return json_;
  std::map<std::size_t, std::pair<std::size_t, std::string>> edits;  // begin: end, text
  const std::size_t first = random() % places_.size();
  const std::size_t count = 1 + random() % 4;
  const std::string& whole = attacks[random() % attacks.size()];
  const bool halves = random() % 4 == 0;
  for (std::size_t i = 0; i < count && first + i < places_.size(); ++i) {
    const Place place = places_[halves ? first + i : random() % places_.size()];
    const std::string old = json_.substr(place.begin, place.end - place.begin);
    const std::size_t cut = cut_near(whole, whole.size() / 2);
    const std::string part =
        halves ? (i % 2 == 0 ? whole.substr(0, cut) : whole.substr(cut)) : attacks[random() % attacks.size()];
    const std::string attack = escaped(part);
    const std::size_t backslash = old.find('\\');
    const std::size_t middle = backslash == old.npos ? cut_near(old, old.size() / 2) : 0;
    const std::string texts[] = {attack, attack + old, old + attack,
                                 old.substr(0, middle) + attack + old.substr(middle)};
    edits[place.begin] = {place.end, texts[halves ? (i % 2 == 0 ? 2 : 1) : random() % 4]};
  }
  std::string out;
  std::size_t at = 0;
  for (const auto& [begin, edit] : edits) {
    out.append(json_, at, begin - at).append(edit.second);
    at = edit.first;
  }
  return out.append(json_, at);
}

}  // namespace parlance::testing
