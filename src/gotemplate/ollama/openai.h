// OpenAiNames: what OpenAI's API calls otherwise than Ollama's, understood on the way in.
//
// Source: Ollama's openai package (how its server takes such requests) and server/prompt.go (the
// tags of images). Not used for requests that are taken as they are. Begin reading at complete().
#pragma once
#include <span>

#include "gotemplate/ollama/decode.h"
#include "gotemplate/ollama/request.h"

namespace parlance::gotemplate {

class OpenAiNames {
 public:
  explicit OpenAiNames(Decoder& d) : d_(d) {}

  /// Content in parts: texts joined as Ollama joins messages, and a tag for each image. Fails for
  /// other parts.
  bool read_parts(Value parts, Turn& turn);
  /// Fills what is still empty: thinking, the name of the tool that a result belongs to (by its own
  /// name, else by the call among the turns `before`); and gives a text tags for the images that
  /// have none in it.
  void complete(Value message, std::span<const Turn> before, Turn& turn);
  /// think, from reasoning_effort or enable_thinking.
  void think(const DictObject& variables, ChatRequest& out);

 private:
  Value image_tag(std::size_t number);
  /// As Ollama's server puts them: each in place of an `[img]` while there is one, the others in front.
  Value with_tags(Value content, std::size_t images);

  Decoder& d_;
  std::size_t images_ = 0;  ///< in the request so far
  bool has_parts_ = false;  ///< the turn's tags are in its text already
};

}  // namespace parlance::gotemplate
