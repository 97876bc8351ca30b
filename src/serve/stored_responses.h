// StoredResponses: answers of the Responses API that a client may ask for again by their ids.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace parlance::serve {

/// How long an event of its stream made a text, and of how many of the text's logprobs it had.
struct StoredPiece {
  std::uint32_t bytes = 0, logprobs = 0;
};

struct StoredResponse {
  std::string id;
  std::string owner;                  ///< the client's key: nobody else is given it
  std::string json;                   ///< the answer
  std::string input;                  ///< the request's member `input`, as JSON
  std::vector<StoredPiece> pieces{};  ///< of its texts, in their order; none: it was given as a whole
};

/// The newest ones, in memory. Threads: any.
class StoredResponses {
 public:
  void keep(StoredResponse response);
  /// Null: there is none of this client.
  std::shared_ptr<const StoredResponse> find(std::string_view id, std::string_view owner) const;
  /// Was there one?
  bool drop(std::string_view id, std::string_view owner);

 private:
  static constexpr std::size_t kMost = 1024, kMostBytes = std::size_t{64} << 20;

  mutable std::mutex mutex_;
  std::list<std::shared_ptr<const StoredResponse>> newest_;  ///< the newest first
  std::size_t bytes_ = 0;
};

}  // namespace parlance::serve
