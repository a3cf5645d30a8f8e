package main

import (
	"errors"
	"net/http"
	"strings"
	"unicode"
)

// A Failure is an error of a class of the protocol (ERRORS 1). Its message names fields and rules, and never quotes a
// value.
type Failure struct {
	Name         string
	Message      string
	RetryAfterMs *float64
	Details      map[string]any
}

func (f *Failure) Error() string { return f.Message }

// Code is the class name in upper-case words: DimensionMismatch becomes DIMENSION_MISMATCH.
func (f *Failure) Code() string {
	var code strings.Builder
	for index, letter := range f.Name {
		if index > 0 && unicode.IsUpper(letter) {
			code.WriteByte('_')
		}
		code.WriteRune(unicode.ToUpper(letter))
	}
	return code.String()
}

// Status is the HTTP status that an answer has by its class (ERRORS 3.1). EDIT: the subtypes that you use.
func (f *Failure) Status() int {
	switch f.Name {
	case "AuthError":
		return http.StatusUnauthorized
	case "ResourceExhausted", "ProviderQuotaExceeded":
		return http.StatusTooManyRequests
	case "NotSupported":
		return http.StatusNotImplemented
	case "TransientNetwork":
		return http.StatusBadGateway
	case "Unavailable":
		return http.StatusServiceUnavailable
	case "DeadlineExceeded":
		return http.StatusGatewayTimeout
	}
	return http.StatusBadRequest
}

// Fail is an error of a class.
func Fail(name, message string) *Failure {
	return &Failure{Name: name, Message: message, Details: map[string]any{}}
}

// Invalid is a refusal of one field of the request.
func Invalid(path, rule string) *Failure {
	failure := Fail("BadRequest", path+" "+rule)
	return failure.With("validation_errors", []any{map[string]any{"field": path, "code": "INVALID"}})
}

// WrongDimension refuses a vector that does not fit its namespace.
func WrongDimension(namespace string, expected, provided int) *Failure {
	return Fail("DimensionMismatch", "A vector has another dimension than its namespace").
		With("namespace", namespace).With("expected", expected).With("provided", provided)
}

// Subtype makes it a subtype of its class.
func (f *Failure) Subtype(name string) *Failure {
	f.Name = name
	return f
}

// With adds a detail.
func (f *Failure) With(name string, value any) *Failure {
	f.Details[name] = value
	return f
}

// A ProviderFault is what the provider's client returns as an error. EDIT: the type of your client.
type ProviderFault struct {
	Kind         string   `json:"kind"`
	Status       int      `json:"http_status"`
	RetryAfterMs *float64 `json:"retry_after_ms"`
	Message      string   `json:"message"`
}

func (f *ProviderFault) Error() string { return f.Message }

// EDIT: the HTTP statuses (or error codes) of your provider's client, and what each of them means.
var providerStatuses = map[int]string{
	400: "BadRequest",
	401: "AuthError",
	403: "AuthError",
	429: "ResourceExhausted",
	502: "TransientNetwork",
	503: "Unavailable",
	504: "TransientNetwork",
	529: "Unavailable",
}

// Subtypes of errors by the provider's own word for them.
var providerKinds = map[string]string{"quota_exhausted": "ProviderQuotaExceeded"}

var messages = map[string]string{
	"BadRequest":        "The provider refused the request",
	"AuthError":         "The provider refused the credentials",
	"ResourceExhausted": "The provider's rate limit or quota is exceeded",
	"TransientNetwork":  "The provider could not be reached",
	"Unavailable":       "The provider is temporarily unavailable",
}

// AsFailure says in the words of the protocol what went wrong. What nobody foresaw is Unavailable. The text of a
// foreign error stays behind: it may hold vectors or credentials.
func AsFailure(err error) *Failure {
	var failure *Failure
	if errors.As(err, &failure) {
		return failure
	}
	name, fault := "Unavailable", &ProviderFault{}
	if errors.As(err, &fault) && providerStatuses[fault.Status] != "" {
		name = providerStatuses[fault.Status]
	}
	failure = Fail(name, messages[name])
	if name == "ResourceExhausted" {
		failure.With("throttle_scope", "provider").With("resource_scope", "rate_limit")
	}
	if name == "ResourceExhausted" || name == "TransientNetwork" || name == "Unavailable" {
		failure.RetryAfterMs = fault.RetryAfterMs
		if fault.RetryAfterMs == nil {
			failure.With("suggested_backoff_ms", 500)
		}
	}
	if subtype := providerKinds[fault.Kind]; subtype != "" {
		failure.Subtype(subtype)
	}
	return failure
}
