// From what a template can to the passes that a request needs. Begin reading at adapt.
#include <algorithm>
#include <utility>

#include "parlance/derive.h"

namespace parlance {
namespace {

constexpr std::string_view kRenders = "renders";
constexpr std::string_view kNoEfforts = "-";  // of no pass's argument

/// What becomes of a role or an order; "renders" for one that was not tried.
std::string_view fate(const std::vector<std::pair<std::string, std::string>>& fates, std::string_view name) {
  const auto found = std::find_if(fates.begin(), fates.end(), [&](const auto& one) { return one.first == name; });
  return found == fates.end() ? kRenders : std::string_view(found->second);
}

/// The roles of which `wants(shape)` is true, as the argument of a pass.
template <typename Wants>
std::string roles(const TemplateCapabilities& can, Wants wants) {
  std::string out;
  for (const ContentShape& shape : can.contents) {
    if (wants(shape)) out.append(out.empty() ? "" : ",").append(shape.role);
  }
  return out;
}

class Adaptation {
 public:
  Adaptation(const TemplateCapabilities& can, ReadOptions options) : can_(can), options_(std::move(options)) {}

  ReadOptions take() {
    content();
    media();
    reasoning();
    effort();
    calls();
    order();
    return std::move(options_);
  }

 private:
  void use(std::string_view pass) { options_.extra_passes.emplace_back(pass); }
  void use_if(bool needed, std::string_view pass) {
    if (needed) use(pass);
  }
  void use_for(std::string_view pass, const std::string& argument) {
    if (!argument.empty()) use(std::string(pass) + ":" + argument);
  }

  void content() {
    use_for("content-parts", roles(can_, [](const ContentShape& shape) { return shape.text && !shape.parts; }));
    use_for("one-part",
            roles(can_, [](const ContentShape& shape) { return shape.text && shape.parts && !shape.alike; }));
    use_for("text-parts", roles(can_, [](const ContentShape& shape) { return !shape.text && shape.parts; }));
  }

  void media() {
    std::string names, refused;
    for (const MediaShape& shape : can_.media) {
      const std::string row = shape.role + "." + shape.type;
      if (shape.shown_as.empty()) {
        refused.append(refused.empty() ? "" : ",").append(row);
      } else if (shape.shown_as != shape.type) {
        names.append(names.empty() ? "" : ",").append(row).append("=").append(shape.shown_as);
      }
    }
    use_for("part-types", names);
    use_for("no-place", refused);
  }

  void reasoning() {
    constexpr std::string_view kPart = "content[].type=";
    if (can_.reasoning_member.starts_with(kPart)) {
      use_for("reasoning-part", can_.reasoning_member.substr(kPart.size()));
    } else if (!can_.reasoning_names_alike) {
      use_for("reasoning-key", can_.reasoning_member);
    }
    if (can_.reasoning_excludes_content) use_for("join-reasoning", can_.reasoning_member);
  }

  /// "none=enable_thinking:false;high=enable_thinking:true"
  void effort() {
    std::string all;
    for (const EffortSetting& setting : can_.efforts) {
      if (setting.variables.empty()) continue;
      all.append(all.empty() ? "" : ";").append(setting.effort);
      char sign = '=';
      for (const EffortVariable& variable : setting.variables) {
        all.append(1, std::exchange(sign, ',')).append(variable.name).append(":").append(variable.value);
      }
    }
    use(all.empty() ? std::string("reasoning-effort:") + std::string(kNoEfforts) : "reasoning-effort:" + all);
  }

  void calls() {
    use_if(can_.text_arguments_needed, "arguments-text");
    use_if(can_.null_content_needed, "calls-null-content");
    use_if(can_.absent_content_needed, "calls-no-content");
    use_if(can_.call_ids_needed, "missing-ids");
    use_if(can_.call_ids == CallIds::nine, "short-ids");
    use_if(can_.call_ids == CallIds::named, "named-ids");
  }

  bool renders(std::string_view order) const { return fate(can_.orders, order) == kRenders; }

  void order() {
    const bool as_system = !renders("developer") && renders("system");
    use_if(as_system, "developer-role");
    use_if(!renders("systems in a row") || (!as_system && !renders("developer behind system")), "join-systems");
    use_if(!renders("later system"), "late-system:system");
    // a template that takes the system's message from anywhere, but one only
    use_if(renders("later system") && !renders("system and later system"), "gather-systems");
    use_if(!as_system && !renders("later developer"), "late-system:developer");
    use_if(!renders("users in a row"), "join-users");
  }

  const TemplateCapabilities& can_;
  ReadOptions options_;
};

}  // namespace

ReadOptions adapt(const TemplateCapabilities& can, ReadOptions options) {
  return options.normalise ? Adaptation(can, std::move(options)).take() : options;
}

}  // namespace parlance
