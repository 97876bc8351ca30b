// The prompt's text is a view into the Rendering, which is gone at the end of the line.
#include <string>

#include "parlance/parlance.h"

std::string text(const parlance::Template& chat_template, const parlance::Conversation& conversation) {
#ifdef WRONG
  std::string_view text = chat_template.render(conversation)->text();
  return std::string(text);
#else
  auto prompt = chat_template.render(conversation);
  return prompt ? std::string(prompt->text()) : std::string();
#endif
}
