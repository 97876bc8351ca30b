// The state of a ReplyParser, and the driver of its readers: it gives each byte to the reader whose place it is.
//
//     outside_reader.h   content, reasoning, headers of turns
//     call_reader.h      a call and its parts, alone, in a section or in a list
//     part_reader.h      arguments, and an object that is a call: one reader for each codec
//     reading.h          what they share
//
// Only the driver gives bytes back, which a reader held and which are none of its own. Begin reading at run().
#pragma once
#include <memory>
#include <string>

#include "reply/read/outside_reader.h"
#include "reply/read/reading.h"

namespace parlance {

class ReplyParser::State {
 public:
  State(std::shared_ptr<const reply::Machine> machine, bool conversation);
  /// Goes through what stands before the reply, without a word.
  void take_prompt(std::string_view prompt);
  void feed(std::string_view bytes, const ReplySink& sink);
  void feed_token(std::string_view bytes, bool control, const ReplySink& sink);
  void finish(const ReplySink& sink);
  std::size_t held() const;
  std::size_t memory() const;

 private:
  using Kind = ReplyEvent::Kind;
  using Place = reply::Place;
  reply::OutsideReader outside() { return {in_, header_}; }
  void feed_rare(std::string_view bytes);
  void run(const char* p, const char* end);
  void take_handed();
  const char* read(const char* p, const char* end);
  const char* absorb(const char* p, const char* end);
  bool finish_place();
  void begin_in_reasoning();
  void say_carried();
  std::string_view hold_last(std::string_view bytes, std::string& joined);
  std::string take_last();
  std::size_t held_last() const { return in_.rare ? in_.rare->last.size() : 0; }

  reply::Reading in_;
  reply::Header header_;
};

}  // namespace parlance
