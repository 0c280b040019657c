import { stripVTControlCharacters } from 'node:util'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import { onTestFinished } from 'vitest'
import { commandLine, temporaryFolder } from './cli.js'
import { runSpace } from './space.js'
import { openPane, type Pane } from './tmux.js'

const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
limits:
  maxEnvelopeBytes: 2000000
  rates:
    chat: { perSecond: 10000, burst: 10000 }
    mcp: { perSecond: 10000, burst: 10000 }
    reasoning: { perSecond: 10000, burst: 10000 }
    bytes: { perSecond: 10000000, burst: 10000000 }
participants:
  ana: { kind: human, capabilities: ["*"] }
  planner: { kind: agent, capabilities: [chat, "reasoning.*", mcp.request, mcp.response, participant.compact-done] }
  coder: { kind: agent, capabilities: [chat, "reasoning.*", mcp.proposal, mcp.withdraw] }
  files: { kind: agent, capabilities: [mcp.response, mcp.request] }
`

export interface Size {
  readonly columns: number
  readonly rows?: number
}

/** Opens a running space with ana at a terminal, and connects the other participants. */
export async function terminalSpace<Name extends 'planner' | 'coder' | 'files'>(
  names: readonly Name[],
  { columns, rows = 30 }: Size = { columns: 80 },
  args = '',
) {
  const cwd = temporaryFolder({ 'space.yaml': config })
  const { url } = await runSpace(cwd)
  const enter = async (as: string): Promise<SpaceClient> => {
    const seat = await connect({ url, space: 'demo', as, directory: cwd })
    onTestFinished(() => seat.close())
    return seat
  }
  const seats = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await enter(name)] as const)),
  ) as Record<Name, SpaceClient>
  const open = (command = 'join', colours = false, env: Readonly<Record<string, string>> = {}): Pane => {
    const unset = 'env -u NO_COLOR -u FORCE_COLOR -u NODE_DISABLE_COLORS -u CI'
    const set = { ...(!colours && { NO_COLOR: '1' }), ...env }
    const given = Object.entries(set).map(([name, value]) => `${name}='${value}'`)
    return openPane(`${[unset, ...given].join(' ')} ${commandLine(`${command} ${args}`)}`, {
      cwd,
      columns,
      rows,
    })
  }
  return { cwd, url, enter, seats, open }
}

/** Returns the lines above the footer. */
export function scrollback(all: string): string[] {
  const lines = all.split('\n')
  const footer = lines.findLastIndex((line) => stripVTControlCharacters(line).startsWith('── '))
  return footer === -1 ? lines : lines.slice(0, footer)
}

/** Replaces durations and ids on a screen, which differ between runs. */
export const settled = (screen: string): string =>
  screen
    // The footer cuts the text after a duration, so remove that text: the cut depends on the length of the duration.
    .replace(/^(.*○ .*?) \d+(?:\.\d)? (?:ms|s|min)\b.*$/gm, '$1 N s …')
    .replace(/\b\d+(?:\.\d)? m?s\b/g, 'N s')
    .replace(/(?<![\w-])[\w-]{21}(?![\w-])/g, '<an id of 21 chars>')

/** Writes the colours of a screen as `⟨1;35⟩text⟨⟩`, independent of the notation of the escape sequences. */
export function markup(coloured: string): string {
  let [shown, before] = ['', '']
  const state = new Set<string>()
  for (const part of `m${coloured}`.split('\u001B[')) {
    const end = part.indexOf('m')
    for (const code of part.slice(0, end).split(';')) apply(code || '0', state)
    const [text, now] = [part.slice(end + 1), [...state].sort().join(';')]
    if (text !== '' && now !== before) {
      shown += `⟨${now}⟩`
      before = now
    }
    shown += text
  }
  return shown
}

function apply(code: string, state: Set<string>): void {
  const isColour = /^(3|9)\d$/.test(code)
  if (code === '0') state.clear()
  else if (isColour) for (const each of state) if (/^(3|9)\d$/.test(each)) state.delete(each)
  if (!['0', '39', '49'].includes(code)) state.add(code)
}
