// What a template can. Begin reading at find_capabilities.
#include "probe/capabilities.h"

#include "probe/stretch.h"

namespace parlance::probe {
namespace {

std::string message(std::string_view role, std::string_view content_json) {
  return "{\"role\": \"" + std::string(role) + "\", \"content\": " + std::string(content_json) + "}";
}

std::string fate(const Shot& shot, std::string_view word) {
  if (!shot) return "raises";
  return shot.text.find(word) != std::string::npos ? "renders" : "dropped";
}

bool shows(const Shot& shot, std::string_view word) { return shot && shot.text.find(word) != std::string::npos; }

}  // namespace

void find_capabilities(Prober& prober, const TurnFacts& turn, DerivedFormat& derived) {
  TemplateCapabilities& can = derived.capabilities;
  const std::string user = message("user", "\"" + std::string(kUser) + "\"");
  const std::string system_text = "\"" + std::string(kSystem) + "\"";
  const std::string answer = message("assistant", "\"" + std::string(kContent) + "\"");
  const auto take = [&](const std::string& messages) { return prober.take_json("{\"messages\": [" + messages + "]}", true); };
  can.roles.emplace_back("user", fate(take(user), kUser));
  can.roles.emplace_back("assistant", turn.found ? "renders" : "dropped");
  for (const std::string_view role : {"system", "developer"}) {
    can.roles.emplace_back(role, fate(take(message(role, system_text) + ", " + user), kSystem));
  }
  for (const std::string_view role : {"tool", "function", "ipython"}) {
    const Scene scene{.content = {}, .calls = plain_calls(1)};
    std::string request = request_of(scene, prober.convention);
    const std::size_t end = end_of_messages(request);
    const std::string result = ", {\"role\": \"" + std::string(role) + "\", \"name\": \"zq_first\", \"tool_call_id\": \"zqcall001\", \"content\": \"" +
                               std::string(kResult) + "\"}";
    can.roles.emplace_back(role, fate(prober.take_json(request.insert(end, result), true), kResult));
  }
  can.text_content = can.roles.front().second == "renders";
  const std::string parts = "[{\"type\": \"text\", \"text\": \"" + std::string(kUser) + "\"}]";
  const Shot parted = take(message("user", parts));
  can.parts_content = shows(parted, kUser) && parted.text.find("{'type'") == std::string::npos && parted.text.find("\"type\"") == std::string::npos;
  const Shot tools = prober.take({.assistant = false, .generation = true});
  can.tools = shows(tools, kTools[0]);
  can.parallel_calls = derived.format.parallel && !derived.format.calls.empty();
  const Convention found = prober.convention;
  const auto call_shows = [&](Convention convention, Scene scene) {
    prober.convention = convention;
    const Shot shot = prober.take(scene);
    if (!shot) return false;
    const std::size_t at = shot.text.rfind(kValuesA[0]);
    const std::size_t key = at == std::string::npos ? at : shot.text.rfind(kKeyA, at);
    return key != std::string::npos && key > 1 && shot.text[key - 2] != '\\';
  };
  const Scene one{.content = {}, .calls = plain_calls(1)};
  Convention convention = found;
  convention.text_arguments = false;
  can.object_arguments = call_shows(convention, one);
  convention.text_arguments = true;
  can.text_arguments = call_shows(convention, one);
  convention = found;
  convention.ids = Convention::Ids::none;
  can.call_ids_needed = found.ids != Convention::Ids::none && !call_shows(convention, one) && call_shows(found, one);
  can.null_content_needed = found.beside_calls == Convention::Content::null;
  prober.convention = found;
  can.content_with_calls = shows(prober.take({.calls = plain_calls(1)}), kContent);
}

}  // namespace parlance::probe
