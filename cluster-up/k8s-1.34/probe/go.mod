module kubevirt.io/cluster-up/probe

go 1.24.0
