package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// Arguments are the members of one object of the request, by name; null counts as absent.
//
// What is missing, or of the wrong type or range, is refused with BAD_REQUEST: the methods return a zero value, and Err
// tells the first refusal of the whole request. So read everything, then look at Err, then do the work.
type Arguments struct {
	values  map[string]any
	path    string
	refusal **Failure // shared with the objects inside
}

// NewArguments begins to read an object.
func NewArguments(values map[string]any, path string) *Arguments {
	return &Arguments{values, path, new(*Failure)}
}

// Err is the first refusal, or nil.
func (a *Arguments) Err() error {
	if *a.refusal == nil {
		return nil
	}
	return *a.refusal
}

// Refuse refuses a member.
func (a *Arguments) Refuse(name, rule string) *Failure {
	return a.RefuseWith(Invalid(a.path+"."+name, rule))
}

// RefuseWith refuses the request; only the first refusal of a request counts.
func (a *Arguments) RefuseWith(failure *Failure) *Failure {
	if *a.refusal == nil {
		*a.refusal = failure
	}
	return failure
}

func read[T any](a *Arguments, name, kind string, required bool) (value T, present bool) {
	raw := a.values[name]
	if raw == nil {
		if required {
			a.Refuse(name, "is required and must be "+kind)
		}
		return value, false
	}
	if value, present = raw.(T); !present {
		a.Refuse(name, "must be "+kind)
	}
	return value, present
}

func readAll[T any](a *Arguments, name, kind string, required bool) []T {
	raw, _ := read[[]any](a, name, "a list", required)
	values := make([]T, len(raw))
	for index, element := range raw {
		value, fits := element.(T)
		if !fits {
			a.Refuse(fmt.Sprintf("%s[%d]", name, index), "must be "+kind)
		}
		values[index] = value
	}
	return values
}

// Text is a required string that is not empty.
func (a *Arguments) Text(name string) string {
	text, present := read[string](a, name, "a string", true)
	if present && text == "" {
		a.Refuse(name, "must not be empty")
	}
	return text
}

// OptionalText is a string; an empty one where it is absent.
func (a *Arguments) OptionalText(name string) string {
	text, _ := read[string](a, name, "a string", false)
	return text
}

// Texts is a list of strings; an empty one where it is absent.
func (a *Arguments) Texts(name string) []string {
	return readAll[string](a, name, "a string", false)
}

// Flag is a boolean.
func (a *Arguments) Flag(name string, otherwise bool) bool {
	if flag, present := read[bool](a, name, "a boolean", false); present {
		return flag
	}
	return otherwise
}

// Number is a number, or nil.
func (a *Arguments) Number(name string) *float64 {
	number, present := read[json.Number](a, name, "a number", false)
	if !present {
		return nil
	}
	value := float(number)
	return &value
}

// Numbers is a required list of numbers.
func (a *Arguments) Numbers(name string) []float64 {
	numbers := readAll[json.Number](a, name, "a number", true)
	values := make([]float64, len(numbers))
	for index, number := range numbers {
		values[index] = float(number)
	}
	return values
}

// Integer is a required integer from 1 to `high` (2.0 is one too); one above it is told what the limit is.
func (a *Arguments) Integer(name string, high int, limit string) int {
	number, present := read[json.Number](a, name, "a number", true)
	value := float(number)
	switch {
	case !present:
		return 0
	case value != math.Trunc(value) || value < 1:
		a.Refuse(name, "must be an integer of at least 1")
	case value > float64(high):
		a.Refuse(name, fmt.Sprintf("must be at most %d", high)).With(limit, high)
	}
	return int(value)
}

// Object is an object; an empty one where it is absent.
func (a *Arguments) Object(name string, required bool) map[string]any {
	object, _ := read[map[string]any](a, name, "an object", required)
	return object
}

// Objects is a required list of objects, each to be read in its turn.
func (a *Arguments) Objects(name string) []*Arguments {
	objects := readAll[map[string]any](a, name, "an object", true)
	values := make([]*Arguments, len(objects))
	for index, object := range objects {
		values[index] = &Arguments{object, fmt.Sprintf("%s.%s[%d]", a.path, name, index), a.refusal}
	}
	return values
}

// checkNumbers refuses numbers that no float can hold, and integers beyond 64 bits, at any depth (SPECIFICATION 4.1).
func checkNumbers(a *Arguments) {
	waiting := []any{a.values}
	for len(waiting) > 0 {
		last := len(waiting) - 1
		item := waiting[last]
		waiting = waiting[:last]
		switch item := item.(type) {
		case map[string]any:
			for _, member := range item {
				waiting = append(waiting, member)
			}
		case []any:
			waiting = append(waiting, item...)
		case json.Number:
			_, err := item.Float64()
			if err == nil && !strings.ContainsAny(item.String(), ".eE") {
				_, err = item.Int64()
			}
			if err != nil {
				a.RefuseWith(Invalid(a.path, "must hold finite numbers, and integers of 64 bits"))
			}
		}
	}
}

func float(number json.Number) float64 {
	value, _ := number.Float64() // checkNumbers has refused what no float can hold
	return value
}
