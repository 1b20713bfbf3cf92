#include <sys/resource.h>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <bide/executor/scope/timeout.hpp>

#include "tcp_pair.hpp"

using namespace bide;
using namespace bide::test;
using namespace std::chrono_literals;

namespace {

const Behaviours listener_behaviours(
    Under::all_faults,
    {
        {"TcpListener: port 0 is a port that the kernel chose",
         [](Stage&) {
           const TcpListener listener = TcpListener::bind(Address::loopback(0));
           CHECK(listener.local_address().port() != 0);
         }},
        {"TcpListener: a port that is taken is an error that names it",
         [](Stage&) {
           const TcpListener first = TcpListener::bind(Address::loopback(0));
           CHECK_THROWS_WITH(TcpListener::bind(first.local_address()),
                             Catch::Contains(first.local_address().to_string()) &&
                                 Catch::Contains("Address already in use"));
         }},
        {"TcpListener: accepts connections in the order in which they came",
         [](Stage& stage) {
           TcpListener listener = TcpListener::bind(Address::loopback(0));
           std::vector<std::uint16_t> wanted;
           std::vector<std::uint16_t> got;
           stage.submit([&]() -> Task<> {
             std::vector<TcpStream> clients;
             for (int number = 0; number < 8; ++number) {
               clients.push_back(co_await TcpStream::connect(listener.local_address()));
               wanted.push_back(clients.back().local_address().port());
             }
             for (int number = 0; number < 8; ++number) {
               const TcpStream stream = co_await listener.accept();
               got.push_back(stream.peer_address().port());
             }
           });
           stage.run();
           CHECK(got.size() == 8);
           CHECK(got == wanted);
         }},
        {"TcpListener: threads that wait are served in the order in which they came",
         [](Stage& stage) {
           TcpListener listener = TcpListener::bind(Address::loopback(0));
           std::vector<TcpStream> clients;
           for (const char* name : {"a", "b", "c"}) {
             stage.submit([&, name]() -> Task<> {
               const TcpStream stream = co_await listener.accept();
               stage.note(name);
             });
           }
           stage.submit([&]() -> Task<> {
             for (int number = 0; number < 3; ++number)
               clients.push_back(co_await TcpStream::connect(listener.local_address()));
           });
           stage.run();
           CHECK(stage.log == Log{"a", "b", "c"});
         }},
        {"TcpListener: a close ends the accepts that wait",
         [](Stage& stage) {
           TcpListener listener = TcpListener::bind(Address::loopback(0));
           for (int number = 0; number < 2; ++number) {
             stage.submit([&]() -> Task<> {
               try {
                 const TcpStream stream = co_await listener.accept();
               } catch (const std::system_error& error) {
                 stage.note(error.code() == std::errc::operation_canceled ? "closed" : error.what());
               }
             });
           }
           stage.submit([&]() -> Task<> {
             co_await Sleep(1ms);
             co_await listener.close();
             stage.note("close returns");
           });
           stage.run();
           CHECK(stage.log == Log{"closed", "closed", "close returns"});
           CHECK_FALSE(listener.is_open());
         }},
        {"TcpListener: an accept after the close is an error",
         [](Stage& stage) {
           TcpListener listener = TcpListener::bind(Address::loopback(0));
           stage.submit([&]() -> Task<> {
             co_await listener.close();
             const TcpStream stream = co_await listener.accept();
           });
           stage.run();
           REQUIRE(stage.log.size() == 1);
           CHECK_THAT(stage.log[0], Catch::Contains("Bad file descriptor"));
         }},
        {"TcpListener: a cancelled accept loses no connection",
         [](Stage& stage) {
           TcpListener listener = TcpListener::bind(Address::loopback(0));
           int accepted = 0;
           TcpStream client;
           stage.submit([&]() -> Task<> {
             const auto accepts = [&]() -> Task<> {
               const TcpStream stream = co_await listener.accept();
               ++accepted;
             };
             Handle<> first = submit({}, accepts);
             co_await Sleep(1ms);
             Handle<> connecting = submit(connects(client, listener.local_address()));
             first.cancel();
             co_await connecting;
             if (accepted == 0) co_await accepts();
           });
           stage.run();
           CHECK(accepted == 1);
         }},
        {"TcpListener: destroyed with connections that nobody took, closes them",
         [](Stage& stage) {
           stage.submit([&]() -> Task<> {
             std::vector<TcpStream> clients;
             {
               TcpListener listener = TcpListener::bind(Address::loopback(0));
               for (int number = 0; number < 3; ++number)
                 clients.push_back(co_await TcpStream::connect(listener.local_address()));
               const TcpStream taken = co_await listener.accept();
               co_await Sleep(1ms);
             }
             for (TcpStream& client : clients) co_await reads_one(stage, client, "client");
           });
           stage.run();
           REQUIRE(stage.log.size() == 3);
           for (const std::string& line : stage.log)
             CHECK((line == "client: 0" || line == "client: Connection reset by peer"));
         }},
        {"TcpListener: a thousand accepts under cancel leave no descriptor behind",
         [](Stage& stage) {
           int before = 0;
           {
             TcpListener listener = TcpListener::bind(Address::loopback(0));
             before = descriptor_count();
             std::vector<Plain> clients;
             stage.submit([&]() -> Task<> {
               for (int round = 0; round < 200; ++round) {
                 const auto accepts = [&]() -> Task<> {
                   const TcpStream stream = co_await listener.accept();
                 };
                 Handle<> handle = submit({}, accepts);
                 for (int turn = 0; turn < round % 5; ++turn) co_await Yield();
                 const auto socket = Plain(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
                 checked(::connect(socket.get(), listener.local_address().data(),
                                   listener.local_address().size()));
                 handle.cancel();
               }
               co_await listener.close();
             });
             stage.run();
           }
           CHECK(descriptor_count() <= before);
         }},
        {"TcpListener: at the limit of descriptors accept waits, tells it once, and goes on when there are "
         "some",
         [](Stage& stage) {
           static int told = 0;
           told = 0;
           ListenOptions options;
           options.exhausted = [](std::error_code, const Address&) { ++told; };
           TcpListener listener = TcpListener::bind(Address::loopback(0), options);
           std::vector<Plain> clients;
           for (int number = 0; number < 3; ++number) {
             clients.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
             checked(::connect(clients.back().get(), listener.local_address().data(),
                               listener.local_address().size()));
           }
           rlimit before{};
           checked(::getrlimit(RLIMIT_NOFILE, &before));
           const Plain highest(::dup(0));
           rlimit tight = before;
           tight.rlim_cur = static_cast<rlim_t>(highest.get());
           std::vector<Plain> fill;
           int accepted = 0;
           stage.submit([&]() -> Task<> {
             static_cast<void>(driver_of(Executor::current()));
             checked(::setrlimit(RLIMIT_NOFILE, &tight));
             for (int number = 0; number < 3; ++number) {
               const TcpStream stream = co_await listener.accept();
               ++accepted;
             }
           });
           stage.submit([&]() -> Task<> {
             co_await Sleep(30ms);
             checked(::setrlimit(RLIMIT_NOFILE, &before));
           });
           stage.run();
           CHECK(accepted == 3);
           CHECK(told == 1);
         }},
    });

}  // namespace
