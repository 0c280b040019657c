import type { Dial, DialRequest } from './client/transport.js'
import { HttpClient } from './http/http-client.js'
import { SpaceClient } from './space-client.js'

/** Connects to a space. With `openProposals`, reads the open proposals over HTTP first. */
export async function openSpace(
  dial: Dial,
  request: DialRequest,
  openProposals: boolean | undefined,
): Promise<SpaceClient> {
  if (openProposals !== true) return SpaceClient.open(dial, request)
  const { proposals, head: after, epoch } = await new HttpClient(request).readProposals()
  return SpaceClient.open(dial, { ...request, proposals, after, epoch })
}
