// Looking for texts of a request in its prompt. Each text that should be there is looked for; where all texts of one
// thing are missing, the thing is named and not its texts.
//
// What is looked for where stands in messages.cpp, calls.cpp and tools.cpp.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conversation/conversation.h"
#include "losses/reached.h"
#include "losses/thoughts.h"
#include "parlance/losses.h"
#include "value/dict.h"

namespace parlance {

/// Where a value stands among the variables. Put together as text only for what is lost.
struct Place {
  const Place* parent = nullptr;
  std::string_view name;
  std::int64_t index = -1;  ///< of a list's item, in place of a name
  Place operator[](std::int64_t item) const { return {this, {}, item}; }
  Place operator[](std::string_view member) const { return {this, member}; }
  std::string text() const { return below(nullptr); }
  /// From behind another place on, one that this is in.
  std::string below(const Place* other) const;
};

/// What the losses say of a member that the template knows by name, and prints nothing of. It may be asked for, so that
/// a render without it has to tell (doubts.h).
struct Doubt {
  struct Step {
    std::string_view name;
    std::int64_t index;  ///< of a list's item, in place of a name
  };
  std::vector<Step> steps;  ///< from the variables to the member
  Loss loss;
};

/// How a template treats what an assistant said: it may cut reasoning out of it.
enum class Cuts : std::uint8_t {
  no,       ///< it was no assistant's
  over,     ///< of a turn that is over reasoning is left out by design
  going_on  ///< in the turn that goes on the model needs it
};

/// How many texts of one thing there are and how many are lost, and where what was said of them begins.
struct Tally {
  std::size_t first_loss;
  std::size_t texts = 0;
  std::size_t lost = 0;
  void add(bool is_lost) {
    ++texts;
    lost += is_lost ? 1 : 0;
  }
  void add(const Tally& part) {
    texts += part.texts;
    lost += part.lost;
  }
  bool all_lost() const { return texts != 0 && lost == texts; }
};

class TextSearch {
 public:
  TextSearch(const Conversation& conversation, const Reached& reached, const TemplateFacts& facts, const Marks& marks,
             bool left_out, std::vector<Loss>& losses)
      : conversation_(conversation),
        reached_(reached),
        facts_(facts),
        marks_(marks),
        left_out_(left_out),
        losses_(losses) {}

  /// Is what is left out by design asked for?
  bool left_out() const { return left_out_; }
  const TemplateFacts& facts() const { return facts_; }
  /// Is the request another API's (conversation/api_request.h)?
  bool is_converted() const { return inside_of(conversation_).converted.kind == Kind::dict; }
  /// Was this text the reasoning of a message, as the request of another API was converted?
  bool is_given_reasoning(Value text) const;
  bool is_go() const { return facts_.syntax == Syntax::go; }
  /// A member of the request as it was before the passes; undefined if there is none.
  Value given(std::string_view name) const;
  /// The tool as the request has it, before the passes; undefined if there is none.
  Value given_tool(std::int64_t number) const;
  /// Where the losses are, and what may be one.
  std::set<std::string, std::less<>> said_paths() const;
  bool mentions(std::string_view name) const { return facts_.mentions(name); }
  Tally tally() const { return {losses_.size()}; }
  std::size_t said() const { return losses_.size(); }
  Loss& at(std::size_t number) { return losses_[number]; }

  void lose(std::string_view subject, std::string path, std::string hint = {});
  void leave_out(std::string_view subject, std::string path);
  /// An id, or who speaks.
  void id(Value value, const Place& place);
  /// Is it the first time that this path is asked about? Passes give a thing under two names.
  bool is_first(const std::string& path) { return named_.insert(path).second; }
  /// Takes back what was said from that number on.
  void drop_from(std::size_t number) { losses_.resize(number); }
  void note(Loss loss) { losses_.push_back(std::move(loss)); }
  /// A member of which nothing is there, and that belongs into the prompt: lost, unless the template knows its name and
  /// a render without it is another.
  void lose_member(std::string_view subject, Value value, const Place& place, Tally& all, std::string hint = {});
  const std::vector<Doubt>& doubts() const { return doubts_; }
  /// From now on values whose path is that of a text, which they were read from, have paths below it, as their places
  /// have below `place`; null: no more.
  void read_from_text(const Place* place, std::string path = {}) { text_place_ = place, text_path_ = std::move(path); }
  /// How many losses were said since.
  std::size_t lost_since(const Tally& tally) const;
  /// One loss in place of those of the parts, if the request has them at one place; what is left out stays said.
  void lose_whole(const Tally& tally, std::string_view subject, std::string path);

  /// Where the request has a value; as `place` says where it was made by a pass.
  std::string path_of(Value value, const Place& place) const;
  /// Did a pass make this text out of nothing that the request has?
  bool is_made(Value text) const { return conversation_.path_of(text).empty(); }
  /// Was any of it printed: text by its bytes, all else by its id?
  bool is_reached(Value value) const;
  /// Was a text printed in pieces, with something else between them?
  bool is_scattered(Value text) const { return text.is_leaf() && reached_.is_scattered(leaf_text(text)); }
  /// Was any of it printed, however deep, or any name of a member?
  bool is_any_reached(Value value) const;
  /// Was it, or a container in it, printed as Python writes data?
  bool is_python(Value value) const;
  /// A text that belongs into the prompt as it is, or a number.
  void text(Value value, std::string_view subject, const Place& place, Tally& all, Cuts cuts = Cuts::no);
  /// Is the key of a member of `container` there: its own bytes, or the container as JSON or as Python prints it?
  bool is_key_reached(Value container, Value key) const { return is_reached(container) || is_reached(key); }
  /// All that is said in the members of a dict; what has no words of its own is there where its key is.
  void members(Value dict, std::string_view subject, const Place& place, Tally& all);
  void leaves(bool key_is_reached, Value value, std::string_view subject, const Place& place, Tally& all);

 private:
  void piece(std::string_view bytes, std::string_view subject, const Place& place, Tally& all, Cuts cuts);
  bool is_left_out(std::string_view bytes, Cuts cuts) const;
  void cut(std::string_view bytes, std::string_view subject, const Place& place, Cuts cuts);
  std::string in_text(std::string path, const Place& place) const;
  std::string misspelt(std::string_view name) const;

  const Conversation& conversation_;
  const Reached& reached_;
  const TemplateFacts& facts_;
  const Marks& marks_;
  const bool left_out_;
  std::vector<Loss>& losses_;
  std::vector<Doubt> doubts_;
  std::set<std::string> named_;
  const Place* text_place_ = nullptr;
  std::string text_path_;
};

/// Is there anything but white space?
bool has_words(std::string_view text);
bool has_words(Value text);
/// Does a value say anything: words, a number, a member?
bool has_content(Value value);
bool is_one_of(std::string_view name, std::span<const std::string_view> names);

/// A part of a message's content that has no text: an image, a sound.
struct MediaPart {
  std::uint32_t message;
  std::string_view member;  ///< "content", or Ollama's "images"
  std::uint32_t part;       ///< in the list that the member is
  std::string path;
  std::string type;
};

/// Members of a message that only say who speaks or what belongs together.
inline constexpr std::string_view kIds[] = {"id", "tool_call_id", "call_id", "name", "tool_name"};

/// What of a message's calls is lost, each of them and all.
void find_lost_calls(TextSearch& search, Value calls, const Place& place, Tally& all);
/// What of the messages is lost and left out, in their order, and the parts that have no text to look for.
void find_lost_messages(TextSearch& search, Value messages, std::vector<MediaPart>& media);
void find_lost_tools(TextSearch& search, Value variables);
void find_lost_documents(TextSearch& search, Value variables);

}  // namespace parlance
