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

/// The setting that a pass takes.
enum class PassTakes : std::uint8_t {
  nothing,
  roles,    ///< optional: the roles whose messages it changes; by default all
  name,     ///< required: the name of a member
  type,     ///< required: the type of a content part
  media,    ///< required: types of parts by role, and for the pass part_types their new names
  efforts,  ///< required: the variables that each reasoning effort sets; there may be none
};
/// Its name in help texts: "", "ROLES", "NAME", "TYPE", "NAMES", "SETTINGS".
std::string_view name_of(PassTakes takes);

/// The facts about a pass, as `parlance list passes` shows them.
struct NormalisePass {
  Pass pass{};
  std::string_view name;      ///< "parse-arguments"
  std::string_view sentence;  ///< what it does and why
  bool by_default = true;     ///< false: it runs only if asked for, or if adapt() finds it necessary
  PassTakes takes = PassTakes::nothing;
  bool of_transformers = false;  ///< apply_chat_template does it too: ReadOptions::as_transformers runs only these
};
/// All passes, in the order they run; the index is the value of Pass.
std::span<const NormalisePass> normalise_passes();
std::string_view name_of(Pass pass);
std::optional<Pass> find_pass(std::string_view name);

/// The reasoning efforts that a request may ask for, from "none" to "max".
std::span<const std::string_view> reasoning_efforts();

/// The name under which a template shows a content part that is not text.
struct MediaShape {
  std::string role;
  std::string type;        ///< the type in requests: "image_url"; "images" for Ollama's member of a message
  std::string shown_as{};  ///< the type that the template shows: "image"; "" if it shows none
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

/// The setting of a pass. NormalisePass::takes says which member the pass uses; the others are empty.
struct PassSetting {
  std::vector<std::string> roles{};      ///< empty: all
  std::string name{};                    ///< PassTakes::name and type
  std::vector<MediaShape> media{};       ///< no_place ignores shown_as
  std::vector<EffortSetting> efforts{};  ///< empty: efforts have no effect, and notes say so
  bool operator==(const PassSetting&) const = default;
};

/// Chooses passes: which run besides those that always run, with which settings, and which are skipped. A value, cheap
/// to copy: conversations that are read with it share its settings.
class Passes {
 public:
  /// Makes one from the words that run() and skip() take.
  static Result<Passes> of(std::initializer_list<std::string_view> run,
                           std::initializer_list<std::string_view> skip = {});

  /// Asks for a pass. If a pass that takes roles is asked for twice, it applies to the roles of both; for any other
  /// pass the later setting counts. Fails with usage if the pass does not take the setting or requires one, or if a
  /// variable's value is not JSON.
  Result<void> run(Pass pass, PassSetting setting = {});
  /// The same by words: "one-part", "content-parts:user,tool", "reasoning-key:thinking",
  /// "part-types:user.image_url=image,tool.file=file", "reasoning-effort:none=thinking:false;low=thinking:true"; "-"
  /// for efforts that set nothing. Also fails for an unknown name (with the nearest one).
  Result<void> run(std::string_view words);
  /// Skips the pass, even if run() or adapt() asks for it.
  void skip(Pass pass) { skipped_ |= bit(pass); }
  Result<void> skip(std::string_view name);

  /// A set of passes: bit(pass) is set for each.
  using Set = std::uint64_t;
  static constexpr Set bit(Pass pass) { return Set{1} << static_cast<unsigned>(pass); }
  /// The passes that run, where `usual` ones run unless they are skipped.
  Set running(Set usual) const { return (usual | asked_) & ~skipped_; }
  bool asks_for(Pass pass) const { return (asked_ & bit(pass)) != 0; }
  bool skips(Pass pass) const { return (skipped_ & bit(pass)) != 0; }
  /// The setting that run() was given, or an empty one. Lifetime: until the next run().
  const PassSetting& setting(Pass pass) const&;
  const PassSetting& setting(Pass pass) const&& = delete;
  /// The passes that were asked for, as words for run(), in the order of the passes.
  std::vector<std::string> words() const;
  bool operator==(const Passes& other) const;

 private:
  using Settings = std::vector<PassSetting>;

  Set asked_ = 0;
  Set skipped_ = 0;
  std::shared_ptr<const Settings> settings_;  ///< by pass; null: all are empty
};

}  // namespace parlance
