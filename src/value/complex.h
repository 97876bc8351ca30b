// Complex numbers: what a negative number to a fractional power gives, as in Python.
//
// A template has no other way to make one, so they are an object type and not a Kind. Arithmetic
// reaches them through ObjectType::binary. Begin reading at ComplexObject.
#pragma once
#include "value/object.h"

namespace parlance {

struct Complex {
  double real;
  double imaginary;
};

struct ComplexObject : Object {
  Complex number;
};
extern const ObjectType kComplexType;

inline bool is_complex(Value v) { return is_object(v, kComplexType); }
Value make_complex(Runtime& rt, Complex number);
/// base ** exponent; fails with zero_division or overflow.
Value complex_power(Runtime& rt, Complex base, Complex exponent);
Value complex_negate(Runtime& rt, Value a);
/// abs(a): a float; fails with overflow.
Value complex_abs(Runtime& rt, Value a);
/// a == b where at least one is complex and the other anything.
bool complex_equal(Value a, Value b);

}  // namespace parlance
