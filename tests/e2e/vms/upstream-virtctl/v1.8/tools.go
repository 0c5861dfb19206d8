//go:build tools

// Package tools names the program to build, so that `go mod tidy -e` keeps the modules it needs.
package tools

import _ "kubevirt.io/kubevirt/cmd/virtctl"
