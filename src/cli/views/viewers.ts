/** The three ways to watch: a live picture on a terminal, lines of text, lines of JSON. */
import type { Attempt } from "../../gen/piworkflows/common/v1/attempt_pb.ts";
import type { RunView } from "../../gen/piworkflows/common/v1/run_pb.ts";
import { WatchRunResponseSchema } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import type { WatchRunResponse } from "../../gen/piworkflows/host/v1/run_service_pb.ts";
import type { Cli } from "../command.ts";
import type { Viewer } from "../follow-run.ts";
import { cutLine } from "../table.ts";
import { localTime, safe } from "../../platform/text.ts";
import { messageJson } from "../values.ts";
import { attemptLines, elapsed, ordinals } from "./attempts.ts";
import type { Frame } from "./attempts.ts";
import { frameOf } from "../commands/shared.ts";
import { askedStateLines, headline, stateLines, tail } from "./run-view.ts";
import { deliveryWords, isForModel } from "./waiting.ts";
import { attemptWordIn, colourOf, isQuestion, msOf } from "./words.ts";

export interface WatchViewer extends Viewer {
  /** The picture is left as it is; what is printed next comes below it. */
  end(): Promise<void>;
}

/** Lines of the picture that are not nodes. */
const OTHER_ROWS = 13;
const OUTPUT_ROWS = 6;
const REDRAW_MS = 1_000;

/** With `asks` the run's questions are put below the picture and left out of it. */
export function watchViewer(cli: Cli, asks = false): WatchViewer {
  if (cli.json) return jsonViewer(cli);
  return cli.out.canRedraw ? new LiveViewer(cli, asks) : new LineViewer(cli);
}

function jsonViewer({ out }: Cli): WatchViewer {
  return {
    show: (_view, response: WatchRunResponse) =>
      out.flow(`${JSON.stringify(messageJson(WatchRunResponseSchema, response))}\n`),
    notice: (text) => out.note(`pi-workflows: ${text}`),
    end: () => Promise.resolve(),
  };
}

/** Says what changed, and never takes a line back. */
export class LineViewer implements WatchViewer {
  readonly #cli: Cli;
  readonly #attempts = new Map<string, string>();
  readonly #progress = new Map<string, number>();
  #headline = "";
  #delivery = "";

  constructor(cli: Cli) {
    this.#cli = cli;
  }

  async show(view: RunView): Promise<void> {
    const frame = frameOf(this.#cli);
    if (view.summary !== undefined) this.#sayHeadline(headline(view.summary, frame));
    for (const attempt of view.attempts) this.#sayAttempt(attempt, view, frame);
    this.#sayDelivery(view, frame);
    for (const { node, text, at } of view.progress) this.#sayProgress(node, text, msOf(at) ?? 0);
    await this.#cli.out.flow("");
  }

  notice(text: string): void {
    this.#cli.out.note(`pi-workflows: ${text}`);
  }

  async end(): Promise<void> {
    await Promise.resolve();
  }

  #sayHeadline(line: string): void {
    if (line !== this.#headline) this.#cli.out.line(line);
    this.#headline = line;
  }

  #sayAttempt(attempt: Attempt, { summary }: RunView, frame: Frame): void {
    const status = attemptWordIn(summary, attempt);
    if (this.#attempts.get(attempt.attemptId) === status) return;
    this.#attempts.set(attempt.attemptId, status);
    const at = localTime(msOf(attempt.finishedAt) ?? msOf(attempt.startedAt) ?? frame.now);
    const took = attempt.finishedAt === undefined ? "" : elapsed(attempt, frame.now);
    const error = attempt.error === undefined ? "" : safe(attempt.error.message);
    const facts = [ordinals(attempt), took, error].filter((fact) => fact !== "").join("  ");
    this.#cli.out.line(
      `${at}  ${frame.style(colourOf(status), status)}  ${safe(attempt.node)}  ${facts}`.trimEnd(),
    );
  }

  /** What a model step waits for; a question is told where the watching leaves. */
  #sayDelivery({ interaction }: RunView, { now }: Frame): void {
    if (interaction === undefined || !isForModel(interaction.kind)) return;
    const { interactionId, delivery, heldUntil, node, status } = interaction;
    const state = [interactionId, delivery, status, msOf(heldUntil)].join(" ");
    if (state === this.#delivery) return;
    this.#delivery = state;
    const words = deliveryWords(interaction, now);
    if (words !== "") this.#cli.out.line(`${localTime(now)}  ${safe(node)}: ${words}`);
  }

  #sayProgress(node: string, text: string, at: number): void {
    if (at <= (this.#progress.get(node) ?? 0)) return;
    this.#progress.set(node, at);
    this.#cli.out.line(`${localTime(at)}  ${safe(node)}: ${safe(text)}`);
  }
}

/** Draws the run in place, again with each change and each second. */
export class LiveViewer implements WatchViewer {
  readonly #cli: Cli;
  readonly #asks: boolean;
  readonly #stopTicking: () => void;
  #view: RunView | undefined;
  #notice = "";
  #rows = 0;
  #drawing: Promise<void> = Promise.resolve();

  constructor(cli: Cli, asks = false) {
    this.#cli = cli;
    this.#asks = asks;
    const timer = cli.clock.every(REDRAW_MS, () => void this.#draw());
    this.#stopTicking = () => timer.cancel();
  }

  async show(view: RunView): Promise<void> {
    this.#view = view;
    this.#notice = "";
    await this.#draw();
  }

  notice(text: string): void {
    this.#notice = text;
    void this.#draw();
  }

  async end(): Promise<void> {
    this.#stopTicking();
    await this.#draw();
    this.#rows = 0;
  }

  /** One drawing at a time: two would interleave. */
  async #draw(): Promise<void> {
    this.#drawing = this.#drawing.then(() => this.#drawNow());
    await this.#drawing;
  }

  async #drawNow(): Promise<void> {
    const { out } = this.#cli;
    const frame = frameOf(this.#cli);
    const shown = (await this.#lines(frame)).slice(0, Math.max(1, out.rows - 1));
    // One that is longer would go on writing over its last letter.
    const lines = await Promise.all(shown.map((line) => cutLine(line, out.columns)));
    const up = this.#rows === 0 ? "" : `\u001b[${this.#rows}A`;
    // Without wrapping, a long line takes one row, so that the way back up is known.
    out.raw(`\u001b[?7l${up}\r\u001b[J${lines.map((line) => `${line}\n`).join("")}\u001b[?7h`);
    this.#rows = lines.length;
  }

  async #lines(frame: Frame): Promise<readonly string[]> {
    const view = this.#view;
    const notice = this.#notice === "" ? [] : [frame.style("yellow", this.#notice)];
    if (view?.summary === undefined) return notice;
    const room = Math.max(3, this.#cli.out.rows - OTHER_ROWS - OUTPUT_ROWS);
    return [
      headline(view.summary, frame),
      ...(await attemptLines(view, frame, room)),
      ...(this.#asks && isQuestion(view) ? askedStateLines(view, frame) : stateLines(view, frame)),
      ...outputLines(view, frame),
      ...notice,
    ];
  }
}

function outputLines({ outputTail }: RunView, { style }: Frame): readonly string[] {
  const lines = tail(outputTail, OUTPUT_ROWS);
  if (lines.length === 0) return [];
  return ["", style("bold", "Output"), ...lines.map((line) => style("dim", line))];
}
