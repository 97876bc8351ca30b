// The state of one running `for` loop, and the loop variable as a template sees it.
//
// The next item is fetched early only when something asks for it (loop.last, loop.nextitem), as in Jinja2. This can be
// seen: the iterator may be lazy, and its filter may depend on what the body sets.
#pragma once
#include "engine/call.h"
#include "jinja/compile/program.h"
#include "value/fresh.h"
#include "value/iterate.h"

namespace parlance::jinja {

struct Frame;

/// One running loop. Fields follow Jinja2's LoopContext; the next item is fetched early only when something asks.
struct LoopState {
  enum class Peeked : std::uint8_t { no, item, end };
  Iterator iterator;
  std::int64_t index0 = -1;
  bool plain = false;  ///< iterates a list directly, so `previous` can be read from it and is not kept here
  Value current;
  Value previous;
  Value upcoming;  ///< the next item, if peeked
  Peeked peeked = Peeked::no;
  std::uint32_t depth0 = 0;
  Value last_changed;  ///< tuple loop.changed saw last; invalid before the first

  /// Begins a loop over a list, or over what `iterator` is set to afterwards.
  void begin(const ListObject& list, std::uint32_t depth) {
    iterator.mode = Iterator::Mode::items;
    iterator.item = list.items;
    iterator.item_end = list.items + list.size;
    index0 = -1;
    plain = true;
    current = Value();
    peeked = Peeked::no;
    depth0 = depth;
    last_changed = Value::invalid();
  }
  bool next(Runtime& rt, Value& out) {
    if (peeked != Peeked::no) {
      if (peeked == Peeked::end) return false;
      out = upcoming;
      peeked = Peeked::no;
    } else if (!iterator.next(rt, out)) {
      return false;
    }
    if (plain) {
      ++index0;
    } else {
      accept(out);
    }
    return true;
  }
  /// `item` is the next one, where not each item of what is iterated over is.
  void accept(const Value& item) {
    ++index0;
    plain = false;
    copy_fresh(previous, current);
    current = item;
  }
  /// The item before this one; not for the first.
  const Value& before() const { return plain ? iterator.item[peeked == Peeked::item ? -3 : -2] : previous; }
  bool peek(Runtime& rt);
  std::int64_t length(Runtime& rt);
};

/// Numbers of the fields that need no loop object; same order as simple_loop_field().
enum class LoopField : std::uint8_t {
  index0,
  index,
  revindex0,
  revindex,
  first,
  last,
  length,
  previtem,
  nextitem,
  depth,
  depth0
};
Value loop_field(Runtime& rt, LoopState& loop, LoopField field);

/// The variable `loop`.
struct LoopObject : Object {
  LoopState* state;
  const Routine* routine;  ///< of a recursive loop, else null
  Frame* outer;            ///< frame around that routine
};
extern const ObjectType kLoopType;
/// Fields by name, and the methods cycle and changed; undefined without a reason for others.
Value loop_attribute(Runtime& rt, Object* object, std::string_view name);

}  // namespace parlance::jinja
