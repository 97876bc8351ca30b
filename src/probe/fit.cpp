// Leaving out what does not fit into a format. Begin reading at fit.
//
// Calls are never left out: they are what a reader is needed for most. White space is the first to go, since a template
// indents its own text, which models are not taught to do.
#include "probe/fit.h"

#include <algorithm>

#include "reply/marker_texts.h"

namespace parlance::probe {
namespace {

/// The white space nearest to the marker stays.
void cut_framing(ReplyMarker& marker, std::size_t most) {
  marker.before.erase(0, marker.before.size() - std::min(marker.before.size(), most));
  marker.after.resize(std::min(marker.after.size(), most));
}

void cut_framing_of(CallForm& form, std::size_t most) {
  cut_framing(form.open, most);
  cut_framing(form.close, most);
  for (CallPart& part : form.call) {
    ArgumentTags& tags = part.arguments.tags;
    for (ReplyMarker* marker : {&part.literal, &tags.open, &tags.key_close, &tags.type_close, &tags.close, &tags.whole})
      cut_framing(*marker, most);
    part.before.erase(0, part.before.size() - std::min(part.before.size(), most));
  }
}

void cut_all_framing(ReplyFormat& format, std::size_t most) {
  for (ReplyMarker* marker :
       {&format.reasoning_open, &format.reasoning_close, &format.content_open, &format.content_close})
    cut_framing(*marker, most);
  for (ReplyMarker& end : format.end) cut_framing(end, most);
  for (CallForm& form : format.calls) cut_framing_of(form, most);
}

/// A text of content or reasoning that is too long for a marker: the turn was not understood, and what reads it back
/// would take long for nothing.
bool has_long_marker(const ReplyFormat& format) {
  const auto is_long = [](const std::string& text) { return text.size() > reply::kLongestMarker; };
  const ReplyMarker* const markers[] = {&format.reasoning_open, &format.reasoning_close, &format.content_open,
                                        &format.content_close};
  return std::any_of(std::begin(markers), std::end(markers), [&](const ReplyMarker* marker) {
    return std::any_of(marker->texts.begin(), marker->texts.end(), is_long);
  });
}

struct Remedy {
  const char* sentence;
  void (*apply)(ReplyFormat& format);
};

constexpr Remedy kRemedies[] = {
    {"only the nearest 16 bytes of the white space round a marker belong to it",
     [](ReplyFormat& format) { cut_all_framing(format, 16); }},
    {"only the nearest 4 bytes of the white space round a marker belong to it",
     [](ReplyFormat& format) { cut_all_framing(format, 4); }},
    {"what opens and closes content is left out",
     [](ReplyFormat& format) { format.content_open = format.content_close = {}; }},
    {"what opens and closes reasoning is left out",
     [](ReplyFormat& format) { format.reasoning_open = format.reasoning_close = {}; }},
};

}  // namespace

std::vector<std::string> fit(ReplyFormat& format) {
  const Result<void> valid = format.validate();
  if (valid) return {};
  const std::string why(valid.error().message());
  if (has_long_marker(format)) return {"the format contradicts itself: " + why};
  for (const Remedy& remedy : kRemedies) {
    ReplyFormat tried = format;
    remedy.apply(tried);
    if (!tried.validate()) continue;
    format = std::move(tried);
    return {std::string(remedy.sentence) + ": " + why};
  }
  ReplyFormat tried = format;
  std::vector<std::string> sentences;
  for (const Remedy& remedy : kRemedies) {
    const ReplyFormat before = tried;
    remedy.apply(tried);
    if (!(tried == before)) sentences.push_back(std::string(remedy.sentence) + ": " + why);
    if (!tried.validate()) continue;
    format = std::move(tried);
    return sentences;
  }
  return {"the format contradicts itself: " + why};
}

}  // namespace parlance::probe
