// Task: a coroutine of the gateway, which gives way while it waits for the network.
//
// Coroutines of one connection run in one thread, that of its loop (loops.h); only in_pool() leaves it. A coroutine
// whose client is gone is ended at its next co_await, by an exception that nobody catches but the server: what a
// coroutine holds has to be given back by destructors.
//
// GCC 12 makes wrong code of `co_await (a ? f() : g())`, and of temporaries in braces behind co_await: give each
// coroutine a statement of its own.
#pragma once
#include <boost/asio/awaitable.hpp>

namespace parlance::serve {

namespace asio = boost::asio;

template <typename T = void>
using Task = asio::awaitable<T>;

}  // namespace parlance::serve
