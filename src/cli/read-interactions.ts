/** All interactions that a filter selects, oldest first. */
import type { HostClient } from "../client/host-client.ts";
import type { ListInteractionsResponse } from "../gen/piworkflows/host/v1/interaction_service_pb.ts";

const PAGE_SIZE = 500;

export async function readInteractions(
  client: HostClient,
  filter: { readonly runId: string; readonly includeClosed: boolean },
): Promise<ListInteractionsResponse> {
  const next = (pageToken: string): Promise<ListInteractionsResponse> => {
    const request = { ...filter, pageSize: PAGE_SIZE, pageToken };
    return client.call(({ interactions }) => interactions.listInteractions(request));
  };
  const all = await next("");
  while (all.nextPageToken !== "") {
    const page = await next(all.nextPageToken);
    all.interactions.push(...page.interactions);
    all.nextPageToken = page.nextPageToken;
  }
  return all;
}
