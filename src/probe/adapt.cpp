// From what a template can to the passes that a request needs. Begin reading at adapt.
#include <algorithm>
#include <utility>

#include "conversation/media_parts.h"
#include "parlance/derive.h"

namespace parlance {
namespace {

/// The roles of which `wants(shape)` is true.
template <typename Wants>
std::vector<std::string> roles(const TemplateCapabilities& can, Wants wants) {
  std::vector<std::string> roles;
  for (const ContentShape& shape : can.contents) {
    if (wants(shape)) roles.push_back(shape.role);
  }
  return roles;
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
    use_if(can_.empty_tools_needed, Pass::empty_tools);
    return std::move(options_);
  }

 private:
  /// Each pass below gets a setting that it takes, so it is never refused; a test holds that.
  void use(Pass pass, PassSetting setting = {}) { (void)options_.passes.run(pass, std::move(setting)); }
  void use_if(bool needed, Pass pass) {
    if (needed) use(pass);
  }
  void use_for(Pass pass, std::vector<std::string> roles) {
    if (!roles.empty()) use(pass, {.roles = std::move(roles)});
  }

  // Where only parts show, text becomes parts, and the other way round. Where both show and differ, as in white space
  // that is trimmed in one shape only, a lone part becomes text.
  // A template whose known roles take text alone is asked for no other of any role, which it writes in the same way.
  void content() {
    const bool only_text =
        std::ranges::all_of(can_.contents, [](const ContentShape& shape) { return shape.text && !shape.parts; });
    if (only_text && !can_.contents.empty()) return use(Pass::content_parts);
    use_for(Pass::content_parts, roles(can_, [](const ContentShape& shape) { return shape.text && !shape.parts; }));
    use_for(Pass::one_part,
            roles(can_, [](const ContentShape& shape) { return shape.text && shape.parts && !shape.alike; }));
    use_for(Pass::text_parts, roles(can_, [](const ContentShape& shape) { return !shape.text && shape.parts; }));
  }

  void media() {
    PassSetting images, named, refused;
    for (const MediaShape& shape : can_.media) {
      if (shape.shown_as.empty()) {
        refused.media.push_back(shape);
      } else if (shape.shown_as != shape.type) {
        (shape.type == kImages ? images : named).media.push_back(shape);
      }
    }
    if (!images.media.empty()) use(Pass::image_parts, std::move(images));
    if (!named.media.empty()) use(Pass::part_types, std::move(named));
    if (!refused.media.empty()) use(Pass::no_place, std::move(refused));
  }

  void reasoning() {
    constexpr std::string_view kPart = "content[].type=";
    const std::string& name = can_.reasoning_member;
    if (name.starts_with(kPart)) {
      use(Pass::reasoning_part, {.name = name.substr(kPart.size())});
    } else if (!can_.reasoning_names_alike) {
      use(Pass::reasoning_key, {.name = name});
    }
    if (can_.reasoning_excludes_content) use(Pass::join_reasoning, {.name = name});
  }

  /// Also where the template has no such setting, so that a note says that the request's effort has no effect.
  void effort() {
    PassSetting setting;
    for (const EffortSetting& one : can_.efforts) {
      if (!one.variables.empty()) setting.efforts.push_back(one);
    }
    use(Pass::reasoning_effort, std::move(setting));
  }

  void calls() {
    use_if(can_.text_arguments_needed, Pass::arguments_text);
    use_if(can_.null_content_needed, Pass::calls_null_content);
    use_if(can_.absent_content_needed, Pass::calls_no_content);
    use_if(can_.call_ids_needed, Pass::missing_ids);
    use_if(can_.call_ids == CallIds::nine, Pass::short_ids);
    use_if(can_.call_ids == CallIds::named, Pass::named_ids);
  }

  /// What was not tried was not needed.
  bool renders(MessageOrder order) const {
    return can_.fate(order) == MessageFate::renders || can_.fate(order) == MessageFate::untried;
  }

  // A pass costs the message its place or its role, so each is used only where rendering the original failed.
  void order() {
    using Order = MessageOrder;
    const bool as_system = !renders(Order::developer) && renders(Order::system);
    use_if(as_system, Pass::developer_role);
    use_if(!renders(Order::systems_in_a_row) || (!as_system && !renders(Order::developer_behind_system)),
           Pass::join_systems);
    std::vector<std::string> late;
    if (!renders(Order::later_system)) late.emplace_back("system");
    if (!as_system && !renders(Order::later_developer)) late.emplace_back("developer");
    use_for(Pass::late_system, std::move(late));
    // a template that takes the system's message from anywhere, but one only
    use_if(renders(Order::later_system) && !renders(Order::system_and_later_system), Pass::gather_systems);
    use_if(!renders(Order::users_in_a_row), Pass::join_users);
  }

  const TemplateCapabilities& can_;
  ReadOptions options_;
};

}  // namespace

ReadOptions adapt(const TemplateCapabilities& can, ReadOptions options) {
  return options.normalise ? Adaptation(can, std::move(options)).take() : options;
}

}  // namespace parlance
