// Adapter: how requests are to be read for one template, found when the first request comes that needs it.
//
// A request of plain messages costs one small render of the template's, once; all else waits. Begin reading at
// Adapter::options_for.
#pragma once
#include <mutex>
#include <optional>

#include "parlance/derive.h"

namespace parlance::probe {

/// Has the request, read as it is, something that templates treat differently: an effort of reasoning that it asks for, calls,
/// results, reasoning, lists as content, a message of the system or a developer behind the first, two of the user in a row?
bool may_need_adapting(const Conversation& untouched);

/// Threads: any; lines of a bulk run share one.
class Adapter {
 public:
  /// `base` is what the user asked for: passes that are skipped there stay so.
  Adapter(Template chat_template, DeriveOptions deriving, ReadOptions base);

  /// Lifetime: the adapter's. `base` where the request needs nothing, or no experiment could be made.
  const ReadOptions& options_for(const Conversation& untouched);

 private:
  const ReadOptions& adapted();

  const Template template_;
  const DeriveOptions deriving_;
  const ReadOptions base_;
  std::once_flag looked_;
  bool text_shows_ = true;
  std::once_flag derived_;
  ReadOptions adapted_;
};

}  // namespace parlance::probe
