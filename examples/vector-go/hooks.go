package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log"
	"net/http"
	"time"
)

// Where observations go (SPECIFICATION 6.4), and where a conformance run lets the provider fail. The suite names the
// address of its hooks with each request; WithHooks puts it into the context of the call.

type hooksKey struct{}
type alongKey struct{}

var hooksClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

// WithHooks is a context for a call that reports to the hooks at an address.
func WithHooks(ctx context.Context, url string) context.Context {
	return context.WithValue(ctx, hooksKey{}, url)
}

// SendAlong is a context for a call whose trace and deadline go along to the provider as they came (SPECIFICATION 6.1).
func SendAlong(ctx context.Context, members map[string]any) context.Context {
	return context.WithValue(ctx, alongKey{}, members)
}

// Along is what goes along: `traceparent` and `deadline_ms`, each where the call has it.
func Along(ctx context.Context) map[string]any {
	members, _ := ctx.Value(alongKey{}).(map[string]any)
	return members
}

// Observe tells how an operation ended. EDIT: what production does with observations.
func Observe(ctx context.Context, report map[string]any) {
	url, isRun := ctx.Value(hooksKey{}).(string)
	if !isRun {
		return
	}
	// The call may be over its deadline, its observation is not; one that gets lost changes no answer.
	apart, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := post(apart, url+"/metrics/observe", report, nil); err != nil {
		log.Print(err)
	}
}

// Reached says that the provider is about to be called, with how many items (none: 0). In production it does nothing.
func Reached(ctx context.Context, op string, items int) error {
	url, isRun := ctx.Value(hooksKey{}).(string)
	if !isRun {
		return ctx.Err()
	}
	facts := map[string]any{"op": op}
	for name, value := range Along(ctx) {
		facts[name] = value
	}
	if items > 0 {
		facts["items"] = items
	}
	var answer struct{ Fault *ProviderFault }
	if err := post(ctx, url+"/provider/reached", facts, &answer); err != nil {
		return err
	}
	if answer.Fault != nil {
		return answer.Fault
	}
	return nil
}

func post(ctx context.Context, url string, report map[string]any, answer any) error {
	body, err := json.Marshal(report)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := hooksClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if answer == nil {
		answer = &struct{}{}
	}
	return json.NewDecoder(response.Body).Decode(answer) // read to its end, so that the connection can be used again
}
