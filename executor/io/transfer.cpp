#include <bide/executor/io/transfer.hpp>

#include <bide/executor/io/io_error.hpp>

namespace bide {

std::size_t TransferAll::await_resume() const {
  const std::int64_t ended = end();
  if (ended >= 0) return bytes_.size();
  throw_io_error(ended, describe() + " (" + std::to_string(done_) + " of " + std::to_string(bytes_.size()) +
                            " bytes are written)");
}

bool TransferAll::goes_on() noexcept {
  done_ += static_cast<std::size_t>(result);
  if (done_ == bytes_.size()) return false;
  if (result == 0) {  // it would go on for ever
    result = -EIO;
    return false;
  }
  if (cancel_asked) {
    result = -ECANCELED;
    return false;
  }
  if (offset != current_offset) offset += static_cast<std::uint64_t>(result);
  use(bytes_.subspan(done_));
  return true;
}

}  // namespace bide
