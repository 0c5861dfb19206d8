// A device plugin as others write them: it shares no line with the node that it
// comes to, and speaks what Kubernetes has generated for it.
//
//	device-plugin RESOURCE SOCKET [--pre-start] [--preferences]
//
// It takes the same words on standard input as plugin.py beside it, and tells
// the same on standard output.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

type plugin struct {
	api.UnimplementedDevicePluginServer
	resource string
	options  *api.DevicePluginOptions
	changes  chan []string
}

func main() {
	words := os.Args[3:]
	p := &plugin{
		resource: os.Args[1],
		options: &api.DevicePluginOptions{
			PreStartRequired:                slices.Contains(words, "--pre-start"),
			GetPreferredAllocationAvailable: slices.Contains(words, "--preferences"),
		},
		changes: make(chan []string, 100),
	}
	if err := p.run(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (p *plugin) run(socket string) error {
	listener, err := net.Listen("unix", filepath.Base(socket))
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	api.RegisterDevicePluginServer(server, p)
	go server.Serve(listener)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 0:
		case words[0] == "devices":
			p.changes <- words[1:]
		case words[0] == "register":
			if err := p.register(socket, append(words[1:], api.Version)[0]); err != nil {
				tell(map[string]any{"refused": status.Convert(err).Message()})
			} else {
				tell(map[string]any{"registered": true})
			}
		}
	}
	server.Stop()
	return lines.Err()
}

func (p *plugin) register(socket, version string) error {
	connection, err := grpc.NewClient(
		"unix:"+filepath.Base(api.KubeletSocket),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
	)
	if err != nil {
		return err
	}
	defer connection.Close()
	limited, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err = api.NewRegistrationClient(connection).Register(limited, &api.RegisterRequest{
		Version:      version,
		Endpoint:     socket,
		ResourceName: p.resource,
		Options:      p.options,
	})
	return err
}

func (p *plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return p.options, nil
}

func (p *plugin) ListAndWatch(_ *api.Empty, stream grpc.ServerStreamingServer[api.ListAndWatchResponse]) error {
	tell(map[string]any{"watched": true})
	for {
		select {
		case <-stream.Context().Done():
			return nil
		case names := <-p.changes:
			if err := stream.Send(&api.ListAndWatchResponse{Devices: devices(names)}); err != nil {
				return err
			}
		}
	}
}

// devices are healthy, but those whose names have a minus before them.
func devices(names []string) []*api.Device {
	var found []*api.Device
	for _, name := range names {
		health := api.Healthy
		if strings.HasPrefix(name, "-") {
			health = api.Unhealthy
		}
		found = append(found, &api.Device{
			ID:       strings.TrimPrefix(name, "-"),
			Health:   health,
			Topology: &api.TopologyInfo{Nodes: []*api.NUMANode{{ID: 0}}},
		})
	}
	return found
}

func (p *plugin) Allocate(_ context.Context, asked *api.AllocateRequest) (*api.AllocateResponse, error) {
	answer := &api.AllocateResponse{}
	for _, each := range asked.ContainerRequests {
		ids := each.DevicesIds
		tell(map[string]any{"allocated": ids})
		if slices.Contains(ids, "broken") {
			return nil, status.Error(codes.Internal, "that one is broken")
		}
		answer.ContainerResponses = append(answer.ContainerResponses, given(ids))
	}
	return answer, nil
}

func given(ids []string) *api.ContainerAllocateResponse {
	found := &api.ContainerAllocateResponse{
		Envs:        map[string]string{"DEVICES": strings.Join(ids, ",")},
		Annotations: map[string]string{"example.com/devices": strings.Join(ids, ",")},
		Mounts: []*api.Mount{{
			ContainerPath: "/shared",
			HostPath:      filepath.Clean(api.DevicePluginPath),
			ReadOnly:      true,
		}},
	}
	for _, name := range ids {
		if strings.Contains(name, "=") { // described by a file of the machine
			found.CdiDevices = append(found.CdiDevices, &api.CDIDevice{Name: name})
			continue
		}
		found.Devices = append(found.Devices, &api.DeviceSpec{
			ContainerPath: "/dev/example/" + name,
			HostPath:      "/dev/null",
			Permissions:   "rw",
		})
	}
	return found
}

func (p *plugin) GetPreferredAllocation(
	_ context.Context, asked *api.PreferredAllocationRequest,
) (*api.PreferredAllocationResponse, error) {
	one := asked.ContainerRequests[0]
	tell(map[string]any{
		"available": list(one.AvailableDeviceIDs),
		"included":  list(one.MustIncludeDeviceIDs),
		"count":     one.AllocationSize,
	})
	names := slices.Sorted(slices.Values(one.AvailableDeviceIDs))
	last := names[len(names)-int(one.AllocationSize):]
	return &api.PreferredAllocationResponse{
		ContainerResponses: []*api.ContainerPreferredAllocationResponse{{DeviceIDs: last}},
	}, nil
}

func (p *plugin) PreStartContainer(
	_ context.Context, asked *api.PreStartContainerRequest,
) (*api.PreStartContainerResponse, error) {
	tell(map[string]any{"started": asked.DevicesIds})
	return &api.PreStartContainerResponse{}, nil
}

// list is never null in JSON.
func list(names []string) []string {
	return append([]string{}, names...)
}

var telling sync.Mutex

func tell(what map[string]any) {
	text, err := json.Marshal(what)
	if err != nil {
		panic(err)
	}
	telling.Lock()
	defer telling.Unlock()
	fmt.Println(string(text))
}
