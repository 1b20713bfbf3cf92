#pragma once

#include <memory>

#include <bide/executor/driver.hpp>

namespace bide {

class Executor;

/// The executor's driver, made and installed at the first call as its options say. Throws: as make_driver.
Driver& driver_of(Executor& executor);

/// Makes the driver that is asked for: by the options, else by the environment variable BIDE_DRIVER (uring or epoll),
/// else io_uring where the kernel lets us, and epoll otherwise, which one line on stderr says, once a process.
///
/// Throws: std::system_error that names the cause: io_uring was asked for and is refused, or neither is to be had.
///         std::invalid_argument: BIDE_DRIVER says something else.
std::unique_ptr<Driver> make_driver(Executor& executor, const DriverOptions& options);

}  // namespace bide
