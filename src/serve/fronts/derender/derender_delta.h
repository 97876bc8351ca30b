// ChunkDelta: collects what one chunk of a stream adds to a chat's message.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "parlance/reply.h"

namespace parlance::serve {

class ChunkDelta {
 public:
  /// `call_ids`: of the calls so far; ids of new ones are added.
  explicit ChunkDelta(std::vector<std::string>& call_ids) : call_ids_(call_ids) {}

  void add(const ReplyEvent& event);
  /// The member `delta`. `hides`: without the reasoning.
  std::string to_json(bool with_role, bool hides) const;

  bool live = false;        ///< what is added is new
  std::uint32_t count = 0;  ///< of calls

 private:
  struct Call {
    std::uint32_t number = 0;
    bool begins = false;
    std::string id{}, name{}, arguments{};
  };
  Call& call(std::uint32_t number);
  void begin_call(const ReplyEvent& event);

  std::vector<std::string>& call_ids_;
  std::string content_, reasoning_;
  std::vector<Call> calls_;
};

}  // namespace parlance::serve
