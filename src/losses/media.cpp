// The request is rendered with none of its parts that have no text, then with the first, the first two and so on. A part by which
// nothing changes is lost; what comes in between two prompts is the part's placeholder. So parts that look alike are told apart, and
// what a template counts ("Picture 2") stays right. Begin reading at find_placeholders.
#include "losses/media.h"

#include <algorithm>

#include "conversation/conversation.h"
#include "conversation/edit.h"
#include "render/render_with.h"

namespace parlance {
namespace {

/// The variables with the first `count` of the parts alone.
Value with_first_parts(Runtime& rt, const Conversation& conversation, const std::vector<MediaPart>& media, std::size_t count) {
  ListEditor messages(rt, conversation.messages());
  for (std::size_t i = count; i < media.size();) {
    const std::uint32_t number = media[i].message;
    const std::string_view member_name = media[i].member;
    const Value* list = member(messages[number], member_name);
    ListBuilder kept(rt, list->list->size);
    std::size_t next = i;
    for (std::uint32_t part = 0; part < list->list->size; ++part) {
      const bool leaves = next < media.size() && media[next].message == number && media[next].member == member_name && media[next].part == part;
      if (leaves) {
        ++next;
      } else {
        kept.append(list->list->items[part]);
      }
    }
    messages.set(number, with_member(rt, messages[number], member_name, with_origin(kept.finish(), list->list->origin)));
    i = next;
  }
  return with_member(rt, conversation.variables(), "messages", messages.finish());
}

/// Where bytes come in that make one text of another: any place from `first` to `last` explains it, since what comes in may begin
/// as what follows it does.
struct Insertion {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t size = 0;
};

bool find_insertion(std::string_view less, std::string_view more, Insertion& found) {
  if (more.size() <= less.size()) return false;
  const auto front = static_cast<std::size_t>(std::mismatch(less.begin(), less.end(), more.begin()).first - less.begin());
  const auto back = static_cast<std::size_t>(std::mismatch(less.rbegin(), less.rend(), more.rbegin()).first - less.rbegin());
  if (front + back < less.size()) return false;
  found = {less.size() - back, front, more.size() - less.size()};
  return true;
}

/// The first place of those that is behind `done` and where the template's own text begins.
std::size_t begin_of(const Insertion& insertion, std::size_t done, std::span<const Span> spans) {
  const std::size_t least = std::max(insertion.first, done);
  const auto span = std::find_if(spans.begin(), spans.end(), [&](const Span& one) { return one.begin >= least && one.origin == Origin::literal; });
  return span != spans.end() && span->begin <= insertion.last ? span->begin : std::min(least, insertion.last);
}

class Parts {
 public:
  Parts(const Experiment& experiment, const std::vector<MediaPart>& media, const Rendering& rendering)
      : experiment_(experiment), media_(media), rendering_(rendering), options_(experiment.options) {
    options_.want_spans = options_.want_assistant = options_.want_undefined = false;
  }

  /// The prompt with the first `count` parts; false where the template fails.
  bool take(std::size_t count, std::string& text) {
    if (count == media_.size()) {
      text = rendering_.text();
      return true;
    }
    Arena arena;
    const Limits limits;
    Runtime rt(arena, limits);
    const Value variables = with_first_parts(rt, experiment_.conversation, media_, count);
    if (!render_with(experiment_.chat_template, experiment_.conversation, variables, options_, experiment_.workspace, made_)) return false;
    text = made_.text();
    return true;
  }

  /// What one part more than in `less` brought; nothing where that cannot be told.
  void place(std::size_t number, std::string_view less, std::string_view more, std::vector<Placeholder>& placeholders) {
    Insertion insertion;
    if (!find_insertion(less, more, insertion)) return;
    const std::size_t begin = begin_of(insertion, done_, rendering_.spans());
    const std::size_t end = begin + insertion.size;
    if (rendering_.text().substr(0, end) != more.substr(0, end)) return;
    placeholders.push_back({{begin, end}, media_[number].path, media_[number].type});
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

void find_placeholders(const Experiment& experiment, const std::vector<MediaPart>& media, std::size_t most, const Rendering& rendering,
                       std::vector<Loss>& losses, std::vector<Placeholder>& placeholders) {
  Parts parts(experiment, media, rendering);
  std::string less, more;
  bool known = false;  // is `less` the prompt with all parts before?
  for (std::size_t i = 0; i < media.size(); ++i) {
    const bool last = i + 1 >= most;  // tells the rest all together
    const std::size_t with = last ? media.size() : i + 1;
    known = (known || parts.take(i, less)) && parts.take(with, more);
    if (known && less == more) {
      for (std::size_t part = i; part < with; ++part) {
        losses.push_back({LossKind::lost, "part", media[part].path, "not in the prompt: the template has no place for " + media[part].type, {}});
      }
    } else if (known && with == i + 1) {
      parts.place(i, less, more, placeholders);
    }
    if (last) return;
    std::swap(less, more);
  }
}

}  // namespace parlance
