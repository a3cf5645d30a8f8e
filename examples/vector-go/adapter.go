package main

import (
	"context"
	"fmt"
	"math"
)

// The operations of `vector` (SPECIFICATION 9): arguments are read and checked here, provider.go does the work.

const defaultName = "default"

var metrics = []string{"cosine", "euclidean", "dot"}

// An Adapter has a method for each operation.
type Adapter struct{ provider *Provider }

// NewAdapter is the way in to the operations.
func NewAdapter(provider *Provider) *Handler {
	a := &Adapter{provider}
	return &Handler{Component: "vector", Operations: map[string]Operation{
		"capabilities":     a.capabilities,
		"health":           a.health,
		"query":            a.query,
		"batch_query":      a.batchQuery,
		"upsert":           a.upsert,
		"delete":           a.delete,
		"create_namespace": a.createNamespace,
		"delete_namespace": a.deleteNamespace,
	}}
}

// EDIT: what you offer. What is claimed is tested, and what is denied is not applicable.
func (a *Adapter) capabilities(context.Context, *Arguments) (any, error) {
	return map[string]any{
		"server":                    "vector-adapter-go",
		"version":                   "0.1.0",
		"protocol":                  "vector/v1.0",
		"supported_metrics":         metrics,
		"max_dimensions":            maxDimensions,
		"max_batch_size":            maxBatchSize,
		"max_top_k":                 maxTopK,
		"max_filter_terms":          maxFilterTerms,
		"supports_namespaces":       true,
		"supports_index_management": true,
		"supports_filters":          true,
		"supports_batch_operations": true,
		"supports_batch_queries":    true,
		"concurrency":               64, // EDIT: how many calls your provider takes at once, and in a second
		"rate_limit_qps":            100,
		"supports_deadline":         true,
		"supports_pagination":       false,
		"supports_multi_tenant":     false,
		"supports_caching":          false,
		"idempotent_writes":         false,
	}, nil
}

// A provider that is down is a report, not an error.
func (a *Adapter) health(ctx context.Context, _ *Arguments) (any, error) {
	report := map[string]any{"ok": true, "status": "ok", "server": "vector-adapter-go", "version": "0.1.0"}
	if up := a.provider.IsUp(ctx); ctx.Err() != nil {
		return nil, ctx.Err()
	} else if !up {
		report["ok"], report["status"], report["reason"] = false, "down", "the provider does not answer"
	}
	return report, nil
}

// Queries

func (a *Adapter) query(ctx context.Context, args *Arguments) (any, error) {
	results, err := a.answers(ctx, "vector.query", a.space(args), args, []*Arguments{args})
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

func (a *Adapter) batchQuery(ctx context.Context, args *Arguments) (any, error) {
	results, err := a.answers(ctx, "vector.batch_query", a.space(args), args, args.Objects("queries"))
	return map[string]any{"results": results}, err
}

// answers has a query result for the arguments of each query.
func (a *Adapter) answers(
	ctx context.Context, op string, space Space, args *Arguments, asked []*Arguments,
) ([]any, error) {
	queries := make([]Query, len(asked))
	shown := make([]func(Item) map[string]any, len(asked))
	for index, one := range asked {
		sameSpace(one, space)
		topK := one.Integer("top_k", maxTopK, "max_top_k")
		queries[index] = Query{vector(one, space), topK, filter(one)}
		shown[index] = readShown(one, space)
	}
	if err := args.Err(); err != nil {
		return nil, err
	}
	found, err := a.provider.Search(ctx, op, space.Name, queries)
	if err != nil {
		return nil, err
	}
	results := make([]any, len(queries))
	for index, answer := range found {
		matches := []any{}
		for _, hit := range answer.Hits {
			matches = append(matches, map[string]any{
				"vector": shown[index](hit.Item), "score": hit.Score, "distance": hit.Distance,
			})
		}
		results[index] = map[string]any{
			"matches": matches, "query_vector": queries[index].Vector,
			"namespace": space.Name, "total_matches": answer.Total,
		}
	}
	return results, nil
}

// readShown reads which parts of an item a match shows besides its id.
//
// EDIT: clients that know edition 1.0.0 of the schemas alone need the vector in any case.
func readShown(args *Arguments, space Space) func(Item) map[string]any {
	metadata, vectors := args.Flag("include_metadata", true), args.Flag("include_vectors", false)
	return func(item Item) map[string]any {
		shown := map[string]any{"id": item.ID, "namespace": space.Name}
		if metadata {
			shown["metadata"] = item.Metadata
		}
		if vectors {
			shown["vector"] = item.Vector
		}
		return shown
	}
}

// Writes

// An item that cannot be stored refuses the whole batch, so that none of it is ever lost.
func (a *Adapter) upsert(ctx context.Context, args *Arguments) (any, error) {
	space, vectors := a.space(args), args.Objects("vectors")
	checkBatch(args, len(vectors))
	items := make([]Item, len(vectors))
	for index, one := range vectors {
		sameSpace(one, space)
		items[index] = Item{one.Text("id"), vector(one, space), metadata(one)}
		space.Dimensions = len(items[index].Vector)
	}
	if err := args.Err(); err != nil {
		return nil, err
	}
	if err := a.provider.Upsert(ctx, space.Name, items); err != nil {
		return nil, err
	}
	return map[string]any{"processed_count": len(items), "failed_count": 0, "failures": []any{}}, nil
}

func (a *Adapter) delete(ctx context.Context, args *Arguments) (any, error) {
	space, ids, wanted := a.space(args), args.Texts("ids"), filter(args)
	if len(ids) == 0 && len(wanted) == 0 {
		args.Refuse("ids", "or a filter must say what to delete")
	}
	if err := args.Err(); err != nil {
		return nil, err
	}
	deleted, err := a.provider.Delete(ctx, space.Name, ids, wanted)
	return map[string]any{"processed_count": deleted, "failed_count": 0, "failures": []any{}}, err
}

func (a *Adapter) createNamespace(ctx context.Context, args *Arguments) (any, error) {
	space := Space{args.Text("namespace"), metric(args), args.Integer("dimensions", maxDimensions, "max_dimensions")}
	if found, exists := a.provider.FindSpace(space.Name); exists {
		sameDimensions := found.Dimensions == 0 || found.Dimensions == space.Dimensions
		if !sameDimensions || found.Metric != space.Metric {
			args.Refuse("namespace", "exists with other dimensions or another metric")
		}
	}
	if err := args.Err(); err != nil {
		return nil, err
	}
	details := map[string]any{"dimensions": space.Dimensions, "distance_metric": space.Metric}
	answer := map[string]any{"success": true, "namespace": space.Name, "details": details}
	return answer, a.provider.CreateSpace(ctx, space)
}

func (a *Adapter) deleteNamespace(ctx context.Context, args *Arguments) (any, error) {
	name := args.Text("namespace")
	if err := args.Err(); err != nil {
		return nil, err
	}
	existed, err := a.provider.DeleteSpace(ctx, name)
	return map[string]any{"success": true, "namespace": name, "details": map[string]any{"existed": existed}}, err
}

// Reading arguments

// space is the namespace that the request names.
func (a *Adapter) space(args *Arguments) Space {
	name := args.OptionalText("namespace")
	if name == "" {
		name = defaultName
	}
	space, exists := a.provider.FindSpace(name)
	if !exists {
		args.Refuse("namespace", "does not exist").Subtype("NamespaceNotFound")
	}
	return space
}

// sameSpace refuses a query or an item that names another namespace than the request.
func sameSpace(args *Arguments, space Space) {
	if name := args.OptionalText("namespace"); name != "" && name != space.Name {
		args.Refuse("namespace", "must be that of the request")
	}
}

// vector is one of as many dimensions as the namespace has, if it has any yet.
func vector(args *Arguments, space Space) []float64 {
	vector := args.Numbers("vector")
	expected := space.Dimensions
	if expected == 0 && len(vector) > maxDimensions {
		expected = maxDimensions
	}
	if len(vector) == 0 {
		args.Refuse("vector", "must not be empty")
	} else if expected != 0 && len(vector) != expected {
		args.RefuseWith(WrongDimension(space.Name, expected, len(vector)))
	}
	for _, component := range vector {
		if math.Abs(component) > largestComponent {
			args.Refuse("vector", "holds a number that is too large")
		}
	}
	return vector
}

func metadata(args *Arguments) map[string]any {
	metadata := map[string]any{}
	for name, value := range args.Object("metadata", false) {
		if _, isObject := value.(map[string]any); isObject {
			args.Refuse("metadata", "must hold plain values or lists of them")
		}
		metadata[name] = value
	}
	return metadata
}

// filter knows equality alone. EDIT: what your library cannot serve has to be refused, never ignored.
func filter(args *Arguments) map[string]any {
	wanted := args.Object("filter", false)
	if len(wanted) > maxFilterTerms {
		refusal := args.Refuse("filter", fmt.Sprintf("must have at most %d terms", maxFilterTerms))
		refusal.With("max_filter_terms", maxFilterTerms)
	}
	for _, value := range wanted {
		switch value.(type) {
		case map[string]any, []any:
			args.Refuse("filter", "must map names to plain values").Subtype("FilterSyntaxError")
		}
	}
	return wanted
}

func metric(args *Arguments) string {
	name := args.OptionalText("distance_metric")
	switch name {
	case "":
		name = "cosine"
	case "dotproduct":
		name = "dot"
	}
	for _, offered := range metrics {
		if name == offered {
			return name
		}
	}
	args.RefuseWith(Fail("NotSupported", "args.distance_metric must be one of supported_metrics"))
	return ""
}

func checkBatch(args *Arguments, size int) {
	if size > maxBatchSize {
		refusal := args.Refuse("vectors", fmt.Sprintf("must be at most %d", maxBatchSize))
		reduction := math.Ceil(100 - 100*float64(maxBatchSize)/float64(size))
		refusal.With("max_batch_size", maxBatchSize).With("suggested_batch_reduction", reduction)
	}
}
