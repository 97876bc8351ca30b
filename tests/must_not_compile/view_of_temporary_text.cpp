// A value of a text that it does not own needs the text to live on.
#include <string>

#include "parlance/parlance.h"

std::size_t size(std::string name) {
#ifdef WRONG
  const parlance::Value value = parlance::Value::view(name + "!");
#else
  const std::string text = name + "!";
  const parlance::Value value = parlance::Value::view(text);
#endif
  return value.text().size();
}
