// What a template can. Begin reading at find_capabilities.
#include "probe/capabilities.h"

#include <algorithm>

#include "json/writer.h"
#include "probe/prompt_diff.h"

namespace parlance::probe {
namespace {

std::string message(std::string_view role, std::string_view content_json) {
  return Json('{').text("role", role).raw("content", content_json).take();
}

std::string as_part(std::string_view words) { return Json('[').item(text_part(words)).take(); }

/// The words of a part that show, and not as Python or JSON writes the part: 'text': 'words'.
bool shows_part(const Shot& shot, std::string_view words) {
  if (!shows(shot, words)) return false;
  const std::size_t at = shot.text.rfind(words);
  constexpr std::size_t kKey = std::string_view("'text': '").size();
  const std::string_view before = std::string_view(shot.text).substr(at - std::min(at, kKey), std::min(at, kKey));
  return before.find("text") == before.npos || before.find(':') == before.npos;
}

class Capabilities {
 public:
  Capabilities(Prober& prober, const TurnFacts& turn, TemplateCapabilities& can)
      : prober_(prober), turn_(turn), can_(can) {}

  // Text and parts are tried for each role: a template that takes the user's message as parts may want the system's as
  // text. A role that renders but does not show what it said is told apart from one that raises.
  void find_roles() {
    const auto alone = [&](const std::string& content) -> const Shot& { return take({message("user", content)}); };
    can_.text_content = shows(alone(json_string(kUser)), kUser);
    can_.parts_content = shows_part(alone(as_part(kUser)), kUser);
    can_.roles.push_back({"user", fate(kUser, alone)});
    can_.roles.push_back({"assistant", turn_.found ? MessageFate::renders : MessageFate::dropped});
    const std::string user = message("user", prober_.convention.parts ? as_part(kUser) : json_string(kUser));
    for (const std::string_view role : {"system", "developer"}) {
      const auto first = [&](const std::string& content) -> const Shot& {
        return take({message(role, content), user});
      };
      can_.roles.push_back({std::string(role), fate(kSystem, first)});
    }
    for (const std::string_view role : {"tool", "function", "ipython"}) {
      const auto behind_call = [&](const std::string& content) -> const Shot& { return take_result(role, content); };
      can_.roles.push_back({std::string(role), fate(kResult, behind_call)});
    }
  }

 private:
  const Shot& take(std::initializer_list<std::string> messages) {
    Json list('[');
    for (const std::string& one : messages) list.item(one);
    return prober_.take_json(Json('{').raw("messages", list.take()).take(), true);
  }

  const Shot& take_result(std::string_view role, const std::string& content) {
    return prober_.take(
        {.content = {}, .calls = plain_calls(1), .generation = true, .last_message = answer_json(role, content)});
  }

  /// What becomes of a message, as text or as a part, whichever shows; `take` renders it with this content.
  template <typename Take>
  static MessageFate fate(std::string_view words, Take take) {
    const Shot& text = take(json_string(words));
    if (shows(text, words)) return MessageFate::renders;
    const Shot& part = take(as_part(words));
    if (shows_part(part, words)) return MessageFate::renders;
    return text || (part && !shows(part, words)) ? MessageFate::dropped : MessageFate::raises;
  }

  Prober& prober_;
  const TurnFacts& turn_;
  TemplateCapabilities& can_;
};

}  // namespace

/// The convention that shows a call is known; each member of it is now changed alone. An escaped quote before the key
/// means that the template printed text as text within JSON, which no reply looks like. The convention is put back at
/// the end.
void find_call_capabilities(Prober& prober, TemplateCapabilities& can) {
  const Convention found = prober.convention;
  const Scene one{.content = {}, .calls = plain_calls(1)};
  const auto call_shows = [&](const Convention& convention) {
    prober.convention = convention;
    const Shot& shot = prober.take(one);
    if (!shot) return false;
    const std::size_t at = shot.text.rfind(kValuesA[0]);
    const std::size_t key = at == std::string::npos ? at : shot.text.rfind(kKeyA, at);
    return key != std::string::npos && key > 1 && shot.text[key - 2] != '\\';
  };
  Convention convention = found;
  convention.text_arguments = false;
  can.object_arguments = call_shows(convention);
  convention.text_arguments = true;
  can.text_arguments = call_shows(convention);
  convention = found;
  convention.ids = Convention::Ids::none;
  can.call_ids_needed = found.ids != Convention::Ids::none && !call_shows(convention) && call_shows(found);
  can.null_content_needed = found.beside_calls == Convention::Content::null;
  prober.convention = found;
  can.content_with_calls = shows(prober.take({.calls = plain_calls(1)}), kContent);
}

void find_capabilities(Prober& prober, const TurnFacts& turn, DerivedFormat& derived) {
  TemplateCapabilities& can = derived.capabilities;
  Capabilities(prober, turn, can).find_roles();
  can.tools = shows(prober.take({.assistant = false, .generation = true}), kTools[0]);
  can.parallel_calls = derived.format.parallel && !derived.format.calls.empty();
  find_call_capabilities(prober, can);
}

}  // namespace parlance::probe
