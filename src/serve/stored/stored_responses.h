// StoredResponses: answers of the Responses API that a client may ask for again by their ids.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "serve/sessions/shared_lists.h"
#include "serve/stored/newest.h"

namespace parlance::serve {

/// How long an event of its stream made a text, and of how many of the text's logprobs it had.
struct StoredPiece {
  std::uint32_t bytes = 0, logprobs = 0;
};

struct StoredResponse {
  static constexpr std::string_view kKind = "response";
  std::string id;
  std::string owner;                  ///< the client's key: nobody else is given it
  std::string json;                   ///< the answer
  std::string input;                  ///< the request's member `input`, as JSON
  bool input_is_long = false;         ///< and is not kept where gateways share responses
  bool unshared = false;              ///< Redis did not take it
  std::vector<StoredPiece> pieces{};  ///< of its texts, in their order; none: it was given as a whole
};

inline std::size_t bytes_of(const StoredResponse& response) {
  return response.json.size() + response.input.size() + response.pieces.size() * sizeof(StoredPiece);
}

/// Redis has it as three texts, or two: clients send a long input again with each turn, so that is not among them.
SharedLists::Texts texts_of(const StoredResponse& response);
bool take_texts(const SharedLists::Texts& texts, StoredResponse& into);

using StoredResponses = Newest<StoredResponse>;

}  // namespace parlance::serve
