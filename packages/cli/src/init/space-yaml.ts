import { stringify } from 'yaml'

/** What a new space is called, who is in it, and where it listens. */
export interface Names {
  readonly space: string
  /** You. */
  readonly person: string
  readonly agent: string
  /** `host:port` */
  readonly listen: string
}

/** The configuration of a first space: you, an agent that runs with it, and a tool that reads files. */
export const spaceYaml = ({ space, person, agent, listen }: Names): string => `\
# Who is in the space, and what each may do. "meup up" runs it; "meup space validate" checks it.
version: 1
space: ${text(space)}
gateway:
  listen: ${text(listen)} # 127.0.0.1 = this machine alone

participants:
  # You. "*" = may send anything.
  ${text(person)}: { kind: human, capabilities: ["*"] }

  # Your first agent, which starts and ends with the space, and restarts when you save agent.ts.
  # It may talk, think, offer tools, and use those of files.
  # With mcp.proposal in the place of { kind: mcp.request, to: files } it has to ask you each time.
  ${text(agent)}:
    kind: process
    command: node
    args: [--import, tsx, agent.ts]
    capabilities: [chat, "reasoning.*", mcp.response, { kind: mcp.request, to: files }]

  # A tool server, which sees the folder ./files and nothing else.
  files:
    kind: mcp
    command: node
    args: [node_modules/@modelcontextprotocol/server-filesystem/dist/index.js, ./files]
`

/** As YAML; names such as "null" or "1" need quotes. */
const text = (name: string): string => stringify(name).trim()
