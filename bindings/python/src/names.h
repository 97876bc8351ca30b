// Lists of names for docstrings and errors, from the tables that own the names.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace parlance::python {

inline std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

/// "'a', 'b' or 'c'". `more`, if given, says more on the name of a number: " (llama.cpp)".
template <typename More>
std::string listed(std::span<const std::string_view> names, std::string_view last, More more) {
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) all += i + 1 == names.size() ? " " + std::string(last) + " " : ", ";
    all += quoted(names[i]) + more(i);
  }
  return all;
}

inline std::string listed(std::span<const std::string_view> names, std::string_view last = "or") {
  return listed(names, last, [](std::size_t) { return ""; });
}

}  // namespace parlance::python
