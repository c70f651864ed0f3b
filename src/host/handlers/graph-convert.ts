/** Compiled graphs between the wire, where a case's value is a JSON value, and the store. */
import { create, fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Value } from "@bufbuild/protobuf/wkt";
import {
  GraphEdgeSchema,
  GraphNodeSchema,
  GraphSchema,
} from "../../gen/piworkflows/common/v1/graph_pb.ts";
import type { Graph, GraphEdge, GraphNode } from "../../gen/piworkflows/common/v1/graph_pb.ts";
import { HostError } from "../errors.ts";
import type { EffectPolicy, GraphEdgeRecord, GraphNodeRecord, GraphRecord } from "../records.ts";

type CaseValue = string | number | boolean;

/** A graph as a worker reports it. Refuses what no compiler of ours writes. */
export function graphRecord(graph: Graph | undefined): GraphRecord {
  if (graph === undefined) throw malformed("graph is missing");
  return {
    name: graph.name,
    startAt: graph.startAt,
    maxSteps: graph.maxSteps,
    nodes: graph.nodes.map(nodeRecord),
    edges: graph.edges.map(edgeRecord),
    ...(graph.result === "" ? {} : { result: resultForm(graph.result) }),
  };
}

export function graphMessage(graph: GraphRecord): Graph {
  return create(GraphSchema, {
    name: graph.name,
    startAt: graph.startAt,
    maxSteps: graph.maxSteps,
    nodes: graph.nodes.map(nodeMessage),
    edges: graph.edges.map(edgeMessage),
    result: graph.result ?? "",
  });
}

/** "idempotent" or "manual", and nothing else. */
export function effectPolicy(text: string): EffectPolicy {
  if (text === "idempotent" || text === "manual") return text;
  throw malformed(`"${text}" is no effect policy`);
}

function resultForm(text: string): "turn" | "card" {
  if (text === "turn" || text === "card") return text;
  throw malformed(`"${text}" is no form of a result`);
}

function nodeRecord(node: GraphNode): GraphNodeRecord {
  const { effect, retry } = node;
  return {
    path: node.path,
    kind: node.kind,
    ...(node.statusDetail === "" ? {} : { statusDetail: node.statusDetail }),
    ...(effect === undefined
      ? {}
      : { effect: { policy: effectPolicy(effect.policy), type: effect.type } }),
    ...(retry === undefined
      ? {}
      : {
          retry: {
            maxAttempts: retry.maxAttempts,
            backoffMs: Number(retry.backoffMs),
            factor: retry.factor,
            maxBackoffMs: Number(retry.maxBackoffMs),
          },
        }),
  };
}

function nodeMessage(node: GraphNodeRecord): GraphNode {
  const { effect, retry } = node;
  return create(GraphNodeSchema, {
    path: node.path,
    kind: node.kind,
    statusDetail: node.statusDetail ?? "",
    ...(effect === undefined ? {} : { effect: { policy: effect.policy, type: effect.type } }),
    ...(retry === undefined
      ? {}
      : {
          retry: {
            maxAttempts: retry.maxAttempts,
            backoffMs: BigInt(retry.backoffMs),
            factor: retry.factor,
            maxBackoffMs: BigInt(retry.maxBackoffMs),
          },
        }),
  });
}

function edgeRecord(edge: GraphEdge): GraphEdgeRecord {
  if (edge.to !== "") return { from: edge.from, to: edge.to };
  return {
    from: edge.from,
    on: edge.on,
    cases: edge.cases.map((one) => ({ value: caseValue(one.value), to: one.to })),
    ...(edge.defaultTo === "" ? {} : { default: edge.defaultTo }),
  };
}

function edgeMessage(edge: GraphEdgeRecord): GraphEdge {
  return create(GraphEdgeSchema, {
    from: edge.from,
    to: edge.to ?? "",
    on: edge.on ?? "",
    cases: (edge.cases ?? []).map((one) => ({ value: valueMessage(one.value), to: one.to })),
    defaultTo: edge.default ?? "",
  });
}

function caseValue(value: Value | undefined): CaseValue {
  switch (value?.kind.case) {
    case "stringValue":
    case "numberValue":
    case "boolValue":
      return value.kind.value;
    case "nullValue":
    case "structValue":
    case "listValue":
    case undefined:
      throw malformed("the value of a case must be a text, a number or a boolean");
  }
}

function valueMessage(value: CaseValue): Value {
  return fromJson(ValueSchema, value);
}

function malformed(problem: string): HostError {
  return new HostError("REQUEST_INVALID", `malformed graph: ${problem}`);
}
