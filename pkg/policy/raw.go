package policy

// rawFile is a file of a policy, main or drop-in, as TOML knows it. Package strict takes the known
// keys from here.
type rawFile struct {
	Version int       `toml:"version"`
	Mode    string    `toml:"mode"`
	Default string    `toml:"default"`
	Rules   []rawRule `toml:"rule"`

	Hazards map[string]string `toml:"hazards"`

	LintIgnore []string `toml:"lint_ignore"`
}

type rawRule struct {
	Name        string    `toml:"name"`
	Reason      string    `toml:"reason"`
	Match       *rawMatch `toml:"match"`
	Except      *rawMatch `toml:"except"`
	Action      string    `toml:"action"`
	Propagation string    `toml:"propagation"`
	OnUnmet     string    `toml:"on_unmet"`
	Mode        string    `toml:"mode"`
	LintIgnore  []string  `toml:"lint_ignore"`
}

type rawMatch struct {
	Namespace      []string       `toml:"namespace"`
	Pod            []string       `toml:"pod"`
	PodLabels      map[string]any `toml:"pod_labels"`      // a glob or a list of globs each
	PodAnnotations map[string]any `toml:"pod_annotations"` // the same
	Container      []string       `toml:"container"`
	Image          []string       `toml:"image"`
	RuntimeHandler []string       `toml:"runtime_handler"`
	Source         []string       `toml:"source"`
	Destination    []string       `toml:"destination"`
	Propagation    []string       `toml:"propagation"`
	Readonly       *bool          `toml:"readonly"`
	Privileged     *bool          `toml:"privileged"`
	UserNamespace  *bool          `toml:"user_namespace"`
	StaticPod      *bool          `toml:"static_pod"`
	Role           []string       `toml:"role"`
	Hazard         []string       `toml:"hazard"`
	Volume         *rawVolume     `toml:"volume"`
	Host           *rawHost       `toml:"host"`
	LVM            *rawLVM        `toml:"lvm"`
}

type rawVolume struct {
	Kind   []string `toml:"kind"`
	Name   []string `toml:"name"`
	Driver []string `toml:"driver"`
}

type rawHost struct {
	Propagation []string `toml:"propagation"`
}

type rawLVM struct {
	VG []string `toml:"vg"`
	LV []string `toml:"lv"`
}
