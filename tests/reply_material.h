// What tests of replies share: events as values, ways to cut a reply, random replies, and the laws.
//
// Begin reading at broken_law.
#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "parlance/reply.h"

namespace parlance::testing {

/// An event that owns its texts. Neighbours of one kind are joined.
struct Event {
  ReplyEvent::Kind kind;
  bool complete;
  std::uint32_t call, form;
  std::uint64_t position;
  std::string source, text, detail;
  bool operator==(const Event&) const = default;
};
using Events = std::vector<Event>;
void PrintTo(const Event& event, std::ostream* out);

/// Takes events, joins neighbours, and notes what no event may be.
class Recorder {
 public:
  /// What events are given to, while this lives.
  auto sink() {
    return [this](const ReplyEvent& event) { add(event); };
  }
  const Events& events() const { return events_; }
  const std::string& fault() const { return fault_; }

 private:
  void add(const ReplyEvent& event);
  Events events_;
  std::string fault_;
  std::uint64_t position_ = 0;
};

/// The reply format of a built-in format.
const ReplyFormat& format_of(std::string_view name);

Events read_whole(const ReplyFormat& format, std::string_view reply, const ReplyOptions& options = {});
/// In pieces that end at `cuts`, which ascend, and at the end.
Events read_cut(const ReplyFormat& format, std::string_view reply, const std::vector<std::size_t>& cuts,
                const ReplyOptions& options = {});
Events read_sized(const ReplyFormat& format, std::string_view reply, std::size_t size,
                  const ReplyOptions& options = {});

/// Marker-like pieces in any order, some bytes that are no UTF-8.
std::string random_reply(std::mt19937_64& random);
/// The same, with the format's own markers.
std::string random_reply(const ReplyFormat& format, std::mt19937_64& random);
/// `reply` with some bytes changed, cut out, repeated or put in.
std::string mutated(std::string reply, std::mt19937_64& random);

/// Which law `reply` breaks, or "": every byte is in one event and in order; pieces change nothing; a complete call has
/// an object of JSON; an incomplete one is the last thing of its call; held bytes are all given at the end.
std::string broken_law(const ReplyFormat& format, const std::string& reply, std::mt19937_64& random,
                       const ReplyOptions& options = {});

}  // namespace parlance::testing
