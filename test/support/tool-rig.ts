/** The model's tool over a host and a session that a test plays. */
import { workflowTool } from "../../src/extension/workflow-tool.ts";
import { FakeLink, FakePlace } from "./extension-fakes.ts";
import type { FakeServices } from "./extension-fakes.ts";

export interface Called {
  readonly text: string;
  readonly headline: string;
  readonly isError: boolean;
}

export interface ToolRig {
  readonly link: FakeLink;
  readonly place: FakePlace;
  readonly call: (args: object, signal?: AbortSignal) => Promise<Called>;
}

export function toolRig(services: FakeServices = {}): ToolRig {
  const link = new FakeLink(services);
  const place = new FakePlace();
  const tool = workflowTool(() => link);
  const call = async (args: object, signal?: AbortSignal): Promise<Called> => {
    const result = await tool.execute("call-1", args as never, signal, undefined, place as never);
    const [part] = result.content;
    const text = part?.type === "text" ? part.text : "";
    return { text, headline: result.details.headline, isError: result.isError === true };
  };
  return { link, place, call };
}
