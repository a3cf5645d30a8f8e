package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"strings"
	"unicode/utf8"
)

// HTTP: an envelope is posted, an envelope comes back.

const (
	jsonType     = "application/json"
	maxBodyBytes = 16 << 20
)

// A Server serves an adapter at every path.
type Server struct {
	Adapter *Handler
	Hooks   bool // whether requests may name an address to report to
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status, refusal := refused(r); refusal != nil {
		send(w, status, refusal.Envelope(0))
		return
	}
	envelope, err := readJSON(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	if err != nil {
		status := http.StatusBadRequest
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		send(w, status, Fail("BadRequest", "The request is not JSON of at most 16 MiB").Envelope(0))
		return
	}
	ctx := r.Context()
	if url := r.Header.Get("X-Corpus-Hooks"); s.Hooks && url != "" {
		ctx = WithHooks(ctx, url)
	}
	answer, failure := s.Adapter.Handle(ctx, envelope)
	if failure != nil {
		send(w, failure.Status(), answer)
		return
	}
	send(w, http.StatusOK, answer)
}

// refused looks at what comes before the body. `vector` has no streams, so JSON is the only answer.
func refused(r *http.Request) (int, *Failure) {
	if r.Method != http.MethodPost {
		return http.StatusMethodNotAllowed, Fail("BadRequest", "Send the envelope with POST")
	}
	if kind := r.Header.Get("Content-Type"); kind != "" && mediaType(kind) != jsonType {
		return http.StatusUnsupportedMediaType, Fail("BadRequest", "The content type must be "+jsonType)
	}
	accept := r.Header.Get("Accept")
	for _, kind := range strings.Split(accept, ",") {
		switch mediaType(kind) {
		case "", jsonType, "application/*", "*/*":
			return 0, nil
		}
	}
	return http.StatusNotAcceptable, Fail("NotSupported", "Accept "+jsonType+": there are no streams here")
}

func mediaType(header string) string {
	kind, _, _ := strings.Cut(header, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// readJSON reads one value; numbers stay as they are written.
func readJSON(body io.Reader) (any, error) {
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(data) {
		return nil, errors.New("not UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("more than one value")
	}
	return value, nil
}

func send(w http.ResponseWriter, status int, envelope map[string]any) {
	w.Header().Set("Content-Type", jsonType)
	if status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodPost)
	}
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(envelope); err != nil {
		log.Print(err)
	}
}
