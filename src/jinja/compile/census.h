// The census of a template: what one walk over its tree finds out for everybody who would walk it otherwise.
//
// Some facts are needed before compiling begins: whether `loop` or `self` is mentioned at all decides whether their
// objects are made, and every name gets a number, so that scopes compare integers and not strings.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "jinja/compile/symbols.h"

namespace parlance::jinja {

struct Census {
  /// Is one of Jinja2's special variables (loop, self, super, caller, kwargs, varargs) named anywhere?
  bool mentions(std::string_view special) const;

  std::uint8_t special_names = 0;  ///< a bit for each that is
  bool assigns_loop = false;       ///< {% set loop %} and the like
  bool binds_loop = false;         ///< in any way, as by a parameter or a macro: then `loop` may be no loop's
  bool has_scoped_block = false;
  std::vector<std::string_view> assigned;  ///< by set, for, with, as parameters; with repetitions
  std::vector<const Block*> blocks;        ///< wherever they are nested, in the order of the text
};

/// Walks the tree, gives each name its number in `names` and each node what is inside of it.
Census take_census(const Nodes& nodes, NameTable& names);

}  // namespace parlance::jinja
