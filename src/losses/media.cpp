// The request is rendered with none of its parts that have no text, then with the first, the first two and so on. A
// part by which nothing changes is lost; what comes in between two prompts is the part's placeholder. So parts that
// look alike are told apart, and what a template counts ("Picture 2") stays right. Begin reading at find_placeholders.
#include "losses/media.h"

#include <algorithm>

#include "conversation/conversation.h"
#include "conversation/edit.h"
#include "render/render_with.h"

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
      : experiment_(experiment), media_(media), rendering_(rendering), options_(experiment.options) {
    options_.want_spans = options_.want_assistant = options_.want_undefined = false;
  }

  /// The prompt with the first `count` parts, part `twice` said twice; false where the template fails.
  bool take(std::size_t count, std::string& text, std::size_t twice = kNone) {
    if (count == media_.size() && twice == kNone) {
      text = rendering_.text();
      return true;
    }
    Arena arena;
    const Limits limits;
    Runtime rt(arena, limits);
    const Value variables = Selection(experiment_.conversation, media_, count, twice).variables(rt);
    if (!render_with(experiment_.chat_template, experiment_.conversation, variables, options_, experiment_.workspace,
                     made_))
      return false;
    text = made_.text();
    return true;
  }

  /// Is the prompt the same with an empty text in place of the part? For templates that fail without it.
  bool is_as_empty(std::size_t number) {
    const MediaPart& part = media_[number];
    if (part.member != "content") return false;
    Arena arena;
    const Limits limits;
    Runtime rt(arena, limits);
    DictBuilder text(rt, 2);
    text.set("type", Value::view("text"));
    text.set("text", Value::view(""));
    ListEditor messages(rt, experiment_.conversation.messages());
    const Value message = messages[part.message];
    ListEditor content(rt, *member(message, part.member));
    content.set(part.part, text.finish());
    messages.set(part.message, with_member(rt, message, part.member, content.finish()));
    const Value variables = with_member(rt, experiment_.conversation.variables(), "messages", messages.finish());
    return render_with(experiment_.chat_template, experiment_.conversation, variables, options_, experiment_.workspace,
                       made_) &&
           made_.text() == rendering_.text();
  }

  /// What one part more than in `less` brought; nothing where that cannot be told. With its first image a template may
  /// write more than the image: then what the same part brings once more shows what stands for it.
  void place(std::size_t number, std::string_view less, std::string_view more, std::vector<Placeholder>& placeholders) {
    Insertion insertion;
    if (!find_insertion(less, more, insertion)) {
      std::string twice;
      if (!take(number + 1, twice, number) || !find_insertion(more, twice, insertion)) return;
    }
    const std::size_t begin = begin_of(insertion, done_, rendering_.spans());
    const std::size_t end = begin + insertion.size;
    if (rendering_.text().substr(0, end) != more.substr(0, end)) return;
    placeholders.push_back({whole_of({begin, end}, rendering_), media_[number].path, media_[number].type});
    done_ = end;
  }

 private:
  const Experiment& experiment_;
  const std::vector<MediaPart>& media_;
  const Rendering& rendering_;
  RenderOptions options_;
  Rendering made_;
  std::size_t done_ = 0;
};

}  // namespace

void find_placeholders(const Experiment& experiment, const std::vector<MediaPart>& media, std::size_t most,
                       const Rendering& rendering, std::vector<Loss>& losses, std::vector<Placeholder>& placeholders) {
  Parts parts(experiment, media, rendering);
  std::string less, more;
  bool known = false;  // is `less` the prompt with all parts before?
  for (std::size_t i = 0; i < media.size(); ++i) {
    const bool last = i + 1 >= most;  // tells the rest all together
    const std::size_t with = last ? media.size() : i + 1;
    known = (known || parts.take(i, less)) && parts.take(with, more);
    const bool is_lost = known ? less == more : !last && parts.is_as_empty(i);
    if (is_lost) {
      for (std::size_t part = i; part < with; ++part) {
        losses.push_back({LossKind::lost,
                          "part",
                          media[part].path,
                          "not in the prompt: the template has no place for " + media[part].type,
                          {}});
      }
    } else if (known && with == i + 1) {
      parts.place(i, less, more, placeholders);
    }
    if (last) return;
    std::swap(less, more);
  }
}

}  // namespace parlance
