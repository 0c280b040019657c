import { type AnyEnvelope, GATEWAY, Kind } from '@meup/protocol'

/**
 * A conversation as the document's examples show it: without the gateway's own envelopes (`system.*`) and the answers of tools
 * (`mcp.response`), which are both sent.
 */
export const asDocumented = (all: readonly AnyEnvelope[]): AnyEnvelope[] =>
  all.filter(({ from, kind }) => from !== GATEWAY && kind !== Kind.mcpResponse)

/** The name of the tool that an envelope calls, or its message: the part that the examples show. */
export function gist(envelope: AnyEnvelope): unknown {
  if (envelope.kind === Kind.mcpRequest) return envelope.payload.params?.name
  return (envelope.payload as { message?: unknown }).message
}
