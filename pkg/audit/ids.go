package audit

// Message ids of the events. They are constant for good: people search by
// them, and each has an entry in systemd/mountward.catalog.
const (
	IDPolicyLoaded   = "8912c10415be4d74a63296eee8c3aa77"
	IDPolicyRejected = "e34ff1a14f9a458e90ceaf4d829d74fb"
	IDDecision       = "67df7b18244144eabfbe737d89ef2cb0"
	IDDrift          = "9c0195e582ef459680e1b39fe08de7d8"
	IDTask           = "b77b9611c46d4bb1905308caf83116f6"
	IDLeftover       = "c09d41bc801640cc8f087967e842b13a"
	IDCrash          = "ed5619f8fb5c4fc984aa193e2b1832e3"
	IDHazard         = "b50df20f496e49b0a9999c18d9e1b040"
	IDEmergency      = "325dd520b4ad4acfb556a8a948d558a2"
)

// Identifier is the SYSLOG_IDENTIFIER of every record.
const Identifier = "mountward"

// kind is what is the same for all events of one type.
type kind struct {
	name   string // MOUNTWARD_EVENT
	schema string
	id     string // MESSAGE_ID
}

func kindPolicyLoaded() kind {
	return kind{"policy-loaded", "mountward.policy-loaded/v1", IDPolicyLoaded}
}

func kindPolicyRejected() kind {
	return kind{"policy-rejected", "mountward.policy-rejected/v1", IDPolicyRejected}
}
func kindDecision() kind { return kind{"decision", "mountward.decision/v1", IDDecision} }
func kindDrift() kind    { return kind{"drift", "mountward.drift/v1", IDDrift} }
func kindTask() kind     { return kind{"task", "mountward.task/v1", IDTask} }
func kindLeftover() kind { return kind{"leftover", "mountward.leftover/v1", IDLeftover} }
func kindCrash() kind    { return kind{"crash", "mountward.crash/v1", IDCrash} }
func kindHazard() kind   { return kind{"hazard", "mountward.hazard/v1", IDHazard} }

func kindEmergency() kind {
	return kind{"emergency", "mountward.emergency/v1", IDEmergency}
}
