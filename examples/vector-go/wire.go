package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"strings"
	"time"
)

// What all operations share: envelopes, deadlines, observations (SPECIFICATION 4 and 6). You hardly ever edit it.

// EDIT: one secret for each deployment, so that nobody else can compute the hash of a tenant.
var tenantSalt = []byte(setting("TENANT_SALT", "change me"))

func setting(name, otherwise string) string {
	if value, isSet := os.LookupEnv(name); isSet {
		return value
	}
	return otherwise
}

// latestMs keeps what is far in the future within what time.Time can say.
const latestMs = 1e15

// An Operation returns the result. Its context ends at the deadline, and when the caller is gone: give it to your
// library.
type Operation func(ctx context.Context, args *Arguments) (any, error)

// A Handler is the way in and out of an adapter, for every transport.
type Handler struct {
	Component  string
	Operations map[string]Operation
}

// A call is filled in while its request is read, and observed once when it ends.
type call struct {
	op         string
	args       *Arguments
	along      map[string]any
	tenantHash string
	deadlineMs *float64
	started    time.Time
}

func (c *call) ms() float64 { return float64(time.Since(c.started).Microseconds()) / 1000 }

// Handle answers a request with one envelope; the failure is nil where it succeeded.
func (h *Handler) Handle(ctx context.Context, envelope any) (map[string]any, *Failure) {
	c := &call{op: "unknown", along: map[string]any{}, started: time.Now()}
	result, err := h.carryOut(ctx, c, envelope)
	if err != nil {
		failure := AsFailure(err)
		h.observe(ctx, c, failure.Code())
		return failure.Envelope(c.ms()), failure
	}
	h.observe(ctx, c, "OK")
	return map[string]any{"ok": true, "code": "OK", "ms": c.ms(), "result": result}, nil
}

// Envelope is the answer that a failure makes.
func (f *Failure) Envelope(ms float64) map[string]any {
	return map[string]any{
		"ok": false, "code": f.Code(), "error": f.Name, "message": f.Message,
		"retry_after_ms": f.RetryAfterMs, "details": f.Details, "ms": ms,
	}
}

// carryOut reads a request and does what it asks, within its deadline.
func (h *Handler) carryOut(ctx context.Context, c *call, envelope any) (result any, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			log.Printf("%s.%s: panic: %T", h.Component, c.op, fault)
			err = errors.New("panic")
		}
	}()
	operation, err := h.read(c, envelope)
	if err != nil {
		return nil, err
	}
	if c.deadlineMs != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, time.UnixMilli(int64(math.Min(*c.deadlineMs, latestMs))))
		defer cancel()
	}
	if err = ctx.Err(); err == nil {
		result, err = operation(SendAlong(ctx, c.along), c.args)
	}
	if err != nil && ctx.Err() == context.DeadlineExceeded {
		return nil, Fail("DeadlineExceeded", "The time budget of the call is spent")
	}
	return result, err
}

// read reads what all requests have: `op`, `ctx`, `args`.
func (h *Handler) read(c *call, envelope any) (Operation, error) {
	members, isObject := envelope.(map[string]any)
	if !isObject {
		return nil, Fail("BadRequest", "The request must be an object")
	}
	request := NewArguments(members, "request")
	op := request.Text("op")
	bare := strings.TrimPrefix(op, h.Component+".")
	operation, offered := h.Operations[bare]
	if offered = offered && bare != op; offered {
		c.op = bare
	}
	h.readContext(c, &Arguments{request.Object("ctx", true), "ctx", request.refusal})
	c.args = &Arguments{request.Object("args", true), "args", request.refusal}
	checkNumbers(c.args)
	if err := request.Err(); err != nil {
		return nil, err
	}
	if !offered {
		return nil, Fail("NotSupported", "The operation is not known here")
	}
	return operation, nil
}

// readContext reads the documented members of `ctx`; any others are ignored.
func (h *Handler) readContext(c *call, ctx *Arguments) {
	for _, name := range []string{"request_id", "idempotency_key"} {
		ctx.OptionalText(name)
	}
	if traceparent, present := read[string](ctx, "traceparent", "a string", false); present {
		c.along["traceparent"] = traceparent
	}
	ctx.Object("attrs", false)
	if tenant, present := read[string](ctx, "tenant", "a string", false); present {
		hash := hmac.New(sha256.New, tenantSalt)
		hash.Write([]byte(tenant))
		c.tenantHash = hex.EncodeToString(hash.Sum(nil))[:32]
	}
	checkNumbers(ctx)
	deadlineMs := ctx.Number("deadline_ms")
	if deadlineMs != nil && *deadlineMs <= 0 {
		ctx.Refuse("deadline_ms", "must be positive epoch milliseconds")
	}
	if deadlineMs != nil {
		c.deadlineMs, c.along["deadline_ms"] = deadlineMs, *deadlineMs
	}
}

// observe tells how a call ended; the labels hold no content, and of the tenant the hash alone.
func (h *Handler) observe(ctx context.Context, c *call, code string) {
	extra := map[string]any{}
	if c.tenantHash != "" {
		extra["tenant_hash"] = c.tenantHash
	}
	if c.deadlineMs != nil {
		extra["deadline_bucket"] = bucket(*c.deadlineMs/1000 - float64(time.Now().UnixMilli())/1000)
	}
	Observe(ctx, map[string]any{
		"component": h.Component, "op": c.op, "ms": c.ms(), "ok": code == "OK", "code": code, "extra": extra,
	})
}

func bucket(seconds float64) string {
	for _, limit := range []int{1, 10, 60} {
		if seconds < float64(limit) {
			return fmt.Sprintf("lt_%ds", limit)
		}
	}
	return "ge_60s"
}
