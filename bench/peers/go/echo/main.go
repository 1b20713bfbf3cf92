// An echo server of goroutines. Prints its port, and serves until it is killed.
package main

import (
	"fmt"
	"net"
)

func serve(connection net.Conn) {
	defer connection.Close()
	bytes := make([]byte, 4096)
	for {
		size, err := connection.Read(bytes)
		if err != nil {
			return
		}
		if _, err := connection.Write(bytes[:size]); err != nil {
			return
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	for {
		connection, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		go serve(connection)
	}
}
