// Passes: the named steps that adapt a request to a template, and which of them run.
//
//     parlance::ReadOptions reading;
//     reading.passes.skip(parlance::Pass::parse_arguments);
//     if (auto asked = reading.passes.run(parlance::Pass::content_parts, {.roles = {"user", "tool"}}); !asked) …
//     if (auto asked = reading.passes.run("content-parts:user,tool"); !asked) …    // the same, as on a command line
//     auto chat = parlance::Conversation::from_json(request, reading);
//
// docs/passes.md explains them. adapt() (derive.h) chooses those that a template needs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/result.h"

namespace parlance {

/// The passes, in the order they run: the rows of passes.def.
enum class Pass : std::uint8_t {
#define PARLANCE_PASS(pass, name, takes, when, sentence) pass,
#include "parlance/passes.def"
#undef PARLANCE_PASS
};

/// What may, or must, follow the name of a pass.
enum class PassTakes : std::uint8_t {
  nothing,
  roles,    ///< may: of which messages; else of all
  name,     ///< must: a name of a member
  type,     ///< must: a type of a content part
  media,    ///< must: types of parts by role, and for the pass part_types their new names
  efforts,  ///< must: the variables that each reasoning effort sets; or that it sets none
};
/// How it is written: "", "ROLES", "NAME", "TYPE", "NAMES", "SETTINGS".
std::string_view name_of(PassTakes takes);

/// What `parlance list passes` shows of a pass.
struct NormalisePass {
  Pass pass{};
  std::string_view name;      ///< "parse-arguments"
  std::string_view sentence;  ///< what it does and why
  bool by_default = true;     ///< false: run only when asked for, or where adapt() finds it needed
  PassTakes takes = PassTakes::nothing;
  bool of_transformers = false;  ///< apply_chat_template does it too: ReadOptions::as_transformers runs only these
};
/// All passes, in the order they run; that of a pass is at its number.
std::span<const NormalisePass> normalise_passes();
std::string_view name_of(Pass pass);
std::optional<Pass> find_pass(std::string_view name);

/// How much a request may ask the model to reason, from "none" to "max".
std::span<const std::string_view> reasoning_efforts();

/// The name under which a template shows a content part that is not text.
struct MediaShape {
  std::string role;
  std::string type;        ///< as requests have it: "image_url"; "images" for Ollama's member of a message
  std::string shown_as{};  ///< as the template knows it: "image"; "" where it shows under no name
  bool operator==(const MediaShape&) const = default;
};

/// A template variable that controls how much the model reasons, and its value.
struct EffortVariable {
  std::string name;
  std::string value;  ///< as JSON
  bool operator==(const EffortVariable&) const = default;
};

/// The variables to set when a request asks for this reasoning effort.
struct EffortSetting {
  std::string effort;                     ///< "none", "minimal", "low", "medium", "high", "xhigh" or "max"
  std::vector<EffortVariable> variables;  ///< empty: the template has no setting close to this effort
  bool operator==(const EffortSetting&) const = default;
};

/// What a pass is told, besides that it is to run. NormalisePass::takes says which member counts; the others are empty.
struct PassSetting {
  std::vector<std::string> roles{};      ///< empty: all
  std::string name{};                    ///< PassTakes::name and type
  std::vector<MediaShape> media{};       ///< no_place does not look at shown_as
  std::vector<EffortSetting> efforts{};  ///< empty: no effort has any effect, and notes say so
  bool operator==(const PassSetting&) const = default;
};

/// Which passes run besides those that always do, with what, and which do not run. A value, cheap to copy:
/// conversations that are read with it share what it holds.
class Passes {
 public:
  /// By words, as run() and skip() take them.
  static Result<Passes> of(std::initializer_list<std::string_view> run,
                           std::initializer_list<std::string_view> skip = {});

  /// Asks for a pass. Asked for twice, one that takes roles is for the roles of both; another goes by the later
  /// setting. Fails with usage if the pass does not take the setting, needs one, or a variable's value is no JSON.
  Result<void> run(Pass pass, PassSetting setting = {});
  /// The same by words: "one-part", "content-parts:user,tool", "reasoning-key:thinking",
  /// "part-types:user.image_url=image,tool.file=file", "reasoning-effort:none=thinking:false;low=thinking:true"; "-"
  /// for efforts that set nothing. Fails also for a name that no pass has (with the nearest one).
  Result<void> run(std::string_view words);
  /// The pass does not run, whoever asks for it.
  void skip(Pass pass) { skipped_ |= bit(pass); }
  Result<void> skip(std::string_view name);

  bool asks_for(Pass pass) const { return (asked_ & bit(pass)) != 0; }
  bool skips(Pass pass) const { return (skipped_ & bit(pass)) != 0; }
  /// What run() was told; an empty setting otherwise. Lifetime: until the next run().
  const PassSetting& setting(Pass pass) const&;
  const PassSetting& setting(Pass pass) const&& = delete;
  /// What was asked for as run() reads it, in the order of the passes.
  std::vector<std::string> words() const;
  bool operator==(const Passes& other) const;

 private:
  using Settings = std::vector<PassSetting>;
  static constexpr std::uint64_t bit(Pass pass) { return std::uint64_t{1} << static_cast<unsigned>(pass); }

  std::uint64_t asked_ = 0;
  std::uint64_t skipped_ = 0;
  std::shared_ptr<const Settings> settings_;  ///< by pass; null: all are empty
};

}  // namespace parlance
