// A part of each type between two texts. Begin reading at find_media.
#include "probe/media.h"

#include <algorithm>
#include <iterator>

#include "conversation/media_parts.h"
#include "json/writer.h"

namespace parlance::probe {
namespace {

constexpr std::string_view kBefore = "zq text before";
constexpr std::string_view kBehind = "zq text behind";
constexpr std::string_view kLink = "zq://part";

/// {"type": "image", "image": LINK}; names that end in _url and the like have it one level down.
std::string media_part(std::string_view type) {
  Json json('{');
  json.text("type", type);
  if (type.ends_with("_url")) return json.raw(type, Json('{').text("url", kLink).take()).take();
  if (type == "input_audio") return json.raw(type, Json('{').text("data", kLink).text("format", "wav").take()).take();
  return json.text(type, kLink).take();
}

/// Without white space: that a template parts texts by a blank shows no image.
std::string words_of(std::string_view text) {
  std::string out;
  std::copy_if(text.begin(), text.end(), std::back_inserter(out),
               [](char c) { return c != ' ' && c != '\n' && c != '\t'; });
  return out;
}

/// Does something come in with a part, and nothing of its JSON? `texts` are those that stand round it, or before it.
bool comes_in(const Shot& with, const Shot& bare, std::initializer_list<std::string_view> texts) {
  if (!with || !bare || words_of(with.text) == words_of(bare.text) ||
      count_of(with.text, "type") != count_of(bare.text, "type"))
    return false;
  std::size_t at = 0;
  for (const std::string_view text : texts) {
    at = with.text.find(text, at);
    if (at == with.text.npos) return false;
  }
  return true;
}

/// Between two texts and behind one: a template that only parts the texts otherwise shows nothing behind the last.
bool shows_media(Prober& prober, std::string_view role, std::string_view type) {
  const auto take = [&](std::string_view behind, bool with_part) -> const Shot& {
    Json parts('[');
    parts.item(text_part(kBefore));
    if (with_part) parts.item(media_part(type));
    if (!behind.empty()) parts.item(text_part(behind));
    return take_content(prober, role, parts.take());
  };
  return comes_in(take(kBehind, true), take(kBehind, false), {kBefore, kBehind}) &&
         comes_in(take({}, true), take({}, false), {kBefore});
}

/// The name under which a part of the type shows: its own, or another for what it carries; "" for none.
std::string name_that_shows(Prober& prober, std::string_view role, const MediaType& type) {
  if (shows_media(prober, role, type.name)) return std::string(type.name);
  for (const MediaType& other : kMediaTypes) {
    if (other.carries == type.carries && other.name != type.name && shows_media(prober, role, other.name))
      return std::string(other.name);
  }
  return {};
}

/// How Ollama's images of a message show: as they are, as parts of the type that is returned, or "", not at all.
std::string images_shown_as(Prober& prober, std::string_view role) {
  const auto take = [&](bool with_images) -> const Shot& {
    Json message('{'), request('{');
    message.text("role", "user").text("content", kBefore);
    if (with_images) message.raw(kImages, Json('[').item("\"QUJD\"").take());
    return prober.take_json(request.raw("messages", Json('[').item(message.take()).take()).take(), false);
  };
  if (comes_in(take(true), take(false), {})) return std::string(kImages);
  return name_that_shows(prober, role, *find_media_type("image"));
}

}  // namespace

Needs media_of_type(std::string_view type) {
  const MediaType* row = find_media_type(type);
  return row == nullptr ? 0 : kFirstMedia << (row - kMediaTypes);
}

void find_media(Prober& prober, TemplateCapabilities& can, Needs needs) {
  for (const std::string_view role : kContentRoles) {
    if ((needs & content_of_role(role)) == 0) continue;
    for (const MediaType& type : kMediaTypes) {
      if ((needs & media_of_type(type.name)) != 0)
        can.media.push_back({std::string(role), std::string(type.name), name_that_shows(prober, role, type)});
    }
    if ((needs & kNeedsImages) != 0)
      can.media.push_back({std::string(role), std::string(kImages), images_shown_as(prober, role)});
  }
}

}  // namespace parlance::probe
