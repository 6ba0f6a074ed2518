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
	IDMissed         = "838889199ca1afadb5aee0afc27ea095"
	IDFirstStart     = "35e9f79b412bc39a0a8c1d3a2e3d9b64"
	IDHost           = "2eca2f3c1d2d1eb12e36c0a6fe7e08f2"
	IDConnection     = "a8bab387e54aafc33d01e079f7d670b8"
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
func kindMissed() kind { return kind{"missed", "mountward.missed/v1", IDMissed} }
func kindFirstStart() kind {
	return kind{"first-start", "mountward.first-start/v1", IDFirstStart}
}
func kindHost() kind { return kind{"host", "mountward.host/v1", IDHost} }
func kindConnection() kind {
	return kind{"connection", "mountward.connection/v1", IDConnection}
}
