// Generated turns of an assistant: contents, reasoning and arguments of awkward pieces, the same for the same seed.
//
// Texts are put together from what has broken readers: beginnings of markers, quotes, braces, newlines, wide
// characters. Random bytes would hardly ever contain a marker.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "probe/probe_request.h"

namespace parlance::probe {

class Generator {
 public:
  /// `markers` of the format are what texts of arguments may hold, too.
  Generator(std::uint64_t seed, const TemplateCapabilities& can, bool parallel, std::vector<std::string> markers)
      : state_(seed), can_(can), parallel_(parallel), markers_(std::move(markers)) {}
  /// A turn that the template can show, as far as its capabilities tell.
  Scene turn();
  std::size_t below(std::size_t count);

 private:
  std::string text(std::size_t most);
  std::string value();
  std::string arguments(bool typed);

  std::uint64_t state_;
  const TemplateCapabilities& can_;
  bool parallel_;
  std::vector<std::string> markers_;
};

/// What a format's calls are made of, tag by tag, as a text may speak of it.
std::vector<std::string> markers_of_calls(const ReplyFormat& format);

}  // namespace parlance::probe
