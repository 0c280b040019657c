import type { RequestId, Transport } from '@modelcontextprotocol/client'

/** A way to one server. */
export interface RelayTransport extends Transport {
  /** Resolves when the server is gone and its last message is delivered; the reason reads "exited with code 1". */
  readonly ended: Promise<{ reason: string }>
  /** While a message is delivered: the request on whose stream it came, where each has a stream of its own. */
  streamOf?(): RequestId | undefined
}
