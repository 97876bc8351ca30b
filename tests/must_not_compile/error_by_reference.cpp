// A temporary Result gives its error away: a reference that is not const cannot be had of it.
#include "parlance/parlance.h"

std::string why() {
#ifdef WRONG
  parlance::Error& error = parlance::Template::compile("{{").error();
#else
  const parlance::Error& error = parlance::Template::compile("{{").error();  // it lives as long as the reference
#endif
  return error.message();
}
