package main

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// keepSubset keeps the fields that bench/contenders/subset.py declares. The
// copy is needed: what an informer holds points into the list it came with,
// and would keep all of it.
func keepSubset(object any) (any, error) {
	vmi, ok := object.(*VirtualMachineInstance)
	if !ok {
		return object, nil // A tombstone.
	}
	return &VirtualMachineInstance{
		ObjectMeta: metav1.ObjectMeta{
			Name:              vmi.Name,
			Namespace:         vmi.Namespace,
			UID:               vmi.UID,
			ResourceVersion:   vmi.ResourceVersion,
			CreationTimestamp: vmi.CreationTimestamp,
			DeletionTimestamp: vmi.DeletionTimestamp,
			Labels:            vmi.Labels,
			Annotations:       vmi.Annotations,
			OwnerReferences:   vmi.OwnerReferences,
			Finalizers:        vmi.Finalizers,
		},
		Spec: VirtualMachineInstanceSpec{
			Domain: DomainSpec{
				Cpu:    keepCPU(vmi.Spec.Domain.Cpu),
				Memory: keepMemory(vmi.Spec.Domain.Memory),
			},
			EvictionStrategy: vmi.Spec.EvictionStrategy,
			NodeSelector:     vmi.Spec.NodeSelector,
			Volumes:          keepVolumes(vmi.Spec.Volumes),
		},
		Status: VirtualMachineInstanceStatus{
			ActivePods:         vmi.Status.ActivePods,
			Conditions:         vmi.Status.Conditions,
			EvacuationNodeName: vmi.Status.EvacuationNodeName,
			Interfaces:         keepInterfaces(vmi.Status.Interfaces),
			MigrationMethod:    vmi.Status.MigrationMethod,
			NodeName:           vmi.Status.NodeName,
			Phase:              vmi.Status.Phase,
			Reason:             vmi.Status.Reason,
		},
	}, nil
}

func keepCPU(cpu *CPU) *CPU {
	if cpu == nil {
		return nil
	}
	return &CPU{Cores: cpu.Cores, Sockets: cpu.Sockets, Threads: cpu.Threads}
}

func keepMemory(memory *Memory) *Memory {
	if memory == nil {
		return nil
	}
	return &Memory{Guest: memory.Guest}
}

func keepVolumes(volumes []Volume) []Volume {
	kept := make([]Volume, len(volumes))
	for i, volume := range volumes {
		kept[i] = Volume{
			Name:                  volume.Name,
			DataVolume:            volume.DataVolume,
			PersistentVolumeClaim: volume.PersistentVolumeClaim,
		}
	}
	return kept
}

func keepInterfaces(interfaces []VirtualMachineInstanceNetworkInterface) []VirtualMachineInstanceNetworkInterface {
	kept := make([]VirtualMachineInstanceNetworkInterface, len(interfaces))
	for i, one := range interfaces {
		kept[i] = VirtualMachineInstanceNetworkInterface{
			Name:        one.Name,
			IpAddress:   one.IpAddress,
			IpAddresses: one.IpAddresses,
			Mac:         one.Mac,
		}
	}
	return kept
}
