// What is static in the extension, the library within it included, is never destroyed: a daemon thread may be in the
// engine while the process ends, which waits for no such thread.

/// Gets the destructor of each static object, and forgets it. Hidden, so that it stands in for the system's own in the
/// extension alone.
extern "C" [[gnu::visibility("hidden")]] int __cxa_atexit(  // NOLINT: the name is the C++ ABI's
    void (* /*destroy*/)(void*), void* /*object*/, void* /*extension*/) noexcept {
  return 0;
}
