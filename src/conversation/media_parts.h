// Parts of content that are no text, as chat APIs and templates name them. The passes that fit them to a template are
// in media_parts.cpp; which a template shows is found by experiment (probe/media.h).
#pragma once
#include <span>
#include <string_view>

#include "value/runtime.h"

namespace parlance {

/// A type of part, {"type": NAME, NAME: …}, and what it carries.
struct MediaType {
  std::string_view name;
  std::string_view carries;
};
/// In the order in which other names of the same are tried.
inline constexpr MediaType kMediaTypes[] = {
    {"image_url", "image"},   {"image", "image"}, {"input_image", "image"},
    {"input_audio", "audio"}, {"audio", "audio"}, {"audio_url", "audio"},
    {"video_url", "video"},   {"video", "video"}, {"file", "file"},
};
/// The member of a message that has Ollama's images, beside the content. Stands in MediaShape::type for all of them.
inline constexpr std::string_view kImages = "images";

/// Types of parts that are their `text` and nothing else.
inline constexpr std::string_view kTextTypes[] = {"text", "input_text", "output_text"};

/// What a model is told in the place of a part that it is not given: "[an image, which this model cannot see]".
std::string_view stand_in_for(std::string_view carries);
bool is_stand_in(std::string_view text);

/// The row of a type, or null.
const MediaType* find_media_type(std::string_view name);

/// The same part under another name: {"type": "image_url", "image_url": {"url": U}} is {"type": "image", "image": U}.
Value renamed_part(Runtime& rt, Value part, std::string_view from, std::string_view to);

}  // namespace parlance
