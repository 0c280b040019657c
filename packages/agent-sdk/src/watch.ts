export { type AnyEnvelope, freshId, ProtocolError } from '@meup/protocol'
export { dialBrowser } from './adapters/browser-ws.js'
export { BaseClient } from './client/base-client.js'
export { ConnectionError, ToolError } from './client/errors.js'
export type { OpenProposal } from './client/proposal.js'
export {
  escapePattern,
  getAlwaysCapability,
  type ProposedRequest,
} from './client/proposals.js'
export type { Dial, DialRequest } from './client/transport.js'
export type { Draft } from './client/types.js'
