"""The numbers and titles of all sections of the protocol's documents; requirements name these sections as sources."""

BEHAVIORAL_CONFORMANCE = """
1 Overview
2 Runbook
3 Scope & Non-Goals
4 Test Authority
5 Annotated Test Suite Index; 5.1 Embedding; 5.2 Graph; 5.3 LLM; 5.4 Vector
6 Behavioral Requirements; 6.1 Deadlines & Budgets; 6.2 Streaming Semantics; 6.3 Error Taxonomy & Retryability;
    6.4 Normalization & Truncation; 6.5 Token Counting; 6.6 Caching & Idempotency; 6.7 Limits & Model Support;
    6.8 Observability & SIEM Hygiene
7 Adapter Readiness Checklist
8 Environment Profiles
9 Reproducibility
10 Deviations & Extensions
11 Pass/Fail Policy
12 Conformance Attestation
13 Maintenance
"""

ERRORS = """
0 Goals & Non-Goals
1 Normalized Error Classes; 1.1 Protocol-Specific Subtypes
2 Programmatic Error Envelope; 2.1 Normative Rules
3 Transport Mappings; 3.1 HTTP; 3.2 gRPC
4 Retry Semantics; 4.1 Canonical Classes; 4.2 Subtypes
5 Observability & Privacy
6 Protocol-Specific Supplements; 6.1 LLM; 6.2 Embedding; 6.3 Vector; 6.4 Graph
7 Error Hints
8 Normalization Rules
9 Client Backoff & Breaker Guidance
10 Partial Failure
11 Examples
12 Versioning & Deprecation
13 Compliance Checklist
14 FAQ
"""

SCHEMA = """
1 Introduction; 1.1 Purpose and Scope; 1.2 Document Relationships; 1.3 Schema Philosophy
2 Schema Architecture; 2.1 Directory Structure; 2.2 Schema Organization Principles; 2.3 Naming Conventions
3 Core Schema Patterns; 3.1 Common Envelope Schema; 3.2 Operation Context Schema; 3.3 Shared Type Schemas
4 Protocol-Specific Schemas; 4.1 LLM Protocol Schemas; 4.1.1 Envelope Schemas; 4.1.2 Type Definitions;
    4.1.3 Configuration Schemas; 4.1.4 Streaming Schemas; 4.2 Vector Protocol Schemas; 4.2.1 Envelope Schemas;
    4.2.2 Type Definitions; 4.3 Embedding Protocol Schemas; 4.3.1 Envelope Schemas; 4.3.2 Type Definitions;
    4.4 Graph Protocol Schemas; 4.4.1 Envelope Schemas; 4.4.2 Type Definitions; 4.4.3 Streaming Schemas
5 Streaming Schemas; 5.1 Stream Frame Schemas; 5.2 NDJSON Schema; 5.3 Streaming Semantics
6 Schema Validation Infrastructure; 6.1 Schema Registry; 6.2 Validation Modes; 6.3 Validation Pipeline
7 Golden Test Infrastructure; 7.1 Golden Test Philosophy; 7.2 Golden Test Organization; 7.3 Golden Test Validation
8 Schema Quality Gates; 8.1 Schema Lint Rules; 8.2 Production Conformance Tests; 8.3 Performance Considerations
9 Integration and Tooling; 9.1 CLI Tools; 9.2 Development Workflow; 9.3 CI/CD Integration
10 Schema Evolution; 10.1 Versioning Strategy; 10.2 Breaking Change Process; 10.3 Extension Patterns
11 Reference; 11.1 Schema Quick Reference; 11.2 Validation Error Codes; 11.3 Performance Benchmarks
12 Appendices; 12.A JSON Schema Draft 2020-12 Primer; 12.B $ref Resolution Examples; 12.C Custom Format Validators;
    12.D Schema Testing Strategies; 12.E Troubleshooting Guide
"""

SPECIFICATION = """
1 Introduction; 1.1 Motivation; 1.2 Scope; 1.3 Design Philosophy
2 Requirements Language
3 Terminology
4 Conventions and Notation; 4.1 Numeric Types / Relationship to SCHEMA.md and PROTOCOLS.md;
    4.2 Wire-First Canonical Form; 4.2.1 Envelopes and Content Types; 4.2.2 Version Identification;
    4.2.3 Streaming Frames; 4.2.3.1 Canonical Streaming Success Frame; 4.2.3.2 Terminal Conditions;
    4.2.3.3 Ordering and Integrity; 4.2.3.4 Frame Size and Keepalive; 4.2.3.5 Optional Gateway Event Overlay;
    4.2.4 Transport Bindings for Streaming; 4.2.4.1 HTTP/1.1 + NDJSON; 4.2.4.2 Server-Sent Events (SSE);
    4.2.4.3 WebSocket; 4.2.4.4 gRPC / HTTP/2 Streaming; 4.2.4.5 Advertising Transport Support;
    4.2.5 Compatibility and Unknown Fields; 4.2.6 Operation Registry
5 Architecture Overview; 5.1 Protocol Relationships; 5.2 Layered Architecture; 5.3 Implementation Profiles
6 Common Foundation; 6.1 Operation Context; 6.2 Capability Discovery; 6.3 Error Taxonomy; 6.4 Observability Interfaces
7 Graph Protocol V1.0 Specification; 7.1 Overview; 7.2 Data Types; 7.3 Operations; 7.3.1 Node/Edge CRUD; 7.3.2 Queries;
    7.3.3 Batch Operations; 7.4 Dialects; 7.5 Schema Operations; 7.6 Health
8 LLM Protocol V1.0 Specification; 8.1 Overview; 8.2 Data Types; 8.3 Operations; 8.4 Model Discovery;
    8.5 LLM-Specific Errors
9 Vector Protocol V1.0 Specification; 9.1 Overview; 9.2 Data Types; 9.3 Operations; 9.4 Distance Metrics;
    9.5 Vector-Specific Errors
10 Embedding Protocol V1.0 Specification; 10.1 Overview; 10.2 Data Types; 10.3 Operations; 10.4 Errors;
    10.5 Capabilities; 10.6 Semantics
11 Cross-Protocol Patterns; 11.1 Unified Error Handling; 11.2 Consistent Observability; 11.3 Context Propagation;
    11.4 Idempotency and Exactly-Once; 11.5 Pagination and Streaming; 11.6 Caching;
    11.7 Best-Effort Distributed Transactions
12 Error Handling and Resilience; 12.1 Retry Semantics; 12.2 Backoff and Jitter; 12.3 Circuit Breaking;
    12.4 Error Mapping Table; 12.5 Partial Failure Contracts; 12.6 Backpressure Integration
13 Observability and Monitoring; 13.1 Metrics Taxonomy; 13.2 Structured Logging; 13.3 Distributed Tracing
14 Security Considerations; 14.1 Tenant Isolation; 14.2 Authentication and Authorization; 14.3 Threat Model;
    14.4 Mitigation Matrix
15 Privacy Considerations
16 Performance Characteristics; 16.1 Latency Targets; 16.2 Concurrency Limits; 16.3 Caching Strategies
17 Implementation Guidelines; 17.1 Adapter Pattern; 17.2 Validation; 17.3 Testing;
    17.3.1 One-Command Conformance Testing; 17.3.2 Conformance Test Coverage; 17.3.3 Corpus Protocol Suite Badge
18 Versioning and Compatibility; 18.1 Semantic Versioning; 18.2 Version Identification and Negotiation;
    18.3 Backward Compatibility; 18.4 Deprecation Policy
19 IANA Considerations
20 References; 20.1 Normative References; 20.2 Informative References
21 Author's Address
A End-to-End Example
B Capability Shapes
C Wire-Level Envelopes
D Content Redaction Patterns
E Implementation Status
F Change Log / Revision History
G Migration from Existing APIs
"""


def _parse_sections(document: str) -> dict[str, str]:
    """Map each section number of a document to its title. A line lists the sections of a chapter; it may be wrapped."""
    sections = (each.strip() for each in document.replace("\n    ", " ").replace("\n", "; ").split("; "))
    return {number: title for number, _, title in (each.partition(" ") for each in sections if each)}


SECTIONS = {
    "BEHAVIORAL_CONFORMANCE": _parse_sections(BEHAVIORAL_CONFORMANCE),
    "ERRORS": _parse_sections(ERRORS),
    "SCHEMA": _parse_sections(SCHEMA),
    "SPECIFICATION": _parse_sections(SPECIFICATION),
}
"""The section titles of each document, by number; appendices have letters."""
