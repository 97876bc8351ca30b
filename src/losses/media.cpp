// The request is rendered with none of its parts that have no text, then with the first, the first two and so on. A
// part by which nothing changes is lost; what comes in between two prompts is the part's placeholder. So parts that
// look alike are told apart, and what a template counts ("Picture 2") stays right. Begin reading at find_placeholders.
#include "losses/media.h"

#include <algorithm>
#include <optional>

#include "conversation/conversation.h"
#include "conversation/edit.h"

namespace parlance {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};

/// The variables with the first `count` of the parts alone, and part `twice` said twice.
class Selection {
 public:
  Selection(const Conversation& conversation, const std::vector<MediaPart>& media, std::size_t count, std::size_t twice)
      : conversation_(conversation), media_(media), count_(count), twice_(twice) {}

  Value variables(Runtime& rt) const {
    ListEditor messages(rt, conversation_.messages());
    for (std::size_t i = 0; i < media_.size();) {
      const MediaPart& first = media_[i];
      const std::size_t end = end_of_list(i);
      const bool changes = end > count_ || (twice_ >= i && twice_ < end);
      if (changes) {
        const Value old = messages[first.message];
        messages.set(first.message, with_member(rt, old, first.member, chosen(rt, *member(old, first.member), i)));
      }
      i = end;
    }
    return with_member(rt, conversation_.variables(), "messages", messages.finish());
  }

 private:
  /// Behind the last part that stands in the same list as part `i`.
  std::size_t end_of_list(std::size_t i) const {
    std::size_t end = i;
    while (end < media_.size() && media_[end].message == media_[i].message && media_[end].member == media_[i].member)
      ++end;
    return end;
  }

  Value chosen(Runtime& rt, Value list, std::size_t next) const {
    ListBuilder kept(rt, list.list->size + 1);
    for (std::uint32_t number = 0; number < list.list->size; ++number) {
      const bool is_media = next < media_.size() && media_[next].part == number;
      const std::size_t times = !is_media ? 1 : next == twice_ ? 2 : next < count_ ? 1 : 0;
      for (std::size_t time = 0; time < times; ++time) kept.append(list.list->items[number]);
      if (is_media) ++next;
    }
    return with_origin(kept.finish(), list.list->origin);
  }

  const Conversation& conversation_;
  const std::vector<MediaPart>& media_;
  const std::size_t count_;
  const std::size_t twice_;
};

/// Where bytes come in that make one text of another: any place from `first` to `last` explains it, since what comes in
/// may begin as what follows it does.
struct Insertion {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t size = 0;
};

bool find_insertion(std::string_view less, std::string_view more, Insertion& found) {
  if (more.size() <= less.size()) return false;
  const auto front =
      static_cast<std::size_t>(std::mismatch(less.begin(), less.end(), more.begin()).first - less.begin());
  const auto back =
      static_cast<std::size_t>(std::mismatch(less.rbegin(), less.rend(), more.rbegin()).first - less.rbegin());
  if (front + back < less.size()) return false;
  found = {less.size() - back, front, more.size() - less.size()};
  return true;
}

/// The first place of those that is behind `done` and where the template's own text begins.
std::size_t begin_of(const Insertion& insertion, std::size_t done, std::span<const Span> spans) {
  const std::size_t least = std::max(insertion.first, done);
  const auto span = std::find_if(spans.begin(), spans.end(),
                                 [&](const Span& one) { return one.begin >= least && one.origin == Origin::literal; });
  return span != spans.end() && span->begin <= insertion.last ? span->begin : std::min(least, insertion.last);
}

/// What came in as the whole that stands for the part: a tag of Ollama's, `[img-0]`, stands in place of a text of the
/// message, `[img]`, and has bytes in common with it. It was made of that text at once, so it is a span of its own.
TextRange whole_of(TextRange came_in, const Rendering& rendering) {
  constexpr std::string_view kPlace = "[img]";
  for (const Span& span : rendering.spans()) {
    if (span.origin != Origin::derived || span.begin > came_in.begin || span.end < came_in.end) continue;
    std::string rest(rendering.text().substr(span.begin, came_in.begin - span.begin));
    rest += rendering.text().substr(came_in.end, span.end - came_in.end);
    if (rest == kPlace) return {span.begin, span.end};
  }
  return came_in;
}

class Parts {
 public:
  Parts(const Experiment& experiment, const std::vector<MediaPart>& media, const Rendering& rendering)
      : experiment_(experiment), media_(media), rendering_(rendering), trial_(experiment) {}

  /// The prompt with the first `count` parts, part `twice` said twice; false where the template fails.
  bool take(std::size_t count, std::string& text, std::size_t twice = kNone) {
    if (count == media_.size() && twice == kNone) {
      text = rendering_.text();
      return true;
    }
    const Selection selection(experiment_.conversation, media_, count, twice);
    const auto made = trial_.text([&](Runtime& rt, Value) { return selection.variables(rt); });
    if (!made) return false;
    text = *made;
    return true;
  }

  /// Is the prompt the same with an empty text in place of the part? For templates that fail without it.
  bool is_as_empty(std::size_t number) {
    const MediaPart& part = media_[number];
    if (part.member != "content") return false;
    return trial_.is_same(rendering_, [&](Runtime& rt, Value variables) {
      DictBuilder text(rt, 2);
      text.set("type", Value::view("text"));
      text.set("text", Value::view(""));
      ListEditor messages(rt, experiment_.conversation.messages());
      const Value message = messages[part.message];
      ListEditor content(rt, *member(message, part.member));
      content.set(part.part, text.finish());
      messages.set(part.message, with_member(rt, message, part.member, content.finish()));
      return with_member(rt, variables, "messages", messages.finish());
    });
  }

  /// Finds what stands for a part: what it brings that the prompt `less` lacks and `more` has. Null: such a prompt
  /// cannot be had. With its first image a template may write more than the image, or put the parts into another order
  /// than in the whole prompt: then what the same part brings once more shows its place.
  void place(std::size_t number, const std::string* less, const std::string* more,
             std::vector<Placeholder>& placeholders) {
    std::string twice;
    TextRange found;
    const std::string_view whole = rendering_.text();
    const bool is_found = (less != nullptr && more != nullptr && came_in(*less, *more, found)) ||
                          (more != nullptr && take(number + 1, twice, number) && came_in(*more, twice, found, true)) ||
                          (take(media_.size(), twice, number) && came_in(whole, twice, found, true));
    const std::optional<TextRange> tag = tag_of(number);
    has_gap_ = has_gap_ || (!is_found && !tag);
    if (!is_found && !tag) return;
    TextRange stands = is_found ? whole_of(found, rendering_) : *tag;
    if (tag && (tag->begin < stands.begin || tag->end > stands.end)) stands = *tag;
    placeholders.push_back({stands, media_[number].path, media_[number].type});
    if (is_found) done_ = found.end;
  }

 private:
  const Experiment& experiment_;
  const std::vector<MediaPart>& media_;
  const Rendering& rendering_;
  /// Where the whole prompt has what comes in between two others; false where it does not stand there, or may stand
  /// for a part before that was not found. With `twice` it is a copy of what stands before it: what parts two images,
  /// or counts them, is none.
  bool came_in(std::string_view less, std::string_view more, TextRange& found, bool twice = false) const {
    Insertion insertion;
    if (!find_insertion(less, more, insertion)) return false;
    const bool is_copy = insertion.last - insertion.first >= insertion.size;
    if (is_copy ? has_gap_ : twice) return false;
    found.begin = begin_of(insertion, done_, rendering_.spans());
    found.end = found.begin + insertion.size;
    return rendering_.text().substr(0, found.end) == more.substr(0, found.end);
  }

  /// A Go template's image has a tag with its number, which Ollama counts over all messages but those that have such a
  /// tag as text. No text of the request is it: a tag is a span without an origin, or one of its own in the place of
  /// `[img]`. None where it does not stand in the prompt, or more than once.
  std::optional<TextRange> tag_of(std::size_t number) const {
    if (experiment_.chat_template.syntax() != Syntax::go || has_tags(number)) return std::nullopt;
    std::size_t count = 0;
    for (std::size_t before = 0; before < number; ++before) count += has_tags(before) ? 0 : 1;
    const std::string tag = "[img-" + std::to_string(count) + "]";
    std::optional<TextRange> found;
    for (const Span& span : rendering_.spans()) {
      if (span.origin != Origin::computed && span.origin != Origin::derived) continue;
      const std::string_view text = rendering_.text().substr(span.begin, span.end - span.begin);
      const std::size_t at = text.find(tag);
      if (at == text.npos || (span.origin == Origin::derived && text != tag)) continue;
      if (found || text.find(tag, at + 1) != text.npos) return std::nullopt;
      found = TextRange{span.begin + at, span.begin + at + tag.size()};
    }
    return found;
  }

  /// Is the part of a message whose text has tags already?
  bool has_tags(std::size_t number) const {
    const Value messages = experiment_.conversation.messages();
    const Value content = member_value(messages.list->items[media_[number].message], "content");
    return content.is_leaf() && leaf_text(content).find("[img-") != std::string_view::npos;
  }

  Trial trial_;
  std::size_t done_ = 0;  ///< where the last part found ends
  bool has_gap_ = false;  ///< was a part before not found?
};

}  // namespace

void find_placeholders(const Experiment& experiment, const std::vector<MediaPart>& media, std::size_t most,
                       const Rendering& rendering, std::vector<Loss>& losses, std::vector<Placeholder>& placeholders) {
  Parts parts(experiment, media, rendering);
  std::string less, more;
  bool has_less = false;  // is `less` the prompt with all parts before?
  for (std::size_t i = 0; i < media.size(); ++i) {
    const bool last = i + 1 >= most;  // tells the rest all together
    const std::size_t with = last ? media.size() : i + 1;
    has_less = has_less || parts.take(i, less);
    const bool has_more = parts.take(with, more);
    const bool known = has_less && has_more;
    const bool is_lost = known ? less == more : !last && parts.is_as_empty(i);
    if (is_lost) {
      for (std::size_t part = i; part < with; ++part) {
        losses.push_back({LossKind::lost,
                          "part",
                          media[part].path,
                          "not in the prompt: the template has no place for " + media[part].type,
                          {}});
      }
    } else if (with == i + 1) {
      parts.place(i, has_less ? &less : nullptr, has_more ? &more : nullptr, placeholders);
    }
    if (last) break;
    std::swap(less, more);
    has_less = has_more;
  }
  std::stable_sort(placeholders.begin(), placeholders.end(),
                   [](const Placeholder& a, const Placeholder& b) { return a.range.begin < b.range.begin; });
}

}  // namespace parlance
