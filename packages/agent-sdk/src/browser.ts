import { dialBrowser } from './adapters/browser-ws.js'
import { freshId } from './client/fresh-id.js'
import type { DialRequest } from './client/transport.js'
import { SpaceClient } from './space-client.js'

/** The page is one program, whatever it connects. */
const ownSession = freshId()

/** Connects to a space from a browser, where no environment supplies the address and the token. */
export const connect = (request: DialRequest): Promise<SpaceClient> =>
  SpaceClient.open(dialBrowser, { session: ownSession, ...request })

// Types come from `index.ts`: the package has one declaration file for both.
export { ProtocolError } from '@meup/protocol'
export { dialBrowser } from './adapters/browser-ws.js'
export { frameMessage, framingRule, quoteFurtherLines } from './agent/frame-message.js'
export { tool } from './agent/own-tool.js'
export { Reasoning } from './agent/reasoning.js'
export { runAgent } from './agent/run-agent.js'
export { Turn } from './agent/turns.js'
export { BaseClient } from './client/base-client.js'
export { ConnectionError, ToolError } from './client/errors.js'
export { ProposalError } from './client/proposal.js'
export { getAlwaysCapability } from './client/proposals.js'
export { offerTools } from './model/offer-tools.js'
export { nameTools } from './model/toolbox.js'
export { SpaceClient } from './space-client.js'
