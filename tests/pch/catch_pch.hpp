// Catch2's one header costs 5 to 8 seconds in each file without this. No guard: it is compiled as a main file.
#include <catch2/catch.hpp>
