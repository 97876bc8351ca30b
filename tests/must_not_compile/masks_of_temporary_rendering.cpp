// The ranges of a rendering go with it.
#include <utility>

#include "parlance/parlance.h"

std::size_t count(const parlance::Template& chat_template, const parlance::Conversation& chat) {
  auto made = chat_template.render(chat);
  if (!made) return 0;
  std::size_t count = 0;
#ifdef WRONG
  for (const parlance::TextRange& range : std::move(*made).assistant()) count += range.end - range.begin;
#else
  for (const parlance::TextRange& range : made->assistant()) count += range.end - range.begin;
#endif
  return count;
}
