// The part is found by halving: with how many of the parts, from the first on, does the render begin to fail? Begin
// reading at with_refused_part.
#include "render/refused_part.h"

#include <algorithm>
#include <vector>

#include "base/utf8.h"
#include "conversation/conversation.h"
#include "conversation/edit.h"
#include "conversation/media_parts.h"
#include "render/render_with.h"

namespace parlance {
namespace {

constexpr std::size_t kMostParts = 64;

struct Part {
  std::uint32_t message, number;
  Value value;
};

bool is_plain_text(Value part) {
  const Value type = member_value(part, "type");
  return part.kind != Kind::dict ||
         (type.is_leaf() && std::ranges::find(kTextTypes, leaf_text(type)) != std::end(kTextTypes));
}

std::vector<Part> parts_of(Value messages) {
  std::vector<Part> all;
  if (!messages.is_sequence()) return all;
  for (std::uint32_t i = 0; i < messages.list->size; ++i) {
    const Value content = member_value(messages.list->items[i], "content");
    if (content.kind != Kind::list) continue;
    for (std::uint32_t part = 0; part < content.list->size; ++part) {
      if (!is_plain_text(content.list->items[part])) all.push_back({i, part, content.list->items[part]});
    }
  }
  return all;
}

class Halving {
 public:
  Halving(const Template& chat_template, const Conversation& conversation, const RenderOptions& options,
          std::span<const Part> parts)
      : template_(chat_template), conversation_(conversation), options_(options), parts_(parts) {
    options_.want_spans = options_.want_assistant = options_.want_undefined = false;
  }

  /// The part with which the render begins to fail; null where it fails without any.
  const Part* run() {
    if (!renders_with(0)) return nullptr;
    std::size_t renders = 0, fails = parts_.size();
    while (fails - renders > 1) {
      const std::size_t middle = renders + (fails - renders) / 2;
      (renders_with(middle) ? renders : fails) = middle;
    }
    return &parts_[renders];
  }

 private:
  /// With the first `count` of the parts alone.
  bool renders_with(std::size_t count) {
    Arena arena;
    const Limits limits;
    Runtime rt(arena, limits);
    ListEditor messages(rt, conversation_.messages());
    for (std::size_t at = count; at < parts_.size();) {
      const std::uint32_t number = parts_[at].message;
      const Value message = messages[number];
      messages.set(number, with_member(rt, message, "content", kept(rt, member_value(message, "content"), number, at)));
      while (at < parts_.size() && parts_[at].message == number) ++at;
    }
    const Value variables = with_member(rt, conversation_.variables(), "messages", messages.finish());
    return render_with(template_, conversation_, variables, options_, workspace_, made_).has_value();
  }

  /// The list without the parts of its message from number `at` on.
  Value kept(Runtime& rt, Value list, std::uint32_t message, std::size_t at) const {
    ListBuilder kept(rt, list.list->size);
    for (std::uint32_t number = 0; number < list.list->size; ++number) {
      const bool left_out = at < parts_.size() && parts_[at].message == message && parts_[at].number == number;
      if (left_out)
        ++at;
      else
        kept.append(list.list->items[number]);
    }
    return with_origin(kept.finish(), list.list->origin);
  }

  const Template& template_;
  const Conversation& conversation_;
  RenderOptions options_;
  const std::span<const Part> parts_;
  Workspace workspace_;
  Rendering made_;
};

bool is_limit(ErrorCode code) { return facts(code).exit_code == 4; }

std::string path_of(const Conversation& conversation, const Part& part) {
  const Value type = member_value(part.value, "type");
  std::string path = type.is_leaf() ? conversation.path_of(type) : std::string();
  if (path.empty()) path = conversation.path_of(part.value);
  return path.empty() ? "messages[" + std::to_string(part.message) + "].content[" + std::to_string(part.number) + "]"
                      : path;
}

std::string hint_about(const Part& part) {
  constexpr std::size_t kShown = 80;
  const Value type = member_value(part.value, "type");
  const std::string of_type =
      type.is_leaf() ? "of the type '" + std::string(utf8::whole_prefix(leaf_text(type), kShown)) + "' " : "";
  const bool has_text = member_value(part.value, "text").is_string();
  return "without this part " + of_type + "the template takes the request; " +
         (has_text ? "a text is a part of the type text" : "the pass text-only leaves such parts out and says so");
}

}  // namespace

Error with_refused_part(const Template& chat_template, const Conversation& conversation, const RenderOptions& options,
                        const Error& error) {
  if (!error.input_path().empty() || is_limit(error.code())) return error;
  const std::vector<Part> parts = parts_of(conversation.messages());
  if (parts.empty() || parts.size() > kMostParts) return error;
  const Part* const found = Halving(chat_template, conversation, options, parts).run();
  return found == nullptr ? error : error.input(path_of(conversation, *found)).hint(hint_about(*found));
}

}  // namespace parlance
