// Whether a parser can be made of a ReplyFormat. Begin reading at ReplyFormat::validate.
#include <map>
#include <optional>
#include <set>

#include "base/ascii.h"
#include "parlance/json.h"
#include "parlance/reply_format.h"
#include "reply/codec.h"
#include "reply/format/fields.h"
#include "reply/marker_texts.h"

namespace parlance {
namespace {

using Codec = CallArguments::Codec;
using Part = CallPart::Kind;
using Role = CallMember::Role;
using reply::ArgumentsEnd;
using reply::CodecFacts;
using reply::facts_of;
using reply::kLongestMarker;

static_assert(kLongestMarker == 128, "the errors below say so");

// Bounds like that of markers.
constexpr std::size_t kLongestFraming = 16;
constexpr std::size_t kMost = 16;  // forms, turns, ends
constexpr std::size_t kMostParts = 16;
constexpr std::size_t kMostTexts = 12;  // ways to write a marker
constexpr std::size_t kMostLast = 32;
constexpr std::size_t kAllTexts = 4096;  // bytes of all of them with their framing: keeps the tries below 2^16 nodes
constexpr int kMostObjects = 64;

/// Checks one field after the other and keeps the first fault.
class Check {
 public:
  void fail(std::string path, std::string message) {
    if (!failure_) failure_ = Error(ErrorCode::value, std::move(message)).input(std::move(path));
  }
  void need(bool holds, const std::string& path, const char* message) {
    if (!holds) fail(path, message);
  }
  /// White space that is no marker's.
  void blank(const std::string& text, const std::string& path) {
    need(text.size() <= kLongestFraming && ascii::is_blank(text), path,
         "framing is white space, at most 16 bytes of it");
  }
  /// Texts and framing of a marker, whether it must be there or not.
  void marker(const ReplyMarker& marker, const std::string& path) {
    for (const std::string& text : marker.texts)
      need(!text.empty() && text.size() <= kLongestMarker, path, "a marker has 1 to 128 bytes");
    for (const std::string& text : marker.loose)
      need(is_loose(text), path, "a loose way to write a marker has 1 to 128 bytes, and a '<' behind each '*'");
    for (const std::string& text : marker.faulty)
      need(!text.empty() && text.size() <= kLongestMarker, path, "a faulty way to write a marker has 1 to 128 bytes");
    for (const auto* texts : {&marker.texts, &marker.loose, &marker.faulty})
      need(texts->size() <= kMostTexts, path, "a marker is written in at most 12 ways");
    need(marker.before.size() <= kLongestFraming && marker.after.size() <= kLongestFraming, path,
         "framing has at most 16 bytes");
    need(ascii::is_blank(marker.before) && ascii::is_blank(marker.after), path, "framing is white space");
    const std::size_t framing = marker.before.size();
    // White space before a marker may be there in part or not at all. The trie has a path for each of its suffixes.
    for (const auto* texts : {&marker.texts, &marker.loose, &marker.faulty}) {
      for (const std::string& text : *texts) bytes_ += (framing + 1) * (framing + text.size());
    }
    need(bytes_ <= kAllTexts, path, "too many markers, or too long");
    need(marker.exists() ||
             (marker.before.empty() && marker.after.empty() && marker.loose.empty() && marker.faulty.empty()),
         path, "framing without a marker");
  }
  /// The same for one that opens nothing.
  void plain_marker(const ReplyMarker& one, const std::string& path) {
    marker(one, path);
    need(one.faulty.empty(), path, "only what opens reasoning, content or calls may be faulty");
  }
  /// The same text must not mean two things in one place; white space inside does not tell them apart.
  void distinct(const ReplyMarker& marker, const std::string& path) { distinct(marker, path, path); }
  /// What begins calls may begin those of several forms.
  void distinct_opener(const ReplyMarker& marker, const std::string& path) { distinct(marker, path, "calls"); }
  Result<void> take() { return failure_ ? Result<void>(*failure_) : Result<void>(); }

 private:
  void distinct(const ReplyMarker& marker, const std::string& path, const std::string& meaning) {
    std::vector<std::string> texts = marker.texts;
    texts.insert(texts.end(), marker.faulty.begin(), marker.faulty.end());
    for (const std::string& text : texts) {
      const auto [there, is_new] = seen_.emplace(without_blanks(text), std::pair(meaning, path));
      if (!is_new && there->second.first != meaning) fail(path, "the same marker as " + there->second.second);
    }
  }
  /// '*' stands for any text up to the next '<'. Without that sign behind it, a reader would not know where it ends.
  static bool is_loose(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '*' && (i == 0 || i + 1 == text.size() || text[i + 1] != '<')) return false;
    }
    return !text.empty() && text.size() <= kLongestMarker;
  }
  static std::string without_blanks(const std::string& text) {
    if (ascii::is_blank(text)) return text;
    std::string out;
    for (const char c : text) {
      if (!ascii::is_blank({&c, 1})) out += c;
    }
    return out;
  }

  std::size_t bytes_ = 0;
  std::optional<Error> failure_;
  std::map<std::string, std::pair<std::string, std::string>> seen_;  ///< what a marker means, and where it stands
};

std::string at(const std::string& list, std::size_t i) { return list + "[" + std::to_string(i) + "]"; }

// ---- calls

/// What a call says, counted over its parts and the members of its object.
struct Says {
  int names = 0, arguments = 0, ids = 0, objects = 0;
};

/// Adds to `says` what the object and the objects inside say. The name and the arguments must each be found once, so
/// that a call means one thing; a second way to say both (`{"function": {"name": …}}` beside `name`) counts apart.
void check_members(Check& check, const std::vector<CallMember>& members, const std::string& path, std::size_t depth,
                   Says& says) {
  std::set<std::string> keys;
  check.need(!members.empty(), path, "an object without members");
  check.need(depth <= reply::kDeepestObject && ++says.objects <= kMostObjects, path, "too deep, or too many objects");
  bool has_name = false, has_arguments = false, has_id = false;
  for (const CallMember& member : members) {
    const std::string place = path + "." + member.key;
    check.need(keys.insert(member.key).second, place, "the same key twice");
    check.need(member.key != "{name}", place, "no key has this name");
    has_name = has_name || member.role == Role::name || member.role == Role::any_name;
    has_arguments = has_arguments || member.role == Role::arguments || member.role == Role::any_name;
    has_id = has_id || member.role == Role::id;
    if (member.role == Role::constant) {
      Document document;
      check.need(bool(document.parse(member.constant)), place, "a constant is a value of JSON");
    } else if (member.role == Role::inner) {
      // The number of objects goes on counting: it bounds the recursion over all of them.
      Says apart{.objects = says.objects};  // of another way to say the same
      Says& inner = has_name && has_arguments ? apart : says;
      check_members(check, member.members, place, depth + 1, inner);
      says.objects = inner.objects;
    } else if (member.role == Role::any_name) {
      check.need(member.key.empty(), place, "a key that is the name has no key");
    }
  }
  says.names += has_name;
  says.arguments += has_arguments;
  says.ids += has_id;
}

void check_tags(Check& check, const ArgumentTags& tags, const std::string& path) {
  check.plain_marker(tags.open, path + ".open");
  check.plain_marker(tags.key_close, path + ".key_close");
  check.plain_marker(tags.type_close, path + ".type_close");
  check.plain_marker(tags.close, path + ".close");
  check.plain_marker(tags.whole, path + ".whole");
  check.need(tags.open.exists(), path + ".open", "an argument's tag needs a beginning");
  check.need(tags.key_close.exists(), path + ".key_close", "a key needs an end");
  check.need(tags.close.exists(), path + ".close", "an argument's tag needs an end");
  // `</p>` could close the inner value or the outer one; `</p=city>` says which.
  check.need(tags.item.empty() || !tags.close_end.empty(), path + ".item",
             "values that nest repeat their key at the end");
  check.need(tags.item.empty() || !tags.type_close.exists(), path + ".item", "values that nest have no type");
  check.need(tags.string_types.empty() || tags.type_close.exists(), path + ".string_types", "there is no type");
}

void check_arguments(Check& check, const CallForm& form, std::size_t i, const std::string& path) {
  const CallArguments& arguments = form.call[i].arguments;
  const bool literal_follows = i + 1 < form.call.size() && form.call[i + 1].kind == Part::literal;
  const bool named_before = i > 0 && form.call[i - 1].kind == Part::name;
  const CodecFacts facts = facts_of(arguments.codec);
  // Tags, say, have no bracket around them all, so only the literal tells that no further tag comes.
  const bool may_end_call = facts.end == ArgumentsEnd::literal_or_reply && i + 1 == form.call.size();
  check.need(facts.end == ArgumentsEnd::bracket || literal_follows || may_end_call, path,
             facts.end == ArgumentsEnd::literal ? "such arguments need a literal behind them"
                                                : "such arguments need a literal behind them, or nothing");
  switch (arguments.codec) {
    case Codec::json: break;
    case Codec::tags: check_tags(check, arguments.tags, path + ".arguments.tags"); break;
    case Codec::keywords:
      check.need(named_before || !arguments.callee.empty(), path, "keywords need a callee, or a name before them");
      break;
    case Codec::bare:
      check.need(!arguments.quote.empty() && arguments.quote.size() <= kLongestMarker, path, "strings need a quote");
      break;
    case Codec::code:
      check.need(!arguments.argument.empty(), path, "a program needs the argument that it becomes");
      break;
  }
}

/// A text must be told from what follows it.
/// A name, id or skipped text has no end of its own. Arguments end a name by their first sign, such as '{' or '('; a
/// program may begin with any byte.
void check_text(Check& check, const CallForm& form, std::size_t i, const std::string& path) {
  const Part follows = i + 1 < form.call.size() ? form.call[i + 1].kind : Part::name;
  const bool by_arguments = form.call[i].kind == Part::name && follows == Part::arguments &&
                            !facts_of(form.call[i + 1].arguments.codec).begins.empty();
  check.need(follows == Part::literal || by_arguments, path, "needs a literal behind it");
}

void check_parts(Check& check, const CallForm& form, const std::string& path) {
  Says says;
  for (std::size_t i = 0; i < form.call.size(); ++i) {
    const CallPart& part = form.call[i];
    const std::string place = at(path + ".call", i);
    check.blank(part.before, place + ".before");
    switch (part.kind) {
      case Part::literal:
        if (i == 0 && form.layout == CallLayout::single) {
          check.marker(part.literal, place);
        } else {
          check.plain_marker(part.literal, place);
        }
        check.need(part.literal.exists(), place, "a literal needs a text");
        break;
      case Part::object:
        check_members(check, part.members, place + ".object", 1, says);
        check.need(says.names == 1 && says.arguments == 1, place,
                   "an object holds the name, once, and the arguments, once");
        break;
      case Part::arguments:
        ++says.arguments;
        check_arguments(check, form, i, place);
        break;
      case Part::name:
        if (says.names == 0) ++says.names;  // a second one repeats it
        [[fallthrough]];
      default:
        if (part.kind == Part::id && part.pattern.find("{name}") != part.pattern.npos && says.names == 0) ++says.names;
        if (part.kind == Part::id) ++says.ids;
        check_text(check, form, i, place);
        break;
    }
  }
  const bool named = form.headed || !form.name.empty();
  check.need(says.names == (named ? 0 : 1), path + ".call",
             form.headed ? "the header is the name"
             : named     ? "the form has the name"
                         : "a call needs a name, once");
  check.need(says.arguments == 1, path + ".call", "a call needs arguments, once");
  check.need(says.ids <= 1, path + ".call", "a call has one id");
}

void check_form(Check& check, const ReplyFormat& format, const CallForm& form, const std::string& path) {
  check.marker(form.open, path + ".open");
  check.plain_marker(form.close, path + ".close");
  check.need(!form.call.empty() && form.call.size() <= kMostParts, path + ".call", "a call has 1 to 16 parts");
  if (form.call.empty()) return;
  const bool single = form.layout == CallLayout::single;
  const bool literal_first = form.call.front().kind == Part::literal;
  check.need(!single || (!form.open.exists() && !form.close.exists()), path + ".open",
             "a single call has its markers in `call`");
  check.need(form.layout != CallLayout::section || form.open.exists(), path + ".open",
             "a section needs an opening marker");
  check.need(!form.commas_optional || form.layout == CallLayout::list, path + ".commas_optional",
             "only a list has commas");
  check.need(form.header.empty() || form.headed, path + ".header", "only a headed call has one");
  check.need(form.name.empty() || !form.headed, path + ".name", "the header is the name");
  // The name stands in the turn's header, before the call: that needs a turn with a header to read it from, and it can
  // name one call only.
  if (form.headed) {
    bool answers = false;
    for (const ReplyTurn& turn : format.turns)
      answers = answers || (turn.role == "assistant" && !turn.header_close.empty());
    check.need(answers, path + ".headed", "no turn of the assistant has a header");
    check.need(single, path + ".layout", "a header names one call, not several");
    check.need(!form.initial, path + ".initial", "a headed call begins with its header");
    check.need(literal_first, path + ".call", "a headed call begins with a literal");
  } else {
    const bool begins = single ? literal_first : form.open.exists();
    check.need(begins || form.initial, path + ".call", "needs a literal to begin with, unless it is initial");
    if (literal_first && (single || form.open_optional))
      check.distinct_opener(form.call.front().literal, at(path + ".call", 0));
    if (!single) check.distinct_opener(form.open, path + ".open");
  }
  check_parts(check, form, path);
}

}  // namespace

Result<void> ReplyFormat::validate() const {
  Check check;
  check.need(calls.size() <= kMost && end.size() <= kMost && turns.size() <= kMost, "",
             "at most 16 forms, ends and turns");
  check.marker(reasoning_open, "reasoning.open");
  check.plain_marker(reasoning_close, "reasoning.close");
  check.marker(content_open, "content.open");
  check.plain_marker(content_close, "content.close");
  check.need(reasoning_close.exists() || content_open.exists() || !reasoning_open.exists(), "reasoning.close",
             "reasoning that begins must have an end");
  check.distinct(reasoning_open, "reasoning.open");
  check.distinct(reasoning_close, "reasoning.close");
  check.distinct(content_open, "content.open");
  // Content and reasoning are never open at once, so one marker may close either.
  if (content_close.texts != reasoning_close.texts) check.distinct(content_close, "content.close");
  for (std::size_t i = 0; i < turns.size(); ++i) {
    check.plain_marker(turns[i].open, at("turns", i) + ".open");
    check.need(turns[i].open.exists(), at("turns", i) + ".open", "a turn needs a marker");
    check.need(!turns[i].role.empty(), at("turns", i) + ".role", "a turn needs a role");
    check.distinct(turns[i].open, at("turns", i) + ".open");
    const bool has_place = !turns[i].header_close.empty() && !turns[i].header_close.starts_with(' ');
    check.need(!turns[i].dummy_prefix || has_place, at("turns", i) + ".dummy_prefix",
               "needs a header_close to stand behind, which begins with no blank");
  }
  for (std::size_t i = 0; i < end.size(); ++i) {
    check.plain_marker(end[i], at("end", i));
    check.need(end[i].exists(), at("end", i), "an end needs a marker");
    check.distinct(end[i], at("end", i));
  }
  check.need(last.size() <= kMostLast, "last", "at most 32 texts end a reply that nothing follows");
  for (const std::string& text : last)
    check.need(!text.empty() && text.size() <= kLongestMarker, "last", "such a text has 1 to 128 bytes");
  for (const std::string& text : control)
    check.need(!text.empty() && text.size() <= kLongestMarker, "control", "a control token has 1 to 128 bytes");
  for (std::size_t i = 0; i < calls.size(); ++i) check_form(check, *this, calls[i], at("calls", i));
  return check.take();
}

}  // namespace parlance
