// Sends what a socket takes at once, without a wait: most of what is sent here is short, and a wait costs a timer, a
// turn of the loop and a switch of coroutines.
#pragma once
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstddef>

#include "serve/http/task.h"

namespace parlance::serve {

/// Takes what was sent off the beginning of `parts`; true if that is all. `failed`: the other side is gone.
template <std::size_t Count>
bool send_now(asio::ip::tcp::socket& socket, std::array<asio::const_buffer, Count>& parts,
              boost::system::error_code& failed) {
  std::array<iovec, Count> pieces{};
  for (std::size_t at = 0; at < Count; ++at)
    pieces[at] = {const_cast<void*>(parts[at].data()), parts[at].size()};  // sendmsg() does not write
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = Count;
  const ssize_t got = ::sendmsg(socket.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  const bool is_full = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
  if (got < 0 && !is_full) failed = {errno, boost::system::system_category()};
  auto sent = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  bool is_all = true;
  for (asio::const_buffer& part : parts) {
    const std::size_t taken = std::min(sent, part.size());
    part += taken;
    sent -= taken;
    is_all = is_all && part.size() == 0;
  }
  return is_all;
}

}  // namespace parlance::serve
