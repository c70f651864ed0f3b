import type { Context, UnknownOutputs } from "./context.ts";
import type { SwitchEdgeDefinition } from "./edges.ts";
import { brand } from "./node-options.ts";
import type { Branded, NodeOptions, Stated } from "./node-options.ts";

/** One line of text that belongs to a choice. */
export interface TextInput<Name extends string = string> {
  /** Field of the output that holds the text. */
  readonly name: Name;
  /** What the person is asked. */
  readonly prompt: string;
  /** Shortest text, in characters; 0 if not given. */
  readonly minLength?: number;
  /** Longest text, in characters; 10,000 if not given. */
  readonly maxLength?: number;
}

/** One of the answers. */
export type HumanChoice = PlainChoice | TextChoice;

export interface PlainChoice {
  /** What the person reads. */
  readonly label: string;
  readonly input?: undefined;
}

export interface TextChoice<Name extends string = string> {
  readonly label: string;
  /** Asks for a text along with the choice. */
  readonly input: TextInput<Name>;
}

export type HumanChoices = Readonly<Record<string, HumanChoice>>;

/** The output of a human decision: the choice, and the text it asks for. */
export type HumanAnswer<Choices extends HumanChoices = HumanChoices> = {
  [Id in keyof Choices & string]: { readonly choice: Id } & TextOf<Choices[Id]>;
}[keyof Choices & string];

type TextOf<Choice> = Choice extends { readonly input: TextInput<infer Name> }
  ? Readonly<Record<Name, string>>
  : unknown;

/** What the person decides about. */
export interface HumanRequest {
  readonly title: string;
  /** The thing itself, whole: a text, or any JSON. */
  readonly subject: unknown;
  /** How it is to be shown. */
  readonly presentation?: unknown;
}

interface HumanQuestion<Input, Outputs, Choices> extends NodeOptions<Input, Outputs> {
  /** Who is meant to decide, in words. */
  readonly audience: string;
  /** Made by `defineHumanChoices`. */
  readonly choices: Choices;
  request(ctx: Context<Input, Outputs>): HumanRequest | Promise<HumanRequest>;
  /** A person is not asked again because of an answer. */
  readonly retry?: never;
}

/** Only a person answers; a program or a model cannot. */
export interface HumanDecisionOptions<
  Input,
  Outputs,
  Choices extends HumanChoices,
> extends HumanQuestion<Input, Outputs, Choices> {
  /** What happens when nobody decides; without it the node times out. */
  readonly onTimeout?: HumanTimeout<
    Input,
    Outputs,
    HumanAnswer<NoInfer<Choices>> | (keyof NoInfer<Choices> & string)
  >;
}

export interface HumanTimeout<Input, Outputs, Answer> {
  /** Milliseconds from the request on. */
  readonly afterMs: Stated<Input, Outputs, number>;
  /** The answer that is then given; the name of a choice is enough where it asks for no text. */
  readonly response: Stated<Input, Outputs, Answer>;
}

export type HumanDecisionNode<
  Input = unknown,
  Outputs = UnknownOutputs,
  Choices extends HumanChoices = HumanChoices,
> = Branded<"human_decision"> &
  HumanQuestion<Input, Outputs, Choices> & {
    readonly onTimeout?: HumanTimeout<Input, Outputs, unknown>;
  };

/** Asks a person, whose answer no model and no program can give. */
export function humanDecision<
  Input = unknown,
  Outputs = UnknownOutputs,
  const Choices extends HumanChoices = HumanChoices,
>(
  options: HumanDecisionOptions<Input, Outputs, Choices>,
): HumanDecisionNode<Input, Outputs, Choices> {
  return brand("human_decision", options);
}

/** Keeps the names of the choices in the type, for `humanDecision` and `humanDecisionEdge`. */
export function defineHumanChoices<const Choices extends HumanChoices>(choices: Choices): Choices {
  // What is no object is reported with everything else that is wrong.
  return typeof choices === "object" ? Object.freeze({ ...choices }) : choices;
}

export function choice<const Name extends string>(options: TextChoice<Name>): TextChoice<Name>;
export function choice(options: PlainChoice): PlainChoice;
export function choice(options: HumanChoice): HumanChoice {
  return typeof options === "object" ? Object.freeze({ ...options }) : options;
}

export function textInput<const Name extends string>(options: TextInput<Name>): TextInput<Name> {
  return typeof options === "object" ? Object.freeze({ ...options }) : options;
}

/** Leads on from a human decision; the compiler demands a case for each choice. */
export function humanDecisionEdge<Choices extends HumanChoices>(options: {
  readonly from: string;
  readonly choices?: Choices;
  readonly cases: Readonly<Record<NoInfer<keyof Choices & string>, string>>;
  readonly default?: string;
}): SwitchEdgeDefinition {
  const { from, cases } = options;
  const fallback = options.default === undefined ? {} : { default: options.default };
  return { from, switch: { on: `$.${HUMAN_FIELD}`, cases, ...fallback } };
}

/** Field of the output that holds the choice. */
export const HUMAN_FIELD = "choice";
export const TEXT_CHARS_MAX_DEFAULT = 10_000;
