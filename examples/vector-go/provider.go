package main

import (
	"context"
	"encoding/json"
	"math"
	"sort"
	"sync"
)

// The provider: here you call your library. What stands here now is a stand-in that keeps vectors in memory.
//
// Keep the line `Reached(...)` before each call of the library. In production it does nothing; in a conformance run it
// is where the suite lets the provider fail, hang or be slow. Give the context to the library: it ends at the deadline.
// Hand on what Along says: the trace and the deadline.

// A Space is a namespace; Dimensions is 0 until the first vector of one that was not created.
type Space struct {
	Name       string
	Metric     string
	Dimensions int
}

// An Item is a stored vector.
type Item struct {
	ID       string
	Vector   []float64
	Metadata map[string]any
}

// A Query is a search for the best TopK of those whose metadata have what is Wanted.
type Query struct {
	Vector []float64
	TopK   int
	Wanted map[string]any
}

// A Hit is what a search found: the better, the higher the score and the lower the distance.
type Hit struct {
	Item
	Score    float64
	Distance float64
}

// Found are the hits of a query, best first, and how many vectors fit its filter.
type Found struct {
	Hits  []Hit
	Total int
}

// EDIT: the limits of your library.
const (
	maxDimensions    = 256
	maxBatchSize     = 64
	maxTopK          = 100
	maxFilterTerms   = 8
	largestComponent = 1e18 // its square fits a 32-bit float, so that no score becomes infinite
)

// Provider keeps vectors; EDIT: how each method asks your library instead of the maps here.
type Provider struct {
	turn   sync.RWMutex
	spaces map[string]*stored
}

type stored struct {
	Space
	items map[string]Item
}

// NewProvider has an empty namespace `default`.
func NewProvider() *Provider {
	p := &Provider{spaces: map[string]*stored{}}
	p.add(Space{Name: defaultName, Metric: "cosine"})
	return p
}

// IsUp says whether the provider answers.
func (p *Provider) IsUp(ctx context.Context) bool {
	// EDIT: a cheap call of your library
	return Reached(ctx, "vector.health", 0) == nil
}

// FindSpace says whether there is such a namespace, and what it is like.
func (p *Provider) FindSpace(name string) (Space, bool) {
	p.turn.RLock()
	defer p.turn.RUnlock()
	if found := p.spaces[name]; found != nil {
		return found.Space, true
	}
	return Space{}, false
}

// CreateSpace makes a namespace; one that is there stays as it is, with its vectors.
func (p *Provider) CreateSpace(ctx context.Context, space Space) error {
	if err := Reached(ctx, "vector.create_namespace", 0); err != nil {
		return err
	}
	p.turn.Lock()
	defer p.turn.Unlock()
	if found := p.add(space); found.Dimensions == 0 {
		found.Dimensions = space.Dimensions
	}
	return nil
}

// DeleteSpace says whether there was one.
func (p *Provider) DeleteSpace(ctx context.Context, name string) (bool, error) {
	if err := Reached(ctx, "vector.delete_namespace", 0); err != nil {
		return false, err
	}
	p.turn.Lock()
	defer p.turn.Unlock()
	_, existed := p.spaces[name]
	delete(p.spaces, name)
	p.add(Space{Name: defaultName, Metric: "cosine"})
	return existed, nil
}

// Upsert stores all items, in the place of those with the same id.
func (p *Provider) Upsert(ctx context.Context, name string, items []Item) error {
	if err := Reached(ctx, "vector.upsert", len(items)); err != nil {
		return err
	}
	p.turn.Lock()
	defer p.turn.Unlock()
	space := p.spaces[name]
	if space == nil {
		return errNoSpace()
	}
	for _, item := range items {
		if err := space.check(item.Vector); err != nil {
			return err
		}
	}
	for _, item := range items {
		space.Dimensions = len(item.Vector)
		space.items[item.ID] = item
	}
	return nil
}

// Delete deletes by ids (none: whatever id), by filter, or what both name, and says how many that were.
func (p *Provider) Delete(ctx context.Context, name string, ids []string, wanted map[string]any) (int, error) {
	if err := Reached(ctx, "vector.delete", len(ids)); err != nil {
		return 0, err
	}
	p.turn.Lock()
	defer p.turn.Unlock()
	space := p.spaces[name]
	if space == nil {
		return 0, errNoSpace()
	}
	if len(ids) == 0 {
		for id := range space.items {
			ids = append(ids, id)
		}
	}
	before := len(space.items)
	for _, id := range ids {
		if fits(space.items[id].Metadata, wanted) {
			delete(space.items, id)
		}
	}
	return before - len(space.items), nil
}

// Search answers each query.
func (p *Provider) Search(ctx context.Context, op, name string, queries []Query) ([]Found, error) {
	if err := Reached(ctx, op, len(queries)); err != nil {
		return nil, err
	}
	// EDIT: here call your library, which may rank and filter by itself. A vector of zeros has no direction: its cosine
	// score is 0, never NaN.
	p.turn.RLock()
	defer p.turn.RUnlock()
	space := p.spaces[name]
	if space == nil {
		return nil, errNoSpace()
	}
	answers := make([]Found, len(queries))
	for index, query := range queries {
		if err := space.check(query.Vector); err != nil {
			return nil, err
		}
		answers[index] = space.search(query)
	}
	return answers, nil
}

// check looks again now that nobody else writes: meanwhile others may have given the namespace its dimensions.
func (s *stored) check(vector []float64) error {
	if s.Dimensions != 0 && s.Dimensions != len(vector) {
		return WrongDimension(s.Name, s.Dimensions, len(vector))
	}
	return nil
}

func errNoSpace() error { return Fail("NamespaceNotFound", "The namespace was deleted meanwhile") }

// The stand-in: delete it when nothing calls it any more.

func (p *Provider) add(space Space) *stored {
	if p.spaces[space.Name] == nil {
		p.spaces[space.Name] = &stored{space, map[string]Item{}}
	}
	return p.spaces[space.Name]
}

func (s *stored) search(query Query) Found {
	hits := []Hit{}
	for _, item := range s.items {
		if fits(item.Metadata, query.Wanted) {
			score, distance := measures[s.Metric](query.Vector, item.Vector)
			hits = append(hits, Hit{item, score, distance})
		}
	}
	sort.Slice(hits, func(i, j int) bool {
		if hits[i].Score != hits[j].Score {
			return hits[i].Score > hits[j].Score
		}
		return hits[i].ID < hits[j].ID
	})
	total := len(hits)
	if total > query.TopK {
		hits = hits[:query.TopK]
	}
	return Found{hits, total}
}

// fits says whether all wanted keys are there with these values; 1 is 1.0, and true is not 1.
func fits(metadata, wanted map[string]any) bool {
	for key, value := range wanted {
		found, present := metadata[key]
		if !present || !same(found, value) {
			return false
		}
	}
	return true
}

func same(left, right any) bool {
	a, isNumber := left.(json.Number)
	b, areNumbers := right.(json.Number)
	if !isNumber || !areNumbers {
		return left == right // `right` is never a list or an object, which cannot be compared so
	}
	x, errX := a.Int64()
	y, errY := b.Int64()
	if errX == nil && errY == nil {
		return x == y
	}
	return float(a) == float(b)
}

// Score and distance of a stored vector to that of a query.
var measures = map[string]func(left, right []float64) (score, distance float64){
	"cosine": func(left, right []float64) (float64, float64) {
		lengths := math.Sqrt(dot(left, left)) * math.Sqrt(dot(right, right))
		if lengths == 0 {
			return 0, 1
		}
		score := math.Max(-1, math.Min(1, dot(left, right)/lengths))
		return score, 1 - score
	},
	"euclidean": func(left, right []float64) (float64, float64) {
		distance := 0.0
		for index := range left {
			distance = math.Hypot(distance, left[index]-right[index])
		}
		return 1 / (1 + distance), distance
	},
	"dot": func(left, right []float64) (float64, float64) {
		score := dot(left, right)
		return score, -score
	},
}

func dot(left, right []float64) float64 {
	sum := 0.0
	for index := range left {
		sum += left[index] * right[index]
	}
	return sum
}
