// Which passes run, and what they are told: by values, or by the words of a command line, which are read once, here.
// Begin reading at Passes::run.
//
// Words are read and written by the same grammar: what words() gives, run() takes. A value of a variable is JSON, so a
// comma or a semicolon inside of its strings and brackets separates nothing.
#include "parlance/passes.h"

#include <algorithm>
#include <iterator>

#include "base/nearest.h"
#include "parlance/json.h"

namespace parlance {
namespace {

enum When : std::uint8_t { always = 1, asked = 0, transformers_always = 3, transformers_asked = 2 };

constexpr NormalisePass kPassFacts[] = {
#define PARLANCE_PASS(pass, name, takes, when, sentence) \
  {Pass::pass, name, sentence, (when & 1) != 0, PassTakes::takes, (when & 2) != 0},
#include "parlance/passes.def"
#undef PARLANCE_PASS
};
static_assert(std::size(kPassFacts) <= 64, "a bit for each pass");

constexpr std::string_view kTakes[] = {"", "ROLES", "NAME", "TYPE", "NAMES", "SETTINGS"};
constexpr std::string_view kNoEfforts = "-";

const NormalisePass& row_of(Pass pass) { return kPassFacts[static_cast<std::size_t>(pass)]; }

Error usage(std::string message, std::string hint = {}) {
  return Error(ErrorCode::usage, std::move(message)).hint(std::move(hint));
}

Error unknown(std::string_view name) {
  NearestName nearest(name);
  for (const NormalisePass& row : kPassFacts) nearest.offer(row.name);
  return usage("there is no pass '" + std::string(name) + "'",
               nearest.best().empty() ? "normalise_passes() has them" : nearest.hint());
}

// ---- settings as words

/// Takes what stands before `end` off `rest`, and the `end`.
std::string_view take_until(std::string_view& rest, char end) {
  const std::size_t size = std::min(rest.find(end), rest.size());
  const std::string_view taken = rest.substr(0, size);
  rest.remove_prefix(std::min(size + 1, rest.size()));
  return taken;
}

/// How long the JSON is that `text` begins with: up to a comma or a semicolon that is outside of strings and brackets.
std::size_t size_of_json(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (depth == 0 && (c == ',' || c == ';')) {
      return i;
    }
  }
  return text.size();
}

std::vector<std::string> roles_in(std::string_view words) {
  std::vector<std::string> roles;
  while (!words.empty()) roles.emplace_back(take_until(words, ','));
  return roles;
}

/// "user.image_url=image,tool.file"
std::optional<std::vector<MediaShape>> media_in(std::string_view words) {
  std::vector<MediaShape> media;
  while (!words.empty()) {
    std::string_view shown_as = take_until(words, ',');
    std::string_view type = take_until(shown_as, '=');
    const std::string_view role = take_until(type, '.');
    if (role.empty() || type.empty()) return std::nullopt;
    media.push_back({std::string(role), std::string(type), std::string(shown_as)});
  }
  return media;
}

/// "none=thinking:false;low=thinking:true,level:\"low\""
std::optional<std::vector<EffortSetting>> efforts_in(std::string_view words) {
  std::vector<EffortSetting> efforts;
  if (words == kNoEfforts) return efforts;
  while (!words.empty()) {
    if (words.find('=') == words.npos) return std::nullopt;
    EffortSetting& setting = efforts.emplace_back();
    setting.effort = take_until(words, '=');
    for (bool more = !words.empty() && words.front() != ';'; more;) {
      const std::size_t colon = words.find(':');
      if (colon == words.npos || colon == 0) return std::nullopt;
      const std::string_view name = take_until(words, ':');
      const std::size_t size = size_of_json(words);
      setting.variables.push_back({std::string(name), std::string(words.substr(0, size))});
      words.remove_prefix(size);
      more = words.starts_with(',');
      if (more) words.remove_prefix(1);
    }
    if (words.starts_with(';')) words.remove_prefix(1);
  }
  return efforts;
}

std::optional<PassSetting> setting_in(PassTakes takes, std::string_view words) {
  PassSetting setting;
  if (takes == PassTakes::roles) setting.roles = roles_in(words);
  if (takes == PassTakes::name || takes == PassTakes::type) setting.name = words;
  if (takes == PassTakes::media) {
    auto media = media_in(words);
    if (!media) return std::nullopt;
    setting.media = std::move(*media);
  }
  if (takes == PassTakes::efforts) {
    auto efforts = efforts_in(words);
    if (!efforts) return std::nullopt;
    setting.efforts = std::move(*efforts);
  }
  return setting;
}

std::string words_of(const std::vector<EffortSetting>& efforts) {
  std::string out;
  for (const EffortSetting& setting : efforts) {
    out.append(out.empty() ? "" : ";").append(setting.effort);
    char sign = '=';
    if (setting.variables.empty()) out += sign;
    for (const EffortVariable& variable : setting.variables) {
      out.append(1, std::exchange(sign, ',')).append(variable.name).append(":").append(variable.value);
    }
  }
  return out.empty() ? std::string(kNoEfforts) : out;
}

std::string words_of(PassTakes takes, const PassSetting& setting) {
  if (takes == PassTakes::efforts) return words_of(setting.efforts);
  std::string out = setting.name;
  for (const std::string& role : setting.roles) out.append(out.empty() ? "" : ",").append(role);
  for (const MediaShape& shape : setting.media) {
    out.append(out.empty() ? "" : ",").append(shape.role).append(".").append(shape.type);
    if (!shape.shown_as.empty()) out.append("=").append(shape.shown_as);
  }
  return out;
}

// ---- settings as values

bool is_json(std::string_view text) {
  Document document;
  return document.parse(text, "value").has_value();
}

/// Has the setting what the pass takes, and nothing else?
Result<void> check_setting(const NormalisePass& pass, const PassSetting& setting) {
  const bool has_name = pass.takes == PassTakes::name || pass.takes == PassTakes::type;
  const bool extra = (!setting.roles.empty() && pass.takes != PassTakes::roles) ||
                     (!setting.name.empty() && !has_name) ||
                     (!setting.media.empty() && pass.takes != PassTakes::media) ||
                     (!setting.efforts.empty() && pass.takes != PassTakes::efforts);
  const std::string name(pass.name);
  if (extra) return usage("the pass '" + name + "' does not take this setting");
  if ((has_name && setting.name.empty()) || (pass.takes == PassTakes::media && setting.media.empty()))
    return usage("'" + name + "' needs more: " + name + ":" + std::string(name_of(pass.takes)));
  for (const EffortSetting& one : setting.efforts) {
    for (const EffortVariable& variable : one.variables) {
      if (!is_json(variable.value))
        return usage("the pass '" + name + "': the value of " + variable.name + " is not JSON: " + variable.value);
    }
  }
  return {};
}

/// Asked for twice, a pass is for the roles of both; without roles it is for all.
void add_roles(PassSetting& setting, const PassSetting& before) {
  if (setting.roles.empty() || before.roles.empty()) return setting.roles.clear();
  std::vector<std::string> both = before.roles;
  for (std::string& role : setting.roles) {
    if (std::find(both.begin(), both.end(), role) == both.end()) both.push_back(std::move(role));
  }
  setting.roles = std::move(both);
}

}  // namespace

std::string_view name_of(PassTakes takes) { return kTakes[static_cast<std::size_t>(takes)]; }
std::span<const NormalisePass> normalise_passes() { return kPassFacts; }
std::string_view name_of(Pass pass) { return row_of(pass).name; }

std::optional<Pass> find_pass(std::string_view name) {
  const auto* found = std::find_if(std::begin(kPassFacts), std::end(kPassFacts),
                                   [&](const NormalisePass& row) { return row.name == name; });
  return found == std::end(kPassFacts) ? std::nullopt : std::optional(found->pass);
}

Result<Passes> Passes::of(std::initializer_list<std::string_view> run, std::initializer_list<std::string_view> skip) {
  Passes passes;
  for (const std::string_view words : run) {
    if (Result<void> asked = passes.run(words); !asked) return asked.error();
  }
  for (const std::string_view name : skip) {
    if (Result<void> skipped = passes.skip(name); !skipped) return skipped.error();
  }
  return passes;
}

Result<void> Passes::run(Pass pass, PassSetting wanted) {
  const NormalisePass& row = row_of(pass);
  if (Result<void> fits = check_setting(row, wanted); !fits) return fits;
  if (row.takes == PassTakes::roles && asks_for(pass)) add_roles(wanted, setting(pass));
  asked_ |= bit(pass);
  if (wanted == setting(pass)) return {};
  auto changed = settings_ ? std::make_shared<Settings>(*settings_) : std::make_shared<Settings>(std::size(kPassFacts));
  (*changed)[static_cast<std::size_t>(pass)] = std::move(wanted);
  settings_ = std::move(changed);
  return {};
}

Result<void> Passes::run(std::string_view words) {
  std::string_view rest = words;
  const std::string_view name = take_until(rest, ':');
  const std::optional<Pass> pass = find_pass(name);
  if (!pass) return unknown(name);
  const PassTakes takes = row_of(*pass).takes;
  if (!rest.empty() && takes == PassTakes::nothing)
    return usage("'" + std::string(words) + "': nothing may follow the name of the pass");
  std::optional<PassSetting> setting = setting_in(takes, rest);
  const bool lacks = rest.empty() && takes == PassTakes::efforts;
  if (lacks) return usage("'" + std::string(words) + "' needs more: " + std::string(name) + ":SETTINGS");
  if (!setting) {
    return usage("'" + std::string(words) + "': not understood",
                 takes == PassTakes::media ? "NAMES are written user.image_url=image,tool.file=file"
                                           : "SETTINGS are written none=thinking:false;low=thinking:true");
  }
  return run(*pass, std::move(*setting));
}

Result<void> Passes::skip(std::string_view name) {
  const std::optional<Pass> pass = find_pass(name.substr(0, name.find(':')));
  if (!pass) return unknown(name.substr(0, name.find(':')));
  if (name.find(':') != name.npos)
    return usage("'" + std::string(name) + "': nothing may follow the name of a pass that is skipped");
  skip(*pass);
  return {};
}

const PassSetting& Passes::setting(Pass pass) const& {
  static const PassSetting kNone;
  return settings_ ? (*settings_)[static_cast<std::size_t>(pass)] : kNone;
}

std::vector<std::string> Passes::words() const {
  std::vector<std::string> all;
  for (const NormalisePass& row : kPassFacts) {
    if (!asks_for(row.pass)) continue;
    const std::string more = words_of(row.takes, setting(row.pass));
    all.push_back(more.empty() ? std::string(row.name) : std::string(row.name) + ":" + more);
  }
  return all;
}

bool Passes::operator==(const Passes& other) const {
  if (asked_ != other.asked_ || skipped_ != other.skipped_) return false;
  if (settings_ == other.settings_) return true;
  return std::all_of(std::begin(kPassFacts), std::end(kPassFacts),
                     [&](const NormalisePass& row) { return setting(row.pass) == other.setting(row.pass); });
}

}  // namespace parlance
