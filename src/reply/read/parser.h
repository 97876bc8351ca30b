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

class reply::ParserState {
 public:
  ParserState(std::shared_ptr<const reply::Request> request, bool conversation);
  /// Goes on as `other` with other tools.
  ParserState(const ParserState& other, const ReplyTools& tools);
  /// Goes through what stands before the reply, without a word. The reply begins inside reasoning if `in_reasoning`
  /// says so, whatever the prompt says; `calls`: what begins a call counts there.
  void begin(std::string_view prompt, bool in_reasoning, bool calls);
  /// Whether a call began in it, so that the tools count.
  bool called_in_prompt() const { return in_.called_in_prompt; }
  bool is_of(const reply::Machine& machine, const ReplyLimits& limits, bool calls_in_reasoning) const {
    return in_.machine == &machine && in_.limits() == limits && in_.calls_in_reasoning == calls_in_reasoning;
  }
  std::shared_ptr<const ReplyFormat> format() const { return {in_.request, &in_.machine->format}; }
  void feed(std::string_view bytes, const ReplySink& sink);
  void feed_token(std::string_view bytes, bool control, const ReplySink& sink);
  void finish(const ReplySink& sink);
  std::size_t held() const;
  std::size_t memory() const;

 private:
  using Kind = ReplyEvent::Kind;
  using Place = reply::Place;
  reply::OutsideReader outside() { return {in_, header_}; }
  struct Stop {
    const char* p;
    reply::MarkerTrie::Cursor at;
  };
  bool put_plain(std::string_view& bytes);
  bool put_behind_held(std::string_view bytes);
  bool put_up_to(const Stop& stop, std::string_view& bytes);
  Stop find_stop(const char* p, const char* end) const;
  void feed_marked(std::string_view bytes);
  void run(const char* p, const char* end);
  void take_handed();
  const char* read(const char* p, const char* end);
  const char* absorb(const char* p, const char* end);
  bool finish_place(bool is_ended);
  bool ends_open_call(std::string_view control, std::uint64_t at) const;
  void cut_off_call(const ReplySink& sink);
  void begin_in_reasoning();
  void say_carried();
  std::string_view hold_last(std::string_view bytes);
  std::string take_last();
  std::size_t held_last() const { return in_.rare ? in_.rare->last.size() : 0; }

  reply::Reading in_;
  reply::Header header_;
};

}  // namespace parlance
