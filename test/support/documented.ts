import { type AnyEnvelope, GATEWAY, Kind } from '@meup/protocol'

/**
 * Selects the envelopes that the examples of ADR-T8K show: not the gateway's own (`system.*`), nor responses of tools
 * (`mcp.response`).
 */
export const asDocumented = (all: readonly AnyEnvelope[]): AnyEnvelope[] =>
  all.filter(({ from, kind }) => from !== GATEWAY && kind !== Kind.mcpResponse)

/** The name of the tool that an envelope calls, or its message: the part that the examples show. */
export function gist(envelope: AnyEnvelope): unknown {
  if (envelope.kind === Kind.mcpRequest) return envelope.payload.params?.name
  return (envelope.payload as { message?: unknown }).message
}
