// What came of a render, as one text.
#pragma once
#include <string>

#include "parlance/render.h"

namespace parlance {

inline std::string text_or_error(const Result<Rendering>& prompt) {
  return prompt ? std::string(prompt->text()) : prompt.error().display();
}

}  // namespace parlance
