package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// server is one collection of one API server. It is asked over HTTP/2 where it
// speaks it, as every client in Go does, and over connections that are kept.
type server struct {
	client *http.Client
	url    string
}

func connect(kubeconfig, path string) (*server, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	tls, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{TLSClientConfig: tls, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 1024}
	return &server{client: &http.Client{Transport: transport}, url: config.Host + path}, nil
}

// post creates an object.
func (server *server) post(body []byte) error {
	answer, err := server.client.Post(server.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	_, err = drained(answer, http.StatusCreated)
	return err
}

// read asks for one thing and reads all of it.
func (server *server) read(below string) (int64, error) {
	answer, err := server.client.Get(server.url + below)
	if err != nil {
		return 0, err
	}
	return drained(answer, http.StatusOK)
}

func drained(answer *http.Response, expected int) (int64, error) {
	defer answer.Body.Close()
	if answer.StatusCode != expected {
		text, _ := io.ReadAll(answer.Body)
		return 0, fmt.Errorf("%s: %s", answer.Status, text)
	}
	return io.Copy(io.Discard, answer.Body)
}
