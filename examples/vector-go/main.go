// An adapter of the Corpus Protocol v1.0 for `vector`, over HTTP, with the standard library alone.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	address := flag.String("listen", "127.0.0.1:8182", "where to listen")
	hooks := flag.Bool("hooks", false, "for conformance runs alone: post to whatever address a request names")
	flag.Parse()

	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{
		Handler:           &Server{NewAdapter(NewProvider()), *hooks},
		ReadHeaderTimeout: 10 * time.Second,
	}
	stopped, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		fmt.Printf("listening on http://%s\n", listener.Addr())
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Fatal(err)
		}
	}()
	<-stopped.Done()
	ending, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(ending); err != nil {
		log.Print(err)
	}
}
