package policytest

// rawFile is a test file as TOML knows it.
type rawFile struct {
	Policy    []string      `toml:"policy"`
	DropIns   []string      `toml:"drop_ins"`
	Host      *rawHost      `toml:"host"`
	Tests     []rawTest     `toml:"test"`
	Workloads *rawWorkloads `toml:"workloads"`
}

type rawHost struct {
	KubeletRoot  *string           `toml:"kubelet_root"`
	RuntimeState *string           `toml:"runtime_state"`
	RuntimeRoot  *string           `toml:"runtime_root"`
	Links        map[string]string `toml:"links"`
	Unresolved   []string          `toml:"unresolved"`
	Mounts       []rawHostMount    `toml:"mount"`
}

type rawHostMount struct {
	At          string `toml:"at"`
	Propagation string `toml:"propagation"`
	Device      string `toml:"device"`
	Root        string `toml:"root"`
	FSType      string `toml:"fs_type"`
	Source      string `toml:"source"`
}

type rawTest struct {
	Name      string       `toml:"name"`
	Host      *rawHost     `toml:"host"`
	Pod       rawPod       `toml:"pod"`
	Container rawContainer `toml:"container"`
	Mounts    []rawMount   `toml:"mount"`
}

type rawPod struct {
	ID             string            `toml:"id"`
	Namespace      string            `toml:"namespace"`
	Name           string            `toml:"name"`
	UID            string            `toml:"uid"`
	Labels         map[string]string `toml:"labels"`
	Annotations    map[string]string `toml:"annotations"`
	Static         *bool             `toml:"static"`
	RuntimeHandler string            `toml:"runtime_handler"`
}

type rawContainer struct {
	ID            string `toml:"id"`
	Name          string `toml:"name"`
	Image         string `toml:"image"`
	Privileged    any    `toml:"privileged"` // true, false or "unknown"
	UserNamespace bool   `toml:"user_namespace"`
}

type rawMount struct {
	Source      string     `toml:"source"`
	Destination string     `toml:"destination"`
	Type        string     `toml:"type"`
	Propagation string     `toml:"propagation"`
	ReadOnly    bool       `toml:"readonly"`
	Options     []string   `toml:"options"`
	Volume      *rawVolume `toml:"volume"`
	LV          []string   `toml:"lv"`
	Expect      *rawExpect `toml:"expect"`
}

type rawVolume struct {
	Kind   *string `toml:"kind"`
	Name   *string `toml:"name"`
	Driver *string `toml:"driver"`
}

type rawExpect struct {
	Action      string   `toml:"action"`
	Propagation string   `toml:"propagation"`
	Rule        string   `toml:"rule"`
	Audited     []string `toml:"audited"`
	Outcome     string   `toml:"outcome"`
	Hazards     []string `toml:"hazards"`
}

type rawWorkloads struct {
	Table  string   `toml:"table"`
	Breaks []string `toml:"breaks"`
}
