import { PROTOCOL } from '@meup/protocol'
import { McpServer } from '@modelcontextprotocol/server'
import type { Desk } from './desk.js'
import { canElicit } from './elicitation.js'
import { putApprovals } from './put-approvals.js'
import { addResources } from './resources.js'
import { tellSubscribed } from './subscriptions.js'
import { addAsk } from './tools/ask.js'
import { addCalls } from './tools/calls.js'
import { addProposals } from './tools/proposals.js'
import { addSpeech } from './tools/speech.js'

/** `legacy` = revisions up to 2025-11-25, where a server may ask its client; `modern` = from 2026-07-28 on. */
export type Era = 'legacy' | 'modern'

/** The server for one client of the legacy era, which is told and asked things without having called. */
export function createLegacyServer(desk: Desk): McpServer {
  const server = createSpaceServer(desk, 'legacy')
  tellSubscribed(server, desk)
  putApprovals(server, desk)
  return server
}

/** The server for one client, or in the modern era over HTTP for one of its requests. */
export function createSpaceServer(desk: Desk, era: Era): McpServer {
  const { space, tickets } = desk
  const server = new McpServer(
    { name: 'meup', title: `The space ${space.welcome.space.id}`, version: PROTOCOL },
    {
      capabilities: {
        logging: {},
        tools: { listChanged: false },
        resources: { subscribe: true, listChanged: false },
      },
      instructions: instructionsFor(desk),
      requestState: { verify: tickets.verify },
    },
  )
  // Before, the user is asked as soon as something is proposed; since, only in the course of a call.
  addAsk(server, desk, (context) => era === 'modern' && canElicit(server, context))
  addSpeech(server, desk)
  addCalls(server, desk)
  addProposals(server, desk)
  addResources(server, desk)
  return server
}

const instructionsFor = ({ space, uris }: Desk): string =>
  [
    `A space where people, agents and tools work together. You act in it as ${space.id}, and may do what its capabilities allow.`,
    'ask puts a question and waits for the answer; list_participants says who is there, list_tools and call_tool use their tools.',
    `What agents think is in ${uris.contexts} and ${uris.audit}.`,
  ].join(' ')
