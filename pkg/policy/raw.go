package policy

// rawFile is a file of a policy, main or drop-in, as TOML knows it. Package strict takes the known
// keys from here.
type rawFile struct {
	Version int       `toml:"version"`
	Mode    string    `toml:"mode"`
	Default string    `toml:"default"`
	Rules   []rawRule `toml:"rule"`

	Hazards map[string]string `toml:"hazards"`
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
}

type rawMatch struct {
	Namespace   []string       `toml:"namespace"`
	Pod         []string       `toml:"pod"`
	PodLabels   map[string]any `toml:"pod_labels"` // a glob or a list of globs each
	Container   []string       `toml:"container"`
	Source      []string       `toml:"source"`
	Destination []string       `toml:"destination"`
	Propagation []string       `toml:"propagation"`
	Privileged  *bool          `toml:"privileged"`
	StaticPod   *bool          `toml:"static_pod"`
	Role        []string       `toml:"role"`
	Hazard      []string       `toml:"hazard"`
}
