// The ways in which a marker is written, added to a trie. Begin reading at add.
#pragma once
#include "parlance/reply_format.h"
#include "reply/read/marker_trie.h"

namespace parlance::reply {

Mark mark_of(const ReplyMarker& marker, Meaning meaning, std::size_t index);

/// Every way to write `marker`, after `lead`.
void add(MarkerTrie& trie, const ReplyMarker& marker, Meaning meaning, std::size_t index, const std::string& lead = {});
/// The same, whose line ends before it may have two bytes.
void add_with_returns(MarkerTrie& trie, const ReplyMarker& marker, Meaning meaning, std::size_t index);
/// Its texts, where the white space before them has been read.
void add_bare(MarkerTrie& trie, const ReplyMarker& marker, Meaning meaning, std::size_t index,
              std::uint16_t skipped = 0);
/// The same behind the end of a fence, in which models put what they call.
void add_fenced(MarkerTrie& trie, const ReplyMarker& marker, Meaning meaning, std::size_t index);
/// What ends a reply.
void add_ends(MarkerTrie& trie, const ReplyFormat& format, const std::string& lead = {});
/// What begins calls of one form, and of all.
void add_call(MarkerTrie& trie, const ReplyFormat& format, std::size_t form);
void add_calls(MarkerTrie& trie, const ReplyFormat& format);
/// The control tokens that these begin with, where they have more than that: alone they begin none. To be added last,
/// since most of them begin other markers, too.
void add_strays(MarkerTrie& trie, const ReplyFormat& format);

}  // namespace parlance::reply
