// Experiments: the request rendered once more with something changed, since only the other prompt tells what the change
// means to the template. Begin reading at Trial.
#pragma once
#include <functional>
#include <optional>
#include <string_view>

#include "losses/text_search.h"
#include "render/render_with.h"

namespace parlance {

/// What experiments are made with.
struct Experiment {
  const Template& chat_template;
  const Conversation& conversation;
  const RenderOptions& options;
  Workspace& workspace;
};

/// Renders with other variables, one time after the other.
class Trial {
 public:
  enum class With : std::uint8_t { text, spans };
  explicit Trial(const Experiment& experiment, With with = With::text);

  /// Makes other variables of the request's.
  using Change = std::function<Value(Runtime& rt, Value variables)>;
  /// The rendering with other variables; null if it cannot be rendered. It lives until the next one is made.
  const Rendering* render(const Change& change);
  /// Its text alone.
  std::optional<std::string_view> text(const Change& change);
  /// Is the prompt the same with other variables? False if there is none.
  bool is_same(const Rendering& rendering, const Change& change) { return text(change) == rendering.text(); }

 private:
  const Experiment& experiment_;
  RenderOptions options_;
  Rendering made_;
};

}  // namespace parlance
