import { userInfo } from 'node:os'
import { basename, resolve } from 'node:path'
import { stringify } from 'yaml'

export interface SpaceNames {
  readonly space: string
  readonly human: string
  readonly agent: string
}

/** Names for a space in this folder: of the folder, and of whoever is logged in. */
export function namesFor(folder: string, login: string = loginName()): SpaceNames {
  const space = basename(resolve(folder))
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-|-$/g, '')
  const human = login
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64)
  return { space: space || 'demo', human: human || 'me', agent: human === 'helper' ? 'agent' : 'helper' }
}

/** A container may run as a user that nobody has named. */
function loginName(): string {
  try {
    return userInfo().username
  } catch {
    return process.env.USER ?? ''
  }
}

/** A first `space.yaml`. */
export const spaceTemplate = ({ space, human, agent }: SpaceNames): string => `\
# Who is in the space, and what each may do. "meup up" runs it; "meup space validate" checks it.
version: 1
space: ${text(space)}
gateway:
  listen: 127.0.0.1:8080 # this machine alone; port 0 = any free port

participants:
  # You. "*" = may send anything. Join with: meup join
  ${text(human)}: { kind: human, capabilities: ["*"] }

  # An agent that you write. It may talk, and think aloud. Its token: .meup/tokens/${agent}, made on the first start
  ${text(agent)}: { kind: agent, capabilities: [chat, "reasoning.*"] }

  # A tool server, started with the space. Whoever is to use it needs { kind: mcp.request, to: files }
  # files: { kind: mcp, command: npx, args: [-y, "@modelcontextprotocol/server-filesystem", .] }
`

/** As YAML; names such as "null" or "1" need quotes. */
const text = (name: string): string => stringify(name).trim()
