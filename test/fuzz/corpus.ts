/**
 * What the fuzzer keeps: for each way in which a host refuses, one short stream or
 * one order to a worker, under a name that says what the host answers.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Order } from "./sabotage.ts";

const FOLDER = join(import.meta.dirname, "corpus");

export interface KeptStream {
  readonly word: string;
  readonly bytes: Buffer;
}

export interface KeptOrder {
  readonly word: string;
  readonly order: Order;
}

/** The words are their files' names, with `-` for spaces. */
export function keptStreams(): readonly KeptStream[] {
  return names(".bin").map((name) => ({
    word: name.replaceAll("-", " "),
    bytes: readFileSync(join(FOLDER, `${name}.bin`)),
  }));
}

export function keptOrders(): readonly KeptOrder[] {
  return names(".json").map((name) => ({
    word: name.replaceAll("-", " "),
    // Written by keepOrder.
    order: JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf8")) as Order,
  }));
}

export function keepStream({ word, bytes }: KeptStream): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, `${word.replaceAll(" ", "-")}.bin`), bytes);
}

export function keepOrder({ word, order }: KeptOrder): void {
  mkdirSync(FOLDER, { recursive: true });
  const { frame, kind, seed } = order;
  const text = `{ "frame": ${frame}, "kind": "${kind}", "seed": ${seed} }\n`;
  writeFileSync(join(FOLDER, `${word.replaceAll(" ", "-")}.json`), text);
}

function names(ending: string): readonly string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
    .toSorted();
}
