// Reading: what the readers of a reply share: the format, the events, what is held back, and the call that is open.
//
// A part of a call has a reader of its own (part_reader.h); what is around those is in parser.h. Begin reading at
// Reading.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reply/read/event_emitter.h"
#include "reply/read/machine.h"
#include "reply/read/part_reader.h"
#include "reply/scan/held.h"

namespace parlance::reply {

/// What was found at a place.
struct Found {
  std::size_t size = 0;  ///< of the marker, 0 for none
  bool more = false;     ///< it depends on bytes to come
  Mark mark{};
  MarkerTrie::Cursor at{};  ///< how far the markers go on
};

/// Which reader has the next byte.
enum class Place : std::uint8_t {
  text,
  header,
  opening,  // outside of calls
  literal,
  next,
  list,
  field,  // between the parts of calls
  part,   // inside of one, which has a reader of its own
  broken,
  done,
};
enum class Region : std::uint8_t { content, reasoning, plain };
/// White space at the beginning of content, which belongs to a marker if one follows.
enum class Gap : std::uint8_t { none, start, after, closed };  ///< closed: behind what closes calls

/// What was read outside of calls so far.
struct Answer {
  Region region = Region::content;
  bool blank_reasoning : 1 = true;  ///< nothing but white space of it so far
  bool fresh : 1 = true;            ///< the answer has not begun
  bool answers : 1 = false;         ///< text of the answer came since the last marker outside of it
  bool said : 1 = false;            ///< there is text of the answer
  bool unclosed : 1 = false;        ///< a call has ended the reasoning, which may still be closed
  bool parted : 1 = false;          ///< more of it follows, in markers of its own: a newline parts the two
  bool marked : 1 = false;          ///< the last marker outside of calls opened content
  bool opened : 1 = false;          ///< the reply itself has opened reasoning: its marker is no word there
};

/// Bytes that are in no event yet: the beginning of a marker, white space, a header.
struct Held {
  std::string bytes;
  MarkerTrie::Cursor cursor{};
  std::uint8_t blanks = 0;  ///< of the bytes, the white space of a gap
  /// Keeps the room, since what is held most often is held again.
  void clear() {
    bytes.clear();
    cursor = {};
    blanks = 0;
  }
  /// Takes all of it.
  std::string take() {
    cursor = {};
    blanks = 0;
    return std::exchange(bytes, {});
  }
};

/// A marker that was met.
struct Met {
  Mark mark{};
  std::string source;  ///< "": none was
  explicit operator bool() const { return !source.empty(); }
};

/// A control token that was fed, by place.
struct Control {
  std::uint64_t from, to;
};

/// A call that the prompt begins, and the reply goes on with.
struct Carried {
  std::string name, id, arguments;
  std::uint32_t form = 0;
  bool open = false;
};

/// What few replies need.
struct Rare {
  std::vector<Control> controls;
  Box<Carried> carried;  ///< until the reply goes on with it
  std::string last;      ///< bytes that may be one of the format's last texts; no reader has seen them
  std::string joined;    ///< room for those with what follows
  /// It changes nothing of how text is read.
  bool is_idle() const { return last.empty() && !carried; }
};

/// What a reader gives to the driver, beside a Step.
struct Handed {
  std::string back;      ///< bytes that were held: they are read next
  Met met;               ///< what ended a call and is none of it
  std::string expected;  ///< failed: what could have stood there
  std::string lost;      ///< failed: bytes that were taken before that was clear
};

/// Whether a marker looks like a control token, which nobody writes by chance: <|…|>, or [WORD].
bool is_shaped(std::string_view source);

/// The call that is open.
struct Call {
  /// Begins another call in the place of this one, which keeps the room of its texts and its reader.
  void begin_again() {
    part = 0;
    opening = 0;
    committed = named = ended = missing = loose = open_list = silent = spoilt = sure = faulty = meant = refused = false;
    in_list = InList::open;
    word.clear();
    name.clear();
    id.clear();
    recovery.reset();
  }

  std::uint8_t part = 0;       ///< of the form's call
  std::uint16_t opening = 0;   ///< of the lead, the marker that began the call, which may begin one of another form
  bool committed : 1 = false;  ///< a call of this section has begun
  bool named : 1 = false;      ///< this call has begun
  bool ended : 1 = false;      ///< this call is over, but for what closes it
  bool missing : 1 = false;    ///< the arguments are left out, if the next literal follows
  bool loose : 1 = false;      ///< the section began without what opens it
  bool open_list : 1 = false;  ///< a list without its brackets
  bool silent : 1 = false;     ///< what turns out to be no call is no error
  bool spoilt : 1 = false;     ///< what came of this section so far was no call, and is text
  bool sure : 1 = false;       ///< the marker before the arguments says that this is the form
  bool faulty : 1 = false;     ///< what opened it lacks a part (ReplyMarker::faulty)
  bool meant : 1 = false;      ///< so it does, but begins as another form's calls: to be none is an error
  bool refused : 1 = false;    ///< in reasoning, and no tool has the name that it has as a call of this or another form
  bool open : 1 = true;        ///< for CallBox
  enum class InList : std::uint8_t { open, first, item, next };
  InList in_list = InList::open;  ///< what is due between calls of a list
  HeldText word;                  ///< a field as it is written
  HeldText name;                  ///< until the call begins
  HeldText id;
  ReaderBox reader;        ///< of the part that is read, or of one that was
  Box<Recovery> recovery;  ///< where an item that went wrong ends; none where only markers tell
};

/// The call that is open, or none. What a call was made of stays, since the next one is mostly alike.
class CallBox {
 public:
  CallBox() = default;
  CallBox(const CallBox& other) : call_(other ? std::make_unique<Call>(*other) : nullptr) {}
  CallBox(CallBox&&) noexcept = default;
  CallBox& operator=(const CallBox& other) { return *this = CallBox(other); }
  CallBox& operator=(CallBox&&) noexcept = default;
  Call& make() {
    if (call_) {
      call_->begin_again();
    } else {
      call_ = std::make_unique<Call>();
    }
    call_->open = true;
    return *call_;
  }
  void reset() {
    if (call_) call_->open = false;
  }
  explicit operator bool() const { return call_ && call_->open; }
  Call& operator*() const { return *call_; }
  Call* operator->() const { return call_.get(); }
  /// Its size in bytes, and that of its reader.
  std::size_t memory() const {
    if (!call_) return 0;
    return sizeof(Call) + (call_->reader ? call_->reader->size() : 0);
  }

 private:
  std::unique_ptr<Call> call_;
};

/// What a reply is read by; its copies share it.
struct Request {
  std::shared_ptr<const Machine> machine;
  ReplyTools tools;
  ReplyLimits limits;
};

class Reading {
 public:
  Reading(std::shared_ptr<const Request> asked, bool whole)
      : request(std::move(asked)), machine(request->machine.get()), conversation(whole) {}

  const ReplyTools& tools() const { return request->tools; }
  const ReplyLimits& limits() const { return request->limits; }

  const reply::Form& form() const { return machine->forms[form_index]; }
  const CallPart& part() const { return form().form->call[call->part]; }
  const CallArguments& arguments() const { return form().form->call[form().arguments_part].arguments; }
  /// The literal behind the part that is read.
  std::string_view literal_behind() const { return form().literal_text(call->part + std::size_t{1}); }
  bool has_literal_behind() const { return form().is_literal(call->part + std::size_t{1}); }
  /// The markers that count in text.
  const MarkerTrie& text_markers() const {
    switch (answer.region) {
      case Region::content: return machine->content;
      case Region::reasoning: return calls_in_reasoning ? machine->calls_reasoning : machine->reasoning;
      case Region::plain: break;
    }
    return machine->turns;
  }
  /// Where the next byte stands.
  std::uint64_t here() const { return out.place() + lead.size() + held_value(); }
  std::size_t held_value() const { return place == Place::part ? call->reader->held(*call) : 0; }

  void put_markup(std::string_view bytes) { out.piece(ReplyEvent::Kind::marker, bytes); }
  /// Of the arguments, what no byte of the reply says.
  void put_meant(std::string_view json) { out.piece(ReplyEvent::Kind::arguments, {}, json); }
  /// Of a call, what is no value: it belongs to the call's beginning while that is not certain.
  void put_frame(std::string_view bytes);
  /// Text outside of calls.
  void put_answer(std::string_view bytes);
  /// What separates two regions of an answer.
  void put_parting();
  /// What follows stands outside of calls.
  void begin_content(Gap gap);
  /// Bytes that were held and are read next. Of two that are given back, the later ones in the reply must be so first.
  void give_back(std::string_view bytes) {
    if (!bytes.empty()) to_driver().back.insert(0, bytes);
  }
  Handed& to_driver() {
    handing = true;
    return handed ? *handed : handed.make();
  }
  /// A name that is known may yet be none: only arguments tell.
  bool waits() const;
  /// The name is known: says that a call begins, of which the lead becomes the source, and is gone but for a copy in
  /// `source`. False where it may not be called.
  bool commit(std::string* source = nullptr);
  /// Says that the marker in `source` lacks a part.
  void note_faulty(const ReplyMarker& marker, std::string_view source);
  /// Whether a call of this name would be one.
  bool is_wanted() const;

  /// The longest marker that `bytes`, which stand at `at`, begin with.
  Found match(const MarkerTrie& markers, std::string_view bytes, std::uint64_t at) const;
  /// The same where the cursor has gone through the first `size` bytes, and no marker ended before the last of them.
  Found match_on(const MarkerTrie& markers, std::string_view bytes, std::uint64_t at, MarkerTrie::Cursor cursor,
                 std::size_t size) const;
  /// The same for what is held from `from` on, where the cursor has gone through it.
  Found match_held(const MarkerTrie& markers, std::size_t from) const;
  /// Whether a marker is one where it stands. Most of those inside of calls are.
  bool counts(const Mark& mark, std::string_view source, std::uint64_t at) const {
    return (!tokens && mark.meaning >= Meaning::part && mark.meaning <= Meaning::tag_whole) ||
           counts_there(mark, source, at);
  }
  bool counts_there(const Mark& mark, std::string_view source, std::uint64_t at) const;
  bool may_be_faulty(std::string_view source) const;
  bool is_fed_so(std::string_view source, std::uint64_t at) const;
  bool may_be_fed_so(std::string_view begin, std::uint64_t at) const;
  /// A control token that was fed as one is no text.
  bool is_certain(std::string_view source) const { return tokens && has_control(source); }
  bool has_control(std::string_view source) const;
  /// Whether these bytes at the end of a reply, which stand for the beginning of a call, stand where calls do. An
  /// answer may end with the name of a marker.
  bool is_placed(std::string_view opening) const {
    return !answer.answers || begins_line || opening.find('\n') != opening.npos || is_certain(opening);
  }

  std::shared_ptr<const Request> request;
  const Machine* machine;  ///< the request's
  EventEmitter out;
  Place place = Place::text;
  Gap gap = Gap::none;
  std::uint8_t form_index = 0;
  Answer answer;
  bool conversation : 1;       ///< a whole prompt is read
  bool in_prompt : 1 = false;  ///< what stands before the reply
  bool tokens : 1 = false;     ///< control tokens are told
  bool finished : 1 = false;   ///< the reply has ended
  bool calls_in_reasoning : 1 = false;
  bool called_in_prompt : 1 = false;  ///< what begins a call stood there
  bool handing : 1 = false;           ///< there is something for the driver
  bool begins_line : 1 = false;       ///< the answer's last byte ends a line
  Step step;                          ///< how the part's reader stands
  Held held;
  HeldText lead;              ///< a call before it is certain to be one
  std::string_view absorb{};  ///< framing that may follow the last marker
  CallBox call;
  Box<Rare> rare;
  Box<Handed> handed;  ///< while `handing`: what a reader gives to the driver
};

inline Step PartReader::read(const char*& p, const char* end, Reading& in) {
  in_ = &in;
  in.step = {};
  read_part(p, end);
  return in.step;
}

inline std::optional<Step> PartReader::finish(Reading& in) {
  in_ = &in;
  in.step = {};
  return finish_part() ? std::optional(in.step) : std::nullopt;
}

inline void PartReader::answer(Step step) { in().step = step; }

}  // namespace parlance::reply
