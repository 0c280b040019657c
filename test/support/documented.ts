import { type AnyEnvelope, GATEWAY, Kind } from '@meup/protocol'

/**
 * What the document's examples show of a conversation: they leave out what the gateway itself says (`system.*`) and
 * what the tools answer (`mcp.response`), though both are on the wire.
 */
export const asDocumented = (all: readonly AnyEnvelope[]): AnyEnvelope[] =>
  all.filter(({ from, kind }) => from !== GATEWAY && kind !== Kind.mcpResponse)

/** The text or the tool of an envelope, as the examples tell them. */
export function gist(envelope: AnyEnvelope): unknown {
  if (envelope.kind === Kind.mcpRequest) return envelope.payload.params?.name
  return (envelope.payload as { message?: unknown }).message
}
