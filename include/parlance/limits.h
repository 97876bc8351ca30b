// Limits of a render. Templates and conversations are untrusted, so every render has limits.
#pragma once
#include <cstdint>

namespace parlance {

/// Limits of one render (or one parse). If it reaches a limit, it fails with the error code of that limit.
///
///     field         what it bounds                                           error
///     steps         loop turns, calls, and work of builtins (about 1 per     limit_steps
///                   instruction, or per 32 bytes a builtin looks at)
///     output_bytes  the prompt                                               limit_output
///     memory_bytes  everything a render makes, freed when it ends            limit_memory
///     depth         macros, recursive loops, nesting of data a builtin walks  limit_depth
///
/// More than 2^63 - 1 steps count as that many, and a depth above 2000 as 2000: nested data is walked recursively,
/// on the stack. With the depth as it is here, nothing in the library takes more than 512 KiB of a thread's stack,
/// whatever the template, the request, the schema, the reply or its format is. musl gives a thread 128 KiB unless it is
/// told otherwise: give it more.
struct Limits {
  std::uint64_t steps = 50'000'000;
  std::uint64_t output_bytes = std::uint64_t{256} << 20;
  std::uint64_t memory_bytes = std::uint64_t{512} << 20;
  std::uint32_t depth = 200;
};

}  // namespace parlance
