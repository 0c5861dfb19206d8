// Probe is the program of the images that tests run: one static file that serves HTTP and asks for
// it. It resolves names by itself, where a static C program would need the libraries of its build.
//
//	probe serve :80 TEXT            answer every request with TEXT
//	probe get URL [HEADER: VALUE]   print the answer; any certificate will do
//	probe echo :9000                answer every datagram with the host's name and what was in it
//	probe ask HOST:9000 TEXT        send a datagram and print the answer
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

func run(words []string) error {
	switch {
	case len(words) == 3 && words[0] == "serve":
		return serve(words[1], words[2])
	case len(words) >= 2 && words[0] == "get":
		return get(words[1], words[2:])
	case len(words) == 2 && words[0] == "echo":
		return echo(words[1])
	case len(words) == 3 && words[0] == "ask":
		return ask(words[1], words[2])
	}
	return fmt.Errorf("usage: probe serve ADDRESS TEXT | probe get URL [HEADER: VALUE]... |" +
		" probe echo ADDRESS | probe ask ADDRESS TEXT")
}

func serve(address, text string) error {
	answer := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, text) }
	server := http.Server{
		Addr:              address,
		Handler:           http.HandlerFunc(answer),
		ReadHeaderTimeout: 5 * time.Second,
	}
	return server.ListenAndServe()
}

func get(url string, headers []string) error {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ":")
		request.Header.Set(name, strings.TrimSpace(value))
	}
	client := http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{
			// Reaching a server is what is probed, not who it is.
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		},
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(os.Stdout, answer.Body)
	if err == nil && answer.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s", answer.Status)
	}
	return err
}

func echo(address string) error {
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	socket, err := net.ListenPacket("udp4", address)
	if err != nil {
		return err
	}
	datagram := make([]byte, 1500)
	for {
		size, sender, err := socket.ReadFrom(datagram)
		if err != nil {
			return err
		}
		answer := append([]byte(name+" "), datagram[:size]...)
		if _, err = socket.WriteTo(answer, sender); err != nil {
			return err
		}
	}
}

func ask(address, text string) error {
	socket, err := net.Dial("udp4", address)
	if err != nil {
		return err
	}
	defer socket.Close()
	if err = socket.SetDeadline(time.Now().Add(3 * time.Second)); err != nil {
		return err
	}
	if _, err = socket.Write([]byte(text)); err != nil {
		return err
	}
	answer := make([]byte, 1500)
	size, err := socket.Read(answer)
	if err == nil {
		fmt.Println(string(answer[:size]))
	}
	return err
}
