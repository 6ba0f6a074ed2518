package discover

// distribution is where one keeps what it runs.
type distribution struct {
	name   string
	marks  []string // what a path of its containerd's command line begins with
	socket []string
	state  string
	root   string
	config string
}

// standard is containerd by itself.
func standard() distribution {
	return distribution{
		name: Containerd, socket: []string{"/run/containerd/containerd.sock"},
		state: "/run/containerd", root: "/var/lib/containerd", config: "/etc/containerd/config.toml",
	}
}

// distributions have a containerd of their own.
//
// Source: pkg/agent/containerd of k3s 1.30 and rke2, docs.k0sproject.io and
// pkg/component/worker/containerd of k0s, the snap of MicroK8s 1.30, libcontainerd
// of moby.
func distributions() []distribution {
	return []distribution{
		{
			name: RKE2, marks: []string{"/var/lib/rancher/rke2/"},
			state: "/run/k3s/containerd", root: "/var/lib/rancher/rke2/agent/containerd",
			config: "/var/lib/rancher/rke2/agent/etc/containerd/config.toml",
		},
		{
			name: K3s, marks: []string{"/var/lib/rancher/k3s/", "/run/k3s/"},
			socket: []string{"/run/k3s/containerd/containerd.sock"},
			state:  "/run/k3s/containerd", root: "/var/lib/rancher/k3s/agent/containerd",
			config: "/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
		},
		{
			name: K0s, marks: []string{"/var/lib/k0s/", "/run/k0s/", "/etc/k0s/"},
			socket: []string{"/run/k0s/containerd.sock", "/run/k0s/containerd/containerd.sock"},
			state:  "/run/k0s/containerd", root: "/var/lib/k0s/containerd", config: "/etc/k0s/containerd.toml",
		},
		{
			name: MicroK8s, marks: []string{"/var/snap/microk8s/", "/snap/microk8s/"},
			socket: []string{microk8sCommon + "/run/containerd.sock"},
			state:  microk8sCommon + "/run/containerd", root: microk8sCommon + "/var/lib/containerd",
			config: "/var/snap/microk8s/current/args/containerd.toml",
		},
		{
			name: Docker, marks: []string{"/var/run/docker/", "/run/docker/"},
			socket: []string{"/run/docker/containerd/containerd.sock", "/var/run/docker/containerd/containerd.sock"},
			state:  "/run/docker/containerd/daemon", root: "/var/lib/docker/containerd/daemon",
			config: "/run/docker/containerd/containerd.toml",
		},
	}
}

// kubeletRoots are where distributions have the root of the kubelet.
//
// Source: the table of hetznercloud/csi-driver, the charts of Longhorn and
// OpenEBS.
func kubeletRoots() []string {
	return []string{
		DefaultKubeletRoot,
		k0sData + "/kubelet",
		microk8sRoot,
		"/var/lib/rancher/k3s/agent/kubelet", // k3s before 1.0
		"/opt/rke/var/lib/kubelet",           // RKE on CoreOS
		"/var/vcap/data/kubelet",             // PKS, TKGI
		"/var/data/kubelet",                  // IBM Cloud
	}
}
