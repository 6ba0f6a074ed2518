package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/doctor"
)

// readBaseline reads an earlier report. One that is not there is like anything
// that cannot be read; one that is none was named by mistake.
func readBaseline(file string) (doctor.Baseline, error) {
	f, err := os.Open(file)
	if err != nil {
		return doctor.Baseline{}, &exit{ExitCannotTell, fmt.Errorf("--baseline: %w", err)}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, doctor.MaxBaseline+1))
	if err != nil {
		return doctor.Baseline{}, &exit{ExitCannotTell, fmt.Errorf("--baseline: %w", err)}
	}
	if len(text) > doctor.MaxBaseline {
		return doctor.Baseline{}, &exit{ExitUsage, fmt.Errorf("--baseline %s: larger than %d bytes", show.Word(file), doctor.MaxBaseline)}
	}
	b, err := doctor.ReadBaseline(text)
	if err != nil {
		return b, &exit{ExitUsage, fmt.Errorf("--baseline %s: %w", show.Word(file), err)}
	}
	return b, nil
}
