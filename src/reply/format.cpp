// Whether a parser can be made of a ReplyFormat. Begin reading at ReplyFormat::validate.
#include <map>

#include "parlance/reply.h"

namespace parlance {
namespace {

constexpr std::size_t kLongestMarker = 128;
constexpr std::size_t kLongestFraming = 16;
constexpr std::size_t kMost = 16;       // forms, turns, ends
constexpr std::size_t kMostTexts = 8;   // ways to write a marker
constexpr std::size_t kAllTexts = 4096; // bytes of all of them with their framing: keeps the tries below 2^16 nodes

/// Checks one field after the other and keeps the first fault.
class Check {
 public:
  void fail(std::string path, std::string message) {
    if (failed_) return;
    failed_ = true;
    parts_.code = ErrorCode::value;
    parts_.input_path = std::move(path);
    parts_.message = std::move(message);
  }
  void need(bool holds, const std::string& path, const char* message) {
    if (!holds) fail(path, message);
  }
  /// Texts and framing of a marker, whether it must be there or not.
  void marker(const ReplyMarker& marker, const std::string& path) {
    for (const std::string& text : marker.texts) need(!text.empty() && text.size() <= kLongestMarker, path, "a marker has 1 to 128 bytes");
    need(marker.texts.size() <= kMostTexts, path, "a marker is written in at most 8 ways");
    need(marker.before.size() <= kLongestFraming && marker.after.size() <= kLongestFraming, path, "framing has at most 16 bytes");
    const std::size_t framing = marker.before.size();
    for (const std::string& text : marker.texts) bytes_ += (framing + 1) * (framing + text.size());
    need(bytes_ <= kAllTexts, path, "too many markers, or too long");
    need(marker.exists() || (marker.before.empty() && marker.after.empty()), path, "framing without a marker");
  }
  /// The same text must not mean two things in the text of a reply.
  void distinct(const ReplyMarker& marker, const std::string& path) {
    for (const std::string& text : marker.texts) {
      const auto [there, is_new] = seen_.emplace(text, path);
      if (!is_new) fail(path, "the same marker as " + there->second);
    }
  }
  Result<void> take() { return failed_ ? Result<void>(Error(std::move(parts_))) : Result<void>(); }

 private:
  bool failed_ = false;
  std::size_t bytes_ = 0;
  Error::Parts parts_;
  std::map<std::string, std::string> seen_;
};

std::string at(const char* list, std::size_t i) { return std::string(list) + "[" + std::to_string(i) + "]"; }

void check_codec(Check& check, const CallForm& form, const std::string& path) {
  const bool header = form.name_place == NamePlace::header;
  switch (form.arguments) {
    case ArgumentCodec::json:
      check.need(header || !form.argument_members.empty(), path + ".arguments", "the key of the arguments is missing");
      break;
    case ArgumentCodec::keywords:
      check.need(header, path + ".codec", "keywords need their name in the header");
      check.need(!form.callee.empty(), path + ".callee", "keywords need what is called");
      break;
    case ArgumentCodec::code:
      check.need(header, path + ".codec", "code needs its name in the header");
      check.need(!form.code_argument.empty(), path + ".code_argument", "code needs the argument that it becomes");
      check.need(form.close.exists() && form.close.before.empty(), path + ".close", "code needs a closing marker without framing before it");
      break;
  }
}

void check_form(Check& check, const ReplyFormat& format, const CallForm& form, const std::string& path) {
  check.marker(form.open, path + ".open");
  check.marker(form.close, path + ".close");
  check.need(form.open.exists(), path + ".open", "a call needs an opening marker");
  if (form.name_place == NamePlace::member) {
    check.distinct(form.open, path + ".open");
    check.need(!form.name_members.empty(), path + ".name", "the key of the name is missing");
  } else {
    bool answers = false;
    for (const ReplyTurn& turn : format.turns) answers = answers || (turn.role == "assistant" && !turn.header_close.empty());
    check.need(answers, path + ".name_place", "no turn of the assistant has a header");
    check.need(form.layout == CallLayout::single, path + ".layout", "a header names one call, not a list");
  }
  check_codec(check, form, path);
}

}  // namespace

Result<void> ReplyFormat::validate() const {
  Check check;
  check.need(calls.size() <= kMost && end.size() <= kMost && turns.size() <= kMost, "", "at most 16 forms, ends and turns");
  check.marker(reasoning_open, "reasoning.open");
  check.marker(reasoning_close, "reasoning.close");
  check.need(reasoning_close.exists() || !reasoning_open.exists(), "reasoning.close", "reasoning that begins must have an end");
  check.need(reasoning_close.exists() || start != ReplyStart::reasoning, "start", "there is no reasoning to start in");
  check.distinct(reasoning_open, "reasoning.open");
  check.distinct(reasoning_close, "reasoning.close");
  bool answers = start != ReplyStart::header;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    check.marker(turns[i].open, at("turns", i) + ".open");
    check.need(turns[i].open.exists(), at("turns", i) + ".open", "a turn needs a marker");
    check.need(!turns[i].role.empty(), at("turns", i) + ".role", "a turn needs a role");
    check.distinct(turns[i].open, at("turns", i) + ".open");
    answers = answers || (turns[i].role == "assistant" && !turns[i].header_close.empty());
  }
  check.need(answers, "start", "no turn of the assistant has a header to start in");
  for (std::size_t i = 0; i < end.size(); ++i) {
    check.marker(end[i], at("end", i));
    check.need(end[i].exists(), at("end", i), "an end needs a marker");
    check.distinct(end[i], at("end", i));
  }
  for (std::size_t i = 0; i < calls.size(); ++i) check_form(check, *this, calls[i], at("calls", i));
  return check.take();
}

}  // namespace parlance
