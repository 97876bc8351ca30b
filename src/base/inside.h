// What parlance's own modules see of a public class that hides its state. Such a class has a private function inside(),
// and names Inside as a friend; this header is not installed, so no program of a user's reaches it.
#pragma once
#include <type_traits>
#include <utility>

namespace parlance {

template <typename Class>
struct Inside {
  using Type = std::remove_cvref_t<decltype(std::declval<Class&>().inside())>;
  static auto& of(Class& object) { return object.inside(); }
  static auto& of(const Class& object) { return object.inside(); }
};

/// The state of a Conversation, a Document, a Grammar or a Workspace. Lifetime: the object's.
template <typename Class>
auto& inside_of(Class& object) {
  return Inside<std::remove_const_t<Class>>::of(object);
}

}  // namespace parlance
