// Probe is the program of the images that tests run: one static file that serves HTTP and asks for
// it. It resolves names by itself, where a static C program would need the libraries of its build.
//
//	probe serve :80 TEXT            answer every request with TEXT
//	probe get URL [HEADER: VALUE]   print the answer; any certificate will do
package main

import (
	"crypto/tls"
	"fmt"
	"io"
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
	}
	return fmt.Errorf("usage: probe serve ADDRESS TEXT | probe get URL [HEADER: VALUE]...")
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
