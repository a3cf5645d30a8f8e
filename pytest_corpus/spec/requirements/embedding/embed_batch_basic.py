"""Batches: order, per-index failures, sizes (SPECIFICATION 10.6, 12.5; SCHEMA 4.3.2; R14, R15, R45)."""

REQUIREMENTS = """
EMB-BATCH-1 MUST: A plain batch is answered with a result that matches the schema.
  from SCHEMA 4.3.2, SPECIFICATION 12.5, R14; needs supports_batch_embedding
  hint: return `embeddings`, `model` and `total_texts`, with numbers as numbers, and no undocumented key
EMB-BATCH-2 MUST: Each text of a batch gets its own vector, in the order of the texts.
  from SPECIFICATION 12.5, BEHAVIORAL_CONFORMANCE 6.6; needs supports_batch_embedding
  hint: keep the positions when texts are sorted, grouped, looked up in a cache or sent in parts
EMB-BATCH-3 MUST: Each text of a batch is either embedded once or reported as failed once.
  from SPECIFICATION 12.5, R14; needs supports_batch_embedding
  hint: return one embedding or one failure for each position in `texts`, even if texts are equal
EMB-BATCH-4 MUST: `index` is the position of the text in the batch.
  from SCHEMA 4.3.2, SPECIFICATION 12.5, R14; needs supports_batch_embedding
  hint: take `index` from the position in `texts`, counted from 0, for embeddings and failures alike
EMB-BATCH-5 MUST: A bad text is reported and the other texts are embedded, or the whole batch is refused.
  from SPECIFICATION 10.6, SPECIFICATION 12.5, R14, R45; needs supports_batch_embedding
  hint: continue after a bad text and report it, or answer BAD_REQUEST, never a retryable error
EMB-BATCH-6 MUST: A batch of more texts than `max_batch_size` is refused with BAD_REQUEST.
  from SPECIFICATION 10.6, ERRORS 6.2, R15; needs supports_batch_embedding
  hint: compare len(texts) with max_batch_size and raise BadRequest; do not cut the batch or report a quota
EMB-BATCH-7 MUST: A batch of `max_batch_size` texts is embedded.
  from BEHAVIORAL_CONFORMANCE 6.7, R23; needs supports_batch_embedding
  hint: refuse only more than max_batch_size, and state the size that you support
EMB-BATCH-8 MUST: A batch is refused with BAD_REQUEST if `texts` is missing or not a list. If an element is not a
    string, the batch is refused with BAD_REQUEST, or the element is reported as failed.
  from SPECIFICATION 10.6, ERRORS 6.2, R8, R45; needs supports_batch_embedding
  hint: check that `texts` is a list of strings before you use it; do not convert anything
EMB-BATCH-9 MUST: `embed_batch` refuses `model`, `truncate` or `normalize` of the wrong type with BAD_REQUEST.
  from SPECIFICATION 10.3, R8; needs supports_batch_embedding
  hint: check these arguments with the function that `embed` uses, before you look them up
EMB-BATCH-10 MUST: `embed_batch` works for every model that capabilities list.
  from SPECIFICATION 10.6, R23; needs supports_batch_embedding
  hint: list only models that embed batches, or embed text by text with the others
EMB-BATCH-11 MUST: A failed text carries `index` and, in `error`, a class of the taxonomy or its code.
  from SPECIFICATION 12.5, ERRORS 10, R14; needs supports_batch_embedding
  hint: put a class such as TextTooLong, or its code, into `error`, and words into `message`
EMB-BATCH-12 MUST: If the provider fails for some texts, order and positions are kept, and no text is lost.
  from BEHAVIORAL_CONFORMANCE 6.6, SPECIFICATION 12.5, R14; needs provider, supports_batch_embedding
  hint: store results by position, and continue with the texts after a failed one
EMB-BATCH-13 SHOULD: An over-large batch is explained by `details.max_batch_size` and
    `details.suggested_batch_reduction`.
  from ERRORS 6.2, ERRORS 10, R15; needs supports_batch_embedding
  hint: add max_batch_size and suggested_batch_reduction, a percentage, to `details`
EMB-BATCH-14 SHOULD: `total_texts`, `processed_count` and `failed_count` count the texts.
  from SCHEMA 4.3.2, SPECIFICATION 12.5; needs supports_batch_embedding
  hint: set total_texts to len(texts); processed_count and failed_count must add up to it
EMB-BATCH-15 SHOULD: An empty batch is answered with no embeddings, or refused permanently.
  from SPECIFICATION 12.1, R29; needs supports_batch_embedding
  hint: answer an empty list with embeddings [] or BAD_REQUEST; do not compute the maximum of an empty list
EMB-BATCH-16 MUST: A text that failed at the provider is reported with the class of that failure.
  from ERRORS 8, SPECIFICATION 11.1, SPECIFICATION 12.5; needs provider, supports_batch_embedding
  hint: map the exception of each text by itself, with the function that `embed` uses
EMB-BATCH-17 SHOULD: `model` of a batch and of its embeddings is the model that was asked for.
  from SCHEMA 4.3.2; needs supports_batch_embedding
  hint: set `model` of the batch and of each embedding to the name in the request
EMB-BATCH-18 SHOULD: A text has the same vector in a batch as alone.
  from SPECIFICATION 10.3, SPECIFICATION 10.6; needs supports_batch_embedding
  hint: ask the provider for the same precision and options in a batch as for one text
EMB-BATCH-19 SHOULD: `total_tokens` is the sum of the numbers that `count_tokens` counts for the texts.
  from SCHEMA 4.3.2; needs supports_batch_embedding, supports_token_counting
  hint: add up the tokens of the texts that were embedded, or leave `total_tokens` out
EMB-BATCH-20 MUST: `text` of a failed text is the text that was sent.
  from SCHEMA 4.3.2, R14; needs supports_batch_embedding
  hint: take `text` of a failure from the request, at its `index`
EMB-BATCH-21 SHOULD: The `message` of a failed text is not empty.
  from SCHEMA 4.3.2, SPECIFICATION 12.5; needs supports_batch_embedding
  hint: say in `message` what was wrong with the text, without repeating it
"""
