// Comparing slices of prompts: what they begin and end with in common, and where markers are. Begin reading at Same.
//
// Equal bytes are not enough to say that two texts are the same: two calls in a row may both end with `"}`, one with
// the template's bracket and one with its argument's. So a byte has a place, the byte of the template that it was
// written from (0 for the request's), and two bytes are the same only if their places are.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "probe/probe_request.h"

namespace parlance::probe {

/// When two bytes are the same.
enum class Same : std::uint8_t {
  text,   ///< the bytes are
  place,  ///< and they are the same byte of the template
};

std::size_t common_prefix(Stretch a, Stretch b, Same same);
std::size_t common_suffix(Stretch a, Stretch b, Same same);

using ascii::is_blank;
using ascii::is_space;
using ascii::trimmed;
using ascii::trimmed_left;
using ascii::trimmed_right;
/// Letters, digits, and what stands between words: nothing that marks anything.
bool are_words(std::string_view text);

/// A tag of markup: <…> or […], or what else stands together without white space.
struct Tag {
  std::size_t begin = 0;
  std::size_t end = 0;
};
/// The tags that stand in `text`, brackets of JSON aside.
std::vector<Tag> tags_of(std::string_view text);
/// `cut` moved back to the begin of the tag that it would cut, if it would cut one.
std::size_t before_cut_tag(std::string_view text, std::size_t cut);
/// `cut` moved on to the end of the tag that it would cut.
std::size_t behind_cut_tag(std::string_view text, std::size_t cut);

/// A tag, and further ones that are joined to it by a word: <|channel|>final<|message|>. Both give the whole chain.
/// The chain that begins at `begin` ends there.
std::size_t chain_end(std::string_view text, std::size_t begin);
/// The chain with the last tag of `text` begins there; text.size() where there is no tag.
std::size_t last_chain_begin(std::string_view text);

/// How many bytes before `to` the part [from, to) of `text` shares with the end of `other`: the same bytes of the
/// template, or whole tags.
std::size_t shared_end(Stretch text, std::size_t from, std::size_t to, Stretch other);
/// How many bytes from `from` on it shares with the begin of `other`.
std::size_t shared_begin(Stretch text, std::size_t from, std::size_t to, Stretch other);

/// Where nothing was found.
inline constexpr std::size_t kNone = std::string_view::npos;

/// A marker of a text with white space around it; none of a blank text.
ReplyMarker marker_of(std::string_view text);
/// The same as a part of a call.
CallPart literal_part(std::string_view text);
/// The first chain of tags of a text behind white space, or its first word; "" of a blank text.
std::string_view first_tag(std::string_view text);
/// At most 48 bytes of a text, for people.
std::string shortened(std::string_view text);

}  // namespace parlance::probe
