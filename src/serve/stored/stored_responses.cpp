// Stored responses as Redis has them.
#include "serve/stored/stored_responses.h"

#include <limits>

#include "parlance/json.h"
#include "parlance/json_writer.h"

namespace parlance::serve {

namespace {
constexpr std::size_t kMostInput = std::size_t{64} << 10;
}

SharedLists::Texts texts_of(const StoredResponse& response) {
  JsonWriter pieces('[');
  for (const StoredPiece& piece : response.pieces)
    pieces.item(JsonWriter('{').number("bytes", piece.bytes).number("logprobs", piece.logprobs).take());
  SharedLists::Texts texts = {pieces.take(), response.json};
  if (response.input.size() <= kMostInput) texts.push_back(response.input);
  return texts;
}

namespace {

bool is_count(Value value) {
  return value.is_small_int() && value.integer >= 0 && value.integer <= std::numeric_limits<std::uint32_t>::max();
}

}  // namespace

bool take_texts(const SharedLists::Texts& texts, StoredResponse& into) {
  Document pieces, answer;
  if (texts.size() < 2 || !pieces.parse(texts[0]) || !pieces.root().is_sequence()) return false;
  if (!answer.parse(texts[1]) || answer.root()["id"].text() != into.id) return false;
  for (const Value& piece : pieces.root().items()) {
    const Value bytes = piece["bytes"], logprobs = piece["logprobs"];
    if (!is_count(bytes) || !is_count(logprobs)) return false;
    into.pieces.push_back({static_cast<std::uint32_t>(bytes.integer), static_cast<std::uint32_t>(logprobs.integer)});
  }
  into.json = texts[1];
  into.input_is_long = texts.size() == 2;
  if (!into.input_is_long) into.input = texts[2];
  return true;
}

}  // namespace parlance::serve
