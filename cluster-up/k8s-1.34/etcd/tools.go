//go:build tools

// Package tools names the programs to build, so that `go mod tidy` keeps the
// modules they need in go.mod and go.sum.
package tools

import (
	_ "go.etcd.io/etcd/server/v3"
)
